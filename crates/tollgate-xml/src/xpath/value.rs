//! Values of expressions: the four types of XPath 1.0 (section 1) and the result tree fragments of XSLT 1.0 (section 11.1),
//! and how one becomes another.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::number;
use crate::forest::{Forest, Item};
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
    /// It stands in a document or in the expression.
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

impl<'e> From<std::borrow::Cow<'e, str>> for Text<'e> {
    fn from(text: std::borrow::Cow<'e, str>) -> Text<'e> {
        match text {
            std::borrow::Cow::Borrowed(text) => Text::Borrowed(text),
            std::borrow::Cow::Owned(text) => Text::Owned(text),
        }
    }
}

impl<'e> Value<'e> {
    /// As `boolean()` makes it (section 4.3).
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

    /// As `number()` makes it (section 4.4).
    pub(crate) fn number(&self, forest: &Forest<'_>) -> f64 {
        match self {
            Value::Boolean(value) => f64::from(u8::from(*value)),
            Value::Number(value) => *value,
            Value::String(text) => number::from_text(text),
            Value::Nodes(nodes) => match nodes.first() {
                Some(first) => number::from_text(&string_value(forest, *first)),
                None => f64::NAN,
            },
            Value::Fragment(fragment) => number::from_text(&fragment.string_value(NodeId::ROOT)),
        }
    }

    /// As `string()` makes it (section 4.2).
    pub(crate) fn into_text(self, forest: &'e Forest<'_>) -> Text<'e> {
        match self {
            Value::Boolean(value) => boolean_text(value),
            Value::Number(value) => number::to_text(value).into(),
            Value::String(text) => text,
            Value::Nodes(nodes) => match nodes.first() {
                Some(first) => string_value(forest, *first),
                None => Text::Borrowed(""),
            },
            Value::Fragment(fragment) => Text::Owned(fragment.string_value(NodeId::ROOT).into_owned()),
        }
    }
}

/// What a number is as a condition.
pub(crate) fn is_true(number: f64) -> bool {
    number != 0.0 && !number.is_nan()
}

pub(crate) fn boolean_text<'e>(value: bool) -> Text<'e> {
    Text::Borrowed(if value { "true" } else { "false" })
}

/// The string-value of a node, a namespace node among them (section 5).
pub(crate) fn string_value<'e>(forest: &'e Forest<'_>, item: Item) -> Text<'e> {
    let document = forest.view(item.document).document;
    match item.place.namespace {
        0 => document.string_value(item.place.node).into(),
        _ => Text::Borrowed(super::nodes::namespace(document, item.place).map_or("", |(_, uri)| uri)),
    }
}
