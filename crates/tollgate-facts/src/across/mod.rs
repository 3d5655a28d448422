//! Saved runs of one experiment side by side: other machines, other days. The results of all runs are shown together,
//! and the ratio of each run to the first one has an unpaired interval.
//!
//! Two ratios are made. That of a *figure* (a time, CPU time) contains everything that differs between the runs, the
//! machine among it. That of a *toll* divides a layer's cost in one run by that in the other: effects that slow variant
//! and baseline alike cancel out. It measures nothing, and does not estimate the difference between a run and its
//! repetition: no interval inside a run contains it.

pub mod offered;
mod settings;
mod unpaired;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::results::{Experiment, Figure, RunResult, State, ThresholdResult, TollVerdict, Verdict};

pub use settings::Setting;

/// The version of the document's format.
pub const FORMAT: u32 = 1;
/// The note that every unpaired ratio needs beside it.
pub const UNPAIRED: &str = "unpaired: different times or machines; the machine is part of it, and how far a run lies from \
                            its own repetition is in no interval";
/// The note that every ratio of tolls needs beside it.
pub const CANCELS: &str = "the ratio of two tolls is unpaired, too, but what slows variant and baseline alike cancels";
/// Most runs side by side: more can neither be distinguished in a chart nor fit a table.
pub const RUNS_MAX: usize = 8;

/// Runs side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Across {
    /// Version of the format: [`FORMAT`].
    pub format: u32,
    /// The experiment as the first run has it.
    pub experiment: Experiment,
    /// The runs, in the order in which they were named; the first one is the divisor of the others.
    pub runs: Vec<RunHead>,
    /// Settings in which the runs differ.
    pub settings: Vec<Setting>,
    /// Figures of the cells that at least two runs have.
    pub cells: Vec<Beside>,
    /// Tolls that at least two runs have.
    pub tolls: Vec<Beside>,
    /// Response times of the same cells, which carry no interval.
    pub times: Vec<TimesBeside>,
    /// Cells that only one run has.
    pub lone: Vec<Lone>,
    /// Thresholds for the figures, with their outcomes.
    pub thresholds: Vec<ThresholdResult>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunHead {
    /// Its number, from 1.
    pub number: u32,
    /// Its name on the command line.
    pub name: String,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Whether everything planned was measured.
    pub state: State,
    /// The reason why it is partial.
    pub reason: Option<String>,
    /// Its machine, in a few words.
    pub machine: String,
}

/// One figure of one cell, or one toll, in all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Beside {
    /// Variant.
    pub variant: String,
    /// Its baseline; absent for a figure of a cell.
    pub baseline: Option<String>,
    /// Level, as the first run that has it numbers it.
    pub level: u64,
    /// Title of the level.
    pub level_title: String,
    /// The compared figure.
    pub figure: Figure,
    /// Unit of the values; empty for tolls.
    pub unit: String,
    /// The value of each run that has it.
    pub values: Vec<ValueOf>,
    /// Each further run by the first one, of those that have it.
    pub ratios: Vec<RatioOf>,
}

/// The value of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValueOf {
    /// Number of the run.
    pub run: u32,
    /// The figure as its own report has it; of a refused one zero.
    pub value: f64,
    /// Its interval as its own report has it; absent where it has none.
    pub interval: Option<(f64, f64)>,
    /// Whether it can be trusted.
    pub standing: Verdict,
    /// Doubts about it, each a rule with its finding.
    pub doubts: Vec<String>,
    /// Requests per second that were offered; absent for a figure of users who wait.
    pub rate_per_second: Option<f64>,
}

/// The ratio of one run to the first one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RatioOf {
    /// Number of the run.
    pub run: u32,
    /// Its figure divided by that of the first run: 1.1 is a tenth more.
    pub ratio: f64,
    /// Lower end of the unpaired interval (Welch, on logarithms of block means).
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Confidence of the interval, as a share: 0.95, or Pocock's 0.985 where either run looked several times.
    pub confidence_share: f64,
    /// Half the width of the band around 1 inside which the whole interval must lie for "no difference", as a share: the
    /// narrower one of the two runs.
    pub equivalence_share: f64,
    /// Blocks of the run that has fewer.
    pub blocks: u32,
    /// Probability of a ratio as far from 1 by chance, adjusted by Holm over all ratios of figures, or all of tolls.
    pub p_adjusted: f64,
    /// The conclusion; dearer or cheaper means the run, compared with the first one.
    pub verdict: TollVerdict,
    /// The reason for a verdict that is not plain.
    pub note: Option<String>,
}

/// Response times of one cell in all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimesBeside {
    /// Variant.
    pub variant: String,
    /// Level, as the first run that has it numbers it.
    pub level: u64,
    /// Title of the level.
    pub level_title: String,
    /// The times of each run.
    pub values: Vec<TimesOf>,
}

/// Response times of one cell in one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimesOf {
    /// Number of the run.
    pub run: u32,
    /// Whether they can be trusted.
    pub standing: Verdict,
    /// Valid answers per second.
    pub requests_per_second: f64,
    /// Median in milliseconds.
    pub p50_ms: Option<f64>,
    /// 95th percentile.
    pub p95_ms: Option<f64>,
    /// 99th percentile.
    pub p99_ms: Option<f64>,
}

/// A cell that only one run has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lone {
    /// Number of the run.
    pub run: u32,
    /// Variant.
    pub variant: String,
    /// Title of the level.
    pub level_title: String,
}

/// A run with the name under which it was given.
#[derive(Debug, Clone, Copy)]
pub struct Named<'r> {
    /// Its name on the command line.
    pub name: &'r str,
    /// The stored result.
    pub run: &'r RunResult,
}

/// The reasons why runs cannot be compared side by side.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AcrossError {
    /// The number of runs is below two, or above [`RUNS_MAX`].
    #[error("{0} runs: expected from 2 to {RUNS_MAX}")]
    Count(usize),
    /// Two are of different experiments: which, in words.
    #[error("runs of different experiments: {0}")]
    OtherExperiment(String),
}

/// Puts runs side by side; the thresholds are left empty, see [`crate::threshold::judge_across`].
///
/// # Errors
/// The reason why they cannot be compared.
pub fn across(runs: &[Named<'_>]) -> Result<Across, AcrossError> {
    if !(2..=RUNS_MAX).contains(&runs.len()) {
        return Err(AcrossError::Count(runs.len()));
    }
    let first = &runs[0];
    if let Some(other) = runs.iter().find(|other| kind(first.run) != kind(other.run)) {
        let [first, other] = [first, other].map(|named| (named.name, words(named.run)));
        let words = format!("{} is of {}, {} of {}", first.0, first.1, other.0, other.1);
        return Err(AcrossError::OtherExperiment(words));
    }
    let results: Vec<&RunResult> = runs.iter().map(|named| named.run).collect();
    let places = unpaired::places(&results);
    Ok(Across {
        format: FORMAT,
        experiment: first.run.experiment.clone(),
        runs: (1..).zip(runs).map(|(number, named)| head(number, named)).collect(),
        settings: settings::differing(&results),
        cells: unpaired::cells(&places),
        tolls: unpaired::tolls(&places),
        times: unpaired::times(&places),
        lone: unpaired::lone(&places),
        thresholds: Vec::new(),
    })
}

impl Across {
    /// The variants that the runs have in common, in the order of the experiment, then those of later runs.
    pub fn variants(&self) -> Vec<&str> {
        let planned = self.experiment.variants.iter().map(|variant| &variant.name);
        let mut names: Vec<&str> = Vec::new();
        for name in planned.chain(self.cells.iter().map(|row| &row.variant)) {
            if !names.contains(&name.as_str()) && self.cells.iter().any(|row| row.variant == *name) {
                names.push(name);
            }
        }
        names
    }
}

/// The properties that must agree for two runs to be of one experiment.
fn kind(run: &RunResult) -> (&str, &str, &str, bool) {
    let experiment = &run.experiment;
    let piece = experiment.piece == crate::results::Piece::Record;
    (&experiment.name, &experiment.factor, &experiment.unit_of_work, piece)
}

/// The experiment in words that distinguish two of one name.
fn words(run: &RunResult) -> String {
    let experiment = &run.experiment;
    format!("`{}` ({} over {})", experiment.name, experiment.unit_of_work, experiment.factor)
}

fn head(number: u32, named: &Named<'_>) -> RunHead {
    let (run, machine) = (named.run, &named.run.machine);
    let words = match machine.cpu.as_str() {
        "" => machine.system.clone(),
        cpu => format!("{} × {cpu}, {}", machine.cores, machine.system),
    };
    RunHead {
        number,
        name: named.name.to_owned(),
        started: run.started.clone(),
        state: run.state,
        reason: run.reason.clone(),
        machine: words,
    }
}

#[cfg(test)]
mod tests;
