//! Calls whose arguments are more than expressions: `cast` and `isof` take the name of a type, `case` pairs, `hassubset`
//! and its kin a collection.

use super::parser::{Node, Parser};
use super::path::{Entity, both};
use super::types;
use crate::address::{Fault, Parsed, Problem, quoted, type_name};
use crate::edm::Primitive;
use crate::plan::{Comparison, Expression, ExpressionKind, Function};
use crate::query::cast;
use crate::query::limits::{NAVIGATION_MAX, NODES_MAX};
use crate::value::Value;

/// A call with arguments of its own kind.
#[derive(Clone, Copy)]
pub(super) enum Special {
    Cast,
    IsOf,
    Case,
    HasSubset,
    HasSubsequence,
}

impl Special {
    /// The call of that name, in upper or lower case.
    pub(super) fn of(name: &str) -> Option<Special> {
        let named = [
            ("cast", Special::Cast),
            ("isof", Special::IsOf),
            ("case", Special::Case),
            ("hassubset", Special::HasSubset),
            ("hassubsequence", Special::HasSubsequence),
        ];
        named.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, special)| special)
    }
}

/// The operand of `cast` and `isof`.
enum Operand<'c> {
    Value(Node),
    Entity(Entity<'c>),
}

const DECIMAL: Primitive = Primitive::Decimal { precision: 0, scale: 0 };
const BOOLEAN: Option<Primitive> = Some(Primitive::Boolean);

impl<'c> Parser<'c> {
    /// The call whose name is at `at`.
    pub(super) fn special(&mut self, special: Special, name: &str, at: usize) -> Parsed<Node> {
        self.position = at + name.len() + 1;
        let opened_at = at + name.len();
        match special {
            Special::Case => self.case(at, opened_at),
            Special::HasSubset | Special::HasSubsequence => self.has_values(special, name, at),
            Special::Cast | Special::IsOf => {
                self.space();
                let whole = self.qualified();
                let alone = self.rest()[whole.len()..].starts_with([')', ' '])
                    && !whole.starts_with(|c: char| c.is_ascii_digit());
                let (operand, type_at, wanted) = match whole.contains('.') && alone {
                    // The entity itself.
                    true => (Operand::Entity(self.here_entity()), self.position, whole),
                    false => {
                        let operand = match self.entity_argument()? {
                            Some(entity) => Operand::Entity(entity),
                            None => Operand::Value(self.nested(|parser| parser.binary(0))?),
                        };
                        if !self.take(',') {
                            return Err(Problem::syntax(self.position, format!("expected ',' and a type in {name}")));
                        }
                        self.space();
                        (operand, self.position, self.qualified())
                    }
                };
                self.position += wanted.len();
                self.close(opened_at)?;
                match (special, operand) {
                    (Special::Cast, Operand::Value(operand)) => self.cast(operand, wanted, type_at),
                    (Special::Cast, Operand::Entity(entity)) => self.cast_entity(entity, wanted, (at, type_at)),
                    (_, Operand::Value(operand)) => self.is_of(operand, wanted, (at, type_at)),
                    (_, Operand::Entity(entity)) => self.entity_is_of(entity, wanted, (at, type_at)),
                }
            }
        }
    }

    /// The next name with dots.
    pub(super) fn qualified(&self) -> &'c str {
        let rest = self.rest();
        let end = rest.find(|character: char| !(character.is_alphanumeric() || matches!(character, '_' | '.')));
        &rest[..end.unwrap_or(rest.len())]
    }

    fn cast(&mut self, operand: Node, wanted: &str, at: usize) -> Parsed<Node> {
        if let Some(id) = self.enumeration_of(wanted) {
            return self.cast_to_member(operand, id, at);
        }
        let Some(to) = primitive_of(wanted) else {
            return Err(Problem::not_implemented(at, format!("cast to {}", quoted(wanted))));
        };
        if let Some(id) = operand.enumeration {
            return self.cast_of_member(operand, id, to, at);
        }
        let version = self.context.version;
        let height = operand.height;
        let operand = operand.expression;
        let Some(from) = operand.primitive else { return self.node(types::cast_to(operand, to), height) };
        use Primitive as P;
        let unbuilt = || {
            let (from, to) = (type_name(version, Some(from)), type_name(version, Some(to)));
            Err(Problem::not_implemented(at, format!("cast from {from} to {to}")))
        };
        let expression = match (from, to) {
            (P::Single | P::Double, P::Single) if from != to => return unbuilt(),
            (from, to) if from == to => operand,
            (P::Decimal { .. }, P::Decimal { .. })
            | (P::Single | P::Double, P::Double)
            | (P::String { .. }, P::String { .. })
            | (P::Binary { .. }, P::Binary { .. })
            | (P::DateTime { .. } | P::DateTimeOffset { .. }, P::DateTimeOffset { .. })
            | (P::TimeOfDay { .. }, P::TimeOfDay { .. }) => operand,
            (P::Single | P::Double, P::Decimal { .. } | P::String { .. }) => return unbuilt(),
            (from, P::Double | P::Decimal { .. }) if from.is_number() => types::cast_to(operand, to),
            (from, to) if from.is_integer() && to.is_integer() => types::cast_to(operand, to),
            (from, to) if from.is_number() && to.is_integer() => {
                let whole = types::cast_to(operand, P::Int64);
                if to == P::Int64 { whole } else { types::cast_to(whole, to) }
            }
            (P::DateTime { .. } | P::DateTimeOffset { .. }, P::Date) => call(Function::Date, operand, to),
            (P::DateTime { .. } | P::DateTimeOffset { .. }, P::TimeOfDay { .. }) => call(Function::Time, operand, to),
            (P::Date, P::DateTimeOffset { .. }) => types::cast_to(operand, to),
            (P::Boolean | P::Decimal { .. } | P::Guid | P::Date | P::TimeOfDay { .. }, P::String { .. }) => {
                types::cast_to(operand, to)
            }
            (from, P::String { .. }) if from.is_integer() => types::cast_to(operand, to),
            (_, P::String { .. }) | (P::String { .. }, _) => return unbuilt(),
            (from, P::Single) if from.is_number() => return unbuilt(),
            _ => {
                let what =
                    format!("cannot cast {} to {}", type_name(version, Some(from)), type_name(version, Some(to)));
                return Err(Problem::new(Fault::Type, at, what));
            }
        };
        self.node(expression, height + 1)
    }

    /// `isof` of a primitive: known without its value, except that null is of no type.
    fn is_of(&mut self, operand: Node, wanted: &str, (at, type_at): (usize, usize)) -> Parsed<Node> {
        let to = primitive_of(wanted);
        let version = self.context.version;
        let is = match (self.enumeration_of(wanted), to) {
            (Some(id), _) => operand.enumeration == Some(id),
            (None, Some(to)) => operand.expression.primitive.is_some_and(|from| {
                operand.enumeration.is_none() && type_name(version, Some(from)) == type_name(version, Some(to))
            }),
            (None, None) => {
                return Err(Problem::not_implemented(type_at, format!("isof with {}", quoted(wanted))));
            }
        };
        if !is {
            return self.node(constant(false, at), 0);
        }
        let null = Expression { kind: ExpressionKind::Literal(Value::Null), primitive: None, position: at };
        let height = operand.height;
        let expression = types::compare(version, Comparison::NotEqual, operand.expression, null, at)?;
        self.node(expression, height)
    }

    /// The entity whose properties bare names are.
    fn here_entity(&self) -> Entity<'c> {
        Entity { of: self.here, through: Vec::new(), entity_type: self.here_type, only_if: None }
    }

    /// `cast` of an entity, which is no value: only a property behind it is one.
    fn cast_entity(&mut self, entity: Entity<'c>, wanted: &str, (at, type_at): (usize, usize)) -> Parsed<Node> {
        let context = self.context;
        let subtype = cast::target(context.model, entity.entity_type, wanted, (Fault::Type, type_at))?;
        let Some(subtype) = subtype.filter(|_| self.rest().starts_with('/')) else {
            return Err(Problem::not_implemented(at, "cast of an entity as a value")
                .hint("name one of its properties behind a slash"));
        };
        self.position += 1;
        let condition = cast::condition(entity.entity_type, (entity.of, &entity.through), subtype, type_at);
        let entity_type = context.model.seen_as(entity.entity_type, subtype);
        self.path_from(Entity { entity_type, only_if: both(entity.only_if, condition), ..entity })
    }

    /// Whether an entity is of a type; a missing entity is of none.
    fn entity_is_of(&mut self, entity: Entity<'c>, wanted: &str, (at, type_at): (usize, usize)) -> Parsed<Node> {
        let model = self.context.model;
        let from = entity.entity_type;
        let of_type = match wanted {
            "Edm.EntityType" => None,
            _ if wanted == "Edm.ComplexType" || primitive_of(wanted).is_some() => {
                return self.node(constant(false, at), 0);
            }
            // What is seen as one type is of those, too, that it derives from.
            _ if model.subtype(model.whole(from), wanted).is_some_and(|base| from.is_a(from.seen_subtype(), base)) => {
                None
            }
            _ => {
                let Some(subtype) = cast::target(model, from, wanted, (Fault::Type, type_at))? else {
                    return Err(Problem::not_implemented(type_at, format!("isof with {}", quoted(wanted))));
                };
                cast::condition(from, (entity.of, &entity.through), subtype, type_at)
            }
        };
        let of_type = match (of_type, from.key.first()) {
            // It is of the type where it is there.
            (None, Some(key)) if !entity.through.is_empty() => {
                let primitive = Some(from.leaves[key.0].primitive);
                let kind = ExpressionKind::Leaf { of: entity.of, through: entity.through, leaf: *key };
                let null = Expression { kind: ExpressionKind::Literal(Value::Null), primitive: None, position: at };
                let key = Expression { kind, primitive, position: at };
                Some(types::compare(self.context.version, Comparison::NotEqual, key, null, at)?)
            }
            (of_type, _) => of_type,
        };
        match both(entity.only_if, of_type) {
            Some(condition) => self.node(condition, 2 + NAVIGATION_MAX),
            None => self.node(constant(true, at), 0),
        }
    }

    /// `case(condition:value,…)` of 4.01.
    fn case(&mut self, at: usize, opened_at: usize) -> Parsed<Node> {
        let (mut conditions, mut values): (Vec<Expression>, Vec<Node>) = (Vec::new(), Vec::new());
        let mut height = 0;
        loop {
            let condition = self.nested(|parser| parser.binary(0))?;
            types::expect_boolean(self.context.version, "case", &condition.expression)?;
            if !self.take(':') {
                return Err(Problem::syntax(self.position, "expected ':' and a value in case"));
            }
            let value = self.nested(|parser| parser.binary(0))?;
            height = height.max(condition.height).max(value.height);
            conditions.push(condition.expression);
            values.push(value);
            if values.len() > NODES_MAX || !self.take(',') {
                break;
            }
        }
        self.close(opened_at)?;
        let enumeration = self.common_enumeration(&values)?;
        let values = values.into_iter().map(|value| value.expression);
        let mut branches: Vec<(Expression, Expression)> = conditions.into_iter().zip(values).collect();
        let mut common: Option<Primitive> = None;
        for (_, value) in &branches {
            common = match (common, value.primitive) {
                (None, primitive) => primitive,
                (known, None) => known,
                (Some(a), Some(b)) if a.is_number() && b.is_number() => Some(types::wider(a, b)),
                (Some(a), Some(b)) if std::mem::discriminant(&a) == std::mem::discriminant(&b) => Some(a),
                (Some(a), Some(b)) => {
                    let version = self.context.version;
                    let (a, b) = (type_name(version, Some(a)), type_name(version, Some(b)));
                    return Err(Problem::new(Fault::Type, value.position, format!("case gives {a} and {b}")));
                }
            };
        }
        if let Some(wide @ (Primitive::Double | Primitive::Decimal { .. })) = common {
            for (_, value) in &mut branches {
                let narrower = |primitive: Primitive| match wide {
                    DECIMAL => primitive.is_integer(),
                    _ => !matches!(primitive, Primitive::Single | Primitive::Double),
                };
                if value.primitive.is_some_and(narrower) {
                    let taken = std::mem::replace(
                        value,
                        Expression { kind: ExpressionKind::Literal(Value::Null), primitive: None, position: at },
                    );
                    *value = types::cast_to(taken, wide);
                }
            }
        }
        let kind = ExpressionKind::Case(branches);
        let node = self.node(Expression { kind, primitive: common, position: at }, height + 1)?;
        Ok(Node { enumeration, ..node })
    }
}

fn constant(value: bool, position: usize) -> Expression {
    Expression { kind: ExpressionKind::Literal(Value::Boolean(value)), primitive: BOOLEAN, position }
}

fn call(function: Function, operand: Expression, to: Primitive) -> Expression {
    let position = operand.position;
    Expression { kind: ExpressionKind::Call(function, vec![operand]), primitive: Some(to), position }
}

/// The primitive type of that name.
fn primitive_of(name: &str) -> Option<Primitive> {
    Some(match name.strip_prefix("Edm.")? {
        "Boolean" => Primitive::Boolean,
        "Byte" => Primitive::Byte,
        "SByte" => Primitive::SByte,
        "Int16" => Primitive::Int16,
        "Int32" => Primitive::Int32,
        "Int64" => Primitive::Int64,
        "Single" => Primitive::Single,
        "Double" => Primitive::Double,
        "Decimal" => DECIMAL,
        "String" => Primitive::String { length_max: 0 },
        "Binary" => Primitive::Binary { length_max: 0 },
        "Guid" => Primitive::Guid,
        "Date" => Primitive::Date,
        "DateTimeOffset" => Primitive::DateTimeOffset { precision: 0 },
        "TimeOfDay" => Primitive::TimeOfDay { precision: 0 },
        "Duration" => Primitive::Duration,
        _ => return None,
    })
}
