//! Results in one form, so that what means the same compares equal.
//!
//! It deliberately does not compare layout: cases that need it compare byte by byte.

use std::fmt::Write;

use tollgate_xml::tree::{NodeId, NodeKind};
use tollgate_xml::{Doctype, Document, Options};

/// Whether texts of white space alone count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blanks {
    Count,
    Ignored,
}

/// A result of the method xml: names with their namespaces in the place of prefixes, attributes in the order of their
/// names, texts as they read.
pub(crate) fn xml(bytes: &[u8], blanks: Blanks) -> Result<String, String> {
    let decoded = Document::decode(bytes).map_err(|error| error.to_string())?;
    let text = decoded.trim_start_matches('\u{FEFF}');
    let text = match text.strip_prefix("<?xml ") {
        Some(rest) => rest.split_once("?>").map_or(text, |(_, behind)| behind.trim_start_matches('\n')),
        None => text,
    };
    let text = text.strip_suffix('\n').unwrap_or(text);
    let options = Options { doctype: Doctype::InternalSubset, ..Options::default() };
    let mut canonical = String::new();
    // A result need not be a document: what stands in a frame is any well-formed content.
    let framed = format!("<frame>{text}</frame>");
    if let Ok(document) = Document::parse(&framed) {
        let frame = document.document_element().unwrap();
        document.children(frame).for_each(|node| push(&mut canonical, &document, node, blanks));
    } else {
        let document = Document::parse_with(text, &options).map_err(|error| format!("{error}: {text}"))?;
        document.children(NodeId::ROOT).for_each(|node| push(&mut canonical, &document, node, blanks));
    }
    Ok(canonical)
}

fn push(canonical: &mut String, document: &Document<'_>, node: NodeId, blanks: Blanks) {
    let value = document.string_value(node);
    match document.kind(node) {
        NodeKind::Element => {
            let name = expanded(document, node);
            let mut attributes: Vec<(String, String)> = document
                .attributes(node)
                .map(|attribute| (expanded(document, attribute), document.string_value(attribute).into_owned()))
                .collect();
            attributes.sort();
            write!(canonical, "<{name}").unwrap();
            for (name, value) in attributes {
                write!(canonical, " {name}={value:?}").unwrap();
            }
            canonical.push('>');
            document.children(node).for_each(|child| push(canonical, document, child, blanks));
            write!(canonical, "</{name}>").unwrap();
        }
        NodeKind::Text if blanks == Blanks::Ignored && value.trim().is_empty() => {}
        NodeKind::Text => canonical.push_str(&value.replace('&', "&amp;").replace('<', "&lt;")),
        NodeKind::Comment => write!(canonical, "<!--{value}-->").unwrap(),
        NodeKind::ProcessingInstruction => write!(canonical, "<?{} {value}?>", document.local_name(node)).unwrap(),
        NodeKind::Root | NodeKind::Attribute => {}
    }
}

fn expanded(document: &Document<'_>, node: NodeId) -> String {
    match document.namespace_uri(node) {
        "" => document.local_name(node).to_owned(),
        uri => format!("{{{uri}}}{}", document.local_name(node)),
    }
}

/// A result of the method html: its tags and texts in order, white space beside tags away.
pub(crate) fn html(bytes: &[u8]) -> String {
    let text = printable(bytes);
    let mut canonical = String::new();
    for (index, piece) in text.split('<').enumerate() {
        let (tag, text) = if index == 0 { ("", piece) } else { piece.split_once('>').unwrap_or((piece, "")) };
        if !tag.is_empty() {
            writeln!(canonical, "<{tag}>").unwrap();
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        if !words.is_empty() {
            writeln!(canonical, "{}", words.join(" ")).unwrap();
        }
    }
    canonical
}

/// Bytes as a text that shows those that are no UTF-8, without a line's end behind the last line.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| shown(*byte)).collect(),
    };
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

fn shown(byte: u8) -> String {
    if byte.is_ascii() { char::from(byte).to_string() } else { format!("\\x{byte:02X}") }
}
