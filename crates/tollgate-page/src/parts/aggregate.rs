//! The columns of JMeter's aggregate report, for readers who know that report.
//!
//! It computes nothing that JMeter would not: counts, bytes received, and the time of all trials together.

use crate::blocks::Table;
use crate::number;
use crate::words::sentence;
use crate::words::view::{self, View};
use tollgate_facts::results::{Cell, StepFound};

/// A kilobyte in JMeter.
const KILOBYTE: f64 = 1024.0;

/// The content of one line.
#[derive(Default)]
pub struct Sampled {
    /// The name of the request.
    pub label: String,
    /// Valid answers.
    pub answers: u64,
    /// Failed requests.
    pub failed: u64,
    /// Mean response time of valid answers, in milliseconds.
    pub mean_ms: f64,
    /// The shortest one; absent where it is not kept.
    pub least_ms: Option<f64>,
    /// The longest one, in milliseconds.
    pub most_ms: f64,
    /// Duration of the requests, in seconds.
    pub seconds: f64,
    /// Bytes of heads and bodies received and sent; absent where they are not kept.
    pub bytes: Option<(u64, u64)>,
}

/// Maximum number of cells with a line each; of more cells, only those of one level are shown.
const CELLS_MAX: usize = 24;

/// The cells of a run, of all levels or of one, each step of a scenario below its cell; absent where nothing was requested.
pub fn of_run(view: &View<'_>, level: Option<u64>) -> Option<Table> {
    let level = level.or_else(|| (view.rows.len() > CELLS_MAX).then(|| view::answer_level(view.run)).flatten());
    let shown = view.rows.iter().map(|row| row.cell).filter(|cell| level.is_none_or(|level| cell.level == level));
    let asked = shown.filter(|cell| cell.connections > 0 && (cell.requests > 0 || !cell.errors.is_empty()));
    let lines = asked.flat_map(|cell| {
        let level = sentence::level(&view.run.experiment, cell.level);
        let trials = view.run.trials_of(&cell.variant, cell.level);
        let seconds = trials.iter().map(|trial| trial.duration_ms).sum::<f64>() / 1e3;
        let steps = cell.played.iter().flat_map(|played| &played.steps);
        let steps = steps.map(move |step| of_step(cell, step, seconds));
        std::iter::once(of_cell(cell, format!("{}, {level}", cell.variant), seconds)).chain(steps).collect::<Vec<_>>()
    });
    table(lines).folded().some()
}

fn of_cell(cell: &Cell, label: String, seconds: f64) -> Sampled {
    Sampled {
        label,
        answers: cell.requests,
        failed: cell.errors.values().sum(),
        mean_ms: cell.response_time_ms.mean,
        least_ms: cell.curve.first().filter(|(share, _)| *share <= 0.0).map(|(_, time)| *time),
        most_ms: cell.response_time_ms.max,
        seconds,
        bytes: Some((cell.bytes_received, cell.bytes_sent)),
    }
}

fn of_step(cell: &Cell, step: &StepFound, seconds: f64) -> Sampled {
    Sampled {
        label: format!("{}: {}", cell.variant, step.name),
        answers: step.requests,
        failed: step.errors.values().sum(),
        mean_ms: step.response_time_ms.mean,
        most_ms: step.response_time_ms.max,
        seconds,
        ..Sampled::default()
    }
}

/// The table.
pub fn table(lines: impl IntoIterator<Item = Sampled>) -> Table {
    let samples = |line: &Sampled| line.answers + line.failed;
    let time = |line: &Sampled, value: f64| number::optional((line.answers > 0).then_some(value));
    let per_second = |line: &Sampled, value: f64| number::optional((line.seconds > 0.0).then(|| value / line.seconds));
    let kilobytes = |line: &Sampled, of: fn((u64, u64)) -> u64| {
        let found = line.bytes.map(|bytes| per_second(line, of(bytes) as f64 / KILOBYTE));
        number::or_nothing(found)
    };
    let failed = |line: &Sampled| {
        let share = line.failed as f64 / samples(line).max(1) as f64;
        number::grouped(share * 100.0, 2)
    };
    Table::of(
        "the aggregate report of JMeter (times of valid answers; 1 KB is 1,024 bytes)",
        lines,
        &[
            ("label", &|line: &Sampled| line.label.clone()),
            ("samples", &|line| number::whole(samples(line))),
            ("average ms", &|line| time(line, line.mean_ms)),
            ("min ms", &|line| number::optional(line.least_ms.filter(|_| line.answers > 0))),
            ("max ms", &|line| time(line, line.most_ms)),
            ("error %", &failed),
            ("throughput /s", &|line| per_second(line, samples(line) as f64)),
            ("received KB/s", &|line| kilobytes(line, |bytes| bytes.0)),
            ("sent KB/s", &|line| kilobytes(line, |bytes| bytes.1)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_columns_of_jmeter() {
        let line = Sampled {
            label: "rest".to_owned(),
            answers: 99,
            failed: 1,
            mean_ms: 2.0,
            least_ms: Some(1.0),
            most_ms: 9.0,
            seconds: 2.0,
            bytes: Some((20_480, 2048)),
        };
        let table = table([line, Sampled { label: "none".to_owned(), failed: 3, ..Sampled::default() }]);
        let texts: Vec<Vec<&str>> = table.rows.iter().map(|row| row.texts()).collect();
        assert_eq!(texts[0], ["rest", "100", "2.00", "1.00", "9.00", "1.00", "50.0", "10.0", "1.00"]);
        assert_eq!(texts[1], ["none", "3", "–", "–", "–", "100.00", "–", "–", "–"]);
    }
}
