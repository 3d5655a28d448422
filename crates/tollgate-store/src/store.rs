//! What a store does: reads with plans, changes in transactions, and the sink that takes what is read.
//!
//! It deliberately knows no kind of database: each implements it in its own folder.

use tollgate_wire::edm::{Model, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{Key, Plan, SkipToken};
use tollgate_wire::value::Row;

use crate::StoreError;

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

    /// How many related entities the expansion at `index` has, whichever of them are handed out: called right before
    /// [`expand_begin`](RowSink::expand_begin), where the expansion counts.
    fn expand_total(&mut self, _index: usize, _count: u64) -> Flow {
        Flow::Continue
    }

    /// The entities of the expansion at `index` in the plan follow; within an expanded entity, at `index` in its expansion.
    fn expand_begin<R: Row>(&mut self, _index: usize, _parent: &R) -> Flow {
        Flow::Continue
    }

    /// An entity of the expansion at `index`.
    fn expand_entity<R: Row>(&mut self, _index: usize, _row: &R) -> Flow {
        Flow::Continue
    }

    /// That entity is complete, its own expansions included.
    fn expand_entity_end<R: Row>(&mut self, _index: usize, _row: &R) -> Flow {
        Flow::Continue
    }

    /// The expansion at `index` has further entities than were handed out ([`Expand::page`](tollgate_wire::plan::Expand)),
    /// which begin behind `next`: called right before [`expand_end`](RowSink::expand_end).
    fn expand_more<R: Row>(&mut self, _index: usize, _parent: &R, _next: &SkipToken) -> Flow {
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

/// Takes rows and keeps none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discard;

impl RowSink for Discard {
    fn entity<R: Row>(&mut self, _row: &R) -> Flow {
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

/// A connection to a database: reads outside a transaction or inside, writes inside. All calls block until they are done.
///
/// A transaction is [`begin`](Store::begin), changes, [`commit`](Store::commit); inside it, one unit of work after the
/// other may stand between [`savepoint`](Store::savepoint) and [`release`](Store::release) or
/// [`undo`](Store::undo). After an error inside a transaction the caller undoes the unit or rolls back.
pub trait Store {
    /// Reads what a plan asks for. `page_size` bounds the entities of a collection that are handed out at once; where
    /// more follow, [`Outcome::next`] tells how to go on.
    ///
    /// # Errors
    /// See [`StoreError`]. The sink may have got entities before an error arose.
    fn read<S: RowSink>(
        &mut self,
        model: &Model,
        plan: &Plan,
        page_size: Option<u64>,
        sink: &mut S,
    ) -> Result<Outcome, StoreError>;

    /// Begins a transaction that writes.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unavailable`], [`StoreError::Broken`].
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Begins a transaction of one change, before which nothing is read.
    ///
    /// # Errors
    /// As [`begin`](Store::begin).
    fn begin_single(&mut self) -> Result<(), StoreError> {
        self.begin()
    }

    /// Makes everything since [`begin`](Store::begin) last. Only when this returned may anybody be told of success.
    ///
    /// # Errors
    /// Nothing of the transaction lasts, but for [`StoreError::InDoubt`], where that is not known.
    fn commit(&mut self) -> Result<(), StoreError>;

    /// Undoes everything since [`begin`](Store::begin). Never fails: a connection that cannot is given up and made anew.
    fn rollback(&mut self);

    /// Begins a unit of work inside the transaction. Units do not nest.
    ///
    /// # Errors
    /// Those of the database.
    fn savepoint(&mut self) -> Result<(), StoreError>;

    /// Ends the unit; what it did stands, if the transaction is committed.
    ///
    /// # Errors
    /// Those of the database.
    fn release(&mut self) -> Result<(), StoreError>;

    /// Ends the unit and undoes what it did.
    ///
    /// # Errors
    /// Those of the database; the transaction must then be rolled back.
    fn undo(&mut self) -> Result<(), StoreError>;

    /// Holds the entity with this key until the transaction ends, so that its state can be judged before it is changed.
    /// False where there is none.
    ///
    /// # Errors
    /// Those of the database.
    fn lock(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError>;

    /// Inserts an entity with the leaves that are set; `sink`, if there is one, gets it as it is stored, with all leaves as
    /// its columns.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`], [`StoreError::Constraint`] and those of the database.
    fn insert<S: RowSink>(
        &mut self,
        model: &Model,
        set: SetId,
        entry: &Entry,
        sink: Option<&mut S>,
    ) -> Result<(), StoreError>;

    /// Gives the leaves that are set in `entry` their new values. False where there is no entity with this key.
    ///
    /// # Errors
    /// As [`insert`](Store::insert).
    fn update(&mut self, model: &Model, set: SetId, key: &Key, entry: &Entry) -> Result<bool, StoreError>;

    /// Deletes an entity. False where there is none with this key.
    ///
    /// # Errors
    /// [`StoreError::Constraint`] where others refer to it, and those of the database.
    fn delete(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError>;

    /// Deletes all entities of a set; how many there were.
    ///
    /// # Errors
    /// As [`delete`](Store::delete).
    fn delete_all(&mut self, model: &Model, set: SetId) -> Result<u64, StoreError>;

    /// Does `work` in one transaction, which is committed when this returns well, or not at all.
    ///
    /// # Errors
    /// Those of `work`, of the beginning and of the commit.
    fn transaction<T, E: From<StoreError>>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        self.begin()?;
        finish(self, work)
    }

    /// The same for work that makes one change at most and reads nothing beside it, which some databases do for less.
    ///
    /// # Errors
    /// As [`transaction`](Store::transaction); a second change is refused.
    fn single_change<T, E: From<StoreError>>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        self.begin_single()?;
        finish(self, work)
    }
}

fn finish<S: Store + ?Sized, T, E: From<StoreError>>(
    store: &mut S,
    work: impl FnOnce(&mut S) -> Result<T, E>,
) -> Result<T, E> {
    let done = work(store).and_then(|done| store.commit().map(|()| done).map_err(E::from));
    if done.is_err() {
        store.rollback();
    }
    done
}

/// A store that can be given the tables of a model: what a service needs to bring its data along.
pub trait Tables: Store {
    /// Creates the tables of a model that are not there.
    ///
    /// # Errors
    /// [`StoreError::Mapping`] where mapping and model differ; those of the database.
    fn create_tables(&mut self, model: &Model) -> Result<(), StoreError>;

    /// The version of the tables' layout that was noted in the database, 0 in a new one.
    ///
    /// # Errors
    /// Those of the database.
    fn layout_version(&mut self) -> Result<i64, StoreError>;

    /// Notes the version of the tables' layout.
    ///
    /// # Errors
    /// Those of the database.
    fn set_layout_version(&mut self, version: i64) -> Result<(), StoreError>;
}
