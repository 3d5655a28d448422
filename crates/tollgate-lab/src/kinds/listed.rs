//! A kind of experiment as it stands in the list of kinds.

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
    /// Its name, which no other has.
    pub(super) name: &'static str,
    /// The name of its workload in a file.
    pub(super) workload: &'static str,
    /// What its workload is, in a sentence; empty where another kind says it.
    pub(super) about: &'static str,
    /// What can be swept; no other kind sweeps it under this workload.
    pub(super) factors: &'static [Factor],
    /// The unit of work in words.
    pub(super) unit_of_work: &'static str,
    /// What its figures are told of.
    pub(super) piece: Piece,
    /// What is said in its file in the place of keys that other kinds have; empty: nothing.
    pub(super) instead: &'static str,
    /// What its file may say beyond what all experiments say.
    pub(super) keys: &'static [&'static [Keys]],
    /// Reads the file.
    pub(super) read: fn(&mut Document<'_>) -> Result<Experiment, ExperimentError>,
    /// The same on servers that are there already, which offer what they offer.
    pub(super) elsewhere: fn(Experiment) -> Experiment,
    /// What it measures, how much of it and for how long.
    pub(super) plan: fn(&Experiment, &PlanOptions) -> Result<Plan, String>,
    /// What is to be told of a plan beyond what is told of all.
    pub(super) notes: fn(&Experiment, &Plan) -> Vec<Note>,
    /// Whether it can be run as asked, as far as that can be told without touching the network; may leave out of the plan
    /// what cannot be.
    pub(super) check: fn(&RunOptions, &mut Plan) -> Result<(), RunError>,
    /// Runs it.
    pub(crate) run: fn(Beginning<'_>) -> Result<RunOutcome, RunError>,
    /// The page of a result, if the result's own facts say that it is of this kind.
    pub(super) page: fn(&View<'_>) -> Option<Page>,
}
