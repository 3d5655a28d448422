//! Figures of cells in any table: the numbers of a cell's doubts stand behind its name, or behind the
//! figure where a row is of several cells, what must not be read is told apart or reads `refused`, and a sentence says by
//! their rules which of its cells are in doubt.
//!
//! What it deliberately does not do: lay a table out.

use super::view::{Row, View};
use crate::number::NOTHING;
use crate::page::{Cell, TableRow};
use tollgate_facts::results::{RunResult, Validity, Verdict};
use tollgate_facts::rules;

/// What stands for a figure that must not be read.
pub(crate) const REFUSED: &str = "refused";

impl<'r> View<'r> {
    /// The row of a cell.
    pub(crate) fn row(&self, variant: &str, level: u64) -> Option<&Row<'r>> {
        self.rows.iter().find(|row| row.cell.variant == variant && row.cell.level == level)
    }

    /// A row of a table that is of one cell: its name with the numbers of its doubts, words, and its figures, which are
    /// not said where they must not be read.
    pub(crate) fn line(&self, row: &Row<'_>, words: Vec<String>, figures: Vec<String>) -> TableRow {
        let is_refused = row.is_closed_refused(&self.doubts);
        let figures = figures.into_iter().map(|text| if is_refused { REFUSED.into() } else { Cell::from(text) });
        let words = words.into_iter().map(Cell::from);
        TableRow::from([row.name()].into_iter().chain(words).chain(figures).collect::<Vec<Cell>>())
    }

    /// A figure of the closed load in a row of several cells, with the numbers of its own cell's doubts.
    pub(crate) fn figure(&self, variant: &str, level: u64, text: String) -> Cell {
        match self.row(variant, level) {
            Some(row) if row.is_closed_refused(&self.doubts) => Cell::marked(REFUSED, self.numbers([row])),
            Some(row) if text != NOTHING => Cell::marked(text, self.numbers([row])),
            _ => text.into(),
        }
    }

    /// The numbers of what marked these cells, for behind a figure that is made of all of them; of refused ones nothing is.
    pub(crate) fn marks_of<'a>(&self, cells: impl IntoIterator<Item = (&'a str, u64)>) -> Vec<usize> {
        let rows = cells.into_iter().filter_map(|(variant, level)| self.row(variant, level));
        self.numbers(rows.filter(|row| !row.is_closed_refused(&self.doubts)))
    }

    /// The numbers of these rows' doubts about the closed load.
    pub(crate) fn numbers<'v>(&self, rows: impl IntoIterator<Item = &'v Row<'r>>) -> Vec<usize>
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

impl Row<'_> {
    /// The variant with the numbers of its doubts.
    pub(crate) fn name(&self) -> Cell {
        Cell::marked(&self.cell.variant, self.marks.clone())
    }
}

/// A cell of a sentence: variant, level, and what the sentence calls it.
pub(crate) type Named<'a> = (&'a str, u64, String);

/// Whether the figures of a cell's closed load must not be read.
pub(crate) fn is_refused(run: &RunResult, variant: &str, level: u64) -> bool {
    doubts(run, variant, level).any(|found| found.verdict == Verdict::Refused)
}

/// What is to be said behind a sentence about these cells: by which rules some are marked, and some are refused, whose
/// figures are not in it. Nothing where nothing is in doubt.
pub(crate) fn aside(run: &RunResult, cells: &[Named<'_>]) -> String {
    let of = |verdict: Verdict| {
        let mut rules: Vec<(&str, Vec<&str>)> = Vec::new();
        for (variant, level, name) in cells {
            if verdict == Verdict::Marked && is_refused(run, variant, *level) {
                continue;
            }
            for found in doubts(run, variant, *level).filter(|found| found.verdict == verdict) {
                match rules.iter_mut().find(|(rule, _)| *rule == found.rule) {
                    Some((_, names)) if names.contains(&name.as_str()) => {}
                    Some((_, names)) => names.push(name),
                    None => rules.push((&found.rule, vec![name])),
                }
            }
        }
        rules.iter().map(|(rule, names)| format!("{rule} ({})", names.join(", "))).collect::<Vec<_>>()
    };
    let kinds = [("Marked", of(Verdict::Marked)), ("Refused", of(Verdict::Refused))];
    let said = kinds.iter().filter(|(_, rules)| !rules.is_empty());
    said.map(|(word, rules)| format!(" {word}: {}.", rules.join(", "))).collect()
}

fn doubts<'a>(run: &'a RunResult, variant: &'a str, level: u64) -> impl Iterator<Item = &'a Validity> {
    let own = run.validity.iter().filter(move |found| found.variant == variant && found.level == level);
    own.filter(|found| !rules::is_at_rate(&found.rule))
}

#[cfg(test)]
mod tests {
    use crate::RenderOptions;
    use tollgate_facts::fixture;
    use tollgate_facts::results::{
        Percentiles, Played, RunResult, StageFound, StageUnit, Staged, StepFound, Validity, Verdict,
    };

    fn staged() -> Staged {
        let stage = |name: &str| StageFound {
            name: name.to_owned(),
            from_s: 0.0,
            until_s: 1.0,
            asked_from: 0.0,
            asked_to: 20.0,
            asked_mean: 10.0,
            users_mean: 10.0,
            begun: 10,
            whole: 10,
            failed: 0,
            unstarted: 0,
            whole_per_second: 10.0,
            requests_per_second: 10.0,
            time_ms: Some(Percentiles { max: 7.0, ..Percentiles::default() }),
        };
        Staged { unit: StageUnit::PerSecond, times: 1, stages: vec![stage("up"), stage("down")], course: Vec::new() }
    }

    /// A run whose first cell was played in stages and has these doubts.
    fn run(verdicts: &[(&str, Verdict)]) -> RunResult {
        let mut run = fixture::protocol();
        run.cells.truncate(1);
        run.tolls.clear();
        let cell = &mut run.cells[0];
        let step = StepFound { name: "read".to_owned(), requests: 10, ..StepFound::default() };
        cell.played = Some(Played { iterations: 10, steps: vec![step], staged: Some(staged()), ..Played::default() });
        let of = |(rule, verdict): &(&str, Verdict)| Validity {
            variant: cell.variant.clone(),
            level: cell.level,
            rule: (*rule).to_owned(),
            verdict: *verdict,
            reason: "7 found".to_owned(),
            remedy: "mend it".to_owned(),
            value: 7.0,
            bound: 1.0,
        };
        run.validity = verdicts.iter().map(of).collect();
        run
    }

    fn rendered(name: &str, run: &RunResult) -> String {
        let mut out = Vec::new();
        crate::render(name, run, &mut out, &RenderOptions::default()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn stages_and_steps_of_a_marked_or_refused_cell_say_so() {
        use Verdict::{Marked, Refused};
        let check = |verdicts: &[(&str, Verdict)], text: &str, page: &[&str], plain: &[&str]| {
            let run = run(verdicts);
            let name = &run.cells[0].variant;
            let shown = rendered("terminal", &run);
            let begin = |name: String| shown.lines().filter(|line| line.starts_with(&name)).count();
            assert_eq!(begin(format!("{name}{text} ")), 2, "as a cell and with its stages: {shown}");
            assert_eq!(begin(format!("{name}, 1 user{text} ")), 1, "with its steps: {shown}");
            let shown = rendered("html", &run);
            let from = shown.find("<h2>The stages").unwrap();
            let until = from + shown[from..].find("Every figure").unwrap();
            page.iter().for_each(|part| assert!(shown[from..until].contains(part), "{part}: {shown}"));
            plain.iter().for_each(|part| assert!(!shown[from..until].contains(part), "{part}: {shown}"));
            assert!(rendered("markdown", &run).contains("The stages"));
        };
        let link = "<sup>[<a href=\"#doubt-1\">1</a>";
        check(&[], "", &[], &["class=\"refused\"", "<sup>"]);
        check(&[("stalls", Marked)], " [1]", &[link], &["class=\"refused\""]);
        check(&[("begun-late", Refused), ("stalls", Marked)], " [1,2]", &[link, "class=\"refused\""], &[]);
    }
}
