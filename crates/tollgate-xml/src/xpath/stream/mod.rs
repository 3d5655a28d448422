//! Conditions that a message answers while it is read: a part of XPath 1.0 as a scanner over bytes that builds no tree and
//! stops as soon as the answer is known. Routing by content needs no more.
//!
//! The part: `and`, `or`, `not()`, `boolean()`, `=` and `!=` of a path and a literal, `contains()` and `starts-with()` of a
//! path and a literal, and paths by themselves, from the root over child and descendant steps to elements, attributes and
//! texts, by names, `*` and `prefix:*`, without predicates.
//!
//! It answers only if the full engine would answer the same. On any doubt it gives no answer, and the full engine is
//! asked: references, CDATA sections, processing instructions, a document type, another encoding than UTF-8, names
//! beyond ASCII, a value with markup or a carriage return in it, deep nesting, and all that is not well-formed.
//!
//! Stopping early means: all that was read is well-formed, and the rest was not looked at. A message that is broken
//! only there is answered, though the full engine would refuse it; a caller that must know reads the whole message.

mod automaton;
mod scan;
#[cfg(test)]
mod tests;

use self::automaton::Automaton;
use super::expression::Expression;
use crate::forest::NameTable;
use crate::parse::Options;

/// A condition that is answered while a message is read. It can be shared between threads.
#[derive(Debug, Clone)]
pub struct Stream {
    automaton: Automaton,
}

/// The result of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Whether the condition is true.
    pub holds: bool,
    /// Bytes that were read, all of them well-formed.
    pub read_bytes: usize,
}

impl Stream {
    /// `None` where the expression is beyond what can be answered so.
    pub(super) fn of(expression: &Expression, names: &NameTable) -> Option<Stream> {
        Automaton::of(expression, names).map(|automaton| Stream { automaton })
    }

    /// The answer for a message, at its root; `None` on any doubt.
    ///
    /// The budget of `options` applies: possible excess is a doubt. If white space is left out, every message is.
    pub fn test(&self, source: &[u8], options: &Options<'_>) -> Option<Answer> {
        scan::scan(&self.automaton, source, options)
    }
}
