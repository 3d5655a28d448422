//! Writing: transactions, units of work inside them, and the statements that change one entity.
//!
//! A transaction takes the write lock when it begins, so that it never has to give up half-way.

use rusqlite::types::ValueRef;
use tollgate_wire::edm::{LeafId, Model, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{Key, Plan};
use tollgate_wire::value::{Cell, Row};

use super::Connection;
use super::read::{bind, borrowed};
use crate::store::sql::Sql;
use crate::store::{Outcome, RowSink, Store, StoreError};

impl Store for Connection {
    fn read<S: RowSink>(
        &mut self,
        model: &Model,
        plan: &Plan,
        page_size: Option<u64>,
        sink: &mut S,
    ) -> Result<Outcome, StoreError> {
        Connection::read(self, model, plan, page_size, sink)
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        self.budget.lift();
        self.execute("BEGIN IMMEDIATE")
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.execute("COMMIT")
    }

    fn rollback(&mut self) {
        // It can only fail where SQLite has rolled back already.
        let _ = self.execute("ROLLBACK");
    }

    fn savepoint(&mut self) -> Result<(), StoreError> {
        self.execute("SAVEPOINT unit")
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.execute("RELEASE unit")
    }

    fn undo(&mut self) -> Result<(), StoreError> {
        self.execute("ROLLBACK TO unit")?;
        self.execute("RELEASE unit")
    }

    fn lock(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError> {
        // The transaction holds the lock of the whole database.
        let mut sql = Sql::default();
        sql.push("SELECT 1 FROM ");
        sql.table(self.mapping.table(set));
        self.by_key(&mut sql, model, set);
        let mut statement = self.raw.prepare_cached(&sql.text)?;
        for (index, value) in key.0.iter().enumerate() {
            bind(&mut statement, index + 1, borrowed(value))?;
        }
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
        let table = self.mapping.table(set);
        let set_leaves = || (0..entry.leaves()).map(LeafId).filter(|leaf| entry.is_set(*leaf));
        let mut sql = Sql::default();
        sql.push("INSERT INTO ");
        sql.table(table);
        sql.push(" (");
        sql.list(", ", set_leaves(), |sql, leaf| sql.identifier(&table.columns[leaf.0].name));
        sql.push(") VALUES (");
        sql.list(", ", set_leaves(), |sql, _| sql.push("?"));
        sql.push(") RETURNING ");
        sql.list(", ", &table.columns, |sql, column| sql.identifier(&column.name));
        let mut statement = self.raw.prepare_cached(&sql.text)?;
        for (index, leaf) in set_leaves().enumerate() {
            bind(&mut statement, index + 1, stored(entry.cell(leaf.0)))?;
        }
        let mut rows = statement.raw_query();
        let row = rows.next()?;
        if let (Some(row), Some(sink)) = (row, sink) {
            let row = super::row::SqliteRow(row);
            let _ = sink.entity(&row);
            let _ = sink.entity_end(&row);
        }
        while rows.next()?.is_some() {}
        debug_assert_eq!(model.type_of(set).leaves.len(), entry.leaves(), "an entry has a slot for each leaf");
        Ok(())
    }

    fn update(&mut self, model: &Model, set: SetId, key: &Key, entry: &Entry) -> Result<bool, StoreError> {
        let table = self.mapping.table(set);
        let set_leaves = || (0..entry.leaves()).map(LeafId).filter(|leaf| entry.is_set(*leaf));
        if set_leaves().next().is_none() {
            return self.lock(model, set, key);
        }
        let mut sql = Sql::default();
        sql.push("UPDATE ");
        sql.table(table);
        sql.push(" SET ");
        sql.list(", ", set_leaves(), |sql, leaf| {
            sql.identifier(&table.columns[leaf.0].name);
            sql.push(" = ?");
        });
        self.by_key(&mut sql, model, set);
        let mut statement = self.raw.prepare_cached(&sql.text)?;
        let mut position = 0;
        for leaf in set_leaves() {
            position += 1;
            bind(&mut statement, position, stored(entry.cell(leaf.0)))?;
        }
        for value in &key.0 {
            position += 1;
            bind(&mut statement, position, borrowed(value))?;
        }
        Ok(statement.raw_execute()? > 0)
    }

    fn delete(&mut self, model: &Model, set: SetId, key: &Key) -> Result<bool, StoreError> {
        let mut sql = Sql::default();
        sql.push("DELETE FROM ");
        sql.table(self.mapping.table(set));
        self.by_key(&mut sql, model, set);
        let mut statement = self.raw.prepare_cached(&sql.text)?;
        for (index, value) in key.0.iter().enumerate() {
            bind(&mut statement, index + 1, borrowed(value))?;
        }
        Ok(statement.raw_execute()? > 0)
    }
}

impl Connection {
    fn execute(&self, text: &str) -> Result<(), StoreError> {
        self.raw.prepare_cached(text)?.raw_execute()?;
        Ok(())
    }

    fn by_key(&self, sql: &mut Sql<'_>, model: &Model, set: SetId) {
        sql.push(" WHERE ");
        sql.list(" AND ", &model.type_of(set).key, |sql, leaf| {
            sql.identifier(self.mapping.column(set, *leaf));
            sql.push(" = ?");
        });
    }
}

fn stored(cell: Cell<'_>) -> ValueRef<'_> {
    match cell {
        Cell::Null => ValueRef::Null,
        Cell::Integer(integer) => ValueRef::Integer(integer),
        Cell::Real(real) => ValueRef::Real(real),
        Cell::Text(text) => ValueRef::Text(text),
        Cell::Bytes(bytes) => ValueRef::Blob(bytes),
    }
}
