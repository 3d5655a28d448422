//! Comparisons (XPath 1.0, section 3.4): with sets of nodes they mean "some node", and stop at the first that decides.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::evaluate::Context;
use super::expression::{Comparison, Expression};
use super::value::{Text, Value, string_value};
use super::walk::Stop;
use super::{Kind, number};
use crate::error::Error;
use crate::forest::{Forest, Item};
use crate::tree::NodeId;

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

    /// Whether two things of which is known whether they are the same stand so.
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
                Ok(sets(self.environment.forest, comparison, &left, &right))
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
            (Some(_), Some(_)) => Ok(comparison.sameness(*self.string(left)? == *self.string(right)?)),
            _ => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                Ok(values(self.environment.forest, comparison, &left, &right))
            }
        }
    }

    /// A set of nodes that need not be put together, and a value that is none.
    fn compare_nodes(&self, comparison: Comparison, nodes: &'e Expression, value: &Value<'e>) -> Result<bool, Error> {
        let forest = self.environment.forest;
        if let Value::Boolean(boolean) = value {
            return Ok(booleans(comparison, self.boolean(nodes)?, *boolean));
        }
        let number = match value {
            Value::Number(number) => Some(*number),
            value if !comparison.is_equality() => Some(value.number(forest)),
            _ => None,
        };
        let text = match value {
            Value::String(text) => &**text,
            _ => "",
        };
        self.visit(nodes, &mut |item| {
            let holds = match number {
                Some(number) => comparison.numbers(number_of(forest, item), number),
                None => comparison.sameness(is_text(forest, item, text)),
            };
            if holds { ControlFlow::Break(Stop::Enough) } else { ControlFlow::Continue(()) }
        })
    }
}

fn booleans(comparison: Comparison, left: bool, right: bool) -> bool {
    comparison.numbers(f64::from(u8::from(left)), f64::from(u8::from(right)))
}

fn number_of(forest: &Forest<'_>, item: Item) -> f64 {
    number::from_text(&string_value(forest, item))
}

fn is_text(forest: &Forest<'_>, item: Item, text: &str) -> bool {
    match item.place.namespace {
        0 => forest.view(item.document).document.string_value_is(item.place.node, text),
        _ => *string_value(forest, item) == *text,
    }
}

/// Two values, whatever they are.
fn values(forest: &Forest<'_>, comparison: Comparison, left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Nodes(left), Value::Nodes(right)) => sets(forest, comparison, left, right),
        (Value::Nodes(nodes), other) => nodes_and_value(forest, comparison, nodes, other),
        (other, Value::Nodes(nodes)) => nodes_and_value(forest, comparison.turned(), nodes, other),
        (left, right) if !comparison.is_equality() => comparison.numbers(left.number(forest), right.number(forest)),
        (Value::Boolean(_), _) | (_, Value::Boolean(_)) => comparison.sameness(left.boolean() == right.boolean()),
        (Value::Number(_), _) | (_, Value::Number(_)) => comparison.numbers(left.number(forest), right.number(forest)),
        (left, right) => comparison.sameness(*plain_text(left) == *plain_text(right)),
    }
}

/// The text of a value that is a text or a fragment.
fn plain_text<'v>(value: &'v Value<'_>) -> Text<'v> {
    match value {
        Value::String(text) => Text::Borrowed(text),
        // A fragment is compared as a set with its root alone would be (XSLT 1.0, section 11.1).
        Value::Fragment(fragment) => fragment.string_value(NodeId::ROOT).into(),
        Value::Boolean(_) | Value::Number(_) | Value::Nodes(_) => Text::Borrowed(""),
    }
}

fn nodes_and_value(forest: &Forest<'_>, comparison: Comparison, nodes: &[Item], value: &Value<'_>) -> bool {
    match value {
        Value::Boolean(boolean) => booleans(comparison, !nodes.is_empty(), *boolean),
        Value::Number(number) => nodes.iter().any(|item| comparison.numbers(number_of(forest, *item), *number)),
        value if !comparison.is_equality() => {
            let number = value.number(forest);
            nodes.iter().any(|item| comparison.numbers(number_of(forest, *item), number))
        }
        value => {
            let text = plain_text(value);
            nodes.iter().any(|item| comparison.sameness(is_text(forest, *item, &text)))
        }
    }
}

/// Two sets of nodes: some node of the one with some node of the other, in time that grows with their sum.
fn sets(forest: &Forest<'_>, comparison: Comparison, left: &[Item], right: &[Item]) -> bool {
    let text = |item: &Item| string_value(forest, *item);
    match comparison {
        Comparison::Equal => {
            let (few, many) = if left.len() <= right.len() { (left, right) } else { (right, left) };
            const FEW: usize = 4;
            if few.len() <= FEW {
                return few.iter().any(|item| {
                    let text = text(item);
                    many.iter().any(|other| is_text(forest, *other, &text))
                });
            }
            let texts: HashSet<String> = few.iter().map(|item| text(item).into_string()).collect();
            many.iter().any(|item| texts.contains(&*text(item)))
        }
        Comparison::Unequal => {
            // Only where all are one and the same text is there no such pair.
            let Some(first) = left.first().filter(|_| !right.is_empty()) else { return false };
            let first = text(first);
            right.iter().any(|item| !is_text(forest, *item, &first))
                || left.iter().any(|item| !is_text(forest, *item, &first))
        }
        _ => {
            let numbers = |items: &[Item]| {
                let numbers = items.iter().map(|item| number_of(forest, *item)).filter(|number| !number.is_nan());
                numbers.fold(None, |range: Option<(f64, f64)>, number| {
                    Some(range.map_or((number, number), |(least, most)| (least.min(number), most.max(number))))
                })
            };
            let (Some((left_least, left_most)), Some((right_least, right_most))) = (numbers(left), numbers(right))
            else {
                return false;
            };
            match comparison {
                Comparison::Less | Comparison::LessOrEqual => comparison.numbers(left_least, right_most),
                _ => comparison.numbers(left_most, right_least),
            }
        }
    }
}
