//! Names that are made while a program runs: of elements and attributes, and those that functions are given.

use super::Run;
use crate::characters::split_name;
use crate::error::{Error, ErrorKind};
use crate::names::{XML_NAMESPACE, XMLNS_NAMESPACE};
use crate::xslt::result::QualifiedName;

/// The kind of node that is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    Element,
    Attribute,
}

impl<'e> Run<'e> {
    /// The name of an element or attribute (sections 7.1.2 and 7.1.3).
    pub(super) fn made_name<'n>(
        &'n self,
        written: &'n str,
        namespace: Option<&'n str>,
        scope: u32,
        made: Made,
    ) -> Result<QualifiedName<'n>, Error> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Dynamic, message));
        let written = written.trim_matches([' ', '\t', '\n', '\r']);
        let Some((prefix, local)) = split_name(written) else {
            return wrong(format!("`{written}` is no name"));
        };
        if made == Made::Attribute && (written == "xmlns" || prefix == "xmlns") && namespace.is_none() {
            return wrong(format!("`{written}` declares a namespace and is no attribute"));
        }
        match namespace {
            Some(uri) if uri == XMLNS_NAMESPACE => wrong(format!("nothing stands in the namespace `{uri}`")),
            Some("") => Ok(QualifiedName { prefix: "", local, uri: "" }),
            Some(XML_NAMESPACE) => Ok(QualifiedName { prefix: "xml", local, uri: XML_NAMESPACE }),
            // The prefix is a wish; those that have a meaning of their own cannot be had.
            Some(uri) if matches!(prefix, "xmlns" | "xml") => Ok(QualifiedName { prefix: "", local, uri }),
            Some(uri) => Ok(QualifiedName { prefix, local, uri }),
            None if prefix.is_empty() && made == Made::Attribute => Ok(QualifiedName { prefix, local, uri: "" }),
            None => match self.declared(scope as usize, prefix) {
                Some(uri) => Ok(QualifiedName { prefix, local, uri }),
                None if prefix.is_empty() => Ok(QualifiedName { prefix, local, uri: "" }),
                None => wrong(format!("prefix `{prefix}` is not declared")),
            },
        }
    }

    /// The namespace of a prefix in a scope of the stylesheet.
    pub(super) fn declared(&self, scope: usize, prefix: &str) -> Option<&'e str> {
        let declarations = &self.program.scopes[scope].declarations;
        declarations.iter().find(|(known, _)| **known == *prefix).map(|(_, uri)| &**uri)
    }

    /// A name that a function is given (section 2.4), namespace first: without a prefix it is in no namespace.
    pub(super) fn given_name<'t>(&self, text: &'t str, scope: usize) -> Result<(&'t str, &'t str), Error>
    where
        'e: 't,
    {
        let wrong = |message: String| Err(Error::new(ErrorKind::Dynamic, message));
        let text = text.trim_matches([' ', '\t', '\n', '\r']);
        match split_name(text) {
            None => wrong(format!("`{text}` is no name")),
            Some(("", local)) => Ok(("", local)),
            Some((prefix, local)) => match self.declared(scope, prefix) {
                Some(uri) => Ok((uri, local)),
                None => wrong(format!("prefix `{prefix}` is not declared")),
            },
        }
    }
}
