//! What was found of a scenario: iterations as a whole, and each of their steps.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::encryption::Arrivals;
use super::figure::Percentiles;
use super::staged::Staged;

/// What was found of a scenario in one cell.
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
    /// Each step, in the order in which users do them.
    pub steps: Vec<StepFound>,
    /// What was offered at a rate; absent of users who wait.
    pub offered: Option<IterationsOffered>,
    /// What was found of each stage, and over time; absent of a load that stays as it is.
    pub staged: Option<Staged>,
}

/// Iterations that were offered at a rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IterationsOffered {
    /// How the intended starts lay.
    pub arrivals: Arrivals,
    /// Iterations that were due.
    pub intended: u64,
    /// Those that were not begun, since all users were still at work at the end.
    pub unstarted: u64,
    /// Users that were needed, in the mean of the trials.
    pub users: f64,
    /// Users that there might be.
    pub users_max: u64,
    /// How long after they were due iterations were begun.
    pub lateness_ms: Percentiles,
    /// The part of that which is the generator's own doing: a user was there, or none was only from then on.
    #[serde(default)]
    pub overdue_ms: Percentiles,
}

/// What was found of one step.
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
