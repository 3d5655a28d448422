//! A naive evaluation of plans in memory: the reference for the store's SQL.
//!
//! It shares no code with the store; only the arithmetic of decimals is the library's, which is tested by itself.

use std::cmp::Ordering;
use std::num::FpCategory;

use tollgate_wire::decimal;
use tollgate_wire::edm::{NavigationId, Primitive, SetId};
use tollgate_wire::plan::{
    Arithmetic, Comparison, Direction, Expression, ExpressionKind, Function, Logic, Options, Origin, Question, Related,
};
use tollgate_wire::value::Value;

use crate::world::World;

/// An expression has no value: overflow or division by zero.
#[derive(Debug)]
pub(crate) struct Undefined;

/// The rows of a collection that match the filter, in order. A result that is [`Undefined`] here may be defined if the
/// second operand of an `and` or `or` is skipped because the first decides.
pub(crate) fn matching<'w>(world: &'w World, set: SetId, options: &Options) -> Result<Vec<&'w Vec<Value>>, Undefined> {
    let mut rows = Vec::new();
    // What depends on no row may be evaluated even where no row passes.
    for expression in options.filter.iter().chain(options.order_by.iter().map(|by| &by.expression)) {
        value(world, set, None, expression)?;
    }
    for row in &world.rows[set.0] {
        let of = |expression| value(world, set, Some(row), expression);
        if options.filter.as_ref().map(of).transpose()?.is_none_or(|passes| passes == Value::Boolean(true)) {
            let keys = options.order_by.iter().map(|by| of(&by.expression)).collect::<Result<Vec<_>, _>>()?;
            rows.push((keys, row));
        }
    }
    rows.sort_by(|(left_keys, left), (right_keys, right)| {
        let keys = options.order_by.iter().zip(left_keys.iter().zip(right_keys)).map(|(by, (left, right))| {
            let ordering = order(left, right);
            match by.direction {
                Direction::Ascending => ordering,
                Direction::Descending => ordering.reverse(),
            }
        });
        keys.chain(world.model.type_of(set).key.iter().map(|leaf| order(&left[leaf.0], &right[leaf.0])))
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// The value of an expression for a row; without a row every leaf is null.
pub(crate) fn value(
    world: &World,
    set: SetId,
    row: Option<&Vec<Value>>,
    expression: &Expression,
) -> Result<Value, Undefined> {
    value_within(world, &[(set, row)], expression)
}

/// An entity that an expression can name.
type Named<'w> = (SetId, Option<&'w Vec<Value>>);

/// The same within questions: first the current entity, then the related ones, outermost first.
fn value_within(world: &World, named: &[Named<'_>], expression: &Expression) -> Result<Value, Undefined> {
    let of = |expression: &Expression| value_within(world, named, expression);
    Ok(match &expression.kind {
        ExpressionKind::Literal(literal) => literal.clone(),
        ExpressionKind::Leaf { of, through, leaf } => {
            reached(world, named, *of, through).1.map_or(Value::Null, |row| row[leaf.0].clone())
        }
        ExpressionKind::In(inner, values) => {
            let inner = of(inner)?;
            Value::Boolean(inner != Value::Null && values.iter().any(|value| order(&inner, value).is_eq()))
        }
        ExpressionKind::Case(branches) => {
            let evaluated: Vec<_> = branches
                .iter()
                .map(|(condition, value)| Ok((of(condition)?, of(value)?)))
                .collect::<Result<_, Undefined>>()?;
            let found = evaluated.into_iter().find(|(condition, _)| *condition == Value::Boolean(true));
            found.map_or(Value::Null, |(_, value)| value)
        }
        ExpressionKind::Cast(inner) => cast(of(inner)?, expression.primitive),
        ExpressionKind::Column(index) => named[0].1.map_or(Value::Null, |row| row[*index].clone()),
        ExpressionKind::Related(question) => related(world, named, question)?,
        ExpressionKind::Items(_) | ExpressionKind::Item(_) => panic!("collections have tests of their own"),
        ExpressionKind::Not(inner) => match of(inner)? {
            Value::Boolean(boolean) => Value::Boolean(!boolean),
            _ => Value::Null,
        },
        ExpressionKind::Negate(inner) => match of(inner)? {
            Value::Integer(integer) => Value::Integer(integer.checked_neg().ok_or(Undefined)?),
            Value::Real(number) => real(-number),
            Value::Decimal(digits) => defined(decimal::negate(&digits))?,
            _ => Value::Null,
        },
        ExpressionKind::Logic(logic, left, right) => match (logic, of(left)?, of(right)?) {
            (Logic::And, Value::Boolean(false), _) | (Logic::And, _, Value::Boolean(false)) => Value::Boolean(false),
            (Logic::Or, Value::Boolean(true), _) | (Logic::Or, _, Value::Boolean(true)) => Value::Boolean(true),
            (_, Value::Null, _) | (_, _, Value::Null) => Value::Null,
            (Logic::And, ..) => Value::Boolean(true),
            (Logic::Or, ..) => Value::Boolean(false),
        },
        ExpressionKind::Compare(comparison, left, right) => compare(*comparison, of(left)?, of(right)?),
        ExpressionKind::Arithmetic(operator, left, right) => arithmetic(*operator, of(left)?, of(right)?)?,
        ExpressionKind::Call(function, arguments) => {
            let arguments: Vec<_> = arguments.iter().map(of).collect::<Result<_, _>>()?;
            if arguments.contains(&Value::Null) { Value::Null } else { call(*function, &arguments)? }
        }
    })
}

/// The entity at the end of to-one navigation, and its set.
fn reached<'w>(world: &'w World, named: &[Named<'w>], of: Origin, through: &[(NavigationId, SetId)]) -> Named<'w> {
    let (mut set, mut row) = match of {
        Origin::It => named[0],
        Origin::Variable(number) => named[number + 1],
    };
    for (navigation, target) in through {
        row = row.and_then(|row| to_one(world, set, row, *navigation));
        set = *target;
    }
    (set, row)
}

fn related(world: &World, named: &[Named<'_>], question: &Related) -> Result<Value, Undefined> {
    let (set, row) = reached(world, named, question.of, &question.through);
    let navigation = &world.model.type_of(set).navigation[question.navigation.0];
    let rows = world.rows[question.target.0].iter().filter(|candidate| {
        row.is_some_and(|row| {
            navigation.on.iter().all(|(here, there)| row[here.0] != Value::Null && row[here.0] == candidate[there.0])
        })
    });
    let holds = |row| match &question.condition {
        None => Ok(true),
        Some(condition) => {
            let within = [named, &[(question.target, row)]].concat();
            value_within(world, &within, condition).map(|value| value == Value::Boolean(true))
        }
    };
    // A database may ask whether a row fulfils the condition before whether it is related, and if none is at all.
    holds(None)?;
    world.rows[question.target.0].iter().try_for_each(|row| holds(Some(row)).map(|_| ()))?;
    let answers = rows.map(|row| holds(Some(row))).collect::<Result<Vec<bool>, Undefined>>()?;
    Ok(match question.question {
        Question::Any => Value::Boolean(answers.contains(&true)),
        Question::All => Value::Boolean(!answers.contains(&false)),
        Question::Count => Value::Integer(answers.iter().filter(|holds| **holds).count() as i64),
    })
}

fn cast(value: Value, to: Option<Primitive>) -> Value {
    let whole = |number: i128| i64::try_from(number).map_or(Value::Null, Value::Integer);
    match (value, to.expect("a cast has a type")) {
        (Value::Integer(integer), Primitive::Byte) => {
            u8::try_from(integer).map_or(Value::Null, |n| Value::Integer(n.into()))
        }
        (Value::Integer(integer), Primitive::Int16) => {
            i16::try_from(integer).map_or(Value::Null, |n| Value::Integer(n.into()))
        }
        (Value::Integer(integer), Primitive::Int32) => {
            i32::try_from(integer).map_or(Value::Null, |n| Value::Integer(n.into()))
        }
        (Value::Integer(integer), Primitive::String { .. }) => Value::String(integer.to_string()),
        (Value::Decimal(digits), Primitive::String { .. }) => Value::String(match digits.contains('.') {
            true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => digits,
        }),
        (Value::Boolean(boolean), Primitive::String { .. }) => Value::String(boolean.to_string()),
        (value @ Value::Integer(_), Primitive::Decimal { .. }) => Value::Decimal(digits(&value)),
        (value @ (Value::Integer(_) | Value::Decimal(_)), Primitive::Double) => Value::Real(as_real(&value)),
        (Value::Decimal(digits), Primitive::Int64) => {
            let whole_digits = digits.split('.').next().unwrap().to_owned();
            whole_digits.parse().map_or(Value::Null, whole)
        }
        (Value::Real(real), Primitive::Int64) if real.abs() < 1e30 => whole(real.trunc() as i128),
        (Value::Real(_), Primitive::Int64) => Value::Null,
        (value, _) => value,
    }
}

fn to_one<'w>(world: &'w World, set: SetId, row: &[Value], navigation: NavigationId) -> Option<&'w Vec<Value>> {
    let navigation = &world.model.type_of(set).navigation[navigation.0];
    let target = navigation.target;
    let related = world.rows[target.0].iter().filter(|candidate| {
        navigation.on.iter().all(|(here, there)| row[here.0] != Value::Null && row[here.0] == candidate[there.0])
    });
    let key = &world.model.type_of(target).key;
    related.min_by(|left, right| {
        key.iter()
            .map(|leaf| order(&left[leaf.0], &right[leaf.0]))
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    })
}

pub(crate) fn compare(comparison: Comparison, left: Value, right: Value) -> Value {
    let null = left == Value::Null || right == Value::Null;
    let ordering = order(&left, &right);
    Value::Boolean(match comparison {
        Comparison::Equal => ordering.is_eq(),
        Comparison::NotEqual => ordering.is_ne(),
        Comparison::Less => !null && ordering.is_lt(),
        Comparison::LessOrEqual => !null && ordering.is_le(),
        Comparison::Greater => !null && ordering.is_gt(),
        Comparison::GreaterOrEqual => !null && ordering.is_ge(),
    })
}

/// Null first, then by value; numbers of different kinds after promotion.
pub(crate) fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Boolean(left), Value::Boolean(right)) => left.cmp(right),
        (Value::Integer(left), Value::Integer(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.chars().cmp(right.chars()),
        (Value::Binary(left), Value::Binary(right)) => left.cmp(right),
        (Value::Real(_), _) | (_, Value::Real(_)) => {
            as_real(left).partial_cmp(&as_real(right)).expect("no NaN is stored")
        }
        (Value::Decimal(_) | Value::Integer(_), Value::Decimal(_) | Value::Integer(_)) => {
            decimal::compare(&digits(left), &digits(right))
        }
        (Value::Text(Primitive::Duration, left), Value::Text(Primitive::Duration, right)) => {
            duration_ms(left).cmp(&duration_ms(right))
        }
        (Value::Text(Primitive::Guid, left), Value::Text(Primitive::Guid, right)) => left.cmp(right),
        (Value::Text(_, left), Value::Text(_, right)) => moment(left).cmp(&moment(right)),
        (left, right) => panic!("{left:?} and {right:?} have no order"),
    }
}

/// Date parts as numbers, the fraction in nanoseconds.
fn moment(text: &str) -> Vec<u32> {
    let (text, fraction) = text.trim_end_matches('Z').split_once('.').unwrap_or((text.trim_end_matches('Z'), "0"));
    let mut parts: Vec<u32> = text.split(['-', 'T', ':']).map(|part| part.parse().unwrap()).collect();
    if text.contains('-') {
        parts.resize(6, 0);
    }
    parts.push(format!("{fraction:0<9}").parse().unwrap());
    parts
}

/// Length of a duration.
pub(crate) fn duration_ms(text: &str) -> i64 {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let (mut total, mut number) = (0, String::new());
    for character in text.chars() {
        let unit_ms = match character {
            '0'..='9' | '.' => {
                number.push(character);
                continue;
            }
            'D' => 86_400_000.0,
            'H' => 3_600_000.0,
            'M' => 60_000.0,
            'S' => 1_000.0,
            _ => continue,
        };
        total += (number.parse::<f64>().unwrap() * unit_ms).round() as i64;
        number.clear();
    }
    sign * total
}

fn arithmetic(operator: Arithmetic, left: Value, right: Value) -> Result<Value, Undefined> {
    Ok(match (&left, &right) {
        (Value::Null, _) | (_, Value::Null) => Value::Null,
        (Value::Integer(left), Value::Integer(right)) => {
            let (left, right) = (i128::from(*left), i128::from(*right));
            let result = match operator {
                Arithmetic::Add => left + right,
                Arithmetic::Subtract => left - right,
                Arithmetic::Multiply => left * right,
                Arithmetic::Divide | Arithmetic::Modulo if right == 0 => return Err(Undefined),
                Arithmetic::Divide => left / right,
                Arithmetic::Modulo => left % right,
            };
            Value::Integer(i64::try_from(result).map_err(|_| Undefined)?)
        }
        (Value::Real(_), _) | (_, Value::Real(_)) => {
            let (left, right) = (as_real(&left), as_real(&right));
            match operator {
                Arithmetic::Add => in_range(left + right, false)?,
                Arithmetic::Subtract => in_range(left - right, false)?,
                Arithmetic::Multiply => in_range(left * right, left != 0.0 && right != 0.0)?,
                Arithmetic::Divide | Arithmetic::Modulo if right.classify() == FpCategory::Zero => {
                    return Err(Undefined);
                }
                Arithmetic::Divide => in_range(left / right, left != 0.0)?,
                Arithmetic::Modulo => real(left % right),
            }
        }
        (left, right) => {
            let (left, right) = (digits(left), digits(right));
            defined(match operator {
                Arithmetic::Add => decimal::add(&left, &right),
                Arithmetic::Subtract => decimal::sub(&left, &right),
                Arithmetic::Multiply => decimal::mul(&left, &right),
                Arithmetic::Divide => decimal::div(&left, &right),
                Arithmetic::Modulo => decimal::modulo(&left, &right),
            })?
        }
    })
}

fn call(function: Function, arguments: &[Value]) -> Result<Value, Undefined> {
    let text = |index: usize| match &arguments[index] {
        Value::String(text) | Value::Text(_, text) => text.as_str(),
        other => panic!("{other:?} is no text"),
    };
    let characters = |index| text(index).chars().collect::<Vec<_>>();
    let whole = |index: usize| match arguments[index] {
        Value::Integer(integer) => integer,
        ref other => panic!("{other:?} is no integer"),
    };
    // Year to second, as far as they stand in the text.
    let part = |index: usize| {
        let numbers = moment(text(0));
        let numbers = if text(0).contains('-') { numbers } else { [vec![0; 3], numbers].concat() };
        Value::Integer(i64::from(numbers[index]))
    };
    let instant = || text(0).trim_end_matches('Z').split_once('T');
    Ok(match function {
        Function::Contains => Value::Boolean(find(&characters(0), &characters(1)).is_some()),
        Function::StartsWith => Value::Boolean(characters(0).starts_with(&characters(1))),
        Function::EndsWith => Value::Boolean(characters(0).ends_with(&characters(1))),
        Function::MatchesPattern => Value::Boolean(regex::Regex::new(text(1)).unwrap().is_match(text(0))),
        Function::Length => Value::Integer(characters(0).len() as i64),
        Function::IndexOf => {
            Value::Integer(find(&characters(0), &characters(1)).map_or(-1, |position| position as i64))
        }
        Function::Substring => {
            let end = if arguments.len() == 3 { whole(1).saturating_add(whole(2)) } else { i64::MAX };
            let kept = characters(0)
                .into_iter()
                .enumerate()
                .filter(|(position, _)| (*position as i64) >= whole(1) && (*position as i64) < end)
                .map(|(_, character)| character);
            Value::String(kept.collect())
        }
        Function::Replace if text(1).is_empty() => arguments[0].clone(),
        Function::Replace => Value::String(text(0).split(text(1)).collect::<Vec<_>>().join(text(2))),
        Function::ToLower => Value::String(text(0).to_lowercase()),
        Function::ToUpper => Value::String(text(0).to_uppercase()),
        Function::Trim => Value::String(text(0).trim().into()),
        Function::Concat => Value::String([text(0), text(1)].concat()),
        Function::Year => part(0),
        Function::Month => part(1),
        Function::Day => part(2),
        Function::Hour => part(3),
        Function::Minute => part(4),
        Function::Second => part(5),
        Function::Date => Value::Text(Primitive::Date, instant().map_or(text(0), |(date, _)| date).into()),
        Function::Time => Value::Text(crate::world::TIME, instant().map_or(text(0), |(_, time)| time).into()),
        Function::Now => panic!("no property asks for the time"),
        Function::TotalOffsetMinutes => Value::Integer(0),
        Function::TotalSeconds => {
            let milliseconds = duration_ms(text(0));
            let sign = if milliseconds < 0 { "-" } else { "" };
            let (seconds, rest) = (milliseconds.abs() / 1000, milliseconds.abs() % 1000);
            Value::Decimal(format!("{sign}{seconds}.{rest:03}"))
        }
        Function::FractionalSeconds => {
            let fraction = text(0).trim_end_matches('Z').split_once('.').map_or("0", |(_, fraction)| fraction);
            Value::Decimal(format!("0.{fraction}"))
        }
        Function::HasSubsequence => panic!("collections have tests of their own"),
        Function::Has => Value::Boolean(whole(0) & whole(1) == whole(1)),
        Function::Round => rounded(&arguments[0], f64::round, decimal::round)?,
        Function::Floor => rounded(&arguments[0], f64::floor, decimal::floor)?,
        Function::Ceiling => rounded(&arguments[0], f64::ceil, decimal::ceiling)?,
    })
}

fn rounded(
    value: &Value,
    of_real: fn(f64) -> f64,
    of_decimal: fn(&str) -> Result<String, decimal::DecimalError>,
) -> Result<Value, Undefined> {
    match value {
        Value::Real(number) => Ok(real(of_real(*number))),
        Value::Decimal(digits) => defined(of_decimal(digits)),
        other => Ok(other.clone()),
    }
}

fn find(text: &[char], part: &[char]) -> Option<usize> {
    (0..=text.len()).find(|start| text[*start..].starts_with(part))
}

fn real(number: f64) -> Value {
    if number.is_nan() { Value::Null } else { Value::Real(number) }
}

/// No result if a real becomes infinite, or zero by being too small.
fn in_range(number: f64, never_zero: bool) -> Result<Value, Undefined> {
    let lost = number.is_infinite() || (never_zero && number.classify() == FpCategory::Zero);
    if lost { Err(Undefined) } else { Ok(real(number)) }
}

fn as_real(value: &Value) -> f64 {
    match value {
        Value::Real(number) => *number,
        Value::Integer(integer) => *integer as f64,
        Value::Decimal(digits) => digits.parse().unwrap(),
        other => panic!("{other:?} is no number"),
    }
}

fn digits(value: &Value) -> String {
    match value {
        Value::Integer(integer) => integer.to_string(),
        Value::Decimal(digits) => digits.clone(),
        other => panic!("{other:?} is no exact number"),
    }
}

fn defined(result: Result<String, decimal::DecimalError>) -> Result<Value, Undefined> {
    result.map(Value::Decimal).map_err(|_| Undefined)
}
