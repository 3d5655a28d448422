//! Verbs that answer at once, without a server: documents from the shell, and what describes tollgate itself.
//!
//! `xml` is what `xslt` and `xpath` share.

pub(crate) mod completions;
pub(crate) mod schema;
mod xml;
pub(crate) mod xpath;
pub(crate) mod xslt;
