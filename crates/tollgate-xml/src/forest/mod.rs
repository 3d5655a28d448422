//! The documents of one evaluation: the first one, and all that are added while it runs.
//!
//! Each is known by its number, which is also its place in the order of documents.

mod names;

use std::borrow::Cow;

use elsa::FrozenVec;

pub(crate) use self::names::{NameIndex, NameTable};
use crate::names::{Name, number};
use crate::tree::{Document, Place};

/// A node of one document of a forest. The order of its values is that of the documents and of the nodes in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Item {
    /// The document, by its number.
    pub(crate) document: u32,
    /// The node in it.
    pub(crate) place: Place,
}

impl Item {
    /// A node of the first document.
    pub(crate) fn of_first(place: Place) -> Item {
        Item { document: 0, place }
    }

    /// Another node of the same document.
    pub(crate) fn beside(self, place: Place) -> Item {
        Item { document: self.document, place }
    }
}

/// The documents of one evaluation.
pub(crate) struct Forest<'c> {
    table: &'c NameTable,
    first: Tree<'c>,
    added: FrozenVec<Box<Added>>,
}

/// A document, and what the names of the expressions are in it.
#[derive(Debug, Clone)]
pub(crate) struct Tree<'c> {
    pub(crate) document: &'c Document<'c>,
    names: Cow<'c, [Option<Name>]>,
}

/// A document that was added, with what the names are in it. It owns its source: an evaluation then has one lifetime.
struct Added {
    document: Document<'static>,
    names: Vec<Option<Name>>,
}

/// A document of a forest as evaluation looks at it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'v> {
    pub(crate) document: &'v Document<'v>,
    names: &'v [Option<Name>],
}

/// Names of an expression that are looked up without allocation.
pub(crate) const NAMES_INLINE: usize = 16;

impl View<'_> {
    /// The number of a name of this document among those of the expressions.
    #[inline]
    pub(crate) fn index(&self, name: Name) -> Option<NameIndex> {
        // Few names: a look through them costs less than a table for each document.
        let position = self.names.iter().position(|known| *known == Some(name))?;
        Some(NameIndex(number(position)))
    }

    /// The document's own name for a name of the expression, if it has it.
    #[inline]
    pub(crate) fn name(&self, index: NameIndex) -> Option<Name> {
        self.names[index.0 as usize]
    }
}

impl<'c> Forest<'c> {
    /// A forest of one document. `room` takes what the names are in it, where they are few.
    pub(crate) fn new(
        document: &'c Document<'c>,
        table: &'c NameTable,
        room: &'c mut [Option<Name>; NAMES_INLINE],
    ) -> Forest<'c> {
        let names = if table.count() <= NAMES_INLINE {
            for (slot, name) in room.iter_mut().zip(table.known_in(document)) {
                *slot = name;
            }
            Cow::Borrowed(&room[..table.count()])
        } else {
            Cow::Owned(table.known_in(document).collect())
        };
        Forest { table, first: Tree { document, names }, added: FrozenVec::new() }
    }

    /// A document by its number.
    #[inline]
    pub(crate) fn view(&self, document: u32) -> View<'_> {
        match (document as usize).checked_sub(1) {
            None => View { document: self.first.document, names: &self.first.names },
            Some(index) => {
                let added = self.added.get(index).expect("documents are known by the numbers that they were given");
                View { document: &added.document, names: &added.names }
            }
        }
    }

    /// Adds a document; its number.
    pub(crate) fn add(&self, document: Document<'static>) -> u32 {
        let names = self.table.known_in(&document).collect();
        self.added.push(Box::new(Added { document, names }));
        number(self.added.len())
    }
}
