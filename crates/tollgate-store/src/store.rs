//! The interface of a store: reads with plans, changes in transactions, and the sink for the results.
//!
//! It knows no kind of database: each implements it in its own folder.

use tollgate_wire::edm::{Model, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{Key, Plan, SkipToken};
use tollgate_wire::value::Row;

use crate::StoreError;

/// A sink's decision to continue or stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// The sink wants the next call.
    Continue,
    /// The sink wants nothing more: the store ends the statement and returns.
    Stop,
}

/// Receives the results of a read, in document order: the total first, then for each entity its row, each expansion in
/// the plan's order, and its end.
///
/// The columns of a row are those of [`Columns`](tollgate_wire::plan::Columns) for the plan's set, select and expand;
/// those of an expanded entity follow from the expansion's own select.
pub trait RowSink {
    /// Number of matching entities on all pages: called once, first, if the plan counts.
    fn total(&mut self, _count: u64) -> Flow {
        Flow::Continue
    }

    /// Receives an entity.
    fn entity<R: Row>(&mut self, row: &R) -> Flow;

    /// Number of all related entities in the expansion at `index`: called right before
    /// [`expand_begin`](RowSink::expand_begin), if the expansion counts.
    fn expand_total(&mut self, _index: usize, _count: u64) -> Flow {
        Flow::Continue
    }

    /// Begins the entities of the expansion at `index` in the plan; within an expanded entity, at `index` in its
    /// expansion.
    fn expand_begin<R: Row>(&mut self, _index: usize, _parent: &R) -> Flow {
        Flow::Continue
    }

    /// Receives an entity of the expansion at `index`.
    fn expand_entity<R: Row>(&mut self, _index: usize, _row: &R) -> Flow {
        Flow::Continue
    }

    /// The expanded entity is complete, its own expansions included.
    fn expand_entity_end<R: Row>(&mut self, _index: usize, _row: &R) -> Flow {
        Flow::Continue
    }

    /// The expansion at `index` has more entities than were passed on ([`Expand::page`](tollgate_wire::plan::Expand)),
    /// which begin after `next`: called right before [`expand_end`](RowSink::expand_end).
    fn expand_more<R: Row>(&mut self, _index: usize, _parent: &R, _next: &SkipToken) -> Flow {
        Flow::Continue
    }

    /// Ends the expansion at `index`.
    fn expand_end<R: Row>(&mut self, _index: usize, _parent: &R) -> Flow {
        Flow::Continue
    }

    /// The entity is complete, its expansions included. Stopping here is a pause: [`Outcome::next`] is the place to
    /// continue.
    fn entity_end<R: Row>(&mut self, _row: &R) -> Flow {
        Flow::Continue
    }
}

/// A sink that keeps no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discard;

impl RowSink for Discard {
    fn entity<R: Row>(&mut self, _row: &R) -> Flow {
        Flow::Continue
    }
}

/// Result of a read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Number of entities that the sink received, expanded ones not counted.
    pub rows: u64,
    /// Begin of the next page, if the page was full and more follows, or the place to continue after a pause.
    pub next: Option<SkipToken>,
    /// Whether the path exists: false if the entity, or one on the way, does not exist. A path over to-one navigation
    /// whose end is empty is found, with no rows.
    pub found: bool,
}

/// A connection to a database: reads outside a transaction or inside, writes inside. All calls block until they are
/// done.
///
/// A transaction is [`begin`](Store::begin), changes, [`commit`](Store::commit); inside it, one unit of work after the
/// other may be placed between [`savepoint`](Store::savepoint) and [`release`](Store::release) or
/// [`undo`](Store::undo). After an error inside a transaction the caller undoes the unit or rolls back.
pub trait Store {
    /// Reads the result of a plan. `page_size` limits the entities of a collection passed on at once; if more follow,
    /// [`Outcome::next`] is the place to continue.
    ///
    /// # Errors
    /// See [`StoreError`]. The sink may have received entities before an error.
    fn read<S: RowSink>(
        &mut self,
        model: &Model,
        plan: &Plan,
        page_size: Option<u64>,
        sink: &mut S,
    ) -> Result<Outcome, StoreError>;

    /// Begins a writing transaction.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unavailable`], [`StoreError::Broken`].
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Begins a transaction of one change without any read before it.
    ///
    /// # Errors
    /// As [`begin`](Store::begin).
    fn begin_single(&mut self) -> Result<(), StoreError> {
        self.begin()
    }

    /// Commits everything since [`begin`](Store::begin). Success may be reported only after this returned.
    ///
    /// # Errors
    /// Nothing of the transaction is stored, except after [`StoreError::InDoubt`], where that is unknown.
    fn commit(&mut self) -> Result<(), StoreError>;

    /// Undoes everything since [`begin`](Store::begin). Never fails: a connection that cannot roll back is replaced.
    fn rollback(&mut self);

    /// Begins a unit of work inside the transaction. Units do not nest.
    ///
    /// # Errors
    /// Errors of the database.
    fn savepoint(&mut self) -> Result<(), StoreError>;

    /// Ends the unit; its changes are kept if the transaction is committed.
    ///
    /// # Errors
    /// Errors of the database.
    fn release(&mut self) -> Result<(), StoreError>;

    /// Ends the unit and undoes its changes.
    ///
    /// # Errors
    /// Errors of the database; the transaction must then be rolled back.
    fn undo(&mut self) -> Result<(), StoreError>;

    /// Locks the entity with this key until the transaction ends, so that its state can be checked before a change.
    /// False if there is none.
    ///
    /// # Errors
    /// Errors of the database.
    fn lock(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError>;

    /// Inserts an entity with the leaves that are set; `sink`, if there is one, receives the stored row, with all
    /// leaves as its columns.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`], [`StoreError::Constraint`] and errors of the database.
    fn insert<S: RowSink>(
        &mut self,
        model: &Model,
        set: SetId,
        entry: &Entry,
        sink: Option<&mut S>,
    ) -> Result<(), StoreError>;

    /// Updates the leaves that are set in `entry`. False if there is no entity with this key.
    ///
    /// # Errors
    /// As [`insert`](Store::insert).
    fn update(&mut self, model: &Model, set: SetId, key: &Key, entry: &Entry) -> Result<bool, StoreError>;

    /// Deletes an entity. False if there is none with this key.
    ///
    /// # Errors
    /// [`StoreError::Constraint`] if others refer to it, and errors of the database.
    fn delete(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError>;

    /// Deletes all entities of a set and returns their number.
    ///
    /// # Errors
    /// As [`delete`](Store::delete).
    fn delete_all(&mut self, model: &Model, set: SetId) -> Result<u64, StoreError>;

    /// Runs `work` in one transaction, which is committed on success, and otherwise undone.
    ///
    /// # Errors
    /// Errors of `work`, of the beginning and of the commit.
    fn transaction<T, E: From<StoreError>>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        self.begin()?;
        finish(self, work)
    }

    /// The same for work that makes one change at most and reads nothing, which is cheaper in some databases.
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

/// A store that can create the tables of a model, for a service with its own data.
pub trait Tables: Store {
    /// Creates the missing tables of a model.
    ///
    /// # Errors
    /// [`StoreError::Mapping`] if mapping and model differ; errors of the database.
    fn create_tables(&mut self, model: &Model) -> Result<(), StoreError>;

    /// The version of the tables' layout stored in the database, 0 in a new one.
    ///
    /// # Errors
    /// Errors of the database.
    fn layout_version(&mut self) -> Result<i64, StoreError>;

    /// Stores the version of the tables' layout.
    ///
    /// # Errors
    /// Errors of the database.
    fn set_layout_version(&mut self, version: i64) -> Result<(), StoreError>;
}
