//! The wide tables, the fitted costs and the tolls of a run of inserts, for a terminal or a pipe.

use std::io::{self, Write};

use super::{Entry, Whose, Wide, WideRow, cpu_us_per_record, ms_per_record, published, tables};
use crate::number;
use crate::sentence;
use crate::terminal::{one_line, wrapped};
use crate::view::{self, View};
use tollgate_facts::results::{Estimate, GapKind, Toll, TollVerdict};

/// Spaces between columns.
const GAP: usize = 2;
/// Least width of a column of figures.
const FIGURE_WIDTH: usize = 6;
/// Narrowest text that is worth showing where errors begin.
const ONSET_WIDTH_MIN: usize = 12;

/// Writes all of it.
pub(crate) fn write(view: &View<'_>, out: &mut dyn Write, width: usize) -> io::Result<()> {
    for sentence in sentence::answers(view.run, "x") {
        wrapped(out, "", &one_line(&sentence), width)?;
    }
    writeln!(out)?;
    let (mut has_published, mut is_short) = (false, false);
    for wide in tables(view, ms_per_record, &[Whose::Ours, Whose::Theirs]) {
        has_published |= wide.rows.iter().any(|row| row.whose == Whose::Theirs);
        is_short |= wide.rows.iter().any(super::WideRow::is_short_anywhere);
        table(view, &wide, "ms per record", out, width)?;
    }
    for wide in &tables(view, cpu_us_per_record, &[Whose::Ours]) {
        if wide.rows.iter().any(|row| row.entries.iter().any(|entry| matches!(entry, Entry::Value { .. }))) {
            table(view, wide, "subject's CPU, us per record", out, width)?;
        }
    }
    if is_short {
        wrapped(out, "  ", super::SHORT, width)?;
    }
    legend(view, has_published, out, width)?;
    fits(view, out, width)?;
    tolls(view, out, width)
}

fn table(view: &View<'_>, wide: &Wide<'_>, what: &str, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let shapes: Vec<(String, String)> = wide.rows.iter().map(WideRow::shape).collect();
    let labels: Vec<String> = wide.rows.iter().map(|row| one_line(&row.label())).collect();
    let widest = |texts: &mut dyn Iterator<Item = usize>, least: usize| texts.max().unwrap_or(0).max(least);
    let label_width = widest(&mut labels.iter().map(|label| label.chars().count()), 4) + 1;
    let heads = label_width + GAP + 4 + GAP + 5;
    let figures: Vec<Vec<String>> = wide.rows.iter().map(|row| row.entries.iter().map(figure).collect()).collect();
    let level_texts: Vec<String> = wide.levels.iter().map(|level| number::whole(*level)).collect();
    let column_width =
        widest(&mut figures.iter().flatten().chain(&level_texts).map(|text| text.chars().count()), FIGURE_WIDTH);
    let room = width.saturating_sub(heads);
    let gap_width = if wide.levels.len() * (column_width + GAP) <= room { GAP } else { 1 };
    let shown = super::chosen(&wide.levels, room / (column_width + gap_width));
    let hidden = wide.levels.len() - shown.len();

    let hidden = match hidden {
        0 => String::new(),
        1 => " (1 more level in the report and as CSV)".to_owned(),
        hidden => format!(" ({hidden} more levels in the report and as CSV)"),
    };
    wrapped(out, "", &format!("{what}, {}{hidden}", super::distance(view.run, wide.distance)), width)?;
    let (gap, narrow) = (" ".repeat(GAP), " ".repeat(gap_width));
    write!(out, "{:label_width$}{gap}{:>4}{gap}{:>5}", "mode", "conn", "batch")?;
    for index in &shown {
        write!(out, "{narrow}{:>column_width$}", level_texts[*index])?;
    }
    writeln!(out)?;
    for ((row, (connections, records)), (label, figures)) in
        wide.rows.iter().zip(&shapes).zip(labels.iter().zip(&figures))
    {
        if row.is_empty() && row.whose == Whose::Theirs {
            continue;
        }
        let label = if row.whose == Whose::Theirs { format!(" {label}") } else { label.clone() };
        let mut line = format!("{label:label_width$}{gap}{connections:>4}{gap}{records:>5}");
        let mut onset = None;
        for index in &shown {
            // Errors may begin between two levels that are shown.
            onset = (0..=*index).find_map(|at| match row.entries[at] {
                Entry::Onset(wording) if at == *index => Some(one_line(wording)),
                Entry::Onset(wording) => Some(format!("from {} on: {}", level_texts[at], one_line(wording))),
                Entry::Value { .. } | Entry::Skipped(_) | Entry::Empty => None,
            });
            if onset.is_some() {
                break;
            }
            line.push_str(&format!("{narrow}{:>column_width$}", figures[*index]));
        }
        if let Some(wording) = onset {
            let room = width.saturating_sub(line.chars().count() + GAP).max(ONSET_WIDTH_MIN);
            line.push_str(&format!("{gap}{}", cut(&wording, room)));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)
}

/// What stands in a column; an error's wording has the rest of its row.
fn figure(entry: &Entry<'_>) -> String {
    match entry {
        Entry::Onset(_) => String::new(),
        Entry::Value { .. } | Entry::Skipped(_) | Entry::Empty => entry.text(),
    }
}

fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

fn legend(view: &View<'_>, has_published: bool, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let run = view.run;
    if run.cells.iter().any(|cell| cell.inserted.is_some()) {
        let settled: u64 = run.cells.iter().filter_map(|cell| Some(cell.inserted?.settlement.counted)).sum();
        let compared: u64 = run.cells.iter().filter_map(|cell| Some(cell.inserted?.settlement.compared)).sum();
        let text = format!(
            "after each transfer its rows were counted: {} transfers, of which {} were compared record by record",
            number::whole(settled),
            number::whole(compared)
        );
        wrapped(out, "  ", &text, width)?;
    }
    if let Some(text) = super::pool::waiting(run) {
        wrapped(out, "  ", &one_line(&text), width)?;
    }
    if view.rows.iter().any(|row| !row.marks.is_empty()) {
        wrapped(out, "  ", "* marked: see the notes below", width)?;
    }
    let is_skipped = run.gaps.iter().any(|gap| gap.kind == GapKind::TooLong);
    if let Some(cell_ms) = run.settings.cell_ms.filter(|_| is_skipped) {
        let cell = number::three_digits(cell_ms / 1e3);
        wrapped(out, "  ", &format!("skip: a cell may take {cell} s here, and 4 transfers would take longer"), width)?;
    }
    if let Some(text) = sentence::starts(run) {
        wrapped(out, "  ", &one_line(&text), width)?;
    }
    if has_published {
        wrapped(out, "  ", &format!("published: {}", published::SOURCE), width)?;
    }
    writeln!(out)
}

fn fits(view: &View<'_>, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let fits = &view.run.fits;
    if fits.is_empty() {
        return Ok(());
    }
    let heading = "fixed cost of a transfer and cost of each record, T = a + b n by relative least squares, 95 % over levels; ± its typical miss";
    wrapped(out, "", heading, width)?;
    let name_width = fits.iter().map(|fit| fit.variant.chars().count()).max().unwrap_or(0);
    for fit in fits {
        let line = format!(
            "{:name_width$}  {:>26} ms + {:>24} us/record  {:>5}  {} levels{}{}",
            one_line(&fit.variant),
            interval(fit.fixed_ms, 1.0),
            interval(fit.per_record_ms, 1e3),
            share(fit.residual_share),
            fit.fixed_ms.n,
            if fit.marks.is_empty() { "" } else { " *" },
            if fit.doubt.is_some() { " ?" } else { "" }
        );
        wrapped(out, "", &line, width)?;
    }
    if fits.iter().any(|fit| !fit.marks.is_empty()) {
        wrapped(out, "  ", "* cells behind it are marked", width)?;
    }
    if fits.iter().any(|fit| fit.doubt.is_some()) {
        wrapped(out, "  ", "? off a straight line, or too small a fixed part to be told: read the levels", width)?;
    }
    writeln!(out)
}

/// How far a fit is off: `±8 %`.
pub(crate) fn share(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 1.0 { "<1 %".to_owned() } else { format!("±{percent:.0} %") }
}

/// `0.52 [0.48, 0.56]`.
pub(crate) fn interval(estimate: Estimate, factor: f64) -> String {
    let text = |value: f64| number::three_digits(value * factor);
    format!("{} [{}, {}]", text(estimate.mean), text(estimate.low), text(estimate.high))
}

fn tolls(view: &View<'_>, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let run = view.run;
    let variants: Vec<(&str, u64)> = run
        .experiment
        .variants
        .iter()
        .filter_map(|variant| Some((variant.name.as_str(), view::headline_level(run, &variant.name)?)))
        .filter(|(name, level)| view::tolls(run, name, *level).each().next().is_some())
        .collect();
    if variants.is_empty() {
        return Ok(());
    }
    wrapped(out, "", "tolls over the baseline of the same run, subject and distance", width)?;
    let name_width = variants.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let level_width = variants.iter().map(|(_, level)| sentence::level(&run.experiment, *level).chars().count()).max();
    let level_width = level_width.unwrap_or(0);
    for (name, level) in variants {
        let tolls = view::tolls(run, name, level);
        let of = |toll: Option<&Toll>| toll.map_or_else(|| number::NOTHING.to_owned(), text);
        let line = format!(
            "{:name_width$}  at {:level_width$}  time {:<32} CPU {}",
            one_line(name),
            sentence::level(&run.experiment, level),
            of(tolls.time),
            of(tolls.cpu)
        );
        wrapped(out, "", line.trim_end(), width)?;
    }
    writeln!(out)
}

fn text(toll: &Toll) -> String {
    let ratio = sentence::ratio(toll, "x");
    match toll.verdict {
        TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::Refused => ratio,
        // Generator and subject were at their limit together: the time is not the mode's own.
        TollVerdict::Joint => sentence::verdict(toll.verdict).to_owned(),
        TollVerdict::NoToll | TollVerdict::Unclear => {
            format!("{ratio} {}", sentence::verdict(toll.verdict))
        }
    }
}
