//! `in`: whether a value is in a list, which is in parentheses or is an array of JSON.
//!
//! A list of literals of one type stays a list, which a store can look up; other items become comparisons.

use super::parser::{Node, Parser, is_name_character};
use super::types;
use crate::address::{Parsed, Problem, read_literal};
use crate::edm::Primitive;
use crate::plan::{Comparison, Expression, ExpressionKind, Logic};
use crate::syntax::Lexer;
use crate::value::Value;

impl Parser<'_> {
    /// The list behind `in`, which begins at `at`.
    pub(super) fn member_of(&mut self, left: Node, at: usize) -> Parsed<Node> {
        self.space();
        let list_at = self.position;
        match self.rest().chars().next() {
            Some('(' | '[') => self.list_behind(left, at),
            Some('@') => self.alias(list_at, |parser| parser.aliased(left, at)),
            Some(character) if is_name_character(character) || character == '$' => self.among(left, at),
            _ => Err(Problem::syntax(list_at, "expected a list behind 'in'").hint("write it as ('a','b')")),
        }
    }

    /// The meaning of an alias behind `in`: a list, or a collection of values.
    fn aliased(&mut self, left: Node, at: usize) -> Parsed<Node> {
        self.space();
        match self.rest().chars().next() {
            Some(character) if is_name_character(character) || character == '$' => self.among(left, at),
            _ => self.list_behind(left, at),
        }
    }

    fn list_behind(&mut self, left: Node, at: usize) -> Parsed<Node> {
        self.space();
        let opened_at = self.position;
        let is_array = self.take('[');
        if !is_array && !self.take('(') {
            return Err(Problem::syntax(opened_at, "expected a list in parentheses"));
        }
        if is_array && self.take(']') {
            // Nothing is one of none.
            let kind = ExpressionKind::Literal(Value::Boolean(false));
            return self.node(Expression { kind, primitive: Some(Primitive::Boolean), position: opened_at }, 0);
        }
        let version = self.context.version;
        let size = left.expression.nodes();
        let mut values = Vec::new();
        let mut others: Vec<Node> = Vec::new();
        let enumeration = left.enumeration;
        let mut operand = left.expression;
        loop {
            self.space();
            let item = match is_array && self.rest().starts_with('"') {
                true => self.json_string(operand.primitive)?,
                false => self.nested(|parser| parser.binary(0))?,
            };
            let item = self.member_to_compare(enumeration, item, at)?;
            // Whatever it is, it must be comparable; a literal then has the type of the operand where that loses nothing.
            let compared = types::compare(version, Comparison::Equal, operand, item.expression, at)?;
            let ExpressionKind::Compare(_, left_side, right_side) = compared.kind else {
                return Err(Problem::syntax(at, "a comparison was expected"));
            };
            (operand, values) = match (right_side.kind, right_side.primitive) {
                (ExpressionKind::Literal(value), primitive)
                    if value != Value::Null && same_form(left_side.primitive, primitive) =>
                {
                    values.push(value);
                    (*left_side, values)
                }
                (kind, primitive) => {
                    // The operand stands again in each comparison.
                    self.nodes += size;
                    let right = Expression { kind, primitive, position: right_side.position };
                    let height = left.height.max(item.height);
                    let again = types::compare(version, Comparison::Equal, (*left_side).clone(), right, at)?;
                    others.push(self.node(again, height)?);
                    (*left_side, values)
                }
            };
            if !self.take(',') {
                break;
            }
        }
        if !is_array {
            self.close(opened_at)?;
        } else if !self.take(']') {
            return Err(Problem::syntax(self.position, "expected ',' or ']'"));
        }
        let mut whole: Option<Node> = None;
        if !values.is_empty() {
            let position = operand.position;
            let kind = ExpressionKind::In(Box::new(operand), values);
            whole = Some(self.node(Expression { kind, primitive: Some(Primitive::Boolean), position }, left.height)?);
        }
        for other in others {
            whole = Some(match whole {
                None => other,
                Some(before) => {
                    let height = before.height.max(other.height);
                    let position = before.expression.position;
                    let kind =
                        ExpressionKind::Logic(Logic::Or, Box::new(before.expression), Box::new(other.expression));
                    self.node(Expression { kind, primitive: Some(Primitive::Boolean), position }, height)?
                }
            });
        }
        whole.ok_or_else(|| Problem::syntax(opened_at, "expected a list with something in it"))
    }

    /// A string as JSON writes it: dates, guids and what else JSON has no type for are strings there too.
    fn json_string(&mut self, wanted: Option<Primitive>) -> Parsed<Node> {
        let at = self.position;
        let mut lexer = Lexer { bytes: self.text.as_bytes(), at };
        let read = lexer.string();
        let text = read.map_err(|error| Problem::syntax(at, format!("expected a string of JSON: {error}")))?;
        self.position = lexer.at;
        let is_text = matches!(wanted, Some(Primitive::String { .. }) | None);
        let literal = match is_text {
            true => None,
            false => read_literal(self.context.version, &text, 0).ok().flatten().filter(|(_, end)| *end == text.len()),
        };
        let (value, primitive) = match literal {
            Some((literal, _)) => (literal.value, literal.primitive),
            None => (Value::String(text.into_owned()), Some(Primitive::String { length_max: 0 })),
        };
        self.node(Expression { kind: ExpressionKind::Literal(value), primitive, position: at }, 0)
    }
}

/// Whether values of both types are compared in the form of the first.
fn same_form(operand: Option<Primitive>, literal: Option<Primitive>) -> bool {
    use Primitive as P;
    match (operand, literal) {
        (Some(a), Some(b)) if a.is_integer() && b.is_integer() => true,
        (Some(P::Single | P::Double), Some(P::Single | P::Double))
        | (Some(P::Decimal { .. }), Some(P::Decimal { .. }))
        | (Some(P::String { .. }), Some(P::String { .. }))
        | (Some(P::Binary { .. }), Some(P::Binary { .. }))
        | (Some(P::DateTime { .. }), Some(P::DateTime { .. }))
        | (Some(P::DateTimeOffset { .. }), Some(P::DateTimeOffset { .. }))
        | (Some(P::TimeOfDay { .. }), Some(P::TimeOfDay { .. })) => true,
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}
