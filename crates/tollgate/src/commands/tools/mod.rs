//! Verbs that answer at once, without a server: documents from the shell, and descriptions of tollgate itself.
//!
//! `xslt` and `xpath` share `xml`.

pub(crate) mod completions;
pub(crate) mod schema;
mod xml;
pub(crate) mod xpath;
pub(crate) mod xslt;
