//! `$filter`: one Boolean expression.

use super::Context;
use super::expression::Parser;
use crate::edm::Primitive;
use crate::plan::Options;
use crate::url::{Fault, Parsed, Problem, type_name};

pub(super) fn parse(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    let mut parser = Parser::new(context, text);
    let expression = parser.expression()?;
    parser.end()?;
    if !matches!(expression.primitive, Some(Primitive::Boolean) | None) {
        let found = type_name(context.version, expression.primitive);
        let what = format!("expected a Boolean expression, found one of type {found}");
        return Err(Problem::new(Fault::Type, expression.position, what).hint("compare it, as in PRICE gt 100"));
    }
    options.filter = Some(expression);
    Ok(())
}
