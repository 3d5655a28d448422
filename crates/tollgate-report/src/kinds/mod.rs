//! The kinds of experiments, each with its page: one file or folder and one line in the list.
//!
//! A kind says by the result's own facts whether it is of that kind, and what its page holds. Nobody else asks.

mod connecting;
mod distance;
mod insert;
mod ladder;
mod mediation;
mod walk;

use crate::page::Page;
use crate::words::view::View;
use tollgate_facts::results::RunResult;

/// The page of a result, if it is of this kind.
type Kind = fn(&View<'_>) -> Option<Page>;

/// Every kind; the first whose page a result has is its kind. The last one takes all.
const KINDS: &[Kind] = &[
    insert::page,     // records that are inserted
    distance::page,   // a batch with a network before its database
    connecting::page, // what connections cost, and encryption on them
    ladder::page,     // limits: work processes, connections, users
    mediation::page,  // something between users and a backend
    walk::page,       // walks over entities, single requests, scenarios, and all that is left
];

/// The page of a run.
pub(crate) fn page(run: &RunResult) -> Page {
    let view = View::of(run);
    KINDS.iter().find_map(|page| page(&view)).expect("the last kind takes every result")
}
