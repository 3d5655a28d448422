//! From the tables of a configuration to sequences of mediators: the kinds of tables, and the tools to read them.
//!
//! It opens the files that the tables name, and only below the folder of the configuration. Errors name file and line.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tollgate_wire::soap;
use tollgate_xml::XPath;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::base::config_error::ConfigError;
use crate::base::log::Log;
use crate::mediate::mediator::Mediator;
use crate::mediate::sequence::Sequence;

/// Most mediators of one sequence.
pub(crate) const SEQUENCE_MAX: usize = 64;
/// Largest nesting of sequences.
const DEPTH_MAX: usize = 8;
/// Bytes of a file that a table names.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Prefixes that every XPath knows.
const KNOWN_PREFIXES: [(&str, &str); 3] =
    [("soap11", soap::NAMESPACE_V11), ("soap12", soap::NAMESPACE_V12), ("wsa", soap::ADDRESSING_NAMESPACE)];

/// Fields that no mediator touches: they frame a message, belong to one connection, or state its origin. Those that
/// begin with `x-forwarded-` are among them.
const PROXY_FIELDS: [&str; 17] = [
    "connection",
    "content-length",
    "date",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-real-ip",
];

/// A value of the configuration with its place.
pub(crate) type Value<'t> = Spanned<DeValue<'t>>;

/// A mediator, or the error in its table.
pub(crate) type MadeMediator = Result<Box<dyn Mediator>, ConfigError>;

/// One kind of mediator.
pub(crate) struct MediatorKind {
    /// The key for it.
    pub(crate) name: &'static str,
    /// Makes a mediator from its table.
    pub(crate) make: fn(Value<'_>, &MediatorReader<'_>) -> MadeMediator,
    /// Schema of its table.
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// A configuration whose sequences are compiled.
pub(crate) struct MediatorReader<'c> {
    /// Its text.
    pub(crate) text: &'c str,
    /// Its name; the files that it names are searched in its folder.
    pub(crate) file_name: &'c str,
    /// The names of its endpoints.
    pub(crate) endpoints: &'c [&'c str],
    /// Log of mediators.
    pub(crate) log: &'c Arc<Log>,
    /// Every kind of mediator.
    kinds: &'c [MediatorKind],
    depth: Cell<usize>,
}

/// One name or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a name or an array of names")]
pub(crate) enum Names {
    One(String),
    More(Vec<String>),
}

impl Names {
    /// Returns all names.
    pub(crate) fn into_vec(self) -> Vec<String> {
        match self {
            Names::One(name) => vec![name],
            Names::More(names) => names,
        }
    }
}

/// Prefixes and namespaces.
pub(crate) type Namespaces = BTreeMap<String, String>;

impl<'c> MediatorReader<'c> {
    /// Creates a reader for a configuration with this text and file name, endpoints of these names, and mediators of
    /// these kinds.
    pub(crate) fn new(
        (text, file_name): (&'c str, &'c str),
        endpoints: &'c [&'c str],
        log: &'c Arc<Log>,
        kinds: &'c [MediatorKind],
    ) -> MediatorReader<'c> {
        MediatorReader { text, file_name, endpoints, log, kinds, depth: Cell::new(0) }
    }

    /// Compiles the sequences `request` and `response` of every `[[route]]`, in the order of the file.
    ///
    /// # Errors
    /// The first error.
    pub(crate) fn routes(&self) -> Result<Vec<(Sequence, Sequence)>, ConfigError> {
        let whole = DeTable::parse(self.text).map_err(|fault| self.fault(&fault))?.into_inner();
        let Some(DeValue::Array(routes)) = whole.into_iter().find(|(key, _)| key.as_ref() == "route").map(inner) else {
            return Ok(Vec::new());
        };
        let sequences = |route: Value<'_>| {
            let (mut request, mut answer) = (Sequence::default(), Sequence::default());
            let DeValue::Table(mut table) = route.into_inner() else { return Ok((request, answer)) };
            if let Some(value) = take(&mut table, "request") {
                request = self.sequence(value)?;
            }
            if let Some(value) = take(&mut table, "response") {
                answer = self.sequence(value)?;
            }
            Ok((request, answer))
        };
        routes.into_iter().map(sequences).collect()
    }

    /// Compiles a sequence from an array of tables.
    ///
    /// # Errors
    /// An error in it.
    pub(crate) fn sequence(&self, value: Value<'_>) -> Result<Sequence, ConfigError> {
        let span = value.span();
        let DeValue::Array(tables) = value.into_inner() else {
            return Err(self.wrong(span, "expected an array of mediators, such as [{ xslt = \"request.xsl\" }]"));
        };
        if tables.len() > SEQUENCE_MAX {
            return Err(self.wrong(span, &format!("expected at most {SEQUENCE_MAX} mediators in a sequence")));
        }
        if self.depth.get() == DEPTH_MAX {
            return Err(self.wrong(span, &format!("expected at most {DEPTH_MAX} sequences in each other")));
        }
        self.depth.set(self.depth.get() + 1);
        let mediators = tables.into_iter().map(|table| self.mediator(table)).collect::<Result<_, _>>()?;
        self.depth.set(self.depth.get() - 1);
        Ok(Sequence::new(mediators))
    }

    fn mediator(&self, table: Value<'_>) -> Result<Box<dyn Mediator>, ConfigError> {
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.name).collect();
        let expected = || format!("expected one of the mediators {}", names.join(", "));
        let DeValue::Table(entries) = table.get_ref() else { return Err(self.wrong(table.span(), &expected())) };
        let mut kinds = self.kinds.iter().filter(|kind| entries.contains_key(kind.name));
        match (kinds.next(), kinds.next()) {
            (Some(kind), None) => (kind.make)(table, self),
            (Some(one), Some(other)) => {
                let wrong = format!("`{}` and `{}` are two mediators: give each a table", one.name, other.name);
                Err(self.wrong(table.span(), &wrong))
            }
            (None, _) => match entries.iter().next() {
                Some((key, _)) if entries.len() == 1 => {
                    Err(ConfigError::unknown(self.text, self.file_name, key.span(), ("mediator", key.as_ref()), &names))
                }
                _ => Err(self.wrong(table.span(), &expected())),
            },
        }
    }

    /// Parses a table as a mediator declares it.
    ///
    /// # Errors
    /// An error in it.
    pub(crate) fn table<T: DeserializeOwned>(&self, table: Value<'_>) -> Result<T, ConfigError> {
        T::deserialize(toml::de::ValueDeserializer::from(table)).map_err(|fault| self.fault(&fault))
    }

    /// Finds the index of an endpoint.
    ///
    /// # Errors
    /// There is none of that name.
    pub(crate) fn endpoint(&self, name: &Spanned<String>) -> Result<usize, ConfigError> {
        self.endpoints.iter().position(|known| known == name.as_ref()).ok_or_else(|| {
            let wrong = ("endpoint", name.as_ref().as_str());
            ConfigError::unknown(self.text, self.file_name, name.span(), wrong, self.endpoints)
        })
    }

    /// Compiles an XPath for a condition or a value.
    ///
    /// # Errors
    /// The engine's error.
    pub(crate) fn xpath(&self, text: &Spanned<String>, namespaces: &Namespaces) -> Result<XPath, ConfigError> {
        let said = namespaces.iter().map(|(prefix, uri)| (prefix.as_str(), uri.as_str()));
        let prefixes: Vec<(&str, &str)> = said.chain(KNOWN_PREFIXES).collect();
        XPath::compile(text.as_ref(), &prefixes).map_err(|error| {
            let hint = if error.message().contains("prefix") { "; prefixes are said in `namespaces`" } else { "" };
            self.wrong(text.span(), &format!("this XPath cannot be used: {error}{hint}"))
        })
    }

    /// Checks the name of a field that a mediator may read.
    ///
    /// # Errors
    /// The name is invalid.
    pub(crate) fn field_name(&self, name: &Spanned<String>) -> Result<Box<str>, ConfigError> {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let text = name.as_ref().as_str();
        if text.is_empty() || !text.bytes().all(token) {
            return Err(self.wrong(name.span(), "expected the name of a header field"));
        }
        Ok(text.into())
    }

    /// Checks the name of a field that a mediator may set, remove or rename.
    ///
    /// # Errors
    /// The name is invalid, or the field is the proxy's own.
    pub(crate) fn own_field_name(&self, name: &Spanned<String>) -> Result<Box<str>, ConfigError> {
        let text = self.field_name(name)?;
        let lower = text.to_ascii_lowercase();
        if PROXY_FIELDS.contains(&&*lower) || lower.starts_with("x-forwarded-") {
            let wrong = format!("`{text}` says how the message travels, and is set by the proxy alone");
            return Err(self.wrong(name.span(), &wrong));
        }
        Ok(text)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// It is no text.
    pub(crate) fn text(&self, value: Value<'_>) -> Result<Spanned<String>, ConfigError> {
        self.table(value)
    }

    /// Reads a file beside the configuration: its path and its bytes.
    ///
    /// # Errors
    /// It cannot be read, or is elsewhere.
    pub(crate) fn file(&self, path: &Spanned<PathBuf>) -> Result<(PathBuf, Vec<u8>), ConfigError> {
        let full = self.folder().join(path.as_ref());
        let bytes = read_file(&full).map_err(|wrong| self.wrong(path.span(), &wrong))?;
        Ok((full, bytes))
    }

    /// Error at a place.
    pub(crate) fn wrong(&self, span: Range<usize>, wrong: &str) -> ConfigError {
        ConfigError::at(self.text, self.file_name, span, wrong)
    }

    fn folder(&self) -> &Path {
        Path::new(self.file_name).parent().unwrap_or(Path::new(""))
    }

    fn fault(&self, fault: &toml::de::Error) -> ConfigError {
        ConfigError::new(self.text, self.file_name, fault)
    }
}

/// Removes a value from a table.
pub(crate) fn take<'t>(table: &mut DeTable<'t>, key: &str) -> Option<Value<'t>> {
    table.remove(key)
}

/// Reads the bytes of a file, if they are not too many.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("{} has more than {FILE_BYTES_MAX} bytes", path.display()));
    }
    Ok(bytes)
}

/// Target of a reference in a file; `None` if it leaves the file's folder.
pub(crate) fn beside(base: &str, reference: &str) -> Option<PathBuf> {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let reference = Path::new(reference);
    let stays = !reference.as_os_str().is_empty() && reference.components().all(plain);
    stays.then(|| Path::new(base).parent().unwrap_or(Path::new("")).join(reference))
}

fn inner<'t>((_, value): (Spanned<Cow<'t, str>>, Value<'t>)) -> DeValue<'t> {
    value.into_inner()
}
