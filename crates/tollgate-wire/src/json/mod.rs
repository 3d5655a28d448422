//! JSON as the OData versions and plain REST share it: how a primitive is written in each dialect, and how entities are
//! read with the pull [`reader`].
//!
//! It deliberately writes no document: the parts of one version only are in [`v2`] and [`v4`].

pub(crate) mod rows;
pub mod v2;
pub mod v4;

pub use crate::syntax::json as reader;

use std::sync::Arc;

use crate::edm::{Item, Primitive};
use crate::format::Ieee754;
use crate::number::Width;
use crate::stencil::cell::{Form, Syntax};
use crate::stencil::items::{Array, ItemsForm};
use crate::stencil::outline::{Field, Member, typical_size};
use crate::stencil::pattern::{Names, Null, Pattern};
use crate::stencil::program::Program;
use crate::syntax::ReadError;
use crate::syntax::json::{Event, Reader};
use crate::value::document::{Entity, Related, Scalar, Schema};

/// The reader of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonDialect {
    V2,
    V4(Ieee754),
    Rest,
}

/// The pattern of a primitive that is not null.
pub(crate) fn pattern(dialect: JsonDialect, primitive: Primitive) -> Pattern {
    use Primitive as P;
    let bare = |form| Pattern { before: "", form, after: "" };
    let quoted = |form| Pattern { before: "\"", form, after: "\"" };
    let text_for_doubles = matches!(dialect, JsonDialect::V2 | JsonDialect::V4(Ieee754::String));
    match primitive {
        P::Boolean => bare(Form::Boolean(Syntax::Json)),
        P::Byte | P::SByte | P::Int16 | P::Int32 => bare(Form::Integer(Syntax::Json)),
        P::Int64 if text_for_doubles => quoted(Form::Integer(Syntax::JsonQuoted)),
        P::Int64 => bare(Form::Integer(Syntax::Json)),
        P::Decimal { .. } if text_for_doubles => quoted(Form::JsonText),
        P::Decimal { .. } => bare(Form::JsonDecimal),
        P::Single | P::Double => {
            let width = if primitive == P::Single { Width::Single } else { Width::Double };
            match dialect {
                JsonDialect::V2 => quoted(Form::Real(Syntax::JsonQuoted, width)),
                JsonDialect::V4(_) | JsonDialect::Rest => bare(Form::Real(Syntax::Json, width)),
            }
        }
        P::Binary { .. } => match dialect {
            JsonDialect::V4(_) => quoted(Form::Base64Url(Syntax::JsonQuoted)),
            JsonDialect::V2 | JsonDialect::Rest => quoted(Form::Base64(Syntax::JsonQuoted)),
        },
        P::Date | P::DateTime { .. } if dialect == JsonDialect::V2 => {
            Pattern { before: "\"\\/Date(", form: Form::Ticks, after: ")\\/\"" }
        }
        P::DateTimeOffset { .. } if dialect == JsonDialect::V2 => {
            Pattern { before: "\"\\/Date(", form: Form::Ticks, after: "+0000)\\/\"" }
        }
        // V4 has no date with time but without zone.
        P::DateTime { .. } if matches!(dialect, JsonDialect::V4(_)) => {
            Pattern { before: "\"", form: Form::JsonText, after: "Z\"" }
        }
        P::TimeOfDay { .. } if dialect == JsonDialect::V2 => quoted(Form::TimeAsDuration(Syntax::JsonQuoted)),
        P::String { .. }
        | P::Guid
        | P::Date
        | P::DateTime { .. }
        | P::DateTimeOffset { .. }
        | P::TimeOfDay { .. }
        | P::Duration
        // Its values are written one by one.
        | P::Collection(_) => quoted(Form::JsonText),
    }
}

/// Writes a primitive without its name.
pub(crate) fn value(program: &mut Program, dialect: JsonDialect, field: Field<'_>) {
    if let Primitive::Collection(item) = field.primitive {
        return items(program, dialect, field, item);
    }
    if let (JsonDialect::V4(_) | JsonDialect::Rest, Some(enumeration)) = (dialect, field.enumeration) {
        let null = Null { take_back: 1, skip: 1, text: "null" };
        program.text("\"");
        return program.members(field.column, (enumeration, Names::Json), null, "\"");
    }
    let pattern = pattern(dialect, field.primitive);
    let null = Null { take_back: pattern.before.len() as u16, skip: pattern.after.len() as u16, text: "null" };
    program.value(field.column, typical_size(field.primitive), pattern, null, "");
}

/// Writes a collection without its name.
fn items(program: &mut Program, dialect: JsonDialect, field: Field<'_>, item: Item) {
    let primitive = item.primitive();
    let enumeration = match dialect {
        JsonDialect::V4(_) | JsonDialect::Rest => field.enumeration.map(|known| (Arc::clone(known), Names::Json)),
        JsonDialect::V2 => None,
    };
    // All others are in quotes in the canonical array, and in documents.
    let differs = match primitive {
        Primitive::Decimal { .. } => dialect != JsonDialect::V4(Ieee754::String),
        Primitive::Int64 => dialect == JsonDialect::V4(Ieee754::String),
        Primitive::DateTime { .. } => matches!(dialect, JsonDialect::V4(_)),
        _ => false,
    };
    let array = if differs || enumeration.is_some() { Array::Rewritten } else { Array::Copied };
    let (begin, between, end) = ("[", ",", "]");
    let item = match pattern(dialect, primitive) {
        item if enumeration.is_some() => Pattern { before: "\"", after: "\"", ..item },
        item => item,
    };
    let form = ItemsForm { begin, between, end, item, null: "null", enumeration, array };
    program.items(field.column, typical_size(field.primitive), form);
}

/// The members of a JSON object that is being compiled: it knows where a comma belongs.
pub(crate) struct Object<'p> {
    program: &'p mut Program,
    has_member: bool,
}

impl<'p> Object<'p> {
    /// Goes on behind an opening brace.
    pub(crate) fn empty(program: &'p mut Program) -> Object<'p> {
        Object { program, has_member: false }
    }

    /// Continues behind members that are already written.
    pub(crate) fn begun(program: &'p mut Program) -> Object<'p> {
        Object { program, has_member: true }
    }

    /// Writes a comma if one is needed, the name and the colon; the caller pushes the value.
    pub(crate) fn name(&mut self, parts: &[&str]) -> &mut Program {
        self.program.text(if self.has_member { ",\"" } else { "\"" }).texts(parts).text("\":");
        self.has_member = true;
        self.program
    }

    /// Writes a primitive.
    pub(crate) fn field(&mut self, dialect: JsonDialect, field: Field<'_>) {
        value(self.name(&[field.name]), dialect, field);
    }

    /// Writes a member of an entity as it is, complex ones as objects.
    pub(crate) fn member(&mut self, dialect: JsonDialect, member: &Member<'_>) {
        match member {
            Member::Primitive(field) => self.field(dialect, *field),
            Member::Complex { name, fields, .. } => {
                let program = self.name(&[name]).text("{");
                let mut inner = Object::empty(program);
                for field in fields {
                    inner.field(dialect, *field);
                }
                program.text("}");
            }
        }
    }
}

/// The value of an event that is a primitive.
pub(crate) fn scalar(event: Event<'_>) -> Option<Scalar> {
    match event {
        Event::Null => Some(Scalar::Null),
        Event::Boolean(value) => Some(Scalar::Boolean(value)),
        Event::Number(text) => Some(Scalar::Number(text.to_owned())),
        Event::Text(text) => Some(Scalar::Text(text.into_owned())),
        Event::ObjectBegin | Event::ObjectEnd | Event::ArrayBegin | Event::ArrayEnd | Event::Name(_) | Event::End => {
            None
        }
    }
}

/// Adds a member that is a primitive; null is a link to nothing where there is a schema behind the member.
pub(crate) fn primitive(entity: &mut Entity, name: &str, event: Event<'_>, behind: Option<Schema<'_>>) {
    match scalar(event) {
        Some(Scalar::Null) if behind.is_some() => entity.expanded.push((name.to_owned(), Related::One(None))),
        Some(value) => entity.properties.push((name.to_owned(), value)),
        None => {}
    }
}

/// Reads entities behind the opening bracket, each with `object` behind its brace; primitives are passed over.
pub(crate) fn entities(
    reader: &mut Reader<'_>,
    object: impl Fn(&mut Reader<'_>) -> Result<Entity, ReadError>,
) -> Result<Vec<Entity>, ReadError> {
    let mut entities = Vec::new();
    loop {
        let position = reader.position();
        match reader.next()? {
            Event::ObjectBegin => entities.push(object(reader)?),
            Event::ArrayEnd => return Ok(entities),
            Event::ArrayBegin => return Err(no_entity(position)),
            _ => {}
        }
    }
}

/// Adds the properties of a complex value under its name.
pub(crate) fn flatten(entity: &mut Entity, name: &str, complex: Entity) {
    let properties = complex.properties.into_iter();
    entity.properties.extend(properties.map(|(inner, value)| (format!("{name}/{inner}"), value)));
}

/// A member's value that must be a text or number.
pub(crate) fn text(reader: &mut Reader<'_>) -> Result<String, ReadError> {
    let position = reader.position();
    match reader.next()? {
        Event::Text(text) => Ok(text.into_owned()),
        Event::Number(text) => Ok(text.to_owned()),
        _ => Err(ReadError { position, message: "expected a text".to_owned() }),
    }
}

/// A count, which is a number or a text.
pub(crate) fn count(reader: &mut Reader<'_>) -> Result<u64, ReadError> {
    let position = reader.position();
    let text = text(reader)?;
    text.parse().map_err(|_| ReadError { position, message: format!("expected a count, found '{text}'") })
}

/// The reader must find nothing more.
pub(crate) fn end(reader: &mut Reader<'_>) -> Result<(), ReadError> {
    reader.next().map(|_| ())
}

/// The reader's error about an array that contains something else than entities.
pub(crate) fn no_entity(position: usize) -> ReadError {
    ReadError { position, message: "expected an entity".to_owned() }
}
