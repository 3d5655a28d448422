//! A whole run: an experiment is checked, and measured by its kind.
//!
//! What it deliberately does not do: print (an [`Observer`] is told), compute tolls, or render.

#[cfg(test)]
pub(crate) mod tests;

use std::time::Duration;

pub use crate::conduct::conductor::{Ending, RunOutcome};
pub use crate::conduct::options::{Observer, Progress, RunError, RunOptions};
pub use crate::conduct::stop::StopFlag;
pub use crate::conduct::store::{HISTOGRAMS, RESULT};
pub use crate::load::record::live::{LiveCounters, LiveReading};

use crate::conduct::conductor::Beginning;
use crate::kinds;
use crate::plan::Plan;

/// Whether an experiment can be run as asked, as far as that can be told without touching the network.
///
/// # Errors
/// What is wrong with it.
pub fn check(options: &RunOptions) -> Result<Plan, RunError> {
    let mut plan = Plan::new(&options.experiment, &options.plan).map_err(RunError::Usage)?;
    let peers = plan.variants_of(&options.experiment).filter_map(|variant| options.peer(variant).ok()?);
    plan.warm_up += peers.map(|peer| peer.warm_up).sum::<Duration>();
    kinds::check(options, &mut plan)?;
    Ok(plan)
}

/// Runs an experiment.
///
/// # Errors
/// Why nothing was measured: what was asked cannot be, or a subject could not be started.
pub fn run(options: &RunOptions, observer: &dyn Observer, stop: &StopFlag) -> Result<RunOutcome, RunError> {
    let plan = check(options)?;
    (kinds::of(&options.experiment).run)(Beginning::new(options, plan, observer, stop)?)
}
