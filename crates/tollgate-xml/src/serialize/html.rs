//! The output method html (XSLT 1.0, section 16.2): HTML 4 as browsers have always read it.

use std::borrow::Cow;

use super::escape::{Place, escaped};
use super::layout::own_declarations;
use super::{Bytes, Method, OutputSettings};
use crate::error::Error;
use crate::tree::{Document, NodeId, NodeKind};

/// Elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "basefont", "br", "col", "embed", "frame", "hr", "img", "input", "isindex", "link", "meta", "param",
];

/// Elements beside which white space shows.
const INLINE: [&str; 38] = [
    "a", "abbr", "acronym", "applet", "b", "basefont", "bdo", "big", "br", "cite", "code", "dfn", "em", "font", "i",
    "iframe", "img", "input", "kbd", "label", "map", "object", "q", "s", "samp", "script", "select", "small", "span",
    "strike", "strong", "sub", "sup", "textarea", "tt", "u", "button", "var",
];

/// Attributes whose value is their name.
const BOOLEAN: [&str; 13] = [
    "checked", "compact", "declare", "defer", "disabled", "ismap", "multiple", "nohref", "noresize", "noshade",
    "nowrap", "readonly", "selected",
];

/// Attributes that hold an address.
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
        self.bytes.push(if name.eq_ignore_ascii_case("html") { "html" } else { name });
        if let Some(public) = public {
            self.bytes.push(" PUBLIC \"");
            self.bytes.push(public);
            self.bytes.push("\"");
        }
        if let Some(system) = system {
            self.bytes.push(if public.is_some() { " \"" } else { " SYSTEM \"" });
            self.bytes.push(system);
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
                if is_raw { self.bytes.push(value) } else { escaped(&mut self.bytes, value, Place::Content) }
            }
            NodeKind::Comment => {
                self.bytes.push("<!--");
                self.bytes.push(value);
                self.bytes.push("-->");
            }
            NodeKind::ProcessingInstruction => {
                self.bytes.push("<?");
                self.bytes.push(self.document.local_name(node));
                self.bytes.push(" ");
                self.bytes.push(value);
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

    /// Whether white space may stand beside a node without being seen.
    fn is_block(&self, node: NodeId) -> bool {
        match self.document.kind(node) {
            NodeKind::Text => false,
            NodeKind::Element => self.known(node).is_none_or(|name| !INLINE.contains(&&*name)),
            _ => true,
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
                self.bytes.push(prefix);
            }
            self.bytes.push("=\"");
            escaped(&mut self.bytes, uri, Place::Attribute);
            self.bytes.push("\"");
        }
        for attribute in document.attributes(element) {
            self.attribute(attribute, known.is_some());
        }
        self.bytes.push(">");
        let mut has_content = document.first_child(element).is_some();
        if is(&["head"]) {
            has_content = true;
            self.content_type(element);
        }
        if is(&VOID) && !has_content {
            return Ok(());
        }
        let may_indent = self.indents && !is(&["pre", "script", "style", "textarea"]);
        let mut before_is_block =
            may_indent && self.is_block(element) && !is(&["p", "td", "th", "li", "h1", "h2", "h3"]);
        let mut wrote_line = false;
        for child in document.children(element) {
            if self.is_written_already(element, child) {
                continue;
            }
            let is_block = self.is_block(child);
            if may_indent && before_is_block && is_block && document.kind(child) == NodeKind::Element {
                self.bytes.push("\n");
                wrote_line = true;
            }
            self.node(child)?;
            before_is_block = may_indent && is_block;
        }
        if wrote_line && before_is_block {
            self.bytes.push("\n");
        }
        self.bytes.push("</");
        self.name(element);
        self.bytes.push(">");
        Ok(())
    }

    fn name(&mut self, node: NodeId) {
        let prefix = self.document.prefix(node);
        if !prefix.is_empty() {
            self.bytes.push(prefix);
            self.bytes.push(":");
        }
        self.bytes.push(self.document.local_name(node));
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
            escaped(&mut self.bytes, &address(value), Place::HtmlAttribute);
        } else {
            escaped(&mut self.bytes, value, Place::HtmlAttribute);
        }
        self.bytes.push("\"");
    }

    /// The `meta` that says what the bytes are, right behind the start of `head` (section 16.2).
    fn content_type(&mut self, head: NodeId) {
        if self.indents {
            self.bytes.push("\n");
        }
        self.bytes.push("<meta http-equiv=\"Content-Type\" content=\"");
        self.bytes.push(self.settings.media_type(Method::Html));
        self.bytes.push("; charset=");
        self.bytes.push(self.settings.encoding());
        self.bytes.push("\">");
        let _ = head;
    }

    /// Whether a child is the `meta` that [`HtmlWriter::content_type`] has just written in another form.
    fn is_written_already(&self, parent: NodeId, child: NodeId) -> bool {
        let is_meta = self.known(child).as_deref() == Some("meta") && self.known(parent).as_deref() == Some("head");
        is_meta
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
