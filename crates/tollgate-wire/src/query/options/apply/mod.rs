//! `$apply` (OData Extension for Data Aggregation 4.0): transformations one after the other, each of what the one before
//! has made.
//!
//! A transformation that only filters entities ends as a filter, and its result are entities; everything else ends as a
//! [`Relation`](crate::relation::Relation) of columns. Unbuilt ones are refused by their names: `from`, `nest`, `join`,
//! hierarchies, custom functions and aggregates, the aggregation of related entities.

mod aggregate;
mod concat;
mod group;
mod rank;
mod state;

use self::state::State;
use super::compute::{beside, named};
use super::search;
use crate::address::{Fault, Parsed, Problem, quoted};
use crate::plan::Options;
use crate::query::context::Context;
use crate::query::limits::{COLUMNS_MAX, TRANSFORMATIONS_MAX};
use crate::query::list;
use crate::relation::Applied;

pub(super) fn parse(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    let mut count = 0;
    let state = pipeline(context, State::default(), text, &mut count)?;
    if state.columns.is_none() && state.computed.is_empty() {
        // Entities remain entities, with all that other options may ask of them.
        options.filter = state.filter;
        return Ok(());
    }
    let state = state.into_columns(context);
    let order = state.whole_order(state.distinct.max(1));
    let State { relation, columns, parts, .. } = state;
    let columns = columns.unwrap_or_default();
    let shown = (0..columns.len()).filter(|index| !columns[*index].is_hidden()).collect();
    options.apply = Some(Box::new(Applied { relation, columns, shown, order, parts }));
    Ok(())
}

fn pipeline(context: &Context<'_>, mut state: State, text: &str, count: &mut usize) -> Parsed<State> {
    for (at, item) in list::items(text, b'/') {
        counted(count, 1, at)?;
        state = transformation(context, state, item, count).map_err(|problem| problem.behind(at))?;
    }
    Ok(state)
}

fn counted(count: &mut usize, more: usize, at: usize) -> Parsed<()> {
    *count += more;
    match *count > TRANSFORMATIONS_MAX {
        true => Err(Problem::new(Fault::Limit, at, format!("more than {TRANSFORMATIONS_MAX} transformations"))),
        false => Ok(()),
    }
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
        "aggregate" => state = aggregate::aggregated(context, state, inside).map_err(here)?,
        "groupby" => state = group::group_by(context, state, inside, count).map_err(here)?,
        "concat" => state = concat::concat(context, state, inside, count).map_err(here)?,
        "orderby" => state = rank::ordered(context, state, inside).map_err(here)?,
        "top" | "skip" => state = rank::sliced(context, state, name, inside).map_err(here)?,
        "topcount" | "topsum" | "toppercent" | "bottomcount" | "bottomsum" | "bottompercent" => {
            state = rank::ranked(context, state, name, inside).map_err(here)?;
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
