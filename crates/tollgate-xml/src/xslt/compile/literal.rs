//! Literal result elements (XSLT 1.0, section 7.1.1): copied with their namespaces, except excluded ones and aliases.

use super::scope::BodyScope;
use super::{Compiler, SourceNode};
use crate::error::Error;
use crate::names::XML_NAMESPACE;
use crate::tree::NodeKind;
use crate::xslt::XSLT;
use crate::xslt::program::{Action, Declarations, Literal, LiteralName};

impl Compiler<'_> {
    /// A literal result element.
    pub(super) fn literal(&mut self, place: SourceNode, scope: &mut BodyScope) -> Result<Action, Error> {
        let document = self.document(place);
        let outer_forwards = scope.forwards;
        scope.forwards = self.is_forwards(place);
        let excluded = self.excluded(place)?;
        let mut declarations = Declarations::new();
        for found in document.namespaces_in_scope(place.node) {
            let (prefix, uri) = (document.prefix_text(found.prefix), document.namespace_text(found.namespace));
            if uri == XML_NAMESPACE || excluded.iter().any(|excluded| excluded == uri) {
                continue;
            }
            let declaration = match self.alias(uri) {
                Some((alias_prefix, alias_uri)) => (alias_prefix, alias_uri),
                None => (prefix.into(), uri.into()),
            };
            if !declarations.contains(&declaration) {
                declarations.push(declaration);
            }
        }
        // As they stand in the stylesheet, which is the order in which people expect them.
        declarations.reverse();
        let name = self.literal_name(place);
        let mut attribute_sets = None;
        let mut attributes = Vec::new();
        for node in document.attributes(place.node) {
            let text = document.value(node);
            if document.namespace_uri(node) == XSLT {
                match document.local_name(node) {
                    "use-attribute-sets" => attribute_sets = Some(text),
                    "version" | "exclude-result-prefixes" | "extension-element-prefixes" => {}
                    _ if scope.forwards => {}
                    other => return Err(self.wrong(place, format!("`xsl:{other}` has no place on a literal element"))),
                }
                continue;
            }
            let attribute = SourceNode { node, ..place };
            let offset = document.source_offset(node);
            let value = self.value_template(place, text, offset, scope)?;
            attributes.push((self.literal_name(attribute), value));
        }
        let attribute_sets = self.attribute_sets(place, attribute_sets)?;
        let body = self.body(place, scope)?;
        scope.forwards = outer_forwards;
        Ok(Action::Literal(Box::new(Literal { name, declarations, attribute_sets, attributes, body })))
    }

    /// The name of an element or attribute for the result.
    fn literal_name(&self, place: SourceNode) -> LiteralName {
        let document = self.document(place);
        let (prefix, uri) = (document.prefix(place.node), document.namespace_uri(place.node));
        let local = document.local_name(place.node).into();
        // An attribute without a prefix is in no namespace, whatever stands for the default one.
        let is_bare_attribute = document.kind(place.node) == NodeKind::Attribute && uri.is_empty();
        match self.alias(uri).filter(|_| !is_bare_attribute) {
            Some((prefix, uri)) => LiteralName { prefix, local, uri },
            None => LiteralName { prefix: prefix.into(), local, uri: uri.into() },
        }
    }

    fn alias(&self, uri: &str) -> Option<(Box<str>, Box<str>)> {
        // The last one has the highest precedence.
        let alias = self.aliases.iter().rev().find(|alias| *alias.stylesheet_uri == *uri)?;
        Some((alias.result_prefix.clone(), alias.result_uri.clone()))
    }

    /// Namespaces that are not copied: XSLT's own, those of extensions, those that are excluded by name here or further
    /// out.
    fn excluded(&self, place: SourceNode) -> Result<Vec<String>, Error> {
        let document = self.document(place);
        let mut excluded = vec![XSLT.to_owned()];
        let around = std::iter::once(place.node).chain(document.ancestors(place.node));
        for element in around.filter(|node| document.kind(*node) == NodeKind::Element) {
            let is_sheet = document.namespace_uri(element) == XSLT;
            for attribute in document.attributes(element) {
                let is_ours = if is_sheet {
                    document.namespace_uri(attribute).is_empty()
                } else {
                    document.namespace_uri(attribute) == XSLT
                };
                let name = document.local_name(attribute);
                if !is_ours || !matches!(name, "exclude-result-prefixes" | "extension-element-prefixes") {
                    continue;
                }
                for prefix in document.value(attribute).split_ascii_whitespace() {
                    let declared = if prefix == "#default" { "" } else { prefix };
                    match document.lookup(element, declared) {
                        Some(uri) => excluded.push(uri.to_owned()),
                        None if prefix == "#default" => {}
                        None => return Err(self.wrong(place, format!("prefix `{prefix}` is not declared"))),
                    }
                }
            }
        }
        Ok(excluded)
    }

    /// Whether an element is an instruction of an extension (section 14.1): its namespace is declared to be one.
    pub(super) fn is_extension(&self, place: SourceNode) -> bool {
        let document = self.document(place);
        let uri = document.namespace_uri(place.node);
        let around = std::iter::once(place.node).chain(document.ancestors(place.node));
        around.filter(|node| document.kind(*node) == NodeKind::Element).any(|element| {
            let is_sheet = document.namespace_uri(element) == XSLT;
            document.attributes(element).any(|attribute| {
                let is_ours = if is_sheet {
                    document.namespace_uri(attribute).is_empty()
                } else {
                    document.namespace_uri(attribute) == XSLT
                };
                is_ours
                    && document.local_name(attribute) == "extension-element-prefixes"
                    && document.value(attribute).split_ascii_whitespace().any(|prefix| {
                        let declared = if prefix == "#default" { "" } else { prefix };
                        document.lookup(element, declared) == Some(uri)
                    })
            })
        })
    }
}
