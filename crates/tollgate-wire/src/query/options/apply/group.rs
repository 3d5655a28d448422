//! `groupby`: keys, with `rollup` several lists of them, and what is done with each group.
//!
//! A pure aggregation makes a row of each group at once. Any other transformation is applied to the rows of all groups
//! together, and keeps the groups apart.

use super::aggregate::{grouped, key_of};
use super::concat::united;
use super::state::{Groups, State};
use super::{counted, pipeline};
use crate::address::{Fault, Parsed, Problem, quoted};
use crate::query::context::Context;
use crate::query::list;

/// Keys with their places.
type Keys<'t> = Vec<(usize, &'t str)>;

/// `groupby((A,B/C),aggregate(…))`.
pub(super) fn group_by(context: &Context<'_>, state: State, inside: &str, count: &mut usize) -> Parsed<State> {
    let mut parts = list::items(inside, b',');
    let (keys_at, keys) = parts.next().unwrap_or((0, ""));
    let Some(keys) = keys.strip_prefix('(').and_then(|keys| keys.strip_suffix(')')) else {
        return Err(Problem::syntax(keys_at, "expected the keys in parentheses").hint("as in groupby((A,B))"));
    };
    let within = parts.next();
    if let Some((at, more)) = parts.next() {
        return Err(Problem::syntax(at, format!("nothing can follow, found {}", quoted(more))));
    }
    let mut levels = levels(keys, keys_at + 1)?;
    if levels.len() == 1 {
        return of_each(context, state, &levels.swap_remove(0), within, count);
    }
    let mut branches = Vec::new();
    for keys in &levels {
        if !branches.is_empty() {
            counted(count, 1, keys_at)?;
        }
        branches.push((keys_at, of_each(context, state.clone(), keys, within, count)?));
    }
    let around = state.groups.map_or(Vec::new(), |groups| groups.keys);
    united(context, branches, &around)
}

/// The lists of keys that are grouped by, one after the other. `rollup(A,B)` means A and B, then A alone;
/// `rollup($all,A)` means A, then nothing. Several of them are combined, each with each.
fn levels(keys: &str, begin: usize) -> Parsed<Vec<Keys<'_>>> {
    let mut levels: Vec<Keys<'_>> = vec![Vec::new()];
    for (at, key) in list::items(keys, b',') {
        let at = begin + at;
        if key.starts_with("rolluprecursive(") {
            return Err(Problem::not_implemented(at, "rolluprecursive in groupby"));
        }
        let Some(rolled) = key.strip_prefix("rollup(").and_then(|rest| rest.strip_suffix(')')) else {
            levels.iter_mut().for_each(|level| level.push((at, key)));
            continue;
        };
        let mut names: Keys<'_> =
            list::items(rolled, b',').map(|(offset, name)| (at + "rollup(".len() + offset, name)).collect();
        let all = names.first().is_some_and(|(_, name)| *name == "$all");
        if all {
            names.remove(0);
        }
        if names.len() + usize::from(all) < 2 {
            return Err(Problem::not_implemented(at, "rollup over a named hierarchy"));
        }
        let least = usize::from(!all);
        let rolled = (least..=names.len()).rev().map(|length| &names[..length]);
        levels = levels
            .iter()
            .flat_map(|level| rolled.clone().map(move |names| [&level[..], names].concat()))
            .take(LEVELS_MAX + 1)
            .collect();
        if levels.len() > LEVELS_MAX {
            return Err(Problem::new(Fault::Limit, at, format!("more than {LEVELS_MAX} levels of rollup")));
        }
    }
    Ok(levels)
}

/// Lists of keys in one `groupby`; as many transformations there may be in all.
const LEVELS_MAX: usize = crate::query::limits::TRANSFORMATIONS_MAX;

/// Groups by the keys and applies the transformations to each group.
fn of_each(
    context: &Context<'_>,
    state: State,
    keys: &Keys<'_>,
    within: Option<(usize, &str)>,
    count: &mut usize,
) -> Parsed<State> {
    let Some((at, text)) = within else { return grouped(context, state, keys, None) };
    let aggregates = text.strip_prefix("aggregate(").and_then(|rest| rest.strip_suffix(')'));
    if let Some(aggregates) = aggregates
        && list::items(text, b'/').count() == 1
    {
        return grouped(context, state, keys, Some((at + "aggregate(".len(), aggregates)));
    }
    if keys.is_empty() && state.groups.is_none() {
        return pipeline(context, state, text, count).map_err(|problem| problem.behind(at));
    }
    let mut expressions = Vec::new();
    for (at, key) in keys {
        expressions.push(key_of(context, &state, key).map_err(|problem| problem.behind(*at))?);
    }
    let mut state = state;
    state.settle();
    let around = state.groups.take();
    let mut inner: Vec<String> = around.iter().flat_map(|groups| groups.keys.iter().cloned()).collect();
    for key in &expressions {
        if !inner.contains(&key.path) {
            inner.push(key.path.clone());
        }
    }
    let (mut state, _) = state.with_columns_for(context, expressions);
    state.groups = Some(Groups { keys: inner, kept: None, thinned: false });
    let mut state = pipeline(context, state, text, count).map_err(|problem| problem.behind(at))?;
    state.settle();
    let thinned = state.groups.take().is_some_and(|groups| groups.thinned);
    state.groups = around.map(|groups| Groups { thinned: groups.thinned || thinned, ..groups });
    Ok(state)
}
