//! Documents of entities, compiled once and then only filled in: a [`Stencil`] contains everything about one entity set
//! in one format that does not depend on the row, a [`Writer`] fills one document of it, straight into the buffer that
//! is sent.
//!
//! It deliberately does not buffer rows, does not decide what a page is, and knows no format: rows come in document
//! order, their reader may send and empty the buffer between two calls, and each format is a `Notation`.
//!
//! ```text
//! let stencil = Stencil::compile(model, set, format, &select, &expand);
//! let mut writer = stencil.writer(Base::new(service_root, updated));
//! writer.feed_begin(out, &FeedHead { path, count });                 // or document_begin for a single entity
//! for row {                                                          // without expansions just writer.entry(out, row)
//!     writer.entry_begin(out, row);
//!     for index in 0..stencil.expansions() {
//!         writer.expand_begin(out, index, row);            // before it expand_total(total), if it is shown
//!         for child {
//!             writer.expand_entity(out, child);            // then what it has expanded itself, in the same way
//!             writer.expand_entity_end(out, child);
//!         }
//!         writer.expand_end(out);
//!     }
//!     writer.entry_end(out, row);
//! }
//! writer.feed_end(out, next_link);                                   // or document_end
//! ```

mod base;
pub(crate) mod cell;
pub(crate) mod element;
pub(crate) mod items;
pub(crate) mod outline;
mod parts;
pub(crate) mod pattern;
pub(crate) mod program;
pub mod raw;
mod writer;

pub use base::{Base, FeedHead};
pub(crate) use parts::{ChosenBy, PartPrograms};
pub use writer::Writer;

use crate::edm::{Model, Row, SetId, Version};
use crate::format::Format;
use crate::plan::{Expand, Select, Shown};
use outline::{Member, Outline};
use program::Program;
use std::borrow::Cow;
use std::fmt::Debug;

/// A compiled document of one entity set, format, selection and expansion. It can be kept and shared by all requests
/// that ask for the same.
#[derive(Debug, Clone)]
pub struct Stencil {
    pub(crate) format: Format,
    pub(crate) notation: &'static dyn Notation,
    pub(crate) content: Content,
    pub(crate) set_name: String,
    /// V4: the text behind `$metadata#` for a collection.
    pub(crate) context: String,
    /// The beginning of an entry as the first of a collection, as a later one, and as a document of its own.
    pub(crate) first: String,
    pub(crate) next: String,
    pub(crate) document: Program,
    /// Whether `document` has put a member into the JSON object, so that an expansion needs a comma before it.
    pub(crate) document_has_member: bool,
    /// The entry up to its expansions, and behind them.
    pub(crate) begin: Program,
    /// The programs that replace `begin`, chosen by a column of the row.
    pub(crate) parts: Option<Box<PartPrograms>>,
    pub(crate) expansions: Vec<Expansion>,
    pub(crate) end: Program,
    /// The end of a document of its own.
    pub(crate) document_end: &'static str,
    pub(crate) key: Program,
    pub(crate) etag: Option<Program>,
}

/// The content of a stencil's documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Entities, or a property of one.
    Entities,
    /// References to entities.
    References,
}

/// An expanded navigation property inside of an entry.
#[derive(Debug, Clone)]
pub(crate) struct Expansion {
    /// The text between this and a member before it.
    pub(crate) separator: &'static str,
    /// Whether each program of the entity has it; `None` if all do.
    pub(crate) by: Option<Box<[bool]>>,
    pub(crate) begin: Program,
    /// The text if nothing is related.
    pub(crate) nothing: &'static str,
    /// The end of the list of related entities.
    pub(crate) list_end: &'static str,
    /// The link to further ones, if it is to-many.
    pub(crate) next: Option<NextLink>,
    pub(crate) end: Cow<'static, str>,
    /// The text around the number of related entities, if it is shown.
    pub(crate) total: Option<Total>,
    pub(crate) child: Stencil,
}

/// The form of a link to further related entities.
#[derive(Debug, Clone)]
pub(crate) struct NextLink {
    /// The path behind the entity's address.
    pub(crate) path: String,
    pub(crate) before: String,
    pub(crate) after: &'static str,
    pub(crate) escape: fn(&mut Vec<u8>, &[u8]),
}

/// The text around a number of related entities.
#[derive(Debug, Clone)]
pub(crate) struct Total {
    pub(crate) before: String,
    pub(crate) after: &'static str,
}

/// The way in which a format writes documents. [`crate::document`] knows which format has which.
pub(crate) trait Notation: Debug + Sync {
    /// Compiles entities with what is expanded.
    fn entities(&self, stencil: &mut Stencil, outline: &Outline<'_>);

    /// Compiles one property of an entity, or another value that is the whole document.
    fn value(&self, stencil: &mut Stencil, outline: &Outline<'_>, whole: Whole<'_>, member: &Member<'_>);

    /// Compiles references to entities.
    fn references(&self, stencil: &mut Stencil, outline: &Outline<'_>);

    /// Writes the text before the entities of a collection.
    fn feed_begin(&self, out: &mut Vec<u8>, stencil: &Stencil, base: &Base<'_>, head: &FeedHead<'_>);

    /// Writes the text behind the entities of a collection.
    fn feed_end(&self, out: &mut Vec<u8>, stencil: &Stencil, next_link: Option<&str>);
}

/// The kind of a value that is a document of its own.
#[derive(Clone, Copy)]
pub(crate) enum Whole<'a> {
    /// The property of an entity with this path.
    Property(&'a str),
    /// A value of this type.
    Type(&'a str),
}

impl Stencil {
    /// The documents of entities.
    pub(crate) fn of_entities(format: Format, notation: &'static dyn Notation, outline: &Outline<'_>) -> Stencil {
        let mut stencil = Stencil::blank(format, notation, outline);
        notation.entities(&mut stencil, outline);
        stencil
    }

    /// The documents of references to the entities of a set; a format without references shows the keys of the entities.
    pub(crate) fn of_references(format: Format, notation: &'static dyn Notation, model: &Model, set: SetId) -> Stencil {
        let select = Select::key_of(model.type_of(set));
        let outline = Outline::new(model, set, &select, &[]);
        if format.version().is_none() {
            return Stencil::of_entities(format, notation, &outline);
        }
        let mut stencil = Stencil::blank(format, notation, &outline);
        stencil.content = Content::References;
        // The ETag is that of the entity, which is not shown.
        stencil.etag = None;
        notation.references(&mut stencil, &outline);
        stencil
    }

    /// The documents of what is expanded.
    pub(crate) fn child(&self, outline: &Outline<'_>, expand: &Expand) -> Stencil {
        let (model, set) = (outline.model, expand.target);
        match expand.shown {
            Shown::Entities | Shown::Number => {
                let inner = Outline::under(model, set, self.format, &expand.options);
                Stencil::of_entities(self.format, self.notation, &inner)
            }
            Shown::References => Stencil::of_references(self.format, self.notation, model, set),
        }
    }

    /// A stencil that writes nothing yet.
    pub(crate) fn blank(format: Format, notation: &'static dyn Notation, outline: &Outline<'_>) -> Stencil {
        let version = format.version().unwrap_or(Version::V4);
        Stencil {
            format,
            notation,
            content: Content::Entities,
            set_name: outline.set_name().to_owned(),
            context: String::new(),
            first: String::new(),
            next: String::new(),
            document: Program::default(),
            document_has_member: false,
            begin: Program::default(),
            parts: None,
            expansions: Vec::new(),
            end: Program::default(),
            document_end: "",
            key: outline.address(version),
            etag: outline.etag(version),
        }
    }

    /// Number of expanded navigation properties.
    pub fn expansions(&self) -> usize {
        self.expansions.len()
    }

    /// The format of the documents.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes the value of the `ETag` header field, `W/"…"`; nothing and `false` if the type has none.
    pub fn write_etag<R: Row + ?Sized>(&self, out: &mut Vec<u8>, row: &R) -> bool {
        let Some(etag) = &self.etag else { return false };
        out.extend_from_slice(b"W/\"");
        etag.run_cells(out, row);
        out.push(b'"');
        true
    }

    /// Writes the entity's address below the service root: set and key, percent-encoded.
    pub fn write_address<R: Row + ?Sized>(&self, out: &mut Vec<u8>, row: &R) {
        self.key.run_cells(out, row);
    }
}
