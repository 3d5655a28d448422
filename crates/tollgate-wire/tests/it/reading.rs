//! Reads options for the other tests, and shows expressions as text.

use crate::fixture;
use tollgate_wire::edm::{EntityType, Model, Primitive, SetId, Version};
use tollgate_wire::plan::{Expression, ExpressionKind, Options, Origin, Resource};
use tollgate_wire::url;
use tollgate_wire::value::Value;

pub(crate) const V2: Version = Version::V2;
pub(crate) const V4: Version = Version::V4;

/// An expression as nested lists; literals with the type that they were given.
pub(crate) fn describe(model: &Model, entity_type: &EntityType, expression: &Expression) -> String {
    describe_within(model, entity_type, &[], expression)
}

/// Within questions about entities of these sets.
fn describe_within(model: &Model, entity_type: &EntityType, sets: &[SetId], expression: &Expression) -> String {
    let inner = |expression: &Expression| describe_within(model, entity_type, sets, expression);
    match &expression.kind {
        ExpressionKind::Literal(Value::Null) => "null".to_owned(),
        ExpressionKind::Literal(Value::Boolean(value)) => value.to_string(),
        ExpressionKind::Literal(value) => {
            let text = match value {
                Value::Text(_, text) | Value::Decimal(text) => text.clone(),
                Value::Integer(value) => value.to_string(),
                Value::Real(value) => value.to_string(),
                Value::String(text) => format!("'{text}'"),
                other => format!("{other:?}"),
            };
            format!("{text}:{}", name(expression.primitive))
        }
        ExpressionKind::Leaf { of, through, leaf } => {
            let mut path = match of {
                Origin::It => String::new(),
                Origin::Variable(number) => format!("${number}/"),
            };
            let mut reached = match of {
                Origin::It => entity_type,
                Origin::Variable(number) => model.type_of(sets[*number]),
            };
            for (navigation, target) in through {
                path += &format!("{}/", reached.navigation[navigation.0].name);
                reached = model.type_of(*target);
            }
            path + &reached.leaves[leaf.0].path
        }
        ExpressionKind::Not(operand) => format!("(not {})", inner(operand)),
        ExpressionKind::Negate(operand) => format!("(- {})", inner(operand)),
        ExpressionKind::Logic(logic, a, b) => format!("({logic:?} {} {})", inner(a), inner(b)),
        ExpressionKind::Compare(comparison, a, b) => format!("({comparison:?} {} {})", inner(a), inner(b)),
        ExpressionKind::Arithmetic(operation, a, b) => format!("({operation:?} {} {})", inner(a), inner(b)),
        ExpressionKind::Call(function, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(inner).collect();
            format!("({function:?} {})", arguments.join(" "))
        }
        ExpressionKind::Item(number) => format!("${number}"),
        ExpressionKind::Items(items) => {
            let collection = &entity_type.leaves[items.leaf.0].path;
            let condition = items.condition.as_ref();
            let condition = condition.map_or(String::new(), |condition| format!(" {}", inner(condition)));
            format!("({:?} {collection}{condition})", items.question)
        }
        ExpressionKind::In(operand, values) => format!("({} in {values:?})", inner(operand)),
        ExpressionKind::Case(branches) => {
            let branches: Vec<String> =
                branches.iter().map(|(condition, value)| format!("{}: {}", inner(condition), inner(value))).collect();
            format!("(case {})", branches.join(", "))
        }
        ExpressionKind::Column(index) => format!("c{index}"),
        ExpressionKind::Cast(operand) => format!("({} as {})", inner(operand), name(expression.primitive)),
        ExpressionKind::Related(related) => {
            let mut reached = match related.of {
                Origin::It => entity_type,
                Origin::Variable(number) => model.type_of(sets[number]),
            };
            let mut path = String::new();
            for (navigation, target) in &related.through {
                path += &format!("{}/", reached.navigation[navigation.0].name);
                reached = model.type_of(*target);
            }
            path += &reached.navigation[related.navigation.0].name;
            let within = [sets, &[related.target]].concat();
            let condition = related.condition.as_ref();
            let condition = condition.map(|condition| describe_within(model, entity_type, &within, condition));
            format!("({:?} {path} {})", related.question, condition.unwrap_or_default())
        }
    }
}

fn name(primitive: Option<Primitive>) -> String {
    let full = format!("{:?}", primitive.unwrap());
    full.split(' ').next().unwrap().to_owned()
}

/// The options of a URL, or the status and sentence of its error.
pub(crate) fn options(version: Version, path: &str, query: &str) -> Result<Options, String> {
    match url::parse(&fixture::model(), version, path, Some(query)) {
        Ok((Resource::Read(plan), _)) => Ok(plan.options),
        Ok((other, _)) => Err(format!("{other:?}")),
        Err(error) => Err(format!("{} {error}", error.status())),
    }
}

/// The URL is refused with exactly this status and sentence.
pub(crate) fn check_error(version: Version, path: &str, query: &str, expected: &str) {
    assert_eq!(options(version, path, query), Err(expected.to_owned()), "{version:?} {query}");
}
