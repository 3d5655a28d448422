//! The template rule of a node (XSLT 1.0, section 5.5): a table by kind and name, each row in order of preference.

use crate::error::Error;
use crate::forest::NameIndex;
use crate::forest::{Item, View};
use crate::tree::NodeKind;
use crate::xpath::evaluate::Context;

use super::pattern::{Alternative, Subject};
use super::positions::Positions;
use super::program::{Program, Spot};

/// The rules of one mode.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// All rules, the preferred first.
    rules: Vec<Rule>,
    /// Numbers of the rules that an element of a name may get, by the name's number.
    elements_named: Vec<Vec<u32>>,
    elements: Vec<u32>,
    attributes: Vec<u32>,
    texts: Vec<u32>,
    comments: Vec<u32>,
    instructions: Vec<u32>,
    root: Vec<u32>,
}

/// One alternative of a template's pattern.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) alternative: Alternative,
    pub(crate) template: u32,
    pub(crate) precedence: u32,
    pub(crate) priority: f64,
    /// Its place among all templates: of two that are equal otherwise, the later one is preferred.
    pub(crate) order: u32,
    /// The place of the template.
    pub(crate) spot: Spot,
}

impl Rules {
    /// Puts rules in order and into their rows. `names` is how many names the program has.
    pub(crate) fn new(mut rules: Vec<Rule>, names: usize) -> Rules {
        rules.sort_by(|one, other| {
            let by_precedence = other.precedence.cmp(&one.precedence);
            by_precedence.then(other.priority.total_cmp(&one.priority)).then(other.order.cmp(&one.order))
        });
        let mut table = Rules { elements_named: vec![Vec::new(); names], ..Rules::default() };
        for (index, rule) in (0_u32..).zip(&rules) {
            let subject = rule.alternative.subject();
            let is_for = |kinds: &[Subject]| kinds.contains(&subject) || subject == Subject::Any;
            match subject {
                Subject::Element(Some(NameIndex(name))) => table.elements_named[name as usize].push(index),
                Subject::Element(None) | Subject::Child | Subject::Any => {
                    table.elements.push(index);
                    table.elements_named.iter_mut().for_each(|row| row.push(index));
                }
                _ => {}
            }
            if is_for(&[]) || matches!(subject, Subject::Attribute(_)) {
                table.attributes.push(index);
            }
            if is_for(&[Subject::Text, Subject::Child]) {
                table.texts.push(index);
            }
            if is_for(&[Subject::Comment, Subject::Child]) {
                table.comments.push(index);
            }
            if is_for(&[Subject::ProcessingInstruction, Subject::Child]) {
                table.instructions.push(index);
            }
            if is_for(&[Subject::Root]) {
                table.root.push(index);
            }
        }
        table.rules = rules;
        table
    }

    /// The template for a node among those of the precedences `least..below`; `None`: the built-in rule.
    pub(crate) fn template<'e>(
        &'e self,
        program: &Program,
        context: &Context<'e, '_>,
        positions: &Positions,
        view: View<'_>,
        item: Item,
        precedences: std::ops::Range<u32>,
    ) -> Result<Option<u32>, Error> {
        let document = view.document;
        let node = item.place.node;
        let row = match document.kind(node) {
            NodeKind::Root => &self.root,
            NodeKind::Element => match document.name(node).and_then(|name| view.index(name)) {
                Some(NameIndex(name)) => match self.elements_named.get(name as usize) {
                    Some(row) => row,
                    None => &self.elements,
                },
                None => &self.elements,
            },
            NodeKind::Attribute => &self.attributes,
            NodeKind::Text => &self.texts,
            NodeKind::Comment => &self.comments,
            NodeKind::ProcessingInstruction => &self.instructions,
        };
        for index in row {
            let rule = &self.rules[*index as usize];
            if !precedences.contains(&rule.precedence) {
                continue;
            }
            match rule.alternative.matches(context, positions, item) {
                Ok(true) => return Ok(Some(rule.template)),
                Ok(false) => {}
                Err(error) => return Err(program.located(error, rule.spot)),
            }
        }
        Ok(None)
    }
}
