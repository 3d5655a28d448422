//! A load in stages as a table: each stage with what it asked for and what came. The terminal, Markdown, the page of a
//! run and that of a single load show the same one.

use super::encryption::Table;
use super::marked::Marked;
use super::number::{self, NOTHING};
use super::sentence;
use super::view::View;
use tollgate_facts::results::{StageFound, StageUnit, Staged};

/// What the table leaves to be said.
pub(super) fn shared(unit: StageUnit) -> &'static str {
    match unit {
        StageUnit::PerSecond => {
            "what was due in a stage is that stage's, whenever it ended, and its time counts from when it was due; users are \
             those at work, in the mean"
        }
        StageUnit::Users => {
            "what users began in a stage is that stage's, whenever it ended; users are those at work, in the mean"
        }
    }
}

/// What stages of a run ask for; absent of a run without.
pub(super) fn unit_of(view: &View<'_>) -> Option<StageUnit> {
    view.rows.iter().find_map(|row| Some(row.cell.played.as_ref()?.staged.as_ref()?.unit))
}

/// Heads of the columns behind those that say which stage it is.
const HEAD: [&str; 12] = [
    "stage",
    "asked",
    "seconds",
    "users",
    "whole/s",
    "answers/s",
    "failed",
    "never begun",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "max ms",
];

/// The stages of all cells of a run.
pub(super) fn table(view: &View<'_>) -> Option<Marked> {
    let experiment = &view.run.experiment;
    let level = experiment.levels.first().map_or(0, |level| *level);
    let title = format!("The stages: {}", sentence::level(experiment, level));
    let mut table = Marked::new(title, std::iter::once("scenario").chain(HEAD).map(str::to_owned).collect());
    for (position, cell) in view.rows.iter().map(|row| row.cell).enumerate() {
        let Some(staged) = cell.played.as_ref().and_then(|played| played.staged.as_ref()) else { continue };
        for (place, stage) in staged.stages.iter().enumerate() {
            let variant = if place == 0 { cell.variant.clone() } else { String::new() };
            table.push(position, std::iter::once(variant).chain(row(staged, stage)).collect());
        }
    }
    table.some()
}

/// The stages of a single load.
pub(super) fn of_load(staged: &Staged) -> Table {
    let rows = staged.stages.iter().map(|stage| row(staged, stage)).collect();
    Table { title: "The stages".to_owned(), head: HEAD.map(str::to_owned).to_vec(), rows }
}

/// What is asked for, with its unit.
pub(super) fn unit(staged: &Staged) -> &'static str {
    match staged.unit {
        StageUnit::Users => "users",
        StageUnit::PerSecond => "per second",
    }
}

fn row(staged: &Staged, stage: &StageFound) -> Vec<String> {
    let short = |value: f64| number::three_digits(value);
    let asked = match stage.asked_from.total_cmp(&stage.asked_to) {
        std::cmp::Ordering::Equal => short(stage.asked_to),
        _ => format!("{} → {}", short(stage.asked_from), short(stage.asked_to)),
    };
    let unit = if staged.unit == StageUnit::PerSecond { "/s" } else { "" };
    let some = |count: u64| if count == 0 { NOTHING.to_owned() } else { number::whole(count) };
    let times = stage.time_ms.as_ref();
    vec![
        stage.name.clone(),
        format!("{asked}{unit}"),
        short(stage.until_s - stage.from_s),
        short(stage.users_mean),
        short(stage.whole_per_second),
        short(stage.requests_per_second),
        some(stage.failed),
        some(stage.unstarted),
        number::optional(times.and_then(|times| times.p50)),
        number::optional(times.and_then(|times| times.p95)),
        number::optional(times.and_then(|times| times.p99)),
        number::optional(times.map(|times| times.max)),
    ]
}
