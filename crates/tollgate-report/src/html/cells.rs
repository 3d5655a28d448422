//! The table of all cells, with the doubts that concern them directly below.

use super::parts::{Table, csv_link, escape, marks};
use crate::chart::key_class;
use crate::number::{self, NOTHING};
use crate::sentence;
use crate::terminal::verdict_word;
use crate::view::{self, Doubt, Row, View};
use crate::{RenderOptions, csv};
use std::fmt::Write;
use tollgate_facts::results::{SubjectUse, Toll, TollVerdict, Verdict};

/// Findings of one rule that are listed before the rest is counted.
const FINDINGS_MAX: usize = 4;
/// Cells of which the table shows every one.
const ROWS_MAX: usize = 100;

pub(super) fn table(view: &View<'_>) -> Option<String> {
    if view.rows.is_empty() {
        return Some("<section><h2>Every figure</h2><p>No cell was measured.</p></section>".to_owned());
    }
    let noun = sentence::unit_noun(&view.run.experiment);
    let factor = match view.run.experiment.factor_unit.as_str() {
        "" => view.run.experiment.factor.as_str(),
        unit => unit,
    };
    let mut html = format!(
        "<section><h2>Every figure</h2><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All cells\">\
         <table class=\"cells\"><thead><tr><th scope=\"col\">variant</th><th scope=\"col\" class=\"n\">{}</th>",
        escape(factor)
    );
    let _ = write!(
        html,
        "<th scope=\"col\" class=\"n\">{noun} time<small>ms</small></th><th scope=\"col\">toll<small>time, else CPU</small></th>",
        noun = escape(noun)
    );
    let heads = [
        ("requests", "/s"),
        ("p50", "ms"),
        ("p95", "ms"),
        ("p99", "ms"),
        ("CPU", &format!("us/{}", sentence::piece(&view.run.experiment))),
        ("received", &format!("kB/{noun}")),
        ("errors", "\u{a0}"),
    ];
    for (head, unit) in heads {
        let _ = write!(html, "<th scope=\"col\" class=\"n\">{}<small>{}</small></th>", escape(head), escape(unit));
    }
    html.push_str("</tr></thead>");
    // A whole matrix of cells would be a page of its own: then the level that stands for the run is shown.
    let shown = (view.rows.len() > ROWS_MAX).then(|| view::answer_level(view.run)).flatten();
    let mut level = None;
    for row in view.rows.iter().filter(|row| shown.is_none_or(|level| row.cell.level == level)) {
        if level != Some(row.cell.level) {
            html.push_str(if level.is_some() { "</tbody><tbody>" } else { "<tbody>" });
            level = Some(row.cell.level);
        }
        html.push_str(&line(view, row));
    }
    html.push_str("</tbody></table></div>");
    let counted = if view.rows.iter().any(|row| row.cell.played.is_some()) { noun } else { "request" };
    let _ = write!(
        html,
        "<p class=\"key\">± is half the 95 % interval over blocks. A percentile stands only where at least 30 {}s were slower.</p>",
        escape(counted)
    );
    html.push_str(&doubts(view));
    html.push_str(&failures(view));
    html.push_str(&resources(view, shown).folded("what subject and generator used", "resources.csv"));
    let mut all = Vec::new();
    if shown.is_some() {
        html.push_str("<p class=\"key\">Of these many cells the table shows one level; <code>tollgate report -f csv</code> writes them all.</p>");
    } else if (csv::REPORTER.render)(view.run, &mut all, &RenderOptions::default()).is_ok() {
        html.push_str(&csv_link("All cells as CSV", "cells.csv", &String::from_utf8_lossy(&all)));
    }
    html.push_str("</section>");
    Some(html)
}

fn line(view: &View<'_>, row: &Row<'_>) -> String {
    let cell = row.cell;
    let key = view.run.experiment.variants.iter().position(|variant| variant.name == cell.variant).unwrap_or(0);
    let class = match (row.is_closed_refused(&view.doubts), row.is_bottom) {
        (true, _) => " class=\"refused\"",
        (false, true) => " class=\"bottom\"",
        (false, false) => "",
    };
    let mut html = format!(
        "<tr{class}><th scope=\"row\"><i class=\"swatch {}\" aria-hidden=\"true\"></i>{}{}</th>",
        key_class(key),
        escape(&cell.variant),
        marks(row)
    );
    let half = match cell.unit_time_ms.n {
        0 => String::new(),
        1 => " <small>n = 1</small>".to_owned(),
        _ => {
            let half = (cell.unit_time_ms.high - cell.unit_time_ms.low) / 2.0;
            format!(" <small>±{}</small>", number::three_digits(half))
        }
    };
    let times = view::times(cell);
    let figures = [
        number::three_digits(cell.requests_per_second.mean),
        number::optional(times.p50),
        number::optional(times.p95),
        number::optional(times.p99),
        number::optional(view::cpu(cell).map(|cpu| cpu.mean)),
        number::three_digits(cell.bytes_per_unit / 1e3),
        number::whole(row.error_count()),
    ];
    let _ = write!(
        html,
        "<td class=\"n\">{}</td><td class=\"n\">{}{half}</td><td class=\"toll\">{}</td>",
        level(view, cell.level),
        number::three_digits(cell.unit_time_ms.mean),
        toll(row)
    );
    for (index, figure) in figures.iter().enumerate() {
        let class = if index + 1 == figures.len() && row.error_count() > 0 { "n bad" } else { "n" };
        let _ = write!(html, "<td class=\"{class}\">{figure}</td>");
    }
    html.push_str("</tr>");
    html
}

/// The level as its column has it: a name where there is one.
fn level(view: &View<'_>, level: u64) -> String {
    let named = view.run.experiment.named_levels.iter().find(|named| named.level == level);
    named.map_or_else(|| number::whole(level), |named| escape(&named.title))
}

fn toll(row: &Row<'_>) -> String {
    let text = |toll: &Toll| escape(&sentence::ratio(toll, "×"));
    let tag = |word: &str| format!(" <em>{word}</em>");
    match row.tolls.time {
        None if row.is_bottom => "<span class=\"quiet\">baseline</span>".to_owned(),
        None => NOTHING.to_owned(),
        Some(time) => {
            let title = time.note.as_deref().map(|note| format!(" title=\"{}\"", escape(note))).unwrap_or_default();
            let shown = match time.verdict {
                TollVerdict::Dearer | TollVerdict::Cheaper if time.do_ranks_disagree() => {
                    format!("{}{}", text(time), tag("ranks disagree"))
                }
                TollVerdict::Dearer | TollVerdict::Cheaper => text(time),
                TollVerdict::Refused => {
                    let why = time.note.as_deref().filter(|_| row.marks.is_empty()).unwrap_or_default();
                    format!("{} <small>{}</small>", tag("refused"), escape(why))
                }
                TollVerdict::Joint => match row.tolls.cpu.filter(|cpu| cpu.is_shown()) {
                    Some(cpu) if cpu.verdict == TollVerdict::Unclear => {
                        format!("CPU {}{}", text(cpu), tag("unclear, joint"))
                    }
                    Some(cpu) => format!("CPU {}{}", text(cpu), tag("joint")),
                    None => tag("joint"),
                },
                TollVerdict::NoToll | TollVerdict::Unclear => {
                    format!("{}{}", text(time), tag(sentence::verdict(time.verdict)))
                }
            };
            format!("<span{title}>{shown}</span>")
        }
    }
}

/// What the processes used, of which only the CPU per request stands in the table above.
fn resources(view: &View<'_>, shown: Option<u64>) -> Table {
    let mut table = Table::new([
        "variant",
        "level",
        "subject CPU, cores",
        "memory, most",
        "threads, most",
        "connections",
        "generator CPU, cores",
        "generator us/request",
        "generator waited",
        "sent",
        "received",
    ]);
    for row in view.rows.iter().filter(|row| shown.is_none_or(|level| row.cell.level == level)) {
        let cell = row.cell;
        let subject = |text: &dyn Fn(&SubjectUse) -> String| cell.subject.as_ref().map_or(NOTHING.to_owned(), text);
        table.push(vec![
            cell.variant.clone(),
            sentence::level(&view.run.experiment, cell.level),
            subject(&|used| number::three_digits(used.cpu_share)),
            subject(&|used| number::bytes(used.resident_memory_bytes_max as f64)),
            subject(&|used| used.threads_max.to_string()),
            number::whole(cell.connections),
            number::three_digits(cell.generator.cpu_share),
            number::three_digits(cell.generator.cpu_us_per_request),
            format!("{} %", number::three_digits(cell.generator.run_queue_share * 100.0)),
            number::bytes(cell.bytes_sent as f64),
            number::bytes(cell.bytes_received as f64),
        ]);
    }
    table
}

fn doubts(view: &View<'_>) -> String {
    if view.doubts.is_empty() {
        return "<p class=\"key\">Every cell passed the checks that were made.</p>".to_owned();
    }
    let items: Vec<String> = view.doubts.iter().map(|doubt| item(view, doubt)).collect();
    format!("<h3>Doubts about these figures</h3><ol class=\"doubts\">{}</ol>", items.concat())
}

fn item(view: &View<'_>, doubt: &Doubt<'_>) -> String {
    let class = if doubt.verdict == Verdict::Refused { "bad" } else { "warn" };
    let mut html = format!(
        "<li id=\"doubt-{}\"><strong class=\"{class}\">{}: {}</strong><ul>",
        doubt.number,
        verdict_word(doubt.verdict),
        escape(doubt.rule)
    );
    for found in crate::terminal::findings(view, doubt, FINDINGS_MAX) {
        let _ = write!(html, "<li>{}</li>", escape(&found));
    }
    let _ = write!(html, "</ul><p class=\"remedy\">What helps: {}</p></li>", escape(doubt.remedy));
    html
}

fn failures(view: &View<'_>) -> String {
    let failures = view.failures();
    if failures.is_empty() {
        return String::new();
    }
    let mut html = String::from("<h3>Failed requests</h3><ul class=\"failures\">");
    for failure in failures {
        let _ = write!(
            html,
            "<li><strong>{}</strong>: {} × {}; the first at {}: <q>{}</q></li>",
            escape(failure.variant),
            number::whole(failure.count),
            escape(failure.class),
            escape(&sentence::level(&view.run.experiment, failure.level)),
            escape(failure.example)
        );
    }
    html.push_str("</ul>");
    html
}
