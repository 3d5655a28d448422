//! The output method xml (XSLT 1.0, section 16.1), written as it is made; the method text is the same without markup.

use super::escape::{Slot, escaped, sections};
use super::{Bytes, OutputSettings};
use crate::error::Error;

/// Writes XML.
#[derive(Debug)]
pub(crate) struct XmlWriter {
    bytes: Bytes,
    tags: Tags,
    /// Names of the open elements behind each other, as written, and where each begins.
    names: String,
    name_starts: Vec<OpenTag>,
    cdata: Vec<(String, String)>,
    doctype: Option<(Option<String>, String)>,
    seen_element: bool,
}

#[derive(Debug, Clone, Copy)]
struct OpenTag {
    name_start: usize,
    is_cdata: bool,
}

/// Whether markup is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tags {
    /// A start tag is not ended yet: `/>` may still follow.
    Unended,
    /// All tags are ended.
    Ended,
    /// There are none: the method text.
    Never,
}

impl XmlWriter {
    /// Begins a document.
    pub(crate) fn new(settings: &OutputSettings, bytes_max: usize) -> Result<XmlWriter, Error> {
        let mut bytes = Bytes::new(settings.encoding(), bytes_max)?;
        if settings.omit_xml_declaration != Some(true) {
            bytes.push("<?xml version=\"");
            bytes.push(settings.version.as_deref().unwrap_or("1.0"));
            bytes.push("\" encoding=\"");
            bytes.push(settings.encoding());
            bytes.push("\"");
            if let Some(standalone) = settings.standalone {
                bytes.push(if standalone { " standalone=\"yes\"" } else { " standalone=\"no\"" });
            }
            bytes.push("?>\n");
        }
        // Without a system identifier there is no document type in XML.
        let doctype = settings.doctype_system.clone().map(|system| (settings.doctype_public.clone(), system));
        let cdata = settings.cdata_section_elements.clone();
        Ok(XmlWriter {
            bytes,
            tags: Tags::Ended,
            names: String::with_capacity(256),
            name_starts: Vec::with_capacity(16),
            cdata,
            doctype,
            seen_element: false,
        })
    }

    /// Begins a document of texts alone.
    pub(crate) fn texts(settings: &OutputSettings, bytes_max: usize) -> Result<XmlWriter, Error> {
        Ok(XmlWriter {
            bytes: Bytes::new(settings.encoding(), bytes_max)?,
            tags: Tags::Never,
            names: String::new(),
            name_starts: Vec::new(),
            cdata: Vec::new(),
            doctype: None,
            seen_element: false,
        })
    }

    #[inline]
    fn end_tag_start(&mut self) {
        if self.tags == Tags::Unended {
            self.bytes.push(">");
            self.tags = Tags::Ended;
        }
    }

    /// Begins an element; its declarations and attributes follow.
    pub(crate) fn start(&mut self, prefix: &str, local: &str, uri: &str) -> Result<(), Error> {
        if self.tags == Tags::Never {
            return Ok(());
        }
        self.end_tag_start();
        let is_first = !std::mem::replace(&mut self.seen_element, true);
        let name_start = self.names.len();
        if !prefix.is_empty() {
            self.names.push_str(prefix);
            self.names.push(':');
        }
        self.names.push_str(local);
        if is_first && let Some((public, system)) = self.doctype.take() {
            let name = self.names[name_start..].to_owned();
            self.document_type(&name, public.as_deref(), &system);
        }
        let is_cdata = !self.cdata.is_empty()
            && self.cdata.iter().any(|(cdata_uri, cdata_local)| cdata_local == local && cdata_uri == uri);
        self.name_starts.push(OpenTag { name_start, is_cdata });
        self.bytes.push("<");
        self.bytes.push_bare(&self.names[name_start..]);
        self.tags = Tags::Unended;
        self.bytes.check()
    }

    fn document_type(&mut self, name: &str, public: Option<&str>, system: &str) {
        self.bytes.push("<!DOCTYPE ");
        self.bytes.push_bare(name);
        match public {
            Some(public) => {
                self.bytes.push(" PUBLIC \"");
                self.bytes.push_bare(public);
                self.bytes.push("\" ");
            }
            None => self.bytes.push(" SYSTEM "),
        }
        // An identifier may hold the one kind of quotes or the other.
        let quote = if system.contains('"') { "'" } else { "\"" };
        self.bytes.push(quote);
        self.bytes.push_bare(system);
        self.bytes.push(quote);
        self.bytes.push(">\n");
    }

    /// A declaration of the element just begun.
    pub(crate) fn declaration(&mut self, prefix: &str, uri: &str) {
        if self.tags == Tags::Never {
            return;
        }
        self.bytes.push(" xmlns");
        if !prefix.is_empty() {
            self.bytes.push(":");
            self.bytes.push_bare(prefix);
        }
        self.bytes.push("=\"");
        escaped(&mut self.bytes, uri, Slot::Attribute);
        self.bytes.push("\"");
    }

    /// An attribute of the element just begun.
    pub(crate) fn attribute(&mut self, prefix: &str, local: &str, value: &str) {
        if self.tags == Tags::Never {
            return;
        }
        self.bytes.push(" ");
        if !prefix.is_empty() {
            self.bytes.push_bare(prefix);
            self.bytes.push(":");
        }
        self.bytes.push_bare(local);
        self.bytes.push("=\"");
        escaped(&mut self.bytes, value, Slot::Attribute);
        self.bytes.push("\"");
    }

    /// Ends the innermost element.
    pub(crate) fn end(&mut self) {
        let Some(open) = self.name_starts.pop() else { return };
        if self.tags == Tags::Unended {
            self.bytes.push("/>");
            self.tags = Tags::Ended;
        } else {
            self.bytes.push("</");
            self.bytes.text.extend_from_slice(&self.names.as_bytes()[open.name_start..]);
            self.bytes.push(">");
        }
        self.names.truncate(open.name_start);
    }

    /// Character data.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Error> {
        if self.tags == Tags::Never {
            self.bytes.push_bare(text);
            return self.bytes.check();
        }
        self.end_tag_start();
        match self.name_starts.last() {
            Some(OpenTag { is_cdata: true, .. }) => sections(&mut self.bytes, text),
            _ => escaped(&mut self.bytes, text, Slot::Content),
        }
        self.bytes.check()
    }

    /// Characters as they are: output escaping is disabled (section 16.4), or they are markup of the source.
    pub(crate) fn raw(&mut self, text: &str) -> Result<(), Error> {
        self.end_tag_start();
        self.bytes.push_bare(text);
        self.bytes.check()
    }

    /// A comment; `--` and an ending `-` are broken by spaces (section 7.4).
    pub(crate) fn comment(&mut self, text: &str) -> Result<(), Error> {
        if self.tags == Tags::Never {
            return Ok(());
        }
        self.end_tag_start();
        self.bytes.push("<!--");
        self.bytes.push_bare(text);
        self.bytes.push("-->");
        self.bytes.check()
    }

    /// A processing instruction.
    pub(crate) fn instruction(&mut self, target: &str, text: &str) -> Result<(), Error> {
        if self.tags == Tags::Never {
            return Ok(());
        }
        self.end_tag_start();
        self.bytes.push("<?");
        self.bytes.push_bare(target);
        if !text.is_empty() {
            self.bytes.push(" ");
            self.bytes.push_bare(text);
        }
        self.bytes.push("?>");
        self.bytes.check()
    }

    /// Whether the encoding has every character, so that markup of a source can be copied as it is.
    pub(crate) fn copies_sources(&self) -> bool {
        self.tags != Tags::Never && self.bytes.has_all() && self.cdata.is_empty()
    }

    /// All bytes.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Error> {
        self.bytes.finish()
    }
}
