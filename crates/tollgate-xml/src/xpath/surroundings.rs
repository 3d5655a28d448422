//! Surroundings of an expression: when it is compiled (its prefixes, variables and functions) and when it is evaluated
//! (their values).

use super::evaluate::Context;
use super::value::Value;
use crate::error::Error;

/// The context in which an expression is compiled.
pub(crate) trait StaticContext {
    /// The namespace of a prefix.
    fn namespace(&self, prefix: &str) -> Option<&str>;

    /// The number under which the host knows a variable.
    fn variable(&self, uri: &str, local: &str) -> Option<u32>;

    /// A function beyond those of XPath itself.
    fn function(&self, uri: &str, local: &str, arguments: usize) -> Foreign;
}

/// A host's answer about a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// It is called by this number.
    Known(u32),
    /// It cannot be called like this; the reason.
    Refused(String),
    /// There is no such function.
    Unknown,
}

/// The context in which an expression is evaluated: the values for the numbers that the [`StaticContext`] gave out.
pub(crate) trait Host<'c> {
    /// The value of a variable.
    ///
    /// # Errors
    /// It has none.
    fn variable(&self, number: u32, context: &Context<'c, '_>) -> Result<Value<'c>, Error>;

    /// Calls a function.
    ///
    /// # Errors
    /// The function's error.
    fn call(&self, number: u32, arguments: Vec<Value<'c>>, context: &Context<'c, '_>) -> Result<Value<'c>, Error>;
}

/// Prefixes and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Prefixes<'p>(pub(crate) &'p [(&'p str, &'p str)]);

impl StaticContext for Prefixes<'_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        let declared = self.0.iter().find(|(declared, _)| *declared == prefix).map(|(_, uri)| *uri);
        declared.or_else(|| (prefix == "xml").then_some(crate::XML_NAMESPACE))
    }

    fn variable(&self, _uri: &str, _local: &str) -> Option<u32> {
        None
    }

    fn function(&self, _uri: &str, _local: &str, _arguments: usize) -> Foreign {
        Foreign::Unknown
    }
}

/// A host without variables and functions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nothing;

impl<'c> Host<'c> for Nothing {
    fn variable(&self, _number: u32, _context: &Context<'c, '_>) -> Result<Value<'c>, Error> {
        unreachable!("an expression compiled without variables names none")
    }

    fn call(&self, _number: u32, _arguments: Vec<Value<'c>>, _context: &Context<'c, '_>) -> Result<Value<'c>, Error> {
        unreachable!("an expression compiled without functions calls none")
    }
}
