//! Stores: they answer a [`Plan`](tollgate_wire::plan::Plan) with rows, in document order, straight out of a database.
//!
//! What a store deliberately does not do: know a protocol or a format. It hands rows to a [`RowSink`], which writes them
//! while the database still holds them, so nothing is collected in between.

mod error;
mod mapping;
pub mod sql;
pub mod sqlite;

pub use error::{Fault, StoreError};
pub use mapping::{Mapping, Table};

use tollgate_wire::plan::SkipToken;
use tollgate_wire::value::Row;

/// What a sink wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// The next call.
    Continue,
    /// Nothing more: the store ends the statement and returns.
    Stop,
}

/// Takes what a store reads, in document order: the total first, then for each entity its row, each expansion in the
/// plan's order, and its end.
///
/// The columns of a row are those of [`Columns`](tollgate_wire::plan::Columns) for the plan's set, select and expand;
/// those of an expanded entity follow from the expansion's own select.
pub trait RowSink {
    /// How many entities match, whatever the page: called once, first, where the plan counts.
    fn total(&mut self, _count: u64) -> Flow {
        Flow::Continue
    }

    /// An entity.
    fn entity<R: Row>(&mut self, row: &R) -> Flow;

    /// The entities of the expansion at `index` in the plan follow.
    fn expand_begin<R: Row>(&mut self, _index: usize, _parent: &R) -> Flow {
        Flow::Continue
    }

    /// An entity of the expansion at `index`.
    fn expand_entity<R: Row>(&mut self, _index: usize, _row: &R) -> Flow {
        Flow::Continue
    }

    /// The expansion at `index` is complete.
    fn expand_end<R: Row>(&mut self, _index: usize, _parent: &R) -> Flow {
        Flow::Continue
    }

    /// The entity is complete, its expansions included. Stopping here is a pause: [`Outcome::next`] tells where to go on.
    fn entity_end<R: Row>(&mut self, _row: &R) -> Flow {
        Flow::Continue
    }
}

/// How a read ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// How many entities the sink got, expanded ones not counted.
    pub rows: u64,
    /// Where the next page begins, if the page was full and more follows, or where to go on after a pause.
    pub next: Option<SkipToken>,
    /// Whether the path led somewhere: false where the entity, or one on the way, does not exist. A path over to-one
    /// navigation whose end is empty is found, with no rows.
    pub found: bool,
}
