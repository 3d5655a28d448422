//! A run of scenarios as a table: iterations as a whole, and each of their steps. The terminal, Markdown and the page
//! show the same one.

use super::marked::Marked;
use super::number::{self, NOTHING};
use super::sentence;
use super::view::View;
use tollgate_facts::results::Percentiles;

/// What the table leaves to be said.
pub(super) const SHARED: &str = "an iteration's time is that of its steps' answers, added up: time to think is left out. A failed step ends its \
                                 iteration, which is then in no time. The percentiles of a cell are those of its iterations";

/// Steps of all cells, one level after the other.
pub(super) fn table(view: &View<'_>) -> Option<Marked> {
    let head = ["scenario", "step", "answers", "errors", "mean ms", "p50 ms", "p95 ms", "p99 ms", "max ms"];
    let mut table = Marked::new("The steps".to_owned(), head.map(str::to_owned).to_vec());
    for (position, cell) in view.rows.iter().map(|row| row.cell).enumerate() {
        let Some(played) = &cell.played else { continue };
        let variant = format!("{}, {}", cell.variant, sentence::level(&view.run.experiment, cell.level));
        let (ended, times) = (failures([("ended", &played.failed)]), &played.iteration_time_ms);
        table.push(position, row(variant, "iteration", played.iterations, ended, times));
        for step in &played.steps {
            let classes = step.errors.iter().map(|(class, count)| (class.as_str(), count));
            let failed = failures(classes);
            table.push(position, row(String::new(), &step.name, step.requests, failed, &step.response_time_ms));
        }
    }
    table.some()
}

fn row(variant: String, step: &str, answers: u64, errors: String, times: &Percentiles) -> Vec<String> {
    let some = |value: Option<f64>| value.map_or_else(|| NOTHING.to_owned(), number::three_digits);
    let of_any = |value: f64| some((answers > 0).then_some(value));
    vec![
        variant,
        step.to_owned(),
        number::whole(answers),
        errors,
        of_any(times.mean),
        some(times.p50),
        some(times.p95),
        some(times.p99),
        of_any(times.max),
    ]
}

fn failures<'e>(classes: impl IntoIterator<Item = (&'e str, &'e u64)>) -> String {
    let some = classes.into_iter().filter(|(_, count)| **count > 0);
    let texts: Vec<String> = some.map(|(class, count)| format!("{count} {class}")).collect();
    if texts.is_empty() { NOTHING.to_owned() } else { texts.join(", ") }
}
