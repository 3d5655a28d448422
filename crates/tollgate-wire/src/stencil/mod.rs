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
pub(crate) mod program;
pub mod raw;
mod singleton;

use crate::edm::{Model, PropertyKind, SetId, Version};
use crate::format::Format;
use crate::json::v4::Style;
use crate::number::write_integer;
use crate::plan::{Called, Expand, Options, Select, Shape};
use crate::relation::Applied;
use crate::value::{Cell, Row};
use crate::{atom, json, rest};
use outline::{Field, Member, Outline};
use program::Program;
use std::borrow::Cow;
use std::ops::Range;

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

/// Rows that do not all have the same members.
#[derive(Debug, Clone)]
pub(crate) struct PartPrograms {
    /// The column with the number of the program.
    pub(crate) column: usize,
    pub(crate) programs: Vec<Program>,
}

/// An expanded navigation property inside of an entry.
#[derive(Debug, Clone)]
pub(crate) struct Expansion {
    /// What stands between this and a member before it.
    pub(crate) separator: &'static str,
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

    /// Compiles the documents of a set with computed properties, whose columns stand behind those of the entity.
    pub fn compile_computed(model: &Model, set: SetId, format: Format, options: &Options) -> Stencil {
        let outline = Outline {
            computed: &options.compute,
            singleton: options.singleton.map(|index| model.singletons[index].name.as_str()),
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

    /// Begins a document.
    pub fn writer<'s>(&'s self, base: Base<'s>) -> Writer<'s> {
        Writer {
            stencil: self,
            base,
            opening: Opening::First,
            object_has_member: false,
            total: 0,
            next_link: None,
            levels: Vec::new(),
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

/// How the next entry begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    First,
    Next,
    Document,
}

/// Fills one document. The buffer may be emptied between any two calls, never within one.
#[derive(Debug, Clone)]
pub struct Writer<'s> {
    stencil: &'s Stencil,
    base: Base<'s>,
    opening: Opening,
    object_has_member: bool,
    /// The number that the next expansion tells.
    total: u64,
    /// The link to further entities that the expansion which ends next tells.
    next_link: Option<Vec<u8>>,
    /// The expansions that were begun within each other.
    levels: Vec<Level<'s>>,
}

/// An expansion that was begun.
#[derive(Debug, Clone)]
struct Level<'s> {
    expansion: &'s Expansion,
    /// At which position it stands in its entity.
    index: usize,
    /// Entities written so far.
    related: u64,
    object_has_member: bool,
}

impl<'s> Writer<'s> {
    /// The stencil that is filled in.
    pub fn stencil(&self) -> &'s Stencil {
        self.stencil
    }

    /// Begins a collection.
    pub fn feed_begin(&mut self, out: &mut Vec<u8>, head: &FeedHead<'_>) {
        self.opening = Opening::First;
        match self.stencil.format {
            Format::V4Json { metadata, ieee754, release } => {
                let style = Style { metadata, ieee754, release };
                json::v4::feed_begin(out, self.stencil, &self.base, head, style);
            }
            Format::RestJson => rest::feed_begin_json(out, head),
            Format::RestXml { .. } => rest::feed_begin_xml(out, self.stencil, head),
            Format::V2Atom if self.stencil.content == Content::References => atom::write::references_begin(out, head),
            Format::V2Atom => atom::write::feed_begin(out, self.stencil, &self.base, head),
            Format::V2Json => json::v2::feed_begin(out, head),
        }
    }

    /// Goes on with a collection of which another writer has written at least one entry.
    pub fn feed_resume(&mut self) {
        self.opening = Opening::Next;
    }

    /// Ends a collection; `next_link` is the URL of the next page, absolute or relative to the service root.
    pub fn feed_end(&mut self, out: &mut Vec<u8>, next_link: Option<&str>) {
        match self.stencil.format {
            Format::V4Json { metadata, ieee754, release } => {
                json::v4::feed_end(out, next_link, Style { metadata, ieee754, release });
            }
            Format::RestJson => rest::feed_end_json(out, next_link),
            Format::RestXml { .. } => rest::feed_end_xml(out, self.stencil, next_link),
            Format::V2Atom if self.stencil.content == Content::References => {
                atom::write::references_end(out, next_link);
            }
            Format::V2Atom => atom::write::feed_end(out, next_link),
            Format::V2Json => json::v2::feed_end(out, next_link),
        }
    }

    /// Begins a document of one entity, or of one property.
    pub fn document_begin(&mut self, _out: &mut Vec<u8>) {
        self.opening = Opening::Document;
    }

    /// Ends a document of one entity or property.
    pub fn document_end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.stencil.document_end.as_bytes());
    }

    /// Writes an entry that has no expansions.
    #[inline]
    pub fn entry<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, row: &R) {
        debug_assert!(self.stencil.expansions.is_empty(), "expansions are written one by one");
        let mut address = None;
        self.open_and_begin(out, &mut address, row);
        self.stencil.end.run(out, &self.base, &self.stencil.key, &mut address, row);
    }

    /// Writes an entry up to its expansions.
    pub fn entry_begin<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, row: &R) {
        self.open_and_begin(out, &mut None, row);
    }

    /// How many entities the expansion that is begun next has, whichever of them are shown.
    pub fn expand_total(&mut self, total: u64) {
        self.total = total;
    }

    /// Writes what stands before the entities of the expansion with that index; `row` is the entity's that has it.
    pub fn expand_begin<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, index: usize, row: &R) {
        let (stencil, object_has_member) = match self.levels.last_mut() {
            Some(level) => (&level.expansion.child, &mut level.object_has_member),
            None => (self.stencil, &mut self.object_has_member),
        };
        let expansion = &stencil.expansions[index];
        if *object_has_member {
            out.extend_from_slice(expansion.separator.as_bytes());
        }
        *object_has_member = true;
        if let Some(Total { before, after }) = &expansion.total {
            out.extend_from_slice(before.as_bytes());
            write_integer(out, i64::try_from(self.total).unwrap_or(i64::MAX));
            out.extend_from_slice(after.as_bytes());
        }
        expansion.begin.run(out, &self.base, &stencil.key, &mut None, row);
        self.levels.push(Level { expansion, index, related: 0, object_has_member: false });
    }

    /// Writes an entity of the expansion that was begun last, up to what it has expanded itself.
    pub fn expand_entity<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, row: &R) {
        let level = self.levels.last_mut().expect("an expansion was begun");
        let child = &level.expansion.child;
        out.extend_from_slice(if level.related == 0 { child.first.as_bytes() } else { child.next.as_bytes() });
        level.related += 1;
        level.object_has_member = !child.begin.is_empty();
        let mut address = None;
        child.begin.run(out, &self.base, &child.key, &mut address, row);
        if child.expansions.is_empty() {
            child.end.run(out, &self.base, &child.key, &mut address, row);
        }
    }

    /// Writes the rest of an entity of an expansion.
    pub fn expand_entity_end<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, row: &R) {
        let child = &self.levels.last().expect("an expansion was begun").expansion.child;
        if !child.expansions.is_empty() {
            child.end.run(out, &self.base, &child.key, &mut None, row);
        }
    }

    /// The positions of the expansions that were begun within each other.
    pub fn expand_positions(&self) -> impl Iterator<Item = usize> {
        self.levels.iter().map(|level| level.index)
    }

    /// Of the expansion that was begun last there are more entities than were written: those that a request with this
    /// query, percent-encoded, and this skip token finds; `row` is the entity's that has the expansion.
    pub fn expand_more<R: Row + ?Sized>(&mut self, row: &R, query: &str, skip_token: &str) {
        let (level, outer) = self.levels.split_last().expect("an expansion was begun");
        let parent = outer.last().map_or(self.stencil, |level| &level.expansion.child);
        let Some(next) = &level.expansion.next else { return };
        let mut link = self.base.service_root().as_bytes().to_vec();
        parent.key.run_cells(&mut link, row);
        let separator = if query.is_empty() { "" } else { "&" };
        for part in [&next.path, "?", query, separator, "$skiptoken=", skip_token] {
            link.extend_from_slice(part.as_bytes());
        }
        self.next_link = Some(link);
    }

    /// Writes what stands behind the entities of the expansion that was begun last.
    pub fn expand_end(&mut self, out: &mut Vec<u8>) {
        let level = self.levels.pop().expect("an expansion was begun");
        let expansion = level.expansion;
        if level.related == 0 {
            out.extend_from_slice(expansion.nothing.as_bytes());
        }
        out.extend_from_slice(expansion.list_end.as_bytes());
        if let (Some(link), Some(next)) = (self.next_link.take(), &expansion.next) {
            out.extend_from_slice(next.before.as_bytes());
            (next.escape)(out, &link);
            out.extend_from_slice(next.after.as_bytes());
        }
        out.extend_from_slice(expansion.end.as_bytes());
    }

    /// Writes the rest of an entry, behind its expansions.
    pub fn entry_end<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, row: &R) {
        self.stencil.end.run(out, &self.base, &self.stencil.key, &mut None, row);
    }

    #[inline]
    fn open_and_begin<R: Row + ?Sized>(&mut self, out: &mut Vec<u8>, address: &mut Option<Range<usize>>, row: &R) {
        let stencil = self.stencil;
        self.object_has_member = !stencil.begin.is_empty();
        match self.opening {
            Opening::First => {
                out.extend_from_slice(stencil.first.as_bytes());
                self.opening = Opening::Next;
            }
            Opening::Next => out.extend_from_slice(stencil.next.as_bytes()),
            Opening::Document => {
                stencil.document.run(out, &self.base, &stencil.key, address, row);
                self.object_has_member |= stencil.document_has_member;
            }
        }
        let begin = match &stencil.parts {
            None => &stencil.begin,
            Some(parts) => match row.cell(parts.column) {
                Cell::Integer(part) => usize::try_from(part).ok().and_then(|part| parts.programs.get(part)),
                Cell::Null | Cell::Real(_) | Cell::Text(_) | Cell::Bytes(_) => None,
            }
            .unwrap_or(&stencil.begin),
        };
        begin.run(out, &self.base, &stencil.key, address, row);
    }
}

#[cfg(test)]
mod tests;
