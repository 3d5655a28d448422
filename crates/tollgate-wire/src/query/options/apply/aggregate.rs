//! `aggregate`, and the rows that `groupby` makes of groups: keys, then what is aggregated.

use super::state::{Key, State};
use crate::address::{Fault, Parsed, Problem, quoted, type_name};
use crate::edm::{EnumerationId, Multiplicity, Primitive, SubtypeId};
use crate::plan::{Expression, ExpressionKind};
use crate::query::context::Context;
use crate::query::expression::{number_of, stored_of};
use crate::query::list;
use crate::query::options::compute::column;
use crate::relation::{Aggregate, Column, Method, Relation};
use crate::value::Value;

/// `aggregate(…)` by itself: one row, or inside of `groupby` one for each group.
pub(super) fn aggregated(context: &Context<'_>, state: State, inside: &str) -> Parsed<State> {
    if state.groups.as_ref().is_some_and(|groups| groups.thinned) {
        return Err(Problem::not_implemented(
            0,
            "aggregate inside of groupby behind what may leave groups without rows",
        )
        .hint("filter alone may stand before it"));
    }
    grouped(context, state, &[], Some((0, inside)))
}

/// One row for each group: the keys, those of the groups around first, then the aggregates.
pub(super) fn grouped(
    context: &Context<'_>,
    mut state: State,
    keys: &[(usize, &str)],
    aggregates: Option<(usize, &str)>,
) -> Parsed<State> {
    if !keys.is_empty() || aggregates.is_none() {
        state.settle();
    }
    let (mut columns, mut expressions): (Vec<Column>, Vec<Expression>) = state.within().into_iter().unzip();
    let around = columns.len();
    for (at, key) in keys {
        let Key { path, expression, enumeration } =
            key_of(context, &state, key).map_err(|problem| problem.behind(*at))?;
        match columns.iter().position(|column| column.path == path) {
            // The groups around have it too.
            Some(index) if index < around => continue,
            Some(_) => return Err(Problem::new(Fault::BadValue, *at, format!("{} stands twice", quoted(key)))),
            None => {}
        }
        let Some(primitive) = expression.primitive else { continue };
        columns.push(Column { path, primitive, enumeration });
        expressions.push(expression);
    }
    let distinct = columns.len();
    let mut found = Vec::new();
    if let Some((begin, text)) = aggregates {
        let kept = state.groups.as_mut().and_then(|groups| groups.kept.take());
        for (at, item) in list::items(text, b',') {
            let at = begin + at;
            let NamedAggregate { aggregate, name, enumeration } =
                aggregate(context, &state, item).map_err(|problem| problem.behind(at))?;
            if columns.iter().any(|column| column.path == name) {
                return Err(Problem::new(Fault::BadValue, at, format!("the name {} is taken", quoted(&name))));
            }
            columns.push(Column { path: name, primitive: aggregate.primitive, enumeration });
            found.push(match &kept {
                None => aggregate,
                Some(condition) => only_of(aggregate, condition),
            });
        }
    }
    let grouped = Relation::Grouped(Box::new(state.rows()), expressions, found);
    let relation = with_stored(context, grouped, &mut columns, distinct);
    Ok(State { relation, columns: Some(columns), distinct, groups: state.groups, ..State::default() })
}

/// A key: the path of a property, or the name of what was computed.
pub(super) fn key_of(context: &Context<'_>, state: &State, key: &str) -> Parsed<Key> {
    if state.columns.is_none() && leads_to_many(context, key) {
        return Err(Problem::not_implemented(0, "groups of related entities"));
    }
    let mut parser = state.parser(context, key);
    let (expression, enumeration) = parser.expression_or_member(None).and_then(|found| parser.end().map(|()| found))?;
    let is_path = matches!(expression.kind, ExpressionKind::Leaf { .. } | ExpressionKind::Column(_))
        || matches!(expression.kind, ExpressionKind::Case(_)) && !key.contains('(')
        || state.computed.iter().any(|computed| computed.name == *key);
    match expression.primitive {
        Some(_) if is_path => Ok(Key { path: path_of(key), expression, enumeration }),
        _ => Err(Problem::syntax(0, format!("expected the path of a property, found {}", quoted(key)))),
    }
}

/// The path of a key in the rows that are made: they are of no type, so that nothing is cast there.
fn path_of(key: &str) -> String {
    let names: Vec<&str> = key.split('/').filter(|name| !name.contains('.')).collect();
    names.join("/")
}

/// Whether a path goes on behind a to-many property, with a property of each of its entities.
fn leads_to_many(context: &Context<'_>, path: &str) -> bool {
    let mut entity_type = context.entity_type;
    let mut segments = path.split([' ', ',', ')', '(']).next().unwrap_or_default().split('/').peekable();
    while let (Some(segment), Some(next)) = (segments.next(), segments.peek()) {
        let Some(navigation) = entity_type.navigation(segment) else { return false };
        let navigation = &entity_type.navigation[navigation.0];
        if navigation.multiplicity == Multiplicity::Many {
            return !matches!(*next, "any" | "all" | "$count");
        }
        entity_type = context.model.seen(context.version, navigation.target, SubtypeId::ROOT);
    }
    false
}

/// The same aggregate of only the rows that meet a condition.
fn only_of(aggregate: Aggregate, condition: &Expression) -> Aggregate {
    let number = |number| {
        let kind = ExpressionKind::Literal(Value::Integer(number));
        Expression { kind, primitive: Some(Primitive::Int64), position: 0 }
    };
    match aggregate.operand {
        Some(operand) => {
            let (primitive, position) = (operand.primitive, operand.position);
            let kind = ExpressionKind::Case(vec![(condition.clone(), operand)]);
            Aggregate { operand: Some(Expression { kind, primitive, position }), ..aggregate }
        }
        // A group of which no row is left has none, not null of them.
        None => {
            let always = ExpressionKind::Literal(Value::Boolean(true));
            let always = Expression { kind: always, primitive: Some(Primitive::Boolean), position: 0 };
            let branches = vec![(condition.clone(), number(1)), (always, number(0))];
            let kind = ExpressionKind::Case(branches);
            let operand = Expression { kind, primitive: Some(Primitive::Int64), position: 0 };
            Aggregate { method: Method::Sum, operand: Some(operand), ..aggregate }
        }
    }
}

/// An aggregate with its name.
struct NamedAggregate {
    aggregate: Aggregate,
    name: String,
    /// The enumeration that the value is a member of; the value is then its number.
    enumeration: Option<EnumerationId>,
}

/// `PRICE mul SEATSOCC with sum as Total`, `$count as N`.
fn aggregate(context: &Context<'_>, state: &State, item: &str) -> Parsed<NamedAggregate> {
    let mut parser = state.parser(context, item);
    if item.starts_with("$count") && !item.starts_with("$count/") {
        parser.begin_at("$count".len());
        let (name, _) = parser.alias_name()?;
        parser.end()?;
        let aggregate = Aggregate { method: Method::Count, operand: None, primitive: Primitive::Int64 };
        return Ok(NamedAggregate { aggregate, name: name.to_owned(), enumeration: None });
    }
    if state.columns.is_none() && leads_to_many(context, item) {
        return Err(Problem::not_implemented(0, "the aggregation of related entities"));
    }
    let (operand, enumeration) = parser.expression_or_member(None)?;
    if !parser.take_word("with", false) {
        return Err(match operand.kind {
            ExpressionKind::Related(_) => Problem::not_implemented(0, "the aggregation of related entities"),
            _ => Problem::syntax(parser.position(), "expected a method of aggregation, as in 'with sum as Total'"),
        });
    }
    let (word, at) = parser.next_word();
    let method = match word {
        "sum" => Method::Sum,
        "min" => Method::Least,
        "max" => Method::Greatest,
        "average" => Method::Average,
        "countdistinct" => Method::CountDistinct,
        _ => {
            return Err(Problem::not_implemented(at, format!("the aggregation method {}", quoted(word)))
                .hint("there are sum, min, max, average and countdistinct"));
        }
    };
    if parser.take_word("from", false) {
        return Err(Problem::not_implemented(parser.position(), "'from' in aggregate"));
    }
    let (name, _) = parser.alias_name()?;
    parser.end()?;
    let name = name.to_owned();
    let Some(id) = enumeration else {
        let primitive = result_of(context, method, &operand)?;
        return Ok(NamedAggregate {
            aggregate: Aggregate { method, operand: Some(operand), primitive },
            name,
            enumeration,
        });
    };
    let members = &context.model.enumerations[id.0];
    let (operand, enumeration) = match method {
        Method::Least | Method::Greatest => (number_of(members, operand), enumeration),
        Method::Count | Method::CountDistinct => (operand, None),
        Method::Sum | Method::Average => {
            let what = format!("a sum or average is not of {}", members.full_name);
            return Err(Problem::new(Fault::Type, operand.position, what));
        }
    };
    let primitive = result_of(context, method, &operand)?;
    Ok(NamedAggregate { aggregate: Aggregate { method, operand: Some(operand), primitive }, name, enumeration })
}

/// Finds least and greatest members by their numbers. If texts are stored, the columns then have those again.
fn with_stored(context: &Context<'_>, grouped: Relation, columns: &mut [Column], keys: usize) -> Relation {
    let stored = |column: &Column| {
        let members = &context.model.enumerations[column.enumeration?.0];
        members.stores_texts().then_some(members)
    };
    if columns[keys..].iter().all(|column| stored(column).is_none()) {
        return grouped;
    }
    let expressions = columns.iter_mut().enumerate().map(|(index, known)| {
        let number = column((index, known));
        match stored(known).filter(|_| index >= keys) {
            None => number,
            Some(members) => {
                known.primitive = Primitive::String { length_max: 0 };
                stored_of(members, number)
            }
        }
    });
    Relation::Projected(Box::new(grouped), expressions.collect())
}

/// The type of what a method makes of its operand.
fn result_of(context: &Context<'_>, method: Method, operand: &Expression) -> Parsed<Primitive> {
    use Primitive as P;
    const DECIMAL: Primitive = P::Decimal { precision: 0, scale: 0 };
    let refused = |what: &str| {
        let found = type_name(context.version, operand.primitive);
        Problem::new(Fault::Type, operand.position, format!("{what} is not of {found}"))
    };
    let Some(primitive) = operand.primitive else { return Err(refused("an aggregation")) };
    match method {
        Method::Count | Method::CountDistinct => Ok(P::Int64),
        Method::Sum | Method::Average if !primitive.is_number() => Err(refused("a sum or average")),
        Method::Sum | Method::Average => Ok(match primitive {
            P::Decimal { .. } => DECIMAL,
            P::Single | P::Double => P::Double,
            _ if method == Method::Average => P::Double,
            _ => P::Int64,
        }),
        Method::Least | Method::Greatest => match primitive {
            P::Duration => Err(Problem::not_implemented(operand.position, "min or max of Edm.Duration")),
            P::Boolean | P::Binary { .. } | P::Guid | P::Collection(_) => Err(refused("min or max")),
            P::Decimal { .. } => Ok(DECIMAL),
            ordered => Ok(ordered),
        },
    }
}
