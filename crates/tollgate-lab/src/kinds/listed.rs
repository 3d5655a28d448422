//! A kind of experiment as it stands in the list of kinds.

use crate::conduct::conductor::RunOutcome;
use crate::conduct::options::{Observer, RunError, RunOptions};
use crate::conduct::stop::StopFlag;
use crate::experiment::Experiment;
use crate::plan::Plan;

/// A kind of experiment.
#[derive(Clone, Copy)]
pub(crate) struct Listed {
    /// Whether an experiment is of it.
    pub(super) is_of: fn(&Experiment) -> bool,
    /// Whether it can be run as asked, as far as that can be told without touching the network; may leave out of the plan
    /// what cannot be.
    pub(crate) check: fn(&RunOptions, &mut Plan) -> Result<(), RunError>,
    /// Runs it.
    pub(crate) run: fn(&RunOptions, Plan, &dyn Observer, &StopFlag) -> Result<RunOutcome, RunError>,
}
