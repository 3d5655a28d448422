//! A compiled expression: names resolved, functions known, paths simplified.
//!
//! It is shared between threads and never changes; evaluation is in its neighbours.

use super::axis::Axis;
use super::functions::Function;
use crate::forest::NameIndex;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Or(Box<Expression>, Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Compare(Comparison, Box<Expression>, Box<Expression>),
    Arithmetic(Operation, Box<Expression>, Box<Expression>),
    Negate(Box<Expression>),
    Union(Vec<Expression>),
    Path(Path),
    Literal(Box<str>),
    Number(f64),
    Variable(u32),
    Call(Function, Vec<Expression>),
    /// A function of the host, by its number.
    Foreign(u32, Vec<Expression>),
}

/// Comparison of two values (section 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Arithmetic on two numbers (section 3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A location path, or steps from the nodes of another expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path {
    pub(crate) start: Start,
    pub(crate) steps: Vec<Step>,
}

/// The start of a path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Start {
    /// At the context node.
    Context,
    /// At the root of the context node's document.
    Root,
    /// At each node of an expression that its predicates let through.
    Nodes(Box<Expression>, Vec<Predicate>),
}

/// One step (section 2.1).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(crate) axis: Axis,
    pub(crate) test: NodeTest,
    pub(crate) predicates: Vec<Predicate>,
}

/// The nodes of an axis that a step means (section 2.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NodeTest {
    /// `node()`.
    Node,
    /// `text()`.
    Text,
    /// `comment()`.
    Comment,
    /// `processing-instruction()`, of any target or of this one.
    Instruction(Option<Box<str>>),
    /// `*`: any of the axis's principal kind.
    Any,
    /// `prefix:*`: any name of this namespace.
    Namespace(Box<str>),
    /// A namespace node by the prefix that it declares.
    Prefix(Box<str>),
    /// A name: its number among the names of the expression.
    Name(NameIndex),
}

/// A predicate (section 2.4).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Predicate {
    /// A number known beforehand: the position.
    Position(f64),
    /// `last()`.
    Last,
    /// Anything else.
    Test {
        expression: Expression,
        /// The part of the context beyond the node that it uses.
        needs: Needs,
        /// Whether it is a number, and so a position.
        kind: Option<Kind>,
    },
}

/// The part of its context that an expression uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Needs {
    /// The node alone.
    Node,
    /// The position.
    Position,
    /// The size, and so all nodes at once.
    Size,
}

/// The four types of values (section 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A double.
    Number,
    /// A text.
    String,
    /// A set of nodes.
    Nodes,
}

impl Expression {
    /// The type of its value, where it is known before evaluation.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self {
            Expression::Or(..) | Expression::And(..) | Expression::Compare(..) => Some(Kind::Boolean),
            Expression::Arithmetic(..) | Expression::Negate(_) | Expression::Number(_) => Some(Kind::Number),
            Expression::Union(_) | Expression::Path(_) => Some(Kind::Nodes),
            Expression::Literal(_) => Some(Kind::String),
            Expression::Call(function, _) => Some(function.kind()),
            Expression::Variable(_) | Expression::Foreign(..) => None,
        }
    }

    /// Whether it calls a function of the host for which `is_meant` is true.
    pub(crate) fn calls(&self, is_meant: &dyn Fn(u32) -> bool) -> bool {
        match self {
            Expression::Or(left, right)
            | Expression::And(left, right)
            | Expression::Compare(_, left, right)
            | Expression::Arithmetic(_, left, right) => left.calls(is_meant) || right.calls(is_meant),
            Expression::Negate(inner) => inner.calls(is_meant),
            Expression::Union(parts) => parts.iter().any(|part| part.calls(is_meant)),
            Expression::Path(path) => {
                let starts = match &path.start {
                    Start::Context | Start::Root => false,
                    Start::Nodes(nodes, predicates) => {
                        nodes.calls(is_meant) || predicates.iter().any(|predicate| predicate.calls(is_meant))
                    }
                };
                let mut predicates = path.steps.iter().flat_map(|step| &step.predicates);
                starts || predicates.any(|predicate| predicate.calls(is_meant))
            }
            Expression::Literal(_) | Expression::Number(_) | Expression::Variable(_) => false,
            Expression::Call(_, arguments) => arguments.iter().any(|argument| argument.calls(is_meant)),
            Expression::Foreign(function, arguments) => {
                is_meant(*function) || arguments.iter().any(|argument| argument.calls(is_meant))
            }
        }
    }

    /// The part of its context that it uses.
    pub(crate) fn needs(&self) -> Needs {
        match self {
            Expression::Or(left, right)
            | Expression::And(left, right)
            | Expression::Compare(_, left, right)
            | Expression::Arithmetic(_, left, right) => left.needs().max(right.needs()),
            Expression::Negate(inner) => inner.needs(),
            Expression::Union(parts) => parts.iter().map(Expression::needs).max().unwrap_or(Needs::Node),
            // Predicates have a context of their own; only what a path starts from has ours.
            Expression::Path(Path { start: Start::Nodes(nodes, _), .. }) => nodes.needs(),
            Expression::Path(_) | Expression::Literal(_) | Expression::Number(_) | Expression::Variable(_) => {
                Needs::Node
            }
            Expression::Call(Function::Last, _) => Needs::Size,
            Expression::Call(Function::Position, _) => Needs::Position,
            Expression::Call(_, arguments) | Expression::Foreign(_, arguments) => {
                arguments.iter().map(Expression::needs).max().unwrap_or(Needs::Node)
            }
        }
    }
}

impl Predicate {
    pub(crate) fn new(expression: Expression) -> Predicate {
        match expression {
            Expression::Number(position) => Predicate::Position(position),
            Expression::Call(Function::Last, _) => Predicate::Last,
            expression => {
                let kind = expression.kind();
                // A number, or what may turn out to be one, is compared with the position.
                let least = if matches!(kind, None | Some(Kind::Number)) { Needs::Position } else { Needs::Node };
                Predicate::Test { needs: expression.needs().max(least), kind, expression }
            }
        }
    }

    /// As [`Expression::calls`].
    pub(crate) fn calls(&self, is_meant: &dyn Fn(u32) -> bool) -> bool {
        match self {
            Predicate::Position(_) | Predicate::Last => false,
            Predicate::Test { expression, .. } => expression.calls(is_meant),
        }
    }

    pub(crate) fn needs(&self) -> Needs {
        match self {
            Predicate::Position(_) => Needs::Position,
            Predicate::Last => Needs::Size,
            Predicate::Test { needs, .. } => *needs,
        }
    }
}

impl Path {
    /// Whether walking the steps meets its nodes in document order and each once, in every document.
    pub(crate) fn is_ordered(&self) -> bool {
        // Whether the nodes met so far are one at most, and whether none of them is in another.
        let (mut single, mut apart) = match &self.start {
            Start::Context | Start::Root => (true, true),
            Start::Nodes(..) => (false, false),
        };
        for step in &self.steps {
            (single, apart) = match step.axis {
                Axis::SelfNode => (single, apart),
                // They stand right behind their element, before whatever is in it, and nothing is in them.
                Axis::Attribute | Axis::Namespace => (false, true),
                Axis::Child if apart => (false, true),
                Axis::Descendant | Axis::DescendantOrSelf if apart => (false, false),
                Axis::Parent if single => (true, true),
                Axis::FollowingSibling if single => (false, true),
                Axis::Following if single => (false, false),
                _ => return false,
            };
        }
        true
    }

    /// Whether walking the steps meets each node once after every step, in any order.
    pub(crate) fn meets_once(&self) -> bool {
        let (mut single, mut apart) = match &self.start {
            Start::Context | Start::Root => (true, true),
            Start::Nodes(..) => (false, false),
        };
        for step in &self.steps {
            (single, apart) = match step.axis {
                Axis::SelfNode => (single, apart),
                Axis::Attribute | Axis::Namespace => (false, true),
                // A node has one parent, whatever its parent is in.
                Axis::Child => (false, apart),
                Axis::Descendant | Axis::DescendantOrSelf if apart => (false, false),
                Axis::Parent if single => (true, true),
                Axis::FollowingSibling | Axis::PrecedingSibling if single => (false, true),
                Axis::Ancestor | Axis::AncestorOrSelf | Axis::Following | Axis::Preceding if single => (false, false),
                _ => return false,
            };
        }
        true
    }
}
