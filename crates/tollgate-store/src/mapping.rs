//! Storage of a model's entities: the table of a set, the column of a leaf, and the form of its values there.
//!
//! It knows no types: those are the model's.

use tollgate_wire::edm::{LeafId, Model, SetId};

use super::{Rule, StoreError};

/// Tables by set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mapping {
    /// One for each entity set, in the model's order.
    pub tables: Vec<Table>,
}

/// A table with its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The schema of the table, if needed.
    pub schema: Option<String>,
    /// Unquoted name in the database.
    pub name: String,
    /// One for each leaf of the type, in the order of `EntityType::leaves`.
    pub columns: Vec<Column>,
    /// Identity of its rows.
    pub identity: Identity,
}

/// Identity of a table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Identity {
    /// The columns of the type's key.
    #[default]
    Key,
    /// Nothing reliable: rows may be equal, and values of the type's key may be null. Pages are cut by counting.
    Nothing,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Unquoted name in the database.
    pub name: String,
    /// The form of its stored values.
    pub form: Form,
}

/// The form of a column's values. Forms other than the canonical one of [`tollgate_wire::value`] are checked and
/// converted when read, and written in the column's own form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Form {
    /// The canonical form, by the database's own types or because only the gateway writes it: nothing is checked.
    #[default]
    Canonical,
    /// Presumably the canonical form: others write here, and the database accepts any value.
    Checked,
    /// A date and a time with a blank between them, as SQL writes them.
    Blank,
    /// A date and a time as seconds since 1970-01-01 in UTC.
    Seconds,
    /// A date and a time as milliseconds since 1970-01-01 in UTC.
    Milliseconds,
    /// A Guid in upper case.
    UpperCase,
    /// A Guid as 16 bytes, in the order in which its digits are written.
    Bytes,
}

impl Mapping {
    /// Maps tables to type names, and columns to leaves (`flightDetails/cityFrom` becomes `flightDetails_cityFrom`).
    pub fn by_type_name(model: &Model) -> Mapping {
        let table = |set: usize| {
            let entity_type = model.type_of(SetId(set));
            Table {
                schema: None,
                name: entity_type.name.clone(),
                columns: entity_type.leaves.iter().map(|leaf| Column::canonical(leaf.path.replace('/', "_"))).collect(),
                identity: Identity::Key,
            }
        };
        Mapping { tables: (0..model.entity_sets.len()).map(table).collect() }
    }

    /// The table of a set.
    pub fn table(&self, set: SetId) -> &Table {
        &self.tables[set.0]
    }

    /// The column of a leaf of the entities in `set`.
    pub fn column(&self, set: SetId, leaf: LeafId) -> &str {
        &self.tables[set.0].columns[leaf.0].name
    }

    /// The form of the column's values for a leaf.
    pub fn form(&self, set: SetId, leaf: LeafId) -> Form {
        self.tables[set.0].columns[leaf.0].form
    }

    /// Converts the columns in an error to properties of the entities in `set`.
    pub(super) fn in_terms_of(&self, model: &Model, set: SetId, error: StoreError) -> StoreError {
        let path = |column: String| {
            let named = self.table(set).columns.iter().position(|candidate| candidate.name == column);
            named.map_or(column, |leaf| model.type_of(set).leaves[leaf].path.clone())
        };
        match error {
            StoreError::Duplicate { columns } => {
                StoreError::Duplicate { columns: columns.into_iter().map(path).collect() }
            }
            StoreError::Condition { condition, column } => {
                StoreError::Condition { condition, column: column.map(path) }
            }
            StoreError::Constraint { rule, name } => {
                StoreError::Constraint { rule, name: name.map(|name| path(self.checked_column(set, rule, name))) }
            }
            other => other,
        }
    }

    /// The column of a condition, if its name contains it, as in PostgreSQL's default names: `table_column_check`, with
    /// a number from the second on, `table_column_check1`. Otherwise the name.
    fn checked_column(&self, set: SetId, rule: Rule, name: String) -> String {
        let table = self.table(set);
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let named = |column: &&Column| {
            let rest = name.strip_prefix(table.name.as_str()).and_then(|rest| rest.strip_prefix('_'));
            let rest = rest.and_then(|rest| rest.strip_prefix(column.name.as_str()));
            rest.and_then(|rest| rest.strip_prefix("_check")).is_some_and(digits)
        };
        match rule {
            Rule::Check => table.columns.iter().find(named).map_or(name, |column| column.name.clone()),
            Rule::NotNull | Rule::ForeignKey => name,
        }
    }

    /// Describes a difference in shape between the mapping and a model.
    pub fn mismatch(&self, model: &Model) -> Option<String> {
        if self.tables.len() != model.entity_sets.len() {
            return Some(format!("{} tables for {} entity sets", self.tables.len(), model.entity_sets.len()));
        }
        self.tables.iter().zip(&model.entity_sets).find_map(|(table, set)| {
            let leaves = model.entity_types[set.entity_type.0].leaves.len();
            (table.columns.len() != leaves).then(|| {
                format!("table {} has {} columns for {leaves} leaves of {}", table.name, table.columns.len(), set.name)
            })
        })
    }
}

impl Column {
    /// Creates a column with values in the canonical form.
    pub fn canonical(name: impl Into<String>) -> Column {
        Column { name: name.into(), form: Form::Canonical }
    }
}
