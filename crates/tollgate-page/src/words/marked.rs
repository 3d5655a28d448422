//! Figures of cells in any table: the numbers of a cell's doubts come after its name, or after the figure where a row
//! is of several cells; refused figures are set apart or read `refused`; and a sentence names the cells in doubt by
//! their rules.
//!
//! It does not lay a table out.

use super::sentence;
use super::view::{Row, Shared, View, is_of_all};
use crate::blocks::{Cell, TableRow};
use crate::chart::Standing;
use crate::gather::{by_key, first_of};
use crate::number::NOTHING;
use crate::text::{capitalized, stopped};
use tollgate_facts::results::{self, RunResult, Validity, Verdict};
use tollgate_facts::rules::{self, STEADY};

/// Replacement of a refused figure.
pub const REFUSED: &str = "refused";
/// Maximum number of levels that a sentence names.
const LEVELS_MAX: usize = 6;

impl<'r> View<'r> {
    /// The row of a cell.
    pub fn row(&self, variant: &str, level: u64) -> Option<&Row<'r>> {
        self.rows.iter().find(|row| row.cell.variant == variant && row.cell.level == level)
    }

    /// The rows of a level.
    pub fn at(&self, level: u64) -> impl Iterator<Item = &Row<'r>> {
        self.rows.iter().filter(move |row| row.cell.level == level)
    }

    /// A table row of one cell: its name with the numbers of its doubts, words, and its figures, which are hidden if
    /// they are refused.
    pub fn line(&self, row: &Row<'_>, words: Vec<String>, figures: Vec<String>) -> TableRow {
        let figures = figures.into_iter().map(|text| self.said(row, text));
        let words = words.into_iter().map(Cell::from);
        TableRow::from([row.name()].into_iter().chain(words).chain(figures).collect::<Vec<Cell>>())
    }

    /// A figure of the closed load in a row that has the name of its cell.
    pub fn said(&self, row: &Row<'_>, text: String) -> Cell {
        if row.is_closed_refused { REFUSED.into() } else { text.into() }
    }

    /// A figure of the closed load in a row of several cells, with the numbers of its own cell's doubts.
    pub fn figure(&self, variant: &str, level: u64, text: String) -> Cell {
        match self.row(variant, level) {
            Some(row) if row.is_closed_refused => Cell::marked(REFUSED, self.numbers([row])),
            Some(row) if text != NOTHING => Cell::marked(text, self.numbers([row])),
            _ => text.into(),
        }
    }

    /// The numbers of the marks of these cells, for a figure made of all of them; refused cells are not part of it.
    pub fn marks_of<'a>(&self, cells: impl IntoIterator<Item = (&'a str, u64)>) -> Vec<usize> {
        let rows = cells.into_iter().filter_map(|(variant, level)| self.row(variant, level));
        self.numbers(rows.filter(|row| !row.is_closed_refused))
    }

    /// The numbers of these rows' doubts about the closed load.
    pub fn numbers<'v>(&self, rows: impl IntoIterator<Item = &'v Row<'r>>) -> Vec<usize>
    where
        'r: 'v,
    {
        let mut numbers: Vec<usize> = rows.into_iter().flat_map(|row| row.marks.iter().copied()).collect();
        numbers.retain(|number| !rules::is_at_rate(self.doubts[number - 1].rule));
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// The worst of several findings of one rule.
pub fn worst<'r>(findings: &[&'r Validity]) -> Option<&'r Validity> {
    let distance = |found: &Validity| (found.value - found.bound).abs();
    findings.iter().copied().max_by(|one, other| distance(one).total_cmp(&distance(other)))
}

/// Marks of all cells, or of all cells of some levels, a sentence or two each; those that `said` already contains are
/// left out.
pub fn shared(view: &View<'_>, said: &str) -> Vec<String> {
    let experiment = &view.run.experiment;
    let text = |Shared { doubt, levels }: &Shared<'_>| {
        let worst = worst(&doubt.findings)?;
        let levels: Vec<String> = levels.iter().map(|level| sentence::level(experiment, *level)).collect();
        let at = if levels.is_empty() { String::new() } else { format!(" at {}", first_of(&levels, LEVELS_MAX)) };
        // Behind a full stop it is capitalized.
        if said.contains(&worst.reason) || said.contains(&capitalized(&worst.reason)) {
            return Some(format!("Marked for the same reason: all cells{at} ({}).", doubt.rule));
        }
        let is_one = doubt.findings.iter().all(|found| found.reason == worst.reason);
        let with = format!(", most with {} at {}", worst.variant, sentence::level(experiment, worst.level));
        let most = if is_one { String::new() } else { with };
        let remedy = capitalized(doubt.remedy);
        let remedy = if said.contains(&remedy) { String::new() } else { format!(" {}", stopped(&remedy)) };
        Some(format!("All cells{at} ({}{most}): {}.{remedy}", doubt.rule, worst.reason))
    };
    view.shared.iter().filter_map(text).collect()
}

impl Row<'_> {
    /// The variant with the numbers of its doubts.
    pub fn name(&self) -> Cell {
        Cell::marked(&self.cell.variant, self.marks.clone())
    }

    /// Whether its figures are free of doubt.
    pub fn standing(&self) -> Standing {
        if self.marks.is_empty() { Standing::Plain } else { Standing::Hollow }
    }
}

/// A cell of a sentence: variant, level, and its name in the sentence.
pub type Named<'a> = (&'a str, u64, String);

/// Whether the figures of a cell's closed load are refused.
pub fn is_refused(run: &RunResult, variant: &str, level: u64) -> bool {
    doubts(run, variant, level).any(|found| found.verdict == Verdict::Refused)
}

/// Whether the times of a cell's closed load grew throughout it, so that it has no valid time.
pub fn is_unsteady(run: &RunResult, cell: &results::Cell) -> bool {
    let is_one = |found: &Validity| found.rule == STEADY.name && found.verdict == Verdict::Refused;
    doubts(run, &cell.variant, cell.level).any(is_one)
}

/// The note after a sentence about these cells: the rules that mark some of them or refuse others, whose figures are
/// not in it. Empty where nothing is in doubt.
pub fn aside(run: &RunResult, cells: &[Named<'_>]) -> String {
    let of = |verdict: Verdict| {
        let is_told =
            |(variant, level, _): &&Named<'_>| verdict == Verdict::Refused || !is_refused(run, variant, *level);
        let found = cells.iter().filter(is_told).flat_map(|(variant, level, name)| {
            let own = doubts(run, variant, *level).filter(|found| found.verdict == verdict && is_of_all(run, found));
            own.map(|found| (found.rule.as_str(), name.as_str()))
        });
        let told = |(rule, mut names): (&str, Vec<&str>)| {
            names.dedup();
            format!("{rule} ({})", names.join(", "))
        };
        by_key(found).into_iter().map(told).collect::<Vec<_>>()
    };
    let kinds = [("Marked", of(Verdict::Marked)), ("Refused", of(Verdict::Refused))];
    let said = kinds.iter().filter(|(_, rules)| !rules.is_empty());
    said.map(|(word, rules)| format!(" {word}: {}.", rules.join(", "))).collect()
}

fn doubts<'a>(run: &'a RunResult, variant: &'a str, level: u64) -> impl Iterator<Item = &'a Validity> {
    run.findings(variant, level).filter(|found| !rules::is_at_rate(&found.rule))
}
