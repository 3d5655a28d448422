//! Verbose JSON of OData V2: everything below `d`, links as `__metadata` and `__deferred`.

use super::{JsonDialect, Object, count, end, entities, flatten, no_entity, primitive, text};
use crate::edm::{Multiplicity, Version};
use crate::escape;
use crate::number::write_integer;
use crate::stencil::cell::Form;
use crate::stencil::outline::{Member, Outline};
use crate::stencil::program::Program;
use crate::stencil::{Base, Expansion, FeedHead, NextLink, Notation, Stencil, Whole};
use crate::syntax::ReadError;
use crate::syntax::json::{Event, Limits, Reader};
use crate::value::document::{Document, Entity, Extent, Related, Schema};

/// Verbose JSON of OData V2.
#[derive(Debug)]
pub(crate) struct JsonV2;

impl Notation for JsonV2 {
    fn entities(&self, stencil: &mut Stencil, outline: &Outline<'_>) {
        compile(stencil, outline);
    }

    fn value(&self, stencil: &mut Stencil, outline: &Outline<'_>, _: Whole<'_>, member: &Member<'_>) {
        compile_property(stencil, outline, member);
    }

    fn references(&self, stencil: &mut Stencil, _: &Outline<'_>) {
        compile_references(stencil);
    }

    fn feed_begin(&self, out: &mut Vec<u8>, _: &Stencil, _: &Base<'_>, head: &FeedHead<'_>) {
        feed_begin(out, head);
    }

    fn feed_end(&self, out: &mut Vec<u8>, _: &Stencil, next_link: Option<&str>) {
        feed_end(out, next_link);
    }
}

fn compile(stencil: &mut Stencil, outline: &Outline<'_>) {
    stencil.first = "{".to_owned();
    stencil.next = ",{".to_owned();
    stencil.document.text("{\"d\":{");
    stencil.document_end = "}";
    stencil.end.text("}");
    let Stencil { begin, key, etag, .. } = stencil;
    let mut object = Object::empty(begin);
    let metadata = object.name(&["__metadata"]);
    metadata.text("{\"id\":\"").root().address(key).text("\",\"uri\":\"").root().address(key);
    metadata.texts(&["\",\"type\":\"", &outline.type_name(), "\""]);
    if let Some(etag) = etag {
        metadata.text(",\"etag\":\"W/\\\"").append(etag).text("\\\"\"");
    }
    if outline.entity_type.media {
        metadata.text(",\"content_type\":\"").append(&outline.media_type(Form::JsonText));
        metadata.text("\",\"media_src\":\"").root().address(key).text("/$value\"");
    }
    metadata.text("}");
    for member in outline.members(Version::V2) {
        write_member(&mut object, outline, &member);
    }
    for (_, link) in outline.links() {
        let deferred = object.name(&[&link.name]).text("{\"__deferred\":{\"uri\":\"");
        deferred.root().address(key).texts(&["/", &link.name, "\"}}"]);
    }
    for expand in outline.expand {
        let navigation = &outline.entity_type.navigation[expand.navigation.0];
        let many = navigation.multiplicity == Multiplicity::Many;
        let mut begin = Program::default();
        Object::empty(&mut begin).name(&[&navigation.name]).text(if many { "{\"results\":[" } else { "" });
        stencil.expansions.push(Expansion {
            by: None,
            separator: ",",
            begin,
            nothing: if many { "" } else { "null" },
            list_end: if many { "]" } else { "" },
            next: many.then(|| NextLink {
                path: format!("/{}", navigation.name),
                before: ",\"__next\":\"".to_owned(),
                after: "\"",
                escape: escape::json_text,
            }),
            end: if many { "}" } else { "" }.into(),
            total: None,
            child: stencil.child(outline, expand),
        });
    }
}

fn write_member(object: &mut Object<'_>, outline: &Outline<'_>, member: &Member<'_>) {
    match member {
        Member::Primitive(field) => object.field(JsonDialect::V2, *field),
        Member::Complex { name, complex, fields } => {
            let program = object.name(&[name]).text("{");
            let mut inner = Object::empty(program);
            inner.name(&["__metadata"]).texts(&["{\"type\":\"", &outline.complex_name(*complex), "\"}"]);
            for field in fields {
                inner.field(JsonDialect::V2, *field);
            }
            program.text("}");
        }
    }
}

fn compile_property(stencil: &mut Stencil, outline: &Outline<'_>, member: &Member<'_>) {
    stencil.begin.text("{\"d\":{");
    write_member(&mut Object::empty(&mut stencil.begin), outline, member);
    stencil.begin.text("}}");
}

/// References are objects with only a `uri` ([MS-ODATA] 2.2.6.3.10).
fn compile_references(stencil: &mut Stencil) {
    stencil.first = "{".to_owned();
    stencil.next = ",{".to_owned();
    stencil.document.text("{\"d\":{");
    stencil.document_end = "}";
    stencil.begin.text("\"uri\":\"").root().address(&stencil.key).text("\"}");
}

fn feed_begin(out: &mut Vec<u8>, head: &FeedHead<'_>) {
    out.extend_from_slice(b"{\"d\":{");
    if let Some(count) = head.count {
        out.extend_from_slice(b"\"__count\":\"");
        write_integer(out, i64::try_from(count).unwrap_or(i64::MAX));
        out.extend_from_slice(b"\",");
    }
    out.extend_from_slice(b"\"results\":[");
}

fn feed_end(out: &mut Vec<u8>, next_link: Option<&str>) {
    out.push(b']');
    if let Some(next_link) = next_link {
        out.extend_from_slice(b",\"__next\":\"");
        escape::json_text(out, next_link.as_bytes());
        out.push(b'"');
    }
    out.extend_from_slice(b"}}");
}

/// Reads a collection or an entity; a schema identifies the nulls that are links to nothing.
///
/// # Errors
/// The error in the document, with its byte. A document without `d` is not read, collections of primitives are passed
/// over.
pub fn read(document: &[u8], schema: Option<Schema<'_>>) -> Result<Document, ReadError> {
    let mut reader = Reader::new(document, Limits::default())?;
    let mut found = None;
    if reader.next()? != Event::ObjectBegin {
        return Err(ReadError { position: 0, message: "expected an object with 'd'".to_owned() });
    }
    loop {
        match reader.next()? {
            Event::Name(name) if name == "d" => found = Some(body(&mut reader, schema)?),
            Event::Name(_) => reader.skip_value()?,
            _ => break,
        }
    }
    end(&mut reader)?;
    found.ok_or_else(|| ReadError { position: document.len(), message: "the document has no 'd'".to_owned() })
}

fn body(reader: &mut Reader<'_>, schema: Option<Schema<'_>>) -> Result<Document, ReadError> {
    let position = reader.position();
    match reader.next()? {
        // OData V1 has the collection itself.
        Event::ArrayBegin => Ok(Document { entities: many(reader, schema)?, ..Document::default() }),
        Event::ObjectBegin => {
            let object = object(reader, schema)?;
            Ok(match object.results {
                Some(entities) => {
                    Document { extent: Extent::Collection, entities, count: object.count, next: object.next }
                }
                None => Document { extent: Extent::Single, entities: vec![object.entity], ..Document::default() },
            })
        }
        _ => Err(no_entity(position)),
    }
}

/// An object whose kind only its members show.
#[derive(Default)]
struct Found {
    entity: Entity,
    results: Option<Vec<Entity>>,
    deferred: Option<String>,
    count: Option<u64>,
    next: Option<String>,
}

/// Reads an object behind its opening brace.
fn object(reader: &mut Reader<'_>, schema: Option<Schema<'_>>) -> Result<Found, ReadError> {
    let mut found = Found::default();
    while let Event::Name(name) = reader.next()? {
        match &*name {
            "__metadata" => metadata(reader, &mut found.entity)?,
            "__deferred" => found.deferred = uri(reader)?,
            "__count" => found.count = Some(count(reader)?),
            "__next" => found.next = Some(text(reader)?),
            "results" => {
                let position = reader.position();
                match reader.next()? {
                    Event::ArrayBegin => found.results = Some(many(reader, schema)?),
                    _ => return Err(ReadError { position, message: "expected an array of results".to_owned() }),
                }
            }
            name => member(reader, &mut found.entity, name, schema.and_then(|schema| schema.behind(name)))?,
        }
    }
    Ok(found)
}

fn member(
    reader: &mut Reader<'_>,
    entity: &mut Entity,
    name: &str,
    schema: Option<Schema<'_>>,
) -> Result<(), ReadError> {
    match reader.next()? {
        Event::ObjectBegin => {
            let found = object(reader, schema)?;
            if let Some(url) = found.deferred {
                entity.links.push((name.to_owned(), url));
            } else if let Some(results) = found.results {
                entity.expanded.push((name.to_owned(), Related::Many(results)));
            } else if found.entity.id.is_some() || found.entity.edit_link.is_some() {
                entity.expanded.push((name.to_owned(), Related::One(Some(Box::new(found.entity)))));
            } else {
                flatten(entity, name, found.entity);
            }
        }
        Event::ArrayBegin => {
            let entities = many(reader, schema)?;
            entity.expanded.push((name.to_owned(), Related::Many(entities)));
        }
        event => primitive(entity, name, event, schema),
    }
    Ok(())
}

/// Reads entities behind the opening bracket.
fn many(reader: &mut Reader<'_>, schema: Option<Schema<'_>>) -> Result<Vec<Entity>, ReadError> {
    entities(reader, |reader| Ok(object(reader, schema)?.entity))
}

fn metadata(reader: &mut Reader<'_>, entity: &mut Entity) -> Result<(), ReadError> {
    if reader.next()? != Event::ObjectBegin {
        return Err(ReadError { position: reader.position(), message: "'__metadata' is no object".to_owned() });
    }
    while let Event::Name(name) = reader.next()? {
        match &*name {
            "id" => entity.id = Some(text(reader)?),
            "uri" => entity.edit_link = Some(text(reader)?),
            "etag" => entity.etag = Some(text(reader)?),
            "type" => entity.type_name = Some(text(reader)?),
            _ => reader.skip_value()?,
        }
    }
    Ok(())
}

fn uri(reader: &mut Reader<'_>) -> Result<Option<String>, ReadError> {
    if reader.next()? != Event::ObjectBegin {
        return Err(ReadError { position: reader.position(), message: "'__deferred' is no object".to_owned() });
    }
    let mut found = None;
    while let Event::Name(name) = reader.next()? {
        if name == "uri" {
            found = Some(text(reader)?);
        } else {
            reader.skip_value()?;
        }
    }
    Ok(found)
}
