//! A program run over a document: templates called, instructions carried out, within the budget.

mod copy;
mod functions;
mod instructions;
mod keys;
mod names;
mod number;
mod sort;
mod variables;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use self::keys::Keys;
use self::number::Counts;
use self::variables::Variables;
use super::load::Loader;
use super::positions::Positions;
use super::program::{ApplyTemplates, Argument, Block, ExpandedName, Program, Template};
use super::result::{Escaping, Output};
use super::{Parameter, RunOptions, Transformed};
use crate::budget::{Budget, exceeded};
use crate::error::{Error, ErrorKind};
use crate::forest::{Forest, Item, NAMES_INLINE};
use crate::serialize::Method;
use crate::tree::{Document, NodeId, NodeKind, Place};
use crate::xpath::evaluate::{Context, Environment};
use crate::xpath::value::Value;

/// Steps that it takes to find a node's rule.
const APPLIED_STEPS: u64 = 4;
/// Steps that it takes to carry out an instruction, beside those of what is in it.
const INSTRUCTION_STEPS: u64 = 4;

/// Runs a program.
pub(super) fn run(program: &Program, document: &Document<'_>, options: &RunOptions<'_>) -> Result<Transformed, Error> {
    let default = Budget { instructions_max: document.steps_max(), ..Budget::default() };
    let budget = options.budget.unwrap_or(&default);
    let mut room = [None; NAMES_INLINE];
    let forest = Forest::new(document, &program.names, &mut room);
    let environment = Environment::new(&forest, budget);
    let run = Run {
        program,
        forest: &forest,
        budget,
        loader: options.loader,
        parameters: options.parameters,
        variables: Variables::new(program.globals.len()),
        keys: Keys::default(),
        positions: Positions::default(),
        counts: Counts::default(),
        loaded: RefCell::default(),
        nodes: Cell::new(document.node_count()),
        fragments: RefCell::default(),
        messages: RefCell::default(),
        message_bytes: Cell::new(0),
        current: Cell::new(Item::of_first(Place::of(NodeId::ROOT))),
        rule: Cell::new(None),
        depth: Cell::new(0),
    };
    let result = run.result(&environment);
    let messages = run.messages.take();
    match result {
        Ok((bytes, method)) => Ok(Transformed { bytes, method, messages }),
        Err(error) => Err(error.after(messages)),
    }
}

/// The state of a run.
struct Run<'e> {
    program: &'e Program,
    forest: &'e Forest<'e>,
    budget: &'e Budget,
    loader: &'e dyn Loader,
    parameters: &'e [(&'e str, Parameter<'e>)],
    variables: Variables<'e>,
    keys: Keys,
    /// The nodes of patterns with positional predicates.
    positions: Positions,
    counts: Counts,
    /// Documents that were loaded, by their names.
    loaded: RefCell<HashMap<String, u32>>,
    /// Nodes of the input and of the documents that were loaded.
    nodes: Cell<usize>,
    /// Fragments that became documents, by their addresses, with the numbers that they got.
    fragments: RefCell<HashMap<usize, (Rc<Document<'static>>, u32)>>,
    messages: RefCell<Vec<String>>,
    /// Bytes of them, and of what keeps them.
    message_bytes: Cell<usize>,
    /// The node of `current()`.
    current: Cell<Item>,
    /// The rule that is being carried out, for `xsl:apply-imports`.
    rule: Cell<Option<Rule>>,
    /// Templates that have called each other.
    depth: Cell<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Rule {
    template: u32,
    mode: u32,
}

/// Values for parameters of a template.
type Arguments<'e> = Vec<(&'e ExpandedName, Value<'e>)>;

impl<'e> Run<'e> {
    /// The whole run: its bytes, and the method that they are written by.
    fn result(&self, environment: &Environment<'e>) -> Result<(Vec<u8>, Method), Error> {
        let mut output = Output::document(&self.program.output, self.budget, &environment.meter)?;
        let root = Item::of_first(Place::of(NodeId::ROOT));
        let context = Context { environment, host: self, item: root, position: 1, size: 1 };
        self.check_globals(&context)?;
        self.apply(&context, 0, Vec::new(), &mut output)?;
        output.into_bytes(&self.program.output)
    }

    /// Applies the best rule to the node of a context.
    fn apply(
        &self,
        context: &Context<'e, '_>,
        mode: u32,
        arguments: Arguments<'e>,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        self.apply_among(context, mode, 0..u32::MAX, arguments, output)
    }

    fn apply_among(
        &self,
        context: &Context<'e, '_>,
        mode: u32,
        precedences: std::ops::Range<u32>,
        arguments: Arguments<'e>,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let item = context.item;
        let before = self.current.replace(item);
        let rules = &self.program.modes[mode as usize];
        // A namespace node has the rule of a text that says nothing.
        let template = match item.place.namespace {
            0 => {
                let view = self.forest.view(item.document);
                rules.template(self.program, context, &self.positions, view, item, precedences)?
            }
            _ => None,
        };
        match template {
            Some(template) => {
                let rule = self.rule.replace(Some(Rule { template, mode }));
                self.call(context, template, arguments, output)?;
                self.rule.set(rule);
            }
            None => self.built_in(context, mode, output)?,
        }
        self.current.set(before);
        Ok(())
    }

    /// The rules that every stylesheet has (section 5.8).
    fn built_in(&self, context: &Context<'e, '_>, mode: u32, output: &mut Output<'_>) -> Result<(), Error> {
        let Item { document, place } = context.item;
        if place.namespace != 0 {
            return Ok(());
        }
        let document = self.forest.view(document).document;
        match document.kind(place.node) {
            NodeKind::Root | NodeKind::Element => {
                self.deeper()?;
                self.apply_to_children(context, mode, output)?;
                self.shallower();
                Ok(())
            }
            NodeKind::Text | NodeKind::Attribute => output.text(document.value(place.node), Escaping::Enabled),
            NodeKind::Comment | NodeKind::ProcessingInstruction => Ok(()),
        }
    }

    /// Applies rules to the children, without sorting and without parameters.
    fn apply_to_children(&self, context: &Context<'e, '_>, mode: u32, output: &mut Output<'_>) -> Result<(), Error> {
        let item = context.item;
        let document = self.forest.view(item.document).document;
        let node = item.place.node;
        context.environment.spend(u64::from(document.attribute_count(node)))?;
        let size = document.children(node).count();
        for (index, child) in document.children(node).enumerate() {
            context.environment.spend(APPLIED_STEPS)?;
            let context = Context { item: item.beside(Place::of(child)), position: index + 1, size, ..*context };
            self.apply(&context, mode, Vec::new(), output)?;
        }
        Ok(())
    }

    fn apply_templates(
        &self,
        context: &Context<'e, '_>,
        instruction: &'e ApplyTemplates,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        if instruction.select.is_none() && instruction.sorts.is_empty() && instruction.arguments.is_empty() {
            return match context.item.place.namespace {
                0 => self.apply_to_children(context, instruction.mode, output),
                _ => Ok(()),
            };
        }
        let arguments = self.arguments(context, &instruction.arguments)?;
        let nodes = match &instruction.select {
            Some(select) => context.nodes(select)?,
            None => {
                let Item { document, place } = context.item;
                let document = self.forest.view(document).document;
                let children = document.children(place.node);
                Rc::new(children.map(|child| context.item.beside(Place::of(child))).collect())
            }
        };
        let nodes = self.sorted(context, nodes, &instruction.sorts)?;
        for (index, item) in nodes.iter().enumerate() {
            context.environment.spend(APPLIED_STEPS)?;
            let context = Context { item: *item, position: index + 1, size: nodes.len(), ..*context };
            self.apply(&context, instruction.mode, arguments.clone(), output)?;
        }
        Ok(())
    }

    /// `xsl:apply-imports` (section 5.6).
    fn apply_imports(&self, context: &Context<'e, '_>, output: &mut Output<'_>) -> Result<(), Error> {
        let Some(Rule { template, mode }) = self.rule.get() else {
            return Err(Error::new(ErrorKind::Dynamic, "`xsl:apply-imports` outside of a rule, or in `xsl:for-each`"));
        };
        let Template { precedence, least_imported, .. } = self.program.templates[template as usize];
        self.apply_among(context, mode, least_imported..precedence, Vec::new(), output)
    }

    /// Carries out a template.
    fn call(
        &self,
        context: &Context<'e, '_>,
        template: u32,
        arguments: Arguments<'e>,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let template = &self.program.templates[template as usize];
        self.deeper()?;
        let frame = self.variables.enter(template.slots);
        for (name, value) in arguments {
            if let Some((_, slot)) = template.parameters.iter().find(|(known, _)| known == name) {
                self.variables.set(*slot, value);
            }
        }
        let outcome = self.block(context, &template.body, output);
        self.variables.leave(frame);
        self.shallower();
        outcome
    }

    fn deeper(&self) -> Result<(), Error> {
        let depth = self.depth.get() + 1;
        if depth > self.budget.template_depth_max {
            return Err(exceeded("templates that call each other", self.budget.template_depth_max as u64));
        }
        self.depth.set(depth);
        Ok(())
    }

    fn shallower(&self) {
        self.depth.set(self.depth.get() - 1);
    }

    /// The values of `xsl:with-param`, evaluated in the caller's context.
    fn arguments(&self, context: &Context<'e, '_>, arguments: &'e [Argument]) -> Result<Arguments<'e>, Error> {
        let evaluated = arguments.iter().map(|argument| Ok((&argument.name, self.bound(context, &argument.value)?)));
        evaluated.collect()
    }

    /// Instructions in order.
    fn block(&self, context: &Context<'e, '_>, block: &'e Block, output: &mut Output<'_>) -> Result<(), Error> {
        context.environment.stack.check()?;
        for instruction in block {
            context.environment.spend(INSTRUCTION_STEPS)?;
            if let Err(error) = self.instruction(context, &instruction.action, output) {
                return Err(self.program.located(error, instruction.spot));
            }
        }
        Ok(())
    }
}
