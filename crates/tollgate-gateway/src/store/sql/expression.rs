//! Expressions in SQL, with the meaning that OData gives to null:
//! - `eq` and `ne` never answer null (null equals null and nothing else), `lt`, `le`, `gt` and `ge` with a null operand
//!   are false (OData V4 URL conventions, section 5.1.1.1);
//! - arithmetic and functions of null are null, and so are overflow and division by zero;
//! - `and`, `or` and `not` are three-valued as SQL's own; what is null in the end does not pass.
//!
//! It deliberately repeats no type check of the URL parser, but refuses what has no common class, so that a wrong plan
//! can neither compare apples with pears nor reach the database.

use tollgate_wire::edm::{EntityType, LeafId, Model, Multiplicity, NavigationId, NavigationProperty, SetId};
use tollgate_wire::plan::{Arithmetic, Comparison, Expression, ExpressionKind, Function, Logic};
use tollgate_wire::value::Value;

use super::class::Class;
use super::function::{self, Name};
use super::{DECIMAL_COLLATION, Parameter, Sql};
use crate::store::{Mapping, StoreError};

/// Nesting of an expression, chains of `and` and `or` counted once for each doubling of their terms. SQLite's own limit
/// is 1000 levels of SQL, of which one level here takes up to three.
pub const DEPTH_MAX: usize = 200;

/// Whose leaves an expression names.
#[derive(Clone, Copy)]
pub struct Scope<'m> {
    /// The model.
    pub model: &'m Model,
    /// Where it is stored.
    pub mapping: &'m Mapping,
    /// The set of the entity at hand.
    pub set: SetId,
    /// The alias of its table.
    pub alias: &'m str,
}

/// What may become of null.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nulls {
    /// The place makes no difference between null and false, so the shorter form will do, which can use an index.
    AsFalse,
    /// Null must come out as null and false as false.
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

/// Appends an expression in the form that sorts as its values do, with its collation.
///
/// # Errors
///
/// As [`condition`].
pub fn sortable<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, expression: &'p Expression) -> Result<(), StoreError> {
    let class = Class::of(expression.primitive);
    comparable(sql, class, |sql| write(sql, scope, expression, Nulls::Exact, 0))
}

/// Appends what `operand` writes, a value of `class`, in the form that compares and sorts as its values do.
pub(super) fn comparable<'p>(
    sql: &mut Sql<'p>,
    class: Class,
    operand: impl FnOnce(&mut Sql<'p>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
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
        | Class::TimeOfDay => operand(sql)?,
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
        | Value::Binary(_) => sql.parameter(Parameter::Value(value)),
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
        ExpressionKind::Literal(value) => {
            literal(sql, value);
            Ok(())
        }
        ExpressionKind::Leaf { through, leaf } => {
            leaf_value(sql, scope, through, *leaf);
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
            | ExpressionKind::Call(..) => terms.push(next),
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

fn compare<'p>(
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
    let operator = match comparison {
        Comparison::Equal => " IS ",
        Comparison::NotEqual => " IS NOT ",
        Comparison::Less => " < ",
        Comparison::LessOrEqual => " <= ",
        Comparison::Greater => " > ",
        Comparison::GreaterOrEqual => " >= ",
    };
    let ordered = match comparison {
        Comparison::Equal | Comparison::NotEqual => false,
        Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => true,
    };
    let exact = ordered && nulls == Nulls::Exact;
    sql.push(if exact { "((" } else { "(" });
    comparable(sql, class, |sql| converted(sql, scope, left, class, depth + 1))?;
    sql.push(operator);
    comparable(sql, class, |sql| converted(sql, scope, right, class, depth + 1))?;
    sql.push(if exact { ") IS TRUE)" } else { ")" });
    Ok(())
}

fn negate<'p>(
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
        | Class::TimeOfDay) => return Err(mismatch(inner, Class::Decimal, other)),
    };
    sql.push(open);
    write(sql, scope, inner, Nulls::Exact, depth + 1)?;
    sql.push(")");
    Ok(())
}

fn arithmetic<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    expression: &Expression,
    (operator, left, right): (Arithmetic, &'p Expression, &'p Expression),
    depth: usize,
) -> Result<(), StoreError> {
    let (left_class, right_class) = (Class::of(left.primitive), Class::of(right.primitive));
    let class = left_class.common(right_class);
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
        Some(Class::Real) => {
            let sign = match operator {
                Arithmetic::Add => " + ",
                Arithmetic::Subtract => " - ",
                Arithmetic::Multiply => " * ",
                Arithmetic::Divide => " / ",
                Arithmetic::Modulo => {
                    return apply(
                        sql,
                        scope,
                        function::REAL_MODULO,
                        &[(left, Class::Real), (right, Class::Real)],
                        depth,
                    );
                }
            };
            sql.push("(");
            converted(sql, scope, left, Class::Real, depth + 1)?;
            sql.push(sign);
            converted(sql, scope, right, Class::Real, depth + 1)?;
            sql.push(")");
            return Ok(());
        }
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
            | Class::Duration,
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

fn call<'p>(
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
    let first = argument(0)?;
    let text = |index| argument(index).map(|argument| (argument, Class::String));
    let integer = |index| argument(index).map(|argument| (argument, Class::Integer));
    let calendar = || of_classes(first, &[Class::Date, Class::DateTime, Class::Instant]);
    let clock = || of_classes(first, &[Class::TimeOfDay, Class::DateTime, Class::Instant, Class::Date]);
    match function {
        Function::Contains => infix(sql, scope, ["(instr(", ", ", ") > 0)"], &[text(0)?, text(1)?], depth),
        Function::IndexOf => infix(sql, scope, ["(instr(", ", ", ") - 1)"], &[text(0)?, text(1)?], depth),
        Function::Concat => infix(sql, scope, ["(", " || ", ")"], &[text(0)?, text(1)?], depth),
        Function::StartsWith => apply(sql, scope, function::STARTS_WITH, &[text(0)?, text(1)?], depth),
        Function::EndsWith => apply(sql, scope, function::ENDS_WITH, &[text(0)?, text(1)?], depth),
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
        Function::Round => rounded(sql, scope, (function::REAL_ROUND, function::DECIMAL_ROUND), first, depth),
        Function::Floor => rounded(sql, scope, (function::REAL_FLOOR, function::DECIMAL_FLOOR), first, depth),
        Function::Ceiling => rounded(sql, scope, (function::REAL_CEILING, function::DECIMAL_CEILING), first, depth),
    }
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
        | Class::Duration) => Err(mismatch(argument, Class::Decimal, other)),
    }
}

/// Appends a call of a registered function with each argument converted to its class.
fn apply<'p>(
    sql: &mut Sql<'p>,
    scope: &Scope<'_>,
    name: Name,
    arguments: &[(&'p Expression, Class)],
    depth: usize,
) -> Result<(), StoreError> {
    sql.push(name.text);
    infix(sql, scope, ["(", ", ", ")"], arguments, depth)
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
        converted(sql, scope, argument, *class, depth + 1)?;
    }
    sql.push(after);
    Ok(())
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
    let (before, after) = match (own, class) {
        (Class::Null, _) => ("", ""),
        (own, class) if own == class => ("", ""),
        (Class::Integer, Class::Decimal) => ("CAST(", " AS TEXT)"),
        (Class::Integer, Class::Real) => ("CAST(", " AS REAL)"),
        (Class::Decimal, Class::Real) => {
            return apply(sql, scope, function::REAL_FROM_DECIMAL, &[(expression, Class::Decimal)], depth);
        }
        (Class::Date, Class::DateTime | Class::Instant) => ("(", " || 'T00:00:00')"),
        (Class::DateTime, Class::Instant) => ("", ""),
        _ => return Err(mismatch(expression, class, own)),
    };
    sql.push(before);
    write(sql, scope, expression, Nulls::Exact, depth)?;
    sql.push(after);
    Ok(())
}

/// Appends a leaf of the entity at hand, or, over to-one navigation, a scalar subquery: a join could repeat the entity
/// where the target's key is not covered, and would have to be found again for each mention.
fn leaf_value(sql: &mut Sql<'_>, scope: &Scope<'_>, through: &[(NavigationId, SetId)], leaf: LeafId) {
    let Some((_, last_set)) = through.last() else {
        return sql.column(scope.alias, scope.mapping.column(scope.set, leaf));
    };
    sql.push("(SELECT ");
    sql.column(&alias(through.len() - 1), scope.mapping.column(*last_set, leaf));
    let (mut set, mut from) = (scope.set, scope.alias.to_owned());
    for (index, (navigation, target)) in through.iter().enumerate() {
        let here = alias(index);
        sql.push(if index == 0 { " FROM " } else { " LEFT JOIN " });
        sql.table(&scope.mapping.table(*target).name, &here);
        if index > 0 {
            let navigation = &scope.model.type_of(set).navigation[navigation.0];
            sql.push(" ON ");
            related(sql, scope.mapping, navigation, (set, &from), (*target, &here));
        }
        (set, from) = (*target, here);
    }
    let (navigation, target) = &through[0];
    sql.push(" WHERE ");
    let first = &scope.model.type_of(scope.set).navigation[navigation.0];
    related(sql, scope.mapping, first, (scope.set, scope.alias), (*target, &alias(0)));
    sql.push(" ORDER BY ");
    let keys = through.iter().enumerate().flat_map(|(index, (_, set))| {
        scope.model.type_of(*set).key.iter().map(move |leaf| (alias(index), scope.mapping.column(*set, *leaf)))
    });
    sql.list(", ", keys, |sql, (alias, column)| sql.column(&alias, column));
    sql.push(" LIMIT 1)");
}

fn alias(index: usize) -> String {
    format!("n{index}")
}

/// Appends the condition under which two entities are related.
pub(super) fn related(
    sql: &mut Sql<'_>,
    mapping: &Mapping,
    navigation: &NavigationProperty,
    (from, from_alias): (SetId, &str),
    (to, to_alias): (SetId, &str),
) {
    sql.list(" AND ", &navigation.on, |sql, (here, there)| {
        sql.column(to_alias, mapping.column(to, *there));
        sql.push(" = ");
        sql.column(from_alias, mapping.column(from, *here));
    });
}

/// Whether to-one navigation may meet several entities, of which the first by key is meant.
pub(super) fn ambiguous(navigation: &NavigationProperty, target: &EntityType) -> bool {
    match navigation.multiplicity {
        Multiplicity::Many => false,
        Multiplicity::One | Multiplicity::ZeroOrOne => {
            !target.key.iter().all(|leaf| navigation.on.iter().any(|(_, there)| there == leaf))
        }
    }
}

/// An argument as it is, if its class is one of these; null is of every class.
fn of_classes<'p>(argument: &'p Expression, classes: &[Class]) -> Result<(&'p Expression, Class), StoreError> {
    match Class::of(argument.primitive) {
        class if class == Class::Null || classes.contains(&class) => Ok((argument, class)),
        other => Err(mismatch(argument, classes[0], other)),
    }
}

fn mismatch(expression: &Expression, expected: Class, found: Class) -> StoreError {
    StoreError::Type {
        position: expression.position,
        message: format!("{} was expected here, {} was found", expected.name(), found.name()),
    }
}
