//! `xsl:number` (XSLT 1.0, section 7.7): a node counted among others, and the count written.

use super::Run;
use crate::error::Error;
use crate::forest::Item;
use crate::tree::{NodeId, NodeKind};
use crate::xpath::Place;
use crate::xpath::evaluate::Context;
use crate::xpath::number;
use crate::xslt::numbering::{Grouping, Level, formatted};
use crate::xslt::program::NumberInstruction;
use crate::xslt::result::{Escaping, Output};

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
            Level::Any => Ok(vec![self.count_any(context, instruction)?]),
            Level::Single | Level::Multiple => {
                let mut counts = Vec::new();
                for node in std::iter::once(node).chain(document.ancestors(node)) {
                    // Ancestors are looked at up to one that `from` matches; the node itself may match it too.
                    let begins = self.is_from(context, instruction, at(node))? && node != item.place.node;
                    if begins {
                        break;
                    }
                    if self.is_counted(context, instruction, at(node))? {
                        let mut count = 1_usize;
                        let mut before = document.previous_sibling(node);
                        while let Some(sibling) = before {
                            context.environment.spend(1)?;
                            count += usize::from(self.is_counted(context, instruction, at(sibling))?);
                            before = document.previous_sibling(sibling);
                        }
                        counts.push(count as f64);
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

    /// Nodes that count, among those that come before the node or hold it, back to one that `from` matches.
    fn count_any(&self, context: &Context<'e, '_>, instruction: &'e NumberInstruction) -> Result<f64, Error> {
        let item = context.item;
        let document = self.view_of(item).document;
        let mut count = 0_usize;
        let mut index = item.place.node.index();
        loop {
            context.environment.spend(1)?;
            let node = NodeId(crate::names::number(index));
            let seen = item.beside(Place::of(node));
            let is_other_attribute = document.kind(node) == NodeKind::Attribute && node != item.place.node;
            if !is_other_attribute {
                if self.is_counted(context, instruction, seen)? {
                    count += 1;
                }
                if node != item.place.node && self.is_from(context, instruction, seen)? {
                    // What `from` matches is not counted itself.
                    count -= usize::from(self.is_counted(context, instruction, seen)?);
                    break;
                }
            }
            match index.checked_sub(1) {
                Some(before) => index = before,
                None => break,
            }
        }
        Ok(count as f64)
    }

    fn is_from(
        &self,
        context: &Context<'e, '_>,
        instruction: &'e NumberInstruction,
        item: Item,
    ) -> Result<bool, Error> {
        match &instruction.from {
            Some(pattern) => pattern.matches(context, item),
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
            return pattern.matches(context, item);
        }
        let document = self.view_of(item).document;
        let (node, current) = (item.place.node, context.item.place.node);
        Ok(document.kind(node) == document.kind(current) && document.name(node) == document.name(current))
    }
}
