//! The output method html (XSLT 1.0, section 16.2): HTML 4 as browsers have always read it.

use std::borrow::Cow;

use super::escape::{Slot, escaped};
use super::layout::own_declarations;
use super::{Bytes, Method, OutputSettings};
use crate::error::Error;
use crate::tree::{Document, NodeId, NodeKind};

/// Elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "basefont", "br", "col", "embed", "frame", "hr", "img", "input", "isindex", "link", "meta", "param",
];

/// Elements that begin a line of their own: white space beside them is not seen.
const BLOCK: [&str; 50] = [
    "address",
    "area",
    "base",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "html",
    "isindex",
    "legend",
    "li",
    "link",
    "menu",
    "meta",
    "noframes",
    "noscript",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "pre",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];

/// Elements whose white space is shown as it is.
const LITERAL: [&str; 4] = ["pre", "script", "style", "textarea"];

/// Attributes whose value is their name.
const BOOLEAN: [&str; 13] = [
    "checked", "compact", "declare", "defer", "disabled", "ismap", "multiple", "nohref", "noresize", "noshade",
    "nowrap", "readonly", "selected",
];

/// Attributes that contain an address.
const ADDRESSES: [&str; 12] = [
    "action",
    "background",
    "cite",
    "classid",
    "codebase",
    "data",
    "href",
    "longdesc",
    "profile",
    "src",
    "usemap",
    "name",
];

/// Writes HTML.
pub(super) struct HtmlWriter<'d> {
    document: &'d Document<'d>,
    settings: &'d OutputSettings,
    raw: &'d [NodeId],
    bytes: Bytes,
    indents: bool,
}

impl<'d> HtmlWriter<'d> {
    pub(super) fn new(
        document: &'d Document<'d>,
        settings: &'d OutputSettings,
        raw: &'d [NodeId],
        bytes_max: usize,
    ) -> Result<HtmlWriter<'d>, Error> {
        let bytes = Bytes::new(settings.encoding(), bytes_max)?;
        Ok(HtmlWriter { document, settings, raw, bytes, indents: settings.indent != Some(false) })
    }

    pub(super) fn document(&mut self) -> Result<(), Error> {
        for node in self.document.children(NodeId::ROOT) {
            if self.document.kind(node) == NodeKind::Element {
                self.document_type(node);
            }
            self.node(node)?;
            if self.document.kind(node) != NodeKind::Text {
                self.bytes.push("\n");
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, Error> {
        self.bytes.finish()
    }

    fn document_type(&mut self, element: NodeId) {
        let (public, system) = (&self.settings.doctype_public, &self.settings.doctype_system);
        if public.is_none() && system.is_none() {
            return;
        }
        self.bytes.push("<!DOCTYPE ");
        // HTML's own document type is written as it always was, whatever the case of the element.
        let name = self.document.local_name(element);
        self.bytes.push_bare(if name.eq_ignore_ascii_case("html") { "html" } else { name });
        if let Some(public) = public {
            self.bytes.push(" PUBLIC \"");
            self.bytes.push_bare(public);
            self.bytes.push("\"");
        }
        if let Some(system) = system {
            self.bytes.push(if public.is_some() { " \"" } else { " SYSTEM \"" });
            self.bytes.push_bare(system);
            self.bytes.push("\"");
        }
        self.bytes.push(">\n");
    }

    fn node(&mut self, node: NodeId) -> Result<(), Error> {
        let value = self.document.value(node);
        match self.document.kind(node) {
            NodeKind::Root | NodeKind::Attribute => {}
            NodeKind::Element => self.element(node)?,
            NodeKind::Text => {
                let is_raw = self.raw.binary_search(&node).is_ok() || self.is_in_script(node);
                if is_raw { self.bytes.push_bare(value) } else { escaped(&mut self.bytes, value, Slot::Content) }
            }
            NodeKind::Comment => {
                self.bytes.push("<!--");
                self.bytes.push_bare(value);
                self.bytes.push("-->");
            }
            NodeKind::ProcessingInstruction => {
                self.bytes.push("<?");
                self.bytes.push_bare(self.document.local_name(node));
                self.bytes.push(" ");
                self.bytes.push_bare(value);
                self.bytes.push(">");
            }
        }
        self.bytes.check()
    }

    /// An element's name in lower case, if it is one of HTML's: it has no namespace.
    fn known(&self, element: NodeId) -> Option<Cow<'d, str>> {
        let (document, is_html) = (self.document, self.document.namespace_uri(element).is_empty());
        let name = document.local_name(element);
        is_html.then(|| {
            if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
                Cow::Owned(name.to_ascii_lowercase())
            } else {
                Cow::Borrowed(name)
            }
        })
    }

    fn is_in_script(&self, node: NodeId) -> bool {
        let parent = self.document.parent(node).and_then(|parent| self.known(parent));
        parent.is_some_and(|name| matches!(&*name, "script" | "style"))
    }

    /// Whether an element begins a line of its own.
    fn is_block(&self, element: NodeId) -> bool {
        self.known(element).is_some_and(|name| BLOCK.contains(&&*name))
    }

    /// Whether an element's content is on lines of its own: a paragraph's never is.
    fn parts_lines(&self, element: NodeId) -> bool {
        self.known(element).is_none_or(|name| !name.starts_with('p'))
    }

    fn is_text(&self, node: NodeId) -> bool {
        self.document.kind(node) == NodeKind::Text
    }

    /// Writes a line's end where `indents` says so.
    fn line(&mut self, is_wanted: bool) {
        if self.indents && is_wanted {
            self.bytes.push("\n");
        }
    }

    fn element(&mut self, element: NodeId) -> Result<(), Error> {
        let document = self.document;
        let known = self.known(element);
        let is = |names: &[&str]| known.as_deref().is_some_and(|name| names.contains(&name));
        self.bytes.push("<");
        self.name(element);
        for (prefix, uri) in own_declarations(document, element) {
            self.bytes.push(" xmlns");
            if !prefix.is_empty() {
                self.bytes.push(":");
                self.bytes.push_bare(prefix);
            }
            self.bytes.push("=\"");
            escaped(&mut self.bytes, uri, Slot::Attribute);
            self.bytes.push("\"");
        }
        for attribute in document.attributes(element) {
            self.attribute(attribute, known.is_some());
        }
        self.bytes.push(">");
        let is_head = is(&["head"]);
        let children: Vec<NodeId> =
            document.children(element).filter(|child| !(is_head && self.is_written_already(*child))).collect();
        if is(&VOID) && children.is_empty() {
            return Ok(());
        }
        let has_several = children.len() + usize::from(is_head) > 1;
        let parts = has_several && self.is_block(element) && self.parts_lines(element);
        let outer = self.indents;
        self.indents &= !is(&LITERAL);
        self.line(parts && (is_head || children.first().is_some_and(|first| !self.is_text(*first))));
        if is_head {
            self.content_type();
            self.line(children.first().is_some_and(|first| !self.is_text(*first)));
        }
        for (index, child) in children.iter().enumerate() {
            self.node(*child)?;
            let is_block = document.kind(*child) == NodeKind::Element && self.is_block(*child);
            let is_followed = children.get(index + 1).is_some_and(|next| !self.is_text(*next));
            self.line(is_block && is_followed && self.parts_lines(element));
        }
        self.line(parts && children.last().map_or(is_head, |last| !self.is_text(*last)));
        self.indents = outer;
        self.bytes.push("</");
        self.name(element);
        self.bytes.push(">");
        Ok(())
    }

    fn name(&mut self, node: NodeId) {
        let prefix = self.document.prefix(node);
        if !prefix.is_empty() {
            self.bytes.push_bare(prefix);
            self.bytes.push(":");
        }
        self.bytes.push_bare(self.document.local_name(node));
    }

    fn attribute(&mut self, attribute: NodeId, is_html: bool) {
        let (name, value) = (self.document.local_name(attribute), self.document.value(attribute));
        self.bytes.push(" ");
        self.name(attribute);
        let lower_case = name.to_ascii_lowercase();
        if is_html && BOOLEAN.contains(&&*lower_case) && value.eq_ignore_ascii_case(name) {
            return;
        }
        self.bytes.push("=\"");
        if is_html && ADDRESSES.contains(&&*lower_case) && lower_case != "name" {
            escaped(&mut self.bytes, &address(value), Slot::HtmlAttribute);
        } else {
            escaped(&mut self.bytes, value, Slot::HtmlAttribute);
        }
        self.bytes.push("\"");
    }

    /// The `meta` that says what the bytes are, right behind the start of `head` (section 16.2).
    fn content_type(&mut self) {
        self.bytes.push("<meta http-equiv=\"Content-Type\" content=\"");
        self.bytes.push(self.settings.media_type(Method::Html));
        self.bytes.push("; charset=");
        self.bytes.push(self.settings.encoding());
        self.bytes.push("\">");
    }

    /// Whether a child of `head` is the `meta` that [`HtmlWriter::content_type`] writes in another form.
    fn is_written_already(&self, child: NodeId) -> bool {
        self.known(child).as_deref() == Some("meta")
            && self.document.attributes(child).any(|attribute| {
                self.document.local_name(attribute).eq_ignore_ascii_case("http-equiv")
                    && self.document.value(attribute).eq_ignore_ascii_case("content-type")
            })
    }
}

/// Characters beyond ASCII as the bytes of UTF-8 behind percent signs (HTML 4.0, appendix B.2.1).
fn address(value: &str) -> Cow<'_, str> {
    if value.is_ascii() && !value.contains(' ') {
        return Cow::Borrowed(value);
    }
    let mut escaped = String::with_capacity(value.len() + 8);
    for byte in value.bytes() {
        if byte.is_ascii() && byte != b' ' {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    Cow::Owned(escaped)
}
