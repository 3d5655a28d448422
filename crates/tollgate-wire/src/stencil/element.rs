//! XML as V2 and plain REST share it: how a primitive and a complex property become elements.
//!
//! It deliberately writes no document: the parts of Atom only are in [`crate::atom`].

use std::sync::Arc;

use super::cell::{Form, Syntax};
use super::items::{Array, ItemsForm};
use super::outline::{Field, typical_size};
use super::pattern::{Names, Null, Pattern};
use super::program::Program;
use crate::edm::{Enumeration, Item, Primitive};
use crate::number::Width;

/// The reader of the XML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum XmlDialect {
    /// OData V2: elements in the data namespace, `m:null`.
    V2,
    /// Elements without namespace, `null`.
    Rest,
}

impl XmlDialect {
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            XmlDialect::V2 => "d:",
            XmlDialect::Rest => "",
        }
    }

    /// The text behind the name of an element whose value is null.
    fn null(self) -> &'static str {
        match self {
            XmlDialect::V2 => " m:null=\"true\"/>",
            XmlDialect::Rest => " null=\"true\"/>",
        }
    }
}

/// The pattern of a primitive that is not null.
pub(crate) fn pattern(dialect: XmlDialect, primitive: Primitive) -> Pattern {
    use Primitive as P;
    let bare = |form| Pattern { before: "", form, after: "" };
    match (primitive, dialect) {
        (P::Boolean, _) => bare(Form::Boolean(Syntax::Xml)),
        (P::Byte | P::SByte | P::Int16 | P::Int32 | P::Int64, _) => bare(Form::Integer(Syntax::Xml)),
        (P::Single, _) => bare(Form::Real(Syntax::Xml, Width::Single)),
        (P::Double, _) => bare(Form::Real(Syntax::Xml, Width::Double)),
        (P::Binary { .. }, _) => bare(Form::Base64(Syntax::Xml)),
        // V2 has no date without time.
        (P::Date, XmlDialect::V2) => Pattern { before: "", form: Form::XmlText, after: "T00:00:00" },
        (P::TimeOfDay { .. }, XmlDialect::V2) => bare(Form::TimeAsDuration(Syntax::Xml)),
        (
            P::Decimal { .. }
            | P::String { .. }
            | P::Guid
            | P::Date
            | P::DateTime { .. }
            | P::DateTimeOffset { .. }
            | P::TimeOfDay { .. }
            | P::Duration
            // How many values it has: the values themselves are no primitive.
            | P::Collection(_),
            _,
        ) => bare(Form::XmlText),
    }
}

/// Writes a primitive as an element; `attributes` begin with a space.
pub(crate) fn element(program: &mut Program, dialect: XmlDialect, field: Field<'_>, attributes: &str) {
    let pattern = pattern(dialect, field.primitive);
    program.texts(&["<", dialect.prefix(), field.name, attributes, ">"]);
    let close = format!("</{}{}>", dialect.prefix(), field.name);
    let enumeration = match dialect {
        XmlDialect::Rest => field.enumeration.map(|known| (known, Names::Xml)),
        XmlDialect::V2 => None,
    };
    if let Primitive::Collection(item) = field.primitive {
        program.items(field.column, typical_size(field.primitive), items(dialect, item, enumeration));
        program.text(&close);
        return;
    }
    if let Some(enumeration) = enumeration {
        let null = Null { take_back: ">".len() as u16, skip: close.len() as u16, text: dialect.null() };
        return program.members(field.column, enumeration, null, &close);
    }
    let null = Null {
        take_back: (">".len() + pattern.before.len()) as u16,
        skip: (pattern.after.len() + close.len()) as u16,
        text: dialect.null(),
    };
    program.value(field.column, typical_size(field.primitive), pattern, null, &close);
}

/// The form of a collection: an element for each of its values.
fn items(dialect: XmlDialect, item: Item, enumeration: Option<(&Arc<Enumeration>, Names)>) -> ItemsForm {
    let pattern = pattern(dialect, item.primitive());
    ItemsForm {
        begin: "",
        between: "",
        end: "",
        item: Pattern { before: "<item>", form: pattern.form, after: "</item>" },
        null: "<item null=\"true\"/>",
        enumeration: enumeration.map(|(known, syntax)| (Arc::clone(known), syntax)),
        array: Array::Rewritten,
    }
}

/// Writes a complex property as an element.
pub(crate) fn complex(program: &mut Program, dialect: XmlDialect, name: &str, fields: &[Field<'_>], attributes: &str) {
    program.texts(&["<", dialect.prefix(), name, attributes, ">"]);
    for field in fields {
        element(program, dialect, *field, "");
    }
    program.texts(&["</", dialect.prefix(), name, ">"]);
}
