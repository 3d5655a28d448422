//! The tables and columns of a batch, checked against the database's catalogue: every name in a statement of the batch
//! comes from the catalogue.

use crate::base::config_error::ConfigError;
use crate::config::generate::{Generate, Named, Shape, StateColumn};
use crate::store::introspect::{Catalog, CatalogColumn, CatalogTable, TableKind};
use crate::store::sql::dialect::Dialect;
use tollgate_wire::edm::Primitive;

/// The table with the state of each document, if the user's own has no column for it.
pub(super) const CLAIMS: &str = "tollgate_claim";

/// Longest error kept for a document, in characters, wherever there is room for more.
const ERROR_CHARACTERS_MAX: usize = 4000;

/// All names in statements.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) source: TableName,
    pub(super) key: String,
    pub(super) document: String,
    pub(super) ledger: Ledger,
    pub(super) dependencies: Vec<DependencyTable>,
    pub(super) target: ResultTable,
}

/// A table's name, with its schema if needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableName {
    pub(super) schema: Option<String>,
    pub(super) name: String,
}

/// Location of the documents' states.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) place: TableName,
    pub(super) key: String,
    pub(super) state: String,
    pub(super) error: Option<String>,
    /// Characters that the column for errors can store.
    pub(super) error_characters_max: usize,
    /// Absent: null.
    pub(super) waiting: Option<String>,
    pub(super) done: String,
    pub(super) failed: String,
    pub(super) kind: LedgerKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LedgerKind {
    /// The documents' own table.
    Source,
    /// A table of ours, whose rows have this name to distinguish them from other sources.
    Beside(String),
}

#[derive(Debug)]
pub(super) struct DependencyTable {
    pub(super) place: TableName,
    pub(super) key: String,
    pub(super) columns: Vec<String>,
}

#[derive(Debug)]
pub(super) struct ResultTable {
    pub(super) place: TableName,
    pub(super) key: String,
    pub(super) result: String,
    pub(super) compute_us: Option<String>,
    pub(super) database_us: Option<String>,
    pub(super) waiting_us: Option<String>,
}

impl Tables {
    /// # Errors
    /// The first name that is not in the catalogue, that is used twice, or whose column cannot store its values.
    pub(super) fn of(generate: &Generate, catalog: &Catalog, dialect: Dialect) -> Result<Tables, ConfigError> {
        let source = &generate.source;
        told_apart(generate)?;
        let documents = table(&source.table, catalog)?;
        let key = unique_column(&source.key, documents)?;
        let ledger = match &source.state {
            Some(state) => Ledger {
                place: TableName::of(documents),
                key: key.clone(),
                state: state_column(state, documents, dialect)?,
                error: state.error.as_ref().map(|error| text_column(error, documents)).transpose()?,
                error_characters_max: state.error.as_ref().map_or(ERROR_CHARACTERS_MAX, |error| {
                    characters_max(&error.name, documents).min(ERROR_CHARACTERS_MAX)
                }),
                waiting: state.waiting.clone(),
                done: state.done.clone(),
                failed: state.failed.clone(),
                kind: LedgerKind::Source,
            },
            None => Ledger {
                place: TableName { schema: None, name: CLAIMS.to_owned() },
                key: "key".to_owned(),
                state: "state".to_owned(),
                error: Some("error".to_owned()),
                error_characters_max: ERROR_CHARACTERS_MAX,
                waiting: Some("waiting".to_owned()),
                done: "done".to_owned(),
                failed: "failed".to_owned(),
                kind: LedgerKind::Beside(documents.full_name()),
            },
        };
        if source.state.is_some() && !writable(documents, |changes| changes.update) {
            return Err(source.table.origin.wrong("the states of these documents cannot be changed by this user"));
        }
        let results = table(&generate.target.table, catalog)?;
        if !writable(results, |changes| changes.insert) {
            return Err(generate.target.table.origin.wrong("this user cannot insert rows here"));
        }
        let keys = column_of(&source.key, documents)?;
        fits_keys(&generate.target.key, results, keys, dialect)?;
        let numbers = |name: &Option<Named>| name.as_ref().map(|name| number_column(name, results)).transpose();
        let target = ResultTable {
            place: TableName::of(results),
            key: column(&generate.target.key, results)?,
            result: text_column(&generate.target.result, results)?,
            compute_us: numbers(&generate.target.compute_us)?,
            database_us: numbers(&generate.target.database_us)?,
            waiting_us: numbers(&generate.target.waiting_us)?,
        };
        if let Some(missing) = unfilled(&target, results) {
            let wrong = format!(
                "`{}` must not be null there, has no default, and is none of the columns that the batch fills",
                missing
            );
            return Err(generate.target.table.origin.wrong(&wrong));
        }
        let dependencies = generate.dependencies.iter().map(|dependency| {
            let found = table(&dependency.table, catalog)?;
            if dependency.reference.is_none() {
                fits_keys(&dependency.key, found, keys, dialect)?;
            }
            let columns = match &dependency.shape {
                Shape::Content(content) => vec![text_column(content, found)?],
                Shape::Columns(columns) => columns
                    .iter()
                    .map(
                        |name| {
                            if is_element_name(&name.name) { column(name, found) } else { Err(not_an_element(name)) }
                        },
                    )
                    .collect::<Result<_, _>>()?,
            };
            Ok(DependencyTable { place: TableName::of(found), key: column(&dependency.key, found)?, columns })
        });
        Ok(Tables {
            source: TableName::of(documents),
            document: text_column(&source.document, documents)?,
            key,
            ledger,
            dependencies: dependencies.collect::<Result<_, ConfigError>>()?,
            target,
        })
    }
}

/// Checks that columns of one table with different purposes differ, or one would overwrite the other.
fn told_apart(generate: &Generate) -> Result<(), ConfigError> {
    let (source, target) = (&generate.source, &generate.target);
    let state = source.state.as_ref();
    let of_source = [
        Some(&source.key),
        Some(&source.document),
        state.map(|state| &state.column),
        state.and_then(|state| state.error.as_ref()),
    ];
    let of_target = [
        Some(&target.key),
        Some(&target.result),
        target.compute_us.as_ref(),
        target.database_us.as_ref(),
        target.waiting_us.as_ref(),
    ];
    each_once(of_source.into_iter().flatten())?;
    each_once(of_target.into_iter().flatten())?;
    for dependency in &generate.dependencies {
        if let Shape::Columns(columns) = &dependency.shape {
            each_once(columns.iter())?;
        }
    }
    match target.table.name == source.table.name {
        true => {
            Err(target.table.origin.wrong("the documents come from this table: expected another one for the results"))
        }
        false => Ok(()),
    }
}

fn each_once<'n>(names: impl Iterator<Item = &'n Named>) -> Result<(), ConfigError> {
    let mut known: Vec<&str> = Vec::new();
    for name in names {
        if known.contains(&name.name.as_str()) {
            let wrong = format!("`{}` is named twice: expected another column for each", name.name);
            return Err(name.origin.wrong(&wrong));
        }
        known.push(&name.name);
    }
    Ok(())
}

impl TableName {
    fn of(table: &CatalogTable) -> TableName {
        TableName { schema: table.schema.clone(), name: table.name.clone() }
    }
}

fn writable(table: &CatalogTable, change: impl Fn(&tollgate_wire::edm::Changes) -> bool) -> bool {
    // What a view lets be done is known to the database alone.
    table.kind == TableKind::View || change(&table.changes)
}

fn table<'c>(name: &Named, catalog: &'c Catalog) -> Result<&'c CatalogTable, ConfigError> {
    let found = catalog.tables.iter().find(|table| table.full_name() == name.name);
    found.ok_or_else(|| {
        // It is there, and was left out with its reason.
        if let Some(remark) = catalog.remarks.iter().find(|remark| remark.table == name.name) {
            return name.origin.wrong(&remark.to_string());
        }
        let known: Vec<String> = catalog.tables.iter().map(CatalogTable::full_name).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        match known.is_empty() {
            true => name.origin.wrong("there is no table in this database that this user may read"),
            false => name.origin.unknown("table", &name.name, &known),
        }
    })
}

fn column_of<'c>(name: &Named, table: &'c CatalogTable) -> Result<&'c CatalogColumn, ConfigError> {
    let found = table.columns.iter().find(|column| column.name == name.name);
    found.ok_or_else(|| {
        let known: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        name.origin.unknown(&format!("column of {}", table.full_name()), &name.name, &known)
    })
}

fn column(name: &Named, table: &CatalogTable) -> Result<String, ConfigError> {
    column_of(name, table).map(|column| column.name.clone())
}

/// A column that identifies one row; otherwise the work for one document would affect several.
fn unique_column(name: &Named, table: &CatalogTable) -> Result<String, ConfigError> {
    let column = column(name, table)?;
    let alone = table.column(&name.name).map(|position| vec![position]);
    let is_primary = alone.as_ref() == Some(&table.primary_key);
    let is_unique = alone.is_some_and(|alone| !table.columns[alone[0]].nullable && table.unique.contains(&alone));
    match is_primary || is_unique {
        true => Ok(column),
        false => {
            let wrong = "expected a column that tells rows apart by itself: the primary key, or one that is unique and never null";
            Err(name.origin.wrong(wrong))
        }
    }
}

fn text_column(name: &Named, table: &CatalogTable) -> Result<String, ConfigError> {
    let column = column_of(name, table)?;
    match column.primitive {
        // A type that is none of a model is one of SQLite, where any column holds texts.
        Some(Primitive::String { .. }) | None => Ok(column.name.clone()),
        Some(_) => Err(name.origin.wrong(&format!("expected a column of texts, and this one is {}", column.declared))),
    }
}

/// The column of states, if it can store each of them. SQLite stores texts of any length.
fn state_column(state: &StateColumn, table: &CatalogTable, dialect: Dialect) -> Result<String, ConfigError> {
    let column = text_column(&state.column, table)?;
    let most = characters_max(&column, table);
    let values = [state.waiting.as_deref(), Some(&*state.done), Some(&*state.failed)];
    match values.into_iter().flatten().find(|value| dialect == Dialect::Postgres && value.chars().count() > most) {
        Some(long) => {
            Err(state.column.origin.wrong(&format!("`{long}` does not fit: this column holds {most} characters")))
        }
        None => Ok(column),
    }
}

/// Checks that a column can store the keys of documents, or be compared with them. SQLite does both with any.
fn fits_keys(name: &Named, table: &CatalogTable, keys: &CatalogColumn, dialect: Dialect) -> Result<(), ConfigError> {
    let column = column_of(name, table)?;
    let is_text = |primitive| matches!(primitive, Primitive::String { .. });
    let fits = match (keys.primitive, column.primitive) {
        _ if dialect == Dialect::Sqlite => true,
        // A text may be a UUID or a date; whether it is a number is not to be left to each document.
        (Some(of), Some(at)) => is_text(at) || of.is_number() == at.is_number(),
        (None, _) | (_, None) => true,
    };
    match fits {
        true => Ok(()),
        false => Err(name.origin.wrong(&format!(
            "expected a column for the keys of documents, which are {}, and this one is {}",
            keys.declared, column.declared
        ))),
    }
}

/// A column that needs a value and gets none.
fn unfilled<'c>(target: &ResultTable, table: &'c CatalogTable) -> Option<&'c str> {
    let filled = [Some(&target.key), Some(&target.result), target.compute_us.as_ref(), target.database_us.as_ref()];
    let is_filled =
        |name: &String| filled.into_iter().flatten().chain(target.waiting_us.as_ref()).any(|own| own == name);
    let missing = |column: &&CatalogColumn| !column.nullable && column.provided.is_none() && !is_filled(&column.name);
    table.columns.iter().find(missing).map(|column| column.name.as_str())
}

/// Characters that a text column can store.
fn characters_max(name: &str, table: &CatalogTable) -> usize {
    match table.columns.iter().find(|column| column.name == name).and_then(|column| column.primitive) {
        Some(Primitive::String { length_max: limit @ 1.. }) => usize::try_from(limit).unwrap_or(usize::MAX),
        _ => usize::MAX,
    }
}

fn number_column(name: &Named, table: &CatalogTable) -> Result<String, ConfigError> {
    let column = column_of(name, table)?;
    match column.primitive {
        Some(Primitive::Int32 | Primitive::Int64 | Primitive::Decimal { .. } | Primitive::Double) | None => {
            Ok(column.name.clone())
        }
        Some(_) => {
            Err(name.origin.wrong(&format!("expected a column of numbers, and this one is {}", column.declared)))
        }
    }
}

fn is_element_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
}

fn not_an_element(name: &Named) -> ConfigError {
    name.origin.wrong("this column cannot be an element's name: give it another one in a view")
}
