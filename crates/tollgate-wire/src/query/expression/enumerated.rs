//! Members of enumerations: literals such as `shop.Status'Open'`, their comparisons, and `has`; `cast` of them is in
//! [`super::named`].
//!
//! An expression has the value that is stored for a member. Members are ordered by their numbers, in every stored form.

use super::parser::{Node, Parser};
use crate::address::{Fault, Parsed, Problem, quoted};
use crate::edm::{Enumeration, EnumerationId, Primitive};
use crate::plan::{Comparison, Expression, ExpressionKind, Function};
use crate::query::limits::NODES_MAX;
use crate::value::Value;

/// The number by which members are ordered, of an expression with the value that is stored for one.
pub(in crate::query) fn number_of(enumeration: &Enumeration, stored: Expression) -> Expression {
    if !enumeration.stores_texts() {
        return stored;
    }
    let position = stored.position;
    let of = |kind, primitive| Expression { kind, primitive: Some(primitive), position };
    let number = enumeration.underlying();
    let literal = |value, primitive| of(ExpressionKind::Literal(value), primitive);
    if let ExpressionKind::Literal(value) = &stored.kind {
        return match enumeration.number(value.cell()) {
            Some(member) => literal(Value::Integer(member), number),
            None => stored,
        };
    }
    let text = Primitive::String { length_max: 0 };
    let branches = enumeration.members.iter().map(|member| {
        let (left, right) = (Box::new(stored.clone()), Box::new(literal(member.value(), text)));
        let is_it = of(ExpressionKind::Compare(Comparison::Equal, left, right), Primitive::Boolean);
        (is_it, literal(Value::Integer(member.number), number))
    });
    of(ExpressionKind::Case(branches.collect()), number)
}

impl Parser<'_> {
    /// A node whose value is no member: with those nothing can be computed.
    pub(super) fn plain(&self, node: Node) -> Parsed<Node> {
        let Some(id) = node.enumeration else { return Ok(node) };
        let what = format!("nothing can be computed with a member of {}", self.enumeration(id).full_name);
        let problem = Problem::new(Fault::Type, node.expression.position, what);
        Err(problem.hint("cast(…,Edm.String) is its name, cast(…,Edm.Int64) its number"))
    }

    /// The literal at `at` whose type has this name, right before its quote.
    pub(super) fn member_literal(&mut self, at: usize, qualified: &str) -> Parsed<Node> {
        let enumerations = &self.context.model.enumerations;
        let Some(id) = enumerations.iter().position(|known| known.full_name == qualified) else {
            let hint = crate::suggest::nearest(qualified, enumerations.iter().map(|known| known.full_name.as_str()));
            let hint = hint.map(|name| format!("did you mean {name}?"));
            let what = format!("the enumeration type {}", quoted(qualified));
            return Err(match enumerations.is_empty() {
                true => Problem::not_implemented(at, what),
                false => Problem::new(Fault::Type, at, format!("{what} is unknown")).hint_if(hint),
            });
        };
        let begin = at + qualified.len() + 1;
        let Some(length) = self.text[begin..].find('\'') else {
            return Err(Problem::syntax(begin - 1, "a quote that is not closed"));
        };
        self.position = begin + length + 1;
        let id = EnumerationId(id);
        let value = self.member_value(id, &self.text[begin..begin + length], at)?;
        self.member(id, value, at)
    }

    /// The stored value for names of members.
    pub(super) fn member_value(&self, id: EnumerationId, names: &str, at: usize) -> Parsed<Value> {
        let enumeration = &self.context.model.enumerations[id.0];
        enumeration.value(names).ok_or_else(|| {
            let near = crate::suggest::nearest(names, enumeration.members.iter().map(|member| member.name.as_str()));
            let hint = near.map(|name| format!("did you mean {}'{name}'?", enumeration.full_name));
            let what = format!("{} is no member of {}", quoted(names), enumeration.full_name);
            Problem::new(Fault::BadValue, at, what).hint_if(hint)
        })
    }

    fn member(&mut self, id: EnumerationId, value: Value, at: usize) -> Parsed<Node> {
        let primitive = match &value {
            Value::String(_) => Primitive::String { length_max: 0 },
            _ => self.enumeration(id).underlying(),
        };
        let expression = Expression { kind: ExpressionKind::Literal(value), primitive: Some(primitive), position: at };
        let node = self.node(expression, 0)?;
        Ok(Node { enumeration: Some(id), ..node })
    }

    pub(super) fn enumeration(&self, id: EnumerationId) -> &Enumeration {
        &self.context.model.enumerations[id.0]
    }

    /// Both sides of a comparison: members of one enumeration, null, or (4.01) a text with the name of a member.
    pub(super) fn members_to_compare(
        &mut self,
        comparison: Comparison,
        left: Node,
        right: Node,
        at: usize,
    ) -> Parsed<(Node, Node)> {
        let Some(id) = left.enumeration.or(right.enumeration) else { return Ok((left, right)) };
        let left = self.member_to_compare(Some(id), left, at)?;
        let right = self.member_to_compare(Some(id), right, at)?;
        Ok(match comparison {
            Comparison::Equal | Comparison::NotEqual => (left, right),
            Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => {
                (self.by_number(left)?, self.by_number(right)?)
            }
        })
    }

    /// One side of a comparison that may be a member of an enumeration.
    pub(super) fn member_to_compare(&mut self, with: Option<EnumerationId>, node: Node, at: usize) -> Parsed<Node> {
        match (with, node.enumeration, &node.expression.kind) {
            (None, None, _) => Ok(node),
            (Some(id), Some(other), _) if id == other => Ok(node),
            (Some(_), None, ExpressionKind::Literal(Value::Null)) => Ok(node),
            (Some(id), None, ExpressionKind::Literal(Value::String(names))) => {
                let (names, position) = (names.clone(), node.expression.position);
                let value = self.member_value(id, &names, position)?;
                self.member(id, value, position)
            }
            (with, other, _) => {
                let [one, two] = [with, other].map(|id| match id {
                    Some(id) => self.enumeration(id).full_name.clone(),
                    None => "a value of no enumeration".to_owned(),
                });
                Err(Problem::new(Fault::Type, at, format!("cannot compare {one} with {two}"))
                    .hint("a member is written as Namespace.Type'Member'"))
            }
        }
    }

    /// The number of a member in the place of the text that is stored for it.
    pub(super) fn by_number(&mut self, node: Node) -> Parsed<Node> {
        let Some(id) = node.enumeration.filter(|id| self.enumeration(*id).stores_texts()) else { return Ok(node) };
        self.repeated(&node.expression, id)?;
        let expression = number_of(self.enumeration(id), node.expression);
        Ok(Node { expression, height: node.height + 2, ..node })
    }

    /// Counts an expression again for each member, since it is repeated beside each.
    pub(super) fn repeated(&mut self, expression: &Expression, id: EnumerationId) -> Parsed<()> {
        let members = self.enumeration(id).members.len();
        self.nodes = self.nodes.saturating_add(expression.nodes().saturating_mul(members));
        match self.nodes > NODES_MAX {
            false => Ok(()),
            true => {
                let what = format!("more than {NODES_MAX} names, literals and operators");
                Err(Problem::new(Fault::Limit, expression.position, what))
            }
        }
    }

    /// `has`: whether the value has all bits of the member.
    pub(super) fn has(&mut self, left: Node, right: Node, at: usize) -> Parsed<Node> {
        let Some(id) = left.enumeration else {
            let problem = Problem::new(Fault::Type, at, "has asks values of an enumeration");
            return Err(problem.hint("write Property has Namespace.Type'Member'"));
        };
        let right = self.member_to_compare(Some(id), right, at)?;
        let height = left.height.max(right.height);
        let position = left.expression.position;
        let kind = match self.enumeration(id).stores_texts() {
            true => ExpressionKind::Compare(Comparison::Equal, Box::new(left.expression), Box::new(right.expression)),
            false => ExpressionKind::Call(Function::Has, vec![left.expression, right.expression]),
        };
        self.node(Expression { kind, primitive: Some(Primitive::Boolean), position }, height)
    }
}
