//! XSLT 1.0, all of it, and `exsl:node-set`: a stylesheet is compiled once and transforms any number of documents, in any
//! number of threads.
//!
//! Other features in a stylesheet are refused when it is compiled, with its place, except where the recommendation
//! defers the error (sections 2.5 and 15). It loads nothing by itself: a [`Loader`] says what references mean.

mod compile;
mod decimal;
mod declared;
mod functions;
mod load;
mod numbering;
mod pattern;
mod positions;
mod program;
mod result;
mod rules;
mod run;
#[cfg(test)]
mod tests;

pub use self::load::{LoadNothing, Loaded, Loader};
use self::program::{ExpandedName, GlobalKind, Program};
use crate::budget::Budget;
use crate::error::Error;
use crate::parse::{Options, Whitespace};
use crate::serialize::{Method, OutputSettings};
use crate::tree::Document;

/// The namespace of XSLT.
pub const XSLT: &str = "http://www.w3.org/1999/XSL/Transform";

/// A compiled stylesheet. Threads share it.
///
/// ```
/// use tollgate_xml::Stylesheet;
///
/// let stylesheet = Stylesheet::compile(
///     br#"<q xsl:version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><s><xsl:value-of select="//code"/></s></q>"#,
///     "quote.xsl",
/// )?;
/// let message = stylesheet.parse("<order><code>IBM</code></order>")?;
/// let result = stylesheet.transform(&message)?;
/// assert_eq!(result, b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<q><s>IBM</s></q>");
/// # Ok::<(), tollgate_xml::Error>(())
/// ```
#[derive(Debug)]
pub struct Stylesheet {
    program: Program,
}

/// Options of a stylesheet's run.
#[derive(Clone, Copy)]
pub struct RunOptions<'r> {
    /// Values of the stylesheet's parameters, by name: `name`, or `{namespace}name`. Names that it does not have are
    /// ignored, see [`Stylesheet::has_parameter`].
    pub parameters: &'r [(&'r str, Parameter<'r>)],
    /// The loader for `document()`.
    pub loader: &'r dyn Loader,
    /// The limits of the run; absent: the default.
    pub budget: Option<&'r Budget>,
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Parameter<'p> {
    /// A text.
    String(&'p str),
    /// A double.
    Number(f64),
    /// `true` or `false`.
    Boolean(bool),
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transformed {
    /// The result, in its encoding.
    pub bytes: Vec<u8>,
    /// The output method: the one that is stated, or that which the result chose (section 16).
    pub method: Method,
    /// All texts of `xsl:message`, in order; their bytes are limited as those of the result.
    pub messages: Vec<String>,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        RunOptions { parameters: &[], loader: &LoadNothing, budget: None }
    }
}

impl Stylesheet {
    /// Compiles a stylesheet that refers to no other; `name` is what errors call it.
    ///
    /// # Errors
    /// The error in it, with the place.
    pub fn compile(source: &[u8], name: &str) -> Result<Stylesheet, Error> {
        Stylesheet::compile_with(source, name, &LoadNothing, &Budget::default())
    }

    /// Compiles a stylesheet and what it includes and imports.
    ///
    /// # Errors
    /// The error in it, with the place.
    pub fn compile_with(source: &[u8], name: &str, loader: &dyn Loader, budget: &Budget) -> Result<Stylesheet, Error> {
        let (sheet, modules) = load::load(source, name, loader, budget)?;
        Ok(Stylesheet { program: compile::compile(&sheet, modules, budget)? })
    }

    /// Whether it has a parameter of this name: `name`, or `{namespace}name`.
    pub fn has_parameter(&self, name: &str) -> bool {
        let mut globals = self.program.globals.iter();
        globals.any(|global| global.kind == GlobalKind::Parameter && is_name(&global.name, name))
    }

    /// Its output settings.
    pub fn output(&self) -> &OutputSettings {
        &self.program.output
    }

    /// Reads a document to be transformed: without the white space that the stylesheet leaves out.
    ///
    /// # Errors
    /// As [`Document::parse`].
    pub fn parse<'s>(&self, source: &'s str) -> Result<Document<'s>, Error> {
        self.parse_with(source, &Options::default())
    }

    /// As [`Stylesheet::parse`], with options; their setting of white space does not count.
    ///
    /// # Errors
    /// As [`Document::parse_with`].
    pub fn parse_with<'s>(&self, source: &'s str, options: &Options<'_>) -> Result<Document<'s>, Error> {
        Document::parse_with(source, &self.reading(options))
    }

    /// Options for reading a document that this stylesheet will transform: `options`, and without the white space that
    /// the stylesheet leaves out. For a [`Workspace`](crate::Workspace).
    pub fn reading<'o>(&'o self, options: &Options<'o>) -> Options<'o> {
        let whitespace = (!self.program.spaces.is_empty()).then_some(&self.program as &dyn Whitespace);
        Options { whitespace, ..*options }
    }

    /// Transforms a document that [`Stylesheet::parse`] has read.
    ///
    /// # Errors
    /// The error, with its place in the stylesheet; also a message that terminates. It contains the messages before it:
    /// [`Error::messages`].
    pub fn transform(&self, document: &Document<'_>) -> Result<Vec<u8>, Error> {
        Ok(self.run(document, &RunOptions::default())?.bytes)
    }

    /// Transforms a document.
    ///
    /// # Errors
    /// As [`Stylesheet::transform`].
    pub fn run(&self, document: &Document<'_>, options: &RunOptions<'_>) -> Result<Transformed, Error> {
        run::run(&self.program, document, options)
    }
}

/// Whether a text such as `{namespace}name` means a name.
fn is_name((uri, local): &ExpandedName, written: &str) -> bool {
    match written.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((written_uri, written_local)) => *written_uri == **uri && *written_local == **local,
        None => uri.is_empty() && *written == **local,
    }
}

impl Whitespace for Program {
    fn strips(&self, namespace_uri: &str, local: &str) -> bool {
        Program::strips(self, namespace_uri, local)
    }
}
