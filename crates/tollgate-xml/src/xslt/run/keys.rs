//! `key()` (XSLT 1.0, section 12.2): for each key and document a map from values to nodes, made when it is first asked for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Run;
use crate::error::{Error, ErrorKind};
use crate::forest::Item;
use crate::tree::{NodeId, Place};
use crate::xpath::evaluate::Context;
use crate::xpath::value::{Text, Value};
use crate::xslt::program::Key;

/// Nodes by their values, in document order and each once; handed out as they are.
type Values = HashMap<String, Rc<Vec<Item>>>;

/// The maps of one run, by the number of the key and of the document.
#[derive(Default)]
pub(super) struct Keys {
    maps: RefCell<HashMap<(usize, u32), Map>>,
}

/// The map of one key in one document.
#[derive(Clone)]
enum Map {
    /// Being made; a request now is part of a circle.
    Underway,
    Made(Rc<Values>),
}

impl<'e> Run<'e> {
    /// The nodes of the context's document that have one of the values of `value` by a key.
    pub(super) fn keyed(
        &self,
        (uri, local): (&str, &str),
        value: Value<'e>,
        context: &Context<'e, '_>,
    ) -> Result<Rc<Vec<Item>>, Error> {
        let is_meant = |key: &Key| *key.name.1 == *local && *key.name.0 == *uri;
        let Some(key) = self.program.keys.iter().position(is_meant) else {
            return Err(Error::new(ErrorKind::Dynamic, format!("there is no key `{local}`")));
        };
        let document = context.item.document;
        let known = self.keys.maps.borrow().get(&(key, document)).cloned();
        let map = match known {
            Some(Map::Made(map)) => map,
            Some(Map::Underway) => {
                return Err(Error::new(ErrorKind::Dynamic, format!("the key `{local}` depends on itself")));
            }
            None => {
                self.keys.maps.borrow_mut().insert((key, document), Map::Underway);
                let map = Rc::new(self.key_map(key, document, context)?);
                self.keys.maps.borrow_mut().insert((key, document), Map::Made(Rc::clone(&map)));
                map
            }
        };
        let of = |text: &str| map.get(text).map(Rc::clone).unwrap_or_default();
        match value {
            Value::Nodes(nodes) if nodes.len() != 1 => {
                let mut found = Vec::new();
                for node in nodes.iter() {
                    let text = context.environment.string_value(*node)?;
                    context.environment.meter.walk(text.len())?;
                    let items = of(&text);
                    context.environment.spend(1 + items.len() as u64)?;
                    found.extend_from_slice(&items);
                }
                found.sort_unstable();
                found.dedup();
                Ok(Rc::new(found))
            }
            value => {
                let text = value.into_text(context.environment)?;
                context.environment.meter.walk(text.len())?;
                Ok(of(&text))
            }
        }
    }

    fn key_map(&self, key: usize, document: u32, context: &Context<'e, '_>) -> Result<Values, Error> {
        let mut values = Values::new();
        let tree = self.forest.view(document).document;
        let before = self.current.get();
        for (pattern, value) in &self.program.keys[key].declarations {
            for index in 0..tree.node_count() {
                context.environment.spend(1)?;
                let node = NodeId(crate::names::number(index));
                let item = Item { document, place: Place::of(node) };
                let context = Context { item, position: 1, size: 1, ..*context };
                if !pattern.matches(&context, &self.positions, item)? {
                    continue;
                }
                self.current.set(item);
                match context.value(value)? {
                    Value::Nodes(nodes) => {
                        for found in nodes.iter() {
                            add(&mut values, context.environment.string_value(*found)?, item, &context)?;
                        }
                    }
                    value => add(&mut values, value.into_text(context.environment)?, item, &context)?,
                }
            }
        }
        self.current.set(before);
        if self.program.keys[key].declarations.len() > 1 {
            for items in values.values_mut().map(Rc::make_mut) {
                items.sort_unstable();
                items.dedup();
            }
        }
        Ok(values)
    }
}

/// Steps that it takes to keep a value.
const KEPT_STEPS: u64 = 16;

fn add(values: &mut Values, text: Text<'_>, item: Item, context: &Context<'_, '_>) -> Result<(), Error> {
    context.environment.spend(KEPT_STEPS)?;
    context.environment.meter.walk(text.len())?;
    context.environment.keep(text.len() + size_of::<Item>())?;
    let items = Rc::make_mut(values.entry(text.into_string()).or_default());
    if items.last() != Some(&item) {
        items.push(item);
    }
    Ok(())
}
