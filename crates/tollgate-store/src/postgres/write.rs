//! Writing: transactions, units of work inside them, and the statements that change one entity.
//!
//! The begin and the end of a unit go to the server together, with the next statement that needs them. Only the `BEGIN`
//! of a transaction is ever repeated, since nothing was done before it.

use std::sync::Arc;

use postgres::types::ToSql;
use tollgate_wire::edm::{LeafId, Model, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{Key, Plan};
use tollgate_wire::value::{Cell, Row};

use super::bind::Bound;
use super::failure::{Failure, Purpose};
use super::row::Kind;
use super::session::Session;
use super::{PostgresConnection, Transaction};
use crate::sql::Sql;
use crate::sql::change::{StoredRow, Texts, Wanted};
use crate::sql::dialect::Dialect;
use crate::{Mapping, Outcome, RowSink, Rule, Store, StoreError};

impl Store for PostgresConnection {
    fn read<S: RowSink>(
        &mut self,
        model: &Model,
        plan: &Plan,
        page_size: Option<u64>,
        sink: &mut S,
    ) -> Result<Outcome, StoreError> {
        PostgresConnection::read(self, model, plan, page_size, sink)
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        let begun = self.control("BEGIN ISOLATION LEVEL READ COMMITTED");
        let begun = match begun {
            // It broke while nobody used it: after a restart of the server, say.
            Err(failure @ Failure::Postgres(_)) if failure.ends_the_connection() => {
                self.control("BEGIN ISOLATION LEVEL READ COMMITTED")
            }
            other => other,
        };
        begun.map_err(|failure| failure.told(Purpose::Writing))?;
        self.transaction = Transaction::Open;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        if self.transaction == Transaction::Refused {
            self.rollback();
            return Err(StoreError::Database(
                "a transaction in which a statement was refused cannot be committed".into(),
            ));
        }
        self.deferred.push("COMMIT");
        let committed = self.flush().map_err(Failure::told_of_commit);
        match committed {
            Ok(()) => self.transaction = Transaction::None,
            Err(_) => self.rollback(),
        }
        committed
    }

    fn rollback(&mut self) {
        self.deferred.clear();
        let open = matches!(self.transaction, Transaction::Open | Transaction::Refused);
        self.transaction = Transaction::None;
        if open && self.control("ROLLBACK").is_err() {
            self.session = None;
        }
    }

    fn savepoint(&mut self) -> Result<(), StoreError> {
        self.deferred.push("SAVEPOINT unit");
        Ok(())
    }

    fn release(&mut self) -> Result<(), StoreError> {
        if self.deferred.last() == Some(&"SAVEPOINT unit") {
            self.deferred.pop();
        } else {
            self.check_deferred_constraints()?;
            self.deferred.push("RELEASE SAVEPOINT unit");
        }
        Ok(())
    }

    fn undo(&mut self) -> Result<(), StoreError> {
        if self.transaction == Transaction::Lost {
            return Err(Failure::Lost.told(Purpose::Writing));
        }
        if self.deferred.last() == Some(&"SAVEPOINT unit") {
            self.deferred.pop();
        } else {
            self.deferred.push("ROLLBACK TO SAVEPOINT unit");
            self.deferred.push("RELEASE SAVEPOINT unit");
        }
        self.transaction = Transaction::Open;
        Ok(())
    }

    fn lock(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError> {
        self.by_key(model, set, key, |texts, mapping| Arc::clone(texts.find(model, mapping, set)))
    }

    fn insert<S: RowSink>(
        &mut self,
        model: &Model,
        set: SetId,
        entry: &Entry,
        sink: Option<&mut S>,
    ) -> Result<(), StoreError> {
        let leaves = &model.type_of(set).leaves;
        debug_assert_eq!(leaves.len(), entry.leaves(), "an entry has a slot for each leaf");
        let wanted = if sink.is_some() { Wanted::Row } else { Wanted::Nothing };
        check_texts(model, set, entry)?;
        self.write(model, set, |connection| {
            let session = connection.session.as_mut().expect("it was opened before");
            let change = connection.texts.insert(model, &connection.mapping, set, entry, wanted);
            let values: Vec<_> =
                change.leaves.iter().map(|leaf| Bound::of_cell(entry.cell(leaf.0), leaves[leaf.0].primitive)).collect();
            let (client, statements) = session.parts();
            let statement = statements.prepared(client, &change.text)?;
            match change.row {
                StoredRow::Entry => {
                    client.execute(&statement, &references(&values))?;
                    if let Some(sink) = sink {
                        // There is nothing to stop after one entity.
                        let _ = sink.entity(entry);
                        let _ = sink.entity_end(entry);
                    }
                }
                StoredRow::Returned => {
                    let row = client.query_one(&statement, &references(&values))?;
                    let kinds: Vec<_> =
                        (0..leaves.len()).map(|leaf| Kind::of_leaf(model.type_of(set), LeafId(leaf))).collect();
                    let row = connection.reader.read(&row, &kinds)?;
                    if let Some(sink) = sink {
                        let _ = sink.entity(&row);
                        let _ = sink.entity_end(&row);
                    }
                }
            }
            Ok(())
        })
    }

    fn update(&mut self, model: &Model, set: SetId, key: &Key, entry: &Entry) -> Result<bool, StoreError> {
        if entry.is_empty() {
            return self.lock(model, set, key);
        }
        check_key(model, set, key)?;
        check_texts(model, set, entry)?;
        let entity_type = model.type_of(set);
        self.write(model, set, |connection| {
            let session = connection.session.as_mut().expect("it was opened before");
            let change = connection.texts.update(model, &connection.mapping, set, entry);
            let set_leaves = change.leaves.iter();
            let values: Vec<_> = set_leaves
                .map(|leaf| Bound::of_cell(entry.cell(leaf.0), entity_type.leaves[leaf.0].primitive))
                .chain(key.0.iter().map(Bound::of))
                .collect();
            let (client, statements) = session.parts();
            let statement = statements.prepared(client, &change.text)?;
            Ok(client.execute(&statement, &references(&values))? > 0)
        })
    }

    fn delete(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError> {
        self.by_key(model, set, key, |texts, mapping| Arc::clone(texts.delete(model, mapping, set)))
    }

    fn delete_all(&mut self, model: &Model, set: SetId) -> Result<u64, StoreError> {
        self.write(model, set, |connection| {
            let session = connection.session.as_mut().expect("it was opened before");
            let mut sql = Sql::new(Dialect::Postgres);
            sql.push("DELETE FROM ");
            sql.table(connection.mapping.table(set));
            Ok(session.parts().0.execute(&sql.text, &[])?)
        })
    }
}

impl PostgresConnection {
    /// Runs a statement by key, and returns whether it found an entity.
    fn by_key(
        &mut self,
        model: &Model,
        set: SetId,
        key: &Key,
        text: impl FnOnce(&mut Texts, &Mapping) -> Arc<str>,
    ) -> Result<bool, StoreError> {
        check_key(model, set, key)?;
        self.write(model, set, |connection| {
            let session = connection.session.as_mut().expect("it was opened before");
            let text = text(&mut connection.texts, &connection.mapping);
            let values: Vec<_> = key.0.iter().map(Bound::of).collect();
            let (client, statements) = session.parts();
            let statement = statements.prepared(client, &text)?;
            Ok(client.execute(&statement, &references(&values))? > 0)
        })
    }

    /// Checks the deferred constraints at the end of a unit: otherwise one unit that breaks them would undo the whole
    /// transaction. A database without such constraints is not queried.
    fn check_deferred_constraints(&mut self) -> Result<(), StoreError> {
        if self.transaction != Transaction::Open {
            return Ok(());
        }
        let checked = self.session().and_then(Session::check_constraints);
        checked.map_err(|failure| self.noted(failure).told(Purpose::Writing))
    }

    /// Runs `work` on an open session, after deferred statements.
    fn write<T>(
        &mut self,
        model: &Model,
        set: SetId,
        work: impl FnOnce(&mut PostgresConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        match self.transaction {
            // What is written outside of a transaction would be committed by itself.
            Transaction::None => return Err(StoreError::Conflict("no transaction was begun".into())),
            Transaction::Open | Transaction::Refused | Transaction::Lost => {}
        }
        let done = self.flush_open().and_then(|()| work(self));
        done.map_err(|failure| {
            let error = self.noted(failure).told(Purpose::Writing);
            self.mapping.in_terms_of(model, set, error)
        })
    }

    /// Sends the deferred statements, on a session that is open afterwards.
    pub(super) fn flush_open(&mut self) -> Result<(), Failure> {
        if self.deferred.is_empty() { self.session().map(|_| ()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let text = self.deferred.join("; ");
        self.deferred.clear();
        self.control(&text)
    }

    fn control(&mut self, text: &str) -> Result<(), Failure> {
        let done = self.session().and_then(|session| session.run(text));
        done.map_err(|failure| self.noted(failure))
    }
}

fn check_key(model: &Model, set: SetId, key: &Key) -> Result<(), StoreError> {
    let (expected, found) = (model.type_of(set).key.len(), key.0.len());
    if expected == found { Ok(()) } else { Err(StoreError::Key { expected, found }) }
}

/// Refuses the one character that PostgreSQL's texts cannot contain, and names the property, which the server does not.
fn check_texts(model: &Model, set: SetId, entry: &Entry) -> Result<(), StoreError> {
    let holds_it = |leaf: &usize| matches!(entry.cell_of(LeafId(*leaf)), Some(Cell::Text(text)) if text.contains(&0));
    match (0..entry.leaves()).find(holds_it) {
        None => Ok(()),
        Some(leaf) => {
            let name = Some(model.type_of(set).leaves[leaf].path.clone());
            Err(StoreError::Constraint { rule: Rule::Check, name })
        }
    }
}

/// Values as the crate expects them.
pub fn references<'v>(values: &'v [Bound<'_>]) -> Vec<&'v (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
