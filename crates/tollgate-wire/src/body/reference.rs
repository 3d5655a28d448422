//! Bodies with the URL of an entity: V4 `{"@odata.id": "…"}`, V2 `{"uri": "…"}` and `<uri>…</uri>`.
//!
//! It deliberately does not say what is to become of the entity.

use super::entry::Link;
use super::error::{BodyError, Read};
use super::json::{Json, twice};
use super::link::{self, Named};
use super::{Context, Reader};
use crate::address::quoted;
use crate::edm::{SetId, Version};
use crate::format::Format;
use crate::syntax::xml;

impl Reader {
    /// Reads a reference to an entity of `set`. `root` is the absolute URL of the service.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read_reference(&self, document: &[u8], format: Format, set: SetId, root: &str) -> Result<Link, BodyError> {
        read(document, format, set, self.context(format, root)).map_err(|error| *error)
    }

    /// The entity of `set` that a URL names.
    ///
    /// # Errors
    /// The sentence for the client.
    pub fn resolve(&self, url: &str, version: Version, set: SetId, root: &str) -> Result<Link, String> {
        let context =
            Context { model: &self.compiled.model, shapes: &self.compiled.shapes, root, protocol: Some(version) };
        named(&context, set, url)
    }
}

fn named(context: &Context<'_>, set: SetId, url: &str) -> Result<Link, String> {
    match link::resolve(context, set, url)? {
        Named::Entity(link) => Ok(link),
        Named::Navigation => Err(format!("expected an entity with its key, found {}", quoted(url))),
    }
}

fn read(document: &[u8], format: Format, set: SetId, context: Context<'_>) -> Read<Link> {
    let (position, url) = match format {
        Format::V2Atom | Format::RestXml { .. } => of_xml(document)?,
        Format::V2Json | Format::V4Json { .. } | Format::RestJson => {
            let mut json = Json::new(document, context, String::new());
            let found = of_json(&mut json, format, MayWrap::Yes)?;
            json.end()?;
            found
        }
    };
    named(&context, set, &url).map_err(|message| BodyError::new(position, message))
}

/// Whether an object may have its content below `d`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MayWrap {
    Yes,
    No,
}

fn of_json(json: &mut Json<'_, '_>, format: Format, may_wrap: MayWrap) -> Read<(usize, String)> {
    let is_v2 = format == Format::V2Json;
    json.open("an object")?;
    let mut more = json.first_name()?;
    let mut found = None;
    while more {
        let at = json.lexer.at;
        let name = json.plain_name()?;
        let is_url = if is_v2 { name == "uri" } else { matches!(name, "@odata.id" | "@id") };
        if is_url {
            json.lexer.skip_space();
            let position = json.lexer.at;
            if json.lexer.bytes.get(position) != Some(&b'"') {
                return Err(json.fault("expected the URL of an entity"));
            }
            let url = json.lexer.string()?.into_owned();
            if found.replace((position, url)).is_some() {
                return Err(twice(at));
            }
        } else if is_v2 && name == "d" && may_wrap == MayWrap::Yes && found.is_none() {
            found = Some(of_json(json, format, MayWrap::No)?);
        } else if name == "__metadata" || name.contains('@') {
            json.skip_value()?;
        } else {
            let message = format!("expected the URL of an entity, found the member {}", quoted(name));
            return Err(BodyError::new(at, message));
        }
        more = json.next_name()?;
    }
    let name = if is_v2 { "uri" } else { "@odata.id" };
    found.ok_or_else(|| json.fault(format!("the member '{name}' is missing")))
}

fn of_xml(document: &[u8]) -> Read<(usize, String)> {
    let mut reader = xml::XmlReader::new(document)?;
    let root = reader.root()?;
    let position = reader.position();
    if root.name() != "uri" {
        return Err(BodyError::new(position, format!("expected the element 'uri', found '{}'", root.name())));
    }
    let url = reader.text()?;
    reader.end()?;
    Ok((position, url))
}
