//! Calls of functions: `Name(from=2013-09-25,city=@c)` in V4, `Name?from=datetime'2013-09-25T00:00:00'` in V2.
//!
//! It reads values of the parameters' types; what they are for is [`crate::query`]'s business.

use super::error::{Fault, Parsed, Problem, quoted};
use super::key::{compatible, example};
use super::literal::{self, type_name};
use crate::edm::{FunctionAnswer, FunctionImport, FunctionReturn, Model, Primitive, SetId, Version};
use crate::plan::Shape;
use crate::suggest;
use crate::value::Value;

/// A call, as far as the path tells it.
pub(crate) struct Call {
    /// The function.
    pub(crate) function: usize,
    /// The arguments between the parentheses, in the order of the parameters.
    pub(crate) arguments: Vec<Option<Argument>>,
}

/// An argument between the parentheses.
#[derive(Clone)]
pub(crate) enum Argument {
    /// Its value.
    Value(Value),
    /// The alias that stands for it, with its `@`.
    Alias(String),
}

/// The set, the shape and the complex type of a function's answer; nothing where it is declared only.
pub(super) fn leads_to(function: &FunctionImport) -> Option<(SetId, Shape, Option<crate::edm::ComplexId>)> {
    match (&function.answer, &function.returns) {
        (FunctionAnswer::Matching(_), FunctionReturn::Entities(set)) => Some((*set, Shape::Collection, None)),
        (FunctionAnswer::Keyed(_), FunctionReturn::Entity(set)) => Some((*set, Shape::Entity, None)),
        (FunctionAnswer::Computed { set, .. }, FunctionReturn::Complex(id)) => Some((*set, Shape::Entity, Some(*id))),
        _ => None,
    }
}

/// Reads the text between the parentheses, which begins at an offset of the path.
pub(super) fn read(model: &Model, version: Version, function: usize, arguments: Option<(&str, usize)>) -> Parsed<Call> {
    let declared = &model.function_imports[function];
    let mut call = Call { function, arguments: vec![None; declared.parameters.len()] };
    match arguments {
        Some((text, at)) if version == Version::V2 && !text.trim().is_empty() => {
            let problem = Problem::syntax(at, format!("V2 gives the parameters of {} as query options", declared.name));
            Err(problem.hint(shape(version, declared)))
        }
        Some((text, at)) => {
            between_parentheses(version, declared, text, &mut call).map_err(|problem| problem.behind(at))?;
            Ok(call)
        }
        None => Ok(call),
    }
}

/// The value of one parameter, which is the whole text.
pub(crate) fn value(version: Version, declared: &FunctionImport, parameter: usize, text: &str) -> Parsed<Value> {
    let (value, end) = value_at(version, declared, parameter, text, 0)?;
    match text[end..].trim() {
        "" => Ok(value),
        rest => Err(Problem::syntax(end, format!("expected the end of the value, found {}", quoted(rest)))),
    }
}

/// What a right call looks like.
pub(crate) fn shape(version: Version, declared: &FunctionImport) -> String {
    let parameters: Vec<String> = declared
        .parameters
        .iter()
        .map(|(name, primitive)| format!("{name}={}", example(version, *primitive)))
        .collect();
    match version {
        Version::V2 => format!("expected {}?{}", declared.name, parameters.join("&")),
        Version::V4 => format!("expected {}({})", declared.name, parameters.join(",")),
    }
}

fn between_parentheses(version: Version, declared: &FunctionImport, text: &str, call: &mut Call) -> Parsed<()> {
    let spaces = |at: usize| at + text[at..].bytes().take_while(|byte| *byte == b' ').count();
    let mut at = spaces(0);
    while at < text.len() {
        let Some(equals) = text[at..].find('=') else {
            return Err(Problem::syntax(at, "expected a parameter with its value").hint(shape(version, declared)));
        };
        let name = text[at..at + equals].trim_end();
        let Some(parameter) = declared.parameters.iter().position(|(known, _)| known == name) else {
            let hint = suggest::nearest(name, declared.parameters.iter().map(|(known, _)| known.as_str()));
            let hint = hint.map_or_else(|| shape(version, declared), |near| format!("did you mean {near}?"));
            let what = format!("{} has no parameter {}", declared.name, quoted(name));
            return Err(Problem::new(Fault::BadValue, at, what).hint(hint));
        };
        if call.arguments[parameter].is_some() {
            return Err(Problem::new(Fault::BadValue, at, format!("the parameter '{name}' stands twice")));
        }
        at = spaces(at + equals + 1);
        let (argument, end) = match text[at..].starts_with('@') {
            true => {
                let length = text[at..].find([',', ' ']).unwrap_or(text.len() - at);
                (Argument::Alias(text[at..at + length].to_owned()), at + length)
            }
            false => {
                let (value, end) = value_at(version, declared, parameter, text, at)?;
                (Argument::Value(value), end)
            }
        };
        call.arguments[parameter] = Some(argument);
        at = spaces(end);
        match text.as_bytes().get(at) {
            None => break,
            Some(b',') => at = spaces(at + 1),
            Some(_) => {
                let what = format!("expected ',' or ')' behind a parameter, found {}", quoted(&text[at..]));
                return Err(Problem::syntax(at, what).hint(shape(version, declared)));
            }
        }
    }
    Ok(())
}

fn value_at(
    version: Version,
    declared: &FunctionImport,
    parameter: usize,
    text: &str,
    at: usize,
) -> Parsed<(Value, usize)> {
    let (name, primitive) = &declared.parameters[parameter];
    let Some((literal, end)) = literal::read(version, text, at)? else {
        let what = format!("expected a literal for the parameter '{name}'");
        return Err(Problem::syntax(at, what).hint(written(version, name, *primitive)));
    };
    let found = literal.primitive;
    if literal.value == Value::Null {
        return Err(Problem::new(Fault::BadValue, at, format!("the parameter '{name}' cannot be null")));
    }
    let value = literal::convert(version, literal.value, *primitive)
        .or_else(|value| compatible(version, value, *primitive))
        .map_err(|_| {
            let (found, expected) = (type_name(version, found), type_name(version, Some(*primitive)));
            let what = format!("the parameter '{name}' is {expected}, which this value of {found} does not fit");
            Problem::new(Fault::BadValue, at, what).hint(written(version, name, *primitive))
        })?;
    Ok((value, end))
}

fn written(version: Version, name: &str, primitive: Primitive) -> String {
    format!("write {name}={}", example(version, primitive))
}
