//! What a database says of its tables: the same for each kind of database, as its own reader has found it.
//!
//! It deliberately holds names as the database has them: what they become in a model is decided for all kinds in one
//! place.

use tollgate_wire::edm::{Changes, Primitive, Provided};

use super::Remark;
use crate::Form;

/// The tables and views of a database, in an order that is the same each time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalog {
    /// All of them.
    pub tables: Vec<CatalogTable>,
    /// What was found that is told to the operator.
    pub remarks: Vec<Remark>,
    /// What may hold a collection of values.
    pub lists: Lists,
}

/// What may hold a collection of values.
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
    /// Its schema, where that must be said.
    pub schema: Option<String>,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: TableKind,
    /// What the database lets be done with its rows, as far as the catalog tells.
    pub changes: Changes,
    /// What its makers say of it.
    pub label: Option<String>,
    /// Its columns, in order.
    pub columns: Vec<CatalogColumn>,
    /// The columns of the primary key, in its order; empty without one.
    pub primary_key: Vec<usize>,
    /// The columns of each further unique index over plain columns and all rows.
    pub unique: Vec<Vec<usize>>,
    /// A column that the database itself tells rows apart by, where there is no primary key (`rowid`).
    pub row_id: Option<String>,
    /// Its foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
}

/// What a table is.
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
    /// Its type as it was declared, for messages.
    pub declared: String,
    /// What that is in a model; `None` where it is nothing.
    pub primitive: Option<Primitive>,
    /// The form in which it holds values.
    pub form: Form,
    /// Whether it may be null.
    pub nullable: bool,
    /// How the database provides its value where it is given none.
    pub provided: Option<Provided>,
    /// What its makers say of it.
    pub label: Option<String>,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// The columns that refer, in order.
    pub columns: Vec<usize>,
    /// The schema of the table that is referred to, where that must be said.
    pub target_schema: Option<String>,
    /// The table that is referred to.
    pub target: String,
    /// Its columns that are referred to, in the same order; empty for its primary key.
    pub target_columns: Vec<String>,
}

impl CatalogTable {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The table as a message or a mapping file names it.
    pub fn full_name(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{schema}.{}", self.name),
            None => self.name.clone(),
        }
    }
}
