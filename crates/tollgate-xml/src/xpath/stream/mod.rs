//! Conditions that a message answers while it is read: a part of XPath 1.0 as a scanner over bytes that builds no tree and
//! stops as soon as the answer is known. Routing by content needs no more.
//!
//! The part: `and`, `or`, `not()`, `boolean()`, `=` and `!=` of a path and a literal, `contains()` and `starts-with()` of a
//! path and a literal, and paths by themselves, from the root over child and descendant steps to elements, attributes and
//! texts, by names, `*` and `prefix:*`, without predicates.
//!
//! It answers only where the full engine would answer the same. On any doubt it says nothing, and the full engine is asked:
//! references, CDATA sections, processing instructions, a document type, another encoding than UTF-8, names beyond ASCII,
//! a value with markup or a carriage return in it, deep nesting, and whatever is not well-formed.
//!
//! Stopping early means: all that was read is well-formed, and what stands behind it was not looked at. A message that is
//! broken only there is answered, where the full engine would refuse it; whoever must know reads the whole message.

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

/// What a scan came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Whether the condition holds.
    pub holds: bool,
    /// Bytes that were read, all of them well-formed.
    pub read_bytes: usize,
}

impl Stream {
    /// `None` where the expression is beyond what can be answered so.
    pub(super) fn of(expression: &Expression, names: &NameTable) -> Option<Stream> {
        Automaton::of(expression, names).map(|automaton| Stream { automaton })
    }

    /// The answer of a message, as of its root; `None` on any doubt.
    ///
    /// The budget of `options` holds: what might go beyond it is a doubt. Where white space is left out, all is.
    pub fn test(&self, source: &[u8], options: &Options<'_>) -> Option<Answer> {
        scan::scan(&self.automaton, source, options)
    }
}
