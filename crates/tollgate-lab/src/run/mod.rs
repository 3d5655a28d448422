//! A whole run: checks an experiment and measures it by its kind.
//!
//! It does not print (an [`Observer`] is notified), compute tolls, or render.

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

/// Checks whether an experiment can be run as asked, without touching the network.
///
/// # Errors
/// The fault of the experiment or the options.
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
/// The reason that nothing was measured: an impossible option, or a subject that could not be started.
pub fn run(options: &RunOptions, observer: &dyn Observer, stop: &StopFlag) -> Result<RunOutcome, RunError> {
    let plan = check(options)?;
    (kinds::of(&options.experiment).run)(Beginning::new(options, plan, observer, stop)?)
}
