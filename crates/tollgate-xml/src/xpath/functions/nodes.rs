//! Functions of nodes (XPath 1.0, section 4.1).

use std::ops::ControlFlow;

use super::Function;
use crate::XML_NAMESPACE;
use crate::error::Error;
use crate::forest::Item;
use crate::tree::NodeKind;
use crate::xpath::axis::Place;
use crate::xpath::evaluate::Context;
use crate::xpath::expression::Expression;
use crate::xpath::nodes;
use crate::xpath::value::{Text, Value, string_value};

impl<'e> Context<'e, '_> {
    pub(super) fn count(&self, nodes: &'e Expression) -> Result<f64, Error> {
        if let Expression::Path(path) = nodes
            && path.is_ordered()
        {
            let mut count = 0_usize;
            self.visit(nodes, &mut |_| {
                count += 1;
                ControlFlow::Continue(())
            })?;
            return Ok(count as f64);
        }
        Ok(self.nodes(nodes)?.len() as f64)
    }

    /// `name()` and its kin of the first node of the argument, or of the context node.
    pub(super) fn name_of(&self, function: Function, argument: Option<&'e Expression>) -> Result<Text<'e>, Error> {
        let item = match argument {
            Some(argument) => match self.first(argument)? {
                Some(item) => item,
                None => return Ok(Text::Borrowed("")),
            },
            None => self.item,
        };
        let document = self.environment.forest.view(item.document).document;
        Ok(match function {
            Function::LocalName => Text::Borrowed(nodes::local_name(document, item.place)),
            Function::NamespaceUri => Text::Borrowed(nodes::namespace_uri(document, item.place)),
            _ => nodes::qualified_name(document, item.place).into(),
        })
    }

    /// `id()`: the elements with these identifiers, each text of a set of nodes being a list of its own.
    pub(super) fn with_identifiers(&self, argument: &'e Expression) -> Result<Vec<Item>, Error> {
        let forest = self.environment.forest;
        let document = forest.view(self.item.document).document;
        let mut found = Vec::new();
        let mut look_up = |text: &str| {
            for identifier in text.split_ascii_whitespace() {
                if let Some(element) = document.element_by_id(identifier) {
                    found.push(self.item.beside(Place::of(element)));
                }
            }
        };
        match self.value(argument)? {
            Value::Nodes(nodes) => nodes.iter().for_each(|node| look_up(&string_value(forest, *node))),
            value => look_up(&value.into_text(forest)),
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// `lang()`: whether the nearest `xml:lang` is this language or a dialect of it.
    pub(super) fn is_language(&self, expected: &str) -> bool {
        let document = self.environment.forest.view(self.item.document).document;
        let Some(name) = document.find_name(XML_NAMESPACE, "lang") else { return false };
        let node = self.item.place.node;
        let around = std::iter::once(node).chain(document.ancestors(node));
        let elements = around.filter(|node| document.kind(*node) == NodeKind::Element);
        let mut languages =
            elements.filter_map(|element| document.attributes(element).find(|node| document.name(*node) == Some(name)));
        let Some(language) = languages.next().map(|attribute| document.value(attribute)) else { return false };
        let is_prefix = language.get(..expected.len()).is_some_and(|start| start.eq_ignore_ascii_case(expected));
        is_prefix && matches!(language.as_bytes().get(expected.len()), None | Some(b'-'))
    }
}
