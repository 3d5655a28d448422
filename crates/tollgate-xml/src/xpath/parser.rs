//! The grammar of expressions (XPath 1.0, sections 2 and 3): from tokens to an [`Expression`], names resolved against the
//! caller's declarations on the way.

use super::axis::{Axis, Principal};
use super::expression::{Comparison, Expression, Kind, Needs, NodeTest, Operation, Path, Predicate, Start, Step};
use super::functions::Function;
use super::lexer::{Token, tokens};
use super::surroundings::{Foreign, StaticContext};
use crate::budget::{EXPRESSION_DEPTH_MAX, TERMS_MAX};
use crate::error::{Error, ErrorKind};
use crate::forest::NameTable;

/// Reads an expression.
pub(crate) fn parse(text: &str, context: &dyn StaticContext, names: &mut NameTable) -> Result<Expression, Error> {
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens: &tokens, at: 0, context, names, depth: 0, terms: 0 };
    let expression = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(expression),
        _ => Err(parser.unexpected("the end of the expression")),
    }
}

struct Parser<'e, 'c> {
    text: &'e str,
    tokens: &'c [(Token<'e>, usize)],
    at: usize,
    context: &'c dyn StaticContext,
    names: &'c mut NameTable,
    depth: usize,
    terms: usize,
}

impl<'e> Parser<'e, '_> {
    fn peek(&self) -> Token<'e> {
        self.tokens[self.at].0
    }

    fn peek_behind(&self) -> Token<'e> {
        self.tokens.get(self.at + 1).map_or(Token::End, |(token, _)| *token)
    }

    fn advance(&mut self) {
        // The last token is the end, which is never passed.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn eats(&mut self, symbol: &str) -> bool {
        let is_next = self.peek() == Token::Symbol(known(symbol));
        if is_next {
            self.advance();
        }
        is_next
    }

    fn eats_operator(&mut self, operator: &str) -> bool {
        let is_next = matches!(self.peek(), Token::Operator(found) if found == operator);
        if is_next {
            self.advance();
        }
        is_next
    }

    fn expect(&mut self, symbol: &str) -> Result<(), Error> {
        if self.eats(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    fn wrong(&self, at: usize, message: impl Into<String>) -> Error {
        Error::at(ErrorKind::Static, self.text, at, message)
    }

    fn unexpected(&self, expected: &str) -> Error {
        let (token, at) = self.tokens[self.at];
        let end = self.tokens.get(self.at + 1).map_or(self.text.len(), |(_, next)| *next);
        let found = match token {
            Token::End => "the end".to_owned(),
            _ => format!("`{}`", self.text[at..end].trim_end()),
        };
        self.wrong(at, format!("{expected} was expected, found {found}"))
    }

    fn place(&self) -> usize {
        self.tokens[self.at].1
    }

    fn expression(&mut self) -> Result<Expression, Error> {
        self.depth += 1;
        if self.depth > EXPRESSION_DEPTH_MAX {
            let message = format!("expressions within expressions: more than the limit of {EXPRESSION_DEPTH_MAX}");
            return Err(Error::at(ErrorKind::Budget, self.text, self.place(), message));
        }
        let expression = self.or()?;
        self.depth -= 1;
        Ok(expression)
    }

    fn or(&mut self) -> Result<Expression, Error> {
        let mut left = self.and()?;
        while self.eats_operator("or") {
            self.term()?;
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    /// Counts one term or step more: a chain of them is a tree as deep as it is long.
    fn term(&mut self) -> Result<(), Error> {
        self.terms += 1;
        if self.terms > TERMS_MAX {
            let message = format!("terms and steps of an expression: more than the limit of {TERMS_MAX}");
            return Err(Error::at(ErrorKind::Budget, self.text, self.place(), message));
        }
        Ok(())
    }

    fn and(&mut self) -> Result<Expression, Error> {
        let mut left = self.equality()?;
        while self.eats_operator("and") {
            self.term()?;
            left = Expression::And(Box::new(left), Box::new(self.equality()?));
        }
        Ok(left)
    }

    fn equality(&mut self) -> Result<Expression, Error> {
        let mut left = self.relation()?;
        loop {
            let comparison = match self.peek() {
                Token::Symbol("=") => Comparison::Equal,
                Token::Symbol("!=") => Comparison::Unequal,
                _ => return Ok(left),
            };
            self.advance();
            self.term()?;
            left = Expression::Compare(comparison, Box::new(left), Box::new(self.relation()?));
        }
    }

    fn relation(&mut self) -> Result<Expression, Error> {
        let mut left = self.sum()?;
        loop {
            let comparison = match self.peek() {
                Token::Symbol("<") => Comparison::Less,
                Token::Symbol("<=") => Comparison::LessOrEqual,
                Token::Symbol(">") => Comparison::Greater,
                Token::Symbol(">=") => Comparison::GreaterOrEqual,
                _ => return Ok(left),
            };
            self.advance();
            self.term()?;
            left = Expression::Compare(comparison, Box::new(left), Box::new(self.sum()?));
        }
    }

    fn sum(&mut self) -> Result<Expression, Error> {
        let mut left = self.product()?;
        loop {
            let operation = match self.peek() {
                Token::Symbol("+") => Operation::Add,
                Token::Symbol("-") => Operation::Subtract,
                _ => return Ok(left),
            };
            self.advance();
            self.term()?;
            left = Expression::Arithmetic(operation, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Expression, Error> {
        let mut left = self.negation()?;
        loop {
            let operation = match self.peek() {
                Token::Symbol("×") => Operation::Multiply,
                Token::Operator("div") => Operation::Divide,
                Token::Operator("mod") => Operation::Remainder,
                _ => return Ok(left),
            };
            self.advance();
            self.term()?;
            left = Expression::Arithmetic(operation, Box::new(left), Box::new(self.negation()?));
        }
    }

    fn negation(&mut self) -> Result<Expression, Error> {
        let mut signs = 0;
        while self.eats("-") {
            signs += 1;
        }
        let operand = self.union()?;
        // Two signs are not nothing: they make a number of it.
        Ok(match signs {
            0 => operand,
            odd if odd % 2 == 1 => Expression::Negate(Box::new(operand)),
            _ => Expression::Negate(Box::new(Expression::Negate(Box::new(operand)))),
        })
    }

    fn union(&mut self) -> Result<Expression, Error> {
        let start = self.place();
        let first = self.path()?;
        if self.peek() != Token::Symbol("|") {
            return Ok(first);
        }
        self.check_nodes(&first, start)?;
        let mut parts = vec![first];
        while self.eats("|") {
            let start = self.place();
            let part = self.path()?;
            self.check_nodes(&part, start)?;
            parts.push(part);
        }
        Ok(Expression::Union(parts))
    }

    /// Checks that an expression can be a set of nodes, as far as that is known before evaluation.
    fn check_nodes(&self, expression: &Expression, at: usize) -> Result<(), Error> {
        match expression.kind() {
            None | Some(Kind::Nodes) => Ok(()),
            Some(_) => Err(self.wrong(at, "a set of nodes was expected here")),
        }
    }

    fn path(&mut self) -> Result<Expression, Error> {
        if !self.begins_filter() {
            return self.location_path();
        }
        let start = self.place();
        let primary = self.primary()?;
        let mut predicates = Vec::new();
        while self.peek() == Token::Symbol("[") {
            self.check_nodes(&primary, start)?;
            predicates.push(self.predicate()?);
        }
        let mut steps = Vec::new();
        if matches!(self.peek(), Token::Symbol("/" | "//")) {
            self.check_nodes(&primary, start)?;
            self.steps_behind(&mut steps)?;
        }
        if predicates.is_empty() && steps.is_empty() {
            return Ok(primary);
        }
        Ok(finished(Path { start: Start::Nodes(Box::new(primary), predicates), steps }))
    }

    /// Whether a primary expression follows, and no step.
    fn begins_filter(&self) -> bool {
        match self.peek() {
            Token::Symbol("$" | "(") | Token::Literal(_) | Token::Number(_) => true,
            Token::Name { prefix, local } => {
                let is_test = prefix.is_empty() && is_node_type(local);
                !is_test && self.peek_behind() == Token::Symbol("(")
            }
            _ => false,
        }
    }

    fn location_path(&mut self) -> Result<Expression, Error> {
        let mut steps = Vec::new();
        let start = match self.peek() {
            Token::Symbol("/") => {
                self.advance();
                if self.begins_step() {
                    steps.push(self.step()?);
                    self.steps_behind(&mut steps)?;
                }
                Start::Root
            }
            Token::Symbol("//") => {
                self.steps_behind(&mut steps)?;
                Start::Root
            }
            _ => {
                steps.push(self.step()?);
                self.steps_behind(&mut steps)?;
                Start::Context
            }
        };
        Ok(finished(Path { start, steps }))
    }

    /// `/step` and `//step`, as long as there are any.
    fn steps_behind(&mut self, steps: &mut Vec<Step>) -> Result<(), Error> {
        loop {
            if self.eats("//") {
                steps.push(Step { axis: Axis::DescendantOrSelf, test: NodeTest::Node, predicates: Vec::new() });
            } else if !self.eats("/") {
                return Ok(());
            }
            self.term()?;
            steps.push(self.step()?);
        }
    }

    fn begins_step(&self) -> bool {
        matches!(self.peek(), Token::Symbol("." | ".." | "@") | Token::Name { .. })
    }

    fn step(&mut self) -> Result<Step, Error> {
        let short = match self.peek() {
            Token::Symbol(".") => Some(Axis::SelfNode),
            Token::Symbol("..") => Some(Axis::Parent),
            _ => None,
        };
        if let Some(axis) = short {
            self.advance();
            return Ok(Step { axis, test: NodeTest::Node, predicates: Vec::new() });
        }
        let axis = if self.eats("@") {
            Axis::Attribute
        } else {
            match (self.peek(), self.peek_behind()) {
                (Token::Name { prefix: "", local }, Token::Symbol("::")) => {
                    let Some(axis) = Axis::named(local) else {
                        return Err(self.wrong(self.place(), format!("`{local}` is no axis")));
                    };
                    self.advance();
                    self.advance();
                    axis
                }
                _ => Axis::Child,
            }
        };
        let test = self.node_test(axis)?;
        let mut predicates = Vec::new();
        while self.peek() == Token::Symbol("[") {
            predicates.push(self.predicate()?);
        }
        Ok(Step { axis, test, predicates })
    }

    fn node_test(&mut self, axis: Axis) -> Result<NodeTest, Error> {
        let at = self.place();
        let Token::Name { prefix, local } = self.peek() else {
            return Err(self.unexpected("a step"));
        };
        self.advance();
        if prefix.is_empty() && is_node_type(local) && self.eats("(") {
            let test = match local {
                "node" => NodeTest::Node,
                "text" => NodeTest::Text,
                "comment" => NodeTest::Comment,
                _ => match self.peek() {
                    Token::Literal(target) => {
                        self.advance();
                        NodeTest::Instruction(Some(target.into()))
                    }
                    _ => NodeTest::Instruction(None),
                },
            };
            self.expect(")")?;
            return Ok(test);
        }
        match (prefix, local) {
            ("", "*") => Ok(NodeTest::Any),
            // A namespace node is named by its prefix, which stands in no namespace itself.
            (prefix, local) => {
                let uri = if prefix.is_empty() { String::new() } else { self.namespace(prefix, at)? };
                match (local, axis.principal()) {
                    ("*", _) => Ok(NodeTest::Namespace(uri.into())),
                    (local, Principal::Namespace) if prefix.is_empty() => Ok(NodeTest::Prefix(local.into())),
                    (local, _) => Ok(NodeTest::Name(self.names.index(&uri, local))),
                }
            }
        }
    }

    fn namespace(&self, prefix: &str, at: usize) -> Result<String, Error> {
        match self.context.namespace(prefix) {
            Some(uri) => Ok(uri.to_owned()),
            None => Err(self.wrong(at, format!("prefix `{prefix}` is not declared"))),
        }
    }

    fn predicate(&mut self) -> Result<Predicate, Error> {
        self.expect("[")?;
        let expression = self.expression()?;
        self.expect("]")?;
        Ok(Predicate::new(expression))
    }

    fn primary(&mut self) -> Result<Expression, Error> {
        let at = self.place();
        let token = self.peek();
        self.advance();
        match token {
            Token::Literal(text) => Ok(Expression::Literal(text.into())),
            Token::Number(number) => Ok(Expression::Number(number)),
            Token::Symbol("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Symbol("$") => {
                let Token::Name { prefix, local } = self.peek() else {
                    return Err(self.unexpected("the name of a variable"));
                };
                self.advance();
                let uri = if prefix.is_empty() { String::new() } else { self.namespace(prefix, at + 1)? };
                match self.context.variable(&uri, local) {
                    Some(variable) => Ok(Expression::Variable(variable)),
                    None => Err(self.wrong(at, format!("variable `${}` is not declared", written(prefix, local)))),
                }
            }
            Token::Name { prefix, local } => {
                self.expect("(")?;
                let mut arguments = Vec::new();
                if !self.eats(")") {
                    loop {
                        arguments.push(self.expression()?);
                        if !self.eats(",") {
                            break;
                        }
                    }
                    self.expect(")")?;
                }
                self.call(prefix, local, arguments, at)
            }
            _ => {
                self.at -= 1;
                Err(self.unexpected("an expression"))
            }
        }
    }

    fn call(&self, prefix: &str, local: &str, arguments: Vec<Expression>, at: usize) -> Result<Expression, Error> {
        if prefix.is_empty()
            && let Some(function) = Function::named(local)
        {
            let counts = function.argument_counts();
            if !counts.contains(&arguments.len()) {
                let expected = match (*counts.start(), *counts.end()) {
                    (least, most) if least == most => format!("{least}"),
                    (least, usize::MAX) => format!("at least {least}"),
                    (least, most) => format!("{least} to {most}"),
                };
                let given = arguments.len();
                return Err(self.wrong(at, format!("`{local}()` takes {expected} arguments, found {given}")));
            }
            if let Some(index) = function.nodes_argument()
                && let Some(argument) = arguments.get(index)
            {
                self.check_nodes(argument, at)?;
            }
            return Ok(Expression::Call(function, arguments));
        }
        let uri = if prefix.is_empty() { String::new() } else { self.namespace(prefix, at)? };
        match self.context.function(&uri, local, arguments.len()) {
            Foreign::Known(number) => Ok(Expression::Foreign(number, arguments)),
            Foreign::Refused(message) => Err(self.wrong(at, message)),
            Foreign::Unknown => Err(self.wrong(at, format!("unknown function `{}()`", written(prefix, local)))),
        }
    }
}

fn written(prefix: &str, local: &str) -> String {
    if prefix.is_empty() { local.to_owned() } else { format!("{prefix}:{local}") }
}

fn is_node_type(name: &str) -> bool {
    matches!(name, "node" | "text" | "comment" | "processing-instruction")
}

/// The same symbol with the lifetime of the program.
fn known(symbol: &str) -> &'static str {
    const ALL: [&str; 9] = ["(", ")", "[", "]", "@", ",", "/", "//", "|"];
    match symbol {
        "-" => "-",
        _ => ALL.iter().find(|known| **known == symbol).expect("the grammar asks for symbols of the lexer"),
    }
}

/// `//name` walks down once where it is written as two steps: `descendant-or-self::node()/child::name` meets the same nodes
/// as `descendant::name`, unless a predicate counts siblings.
fn finished(mut path: Path) -> Expression {
    let mut index = 0;
    while index + 1 < path.steps.len() {
        let (first, second) = (&path.steps[index], &path.steps[index + 1]);
        let is_any =
            first.axis == Axis::DescendantOrSelf && first.test == NodeTest::Node && first.predicates.is_empty();
        let counts = second.predicates.iter().any(|predicate| predicate.needs() != Needs::Node);
        let joined = match second.axis {
            Axis::Child | Axis::Descendant => Some(Axis::Descendant),
            Axis::SelfNode | Axis::DescendantOrSelf => Some(Axis::DescendantOrSelf),
            _ => None,
        };
        if let Some(axis) = joined
            && is_any
            && !counts
        {
            path.steps[index + 1].axis = axis;
            path.steps.remove(index);
        } else {
            index += 1;
        }
    }
    Expression::Path(path)
}
