//! A single value without any document around it: `/$value`, as `text/plain` or, for binaries, as its bytes.

use super::cell::{self, Form};
use super::element::{self, XmlDialect};
use crate::edm::{Primitive, Version};
use crate::items;
use crate::value::Cell;

/// The media type of a raw value.
pub fn content_type(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Binary { .. } => "application/octet-stream",
        _ => "text/plain;charset=utf-8",
    }
}

/// Writes a raw value, or of a collection how many values it has; null is nothing (it is answered with 404 in V2 and
/// 204 in V4). `version` is `None` for plain REST.
pub fn write(out: &mut Vec<u8>, version: Option<Version>, primitive: Primitive, value: Cell<'_>) {
    let dialect = if version == Some(Version::V2) { XmlDialect::V2 } else { XmlDialect::Rest };
    match (value, primitive) {
        (value, Primitive::Collection(_)) => {
            out.extend_from_slice(items::count(value).to_string().as_bytes());
        }
        (Cell::Null, _) => {}
        (Cell::Bytes(bytes), Primitive::Binary { .. }) => out.extend_from_slice(bytes),
        (Cell::Text(text), Primitive::String { .. }) => out.extend_from_slice(text),
        (value, primitive) => {
            let pattern = element::pattern(dialect, primitive);
            let form = match pattern.form {
                // Escaping is the document's business.
                Form::XmlText => Form::PlainText,
                form => form,
            };
            cell::write(out, form, value);
            out.extend_from_slice(pattern.after.as_bytes());
            if version == Some(Version::V4) && matches!(primitive, Primitive::DateTime { .. }) {
                out.push(b'Z');
            }
        }
    }
}
