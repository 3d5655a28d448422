//! One entity as a client sent it: for each leaf of its type a checked value, an explicit null, or nothing; the
//! entities to create with it; and the entities to link it with.
//!
//! It is made to be used again: a reader fills it, a store binds out of it, and for the next entity it is reset without
//! giving its memory back. The reader of the document has checked its values ([`crate::body`]).

use std::ops::Range;

use crate::edm::{LeafId, NavigationId, SubtypeId};
use crate::plan::Key;
use crate::value::canonical::Canonical;
use crate::value::{Cell, Row, Value};

/// The values of one entity, in the canonical forms of [`crate::value`].
#[derive(Debug, Clone, Default)]
pub struct Entry {
    slots: Vec<Slot>,
    /// The bytes of all texts and binaries.
    arena: Vec<u8>,
    /// Buffer in which the reader of a body decodes escaped text.
    pub(crate) scratch: String,
    /// Entities to be created with this one (deep insert), by navigation property.
    pub children: Vec<(NavigationId, Vec<Entry>)>,
    /// Entities that exist already, or come out of another request of the same batch, to be linked with this one.
    pub links: Vec<(NavigationId, Link)>,
    /// The subtype named by the client.
    pub subtype: Option<SubtypeId>,
}

/// The entity that a link in a body means (`@odata.bind`, Atom `link href`, V2 `__metadata.uri`).
#[derive(Debug, Clone, PartialEq)]
pub enum Link {
    /// The entity with this key in the navigation property's target set.
    Key(Key),
    /// The entity that the request with this Content-ID created (`$1`).
    ContentId(String),
}

#[derive(Debug, Clone, Default)]
enum Slot {
    #[default]
    Absent,
    Null,
    Integer(i64),
    Real(f64),
    Text(Range<usize>),
    Bytes(Range<usize>),
}

impl Entry {
    /// An empty entry for a type with this number of leaves.
    pub fn new(leaves: usize) -> Entry {
        let mut entry = Entry::default();
        entry.reset(leaves);
        entry
    }

    /// Forgets all values, keeps the memory.
    pub fn reset(&mut self, leaves: usize) {
        self.slots.clear();
        self.slots.resize(leaves, Slot::Absent);
        self.arena.clear();
        self.children.clear();
        self.links.clear();
        self.subtype = None;
    }

    /// Room for texts and binaries, in bytes.
    pub fn capacity_bytes(&self) -> usize {
        self.arena.capacity()
    }

    /// Number of leaves of the type.
    pub fn leaves(&self) -> usize {
        self.slots.len()
    }

    /// The value of a leaf; `None` where the client said nothing of it.
    pub fn cell_of(&self, leaf: LeafId) -> Option<Cell<'_>> {
        match &self.slots[leaf.0] {
            Slot::Absent => None,
            Slot::Null => Some(Cell::Null),
            Slot::Integer(value) => Some(Cell::Integer(*value)),
            Slot::Real(value) => Some(Cell::Real(*value)),
            Slot::Text(range) => Some(Cell::Text(&self.arena[range.clone()])),
            Slot::Bytes(range) => Some(Cell::Bytes(&self.arena[range.clone()])),
        }
    }

    /// Whether a leaf was given, null included.
    pub fn is_set(&self, leaf: LeafId) -> bool {
        !matches!(self.slots[leaf.0], Slot::Absent)
    }

    /// Forgets what was said of a leaf.
    pub fn unset(&mut self, leaf: LeafId) {
        self.slots[leaf.0] = Slot::Absent;
    }

    /// Sets a leaf to null.
    pub fn set_null(&mut self, leaf: LeafId) {
        self.slots[leaf.0] = Slot::Null;
    }

    /// Sets a Boolean (0 or 1) or an integer.
    pub fn set_integer(&mut self, leaf: LeafId, value: i64) {
        self.slots[leaf.0] = Slot::Integer(value);
    }

    /// Sets a Single or Double.
    pub fn set_real(&mut self, leaf: LeafId, value: f64) {
        self.slots[leaf.0] = Slot::Real(value);
    }

    /// Sets a value that is text in its canonical form.
    pub fn set_text(&mut self, leaf: LeafId, text: &str) {
        self.slots[leaf.0] = Slot::Text(self.keep(text.as_bytes()));
    }

    /// Sets a Binary.
    pub fn set_bytes(&mut self, leaf: LeafId, bytes: &[u8]) {
        self.slots[leaf.0] = Slot::Bytes(self.keep(bytes));
    }

    /// Sets a leaf to what `cell` is.
    pub fn set(&mut self, leaf: LeafId, cell: Cell<'_>) {
        self.slots[leaf.0] = match cell {
            Cell::Null => Slot::Null,
            Cell::Integer(value) => Slot::Integer(value),
            Cell::Real(value) => Slot::Real(value),
            Cell::Text(text) => Slot::Text(self.keep(text)),
            Cell::Bytes(bytes) => Slot::Bytes(self.keep(bytes)),
        };
    }

    /// Sets a leaf to what `write` appends to the bytes that it is given, or says without appending anything.
    #[inline]
    pub(crate) fn write<E>(
        &mut self,
        leaf: LeafId,
        write: impl FnOnce(&mut Vec<u8>) -> Result<Canonical, E>,
    ) -> Result<(), E> {
        let begin = self.arena.len();
        self.slots[leaf.0] = match write(&mut self.arena)? {
            Canonical::Integer(value) => Slot::Integer(value),
            Canonical::Real(value) => Slot::Real(value),
            Canonical::Text => Slot::Text(begin..self.arena.len()),
            Canonical::Bytes => Slot::Bytes(begin..self.arena.len()),
        };
        Ok(())
    }

    /// Whether nothing was given at all.
    pub fn is_empty(&self) -> bool {
        let silent = |slot: &Slot| matches!(slot, Slot::Absent);
        self.slots.iter().all(silent) && self.children.is_empty() && self.links.is_empty()
    }

    /// An entry with a value for each leaf.
    pub fn of_values(values: &[Value]) -> Entry {
        let mut entry = Entry::new(values.len());
        for (leaf, value) in values.iter().enumerate() {
            entry.set(LeafId(leaf), value.cell());
        }
        entry
    }

    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let begin = self.arena.len();
        self.arena.extend_from_slice(bytes);
        begin..self.arena.len()
    }
}

/// An entry is a row with all leaves as its columns; what is absent reads as null.
impl Row for Entry {
    fn cell(&self, column: usize) -> Cell<'_> {
        self.cell_of(LeafId(column)).unwrap_or(Cell::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_is_absent_null_or_has_a_value_and_is_forgotten_by_a_reset() {
        let mut entry = Entry::new(3);
        entry.set_text(LeafId(0), "A");
        entry.set_text(LeafId(0), "Bé");
        entry.set_null(LeafId(1));
        assert_eq!(entry.cell_of(LeafId(0)), Some(Cell::Text("Bé".as_bytes())));
        assert_eq!(entry.cell_of(LeafId(1)), Some(Cell::Null));
        assert_eq!(entry.cell_of(LeafId(2)), None);
        assert_eq!(entry.cell(2), Cell::Null);
        entry.reset(2);
        assert_eq!((entry.leaves(), entry.is_set(LeafId(0)), entry.is_set(LeafId(1))), (2, false, false));
    }
}
