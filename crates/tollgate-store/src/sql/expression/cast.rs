//! Casts between primitive types, as far as both databases give the same.

use tollgate_wire::edm::Primitive;
use tollgate_wire::plan::Expression;

use super::{Nulls, Scope, apply, converted, mismatch, operand, typed, write};
use crate::StoreError;
use crate::sql::class::Class;
use crate::sql::dialect::Dialect;
use crate::sql::{Sql, function};

pub(super) fn cast<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &Expression,
    inner: &'p Expression,
    depth: usize,
) -> Result<(), StoreError> {
    let (from, to) = (Class::of(inner.primitive), Class::of(expression.primitive));
    let (before, after) = match (from, to, sql.dialect) {
        (Class::Null, _, _) => return typed(sql, scope, inner, to, depth + 1),
        (Class::Integer, Class::Integer, _) => {
            let name = match expression.primitive {
                Some(Primitive::Byte) => function::INTEGER_AS_BYTE,
                Some(Primitive::SByte) => function::INTEGER_AS_SBYTE,
                Some(Primitive::Int16) => function::INTEGER_AS_INT16,
                Some(Primitive::Int32) => function::INTEGER_AS_INT32,
                _ => return operand(sql, scope, inner, to, depth + 1),
            };
            return apply(sql, scope, name, &[(inner, to)], depth);
        }
        (Class::Decimal, Class::Integer, _) => {
            return apply(sql, scope, function::INTEGER_FROM_DECIMAL, &[(inner, from)], depth);
        }
        (Class::Real, Class::Integer, _) => {
            return apply(sql, scope, function::INTEGER_FROM_REAL, &[(inner, from)], depth);
        }
        (Class::Integer | Class::Decimal, Class::Real | Class::Decimal, _) => {
            return converted(sql, scope, inner, to, depth + 1);
        }
        (from, to, _) if from == to => return write(sql, scope, inner, Nulls::Exact, depth + 1),
        (Class::Date, Class::Instant, Dialect::Sqlite) => ("(", " || 'T00:00:00Z')"),
        (Class::Date, Class::Instant, Dialect::Postgres) => ("CAST(", " AS timestamptz)"),
        (Class::Boolean, Class::String, Dialect::Sqlite) => {
            ("CASE ", " WHEN 1 THEN 'true' WHEN 0 THEN 'false' END COLLATE BINARY")
        }
        (Class::Integer, Class::String, Dialect::Sqlite) => ("CAST(", " AS TEXT)"),
        (Class::Decimal, Class::String, _) => {
            return apply(sql, scope, function::DECIMAL_TEXT, &[(inner, from)], depth);
        }
        (Class::Guid | Class::Date | Class::TimeOfDay, Class::String, Dialect::Sqlite) => ("", ""),
        (
            Class::Boolean | Class::Integer | Class::Guid | Class::Date | Class::TimeOfDay,
            Class::String,
            Dialect::Postgres,
        ) => ("CAST(", " AS text)"),
        _ => return Err(mismatch(inner, to, from)),
    };
    sql.push(before);
    write(sql, scope, inner, Nulls::Exact, depth + 1)?;
    sql.push(after);
    Ok(())
}
