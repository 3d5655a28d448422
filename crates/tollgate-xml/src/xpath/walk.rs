//! Location paths walked: steps from a node, each node met at once, so that who needs only one can stop.

use std::ops::ControlFlow;

use super::axis::{Axis, Principal, each};
use super::evaluate::Context;
use super::expression::{Needs, NodeTest, Path, Predicate, Start, Step};
use crate::error::Error;
use crate::forest::{Item, View};
use crate::tree::{NodeKind, Place, place};

/// The reason why a walk ended before its last node.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The caller needs no more nodes.
    Enough,
    /// Evaluation failed.
    Failed(Box<Error>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(Box::new(error))
    }
}

/// Whether a walk goes on.
pub(crate) type Flow = ControlFlow<Stop>;

/// The result of a walk: whether the caller had enough.
pub(crate) fn ended(flow: Flow) -> Result<bool, Error> {
    match flow {
        ControlFlow::Continue(()) => Ok(false),
        ControlFlow::Break(Stop::Enough) => Ok(true),
        ControlFlow::Break(Stop::Failed(error)) => Err(*error),
    }
}

fn failed(error: Error) -> Flow {
    ControlFlow::Break(error.into())
}

/// Predicates of one step whose positions are counted without allocation.
const PREDICATES_INLINE: usize = 4;

impl<'e> Context<'e, '_> {
    /// Meets every node of a path, in the order of its axes; nodes may be met more than once.
    pub(crate) fn walk_path(&self, path: &'e Path, meet: &mut dyn FnMut(Item) -> Flow) -> Flow {
        match &path.start {
            Start::Context => self.walk_from(path, &[self.item], meet),
            Start::Root => {
                let root = self.item.beside(Place::of(crate::tree::NodeId::ROOT));
                self.walk_from(path, &[root], meet)
            }
            Start::Nodes(nodes, predicates) => {
                let all = match self.nodes(nodes) {
                    Ok(items) => items,
                    Err(error) => return failed(error),
                };
                if let Err(error) = self.environment.spend(all.len() as u64) {
                    return failed(error);
                }
                // Of a set that others hold too, only what is left is copied.
                let (left, predicates) = match &**predicates {
                    [Predicate::Position(position), rest @ ..] => (at_position(&all, *position), rest),
                    all_predicates => (&all[..], all_predicates),
                };
                if predicates.is_empty() {
                    return self.walk_from(path, left, meet);
                }
                let mut items = left.to_vec();
                for predicate in predicates {
                    if let Err(error) = self.filter(&mut items, predicate) {
                        return failed(error);
                    }
                }
                self.walk_from(path, &items, meet)
            }
        }
    }

    /// Meets what a path's steps lead to from each of `from`.
    fn walk_from(&self, path: &'e Path, from: &[Item], meet: &mut dyn FnMut(Item) -> Flow) -> Flow {
        let (last, before) = match path.steps.split_last() {
            Some((last, before)) if !before.is_empty() && !path.meets_once() => (last, before),
            _ => return from.iter().try_for_each(|item| self.walk(&path.steps, *item, meet)),
        };
        // Where a step can lead to a node in more than one way, walking each way takes a time that grows with the power of
        // the steps (`//a//a//a`): such steps are taken one after another, each node once.
        let mut items = from.to_vec();
        for step in before {
            let mut next = Gathered::default();
            for item in &items {
                self.step(step, *item, &mut |met| {
                    next.add(met);
                    self.gathered_one()
                })?;
            }
            items = next.into_ordered();
        }
        items.into_iter().try_for_each(|item| self.step(last, item, meet))
    }

    /// Meets what `steps` lead to from `from`.
    fn walk(&self, steps: &'e [Step], from: Item, meet: &mut dyn FnMut(Item) -> Flow) -> Flow {
        match steps {
            [] => meet(from),
            [last] => self.step(last, from, meet),
            [step, rest @ ..] => match self.environment.stack.check() {
                Err(error) => failed(error),
                Ok(()) => self.step(step, from, &mut |item| self.walk(rest, item, meet)),
            },
        }
    }

    /// Meets the nodes of one step.
    pub(crate) fn step(&self, step: &'e Step, from: Item, meet: &mut dyn FnMut(Item) -> Flow) -> Flow {
        let view = self.environment.forest.view(from.document);
        let test = match Test::of(step, view) {
            Some(test) => test,
            // The document has no such name.
            None => return ControlFlow::Continue(()),
        };
        let spend = |steps: u32| match self.environment.spend(u64::from(steps)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => failed(error),
        };
        if step.axis == Axis::Namespace {
            // They are counted before any is met.
            spend(view.document.declarations_around(from.place.node))?;
        }
        let needs = step.predicates.iter().map(Predicate::needs).max().unwrap_or(Needs::Node);
        match (&*step.predicates, needs) {
            ([], _) => each(view.document, step.axis, from.place, spend, |place| {
                spend(1)?;
                if test.holds(view, place) { meet(from.beside(place)) } else { ControlFlow::Continue(()) }
            }),
            (predicates, Needs::Size) => {
                let mut met = Vec::new();
                each(view.document, step.axis, from.place, spend, |place| {
                    spend(1)?;
                    if test.holds(view, place) {
                        met.push(from.beside(place));
                    }
                    ControlFlow::Continue(())
                })?;
                for predicate in predicates {
                    if let Err(error) = self.filter(&mut met, predicate) {
                        return failed(error);
                    }
                }
                met.into_iter().try_for_each(meet)
            }
            (predicates, _) => self.step_counted(step, from, view, test, predicates, meet),
        }
    }

    /// As [`Context::step`], with predicates that use only the node and its position.
    fn step_counted(
        &self,
        step: &'e Step,
        from: Item,
        view: View<'e>,
        test: Test<'_>,
        predicates: &'e [Predicate],
        meet: &mut dyn FnMut(Item) -> Flow,
    ) -> Flow {
        let mut inline = [0_usize; PREDICATES_INLINE];
        let mut many;
        let counts = if predicates.len() <= PREDICATES_INLINE {
            &mut inline[..predicates.len()]
        } else {
            many = vec![0; predicates.len()];
            &mut many
        };
        // Behind the position that a first predicate wants, nothing can follow.
        let last_position = match predicates.first() {
            Some(Predicate::Position(position)) => *position,
            _ => f64::INFINITY,
        };
        let pass = |steps: u32| match self.environment.spend(u64::from(steps)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(Some(error.into())),
        };
        let walked = each(view.document, step.axis, from.place, pass, |place| {
            if let Err(error) = self.environment.spend(1) {
                return ControlFlow::Break(Some(error.into()));
            }
            if !test.holds(view, place) {
                return ControlFlow::Continue(());
            }
            let item = from.beside(place);
            let mut holds = true;
            for (predicate, count) in predicates.iter().zip(counts.iter_mut()) {
                *count += 1;
                match self.holds(predicate, item, *count, 0) {
                    Ok(true) => {}
                    Ok(false) => {
                        holds = false;
                        break;
                    }
                    Err(error) => return ControlFlow::Break(Some(error.into())),
                }
            }
            if holds && let ControlFlow::Break(stop) = meet(item) {
                return ControlFlow::Break(Some(stop));
            }
            if counts[0] as f64 >= last_position {
                return ControlFlow::Break(None);
            }
            ControlFlow::Continue(())
        });
        match walked {
            ControlFlow::Break(Some(stop)) => ControlFlow::Break(stop),
            ControlFlow::Break(None) | ControlFlow::Continue(()) => ControlFlow::Continue(()),
        }
    }

    /// Keeps only the items for which a predicate is true.
    fn filter(&self, items: &mut Vec<Item>, predicate: &'e Predicate) -> Result<(), Error> {
        let size = items.len();
        self.environment.spend(size as u64)?;
        match predicate {
            Predicate::Last => {
                let last = items.pop();
                items.clear();
                items.extend(last);
            }
            Predicate::Position(position) => {
                let found = at_position(items, *position).first().copied();
                items.clear();
                items.extend(found);
            }
            Predicate::Test { .. } => {
                let mut kept = 0;
                for index in 0..size {
                    if self.holds(predicate, items[index], index + 1, size)? {
                        items[kept] = items[index];
                        kept += 1;
                    }
                }
                items.truncate(kept);
            }
        }
        Ok(())
    }

    /// Whether a predicate is true for a node at its position.
    #[allow(clippy::float_cmp, reason = "a position is compared exactly, whatever number it is compared with")]
    pub(crate) fn holds(
        &self,
        predicate: &'e Predicate,
        item: Item,
        position: usize,
        size: usize,
    ) -> Result<bool, Error> {
        match predicate {
            Predicate::Position(expected) => Ok(position as f64 == *expected),
            Predicate::Last => Ok(position == size),
            Predicate::Test { expression, kind, .. } => {
                let context = Context { item, position, size, ..*self };
                match kind {
                    Some(super::Kind::Number) => Ok(position as f64 == context.number(expression)?),
                    Some(_) => context.boolean(expression),
                    None => match context.value(expression)? {
                        super::Value::Number(number) => Ok(position as f64 == number),
                        value => Ok(value.boolean()),
                    },
                }
            }
        }
    }
}

/// The item at a position, counted from one, if there is one.
fn at_position(items: &[Item], position: f64) -> &[Item] {
    let is_one = position >= 1.0 && position <= items.len() as f64 && position.fract() == 0.0;
    if is_one { std::slice::from_ref(&items[position as usize - 1]) } else { &[] }
}

/// Nodes that are met in any order and more than once, kept in the room that they need once.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    items: Vec<Item>,
    /// Items that were different when they were last looked at.
    different: usize,
}

/// Items that may wait before doubles among them are looked for.
const WAITING_MAX: usize = 1 << 16;

impl Gathered {
    #[inline]
    pub(crate) fn add(&mut self, item: Item) {
        self.items.push(item);
        if self.items.len() > 2 * self.different + WAITING_MAX {
            self.order();
        }
    }

    fn order(&mut self) {
        self.items.sort_unstable();
        self.items.dedup();
        self.different = self.items.len();
    }

    /// In document order, each once.
    pub(crate) fn into_ordered(mut self) -> Vec<Item> {
        self.order();
        self.items
    }
}

/// A node test with what its name is in one document.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Test<'t> {
    All,
    Kind(NodeKind),
    Target(&'t str),
    Principal(Principal),
    Namespace(Principal, &'t str),
    Prefix(&'t str),
    Element(crate::names::Name),
    Attribute(crate::names::Name),
}

impl<'t> Test<'t> {
    fn of(step: &'t Step, view: View<'_>) -> Option<Test<'t>> {
        Test::new(&step.test, step.axis, view)
    }

    /// `None` where no node of the document can pass.
    pub(crate) fn new(test: &'t NodeTest, axis: Axis, view: View<'_>) -> Option<Test<'t>> {
        let principal = axis.principal();
        Some(match test {
            NodeTest::Node => Test::All,
            NodeTest::Text => Test::Kind(NodeKind::Text),
            NodeTest::Comment => Test::Kind(NodeKind::Comment),
            NodeTest::Instruction(None) => Test::Kind(NodeKind::ProcessingInstruction),
            NodeTest::Instruction(Some(target)) => Test::Target(target),
            NodeTest::Any => Test::Principal(principal),
            NodeTest::Namespace(uri) => Test::Namespace(principal, uri),
            NodeTest::Prefix(prefix) => Test::Prefix(prefix),
            NodeTest::Name(index) => match principal {
                Principal::Element => Test::Element(view.name(*index)?),
                Principal::Attribute => Test::Attribute(view.name(*index)?),
                // A name with a prefix means a namespace, in which no namespace node stands.
                Principal::Namespace => return None,
            },
        })
    }

    /// Whether a node passes.
    #[inline]
    pub(crate) fn holds(self, view: View<'_>, place: Place) -> bool {
        let document = view.document;
        if place.namespace != 0 {
            return match self {
                Test::All | Test::Principal(Principal::Namespace) => true,
                Test::Prefix(expected) => {
                    place::namespace(document, place).is_some_and(|(prefix, _)| prefix == expected)
                }
                _ => false,
            };
        }
        let node = place.node;
        match self {
            Test::All => true,
            Test::Kind(kind) => document.kind(node) == kind,
            Test::Element(name) => document.is_element_named(node, name),
            Test::Attribute(name) => document.is_attribute_named(node, name),
            Test::Target(target) => {
                document.kind(node) == NodeKind::ProcessingInstruction && document.local_name(node) == target
            }
            Test::Principal(principal) => is_principal(document.kind(node), principal),
            Test::Namespace(principal, uri) => {
                is_principal(document.kind(node), principal) && document.namespace_uri(node) == uri
            }
            Test::Prefix(_) => false,
        }
    }
}

fn is_principal(kind: NodeKind, principal: Principal) -> bool {
    match principal {
        Principal::Element => kind == NodeKind::Element,
        Principal::Attribute => kind == NodeKind::Attribute,
        Principal::Namespace => false,
    }
}
