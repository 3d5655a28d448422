//! Collections of values in expressions: the value that a question is at, collections as a whole behind `in`, and in
//! `hassubset` and `hassubsequence` (OData V4.01 URL conventions, section 5.1.1.6).
//!
//! It deliberately lets no collection be compared, ordered or computed with.

use super::parser::{Asked, Collection, Node, Parser, Whole};
use super::special::Special;
use super::types;
use crate::address::{Fault, Parsed, Problem, quoted, type_name};
use crate::decimal;
use crate::edm::{EnumerationId, Item, Primitive, Version};
use crate::items::{self, Token};
use crate::plan::{Comparison, Expression, ExpressionKind, Function, Question};
use crate::query::limits::{ARRAY_VALUES_MAX, QUESTIONS_MAX};
use crate::syntax::Lexer;
use crate::value::canonical::{self, Canonical};
use crate::value::{Cell, Value};

impl<'c> Parser<'c> {
    /// The value that the question of that number is at.
    pub(super) fn item(
        &mut self,
        number: usize,
        (primitive, enumeration): (Primitive, Option<EnumerationId>),
        at: usize,
    ) -> Parsed<Node> {
        if self.rest().starts_with('/') {
            return Err(Problem::syntax(self.position, "nothing can follow a value of a collection"));
        }
        let kind = ExpressionKind::Item(number);
        let node = self.node(Expression { kind, primitive: Some(primitive), position: at }, 0)?;
        Ok(Node { enumeration, ..node })
    }

    /// A collection that is asked nothing: an operator takes it, or it is an error.
    pub(super) fn whole_collection(&mut self, collection: Collection, name: &str, at: usize) -> Parsed<Node> {
        match self.whole {
            Whole::Wanted => {
                self.whole = Whole::Read(Box::new(collection), at);
                let kind = ExpressionKind::Literal(Value::Null);
                self.node(Expression { kind, primitive: None, position: at }, 0)
            }
            Whole::Refused | Whole::Read(..) => Err(no_value(name, at)),
        }
    }

    /// The collection that follows, as argument of `what`.
    fn collection(&mut self, what: &str) -> Parsed<Collection> {
        self.space();
        let at = self.position;
        if self.variables.len() == QUESTIONS_MAX {
            let what =
                format!("more than {QUESTIONS_MAX} questions about related entities or values within each other");
            return Err(Problem::new(Fault::Limit, at, what));
        }
        self.whole = Whole::Wanted;
        let read = self.nested(Parser::unary);
        match (std::mem::replace(&mut self.whole, Whole::Refused), read?) {
            (Whole::Read(collection, name_at), node) if stands_for_it(&node.expression, name_at) => Ok(*collection),
            (Whole::Read(..), _) => {
                let message = format!("{what} takes a collection of values, not what is computed of one");
                Err(Problem::new(Fault::Type, at, message))
            }
            (_, other) => {
                let found = type_name(self.context.version, other.expression.primitive);
                Err(Problem::new(Fault::Type, at, format!("{what} takes a collection of values, not {found}")))
            }
        }
    }

    /// `in` with a collection behind it, which begins at `at`: whether one of its values is equal.
    pub(super) fn among(&mut self, left: Node, at: usize) -> Parsed<Node> {
        let collection = self.collection("in")?;
        let item = self.item_of(&collection, at)?;
        let right = self.member_to_compare(item.enumeration.or(left.enumeration), left, at)?;
        let item = self.member_to_compare(right.enumeration, item, at)?;
        let height = item.height.max(right.height);
        let position = right.expression.position;
        let equal = types::compare(self.context.version, Comparison::Equal, item.expression, right.expression, at)?;
        let condition = self.node(equal, height)?;
        self.asked(collection, Question::Any, Some(condition), position)
    }

    /// The value that a question about the collection would be at, at this place.
    fn item_of(&mut self, collection: &Collection, at: usize) -> Parsed<Node> {
        let Asked::Values(_, item, enumeration) = collection.asked else {
            return Err(Problem::not_implemented(at, "a collection of entities as a value"));
        };
        let kind = ExpressionKind::Item(self.variables.len());
        let node = self.node(Expression { kind, primitive: Some(item.primitive()), position: at }, 0)?;
        Ok(Node { enumeration, ..node })
    }

    /// `hassubset(collection,[values])` and `hassubsequence(…)`, behind the opening parenthesis.
    pub(super) fn has_values(&mut self, has: Special, name: &str, at: usize) -> Parsed<Node> {
        let opened_at = at + name.len();
        self.position = opened_at + 1;
        let collection = self.collection(name)?;
        let Asked::Values(leaf, item, enumeration) = collection.asked else {
            return Err(Problem::not_implemented(at, "a collection of entities as a value"));
        };
        if !self.take(',') {
            return Err(Problem::syntax(self.position, format!("expected ',' and an array of values in {name}")));
        }
        self.space();
        let array_at = self.position;
        if !self.rest().starts_with('[') {
            let what = format!("{name} with anything but an array of values");
            return Err(Problem::not_implemented(array_at, what).hint("write the values as [\"a\",\"b\"]"));
        }
        let values = self.array(item, enumeration)?;
        self.close(opened_at)?;
        match has {
            Special::HasSubset => self.has_subset(collection, item, values, at),
            _ => {
                self.nodes += values.len();
                let Collection { of, through, only_if, .. } = collection;
                let kind = ExpressionKind::Leaf { of, through, leaf };
                let mut arguments =
                    vec![Expression { kind, primitive: Some(Primitive::Collection(item)), position: at }];
                let literal = |value| literal(value, item.primitive(), array_at);
                arguments.extend(values.into_iter().map(literal));
                let kind = ExpressionKind::Call(Function::HasSubsequence, arguments);
                let node = self.node(Expression { kind, primitive: Some(Primitive::Boolean), position: at }, 1)?;
                self.only_if(only_if, node)
            }
        }
    }

    /// Whether a collection has each of the values at least as often as the list.
    fn has_subset(&mut self, collection: Collection, item: Item, values: Vec<Value>, at: usize) -> Parsed<Node> {
        let version = self.context.version;
        let mut whole = self.node(literal(Value::Boolean(true), Primitive::Boolean, at), 0)?;
        for (position, value) in values.iter().enumerate() {
            if values[..position].iter().any(|other| is_same(other, value)) {
                continue;
            }
            let often = 1 + values[position + 1..].iter().filter(|other| is_same(other, value)).count();
            let (left, right) = (self.item_of(&collection, at)?, literal(value.clone(), item.primitive(), at));
            let equal = types::compare(version, Comparison::Equal, left.expression, right, at)?;
            let equal = self.node(equal, 1)?;
            let question = if often == 1 { Question::Any } else { Question::Count };
            let mut asked = self.asked(collection.clone(), question, Some(equal), at)?;
            if let (Question::Count, Ok(often)) = (question, i64::try_from(often)) {
                let least = literal(Value::Integer(often), Primitive::Int64, at);
                let enough = types::compare(version, Comparison::GreaterOrEqual, asked.expression, least, at)?;
                asked = self.node(enough, asked.height)?;
            }
            let height = whole.height.max(asked.height);
            let expression = match position {
                0 => asked.expression,
                _ => types::conjunction(Some(whole.expression), asked.expression),
            };
            whole = self.node(expression, height)?;
        }
        Ok(whole)
    }

    /// The array of JSON that follows; its values have the type of a collection's.
    fn array(&mut self, item: Item, enumeration: Option<EnumerationId>) -> Parsed<Vec<Value>> {
        let at = self.position;
        let broken = |position: usize| Problem::syntax(position, "the array of values is broken or does not end");
        let mut lexer = Lexer { bytes: self.text.as_bytes(), at };
        while let Some(byte) = lexer.bytes.get(lexer.at) {
            match byte {
                b'"' => lexer.raw_string().map(|_| ()).map_err(|error| broken(error.position))?,
                b']' => break,
                _ => lexer.at += 1,
            }
        }
        let end = (lexer.at + 1).min(self.text.len());
        let (mut values, mut wrong) = (Vec::new(), None);
        items::walk(&self.text.as_bytes()[at..end], |token| {
            match self.literal_of(token, item, enumeration, at) {
                Ok(value) => values.push(value),
                Err(problem) => wrong = wrong.take().or(Some(problem)),
            }
            Ok(())
        })
        .map_err(|error| broken(at + error.position))?;
        if let Some(problem) = wrong {
            return Err(problem);
        }
        self.position = end;
        if values.len() > ARRAY_VALUES_MAX {
            return Err(Problem::new(Fault::Limit, at, format!("more than {ARRAY_VALUES_MAX} values in an array")));
        }
        Ok(values)
    }

    fn literal_of(&self, token: Token<'_>, item: Item, enumeration: Option<EnumerationId>, at: usize) -> Parsed<Value> {
        let primitive = item.primitive();
        let mut made = Vec::new();
        let value = match (token, primitive, enumeration) {
            (Token::Null, ..) => Some(Value::Null),
            (Token::Text(names), _, Some(id)) => return self.member_value(id, names, at),
            (_, _, Some(_)) => None,
            (Token::Boolean(is_true), Primitive::Boolean, _) => Some(Value::Boolean(is_true)),
            (Token::Text(text), Primitive::String { .. }, _) => Some(Value::String(text.to_owned())),
            (Token::Boolean(_), ..) | (Token::Number(_), Primitive::String { .. } | Primitive::Boolean, _) => None,
            (Token::Number(text) | Token::Text(text), ..) => canonical::append(&mut made, Version::V4, primitive, text)
                .map(|found| match found {
                    Canonical::Integer(integer) => Value::of(Cell::Integer(integer), primitive),
                    Canonical::Real(real) => Value::Real(real),
                    Canonical::Text | Canonical::Bytes => Value::of(Cell::Text(&made), primitive),
                }),
        };
        value.ok_or_else(|| {
            let found = match token {
                Token::Null => "null".to_owned(),
                Token::Boolean(is_true) => is_true.to_string(),
                Token::Number(text) => text.to_owned(),
                Token::Text(text) => quoted(text),
            };
            let expected = match enumeration {
                Some(id) => self.context.model.enumerations[id.0].full_name.as_str(),
                None => type_name(Version::V4, Some(primitive)),
            };
            Problem::new(Fault::BadValue, at, format!("expected values of {expected} in the array, found {found}"))
        })
    }
}

/// Whether an expression is the one that [`Parser::whole_collection`] left at that place, unchanged.
fn stands_for_it(expression: &Expression, name_at: usize) -> bool {
    expression.position == name_at && matches!(expression.kind, ExpressionKind::Literal(Value::Null))
}

/// Whether two values of a type are equal: of decimals their digits do not say it.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Decimal(one), Value::Decimal(other)) => decimal::compare(one, other).is_eq(),
        _ => one == other,
    }
}

fn literal(value: Value, primitive: Primitive, position: usize) -> Expression {
    let primitive = Some(primitive).filter(|_| value != Value::Null);
    Expression { kind: ExpressionKind::Literal(value), primitive, position }
}

pub(super) fn no_value(name: &str, at: usize) -> Box<Problem> {
    Problem::new(Fault::Type, at, format!("'{name}' is a collection of values"))
        .hint(format!("ask it, as in {name}/any(x:x eq …) or {name}/$count, or look into it with in"))
}
