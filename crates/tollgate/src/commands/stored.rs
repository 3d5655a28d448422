//! Stored runs, as verbs read them: a folder or its result.json, of a known format.
//!
//! Their use is not here.

use std::fmt;
use std::path::{Path, PathBuf};

use tollgate_facts::results::{self, RunResult};

use super::input;
use crate::failure::Failure;

/// The result's name in a run's folder.
const RESULT: &str = "result.json";

/// The largest result that is read: a full run of the largest experiment takes a few megabytes.
const RESULT_BYTES_MAX: u64 = 256 << 20;

/// Reads a stored run.
pub(super) fn read(run: &Path) -> Result<RunResult, Failure> {
    let path: PathBuf = if run.is_dir() { run.join(RESULT) } else { run.to_owned() };
    let not_a_run = |failure: Failure| failure.hint("RUN is a folder that `tollgate run` wrote, or its result.json");
    let unreadable = |reason: &dyn fmt::Display| not_a_run(input::unreadable(&path, reason));
    let text = input::text(&path, RESULT_BYTES_MAX).map_err(not_a_run)?;
    // The version is looked at first: another one may differ in any other field.
    let format: FormatOnly = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    if !(results::FORMAT_OLDEST..=results::FORMAT).contains(&format.format) {
        let reason = format!("its format is {}, this tollgate reads {}", format.format, results::FORMAT);
        return Err(unreadable(&reason));
    }
    let result: RunResult = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    Ok(result.with_verdicts_as_printed())
}

#[derive(serde::Deserialize)]
struct FormatOnly {
    format: u32,
}
