//! Calls of canonical functions: SQL's own where they are exact, registered ones elsewhere.

use tollgate_wire::plan::{Expression, Function};

use super::items::has_subsequence;
use super::{Nulls, Scope, apply, infix, mismatch, operand, write};
use crate::StoreError;
use crate::sql::class::Class;
use crate::sql::dialect::Dialect;
use crate::sql::function::Name;
use crate::sql::{Sql, function};

pub(super) fn call<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &Expression,
    function: Function,
    arguments: &'p [Expression],
    depth: usize,
) -> Result<(), StoreError> {
    let argument = |index: usize| {
        arguments.get(index).ok_or_else(|| StoreError::Type {
            position: expression.position,
            message: format!("{function:?} has {} arguments, which are too few", arguments.len()),
        })
    };
    let dialect = sql.dialect;
    let first = match function {
        Function::Now => return now(sql),
        _ => argument(0)?,
    };
    let text = |index| argument(index).map(|argument| (argument, Class::String));
    let integer = |index| argument(index).map(|argument| (argument, Class::Integer));
    let calendar = || -> Result<_, StoreError> {
        let calendar = of_classes(first, &[Class::Date, Class::DateTime, Class::Instant])?;
        // Null has a type in PostgreSQL.
        Ok(if calendar.1 == Class::Null { (first, Class::Date) } else { calendar })
    };
    let clock = || -> Result<_, StoreError> {
        let clock = of_classes(first, &[Class::TimeOfDay, Class::DateTime, Class::Instant, Class::Date])?;
        Ok(match (dialect, clock) {
            // PostgreSQL's dates have no hours.
            (Dialect::Postgres, (first, Class::Date | Class::Null)) => (first, Class::DateTime),
            (Dialect::Sqlite | Dialect::Postgres, clock) => clock,
        })
    };
    match function {
        Function::Now => now(sql),
        Function::Contains => {
            let around = match dialect {
                Dialect::Sqlite => ["(instr(", ", ", ") > 0)"],
                Dialect::Postgres => ["(strpos(", " COLLATE \"C\", ", ") > 0)"],
            };
            infix(sql, scope, around, &[text(0)?, text(1)?], depth)
        }
        Function::IndexOf => {
            let around = match dialect {
                Dialect::Sqlite => ["(instr(", ", ", ") - 1)"],
                Dialect::Postgres => ["CAST(strpos(", " COLLATE \"C\", ", ") - 1 AS int8)"],
            };
            infix(sql, scope, around, &[text(0)?, text(1)?], depth)
        }
        Function::Concat => apply(sql, scope, function::CONCAT, &[text(0)?, text(1)?], depth),
        Function::StartsWith => apply(sql, scope, function::STARTS_WITH, &[text(0)?, text(1)?], depth),
        Function::EndsWith => apply(sql, scope, function::ENDS_WITH, &[text(0)?, text(1)?], depth),
        Function::MatchesPattern => apply(sql, scope, function::MATCHES, &[text(0)?, text(1)?], depth),
        Function::Length => apply(sql, scope, function::LENGTH, &[text(0)?], depth),
        Function::Substring if arguments.len() == 2 => {
            apply(sql, scope, function::SUBSTRING_FROM, &[text(0)?, integer(1)?], depth)
        }
        Function::Substring => apply(sql, scope, function::SUBSTRING, &[text(0)?, integer(1)?, integer(2)?], depth),
        Function::Replace => apply(sql, scope, function::REPLACE, &[text(0)?, text(1)?, text(2)?], depth),
        Function::ToLower => apply(sql, scope, function::LOWER, &[text(0)?], depth),
        Function::ToUpper => apply(sql, scope, function::UPPER, &[text(0)?], depth),
        Function::Trim => apply(sql, scope, function::TRIM, &[text(0)?], depth),
        Function::Year => apply(sql, scope, function::YEAR, &[calendar()?], depth),
        Function::Month => apply(sql, scope, function::MONTH, &[calendar()?], depth),
        Function::Day => apply(sql, scope, function::DAY, &[calendar()?], depth),
        Function::Hour => apply(sql, scope, function::HOUR, &[clock()?], depth),
        Function::Minute => apply(sql, scope, function::MINUTE, &[clock()?], depth),
        Function::Second => apply(sql, scope, function::SECOND, &[clock()?], depth),
        Function::Date => apply(sql, scope, function::DATE, &[calendar()?], depth),
        Function::Time => apply(sql, scope, function::TIME, &[clock()?], depth),
        Function::TotalOffsetMinutes => {
            let instant = of_classes(first, &[Class::Instant, Class::DateTime])?;
            // Null has a type in PostgreSQL.
            let instant = if instant.1 == Class::Null { (first, Class::Instant) } else { instant };
            apply(sql, scope, function::OFFSET_MINUTES, &[instant], depth)
        }
        Function::TotalSeconds => apply(sql, scope, function::DURATION_SECONDS, &[(first, Class::Duration)], depth),
        Function::FractionalSeconds => apply(sql, scope, function::FRACTIONAL_SECONDS, &[clock()?], depth),
        Function::Has => {
            let bits = argument(1)?;
            infix(sql, scope, ["((", " & ", ") = "], &[integer(0)?, (bits, Class::Integer)], depth)?;
            operand(sql, scope, bits, Class::Integer, depth + 1)?;
            sql.push(")");
            Ok(())
        }
        Function::HasSubsequence => has_subsequence(sql, scope, arguments),
        Function::Round => rounded(sql, scope, (function::REAL_ROUND, function::DECIMAL_ROUND), first, depth),
        Function::Floor => rounded(sql, scope, (function::REAL_FLOOR, function::DECIMAL_FLOOR), first, depth),
        Function::Ceiling => rounded(sql, scope, (function::REAL_CEILING, function::DECIMAL_CEILING), first, depth),
    }
}

/// Time of the statement.
fn now(sql: &mut Sql<'_>) -> Result<(), StoreError> {
    sql.push(match sql.dialect {
        Dialect::Sqlite => "(rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', 'now'), '0'), '.') || 'Z')",
        Dialect::Postgres => "date_trunc('milliseconds', CURRENT_TIMESTAMP)",
    });
    Ok(())
}

fn rounded<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    (real, decimal): (Name, Name),
    argument: &'p Expression,
    depth: usize,
) -> Result<(), StoreError> {
    let class = Class::of(argument.primitive);
    match class {
        Class::Null | Class::Integer => write(sql, scope, argument, Nulls::Exact, depth + 1),
        Class::Real => apply(sql, scope, real, &[(argument, class)], depth),
        Class::Decimal => apply(sql, scope, decimal, &[(argument, class)], depth),
        other @ (Class::Boolean
        | Class::String
        | Class::Binary
        | Class::Guid
        | Class::Date
        | Class::DateTime
        | Class::Instant
        | Class::TimeOfDay
        | Class::Duration
        | Class::List) => Err(mismatch(argument, Class::Decimal, other)),
    }
}

/// An argument unchanged, if its class is one of these; null is of every class.
fn of_classes<'p>(argument: &'p Expression, classes: &[Class]) -> Result<(&'p Expression, Class), StoreError> {
    match Class::of(argument.primitive) {
        class if class == Class::Null || classes.contains(&class) => Ok((argument, class)),
        other => Err(mismatch(argument, classes[0], other)),
    }
}
