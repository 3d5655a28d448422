//! What a program writes for one value: static bytes around it, and what stands there for null or for a member.
//!
//! It deliberately does not know where in a row the value is.

use super::cell::Form;
use crate::edm::{Cell, Enumeration};
use crate::escape;

/// How a null is written: the static bytes around the slot belong to a value, so some are taken back and others skipped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Null {
    /// How many bytes before the slot are taken back.
    pub(crate) take_back: u16,
    /// How many bytes behind the slot are skipped.
    pub(crate) skip: u16,
    /// What is written instead.
    pub(crate) text: &'static str,
}

/// In which syntax names of members stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// As a text of JSON, whose quotes belong to the program.
    Json,
    /// As a text of XML.
    Xml,
}

/// What a program writes for a value that is not null: static bytes around a cell.
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
