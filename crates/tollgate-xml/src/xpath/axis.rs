//! The thirteen axes (XPath 1.0, section 2.2): each node on one, in the axis's own order.

use std::ops::ControlFlow;

use crate::tree::{Document, NodeId, NodeKind, Place};

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

/// Calls `meet` for each node on `axis` as seen from `from`, until it breaks; `pass` gets the number of other nodes
/// passed over to find them.
#[inline]
pub(crate) fn each<B>(
    document: &Document<'_>,
    axis: Axis,
    from: Place,
    pass: impl Fn(u32) -> ControlFlow<B>,
    mut meet: impl FnMut(Place) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let node = from.node;
    let mut meet_node = |node: NodeId| meet(Place::of(node));
    if from.namespace != 0 {
        return each_from_namespace(document, axis, from, pass, meet);
    }
    match axis {
        Axis::SelfNode => meet_node(node)?,
        Axis::Child => {
            let children = document.children(node);
            match document.attribute_count(node) {
                0 => {}
                attributes => pass(attributes)?,
            }
            for child in children {
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
        Axis::Descendant => each_within(document, NodeId(node.0 + 1), document.behind(node), pass, meet_node)?,
        Axis::DescendantOrSelf => {
            meet_node(node)?;
            each_within(document, NodeId(node.0 + 1), document.behind(node), pass, meet_node)?;
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
            each_within(document, document.behind(node), document.behind(NodeId::ROOT), pass, meet_node)?;
        }
        Axis::Preceding => each_before(document, node, pass, meet_node)?,
        Axis::Namespace => {
            if document.kind(node) == NodeKind::Element {
                let count = document.namespaces_in_scope(node).count();
                for namespace in 1..=count {
                    // Nodes hold 16 bits of it: an element with more has no namespace nodes beyond them.
                    let Ok(namespace) = u16::try_from(namespace) else { break };
                    meet(Place { node, namespace })?;
                }
            }
        }
    }
    ControlFlow::Continue(())
}

/// All nodes from `first` on and before `behind`, without attributes.
#[inline]
fn each_within<B>(
    document: &Document<'_>,
    first: NodeId,
    behind: NodeId,
    pass: impl Fn(u32) -> ControlFlow<B>,
    mut meet: impl FnMut(NodeId) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut passed = 0;
    for node in document.all_nodes(first, behind) {
        if document.kind(node) == NodeKind::Attribute {
            passed += 1;
            continue;
        }
        if passed > 0 {
            pass(std::mem::take(&mut passed))?;
        }
        meet(node)?;
    }
    pass(passed)
}

/// All nodes before `node`, from the last to the first, without its ancestors and without attributes.
fn each_before<B>(
    document: &Document<'_>,
    node: NodeId,
    pass: impl Fn(u32) -> ControlFlow<B>,
    mut meet: impl FnMut(NodeId) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut ancestor = document.parent(node);
    let mut at = node.0;
    let mut passed = 0;
    while at > 0 {
        at -= 1;
        let before = NodeId(at);
        if Some(before) == ancestor {
            ancestor = document.parent(before);
            passed += 1;
        } else if document.kind(before) == NodeKind::Attribute {
            passed += 1;
        } else {
            pass(std::mem::take(&mut passed))?;
            meet(before)?;
        }
    }
    pass(passed)
}

/// Walks from a namespace node: with a parent, ancestors and nodes around its element, but no siblings or content.
fn each_from_namespace<B>(
    document: &Document<'_>,
    axis: Axis,
    from: Place,
    pass: impl Fn(u32) -> ControlFlow<B>,
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
            let (first, behind) = (NodeId(element.0 + 1), document.behind(NodeId::ROOT));
            each_within(document, first, behind, pass, |node| meet(Place::of(node)))?;
        }
        Axis::Preceding => each_before(document, element, pass, |node| meet(Place::of(node)))?,
        Axis::Attribute
        | Axis::Child
        | Axis::Descendant
        | Axis::FollowingSibling
        | Axis::PrecedingSibling
        | Axis::Namespace => {}
    }
    ControlFlow::Continue(())
}
