//! Runs side by side on a terminal or in a pipe.

use super::tables::{self, What};
use crate::RenderOptions;
use crate::encryption::Table;
use crate::terminal::{Paint, one_line, words, wrapped};
use crate::thresholds;
use std::io::{self, Write};
use tollgate_facts::across::{Across, CANCELS, UNPAIRED};

/// Values up to so many characters stand in the table on any terminal.
const VALUE_MIN: usize = 16;

pub(super) fn render(across: &Across, out: &mut dyn Write, options: &RenderOptions) -> io::Result<()> {
    let (paint, width) = (Paint { colour: options.colour }, options.width);
    words(&tables::runs(across), out, width, &paint)?;
    for why in across.runs.iter().filter_map(tables::incompleteness) {
        writeln!(out, "{}\n", paint.bad(&one_line(&why)))?;
    }
    if let Some(table) = tables::settings(across) {
        settings(table, out, width, &paint)?;
    }
    for (what, label) in [(What::Tolls, CANCELS), (What::Figures, UNPAIRED)] {
        let of_all = tables::ratio_tables(across, what, "x");
        if of_all.is_empty() {
            continue;
        }
        for table in of_all {
            words(&table, out, width, &paint)?;
        }
        for sentence in tables::sentences(across, what, "x") {
            wrapped(out, "", &sentence, width)?;
        }
        wrapped(out, "  ", label, width)?;
        writeln!(out)?;
    }
    if let Some(times) = tables::times(across) {
        words(&times, out, width, &paint)?;
    }
    if tables::has_marks(across) {
        wrapped(out, "  ", "* marked: see the doubts below", width)?;
    }
    wrapped(out, "  ", &format!("[..] and ±: {}", tables::reading(across)), width)?;
    for text in tables::lone(across).iter().chain(&tables::doubts(across)) {
        wrapped(out, "", text, width)?;
    }
    if let Some(table) = thresholds::table(&across.experiment, &across.thresholds) {
        writeln!(out)?;
        words(&table, out, width, &paint)?;
        for text in thresholds::reasons(&across.experiment, &across.thresholds) {
            wrapped(out, "  ", &text, width)?;
        }
    }
    Ok(())
}

/// The settings whose values fit a table as one, the others in lines of their own.
fn settings(table: Table, out: &mut dyn Write, width: usize, paint: &Paint) -> io::Result<()> {
    let names = table.rows.iter().filter_map(|row| row.first()).map(|name| name.chars().count()).max().unwrap_or(0);
    let columns = table.head.len().saturating_sub(1).max(1);
    let fits = (width.saturating_sub(names) / columns).saturating_sub(2).max(VALUE_MIN);
    let is_long = |row: &Vec<String>| row.iter().skip(1).any(|value| value.chars().count() > fits);
    let (long, short): (Vec<_>, Vec<_>) = table.rows.into_iter().partition(is_long);
    words(&Table { title: table.title, head: table.head, rows: short }, out, width, paint)?;
    for row in &long {
        for (number, value) in (1..).zip(&row[1..]) {
            wrapped(out, "", &format!("{}, run {number}: {value}", row[0]), width)?;
        }
    }
    if long.is_empty() { Ok(()) } else { writeln!(out) }
}
