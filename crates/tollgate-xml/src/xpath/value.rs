//! Values of expressions: the four types of XPath 1.0 (section 1) and the result tree fragments of XSLT 1.0 (section 11.1),
//! and how one becomes another.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::evaluate::Environment;
use crate::error::Error;
use crate::forest::Item;
use crate::tree::{Document, NodeId};

/// The value of an expression.
#[derive(Debug, Clone)]
pub(crate) enum Value<'e> {
    /// `true` or `false`.
    Boolean(bool),
    /// A double.
    Number(f64),
    /// A text.
    String(Text<'e>),
    /// Nodes, in document order and each once.
    Nodes(Rc<Vec<Item>>),
    /// A tree that a stylesheet made.
    Fragment(Rc<Document<'static>>),
}

/// A text that is copied only where it must be.
#[derive(Clone)]
pub(crate) enum Text<'e> {
    /// It is borrowed from a document or from the expression.
    Borrowed(&'e str),
    /// It was made.
    Owned(String),
    /// It is the value of a variable.
    Shared(Rc<str>),
}

impl Text<'_> {
    /// The text as a string of its own.
    pub(crate) fn into_string(self) -> String {
        match self {
            Text::Borrowed(text) => text.to_owned(),
            Text::Owned(text) => text,
            Text::Shared(text) => (*text).to_owned(),
        }
    }
}

impl Deref for Text<'_> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Owned(text) => text,
            Text::Shared(text) => text,
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl<'e> From<Cow<'e, str>> for Text<'e> {
    fn from(text: Cow<'e, str>) -> Text<'e> {
        match text {
            Cow::Borrowed(text) => Text::Borrowed(text),
            Cow::Owned(text) => Text::Owned(text),
        }
    }
}

impl<'e> Value<'e> {
    /// The value as `boolean()` makes it (section 4.3).
    pub(crate) fn boolean(&self) -> bool {
        match self {
            Value::Boolean(value) => *value,
            Value::Number(value) => is_true(*value),
            Value::String(text) => !text.is_empty(),
            Value::Nodes(nodes) => !nodes.is_empty(),
            // A fragment has a root, always.
            Value::Fragment(_) => true,
        }
    }

    /// The value as `number()` makes it (section 4.4).
    pub(crate) fn number(&self, environment: &Environment<'e>) -> Result<f64, Error> {
        match self {
            Value::Boolean(value) => Ok(f64::from(u8::from(*value))),
            Value::Number(value) => Ok(*value),
            Value::String(text) => environment.read_number(text),
            Value::Nodes(nodes) => match nodes.first() {
                Some(first) => environment.number_of(*first),
                None => Ok(f64::NAN),
            },
            Value::Fragment(fragment) => environment.read_number(&fragment_text(fragment, environment)?),
        }
    }

    /// The value as `string()` makes it (section 4.2).
    pub(crate) fn into_text(self, environment: &Environment<'e>) -> Result<Text<'e>, Error> {
        match self {
            Value::Boolean(value) => Ok(boolean_text(value)),
            Value::Number(value) => environment.number_text(value),
            Value::String(text) => Ok(text),
            Value::Nodes(nodes) => match nodes.first() {
                Some(first) => environment.string_value(*first),
                None => Ok(Text::Borrowed("")),
            },
            Value::Fragment(fragment) => Ok(Text::Owned(fragment_text(&fragment, environment)?.into_owned())),
        }
    }
}

/// The string-value of a fragment.
pub(crate) fn fragment_text<'f>(
    fragment: &'f Document<'_>,
    environment: &Environment<'_>,
) -> Result<Cow<'f, str>, Error> {
    environment.spend(fragment.node_count() as u64)?;
    let text = fragment.string_value(NodeId::ROOT);
    environment.meter.copy(text.len())?;
    Ok(text)
}

/// The truth of a number as a condition.
pub(crate) fn is_true(number: f64) -> bool {
    number != 0.0 && !number.is_nan()
}

pub(crate) fn boolean_text<'e>(value: bool) -> Text<'e> {
    Text::Borrowed(if value { "true" } else { "false" })
}
