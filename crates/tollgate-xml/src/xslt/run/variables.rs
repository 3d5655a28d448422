//! Variables and parameters (XSLT 1.0, section 11): those of templates on a stack, those of the stylesheet evaluated when
//! they are first asked for.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::Run;
use crate::error::{Error, ErrorKind};
use crate::forest::Item;
use crate::tree::{NodeId, Place};
use crate::xpath::Host;
use crate::xpath::evaluate::Context;
use crate::xpath::value::{Text, Value};
use crate::xslt::Parameter;
use crate::xslt::functions::{DEFERRED, function_of, scope_of};
use crate::xslt::program::{Binding, GLOBAL, GlobalKind};
use crate::xslt::result::Output;

/// The values of all variables.
pub(super) struct Variables<'e> {
    /// The frames of the templates that have called each other, behind each other.
    stack: RefCell<Vec<Option<Value<'e>>>>,
    /// The start of the innermost frame.
    base: Cell<usize>,
    globals: RefCell<Vec<GlobalState<'e>>>,
}

#[derive(Debug, Clone)]
enum GlobalState<'e> {
    Unknown,
    /// Being evaluated; a request now is part of a circle.
    Underway,
    Known(Value<'e>),
}

/// The frame to go back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    base: usize,
}

impl<'e> Variables<'e> {
    pub(super) fn new(globals: usize) -> Variables<'e> {
        let globals = RefCell::new(vec![GlobalState::Unknown; globals]);
        Variables { stack: RefCell::default(), base: Cell::new(0), globals }
    }

    pub(super) fn enter(&self, slots: u32) -> Frame {
        let mut stack = self.stack.borrow_mut();
        let frame = Frame { base: self.base.replace(stack.len()) };
        let end = stack.len() + slots as usize;
        stack.resize(end, None);
        frame
    }

    pub(super) fn leave(&self, frame: Frame) {
        let mut stack = self.stack.borrow_mut();
        stack.truncate(self.base.get());
        self.base.set(frame.base);
    }

    pub(super) fn set(&self, slot: u32, value: Value<'e>) {
        self.stack.borrow_mut()[self.base.get() + slot as usize] = Some(shared(value));
    }

    pub(super) fn is_set(&self, slot: u32) -> bool {
        self.stack.borrow()[self.base.get() + slot as usize].is_some()
    }
}

/// The same value, cheap to hand out again and again.
fn shared(value: Value<'_>) -> Value<'_> {
    match value {
        Value::String(Text::Owned(text)) => Value::String(Text::Shared(Rc::from(text))),
        other => other,
    }
}

impl<'e> Run<'e> {
    /// The value that a variable is bound to.
    pub(super) fn bound(&self, context: &Context<'e, '_>, binding: &'e Binding) -> Result<Value<'e>, Error> {
        match binding {
            Binding::Select(expression) => {
                let value = context.value(expression)?;
                match &value {
                    Value::String(Text::Owned(text)) => context.environment.keep(text.len())?,
                    Value::Nodes(nodes) if Rc::strong_count(nodes) == 1 => {
                        context.environment.keep(size_of_val(&***nodes))?;
                    }
                    _ => {}
                }
                Ok(value)
            }
            Binding::Empty => Ok(Value::String(Text::Borrowed(""))),
            Binding::Fragment(block) => {
                let mut output = Output::fragment(self.budget, &context.environment.meter)?;
                self.block(context, block, &mut output)?;
                let tree = output.into_tree()?;
                context.environment.keep(tree.memory_bytes())?;
                Ok(Value::Fragment(Rc::new(tree)))
            }
        }
    }

    /// Evaluates every variable of the stylesheet, so that an error in an unused one is reported, too.
    pub(super) fn check_globals(&self, context: &Context<'e, '_>) -> Result<(), Error> {
        for index in 0..self.program.globals.len() {
            self.global(index, context)?;
        }
        Ok(())
    }

    fn global(&self, index: usize, context: &Context<'e, '_>) -> Result<Value<'e>, Error> {
        let global = &self.program.globals[index];
        let state = self.variables.globals.borrow()[index].clone();
        match state {
            GlobalState::Known(value) => return Ok(value),
            GlobalState::Underway => {
                let message = format!("the value of `${}` depends on itself", global.name.1);
                return Err(self.program.located(Error::new(ErrorKind::Dynamic, message), global.spot));
            }
            GlobalState::Unknown => {}
        }
        self.variables.globals.borrow_mut()[index] = GlobalState::Underway;
        let given = self.parameters.iter().find(|(name, _)| crate::xslt::is_name(&global.name, name));
        let value = match given {
            Some((_, parameter)) if global.kind == GlobalKind::Parameter => match parameter {
                Parameter::String(text) => Value::String(Text::Borrowed(text)),
                Parameter::Number(number) => Value::Number(*number),
                Parameter::Boolean(boolean) => Value::Boolean(*boolean),
            },
            _ => {
                // It is evaluated at the root of the source, whoever asks for it (section 11.4).
                let item = Item::of_first(Place::of(NodeId::ROOT));
                let context = Context { item, position: 1, size: 1, ..*context };
                let current = self.current.replace(item);
                let rule = self.rule.take();
                let frame = self.variables.enter(global.slots);
                let value = self.bound(&context, &global.value);
                self.variables.leave(frame);
                self.rule.set(rule);
                self.current.set(current);
                value.map_err(|error| self.program.located(error, global.spot))?
            }
        };
        let value = shared(value);
        self.variables.globals.borrow_mut()[index] = GlobalState::Known(value.clone());
        Ok(value)
    }
}

impl<'e> Host<'e> for Run<'e> {
    fn variable(&self, number: u32, context: &Context<'e, '_>) -> Result<Value<'e>, Error> {
        if number & GLOBAL != 0 {
            return self.global((number & !GLOBAL) as usize, context);
        }
        let stack = self.variables.stack.borrow();
        let value = stack[self.variables.base.get() + number as usize].clone();
        Ok(value.expect("a variable is visible only behind its declaration"))
    }

    fn call(&self, number: u32, arguments: Vec<Value<'e>>, context: &Context<'e, '_>) -> Result<Value<'e>, Error> {
        if number & DEFERRED != 0 {
            return Err(self.program.deferred[(number & !DEFERRED) as usize].clone());
        }
        self.function(function_of(number), scope_of(number), arguments, context)
    }
}
