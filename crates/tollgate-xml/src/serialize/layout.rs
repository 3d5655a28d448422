//! A finished tree written with its layout: indentation where it changes no text, and html.

use super::html::HtmlWriter;
use super::xml::XmlWriter;
use super::{Method, OutputSettings};
use crate::error::Error;
use crate::tree::{Document, NodeId, NodeKind};

/// Writes a result tree.
pub(crate) fn write_tree(
    document: &Document<'_>,
    settings: &OutputSettings,
    method: Method,
    raw: &[NodeId],
    bytes_max: usize,
) -> Result<Vec<u8>, Error> {
    match method {
        Method::Html => {
            let mut writer = HtmlWriter::new(document, settings, raw, bytes_max)?;
            writer.document()?;
            writer.finish()
        }
        Method::Text => {
            let mut writer = XmlWriter::texts(settings, bytes_max)?;
            for text in document.texts(NodeId::ROOT) {
                writer.text(text)?;
            }
            writer.finish()
        }
        Method::Xml => {
            let writer = XmlWriter::new(settings, bytes_max)?;
            let indents = settings.indent == Some(true);
            let mut layout = Layout { document, writer, raw, indents };
            for (index, node) in document.children(NodeId::ROOT).enumerate() {
                if index > 0 && layout.indents {
                    layout.writer.raw("\n")?;
                }
                layout.node(node, 0)?;
            }
            if layout.indents && document.node_count() > 1 {
                layout.writer.raw("\n")?;
            }
            layout.writer.finish()
        }
    }
}

/// Spaces for each level.
const INDENT: &str = "  ";

struct Layout<'d> {
    document: &'d Document<'d>,
    writer: XmlWriter,
    /// Texts that are written as they are.
    raw: &'d [NodeId],
    indents: bool,
}

impl Layout<'_> {
    fn node(&mut self, node: NodeId, depth: usize) -> Result<(), Error> {
        let document = self.document;
        match document.kind(node) {
            NodeKind::Root | NodeKind::Attribute => Ok(()),
            NodeKind::Text if self.raw.binary_search(&node).is_ok() => self.writer.raw(document.value(node)),
            NodeKind::Text => self.writer.text(document.value(node)),
            NodeKind::Comment => self.writer.comment(document.value(node)),
            NodeKind::ProcessingInstruction => self.writer.instruction(document.local_name(node), document.value(node)),
            NodeKind::Element => self.element(node, depth),
        }
    }

    fn element(&mut self, element: NodeId, depth: usize) -> Result<(), Error> {
        let document = self.document;
        self.writer.start(document.prefix(element), document.local_name(element), document.namespace_uri(element))?;
        for (prefix, uri) in own_declarations(document, element) {
            self.writer.declaration(prefix, uri);
        }
        for attribute in document.attributes(element) {
            self.writer.attribute(
                document.prefix(attribute),
                document.local_name(attribute),
                document.value(attribute),
            );
        }
        // White space beside a text would become part of what it says.
        let indents = self.indents
            && document.first_child(element).is_some()
            && document.children(element).all(|child| document.kind(child) != NodeKind::Text);
        let outer = std::mem::replace(&mut self.indents, indents);
        for child in document.children(element) {
            if indents {
                self.line(depth + 1)?;
            }
            self.node(child, depth + 1)?;
        }
        if indents {
            self.line(depth)?;
        }
        self.indents = outer;
        self.writer.end();
        Ok(())
    }

    fn line(&mut self, depth: usize) -> Result<(), Error> {
        self.writer.raw("\n")?;
        for _ in 0..depth {
            self.writer.raw(INDENT)?;
        }
        Ok(())
    }
}

/// The declarations that an element adds to those of its parent, taken-back default namespace included.
pub(super) fn own_declarations<'d>(document: &'d Document<'d>, element: NodeId) -> Vec<(&'d str, &'d str)> {
    let own = document.own_declarations(element).into_iter().rev();
    own.map(|declaration| (document.prefix_text(declaration.prefix), document.namespace_text(declaration.namespace)))
        .collect()
}
