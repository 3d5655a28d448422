//! The values of a row, written in the form that a format wants.
//!
//! A store hands out canonical texts (see [`crate::value`]). One that is not canonical, a store's fault, is written as
//! a text that keeps the document well-formed. Nulls are the program's business.

use crate::address::{encode as percent_encode, write_literal};
use crate::edm::{Primitive, Version};
use crate::number::{Width, is_plain_number, write_integer, write_real};
use crate::value::Cell;
use crate::{base64, date, escape};

/// The written form of a value. The bytes around it (quotes, tags) belong to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text that is the whole document.
    PlainText,
    /// Text in an XML element.
    XmlText,
    /// Text in an XML attribute.
    XmlAttribute,
    /// Text in a JSON string.
    JsonText,
    /// Digits of an integer, in XML, JSON and URLs alike.
    Integer(Syntax),
    /// `true` or `false`.
    Boolean(Syntax),
    /// Digits of a decimal as a JSON number.
    JsonDecimal,
    /// A real: `INF` and its kin need quotes in [`Syntax::Json`].
    Real(Syntax, Width),
    /// Milliseconds since 1970 inside `/Date(…)/`.
    Ticks,
    /// V2's `PT11H00M00S`.
    TimeAsDuration(Syntax),
    /// Base64 with padding.
    Base64(Syntax),
    /// Base64url without padding.
    Base64Url(Syntax),
    /// A text inside the quotes of a URL literal, percent-encoded.
    UrlText,
    /// A whole URL literal, percent-encoded.
    UrlLiteral(Version, Primitive),
}

/// The syntax around a form; the fallback for a value that does not fit its type depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// XML element content.
    Xml,
    /// A JSON value without quotes around it.
    Json,
    /// Inside the quotes of a JSON string.
    JsonQuoted,
    /// A document that is only the value.
    Plain,
}

/// Writes a value that is not null.
#[inline]
pub(crate) fn write(out: &mut Vec<u8>, form: Form, cell: Cell<'_>) {
    match (form, cell) {
        (Form::XmlText, Cell::Text(text)) => escape::xml_text(out, text),
        (Form::JsonText, Cell::Text(text)) => escape::json_text(out, text),
        (Form::Integer(_), Cell::Integer(value)) => write_integer(out, value),
        (Form::JsonDecimal, Cell::Text(text)) if is_plain_number(text) => out.extend_from_slice(text),
        (Form::UrlText, Cell::Text(text)) => escape::url_text(out, text, |out, text| {
            write_quoted_url_text(out, text);
        }),
        _ => write_rare(out, form, cell),
    }
}

#[inline(never)]
fn write_rare(out: &mut Vec<u8>, form: Form, cell: Cell<'_>) {
    match (form, cell) {
        (Form::Boolean(_), Cell::Integer(value)) => {
            out.extend_from_slice(if value == 0 { b"false".as_slice() } else { b"true".as_slice() });
        }
        (Form::Real(Syntax::Json, width), Cell::Real(value)) if !value.is_finite() => {
            out.push(b'"');
            write_real(out, value, width);
            out.push(b'"');
        }
        (Form::Real(_, width), Cell::Real(value)) => write_real(out, value, width),
        // SQLite hands out a whole number in a REAL column as an integer.
        (Form::Real(_, width), Cell::Integer(value)) => write_real(out, value as f64, width),
        (Form::Ticks, Cell::Text(text)) => match date::epoch_ms(text) {
            Some(epoch_ms) => write_integer(out, epoch_ms),
            None => fallback(out, Syntax::JsonQuoted, Cell::Text(text)),
        },
        (Form::TimeAsDuration(syntax), Cell::Text(text)) => {
            let at = out.len();
            date::v2_time_from_text(out, text);
            if !out[at..].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'.') {
                out.truncate(at);
                fallback(out, syntax, Cell::Text(text));
            }
        }
        (Form::Base64(_), Cell::Bytes(bytes)) => base64::encode(out, bytes),
        (Form::Base64Url(_), Cell::Bytes(bytes)) => base64::encode_url(out, bytes),
        (Form::UrlLiteral(version, primitive), cell) => write_literal(out, version, primitive, cell),
        (Form::UrlText, cell) => {
            let mut text = Vec::new();
            fallback(&mut text, Syntax::Plain, cell);
            write_quoted_url_text(out, &text);
        }
        (Form::XmlAttribute, Cell::Text(text)) => escape::xml_attribute(out, text),
        (Form::XmlAttribute, cell) => fallback(out, Syntax::Xml, cell),
        (Form::PlainText, cell) => fallback(out, Syntax::Plain, cell),
        (Form::XmlText, cell) => fallback(out, Syntax::Xml, cell),
        (Form::JsonText | Form::Ticks, cell) => fallback(out, Syntax::JsonQuoted, cell),
        (Form::JsonDecimal, cell) => fallback(out, Syntax::Json, cell),
        (
            Form::Integer(syntax)
            | Form::Boolean(syntax)
            | Form::Real(syntax, _)
            | Form::TimeAsDuration(syntax)
            | Form::Base64(syntax)
            | Form::Base64Url(syntax),
            cell,
        ) => fallback(out, syntax, cell),
    }
}

/// A value that the form did not expect: its plain text, in quotes where the document would break without them.
#[cold]
fn fallback(out: &mut Vec<u8>, syntax: Syntax, cell: Cell<'_>) {
    match (syntax, cell) {
        (Syntax::Json, Cell::Text(text)) if is_plain_number(text) => out.extend_from_slice(text),
        (Syntax::Json, Cell::Text(text)) => {
            out.push(b'"');
            escape::json_text(out, text);
            out.push(b'"');
        }
        (Syntax::JsonQuoted, Cell::Text(text)) => escape::json_text(out, text),
        (Syntax::Xml, Cell::Text(text)) => escape::xml_text(out, text),
        (Syntax::Plain, Cell::Text(text)) => out.extend_from_slice(String::from_utf8_lossy(text).as_bytes()),
        (_, Cell::Integer(value)) => write_integer(out, value),
        (Syntax::Json, Cell::Real(value)) => {
            write_rare(out, Form::Real(Syntax::Json, Width::Double), Cell::Real(value))
        }
        (_, Cell::Real(value)) => write_real(out, value, Width::Double),
        (Syntax::Json, Cell::Bytes(bytes)) => {
            out.push(b'"');
            base64::encode(out, bytes);
            out.push(b'"');
        }
        (_, Cell::Bytes(bytes)) => base64::encode(out, bytes),
        (_, Cell::Null) => {}
    }
}

/// Text inside the quotes of a URL literal: a quote is doubled, the rest percent-encoded.
fn write_quoted_url_text(out: &mut Vec<u8>, text: &[u8]) {
    for (part, between_quotes) in text.split(|byte| *byte == b'\'').enumerate() {
        if part > 0 {
            out.extend_from_slice(b"''");
        }
        percent_encode(out, between_quotes);
    }
}
