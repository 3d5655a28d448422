//! `concat`: the results of several transformations one after the other, each in its own order. A row has the properties
//! that its part has; the others it has not at all.

use super::pipeline;
use super::state::State;
use crate::address::{Fault, Parsed, Problem, quoted};
use crate::edm::Primitive;
use crate::plan::{Arithmetic, Direction, Expression, ExpressionKind, OrderBy};
use crate::query::context::Context;
use crate::query::list;
use crate::query::options::compute::column;
use crate::relation::{Column, Parts, Relation};
use crate::value::Value;

/// `concat(…,…)`.
pub(super) fn concat(context: &Context<'_>, mut state: State, inside: &str, count: &mut usize) -> Parsed<State> {
    state.settle();
    let around = state.groups.as_ref().map_or(Vec::new(), |groups| groups.keys.clone());
    let mut branches = Vec::new();
    for (at, text) in list::items(inside, b',') {
        let branch = pipeline(context, state.clone(), text, count).map_err(|problem| problem.behind(at))?;
        branches.push((at, branch));
    }
    if branches.len() < 2 {
        return Err(Problem::syntax(0, "concat takes two transformations or more"));
    }
    united(context, branches, &around)
}

/// The rows of the branches one after the other, with the columns of `first` in front.
pub(super) fn united(context: &Context<'_>, branches: Vec<(usize, State)>, first: &[String]) -> Parsed<State> {
    let branches: Vec<(usize, State)> = branches
        .into_iter()
        .map(|(at, mut branch)| {
            branch.settle();
            (at, branch.into_columns(context))
        })
        .collect();
    let mut columns = all_columns(&branches, first)?;
    let shown = columns.len();
    let divided = branches.iter().any(|(_, branch)| branch.parts.is_some());
    let ordered = branches.iter().any(|(_, branch)| !branch.order.is_empty());
    let hidden = Column { path: String::new(), primitive: Primitive::Int64, enumeration: None };
    // Which branch a row is of, which part, and where it stands in that branch, as far as these differ.
    columns.extend(std::iter::repeat_n(hidden, 1 + usize::from(divided) + usize::from(ordered)));
    let mut absent: Vec<Vec<usize>> = Vec::new();
    let mut groups = None;
    let mut relations = Vec::new();
    for (number, (_, branch)) in branches.into_iter().enumerate() {
        let place = (!branch.order.is_empty()).then(|| branch.whole_order(branch.width()));
        let State { mut relation, columns: own, parts, groups: of_branch, .. } = branch;
        let own = own.unwrap_or_default();
        let find = |path: &str| own.iter().position(|known| known.path == path);
        let here: Vec<Option<usize>> = columns[..shown].iter().map(|wanted| find(&wanted.path)).collect();
        let missing = || (0..shown).filter(|index| here[*index].is_none());
        let mut expressions: Vec<Expression> = here
            .iter()
            .zip(&columns)
            .map(|(index, wanted)| index.map_or_else(|| null(wanted), |index| column((index, &own[index]))))
            .collect();
        expressions.push(integer(number));
        if divided {
            let before = integer(absent.len());
            expressions.push(match &parts {
                None => before,
                Some(parts) => {
                    let part = column((parts.column, &own[parts.column]));
                    let kind = ExpressionKind::Arithmetic(Arithmetic::Add, Box::new(part), Box::new(before));
                    Expression { kind, primitive: Some(Primitive::Int64), position: 0 }
                }
            });
        }
        match parts {
            None => absent.push(missing().collect()),
            Some(parts) => absent.extend(parts.absent.iter().map(|lacks| {
                let lacks = |index: &usize| here[*index].is_none_or(|own| lacks.contains(&own));
                (0..shown).filter(lacks).collect()
            })),
        }
        if ordered {
            let mut number = integer(0);
            if let Some(order) = place {
                number.kind = ExpressionKind::Column(own.len());
                relation = Relation::Numbered(Box::new(relation), order, own.len());
            }
            expressions.push(number);
        }
        if let Some(of_branch) = of_branch {
            let all = groups.get_or_insert_with(|| of_branch.clone());
            all.thinned |= of_branch.thinned;
        }
        relations.push(Relation::Projected(Box::new(relation), expressions));
    }
    let by = |index: usize| {
        let expression = column((index, &columns[index]));
        OrderBy { expression, direction: Direction::Ascending }
    };
    let last = columns.len() - 1;
    let order = if ordered { vec![by(shown), by(last)] } else { vec![by(shown)] };
    let parts = Parts { column: shown + usize::from(divided), absent };
    let distinct = columns.len();
    let relation = Relation::United(relations);
    Ok(State { relation, columns: Some(columns), order, parts: Some(parts), distinct, groups, ..State::default() })
}

/// The columns of all, each once; members of one complex property are adjacent.
fn all_columns(branches: &[(usize, State)], first: &[String]) -> Parsed<Vec<Column>> {
    let mut columns: Vec<Column> = Vec::new();
    for (at, branch) in branches {
        for column in branch.columns.iter().flatten().filter(|column| !column.is_hidden()) {
            let Some(known) = columns.iter_mut().find(|known| known.path == column.path) else {
                columns.push(column.clone());
                continue;
            };
            let whole = |primitive| widest(primitive) == Primitive::Int64;
            let same_members = known.enumeration == column.enumeration;
            if same_members && whole(known.primitive) && whole(column.primitive) {
                known.primitive = Primitive::Int64;
            } else if !same_members
                || std::mem::discriminant(&known.primitive) != std::mem::discriminant(&column.primitive)
            {
                let what = format!("{} is of different types", quoted(&known.path));
                return Err(Problem::new(Fault::Type, *at, what));
            }
        }
    }
    let mut at_head: Vec<String> = Vec::new();
    let head = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    columns.iter().for_each(|column| {
        let head = head(&column.path);
        if !at_head.contains(&head) {
            at_head.push(head);
        }
    });
    let in_front = |column: &Column| first.iter().position(|path| *path == column.path).unwrap_or(first.len());
    columns.sort_by_key(|column| (in_front(column), at_head.iter().position(|known| *known == head(&column.path))));
    Ok(columns)
}

/// A whole number of any size is one of the largest.
fn widest(primitive: Primitive) -> Primitive {
    match primitive {
        Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32 => Primitive::Int64,
        other => other,
    }
}

fn integer(number: usize) -> Expression {
    let kind = ExpressionKind::Literal(Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)));
    Expression { kind, primitive: Some(Primitive::Int64), position: 0 }
}

fn null(column: &Column) -> Expression {
    let null = Expression { kind: ExpressionKind::Literal(Value::Null), primitive: None, position: 0 };
    Expression { kind: ExpressionKind::Cast(Box::new(null)), primitive: Some(column.primitive), position: 0 }
}
