//! XPath 1.0, all of it: compiled once, evaluated often.
//!
//! An expression knows no document; its names are looked up in each document before it is evaluated, so that walking
//! compares numbers. If only one node is needed it stops there, and conditions and texts are found without allocation.

pub(crate) mod axis;
mod compare;
pub(crate) mod evaluate;
pub(crate) mod expression;
mod functions;
mod lexer;
pub(crate) mod number;
pub(crate) mod parser;
pub mod stream;
mod surroundings;
#[cfg(test)]
mod tests;
pub(crate) mod value;
pub(crate) mod walk;

use self::evaluate::{Context, Environment};
use self::expression::Expression;
pub use self::expression::Kind;
use self::stream::Stream;
use self::surroundings::Nothing;
use self::surroundings::Prefixes;
pub(crate) use self::surroundings::{Foreign, Host, StaticContext};
pub(crate) use self::value::Value;
use crate::budget::Budget;
use crate::error::Error;
use crate::forest::{Forest, Item, NAMES_INLINE, NameTable};
use crate::parse::Options;
pub use crate::tree::Place;
use crate::tree::{Document, NodeId};

/// A compiled expression. It can be shared between threads.
///
/// ```
/// use tollgate_xml::{Document, XPath, tree::NodeId};
///
/// let symbol = XPath::compile("//s:symbol = 'IBM'", &[("s", "http://services.samples")])?;
/// let message = Document::parse("<q xmlns='http://services.samples'><symbol>IBM</symbol></q>")?;
/// assert!(symbol.boolean(&message, NodeId::ROOT)?);
/// # Ok::<(), tollgate_xml::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct XPath {
    text: Box<str>,
    expression: Expression,
    names: NameTable,
    stream: Option<Stream>,
}

/// The result of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// `true` or `false`.
    Boolean(bool),
    /// A double.
    Number(f64),
    /// A text.
    String(String),
    /// Nodes in document order, each once.
    Nodes(Vec<Place>),
}

/// Whether XPath itself has a function of this name.
pub(crate) fn is_function(name: &str) -> bool {
    functions::Function::named(name).is_some()
}

impl XPath {
    /// Compiles an expression; `prefixes` are pairs of a prefix and its namespace.
    ///
    /// # Errors
    /// The error in it, with the place: also prefixes, variables and functions that are not known.
    pub fn compile(text: &str, prefixes: &[(&str, &str)]) -> Result<XPath, Error> {
        let mut names = NameTable::default();
        let expression = parser::parse(text, &Prefixes(prefixes), &mut names)?;
        let stream = Stream::of(&expression, &names);
        Ok(XPath { text: text.into(), expression, names, stream })
    }

    /// Whether it is true of a message's root, as `boolean()` makes it: answered while the message is read where that
    /// can be done, else by a tree.
    ///
    /// A message that is answered before its end is not read further, and so not refused for an error behind that: see
    /// [`stream`].
    ///
    /// ```
    /// use tollgate_xml::{Options, XPath};
    ///
    /// let symbol = XPath::compile("//s:symbol = 'IBM'", &[("s", "http://services.samples")])?;
    /// assert!(symbol.stream().is_some());
    /// let message = b"<q xmlns='http://services.samples'><symbol>IBM</symbol></q>";
    /// assert!(symbol.test(message, &Options::default())?);
    /// # Ok::<(), tollgate_xml::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Document::parse_bytes`] and [`XPath::boolean`].
    pub fn test(&self, source: &[u8], options: &Options<'_>) -> Result<bool, Error> {
        if let Some(answer) = self.stream.as_ref().and_then(|stream| stream.test(source, options)) {
            return Ok(answer.holds);
        }
        self.boolean(&Document::parse_bytes(source, options)?, NodeId::ROOT)
    }

    /// The expression as a condition that is answered while a message is read, if it is one.
    pub fn stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    /// The expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is true of a node: as `boolean()` makes it.
    ///
    /// # Errors
    /// It takes more steps than the budget with which the document was read.
    pub fn boolean(&self, document: &Document<'_>, node: NodeId) -> Result<bool, Error> {
        self.evaluate(document, node, |context, expression| context.boolean(expression))
    }

    /// The number that it is of a node: as `number()` makes it.
    ///
    /// # Errors
    /// As [`XPath::boolean`].
    pub fn number(&self, document: &Document<'_>, node: NodeId) -> Result<f64, Error> {
        self.evaluate(document, node, |context, expression| context.number(expression))
    }

    /// Appends the text that it is of a node: as `string()` makes it.
    ///
    /// # Errors
    /// As [`XPath::boolean`].
    pub fn string_into(&self, document: &Document<'_>, node: NodeId, text: &mut String) -> Result<(), Error> {
        self.evaluate(document, node, |context, expression| {
            text.push_str(&context.string(expression)?);
            Ok(())
        })
    }

    /// The text that it is of a node: as `string()` makes it.
    ///
    /// # Errors
    /// As [`XPath::boolean`].
    pub fn string(&self, document: &Document<'_>, node: NodeId) -> Result<String, Error> {
        let mut text = String::new();
        self.string_into(document, node, &mut text)?;
        Ok(text)
    }

    /// The result, of any type.
    ///
    /// # Errors
    /// As [`XPath::boolean`].
    pub fn find(&self, document: &Document<'_>, node: NodeId) -> Result<Found, Error> {
        self.evaluate(document, node, |context, expression| {
            Ok(match context.value(expression)? {
                Value::Boolean(value) => Found::Boolean(value),
                Value::Number(value) => Found::Number(value),
                Value::String(text) => Found::String(text.into_string()),
                Value::Nodes(nodes) => Found::Nodes(nodes.iter().map(|item| item.place).collect()),
                Value::Fragment(_) => unreachable!("only a stylesheet makes fragments"),
            })
        })
    }

    fn evaluate<T>(
        &self,
        document: &Document<'_>,
        node: NodeId,
        mut ask: impl for<'e> FnMut(&Context<'e, '_>, &'e Expression) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut room = [None; NAMES_INLINE];
        let forest = Forest::new(document, &self.names, &mut room);
        let budget = Budget { instructions_max: document.steps_max(), ..Budget::default() };
        let environment = Environment::new(&forest, &budget);
        let item = Item::of_first(Place::of(node));
        ask(&Context { environment: &environment, host: &Nothing, item, position: 1, size: 1 }, &self.expression)
    }
}
