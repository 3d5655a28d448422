//! A document as an arena of small records in document order: a node is a number, its subtree a range of numbers.
//!
//! Attributes are directly behind their element, before its children. Namespace nodes are not stored: they follow from
//! the declarations in scope. The order of the numbers is the order of the document (XPath 1.0, section 5).

mod axes;
mod build;
mod isolate;
pub(crate) mod place;
mod scope;
mod text;

use std::borrow::Cow;

pub use self::axes::{Ancestors, Attributes, Children, Descendants};
pub(crate) use self::build::{Builder, Origin, Spare, Value};
pub use self::place::Place;
pub use self::scope::{Declaration, NamespacesInScope};

use crate::names::{Name, Names, Namespace, Prefix};

/// A node of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// The root of every document: the parent of its document element.
    pub const ROOT: NodeId = NodeId(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kinds of nodes (XPath 1.0, section 5); namespace nodes are not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// The root.
    Root,
    /// An element.
    Element,
    /// An attribute; declarations of namespaces are none.
    Attribute,
    /// Character data, as long as it is without markup in between.
    Text,
    /// A comment.
    Comment,
    /// A processing instruction; the XML declaration is none.
    ProcessingInstruction,
}

/// A document.
///
/// Texts without references stay in the source and are not copied.
#[derive(Debug, Clone)]
pub struct Document<'s> {
    source: Cow<'s, str>,
    /// Texts that are not in the source as they are.
    unescaped: String,
    records: Vec<Record>,
    names: Names,
    scopes: Vec<scope::Link>,
    /// Attributes that the document type declares to be of type ID, by their value: for `id()`.
    identifiers: Vec<(Box<str>, NodeId)>,
    /// Unparsed entities of the document type: name and system identifier.
    unparsed_entities: Vec<(Box<str>, Box<str>)>,
    /// Steps that an evaluation on it may take: what the budget said that it was read with.
    steps_max: u64,
}

/// The stored part of a node: 32 bytes.
#[derive(Debug, Clone, Copy)]
struct Record {
    kind: NodeKind,
    /// The text that `start..end` points into, and whether the source can be copied for it.
    place: Backing,
    /// The prefix of elements and attributes.
    prefix: u16,
    /// Expanded name of elements and attributes, target of processing instructions.
    name: Name,
    parent: NodeId,
    /// The first node behind the subtree.
    behind: NodeId,
    /// The sibling before it; the node itself if there is none. Unused of attributes.
    previous: NodeId,
    /// For elements the bytes of the source, for other nodes those of the value.
    start: u32,
    end: u32,
    /// For elements: the declarations in scope.
    scope: u32,
}

/// The text with the bytes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backing {
    /// In the source, exactly as they mean.
    Source,
    /// In the texts beside it. An element with it cannot be copied from the source.
    Beside,
}

impl<'s> Document<'s> {
    /// The one element under the root; `None` in a fragment without any.
    pub fn document_element(&self) -> Option<NodeId> {
        self.children(NodeId::ROOT).find(|node| self.kind(*node) == NodeKind::Element)
    }

    /// Nodes of the document, the root among them.
    pub fn node_count(&self) -> usize {
        self.records.len()
    }

    /// Bytes of memory that the document takes, its source aside.
    pub fn memory_bytes(&self) -> usize {
        let scopes = self.scopes.capacity() * size_of::<scope::Link>();
        self.unescaped.capacity() + self.records.capacity() * size_of::<Record>() + scopes + self.names.memory_bytes()
    }

    /// The kind of a node.
    #[inline]
    pub fn kind(&self, node: NodeId) -> NodeKind {
        self.record(node).kind
    }

    /// The element or root around a node; `None` for the root.
    #[inline]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node != NodeId::ROOT).then(|| self.record(node).parent)
    }

    /// The expanded name of an element, an attribute or (its target) a processing instruction.
    #[inline]
    pub fn name(&self, node: NodeId) -> Option<Name> {
        let record = self.record(node);
        matches!(record.kind, NodeKind::Element | NodeKind::Attribute | NodeKind::ProcessingInstruction)
            .then_some(record.name)
    }

    #[inline]
    pub(crate) fn is_element_named(&self, node: NodeId, name: Name) -> bool {
        let record = self.record(node);
        record.kind == NodeKind::Element && record.name == name
    }

    #[inline]
    pub(crate) fn is_attribute_named(&self, node: NodeId, name: Name) -> bool {
        let record = self.record(node);
        record.kind == NodeKind::Attribute && record.name == name
    }

    /// The name without prefix and namespace; empty for nodes without a name.
    pub fn local_name(&self, node: NodeId) -> &str {
        self.name(node).map_or("", |name| self.names.local_text(name))
    }

    /// The namespace's name; empty for nodes without.
    pub fn namespace_uri(&self, node: NodeId) -> &str {
        self.name(node).map_or("", |name| self.names.namespace_text(self.names.namespace_of(name)))
    }

    /// The prefix as written; empty for nodes without.
    pub fn prefix(&self, node: NodeId) -> &str {
        match self.kind(node) {
            NodeKind::Element | NodeKind::Attribute => {
                self.names.prefix_text(Prefix(u32::from(self.record(node).prefix)))
            }
            _ => "",
        }
    }

    /// The expanded name with these parts, if any node of the document has it.
    pub fn find_name(&self, namespace_uri: &str, local: &str) -> Option<Name> {
        self.names.find(self.names.find_namespace(namespace_uri)?, local)
    }

    /// Number of expanded names of the document; [`Name::index`] is below it.
    pub fn name_count(&self) -> usize {
        self.names.count()
    }

    /// The namespace of a name.
    pub fn name_namespace(&self, name: Name) -> Namespace {
        self.names.namespace_of(name)
    }

    /// A namespace's name.
    pub fn namespace_text(&self, namespace: Namespace) -> &str {
        self.names.namespace_text(namespace)
    }

    /// The namespace of this name, if the document has it.
    pub fn find_namespace(&self, uri: &str) -> Option<Namespace> {
        self.names.find_namespace(uri)
    }

    /// The element whose attribute of type ID has this value (XPath 1.0, section 5.2.1): only where the document type was
    /// read.
    pub fn element_by_id(&self, value: &str) -> Option<NodeId> {
        let found = self.identifiers.binary_search_by(|(id, _)| (**id).cmp(value)).ok()?;
        Some(self.identifiers[found].1)
    }

    /// The system identifier of an unparsed entity: only where the document type was read.
    pub fn unparsed_entity(&self, name: &str) -> Option<&str> {
        self.unparsed_entities.iter().find(|(entity, _)| **entity == *name).map(|(_, system)| &**system)
    }

    /// The bytes of the source for an element, if they mean exactly the same as the tree: no references to entities of
    /// a document type, nothing left out.
    pub fn source_of(&self, element: NodeId) -> Option<&str> {
        let record = self.record(element);
        (record.kind == NodeKind::Element && record.place == Backing::Source)
            .then(|| &self.source[record.start as usize..record.end as usize])
    }

    /// The offset in the source of a node, or of an attribute's value; `None` if it is not there as it is.
    pub fn source_offset(&self, node: NodeId) -> Option<usize> {
        let record = self.record(node);
        let is_there = record.kind == NodeKind::Element || record.place == Backing::Source;
        (is_there && !self.source.is_empty()).then_some(record.start as usize)
    }

    /// The range of an element in the source, from its start tag to the end of its end tag; `None` for trees that were
    /// made. Only for documents without a document type: the content of entities is not in the source.
    pub fn source_span(&self, element: NodeId) -> Option<std::ops::Range<usize>> {
        let record = self.record(element);
        let is_there = record.kind == NodeKind::Element && !self.source.is_empty();
        is_there.then_some(record.start as usize..record.end as usize)
    }

    /// The source; empty for trees that were made.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The texts that are not in the source as they are.
    pub(crate) fn beside(&self) -> &str {
        &self.unescaped
    }

    /// The same document with a source of its own.
    pub fn into_owned(self) -> Document<'static> {
        let Document { source, unescaped, records, names, scopes, identifiers, unparsed_entities, steps_max } = self;
        let source = Cow::Owned(source.into_owned());
        Document { source, unescaped, records, names, scopes, identifiers, unparsed_entities, steps_max }
    }

    /// Steps that an evaluation on it may take.
    pub(crate) fn steps_max(&self) -> u64 {
        self.steps_max
    }

    #[inline]
    fn record(&self, node: NodeId) -> &Record {
        &self.records[node.index()]
    }
}

impl Name {
    /// Its number: the names of a document are numbered from zero.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_takes_no_more_than_its_budget() {
        assert!(size_of::<Record>() <= 32, "{}", size_of::<Record>());
    }
}
