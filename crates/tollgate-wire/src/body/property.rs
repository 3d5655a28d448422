//! Bodies of one property: a document with its new value, or the bare value.

use super::check;
use super::entry::Entry;
use super::error::{BodyError, Read};
use super::json::Json;
use super::shape::{Kind, Leaf, Shape};
use super::xml::{Dialect, Xml};
use super::{Context, Reader};
use crate::address::quoted;
use crate::edm::{LeafId, Primitive, SetId, Version};
use crate::format::Format;
use crate::plan;

impl Reader {
    /// Reads the value of one property of an entity of `set` into `entry`, which is reset first: a leaf, or those
    /// leaves of a complex property that the document has. V4 has it as `value`, a complex one as the object itself; V2
    /// and plain REST have it under its name.
    ///
    /// # Errors
    /// The first thing that is wrong; or that `shape` is no property.
    pub fn read_property(
        &self,
        document: &[u8],
        format: Format,
        set: SetId,
        shape: plan::Shape,
        entry: &mut Entry,
    ) -> Result<(), BodyError> {
        read(document, format, set, shape, self.context(format, ""), entry).map_err(|error| *error)
    }

    /// Reads the bare value of a leaf (`/$value`) into `entry`, which is reset first. `version` is `None` for plain REST.
    ///
    /// # Errors
    /// If it is no value of the leaf.
    pub fn read_raw(
        &self,
        body: &[u8],
        version: Option<Version>,
        set: SetId,
        leaf: LeafId,
        entry: &mut Entry,
    ) -> Result<(), BodyError> {
        let declared = &self.compiled.model.type_of(set).leaves[leaf.0];
        let leaf = Leaf::of(&self.compiled.model, declared, leaf);
        entry.reset(self.compiled.shapes.of(set).leaves);
        raw(body, version, &leaf, entry).map_err(|error| *error.inside(&declared.path))
    }
}

fn raw(body: &[u8], protocol: Option<Version>, leaf: &Leaf, entry: &mut Entry) -> Read<()> {
    let wrong = |wrong: check::Wrong, text: &str| BodyError::new(0, wrong.message(protocol, leaf, text));
    if let Primitive::Binary { length_max } = leaf.primitive {
        check::length(body.len(), length_max).map_err(|error| wrong(error, ""))?;
        entry.set_bytes(leaf.id, body);
        return Ok(());
    }
    let text =
        std::str::from_utf8(body).map_err(|error| BodyError::new(error.valid_up_to(), "the value is no UTF-8"))?;
    let text = if matches!(leaf.primitive, Primitive::String { .. }) { text } else { text.trim() };
    entry.write(leaf.id, |out| check::append(out, protocol, leaf, text)).map_err(|error| wrong(error, text))
}

fn read(
    document: &[u8],
    format: Format,
    set: SetId,
    shape: plan::Shape,
    context: Context<'_>,
    entry: &mut Entry,
) -> Read<()> {
    let entity = context.shapes.of(set);
    entry.reset(entity.leaves);
    let Some((parent, name, kind)) = target(&context, set, shape) else {
        return Err(BodyError::new(0, "expected a body of one property"));
    };
    let scratch = std::mem::take(&mut entry.scratch);
    let read = match format {
        Format::V2Atom | Format::RestXml { .. } => {
            let dialect = if format == Format::V2Atom { Dialect::Atom } else { Dialect::Rest };
            let mut xml = Xml::new(document, dialect, context, scratch)?;
            let read = xml.property(name, kind, entry);
            entry.scratch = xml.scratch;
            read
        }
        Format::V2Json | Format::V4Json { .. } | Format::RestJson => {
            let mut json = Json::new(document, context, scratch);
            let read = wrapped(&mut json, format, name, kind, entry).and_then(|()| json.end());
            entry.scratch = json.scratch;
            read
        }
    };
    read.map_err(|error| match parent {
        Some(parent) => error.inside(parent),
        None => error,
    })
}

/// The property to set: its complex property, if it is inside of one, its name and its type.
fn target<'c>(context: &Context<'c>, set: SetId, shape: plan::Shape) -> Option<(Option<&'c str>, &'c str, &'c Kind)> {
    let entity_type = context.model.type_of(set);
    let member = |shape: &'c Shape, name: &str| shape.find(name).map(|at| &shape.members[at]);
    let entity = context.shapes.of(set);
    let path = match shape {
        plan::Shape::Property(property) => &entity_type.properties[property].name,
        plan::Shape::Leaf(leaf) => &entity_type.leaves[leaf.0].path,
        _ => return None,
    };
    let (first, second) = path.split_once('/').map_or((path.as_str(), None), |(first, second)| (first, Some(second)));
    let outer = member(entity, first)?;
    match (&outer.kind, second) {
        (Kind::Complex(complex), Some(second)) => {
            let inner = member(&complex.shape, second)?;
            Some((Some(&outer.name), &inner.name, &inner.kind))
        }
        (kind, _) => Some((None, &outer.name, kind)),
    }
}

/// Reads the object around the value: `{"value": …}`, `{"NAME": …}`, either of them below `d` in V2.
fn wrapped<'c>(json: &mut Json<'_, 'c>, format: Format, name: &str, kind: &'c Kind, entry: &mut Entry) -> Read<()> {
    let begin = json.lexer.at;
    // A complex property of V4 may have a member of that name.
    let is_object = |kind: &Kind| matches!(kind, Kind::Complex(complex) if complex.shape.find("value").is_some());
    json.open("an object")?;
    let mut more = json.first_name()?;
    let mut found = false;
    while more {
        let position = json.lexer.at;
        let read = json.plain_name()?;
        let is_value = match format {
            Format::V2Json => read == name,
            Format::V4Json { .. } => read == "value" && !is_object(kind),
            _ => read == name || read == "value",
        };
        if is_value && !found {
            found = true;
            json.lexer.skip_space();
            json.value(kind, entry).map_err(|error| error.inside(name))?;
        } else if format == Format::V2Json && read == "d" && !found {
            found = true;
            wrapped(json, format, name, kind, entry)?;
        } else if read == "__metadata" || read.contains('@') {
            json.skip_value()?;
        } else if let (Kind::Complex(complex), false, Format::V4Json { .. }) = (kind, found, format) {
            // The object is the value.
            json.lexer.at = begin;
            return json.complex(complex, entry).map_err(|error| error.inside(name));
        } else {
            let message = format!("expected the value of {}, found the member {}", quoted(name), quoted(read));
            return Err(BodyError::new(position, message));
        }
        more = json.next_name()?;
    }
    if !found && !matches!((kind, format), (Kind::Complex(_), Format::V4Json { .. })) {
        return Err(json.fault(format!("the value of {} is missing", quoted(name))));
    }
    Ok(())
}
