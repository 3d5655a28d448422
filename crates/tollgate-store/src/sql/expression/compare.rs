//! Comparisons: the operators that null does not unsettle, and lists.
//!
//! Two kinds of literals are never values of a database and are handled here: NaN, which equals and orders with nothing
//! (IEEE 754, section 5.11), and in PostgreSQL times finer than its microseconds, which it would round.

use tollgate_wire::edm::Primitive;
use tollgate_wire::plan::{Comparison, Expression, ExpressionKind};
use tollgate_wire::value::Value;

use super::{BY_CODE_POINT, Nulls, Scope, as_number, comparable, converted, in_order, literal, typed};
use crate::StoreError;
use crate::sql::class::Class;
use crate::sql::dialect::{Dialect, POSTGRES_FRACTION_DIGITS, is_text_in_postgres};
use crate::sql::{Parameter, Sql};

pub(super) fn compare<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &Expression,
    (comparison, left, right): (Comparison, &'p Expression, &'p Expression),
    nulls: Nulls,
    depth: usize,
) -> Result<(), StoreError> {
    let (left_class, right_class) = (Class::of(left.primitive), Class::of(right.primitive));
    let class = left_class.common(right_class).ok_or_else(|| StoreError::Type {
        position: expression.position,
        message: format!("{} cannot be compared with {}", left_class.name(), right_class.name()),
    })?;
    if [left, right].into_iter().any(is_nan) {
        constant(sql, comparison);
        return Ok(());
    }
    if let (Some((side, text)), Dialect::Postgres) = (finer(left, right), sql.dialect) {
        return with_finer(sql, scope, (comparison, side, class), text, nulls, depth);
    }
    let equality = match comparison {
        Comparison::Equal => Some(Equality { operator: " IS ", both_null: " IS NOT DISTINCT FROM ", null: " IS NULL" }),
        Comparison::NotEqual => {
            Some(Equality { operator: " IS NOT ", both_null: " IS DISTINCT FROM ", null: " IS NOT NULL" })
        }
        Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => None,
    };
    if let (Some(equality), Dialect::Postgres) = (equality, sql.dialect) {
        return postgres_equality(sql, scope, equality, (comparison, left, right, class), nulls, depth);
    }
    let operator = match comparison {
        Comparison::Less => " < ",
        Comparison::LessOrEqual => " <= ",
        Comparison::Greater => " > ",
        Comparison::GreaterOrEqual => " >= ",
        Comparison::Equal | Comparison::NotEqual => equality.map_or("", |equality| equality.operator),
    };
    let exact = equality.is_none() && nulls == Nulls::Exact;
    sql.push(if exact { "((" } else { "(" });
    in_order(sql, class, |sql| as_number(sql, scope, left, class, depth + 1))?;
    sql.push(operator);
    in_order(sql, class, |sql| as_number(sql, scope, right, class, depth + 1))?;
    sql.push(if exact { ") IS TRUE)" } else { ")" });
    Ok(())
}

/// SQL parts of `eq` or `ne`.
#[derive(Clone, Copy)]
struct Equality {
    /// For SQLite, where one operator handles null.
    operator: &'static str,
    /// For PostgreSQL, with two values that may both be null; no index can be used.
    both_null: &'static str,
    /// For PostgreSQL, where one side is null.
    null: &'static str,
}

/// `eq` and `ne` with an operator that an index can serve wherever one side cannot be null.
fn postgres_equality<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    equality: Equality,
    (comparison, left, right, class): (Comparison, &'p Expression, &'p Expression, Class),
    nulls: Nulls,
    depth: usize,
) -> Result<(), StoreError> {
    if let Some(other) = [(left, right), (right, left)].into_iter().find(|(null, _)| is_null(null)).map(|pair| pair.1) {
        sql.push("(");
        typed(sql, scope, other, class, depth + 1)?;
        sql.push(equality.null);
        sql.push(")");
        return Ok(());
    }
    let has_literal = [left, right].into_iter().any(|side| matches!(side.kind, ExpressionKind::Literal(_)));
    let plain = has_literal && comparison == Comparison::Equal;
    let exact = plain && nulls == Nulls::Exact;
    sql.push(if exact { "((" } else { "(" });
    converted(sql, scope, left, class, depth + 1)?;
    // Equal is what has the same bytes, but two columns may disagree on an order, and then PostgreSQL wants to know one.
    sql.push(if class == Class::String && !has_literal { BY_CODE_POINT } else { "" });
    sql.push(if plain { " = " } else { equality.both_null });
    converted(sql, scope, right, class, depth + 1)?;
    sql.push(if exact { ") IS TRUE)" } else { ")" });
    Ok(())
}

/// `in`, with a list that a store can look up: none of the values is null.
pub(super) fn member_of<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    inner: &'p Expression,
    values: &'p [Value],
    nulls: Nulls,
    depth: usize,
) -> Result<(), StoreError> {
    let class = Class::of(inner.primitive);
    let exact = nulls == Nulls::Exact;
    let is_met = |value: &&Value| match value {
        Value::Real(real) => !real.is_nan(),
        value => sql.dialect == Dialect::Sqlite || !is_finer(value) || inner.primitive.is_some_and(is_text_in_postgres),
    };
    let values: Vec<&'p Value> = values.iter().filter(is_met).collect();
    if values.is_empty() {
        constant(sql, Comparison::Equal);
        return Ok(());
    }
    sql.push(if exact { "((" } else { "(" });
    // The collation of the left side is that of the whole comparison.
    comparable(sql, class, |sql| as_number(sql, scope, inner, class, depth + 1))?;
    sql.push(" IN (");
    for (index, value) in values.into_iter().enumerate() {
        sql.push(if index == 0 { "" } else { ", " });
        comparable(sql, class, |sql| {
            literal(sql, value);
            Ok::<_, StoreError>(())
        })?;
    }
    sql.push(if exact { ")) IS TRUE)" } else { "))" });
    Ok(())
}

/// Result of comparing with a value that no row has.
fn constant(sql: &mut Sql<'_>, comparison: Comparison) {
    sql.push(match comparison {
        Comparison::NotEqual => "(1 = 1)",
        Comparison::Equal
        | Comparison::Less
        | Comparison::LessOrEqual
        | Comparison::Greater
        | Comparison::GreaterOrEqual => "(1 = 0)",
    });
}

fn is_nan(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Literal(Value::Real(real)) if real.is_nan())
}

/// Side of a comparison with the column or expression; the other side is a literal.
#[derive(Clone, Copy)]
enum Side<'p> {
    Left(&'p Expression),
    Right(&'p Expression),
}

/// Finds a literal more precise than PostgreSQL's values, and the other operand.
fn finer<'p>(left: &'p Expression, right: &'p Expression) -> Option<(Side<'p>, &'p Value)> {
    let literal = |side: &'p Expression, other: &Expression| match &side.kind {
        ExpressionKind::Literal(value) if is_finer(value) && !other.primitive.is_some_and(is_text_in_postgres) => {
            Some(value)
        }
        _ => None,
    };
    match (literal(left, right), literal(right, left)) {
        (None, Some(value)) => Some((Side::Left(left), value)),
        (Some(value), None) => Some((Side::Right(right), value)),
        (None, None) | (Some(_), Some(_)) => None,
    }
}

/// Whether a time has more digits than PostgreSQL stores.
pub(super) fn is_finer(value: &Value) -> bool {
    let Value::Text(Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. } | Primitive::TimeOfDay { .. }, text) =
        value
    else {
        return false;
    };
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction).bytes();
    fraction.skip(usize::from(POSTGRES_FRACTION_DIGITS)).any(|byte| matches!(byte, b'1'..=b'9'))
}

/// A comparison with such a literal: nothing equals it, and it lies after its value without those digits and before the
/// next value.
fn with_finer<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    (comparison, side, class): (Comparison, Side<'p>, Class),
    value: &'p Value,
    nulls: Nulls,
    depth: usize,
) -> Result<(), StoreError> {
    let operator = match (comparison, side) {
        (Comparison::Equal | Comparison::NotEqual, _) => {
            constant(sql, comparison);
            return Ok(());
        }
        (Comparison::Less | Comparison::LessOrEqual, Side::Left(_))
        | (Comparison::Greater | Comparison::GreaterOrEqual, Side::Right(_)) => " <= ",
        (Comparison::Greater | Comparison::GreaterOrEqual, Side::Left(_))
        | (Comparison::Less | Comparison::LessOrEqual, Side::Right(_)) => " > ",
    };
    let (Side::Left(other) | Side::Right(other)) = side;
    sql.push(if nulls == Nulls::Exact { "((" } else { "(" });
    converted(sql, scope, other, class, depth + 1)?;
    sql.push(operator);
    sql.cast(class, |sql| {
        sql.push("regexp_replace(");
        sql.cast(Class::String, |sql| sql.parameter(Parameter::Value(value)));
        sql.push(&format!(", '([.][0-9]{{{POSTGRES_FRACTION_DIGITS}}})[0-9]+', '\\1')"));
    });
    sql.push(if nulls == Nulls::Exact { ") IS TRUE)" } else { ")" });
    Ok(())
}

fn is_null(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Literal(Value::Null))
}
