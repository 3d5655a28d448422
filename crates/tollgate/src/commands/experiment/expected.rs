//! Common parts of `run` and `compare`: thresholds on the command line, the file for a build server, and the exit code.
//!
//! Reading and judging thresholds is the lab's.

use std::path::PathBuf;

use clap::Args;
use tollgate_facts::results::{Outcome, ThresholdResult};
use tollgate_facts::threshold::{self, THRESHOLDS_MAX, Threshold, ThresholdError};

use crate::failure::{Exit, Failure};

/// What is expected of the figures.
#[derive(Debug, Args)]
pub(crate) struct Expected {
    /// Expectation, such as 'p99(https, 20) < 5 ms', 'toll(https).cpu < 1.3' or 'errors == 0'; exit 99 if it is not
    /// shown to hold; may be repeated
    #[arg(long = "threshold", value_name = "EXPECTATION", help_heading = "Thresholds")]
    pub(super) thresholds: Vec<String>,

    /// Write JUnit XML to this file, for a build server
    #[arg(long, value_name = "FILE", help_heading = "Thresholds")]
    pub(super) junit: Option<PathBuf>,
}

impl Expected {
    /// The thresholds, parsed.
    pub(super) fn read(&self) -> Result<Vec<Threshold>, Failure> {
        if self.thresholds.len() > THRESHOLDS_MAX {
            let count = self.thresholds.len();
            return Err(Failure::usage(format_args!("{count} thresholds: at most {THRESHOLDS_MAX} (--threshold)")));
        }
        self.thresholds.iter().map(|text| Threshold::parse(text).map_err(|error| failure(&error))).collect()
    }
}

/// A threshold that cannot be judged.
pub(super) fn failure(error: &ThresholdError) -> Failure {
    Failure::usage(format_args!("--threshold: {error}"))
}

/// The exit code of a verb that has otherwise succeeded.
pub(super) fn exit(results: &[ThresholdResult], otherwise: Exit) -> Exit {
    match threshold::worst(results) {
        Outcome::Holds => otherwise,
        Outcome::NotShown | Outcome::Fails => Exit::Threshold,
    }
}
