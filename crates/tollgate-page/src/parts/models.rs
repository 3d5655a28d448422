//! Open beside closed: the load of each variant, and its results.

use crate::blocks::{Block, Cell, Section, Table, TableRow};
use crate::number;
use crate::words::sentence;
use crate::words::view::{Row, View};
use tollgate_facts::results::Variant;

/// Notes for the table.
const SHARED: &str = "closed: the next iteration begins when the one before is over, so that a slow server is asked less. Open: \
                      iterations begin at a rate, whatever the server does, and times count from when each was due. Times of \
                      the two compare at equal throughput, where the server is equally busy";

/// The load of each cell; absent where all variants were loaded alike.
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

/// Total duration of a cell's trials.
fn seconds(view: &View<'_>, row: &Row<'_>) -> f64 {
    let trials = view.run.trials_of(&row.cell.variant, row.cell.level);
    trials.iter().map(|trial| trial.duration_ms).sum::<f64>() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::fixture;
    use tollgate_facts::results::{Arrivals, IterationsOffered, OpenModel, OpenRate, Percentiles, Played};

    #[test]
    fn what_was_due_is_told_of_the_open_ones_and_nothing_of_a_run_without() {
        let mut run = fixture::protocol();
        assert!(section(&View::of(&run)).is_none());
        let names: Vec<String> = run.experiment.variants[..2].iter().map(|variant| variant.name.clone()).collect();
        let rate = OpenRate::Of(names[0].clone());
        let model = OpenModel { rate, arrivals: Arrivals::Poisson, users_max: 200 };
        run.experiment.variants[1].model = Some(model);
        run.cells = names.iter().map(|name| fixture::cell(name, 1)).collect();
        let wall_ms: f64 = run.trials_of(&names[1], 1).iter().map(|trial| trial.duration_ms).sum();
        let offered = IterationsOffered {
            arrivals: Arrivals::Poisson,
            intended: (wall_ms / 1e3 * 300.0).round() as u64,
            unstarted: 0,
            users: 7.5,
            users_max: 200,
            lateness_ms: Percentiles::default(),
            overdue_ms: Percentiles::default(),
        };
        for (cell, offered) in run.cells.iter_mut().zip([None, Some(offered)]) {
            cell.played = Some(Played { iterations: 1000, offered, ..Played::default() });
        }
        let section = section(&View::of(&run)).expect("one is open");
        let [Block::Table(table), Block::Legend(told)] = &section.blocks[..] else { panic!("{section:?}") };
        let texts: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.cells[1..5].iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!((texts[0][0], texts[0][1], texts[0][3]), ("closed", number::NOTHING, "1.00"));
        assert_eq!((texts[1][0], texts[1][3]), ("open, poisson", "7.50"));
        assert!(texts[1][1].starts_with("30") || texts[1][1].starts_with("299"), "{texts:?}");
        let expected =
            format!("{} is open: at the throughput of `{}` (poisson), by at most 200 users", names[1], names[0]);
        assert_eq!(told.last(), Some(&expected));
    }
}
