//! Walking the arena: what the axes of XPath are made of.

use super::{Document, NodeId, NodeKind};

impl Document<'_> {
    /// The first node behind `node` and all that is in it.
    #[inline]
    pub(crate) fn behind(&self, node: NodeId) -> NodeId {
        self.record(node).behind
    }

    /// Nodes of a subtree, attributes among them.
    #[inline]
    pub(crate) fn size(&self, node: NodeId) -> u32 {
        self.record(node).behind.0 - node.0
    }

    /// An element's attributes, as how many there are.
    #[inline]
    pub(crate) fn attribute_count(&self, node: NodeId) -> u32 {
        self.behind_attributes(node) - node.0 - 1
    }

    /// The first node behind an element's attributes: its first child, if it has any.
    #[inline]
    fn behind_attributes(&self, node: NodeId) -> u32 {
        let behind = self.record(node).behind.0;
        let mut next = node.0 + 1;
        while next < behind && self.records[next as usize].kind == NodeKind::Attribute {
            next += 1;
        }
        next
    }

    /// The first child.
    #[inline]
    pub fn first_child(&self, node: NodeId) -> Option<NodeId> {
        let first = self.behind_attributes(node);
        (first < self.behind(node).0).then_some(NodeId(first))
    }

    /// The next sibling; attributes and the root have none.
    #[inline]
    pub fn next_sibling(&self, node: NodeId) -> Option<NodeId> {
        let record = self.record(node);
        if record.kind == NodeKind::Attribute || node == NodeId::ROOT {
            return None;
        }
        (record.behind < self.behind(record.parent)).then_some(record.behind)
    }

    /// The sibling before it; attributes and the root have none.
    #[inline]
    pub fn previous_sibling(&self, node: NodeId) -> Option<NodeId> {
        let record = self.record(node);
        (record.previous != node && record.kind != NodeKind::Attribute).then_some(record.previous)
    }

    /// The children, in document order.
    #[inline]
    pub fn children(&self, node: NodeId) -> Children<'_> {
        Children { document: self, next: self.behind_attributes(node), end: self.behind(node).0 }
    }

    /// The attributes; declarations of namespaces are none.
    #[inline]
    pub fn attributes(&self, node: NodeId) -> Attributes<'_> {
        Attributes { document: self, next: node.0 + 1, end: self.behind(node).0 }
    }

    /// All nodes inside a node, at any depth and in document order, attributes aside.
    #[inline]
    pub fn descendants(&self, node: NodeId) -> Descendants<'_> {
        Descendants { document: self, next: node.0 + 1, end: self.behind(node).0 }
    }

    /// Every node from `first` on and before `behind`, attributes among them.
    #[inline]
    pub(crate) fn all_nodes(&self, first: NodeId, behind: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        (first.0..behind.0).map(NodeId)
    }

    /// The parent, its parent and so on, to the root.
    #[inline]
    pub fn ancestors(&self, node: NodeId) -> Ancestors<'_> {
        Ancestors { document: self, next: self.parent(node) }
    }
}

/// See [`Document::children`].
#[derive(Debug, Clone)]
pub struct Children<'d> {
    document: &'d Document<'d>,
    next: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = NodeId;

    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        if self.next >= self.end {
            return None;
        }
        let node = NodeId(self.next);
        self.next = self.document.behind(node).0;
        Some(node)
    }
}

/// See [`Document::attributes`].
#[derive(Debug, Clone)]
pub struct Attributes<'d> {
    document: &'d Document<'d>,
    next: u32,
    end: u32,
}

impl Iterator for Attributes<'_> {
    type Item = NodeId;

    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        let node = NodeId(self.next);
        if self.next >= self.end || self.document.kind(node) != NodeKind::Attribute {
            self.end = 0;
            return None;
        }
        self.next += 1;
        Some(node)
    }
}

/// See [`Document::descendants`].
#[derive(Debug, Clone)]
pub struct Descendants<'d> {
    document: &'d Document<'d>,
    next: u32,
    end: u32,
}

impl Iterator for Descendants<'_> {
    type Item = NodeId;

    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        while self.next < self.end {
            let node = NodeId(self.next);
            self.next += 1;
            if self.document.kind(node) != NodeKind::Attribute {
                return Some(node);
            }
        }
        None
    }
}

/// See [`Document::ancestors`].
#[derive(Debug, Clone)]
pub struct Ancestors<'d> {
    document: &'d Document<'d>,
    next: Option<NodeId>,
}

impl Iterator for Ancestors<'_> {
    type Item = NodeId;

    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        let node = self.next?;
        self.next = self.document.parent(node);
        Some(node)
    }
}
