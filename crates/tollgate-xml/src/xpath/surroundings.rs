//! What an expression takes from outside: when it is compiled (which prefixes, variables and functions there are) and when
//! it is evaluated (what they are).

use super::evaluate::Context;
use super::value::Value;
use crate::error::Error;

/// What an expression is compiled against.
pub(crate) trait StaticContext {
    /// The namespace that a prefix stands for.
    fn namespace(&self, prefix: &str) -> Option<&str>;

    /// The number under which the host knows a variable.
    fn variable(&self, uri: &str, local: &str) -> Option<u32>;

    /// A function beyond those of XPath itself.
    fn function(&self, uri: &str, local: &str, arguments: usize) -> Foreign;
}

/// What a host says of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// It is called by this number.
    Known(u32),
    /// It is known, but not so: why.
    Refused(String),
    /// There is no such function.
    Unknown,
}

/// What an expression is evaluated with: what the numbers stand for that the [`StaticContext`] gave out.
pub(crate) trait Host<'c> {
    /// The value of a variable.
    ///
    /// # Errors
    /// Where it has none.
    fn variable(&self, number: u32, context: &Context<'c, '_>) -> Result<Value<'c>, Error>;

    /// Calls a function.
    ///
    /// # Errors
    /// What the function says.
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
