//! Links and properties out of XML: Atom as OData V2 writes it, and plain.
//!
//! Namespaces are told apart by local names alone: whoever answers a walk with other vocabularies in the same places is
//! not an OData service.

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::{Document, Found, Kind};

/// Elements within each other: a document beyond it is refused.
const DEPTH_MAX: usize = 64;

/// An Atom feed or a single entry.
pub(super) fn atom(text: &str) -> Result<Document, String> {
    let mut document = Document::default();
    elements(text, |path, event| match (path, event) {
        (["feed"] | ["entry"], Seen::Start(element)) => {
            document.base = attribute(element, "xml:base")?;
            if path == ["entry"] {
                document.found.push(Found::default());
            }
            Ok(())
        }
        (["feed", "entry"], Seen::Start(_)) => {
            document.found.push(Found::default());
            Ok(())
        }
        (["feed", "link"], Seen::Start(element)) => {
            if attribute(element, "rel")?.as_deref() == Some("next") {
                document.next = attribute(element, "href")?;
            }
            Ok(())
        }
        ([outer @ .., "link"], Seen::Start(element)) if is_entry(outer) => {
            let relation = attribute(element, "rel")?;
            if matches!(relation.as_deref(), Some("edit" | "self"))
                && let (Some(found), Some(link)) = (document.found.last_mut(), attribute(element, "href")?)
            {
                found.link = Some(link);
            }
            Ok(())
        }
        ([outer @ .., "id"], Seen::Text(text)) if is_entry(outer) => {
            if let Some(found) = document.found.last_mut() {
                found.id = Some(text.to_owned());
            }
            Ok(())
        }
        // A media entity has its properties beside the content, any other within it.
        ([outer @ .., "content", "properties", name] | [outer @ .., "properties", name], Seen::Text(text))
            if is_entry(outer) =>
        {
            if let Some(found) = document.found.last_mut() {
                found.properties.push(((*name).to_owned(), text.to_owned()));
            }
            Ok(())
        }
        _ => Ok(()),
    })?;
    Ok(document)
}

/// Plain XML: the outermost element's children are the entities, or it is the one entity itself.
pub(super) fn plain(text: &str, kind: Kind) -> Result<Document, String> {
    let mut document = Document::default();
    elements(text, |path, event| {
        let depth = if kind == Kind::List { 2 } else { 1 };
        match event {
            Seen::Start(_) if path.len() == depth => document.found.push(Found::default()),
            Seen::Text(text) if path.len() == depth + 1 => {
                if let (Some(found), Some(name)) = (document.found.last_mut(), path.last()) {
                    found.properties.push(((*name).to_owned(), text.to_owned()));
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(document)
}

fn is_entry(path: &[&str]) -> bool {
    matches!(path, ["entry"] | ["feed", "entry"])
}

/// What was met at a path of local names.
enum Seen<'a> {
    /// An element begins.
    Start(&'a BytesStart<'a>),
    /// An element without children ended: its whole text.
    Text(&'a str),
}

fn elements(text: &str, mut see: impl FnMut(&[&str], Seen<'_>) -> Result<(), String>) -> Result<(), String> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut names: Vec<String> = Vec::new();
    let mut content = String::new();
    let mut is_leaf = false;
    loop {
        let event = reader.read_event().map_err(|error| format!("the answer is not XML: {error}"))?;
        match event {
            Event::Start(element) => {
                if names.len() == DEPTH_MAX {
                    return Err(format!("the answer has more than {DEPTH_MAX} elements within each other"));
                }
                names.push(local(element.name().as_ref()));
                content.clear();
                is_leaf = true;
                let path: Vec<&str> = names.iter().map(String::as_str).collect();
                see(&path, Seen::Start(&element))?;
            }
            Event::End(_) => {
                if is_leaf {
                    let path: Vec<&str> = names.iter().map(String::as_str).collect();
                    see(&path, Seen::Text(&content))?;
                }
                is_leaf = false;
                names.pop();
            }
            Event::Text(text) => content.push_str(&text.xml10_content()),
            Event::CData(text) => content.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => content.push(character(&reference)?),
            Event::DocType(_) => return Err("the answer has a document type, which is refused".to_owned()),
            Event::Eof if names.is_empty() => return Ok(()),
            Event::Eof => return Err("the answer ends within an element".to_owned()),
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
}

fn local(name: &str) -> String {
    name.rsplit_once(':').map_or(name, |(_, local)| local).to_owned()
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    let broken = |error: &dyn std::fmt::Display| format!("the answer has a broken attribute: {error}");
    let Some(attribute) = element.try_get_attribute(name).map_err(|error| broken(&error))? else { return Ok(None) };
    let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| broken(&error))?;
    Ok(Some(value.into_owned()))
}

fn character(reference: &BytesRef<'_>) -> Result<char, String> {
    let unknown = || format!("the answer has the unknown entity `&{};`", &**reference);
    if let Some(character) = reference.resolve_char_ref().map_err(|_| unknown())? {
        return Ok(character);
    }
    resolve_predefined_entity(reference).and_then(|text| text.chars().next()).ok_or_else(unknown)
}
