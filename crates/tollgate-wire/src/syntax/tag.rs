//! Tags of XML as they are written: the declaration, start and end tags, elements with a text.
//!
//! It deliberately keeps no account of what is open.

use crate::escape;

/// The beginning of every document.
pub(crate) const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";

/// Writes a start tag; attribute values are escaped.
pub(crate) fn open(out: &mut Vec<u8>, name: &str, attributes: &[(&str, &str)]) {
    start(out, name, attributes);
    out.push(b'>');
}

/// Writes an element without content.
pub(crate) fn empty(out: &mut Vec<u8>, name: &str, attributes: &[(&str, &str)]) {
    start(out, name, attributes);
    out.extend_from_slice(b"/>");
}

fn start(out: &mut Vec<u8>, name: &str, attributes: &[(&str, &str)]) {
    out.push(b'<');
    out.extend_from_slice(name.as_bytes());
    for (name, value) in attributes {
        out.push(b' ');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"=\"");
        escape::xml_attribute(out, value.as_bytes());
        out.push(b'"');
    }
}

/// Writes an end tag.
pub(crate) fn close(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b"</");
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
}

/// Writes an element that contains only text.
pub(crate) fn text_element(out: &mut Vec<u8>, name: &str, text: &str) {
    open(out, name, &[]);
    escape::xml_text(out, text.as_bytes());
    close(out, name);
}
