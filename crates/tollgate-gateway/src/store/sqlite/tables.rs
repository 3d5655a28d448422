//! Tables of a model and rows in them: what a service needs to bring its data set along.
//!
//! It deliberately changes no table that is there.

use tollgate_wire::edm::{Model, SetId};
use tollgate_wire::value::Value;

use super::Connection;
use super::read::{bind, borrowed};
use crate::store::StoreError;
use crate::store::sql::Sql;
use crate::store::sql::class::Class;

impl Connection {
    /// Creates the tables of a model that are not there. Their rows are kept in the order of the key, so that a read by
    /// key is one descent and a collection in its own order a scan.
    ///
    /// # Errors
    ///
    /// [`StoreError::Mapping`] where mapping and model differ; those of the database.
    pub fn create_tables(&self, model: &Model) -> Result<(), StoreError> {
        self.check_mapping(model)?;
        for set in (0..model.entity_sets.len()).map(SetId) {
            self.raw.execute_batch(&self.table_text(model, set))?;
        }
        Ok(())
    }

    /// Inserts an entity, its values in the order of the type's leaves.
    ///
    /// # Errors
    ///
    /// Those of the database, such as a key that is there already.
    pub fn insert(&self, model: &Model, set: SetId, values: &[Value]) -> Result<(), StoreError> {
        let table = self.mapping.table(set);
        debug_assert_eq!(values.len(), model.type_of(set).leaves.len(), "a row has a value for each leaf");
        let mut sql = Sql::default();
        sql.push("INSERT INTO ");
        sql.table(table);
        sql.push(" (");
        sql.list(", ", &table.columns, |sql, column| sql.identifier(&column.name));
        sql.push(") VALUES (");
        sql.list(", ", &table.columns, |sql, _| sql.push("?"));
        sql.push(")");
        let mut statement = self.raw.prepare_cached(&sql.text)?;
        for (index, value) in values.iter().enumerate() {
            bind(&mut statement, index + 1, borrowed(value))?;
        }
        statement.raw_execute()?;
        Ok(())
    }

    /// Does `work` in one transaction, which is committed when this returns, or not at all.
    ///
    /// # Errors
    ///
    /// Those of `work` and of the commit.
    pub fn transaction<T>(&self, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.budget.lift();
        let transaction = rusqlite::Transaction::new_unchecked(&self.raw, rusqlite::TransactionBehavior::Immediate)?;
        let done = work()?;
        transaction.commit()?;
        Ok(done)
    }

    /// The version of the tables' layout that was noted in the database, 0 in a new one.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn layout_version(&self) -> Result<i64, StoreError> {
        Ok(self.raw.pragma_query_value(None, "user_version", |row| row.get(0))?)
    }

    /// Notes the version of the tables' layout.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn set_layout_version(&self, version: i64) -> Result<(), StoreError> {
        Ok(self.raw.pragma_update(None, "user_version", version)?)
    }

    fn table_text(&self, model: &Model, set: SetId) -> String {
        let entity_type = model.type_of(set);
        let table = self.mapping.table(set);
        let mut sql = Sql::default();
        sql.push("CREATE TABLE IF NOT EXISTS ");
        sql.table(table);
        sql.push(" (");
        sql.list(", ", entity_type.leaves.iter().zip(&table.columns), |sql, (leaf, column)| {
            sql.identifier(&column.name);
            sql.push(stored_type(Class::of(Some(leaf.primitive))));
            if !leaf.nullable {
                sql.push(" NOT NULL");
            }
        });
        sql.push(", PRIMARY KEY (");
        sql.list(", ", &entity_type.key, |sql, leaf| sql.identifier(&table.columns[leaf.0].name));
        sql.push(")) STRICT, WITHOUT ROWID");
        sql.text
    }
}

fn stored_type(class: Class) -> &'static str {
    match class {
        Class::Boolean | Class::Integer => " INTEGER",
        Class::Real => " REAL",
        Class::Binary => " BLOB",
        Class::Null
        | Class::Decimal
        | Class::String
        | Class::Guid
        | Class::Date
        | Class::DateTime
        | Class::Instant
        | Class::TimeOfDay
        | Class::Duration => " TEXT",
    }
}
