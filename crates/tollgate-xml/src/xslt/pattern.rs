//! Patterns (XSLT 1.0, section 5.2): read as expressions, turned around, and compared with a node from its end.

use std::ops::ControlFlow;

use crate::error::{Error, ErrorKind};
use crate::forest::NameIndex;
use crate::forest::{Item, View};
use crate::tree::{NodeId, NodeKind, Place};
use crate::xpath::axis::Axis;
use crate::xpath::evaluate::Context;
use crate::xpath::expression::{Expression, Needs, NodeTest, Path, Start, Step};
use crate::xpath::walk::{Test, ended};

use super::functions::{CURRENT, function_of};
use super::positions::Positions;

/// A pattern: alternatives; one match is enough.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(crate) alternatives: Vec<Alternative>,
}

/// One alternative.
#[derive(Debug, Clone)]
pub(crate) struct Alternative {
    /// The steps, the last first.
    steps: Vec<PatternStep>,
    anchor: Anchor,
}

/// The anchor before the first step.
#[derive(Debug, Clone)]
enum Anchor {
    /// Nothing.
    Anywhere,
    /// The root.
    Root,
    /// `id()` or `key()`.
    Nodes(Box<Expression>),
}

#[derive(Debug, Clone)]
struct PatternStep {
    /// The step as it is walked from the parent: a child or an attribute.
    step: Step,
    /// Its link to the part before it: the next step here, or the anchor.
    link: Link,
    /// Whether it always leads to the same nodes: it does not call `current()`.
    is_stable: bool,
}

/// The link between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// `/`.
    Parent,
    /// `//`.
    Ancestor,
}

/// The nodes that an alternative can match at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Root,
    Element(Option<NameIndex>),
    Attribute(Option<NameIndex>),
    Text,
    Comment,
    ProcessingInstruction,
    /// Any node but the root and attributes.
    Child,
    /// Anything: an `id()` or `key()` by itself.
    Any,
}

impl Pattern {
    /// Makes a pattern of an expression.
    ///
    /// # Errors
    /// Says why it is none.
    pub(crate) fn of(expression: Expression) -> Result<Pattern, Error> {
        let parts = match expression {
            Expression::Union(parts) => parts,
            single => vec![single],
        };
        let alternatives = parts.into_iter().map(Alternative::of).collect::<Result<_, _>>()?;
        Ok(Pattern { alternatives })
    }

    /// Whether a node matches.
    pub(crate) fn matches<'e>(
        &'e self,
        context: &Context<'e, '_>,
        positions: &Positions,
        item: Item,
    ) -> Result<bool, Error> {
        for alternative in &self.alternatives {
            if alternative.matches(context, positions, item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a node that matches once does so in the whole run.
    pub(crate) fn is_stable(&self) -> bool {
        self.alternatives.iter().flat_map(|alternative| &alternative.steps).all(|step| step.is_stable)
    }
}

impl Alternative {
    fn of(expression: Expression) -> Result<Alternative, Error> {
        let wrong = |message: &str| Err(Error::new(ErrorKind::Static, message));
        let path = match expression {
            Expression::Path(path) => path,
            call if is_anchor(&call) => Path { start: Start::Nodes(Box::new(call), Vec::new()), steps: Vec::new() },
            _ => return wrong("no pattern: a path of child and attribute steps was expected"),
        };
        let mut steps = Vec::new();
        // What a step is linked to is what stands before it.
        let mut link = Link::Parent;
        for step in path.steps {
            let is_gap =
                step.axis == Axis::DescendantOrSelf && step.test == NodeTest::Node && step.predicates.is_empty();
            if is_gap {
                link = Link::Ancestor;
                continue;
            }
            let (axis, linked) = match step.axis {
                Axis::Child | Axis::Attribute => (step.axis, link),
                // What the compiler of paths makes of `//name`.
                Axis::Descendant => (Axis::Child, Link::Ancestor),
                _ => return wrong("no pattern: its steps go to children or attributes"),
            };
            let is_stable =
                !step.predicates.iter().any(|predicate| predicate.calls(&|called| function_of(called) == CURRENT));
            steps.push(PatternStep { step: Step { axis, ..step }, link: linked, is_stable });
            link = Link::Parent;
        }
        if link == Link::Ancestor {
            return wrong("no pattern: `//` stands at its end");
        }
        steps.reverse();
        let anchor = match path.start {
            Start::Context if steps.is_empty() => return wrong("no pattern: it has no step"),
            Start::Context => Anchor::Anywhere,
            Start::Root => Anchor::Root,
            Start::Nodes(nodes, predicates) if predicates.is_empty() && is_anchor(&nodes) => Anchor::Nodes(nodes),
            Start::Nodes(..) => return wrong("no pattern: only id() and key() of fixed values may begin one"),
        };
        Ok(Alternative { steps, anchor })
    }

    /// The priority that it has by itself (section 5.5).
    pub(crate) fn default_priority(&self) -> f64 {
        let (Anchor::Anywhere, [only]) = (&self.anchor, &*self.steps) else {
            return 0.5;
        };
        if !only.step.predicates.is_empty() {
            return 0.5;
        }
        match &only.step.test {
            NodeTest::Name(_) | NodeTest::Instruction(Some(_)) | NodeTest::Prefix(_) => 0.0,
            NodeTest::Namespace(_) => -0.25,
            _ => -0.5,
        }
    }

    /// The nodes that it can match.
    pub(crate) fn subject(&self) -> Subject {
        let Some(last) = self.steps.first() else {
            return match self.anchor {
                Anchor::Root => Subject::Root,
                Anchor::Nodes(..) | Anchor::Anywhere => Subject::Any,
            };
        };
        match (&last.step.test, last.step.axis) {
            (NodeTest::Name(name), Axis::Attribute) => Subject::Attribute(Some(*name)),
            (NodeTest::Name(name), _) => Subject::Element(Some(*name)),
            (NodeTest::Node | NodeTest::Any | NodeTest::Namespace(_), Axis::Attribute) => Subject::Attribute(None),
            (NodeTest::Any | NodeTest::Namespace(_) | NodeTest::Prefix(_), _) => Subject::Element(None),
            (NodeTest::Text, _) => Subject::Text,
            (NodeTest::Comment, _) => Subject::Comment,
            (NodeTest::Instruction(_), _) => Subject::ProcessingInstruction,
            (NodeTest::Node, _) => Subject::Child,
        }
    }

    /// Whether a node matches.
    pub(crate) fn matches<'e>(
        &'e self,
        context: &Context<'e, '_>,
        positions: &Positions,
        item: Item,
    ) -> Result<bool, Error> {
        if item.place.namespace != 0 {
            return Ok(false);
        }
        self.matches_from(context, positions, item, 0)
    }

    /// Whether `item` matches the steps from `index` on, which go outwards.
    fn matches_from<'e>(
        &'e self,
        context: &Context<'e, '_>,
        positions: &Positions,
        item: Item,
        index: usize,
    ) -> Result<bool, Error> {
        let Some(step) = self.steps.get(index) else {
            return match &self.anchor {
                Anchor::Anywhere => Ok(true),
                Anchor::Root => Ok(item.place.node == NodeId::ROOT),
                Anchor::Nodes(nodes) => {
                    let context = Context { item, ..*context };
                    Ok(context.nodes(nodes)?.binary_search(&item).is_ok())
                }
            };
        };
        let view = context.environment.forest.view(item.document);
        if !step.matches(context, positions, view, item)? {
            return Ok(false);
        }
        let is_first = index + 1 == self.steps.len();
        if is_first && matches!(self.anchor, Anchor::Anywhere) {
            return Ok(true);
        }
        let mut outer = view.document.parent(item.place.node);
        while let Some(node) = outer {
            if self.matches_from(context, positions, item.beside(Place::of(node)), index + 1)? {
                return Ok(true);
            }
            if step.link == Link::Parent {
                return Ok(false);
            }
            context.environment.spend(1)?;
            outer = view.document.parent(node);
        }
        Ok(false)
    }
}

impl PatternStep {
    fn matches<'e>(
        &'e self,
        context: &Context<'e, '_>,
        positions: &Positions,
        view: View<'e>,
        item: Item,
    ) -> Result<bool, Error> {
        let (step, node) = (&self.step, item.place.node);
        let is_attribute = view.document.kind(node) == NodeKind::Attribute;
        if is_attribute != (step.axis == Axis::Attribute) || node == NodeId::ROOT {
            return Ok(false);
        }
        match Test::new(&step.test, step.axis, view) {
            Some(test) if test.holds(view, item.place) => {}
            _ => return Ok(false),
        }
        if step.predicates.is_empty() {
            return Ok(true);
        }
        if step.predicates.iter().all(|predicate| predicate.needs() == Needs::Node) {
            for predicate in &step.predicates {
                if !context.holds(predicate, item, 1, 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        // Positions are those among the nodes that the step leads to from the parent.
        let Some(parent) = view.document.parent(node) else { return Ok(false) };
        let address = std::ptr::from_ref(self).addr();
        if let Some(known) = positions.known(address, item.document, parent, node) {
            return Ok(known);
        }
        let mut found = Vec::new();
        ended(context.step(step, item.beside(Place::of(parent)), &mut |met| {
            found.push(met.place.node);
            ControlFlow::Continue(())
        }))?;
        if self.is_stable {
            positions.keep(address, item.document, view.document.node_count(), parent, &found);
        }
        Ok(found.binary_search(&node).is_ok())
    }
}

/// `id('…')` and `key('…', '…')` may begin a pattern.
fn is_anchor(expression: &Expression) -> bool {
    match expression {
        Expression::Call(function, arguments) => {
            function.kind() == crate::xpath::Kind::Nodes
                && arguments.iter().all(|argument| matches!(argument, Expression::Literal(_)))
        }
        Expression::Foreign(function, arguments) => {
            super::functions::function_of(*function) == super::functions::KEY
                && arguments.iter().all(|argument| matches!(argument, Expression::Literal(_)))
        }
        _ => false,
    }
}
