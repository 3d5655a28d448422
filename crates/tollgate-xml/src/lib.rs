//! XML as a compact tree, XPath 1.0 and XSLT 1.0: compiled once, evaluated often, safe on hostile input.
//!
//! This crate deliberately opens no file or socket, fetches nothing that a document names, and knows no HTTP or SOAP.

pub mod budget;
mod characters;
pub mod error;
mod forest;
mod names;
mod parse;
mod serialize;
pub mod tree;
pub mod xpath;
mod xslt;

pub use budget::Budget;
pub use error::{Error, ErrorKind, Position};
pub use names::{Name, Namespace, Prefix, XML_NAMESPACE, XMLNS_NAMESPACE};
pub use parse::{Doctype, Options, Whitespace, Workspace, pull};
pub use serialize::{Method, OutputSettings};
pub use tree::Document;
pub use xpath::XPath;
pub use xslt::{LoadNothing, Loaded, Loader, Parameter, RunOptions, Stylesheet, Transformed, XSLT};
