//! XML of plain REST, as stencils write it, and its reader.
//!
//! It deliberately has no namespaces: what is padded is padded with elements.

use crate::atom::{self, Atom};
use crate::edm::Version;
use crate::escape;
use crate::format::{Format, Padding};
use crate::number::write_integer;
use crate::stencil::element::{self, XmlDialect};
use crate::stencil::outline::{Member, Outline};
use crate::stencil::program::Program;
use crate::stencil::{Base, Expansion, FeedHead, Notation, Stencil, Whole};
use crate::syntax::xml::XmlReader;
use crate::syntax::{ReadError, tag};
use crate::value::document::{Document, Entity, Extent};

/// XML without any protocol.
#[derive(Debug)]
pub(crate) struct RestXml;

impl Notation for RestXml {
    fn entities(&self, stencil: &mut Stencil, outline: &Outline<'_>) {
        let padding = match stencil.format {
            Format::RestXml { padding } => padding,
            _ => Padding::Without,
        };
        compile(stencil, outline, padding);
    }

    fn value(&self, stencil: &mut Stencil, _: &Outline<'_>, _: Whole<'_>, member: &Member<'_>) {
        compile_property(stencil, member);
    }

    fn references(&self, stencil: &mut Stencil, outline: &Outline<'_>) {
        self.entities(stencil, outline);
    }

    fn feed_begin(&self, out: &mut Vec<u8>, stencil: &Stencil, _: &Base<'_>, head: &FeedHead<'_>) {
        feed_begin(out, stencil, head);
    }

    fn feed_end(&self, out: &mut Vec<u8>, stencil: &Stencil, next_link: Option<&str>) {
        feed_end(out, stencil, next_link);
    }
}

fn compile(stencil: &mut Stencil, outline: &Outline<'_>, padding: Padding) {
    let open = format!("<{}>", outline.entity_type.name);
    stencil.document.texts(&[tag::DECLARATION, &open]);
    (stencil.first, stencil.next) = (open.clone(), open);
    for member in outline.members(Version::V4) {
        match member {
            Member::Primitive(field) => element::element(&mut stencil.begin, XmlDialect::Rest, field, ""),
            Member::Complex { name, fields, .. } => {
                element::complex(&mut stencil.begin, XmlDialect::Rest, name, &fields, "");
            }
        }
    }
    for expand in outline.expand {
        let navigation = &outline.entity_type.navigation[expand.navigation.0];
        let child = stencil.child(outline, expand);
        let mut begin = Program::default();
        begin.texts(&["<", &navigation.name, ">"]);
        let end = format!("</{}>", navigation.name);
        let (nothing, list_end, end) = ("", "", end.into());
        stencil.expansions.push(Expansion {
            by: None,
            separator: "",
            begin,
            nothing,
            list_end,
            next: None,
            end,
            total: None,
            child,
        });
    }
    let close = format!("</{}>", outline.entity_type.name);
    if padding == Padding::AtomSize {
        let atom = Stencil::of_entities(Format::V2Atom, &Atom, outline);
        let size = |stencil: &Stencil| stencil.begin.size_estimate() + stencil.end.size_estimate();
        let in_feed =
            (atom.first.len() + size(&atom)).saturating_sub(stencil.first.len() + size(stencil) + close.len());
        let alone = atom.document.size_estimate().saturating_sub(stencil.document.size_estimate());
        pad(&mut stencil.end, in_feed);
        // Alone, Atom's entry has the namespaces besides what it has in a feed.
        pad(&mut stencil.document, alone.saturating_sub(atom.first.len().saturating_sub(stencil.first.len())));
    }
    stencil.end.text(&close);
}

/// Writes about `size` bytes of neutral elements, each of a property's length so that they are as many as real ones.
fn pad(program: &mut Program, size: usize) {
    const OPEN: &str = "<padding>";
    const CLOSE: &str = "</padding>";
    const FILL: &str = "................................................................";
    let mut left = size;
    while left > OPEN.len() + CLOSE.len() {
        let fill = (left - OPEN.len() - CLOSE.len()).min(FILL.len());
        program.texts(&[OPEN, &FILL[..fill], CLOSE]);
        left -= OPEN.len() + fill + CLOSE.len();
    }
}

fn compile_property(stencil: &mut Stencil, member: &Member<'_>) {
    let program = stencil.begin.text(tag::DECLARATION);
    match member {
        Member::Primitive(field) => element::element(program, XmlDialect::Rest, *field, ""),
        Member::Complex { name, fields, .. } => element::complex(program, XmlDialect::Rest, name, fields, ""),
    }
}

fn feed_begin(out: &mut Vec<u8>, stencil: &Stencil, head: &FeedHead<'_>) {
    out.extend_from_slice(tag::DECLARATION.as_bytes());
    out.push(b'<');
    out.extend_from_slice(stencil.set_name.as_bytes());
    if let Some(count) = head.count {
        out.extend_from_slice(b" count=\"");
        write_integer(out, i64::try_from(count).unwrap_or(i64::MAX));
        out.push(b'"');
    }
    out.push(b'>');
}

fn feed_end(out: &mut Vec<u8>, stencil: &Stencil, next_link: Option<&str>) {
    if let Some(next_link) = next_link {
        out.extend_from_slice(b"<next>");
        escape::xml_text(out, next_link.as_bytes());
        out.extend_from_slice(b"</next>");
    }
    out.extend_from_slice(b"</");
    out.extend_from_slice(stencil.set_name.as_bytes());
    out.push(b'>');
}

/// Reads plain XML: a root element whose children all have child elements of their own is a collection, any other is one
/// entity. A property with child elements is complex, related entities are read as such; padding is passed over.
pub(crate) fn read(document: &[u8]) -> Result<Document, ReadError> {
    let mut reader = XmlReader::new(document)?;
    let root = reader.root()?;
    let mut children = Vec::new();
    let mut next = None;
    while let Some(tag) = reader.child()? {
        let mut child = Entity::default();
        atom::property(&mut reader, &tag, tag.name(), &mut child)?;
        child.properties.retain(|(path, value)| {
            let is_filler =
                || value.text().is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte == b'.'));
            !((path == "padding" || path.ends_with("/padding")) && is_filler())
        });
        match &child.properties[..] {
            [(path, value)] if path == "next" => next = value.text().map(str::to_owned),
            [] => {}
            _ => children.push((format!("{}/", tag.name()), child)),
        }
    }
    reader.end()?;
    let is_inner =
        |(parent, child): &(String, Entity)| child.properties.iter().all(|(path, _)| path.starts_with(parent));
    if children.iter().all(is_inner) {
        let entities = children.into_iter().map(|(parent, mut entity)| {
            for (path, _) in &mut entity.properties {
                path.drain(..parent.len());
            }
            entity
        });
        let count = root.attribute("count").and_then(|count| count.parse().ok());
        return Ok(Document { extent: Extent::Collection, entities: entities.collect(), count, next });
    }
    let properties = children.into_iter().flat_map(|(_, child)| child.properties).collect();
    let entities = vec![Entity { properties, ..Entity::default() }];
    Ok(Document { extent: Extent::Single, entities, ..Document::default() })
}
