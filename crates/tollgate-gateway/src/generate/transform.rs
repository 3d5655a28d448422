//! The computation for each document: the keys it refers to, and the stylesheet's result for it and its dependencies.
//!
//! The stylesheet finds dependencies by `document('NAME/KEY')`, or `document('NAME')` for the rows of the document's
//! own key. It loads nothing else while it runs; errors are texts, stored with the document that is set aside.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use tollgate_xml::tree::NodeId;
use tollgate_xml::xpath::Found;
use tollgate_xml::{Budget, Document, Error, Loaded, Loader, Parameter, RunOptions, Stylesheet, XPath};

use super::statements::ROWS_MAX;
use crate::base::config_error::ConfigError;
use crate::config::generate::{Generate, Shape};

/// Bytes of a stylesheet's file.
const STYLESHEET_BYTES_MAX: u64 = 4 << 20;

/// Keys that one document may refer to: a stylesheet's run can read 256 documents at most.
const REFERENCES_MAX: usize = 200;

/// The stylesheet's parameter for the document's key.
const KEY_PARAMETER: &str = "key";

/// Base of references in the input.
const INPUT: &str = "the document";

/// The computation of a batch.
#[derive(Debug)]
pub(super) struct Transform {
    stylesheet: Stylesheet,
    dependencies: Vec<Dependency>,
}

#[derive(Debug)]
struct Dependency {
    name: String,
    reference: Option<XPath>,
    shape: DependencyShape,
}

/// Form of a dependency's rows.
#[derive(Debug)]
enum DependencyShape {
    /// The single row's text is a document.
    Content,
    /// An element for each row, with one for each column.
    Rows(Vec<String>),
}

/// A parsed document, and its references.
pub(super) struct Understood {
    document: Document<'static>,
    /// The keys for each dependency; `None` for the document's own.
    pub(super) references: Vec<Option<Vec<String>>>,
}

/// Rows of a dependency: a text or nothing for each column.
pub(super) type Rows = Vec<Vec<Option<String>>>;

/// Dependencies of one document, by their names in the stylesheet.
#[derive(Debug, Default)]
pub(super) struct Gathered(BTreeMap<String, Vec<u8>>);

impl Transform {
    /// # Errors
    /// An error in the stylesheet, in the line of the configuration that names it.
    pub(super) fn of_file(generate: &Generate) -> Result<Transform, ConfigError> {
        let named = &generate.stylesheet;
        let path = folder_of(named.origin.file_name()).join(&named.name);
        let source = read_file(&path).map_err(|wrong| named.origin.wrong(&wrong))?;
        Transform::new(generate, &source, &path.display().to_string())
    }

    /// The same for the stylesheet's text.
    ///
    /// # Errors
    /// An error in it.
    pub(super) fn new(generate: &Generate, source: &[u8], name: &str) -> Result<Transform, ConfigError> {
        let origin = &generate.stylesheet.origin;
        let stylesheet = Stylesheet::compile_with(source, name, &Beside, &Budget::default())
            .map_err(|error| origin.wrong(&format!("this stylesheet cannot be used: {error}")))?;
        if !["UTF-8", "US-ASCII"].iter().any(|known| stylesheet.output().encoding().eq_ignore_ascii_case(known)) {
            return Err(
                origin.wrong("results are stored as texts: expected a stylesheet without another output encoding")
            );
        }
        let dependencies = generate.dependencies.iter().map(|dependency| Dependency {
            name: dependency.name.clone(),
            reference: dependency.reference.clone(),
            shape: match &dependency.shape {
                Shape::Content(_) => DependencyShape::Content,
                Shape::Columns(columns) => {
                    DependencyShape::Rows(columns.iter().map(|column| column.name.clone()).collect())
                }
            },
        });
        Ok(Transform { dependencies: dependencies.collect(), stylesheet })
    }

    /// Parses a document.
    ///
    /// # Errors
    /// An error in it.
    pub(super) fn understand(&self, text: &str) -> Result<Understood, String> {
        let document = self.stylesheet.parse(text).map_err(|error| format!("the document cannot be read: {error}"))?;
        let mut references = Vec::with_capacity(self.dependencies.len());
        let mut count = 0;
        for dependency in &self.dependencies {
            let keys = dependency.reference.as_ref().map(|reference| referred(reference, &document)).transpose()?;
            count += keys.as_ref().map_or(1, Vec::len);
            references.push(keys);
        }
        if count > REFERENCES_MAX {
            return Err(format!("the document refers to {count} others, and {REFERENCES_MAX} is the limit"));
        }
        Ok(Understood { document: document.into_owned(), references })
    }

    /// Takes the rows of a dependency, by the key that the document refers to or by its own.
    ///
    /// # Errors
    /// The rows it refers to are missing, too many or unusable.
    pub(super) fn gather(
        &self,
        gathered: &mut Gathered,
        dependency: usize,
        reference: Option<&str>,
        rows: Rows,
    ) -> Result<(), String> {
        let Dependency { name, shape, .. } = &self.dependencies[dependency];
        if rows.len() > ROWS_MAX {
            return Err(format!("{name}: more than {ROWS_MAX} rows for one key"));
        }
        if let (Some(key), true) = (reference, rows.is_empty()) {
            return Err(format!("{name}: there is no `{key}`, which the document refers to"));
        }
        let named = match reference {
            Some(key) => format!("{name}/{key}"),
            None => name.clone(),
        };
        let bytes = match shape {
            DependencyShape::Content => {
                let several = rows.len() > 1;
                match rows.into_iter().next().and_then(|row| row.into_iter().next()).flatten() {
                    _ if several => {
                        return Err(format!("{named}: there are several rows, so there is no one document"));
                    }
                    Some(text) => text.into_bytes(),
                    None => return Err(format!("{named}: its document is null")),
                }
            }
            DependencyShape::Rows(columns) => document_of(name, columns, &rows),
        };
        gathered.0.insert(named, bytes);
        Ok(())
    }

    /// Transforms a document.
    ///
    /// # Errors
    /// The error, with its place in the stylesheet.
    pub(super) fn transform(&self, understood: &Understood, gathered: &Gathered, key: &str) -> Result<String, String> {
        let told = |error: Error| format!("the stylesheet failed: {error}");
        let parameters = [(KEY_PARAMETER, Parameter::String(key))];
        let options = RunOptions { parameters: &parameters, loader: gathered, budget: None };
        let transformed = self.stylesheet.run(&understood.document, &options).map_err(told)?;
        String::from_utf8(transformed.bytes).map_err(|_| "the result is not UTF-8".to_owned())
    }
}

impl Loader for Gathered {
    fn load(&self, reference: &str, _base: &str) -> Result<Loaded, String> {
        match self.0.get(reference) {
            Some(bytes) => Ok(Loaded { name: reference.to_owned(), bytes: bytes.clone() }),
            None => Err(format!("`{reference}` is none of the document's dependencies")),
        }
    }

    fn input_name(&self) -> Option<&str> {
        Some(INPUT)
    }
}

/// Loads files from a stylesheet's folder, during compilation.
struct Beside;

impl Loader for Beside {
    fn load(&self, reference: &str, base: &str) -> Result<Loaded, String> {
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if reference.is_empty() || !Path::new(reference).components().all(plain) {
            return Err(format!("`{reference}` is not to be loaded: it leads out of the stylesheet's folder"));
        }
        let path = folder_of(base).join(reference);
        Ok(Loaded { bytes: read_file(&path)?, name: path.display().to_string() })
    }
}

/// The distinct texts that an expression finds, in the order of the document.
fn referred(reference: &XPath, document: &Document<'_>) -> Result<Vec<String>, String> {
    let told = |error: Error| format!("`{}` cannot be found in the document: {error}", reference.text());
    let found = reference.find(document, NodeId::ROOT).map_err(told)?;
    Ok(match found {
        Found::Nodes(nodes) => {
            let mut known = BTreeSet::new();
            let texts = nodes.iter().map(|node| document.place_value(*node).into_owned());
            texts.filter(|text| known.insert(text.clone())).collect()
        }
        Found::String(text) => vec![text],
        Found::Number(_) | Found::Boolean(_) => vec![reference.string(document, NodeId::ROOT).map_err(told)?],
    })
}

fn document_of(name: &str, columns: &[String], rows: &Rows) -> Vec<u8> {
    let mut text = format!("<{name}>");
    for row in rows {
        text.push_str("<row>");
        for (column, value) in columns.iter().zip(row) {
            // What is null is not there.
            let Some(value) = value else { continue };
            text.push_str(&format!("<{column}>"));
            for character in value.chars() {
                match character {
                    '<' => text.push_str("&lt;"),
                    '>' => text.push_str("&gt;"),
                    '&' => text.push_str("&amp;"),
                    '\r' => text.push_str("&#13;"),
                    other => text.push(other),
                }
            }
            text.push_str(&format!("</{column}>"));
        }
        text.push_str("</row>");
    }
    text.push_str(&format!("</{name}>"));
    text.into_bytes()
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(STYLESHEET_BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot read {}: {error}", PathBuf::from(path).display()))?;
    if bytes.len() as u64 > STYLESHEET_BYTES_MAX {
        return Err(format!("{} has more than {STYLESHEET_BYTES_MAX} bytes", path.display()));
    }
    Ok(bytes)
}

/// The folder of a configuration, in which its files are.
fn folder_of(file_name: &str) -> &Path {
    Path::new(file_name).parent().unwrap_or(Path::new(""))
}
