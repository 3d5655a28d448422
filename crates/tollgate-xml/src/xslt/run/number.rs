//! `xsl:number` (XSLT 1.0, section 7.7): a node counted among others, and the count written.
//!
//! Counts are kept, so that numbering all nodes takes a time that grows with their number.

use std::cell::RefCell;
use std::collections::HashMap;

use super::Run;
use crate::error::Error;
use crate::forest::Item;
use crate::names::Name;
use crate::tree::{Document, NodeId, NodeKind, Place};
use crate::xpath::evaluate::Context;
use crate::xpath::number;
use crate::xslt::numbering::{Grouping, Level, formatted};
use crate::xslt::pattern::Pattern;
use crate::xslt::positions::Bits;
use crate::xslt::program::NumberInstruction;
use crate::xslt::result::{Escaping, Output};

/// The counts of one run.
#[derive(Default)]
pub(super) struct Counts {
    /// Places among siblings, by what is counted and by document.
    siblings: RefCell<HashMap<(usize, u32), Siblings>>,
    /// Nodes that match a pattern, by the pattern and by document.
    matching: RefCell<HashMap<(usize, u32), Matching>>,
    /// Nodes of one kind and name, by document.
    alike: RefCell<HashMap<u32, Alike>>,
}

struct Siblings {
    /// Parents whose children are numbered.
    parents: Bits,
    numbers: Vec<u32>,
}

/// Nodes that match a pattern, in document order and without attributes, as far as they were looked for.
#[derive(Default)]
struct Matching {
    nodes: Vec<NodeId>,
    looked_at: usize,
}

/// The likeness by which nodes without a pattern are counted.
type Likeness = (NodeKind, Option<Name>);

type Alike = HashMap<Likeness, Vec<NodeId>>;

/// Steps that it takes to judge an ancestor and to write its number.
const ANCESTOR_STEPS: u64 = 16;
/// Steps that it takes to put a node among those that are like it.
const TOLD_APART_STEPS: u64 = 4;

impl<'e> Run<'e> {
    pub(super) fn number(
        &self,
        context: &Context<'e, '_>,
        instruction: &'e NumberInstruction,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let numbers = match &instruction.value {
            Some(value) => vec![context.number(value)?],
            None => self.counted(context, instruction)?,
        };
        let format = self.template_text(context, &instruction.format)?;
        let letters = self.optional_text(context, instruction.letter_value.as_ref())?;
        let separator = self.optional_text(context, instruction.grouping_separator.as_ref())?;
        let size = self.optional_text(context, instruction.grouping_size.as_ref())?;
        // Both or nothing (section 7.7.1).
        let grouping = match (separator, size.map(|size| number::from_text(&size))) {
            (Some(separator), Some(size)) if size >= 1.0 => Grouping { separator, size: size as usize },
            _ => Grouping::default(),
        };
        let text = formatted(&numbers, &format, letters.as_deref() == Some("alphabetic"), &grouping);
        output.text(&text, Escaping::Enabled)
    }

    fn counted(&self, context: &Context<'e, '_>, instruction: &'e NumberInstruction) -> Result<Vec<f64>, Error> {
        let item = context.item;
        let document = self.view_of(item).document;
        let node = item.place.node;
        let at = |node: NodeId| item.beside(Place::of(node));
        match instruction.level {
            // A list of one number always, be it zero.
            Level::Any => Ok(vec![self.count_any(context, instruction)? as f64]),
            Level::Single | Level::Multiple => {
                let mut counts = Vec::new();
                for node in std::iter::once(node).chain(document.ancestors(node)) {
                    context.environment.spend(ANCESTOR_STEPS)?;
                    // Ancestors are looked at up to one that `from` matches; the node itself may match it too.
                    let begins = self.is_from(context, instruction, at(node))? && node != item.place.node;
                    if begins {
                        break;
                    }
                    if self.is_counted(context, instruction, at(node))? {
                        counts.push(f64::from(self.place_among_siblings(context, instruction, at(node))?));
                        if instruction.level == Level::Single {
                            break;
                        }
                    }
                }
                counts.reverse();
                Ok(counts)
            }
        }
    }

    /// The place of a node that counts among its siblings that do.
    fn place_among_siblings(
        &self,
        context: &Context<'e, '_>,
        instruction: &'e NumberInstruction,
        item: Item,
    ) -> Result<u32, Error> {
        let document = self.view_of(item).document;
        let node = item.place.node;
        let parent = match document.parent(node) {
            Some(parent) if document.kind(node) != NodeKind::Attribute => parent,
            _ => return Ok(1),
        };
        let key = (address(instruction.count.as_ref()), item.document);
        if let Some(known) = self.counts.siblings.borrow().get(&key).filter(|known| known.parents.has(parent)) {
            return Ok(known.numbers[node.index()]);
        }
        let numbers = self.numbered_children(context, instruction, document, item.beside(Place::of(parent)))?;
        let found = numbers.iter().find(|(child, _)| *child == node).map_or(1, |(_, number)| *number);
        if instruction.count.as_ref().is_none_or(Pattern::is_stable) {
            let mut siblings = self.counts.siblings.borrow_mut();
            let count = document.node_count();
            let known =
                siblings.entry(key).or_insert_with(|| Siblings { parents: Bits::none(count), numbers: vec![0; count] });
            known.parents.add(parent);
            numbers.into_iter().for_each(|(child, number)| known.numbers[child.index()] = number);
        }
        Ok(found)
    }

    /// The children that count, or without a pattern all, each with its number.
    fn numbered_children(
        &self,
        context: &Context<'e, '_>,
        instruction: &'e NumberInstruction,
        document: &Document<'_>,
        parent: Item,
    ) -> Result<Vec<(NodeId, u32)>, Error> {
        let mut numbers = Vec::new();
        let mut counts: HashMap<Likeness, u32> = HashMap::new();
        let mut counted = 0;
        for child in document.children(parent.place.node) {
            context.environment.spend(TOLD_APART_STEPS)?;
            match &instruction.count {
                None => {
                    let count = counts.entry((document.kind(child), document.name(child))).or_default();
                    *count += 1;
                    numbers.push((child, *count));
                }
                Some(pattern) => {
                    if pattern.matches(context, &self.positions, parent.beside(Place::of(child)))? {
                        counted += 1;
                        numbers.push((child, counted));
                    }
                }
            }
        }
        Ok(numbers)
    }

    /// Nodes that count, among those before or around the node, back to one that `from` matches, which does not.
    fn count_any(&self, context: &Context<'e, '_>, instruction: &'e NumberInstruction) -> Result<usize, Error> {
        let item = context.item;
        let document = self.view_of(item).document;
        let node = item.place.node;
        let from = match &instruction.from {
            None => None,
            Some(pattern) => self.with_matching(context, pattern, |matching| {
                let before = matching.partition_point(|met| *met < node);
                matching[..before].last().copied()
            })?,
        };
        let between = |nodes: &[NodeId]| {
            let up_to = |last: NodeId| nodes.partition_point(|met| *met <= last);
            up_to(node) - from.map_or(0, up_to)
        };
        // Other attributes do not count, whatever they are.
        let is_attribute = document.kind(node) == NodeKind::Attribute;
        let own = usize::from(is_attribute && self.is_counted(context, instruction, item)?);
        let others = match &instruction.count {
            Some(pattern) => self.with_matching(context, pattern, between)?,
            None if is_attribute => 0,
            None => self.with_alike(context, document, between)?,
        };
        Ok(own + others)
    }

    /// Asks something of the nodes that match a pattern, up to that of the context, in document order.
    fn with_matching<T>(
        &self,
        context: &Context<'e, '_>,
        pattern: &'e Pattern,
        ask: impl FnOnce(&[NodeId]) -> T,
    ) -> Result<T, Error> {
        let item = context.item;
        let document = self.view_of(item).document;
        let key = (address(Some(pattern)), item.document);
        let mut matching = self.counts.matching.borrow_mut().remove(&key).unwrap_or_default();
        while matching.looked_at <= item.place.node.index() {
            context.environment.spend(1)?;
            let node = NodeId(crate::names::number(matching.looked_at));
            let is_met = document.kind(node) != NodeKind::Attribute
                && pattern.matches(context, &self.positions, item.beside(Place::of(node)))?;
            if is_met {
                matching.nodes.push(node);
            }
            matching.looked_at += 1;
        }
        let answer = ask(&matching.nodes);
        if pattern.is_stable() {
            self.counts.matching.borrow_mut().insert(key, matching);
        }
        Ok(answer)
    }

    /// Asks something of the nodes of the kind and name of the context's, in document order.
    fn with_alike<T>(
        &self,
        context: &Context<'e, '_>,
        document: &Document<'_>,
        ask: impl FnOnce(&[NodeId]) -> T,
    ) -> Result<T, Error> {
        let item = context.item;
        let mut alike = self.counts.alike.borrow_mut();
        let alike = match alike.entry(item.document) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(free) => {
                let mut made = Alike::new();
                context.environment.spend(TOLD_APART_STEPS * document.node_count() as u64)?;
                let nodes = std::iter::once(NodeId::ROOT).chain(document.descendants(NodeId::ROOT));
                for node in nodes {
                    made.entry((document.kind(node), document.name(node))).or_default().push(node);
                }
                free.insert(made)
            }
        };
        let node = item.place.node;
        Ok(ask(alike.get(&(document.kind(node), document.name(node))).map_or(&[], Vec::as_slice)))
    }

    fn is_from(
        &self,
        context: &Context<'e, '_>,
        instruction: &'e NumberInstruction,
        item: Item,
    ) -> Result<bool, Error> {
        match &instruction.from {
            Some(pattern) => pattern.matches(context, &self.positions, item),
            None => Ok(false),
        }
    }

    /// Whether a node counts: it matches `count`, or without that is of the kind and name of the current node.
    fn is_counted(
        &self,
        context: &Context<'e, '_>,
        instruction: &'e NumberInstruction,
        item: Item,
    ) -> Result<bool, Error> {
        if let Some(pattern) = &instruction.count {
            return pattern.matches(context, &self.positions, item);
        }
        let document = self.view_of(item).document;
        let (node, current) = (item.place.node, context.item.place.node);
        Ok(document.kind(node) == document.kind(current) && document.name(node) == document.name(current))
    }
}

/// The key of a pattern while a program runs; none: zero.
fn address(pattern: Option<&Pattern>) -> usize {
    pattern.map_or(0, |pattern| std::ptr::from_ref(pattern).addr())
}
