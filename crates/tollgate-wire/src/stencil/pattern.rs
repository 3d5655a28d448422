//! The text that a program writes for one value: static bytes around it, and the text for null or for a member.
//!
//! It deliberately does not know where in a row the value is.

use super::cell::Form;
use crate::edm::{Cell, Enumeration};
use crate::escape;

/// The written form of a null: of the static bytes around a value, some are taken back and others skipped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Null {
    /// Number of bytes before the slot that are taken back.
    pub(crate) take_back: u16,
    /// Number of bytes behind the slot that are skipped.
    pub(crate) skip: u16,
    /// The text that is written instead.
    pub(crate) text: &'static str,
}

/// The syntax in which names of members are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// As a text of JSON, whose quotes belong to the program.
    Json,
    /// As a text of XML.
    Xml,
}

/// The text that a program writes for a value that is not null: static bytes around a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern {
    pub(crate) before: &'static str,
    pub(crate) form: Form,
    pub(crate) after: &'static str,
}

/// Writes the names of the members that a value is, which is not null.
pub(crate) fn write_members(out: &mut Vec<u8>, cell: Cell<'_>, enumeration: &Enumeration, syntax: Names) {
    // Most values are one member; nothing is gathered for them.
    if let Some(member) = enumeration.member(cell) {
        return out.extend_from_slice(member.name.as_bytes());
    }
    let mut names = String::new();
    enumeration.write_names(&mut names, cell);
    match syntax {
        Names::Json => escape::json_text(out, names.as_bytes()),
        Names::Xml => escape::xml_text(out, names.as_bytes()),
    }
}
