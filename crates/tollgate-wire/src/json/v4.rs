//! JSON of OData V4 (OASIS odata-json-format-v4.0): documents with control information none, minimal or full.
//!
//! It deliberately leaves out delta payloads and streams inside of entities.

use std::borrow::Cow;

use super::{JsonDialect, Object, count, end, entities, flatten, no_entity, primitive, text, value};
use crate::address::type_name;
use crate::edm::{EntityType, Model, Multiplicity, Primitive, PropertyKind, SubtypeId, Version};
use crate::escape;
use crate::format::{Format, Ieee754, Metadata, Release};
use crate::number::write_integer;
use crate::plan::{Computed, Expand, Options, Select, Shown};
use crate::stencil::cell::Form;
use crate::stencil::outline::{Field, Member, Outline, cast_from};
use crate::stencil::program::Program;
use crate::stencil::{Base, ChosenBy, Expansion, FeedHead, NextLink, Notation, PartPrograms, Stencil, Total, Whole};
use crate::syntax::ReadError;
use crate::syntax::json::{Event, Limits, Reader};
use crate::value::document::{Document, Entity, Extent, Related, Schema};

/// In which manner documents are written.
#[derive(Clone, Copy, Default)]
pub(crate) struct Style {
    pub(crate) metadata: Metadata,
    pub(crate) ieee754: Ieee754,
    pub(crate) release: Release,
}

impl Style {
    /// The style of a format; the usual one if it is no JSON of V4.
    pub(crate) fn of(format: Format) -> Style {
        match format {
            Format::V4Json { metadata, ieee754, release } => Style { metadata, ieee754, release },
            Format::V2Atom | Format::V2Json | Format::RestJson | Format::RestXml { .. } => Style::default(),
        }
    }

    /// Prefix of the names of control information.
    pub(crate) fn control(self) -> &'static str {
        match self.release {
            Release::V40 => "@odata.",
            Release::V401 => "@",
        }
    }
}

/// JSON of OData V4.
#[derive(Debug)]
pub(crate) struct JsonV4;

impl Notation for JsonV4 {
    fn entities(&self, stencil: &mut Stencil, outline: &Outline<'_>) {
        compile(stencil, outline, Style::of(stencil.format));
    }

    fn value(&self, stencil: &mut Stencil, outline: &Outline<'_>, whole: Whole<'_>, member: &Member<'_>) {
        compile_property(stencil, outline, whole, member, Style::of(stencil.format));
    }

    fn references(&self, stencil: &mut Stencil, _: &Outline<'_>) {
        compile_references(stencil, Style::of(stencil.format));
    }

    fn feed_begin(&self, out: &mut Vec<u8>, stencil: &Stencil, base: &Base<'_>, head: &FeedHead<'_>) {
        feed_begin(out, stencil, base, head, Style::of(stencil.format));
    }

    fn feed_end(&self, out: &mut Vec<u8>, stencil: &Stencil, next_link: Option<&str>) {
        feed_end(out, next_link, Style::of(stencil.format));
    }
}

fn compile(stencil: &mut Stencil, outline: &Outline<'_>, style: Style) {
    let Style { metadata, ieee754, .. } = style;
    stencil.context = context(outline);
    stencil.first = "{".to_owned();
    stencil.next = ",{".to_owned();
    stencil.document_end = "";
    stencil.begin = entity(outline, &stencil.key, stencil.etag.as_ref(), style);
    stencil.parts = outline.kinds().map(|(column, values)| {
        let of_type = |outline: Outline<'_>| entity(&outline, &stencil.key, stencil.etag.as_ref(), style);
        let programs = outline.of_each_type().map(of_type).collect();
        Box::new(PartPrograms { column, chosen_by: ChosenBy::Value(values), programs })
    });
    stencil.document.text("{");
    if metadata != Metadata::None {
        stencil.document.texts(&["\"", style.control(), "context\":\""]).root();
        let one = if outline.singleton.is_some() { "\"" } else { "/$entity\"" };
        stencil.document.texts(&["$metadata#", &stencil.context, one]);
        stencil.document_has_member = true;
        if !stencil.begin.is_empty() {
            stencil.document.text(",");
        }
    }
    for expand in outline.expand {
        let navigation = &outline.entity_type.navigation[expand.navigation.0];
        let declared_by = outline.entity_type.declares_navigation(expand.navigation);
        let many = navigation.multiplicity == Multiplicity::Many;
        let mut begin = Program::default();
        let mut object = Object::empty(&mut begin);
        if metadata == Metadata::Full {
            navigation_links(&mut object, &stencil.key, &outline.cast_from_set(declared_by), &navigation.name, style);
        }
        let (nothing, list_end) = match (expand.shown, many) {
            (Shown::Number, _) => ("", ""),
            (_, true) => ("", "]"),
            (_, false) => ("null", ""),
        };
        let next = many.then(|| NextLink {
            path: format!(
                "/{}{}{}{}",
                outline.cast_from_set(declared_by),
                navigation.name,
                cast_behind(outline.model, expand),
                if expand.shown == Shown::References { "/$ref" } else { "" }
            ),
            before: format!(",\"{}{}nextLink\":\"", navigation.name, style.control()),
            after: "\"",
            escape: escape::json_text,
        });
        if expand.shown != Shown::Number {
            object.name(&[&navigation.name]).text(if many { "[" } else { "" });
        }
        let quote = if ieee754 == Ieee754::String { "\"" } else { "" };
        let total = expand.counts().then(|| Total {
            before: format!("\"{}{}count\":{quote}", navigation.name, style.control()),
            after: match begin.is_empty() {
                true => quote,
                false if quote.is_empty() => ",",
                false => "\",",
            },
        });
        let child = stencil.child(outline, expand);
        stencil.expansions.push(Expansion {
            by: outline.expanded_by(expand),
            separator: ",",
            begin,
            nothing,
            list_end,
            next,
            end: "".into(),
            total,
            child,
        });
    }
    stencil.end.text("}");
}

/// An entity up to its expansions.
fn entity(outline: &Outline<'_>, key: &Program, etag: Option<&Program>, style: Style) -> Program {
    let metadata = style.metadata;
    let at = style.control();
    let mut program = Program::default();
    let mut object = Object::empty(&mut program);
    // The context says the declared type.
    let is_other = outline.subtype.is_some_and(|subtype| subtype != outline.declared);
    if metadata == Metadata::Full || metadata == Metadata::Minimal && is_other {
        object.name(&[at, "type"]).texts(&["\"#", &outline.type_name(), "\""]);
    }
    if metadata == Metadata::Full || metadata == Metadata::Minimal && !outline.shows_key() {
        object.name(&[at, "id"]).text("\"").root().address(key).text("\"");
    }
    if let (Some(etag), true) = (etag, metadata != Metadata::None) {
        object.name(&[at, "etag"]).text("\"W/\\\"").append(etag).text("\\\"\"");
    }
    if metadata == Metadata::Full {
        let edit_link = object.name(&[at, "editLink"]).text("\"").address(key);
        if let Some(subtype) = outline.subtype.filter(|subtype| *subtype != SubtypeId::ROOT) {
            edit_link.texts(&["/", &outline.model.qualified(outline.entity_type, subtype)]);
        }
        edit_link.text("\"");
        if outline.entity_type.media {
            let media_type = outline.media_type(Form::JsonText);
            object.name(&[at, "mediaReadLink"]).text("\"").address(key).text("/$value\"");
            object.name(&[at, "mediaContentType"]).text("\"").append(&media_type).text("\"");
        }
    }
    for member in outline.members(Version::V4) {
        annotated_member(&mut object, outline, &member, style);
    }
    if metadata == Metadata::Full {
        for (id, link) in outline.links() {
            let cast = outline.cast_from_set(outline.entity_type.declares_navigation(id));
            navigation_links(&mut object, key, &cast, &link.name, style);
        }
    }
    program
}

fn navigation_links(object: &mut Object<'_>, key: &Program, cast: &str, name: &str, style: Style) {
    let at = style.control();
    object.name(&[name, at, "associationLink"]).text("\"").address(key).texts(&["/", cast, name, "/$ref\""]);
    object.name(&[name, at, "navigationLink"]).text("\"").address(key).texts(&["/", cast, name, "\""]);
}

fn annotated_member(object: &mut Object<'_>, outline: &Outline<'_>, member: &Member<'_>, style: Style) {
    let at = style.control();
    match member {
        Member::Primitive(field) => annotated_field(object, *field, style),
        Member::Complex { name, complex, fields } => {
            let program = object.name(&[name]).text("{");
            let mut inner = Object::empty(program);
            if style.metadata == Metadata::Full {
                inner.name(&[at, "type"]).texts(&["\"#", &outline.complex_name(*complex), "\""]);
            }
            for field in fields {
                annotated_field(&mut inner, *field, style);
            }
            program.text("}");
        }
    }
}

pub(super) fn annotated_field(object: &mut Object<'_>, field: Field<'_>, style: Style) {
    if let (Metadata::Full, Some(name)) = (style.metadata, annotated_type(field)) {
        object.name(&[field.name, style.control(), "type"]).texts(&["\"#", &name, "\""]);
    }
    object.field(JsonDialect::V4(style.ieee754), field);
}

/// The type that a reader cannot see from the JSON value: section 4.5.3 lets it see Boolean, String and Double. That of a
/// collection it never sees (V4.01, section 4.5.3: "the type name within parentheses").
fn annotated_type(field: Field<'_>) -> Option<Cow<'_, str>> {
    match (field.enumeration, field.primitive) {
        (Some(enumeration), Primitive::Collection(_)) => Some(format!("Collection({})", enumeration.full_name).into()),
        (Some(enumeration), _) => Some(enumeration.full_name.as_str().into()),
        (None, Primitive::Boolean | Primitive::String { .. } | Primitive::Double) => None,
        (None, other) => Some(type_name(Version::V4, Some(other)).replace("Edm.", "").into()),
    }
}

fn compile_property(stencil: &mut Stencil, outline: &Outline<'_>, whole: Whole<'_>, member: &Member<'_>, style: Style) {
    let Style { metadata, ieee754, .. } = style;
    let at = style.control();
    stencil.begin.text("{");
    if metadata != Metadata::None {
        let context = stencil.begin.texts(&["\"", at, "context\":\""]).root().text("$metadata#");
        match whole {
            Whole::Property(path) => context.address(&stencil.key).texts(&["/", path, "\""]),
            Whole::Type(name) => context.texts(&[name, "\""]),
        };
    }
    let mut object = match metadata {
        Metadata::None => Object::empty(&mut stencil.begin),
        Metadata::Minimal | Metadata::Full => Object::begun(&mut stencil.begin),
    };
    match member {
        Member::Primitive(field) => {
            if let (Metadata::Full, Some(name)) = (metadata, annotated_type(*field)) {
                object.name(&[at, "type"]).texts(&["\"#", &name, "\""]);
            }
            value(object.name(&["value"]), JsonDialect::V4(ieee754), *field);
        }
        Member::Complex { complex, fields, .. } => {
            if metadata == Metadata::Full {
                object.name(&[at, "type"]).texts(&["\"#", &outline.complex_name(*complex), "\""]);
            }
            for field in fields {
                annotated_field(&mut object, *field, style);
            }
        }
    }
    stencil.begin.text("}");
}

/// Writes references: objects with only an id (JSON Format, section 14). The id is always absolute: a relative one
/// would need the context, which not all documents have.
fn compile_references(stencil: &mut Stencil, style: Style) {
    let at = style.control();
    stencil.context = "Collection($ref)".to_owned();
    stencil.first = "{".to_owned();
    stencil.next = ",{".to_owned();
    stencil.document.text("{");
    if style.metadata != Metadata::None {
        stencil.document.texts(&["\"", at, "context\":\""]).root().text("$metadata#$ref\",");
    }
    stencil.begin.texts(&["\"", at, "id\":\""]).root().address(&stencil.key).text("\"}");
}

fn feed_begin(out: &mut Vec<u8>, stencil: &Stencil, base: &Base<'_>, head: &FeedHead<'_>, style: Style) {
    let Style { metadata, ieee754, .. } = style;
    out.push(b'{');
    if metadata != Metadata::None {
        named(out, style, "context");
        out.push(b'"');
        out.extend_from_slice(base.service_root().as_bytes());
        out.extend_from_slice(b"$metadata#");
        out.extend_from_slice(stencil.context.as_bytes());
        out.extend_from_slice(b"\",");
    }
    if let Some(count) = head.count {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let quote: &[u8] = if ieee754 == Ieee754::String { b"\"" } else { b"" };
        named(out, style, "count");
        out.extend_from_slice(quote);
        write_integer(out, count);
        out.extend_from_slice(quote);
        out.push(b',');
    }
    out.extend_from_slice(b"\"value\":[");
}

fn feed_end(out: &mut Vec<u8>, next_link: Option<&str>, style: Style) {
    out.push(b']');
    if let Some(next_link) = next_link {
        out.push(b',');
        named(out, style, "nextLink");
        out.push(b'"');
        escape::json_text(out, next_link.as_bytes());
        out.push(b'"');
    }
    out.push(b'}');
}

/// The name of control information, up to its value.
fn named(out: &mut Vec<u8>, style: Style, name: &str) {
    out.push(b'"');
    out.extend_from_slice(style.control().as_bytes());
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// The fragment of the context URL of a collection: the set with what was selected and expanded (V4.01 part 1,
/// section 10.9: an expanded property without a selection of its own has empty parentheses).
fn context(outline: &Outline<'_>) -> String {
    let Outline { model, entity_type, .. } = *outline;
    let mut items = shown(model, entity_type, outline.declared, outline.select, outline.expand);
    if *outline.select != Select::All {
        items.extend(Computed::shown(outline.computed).map(|computed| computed.name.clone()));
    }
    let mut name = outline.singleton.unwrap_or(outline.set_name()).to_owned();
    if outline.declared != SubtypeId::ROOT {
        name = format!("{name}/{}", model.qualified(entity_type, outline.declared));
    }
    match items.is_empty() {
        true => name,
        false => format!("{name}({})", items.join(",")),
    }
}

/// The selected and expanded properties; those that are only counted are left out.
fn shown(
    model: &Model,
    entity_type: &EntityType,
    declared: SubtypeId,
    select: &Select,
    expand: &[Expand],
) -> Vec<String> {
    let mut items = selected(model, entity_type, declared, select);
    for expand in expand {
        let of = entity_type.declares_navigation(expand.navigation);
        let name = format!(
            "{}{}",
            cast_from(model, entity_type, declared, if expand.of == SubtypeId::ROOT { of } else { expand.of }),
            entity_type.navigation[expand.navigation.0].name
        );
        let cast = cast_behind(model, expand);
        let item = match expand.shown {
            Shown::Number => continue,
            Shown::References => format!("{name}{cast}/$ref"),
            Shown::Entities => {
                let target = model.type_of(expand.target);
                let Options { subtype, select, expand, .. } = &expand.options;
                let inner = shown(model, target, *subtype, select, expand);
                format!("{name}{cast}({})", inner.join(","))
            }
        };
        items.retain(|item| *item != name);
        items.push(item);
    }
    items
}

/// The selected paths; a complex property whose leaves are all selected is named as a whole.
fn selected(model: &Model, entity_type: &EntityType, declared: SubtypeId, select: &Select) -> Vec<String> {
    let Select::Only { leaves, navigation } = select else { return Vec::new() };
    let mut items: Vec<String> = Vec::new();
    for id in leaves {
        let leaf = &entity_type.leaves[id.0];
        let property = &entity_type.properties[leaf.property];
        let whole = matches!(property.kind, PropertyKind::Complex(_))
            && entity_type
                .leaves
                .iter()
                .enumerate()
                .filter(|(_, other)| other.property == leaf.property)
                .all(|(position, _)| leaves.iter().any(|leaf| leaf.0 == position));
        let item = if whole { &property.name } else { &leaf.path };
        let item = format!("{}{item}", cast_from(model, entity_type, declared, entity_type.declares(*id)));
        if items.last() != Some(&item) {
            items.push(item);
        }
    }
    items.extend(navigation.iter().map(|id| {
        let cast = cast_from(model, entity_type, declared, entity_type.declares_navigation(*id));
        format!("{cast}{}", entity_type.navigation[id.0].name)
    }));
    items
}

/// The cast of what an expansion leads to.
fn cast_behind(model: &Model, expand: &Expand) -> String {
    match expand.options.subtype {
        SubtypeId::ROOT => String::new(),
        subtype => format!("/{}", model.qualified(model.type_of(expand.target), subtype)),
    }
}

/// Reads a collection or an entity, of V4 or of plain REST: a collection is the array `value`, or in plain REST the
/// document itself or its only array of objects. A schema distinguishes complex values from expanded entities; without
/// it an object with an `@odata.id`, an edit link or an ETag is an entity. Collections of primitives are passed over.
///
/// # Errors
/// The error in the document, with its byte.
pub fn read(document: &[u8], schema: Option<Schema<'_>>) -> Result<Document, ReadError> {
    let mut reader = Reader::new(document, Limits::default())?;
    let found = match reader.next()? {
        Event::ArrayBegin => Document { entities: many(&mut reader, schema)?, ..Document::default() },
        Event::ObjectBegin => body(&mut reader, schema)?,
        _ => return Err(no_entity(0)),
    };
    end(&mut reader)?;
    Ok(found)
}

fn body(reader: &mut Reader<'_>, schema: Option<Schema<'_>>) -> Result<Document, ReadError> {
    let mut document = Document::default();
    let mut entity = object(reader, schema, &mut document)?;
    let is_head = |name: &str| matches!(name, "count" | "next");
    let listed = match &entity.expanded[..] {
        [(name, Related::Many(_))] => {
            name == "value" || entity.id.is_none() && entity.properties.iter().all(|(name, _)| is_head(name))
        }
        _ => false,
    };
    if let (true, Some((_, Related::Many(entities)))) = (listed, entity.expanded.pop_if(|_| listed)) {
        document.entities = entities;
        for (name, value) in entity.properties {
            match (name.as_str(), value.text()) {
                ("count", Some(text)) => document.count = document.count.or(text.parse().ok()),
                ("next", Some(text)) => document.next = document.next.or(Some(text.to_owned())),
                _ => {}
            }
        }
    } else {
        document.extent = Extent::Single;
        document.entities.push(entity);
    }
    Ok(document)
}

/// Reads an entity behind its opening brace; what belongs to a collection goes to `document`.
fn object(reader: &mut Reader<'_>, schema: Option<Schema<'_>>, document: &mut Document) -> Result<Entity, ReadError> {
    let mut entity = Entity::default();
    while let Event::Name(name) = reader.next()? {
        match name.split_once('@') {
            Some(("", control)) => match control.strip_prefix("odata.").unwrap_or(control) {
                "id" => entity.id = Some(text(reader)?),
                "editLink" => entity.edit_link = Some(text(reader)?),
                "etag" => entity.etag = Some(text(reader)?),
                "type" => entity.type_name = Some(text(reader)?.trim_start_matches('#').to_owned()),
                "count" => document.count = Some(count(reader)?),
                "nextLink" => document.next = Some(text(reader)?),
                _ => reader.skip_value()?,
            },
            Some((navigation, "odata.navigationLink" | "navigationLink")) => {
                entity.links.push((navigation.to_owned(), text(reader)?));
            }
            Some(_) => reader.skip_value()?,
            None => member(reader, &mut entity, &name, schema)?,
        }
    }
    Ok(entity)
}

fn member(
    reader: &mut Reader<'_>,
    entity: &mut Entity,
    name: &str,
    schema: Option<Schema<'_>>,
) -> Result<(), ReadError> {
    // The collection itself has the schema of the document.
    let behind = schema.and_then(|schema| schema.behind(name));
    match reader.next()? {
        Event::ObjectBegin => {
            let inner = object(reader, behind, &mut Document::default())?;
            let is_entity = match schema {
                Some(_) => behind.is_some(),
                None => inner.id.is_some() || inner.edit_link.is_some() || inner.etag.is_some(),
            };
            if is_entity {
                entity.expanded.push((name.to_owned(), Related::One(Some(Box::new(inner)))));
            } else {
                flatten(entity, name, inner);
            }
        }
        Event::ArrayBegin => {
            let inner = if name == "value" || name == "items" { schema } else { behind };
            let entities = many(reader, inner)?;
            entity.expanded.push((name.to_owned(), Related::Many(entities)));
        }
        event => primitive(entity, name, event, behind),
    }
    Ok(())
}

/// Reads entities behind the opening bracket.
fn many(reader: &mut Reader<'_>, schema: Option<Schema<'_>>) -> Result<Vec<Entity>, ReadError> {
    entities(reader, |reader| object(reader, schema, &mut Document::default()))
}
