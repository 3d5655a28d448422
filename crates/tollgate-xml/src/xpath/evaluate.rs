//! Evaluation: an expression in a context, as the type that is needed, so that nothing is made only to be looked at.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use super::expression::{Expression, Operation, Path};
use super::surroundings::Host;
use super::value::{Text, Value, boolean_text, is_true};
use super::walk::{Flow, Gathered, Stop, ended};
use super::{Kind, number};
use crate::budget::{Budget, Meter, Stack, exceeded};
use crate::error::{Error, ErrorKind};
use crate::forest::{Forest, Item};
use crate::tree::place;

/// Shared state of all evaluations of one run.
pub(crate) struct Environment<'e> {
    pub(crate) forest: &'e Forest<'e>,
    pub(crate) meter: Meter,
    value_bytes_left: Cell<usize>,
    budget: &'e Budget,
    pub(crate) stack: Stack,
}

/// Context of an evaluation (section 1): the node, its position, and the size.
#[derive(Clone, Copy)]
pub(crate) struct Context<'e, 'x> {
    pub(crate) environment: &'x Environment<'e>,
    pub(crate) host: &'x dyn Host<'e>,
    pub(crate) item: Item,
    pub(crate) position: usize,
    pub(crate) size: usize,
}

impl<'e> Environment<'e> {
    pub(crate) fn new(forest: &'e Forest<'e>, budget: &'e Budget) -> Environment<'e> {
        let stack = Stack::new(budget.stack_bytes_max);
        let value_bytes_left = Cell::new(budget.value_bytes_max);
        Environment { forest, meter: Meter::new(budget.instructions_max), value_bytes_left, budget, stack }
    }

    /// Takes steps off the budget.
    #[inline]
    pub(crate) fn spend(&self, steps: u64) -> Result<(), Error> {
        self.meter.spend(steps)
    }

    /// The string-value of a node, a namespace node among them (section 5).
    pub(crate) fn string_value(&self, item: Item) -> Result<Text<'e>, Error> {
        let document = self.forest.view(item.document).document;
        let node = item.place.node;
        if item.place.namespace != 0 {
            self.spend(u64::from(document.declarations_around(node)))?;
            return Ok(Text::Borrowed(place::namespace(document, item.place).map_or("", |(_, uri)| uri)));
        }
        self.spend(VALUE_STEPS + u64::from(document.size(node)))?;
        let text = Text::from(document.string_value(node));
        if let Text::Owned(text) = &text {
            self.meter.copy(text.len())?;
        }
        Ok(text)
    }

    /// The number that a node's string-value is.
    pub(crate) fn number_of(&self, item: Item) -> Result<f64, Error> {
        self.spend(VALUE_STEPS)?;
        self.read_number(&self.string_value(item)?)
    }

    /// The number that a text is.
    pub(crate) fn read_number(&self, text: &str) -> Result<f64, Error> {
        if text.len() > DIGITS_FEW {
            // More digits than a double has are weighed against each other, up to some hundreds of them.
            self.spend(text.len().min(DIGITS_WEIGHED_MAX) as u64)?;
            self.meter.walk(text.len())?;
        }
        Ok(number::from_text(text))
    }

    /// A number as a text.
    pub(crate) fn number_text(&self, number: f64) -> Result<Text<'e>, Error> {
        self.spend(NUMBER_TEXT_STEPS)?;
        Ok(number::to_text(number).into())
    }

    /// Whether the string-value of a node is a text.
    pub(crate) fn is_text(&self, item: Item, text: &str) -> Result<bool, Error> {
        if item.place.namespace != 0 {
            return Ok(*self.string_value(item)? == *text);
        }
        let document = self.forest.view(item.document).document;
        let (is_same, walked) = document.string_value_compared(item.place.node, text);
        self.spend(VALUE_STEPS + u64::from(walked))?;
        self.meter.copy(text.len())?;
        Ok(is_same)
    }
}

/// Steps that it takes to sort a node among others.
const GATHERED_STEPS: u64 = 8;
/// Most bytes of a number whose digits a double can represent.
const DIGITS_FEW: usize = 16;
/// Most digits that are considered if a text has more than a double can represent.
const DIGITS_WEIGHED_MAX: usize = 800;
/// Steps to get a node's value, and a number from it, beside the nodes in it.
const VALUE_STEPS: u64 = 2;
/// Steps that writing a number takes.
const NUMBER_TEXT_STEPS: u64 = 16;

impl Environment<'_> {
    /// Takes the bytes of a value that is kept off the budget.
    pub(crate) fn keep(&self, bytes: usize) -> Result<(), Error> {
        match self.value_bytes_left.get().checked_sub(bytes) {
            Some(left) => {
                self.value_bytes_left.set(left);
                Ok(())
            }
            None => Err(exceeded("bytes of values", self.budget.value_bytes_max as u64)),
        }
    }

    /// Checks that a text may get this long.
    pub(crate) fn check_text(&self, bytes: usize) -> Result<(), Error> {
        if bytes > self.budget.text_bytes_max {
            return Err(exceeded("bytes of a text", self.budget.text_bytes_max as u64));
        }
        Ok(())
    }
}

impl<'e> Context<'e, '_> {
    /// The value, of any type.
    pub(crate) fn value(&self, expression: &'e Expression) -> Result<Value<'e>, Error> {
        match expression {
            Expression::Variable(variable) => self.host.variable(*variable, self),
            Expression::Foreign(function, arguments) => {
                let arguments = arguments.iter().map(|argument| self.value(argument)).collect::<Result<_, _>>()?;
                self.host.call(*function, arguments, self)
            }
            _ => match expression.kind() {
                Some(Kind::Boolean) => Ok(Value::Boolean(self.boolean(expression)?)),
                Some(Kind::Number) => Ok(Value::Number(self.number(expression)?)),
                Some(Kind::String) => Ok(Value::String(self.string(expression)?)),
                Some(Kind::Nodes) | None => Ok(Value::Nodes(self.nodes(expression)?)),
            },
        }
    }

    /// This context, if the stack allows for one more nested expression.
    #[inline]
    fn deeper(&self) -> Result<&Self, Error> {
        self.environment.stack.check().map(|()| self)
    }

    /// The value as a condition.
    pub(crate) fn boolean(&self, expression: &'e Expression) -> Result<bool, Error> {
        match expression {
            Expression::Or(left, right) => Ok(self.deeper()?.boolean(left)? || self.boolean(right)?),
            Expression::And(left, right) => Ok(self.deeper()?.boolean(left)? && self.boolean(right)?),
            Expression::Compare(comparison, left, right) => self.compare(*comparison, left, right),
            Expression::Path(_) | Expression::Union(_) => {
                self.visit(expression, &mut |_| ControlFlow::Break(Stop::Enough))
            }
            Expression::Literal(text) => Ok(!text.is_empty()),
            Expression::Number(number) => Ok(is_true(*number)),
            Expression::Arithmetic(..) | Expression::Negate(_) => Ok(is_true(self.number(expression)?)),
            Expression::Call(function, arguments) => match function.kind() {
                Kind::Boolean => self.call_boolean(*function, arguments),
                Kind::Number => Ok(is_true(self.call_number(*function, arguments)?)),
                Kind::String => Ok(!self.call_string(*function, arguments)?.is_empty()),
                Kind::Nodes => Ok(!self.nodes(expression)?.is_empty()),
            },
            Expression::Variable(_) | Expression::Foreign(..) => Ok(self.value(expression)?.boolean()),
        }
    }

    /// The value as a number.
    pub(crate) fn number(&self, expression: &'e Expression) -> Result<f64, Error> {
        match expression {
            Expression::Number(number) => Ok(*number),
            Expression::Negate(inner) => Ok(-self.number(inner)?),
            Expression::Arithmetic(operation, left, right) => {
                let (left, right) = (self.deeper()?.number(left)?, self.number(right)?);
                Ok(match operation {
                    Operation::Add => left + right,
                    Operation::Subtract => left - right,
                    Operation::Multiply => left * right,
                    Operation::Divide => left / right,
                    // The sign is that of the dividend, as in the language of this program (section 3.5).
                    Operation::Remainder => left % right,
                })
            }
            Expression::Call(function, arguments) if function.kind() == Kind::Number => {
                self.call_number(*function, arguments)
            }
            Expression::Or(..) | Expression::And(..) | Expression::Compare(..) => {
                Ok(f64::from(u8::from(self.boolean(expression)?)))
            }
            Expression::Call(function, _) if function.kind() == Kind::Boolean => {
                Ok(f64::from(u8::from(self.boolean(expression)?)))
            }
            Expression::Variable(_) | Expression::Foreign(..) => self.value(expression)?.number(self.environment),
            Expression::Literal(_) | Expression::Path(_) | Expression::Union(_) | Expression::Call(..) => {
                self.environment.read_number(&self.string(expression)?)
            }
        }
    }

    /// The value as a text.
    pub(crate) fn string(&self, expression: &'e Expression) -> Result<Text<'e>, Error> {
        match expression {
            Expression::Literal(text) => Ok(Text::Borrowed(text)),
            Expression::Path(_) | Expression::Union(_) => match self.first(expression)? {
                Some(first) => self.environment.string_value(first),
                None => Ok(Text::Borrowed("")),
            },
            Expression::Call(function, arguments) if function.kind() == Kind::String => {
                self.call_string(*function, arguments)
            }
            Expression::Variable(_) | Expression::Foreign(..) => self.value(expression)?.into_text(self.environment),
            _ => match expression.kind() {
                Some(Kind::Boolean) => Ok(boolean_text(self.boolean(expression)?)),
                Some(Kind::Number) => self.environment.number_text(self.number(expression)?),
                _ => self.value(expression)?.into_text(self.environment),
            },
        }
    }

    /// The value as a set of nodes, in document order and each once.
    pub(crate) fn nodes(&self, expression: &'e Expression) -> Result<Rc<Vec<Item>>, Error> {
        let is_ordered = match expression {
            Expression::Path(path) => path.is_ordered(),
            Expression::Union(_) => false,
            Expression::Call(function, arguments) if function.kind() == Kind::Nodes => {
                return Ok(Rc::new(self.call_nodes(arguments)?));
            }
            Expression::Variable(_) | Expression::Foreign(..) => {
                return match self.value(expression)? {
                    Value::Nodes(nodes) => Ok(nodes),
                    _ => Err(Error::new(ErrorKind::Dynamic, "a set of nodes was expected")),
                };
            }
            _ => return Err(Error::new(ErrorKind::Dynamic, "a set of nodes was expected")),
        };
        if is_ordered {
            let mut items = Vec::new();
            self.visit(expression, &mut |item| {
                items.push(item);
                ControlFlow::Continue(())
            })?;
            return Ok(Rc::new(items));
        }
        let mut gathered = Gathered::default();
        self.visit(expression, &mut |item| {
            gathered.add(item);
            self.gathered_one()
        })?;
        Ok(Rc::new(gathered.into_ordered()))
    }

    /// A node was gathered, which will be sorted among others.
    pub(super) fn gathered_one(&self) -> Flow {
        match self.environment.spend(GATHERED_STEPS) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error.into()),
        }
    }

    /// The first node in document order.
    pub(crate) fn first(&self, expression: &'e Expression) -> Result<Option<Item>, Error> {
        let mut first: Option<Item> = None;
        let is_ordered = matches!(expression, Expression::Path(path) if path.is_ordered());
        self.visit(expression, &mut |item| {
            if is_ordered {
                first = Some(item);
                return ControlFlow::Break(Stop::Enough);
            }
            first = Some(first.map_or(item, |before| before.min(item)));
            ControlFlow::Continue(())
        })?;
        Ok(first)
    }

    /// Meets the nodes of an expression, in any order and perhaps more than once; whether somebody had enough.
    pub(crate) fn visit(&self, expression: &'e Expression, meet: &mut dyn FnMut(Item) -> Flow) -> Result<bool, Error> {
        match expression {
            Expression::Path(path) => self.visit_path(path, meet),
            Expression::Union(parts) => {
                for part in parts {
                    if self.visit(part, meet)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => {
                let nodes = self.nodes(expression)?;
                self.environment.spend(nodes.len() as u64)?;
                ended(nodes.iter().try_for_each(|item| meet(*item)))
            }
        }
    }

    fn visit_path(&self, path: &'e Path, meet: &mut dyn FnMut(Item) -> Flow) -> Result<bool, Error> {
        ended(self.walk_path(path, meet))
    }
}
