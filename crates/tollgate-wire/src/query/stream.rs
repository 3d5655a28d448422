//! The stream of a media entity: the model's expression, computed of the entity that the path names.
//!
//! It deliberately knows no media types: those are a leaf of the entity.

use std::cell::Cell;

use super::context::Context;
use super::expression::Parser;
use crate::address::{Place, UrlError};
use crate::edm::{Model, Primitive, Version};
use crate::plan::{Computed, Plan, Select};

/// Asks for the key, the media type and the stream.
pub(crate) fn resolve(model: &Model, plan: &mut Plan) -> Result<(), UrlError> {
    let entity_type = model.type_of(plan.set());
    let Some(text) = &entity_type.stream else { return Ok(()) };
    let expansions = Cell::new(0);
    let context = Context {
        model,
        version: Version::V2,
        entity_type,
        aliases: &[],
        depth: 0,
        expansions: &expansions,
        options: &[],
    };
    let mut parser = Parser::new(&context, text);
    let read = parser.expression().and_then(|expression| parser.end().map(|()| expression));
    let expression = read.map_err(|problem| problem.located(Place::Path, text))?;
    let primitive = expression.primitive.unwrap_or(Primitive::String { length_max: 0 });
    plan.options.select = Select::key_of(entity_type);
    let name = "$value".to_owned();
    plan.options.compute = vec![Computed { name, primitive, enumeration: None, expression, shown: true }];
    Ok(())
}
