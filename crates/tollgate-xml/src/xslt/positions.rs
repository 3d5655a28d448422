//! The nodes that the steps of patterns with positional predicates lead to: found once for each parent, so that asking
//! it of all children one after another takes a time that grows with their number, in any order.
//!
//! It knows no pattern: a step is identified by its address while a program runs.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::tree::NodeId;

/// The nodes known so far, by step and document.
#[derive(Default)]
pub(crate) struct Positions(RefCell<HashMap<(usize, u32), Known>>);

/// A bit for each node of a document.
struct Known {
    /// Nodes whose children, or attributes, are known.
    parents: Bits,
    /// Nodes that the step leads to.
    found: Bits,
}

/// A set of nodes of one document.
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub(crate) fn none(nodes: usize) -> Bits {
        Bits(vec![0; nodes.div_ceil(64)])
    }

    pub(crate) fn has(&self, node: NodeId) -> bool {
        self.0[node.index() / 64] >> (node.index() % 64) & 1 == 1
    }

    pub(crate) fn add(&mut self, node: NodeId) {
        self.0[node.index() / 64] |= 1 << (node.index() % 64);
    }
}

impl Positions {
    /// Whether a step leads from its parent to a node, if it is known.
    pub(crate) fn known(&self, step: usize, document: u32, parent: NodeId, node: NodeId) -> Option<bool> {
        let known = self.0.borrow();
        let known = known.get(&(step, document)).filter(|known| known.parents.has(parent))?;
        Some(known.found.has(node))
    }

    /// Keeps the nodes that a step leads to from a parent, in a document of `nodes` nodes.
    pub(crate) fn keep(&self, step: usize, document: u32, nodes: usize, parent: NodeId, found: &[NodeId]) {
        let mut known = self.0.borrow_mut();
        let known = known
            .entry((step, document))
            .or_insert_with(|| Known { parents: Bits::none(nodes), found: Bits::none(nodes) });
        known.parents.add(parent);
        found.iter().for_each(|node| known.found.add(*node));
    }
}
