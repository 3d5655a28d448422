//! Runs side by side on a terminal or in a pipe.

use super::tables::{self, What};
use crate::across::{Across, CANCELS, UNPAIRED};
use crate::report::RenderOptions;
use crate::report::encryption::Table;
use crate::report::terminal::{Paint, words, wrapped};
use crate::report::thresholds;
use crate::results::Verdict;
use std::io::{self, Write};

/// Fewest characters of a setting's value that are shown.
const VALUE_MIN: usize = 16;

pub(super) fn render(across: &Across, out: &mut dyn Write, options: &RenderOptions) -> io::Result<()> {
    let (paint, width) = (Paint { colour: options.colour }, options.width);
    words(&tables::runs(across), out, width, &paint)?;
    for why in across.runs.iter().filter_map(tables::incompleteness) {
        wrapped(out, "", &paint.bad(&why), width)?;
    }
    if let Some(settings) = tables::settings(across) {
        words(&clipped(settings, width), out, width, &paint)?;
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
    let is_marked = across.cells.iter().flat_map(|row| &row.values).any(|value| value.standing == Verdict::Marked);
    if is_marked {
        wrapped(out, "  ", "* marked: see the doubts below", width)?;
    }
    wrapped(
        out,
        "  ",
        "[..] and ±: 95 % interval; ratios by Welch on logarithms of block means, verdicts after Holm",
        width,
    )?;
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

/// The same with values cut so that all columns fit.
fn clipped(mut table: Table, width: usize) -> Table {
    let names = table.rows.iter().filter_map(|row| row.first()).map(|name| name.chars().count()).max().unwrap_or(0);
    let columns = table.head.len().saturating_sub(1).max(1);
    let fits = (width.saturating_sub(names) / columns).saturating_sub(2).max(VALUE_MIN);
    for value in table.rows.iter_mut().flat_map(|row| row.iter_mut().skip(1)) {
        if let Some((end, _)) = value.char_indices().nth(fits).filter(|_| value.chars().count() > fits) {
            value.truncate(end);
            value.pop();
            value.push('…');
        }
    }
    table
}
