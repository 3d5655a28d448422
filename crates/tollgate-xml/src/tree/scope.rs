//! Which declarations of namespaces hold where: a chain from the innermost declaration outwards, shared by all elements
//! that declare nothing themselves.

use super::{Document, NodeId};
use crate::names::{Namespace, Prefix};

/// One declaration and the chain that it was added to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) prefix: Prefix,
    /// No namespace: the default one is taken back.
    pub(super) namespace: Namespace,
    /// The declaration before it.
    pub(super) outer: u32,
}

/// The chain that every document begins with: the prefix `xml`, and nothing behind it.
pub(super) const ROOT_SCOPE: u32 = 0;

/// A declaration in scope: one namespace node of XPath (section 5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declaration {
    /// Its prefix; none for the default namespace.
    pub prefix: Prefix,
    /// Its namespace.
    pub namespace: Namespace,
}

impl Document<'_> {
    /// The declarations that hold on an element, the innermost for each prefix, that of `xml` last.
    pub fn namespaces_in_scope(&self, element: NodeId) -> NamespacesInScope<'_> {
        let scope = self.record(element).scope;
        NamespacesInScope { document: self, first: scope, next: Some(scope) }
    }

    /// Whether two elements of the document have the very same declarations in scope, as far as that can be told at once.
    pub(crate) fn shares_scope(&self, one: NodeId, other: NodeId) -> bool {
        self.record(one).scope == self.record(other).scope
    }

    /// What a prefix means on an element.
    pub fn lookup(&self, element: NodeId, prefix: &str) -> Option<&str> {
        let found = self.namespaces_in_scope(element).find(|found| self.names.prefix_text(found.prefix) == prefix)?;
        Some(self.names.namespace_text(found.namespace))
    }

    /// A prefix's text.
    pub fn prefix_text(&self, prefix: Prefix) -> &str {
        self.names.prefix_text(prefix)
    }

    pub(super) fn resolve(&self, scope: u32, prefix: Prefix) -> Option<Namespace> {
        let mut at = scope;
        loop {
            let link = self.scopes[at as usize];
            if link.prefix == prefix {
                return Some(link.namespace);
            }
            if at == ROOT_SCOPE {
                return None;
            }
            at = link.outer;
        }
    }
}

/// See [`Document::namespaces_in_scope`].
#[derive(Debug, Clone)]
pub struct NamespacesInScope<'d> {
    document: &'d Document<'d>,
    first: u32,
    next: Option<u32>,
}

impl NamespacesInScope<'_> {
    /// Whether a declaration further in has the same prefix.
    fn is_hidden(&self, at: u32, prefix: Prefix) -> bool {
        let mut inner = self.first;
        while inner != at {
            let link = self.document.scopes[inner as usize];
            if link.prefix == prefix {
                return true;
            }
            inner = link.outer;
        }
        false
    }
}

impl Iterator for NamespacesInScope<'_> {
    type Item = Declaration;

    fn next(&mut self) -> Option<Declaration> {
        loop {
            let at = self.next?;
            let link = self.document.scopes[at as usize];
            self.next = (at != ROOT_SCOPE).then_some(link.outer);
            // `xmlns=""` declares that there is none.
            if link.namespace != Namespace::NONE && !self.is_hidden(at, link.prefix) {
                return Some(Declaration { prefix: link.prefix, namespace: link.namespace });
            }
        }
    }
}
