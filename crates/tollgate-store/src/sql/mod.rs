//! Lowers a [`Plan`](tollgate_wire::plan::Plan) into SQL: text that depends on the plan's shape only, and values that
//! are bound. No value of a request ever becomes part of the text, and every identifier is quoted.
//!
//! It runs nothing and knows no connection. Where SQL is not exact (decimals, Unicode, dates) it calls the functions in
//! [`function`], which SQLite's store registers and PostgreSQL's dialect spells out.

pub mod change;
pub mod class;
pub mod dialect;
pub mod expand;
pub mod expression;
pub mod function;
mod navigation;
pub mod order;
pub mod page;
pub mod relation;
pub mod statement;

use tollgate_wire::edm::{Item, Primitive};
use tollgate_wire::value::Value;

use self::class::Class;
use self::dialect::{Dialect, class_of, leaves_postgres_as_text, postgres_type};
use crate::{Form, Table};

/// A statement under construction.
#[derive(Debug, Default)]
pub struct Sql<'p> {
    /// Its dialect.
    pub dialect: Dialect,
    /// The text so far, with `?` or `$n` for each parameter.
    pub text: String,
    /// The parameters in the order of their marks.
    pub parameters: Vec<Parameter<'p>>,
    marks: usize,
}

/// Value for a mark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Parameter<'p> {
    /// A value of the plan.
    Value(&'p Value),
    /// A value of a key, in its column's form.
    Key(&'p Value, Form),
    /// A limit or an offset.
    Count(i64),
    /// A value of the parent of the current expansion, by its position among the joined columns.
    Parent(usize),
}

/// Length of most statements, so that few texts grow.
const TEXT_BYTES_USUAL: usize = 1024;

/// The collation that compares decimals by value; a store registers it.
pub const DECIMAL_COLLATION: &str = "DECIMAL";

impl<'p> Sql<'p> {
    /// Creates an empty statement.
    pub fn new(dialect: Dialect) -> Sql<'p> {
        Sql { dialect, text: String::with_capacity(TEXT_BYTES_USUAL), ..Sql::default() }
    }

    /// Appends text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends a quoted identifier.
    pub fn identifier(&mut self, name: &str) {
        // A statement has dozens of them, and next to none has a quote in it.
        self.text.push('"');
        if name.as_bytes().contains(&b'"') {
            self.text.push_str(&name.replace('"', "\"\""));
        } else {
            self.text.push_str(name);
        }
        self.text.push('"');
    }

    /// Appends `alias."column"`.
    pub fn column(&mut self, alias: &str, column: &str) {
        self.push(alias);
        self.text.push('.');
        self.identifier(column);
    }

    /// Appends `"table"`, with its schema if needed.
    pub fn table(&mut self, table: &Table) {
        if let Some(schema) = &table.schema {
            self.identifier(schema);
            self.push(".");
        }
        self.identifier(&table.name);
    }

    /// Appends `"table" AS alias`.
    pub fn table_as(&mut self, table: &Table, alias: &str) {
        self.table(table);
        self.push(" AS ");
        self.push(alias);
    }

    /// Appends a mark; the caller binds its value.
    pub fn mark(&mut self) {
        self.marks += 1;
        match self.dialect {
            Dialect::Sqlite => self.text.push('?'),
            Dialect::Postgres => {
                self.text.push('$');
                self.text.push_str(&self.marks.to_string());
            }
        }
    }

    /// Appends a mark and records its value. Its type follows from the context.
    pub fn parameter(&mut self, parameter: Parameter<'p>) {
        self.mark();
        self.parameters.push(parameter);
    }

    /// Appends a mark for a value with its own type, in any context.
    pub fn literal(&mut self, value: &'p Value) {
        match self.dialect {
            Dialect::Sqlite => self.parameter(Parameter::Value(value)),
            Dialect::Postgres => {
                self.cast(class_of(value), |sql| sql.parameter(Parameter::Value(value)));
            }
        }
    }

    /// Appends a value of that type, or null, in the form for reading.
    pub fn answered(&mut self, primitive: Option<Primitive>, operand: impl FnOnce(&mut Self)) {
        let class = Class::of(primitive);
        match (self.dialect, primitive) {
            (Dialect::Postgres, Some(Primitive::Collection(item))) => self.cast(Class::String, |sql| {
                sql.push("array_to_json(");
                match item {
                    // As they are compared: texts of a fixed length without the blanks that fill them.
                    Item::String { .. } => sql.cast(Class::List, operand),
                    _ => operand(sql),
                }
                sql.push(")");
            }),
            (Dialect::Postgres, _) if leaves_postgres_as_text(class) => self.cast(Class::String, operand),
            (Dialect::Sqlite | Dialect::Postgres, _) => operand(self),
        }
    }

    /// Appends `CAST(… AS type)` in PostgreSQL's terms.
    pub(super) fn cast(&mut self, class: Class, operand: impl FnOnce(&mut Self)) {
        self.push("CAST(");
        operand(self);
        self.push(" AS ");
        self.push(postgres_type(class));
        self.push(")");
    }

    /// Appends `separator` between the items that `each` writes.
    pub fn list<T>(&mut self, separator: &str, items: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.push(separator);
            }
            each(self, item);
        }
    }
}
