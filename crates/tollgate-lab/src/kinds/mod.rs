//! Kinds of experiments: what each measures and how, as one list.
//!
//! What it deliberately does not do: order blocks, or store anything (see [`crate::conduct`]).

mod connecting;
pub(crate) mod distance;
mod http;
mod insert;
mod ladder;
mod listed;

use crate::experiment::Experiment;
use listed::Listed;

/// All kinds; the first that an experiment is of has it.
const KINDS: &[Listed] = &[distance::KIND, insert::KIND, ladder::KIND, connecting::KIND, http::KIND];

/// The kind of an experiment.
pub(crate) fn of(experiment: &Experiment) -> Listed {
    *KINDS.iter().find(|kind| (kind.is_of)(experiment)).expect("the last kind takes all that are of no other")
}
