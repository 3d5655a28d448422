//! What a node is called, namespace nodes included (XPath 1.0, sections 4.1 and 5).

use std::borrow::Cow;

use super::axis::Place;
use crate::tree::{Document, NodeKind};

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

/// Its name with the prefix that stands in the document.
pub(crate) fn qualified_name<'d>(document: &'d Document<'_>, place: Place) -> Cow<'d, str> {
    let local = local_name(document, place);
    match (place.namespace, document.prefix(place.node)) {
        (0, prefix) if !prefix.is_empty() => Cow::Owned(format!("{prefix}:{local}")),
        _ => Cow::Borrowed(local),
    }
}
