//! `$apply` (OData Extension for Data Aggregation 4.0): transformations one after the other, each of what the one before
//! has made.
//!
//! What only filters entities ends as a filter, and its result are entities; everything else ends as a [`Relation`] of
//! columns. What is not built is refused by its name: `rollup`, `nest`, `join`, hierarchies, custom functions, the
//! aggregation of related entities, and any transformation but `aggregate` inside of `groupby`.

use super::compute::{beside, column, named};
use super::expression::{Parser, conjunction, is_number};
use super::limits::{COLUMNS_MAX, TRANSFORMATIONS_MAX};
use super::{Context, list, order_by, search};
use crate::edm::{LeafId, Primitive};
use crate::plan::{Computed, Direction, Expression, ExpressionKind, Options, OrderBy, Origin};
use crate::relation::{Aggregate, Applied, Column, Method, Rank, Relation, Slice, Until};
use crate::url::{Fault, Parsed, Problem, quoted, type_name};
use crate::value::Value;

pub(super) fn parse(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    let mut count = 0;
    let state = pipeline(context, State::default(), text, &mut count)?;
    if state.columns.is_none() && state.computed.is_empty() {
        // Entities remain entities, with all that other options may ask of them.
        options.filter = state.filter;
        return Ok(());
    }
    let state = state.into_columns(context);
    let columns = state.columns.unwrap_or_default();
    let (shown, distinct) = ((0..columns.len()).collect(), state.distinct);
    options.apply = Some(Box::new(Applied { relation: state.relation, columns, shown, distinct }));
    Ok(())
}

/// What the transformations so far have made.
#[derive(Clone)]
struct State {
    relation: Relation,
    /// Nothing while they are entities.
    columns: Option<Vec<Column>>,
    /// What holds of the entities, and what was computed of them.
    filter: Option<Expression>,
    computed: Vec<Computed>,
    distinct: usize,
}

impl Default for State {
    fn default() -> State {
        State { relation: Relation::Entities, columns: None, filter: None, computed: Vec::new(), distinct: 0 }
    }
}

impl State {
    /// The rows, filtered as far as they are entities.
    fn rows(&self) -> Relation {
        match &self.filter {
            Some(filter) => Relation::Filtered(Box::new(self.relation.clone()), filter.clone()),
            None => self.relation.clone(),
        }
    }

    /// Every leaf of an entity, and what was computed of it, as columns.
    fn into_columns(mut self, context: &Context<'_>) -> State {
        if self.columns.is_some() {
            return self;
        }
        let leaves = &context.entity_type.leaves;
        let mut columns: Vec<Column> =
            leaves.iter().map(|leaf| Column { path: leaf.path.clone(), primitive: leaf.primitive }).collect();
        let mut expressions: Vec<Expression> = (0..leaves.len())
            .map(|leaf| {
                let kind = ExpressionKind::Leaf { of: Origin::It, through: Vec::new(), leaf: LeafId(leaf) };
                Expression { kind, primitive: Some(leaves[leaf].primitive), position: 0 }
            })
            .collect();
        for computed in std::mem::take(&mut self.computed) {
            columns.push(Column { path: computed.name, primitive: computed.primitive });
            expressions.push(computed.expression);
        }
        self.relation = Relation::Projected(Box::new(self.rows()), expressions);
        self.filter = None;
        self.distinct = columns.len();
        self.columns = Some(columns);
        self
    }

    fn parser<'c>(&'c self, context: &'c Context<'c>, text: &'c str) -> Parser<'c> {
        Parser::over(context, text, self.columns.as_deref(), &self.computed)
    }

    fn width(&self) -> usize {
        self.columns.as_ref().map_or(0, Vec::len)
    }
}

fn pipeline(context: &Context<'_>, mut state: State, text: &str, count: &mut usize) -> Parsed<State> {
    for (at, item) in list::items(text, b'/') {
        *count += 1;
        if *count > TRANSFORMATIONS_MAX {
            return Err(Problem::new(Fault::Limit, at, format!("more than {TRANSFORMATIONS_MAX} transformations")));
        }
        state = transformation(context, state, item, count).map_err(|problem| problem.behind(at))?;
    }
    Ok(state)
}

fn transformation(context: &Context<'_>, mut state: State, item: &str, count: &mut usize) -> Parsed<State> {
    let (name, inside) = match item.split_once('(') {
        None => (item, None),
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(inside) => (name, Some(inside)),
            None => return Err(Problem::syntax(name.len(), "a parenthesis that is not closed")),
        },
    };
    if name == "identity" && inside.is_none() {
        return Ok(state);
    }
    let Some(inside) = inside else {
        return Err(match name.contains('.') {
            true => Problem::not_implemented(0, format!("the function {} in $apply", quoted(name))),
            false => Problem::syntax(0, format!("unknown transformation {}", quoted(name))),
        });
    };
    let at = name.len() + 1;
    let here = |problem: Box<Problem>| problem.behind(at);
    match name {
        "filter" => {
            let condition = super::filter::condition(context, &mut state.parser(context, inside)).map_err(here)?;
            state.filtered(condition);
        }
        "search" if state.columns.is_none() => {
            let condition = search::condition(context.entity_type, inside).map_err(here)?;
            state.filtered(condition);
        }
        "compute" => match state.columns.take() {
            None => named(context, inside, None, &mut state.computed).map_err(here)?,
            Some(mut columns) => {
                let mut computed = Vec::new();
                named(context, inside, Some(&columns), &mut computed).map_err(here)?;
                state.relation = beside(state.relation, &mut columns, computed);
                state.columns = Some(columns);
            }
        },
        "aggregate" => state = grouped(context, state, &[], Some((0, inside))).map_err(here)?,
        "groupby" => state = group_by(context, state, inside).map_err(here)?,
        "concat" => state = concat(context, state, inside, count).map_err(here)?,
        "orderby" | "top" | "skip" => {
            state = state.into_columns(context);
            let mut slice = Slice { order: Vec::new(), skip: None, top: None, width: state.width() };
            match name {
                "orderby" => slice.order = order_by::keys(&mut state.parser(context, inside)).map_err(here)?,
                "top" => slice.top = Some(super::paging::whole_number(inside).map_err(here)?),
                _ => slice.skip = Some(super::paging::whole_number(inside).map_err(here)?),
            }
            state.sliced(slice);
        }
        "topcount" | "topsum" | "toppercent" | "bottomcount" | "bottomsum" | "bottompercent" => {
            state = ranked(context, state.into_columns(context), name, inside).map_err(here)?;
        }
        "expand" | "search" | "nest" | "addnested" | "join" | "outerjoin" | "ancestors" | "descendants"
        | "traverse" => return Err(Problem::not_implemented(0, format!("{name} in $apply"))),
        _ if name.contains('.') => {
            return Err(Problem::not_implemented(0, format!("the function {} in $apply", quoted(name))));
        }
        _ => return Err(Problem::syntax(0, format!("unknown transformation {}", quoted(name)))),
    }
    if state.width() > COLUMNS_MAX {
        return Err(Problem::new(Fault::Limit, 0, format!("more than {COLUMNS_MAX} columns")));
    }
    Ok(state)
}

impl State {
    fn filtered(&mut self, condition: Expression) {
        if self.columns.is_none() {
            self.filter = Some(conjunction(self.filter.take(), condition));
        } else {
            let rows = std::mem::replace(&mut self.relation, Relation::Entities);
            self.relation = Relation::Filtered(Box::new(rows), condition);
        }
    }

    /// An order and the part of it that follows are one.
    fn sliced(&mut self, next: Slice) {
        if let Relation::Sliced(_, slice) = &mut self.relation
            && next.order.is_empty()
            && slice.top.is_none()
            && (slice.skip.is_none() || next.skip.is_none())
        {
            slice.skip = slice.skip.or(next.skip);
            slice.top = next.top;
            return;
        }
        let rows = std::mem::replace(&mut self.relation, Relation::Entities);
        self.relation = Relation::Sliced(Box::new(rows), next);
    }
}

/// `groupby((A,B/C),aggregate(…))`.
fn group_by(context: &Context<'_>, state: State, inside: &str) -> Parsed<State> {
    let mut parts = list::items(inside, b',');
    let (keys_at, keys) = parts.next().unwrap_or((0, ""));
    let Some(keys) = keys.strip_prefix('(').and_then(|keys| keys.strip_suffix(')')) else {
        return Err(Problem::syntax(keys_at, "expected the keys in parentheses").hint("as in groupby((A,B))"));
    };
    let keys: Vec<_> = list::items(keys, b',').map(|(at, key)| (keys_at + 1 + at, key)).collect();
    if let Some((at, _)) = keys.iter().find(|(_, key)| key.starts_with("rollup")) {
        return Err(Problem::not_implemented(*at, "rollup in groupby"));
    }
    let aggregates = match parts.next() {
        None => None,
        Some((at, text)) => match text.strip_prefix("aggregate(").and_then(|rest| rest.strip_suffix(')')) {
            // A pipeline behind the aggregation has parentheses of its own.
            Some(aggregates) if list::items(text, b'/').count() == 1 => Some((at + "aggregate(".len(), aggregates)),
            _ => {
                let name = text.split(['(', '/']).next().unwrap_or_default();
                let name = if name == "aggregate" { "several transformations" } else { name };
                return Err(Problem::not_implemented(at, format!("groupby with {name}")));
            }
        },
    };
    if let Some((at, more)) = parts.next() {
        return Err(Problem::syntax(at, format!("nothing can follow, found {}", quoted(more))));
    }
    grouped(context, state, &keys, aggregates)
}

/// One row for each group: the keys, then what is aggregated.
fn grouped(
    context: &Context<'_>,
    state: State,
    keys: &[(usize, &str)],
    aggregates: Option<(usize, &str)>,
) -> Parsed<State> {
    let mut columns: Vec<Column> = Vec::new();
    let mut expressions = Vec::new();
    for (at, key) in keys {
        let mut parser = state.parser(context, key);
        let expression = parser.expression().and_then(|found| parser.end().map(|()| found));
        let expression = expression.map_err(|problem| problem.behind(*at))?;
        let is_path = matches!(expression.kind, ExpressionKind::Leaf { .. } | ExpressionKind::Column(_))
            || state.computed.iter().any(|computed| computed.name == *key);
        let Some(primitive) = expression.primitive.filter(|_| is_path) else {
            return Err(Problem::syntax(*at, format!("expected the path of a property, found {}", quoted(key))));
        };
        if columns.iter().any(|column| column.path == *key) {
            return Err(Problem::new(Fault::BadValue, *at, format!("{} stands twice", quoted(key))));
        }
        columns.push(Column { path: (*key).to_owned(), primitive });
        expressions.push(expression);
    }
    let distinct = columns.len();
    let mut found = Vec::new();
    if let Some((begin, text)) = aggregates {
        for (at, item) in list::items(text, b',') {
            let at = begin + at;
            let (aggregate, name) = aggregate(context, &state, item).map_err(|problem| problem.behind(at))?;
            if columns.iter().any(|column| column.path == name) {
                return Err(Problem::new(Fault::BadValue, at, format!("the name {} is taken", quoted(&name))));
            }
            columns.push(Column { path: name, primitive: aggregate.primitive });
            found.push(aggregate);
        }
    }
    let relation = Relation::Grouped(Box::new(state.rows()), expressions, found);
    Ok(State { relation, columns: Some(columns), distinct, ..State::default() })
}

/// `PRICE mul SEATSOCC with sum as Total`, `$count as N`.
fn aggregate(context: &Context<'_>, state: &State, item: &str) -> Parsed<(Aggregate, String)> {
    let mut parser = state.parser(context, item);
    if item.starts_with("$count") && !item.starts_with("$count/") {
        parser.begin_at("$count".len());
        let (name, _) = parser.alias_name()?;
        parser.end()?;
        let aggregate = Aggregate { method: Method::Count, operand: None, primitive: Primitive::Int64 };
        return Ok((aggregate, name.to_owned()));
    }
    let operand = parser.expression()?;
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
    let primitive = result_of(context, method, &operand)?;
    Ok((Aggregate { method, operand: Some(operand), primitive }, name.to_owned()))
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
        Method::Sum | Method::Average if !is_number(primitive) => Err(refused("a sum or average")),
        Method::Sum | Method::Average => Ok(match primitive {
            P::Decimal { .. } => DECIMAL,
            P::Single | P::Double => P::Double,
            _ if method == Method::Average => P::Double,
            _ => P::Int64,
        }),
        Method::Least | Method::Greatest => match primitive {
            P::Boolean | P::Binary { .. } | P::Guid | P::Duration => Err(refused("min or max")),
            P::Decimal { .. } => Ok(DECIMAL),
            ordered => Ok(ordered),
        },
    }
}

/// `topcount(2,Amount)` and its kin.
fn ranked(context: &Context<'_>, mut state: State, name: &str, inside: &str) -> Parsed<State> {
    let mut parts = list::items(inside, b',');
    let (Some((amount_at, amount)), Some((by_at, by)), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(Problem::syntax(0, format!("{name} takes a number and an expression")));
    };
    let mut parser = state.parser(context, by);
    let by = parser.expression().and_then(|found| parser.end().map(|()| found));
    let by = by.map_err(|problem| problem.behind(by_at))?;
    let direction = if name.starts_with("top") { Direction::Descending } else { Direction::Ascending };
    let width = state.width();
    if amount.starts_with('$') {
        return Err(Problem::not_implemented(amount_at, format!("an expression as the number of {name}")));
    }
    if name.ends_with("count") {
        let top = super::paging::whole_number(amount).map_err(|problem| problem.behind(amount_at))?;
        let order = vec![OrderBy { expression: by, direction }];
        let rows = std::mem::replace(&mut state.relation, Relation::Entities);
        state.relation = Relation::Sliced(Box::new(rows), Slice { order, skip: None, top: Some(top), width });
        return Ok(state);
    }
    if !by.primitive.is_some_and(is_number) {
        let found = type_name(context.version, by.primitive);
        return Err(Problem::new(Fault::Type, by_at, format!("{name} adds numbers, not {found}")));
    }
    let number: f64 = amount.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
        Problem::new(Fault::BadValue, amount_at, format!("expected a number, found {}", quoted(amount)))
    })?;
    let amount = Value::Real(number);
    let until = if name.ends_with("percent") { Until::Percent(amount) } else { Until::Sum(amount) };
    let rows = std::mem::replace(&mut state.relation, Relation::Entities);
    state.relation = Relation::Ranked(Box::new(rows), Rank { by, direction, until, width });
    Ok(state)
}

/// A whole number of any size is one of the largest.
fn widest(primitive: Primitive) -> Primitive {
    match primitive {
        Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32 => Primitive::Int64,
        other => other,
    }
}

/// `concat(…,…)`: what one of them does not have is null in its rows.
fn concat(context: &Context<'_>, state: State, inside: &str, count: &mut usize) -> Parsed<State> {
    let mut branches = Vec::new();
    for (at, text) in list::items(inside, b',') {
        let branch = pipeline(context, state.clone(), text, count).map_err(|problem| problem.behind(at))?;
        branches.push((at, branch.into_columns(context)));
    }
    if branches.len() < 2 {
        return Err(Problem::syntax(0, "concat takes two transformations or more"));
    }
    let mut columns: Vec<Column> = Vec::new();
    for (at, branch) in &branches {
        for column in branch.columns.iter().flatten() {
            let Some(known) = columns.iter_mut().find(|known| known.path == column.path) else {
                columns.push(column.clone());
                continue;
            };
            let whole = |primitive| widest(primitive) == Primitive::Int64;
            if whole(known.primitive) && whole(column.primitive) {
                known.primitive = Primitive::Int64;
            } else if std::mem::discriminant(&known.primitive) != std::mem::discriminant(&column.primitive) {
                let what = format!("{} is of different types", quoted(&known.path));
                return Err(Problem::new(Fault::Type, *at, what));
            }
        }
    }
    // Members of one complex property stand together.
    let mut at_head: Vec<String> = Vec::new();
    let head = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    columns.iter().for_each(|column| {
        let head = head(&column.path);
        if !at_head.contains(&head) {
            at_head.push(head);
        }
    });
    columns.sort_by_key(|column| at_head.iter().position(|known| *known == head(&column.path)));
    let united = branches.into_iter().map(|(_, branch)| {
        let own = branch.columns.unwrap_or_default();
        let expressions =
            columns.iter().map(|wanted| match own.iter().enumerate().find(|(_, known)| known.path == wanted.path) {
                Some(known) => column(known),
                None => Expression {
                    kind: ExpressionKind::Cast(Box::new(Expression {
                        kind: ExpressionKind::Literal(Value::Null),
                        primitive: None,
                        position: 0,
                    })),
                    primitive: Some(wanted.primitive),
                    position: 0,
                },
            });
        Relation::Projected(Box::new(branch.relation), expressions.collect())
    });
    let relation = Relation::United(united.collect());
    Ok(State { relation, distinct: columns.len(), columns: Some(columns), ..State::default() })
}
