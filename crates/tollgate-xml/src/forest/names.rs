//! The names that an expression or a stylesheet names, numbered, and which of its names each is in a document.
//!
//! They are looked up once for each document, so that walking compares numbers.

use crate::names::{Name, number};
use crate::tree::Document;

/// The number of a name among those that an expression or a stylesheet names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NameIndex(pub(crate) u32);

/// The expanded names that an expression or a stylesheet names, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameTable {
    names: Vec<(Box<str>, Box<str>)>,
}

impl NameTable {
    /// The number of a name, added if it is new.
    pub(crate) fn index(&mut self, uri: &str, local: &str) -> NameIndex {
        let known = self.names.iter().position(|(known_uri, known)| **known == *local && **known_uri == *uri);
        let index = known.unwrap_or_else(|| {
            self.names.push((uri.into(), local.into()));
            self.names.len() - 1
        });
        NameIndex(number(index))
    }

    /// A name: its namespace and its local part.
    pub(crate) fn text(&self, index: NameIndex) -> (&str, &str) {
        let (uri, local) = &self.names[index.0 as usize];
        (uri, local)
    }

    /// Number of names.
    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    /// The document's own name for each name, if it has it.
    pub(crate) fn known_in<'t>(&'t self, document: &'t Document<'_>) -> impl Iterator<Item = Option<Name>> + 't {
        self.names.iter().map(|(uri, local)| document.find_name(uri, local))
    }
}
