//! A compiled piece of a document: one run of static bytes, interrupted by slots in which something of the row, its
//! address or the request is written.
//!
//! It knows nothing of the formats: they push text and slots, then the program only copies. The value behind each slot
//! is written by [`super::cell`].

use std::sync::Arc;

use super::base::Base;
use super::cell::{self, Form};
use super::items::{self, ItemsForm};
use super::pattern::{Names, Null, Pattern, write_members};
use crate::edm::{Cell, Enumeration, Row};
use std::ops::Range;

/// Static bytes with slots. Neighbouring static bytes are one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    text: Vec<u8>,
    steps: Vec<SlotAt>,
    enumerations: Vec<Arc<Enumeration>>,
    items: Vec<ItemsForm>,
    size_estimate: usize,
}

#[derive(Debug, Clone, Copy)]
struct SlotAt {
    /// End of the static bytes before the slot in `Program::text`.
    end: u32,
    slot: Slot,
}

#[derive(Debug, Clone, Copy)]
enum Slot {
    /// The service root, with its slash.
    Root,
    /// The time at which the document was made.
    Updated,
    /// The entity's set and key, such as `FlightCollection(carrid='AA',…)`.
    Address,
    /// The names of the members that a value of the row is.
    Members { column: u16, enumeration: u16, syntax: Names, null: Null },
    /// A collection of the row.
    Items { column: u16, form: u16 },
    /// A value of the row.
    Cell { column: u16, form: Form, null: Null },
}

impl Program {
    /// Static bytes.
    pub(crate) fn text(&mut self, text: &str) -> &mut Program {
        self.text.extend_from_slice(text.as_bytes());
        self.size_estimate += text.len();
        self
    }

    /// Several static texts.
    pub(crate) fn texts(&mut self, texts: &[&str]) -> &mut Program {
        for text in texts {
            self.text(text);
        }
        self
    }

    /// The service root.
    pub(crate) fn root(&mut self) -> &mut Program {
        self.slot(Slot::Root, ROOT_BYTES_ASSUMED)
    }

    /// The time of the document.
    pub(crate) fn updated(&mut self) -> &mut Program {
        self.slot(Slot::Updated, "2013-09-25T00:00:00Z".len())
    }

    /// The entity's set and key; `key` is the program that [`Program::run`] will be given.
    pub(crate) fn address(&mut self, key: &Program) -> &mut Program {
        self.slot(Slot::Address, key.size_estimate)
    }

    /// A value with the static bytes of its pattern, `close` behind it, and its text when it is null.
    pub(crate) fn value(&mut self, column: usize, size: usize, pattern: Pattern, null: Null, close: &str) {
        self.text(pattern.before);
        let column = u16::try_from(column).expect("a type has fewer than 65,536 leaves");
        self.slot(Slot::Cell { column, form: pattern.form, null }, size);
        self.texts(&[pattern.after, close]);
    }

    /// The names of the value's members, `close` behind them, and their text when the value is null.
    pub(crate) fn members(
        &mut self,
        column: usize,
        (enumeration, syntax): (&Arc<Enumeration>, Names),
        null: Null,
        close: &str,
    ) {
        let column = u16::try_from(column).expect("a type has fewer than 65,536 leaves");
        let position = u16::try_from(self.enumerations.len()).expect("a type has fewer than 65,536 leaves");
        self.enumerations.push(Arc::clone(enumeration));
        self.slot(Slot::Members { column, enumeration: position, syntax, null }, MEMBER_BYTES_ASSUMED);
        self.text(close);
    }

    /// A collection, which takes about `size` bytes.
    pub(crate) fn items(&mut self, column: usize, size: usize, form: ItemsForm) {
        let column = u16::try_from(column).expect("a type has fewer than 65,536 leaves");
        let position = u16::try_from(self.items.len()).expect("a type has fewer than 65,536 leaves");
        self.items.push(form);
        self.slot(Slot::Items { column, form: position }, size);
    }

    /// Everything of another program.
    pub(crate) fn append(&mut self, other: &Program) -> &mut Program {
        let offset = u32::try_from(self.text.len()).expect("the static bytes of one entity fit 4 GiB");
        self.text.extend_from_slice(&other.text);
        let count = |known: usize| u16::try_from(known).expect("a type has fewer than 65,536 leaves");
        let (known, before) = (count(self.enumerations.len()), count(self.items.len()));
        self.steps.extend(other.steps.iter().map(|step| {
            let slot = match step.slot {
                Slot::Members { column, enumeration, syntax, null } => {
                    Slot::Members { column, enumeration: enumeration + known, syntax, null }
                }
                Slot::Items { column, form } => Slot::Items { column, form: form + before },
                slot => slot,
            };
            SlotAt { end: step.end + offset, slot }
        }));
        self.enumerations.extend_from_slice(&other.enumerations);
        self.items.extend_from_slice(&other.items);
        self.size_estimate += other.size_estimate;
        self
    }

    fn slot(&mut self, slot: Slot, size: usize) -> &mut Program {
        let end = u32::try_from(self.text.len()).expect("the static bytes of one entity fit 4 GiB");
        self.steps.push(SlotAt { end, slot });
        self.size_estimate += size;
        self
    }

    /// Whether it never writes anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.steps.is_empty()
    }

    /// Expected size of a run, in bytes.
    pub(crate) fn size_estimate(&self) -> usize {
        self.size_estimate
    }

    /// Writes it for one row. `address` is the range in `out` of the entity's address: it is rendered once per row,
    /// then copied.
    #[inline]
    pub(crate) fn run<R: Row + ?Sized>(
        &self,
        out: &mut Vec<u8>,
        base: &Base<'_>,
        key: &Program,
        address: &mut Option<Range<usize>>,
        row: &R,
    ) {
        out.reserve(self.size_estimate);
        let mut from = 0;
        for step in &self.steps {
            out.extend_from_slice(&self.text[from..step.end as usize]);
            from = step.end as usize;
            match step.slot {
                Slot::Cell { column, form, null } => from += write_cell(out, row.cell(usize::from(column)), form, null),
                Slot::Address => match address {
                    Some(range) => out.extend_from_within(range.clone()),
                    None => {
                        let start = out.len();
                        key.run_cells(out, row);
                        *address = Some(start..out.len());
                    }
                },
                Slot::Members { column, enumeration, syntax, null } => {
                    let enumeration = &self.enumerations[usize::from(enumeration)];
                    match row.cell(usize::from(column)) {
                        Cell::Null => from += write_null(out, null),
                        cell => write_members(out, cell, enumeration, syntax),
                    }
                }
                Slot::Items { column, form } => {
                    items::write(out, &self.items[usize::from(form)], row.cell(usize::from(column)));
                }
                Slot::Root => out.extend_from_slice(base.service_root().as_bytes()),
                Slot::Updated => out.extend_from_slice(base.updated().as_bytes()),
            }
        }
        out.extend_from_slice(&self.text[from..]);
    }

    /// Writes a program that consists of text and cells only.
    pub(crate) fn run_cells<R: Row + ?Sized>(&self, out: &mut Vec<u8>, row: &R) {
        let mut from = 0;
        for step in &self.steps {
            out.extend_from_slice(&self.text[from..step.end as usize]);
            from = step.end as usize;
            if let Slot::Cell { column, form, null } = step.slot {
                from += write_cell(out, row.cell(usize::from(column)), form, null);
            }
        }
        out.extend_from_slice(&self.text[from..]);
    }
}

/// Writes a value and returns the number of static bytes behind it to skip.
#[inline(always)]
fn write_cell(out: &mut Vec<u8>, cell: Cell<'_>, form: Form, null: Null) -> usize {
    if cell == Cell::Null {
        return write_null(out, null);
    }
    cell::write(out, form, cell);
    0
}

/// Writes a null and returns the number of static bytes behind it to skip.
#[inline(always)]
fn write_null(out: &mut Vec<u8>, null: Null) -> usize {
    out.truncate(out.len() - usize::from(null.take_back));
    out.extend_from_slice(null.text.as_bytes());
    usize::from(null.skip)
}

/// Bytes of a member with its quotes: it only guides how much room is reserved.
const MEMBER_BYTES_ASSUMED: usize = 12;

/// A service root of usual length: it only guides how much room is reserved, and the padding of plain XML.
const ROOT_BYTES_ASSUMED: usize = "http://127.0.0.1:50000/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/".len();
