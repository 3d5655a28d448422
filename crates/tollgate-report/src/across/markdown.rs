//! Runs side by side for an issue or a merge request.

use super::tables::{self, What};
use crate::RenderOptions;
use crate::markdown::{escaped, word_tables};
use crate::thresholds;
use std::io::{self, Write};
use tollgate_facts::across::{Across, CANCELS, UNPAIRED};

pub(super) fn render(across: &Across, out: &mut dyn Write, _: &RenderOptions) -> io::Result<()> {
    writeln!(out, "**{}**\n", escaped(&across.experiment.question))?;
    word_tables(vec![tables::runs(across)], out)?;
    for why in across.runs.iter().filter_map(tables::incompleteness) {
        writeln!(out, "> {}\n", escaped(&why))?;
    }
    word_tables(tables::settings(across).into_iter().collect(), out)?;
    for (what, label) in [(What::Tolls, CANCELS), (What::Figures, UNPAIRED)] {
        let of_all = tables::ratio_tables(across, what, "×");
        if of_all.is_empty() {
            continue;
        }
        for sentence in tables::sentences(across, what, "×") {
            writeln!(out, "- {}", escaped(&sentence))?;
        }
        writeln!(out, "\n{}\n", escaped(label))?;
        word_tables(of_all, out)?;
    }
    word_tables(tables::times(across).into_iter().collect(), out)?;
    for text in tables::lone(across).iter().chain(&tables::doubts(across)) {
        writeln!(out, "- {}", escaped(text))?;
    }
    writeln!(out, "\n\\[..\\] and ±: {}; \\* is marked.", escaped(&tables::reading(across)))?;
    if let Some(table) = thresholds::table(&across.experiment, &across.thresholds) {
        writeln!(out)?;
        word_tables(vec![table], out)?;
        for text in thresholds::reasons(&across.experiment, &across.thresholds) {
            writeln!(out, "- {}", escaped(&text))?;
        }
    }
    Ok(())
}
