//! Random pipelines of `$apply` over random rows: SQL gives the same results as evaluating their relations row by row,
//! in the same order, with any page size.

use std::cmp::Ordering;

use proptest::prelude::*;
use proptest::sample::select;
use tollgate_wire::decimal;
use tollgate_wire::edm::Version;
use tollgate_wire::plan::{Direction, Expression, OrderBy, Resource};
use tollgate_wire::relation::{Aggregate, Applied, Method, Relation, Until};
use tollgate_wire::url;
use tollgate_wire::value::Value;

use crate::applied::{answered, normal};
use crate::naive::{self, Undefined};
use crate::plans::rows;
use crate::stores::{self, on_every_store};
use crate::world::*;

type Rows = Vec<Vec<Value>>;

/// The leaf of an item that is a duration.
const DURATION: usize = 12;

/// Transformations whose names may or may not exist at their place.
const TRANSFORMATIONS: [&str; 35] = [
    "identity",
    "filter(number gt 0)",
    "filter(text lt 'a')",
    "filter(amount ge 1.5)",
    "filter(n eq 2)",
    "filter(flag)",
    "compute(number add 1 as one)",
    "compute(case(flag:text,true:'none') as label)",
    "aggregate($count as n)",
    "aggregate(number with sum as number,amount with max as amount,text with countdistinct as d)",
    "aggregate(number with average as average,amount with sum as amount)",
    "groupby((text))",
    "groupby((flag,peer/id))",
    "groupby((text,amount),aggregate($count as n))",
    "groupby((flag),aggregate(number with sum as number,text with max as text,number with average as m))",
    "groupby((rollup(flag,text)),aggregate($count as n,amount with min as amount))",
    "groupby((rollup($all,flag)),aggregate(number with max as number))",
    "groupby((rollup($all,flag)))",
    "groupby((flag),topcount(2,number))",
    "groupby((text),bottomsum(3,number))",
    "groupby((flag),filter(amount gt 0)/aggregate($count as n,number with sum as number))",
    "groupby((text),orderby(number desc)/skip(1)/top(2))",
    "groupby((flag),groupby((text),aggregate($count as n))/topcount(1,n))",
    "groupby((peer/id),concat(topcount(1,number),aggregate(number with sum as number)))",
    "groupby((flag),compute(number mul 2 as twice)/filter(twice gt 0)/aggregate(twice with sum as twice))",
    "concat(aggregate($count as n),groupby((text),aggregate($count as n))/orderby(n desc))",
    "concat(identity,aggregate(number with sum as number))",
    "concat(filter(flag)/orderby(number desc),concat(aggregate($count as n),groupby((flag))))",
    "orderby(number desc)",
    "orderby(owner desc,amount)",
    "orderby(n)",
    "top(5)",
    "skip(2)",
    "toppercent(60,number)",
    "topcount(3,amount)",
];

on_every_store! {
    #[test]
    fn random_pipelines_are_those_of_a_naive_evaluation() {
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(stores::cases() / 2) };
        let pipeline = proptest::collection::vec(select(&TRANSFORMATIONS), 1..4);
        let page_size = prop_oneof![Just(None), (1_u64..6).prop_map(Some)];
        let pipelines = proptest::collection::vec((pipeline, page_size), 12);
        proptest!(config, |((mut items, owners) in rows(24), pipelines in pipelines)| {
            // PostgreSQL keeps how long a duration is, not with which units it was written.
            items.iter_mut().for_each(|item| item[DURATION] = Value::Null);
            let world = World::new(items, owners);
            for (pipeline, page_size) in pipelines {
                let query = format!("$apply={}", pipeline.join("/"));
                let Ok((Resource::Read(plan), _)) = url::parse(&world.model, Version::V4, "Items", Some(&query)) else {
                    continue;
                };
                let Some(applied) = &plan.options.apply else { continue };
                let Ok(expected) = naively(&world, applied) else { continue };
                let columns = applied.shown.len() + usize::from(applied.parts.is_some());
                let found: Vec<String> =
                    answered(&world, &query, columns, page_size).iter().map(|row| normal(row)).collect();
                prop_assert_eq!(found, expected, "{} in pages of {:?}", query, page_size);
            }
        });
    }
}

#[test]
fn random_pipelines_over_a_table_that_keeps_decimals_as_numbers_are_those_of_a_naive_evaluation() {
    stores::run(stores::Kind::Found, random_pipelines_are_those_of_a_naive_evaluation::body);
}

/// The answered rows as texts.
fn naively(world: &World, applied: &Applied) -> Result<Vec<String>, Undefined> {
    let mut rows = evaluated(world, &applied.relation)?;
    sort(world, &mut rows, &applied.order)?;
    let text = |value: &Value| match value {
        Value::Null => "null".to_owned(),
        other => cell_text(other.cell()),
    };
    let answered = |row: Vec<Value>| {
        let parts = applied.parts.as_ref().map(|parts| parts.column);
        normal(&applied.shown.iter().copied().chain(parts).map(|index| text(&row[index])).collect::<Vec<_>>())
    };
    Ok(rows.into_iter().map(answered).collect())
}

fn evaluated(world: &World, relation: &Relation) -> Result<Rows, Undefined> {
    let value = |row: &Vec<Value>, expression: &Expression| naive::value(world, ITEMS, Some(row), expression);
    Ok(match relation {
        Relation::Entities => world.rows[0].clone(),
        Relation::Filtered(of, condition) => {
            let mut rows = Vec::new();
            for row in evaluated(world, of)? {
                if value(&row, condition)? == Value::Boolean(true) {
                    rows.push(row);
                }
            }
            rows
        }
        Relation::Projected(of, expressions) => {
            let project = |row: Vec<Value>| expressions.iter().map(|expression| value(&row, expression)).collect();
            evaluated(world, of)?.into_iter().map(project).collect::<Result<_, _>>()?
        }
        Relation::Grouped(of, keys, aggregates) => {
            let mut groups: Vec<(Vec<Value>, Rows)> = Vec::new();
            for row in evaluated(world, of)? {
                let key: Vec<Value> = keys.iter().map(|key| value(&row, key)).collect::<Result<_, _>>()?;
                match groups.iter_mut().find(|(known, _)| same(known, &key)) {
                    Some((_, rows)) => rows.push(row),
                    None => groups.push((key, vec![row])),
                }
            }
            if keys.is_empty() && groups.is_empty() {
                groups.push((Vec::new(), Vec::new()));
            }
            let mut rows = Vec::new();
            for (mut key, of) in groups {
                for aggregate in aggregates {
                    let operands = match &aggregate.operand {
                        None => None,
                        Some(operand) => Some(of.iter().map(|row| value(row, operand)).collect::<Result<Vec<_>, _>>()?),
                    };
                    key.push(aggregated(aggregate, operands, of.len())?);
                }
                rows.push(key);
            }
            rows
        }
        Relation::Sliced(of, slice) => {
            let mut taken = Vec::new();
            for mut group in divided(world, evaluated(world, of)?, &slice.within)? {
                sort(world, &mut group, &slice.order)?;
                let (skip, top) = (slice.skip.unwrap_or(0) as usize, slice.top.map_or(usize::MAX, |top| top as usize));
                taken.extend(group.into_iter().skip(skip).take(top));
            }
            taken
        }
        Relation::Numbered(of, order, width) => {
            let mut rows = evaluated(world, of)?;
            sort(world, &mut rows, order)?;
            rows.iter_mut().zip(1..).for_each(|(row, place)| {
                row.truncate(*width);
                row.push(Value::Integer(place));
            });
            rows
        }
        Relation::Ranked(of, rank) => {
            let mut taken = Vec::new();
            let mut order = vec![OrderBy { expression: rank.by.clone(), direction: rank.direction }];
            order.extend(rank.ties.iter().cloned());
            for mut group in divided(world, evaluated(world, of)?, &rank.within)? {
                sort(world, &mut group, &order)?;
                let number = |row: &Vec<Value>| Ok(as_real(&value(row, &rank.by)?));
                let numbers: Vec<Option<f64>> = group.iter().map(number).collect::<Result<_, _>>()?;
                let whole: f64 = numbers.iter().flatten().sum();
                let until = match &rank.until {
                    Until::Sum(Value::Real(sum)) => *sum,
                    Until::Percent(Value::Real(percent)) => whole / 100.0 * percent,
                    other => panic!("{other:?} is no number"),
                };
                // Of nothing but nulls there is no share.
                if numbers.iter().all(Option::is_none) && matches!(rank.until, Until::Percent(_)) {
                    continue;
                }
                let mut earlier = 0.0;
                for (row, number) in group.into_iter().zip(numbers) {
                    if earlier < until {
                        taken.push(row);
                    }
                    earlier += number.unwrap_or(0.0);
                }
            }
            taken
        }
        Relation::United(relations) => {
            relations.iter().map(|relation| evaluated(world, relation)).collect::<Result<Vec<_>, _>>()?.concat()
        }
    })
}

fn divided(world: &World, rows: Rows, within: &[Expression]) -> Result<Vec<Rows>, Undefined> {
    let mut groups: Vec<(Vec<Value>, Rows)> = Vec::new();
    for row in rows {
        let key = within.iter().map(|key| naive::value(world, ITEMS, Some(&row), key));
        let key: Vec<Value> = key.collect::<Result<_, _>>()?;
        match groups.iter_mut().find(|(known, _)| same(known, &key)) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    Ok(groups.into_iter().map(|(_, rows)| rows).collect())
}

fn same(left: &[Value], right: &[Value]) -> bool {
    left.iter().zip(right).all(|(left, right)| naive::order(left, right).is_eq())
}

fn sort(world: &World, rows: &mut Rows, order: &[OrderBy]) -> Result<(), Undefined> {
    let mut keyed = Vec::new();
    for row in std::mem::take(rows) {
        let keys = order.iter().map(|by| naive::value(world, ITEMS, Some(&row), &by.expression));
        keyed.push((keys.collect::<Result<Vec<_>, _>>()?, row));
    }
    keyed.sort_by(|(left, _), (right, _)| {
        let mut by_keys = order.iter().zip(left.iter().zip(right)).map(|(by, (left, right))| {
            let ordering = naive::order(left, right);
            if by.direction == Direction::Descending { ordering.reverse() } else { ordering }
        });
        by_keys.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
    });
    rows.extend(keyed.into_iter().map(|(_, row)| row));
    Ok(())
}

fn aggregated(aggregate: &Aggregate, operands: Option<Vec<Value>>, count: usize) -> Result<Value, Undefined> {
    let Some(operands) = operands else { return Ok(Value::Integer(count as i64)) };
    let mut values: Vec<Value> = operands.into_iter().filter(|value| *value != Value::Null).collect();
    let number = values.len() as i64;
    let digits = |value: &Value| cell_text(value.cell());
    let total = |values: &[Value]| {
        values.iter().try_fold("0".to_owned(), |sum, value| decimal::add(&sum, &digits(value)).map_err(|_| Undefined))
    };
    values.sort_by(naive::order);
    let whole = |values: &[Value]| values.iter().all(|value| matches!(value, Value::Integer(_)));
    Ok(match aggregate.method {
        Method::Count => Value::Integer(count as i64),
        Method::CountDistinct => {
            values.dedup_by(|left, right| naive::order(left, right).is_eq());
            Value::Integer(values.len() as i64)
        }
        _ if values.is_empty() => Value::Null,
        Method::Least => values[0].clone(),
        Method::Greatest => values[values.len() - 1].clone(),
        Method::Sum if whole(&values) => total(&values)?.parse().map(Value::Integer).map_err(|_| Undefined)?,
        Method::Sum => Value::Decimal(total(&values)?),
        Method::Average if whole(&values) => {
            let sum: f64 = total(&values)?.parse().map_err(|_| Undefined)?;
            Value::Real(sum / number as f64)
        }
        Method::Average => Value::Decimal(decimal::div(&total(&values)?, &number.to_string()).map_err(|_| Undefined)?),
    })
}

fn as_real(value: &Value) -> Option<f64> {
    match value {
        Value::Null => None,
        other => cell_text(other.cell()).parse().ok(),
    }
}
