//! An entry in the list of kinds of experiments.

use crate::conduct::conductor::{Beginning, RunOutcome};
use crate::conduct::options::{RunError, RunOptions};
use crate::experiment::document::{Document, Keys};
use crate::experiment::{Experiment, ExperimentError, Factor};
use crate::plan::{Note, Plan, PlanOptions};
use tollgate_facts::results::Piece;
use tollgate_page::blocks::Page;
use tollgate_page::words::view::View;

/// A kind of experiment.
#[derive(Clone, Copy)]
pub(crate) struct Listed {
    /// Its unique name.
    pub(super) name: &'static str,
    /// The name of its workload in a file.
    pub(super) workload: &'static str,
    /// A sentence about its workload; empty if another kind has it.
    pub(super) about: &'static str,
    /// Factors that can be swept; no other kind sweeps them under this workload.
    pub(super) factors: &'static [Factor],
    /// The unit of work in words.
    pub(super) unit_of_work: &'static str,
    /// The piece of work that its figures are about.
    pub(super) piece: Piece,
    /// Text in its file instead of keys that other kinds have; empty: none.
    pub(super) instead: &'static str,
    /// Keys of its file beside those of all experiments.
    pub(super) keys: &'static [&'static [Keys]],
    /// Reads the file.
    pub(super) read: fn(&mut Document<'_>) -> Result<Experiment, ExperimentError>,
    /// The same on existing servers, with their own properties.
    pub(super) elsewhere: fn(Experiment) -> Experiment,
    /// Plans the measurements, their number and their time.
    pub(super) plan: fn(&Experiment, &PlanOptions) -> Result<Plan, String>,
    /// Notes on a plan beyond those on all.
    pub(super) notes: fn(&Experiment, &Plan) -> Vec<Note>,
    /// Checks that it can be run as asked, as far as possible without the network; may remove from the plan what cannot
    /// be run.
    pub(super) check: fn(&RunOptions, &mut Plan) -> Result<(), RunError>,
    /// Runs the experiment.
    pub(crate) run: fn(Beginning<'_>) -> Result<RunOutcome, RunError>,
    /// The page of a result, if the result's own facts identify this kind.
    pub(super) page: fn(&View<'_>) -> Option<Page>,
}
