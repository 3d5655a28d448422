//! Catalogue of a database's tables: the same form for each kind of database, filled by its own reader.
//!
//! It contains names as in the database: their names in a model are decided for all kinds in one place.

use tollgate_wire::edm::{Changes, Primitive, Provided};

use super::Remark;
use crate::Form;

/// The tables and views of a database, in a stable order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalog {
    /// All of them.
    pub tables: Vec<CatalogTable>,
    /// Findings reported to the operator.
    pub remarks: Vec<Remark>,
    /// Columns that can contain a collection of values.
    pub lists: Lists,
}

/// Columns that can contain a collection of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lists {
    /// Columns of a type of their own.
    #[default]
    Arrays,
    /// Texts, with arrays of JSON.
    Texts,
}

/// A table or a view.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogTable {
    /// Its schema, if needed.
    pub schema: Option<String>,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: TableKind,
    /// Changes that the database allows on its rows, as far as the catalogue shows.
    pub changes: Changes,
    /// Its comment in the database.
    pub label: Option<String>,
    /// Its columns, in order.
    pub columns: Vec<CatalogColumn>,
    /// The columns of the primary key, in its order; empty without one.
    pub primary_key: Vec<usize>,
    /// The columns of each further unique index over plain columns and all rows.
    pub unique: Vec<Vec<usize>>,
    /// A column by which the database itself identifies rows without a primary key (`rowid`).
    pub row_id: Option<String>,
    /// Its foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
}

/// Kind of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// A table.
    Table,
    /// A view.
    View,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogColumn {
    /// Its name.
    pub name: String,
    /// Its declared type, for messages.
    pub declared: String,
    /// Its type in a model; `None` if there is none.
    pub primitive: Option<Primitive>,
    /// The form of its stored values.
    pub form: Form,
    /// Whether it may be null.
    pub nullable: bool,
    /// Source of a missing value in the database.
    pub provided: Option<Provided>,
    /// Its comment in the database.
    pub label: Option<String>,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// The referring columns, in order.
    pub columns: Vec<usize>,
    /// The schema of the referenced table, if needed.
    pub target_schema: Option<String>,
    /// The referenced table.
    pub target: String,
    /// The referenced columns, in the same order; empty for the primary key.
    pub target_columns: Vec<String>,
}

impl CatalogTable {
    /// Position of the column of that name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The table's name in messages and mapping files.
    pub fn full_name(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{schema}.{}", self.name),
            None => self.name.clone(),
        }
    }
}
