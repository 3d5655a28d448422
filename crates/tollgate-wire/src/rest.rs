//! Plain REST documents: the same data without any protocol, as the baseline that OData's cost is measured against.
//!
//! JSON is an object with its complex properties nested, a list stands in `items`; XML has an element for each property,
//! a list stands in an element named as the set. It deliberately has no links, no types and no namespaces. XML may be
//! padded to the size of Atom with elements that say what they are, so that the cost of bytes and that of the protocol
//! can be told apart.

use crate::atom;
use crate::document::{Document, Entity, Extent, ReadError};
use crate::edm::{Multiplicity, Version};
use crate::escape;
use crate::format::{Format, Padding};
use crate::json::{self, Object};
use crate::number::write_integer;
use crate::stencil::outline::{Member, Outline};
use crate::stencil::program::Program;
use crate::stencil::{Expansion, FeedHead, Stencil};
use crate::xml::reader::Reader;
use crate::xml::{self, Dialect};

pub(crate) fn compile_json(stencil: &mut Stencil, outline: &Outline<'_>) {
    stencil.first = "{".to_owned();
    stencil.next = ",{".to_owned();
    stencil.document.text("{");
    let mut object = Object::empty(&mut stencil.begin);
    for member in outline.members(Version::V4) {
        object.member(json::Dialect::Rest, &member);
    }
    for expand in outline.expand {
        let navigation = &outline.entity_type.navigation[expand.navigation.0];
        let many = navigation.multiplicity == Multiplicity::Many;
        let mut begin = Program::default();
        Object::empty(&mut begin).name(&[&navigation.name]).text(if many { "[" } else { "" });
        stencil.expansions.push(Expansion {
            by: None,
            separator: ",",
            begin,
            nothing: if many { "" } else { "null" },
            list_end: if many { "]" } else { "" },
            next: None,
            end: "".into(),
            total: None,
            child: outline.child(expand, stencil.format),
        });
    }
    stencil.end.text("}");
}

pub(crate) fn compile_json_property(stencil: &mut Stencil, member: &Member<'_>) {
    stencil.begin.text("{");
    Object::empty(&mut stencil.begin).member(json::Dialect::Rest, member);
    stencil.begin.text("}");
}

pub(crate) fn feed_begin_json(out: &mut Vec<u8>, head: &FeedHead<'_>) {
    out.push(b'{');
    if let Some(count) = head.count {
        out.extend_from_slice(b"\"count\":");
        write_integer(out, i64::try_from(count).unwrap_or(i64::MAX));
        out.push(b',');
    }
    out.extend_from_slice(b"\"items\":[");
}

pub(crate) fn feed_end_json(out: &mut Vec<u8>, next_link: Option<&str>) {
    out.push(b']');
    if let Some(next_link) = next_link {
        out.extend_from_slice(b",\"next\":\"");
        escape::json_text(out, next_link.as_bytes());
        out.push(b'"');
    }
    out.push(b'}');
}

pub(crate) fn compile_xml(stencil: &mut Stencil, outline: &Outline<'_>, padding: Padding) {
    let open = format!("<{}>", outline.entity_type.name);
    stencil.document.texts(&[xml::DECLARATION, &open]);
    (stencil.first, stencil.next) = (open.clone(), open);
    for member in outline.members(Version::V4) {
        match member {
            Member::Primitive(field) => xml::element(&mut stencil.begin, Dialect::Rest, field, ""),
            Member::Complex { name, fields, .. } => {
                xml::complex(&mut stencil.begin, Dialect::Rest, name, &fields, "");
            }
        }
    }
    for expand in outline.expand {
        let navigation = &outline.entity_type.navigation[expand.navigation.0];
        let child = outline.child(expand, stencil.format);
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
        let atom = Stencil::compile(outline.model, outline.set, Format::V2Atom, outline.select, outline.expand);
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

pub(crate) fn compile_xml_property(stencil: &mut Stencil, member: &Member<'_>) {
    let program = stencil.begin.text(xml::DECLARATION);
    match member {
        Member::Primitive(field) => xml::element(program, Dialect::Rest, *field, ""),
        Member::Complex { name, fields, .. } => xml::complex(program, Dialect::Rest, name, fields, ""),
    }
}

pub(crate) fn feed_begin_xml(out: &mut Vec<u8>, stencil: &Stencil, head: &FeedHead<'_>) {
    out.extend_from_slice(xml::DECLARATION.as_bytes());
    out.push(b'<');
    out.extend_from_slice(stencil.set_name.as_bytes());
    if let Some(count) = head.count {
        out.extend_from_slice(b" count=\"");
        write_integer(out, i64::try_from(count).unwrap_or(i64::MAX));
        out.push(b'"');
    }
    out.push(b'>');
}

pub(crate) fn feed_end_xml(out: &mut Vec<u8>, stencil: &Stencil, next_link: Option<&str>) {
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
pub(crate) fn read_xml(document: &[u8]) -> Result<Document, ReadError> {
    let mut reader = Reader::new(document)?;
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
