//! A fault of an experiment's file, shown with file, line and the offending text.
//!
//! It knows no rule about experiments.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tollgate_facts::names::did_you_mean;

/// A fault in an experiment's text. `Display` prints the place with the offending text underlined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentError {
    /// The expected and the actual value.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// The file as the user named it; for a built-in experiment its name.
    pub file: String,
    /// The whole text.
    pub text: String,
    /// The offending bytes of the text; absent where something is missing.
    pub span: Option<Range<usize>>,
}

impl ExperimentError {
    /// Line of the fault, from 1.
    pub fn line(&self) -> Option<usize> {
        let before = |span: &Range<usize>| &self.text.as_bytes()[..span.start.min(self.text.len())];
        self.span.as_ref().map(|span| before(span).iter().filter(|byte| **byte == b'\n').count() + 1)
    }

    /// An error: nothing built in has this name.
    pub(crate) fn unknown<'k>(what: &str, name: &str, known: impl IntoIterator<Item = &'k str>) -> ExperimentError {
        let help = format!("{}; a file of your own ends in `.toml`", did_you_mean(name, known));
        ExperimentError { help: Some(help), ..ExperimentError::whole(name, format!("there is no {what} `{name}`")) }
    }

    /// A fault of a whole file.
    pub(crate) fn whole(file: &str, message: String) -> ExperimentError {
        ExperimentError { message, help: None, file: file.to_owned(), text: String::new(), span: None }
    }

    /// The same of a text that stood behind so many bytes of ours when it was read; `text` is the user's.
    pub(crate) fn behind(self, bytes: usize, text: &str) -> ExperimentError {
        let own = |span: Range<usize>| Some(span.start.checked_sub(bytes)?..span.end.checked_sub(bytes)?);
        ExperimentError { text: text.to_owned(), span: self.span.and_then(own), ..self }
    }

    /// A fault in a text that [`toml`] refused.
    pub(crate) fn of_toml(error: &toml::de::Error, text: &str, file: &str) -> ExperimentError {
        let (message, help) = reword(error.message());
        let key = error.span().and_then(|span| key_before(text, span.start)).unwrap_or_default();
        let message = if message.contains(BOUNDS) { format!("`{key}`: {message}") } else { message };
        let help = if key == "levels" { help.map(|help| help.replace(WORDS_LISTED, "[1, 20]")) } else { help };
        ExperimentError { message, help, file: file.to_owned(), text: text.to_owned(), span: error.span() }
    }
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(span) = self.span.clone() else {
            write!(formatter, "{}: {}", self.file, self.message)?;
            return self.help.iter().try_for_each(|help| write!(formatter, "\n  help: {help}"));
        };
        let span = span.start.min(self.text.len())..span.end.min(self.text.len());
        let snippet = Snippet::source(&self.text).path(&self.file).annotation(AnnotationKind::Primary.span(span));
        let mut group = Level::ERROR.no_name().primary_title(&self.message).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        formatter.write_str(Renderer::plain().render(&[group]).trim_start_matches(": "))
    }
}

impl std::error::Error for ExperimentError {}

/// The words in a message about a number out of bounds.
pub(crate) const BOUNDS: &str = " is not from ";
/// The remedy's example of an array, except for numbers.
const WORDS_LISTED: &str = "[\"one\", \"two\"]";

/// The key whose value begins at this place.
fn key_before(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?.trim_end().strip_suffix('=')?.trim_end();
    before.rsplit(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '_' | '-')).next()
}

/// Words of serde and toml, and their replacements.
const WORDS: &[(&str, &str)] = &[
    ("missing field", "missing key"),
    ("invalid type: map", "invalid type: a table"),
    ("invalid type: sequence", "invalid type: an array"),
    ("expected u64", "expected a whole number"),
    ("expected u32", "expected a whole number"),
    ("expected u16", "expected a whole number"),
    ("expected f64", "expected a number"),
    ("expected a map", "expected a table"),
    ("expected a sequence", "expected an array"),
    ("wanted string or table", "expected a name"),
];

/// Remedies by the end of a message; the first match is used.
const REMEDIES: &[(&str, &str)] = &[
    ("a table, expected an array", "put it into brackets, or write its heading as `[[…]]`"),
    ("expected an array", "put it into brackets, such as `[\"one\", \"two\"]`"),
    ("expected a string", "put it into quotation marks"),
    ("expected a name", "put it into quotation marks"),
    ("expected a table", "write it in braces, or its keys below a heading in brackets"),
];

/// Splits serde's message about a name or a type into a message and a remedy. In our own messages, the remedy follows a
/// semicolon.
fn reword(message: &str) -> (String, Option<String>) {
    for kind in ["field", "variant"] {
        let Some(rest) = message.strip_prefix(&format!("unknown {kind} `")) else { continue };
        let Some((name, expected)) = rest.split_once("`, expected ") else { continue };
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        let what = if kind == "field" { "key" } else { "name" };
        return (format!("unknown {what} `{name}`"), Some(did_you_mean(name, known)));
    }
    // What came is the author's own text, and what was expected ours or serde's.
    let (came, expected) = match message.rfind("expected ") {
        Some(at) if message.starts_with("invalid type") => message.split_at(at),
        _ => ("", message),
    };
    let said = |text: &str| WORDS.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replacen(theirs, ours, 1));
    if let Some((expected, help)) = expected.split_once("; ").filter(|_| !came.is_empty()) {
        return (format!("{}{expected}", said(came)), Some(help.to_owned()));
    }
    let expected =
        if expected.starts_with("expected struct ") { "expected a table".to_owned() } else { said(expected) };
    let plain = format!("{}{expected}", said(came));
    let missing = plain.starts_with("missing key").then_some("add it: it has no default");
    let remedy = REMEDIES.iter().find(|(end, _)| plain.ends_with(end)).map(|(_, remedy)| *remedy);
    (plain, missing.or(remedy).map(str::to_owned))
}
