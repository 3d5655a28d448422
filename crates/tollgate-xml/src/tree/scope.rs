//! Namespace declarations in scope: a chain from the innermost declaration outwards, shared by all elements that
//! declare nothing themselves.

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
    /// The declaration of the same prefix that it hides: known where there are many declarations, while the document grows.
    pub(super) hidden: u32,
}

/// The number of no declaration.
pub(super) const NO_LINK: u32 = u32::MAX;

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
    /// The declarations in scope of an element, the innermost for each prefix, that of `xml` last.
    pub fn namespaces_in_scope(&self, element: NodeId) -> NamespacesInScope<'_> {
        let scope = self.record(element).scope;
        NamespacesInScope { document: self, first: scope, next: Some(scope), met: 0, seen: Vec::new() }
    }

    /// Whether two elements of the document have the very same declarations in scope, by a quick comparison.
    pub(crate) fn shares_scope(&self, one: NodeId, other: NodeId) -> bool {
        self.record(one).scope == self.record(other).scope
    }

    /// The namespace of a prefix on an element.
    pub fn lookup(&self, element: NodeId, prefix: &str) -> Option<&str> {
        let namespace = self.resolve(self.record(element).scope, self.names.find_prefix(prefix)?)?;
        (namespace != Namespace::NONE).then(|| self.names.namespace_text(namespace))
    }

    /// The declarations that an element adds to those around it, the innermost first; the default namespace may be taken
    /// back.
    pub(crate) fn own_declarations(&self, element: NodeId) -> Vec<Declaration> {
        let mut own: Vec<Declaration> = Vec::new();
        let Some(parent) = self.parent(element) else { return own };
        let (outer, mut at) = (self.record(parent).scope, self.record(element).scope);
        while at != outer && at != ROOT_SCOPE {
            let Link { prefix, namespace, outer: next, .. } = self.scopes[at as usize];
            let around = self.resolve(outer, prefix).unwrap_or(Namespace::NONE);
            if around != namespace && !own.iter().any(|declared| declared.prefix == prefix) {
                own.push(Declaration { prefix, namespace });
            }
            at = next;
        }
        own
    }

    /// A prefix's text.
    pub fn prefix_text(&self, prefix: Prefix) -> &str {
        self.names.prefix_text(prefix)
    }

    /// The declarations of an element and of those around it, hidden ones among them: what looking through them costs.
    pub(crate) fn declarations_around(&self, element: NodeId) -> u32 {
        let (mut count, mut at) = (1, self.record(element).scope);
        while at != ROOT_SCOPE {
            count += 1;
            at = self.scopes[at as usize].outer;
        }
        count
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
    met: usize,
    /// A bit for each prefix that was met, once they are many.
    seen: Vec<u64>,
}

/// Most declarations that are compared with each other: a table would cost more.
const FEW: usize = 16;

impl NamespacesInScope<'_> {
    /// Whether a declaration further in has the same prefix.
    fn is_hidden(&mut self, at: u32, prefix: Prefix) -> bool {
        if self.met > FEW {
            if self.seen.is_empty() {
                let mut inner = self.first;
                while inner != at {
                    let link = self.document.scopes[inner as usize];
                    self.see(link.prefix);
                    inner = link.outer;
                }
            }
            return self.see(prefix);
        }
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

    /// Whether a prefix was met before; marks it as met.
    fn see(&mut self, prefix: Prefix) -> bool {
        let (word, bit) = (prefix.0 as usize / 64, 1 << (prefix.0 % 64));
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        let before = self.seen[word];
        self.seen[word] |= bit;
        before & bit != 0
    }
}

impl Iterator for NamespacesInScope<'_> {
    type Item = Declaration;

    fn next(&mut self) -> Option<Declaration> {
        loop {
            let at = self.next?;
            let link = self.document.scopes[at as usize];
            self.next = (at != ROOT_SCOPE).then_some(link.outer);
            self.met += 1;
            let is_hidden = self.is_hidden(at, link.prefix);
            // `xmlns=""` declares that there is none.
            if link.namespace != Namespace::NONE && !is_hidden {
                return Some(Declaration { prefix: link.prefix, namespace: link.namespace });
            }
        }
    }
}
