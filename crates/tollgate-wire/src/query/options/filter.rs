//! `$filter`: one Boolean expression.

use crate::address::{Fault, Parsed, Problem, type_name};
use crate::edm::Primitive;
use crate::plan::{Expression, Options};
use crate::query::context::Context;
use crate::query::expression::{Parser, conjunction};
use crate::relation::Relation;

pub(super) fn parse(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    let Some(mut applied) = options.apply.take() else {
        let found = condition(context, &mut Parser::over(context, text, None, &options.compute))?;
        options.filter = Some(conjunction(options.filter.take(), found));
        return Ok(());
    };
    let found = condition(context, &mut Parser::over(context, text, Some(&applied.columns), &[]))?;
    let rows = std::mem::replace(&mut applied.relation, Relation::Entities);
    applied.relation = Relation::Filtered(Box::new(rows), found);
    options.apply = Some(applied);
    Ok(())
}

/// The condition that is the whole text of a parser.
pub(in crate::query) fn condition(context: &Context<'_>, parser: &mut Parser<'_>) -> Parsed<Expression> {
    let expression = parser.expression()?;
    parser.end()?;
    if !matches!(expression.primitive, Some(Primitive::Boolean) | None) {
        let found = type_name(context.version, expression.primitive);
        let what = format!("expected a Boolean expression, found one of type {found}");
        return Err(Problem::new(Fault::Type, expression.position, what).hint("compare it, as in PRICE gt 100"));
    }
    Ok(expression)
}
