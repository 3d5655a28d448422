//! The head of the page: the question, the answer, and each variant's toll as a card.

use super::parts::{escape, unbroken};
use crate::chart::key_class;
use crate::inserts;
use crate::number;
use crate::sentence;
use crate::view::{self, View, headline_level, is_plain};
use std::fmt::Write;
use tollgate_facts::results::{Figure, Piece, Toll, TollVerdict, Variant};

pub(super) fn head(view: &View<'_>) -> Option<String> {
    let run = view.run;
    let blocks = view.rows.iter().map(|row| row.cell.rounds).max().unwrap_or(0);
    let requests: u64 = run.cells.iter().map(|cell| cell.requests).sum();
    let mut html = format!(
        "<header><p class=\"eyebrow\">tollgate <span>{}</span></p><h1>{}</h1><p class=\"answer\">{}</p>",
        escape(&run.experiment.name),
        escape(&run.experiment.question),
        unbroken(&sentence::answer(run, "×"))
    );
    if let Some(why) = sentence::incompleteness(run) {
        let _ = write!(
            html,
            "<p class=\"banner\" role=\"note\">{}. What was measured until then stands below.</p>",
            escape(&why)
        );
    }
    let machine = match run.machine.cpu.as_str() {
        "" => String::new(),
        cpu => format!(" · {} × {}", run.machine.cores, cpu),
    };
    let of_tolls = match run.settings.looks {
        Some(looks) => format!(", of tolls {}", looks.confidence()),
        None => String::new(),
    };
    let _ = write!(
        html,
        "<p class=\"meta\">{}{} · {} blocks · {} {}s · intervals are 95 %{of_tolls}</p></header>",
        escape(&day(&run.started)),
        escape(&machine),
        blocks,
        number::whole(requests),
        if run.experiment.piece == Piece::Document { "document" } else { "request" }
    );
    Some(html)
}

pub(super) fn cards(view: &View<'_>) -> Option<String> {
    let run = view.run;
    if inserts::is_shown(run) {
        // Its many variants stand in the wide table, each beside what it is compared with.
        return None;
    }
    let level = view::answer_level(run)?;
    let cards = run.experiment.variants.iter().enumerate().map(|(index, variant)| match variant.baseline.as_deref() {
        Some(baseline) => card(view, variant, baseline, index),
        None => bottom_card(view, variant, level, index),
    });
    Some(format!(
        "<section><h2>What each variant costs</h2><div class=\"cards\">{}</div></section>",
        cards.collect::<String>()
    ))
}

/// What the others are compared with, in its own figures.
fn bottom_card(view: &View<'_>, variant: &Variant, level: u64, index: usize) -> String {
    let experiment = &view.run.experiment;
    let noun = sentence::unit_noun(experiment);
    let mut html = format!(
        "<article class=\"card {}\"><h3>{}</h3><p class=\"title\">{}</p>",
        key_class(index),
        escape(&variant.name),
        escape(&variant.title)
    );
    let row = view.rows.iter().find(|row| row.cell.variant == variant.name && row.cell.level == level);
    let Some(cell) = row.map(|row| row.cell) else {
        return format!("{html}<p class=\"verdict\">a baseline, not measured</p></article>");
    };
    // In the figure that the other cards compare.
    let by_time = view.run.tolls.iter().any(|toll| {
        toll.level == level && toll.figure == Figure::UnitTime && toll.baseline == variant.name && is_plain(toll)
    });
    let time = (cell.unit_time_ms, "ms", format!("a {noun}"));
    let piece = sentence::piece(experiment);
    let (estimate, unit, what) = match view::cpu(cell).filter(|_| !by_time) {
        Some(cpu) => (cpu, "us", format!("CPU time per {piece}")),
        None => time,
    };
    let decimals = number::column_decimals(std::iter::once(estimate.mean));
    let _ = write!(
        html,
        "<p class=\"ratio\">{}<span>{unit}</span></p><p class=\"interval\">{}</p><p class=\"verdict\">{}</p><dl>",
        number::in_column(estimate.mean, decimals),
        escape(&format!(
            "95 % between {} and {}",
            number::in_column(estimate.low, decimals),
            number::in_column(estimate.high, decimals)
        )),
        escape(&format!("{what}, at {}: the baseline", sentence::level(experiment, level)))
    );
    let cpu = view::cpu(cell).map(|cpu| format!("{} us", number::three_digits(cpu.mean)));
    let lines = [
        Some((format!("a {noun}"), format!("{} ms", number::three_digits(cell.unit_time_ms.mean)))),
        Some(("requests/s".to_owned(), number::three_digits(cell.requests_per_second.mean))),
        cpu.map(|cpu| (format!("CPU per {piece}"), cpu)),
        Some(("bytes".to_owned(), number::bytes(cell.bytes_per_unit))),
    ];
    for (name, text) in lines.into_iter().flatten() {
        let _ = write!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(&name), escape(&text));
    }
    html.push_str("</dl></article>");
    html
}

fn card(view: &View<'_>, variant: &Variant, baseline: &str, index: usize) -> String {
    let run = view.run;
    let mut html = format!(
        "<article class=\"card {}\"><h3>{}</h3><p class=\"title\">{}</p>",
        key_class(index),
        escape(&variant.name),
        escape(&variant.title)
    );
    let Some(at) = headline_level(run, &variant.name) else {
        let _ = write!(html, "<p class=\"verdict\">not measured beside {}</p></article>", escape(baseline));
        return html;
    };
    let tolls = view::tolls(run, &variant.name, at);
    let noun = sentence::unit_noun(&run.experiment);
    let lead = match tolls.time.filter(|toll| is_plain(toll)) {
        Some(time) => Some((time, format!("time of a {noun}"))),
        None => {
            let what = format!("CPU time per {}", sentence::piece(&run.experiment));
            tolls.cpu.filter(|toll| is_plain(toll)).map(|cpu| (cpu, what))
        }
    };
    match &lead {
        Some((toll, of_what)) => {
            let decimals = number::ratio_decimals(toll.ratio, toll.low, toll.high);
            let _ = write!(
                html,
                "<p class=\"ratio\">{}<span>×</span></p><p class=\"interval\">{}</p><p class=\"verdict\">{}</p>",
                number::grouped(toll.ratio, decimals.min(2)),
                escape(&interval(toll, &sentence::confidence(run))),
                escape(&format!(
                    "the {of_what} with {baseline}, at {}{}",
                    sentence::level(&run.experiment, at),
                    doubt(toll)
                ))
            );
        }
        None => {
            let why = tolls.each().find_map(|toll| toll.note.as_deref()).unwrap_or("see the doubts below");
            let _ = write!(
                html,
                "<p class=\"ratio none\">no toll</p><p class=\"interval\">{}</p><p class=\"verdict\">{}</p>",
                escape(&format!("may be claimed at {}", sentence::level(&run.experiment, at))),
                escape(why)
            );
        }
    }
    html.push_str("<dl>");
    let difference = tolls
        .time
        .filter(|toll| is_plain(toll))
        .map(|toll| (format!("a {noun}"), format!("{} ({} blocks)", sentence::difference(toll), toll.blocks)));
    let ratio = |toll: Option<&Toll>| toll.map(|toll| format!("{}{}", sentence::ratio(toll, "×"), doubt(toll)));
    let lines = [
        difference,
        tolls
            .time
            .filter(|toll| toll.verdict == TollVerdict::Joint)
            .map(|_| ("time".into(), "joint figure, not the layer's".into())),
        ratio(tolls.cpu).map(|text| ("CPU".to_owned(), text)),
        ratio(tolls.bytes).map(|text| ("bytes".to_owned(), text)),
    ];
    for (name, text) in lines.into_iter().flatten() {
        let _ = write!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(&name), escape(&text));
    }
    html.push_str("</dl></article>");
    html
}

fn interval(toll: &Toll, confidence: &str) -> String {
    let decimals = number::ratio_decimals(toll.ratio, toll.low, toll.high);
    if number::is_exact(toll.low, toll.high) {
        return "exact: the same in every block".to_owned();
    }
    format!("{confidence} between {} and {}", number::grouped(toll.low, decimals), number::grouped(toll.high, decimals))
}

/// What must stand beside a ratio that is not plainly a toll.
fn doubt(toll: &Toll) -> String {
    match toll.verdict {
        TollVerdict::NoToll | TollVerdict::Unclear | TollVerdict::Joint => {
            format!(" ({})", sentence::verdict(toll.verdict))
        }
        _ if toll.do_ranks_disagree() => " (a rank test disagrees)".to_owned(),
        TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::Refused => String::new(),
    }
}

/// Date and minute of an RFC 3339 stamp.
fn day(stamp: &str) -> String {
    stamp.get(..16).map_or_else(|| stamp.to_owned(), |minute| format!("{} UTC", minute.replace('T', " ")))
}
