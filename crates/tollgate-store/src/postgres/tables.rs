//! Tables of a model: needed by a service with its own data set.
//!
//! It changes no existing table.

use tollgate_wire::edm::{Model, SetId};

use super::PostgresConnection;
use super::failure::{Failure, Purpose};
use crate::sql::Sql;
use crate::sql::dialect::{Dialect, postgres_column_type};
use crate::{StoreError, Tables};

/// The table with the layout version of a service's tables, by the name of its first table.
pub(super) const LAYOUTS: &str = "tollgate_layouts";

/// Lock for creating tables, so that two starts at once do not conflict. The number is any otherwise unused one. It is
/// kept until the data set is filled in, which may take longer than a request waits for a lock; that limit, and no
/// time-out of statements, ends the wait, since its error names the reason.
const CREATING: &str =
    "SET LOCAL lock_timeout = '2min'; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(7203100812)";

impl Tables for PostgresConnection {
    fn create_tables(&mut self, model: &Model) -> Result<(), StoreError> {
        self.check_mapping(model)?;
        let mut text = String::from(CREATING);
        for set in (0..model.entity_sets.len()).map(SetId) {
            text.push_str("; ");
            text.push_str(&self.table_text(model, set));
        }
        self.administer(|connection| connection.session()?.run(&text))
    }

    fn layout_version(&mut self) -> Result<i64, StoreError> {
        let service = self.service();
        self.administer(|connection| {
            let (client, _) = connection.session()?.parts();
            let known = client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&LAYOUTS])?;
            if !known.get::<_, bool>(0) {
                return Ok(0);
            }
            let text = format!("SELECT version FROM {LAYOUTS} WHERE service = $1");
            Ok(client.query_opt(&text, &[&service])?.map_or(0, |row| row.get(0)))
        })
    }

    fn set_layout_version(&mut self, version: i64) -> Result<(), StoreError> {
        let service = self.service();
        self.administer(|connection| {
            let (client, _) = connection.session()?.parts();
            let table =
                format!("CREATE TABLE IF NOT EXISTS {LAYOUTS} (service text PRIMARY KEY, version int8 NOT NULL)");
            client.batch_execute(&table)?;
            let text = format!(
                "INSERT INTO {LAYOUTS} VALUES ($1, $2) ON CONFLICT (service) DO UPDATE SET version = excluded.version"
            );
            client.execute(&text, &[&service, &version])?;
            Ok(())
        })
    }
}

impl PostgresConnection {
    fn service(&self) -> String {
        self.mapping.tables.first().map_or_else(String::new, |table| table.name.clone())
    }

    fn administer<T>(
        &mut self,
        work: impl FnOnce(&mut PostgresConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let done = self.flush_open().and_then(|()| work(self));
        done.map_err(|failure| self.noted(failure).told(Purpose::Writing))
    }

    fn table_text(&self, model: &Model, set: SetId) -> String {
        let entity_type = model.type_of(set);
        let table = self.mapping.table(set);
        let mut sql = Sql::new(Dialect::Postgres);
        sql.push("CREATE TABLE IF NOT EXISTS ");
        sql.table(table);
        sql.push(" (");
        sql.list(", ", entity_type.leaves.iter().zip(&table.columns), |sql, (leaf, column)| {
            sql.identifier(&column.name);
            sql.push(" ");
            sql.push(postgres_column_type(leaf.primitive));
            if !leaf.nullable {
                sql.push(" NOT NULL");
            }
        });
        sql.push(", PRIMARY KEY (");
        sql.list(", ", &entity_type.key, |sql, leaf| sql.identifier(&table.columns[leaf.0].name));
        sql.push("))");
        sql.text
    }
}
