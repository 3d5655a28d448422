//! The pool of work processes for each way of inserting: the most that were busy, and the most requests that waited.
//!
//! Only for subjects that reported it while it was sampled; unknown figures are left out.

use super::wide::{distance_of, mode};
use tollgate_facts::results::{Cell, RunResult, Variant};
use tollgate_page::blocks::Table;
use tollgate_page::number;
use tollgate_page::words::sentence;

/// Most cells with waiting requests that are named; further ones are only counted.
const NAMED_MAX: usize = 4;
/// Title of the table.
const TITLE: &str = "Work processes busy at most / requests waiting for one at most, as sampled";

/// A row for each variant with any figures; absent if there are none.
pub(crate) fn table(run: &RunResult) -> Option<Table> {
    let head = ["mode".to_owned()].into_iter().chain(run.experiment.levels.iter().map(|level| number::whole(*level)));
    let rows = run.experiment.variants.iter().filter_map(|variant| row(run, variant));
    Table { axis_from: Some(1), ..Table::new(TITLE, head).with(rows).file("work-processes.csv") }.some()
}

fn row(run: &RunResult, variant: &Variant) -> Option<Vec<String>> {
    let at = |level: &u64| {
        let (busy, waiting) = seen(run.cell(&variant.name, *level)?)?;
        Some(format!("{busy:.0} / {waiting:.0}"))
    };
    let found: Vec<Option<String>> = run.experiment.levels.iter().map(at).collect();
    found.iter().any(Option::is_some).then(|| {
        let label = format!("{}, {}", mode(variant), distance_of(variant));
        [label].into_iter().chain(found.into_iter().map(Option::unwrap_or_default)).collect()
    })
}

fn seen(cell: &Cell) -> Option<(f64, f64)> {
    let inserted = cell.inserted.as_ref()?;
    Some((inserted.work_processes_busy_max?, inserted.work_processes_waiting_max?))
}

/// The cells in which requests waited, those with the most first; absent if none did.
pub(crate) fn waiting(run: &RunResult) -> Option<String> {
    let mut found: Vec<(&Cell, f64)> =
        run.cells.iter().filter_map(|cell| Some((cell, seen(cell)?.1))).filter(|(_, waiting)| *waiting > 0.0).collect();
    found.sort_by(|one, other| other.1.total_cmp(&one.1));
    let named = |(cell, waiting): &(&Cell, f64)| {
        format!("{waiting:.0} with {} at {}", cell.variant, sentence::level(&run.experiment, cell.level))
    };
    let names: Vec<String> = found.iter().take(NAMED_MAX).map(named).collect();
    let more = match found.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(", and in {more} more cells"),
    };
    (!names.is_empty()).then(|| format!("requests waited for a work process, at most {}{more}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::fixture;

    #[test]
    fn what_was_not_sampled_has_no_figure_and_the_most_waiting_is_named_first() {
        let mut run = fixture::batching(&[5, 10]);
        assert_eq!(waiting(&run), None);
        for cell in &mut run.cells {
            let Some(inserted) = &mut cell.inserted else { continue };
            match (cell.variant.as_str(), cell.level) {
                ("parallel-10", 10) => inserted.work_processes_waiting_max = Some(7.0),
                ("parallel-10", 5) => inserted.work_processes_waiting_max = Some(2.0),
                ("sequential", 10) => {}
                _ => (inserted.work_processes_busy_max, inserted.work_processes_waiting_max) = (None, None),
            }
        }
        let text = waiting(&run).unwrap();
        assert!(text.ends_with("7 with parallel-10 at 10 records, 2 with parallel-10 at 5 records"), "{text}");
        let table = table(&run).unwrap();
        let rows: Vec<Vec<&str>> = table.rows.iter().map(|row| row.texts()).collect();
        assert_eq!(rows, [["sequential, local", "", "1 / 0"], ["parallel-10, local", "1 / 2", "1 / 7"]]);
    }
}
