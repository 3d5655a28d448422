//! `$compute`: expressions with a name, which `$filter`, `$orderby` and `$select` may use like properties.

use crate::address::{Fault, Parsed, Problem, quoted};
use crate::plan::{Computed, Expression, ExpressionKind, Options};
use crate::query::context::Context;
use crate::query::expression::Parser;
use crate::query::limits::COLUMNS_MAX;
use crate::relation::{Column, Relation};

pub(super) fn parse(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    let Some(mut applied) = options.apply.take() else {
        return named(context, text, None, &mut options.compute);
    };
    let mut computed = Vec::new();
    named(context, text, Some(&applied.columns), &mut computed)?;
    applied.shown.extend(applied.columns.len()..applied.columns.len() + computed.len());
    applied.relation = beside(applied.relation, &mut applied.columns, computed);
    options.apply = Some(applied);
    Ok(())
}

/// Reads the list behind what was computed so far. Later expressions may use earlier names.
pub(super) fn named(
    context: &Context<'_>,
    text: &str,
    columns: Option<&[Column]>,
    computed: &mut Vec<Computed>,
) -> Parsed<()> {
    let mut position = 0;
    loop {
        let ((expression, enumeration), name, at, more) = {
            let mut parser = Parser::over(context, text, columns, computed);
            parser.begin_at(position);
            let expression = parser.expression_or_member(None)?;
            let (name, at) = parser.alias_name()?;
            let more = parser.take(',');
            if !more {
                parser.end()?;
            }
            position = parser.position();
            (expression, &text[at..at + name.len()], at, more)
        };
        let taken = match columns {
            Some(columns) => columns.iter().any(|column| column.path == name),
            None => context.entity_type.property(name).is_some() || context.entity_type.navigation(name).is_some(),
        };
        if taken || computed.iter().any(|computed| computed.name == name) {
            return Err(Problem::new(Fault::BadValue, at, format!("the name {} is taken", quoted(name))));
        }
        if computed.len() == COLUMNS_MAX {
            return Err(Problem::new(Fault::Limit, at, format!("more than {COLUMNS_MAX} computed properties")));
        }
        let Some(primitive) = expression.primitive else {
            let what = format!("{} is always null and has no type", quoted(name));
            return Err(Problem::new(Fault::Type, expression.position, what));
        };
        computed.push(Computed { name: name.to_owned(), primitive, enumeration, expression, shown: true });
        if !more {
            return Ok(());
        }
    }
}

/// Rows with further columns beside those that they have.
pub(super) fn beside(relation: Relation, columns: &mut Vec<Column>, computed: Vec<Computed>) -> Relation {
    let mut expressions: Vec<Expression> = columns.iter().enumerate().map(column).collect();
    for Computed { name, primitive, enumeration, expression, .. } in computed {
        columns.push(Column { path: name, primitive, enumeration });
        expressions.push(expression);
    }
    Relation::Projected(Box::new(relation), expressions)
}

/// A column as an expression.
pub(super) fn column((index, column): (usize, &Column)) -> Expression {
    Expression { kind: ExpressionKind::Column(index), primitive: Some(column.primitive), position: 0 }
}
