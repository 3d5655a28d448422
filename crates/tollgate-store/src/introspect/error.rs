//! Why a mapping file cannot be used, and where in it.
//!
//! It deliberately renders nothing: the text and the name of the file are known to whoever read it.

use std::fmt;
use std::ops::Range;

use toml::Spanned;

use super::function::Wrong;

/// Why a mapping file cannot be used. Spans count bytes of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CustomisationError {
    /// It is no TOML, or has keys or types of values that no mapping file has.
    Grammar(toml::de::Error),
    /// It names something that the database does not have.
    Unknown {
        /// Where the name stands.
        span: Range<usize>,
        /// The kind of thing that is named: `table`, `column`, `enumeration`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// It asks for what cannot be.
    Impossible {
        /// Where it asks.
        span: Range<usize>,
        /// Why it cannot be.
        message: String,
    },
}

impl CustomisationError {
    /// A name that is none of those that are known.
    pub(super) fn unknown<'k>(
        kind: &'static str,
        name: &Spanned<String>,
        known: impl Iterator<Item = &'k str>,
    ) -> CustomisationError {
        let known = known.map(str::to_owned).collect();
        CustomisationError::Unknown { span: name.span(), kind, name: name.get_ref().clone(), known }
    }

    /// Something that cannot be.
    pub(super) fn impossible(span: Range<usize>, message: impl Into<String>) -> CustomisationError {
        CustomisationError::Impossible { span, message: message.into() }
    }

    /// Where it is wrong, in bytes of the file's text.
    pub fn span(&self) -> Range<usize> {
        match self {
            CustomisationError::Grammar(error) => error.span().unwrap_or(0..0),
            CustomisationError::Unknown { span, .. } | CustomisationError::Impossible { span, .. } => span.clone(),
        }
    }
}

impl From<Wrong> for CustomisationError {
    fn from((span, message): Wrong) -> CustomisationError {
        CustomisationError::impossible(span, message)
    }
}

impl fmt::Display for CustomisationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CustomisationError::Grammar(error) => formatter.write_str(error.message()),
            CustomisationError::Unknown { kind, name, .. } => write!(formatter, "unknown {kind} `{name}`"),
            CustomisationError::Impossible { message, .. } => formatter.write_str(message),
        }
    }
}

impl std::error::Error for CustomisationError {}
