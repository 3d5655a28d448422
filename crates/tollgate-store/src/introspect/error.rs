//! Errors in a mapping file, with their places.
//!
//! It renders nothing: only the caller knows the text and the name of the file.

use std::fmt;
use std::ops::Range;

use toml::Spanned;

use super::function::Wrong;

/// Error in a mapping file. Spans count bytes of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CustomisationError {
    /// It is no TOML, or has unknown keys or wrong types of values.
    Grammar(toml::de::Error),
    /// It names something that the database does not have.
    Unknown {
        /// Place of the name.
        span: Range<usize>,
        /// The kind of the named thing: `table`, `column`, `enumeration`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The known names.
        known: Vec<String>,
    },
    /// It requests something impossible.
    Impossible {
        /// Place of the request.
        span: Range<usize>,
        /// Reason.
        message: String,
    },
}

impl CustomisationError {
    /// Error for an unknown name.
    pub(super) fn unknown<'k>(
        kind: &'static str,
        name: &Spanned<String>,
        known: impl Iterator<Item = &'k str>,
    ) -> CustomisationError {
        let known = known.map(str::to_owned).collect();
        CustomisationError::Unknown { span: name.span(), kind, name: name.get_ref().clone(), known }
    }

    /// Error for something impossible.
    pub(super) fn impossible(span: Range<usize>, message: impl Into<String>) -> CustomisationError {
        CustomisationError::Impossible { span, message: message.into() }
    }

    /// Place of the error, in bytes of the file's text.
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
