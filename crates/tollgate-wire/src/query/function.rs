//! A call of a function becomes a plan like any other: a key, a condition beside that of `$filter`, or values that are
//! computed of an entity.
//!
//! Its expressions are the model's, read with the arguments as parameter aliases. It deliberately knows no SQL.

use std::cell::Cell;

use super::context::{Context, CustomOption};
use super::expression::{Parser, conjunction};
use super::options::filter::condition;
use crate::address::{
    Argument, Call, Fault, Place, Plus, Problem, UrlError, call_shape, decode, parameter_value, write_literal,
};
use crate::edm::{
    EntityType, FunctionAnswer, FunctionImport, FunctionReturn, Member, Model, Parameter, Primitive, Version,
};
use crate::plan::{Called, Computed, Key, Plan, Select};
use crate::value::Value;

/// Finds the arguments of `call` that the path has not given, in V2 among the options that are the service's own, and
/// completes its plan.
pub(super) fn resolve(
    model: &Model,
    version: Version,
    call: &Call,
    (custom, aliases): (&mut Vec<CustomOption>, &[(String, String)]),
    plan: &mut Plan,
) -> Result<(), UrlError> {
    let declared = &model.function_imports[call.function];
    if plan.options.apply.is_some() {
        let problem = Problem::not_implemented(0, "$apply over the answer of a function");
        return Err(problem.located(Place::Option("$apply".into()), ""));
    }
    let values = arguments(version, model, call, custom, aliases)?;
    let keyed = |key: &[usize]| Some(Key(key.iter().map(|parameter| values[*parameter].clone()).collect()));
    let entity_type = model.type_of(plan.set());
    let texts = || texts(model, declared, &values);
    let expansions = Cell::new(0);
    match &declared.answer {
        FunctionAnswer::Nothing | FunctionAnswer::Acting(_) => {}
        FunctionAnswer::Keyed(key) => plan.key = keyed(key),
        FunctionAnswer::Matching(text) => {
            let texts = texts();
            let context = context(model, entity_type, &texts, &expansions);
            let found = condition(&context, &mut Parser::new(&context, text))
                .map_err(|problem| problem.located(Place::Path, text))?;
            plan.options.filter = Some(conjunction(plan.options.filter.take(), found));
        }
        FunctionAnswer::Computed { key, values: expressions, .. } => {
            let Some(Called { returned: Some(complex), .. }) = plan.options.called else { return Ok(()) };
            plan.key = keyed(key);
            plan.options.select = Select::key_of(entity_type);
            let texts = texts();
            let context = context(model, entity_type, &texts, &expansions);
            for (property, text) in model.complex_types[complex.0].properties.iter().zip(expressions) {
                let Some(declared) = property.kind.primitive() else { continue };
                let mut parser = Parser::new(&context, text);
                let read = parser.expression().and_then(|expression| parser.end().map(|()| expression));
                let expression = read.map_err(|problem| problem.located(Place::Path, text))?;
                let primitive = expression.primitive.unwrap_or(declared);
                let name = property.name.clone();
                plan.options.compute.push(Computed { name, primitive, enumeration: None, expression, shown: true });
            }
        }
    }
    Ok(())
}

/// Reads the expressions of a function once, with a value of its type for each parameter, against the model that it is
/// for but need not be in.
///
/// # Errors
/// The error in them, with its column.
pub fn check(model: &Model, function: &FunctionImport) -> Result<(), UrlError> {
    let samples = samples(model, function);
    let expansions = Cell::new(0);
    match (&function.answer, &function.returns) {
        (FunctionAnswer::Matching(text), FunctionReturn::Entities(set)) => {
            let context = context(model, model.type_of(*set), &samples, &expansions);
            condition(&context, &mut Parser::new(&context, text))
                .map_err(|problem| problem.located(Place::Option("where".into()), text))?;
        }
        (FunctionAnswer::Computed { set, values, .. }, _) => {
            let context = context(model, model.type_of(*set), &samples, &expansions);
            for text in values {
                let mut parser = Parser::new(&context, text);
                let read = parser.expression().and_then(|_| parser.end());
                read.map_err(|problem| problem.located(Place::Option("values".into()), text))?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The parameters as aliases with these values.
pub(super) fn texts(model: &Model, declared: &FunctionImport, values: &[Value]) -> Vec<(String, String)> {
    let text = |(parameter, value): (&Parameter, &Value)| match parameter.enumeration {
        Some(id) => model.enumerations[id.0].literal(value.cell()),
        None => literal(parameter.primitive, value),
    };
    let parameters = declared.parameters.iter().zip(values);
    parameters.map(|(parameter, value)| (format!("@{}", parameter.name), text((parameter, value)))).collect()
}

/// The parameters as aliases, each with a value of its type.
pub(super) fn samples(model: &Model, declared: &FunctionImport) -> Vec<(String, String)> {
    let text = |parameter: &Parameter| match parameter.enumeration.map(|id| &model.enumerations[id.0]) {
        Some(enumeration) => enumeration.literal(enumeration.members.first().map_or(Value::Null, Member::value).cell()),
        None => sample(parameter.primitive).to_owned(),
    };
    declared.parameters.iter().map(|parameter| (format!("@{}", parameter.name), text(parameter))).collect()
}

/// Whether a value of a type may become one of another: nothing is lost, or it is refused only if it is out of range.
pub(super) fn assignable(from: Option<Primitive>, to: Primitive) -> bool {
    use Primitive as P;
    let Some(from) = from else { return true };
    let is_whole = |primitive| matches!(primitive, P::Byte | P::SByte | P::Int16 | P::Int32 | P::Int64);
    match (from, to) {
        (from, P::Decimal { .. } | P::Single | P::Double) if is_whole(from) => true,
        (P::Decimal { .. }, P::Single | P::Double) | (P::Single | P::Double, P::Single | P::Double) => true,
        (P::Date, P::DateTime { .. } | P::DateTimeOffset { .. }) | (P::DateTimeOffset { .. }, P::DateTime { .. }) => {
            true
        }
        (from, to) if is_whole(from) => is_whole(to),
        (from, to) => std::mem::discriminant(&from) == std::mem::discriminant(&to),
    }
}

/// A literal of a type.
fn sample(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Boolean => "true",
        Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32 | Primitive::Int64 => "1",
        Primitive::Single | Primitive::Double | Primitive::Decimal { .. } => "1.5",
        Primitive::String { .. } => "''",
        Primitive::Binary { .. } => "binary'AA'",
        Primitive::Guid => "01234567-89ab-cdef-0123-456789abcdef",
        Primitive::Date => "2013-09-25",
        Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. } => "2013-09-25T00:00:00Z",
        Primitive::TimeOfDay { .. } => "11:00:00",
        Primitive::Duration => "duration'PT1H'",
        Primitive::Collection(_) => "null",
    }
}

/// The context in which the model's expressions are read; they expand nothing.
pub(super) fn context<'m>(
    model: &'m Model,
    entity_type: &'m EntityType,
    aliases: &'m [(String, String)],
    expansions: &'m Cell<usize>,
) -> Context<'m> {
    Context { model, version: Version::V4, entity_type, aliases, depth: 0, expansions, options: &[] }
}

/// Reads one value for each parameter.
pub(super) fn arguments(
    version: Version,
    model: &Model,
    call: &Call,
    custom: &mut Vec<CustomOption>,
    aliases: &[(String, String)],
) -> Result<Vec<Value>, UrlError> {
    let declared = &model.function_imports[call.function];
    let mut values = Vec::with_capacity(declared.parameters.len());
    for (parameter, Parameter { name, .. }) in declared.parameters.iter().enumerate() {
        let text = match &call.arguments[parameter] {
            Some(Argument::Value(value)) => {
                values.push(value.clone());
                continue;
            }
            Some(Argument::Alias(alias)) => {
                aliases.iter().find(|(known, _)| known == alias).map(|(_, text)| text.clone())
            }
            None => {
                let given = custom.iter().position(|option| option.name == *name);
                let given = given.map(|at| custom.remove(at).value);
                if given.is_some() && custom.iter().any(|option| option.name == *name) {
                    let what = format!("the parameter '{name}' stands twice");
                    return Err(
                        Problem::whole(Fault::DuplicateOption, what).located(Place::Option(name.clone().into()), "")
                    );
                }
                given
            }
        };
        let Some(text) = text else {
            let what = format!("the parameter '{name}' of {} is missing", declared.name);
            let problem = Problem::whole(Fault::BadValue, what).hint(call_shape(model, version, declared));
            return Err(problem.located(Place::Path, ""));
        };
        let value = parameter_value(model, version, (declared, parameter), &text)
            .map_err(|problem| problem.located(Place::Option(name.clone().into()), &text))?;
        values.push(value);
    }
    Ok(values)
}

/// A value as the expressions of the model write it.
fn literal(primitive: Primitive, value: &Value) -> String {
    let mut encoded = Vec::new();
    write_literal(&mut encoded, Version::V4, primitive, value.cell());
    let encoded = String::from_utf8(encoded).expect("a literal is percent-encoded");
    decode(&encoded, Plus::Plus).expect("what was encoded here can be decoded: no argument has U+0000").into_owned()
}
