//! Writing: transactions, units of work inside them, and the statements that change one entity.
//!
//! A transaction takes the write lock when it begins, so that it never fails half-way for a lock.

use rusqlite::CachedStatement;
use tollgate_wire::edm::{LeafId, Model, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{Key, Plan};
use tollgate_wire::value::Row;

use super::condition;
use super::deferred;
use super::form::{Converter, check_storable, stored};
use super::read::{bind, converted};
use super::{Ended, Scope, SqliteConnection};
use crate::sql::Sql;
use crate::sql::change::{StoredRow, Wanted};
use crate::{Outcome, RowSink, Store, StoreError, Table};

const BEGIN: &str = "BEGIN IMMEDIATE";

impl Store for SqliteConnection {
    fn read<S: RowSink>(
        &mut self,
        model: &Model,
        plan: &Plan,
        page_size: Option<u64>,
        sink: &mut S,
    ) -> Result<Outcome, StoreError> {
        SqliteConnection::read(self, model, plan, page_size, sink)
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        self.budget.lift();
        self.scope = Scope::Transaction;
        self.ended = Ended::AsAsked;
        self.execute(BEGIN)
    }

    fn begin_single(&mut self) -> Result<(), StoreError> {
        self.scope = Scope::Statement;
        self.ended = Ended::AsAsked;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        // A single change has lasted since its statement ended; none at all leaves nothing to commit either.
        match self.scope {
            Scope::Statement | Scope::Spent => Ok(()),
            Scope::Transaction => self.execute("COMMIT"),
        }
    }

    fn rollback(&mut self) {
        // After some errors (no room, no memory) SQLite has rolled back already.
        if !self.raw.is_autocommit() {
            let _ = self.execute("ROLLBACK");
        }
    }

    fn savepoint(&mut self) -> Result<(), StoreError> {
        self.writing()?;
        self.execute("SAVEPOINT unit")
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.writing()?;
        deferred::check(&self.raw)?;
        self.execute("RELEASE unit")
    }

    fn undo(&mut self) -> Result<(), StoreError> {
        self.writing()?;
        self.execute("ROLLBACK TO unit")?;
        self.execute("RELEASE unit")
    }

    fn lock(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError> {
        // The transaction holds the lock of the whole database.
        self.writing()?;
        check_key(model, set, key)?;
        let mut statement = self.raw.prepare_cached(self.texts.find(model, &self.mapping, set))?;
        let key = (&model.type_of(set).key[..], key);
        bind_key(&mut statement, self.mapping.table(set), 0, key, &mut self.made)?;
        let found = statement.raw_query().next()?.is_some();
        Ok(found)
    }

    fn insert<S: RowSink>(
        &mut self,
        model: &Model,
        set: SetId,
        entry: &Entry,
        sink: Option<&mut S>,
    ) -> Result<(), StoreError> {
        debug_assert_eq!(model.type_of(set).leaves.len(), entry.leaves(), "an entry has a slot for each leaf");
        self.insert_row(model, set, entry, sink).map_err(|error| self.explained(model, set, error))
    }

    fn update(&mut self, model: &Model, set: SetId, key: &Key, entry: &Entry) -> Result<bool, StoreError> {
        self.update_row(model, set, key, entry).map_err(|error| self.explained(model, set, error))
    }

    fn delete(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError> {
        self.delete_row(model, set, key).map_err(|error| self.explained(model, set, error))
    }

    fn delete_all(&mut self, model: &Model, set: SetId) -> Result<u64, StoreError> {
        self.changing()?;
        let mut sql = Sql::default();
        sql.push("DELETE FROM ");
        sql.table(self.mapping.table(set));
        let deleted = self.raw.prepare_cached(&sql.text).and_then(|mut statement| statement.raw_execute());
        deleted.map(|rows| rows as u64).map_err(|error| self.explained(model, set, error.into()))
    }
}

impl SqliteConnection {
    fn insert_row<S: RowSink>(
        &mut self,
        model: &Model,
        set: SetId,
        entry: &Entry,
        sink: Option<&mut S>,
    ) -> Result<(), StoreError> {
        self.changing()?;
        let wanted = if sink.is_some() { Wanted::Row } else { Wanted::Nothing };
        let change = self.texts.insert(model, &self.mapping, set, entry, wanted);
        if change.row == StoredRow::Returned && self.scope == Scope::Spent {
            // Whoever cannot read what the database made of it must be able to undo it.
            self.raw.prepare_cached(BEGIN)?.raw_execute()?;
            self.scope = Scope::Transaction;
        }
        let mut statement = self.raw.prepare_cached(&change.text)?;
        let table = (model, set, self.mapping.table(set));
        bind_leaves(&mut statement, table, &change.leaves, entry, &mut self.made)?;
        match (change.row, sink) {
            (StoredRow::Returned, Some(sink)) => {
                let mut rows = statement.raw_query();
                let row = rows.next()?.expect("an insert that returns its row has one");
                let all = (0..entry.leaves()).map(LeafId);
                let mut converter = Converter::new(model, &self.mapping, set, all);
                hand_out(&converted(row, &mut converter)?, sink);
                // The statement takes effect in full once it was stepped to its end.
                while rows.next()?.is_some() {}
            }
            (StoredRow::Entry, Some(sink)) => {
                statement.raw_execute()?;
                hand_out(entry, sink);
            }
            (StoredRow::Entry | StoredRow::Returned, None) => {
                statement.raw_execute()?;
            }
        }
        Ok(())
    }

    fn update_row(&mut self, model: &Model, set: SetId, key: &Key, entry: &Entry) -> Result<bool, StoreError> {
        if (0..entry.leaves()).all(|leaf| !entry.is_set(LeafId(leaf))) {
            return self.lock(model, set, key);
        }
        self.changing()?;
        check_key(model, set, key)?;
        let change = self.texts.update(model, &self.mapping, set, entry);
        let mut statement = self.raw.prepare_cached(&change.text)?;
        let table = (model, set, self.mapping.table(set));
        bind_leaves(&mut statement, table, &change.leaves, entry, &mut self.made)?;
        let key = (&model.type_of(set).key[..], key);
        bind_key(&mut statement, self.mapping.table(set), change.leaves.len(), key, &mut self.made)?;
        Ok(statement.raw_execute()? > 0)
    }

    fn delete_row(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError> {
        self.changing()?;
        check_key(model, set, key)?;
        let mut statement = self.raw.prepare_cached(self.texts.delete(model, &self.mapping, set))?;
        let key = (&model.type_of(set).key[..], key);
        bind_key(&mut statement, self.mapping.table(set), 0, key, &mut self.made)?;
        Ok(statement.raw_execute()? > 0)
    }

    fn execute(&self, text: &str) -> Result<(), StoreError> {
        self.raw.prepare_cached(text)?.raw_execute()?;
        Ok(())
    }

    /// Explains an error of a change, with the properties it is about, and records its effect on the transaction.
    fn explained(&mut self, model: &Model, set: SetId, error: StoreError) -> StoreError {
        if self.raw.is_autocommit() && matches!(error, StoreError::Full(_)) {
            self.ended = Ended::Full;
        }
        let error = match error {
            StoreError::Condition { condition, column: None } => {
                let column = self.conditioned(set, &condition);
                StoreError::Condition { condition, column }
            }
            other => other,
        };
        self.mapping.in_terms_of(model, set, error)
    }

    /// The column of a condition, given by its expression or its name.
    fn conditioned(&self, set: SetId, condition: &str) -> Option<String> {
        let table = self.mapping.table(set);
        let mut statement =
            self.raw.prepare_cached("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?").ok()?;
        let text: Option<String> = statement.query_row([&table.name], |row| row.get(0)).ok()?;
        let expression = text.as_deref().and_then(|text| condition::named(text, condition)).unwrap_or(condition);
        condition::only_column(expression, table.columns.iter().map(|column| column.name.as_str())).map(str::to_owned)
    }

    /// Refuses a change that is neither a single one nor in a transaction.
    fn changing(&mut self) -> Result<(), StoreError> {
        match self.scope {
            Scope::Transaction => return self.writing(),
            Scope::Statement => {}
            Scope::Spent => return Err(StoreError::Conflict("a second change was not to be made".into())),
        }
        self.scope = Scope::Spent;
        self.budget.lift();
        Ok(())
    }

    /// Refuses changes outside a transaction, which would be committed by themselves, as after SQLite has rolled back
    /// on its own.
    fn writing(&self) -> Result<(), StoreError> {
        if self.raw.is_autocommit() {
            let cause = "the database has rolled the transaction back".into();
            return Err(match self.ended {
                Ended::Full => StoreError::Full(cause),
                Ended::AsAsked => StoreError::Conflict(cause),
            });
        }
        // A read in between had its time budget, which is not that of the changes after it.
        self.budget.lift();
        Ok(())
    }
}

fn hand_out<R: Row, S: RowSink>(row: &R, sink: &mut S) {
    // There is nothing to stop after one entity.
    let _ = sink.entity(row);
    let _ = sink.entity_end(row);
}

fn check_key(model: &Model, set: SetId, key: &Key) -> Result<(), StoreError> {
    let (expected, found) = (model.type_of(set).key.len(), key.0.len());
    if expected == found { Ok(()) } else { Err(StoreError::Key { expected, found }) }
}

/// Binds the values of an entry's leaves, each in its column's form.
fn bind_leaves(
    statement: &mut CachedStatement<'_>,
    (model, set, table): (&Model, SetId, &Table),
    leaves: &[LeafId],
    entry: &Entry,
    made: &mut Vec<u8>,
) -> Result<(), StoreError> {
    for (index, leaf) in leaves.iter().enumerate() {
        let (cell, column) = (entry.cell(leaf.0), &table.columns[leaf.0]);
        check_storable(cell, model.type_of(set).leaves[leaf.0].primitive, column)?;
        bind(statement, index + 1, stored(cell, column.form, made))?;
    }
    Ok(())
}

/// Binds the values of a key after `before` other ones.
fn bind_key(
    statement: &mut CachedStatement<'_>,
    table: &Table,
    before: usize,
    (leaves, key): (&[LeafId], &Key),
    made: &mut Vec<u8>,
) -> Result<(), StoreError> {
    for (index, (leaf, value)) in leaves.iter().zip(&key.0).enumerate() {
        bind(statement, before + index + 1, stored(value.cell(), table.columns[leaf.0].form, made))?;
    }
    Ok(())
}
