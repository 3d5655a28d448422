//! Functions of nodes (XPath 1.0, section 4.1).

use std::ops::ControlFlow;

use super::Function;
use crate::XML_NAMESPACE;
use crate::error::Error;
use crate::forest::Item;
use crate::tree::{NodeKind, Place, place};
use crate::xpath::evaluate::Context;
use crate::xpath::expression::Expression;
use crate::xpath::value::{Text, Value};

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
        if item.place.namespace != 0 {
            self.environment.spend(u64::from(document.declarations_around(item.place.node)))?;
        }
        Ok(match function {
            Function::LocalName => Text::Borrowed(place::local_name(document, item.place)),
            Function::NamespaceUri => Text::Borrowed(place::namespace_uri(document, item.place)),
            _ => {
                let name = Text::from(place::qualified_name(document, item.place));
                self.environment.meter.copy(name.len())?;
                name
            }
        })
    }

    /// `id()`: the elements with these identifiers, each text of a set of nodes being a list of its own.
    pub(super) fn with_identifiers(&self, argument: &'e Expression) -> Result<Vec<Item>, Error> {
        let environment = self.environment;
        let document = environment.forest.view(self.item.document).document;
        let mut found = Vec::new();
        let mut look_up = |text: &str| {
            environment.meter.walk(text.len())?;
            for identifier in text.split_ascii_whitespace() {
                // A search among sorted texts.
                environment.spend(u64::from(usize::BITS))?;
                if let Some(element) = document.element_by_id(identifier) {
                    found.push(self.item.beside(Place::of(element)));
                }
            }
            Ok(())
        };
        match self.value(argument)? {
            Value::Nodes(nodes) => nodes.iter().try_for_each(|node| look_up(&environment.string_value(*node)?))?,
            value => look_up(&value.into_text(environment)?)?,
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// `lang()`: whether the nearest `xml:lang` is this language or a dialect of it.
    pub(super) fn is_language(&self, expected: &str) -> Result<bool, Error> {
        let document = self.environment.forest.view(self.item.document).document;
        let Some(name) = document.find_name(XML_NAMESPACE, "lang") else { return Ok(false) };
        let node = self.item.place.node;
        for element in std::iter::once(node).chain(document.ancestors(node)) {
            if document.kind(element) != NodeKind::Element {
                continue;
            }
            self.environment.spend(1 + u64::from(document.attribute_count(element)))?;
            let Some(attribute) = document.attributes(element).find(|node| document.name(*node) == Some(name)) else {
                continue;
            };
            let language = document.value(attribute);
            let is_prefix = language.get(..expected.len()).is_some_and(|start| start.eq_ignore_ascii_case(expected));
            return Ok(is_prefix && matches!(language.as_bytes().get(expected.len()), None | Some(b'-')));
        }
        Ok(false)
    }
}
