//! Documents of entities, compiled once and then only filled in: a [`Stencil`] holds everything about one entity set in
//! one format that does not depend on the row, a [`Writer`] fills one document of it, straight into the buffer that is
//! sent.
//!
//! It deliberately does not buffer rows, and does not decide what a page is: rows come in document order, whoever reads
//! them may send and empty the buffer between two calls.
//!
//! ```text
//! let stencil = Stencil::compile(model, set, format, &select, &expand);
//! let mut writer = stencil.writer(Base::new(service_root, updated));
//! writer.feed_begin(out, &FeedHead { path, count });                 // or document_begin for a single entity
//! for row {                                                          // without expansions just writer.entry(out, row)
//!     writer.entry_begin(out, row);
//!     for index in 0..stencil.expansions() {
//!         writer.expand_begin(out, index, row);            // before it expand_total(total), where it is told
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

pub(crate) mod cell;
pub(crate) mod items;
pub(crate) mod outline;
mod parts;
pub(crate) mod program;
pub mod raw;
mod singleton;
mod writer;

pub(crate) use parts::{ChosenBy, PartPrograms};
pub use writer::Writer;

use crate::edm::{Model, PropertyKind, SetId, Version};
use crate::format::Format;
use crate::json::v4::Style;
use crate::plan::{Called, Expand, Options, Select, Shape};
use crate::relation::Applied;
use crate::value::Row;
use crate::{atom, json, rest};
use outline::{Field, Member, Outline};
use program::Program;
use std::borrow::Cow;

/// What of a document depends on the request, not on the row.
#[derive(Debug, Clone)]
pub struct Base<'a> {
    service_root: Cow<'a, str>,
    updated: &'a str,
}

impl<'a> Base<'a> {
    /// `service_root` is the absolute URL of the service with its slash at the end; characters that have no place in a
    /// URL (the host comes from the client) are percent-encoded. `updated` is the time of the answer as Atom writes it,
    /// such as `2013-09-25T00:00:00Z`.
    pub fn new(service_root: &'a str, updated: &'a str) -> Base<'a> {
        let has_place = |byte: u8| HAS_PLACE[usize::from(byte)];
        let service_root = if !service_root.bytes().all(has_place) {
            let encode = |byte: u8| match has_place(byte) {
                true => char::from(byte).to_string(),
                false => format!("%{byte:02X}"),
            };
            Cow::Owned(service_root.bytes().map(encode).collect())
        } else {
            Cow::Borrowed(service_root)
        };
        Base { service_root, updated }
    }

    /// The absolute URL of the service, with its slash.
    pub fn service_root(&self) -> &str {
        &self.service_root
    }

    /// The time of the answer.
    pub fn updated(&self) -> &str {
        self.updated
    }
}

/// The bytes that may stand in a URL, and in a document around it, as they are.
const HAS_PLACE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        let character = byte as u8;
        table[byte] = character.is_ascii_graphic()
            && !matches!(character, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | b'&');
        byte += 1;
    }
    table
};

/// What stands at the head of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedHead<'a> {
    /// The path of the collection below the service root as it was asked for, without its query: `FlightCollection`.
    pub path: &'a str,
    /// The number of all matching entities, if it was asked for.
    pub count: Option<u64>,
}

/// A compiled document of one entity set, format, selection and expansion. It can be kept and shared by all requests
/// that ask for the same.
#[derive(Debug, Clone)]
pub struct Stencil {
    pub(crate) format: Format,
    pub(crate) content: Content,
    pub(crate) set_name: String,
    /// V4: what stands behind `$metadata#` for a collection.
    pub(crate) context: String,
    /// What begins an entry as the first of a collection, as a later one, and as a document of its own.
    pub(crate) first: String,
    pub(crate) next: String,
    pub(crate) document: Program,
    /// Whether `document` has put a member into the JSON object, so that a comma must stand before an expansion.
    pub(crate) document_has_member: bool,
    /// The entry up to its expansions, and behind them.
    pub(crate) begin: Program,
    /// What stands there instead, by what a column of the row says.
    pub(crate) parts: Option<Box<PartPrograms>>,
    pub(crate) expansions: Vec<Expansion>,
    pub(crate) end: Program,
    /// What ends a document of its own.
    pub(crate) document_end: &'static str,
    pub(crate) key: Program,
    pub(crate) etag: Option<Program>,
}

/// What the documents of a stencil are made of.
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
    /// What stands between this and a member before it.
    pub(crate) separator: &'static str,
    /// Which programs of the entity have it; nothing where all do.
    pub(crate) by: Option<Box<[bool]>>,
    pub(crate) begin: Program,
    /// What stands there if nothing is related.
    pub(crate) nothing: &'static str,
    /// What ends the list of related entities.
    pub(crate) list_end: &'static str,
    /// How the link to further ones is written, of what may be many.
    pub(crate) next: Option<NextLink>,
    pub(crate) end: Cow<'static, str>,
    /// What stands around the number of related entities, where it is told.
    pub(crate) total: Option<Total>,
    pub(crate) child: Stencil,
}

/// How a link to further related entities is written.
#[derive(Debug, Clone)]
pub(crate) struct NextLink {
    /// The path behind the entity's address.
    pub(crate) path: String,
    pub(crate) before: String,
    pub(crate) after: &'static str,
    pub(crate) escape: fn(&mut Vec<u8>, &[u8]),
}

/// What stands around a number of related entities.
#[derive(Debug, Clone)]
pub(crate) struct Total {
    pub(crate) before: String,
    pub(crate) after: &'static str,
}

impl Stencil {
    /// Compiles the documents of a set. Rows must have their columns in the order of
    /// [`Columns::new`](crate::plan::Columns::new) for the same type, `select` and `expand`.
    pub fn compile(model: &Model, set: SetId, format: Format, select: &Select, expand: &[Expand]) -> Stencil {
        let outline = Outline::new(model, set, select, expand);
        let mut stencil = Stencil::blank(&outline, format);
        match format {
            Format::V4Json { metadata, ieee754, release } => {
                json::v4::compile(&mut stencil, &outline, Style { metadata, ieee754, release });
            }
            Format::RestJson => rest::compile_json(&mut stencil, &outline),
            Format::RestXml { padding } => rest::compile_xml(&mut stencil, &outline, padding),
            Format::V2Atom => atom::write::compile(&mut stencil, &outline),
            Format::V2Json => json::v2::compile(&mut stencil, &outline),
        }
        stencil
    }

    /// Compiles the documents of a set under all options: with computed properties, whose columns stand behind those of the
    /// entity, and seen as the type that the path casts to.
    pub fn compile_computed(model: &Model, set: SetId, format: Format, options: &Options) -> Stencil {
        let outline = Outline {
            computed: &options.compute,
            singleton: options.singleton.map(|index| model.singletons[index].name.as_str()),
            declared: options.subtype,
            ..Outline::new(model, set, &options.select, &options.expand)
        };
        let mut stencil = Stencil::blank(&outline, format);
        match format {
            Format::V4Json { metadata, ieee754, release } => {
                json::v4::compile(&mut stencil, &outline, Style { metadata, ieee754, release });
            }
            Format::RestJson | Format::RestXml { .. } | Format::V2Atom | Format::V2Json => {
                return Stencil::compile(model, set, format, &options.select, &options.expand);
            }
        }
        stencil
    }

    /// Compiles the documents of what `$apply` has made, which V4 has only in JSON: rows have the columns that are shown.
    pub fn compile_rows(model: &Model, set: SetId, format: Format, applied: &Applied) -> Stencil {
        let mut stencil = Stencil::blank(&Outline::new(model, set, &Select::All, &[]), format);
        stencil.etag = None;
        if let Format::V4Json { metadata, ieee754, release } = format {
            json::rows::compile(&mut stencil, model, applied, Style { metadata, ieee754, release });
        }
        stencil
    }

    /// Compiles the document of one property of an entity: `shape` is [`Shape::Property`] or [`Shape::Leaf`], any other
    /// gives the whole entity. Write it as a document with one entry. Columns as in [`Stencil::compile`].
    pub fn compile_property(model: &Model, set: SetId, format: Format, select: &Select, shape: Shape) -> Stencil {
        let outline = Outline::new(model, set, select, &[]);
        let Some((path, member)) = outline.part(shape) else {
            return Stencil::compile(model, set, format, select, &[]);
        };
        let mut stencil = Stencil::blank(&outline, format);
        match format {
            Format::V4Json { metadata, ieee754, release } => {
                let style = Style { metadata, ieee754, release };
                let path = format!("{}{path}", outline.cast_from_set(outline.declares_part(shape)));
                let of = json::v4::Whole::Property(&path);
                json::v4::compile_property(&mut stencil, &outline, of, &member, style);
            }
            Format::RestJson => rest::compile_json_property(&mut stencil, &member),
            Format::RestXml { .. } => rest::compile_xml_property(&mut stencil, &member),
            Format::V2Atom => atom::write::compile_property(&mut stencil, &outline, &member),
            Format::V2Json => json::v2::compile_property(&mut stencil, &outline, &member),
        }
        stencil
    }

    /// Compiles the document of the complex value that a function returns: rows have the columns that `options` select,
    /// and behind them what is computed. `None` where the function returns no such value.
    pub fn compile_returned(
        model: &Model,
        set: SetId,
        format: Format,
        called: &Called,
        options: &Options,
    ) -> Option<Stencil> {
        let complex = called.returned?;
        let outline = Outline::new(model, set, &options.select, &[]);
        let declared = &model.complex_types[complex.0];
        let fields = declared.properties.iter().enumerate().filter_map(|(index, property)| match property.kind {
            PropertyKind::Primitive(primitive) => {
                let column = outline.columns.leaves.len() + index;
                Some(Field { name: &property.name, primitive, column, enumeration: None })
            }
            PropertyKind::Enumeration(..) | PropertyKind::Complex(_) => None,
        });
        let name = &model.function_imports[called.function].name;
        let member = Member::Complex { name, complex, fields: fields.collect() };
        let mut stencil = Stencil::blank(&outline, format);
        stencil.etag = None;
        match format {
            Format::V4Json { metadata, ieee754, release } => {
                let style = Style { metadata, ieee754, release };
                let of = json::v4::Whole::Type(&outline.complex_name(complex));
                json::v4::compile_property(&mut stencil, &outline, of, &member, style);
            }
            Format::RestJson => rest::compile_json_property(&mut stencil, &member),
            Format::RestXml { .. } => rest::compile_xml_property(&mut stencil, &member),
            Format::V2Atom => atom::write::compile_property(&mut stencil, &outline, &member),
            Format::V2Json => json::v2::compile_property(&mut stencil, &outline, &member),
        }
        Some(stencil)
    }

    /// Compiles the documents of references to the entities of a set (V4 `$ref`, V2 `$links`). Columns as in
    /// [`Stencil::compile`] with [`Select::key_of`] the type. Plain REST has no references: its entities are shown instead.
    pub fn compile_references(model: &Model, set: SetId, format: Format) -> Stencil {
        let select = Select::key_of(model.type_of(set));
        if format.version().is_none() {
            return Stencil::compile(model, set, format, &select, &[]);
        }
        let mut stencil = Stencil::blank(&Outline::new(model, set, &select, &[]), format);
        stencil.content = Content::References;
        // The ETag is that of the entity, which is not shown.
        stencil.etag = None;
        match format {
            Format::V4Json { metadata, ieee754, release } => {
                json::v4::compile_references(&mut stencil, Style { metadata, ieee754, release });
            }
            Format::V2Json => json::v2::compile_references(&mut stencil),
            Format::V2Atom | Format::RestJson | Format::RestXml { .. } => {
                atom::write::compile_references(&mut stencil);
            }
        }
        stencil
    }

    fn blank(outline: &Outline<'_>, format: Format) -> Stencil {
        let version = format.version().unwrap_or(Version::V4);
        Stencil {
            format,
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

    /// How many navigation properties are expanded.
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

#[cfg(test)]
mod tests;
