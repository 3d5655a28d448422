//! Orders and parts of them: `orderby`, `top`, `skip`, and `topcount` and its kin. Inside of `groupby` each group has its
//! own.

use super::state::State;
use crate::address::{Fault, Parsed, Problem, quoted, type_name};
use crate::edm::Primitive;
use crate::plan::{Direction, OrderBy};
use crate::query::context::Context;
use crate::query::list;
use crate::query::options::{order_by, paging};
use crate::relation::{Rank, Relation, Slice, Until};
use crate::value::Value;

/// `orderby(A,B desc)`: what it leaves open stays as it was.
pub(super) fn ordered(context: &Context<'_>, mut state: State, inside: &str) -> Parsed<State> {
    let keys = order_by::keys(&mut state.parser(context, inside))?;
    state.settle();
    let (mut state, mut order) = state.with_columns_for_order(context, keys);
    order.append(&mut state.order);
    state.order = order;
    Ok(state)
}

/// `top(5)`, `skip(10)`: of the order that there is.
pub(super) fn sliced(context: &Context<'_>, mut state: State, name: &str, inside: &str) -> Parsed<State> {
    let number = paging::whole_number(inside)?;
    state.settle();
    let mut state = state.into_columns(context);
    let (skip, top) = if name == "skip" { (Some(number), None) } else { (None, Some(number)) };
    if let Some(groups) = &mut state.groups {
        groups.thinned |= skip.is_some() || top == Some(0);
    }
    let next =
        Slice { order: state.whole_order(state.width()), skip, top, width: state.width(), within: state.within_each() };
    // What is skipped and what is taken behind it are one.
    if let Relation::Sliced(_, slice) = &mut state.relation
        && slice.top.is_none()
        && next.skip.is_none()
        && slice.order == next.order
        && slice.within == next.within
    {
        slice.top = next.top;
    } else {
        state.wrap(|rows| Relation::Sliced(rows, next));
    }
    Ok(state)
}

/// `topcount(2,Amount)` and its kin, which leave the order as it is.
pub(super) fn ranked(context: &Context<'_>, mut state: State, name: &str, inside: &str) -> Parsed<State> {
    let mut parts = list::items(inside, b',');
    let (Some((amount_at, amount)), Some((by_at, by)), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(Problem::syntax(0, format!("{name} takes a number and an expression")));
    };
    if amount.starts_with('$') {
        return Err(Problem::not_implemented(amount_at, format!("an expression as the number of {name}")));
    }
    let adds = !name.ends_with("count");
    let mut parser = state.parser(context, by);
    let by = if adds { parser.expression() } else { parser.ordered_expression() };
    let by = by.and_then(|found| parser.end().map(|()| found)).map_err(|problem| problem.behind(by_at))?;
    if adds && !by.primitive.is_some_and(Primitive::is_number) {
        let found = type_name(context.version, by.primitive);
        return Err(Problem::new(Fault::Type, by_at, format!("{name} adds numbers, not {found}")));
    }
    state.settle();
    let direction = if name.starts_with("top") { Direction::Descending } else { Direction::Ascending };
    let (mut state, mut order) = state.with_columns_for_order(context, vec![OrderBy { expression: by, direction }]);
    let (width, within) = (state.width(), state.within_each());
    if !adds {
        let top = paging::whole_number(amount).map_err(|problem| problem.behind(amount_at))?;
        if let Some(groups) = &mut state.groups {
            groups.thinned |= top == 0;
        }
        order.append(&mut state.whole_order(width));
        state.wrap(|rows| Relation::Sliced(rows, Slice { order, skip: None, top: Some(top), width, within }));
        return Ok(state);
    }
    let number: f64 = amount.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
        Problem::new(Fault::BadValue, amount_at, format!("expected a number, found {}", quoted(amount)))
    })?;
    let amount = Value::Real(number);
    let until = if name.ends_with("percent") { Until::Percent(amount) } else { Until::Sum(amount) };
    if let Some(groups) = &mut state.groups {
        groups.thinned = true;
    }
    let by = order.swap_remove(0).expression;
    let ties = state.whole_order(width);
    state.wrap(|rows| Relation::Ranked(rows, Rank { by, direction, until, ties, width, within }));
    Ok(state)
}
