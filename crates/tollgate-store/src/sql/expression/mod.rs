//! Expressions in SQL, with the meaning that OData gives to null:
//! - `eq` and `ne` never answer null (null equals null and nothing else), `lt`, `le`, `gt` and `ge` with a null operand
//!   are false (OData V4 URL conventions, section 5.1.1.1);
//! - arithmetic and functions of null are null; overflow and division by zero end the read with an error;
//! - `and`, `or` and `not` are three-valued as SQL's own; a final null does not pass.
//!
//! It repeats no type check of the URL parser, but refuses operands without a common class, so that a wrong plan never
//! reaches the database.

mod arithmetic;
mod call;
mod cast;
mod compare;
mod items;
mod related;

use tollgate_wire::edm::{Model, Primitive, SetId};
use tollgate_wire::plan::{Expression, ExpressionKind, Logic, Origin};
use tollgate_wire::value::Value;

use self::arithmetic::{arithmetic, negate};
use self::call::call;
use self::cast::cast;
use self::compare::{compare, member_of};
use self::items::{item, items};
use self::related::related;
use super::class::Class;
use super::dialect::Dialect;
use super::function::{self, Name};
use super::navigation::{Decimals, Joins, leaf_value};
use super::{DECIMAL_COLLATION, Sql};
use crate::{Mapping, StoreError};

/// Nesting of an expression, chains of `and` and `or` counted once for each doubling of their terms. SQLite's own limit
/// is 1000 levels of SQL, and one level here takes up to three.
pub const DEPTH_MAX: usize = 200;

/// PostgreSQL's order of texts by code points, which is SQLite's default.
const BY_CODE_POINT: &str = " COLLATE \"C\"";

/// Entity set for the leaves in an expression.
#[derive(Clone, Copy)]
pub struct Scope<'m> {
    /// The model.
    pub model: &'m Model,
    /// Its mapping to tables.
    pub mapping: &'m Mapping,
    /// The set of the current entity.
    pub set: SetId,
    /// The alias of its table.
    pub alias: &'m str,
    /// The related entities of the enclosing questions.
    pub variables: Variables<'m>,
    /// The to-one paths that the statement joins, if it does.
    pub joins: Option<&'m Joins>,
}

/// Related entities of questions within each other, innermost first.
#[derive(Clone, Copy, Default)]
pub struct Variables<'m>(Option<&'m Variable<'m>>);

/// A related entity of a question.
pub struct Variable<'m> {
    number: usize,
    set: SetId,
    alias: &'m str,
    around: Variables<'m>,
}

impl Scope<'_> {
    /// Set and alias of the entity.
    ///
    /// # Panics
    /// If the plan names a variable outside of its question, which no parser makes.
    pub(super) fn of(&self, origin: Origin) -> (SetId, &str) {
        let Origin::Variable(wanted) = origin else { return (self.set, self.alias) };
        let mut variables = self.variables;
        while let Some(variable) = variables.0 {
            if variable.number == wanted {
                return (variable.set, variable.alias);
            }
            variables = variable.around;
        }
        panic!("a variable stands within its question")
    }
}

/// Treatment of null.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nulls {
    /// Null and false have the same effect here, so the shorter form is used, which can use an index.
    AsFalse,
    /// Null must stay null and false stay false.
    Exact,
}

/// Appends a Boolean expression for a place where null counts as false.
///
/// # Errors
///
/// [`StoreError::Type`], [`StoreError::NotImplemented`], [`StoreError::TooLarge`].
pub fn condition<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, expression: &'p Expression) -> Result<(), StoreError> {
    boolean(sql, scope, expression, Nulls::AsFalse, 0)
}

/// Appends an expression's value.
///
/// # Errors
///
/// As [`condition`].
pub fn value<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, expression: &'p Expression) -> Result<(), StoreError> {
    write(sql, scope, expression, Nulls::Exact, 0)
}

/// Appends an expression's value where decimals are taken as they are stored.
///
/// # Errors
///
/// As [`condition`].
pub(super) fn number<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, expression: &'p Expression) -> Result<(), StoreError> {
    as_number(sql, scope, expression, Class::of(expression.primitive), 0)
}

/// Appends an expression's value as one of `class`, where decimals are taken as they are stored: comparisons, orders,
/// sums.
fn as_number<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &'p Expression,
    class: Class,
    depth: usize,
) -> Result<(), StoreError> {
    match &expression.kind {
        ExpressionKind::Leaf { of, through, leaf }
            if class == Class::Decimal && Class::of(expression.primitive) == class =>
        {
            leaf_value(sql, scope, *of, through, *leaf, Decimals::AsStored);
            Ok(())
        }
        _ => converted(sql, scope, expression, class, depth),
    }
}

/// Appends a number as a floating-point one.
///
/// # Errors
///
/// As [`condition`].
pub(super) fn as_real<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, expression: &'p Expression) -> Result<(), StoreError> {
    operand(sql, scope, expression, Class::Real, 0)
}

/// Appends an expression in the form that sorts as its values do, with its collation.
///
/// # Errors
///
/// As [`condition`].
pub fn sortable<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, expression: &'p Expression) -> Result<(), StoreError> {
    let class = Class::of(expression.primitive);
    in_order(sql, class, |sql| as_number(sql, scope, expression, class, 0))
}

/// Appends the output of `operand`, a value of `class`, in a form that sorts as its values do: texts by code points,
/// whatever the database's own order of texts.
pub(super) fn in_order<'p>(
    sql: &mut Sql<'p>,
    class: Class,
    operand: impl FnOnce(&mut Sql<'p>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    comparable(sql, class, operand)?;
    match (sql.dialect, class) {
        (Dialect::Postgres, Class::String) => sql.push(BY_CODE_POINT),
        (Dialect::Sqlite | Dialect::Postgres, _) => {}
    }
    Ok(())
}

/// Appends an expression, and the type of its class for null, which has none in PostgreSQL.
fn typed<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &'p Expression,
    class: Class,
    depth: usize,
) -> Result<(), StoreError> {
    match (sql.dialect, Class::of(expression.primitive)) {
        (Dialect::Postgres, Class::Null) => {
            sql.cast(class, |sql| sql.push("NULL"));
            Ok(())
        }
        (Dialect::Sqlite | Dialect::Postgres, _) => write(sql, scope, expression, Nulls::Exact, depth),
    }
}

/// Appends the output of `operand`, a value of `class`, in a form that compares and sorts as its values do.
pub(super) fn comparable<'p, E>(
    sql: &mut Sql<'p>,
    class: Class,
    operand: impl FnOnce(&mut Sql<'p>) -> Result<(), E>,
) -> Result<(), E> {
    if sql.dialect == Dialect::Postgres {
        return operand(sql);
    }
    match class {
        Class::Decimal => {
            operand(sql)?;
            collate_decimal(sql);
        }
        Class::Instant => {
            // `00Z` would sort after `00.5Z`.
            sql.push("rtrim(");
            operand(sql)?;
            sql.push(", 'Z')");
        }
        Class::Duration => {
            sql.push(function::DURATION_SECONDS.text);
            sql.push("(");
            operand(sql)?;
            sql.push(")");
            collate_decimal(sql);
        }
        Class::Null
        | Class::Boolean
        | Class::Integer
        | Class::Real
        | Class::String
        | Class::Binary
        | Class::Guid
        | Class::Date
        | Class::DateTime
        | Class::TimeOfDay
        | Class::List => operand(sql)?,
    }
    Ok(())
}

fn collate_decimal(sql: &mut Sql<'_>) {
    sql.push(" COLLATE ");
    sql.identifier(DECIMAL_COLLATION);
}

/// Appends a literal or a bound value; null is part of the statement's shape.
pub(super) fn literal<'p>(sql: &mut Sql<'p>, value: &'p Value) {
    match value {
        Value::Null => sql.push("NULL"),
        Value::Boolean(_)
        | Value::Integer(_)
        | Value::Real(_)
        | Value::Decimal(_)
        | Value::String(_)
        | Value::Text(..)
        | Value::Binary(_) => sql.literal(value),
    }
}

fn boolean<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &'p Expression,
    nulls: Nulls,
    depth: usize,
) -> Result<(), StoreError> {
    match Class::of(expression.primitive) {
        Class::Boolean | Class::Null => write(sql, scope, expression, nulls, depth),
        other => Err(mismatch(expression, Class::Boolean, other)),
    }
}

fn write<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &'p Expression,
    nulls: Nulls,
    depth: usize,
) -> Result<(), StoreError> {
    if depth > DEPTH_MAX {
        return Err(StoreError::TooLarge { message: format!("it is nested deeper than {DEPTH_MAX} levels") });
    }
    match &expression.kind {
        ExpressionKind::Literal(Value::Real(real)) if real.is_nan() => {
            Err(StoreError::NotImplemented { position: expression.position, name: "NaN outside of a comparison" })
        }
        ExpressionKind::Literal(value) => {
            literal(sql, value);
            Ok(())
        }
        ExpressionKind::Leaf { of, through, leaf } => {
            leaf_value(sql, scope, *of, through, *leaf, Decimals::Digits);
            Ok(())
        }
        ExpressionKind::Column(index) => {
            sql.push(&format!("{}.c{index}", scope.alias));
            Ok(())
        }
        ExpressionKind::Not(inner) => {
            sql.push("(NOT ");
            boolean(sql, scope, inner, Nulls::Exact, depth + 1)?;
            sql.push(")");
            Ok(())
        }
        ExpressionKind::Negate(inner) => negate(sql, scope, expression, inner, depth),
        ExpressionKind::Logic(logic, ..) => {
            let mut terms = Vec::new();
            chain(expression, *logic, &mut terms);
            balanced(sql, scope, *logic, &terms, nulls, depth)
        }
        ExpressionKind::Compare(comparison, left, right) => {
            compare(sql, scope, expression, (*comparison, left, right), nulls, depth)
        }
        ExpressionKind::Arithmetic(operator, left, right) => {
            arithmetic(sql, scope, expression, (*operator, left, right), depth)
        }
        ExpressionKind::Call(function, arguments) => call(sql, scope, expression, *function, arguments, depth),
        ExpressionKind::In(inner, values) => member_of(sql, scope, inner, values, nulls, depth),
        ExpressionKind::Case(branches) => case(sql, scope, expression, branches, depth),
        ExpressionKind::Cast(inner) => cast(sql, scope, expression, inner, depth),
        ExpressionKind::Related(question) => related(sql, scope, question, depth),
        ExpressionKind::Items(asked) => items(sql, scope, asked, depth),
        ExpressionKind::Item(number) => {
            item(sql, *number, Class::of(expression.primitive));
            Ok(())
        }
    }
}

/// The terms of a chain of the same operator, from left to right, however it was nested. It descends without recursion
/// along the left side, where parsers put long chains.
fn chain<'p>(expression: &'p Expression, logic: Logic, terms: &mut Vec<&'p Expression>) {
    let mut pending = vec![expression];
    while let Some(next) = pending.pop() {
        match &next.kind {
            ExpressionKind::Logic(operator, left, right) if *operator == logic => {
                pending.push(right);
                pending.push(left);
            }
            ExpressionKind::Literal(_)
            | ExpressionKind::Leaf { .. }
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
            | ExpressionKind::Item(_) => terms.push(next),
        }
    }
}

/// Writes a chain as a balanced tree: a client's thousand alternatives are ten levels for the database, not a thousand.
fn balanced<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    logic: Logic,
    terms: &[&'p Expression],
    nulls: Nulls,
    depth: usize,
) -> Result<(), StoreError> {
    if let [term] = terms {
        return boolean(sql, scope, term, nulls, depth + 1);
    }
    let (left, right) = terms.split_at(terms.len() / 2);
    sql.push("(");
    balanced(sql, scope, logic, left, nulls, depth + 1)?;
    sql.push(match logic {
        Logic::And => " AND ",
        Logic::Or => " OR ",
    });
    balanced(sql, scope, logic, right, nulls, depth + 1)?;
    sql.push(")");
    Ok(())
}

/// `case`, each value as one of the whole's class.
fn case<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &Expression,
    branches: &'p [(Expression, Expression)],
    depth: usize,
) -> Result<(), StoreError> {
    let class = Class::of(expression.primitive);
    sql.push("CASE");
    for (condition, value) in branches {
        sql.push(" WHEN ");
        boolean(sql, scope, condition, Nulls::AsFalse, depth + 1)?;
        sql.push(" THEN ");
        operand(sql, scope, value, class, depth + 1)?;
    }
    sql.push(" END");
    by_bytes(sql, class);
    Ok(())
}

/// Ends an expression that may contain a comparison: SQLite would compare the whole by that one's collation.
fn by_bytes(sql: &mut Sql<'_>, class: Class) {
    match (sql.dialect, class) {
        // Its own collation follows wherever it is compared, and bytes and numbers have none.
        (
            Dialect::Sqlite,
            Class::Decimal | Class::Null | Class::Boolean | Class::Integer | Class::Real | Class::Binary | Class::List,
        )
        | (Dialect::Postgres, _) => {}
        (
            Dialect::Sqlite,
            Class::String
            | Class::Guid
            | Class::Date
            | Class::DateTime
            | Class::Instant
            | Class::TimeOfDay
            | Class::Duration,
        ) => sql.push(" COLLATE BINARY"),
    }
}

/// Appends a call of a function with each argument converted to its class: by its name if it is registered, otherwise
/// in PostgreSQL's spelling.
fn apply<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    name: Name,
    arguments: &[(&'p Expression, Class)],
    depth: usize,
) -> Result<(), StoreError> {
    match sql.dialect {
        Dialect::Sqlite => {
            sql.push(name.text);
            infix(sql, scope, ["(", ", ", ")"], arguments, depth)
        }
        Dialect::Postgres => {
            let Some((last, before)) = name.postgres.split_last() else {
                let position = arguments.first().map_or(0, |(argument, _)| argument.position);
                return Err(StoreError::NotImplemented { position, name: name.what });
            };
            for (text, (argument, class)) in before.iter().zip(arguments) {
                sql.push(text);
                operand(sql, scope, argument, *class, depth + 1)?;
            }
            sql.push(last);
            Ok(())
        }
    }
}

/// Appends the arguments, each converted to its class, with text before, between and after them.
fn infix<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    [before, between, after]: [&str; 3],
    arguments: &[(&'p Expression, Class)],
    depth: usize,
) -> Result<(), StoreError> {
    sql.push(before);
    for (index, (argument, class)) in arguments.iter().enumerate() {
        if index > 0 {
            sql.push(between);
        }
        operand(sql, scope, argument, *class, depth + 1)?;
    }
    sql.push(after);
    Ok(())
}

/// Appends an operand of a function or of arithmetic. PostgreSQL computes with numbers of 32 bits in 32 bits, so they are
/// widened first; a comparison needs none of it and could not use an index any more.
fn operand<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &'p Expression,
    class: Class,
    depth: usize,
) -> Result<(), StoreError> {
    let narrow = match expression.primitive {
        Some(Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32 | Primitive::Single) => {
            Class::of(expression.primitive) == class
        }
        _ => false,
    };
    match sql.dialect {
        Dialect::Postgres
            if narrow && matches!(expression.kind, ExpressionKind::Leaf { .. } | ExpressionKind::Item(_)) =>
        {
            sql.push("CAST(");
            write(sql, scope, expression, Nulls::Exact, depth)?;
            sql.push(if class == Class::Integer { " AS int8)" } else { " AS float8)" });
            Ok(())
        }
        Dialect::Sqlite | Dialect::Postgres => converted(sql, scope, expression, class, depth),
    }
}

/// Appends an expression's value as one of `class`.
fn converted<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &'p Expression,
    class: Class,
    depth: usize,
) -> Result<(), StoreError> {
    let own = Class::of(expression.primitive);
    let (before, after) = match (own, class, sql.dialect) {
        (Class::Null, _, _) => return typed(sql, scope, expression, class, depth),
        (own, class, _) if own == class => ("", ""),
        (Class::Integer, Class::Decimal, Dialect::Sqlite) => ("CAST(", " AS TEXT)"),
        (Class::Integer, Class::Real, Dialect::Sqlite) => ("CAST(", " AS REAL)"),
        (Class::Decimal, Class::Real, Dialect::Sqlite) => {
            return apply(sql, scope, function::REAL_FROM_DECIMAL, &[(expression, Class::Decimal)], depth);
        }
        (Class::Date, Class::DateTime | Class::Instant, Dialect::Sqlite) => ("(", " || 'T00:00:00')"),
        (Class::DateTime, Class::Instant, Dialect::Sqlite) => ("", ""),
        (Class::Integer, Class::Decimal, Dialect::Postgres) => ("CAST(", " AS numeric)"),
        (Class::Integer | Class::Decimal, Class::Real, Dialect::Postgres) => ("CAST(", " AS float8)"),
        (Class::Date, Class::DateTime, Dialect::Postgres) => ("CAST(", " AS timestamp)"),
        // The session's time zone is UTC.
        (Class::Date | Class::DateTime, Class::Instant, Dialect::Postgres) => ("CAST(", " AS timestamptz)"),
        _ => return Err(mismatch(expression, class, own)),
    };
    sql.push(before);
    write(sql, scope, expression, Nulls::Exact, depth)?;
    sql.push(after);
    Ok(())
}

fn mismatch(expression: &Expression, expected: Class, found: Class) -> StoreError {
    StoreError::Type {
        position: expression.position,
        message: format!("{} was expected here, {} was found", expected.name(), found.name()),
    }
}
