//! Arithmetic: each class of numbers has its own, and none passes through another's.

use tollgate_wire::plan::{Arithmetic, Expression, ExpressionKind};
use tollgate_wire::value::Value;

use super::{Nulls, Scope, apply, mismatch, write};
use crate::StoreError;
use crate::sql::class::Class;
use crate::sql::{Sql, function};

pub(super) fn negate<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &Expression,
    inner: &'p Expression,
    depth: usize,
) -> Result<(), StoreError> {
    let open = match Class::of(inner.primitive) {
        Class::Null => "(",
        Class::Real => "(- ",
        Class::Integer => return apply(sql, scope, function::INTEGER_NEGATE, &[(inner, Class::Integer)], depth),
        Class::Decimal => return apply(sql, scope, function::DECIMAL_NEGATE, &[(inner, Class::Decimal)], depth),
        Class::Duration => {
            return Err(StoreError::NotImplemented {
                position: expression.position,
                name: "the negation of a duration",
            });
        }
        other @ (Class::Boolean
        | Class::String
        | Class::Binary
        | Class::Guid
        | Class::Date
        | Class::DateTime
        | Class::Instant
        | Class::TimeOfDay
        | Class::List) => return Err(mismatch(inner, Class::Decimal, other)),
    };
    sql.push(open);
    write(sql, scope, inner, Nulls::Exact, depth + 1)?;
    sql.push(")");
    Ok(())
}

pub(super) fn arithmetic<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &Expression,
    (operator, left, right): (Arithmetic, &'p Expression, &'p Expression),
    depth: usize,
) -> Result<(), StoreError> {
    let (left_class, right_class) = (Class::of(left.primitive), Class::of(right.primitive));
    let class = left_class.common(right_class);
    if let Some(side) = [left, right].into_iter().find(|side| is_infinite(side)) {
        return Err(StoreError::NotImplemented { position: side.position, name: "arithmetic with INF" });
    }
    if let Some((function, classes)) = temporal(operator, left_class, right_class) {
        return apply(sql, scope, function, &[(left, classes[0]), (right, classes[1])], depth);
    }
    let functions = match class {
        Some(Class::Integer) => match operator {
            Arithmetic::Add => function::INTEGER_ADD,
            Arithmetic::Subtract => function::INTEGER_SUBTRACT,
            Arithmetic::Multiply => function::INTEGER_MULTIPLY,
            Arithmetic::Divide => function::INTEGER_DIVIDE,
            Arithmetic::Modulo => function::INTEGER_MODULO,
        },
        Some(Class::Decimal) => match operator {
            Arithmetic::Add => function::DECIMAL_ADD,
            Arithmetic::Subtract => function::DECIMAL_SUBTRACT,
            Arithmetic::Multiply => function::DECIMAL_MULTIPLY,
            Arithmetic::Divide => function::DECIMAL_DIVIDE,
            Arithmetic::Modulo => function::DECIMAL_MODULO,
        },
        Some(Class::Real) => match operator {
            Arithmetic::Add => function::REAL_ADD,
            Arithmetic::Subtract => function::REAL_SUBTRACT,
            Arithmetic::Multiply => function::REAL_MULTIPLY,
            Arithmetic::Divide => function::REAL_DIVIDE,
            Arithmetic::Modulo => function::REAL_MODULO,
        },
        Some(Class::Null) => {
            sql.push("NULL");
            return Ok(());
        }
        None
        | Some(
            Class::Boolean
            | Class::String
            | Class::Binary
            | Class::Guid
            | Class::Date
            | Class::DateTime
            | Class::Instant
            | Class::TimeOfDay
            | Class::Duration
            | Class::List,
        ) => {
            let temporal = |class| {
                matches!(class, Class::Date | Class::DateTime | Class::Instant | Class::TimeOfDay | Class::Duration)
            };
            return Err(if temporal(left_class) || temporal(right_class) {
                StoreError::NotImplemented {
                    position: expression.position,
                    name: "arithmetic with dates and durations",
                }
            } else {
                StoreError::Type {
                    position: expression.position,
                    message: format!("there is no arithmetic of {} and {}", left_class.name(), right_class.name()),
                }
            });
        }
    };
    let class = class.expect("only numbers come here");
    apply(sql, scope, functions, &[(left, class), (right, class)], depth)
}

/// The function for moving a moment, or for the time between two, with the classes that it takes. A moment without
/// offset is in UTC.
fn temporal(operator: Arithmetic, left: Class, right: Class) -> Option<(function::Name, [Class; 2])> {
    let is_moment = |class| matches!(class, Class::DateTime | Class::Instant);
    Some(match (operator, left, right) {
        (Arithmetic::Add, Class::Date, Class::Duration) => (function::DATE_ADD, [left, right]),
        (Arithmetic::Subtract, Class::Date, Class::Duration) => (function::DATE_SUBTRACT, [left, right]),
        (Arithmetic::Subtract, Class::Date, Class::Date) => (function::DATE_DIFFERENCE, [left, right]),
        (Arithmetic::Add, left, Class::Duration) if is_moment(left) => {
            (function::MOMENT_ADD, [Class::Instant, Class::Duration])
        }
        (Arithmetic::Subtract, left, Class::Duration) if is_moment(left) => {
            (function::MOMENT_SUBTRACT, [Class::Instant, Class::Duration])
        }
        (Arithmetic::Subtract, left, right) if is_moment(left) && is_moment(right) => {
            (function::MOMENT_DIFFERENCE, [Class::Instant, Class::Instant])
        }
        _ => return None,
    })
}

/// Whether an operand is infinite: infinity often leads to NaN, which is null in SQLite and the greatest value in
/// PostgreSQL.
fn is_infinite(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Literal(Value::Real(real)) => real.is_infinite(),
        ExpressionKind::Negate(inner) => is_infinite(inner),
        _ => false,
    }
}
