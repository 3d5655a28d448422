//! Expressions of `$filter` and `$orderby`: a precedence-climbing parser straight over the text, names and types checked
//! as the tree grows.
//!
//! It deliberately keeps no tokens and knows no SQL. Valid OData that is not built is refused by its name, as soon as
//! it is recognised.

mod alias;
mod enumerated;
mod functions;
mod items;
mod member;
mod named;
mod operators;
mod parser;
mod path;
mod pattern;
mod related;
mod special;
mod types;

pub(super) use enumerated::number_of;
pub(super) use named::stored_of;
pub(super) use parser::Parser;
pub(super) use types::conjunction;

use crate::address::{Fault, Literal, Parsed, Problem, quoted, read_literal};
use crate::edm::{EnumerationId, Primitive, Version};
use crate::plan::{Arithmetic, Computed, Expression, ExpressionKind, Logic, Origin};
use crate::relation::Column;
use crate::suggest;
use crate::value::Value;
use operators::{Operation, Operator};
use parser::{Holds, Node, Variable, Whole, is_name_character};

impl<'c> Parser<'c> {
    /// Parses one expression, without the text behind it.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        let node = self.binary(0)?;
        Ok(self.plain(node)?.expression)
    }

    /// Parses one expression, with its enumeration if its value is a member. If one of `wanted` is, a text names a
    /// member, as in comparisons.
    pub(super) fn expression_or_member(
        &mut self,
        wanted: Option<EnumerationId>,
    ) -> Parsed<(Expression, Option<EnumerationId>)> {
        let mut node = self.binary(0)?;
        let is_text = matches!(node.expression.kind, ExpressionKind::Literal(Value::String(_)));
        if wanted.is_some() && node.enumeration.is_none() && is_text {
            node = self.member_to_compare(wanted, node, 0)?;
        }
        Ok((node.expression, node.enumeration))
    }

    /// Parses one expression of an order.
    pub(super) fn ordered_expression(&mut self) -> Parsed<Expression> {
        let node = self.binary(0)?;
        Ok(self.by_number(node)?.expression)
    }

    /// Operators of at least this precedence, and their operands.
    fn binary(&mut self, precedence_min: u8) -> Parsed<Node> {
        let mut left = self.unary()?;
        while let Some((operator, at)) = self.operator(precedence_min) {
            self.behind_operator(operator, at)?;
            left = self.operation(operator, left, at)?;
        }
        Ok(left)
    }

    /// Applies an operator to its left operand and the text that follows. Apart from [`Self::binary`], whose frame is
    /// on the stack once for each level of nesting.
    fn operation(&mut self, operator: &'static Operator, left: Node, at: usize) -> Parsed<Node> {
        let version = self.context.version;
        match operator.operation {
            Operation::Logic(logic) => self.chain(logic, operator, left),
            Operation::In => self.member_of(left, at),
            Operation::Has => {
                let right = self.binary(operator.precedence + 1)?;
                self.has(left, right, at)
            }
            Operation::Compare(comparison) => {
                let right = self.binary(operator.precedence + 1)?;
                let (left, right) = self.members_to_compare(comparison, left, right, at)?;
                let height = left.height.max(right.height);
                let compared = types::compare(version, comparison, left.expression, right.expression, at)?;
                self.node(compared, height)
            }
            Operation::Arithmetic(arithmetic) => {
                let right = self.binary(operator.precedence + 1)?;
                let (left, right) = (self.plain(left)?, self.plain(right)?);
                let height = left.height.max(right.height);
                let computed = types::arithmetic(version, arithmetic, left.expression, right.expression, at)?;
                self.node(computed, height)
            }
            Operation::DivideExactly => {
                let right = self.binary(operator.precedence + 1)?;
                let (left, right) = (self.plain(left)?, self.plain(right)?);
                let height = left.height.max(right.height) + 1;
                let (left, right) = (types::exact(left.expression), types::exact(right.expression));
                self.node(types::arithmetic(version, Arithmetic::Divide, left, right, at)?, height)
            }
        }
    }

    /// All operands of a run of the same logical operator, as a balanced tree: clients send chains of hundreds.
    fn chain(&mut self, logic: Logic, operator: &'static Operator, first: Node) -> Parsed<Node> {
        let mut operands = vec![first, self.binary(operator.precedence + 1)?];
        while let Some((next, at)) = self.operator(operator.precedence) {
            self.behind_operator(next, at)?;
            operands.push(self.binary(operator.precedence + 1)?);
        }
        for operand in &operands {
            types::expect_boolean(self.context.version, operator.name, &operand.expression)?;
        }
        while operands.len() > 1 {
            let mut halved = Vec::with_capacity(operands.len().div_ceil(2));
            let mut pairs = operands.into_iter();
            while let Some(left) = pairs.next() {
                halved.push(match pairs.next() {
                    None => left,
                    Some(right) => {
                        let height = left.height.max(right.height);
                        let position = left.expression.position;
                        let kind = ExpressionKind::Logic(logic, Box::new(left.expression), Box::new(right.expression));
                        self.node(Expression { kind, primitive: Some(Primitive::Boolean), position }, height)?
                    }
                });
            }
            operands = halved;
        }
        Ok(operands.pop().expect("a chain has at least two operands"))
    }

    /// The operator that follows, if its precedence is high enough, with its place.
    fn operator(&mut self, precedence_min: u8) -> Option<(&'static Operator, usize)> {
        self.space();
        let operator = operators::find(self.context.version, self.word())?;
        (operator.precedence >= precedence_min).then_some((operator, self.position))
    }

    /// Goes behind an operator. In V4 it needs spaces around it, independent of its operands.
    fn behind_operator(&mut self, operator: &Operator, at: usize) -> Parsed<()> {
        self.position = at + operator.name.len();
        if self.context.version == Version::V2 {
            return Ok(());
        }
        let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
        let bytes = self.text.as_bytes();
        if !is_space(at.checked_sub(1).and_then(|before| bytes.get(before))) {
            return Err(Problem::syntax(at, format!("expected a space before '{}'", operator.name)));
        }
        match bytes.get(self.position) {
            // That an operand is missing is told by whoever looks for it.
            None => Ok(()),
            byte if is_space(byte) => Ok(()),
            Some(_) => Err(Problem::syntax(self.position, format!("expected a space behind '{}'", operator.name))),
        }
    }

    fn unary(&mut self) -> Parsed<Node> {
        self.space();
        let at = self.position;
        let is_not = match self.context.version {
            Version::V2 => self.word() == "not",
            Version::V4 => self.word().eq_ignore_ascii_case("not"),
        };
        if is_not && self.text[at + 3..].starts_with([' ', '\t', '(']) {
            self.position += 3;
            let operand = self.nested(Parser::unary)?;
            let expression = types::not(self.context.version, operand.expression, at)?;
            return self.node(expression, operand.height);
        }
        if let Some((literal, end)) = read_literal(self.context.version, self.text, at)? {
            self.position = end;
            let Literal { value, primitive } = literal;
            return self.node(Expression { kind: ExpressionKind::Literal(value), primitive, position: at }, 0);
        }
        if self.rest().starts_with('-') {
            self.position += 1;
            let operand = self.nested(Parser::unary)?;
            let operand = self.plain(operand)?;
            let expression = types::negate(self.context.version, operand.expression, at)?;
            return self.node(expression, operand.height);
        }
        self.primary(at)
    }

    fn primary(&mut self, at: usize) -> Parsed<Node> {
        let first = self.rest().chars().next();
        match (first, self.context.version) {
            (Some('('), _) => {
                self.position += 1;
                let inside = self.nested(|parser| parser.binary(0))?;
                self.close(at)?;
                Ok(inside)
            }
            (Some('['), Version::V4) => Err(Problem::not_implemented(at, "a collection in an expression")),
            (Some('{'), Version::V4) => Err(Problem::not_implemented(at, "an object in an expression")),
            (Some('@'), Version::V4) => self.alias(at, |parser| parser.binary(0)),
            (Some('$'), Version::V4) => {
                self.position += 1;
                let word = self.word();
                self.position += word.len();
                if word == "it" && self.take('/') {
                    if self.context.depth > 0 {
                        return Err(Problem::not_implemented(at, "$it inside of $expand"));
                    }
                    return self.path(Origin::It, self.context.entity_type);
                }
                if let (true, Some(number)) = (word == "this", self.variables.len().checked_sub(1))
                    && let Variable { name: "", holds: Holds::Value(primitive, enumeration) } = self.variables[number]
                {
                    return self.item(number, (primitive, enumeration), at);
                }
                if word == "this" && self.take('/') {
                    return self.path(self.here, self.here_type);
                }
                match word {
                    "it" | "root" | "this" | "these" | "count" => {
                        Err(Problem::not_implemented(at, format!("${word} in an expression")))
                    }
                    _ => Err(Problem::syntax(at, format!("unknown name {}", quoted(&self.text[at..self.position])))),
                }
            }
            (Some(character), _) if is_name_character(character) => self.name(at),
            (Some(_), _) => {
                let found = quoted(self.rest());
                Err(Problem::syntax(at, format!("expected a property, a literal or a function, found {found}")))
            }
            (None, _) => Err(Problem::syntax(at, "expected a property, a literal or a function, found the end")),
        }
    }

    /// A path, a call, or something qualified that is not built.
    fn name(&mut self, at: usize) -> Parsed<Node> {
        let word = self.word();
        if let Some(number) = self.variables.iter().rposition(|variable| !word.is_empty() && variable.name == word) {
            self.position += word.len();
            let (set, subtype) = match self.variables[number].holds {
                Holds::Entity(set, subtype) => (set, subtype),
                Holds::Value(primitive, enumeration) => return self.item(number, (primitive, enumeration), at),
            };
            if !self.take('/') {
                let what = format!("the entity '{word}' as a value");
                return Err(Problem::not_implemented(at, what).hint("name one of its properties behind a slash"));
            }
            let entity_type = self.context.model.seen(self.context.version, set, subtype);
            return self.path(Origin::Variable(number), entity_type);
        }
        let behind = self.text.as_bytes().get(at + word.len());
        if self.here == Origin::It && behind != Some(&b'(') && behind != Some(&b'.') {
            if let Some(computed) = self.computed.iter().find(|computed| computed.name == word) {
                return self.mentioned(computed);
            }
            if let Some(columns) = self.columns {
                return self.column(columns);
            }
        }
        if behind == Some(&b'.') {
            let length = self.rest().find(|character| !is_name_character(character) && character != '.');
            let qualified = &self.rest()[..length.unwrap_or(self.rest().len())];
            let what = match self.text.as_bytes().get(at + qualified.len()) {
                Some(b'(') => format!("the function {}", quoted(qualified)),
                Some(b'\'') if self.context.version == Version::V4 => return self.member_literal(at, qualified),
                Some(b'/') if self.context.version == Version::V4 && self.columns.is_none() => {
                    return self.path(self.here, self.here_type);
                }
                _ => format!("the type cast {}", quoted(qualified)),
            };
            return match self.context.version {
                Version::V4 => Err(Problem::not_implemented(at, what)),
                Version::V2 => Err(Problem::syntax(at, format!("unknown name {}", quoted(qualified)))),
            };
        }
        if behind == Some(&b'(') { self.call(at, word) } else { self.path(self.here, self.here_type) }
    }

    /// A computed property: its expression is repeated here.
    fn mentioned(&mut self, computed: &Computed) -> Parsed<Node> {
        let at = self.position;
        self.position += computed.name.len();
        self.nodes += computed.expression.nodes();
        let height = computed.expression.height();
        let node = self.node(Expression { position: at, ..computed.expression.clone() }, height)?;
        Ok(Node { enumeration: computed.enumeration, ..node })
    }

    /// A column of what `$apply` has made.
    fn column(&mut self, columns: &[Column]) -> Parsed<Node> {
        let at = self.position;
        let is_path = |character: char| is_name_character(character) || character == '/';
        let end = self.rest().find(|character| !is_path(character)).unwrap_or(self.rest().len());
        let path = &self.rest()[..end];
        let Some(index) = columns.iter().position(|column| column.path == path) else {
            let names = columns.iter().filter(|column| !column.is_hidden()).map(|column| column.path.as_str());
            let hint = suggest::nearest(path, names).map(|name| format!("did you mean {name}?"));
            let what = format!("unknown property {}", quoted(path));
            return Err(Problem::new(Fault::UnknownProperty, at, what)
                .hint_if(hint.or_else(|| Some("it is none of what $apply has made".to_owned()))));
        };
        self.position += end;
        let Column { primitive, enumeration, .. } = columns[index];
        let kind = ExpressionKind::Column(index);
        let node = self.node(Expression { kind, primitive: Some(primitive), position: at }, 0)?;
        Ok(Node { enumeration, ..node })
    }

    fn call(&mut self, at: usize, name: &str) -> Parsed<Node> {
        self.whole = Whole::Refused;
        if let Some(navigation) = self.here_type.navigation(name) {
            let name = &self.here_type.navigation[navigation.0].name;
            return Err(Problem::not_implemented(at, format!("a key behind '{name}' in an expression")));
        }
        if self.context.version == Version::V4
            && let Some(special) = special::Special::of(name)
        {
            return self.special(special, name, at);
        }
        let signature = functions::find(self.context.version, name, at)?;
        self.position = at + name.len() + 1;
        let mut arguments = Vec::new();
        let mut height = 0;
        if !self.take(')') {
            loop {
                let argument = self.nested(|parser| parser.binary(0))?;
                let argument = self.plain(argument)?;
                height = height.max(argument.height);
                arguments.push(argument.expression);
                if arguments.len() > functions::ARGUMENTS_MAX || !self.take(',') {
                    break;
                }
            }
            self.close(at + name.len())?;
        }
        let expression = functions::check(self.context.version, signature, arguments, at)?;
        self.node(expression, height)
    }
}
