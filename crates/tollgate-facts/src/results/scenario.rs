//! Stored results of a scenario: iterations as a whole, each of their steps, and each stage of a load that changes,
//! with the course over time.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::encryption::Arrivals;
use super::figure::{PercentileIntervals, Percentiles};

/// Results of a scenario in one cell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Played {
    /// Whole iterations.
    pub iterations: u64,
    /// Iterations that a failure ended.
    pub failed: u64,
    /// Trials in which a feed came to its end and users left.
    #[serde(default)]
    pub trials_out_of_rows: u32,
    /// Whole iterations: response times of their steps added up. Time to think is left out.
    pub iteration_time_ms: Percentiles,
    /// The intervals of its percentiles; absent in results that do not have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration_interval_ms: Option<PercentileIntervals>,
    /// Each step, in the order in which users do them.
    pub steps: Vec<StepFound>,
    /// The offered rate; absent of users who wait.
    pub offered: Option<IterationsOffered>,
    /// Results of each stage, and over time; absent of a load that stays as it is.
    pub staged: Option<Staged>,
    /// Users who think, as throughput, response time and thinking find them; absent of others, and in results that do not
    /// have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interactive_law: Option<InteractiveLaw>,
}

/// Users who think, compared with throughput, response time and thinking: N = X (R + Z).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InteractiveLaw {
    /// Requested number of users: N.
    pub users: u64,
    /// Users as throughput times response time and thinking finds them: X (R + Z).
    pub found: f64,
    /// Requests that were begun per second, failed ones among them: X.
    pub requests_per_second: f64,
    /// Their mean response time: R.
    pub response_time_ms: f64,
    /// The mean pause behind them, as it was drawn: Z.
    pub thinking_ms: f64,
    /// The share by which the users differ.
    pub off: f64,
    /// The largest share that is allowed: 2 %, or the variation by chance from the spread of the trials (Student's t,
    /// 99.9 %).
    pub bound: f64,
    /// Whether the law is met; absent if the bound is so large, 10 % or more, that it would be met in any case.
    pub holds: Option<bool>,
}

/// The words for a variant without an [`OpenModel`] where others have one.
pub const CLOSED: &str = "closed: as many users as the level says, who wait";

/// The load of a variant whose iterations begin at a rate, beside others whose users wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenModel {
    /// The rate.
    #[serde(flatten)]
    pub rate: OpenRate,
    /// Distribution of the intended starts.
    pub arrivals: Arrivals,
    /// Users that there may be.
    pub users_max: u32,
}

/// The rate of a load that does not wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum OpenRate {
    /// Iterations that begin in a second.
    #[serde(rename = "rate")]
    PerSecond(f64),
    /// The throughput of this variant, whose users wait, at the same level in its trials so far.
    #[serde(rename = "rate_of")]
    Of(String),
}

impl OpenModel {
    /// The load in a few words.
    pub fn words(&self) -> String {
        let rate = match &self.rate {
            OpenRate::PerSecond(rate) => format!("{rate} per second"),
            OpenRate::Of(variant) => format!("at the throughput of `{variant}`"),
        };
        format!("open: {rate} ({}), by at most {} users", self.arrivals, self.users_max)
    }

    /// The same where other variants are called so.
    #[must_use]
    pub fn renamed(&self, renamed: impl FnOnce(&str) -> String) -> OpenModel {
        let rate = match &self.rate {
            OpenRate::Of(variant) => OpenRate::Of(renamed(variant)),
            OpenRate::PerSecond(rate) => OpenRate::PerSecond(*rate),
        };
        OpenModel { rate, ..self.clone() }
    }
}

/// Iterations that were offered at a rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IterationsOffered {
    /// Distribution of the intended starts.
    pub arrivals: Arrivals,
    /// Iterations that were due.
    pub intended: u64,
    /// Iterations that were not begun, since all users were still at work at the end.
    pub unstarted: u64,
    /// Users that were needed, in the mean of the trials.
    pub users: f64,
    /// Users that there might be.
    pub users_max: u64,
    /// Delay between the time when iterations were due and their begin.
    pub lateness_ms: Percentiles,
    /// The part of that which is the generator's own doing: a user was there, or none was only from then on.
    #[serde(default)]
    pub overdue_ms: Percentiles,
}

/// Results of one step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct StepFound {
    /// Its name.
    pub name: String,
    /// Valid answers.
    pub requests: u64,
    /// Failures by class, such as `extraction`, `assertion` or `status-503`.
    pub errors: BTreeMap<String, u64>,
    /// First failure's text for each class.
    pub error_examples: BTreeMap<String, String>,
    /// From the intended start to the last byte, valid answers only.
    pub response_time_ms: Percentiles,
}

/// Results of a load in stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Staged {
    /// The unit of the stages.
    pub unit: StageUnit,
    /// Number of rounds through the stages; counts are of all rounds together, rates of one.
    pub times: u32,
    /// The stages in their order.
    pub stages: Vec<StageFound>,
    /// The course over time; a unit of work counts where it ended.
    pub course: Vec<StagedPoint>,
}

/// The unit of stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StageUnit {
    /// Users who wait for their answers.
    Users,
    /// Units of work that begin in a second, independent of the server.
    PerSecond,
}

/// Results of one stage, for the work that was due in it, even if it ended later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageFound {
    /// Its name.
    pub name: String,
    /// Its start, in seconds.
    pub from_s: f64,
    /// Its end, in seconds.
    pub until_s: f64,
    /// Its target at the beginning.
    pub asked_from: f64,
    /// Its target at the end.
    pub asked_to: f64,
    /// Its mean target.
    pub asked_mean: f64,
    /// Mean number of users at their work, for stages of every unit.
    pub users_mean: f64,
    /// Units of work that were begun.
    pub begun: u64,
    /// Units of work that ended whole.
    pub whole: u64,
    /// Units of work that a failure ended.
    pub failed: u64,
    /// Units of work that were due and never begun, since all users were at work; 0 of users who wait.
    pub unstarted: u64,
    /// Whole units of work for each second of the stage.
    pub whole_per_second: f64,
    /// Valid answers for each second of the stage.
    pub requests_per_second: f64,
    /// Times of whole units of work, from when each was due; absent where there was none.
    pub time_ms: Option<Percentiles>,
}

/// A piece of the course over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StagedPoint {
    /// Its end, in seconds.
    pub until_s: f64,
    /// The mean target.
    pub asked: f64,
    /// Users at their work on average.
    pub users: f64,
    /// Units of work begun in a second.
    pub begun_per_second: f64,
    /// Units of work that ended whole in a second.
    pub whole_per_second: f64,
    /// Valid answers in a second.
    pub requests_per_second: f64,
    /// Units of work that a failure ended in a second.
    pub failed_per_second: f64,
    /// Half of them took no longer, in milliseconds; absent of fewer than 10.
    pub p50_ms: Option<f64>,
    /// 99 % took no longer; absent of fewer than 100.
    pub p99_ms: Option<f64>,
    /// The longest; absent where none ended.
    pub max_ms: Option<f64>,
}
