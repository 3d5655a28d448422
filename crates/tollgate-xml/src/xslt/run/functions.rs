//! The functions of XSLT 1.0 (sections 12 and 15) and `exsl:node-set`.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use super::Run;
use crate::budget::{Budget, DOCUMENTS_MAX, exceeded};
use crate::error::{Error, ErrorKind};
use crate::forest::Item;
use crate::parse::{Options, Whitespace};
use crate::tree::{Document, NodeId, Place};
use crate::xpath::evaluate::Context;
use crate::xpath::value::{Text, Value};
use crate::xslt::XSLT;
use crate::xslt::compile::vocabulary;
use crate::xslt::functions::{
    CURRENT, DOCUMENT, ELEMENT_AVAILABLE, FORMAT_NUMBER, FUNCTION_AVAILABLE, GENERATE_ID, KEY, NODE_SET, OBJECT_TYPE,
    SYSTEM_PROPERTY, is_available,
};
use crate::xslt::result::{Escaping, Output};

/// The number of the document that is transformed.
const INPUT: u32 = 0;

/// Steps that it takes to write a number by a pattern.
const FORMATTED_STEPS: u64 = 32;

impl<'e> Run<'e> {
    pub(super) fn function(
        &self,
        function: u32,
        scope: usize,
        arguments: Vec<Value<'e>>,
        context: &Context<'e, '_>,
    ) -> Result<Value<'e>, Error> {
        let mut arguments = arguments.into_iter();
        // How many there are was checked when the program was compiled.
        let mut next = || arguments.next().unwrap_or(Value::String(Text::Borrowed("")));
        match function {
            CURRENT => Ok(Value::Nodes(Rc::new(vec![self.current.get()]))),
            KEY => {
                let name = next().into_text(context.environment)?;
                Ok(Value::Nodes(self.keyed(self.given_name(&name, scope)?, next(), context)?))
            }
            FORMAT_NUMBER => {
                let number = next().number(context.environment)?;
                context.environment.spend(FORMATTED_STEPS)?;
                let pattern = next().into_text(context.environment)?;
                let name = match arguments.next() {
                    Some(name) => {
                        let name = name.into_text(context.environment)?;
                        let (uri, local) = self.given_name(&name, scope)?;
                        (uri.into(), local.into())
                    }
                    None => <(Box<str>, Box<str>)>::default(),
                };
                let Some(format) = self.program.decimal_formats.get(&name) else {
                    return Err(Error::new(ErrorKind::Dynamic, format!("there is no decimal format `{}`", name.1)));
                };
                match format.format(number, &pattern) {
                    Ok(text) => Ok(Value::String(Text::Owned(text))),
                    Err(message) => Err(Error::new(ErrorKind::Dynamic, message)),
                }
            }
            GENERATE_ID => Ok(Value::String(match arguments.next() {
                None => Text::Owned(identifier(context.item)),
                Some(Value::Nodes(nodes)) => match nodes.first() {
                    Some(first) => Text::Owned(identifier(*first)),
                    None => Text::Borrowed(""),
                },
                Some(_) => return Err(Error::new(ErrorKind::Dynamic, "`generate-id()` takes a set of nodes")),
            })),
            NODE_SET => Ok(match next() {
                Value::Fragment(fragment) => {
                    let document = self.grown(fragment, context)?;
                    Value::Nodes(Rc::new(vec![Item { document, place: Place::of(NodeId::ROOT) }]))
                }
                nodes @ Value::Nodes(_) => nodes,
                other => {
                    // Anything else becomes a text node, as the extension's description says.
                    let mut output = Output::fragment(self.budget, &context.environment.meter)?;
                    output.text(&other.into_text(context.environment)?, Escaping::Enabled)?;
                    let tree = output.into_tree()?;
                    let texts: Vec<NodeId> = tree.children(NodeId::ROOT).collect();
                    let document = self.forest.add(tree);
                    let items = texts.into_iter().map(|node| Item { document, place: Place::of(node) });
                    Value::Nodes(Rc::new(items.collect()))
                }
            }),
            OBJECT_TYPE => Ok(Value::String(Text::Borrowed(match next() {
                Value::Boolean(_) => "boolean",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Nodes(_) => "node-set",
                Value::Fragment(_) => "RTF",
            }))),
            SYSTEM_PROPERTY => {
                let name = next().into_text(context.environment)?;
                Ok(match self.given_name(&name, scope)? {
                    (XSLT, "version") => Value::Number(1.0),
                    (XSLT, "vendor") => Value::String(Text::Borrowed("tollgate")),
                    (XSLT, "vendor-url") => Value::String(Text::Borrowed("")),
                    _ => Value::String(Text::Borrowed("")),
                })
            }
            ELEMENT_AVAILABLE => {
                let name = next().into_text(context.environment)?;
                let (uri, local) = self.given_name(&name, scope)?;
                Ok(Value::Boolean(uri == XSLT && vocabulary::is_instruction(local)))
            }
            FUNCTION_AVAILABLE => {
                let name = next().into_text(context.environment)?;
                let (uri, local) = self.given_name(&name, scope)?;
                Ok(Value::Boolean(is_available(uri, local)))
            }
            DOCUMENT => self.documents(next(), arguments.next(), scope, context),
            _ => {
                let name = next().into_text(context.environment)?;
                let document = self.view_of(context.item).document;
                Ok(Value::String(Text::Owned(document.unparsed_entity(&name).unwrap_or_default().to_owned())))
            }
        }
    }

    /// The document that a fragment is: the same one whenever it is asked for.
    fn grown(&self, fragment: Rc<Document<'static>>, context: &Context<'e, '_>) -> Result<u32, Error> {
        let mut fragments = self.fragments.borrow_mut();
        // It is kept, so that its address belongs to it as long as the run lasts.
        let number = match fragments.entry(Rc::as_ptr(&fragment).addr()) {
            Entry::Occupied(known) => known.get().1,
            Entry::Vacant(free) => {
                // It is copied, names and all.
                context.environment.meter.copy(fragment.memory_bytes())?;
                let number = self.forest.add((*fragment).clone());
                free.insert((fragment, number)).1
            }
        };
        Ok(number)
    }

    /// `document()` (section 12.1).
    fn documents(
        &self,
        reference: Value<'e>,
        base: Option<Value<'e>>,
        scope: usize,
        context: &Context<'e, '_>,
    ) -> Result<Value<'e>, Error> {
        let module = &self.program.modules[self.program.scopes[scope].module as usize];
        let stated = match &base {
            None => None,
            Some(Value::Nodes(nodes)) => match nodes.first() {
                Some(first) => Some(self.base_of(*first, &module.name)?),
                None => {
                    let message =
                        "the second argument of `document()` has no node to which a reference could be relative";
                    return Err(Error::new(ErrorKind::Dynamic, message));
                }
            },
            Some(_) => {
                return Err(Error::new(ErrorKind::Dynamic, "the second argument of `document()` is a set of nodes"));
            }
        };
        let mut found = Vec::new();
        match reference {
            Value::Nodes(nodes) => {
                for node in nodes.iter() {
                    let text = context.environment.string_value(*node)?.into_string();
                    let base = match &stated {
                        Some(base) => base.clone(),
                        None => self.base_of(*node, &module.name)?,
                    };
                    found.push(self.load(&text, &base, context)?);
                }
            }
            value => {
                let text = value.into_text(context.environment)?.into_string();
                // Without a node that says otherwise, references are relative to the stylesheet's own text.
                let base = stated.unwrap_or_else(|| module.name.to_string());
                found.push(self.load(&text, &base, context)?);
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(Value::Nodes(Rc::new(found)))
    }

    /// The name of the text that a node is in: the input, a document that was loaded here, or `stylesheet` for nodes
    /// that the stylesheet made.
    fn base_of(&self, item: Item, stylesheet: &str) -> Result<String, Error> {
        if item.document == INPUT {
            let name = self.loader.input_name().map(str::to_owned);
            let message = "a reference is relative to the input, which has no name here";
            return name.ok_or_else(|| Error::new(ErrorKind::Dynamic, message));
        }
        let loaded = self.loaded.borrow();
        let named = loaded.iter().find(|(_, document)| **document == item.document).map(|(name, _)| name.clone());
        Ok(named.unwrap_or_else(|| stylesheet.to_owned()))
    }

    fn load(&self, reference: &str, base: &str, context: &Context<'e, '_>) -> Result<Item, Error> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Dynamic, message));
        let (reference, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !fragment.is_empty() {
            return wrong(format!("`#{fragment}` in the reference to a document means nothing here"));
        }
        let is_input = |name: &str| self.loader.input_name() == Some(name);
        let input = Item::of_first(Place::of(NodeId::ROOT));
        let loaded = if reference.is_empty() {
            // The text itself that refers.
            if is_input(base) {
                return Ok(input);
            }
            if let Some(document) = self.loaded.borrow().get(base) {
                return Ok(Item { document: *document, place: Place::of(NodeId::ROOT) });
            }
            let module = self.program.modules.iter().find(|module| *module.name == *base);
            match module {
                Some(module) => crate::xslt::Loaded { name: base.to_owned(), bytes: module.text.as_bytes().to_vec() },
                None => return wrong("an empty reference means a text that is not here".to_owned()),
            }
        } else {
            match self.loader.load(reference, base) {
                Ok(loaded) if is_input(&loaded.name) => return Ok(input),
                Ok(loaded) => loaded,
                Err(message) => return wrong(message),
            }
        };
        let known = self.loaded.borrow().get(&loaded.name).copied();
        let document = match known {
            Some(document) => document,
            None => {
                if self.loaded.borrow().len() >= DOCUMENTS_MAX {
                    return Err(exceeded("documents of a run", DOCUMENTS_MAX as u64));
                }
                context.environment.spend(loaded.bytes.len() as u64 / 64)?;
                let whitespace = (!self.program.spaces.is_empty()).then_some(self.program as &dyn Whitespace);
                // The nodes of all documents of a run count together.
                let nodes_max = self.budget.nodes_max.saturating_sub(self.nodes.get());
                let budget = Budget { nodes_max, ..self.budget.clone() };
                let options = Options { budget: Some(&budget), whitespace, ..Options::default() };
                let document = Document::parse_bytes(&loaded.bytes, &options)
                    .map_err(|error| error.within(&loaded.name))?
                    .into_owned();
                self.nodes.set(self.nodes.get() + document.node_count());
                let number = self.forest.add(document);
                self.loaded.borrow_mut().insert(loaded.name, number);
                number
            }
        };
        Ok(Item { document, place: Place::of(NodeId::ROOT) })
    }
}

/// A name for a node: the same for the same node in one run, another for any other.
fn identifier(item: Item) -> String {
    let Item { document, place } = item;
    match place.namespace {
        0 => format!("id{document}n{}", place.node.index()),
        namespace => format!("id{document}n{}s{namespace}", place.node.index()),
    }
}
