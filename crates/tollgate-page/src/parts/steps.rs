//! The steps of scenarios: iterations as a whole, and each of their steps.

use crate::blocks::{Block, Cell, Section, Table, TableRow};
use crate::number;
use crate::words::sentence;
use crate::words::view::View;
use tollgate_facts::results::{Percentiles, Played, StepFound};

/// Notes for the table.
const SHARED: &str = "an iteration's time is that of its steps' answers, added up: time to think is left out. A failed step ends its \
                                 iteration, which is then in no time. The percentiles of a cell are those of its iterations";

/// The same of a single load, whose percentiles are those of its requests.
const SHARED_OF_LOAD: &str = "an iteration's time is that of its steps' answers, added up: time to think is left out. A failed step \
                              ends its iteration, which is then in no time";
/// Heads of the columns.
const HEAD: [&str; 9] = ["scenario", "step", "answers", "errors", "mean ms", "p50 ms", "p95 ms", "p99 ms", "max ms"];

/// Steps of all cells, one level after the other; absent without steps.
pub fn section(view: &View<'_>) -> Option<Section> {
    let mut table = Table::new("", HEAD).file("steps.csv");
    for row in &view.rows {
        let Some(played) = &row.cell.played else { continue };
        let level = sentence::level(&view.run.experiment, row.cell.level);
        let name = Cell::marked(format!("{}, {level}", row.cell.variant), row.marks.clone());
        rows_of(name, played).for_each(|cells| table.push(TableRow { tone: row.tone(), ..cells.into() }));
    }
    Some(Section::main("The steps", vec![Block::Table(table.some()?), Block::Legend(vec![SHARED.to_owned()])]))
}

/// The iterations and steps of a single load.
pub fn of_load(played: &Played) -> Table {
    let mut table = Table::new("", HEAD.into_iter().skip(1)).file("steps.csv");
    rows_of(Cell::default(), played).for_each(|mut cells| table.push(cells.split_off(1)));
    table
}

/// The section of a single load.
pub fn section_of_load(played: &Played) -> Section {
    Section::main("The steps", vec![Block::Table(of_load(played)), Block::Legend(vec![SHARED_OF_LOAD.to_owned()])])
}

/// The iterations under this name, then each step.
fn rows_of(name: Cell, played: &Played) -> impl Iterator<Item = Vec<Cell>> {
    let ended = failures([("ended", &played.failed)]);
    let whole = row(name, "iteration", played.iterations, ended, &played.iteration_time_ms);
    let step = |step: &StepFound| {
        let failed = failures(step.errors.iter().map(|(class, count)| (class.as_str(), count)));
        row(Cell::default(), &step.name, step.requests, failed, &step.response_time_ms)
    };
    std::iter::once(whole).chain(played.steps.iter().map(step))
}

fn row(name: Cell, step: &str, answers: u64, errors: String, times: &Percentiles) -> Vec<Cell> {
    let of_any = |value: f64| number::optional((answers > 0).then_some(value));
    let mut texts = vec![step.to_owned(), number::whole(answers), errors, of_any(times.mean)];
    texts.extend([times.p50, times.p95, times.p99].map(number::optional));
    texts.push(of_any(times.max));
    std::iter::once(name).chain(texts.into_iter().map(Cell::from)).collect()
}

fn failures<'e>(classes: impl IntoIterator<Item = (&'e str, &'e u64)>) -> String {
    let some = classes.into_iter().filter(|(_, count)| **count > 0);
    let texts: Vec<String> = some.map(|(class, count)| format!("{count} {class}")).collect();
    number::or_nothing((!texts.is_empty()).then(|| texts.join(", ")))
}
