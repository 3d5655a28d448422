//! Comparisons (XPath 1.0, section 3.4): with sets of nodes they mean "some node", and stop at the first that decides.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

use super::Kind;
use super::evaluate::{Context, Environment};
use super::expression::{Comparison, Expression};
use super::value::{Value, fragment_text};
use super::walk::Stop;
use crate::error::Error;
use crate::forest::Item;

impl Comparison {
    /// The same comparison with its sides exchanged.
    fn turned(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }

    fn is_equality(self) -> bool {
        matches!(self, Comparison::Equal | Comparison::Unequal)
    }

    #[allow(clippy::float_cmp, reason = "XPath compares doubles exactly")]
    fn numbers(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::Unequal => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }
    }

    /// Whether the comparison is true for two values that are the same, or not.
    fn sameness(self, is_same: bool) -> bool {
        is_same == (self == Comparison::Equal)
    }
}

impl<'e> Context<'e, '_> {
    pub(super) fn compare(
        &self,
        comparison: Comparison,
        left: &'e Expression,
        right: &'e Expression,
    ) -> Result<bool, Error> {
        self.environment.stack.check()?;
        match (left.kind(), right.kind()) {
            (Some(Kind::Nodes), Some(Kind::Nodes)) => {
                let (left, right) = (self.nodes(left)?, self.nodes(right)?);
                sets(self.environment, comparison, &left, &right)
            }
            (Some(Kind::Nodes), Some(_)) => self.compare_nodes(comparison, left, &self.value(right)?),
            (Some(_), Some(Kind::Nodes)) => self.compare_nodes(comparison.turned(), right, &self.value(left)?),
            (Some(_), Some(_)) if !comparison.is_equality() => {
                Ok(comparison.numbers(self.number(left)?, self.number(right)?))
            }
            (Some(Kind::Boolean), Some(_)) | (Some(_), Some(Kind::Boolean)) => {
                Ok(comparison.sameness(self.boolean(left)? == self.boolean(right)?))
            }
            (Some(Kind::Number), Some(_)) | (Some(_), Some(Kind::Number)) => {
                Ok(comparison.numbers(self.number(left)?, self.number(right)?))
            }
            (Some(_), Some(_)) => {
                let (left, right) = (self.string(left)?, self.string(right)?);
                self.environment.meter.copy(left.len().min(right.len()))?;
                Ok(comparison.sameness(*left == *right))
            }
            _ => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                values(self.environment, comparison, &left, &right)
            }
        }
    }

    /// A set of nodes that need not be put together, and a value that is none.
    fn compare_nodes(&self, comparison: Comparison, nodes: &'e Expression, value: &Value<'e>) -> Result<bool, Error> {
        let environment = self.environment;
        if let Value::Boolean(boolean) = value {
            return Ok(booleans(comparison, self.boolean(nodes)?, *boolean));
        }
        let number = match value {
            Value::Number(number) => Some(*number),
            value if !comparison.is_equality() => Some(value.number(environment)?),
            _ => None,
        };
        let text = match value {
            Value::String(text) => &**text,
            _ => "",
        };
        self.visit(nodes, &mut |item| {
            let holds = match number {
                Some(number) => environment.number_of(item).map(|value| comparison.numbers(value, number)),
                None => environment.is_text(item, text).map(|is_same| comparison.sameness(is_same)),
            };
            match holds {
                Ok(true) => ControlFlow::Break(Stop::Enough),
                Ok(false) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error.into()),
            }
        })
    }
}

fn booleans(comparison: Comparison, left: bool, right: bool) -> bool {
    comparison.numbers(f64::from(u8::from(left)), f64::from(u8::from(right)))
}

/// Whether a condition is true for any of some nodes.
fn any<'i>(items: &'i [Item], mut holds: impl FnMut(&'i Item) -> Result<bool, Error>) -> Result<bool, Error> {
    for item in items {
        if holds(item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Compares two values of any type.
fn values<'e>(
    environment: &Environment<'e>,
    comparison: Comparison,
    left: &Value<'e>,
    right: &Value<'e>,
) -> Result<bool, Error> {
    match (left, right) {
        (Value::Nodes(left), Value::Nodes(right)) => sets(environment, comparison, left, right),
        (Value::Nodes(nodes), other) => nodes_and_value(environment, comparison, nodes, other),
        (other, Value::Nodes(nodes)) => nodes_and_value(environment, comparison.turned(), nodes, other),
        (Value::Boolean(_), _) | (_, Value::Boolean(_)) if comparison.is_equality() => {
            Ok(comparison.sameness(left.boolean() == right.boolean()))
        }
        (Value::String(_) | Value::Fragment(_), Value::String(_) | Value::Fragment(_)) if comparison.is_equality() => {
            let (left, right) = (plain_text(environment, left)?, plain_text(environment, right)?);
            environment.meter.copy(left.len().min(right.len()))?;
            Ok(comparison.sameness(*left == *right))
        }
        (left, right) => Ok(comparison.numbers(left.number(environment)?, right.number(environment)?)),
    }
}

/// The text of a value that is a text or a fragment.
fn plain_text<'v>(environment: &Environment<'_>, value: &'v Value<'_>) -> Result<Cow<'v, str>, Error> {
    match value {
        Value::String(text) => Ok(Cow::Borrowed(text)),
        // A fragment is compared as a set with its root alone would be (XSLT 1.0, section 11.1).
        Value::Fragment(fragment) => fragment_text(fragment, environment),
        Value::Boolean(_) | Value::Number(_) | Value::Nodes(_) => Ok(Cow::Borrowed("")),
    }
}

fn nodes_and_value<'e>(
    environment: &Environment<'e>,
    comparison: Comparison,
    nodes: &[Item],
    value: &Value<'e>,
) -> Result<bool, Error> {
    match value {
        Value::Boolean(boolean) => Ok(booleans(comparison, !nodes.is_empty(), *boolean)),
        value if matches!(value, Value::Number(_)) || !comparison.is_equality() => {
            let number = value.number(environment)?;
            any(nodes, |item| Ok(comparison.numbers(environment.number_of(*item)?, number)))
        }
        value => {
            let text = plain_text(environment, value)?;
            any(nodes, |item| Ok(comparison.sameness(environment.is_text(*item, &text)?)))
        }
    }
}

/// Steps that it takes to keep a text in a table.
const KEPT_TEXT_STEPS: u64 = 8;

/// Two sets of nodes: some node of the one with some node of the other, in time that grows with their sum.
fn sets(environment: &Environment<'_>, comparison: Comparison, left: &[Item], right: &[Item]) -> Result<bool, Error> {
    match comparison {
        Comparison::Equal => {
            let (few, many) = if left.len() <= right.len() { (left, right) } else { (right, left) };
            const FEW: usize = 4;
            if few.len() <= FEW {
                return any(few, |item| {
                    let text = environment.string_value(*item)?;
                    any(many, |other| environment.is_text(*other, &text))
                });
            }
            let mut texts = HashSet::new();
            for item in few {
                let text = environment.string_value(*item)?;
                environment.spend(KEPT_TEXT_STEPS)?;
                environment.meter.walk(text.len())?;
                texts.insert(text.into_string());
            }
            any(many, |item| {
                let text = environment.string_value(*item)?;
                environment.meter.walk(text.len())?;
                Ok(texts.contains(&*text))
            })
        }
        Comparison::Unequal => {
            // Only where all are one and the same text is there no such pair.
            let Some(first) = left.first().filter(|_| !right.is_empty()) else { return Ok(false) };
            let first = environment.string_value(*first)?;
            let differs = |item: &Item| Ok(!environment.is_text(*item, &first)?);
            Ok(any(right, differs)? || any(left, differs)?)
        }
        _ => {
            let (Some((left_least, left_most)), Some((right_least, right_most))) =
                (range(environment, left)?, range(environment, right)?)
            else {
                return Ok(false);
            };
            Ok(match comparison {
                Comparison::Less | Comparison::LessOrEqual => comparison.numbers(left_least, right_most),
                _ => comparison.numbers(left_most, right_least),
            })
        }
    }
}

/// The least and the most of the numbers that nodes are, of those that are any.
fn range(environment: &Environment<'_>, items: &[Item]) -> Result<Option<(f64, f64)>, Error> {
    let mut range: Option<(f64, f64)> = None;
    for item in items {
        let number = environment.number_of(*item)?;
        if !number.is_nan() {
            let (least, most) = range.unwrap_or((number, number));
            range = Some((least.min(number), most.max(number)));
        }
    }
    Ok(range)
}
