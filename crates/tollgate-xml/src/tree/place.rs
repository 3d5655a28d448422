//! A node of a document, namespace nodes included, and what it is called (XPath 1.0, sections 4.1 and 5).
//!
//! The tree stores no namespace nodes: they follow from the declarations in scope.

use std::borrow::Cow;

use super::{Document, NodeId, NodeKind};

/// A node of a document, a namespace node among them.
///
/// The order of its values is that of the document: an element, its namespaces, its attributes, its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The node; of a namespace its element.
    pub(crate) node: NodeId,
    /// Zero, or which of the element's namespaces in scope is meant, from one.
    pub(crate) namespace: u16,
}

impl Place {
    /// The node of the tree that it is; `None` for a namespace node, which the tree does not store.
    pub fn stored(self) -> Option<NodeId> {
        (self.namespace == 0).then_some(self.node)
    }

    /// The node, or the element that declares the namespace.
    pub fn node(self) -> NodeId {
        self.node
    }

    pub(crate) fn of(node: NodeId) -> Place {
        Place { node, namespace: 0 }
    }
}

impl Document<'_> {
    /// The string-value of what an expression found, a namespace node among it.
    pub fn place_value(&self, place: Place) -> Cow<'_, str> {
        match place.stored() {
            Some(node) => self.string_value(node),
            None => Cow::Borrowed(namespace(self, place).map_or("", |(_, uri)| uri)),
        }
    }
}

/// Prefix and namespace of a namespace node.
pub(crate) fn namespace<'d>(document: &'d Document<'_>, place: Place) -> Option<(&'d str, &'d str)> {
    let index = usize::from(place.namespace).checked_sub(1)?;
    let declaration = document.namespaces_in_scope(place.node).nth(index)?;
    Some((document.prefix_text(declaration.prefix), document.namespace_text(declaration.namespace)))
}

/// The local part of its expanded name.
pub(crate) fn local_name<'d>(document: &'d Document<'_>, place: Place) -> &'d str {
    match place.namespace {
        0 => document.local_name(place.node),
        _ => namespace(document, place).map_or("", |(prefix, _)| prefix),
    }
}

/// The namespace of its expanded name.
pub(crate) fn namespace_uri<'d>(document: &'d Document<'_>, place: Place) -> &'d str {
    match (place.namespace, document.kind(place.node)) {
        (0, NodeKind::Element | NodeKind::Attribute) => document.namespace_uri(place.node),
        _ => "",
    }
}

/// Its name with the document's prefix.
pub(crate) fn qualified_name<'d>(document: &'d Document<'_>, place: Place) -> Cow<'d, str> {
    let local = local_name(document, place);
    match (place.namespace, document.prefix(place.node)) {
        (0, prefix) if !prefix.is_empty() => Cow::Owned(format!("{prefix}:{local}")),
        _ => Cow::Borrowed(local),
    }
}
