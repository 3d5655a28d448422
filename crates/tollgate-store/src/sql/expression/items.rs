//! Collections of values: questions about them, each a subquery over the collection's values as rows.
//!
//! PostgreSQL has them as arrays, SQLite as arrays of JSON, from whose canonical form `json_each` returns the canonical
//! forms of their values.

use tollgate_wire::edm::{LeafId, NavigationId, SetId};
use tollgate_wire::plan::{Expression, ExpressionKind, Items, Origin, Question};
use tollgate_wire::value::Value;

use super::compare::is_finer;
use super::{Nulls, Scope, Variable, Variables, boolean, literal};
use crate::StoreError;
use crate::sql::class::Class;
use crate::sql::dialect::Dialect;
use crate::sql::navigation::{Decimals, leaf_value};
use crate::sql::{Sql, function};

/// Appends a question about the values of a collection.
pub(super) fn items<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    asked: &'p Items,
    depth: usize,
) -> Result<(), StoreError> {
    let number = scope.variables.0.map_or(0, |variable| variable.number + 1);
    let alias = alias(number);
    sql.push(match asked.question {
        Question::Any => "EXISTS (SELECT 1 FROM ",
        // Alone it binds looser than the operators that may stand around it.
        Question::All => "(NOT EXISTS (SELECT 1 FROM ",
        Question::Count => "(SELECT COUNT(*) FROM ",
    });
    rows(sql, scope, (asked.of, &asked.through, asked.leaf), &alias, Numbered::No);
    if let Some(condition) = &asked.condition {
        // The set is never asked for: the condition names no leaves of a value.
        let variable = Variable { number, set: scope.set, alias: &alias, around: scope.variables };
        let inner = Scope { variables: Variables(Some(&variable)), ..*scope };
        sql.push(" WHERE (");
        boolean(sql, &inner, condition, Nulls::AsFalse, depth + 1)?;
        sql.push(match asked.question {
            Question::Any | Question::Count => ")",
            Question::All => ") IS NOT TRUE",
        });
    }
    sql.push(match asked.question {
        Question::Any | Question::Count => ")",
        Question::All => "))",
    });
    Ok(())
}

/// Appends the current value of the question of that number.
pub(super) fn item(sql: &mut Sql<'_>, number: usize, class: Class) {
    value(sql, &alias(number), class);
}

/// `hassubsequence`: in PostgreSQL, the least place of the first value, after it that of the second, and so on, must
/// exist.
pub(super) fn has_subsequence<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    arguments: &'p [Expression],
) -> Result<(), StoreError> {
    let [Expression { kind: ExpressionKind::Leaf { of, through, leaf }, .. }, wanted @ ..] = arguments else {
        let position = arguments.first().map_or(0, |argument| argument.position);
        return Err(StoreError::Type { position, message: "a collection was expected here".to_owned() });
    };
    let is_nan =
        |wanted: &Expression| matches!(wanted.kind, ExpressionKind::Literal(Value::Real(real)) if real.is_nan());
    match sql.dialect {
        _ if wanted.is_empty() => sql.push("(1 = 1)"),
        // It equals nothing, itself neither.
        _ if wanted.iter().any(is_nan) => sql.push("(1 = 0)"),
        Dialect::Sqlite => {
            let is_decimal = wanted.iter().any(|wanted| Class::of(wanted.primitive) == Class::Decimal);
            sql.push(function::HAS_SUBSEQUENCE.text);
            sql.push("('");
            sql.push(if is_decimal { function::BY_VALUE } else { "as it is" });
            sql.push("', ");
            leaf_value(sql, scope, *of, through, *leaf, Decimals::Digits);
            for wanted in wanted {
                let ExpressionKind::Literal(wanted) = &wanted.kind else {
                    let message = "a literal was expected here".to_owned();
                    return Err(StoreError::Type { position: wanted.position, message });
                };
                sql.push(", ");
                literal(sql, wanted);
            }
            sql.push(")");
        }
        Dialect::Postgres => {
            sql.push("(");
            place(sql, scope, (*of, through, *leaf), wanted);
            sql.push(" IS NOT NULL)");
        }
    }
    Ok(())
}

/// Appends the least place at which the last of the values comes after the others.
fn place<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    collection: (Origin, &[(NavigationId, SetId)], LeafId),
    wanted: &'p [Expression],
) {
    let Some((last, before)) = wanted.split_last() else { return sql.push("0") };
    let alias = format!("w{}", before.len());
    sql.push("(SELECT MIN(");
    sql.column(&alias, "key");
    sql.push(") FROM ");
    rows(sql, scope, collection, &alias, Numbered::Yes);
    sql.push(" WHERE ");
    equals(sql, &alias, last);
    if !before.is_empty() {
        sql.push(" AND ");
        sql.column(&alias, "key");
        sql.push(" > ");
        place(sql, scope, collection, before);
    }
    sql.push(")");
}

fn equals<'p>(sql: &mut Sql<'p>, alias: &str, wanted: &'p Expression) {
    match &wanted.kind {
        ExpressionKind::Literal(Value::Null) => {
            sql.column(alias, "value");
            sql.push(" IS NULL");
        }
        ExpressionKind::Literal(other) if !is_finer(other) => {
            value(sql, alias, Class::of(wanted.primitive));
            sql.push(" = ");
            literal(sql, other);
        }
        // What PostgreSQL would round stands in none of its arrays.
        _ => sql.push("1 = 0"),
    }
}

/// Whether the places of values are included.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbered {
    Yes,
    No,
}

/// Appends the rows of a collection, with their `value` and, if included, their `key`.
fn rows(
    sql: &mut Sql<'_>,
    scope: &Scope<'_>,
    (of, through, leaf): (Origin, &[(NavigationId, SetId)], LeafId),
    alias: &str,
    numbered: Numbered,
) {
    sql.push(match sql.dialect {
        Dialect::Sqlite => "json_each(",
        Dialect::Postgres => "unnest(",
    });
    leaf_value(sql, scope, of, through, leaf, Decimals::Digits);
    sql.push(match (sql.dialect, numbered) {
        (Dialect::Sqlite, _) | (Dialect::Postgres, Numbered::No) => ") AS ",
        (Dialect::Postgres, Numbered::Yes) => ") WITH ORDINALITY AS ",
    });
    sql.push(alias);
    sql.push(match (sql.dialect, numbered) {
        (Dialect::Sqlite, _) => "",
        (Dialect::Postgres, Numbered::No) => "(\"value\")",
        (Dialect::Postgres, Numbered::Yes) => "(\"value\", \"key\")",
    });
}

fn value(sql: &mut Sql<'_>, alias: &str, class: Class) {
    match (sql.dialect, class) {
        // An array may be of any kind of texts.
        (Dialect::Postgres, Class::String) => sql.cast(class, |sql| sql.column(alias, "value")),
        (Dialect::Sqlite | Dialect::Postgres, _) => sql.column(alias, "value"),
    }
}

fn alias(number: usize) -> String {
    format!("v{number}")
}
