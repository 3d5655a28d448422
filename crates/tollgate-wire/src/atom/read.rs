//! Atom and V2 property documents, read by an XML pull parser.
//!
//! Names are compared without their prefix; the namespace counts only where Atom and data could be confused (`title`,
//! `id` inside of `m:properties`). A document type declaration is refused, so there are no entities to expand.

use super::RELATED;
use crate::syntax::ReadError;
use crate::syntax::xml::{Event, Tag, XmlReader};
use crate::value::document::{Document, Entity, Extent, Related, Scalar};
use std::borrow::Cow;

/// Reads a feed or an entry.
///
/// # Errors
/// The error in the document, with its byte.
pub fn read(document: &[u8]) -> Result<Document, ReadError> {
    let mut reader = XmlReader::new(document)?;
    let root = reader.root()?;
    let found = match root.name() {
        "feed" => feed(&mut reader)?,
        "entry" => {
            Document { extent: Extent::Single, entities: vec![entry(&mut reader, &root)?], ..Document::default() }
        }
        // A property document is an entity with that property only.
        name => {
            let mut entity = Entity::default();
            property(&mut reader, &root, name, &mut entity)?;
            Document { extent: Extent::Single, entities: vec![entity], ..Document::default() }
        }
    };
    reader.end()?;
    Ok(found)
}

/// Reads a feed behind its start tag.
fn feed(reader: &mut XmlReader<'_>) -> Result<Document, ReadError> {
    let mut document = Document::default();
    while let Some(tag) = reader.child()? {
        match tag.name() {
            "entry" => document.entities.push(entry(reader, &tag)?),
            "count" => {
                let position = reader.position();
                let text = reader.text()?;
                let count = text.trim().parse();
                let message = || format!("expected a count, found '{text}'");
                document.count = Some(count.map_err(|_| ReadError { position, message: message() })?);
            }
            "link" if tag.attribute("rel").is_some_and(|rel| rel == "next") => {
                document.next = tag.attribute("href").map(Cow::into_owned);
                reader.skip()?;
            }
            _ => reader.skip()?,
        }
    }
    Ok(document)
}

/// Reads an entry behind its start tag.
fn entry(reader: &mut XmlReader<'_>, tag: &Tag<'_>) -> Result<Entity, ReadError> {
    let mut entity = Entity { etag: tag.attribute("etag").map(Cow::into_owned), ..Entity::default() };
    while let Some(tag) = reader.child()? {
        match tag.name() {
            "id" => entity.id = Some(reader.text()?),
            "category" => {
                entity.type_name = tag.attribute("term").map(Cow::into_owned);
                reader.skip()?;
            }
            "link" => link(reader, &tag, &mut entity)?,
            "content" => {
                while let Some(inner) = reader.child()? {
                    match inner.name() {
                        "properties" => properties(reader, &mut entity, "")?,
                        _ => reader.skip()?,
                    }
                }
            }
            "properties" => properties(reader, &mut entity, "")?,
            _ => reader.skip()?,
        }
    }
    Ok(entity)
}

fn link(reader: &mut XmlReader<'_>, tag: &Tag<'_>, entity: &mut Entity) -> Result<(), ReadError> {
    let (relation, url) = (tag.attribute("rel").unwrap_or("alternate".into()), tag.attribute("href"));
    let Some(name) = relation.strip_prefix(RELATED) else {
        // The edit link wins over the self link, whichever comes first.
        if relation == "edit" || relation == "self" && entity.edit_link.is_none() {
            entity.edit_link = url.map(Cow::into_owned);
        }
        return reader.skip();
    };
    let many = tag.attribute("type").is_some_and(|kind| kind.contains("feed"));
    let mut inline = None;
    while let Some(child) = reader.child()? {
        if child.name() != "inline" {
            reader.skip()?;
            continue;
        }
        let mut related = if many { Related::Many(Vec::new()) } else { Related::One(None) };
        while let Some(child) = reader.child()? {
            match child.name() {
                "feed" => related = Related::Many(feed(reader)?.entities),
                "entry" => related = Related::One(Some(Box::new(entry(reader, &child)?))),
                _ => reader.skip()?,
            }
        }
        inline = Some(related);
    }
    match (inline, url) {
        (Some(related), _) => entity.expanded.push((name.to_owned(), related)),
        (None, Some(url)) => entity.links.push((name.to_owned(), url.into_owned())),
        (None, None) => {}
    }
    Ok(())
}

fn properties(reader: &mut XmlReader<'_>, entity: &mut Entity, parent: &str) -> Result<(), ReadError> {
    while let Some(tag) = reader.child()? {
        let path = if parent.is_empty() { tag.name().to_owned() } else { format!("{parent}/{}", tag.name()) };
        property(reader, &tag, &path, entity)?;
    }
    Ok(())
}

/// Reads a property behind its start tag: complex if it has child elements.
pub(crate) fn property(
    reader: &mut XmlReader<'_>,
    tag: &Tag<'_>,
    path: &str,
    entity: &mut Entity,
) -> Result<(), ReadError> {
    let mut text = String::new();
    let mut is_complex = false;
    loop {
        match reader.next()? {
            Event::Text(part) => text.push_str(&part),
            Event::Begin(child) => {
                is_complex = true;
                property(reader, &child, &format!("{path}/{}", child.name()), entity)?;
            }
            Event::End => break,
        }
    }
    if !is_complex {
        let is_null = tag.attribute("null").is_some_and(|null| null == "true");
        entity.properties.push((path.to_owned(), if is_null { Scalar::Null } else { Scalar::Text(text) }));
    }
    Ok(())
}
