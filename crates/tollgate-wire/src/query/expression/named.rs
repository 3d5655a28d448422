//! `cast` and `isof` with enumerations: the name of a member, its number, and the member of a name or a number (OData
//! V4.01 URL conventions, section 5.1.1.10).
//!
//! A value that is no member becomes null. It deliberately takes no several flags apart, other than of literals.

use super::enumerated::number_of;
use super::parser::{Node, Parser};
use super::types;
use crate::address::{Fault, Parsed, Problem, quoted, type_name};
use crate::edm::{Arity, Enumeration, EnumerationId, Primitive};
use crate::plan::{Comparison, Expression, ExpressionKind};
use crate::value::Value;

const TEXT: Primitive = Primitive::String { length_max: 0 };

/// The stored value for a member's number; null if no member has it.
pub(in crate::query) fn stored_of(enumeration: &Enumeration, number: Expression) -> Expression {
    let branches = enumeration.members.iter().map(|member| (Value::Integer(member.number), member.value()));
    case(&number, branches, enumeration.primitive())
}

impl Parser<'_> {
    /// The enumeration of that name.
    pub(super) fn enumeration_of(&self, qualified: &str) -> Option<EnumerationId> {
        let enumerations = &self.context.model.enumerations;
        enumerations.iter().position(|known| known.full_name == qualified).map(EnumerationId)
    }

    /// A member, or null, as a value of a primitive type.
    pub(super) fn cast_of_member(
        &mut self,
        operand: Node,
        id: EnumerationId,
        to: Primitive,
        at: usize,
    ) -> Parsed<Node> {
        let height = operand.height + 2;
        self.repeated(&operand.expression, id)?;
        let enumeration = self.enumeration(id);
        let unbuilt =
            |what: &str| Problem::not_implemented(at, format!("cast from {} to {what}", enumeration.full_name));
        let expression = match (to, enumeration.arity) {
            (Primitive::String { .. }, Arity::One) => {
                let names = enumeration.members.iter();
                let names = names.map(|member| (member.value(), Value::String(member.name.clone())));
                case(&operand.expression, names, TEXT)
            }
            (Primitive::String { .. }, Arity::Flags) => {
                return Err(unbuilt("Edm.String of what may be several members"));
            }
            (to, _) if to.is_integer() => types::cast_to(number_of(enumeration, operand.expression), to),
            (to, _) => {
                let to = type_name(self.context.version, Some(to));
                let what = format!("cannot cast {} to {to}", enumeration.full_name);
                return Err(Problem::new(Fault::Type, at, what));
            }
        };
        self.node(expression, height)
    }

    /// A name or a number as a member.
    pub(super) fn cast_to_member(&mut self, operand: Node, id: EnumerationId, at: usize) -> Parsed<Node> {
        self.repeated(&operand.expression, id)?;
        let enumeration = self.enumeration(id);
        let stored = enumeration.primitive();
        let height = operand.height + 2;
        let typed = |kind| Expression { kind, primitive: Some(stored), position: operand.expression.position };
        let expression = match (&operand.expression.kind, operand.expression.primitive) {
            (_, _) if operand.enumeration == Some(id) => return Ok(operand),
            (_, _) if operand.enumeration.is_some() => return Err(self.no_cast(&operand, id, at)),
            (ExpressionKind::Literal(Value::Null), _) | (_, None) => operand.expression,
            (ExpressionKind::Literal(Value::String(names)), _) => {
                typed(ExpressionKind::Literal(enumeration.value(names).unwrap_or(Value::Null)))
            }
            (_, Some(Primitive::String { .. })) if enumeration.arity == Arity::One => {
                let names = enumeration.members.iter();
                let names = names.map(|member| (Value::String(member.name.clone()), member.value()));
                case(&operand.expression, names, stored)
            }
            (_, Some(from)) if from.is_integer() && enumeration.arity == Arity::One => {
                stored_of(enumeration, operand.expression)
            }
            (_, Some(Primitive::String { .. })) => {
                let what = format!("cast from Edm.String to {}, of which several may be named", enumeration.full_name);
                return Err(Problem::not_implemented(at, what));
            }
            (_, Some(from)) if from.is_integer() => types::cast_to(operand.expression, stored),
            _ => return Err(self.no_cast(&operand, id, at)),
        };
        let node = self.node(expression, height)?;
        Ok(Node { enumeration: Some(id), ..node })
    }

    fn no_cast(&self, operand: &Node, id: EnumerationId, at: usize) -> Box<Problem> {
        let found = match operand.enumeration {
            Some(other) => self.enumeration(other).full_name.clone(),
            None => type_name(self.context.version, operand.expression.primitive).to_owned(),
        };
        let wanted = &self.enumeration(id).full_name;
        Problem::new(Fault::Type, at, format!("cannot cast {found} to {wanted}"))
    }

    /// The enumeration that all values of `case` are of, or none of them.
    pub(super) fn common_enumeration(&self, values: &[Node]) -> Parsed<Option<EnumerationId>> {
        let typed = |value: &&Node| value.expression.primitive.is_some();
        let first = values.iter().find(typed).and_then(|value| value.enumeration);
        match values.iter().filter(typed).find(|value| value.enumeration != first) {
            None => Ok(first),
            Some(other) => {
                let named = first.or(other.enumeration).map_or("", |id| &self.enumeration(id).full_name);
                let what = format!("case gives members of {} and other values", quoted(named));
                Err(Problem::new(Fault::Type, other.expression.position, what))
            }
        }
    }
}

/// Maps values to others; null for all others.
fn case(of: &Expression, values: impl Iterator<Item = (Value, Value)>, to: Primitive) -> Expression {
    let position = of.position;
    let literal = |value, primitive| Expression { kind: ExpressionKind::Literal(value), primitive, position };
    let branches = values.map(|(from, value)| {
        let (left, right) = (Box::new(of.clone()), Box::new(literal(from, of.primitive)));
        let kind = ExpressionKind::Compare(Comparison::Equal, left, right);
        (Expression { kind, primitive: Some(Primitive::Boolean), position }, literal(value, Some(to)))
    });
    Expression { kind: ExpressionKind::Case(branches.collect()), primitive: Some(to), position }
}
