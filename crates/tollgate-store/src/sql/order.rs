//! Orders that are total, and the condition that begins after a given row of such an order (keyset paging).
//!
//! Null sorts before all values when ascending and after all when descending, as OData requires and SQLite does by
//! default; for PostgreSQL it is written out.

use tollgate_wire::edm::LeafId;
use tollgate_wire::plan::{Computed, Direction, Expression, ExpressionKind, OrderBy, Origin, SkipToken};
use tollgate_wire::value::Value;

use super::class::Class;
use super::dialect::Dialect;
use super::expression::{Scope, comparable, in_order, literal, sortable, value};
use super::{Parameter, Sql};
use crate::{Identity, StoreError};

/// Appends ` ORDER BY …`: the keys of the order, then the entity's key, so that no two rows are equal.
///
/// # Errors
///
/// Errors of the expressions.
pub fn order_by<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, order: &'p [OrderBy]) -> Result<(), StoreError> {
    sql.push(" ORDER BY ");
    order_keys(sql, scope, order)
}

/// Appends the keys of that order.
///
/// # Errors
///
/// Errors of the expressions.
pub fn order_keys<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, order: &'p [OrderBy]) -> Result<(), StoreError> {
    for by in order {
        sortable(sql, scope, &by.expression)?;
        sql.push(match (by.direction, sql.dialect) {
            // A column that is never null keeps the index that it has.
            (Direction::Ascending, Dialect::Postgres) if !never_null(scope, &by.expression) => " NULLS FIRST, ",
            (Direction::Ascending, Dialect::Sqlite | Dialect::Postgres) => ", ",
            (Direction::Descending, Dialect::Postgres) if !never_null(scope, &by.expression) => " DESC NULLS LAST, ",
            (Direction::Descending, Dialect::Sqlite | Dialect::Postgres) => " DESC, ",
        });
    }
    for (index, leaf) in scope.model.type_of(scope.set).key.iter().enumerate() {
        if index > 0 {
            sql.push(", ");
        }
        key_leaf(sql, scope, *leaf)?;
    }
    Ok(())
}

/// Appends the answered computed values as further columns.
///
/// # Errors
///
/// Errors of the expressions.
pub fn computed_columns<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, computed: &'p [Computed]) -> Result<(), StoreError> {
    for computed in Computed::shown(computed) {
        sql.push(", ");
        let mut written = Ok(());
        sql.answered(Some(computed.primitive), |sql| written = value(sql, scope, &computed.expression));
        written?;
    }
    Ok(())
}

/// Appends the values of the order's keys as further columns, so that a skip token can be made of any row.
///
/// # Errors
///
/// Errors of the expressions.
pub fn order_columns<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, order: &'p [OrderBy]) -> Result<(), StoreError> {
    for by in order {
        sql.push(", ");
        let mut written = Ok(());
        sql.answered(by.expression.primitive, |sql| written = value(sql, scope, &by.expression));
        written?;
    }
    Ok(())
}

/// Whether a key of an order is more than a property.
pub fn is_computed(order: &[OrderBy]) -> bool {
    order.iter().any(|by| !matches!(by.expression.kind, ExpressionKind::Leaf { .. }))
}

/// One key of the total order.
#[derive(Clone, Copy)]
enum OrderKey<'p> {
    Expression(&'p OrderBy),
    Leaf(LeafId),
}

/// Appends the condition for the rows that come after those of `token`.
///
/// # Errors
///
/// [`StoreError::Token`] if the token has another number of values than the order has keys; errors of the expressions.
pub fn after<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    order: &'p [OrderBy],
    token: &'p SkipToken,
) -> Result<(), StoreError> {
    let entity_type = scope.model.type_of(scope.set);
    let expected = order.len() + entity_type.key.len();
    if token.after.len() != expected {
        return Err(StoreError::Token { expected, found: token.after.len() });
    }
    let plain = |leaf: &LeafId| match sql.dialect {
        Dialect::Sqlite => Class::of(Some(entity_type.leaves[leaf.0].primitive)).sorts_as_stored(),
        // Whatever order a column has by itself, its marks have too.
        Dialect::Postgres => true,
    };
    if order.is_empty() && entity_type.key.iter().all(plain) {
        return after_key(sql, scope, &token.after);
    }
    let keys = order.iter().map(OrderKey::Expression).chain(entity_type.key.iter().copied().map(OrderKey::Leaf));
    let keys: Vec<_> = keys.zip(&token.after).collect();
    // Either the first key is beyond, or it is equal and the second is beyond, and so on.
    sql.push("(");
    let mut alternatives = 0;
    for (index, (key, bound)) in keys.iter().enumerate() {
        if nothing_beyond(*key, bound) {
            continue;
        }
        sql.push(if alternatives == 0 { "(" } else { " OR (" });
        alternatives += 1;
        for (key, bound) in &keys[..index] {
            equal(sql, scope, *key, bound)?;
            sql.push(" AND ");
        }
        beyond(sql, scope, *key, bound)?;
        sql.push(")");
    }
    sql.push(")");
    Ok(())
}

/// The key alone, ascending and without nulls: a row value, which uses a range of the index.
fn after_key<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, after: &'p [Value]) -> Result<(), StoreError> {
    sql.push("(");
    sql.list(", ", &scope.model.type_of(scope.set).key, |sql, leaf| {
        sql.column(scope.alias, scope.mapping.column(scope.set, *leaf));
    });
    sql.push(") > (");
    let bounds = scope.model.type_of(scope.set).key.iter().zip(after);
    sql.list(", ", bounds, |sql, (leaf, value)| {
        sql.parameter(Parameter::Key(value, scope.mapping.form(scope.set, *leaf)));
    });
    sql.push(")");
    Ok(())
}

/// Whether no rows follow: when descending, null is last.
fn nothing_beyond(key: OrderKey<'_>, bound: &Value) -> bool {
    match key {
        OrderKey::Expression(OrderBy { direction: Direction::Descending, .. }) => *bound == Value::Null,
        OrderKey::Expression(OrderBy { direction: Direction::Ascending, .. }) | OrderKey::Leaf(_) => false,
    }
}

fn equal<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, key: OrderKey<'p>, bound: &'p Value) -> Result<(), StoreError> {
    write_key(sql, scope, key)?;
    sql.push(match (sql.dialect, bound) {
        (Dialect::Postgres, Value::Null) => {
            sql.push(" IS NULL");
            return Ok(());
        }
        (Dialect::Postgres, _) => " = ",
        (Dialect::Sqlite, _) => " IS ",
    });
    write_bound(sql, scope, key, bound)
}

fn beyond<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, key: OrderKey<'p>, bound: &'p Value) -> Result<(), StoreError> {
    let direction = match key {
        OrderKey::Expression(by) => by.direction,
        OrderKey::Leaf(_) => Direction::Ascending,
    };
    match direction {
        Direction::Ascending if *bound == Value::Null => {
            write_key(sql, scope, key)?;
            sql.push(" IS NOT NULL");
        }
        Direction::Ascending => {
            write_key(sql, scope, key)?;
            sql.push(" > ");
            write_bound(sql, scope, key, bound)?;
        }
        Direction::Descending => {
            sql.push("(");
            write_key(sql, scope, key)?;
            sql.push(" < ");
            write_bound(sql, scope, key, bound)?;
            sql.push(" OR ");
            write_key(sql, scope, key)?;
            sql.push(" IS NULL)");
        }
    }
    Ok(())
}

fn write_key<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, key: OrderKey<'p>) -> Result<(), StoreError> {
    match key {
        OrderKey::Expression(by) => sortable(sql, scope, &by.expression),
        OrderKey::Leaf(leaf) => key_leaf(sql, scope, leaf),
    }
}

fn write_bound<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    key: OrderKey<'p>,
    bound: &'p Value,
) -> Result<(), StoreError> {
    let written = |sql: &mut Sql<'p>| {
        literal(sql, bound);
        Ok(())
    };
    match (key, sql.dialect) {
        (OrderKey::Expression(by), _) => in_order(sql, Class::of(by.expression.primitive), written),
        (OrderKey::Leaf(leaf), Dialect::Sqlite) => {
            let primitive = scope.model.type_of(scope.set).leaves[leaf.0].primitive;
            comparable(sql, Class::of(Some(primitive)), |sql| {
                sql.parameter(Parameter::Key(bound, scope.mapping.form(scope.set, leaf)));
                Ok(())
            })
        }
        (OrderKey::Leaf(_), Dialect::Postgres) => {
            sql.parameter(Parameter::Value(bound));
            Ok(())
        }
    }
}

/// Whether an expression is a never-null column of the entity itself.
fn never_null(scope: &Scope<'_>, expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Leaf { of, through, leaf } => {
            // The key of a table without one says that it is never null, and is it all the same.
            let keyed = scope.mapping.table(scope.set).identity == Identity::Key;
            keyed && *of == Origin::It && through.is_empty() && !scope.model.type_of(scope.set).leaves[leaf.0].nullable
        }
        ExpressionKind::Literal(_)
        | ExpressionKind::Not(_)
        | ExpressionKind::Negate(_)
        | ExpressionKind::Logic(..)
        | ExpressionKind::Compare(..)
        | ExpressionKind::Arithmetic(..)
        | ExpressionKind::Call(..)
        | ExpressionKind::In(..)
        | ExpressionKind::Column(_)
        | ExpressionKind::Case(_)
        | ExpressionKind::Cast(_)
        | ExpressionKind::Related(_)
        | ExpressionKind::Items(_)
        | ExpressionKind::Item(_) => false,
    }
}

fn key_leaf(sql: &mut Sql<'_>, scope: &Scope<'_>, leaf: LeafId) -> Result<(), StoreError> {
    let class = Class::of(Some(scope.model.type_of(scope.set).leaves[leaf.0].primitive));
    comparable(sql, class, |sql| {
        sql.column(scope.alias, scope.mapping.column(scope.set, leaf));
        Ok(())
    })
}
