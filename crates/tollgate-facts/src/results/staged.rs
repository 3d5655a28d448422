//! What was found of a load in stages: each stage, and the course over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figure::Percentiles;

/// What was found of a load in stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Staged {
    /// What stages ask for.
    pub unit: StageUnit,
    /// How often the stages were gone through: counts are of all times together, rates of one.
    pub times: u32,
    /// The stages in their order.
    pub stages: Vec<StageFound>,
    /// The course over time: a unit of work stands where it ended.
    pub course: Vec<StagedPoint>,
}

/// What stages ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StageUnit {
    /// Users who wait for their answers.
    Users,
    /// Units of work that begin in a second, whatever the server does.
    PerSecond,
}

/// What was found of one stage: of what was due in it, whenever it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageFound {
    /// Its name.
    pub name: String,
    /// When it begins, in seconds.
    pub from_s: f64,
    /// When it ends.
    pub until_s: f64,
    /// What it begins with.
    pub asked_from: f64,
    /// What it leads to.
    pub asked_to: f64,
    /// What it asks for on average.
    pub asked_mean: f64,
    /// Users at their work on average: whatever the stages count.
    pub users_mean: f64,
    /// Units of work that were begun.
    pub begun: u64,
    /// Those that ended whole.
    pub whole: u64,
    /// Those that a failure ended.
    pub failed: u64,
    /// Those that were due and never begun, since all users were at work; 0 of users who wait.
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
    /// Where it ends, in seconds.
    pub until_s: f64,
    /// What was asked for on average.
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
