//! `[generate]`: the batch that takes documents from a table, transforms each together with its dependencies, and
//! stores the results.
//!
//! The tables and columns are checked when the batch begins; errors name the line that names them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_xml::XPath;
use toml::Spanned;

use super::location::Location;
use crate::base::config_error::ConfigError;
use crate::base::origin::Origin;

/// The batch.
#[derive(Debug, Clone)]
pub struct Generate {
    /// Database of the tables, unless given on the command line.
    pub database: Option<Location>,
    pub(crate) stylesheet: Named<PathBuf>,
    pub(crate) source: Source,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) target: Target,
}

/// A name in the configuration, with its place.
#[derive(Debug, Clone)]
pub(crate) struct Named<T = String> {
    pub(crate) name: T,
    pub(crate) origin: Origin,
}

/// Source of documents.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) table: Named,
    pub(crate) key: Named,
    pub(crate) document: Named,
    /// Absent: a table of ours contains the state of each document.
    pub(crate) state: Option<StateColumn>,
}

/// The column with the state of a document, and its values.
#[derive(Debug, Clone)]
pub(crate) struct StateColumn {
    pub(crate) column: Named,
    /// Absent: null.
    pub(crate) waiting: Option<String>,
    pub(crate) done: String,
    pub(crate) failed: String,
    /// The column for the error.
    pub(crate) error: Option<Named>,
}

/// A dependency of a document.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) table: Named,
    pub(crate) key: Named,
    /// XPath of the keys that a document refers to; absent: the document's own key is used.
    pub(crate) reference: Option<XPath>,
    pub(crate) shape: Shape,
}

/// The part of a dependency's rows that is read.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    /// A column that contains a document.
    Content(Named),
    /// Columns that form a document.
    Columns(Vec<Named>),
}

/// Destination of results.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) table: Named,
    pub(crate) key: Named,
    pub(crate) result: Named,
    /// Columns for times in microseconds: in the transformation, in the database until the result was stored, and waiting.
    pub(crate) compute_us: Option<Named>,
    pub(crate) database_us: Option<Named>,
    pub(crate) waiting_us: Option<Named>,
}

/// The batch `tollgate generate`: documents of one table become results in another, each exactly once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Generate")]
pub(super) struct GenerateTable {
    /// `sqlite:FILE` or `postgres://USER@HOST/DATABASE`; `--database` overrides it.
    #[schemars(with = "Option<String>")]
    database: Option<Spanned<String>>,
    /// The stylesheet's file (XSLT 1.0), beside the configuration. The files it includes and imports are in its folder.
    #[schemars(with = "PathBuf")]
    stylesheet: Spanned<PathBuf>,
    /// Prefixes of namespaces in the `reference`s of dependencies.
    #[serde(default)]
    namespaces: BTreeMap<String, String>,
    /// Source of documents.
    source: SourceTable,
    /// Dependencies of each document.
    #[serde(default, rename = "dependency")]
    #[schemars(with = "Vec<DependencyTable>")]
    dependencies: Vec<Spanned<DependencyTable>>,
    /// Destination of results.
    target: TargetTable,
}

/// Source of documents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GenerateSource")]
struct SourceTable {
    /// The table.
    #[schemars(with = "String")]
    table: Spanned<String>,
    /// The column that identifies its rows, and in whose order they are taken.
    #[schemars(with = "String")]
    key: Spanned<String>,
    /// The column that contains the document, as a text.
    #[schemars(with = "String")]
    document: Spanned<String>,
    /// The column with the state of a document, a text. Absent: a table `tollgate_claim` is created for it.
    #[schemars(with = "Option<String>")]
    state: Option<Spanned<String>>,
    /// Its value for waiting documents. Absent: null.
    #[schemars(with = "Option<String>")]
    waiting: Option<Spanned<String>>,
    /// Its value for documents whose result is stored. Absent: `done`.
    #[schemars(with = "Option<String>")]
    done: Option<Spanned<String>>,
    /// Its value for documents set aside because of an error. Absent: `failed`.
    #[schemars(with = "Option<String>")]
    failed: Option<Spanned<String>>,
    /// The column for the error of a document that was set aside, a text.
    #[schemars(with = "Option<String>")]
    error: Option<Spanned<String>>,
}

/// A dependency of each document: rows of a table, read by a SELECT for each key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GenerateDependency")]
struct DependencyTable {
    /// Its name in the stylesheet: `document('NAME/KEY')`, or `document('NAME')` without a `reference`.
    #[schemars(with = "String")]
    name: Spanned<String>,
    /// The table or view.
    #[schemars(with = "String")]
    table: Spanned<String>,
    /// The column compared with the key.
    #[schemars(with = "String")]
    key: Spanned<String>,
    /// An XPath for the keys that a document refers to, such as `/program/use/@unit`: each is read by a SELECT of its
    /// own, and a document that refers to a missing one is set aside. Absent: the rows with the document's own key are
    /// read, none or more.
    #[schemars(with = "Option<String>")]
    reference: Option<Spanned<String>>,
    /// A column that contains a document, as a text; with a `reference`.
    #[schemars(with = "Option<String>")]
    content: Option<Spanned<String>>,
    /// Columns that form a document: `<NAME><row><COLUMN>…</COLUMN></row></NAME>`.
    #[schemars(with = "Option<Vec<String>>")]
    columns: Option<Vec<Spanned<String>>>,
}

/// Destination of results: a row for each document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GenerateTarget")]
struct TargetTable {
    /// The table.
    #[schemars(with = "String")]
    table: Spanned<String>,
    /// The column for the document's key.
    #[schemars(with = "String")]
    key: Spanned<String>,
    /// The column for the result, a text.
    #[schemars(with = "String")]
    result: Spanned<String>,
    /// A column for the microseconds spent computing.
    #[schemars(with = "Option<String>")]
    compute_us: Option<Spanned<String>>,
    /// A column for the microseconds waiting for the database, until the result was stored.
    #[schemars(with = "Option<String>")]
    database_us: Option<Spanned<String>>,
    /// A column for the microseconds that the document waited for a core.
    #[schemars(with = "Option<String>")]
    waiting_us: Option<Spanned<String>>,
}

/// Most dependencies of a batch.
const DEPENDENCIES_MAX: usize = 16;
/// Most columns of a dependency that form a document.
const COLUMNS_MAX: usize = 64;

impl GenerateTable {
    /// Checks the table and returns its meaning.
    pub(super) fn meaning(self, text: &Arc<str>, file_name: &Arc<str>) -> Result<Generate, ConfigError> {
        let file = Origin::new(text, file_name, 0..0);
        let database =
            self.database.map(|url| Location::parse(url.as_ref()).map_err(|wrong| file.at(url.span()).wrong(&wrong)));
        let source = self.source.meaning(&file)?;
        if let Some(beyond) = self.dependencies.get(DEPENDENCIES_MAX) {
            return Err(file.at(beyond.span()).wrong(&format!("a batch has at most {DEPENDENCIES_MAX} dependencies")));
        }
        let mut known = BTreeSet::new();
        let mut dependencies = Vec::with_capacity(self.dependencies.len());
        for table in self.dependencies {
            let name = table.as_ref().name.clone();
            if !known.insert(name.as_ref().clone()) {
                return Err(file
                    .at(name.span())
                    .wrong(&format!("another dependency is named `{}` too", name.as_ref())));
            }
            dependencies.push(table.into_inner().meaning(&file, &self.namespaces)?);
        }
        Ok(Generate {
            database: database.transpose()?,
            stylesheet: named(self.stylesheet, &file),
            source,
            dependencies,
            target: self.target.meaning(&file),
        })
    }
}

impl SourceTable {
    fn meaning(self, file: &Origin) -> Result<Source, ConfigError> {
        let state = match self.state {
            None => {
                let pointless = [&self.waiting, &self.done, &self.failed, &self.error].into_iter().flatten().next();
                if let Some(pointless) = pointless {
                    let wrong = "this is about the column that `state` names, and there is no `state`";
                    return Err(file.at(pointless.span()).wrong(wrong));
                }
                None
            }
            Some(column) => {
                let value = |stated: &Option<Spanned<String>>, default: &str| {
                    stated.as_ref().map_or_else(|| default.to_owned(), |stated| stated.as_ref().clone())
                };
                let (done, failed) = (value(&self.done, "done"), value(&self.failed, "failed"));
                let waiting = self.waiting.as_ref().map(|stated| stated.as_ref().clone());
                let same = waiting.as_deref() == Some(&done) || waiting.as_deref() == Some(&failed) || done == failed;
                if same {
                    let wrong = "`waiting`, `done` and `failed` must differ";
                    return Err(file.at(column.span()).wrong(wrong));
                }
                let error = self.error.map(|error| named(error, file));
                Some(StateColumn { column: named(column, file), waiting, done, failed, error })
            }
        };
        let (table, key) = (named(self.table, file), named(self.key, file));
        Ok(Source { table, key, document: named(self.document, file), state })
    }
}

impl DependencyTable {
    fn meaning(self, file: &Origin, namespaces: &BTreeMap<String, String>) -> Result<Dependency, ConfigError> {
        let wrong = |wrong: &str| Err(file.at(self.name.span()).wrong(wrong));
        let name = self.name.as_ref().clone();
        let is_shaped = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'));
        if !is_shaped {
            return wrong("expected a name that can be an element's: letters, digits, `-`, `_` and `.`");
        }
        let shape = match (self.content, self.columns) {
            (Some(content), None) if self.reference.is_some() => Shape::Content(named(content, file)),
            (Some(_), None) => {
                return wrong("`content` needs a `reference`: a document may have several rows, so say `columns`");
            }
            (None, Some(columns)) if (1..=COLUMNS_MAX).contains(&columns.len()) => {
                Shape::Columns(columns.into_iter().map(|column| named(column, file)).collect())
            }
            (None, Some(_)) => return wrong(&format!("expected from 1 to {COLUMNS_MAX} `columns`")),
            (None, None) | (Some(_), Some(_)) => return wrong("expected either `content` or `columns`"),
        };
        let prefixes: Vec<(&str, &str)> = namespaces.iter().map(|(prefix, uri)| (&**prefix, &**uri)).collect();
        let reference = self.reference.map(|reference| {
            XPath::compile(reference.as_ref(), &prefixes)
                .map_err(|error| file.at(reference.span()).wrong(&format!("this XPath cannot be used: {error}")))
        });
        let (table, key) = (named(self.table, file), named(self.key, file));
        Ok(Dependency { name, table, key, reference: reference.transpose()?, shape })
    }
}

impl TargetTable {
    fn meaning(self, file: &Origin) -> Target {
        let optional = |column: Option<Spanned<String>>| column.map(|column| named(column, file));
        Target {
            compute_us: optional(self.compute_us),
            database_us: optional(self.database_us),
            waiting_us: optional(self.waiting_us),
            table: named(self.table, file),
            key: named(self.key, file),
            result: named(self.result, file),
        }
    }
}

fn named<T>(spanned: Spanned<T>, file: &Origin) -> Named<T> {
    let origin = file.at(spanned.span());
    Named { name: spanned.into_inner(), origin }
}
