//! Compiles an expression for the scanner: every step is a bit of a word, a path is a row of neighbouring bits, and the
//! condition combines truths that the paths find.

use super::super::axis::Axis;
use super::super::expression::{Comparison, Expression, NodeTest, Path, Start, Step};
use super::super::functions::Function;
use crate::forest::NameTable;

/// Steps of all paths together: the bits of a word.
const STEPS_MAX: u32 = u64::BITS;

/// The program of a scanner.
#[derive(Debug, Clone, Default)]
pub(super) struct Automaton {
    pub(super) condition: Condition,
    /// The truths under the condition, by their numbers.
    pub(super) truths: Vec<Truth>,
    /// The first steps of all paths.
    pub(super) first: u64,
    /// The last steps of all paths.
    pub(super) last: u64,
    /// Last steps whose node is asked for its value.
    pub(super) valued: u64,
    /// Steps that may lead to any depth.
    pub(super) deep: u64,
    pub(super) elements: Tests,
    pub(super) attributes: Tests,
    /// Steps to texts.
    pub(super) texts: u64,
}

/// The condition.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Condition {
    #[default]
    False,
    True,
    Truth(u32),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

/// Something that nodes of a path decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Truth {
    /// The path's last step.
    pub(super) step: u64,
    pub(super) question: Question,
    pub(super) literal: Box<[u8]>,
}

/// The question about the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// Whether there is one.
    Exists,
    /// Whether the value of any is the literal.
    AnyIs,
    /// Whether the value of any is not the literal.
    AnyIsNot,
    /// Whether the value of the first is the literal; without a node it is empty.
    FirstIs,
    FirstIsNot,
    FirstContains,
    FirstStartsWith,
}

/// Steps by the names that they want.
#[derive(Debug, Clone, Default)]
pub(super) struct Tests {
    /// All steps.
    pub(super) all: u64,
    /// Steps to any name.
    any: u64,
    /// Steps to any name of a namespace.
    namespaces: Vec<(u64, Box<[u8]>)>,
    names: Vec<Named>,
}

/// Steps to a name.
#[derive(Debug, Clone)]
struct Named {
    steps: u64,
    uri: Box<[u8]>,
    local: Box<[u8]>,
}

impl Automaton {
    pub(super) fn of(expression: &Expression, names: &NameTable) -> Option<Automaton> {
        let mut maker = Maker { automaton: Automaton::default(), names, steps: 0 };
        let condition = maker.condition(expression)?;
        Some(Automaton { condition, ..maker.automaton })
    }
}

impl Tests {
    /// The steps among `wanted` that lead to a name.
    #[inline]
    pub(super) fn matching(&self, wanted: u64, uri: &[u8], local: &[u8]) -> u64 {
        let mut found = wanted & self.any;
        for Named { steps, uri: known_uri, local: known } in &self.names {
            if wanted & steps != 0 && **known == *local && **known_uri == *uri {
                found |= wanted & steps;
            }
        }
        for (steps, known_uri) in &self.namespaces {
            if wanted & steps != 0 && **known_uri == *uri {
                found |= wanted & steps;
            }
        }
        found
    }

    fn add(&mut self, bit: u64, test: &NodeTest, names: &NameTable) -> Option<()> {
        self.all |= bit;
        match test {
            NodeTest::Any => self.any |= bit,
            NodeTest::Namespace(uri) => self.namespaces.push((bit, uri.as_bytes().into())),
            NodeTest::Name(index) => {
                let (uri, local) = names.text(*index);
                let (uri, local) = (uri.as_bytes(), local.as_bytes());
                match self.names.iter_mut().find(|known| *known.local == *local && *known.uri == *uri) {
                    Some(known) => known.steps |= bit,
                    None => self.names.push(Named { steps: bit, uri: uri.into(), local: local.into() }),
                }
            }
            _ => return None,
        }
        Some(())
    }
}

struct Maker<'n> {
    automaton: Automaton,
    names: &'n NameTable,
    steps: u32,
}

impl Maker<'_> {
    fn condition(&mut self, expression: &Expression) -> Option<Condition> {
        Some(match expression {
            Expression::And(left, right) => {
                Condition::And(Box::new(self.condition(left)?), Box::new(self.condition(right)?))
            }
            Expression::Or(left, right) => {
                Condition::Or(Box::new(self.condition(left)?), Box::new(self.condition(right)?))
            }
            Expression::Path(path) => self.truth(path, Question::Exists, "")?,
            Expression::Compare(comparison, left, right) => {
                let (nodes, literal) = match (&**left, &**right) {
                    (nodes, Expression::Literal(literal)) | (Expression::Literal(literal), nodes) => (nodes, literal),
                    _ => return None,
                };
                match (comparison, first_of(nodes)) {
                    (Comparison::Equal, Some(path)) => self.truth(path, Question::FirstIs, literal)?,
                    (Comparison::Unequal, Some(path)) => self.truth(path, Question::FirstIsNot, literal)?,
                    (Comparison::Equal, None) => self.truth(path_of(nodes)?, Question::AnyIs, literal)?,
                    (Comparison::Unequal, None) => self.truth(path_of(nodes)?, Question::AnyIsNot, literal)?,
                    _ => return None,
                }
            }
            Expression::Call(Function::True, _) => Condition::True,
            Expression::Call(Function::False, _) => Condition::False,
            Expression::Call(Function::Boolean, arguments) => self.condition(arguments.first()?)?,
            Expression::Call(Function::Not, arguments) => Condition::Not(Box::new(self.condition(arguments.first()?)?)),
            Expression::Call(function @ (Function::Contains | Function::StartsWith), arguments) => {
                let [text, Expression::Literal(literal)] = &arguments[..] else { return None };
                let path = first_of(text).or_else(|| path_of(text))?;
                let question =
                    if *function == Function::Contains { Question::FirstContains } else { Question::FirstStartsWith };
                self.truth(path, question, literal)?
            }
            _ => return None,
        })
    }

    fn truth(&mut self, path: &Path, question: Question, literal: &str) -> Option<Condition> {
        let step = self.path(path)?;
        self.automaton.last |= step;
        if question != Question::Exists {
            self.automaton.valued |= step;
        }
        self.automaton.truths.push(Truth { step, question, literal: literal.as_bytes().into() });
        Some(Condition::Truth(crate::names::number(self.automaton.truths.len() - 1)))
    }

    /// Adds the steps of a path; the last of them.
    fn path(&mut self, path: &Path) -> Option<u64> {
        // The context is the root: what begins there begins at the root.
        if matches!(path.start, Start::Nodes(..)) {
            return None;
        }
        let mut last = None;
        let mut gap = false;
        for Step { axis, test, predicates } in &path.steps {
            if !predicates.is_empty()
                || last.is_some_and(|bit| (self.automaton.attributes.all | self.automaton.texts) & bit != 0)
            {
                return None;
            }
            match (axis, test) {
                (Axis::SelfNode, NodeTest::Node) if !gap => continue,
                (Axis::DescendantOrSelf, NodeTest::Node) => {
                    gap = true;
                    continue;
                }
                _ => {}
            }
            if self.steps == STEPS_MAX {
                return None;
            }
            let bit = 1 << self.steps;
            self.steps += 1;
            match (axis, test) {
                (Axis::Child | Axis::Descendant, NodeTest::Text) => self.automaton.texts |= bit,
                (Axis::Child | Axis::Descendant, test) => self.automaton.elements.add(bit, test, self.names)?,
                (Axis::Attribute, test) => self.automaton.attributes.add(bit, test, self.names)?,
                _ => return None,
            }
            if gap || *axis == Axis::Descendant {
                self.automaton.deep |= bit;
            }
            if last.is_none() {
                self.automaton.first |= bit;
            }
            last = Some(bit);
            gap = false;
        }
        last.filter(|_| !gap)
    }
}

/// The path of `string(path)`, which means its first node.
fn first_of(expression: &Expression) -> Option<&Path> {
    match expression {
        Expression::Call(Function::String, arguments) => path_of(arguments.first()?),
        _ => None,
    }
}

fn path_of(expression: &Expression) -> Option<&Path> {
    match expression {
        Expression::Path(path) => Some(path),
        _ => None,
    }
}
