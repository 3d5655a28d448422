//! Where in a file something stands, for what turns out to be wrong only once other files are read or others of its kind
//! are known.

use std::ops::Range;
use std::sync::Arc;

use crate::base::config_error::ConfigError;

/// Where in a file something stands. It is no part of what that is: two of them are always equal.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    text: Arc<str>,
    file_name: Arc<str>,
    span: Range<usize>,
}

impl Origin {
    /// The file with its whole text, and the bytes that are meant.
    pub(crate) fn new(text: &Arc<str>, file_name: &Arc<str>, span: Range<usize>) -> Origin {
        Origin { text: Arc::clone(text), file_name: Arc::clone(file_name), span }
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What the file is called.
    pub(crate) fn file_name(&self) -> &str {
        &self.file_name
    }

    /// The same file at another place.
    pub(crate) fn at(&self, span: Range<usize>) -> Origin {
        Origin { span, ..self.clone() }
    }

    /// What is wrong there, with file, line and text.
    pub(crate) fn wrong(&self, wrong: &str) -> ConfigError {
        ConfigError::at(&self.text, &self.file_name, self.span.clone(), wrong)
    }

    /// The same for a name of something that is not there, with the one that was meant.
    pub(crate) fn unknown(&self, what: &str, name: &str, known: &[&str]) -> ConfigError {
        ConfigError::unknown(&self.text, &self.file_name, self.span.clone(), (what, name), known)
    }

    /// The file and the line, for short.
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
