//! XPath by its definitions alone: every axis is looked for among all nodes, every set is put in order afterwards.
//!
//! It is slow and literal: its results are those of the recommendation. It knows small trees and the expressions that
//! `generated` makes, nothing else.

use std::fmt::Write;

/// A node: its number is its place in the order of the document.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) parent: Option<usize>,
    pub(crate) kind: Kind,
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Root,
    Element,
    Attribute,
    Text,
    Comment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Ancestor,
    AncestorOrSelf,
    Following,
    FollowingSibling,
    Preceding,
    PrecedingSibling,
    Attribute,
    Itself,
}

pub(crate) const AXES: [(Axis, &str); 12] = [
    (Axis::Child, "child"),
    (Axis::Descendant, "descendant"),
    (Axis::DescendantOrSelf, "descendant-or-self"),
    (Axis::Parent, "parent"),
    (Axis::Ancestor, "ancestor"),
    (Axis::AncestorOrSelf, "ancestor-or-self"),
    (Axis::Following, "following"),
    (Axis::FollowingSibling, "following-sibling"),
    (Axis::Preceding, "preceding"),
    (Axis::PrecedingSibling, "preceding-sibling"),
    (Axis::Attribute, "attribute"),
    (Axis::Itself, "self"),
];

/// A node test as it is written: a name, `*`, `node()`, `text()` or `comment()`.
pub(crate) type Test = &'static str;

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) axis: Axis,
    pub(crate) test: Test,
    pub(crate) predicates: Vec<Expression>,
}

#[derive(Debug, Clone)]
pub(crate) enum Expression {
    /// From the root, or from the context node.
    Path(bool, Vec<Step>),
    /// `(nodes)[predicate]/step`.
    Filter(Box<Expression>, Box<Expression>, Vec<Step>),
    Union(Box<Expression>, Box<Expression>),
    /// Two operands and the operator between them.
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// A function of one argument: `count`, `not`, `string`, `number`, `sum`, `string-length`, `boolean`.
    Call(&'static str, Box<Expression>),
    Position,
    Last,
    Number(u8),
    Text(&'static str),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Nodes(Vec<usize>),
    Number(f64),
    Boolean(bool),
    Text(String),
}

/// The expression as XPath writes it, every axis by its whole name.
pub(crate) fn written(expression: &Expression) -> String {
    let steps = |steps: &[Step]| {
        let texts = steps.iter().map(|step| {
            let axis = AXES.iter().find(|(axis, _)| *axis == step.axis).unwrap().1;
            let mut text = format!("{axis}::{}", step.test);
            step.predicates.iter().for_each(|predicate| write!(text, "[{}]", written(predicate)).unwrap());
            text
        });
        texts.collect::<Vec<_>>().join("/")
    };
    match expression {
        Expression::Path(true, path) => format!("/{}", steps(path)),
        Expression::Path(false, path) => steps(path),
        Expression::Filter(nodes, predicate, path) => {
            let slash = if path.is_empty() { "" } else { "/" };
            format!("({})[{}]{slash}{}", written(nodes), written(predicate), steps(path))
        }
        Expression::Union(left, right) => format!("({} | {})", written(left), written(right)),
        Expression::Binary(operator, left, right) => format!("({} {operator} {})", written(left), written(right)),
        Expression::Call(function, argument) => format!("{function}({})", written(argument)),
        Expression::Position => "position()".to_owned(),
        Expression::Last => "last()".to_owned(),
        Expression::Number(number) => number.to_string(),
        Expression::Text(text) => format!("'{text}'"),
    }
}

/// A tree and what is evaluated in it.
pub(crate) struct Tree(pub(crate) Vec<Node>);

#[derive(Clone, Copy)]
struct Context {
    node: usize,
    position: usize,
    size: usize,
}

impl Tree {
    /// The value of an expression at a node.
    pub(crate) fn evaluate(&self, expression: &Expression, node: usize) -> Value {
        self.value(expression, Context { node, position: 1, size: 1 })
    }

    fn is_within(&self, node: usize, outer: usize) -> bool {
        let mut next = self.0[node].parent;
        while let Some(parent) = next {
            if parent == outer {
                return true;
            }
            next = self.0[parent].parent;
        }
        false
    }

    fn is_on(&self, axis: Axis, from: usize, node: usize) -> bool {
        let is_attribute = |node: usize| self.0[node].kind == Kind::Attribute;
        let siblings = self.0[node].parent == self.0[from].parent && !is_attribute(from) && !is_attribute(node);
        match axis {
            Axis::Child => self.0[node].parent == Some(from) && !is_attribute(node),
            Axis::Attribute => self.0[node].parent == Some(from) && is_attribute(node),
            Axis::Descendant => self.is_within(node, from) && !is_attribute(node),
            Axis::DescendantOrSelf => node == from || self.is_on(Axis::Descendant, from, node),
            Axis::Parent => self.0[from].parent == Some(node),
            Axis::Ancestor => self.is_within(from, node),
            Axis::AncestorOrSelf => node == from || self.is_within(from, node),
            Axis::Following => node > from && !self.is_within(node, from) && !is_attribute(node),
            Axis::Preceding => node < from && !self.is_within(from, node) && !is_attribute(node),
            Axis::FollowingSibling => siblings && node > from,
            Axis::PrecedingSibling => siblings && node < from,
            Axis::Itself => node == from,
        }
    }

    fn passes(&self, axis: Axis, test: Test, node: usize) -> bool {
        let Node { kind, name, .. } = &self.0[node];
        let principal = if axis == Axis::Attribute { Kind::Attribute } else { Kind::Element };
        match test {
            "node()" => true,
            "text()" => *kind == Kind::Text,
            "comment()" => *kind == Kind::Comment,
            "*" => *kind == principal,
            wanted => *kind == principal && *name == wanted,
        }
    }

    fn steps(&self, from: Vec<usize>, steps: &[Step]) -> Vec<usize> {
        steps.iter().fold(from, |from, step| {
            let mut all: Vec<usize> = from.iter().flat_map(|node| self.step(*node, step)).collect();
            all.sort_unstable();
            all.dedup();
            all
        })
    }

    /// The nodes of one step from one node.
    fn step(&self, from: usize, step: &Step) -> Vec<usize> {
        let on_axis = |node: &usize| self.is_on(step.axis, from, *node) && self.passes(step.axis, step.test, *node);
        let mut found: Vec<usize> = (0..self.0.len()).filter(on_axis).collect();
        let backwards = [Axis::Ancestor, Axis::AncestorOrSelf, Axis::Preceding, Axis::PrecedingSibling];
        if backwards.contains(&step.axis) {
            found.reverse();
        }
        step.predicates.iter().fold(found, |found, predicate| self.filtered(&found, predicate))
    }

    #[allow(clippy::float_cmp, reason = "positions are compared exactly")]
    fn filtered(&self, nodes: &[usize], predicate: &Expression) -> Vec<usize> {
        let holds = |(index, node): &(usize, &usize)| {
            let context = Context { node: **node, position: index + 1, size: nodes.len() };
            match self.value(predicate, context) {
                Value::Number(number) => number == context.position as f64,
                value => self.boolean(&value),
            }
        };
        nodes.iter().enumerate().filter(holds).map(|(_, node)| *node).collect()
    }

    fn nodes(&self, expression: &Expression, context: Context) -> Vec<usize> {
        match self.value(expression, context) {
            Value::Nodes(nodes) => nodes,
            other => panic!("no nodes: {other:?}"),
        }
    }

    fn value(&self, expression: &Expression, context: Context) -> Value {
        match expression {
            Expression::Path(is_absolute, steps) => {
                Value::Nodes(self.steps(vec![if *is_absolute { 0 } else { context.node }], steps))
            }
            Expression::Filter(nodes, predicate, steps) => {
                let filtered = self.filtered(&self.nodes(nodes, context), predicate);
                Value::Nodes(self.steps(filtered, steps))
            }
            Expression::Union(left, right) => {
                let mut nodes = self.nodes(left, context);
                nodes.extend(self.nodes(right, context));
                nodes.sort_unstable();
                nodes.dedup();
                Value::Nodes(nodes)
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.value(left, context), self.value(right, context));
                self.binary(operator, &left, &right)
            }
            Expression::Call(function, argument) => {
                let argument = self.value(argument, context);
                match (*function, &argument) {
                    ("count", Value::Nodes(nodes)) => Value::Number(nodes.len() as f64),
                    ("sum", Value::Nodes(nodes)) => {
                        Value::Number(nodes.iter().map(|node| to_number(&self.string_value(*node))).sum())
                    }
                    ("not", value) => Value::Boolean(!self.boolean(value)),
                    ("boolean", value) => Value::Boolean(self.boolean(value)),
                    ("string", value) => Value::Text(self.text(value)),
                    ("number", value) => Value::Number(self.number(value)),
                    ("string-length", value) => Value::Number(self.text(value).chars().count() as f64),
                    (function, argument) => panic!("{function}({argument:?})"),
                }
            }
            Expression::Position => Value::Number(context.position as f64),
            Expression::Last => Value::Number(context.size as f64),
            Expression::Number(number) => Value::Number(f64::from(*number)),
            Expression::Text(text) => Value::Text((*text).to_owned()),
        }
    }

    fn binary(&self, operator: &str, left: &Value, right: &Value) -> Value {
        let numbers = || (self.number(left), self.number(right));
        match operator {
            "and" => Value::Boolean(self.boolean(left) && self.boolean(right)),
            "or" => Value::Boolean(self.boolean(left) || self.boolean(right)),
            "+" => Value::Number(numbers().0 + numbers().1),
            "-" => Value::Number(numbers().0 - numbers().1),
            "*" => Value::Number(numbers().0 * numbers().1),
            "mod" => Value::Number(numbers().0 % numbers().1),
            comparison => Value::Boolean(self.compared(comparison, left, right)),
        }
    }

    /// Section 3.4, sentence by sentence.
    fn compared(&self, comparison: &str, left: &Value, right: &Value) -> bool {
        let texts =
            |nodes: &[usize]| nodes.iter().map(|node| Value::Text(self.string_value(*node))).collect::<Vec<_>>();
        match (left, right) {
            (Value::Nodes(left), Value::Nodes(right)) => {
                let (left, right) = (texts(left), texts(right));
                left.iter().any(|left| right.iter().any(|right| self.compared(comparison, left, right)))
            }
            (Value::Nodes(nodes), value @ Value::Boolean(_)) => {
                self.compared(comparison, &Value::Boolean(!nodes.is_empty()), value)
            }
            (value @ Value::Boolean(_), Value::Nodes(nodes)) => {
                self.compared(comparison, value, &Value::Boolean(!nodes.is_empty()))
            }
            (Value::Nodes(nodes), value) => texts(nodes).iter().any(|node| self.compared(comparison, node, value)),
            (value, Value::Nodes(nodes)) => texts(nodes).iter().any(|node| self.compared(comparison, value, node)),
            (left, right) if !matches!(comparison, "=" | "!=") => {
                let (left, right) = (self.number(left), self.number(right));
                match comparison {
                    "<" => left < right,
                    "<=" => left <= right,
                    ">" => left > right,
                    _ => left >= right,
                }
            }
            (Value::Boolean(_), _) | (_, Value::Boolean(_)) => {
                (self.boolean(left) == self.boolean(right)) == (comparison == "=")
            }
            (Value::Number(_), _) | (_, Value::Number(_)) => {
                let ordering = self.number(left).partial_cmp(&self.number(right));
                (ordering == Some(std::cmp::Ordering::Equal)) == (comparison == "=")
            }
            _ => (self.text(left) == self.text(right)) == (comparison == "="),
        }
    }

    fn boolean(&self, value: &Value) -> bool {
        match value {
            Value::Nodes(nodes) => !nodes.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Boolean(value) => *value,
            Value::Text(text) => !text.is_empty(),
        }
    }

    fn number(&self, value: &Value) -> f64 {
        match value {
            Value::Number(number) => *number,
            Value::Boolean(value) => f64::from(u8::from(*value)),
            value => to_number(&self.text(value)),
        }
    }

    fn text(&self, value: &Value) -> String {
        match value {
            Value::Nodes(nodes) => nodes.first().map(|node| self.string_value(*node)).unwrap_or_default(),
            // The trees and operators here come to whole numbers or to none.
            Value::Number(number) if number.is_nan() => "NaN".to_owned(),
            Value::Number(number) => format!("{}", number + 0.0),
            Value::Boolean(value) => value.to_string(),
            Value::Text(text) => text.clone(),
        }
    }

    fn string_value(&self, node: usize) -> String {
        match self.0[node].kind {
            Kind::Root | Kind::Element => {
                let is_text = |inner: &usize| self.0[*inner].kind == Kind::Text && self.is_within(*inner, node);
                (0..self.0.len()).filter(is_text).map(|inner| self.0[inner].value.as_str()).collect()
            }
            _ => self.0[node].value.clone(),
        }
    }
}

fn to_number(text: &str) -> f64 {
    let digits = text.trim();
    // Texts beside each other are one number, of any length.
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().unwrap() } else { f64::NAN }
}
