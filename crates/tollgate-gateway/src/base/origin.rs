//! Places in a file, for errors that are found only once other files are read or other items of the same kind are
//! known.

use std::ops::Range;
use std::sync::Arc;

use crate::base::config_error::ConfigError;

/// Place of an item in a file. It is no part of the item's value: two of them are always equal.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    text: Arc<str>,
    file_name: Arc<str>,
    span: Range<usize>,
}

impl Origin {
    /// Creates an origin from the whole text of a file, and the bytes in question.
    pub(crate) fn new(text: &Arc<str>, file_name: &Arc<str>, span: Range<usize>) -> Origin {
        Origin { text: Arc::clone(text), file_name: Arc::clone(file_name), span }
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Name of the file.
    pub(crate) fn file_name(&self) -> &str {
        &self.file_name
    }

    /// Another place in the same file.
    pub(crate) fn at(&self, span: Range<usize>) -> Origin {
        Origin { span, ..self.clone() }
    }

    /// Error at this place, with file, line and text.
    pub(crate) fn wrong(&self, wrong: &str) -> ConfigError {
        ConfigError::at(&self.text, &self.file_name, self.span.clone(), wrong)
    }

    /// The same for an unknown name, with the one that was probably meant.
    pub(crate) fn unknown(&self, what: &str, name: &str, known: &[&str]) -> ConfigError {
        ConfigError::unknown(&self.text, &self.file_name, self.span.clone(), (what, name), known)
    }

    /// The file and the line, in short form.
    pub(crate) fn line(&self) -> String {
        let line = self.text[..self.span.start].matches('\n').count() + 1;
        format!("{}:{line}", self.file_name)
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

impl Eq for Origin {}
