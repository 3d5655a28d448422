//! The declarations of namespaces in scope where a result grows, by prefix and by namespace.
//!
//! It writes none; the meter counts the search through them.

use std::cell::Cell;
use std::ops::Range;

use crate::budget::Meter;
use crate::error::Error;
use crate::names::XML_NAMESPACE;

/// Names that are compared in a step.
pub(super) const COMPARED_IN_A_STEP: usize = 2;

/// The declarations in scope, outermost first.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) text: String,
    pub(super) declarations: Vec<(Range<usize>, Range<usize>)>,
    /// For each open element, the start of its own declarations.
    pub(super) starts: Vec<(usize, usize)>,
    generated: u32,
    /// Declarations that were looked through and are not paid for yet.
    looked: Cell<usize>,
}

impl Scope {
    /// A scope with room for the declarations and the depth of the usual message.
    pub(super) fn roomy() -> Scope {
        Scope {
            text: String::with_capacity(256),
            declarations: Vec::with_capacity(8),
            starts: Vec::with_capacity(16),
            ..Scope::default()
        }
    }

    /// The namespace of a prefix; without a declaration none means no namespace.
    pub(super) fn resolve(&self, prefix: &str) -> Option<&str> {
        self.looked.set(self.looked.get() + self.declarations.len());
        let text = self.text.as_bytes();
        let declared = self.declarations.iter().rev().find(|(known, _)| text[known.clone()] == *prefix.as_bytes());
        match declared {
            Some((_, uri)) => Some(&self.text[uri.clone()]),
            None if prefix.is_empty() => Some(""),
            None if prefix == "xml" => Some(XML_NAMESPACE),
            None => None,
        }
    }

    /// A prefix that means this namespace here.
    pub(super) fn prefix_of(&self, uri: &str) -> Option<&str> {
        self.looked.set(self.looked.get() + self.declarations.len());
        let declared = self.declarations.iter().rev().filter(|(_, known)| self.text[known.clone()] == *uri);
        let prefixes = declared.map(|(prefix, _)| &self.text[prefix.clone()]);
        prefixes.filter(|prefix| !prefix.is_empty()).find(|prefix| self.resolve(prefix) == Some(uri))
    }

    pub(super) fn declare(&mut self, prefix: &str, uri: &str) {
        let prefix_start = self.text.len();
        self.text.push_str(prefix);
        let uri_start = self.text.len();
        self.text.push_str(uri);
        self.declarations.push((prefix_start..uri_start, uri_start..self.text.len()));
    }

    /// Whether the innermost element itself declares a prefix.
    pub(super) fn declares_itself(&self, prefix: &str) -> bool {
        let first = self.starts.last().map_or(0, |(first, _)| *first);
        self.looked.set(self.looked.get() + self.declarations.len() - first);
        self.declarations[first..].iter().any(|(known, _)| self.text.as_bytes()[known.clone()] == *prefix.as_bytes())
    }

    /// Takes what looking cost off the steps.
    pub(super) fn pay(&self, meter: &Meter) -> Result<(), Error> {
        meter.spend((self.looked.take() / COMPARED_IN_A_STEP) as u64)
    }

    pub(super) fn generate(&mut self) -> String {
        loop {
            let prefix = format!("ns{}", self.generated);
            self.generated += 1;
            if self.resolve(&prefix).is_none() {
                return prefix;
            }
        }
    }
}
