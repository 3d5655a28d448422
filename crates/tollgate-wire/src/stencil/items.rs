//! A collection of values in a document: its canonical array, taken apart and written as the format has it.
//!
//! Most arrays of JSON are written as a store hands them out, without being looked into.

use std::sync::Arc;

use super::cell;
use super::pattern::{Names, Pattern, write_members};
use crate::edm::{Cell, Enumeration};
use crate::items;

/// The written form of a collection.
#[derive(Debug, Clone)]
pub(crate) struct ItemsForm {
    pub(crate) begin: &'static str,
    pub(crate) between: &'static str,
    pub(crate) end: &'static str,
    pub(crate) item: Pattern,
    pub(crate) null: &'static str,
    /// The enumeration whose members are its values; their names then replace the pattern's cell.
    pub(crate) enumeration: Option<(Arc<Enumeration>, Names)>,
    pub(crate) array: Array,
}

/// The written form of the canonical array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Array {
    /// The document has it as it is.
    Copied,
    /// The document has its values in another form.
    Rewritten,
}

/// Writes a collection; null is an empty one.
pub(crate) fn write(out: &mut Vec<u8>, form: &ItemsForm, cell: Cell<'_>) {
    let array = match cell {
        Cell::Text(array) => array,
        _ => b"[]",
    };
    if form.array == Array::Copied {
        return out.extend_from_slice(array);
    }
    out.extend_from_slice(form.begin.as_bytes());
    let mut first = true;
    items::cells(array, |value| {
        if !std::mem::take(&mut first) {
            out.extend_from_slice(form.between.as_bytes());
        }
        match (value, &form.enumeration) {
            (Cell::Null, _) => out.extend_from_slice(form.null.as_bytes()),
            (value, enumeration) => {
                out.extend_from_slice(form.item.before.as_bytes());
                match enumeration {
                    None => cell::write(out, form.item.form, value),
                    Some((enumeration, syntax)) => write_members(out, value, enumeration, *syntax),
                }
                out.extend_from_slice(form.item.after.as_bytes());
            }
        }
    });
    out.extend_from_slice(form.end.as_bytes());
}
