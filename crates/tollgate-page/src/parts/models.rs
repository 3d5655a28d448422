//! Open beside closed: how each variant was loaded, and what came of it.

use crate::blocks::{Block, Cell, Section, Table, TableRow};
use crate::number;
use crate::words::sentence;
use crate::words::view::{Row, View};
use tollgate_facts::results::Variant;

/// What the table leaves to be said.
const SHARED: &str = "closed: the next iteration begins when the one before is over, so that a slow server is asked less. Open: \
                      iterations begin at a rate, whatever the server does, and times count from when each was due. Times of \
                      the two compare at equal throughput, where the server is equally busy";

/// How each cell was loaded; absent where all variants were loaded alike.
pub fn section(view: &View<'_>) -> Option<Section> {
    let experiment = &view.run.experiment;
    experiment.variants.iter().find(|variant| variant.model.is_some())?;
    let head = ["variant", "load", "due/s", "done/s", "users", "mean ms", "p50 ms", "p95 ms", "p99 ms"];
    let mut table = Table::new("", head).file("models.csv");
    for row in &view.rows {
        let Some(played) = &row.cell.played else { continue };
        let model = experiment.variant(&row.cell.variant).and_then(|variant| variant.model.as_ref());
        let words = model.map_or_else(|| "closed".to_owned(), |model| format!("open, {}", model.arrivals));
        let level = sentence::level(experiment, row.cell.level);
        let seconds = seconds(view, row);
        let each_second = |count: u64| number::optional((seconds > 0.0).then(|| count as f64 / seconds));
        let offered = played.offered.as_ref();
        let times = &played.iteration_time_ms;
        let users = offered.map_or(row.cell.level as f64, |offered| offered.users);
        let mut cells = vec![Cell::marked(format!("{}, {level}", row.cell.variant), row.marks.clone()), words.into()];
        cells.push(number::or_nothing(offered.map(|offered| each_second(offered.intended))).into());
        cells.push(each_second(played.iterations).into());
        cells.push(number::three_digits(users).into());
        cells.push(number::optional((played.iterations > 0).then_some(times.mean)).into());
        cells.extend([times.p50, times.p95, times.p99].map(|time| Cell::from(number::optional(time))));
        table.push(TableRow { tone: row.tone(), ..cells.into() });
    }
    let told = |variant: &Variant| Some(format!("{} is {}", variant.name, variant.model.as_ref()?.words()));
    let mut legend = vec![SHARED.to_owned()];
    legend.extend(experiment.variants.iter().filter_map(told));
    let blocks = vec![Block::Table(table.some()?), Block::Legend(legend)];
    Some(Section::main("Open beside closed", blocks))
}

/// How long the trials of a cell lasted together.
fn seconds(view: &View<'_>, row: &Row<'_>) -> f64 {
    let trials = view.run.trials_of(&row.cell.variant, row.cell.level);
    trials.iter().map(|trial| trial.duration_ms).sum::<f64>() / 1e3
}
