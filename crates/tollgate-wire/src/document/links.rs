//! The links that a client follows from a collection to its entities, as URLs with the values that the entity behind each
//! must show.
//!
//! A load generator reads a list once for each pass, so the common documents are scanned without being taken apart; the
//! full reader gets all that the scanner is not sure of: of [`crate::document`]. URLs are not fetched here.

use crate::address::encode;
use crate::date;
use crate::document::{self, Document, ReadError};
use crate::format::Format;
use crate::json;
use crate::syntax::json::{Event, Limits, Reader};
use crate::syntax::xml::unescaped;
use memchr::memmem;
use std::borrow::Cow;
use std::fmt;

/// The entities and properties to find.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// Template that makes the URL from properties. Without it, the entity's own link is taken: Atom's `edit` or `self`
    /// link or `id`, V2's `__metadata.uri`, V4's `@odata.id` or `@odata.editLink`.
    pub template: Option<&'a Template>,
    /// Paths of the properties whose values identify the entity, such as `carrid`.
    pub properties: &'a [&'a str],
}

/// The links of one page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    /// The links, one for each entity, in order.
    pub links: Vec<Link>,
    /// The URL of the next page.
    pub next: Option<String>,
}

/// The way to one entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Absolute, or relative to the URL of the list.
    pub url: String,
    /// The values of [`Search::properties`], in that order, as texts of the document.
    pub values: Vec<String>,
}

/// Finds the links in a collection.
///
/// # Errors
/// If the document is none of that format, or an entity lacks its link or one of the properties.
pub fn follow(document: &[u8], format: Format, search: &Search<'_>) -> Result<Links, ReadError> {
    let names = search.names();
    let found = match format {
        Format::V2Atom => scan_xml(document, "entry", &names, search.template.is_none(), "d:"),
        Format::RestXml { .. } => first_child(document).and_then(|child| scan_xml(document, child, &names, false, "")),
        Format::V2Json | Format::V4Json { .. } | Format::RestJson => Some(scan_json(document, format, &names)?),
    };
    let found = match found {
        Some(found) => found,
        None => Found::from_document(document::read(document, format, None)?, &names),
    };
    found.finish(document.len(), search, &names)
}

impl<'a> Search<'a> {
    /// The properties to look for: those asked for, then those of the template.
    fn names(&self) -> Vec<&'a str> {
        let mut names = self.properties.to_vec();
        for name in self.template.into_iter().flat_map(Template::names) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// A URL with the names of properties in braces: `/rest/flights/{carrid}/{connid}/{fldate}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// A property; `quoted` if it is in single quotes. A quote of the value is then doubled, and a date of V2's JSON is
    /// written as its literals have it: `datetime'{fldate}'`.
    Property {
        name: String,
        quoted: bool,
    },
}

/// The reason why a template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// Byte offset from 0.
    pub position: usize,
    /// The error at that place.
    pub message: &'static str,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at column {})", self.message, self.position + 1)
    }
}

impl std::error::Error for TemplateError {}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// If braces are not paired or a name is missing.
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut parts: Vec<Part> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let length = rest.find(['{', '}']).unwrap_or(rest.len());
            if length > 0 {
                parts.push(Part::Text(rest[..length].to_owned()));
                at += length;
                continue;
            }
            if rest.starts_with('}') {
                return Err(TemplateError { position: at, message: "'}' without '{' before it" });
            }
            let Some(end) = rest.find('}') else {
                return Err(TemplateError { position: at, message: "'{' without '}' behind it" });
            };
            let name = &rest[1..end];
            if name.is_empty() || name.contains('{') {
                return Err(TemplateError { position: at, message: "expected the name of a property in braces" });
            }
            let quoted = matches!(parts.last(), Some(Part::Text(text)) if text.ends_with('\''));
            parts.push(Part::Property { name: name.to_owned(), quoted });
            at += end + 1;
        }
        Ok(Template { parts })
    }

    /// The properties that it needs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Property { name, .. } => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// Writes the URL; `value` gives the value of a property.
    fn render<'v>(&self, value: impl Fn(&str) -> &'v str) -> String {
        let mut url = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => url.extend_from_slice(text.as_bytes()),
                Part::Property { name, quoted: true } => {
                    let value = value(name);
                    let date = value.starts_with("/Date(").then(|| date::text_from_v2_json(value)).flatten();
                    encode(&mut url, date.unwrap_or_else(|| value.replace('\'', "''")).as_bytes());
                }
                Part::Property { name, quoted: false } => encode(&mut url, value(name).as_bytes()),
            }
        }
        String::from_utf8(url).expect("percent-encoded values are ASCII")
    }
}

/// The incomplete result of a scan.
#[derive(Default)]
struct Found {
    entities: Vec<FoundEntity>,
    /// The base of relative links.
    base: Option<String>,
    next: Option<String>,
}

struct FoundEntity {
    url: Option<String>,
    /// The values, one for each name.
    values: Vec<Option<String>>,
}

impl Found {
    fn from_document(document: Document, names: &[&str]) -> Found {
        let entities = document.entities.into_iter().map(|entity| {
            let value = |name: &&str| entity.property(name)?.text().map(str::to_owned);
            FoundEntity { values: names.iter().map(value).collect(), url: entity.edit_link.or(entity.id) }
        });
        Found { entities: entities.collect(), base: None, next: document.next }
    }

    fn finish(self, position: usize, search: &Search<'_>, names: &[&str]) -> Result<Links, ReadError> {
        let Found { entities, base, next } = self;
        let missing = |number: usize, what: String| ReadError {
            position,
            message: format!("entity {} of {} has no {what}", number + 1, entities.len()),
        };
        let mut links = Vec::with_capacity(entities.len());
        for (number, entity) in entities.iter().enumerate() {
            if let Some(name) = entity.values.iter().position(Option::is_none) {
                return Err(missing(number, format!("value for '{}'", names[name])));
            }
            let value = |name: &str| {
                let position = names.iter().position(|candidate| *candidate == name);
                position.and_then(|position| entity.values[position].as_deref()).unwrap_or_default()
            };
            let url = match (search.template, &entity.url) {
                (Some(template), _) => template.render(value),
                (None, Some(url)) => resolve(base.as_deref(), url),
                (None, None) => return Err(missing(number, "link, and there is no template for its URL".to_owned())),
            };
            let values = entity.values.iter().take(search.properties.len()).flatten().cloned().collect();
            links.push(Link { url, values });
        }
        Ok(Links { links, next: next.map(|next| resolve(base.as_deref(), &next)) })
    }
}

/// The link itself, or joined to the base of the document if it has one and the link is relative.
fn resolve(base: Option<&str>, link: &str) -> String {
    match base {
        Some(base) if !link.starts_with('/') && !link.contains("://") => {
            let folder = base.rfind('/').map_or("", |slash| &base[..=slash]);
            format!("{folder}{link}")
        }
        _ => link.to_owned(),
    }
}

/// The name of the first element inside of the root.
fn first_child(document: &[u8]) -> Option<&str> {
    let tags = memchr::memchr_iter(b'<', document);
    let tag =
        tags.map(|at| &document[at + 1..]).filter(|tag| tag.first().is_some_and(u8::is_ascii_alphabetic)).nth(1)?;
    let name = &tag[..tag.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))?];
    std::str::from_utf8(name).ok()
}

/// Finds entities that are elements one behind the other, each with plain elements for the requested properties. `None`
/// where that is not so, or where comments, sections or declarations could hide something.
fn scan_xml(document: &[u8], element: &str, names: &[&str], links: bool, prefix: &str) -> Option<Found> {
    if memmem::find(document, b"<!").is_some() {
        return None;
    }
    let (open, close) = (format!("<{element}"), format!("</{element}>"));
    let mut starts: Vec<usize> = memmem::find_iter(document, &open)
        .filter(|at| matches!(document.get(at + open.len()), Some(b'>' | b' ' | b'\n' | b'\r' | b'\t')))
        .collect();
    let first = *starts.first()?;
    let end = memmem::rfind(document, close.as_bytes())? + close.len();
    starts.push(end);
    let finders: Vec<_> = names
        .iter()
        .map(|name| (!name.contains('/')).then(|| memmem::Finder::new(&format!("<{prefix}{name}")).into_owned()))
        .collect::<Option<_>>()?;
    let edit = memmem::Finder::new("rel=\"edit\"");
    let mut found = Found { base: attribute_of_root(document, "xml:base"), ..Found::default() };
    found.entities.reserve(starts.len() - 1);
    for pair in starts.windows(2) {
        // In a damaged document the last end tag stands before a start tag.
        let entity = document.get(pair[0]..pair[1])?.trim_ascii_end();
        if !entity.ends_with(close.as_bytes()) {
            return None;
        }
        let values = finders.iter().zip(names).map(|(finder, name)| {
            let start = unique(entity, finder, prefix.len() + name.len() + 1)?;
            let length = memchr::memchr(b'<', &entity[start..])?;
            entity[start + length..].starts_with(b"</").then_some(())?;
            unescape(&entity[start..start + length]).map(Some)
        });
        let values = values.collect::<Option<Vec<_>>>()?;
        let url = if links { Some(link_of(entity, &edit)?) } else { None };
        found.entities.push(FoundEntity { url, values });
    }
    for outside in [&document[..first], &document[end..]] {
        if let Some(at) = memmem::find(outside, b"rel=\"next\"") {
            found.next = Some(attribute_around(outside, at, "link", "href")?);
        } else if let (false, Some(at)) = (prefix == "d:", memmem::find(outside, b"<next>")) {
            let next = &outside[at + "<next>".len()..];
            found.next = Some(unescape(&next[..memchr::memchr(b'<', next)?])?);
        }
    }
    Some(found)
}

/// Offset of the content of the only element whose start tag the finder finds; `length` is that of the tag without its
/// end.
fn unique(entity: &[u8], finder: &memmem::Finder<'_>, length: usize) -> Option<usize> {
    let mut only = None;
    for at in finder.find_iter(entity) {
        match entity.get(at + length) {
            Some(b'>') if only.is_none() => only = Some(at + length + 1),
            // Another element whose name begins with this one.
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') => {}
            _ => return None,
        }
    }
    only
}

fn link_of(entry: &[u8], edit: &memmem::Finder<'_>) -> Option<String> {
    if let Some(at) = edit.find(entry) {
        return attribute_around(entry, at, "link", "href");
    }
    if let Some(at) = memmem::find(entry, b"rel=\"self\"") {
        return attribute_around(entry, at, "link", "href");
    }
    let start = memmem::find(entry, b"<id>")? + "<id>".len();
    unescape(&entry[start..start + memchr::memchr(b'<', &entry[start..])?])
}

/// The value of an attribute of the tag around `at`, if the tag has that name.
fn attribute_around(text: &[u8], at: usize, tag: &str, attribute: &str) -> Option<String> {
    let start = memchr::memrchr(b'<', &text[..at])?;
    let end = at + memchr::memchr(b'>', &text[at..])?;
    let inside = text[start + 1..end].strip_prefix(tag.as_bytes())?;
    attribute_in(inside, attribute)
}

fn attribute_of_root(document: &[u8], attribute: &str) -> Option<String> {
    let start = memchr::memchr_iter(b'<', document).find(|at| document.get(at + 1) != Some(&b'?'))?;
    let end = start + memchr::memchr(b'>', &document[start..])?;
    attribute_in(&document[start..end], attribute)
}

fn attribute_in(tag: &[u8], attribute: &str) -> Option<String> {
    let needle = format!(" {attribute}=\"");
    let start = memmem::find(tag, needle.as_bytes())? + needle.len();
    unescape(&tag[start..start + memchr::memchr(b'"', &tag[start..])?])
}

fn unescape(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    unescaped(text).ok().map(Cow::into_owned)
}

fn scan_json(document: &[u8], format: Format, names: &[&str]) -> Result<Found, ReadError> {
    let reader = Reader::new(document, Limits::default())?;
    let looks_inside = names.iter().any(|name| name.contains('/'));
    let mut scan = JsonScan { reader, names, looks_inside, found: Found::default() };
    let reader = &mut scan.reader;
    match (reader.next()?, format) {
        (Event::ObjectBegin, Format::V2Json) => {
            while let Event::Name(name) = scan.reader.next()? {
                if name != "d" {
                    scan.reader.skip_value()?;
                } else if scan.reader.next()? == Event::ArrayBegin {
                    scan.entities()?;
                } else {
                    scan.body()?;
                }
            }
        }
        (Event::ObjectBegin, _) => scan.body()?,
        (Event::ArrayBegin, Format::RestJson) => scan.entities()?,
        _ => return Err(ReadError { position: 0, message: "expected a collection of entities".to_owned() }),
    }
    scan.reader.next()?;
    Ok(scan.found)
}

struct JsonScan<'d, 'n> {
    reader: Reader<'d>,
    names: &'n [&'n str],
    /// Whether one of the names is a path into a complex property.
    looks_inside: bool,
    found: Found,
}

impl JsonScan<'_, '_> {
    /// The members of the object with the collection, behind its opening brace.
    fn body(&mut self) -> Result<(), ReadError> {
        while let Event::Name(name) = self.reader.next()? {
            match &*name {
                "@odata.context" | "@context" => {
                    let context = json::text(&mut self.reader)?;
                    self.found.base = context.split_once("$metadata").map(|(base, _)| base.to_owned());
                }
                "__next" | "@odata.nextLink" | "@nextLink" | "next" => match self.reader.next()? {
                    Event::Text(next) => self.found.next = Some(next.into_owned()),
                    Event::Null => {}
                    _ => return Err(self.fault("the next link is no text")),
                },
                _ => {
                    let mut probe = self.reader.clone();
                    match probe.next()? {
                        Event::ArrayBegin => {
                            self.reader = probe;
                            self.entities()?;
                        }
                        _ => self.reader.skip_value()?,
                    }
                }
            }
        }
        Ok(())
    }

    /// The entities behind the opening bracket.
    fn entities(&mut self) -> Result<(), ReadError> {
        loop {
            match self.reader.next()? {
                Event::ObjectBegin => {
                    let mut entity = FoundEntity { url: None, values: vec![None; self.names.len()] };
                    self.object(&mut entity, "")?;
                    self.found.entities.push(entity);
                }
                Event::ArrayEnd => return Ok(()),
                _ => return Err(self.fault("expected an entity")),
            }
        }
    }

    /// The members of an entity, or of its complex property of that path, behind the opening brace. A name with escapes
    /// counts as another: nobody escapes plain letters.
    fn object(&mut self, entity: &mut FoundEntity, parent: &str) -> Result<(), ReadError> {
        while let Some(name) = self.reader.raw_name()? {
            // Lengths first: most names differ in that already.
            let is_wanted = |wanted: &&str| {
                wanted.len() == parent.len() + name.len()
                    && wanted.as_bytes().ends_with(name)
                    && wanted.starts_with(parent)
            };
            if let Some(position) = self.names.iter().position(is_wanted) {
                let event = self.reader.next()?;
                entity.values[position] = json::scalar(event).and_then(|value| value.text().map(str::to_owned));
            } else if name.first() == Some(&b'@') && parent.is_empty() && is_link(name, entity.url.is_some()) {
                entity.url = Some(json::text(&mut self.reader)?);
            } else if parent.is_empty() && name == b"__metadata" {
                self.metadata(entity)?;
            } else if !self.looks_inside || !self.complex(entity, parent, name)? {
                self.reader.skip_value()?;
            }
        }
        Ok(())
    }

    /// Reads a complex property if something in it is looked for, and says whether it did.
    fn complex(&mut self, entity: &mut FoundEntity, parent: &str, name: &[u8]) -> Result<bool, ReadError> {
        let path = format!("{parent}{}/", String::from_utf8_lossy(name));
        let mut probe = self.reader.clone();
        if !self.names.iter().any(|wanted| wanted.starts_with(&path)) || probe.next()? != Event::ObjectBegin {
            return Ok(false);
        }
        self.reader = probe;
        self.object(entity, &path)?;
        Ok(true)
    }

    fn metadata(&mut self, entity: &mut FoundEntity) -> Result<(), ReadError> {
        if self.reader.next()? != Event::ObjectBegin {
            return Err(self.fault("'__metadata' is no object"));
        }
        while let Event::Name(name) = self.reader.next()? {
            if name == "uri" {
                entity.url = Some(json::text(&mut self.reader)?);
            } else {
                self.reader.skip_value()?;
            }
        }
        Ok(())
    }

    fn fault(&self, message: &str) -> ReadError {
        ReadError { position: self.reader.position(), message: message.to_owned() }
    }
}

/// Whether a member of an entity is its link; the edit link only if there is no other yet.
fn is_link(name: &[u8], has_one: bool) -> bool {
    match name {
        b"@odata.id" | b"@id" => true,
        b"@odata.editLink" | b"@editLink" => !has_one,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Ieee754, Metadata, Padding, Release};

    const V4: Format = Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release: Release::V40 };
    const XML: Format = Format::RestXml { padding: Padding::Without };

    fn search(format: Format, template: Option<&str>, properties: &[&str], document: &str) -> Result<Links, ReadError> {
        let template = template.map(|text| Template::parse(text).unwrap());
        follow(document.as_bytes(), format, &Search { template: template.as_ref(), properties })
    }

    #[test]
    fn links_are_found_in_each_format() {
        let check = |format, template, document: &str, expected: &[(&str, &str)], next: Option<&str>| {
            let found = search(format, template, &["k"], document).unwrap();
            let links: Vec<_> = found.links.iter().map(|link| (link.url.as_str(), link.values[0].as_str())).collect();
            assert_eq!(links, expected, "{document}");
            assert_eq!(found.next.as_deref(), next, "{document}");
        };
        let two = [("http://h/s/E('1')", "1"), ("http://h/s/E('2')", "a&b")];
        check(
            Format::V2Atom,
            None,
            r#"<?xml version="1.0"?><feed xml:base="http://h/s/"><link rel="self" href="E"/>
            <entry><id>x</id><link href="E('1')" rel="edit"/><content><m:properties><d:k>1</d:k><d:kk>9</d:kk></m:properties></content></entry>
            <entry><id>y</id><link rel="edit" href="E('2')"/><content><m:properties><d:k>a&amp;b</d:k></m:properties></content></entry>
            <link rel="next" href="E?$skiptoken=2"/></feed>"#,
            &two,
            Some("http://h/s/E?$skiptoken=2"),
        );
        // Other prefixes, inline feeds and comments: nothing for the scanner.
        check(
            Format::V2Atom,
            None,
            r#"<a:feed><a:entry><!-- <d:k>0</d:k> --><a:id>http://h/s/E('1')</a:id><a:link rel="x/related/N"><m:inline><a:feed>
            <a:entry><a:id>0</a:id></a:entry></a:feed></m:inline></a:link><p:properties><x:k>1</x:k></p:properties></a:entry></a:feed>"#,
            &two[..1],
            None,
        );
        let v2 = r#"{"d":{"results":[{"k":"1","__metadata":{"type":"T","uri":"http://h/s/E('1')"},"n":{"__deferred":{"uri":"x"}}},
            {"__metadata":{"uri":"http:\/\/h/s/E('2')"},"k":"a&b"}],"__next":"E?2"}}"#;
        check(Format::V2Json, None, v2, &two, Some("E?2"));
        let v4 = r#"{"@odata.context":"http://h/s/$metadata#E","value":[{"@odata.id":"E('1')","k":1,"x":[{"k":3}]},
            {"k":"a&b","@odata.editLink":"E('2')"}],"@odata.nextLink":"E?2"}"#;
        check(V4, None, v4, &two, Some("http://h/s/E?2"));
        let template = Some("/e/{k}/{c/d}");
        let plain = r#"[{"k":"O'N/1","c":{"d":7}},{"c":{"x":{"d":1},"d":"ü"},"k":true}]"#;
        check(Format::RestJson, template, plain, &[("/e/O'N%2F1/7", "O'N/1"), ("/e/true/%C3%BC", "true")], None);
        let xml = "<es><e><k>1</k><c><d>7</d></c></e><next>/e?2</next></es>";
        check(XML, template, xml, &[("/e/1/7", "1")], Some("/e?2"));
        check(XML, Some("E('{k}')"), "<es><e><k>O'N</k><c/></e></es>", &[("E('O''N')", "O'N")], None);
        check(V4, Some("E({k})"), r#"{"value":[]}"#, &[], None);
    }

    #[test]
    fn keys_are_written_as_the_literals_of_their_version() {
        let check = |format, template: &str, document: &str, expected: &str| {
            let found = search(format, Some(template), &[], document).unwrap();
            assert_eq!(found.links[0].url, expected, "{template}");
        };
        let v2 = r#"{"d":[{"a":"O'N é","d":"\/Date(1306886400000)\/","o":"\/Date(1306886400000+0060)\/","n":"5"}]}"#;
        check(Format::V2Json, "P(a='{a}',d=datetime'{d}')", v2, "P(a='O''N%20%C3%A9',d=datetime'2011-06-01T00:00:00')");
        let offset = "P(o=datetimeoffset'2011-06-01T00:00:00Z',n=5L)";
        check(Format::V2Json, "P(o=datetimeoffset'{o}',n={n}L)", v2, offset);
        let v4 = r#"{"value":[{"d":"2011-06-01","g":"01234567-89ab-cdef-0123-456789abcdef","n":7}]}"#;
        check(V4, "P(d={d},g={g},n={n})", v4, "P(d=2011-06-01,g=01234567-89ab-cdef-0123-456789abcdef,n=7)");
        check(V4, "/Date({n})", v4, "/Date(7)");
    }

    #[test]
    fn what_is_missing_is_named() {
        let check = |format, template, document: &str, message: &str| {
            let error = search(format, template, &["k"], document).unwrap_err();
            assert_eq!(error.message, message, "{document}");
        };
        check(V4, None, r#"{"value":[{"k":1}]}"#, "entity 1 of 1 has no link, and there is no template for its URL");
        check(V4, Some("{k}{l}"), r#"{"value":[{"k":1,"l":2},{"k":1}]}"#, "entity 2 of 2 has no value for 'l'");
        check(V4, None, r#"{"value":[{"k":null}]}"#, "entity 1 of 1 has no value for 'k'");
        check(V4, None, r#"{"value":[1]}"#, "expected an entity");
        check(V4, None, "7", "expected a collection of entities");
        check(XML, Some("{k}"), "<es><e><l>1</l></e></es>", "entity 1 of 1 has no value for 'k'");
    }

    #[test]
    fn a_start_tag_behind_the_last_end_tag_is_refused() {
        let error = search(Format::V2Atom, None, &["k"], "<feed><entry></entry><entry><d:k>1</feed>").unwrap_err();
        assert!(error.message.contains("feed"), "{error}");
    }

    #[test]
    fn templates_with_stray_braces_are_refused() {
        let check = |text: &str, position: usize| assert_eq!(Template::parse(text).unwrap_err().position, position);
        check("/a/{b", 3);
        check("/a/}b", 3);
        check("/a/{}", 3);
        check("/a/{b{c}}", 3);
    }
}
