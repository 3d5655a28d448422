//! The requests of the command line to an experiment, and refusals of those that it cannot fulfil.
//!
//! Nothing is planned here.

use std::collections::BTreeSet;

use super::make::PlanOptions;
use crate::experiment::{Experiment, LEVEL_MAX};

/// Refuses to stop a run between two blocks.
pub(crate) fn goes_through(experiment: &Experiment, options: &PlanOptions, why: &str) -> Result<(), String> {
    match options.until_width_ppm {
        None => Ok(()),
        Some(_) => Err(format!("`{}` cannot be stopped by its intervals, as {why} (--until-width)", experiment.name)),
    }
}

/// The levels that the command line or an extent asks for.
pub(super) fn checked_levels(asked: &[u64], experiment: &Experiment) -> Result<Vec<u64>, String> {
    let mut levels = asked.to_vec();
    levels.sort_unstable();
    levels.dedup();
    if levels.is_empty() {
        return Err("there must be at least 1 level (--level)".to_owned());
    }
    for level in &levels {
        let name = &experiment.name;
        if !experiment.named_levels.is_empty() && !experiment.levels.contains(level) {
            let known: Vec<String> = experiment.levels.iter().map(u64::to_string).collect();
            return Err(format!("level {level} of `{name}` is none of {} (--level)", known.join(", ")));
        }
        // What the file has may be asked for, too.
        let most = experiment.levels.iter().copied().max().unwrap_or(0).max(LEVEL_MAX);
        if *level == 0 || *level > most {
            return Err(format!("level {level} of `{name}` is not from 1 to {most} (--level)"));
        }
    }
    Ok(levels)
}

/// Positions of the variants that are measured, baselines among them.
pub(super) fn chosen(experiment: &Experiment, options: &PlanOptions) -> Result<Vec<usize>, String> {
    if options.only.is_empty() {
        let is_in = |position: &usize| !experiment.variants[*position].left_out_of.contains(&options.extent);
        return Ok((0..experiment.variants.len()).filter(is_in).collect());
    }
    let mut chosen = BTreeSet::new();
    for name in &options.only {
        chosen.extend(experiment.with_baselines(name)?);
    }
    Ok(chosen.into_iter().collect())
}
