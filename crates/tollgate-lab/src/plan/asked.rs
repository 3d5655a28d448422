//! What the command line asks of an experiment that it cannot give, and why.
//!
//! It deliberately plans nothing.

use crate::experiment::{Experiment, WorkloadKind};

/// Whether a run of the experiment may stop between two blocks.
pub(super) fn can_stop(experiment: &Experiment) -> Result<(), String> {
    let why = match experiment.workload {
        WorkloadKind::Insert => "its cells have different numbers of blocks",
        WorkloadKind::Batch => "it computes what its distances need from all of them",
        _ if experiment.load.as_ref().is_some_and(|load| load.stages.is_some()) => "its trials go through all stages",
        _ if experiment.ladder.is_some() => "each of its levels is measured by itself",
        _ if experiment.encrypting.is_some() => "what is measured at equal rate comes after the blocks",
        WorkloadKind::Walk | WorkloadKind::Request | WorkloadKind::Scenario => return Ok(()),
    };
    Err(format!("`{}` cannot be stopped by its intervals, as {why} (--until-width)", experiment.name))
}

/// The levels that the command line asks for.
pub(super) fn checked_levels(asked: &[u64], experiment: &Experiment) -> Result<Vec<u64>, String> {
    let mut levels = asked.to_vec();
    levels.sort_unstable();
    levels.dedup();
    if levels.is_empty() {
        return Err("there must be at least 1 level (--level)".to_owned());
    }
    let is_staged = experiment.load.as_ref().is_some_and(|load| load.stages.is_some());
    if is_staged && levels != experiment.levels {
        return Err(format!("`{}` has no levels but its stages (--level)", experiment.name));
    }
    for level in &levels {
        if let Some(encrypting) = &experiment.encrypting
            && !experiment.levels.contains(level)
        {
            let most = encrypting.levels.len();
            return Err(format!("level {level} of `{}` is not from 1 to {most} (--level)", experiment.name));
        }
        if *level == 0 || *level > crate::experiment::LEVEL_MAX {
            let most = crate::experiment::LEVEL_MAX;
            return Err(format!("level {level} of `{}` is not from 1 to {most} (--level)", experiment.name));
        }
    }
    Ok(levels)
}
