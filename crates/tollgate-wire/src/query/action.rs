//! The effect of an action with known arguments: the entities it changes, their conditions, and the new values of their
//! properties.
//!
//! Its expressions are the model's, read with the arguments as parameter aliases. It deliberately changes nothing.

use std::cell::Cell;

use super::context::Context;
use super::expression::Parser;
use super::function;
use super::function::{context, samples, texts};
use super::options::filter::condition;
use crate::address::{Fault, Place, Problem, UrlError, type_name};
use crate::edm::{Effect, FunctionImport, LeafId, Model, Reached, Version};
use crate::plan::{Expression, Key};
use crate::value::Value;

/// An action with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Effected {
    /// The key of the entity that it changes, where the arguments say it.
    pub key: Option<Key>,
    /// The entities of the collection that it changes.
    pub matching: Option<Expression>,
    /// The condition that each must meet.
    pub condition: Option<Expression>,
    /// The properties, and what they become.
    pub values: Vec<(LeafId, Expression)>,
}

/// Reads the expressions of an action with these arguments, one for each parameter.
///
/// # Errors
/// An argument makes one of them invalid, such as one that is too large for a type.
pub fn resolve(
    model: &Model,
    action: &FunctionImport,
    effect: &Effect,
    arguments: &[Value],
) -> Result<Effected, UrlError> {
    read(model, effect, &texts(model, action, arguments), arguments)
}

/// Reads the expressions of an action once, with a value of its type for each parameter, against the model that it is for
/// but need not be in.
///
/// # Errors
/// The error in them, with the part and the column.
pub fn check(model: &Model, action: &FunctionImport, effect: &Effect) -> Result<(), UrlError> {
    let nulls = vec![Value::Null; action.parameters.len()];
    let read = read(model, effect, &samples(model, action), &nulls)?;
    let entity_type = model.type_of(effect.set);
    for ((leaf, expression), (_, text)) in read.values.iter().zip(&effect.values) {
        let leaf = &entity_type.leaves[leaf.0];
        if !function::assignable(expression.primitive, leaf.primitive) {
            let of = |primitive| type_name(Version::V4, primitive);
            let (found, expected) = (of(expression.primitive), of(Some(leaf.primitive)));
            let what = format!("{} is {expected}, which a value of {found} does not fit", leaf.path);
            return Err(Problem::whole(Fault::Type, what).located(Place::Option("set".into()), text));
        }
    }
    Ok(())
}

fn read(
    model: &Model,
    effect: &Effect,
    aliases: &[(String, String)],
    arguments: &[Value],
) -> Result<Effected, UrlError> {
    let expansions = Cell::new(0);
    let context = context(model, model.type_of(effect.set), aliases, &expansions);
    let (mut key, mut matching) = (None, None);
    match &effect.reached {
        Reached::Bound => {}
        Reached::Keyed(parameters) => {
            key = Some(Key(parameters.iter().map(|parameter| arguments[*parameter].clone()).collect()));
        }
        Reached::Matching(text) => matching = Some(boolean(&context, "where", text)?),
    }
    let values = effect.values.iter().map(|(leaf, text)| Ok((*leaf, value(&context, *leaf, text)?)));
    Ok(Effected {
        key,
        matching,
        condition: effect.condition.as_deref().map(|text| boolean(&context, "when", text)).transpose()?,
        values: values.collect::<Result<_, UrlError>>()?,
    })
}

fn boolean(context: &Context<'_>, part: &'static str, text: &str) -> Result<Expression, UrlError> {
    condition(context, &mut Parser::new(context, text))
        .map_err(|problem| problem.located(Place::Option(part.into()), text))
}

/// The value of a property: of an enumeration a member, or null.
fn value(context: &Context<'_>, leaf: LeafId, text: &str) -> Result<Expression, UrlError> {
    let wanted = context.entity_type.leaves[leaf.0].enumeration;
    let mut parser = Parser::new(context, text);
    let read = parser.expression_or_member(wanted).and_then(|read| parser.end().map(|()| read));
    let located = |problem: Box<Problem>| problem.located(Place::Option("set".into()), text);
    let (expression, enumeration) = read.map_err(located)?;
    if expression.primitive.is_some() && enumeration != wanted {
        let what = match wanted {
            Some(wanted) => format!("expected a member of {}", context.model.enumerations[wanted.0].full_name),
            None => "a member of an enumeration is no value of this property".to_owned(),
        };
        return Err(located(Problem::new(Fault::Type, expression.position, what)));
    }
    Ok(expression)
}
