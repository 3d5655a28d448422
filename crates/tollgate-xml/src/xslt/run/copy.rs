//! Nodes of a source copied to the result (XSLT 1.0, sections 7.5 and 11.3).

use super::Run;
use crate::budget::Meter;
use crate::error::Error;
use crate::forest::Item;
use crate::names::Namespace;
use crate::tree::{Document, NodeId, NodeKind, Place, place};
use crate::xpath::evaluate::Context;
use crate::xpath::expression::Expression;
use crate::xpath::value::Value;
use crate::xslt::program::Block;
use crate::xslt::result::{Escaping, Output, QualifiedName};

impl<'e> Run<'e> {
    /// `xsl:copy`: the node without what is in it.
    pub(super) fn copy(
        &self,
        context: &Context<'e, '_>,
        sets: &'e [u32],
        body: &'e Block,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let item = context.item;
        let document = self.view_of(item).document;
        let node = item.place.node;
        match (item.place.namespace, document.kind(node)) {
            (0, NodeKind::Root) => self.block(context, body, output),
            (0, NodeKind::Element) => {
                output.start_element(name_of(document, node))?;
                declare_all(document, node, &context.environment.meter, output)?;
                for set in sets {
                    self.attribute_set(context, *set, output)?;
                }
                self.block(context, body, output)?;
                output.end_element()
            }
            _ => copy_item(document, item, &context.environment.meter, output),
        }
    }

    /// `xsl:copy-of`: nodes with all that is in them; anything else as a text.
    pub(super) fn copy_of(
        &self,
        context: &Context<'e, '_>,
        select: &'e Expression,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        match context.value(select)? {
            Value::Nodes(nodes) => {
                for item in nodes.iter() {
                    context.environment.spend(1)?;
                    self.copy_deep(context, *item, output)?;
                }
                Ok(())
            }
            Value::Fragment(fragment) => {
                for child in fragment.children(NodeId::ROOT) {
                    copy_subtree(&fragment, child, output, &context.environment.meter)?;
                }
                Ok(())
            }
            value => output.text(&value.into_text(context.environment)?, Escaping::Enabled),
        }
    }

    fn copy_deep(&self, context: &Context<'e, '_>, item: Item, output: &mut Output<'_>) -> Result<(), Error> {
        let document = self.view_of(item).document;
        let node = item.place.node;
        match (item.place.namespace, document.kind(node)) {
            (0, NodeKind::Element) => copy_subtree(document, node, output, &context.environment.meter),
            (0, NodeKind::Root) => {
                for child in document.children(node) {
                    copy_subtree(document, child, output, &context.environment.meter)?;
                }
                Ok(())
            }
            _ => copy_item(document, item, &context.environment.meter, output),
        }
    }
}

fn name_of<'d>(document: &'d Document<'_>, node: NodeId) -> QualifiedName<'d> {
    QualifiedName { prefix: document.prefix(node), local: document.local_name(node), uri: document.namespace_uri(node) }
}

/// The namespaces in scope of an element are copied with it.
fn declare_all(document: &Document<'_>, element: NodeId, meter: &Meter, output: &mut Output<'_>) -> Result<(), Error> {
    meter.spend(u64::from(document.declarations_around(element)))?;
    for found in document.namespaces_in_scope(element).filter(|found| found.namespace != Namespace::XML) {
        output.namespace(document.prefix_text(found.prefix), document.namespace_text(found.namespace));
    }
    Ok(())
}

/// A node that has nothing in it.
fn copy_item(document: &Document<'_>, item: Item, meter: &Meter, output: &mut Output<'_>) -> Result<(), Error> {
    let node = item.place.node;
    if item.place.namespace != 0 {
        meter.spend(u64::from(document.declarations_around(node)))?;
        if let Some((prefix, uri)) = place::namespace(document, item.place) {
            output.namespace(prefix, uri);
        }
        return Ok(());
    }
    match document.kind(node) {
        NodeKind::Root | NodeKind::Element => Ok(()),
        NodeKind::Attribute => output.attribute(name_of(document, node), document.value(node)),
        NodeKind::Text => output.text(document.value(node), Escaping::Enabled),
        NodeKind::Comment => output.comment(document.value(node)),
        NodeKind::ProcessingInstruction => output.instruction(document.local_name(node), document.value(node)),
    }
}

/// A node with all that is in it. It walks the arena instead of calling itself: depth costs nothing.
fn copy_subtree(document: &Document<'_>, top: NodeId, output: &mut Output<'_>, meter: &Meter) -> Result<(), Error> {
    if document.kind(top) != NodeKind::Element {
        return copy_item(document, Item::of_first(Place::of(top)), meter, output);
    }
    if output.copy_source(document, top)? {
        return Ok(());
    }
    let mut open: Vec<NodeId> = Vec::new();
    let mut next = Some(top);
    while let Some(node) = next {
        meter.spend(1)?;
        while let Some(innermost) = open.last()
            && document.behind(*innermost) <= node
        {
            output.end_element()?;
            open.pop();
        }
        if document.kind(node) == NodeKind::Element {
            output.start_element(name_of(document, node))?;
            let declares =
                open.is_empty() || document.parent(node).is_none_or(|parent| !document.shares_scope(node, parent));
            if declares {
                declare_all(document, node, meter, output)?;
            }
            for attribute in document.attributes(node) {
                output.attribute(name_of(document, attribute), document.value(attribute))?;
            }
            open.push(node);
            next = document.first_child(node).or_else(|| behind(document, node, top));
        } else {
            copy_item(document, Item::of_first(Place::of(node)), meter, output)?;
            next = behind(document, node, top);
        }
    }
    for _ in open {
        output.end_element()?;
    }
    Ok(())
}

/// The node behind `node` and what is in it, as long as it is in `top`.
fn behind(document: &Document<'_>, node: NodeId, top: NodeId) -> Option<NodeId> {
    let behind = document.behind(node);
    (behind < document.behind(top)).then_some(behind)
}
