//! The thirteen axes (XPath 1.0, section 2.2): each node on one, in the axis's own order.

use std::ops::ControlFlow;

use crate::tree::{Document, NodeId, NodeKind};

/// An axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    SelfNode,
}

impl Axis {
    pub(crate) fn named(name: &str) -> Option<Axis> {
        Some(match name {
            "ancestor" => Axis::Ancestor,
            "ancestor-or-self" => Axis::AncestorOrSelf,
            "attribute" => Axis::Attribute,
            "child" => Axis::Child,
            "descendant" => Axis::Descendant,
            "descendant-or-self" => Axis::DescendantOrSelf,
            "following" => Axis::Following,
            "following-sibling" => Axis::FollowingSibling,
            "namespace" => Axis::Namespace,
            "parent" => Axis::Parent,
            "preceding" => Axis::Preceding,
            "preceding-sibling" => Axis::PrecedingSibling,
            "self" => Axis::SelfNode,
            _ => return None,
        })
    }

    /// The kind of node that a name on it means.
    pub(crate) fn principal(self) -> Principal {
        match self {
            Axis::Attribute => Principal::Attribute,
            Axis::Namespace => Principal::Namespace,
            _ => Principal::Element,
        }
    }
}

/// The kind of node that a name means on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Principal {
    Element,
    Attribute,
    Namespace,
}

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

/// Calls `meet` for each node on `axis` as seen from `from`, until it breaks.
#[inline]
pub(crate) fn each<B>(
    document: &Document<'_>,
    axis: Axis,
    from: Place,
    mut meet: impl FnMut(Place) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let node = from.node;
    let mut meet_node = |node: NodeId| meet(Place::of(node));
    if from.namespace != 0 {
        return each_from_namespace(document, axis, from, meet);
    }
    match axis {
        Axis::SelfNode => meet_node(node)?,
        Axis::Child => {
            for child in document.children(node) {
                meet_node(child)?;
            }
        }
        Axis::Attribute => {
            if document.kind(node) == NodeKind::Element {
                for attribute in document.attributes(node) {
                    meet_node(attribute)?;
                }
            }
        }
        Axis::Descendant => {
            for descendant in document.descendants(node) {
                meet_node(descendant)?;
            }
        }
        Axis::DescendantOrSelf => {
            meet_node(node)?;
            for descendant in document.descendants(node) {
                meet_node(descendant)?;
            }
        }
        Axis::Parent => {
            if let Some(parent) = document.parent(node) {
                meet_node(parent)?;
            }
        }
        Axis::Ancestor | Axis::AncestorOrSelf => {
            if axis == Axis::AncestorOrSelf {
                meet_node(node)?;
            }
            for ancestor in document.ancestors(node) {
                meet_node(ancestor)?;
            }
        }
        Axis::FollowingSibling => {
            let mut next = document.next_sibling(node);
            while let Some(sibling) = next {
                meet_node(sibling)?;
                next = document.next_sibling(sibling);
            }
        }
        Axis::PrecedingSibling => {
            let mut before = document.previous_sibling(node);
            while let Some(sibling) = before {
                meet_node(sibling)?;
                before = document.previous_sibling(sibling);
            }
        }
        Axis::Following => {
            for following in document.nodes_from(document.behind(node)) {
                meet_node(following)?;
            }
        }
        Axis::Preceding => each_before(document, node, meet_node)?,
        Axis::Namespace => {
            if document.kind(node) == NodeKind::Element {
                let count = document.namespaces_in_scope(node).count();
                for namespace in 1..=count {
                    // An element has no more namespaces than the budget has attributes, times its depth.
                    let namespace = u16::try_from(namespace).unwrap_or(u16::MAX);
                    meet(Place { node, namespace })?;
                }
            }
        }
    }
    ControlFlow::Continue(())
}

/// All nodes before `node`, from the last to the first, without its ancestors and without attributes.
fn each_before<B>(
    document: &Document<'_>,
    node: NodeId,
    mut meet: impl FnMut(NodeId) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut ancestor = document.parent(node);
    let mut at = node.index();
    while at > 0 {
        at -= 1;
        let before = NodeId(at as u32);
        if Some(before) == ancestor {
            ancestor = document.parent(before);
        } else if document.kind(before) != NodeKind::Attribute {
            meet(before)?;
        }
    }
    ControlFlow::Continue(())
}

/// A namespace node has a parent, ancestors and whatever stands around its element, but no siblings and nothing in it.
fn each_from_namespace<B>(
    document: &Document<'_>,
    axis: Axis,
    from: Place,
    mut meet: impl FnMut(Place) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let element = from.node;
    match axis {
        Axis::SelfNode | Axis::DescendantOrSelf => meet(from)?,
        Axis::Parent => meet(Place::of(element))?,
        Axis::Ancestor | Axis::AncestorOrSelf => {
            if axis == Axis::AncestorOrSelf {
                meet(from)?;
            }
            meet(Place::of(element))?;
            for ancestor in document.ancestors(element) {
                meet(Place::of(ancestor))?;
            }
        }
        Axis::Following => {
            // What is in its element comes behind it and is not in it.
            for following in document.nodes_from(NodeId(element.0 + 1)) {
                meet(Place::of(following))?;
            }
        }
        Axis::Preceding => each_before(document, element, |node| meet(Place::of(node)))?,
        Axis::Attribute
        | Axis::Child
        | Axis::Descendant
        | Axis::FollowingSibling
        | Axis::PrecedingSibling
        | Axis::Namespace => {}
    }
    ControlFlow::Continue(())
}
