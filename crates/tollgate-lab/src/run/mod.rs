//! A whole run: subjects are started, warmed up and measured in interleaved blocks; the result is stored after every
//! trial, so that whatever happens later, what was measured stands.
//!
//! What it deliberately does not do: print (an [`Observer`] is told), compute tolls, or render.

mod options;
mod stop;

use std::path::PathBuf;
use std::time::Duration;

pub use options::{Certificates, Observer, Progress, RunError, RunOptions};
pub use stop::StopFlag;

use crate::results::RunResult;

/// Warm-up lasts at least so long, or [`WARM_UP_REQUESTS`].
pub const WARM_UP_LEAST: Duration = Duration::from_secs(2);
/// Warm-up may end earlier than [`WARM_UP_LEAST`] after so many requests.
pub const WARM_UP_REQUESTS: u64 = 10_000;
/// Warm-up lasts at most so long: no steady state until then is a mark.
pub const WARM_UP_MOST: Duration = Duration::from_secs(20);

/// What a run left.
#[derive(Debug)]
pub struct RunOutcome {
    /// The result as it is stored.
    pub result: RunResult,
    /// The folder that holds `result.json`.
    pub directory: PathBuf,
    /// How it ended.
    pub ending: Ending,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Everything planned was measured.
    Complete,
    /// It was told to stop; what was measured stands.
    Interrupted,
    /// A subject failed; what was measured stands.
    SubjectFailed,
}
