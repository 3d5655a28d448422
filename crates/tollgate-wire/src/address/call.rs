//! Calls of functions: `Name(from=2013-09-25,city=@c)` in V4, `Name?from=datetime'2013-09-25T00:00:00'` in V2.
//!
//! It reads values of the parameters' types; what they are for is [`crate::query`]'s business.

use super::error::{Fault, Parsed, Problem, quoted};
use super::key::{compatible, example};
use super::literal::{self, type_name};
use crate::edm::{
    Enumeration, FunctionAnswer, FunctionImport, FunctionReturn, Member, Model, Parameter, SetId, Version,
};
use crate::plan::Shape;
use crate::suggest;
use crate::value::Value;

/// A call, as far as the path gives it.
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
    /// The name of its alias, with its `@`.
    Alias(String),
}

/// The set, the shape and the complex type of a function's answer; nothing where it is declared only.
pub(crate) fn leads_to(function: &FunctionImport) -> Option<(SetId, Shape, Option<crate::edm::ComplexId>)> {
    match (&function.answer, &function.returns) {
        (FunctionAnswer::Matching(_), FunctionReturn::Entities(set)) => Some((*set, Shape::Collection, None)),
        (FunctionAnswer::Keyed(_), FunctionReturn::Entity(set)) => Some((*set, Shape::Entity, None)),
        (FunctionAnswer::Computed { set, .. }, FunctionReturn::Complex(id)) => Some((*set, Shape::Entity, Some(*id))),
        _ => None,
    }
}

/// Reads the text between the parentheses, which begins at an offset of the path.
pub(crate) fn read(model: &Model, version: Version, function: usize, arguments: Option<(&str, usize)>) -> Parsed<Call> {
    let declared = &model.function_imports[function];
    let mut call = Call { function, arguments: vec![None; declared.parameters.len()] };
    match arguments {
        Some((text, at)) if version == Version::V2 && !text.trim().is_empty() => {
            let problem = Problem::syntax(at, format!("V2 gives the parameters of {} as query options", declared.name));
            Err(problem.hint(shape(model, version, declared)))
        }
        Some((text, at)) => {
            between_parentheses(model, version, declared, text, &mut call).map_err(|problem| problem.behind(at))?;
            Ok(call)
        }
        None => Ok(call),
    }
}

/// The value of one parameter, which is the whole text.
pub(crate) fn value(
    model: &Model,
    version: Version,
    (declared, parameter): (&FunctionImport, usize),
    text: &str,
) -> Parsed<Value> {
    let (value, end) = value_at(model, version, &declared.parameters[parameter], text, 0)?;
    match text[end..].trim() {
        "" => Ok(value),
        rest => Err(Problem::syntax(end, format!("expected the end of the value, found {}", quoted(rest)))),
    }
}

/// An example of a correct call.
pub(crate) fn shape(model: &Model, version: Version, declared: &FunctionImport) -> String {
    let parameters: Vec<String> =
        declared.parameters.iter().map(|parameter| written(model, version, parameter)).collect();
    match version {
        Version::V2 => format!("expected {}?{}", declared.name, parameters.join("&")),
        Version::V4 => format!("expected {}({})", declared.name, parameters.join(",")),
    }
}

fn between_parentheses(
    model: &Model,
    version: Version,
    declared: &FunctionImport,
    text: &str,
    call: &mut Call,
) -> Parsed<()> {
    let shape = || shape(model, version, declared);
    let spaces = |at: usize| at + text[at..].bytes().take_while(|byte| *byte == b' ').count();
    let mut at = spaces(0);
    while at < text.len() {
        let Some(equals) = text[at..].find('=') else {
            return Err(Problem::syntax(at, "expected a parameter with its value").hint(shape()));
        };
        let name = text[at..at + equals].trim_end();
        let Some(parameter) = declared.parameter(name) else {
            let hint = suggest::nearest(name, declared.parameters.iter().map(|known| known.name.as_str()));
            let hint = hint.map_or_else(shape, |near| format!("did you mean {near}?"));
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
                let (value, end) = value_at(model, version, &declared.parameters[parameter], text, at)?;
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
                return Err(Problem::syntax(at, what).hint(shape()));
            }
        }
    }
    Ok(())
}

fn value_at(model: &Model, version: Version, parameter: &Parameter, text: &str, at: usize) -> Parsed<(Value, usize)> {
    let Parameter { name, primitive, enumeration } = parameter;
    let enumeration = enumeration.map(|id| &*model.enumerations[id.0]);
    let how = || format!("write {}", written(model, version, parameter));
    if let (Some(enumeration), Version::V4) = (enumeration, version)
        && let Some((names, end)) = names_at(enumeration, text, at)
    {
        return match enumeration.value(names) {
            Some(value) => Ok((value, end)),
            None => Err(no_member(enumeration, names, at)),
        };
    }
    let Some((literal, end)) = literal::read(version, text, at)? else {
        let what = format!("expected a literal for the parameter '{name}'");
        return Err(Problem::syntax(at, what).hint(how()));
    };
    let found = literal.primitive;
    if literal.value == Value::Null {
        return Err(Problem::new(Fault::BadValue, at, format!("the parameter '{name}' cannot be null")));
    }
    let expected = || match (enumeration, version) {
        (Some(enumeration), Version::V4) => enumeration.full_name.as_str(),
        _ => type_name(version, Some(*primitive)),
    };
    let value = match (enumeration, version) {
        (Some(_), Version::V4) => Err(literal.value),
        _ => {
            literal::convert(version, literal.value, *primitive).or_else(|value| compatible(version, value, *primitive))
        }
    };
    let value = value.map_err(|_| {
        let (found, expected) = (type_name(version, found), expected());
        let what = format!("the parameter '{name}' is {expected}, which this value of {found} does not fit");
        Problem::new(Fault::BadValue, at, what).hint(how())
    })?;
    match enumeration.filter(|enumeration| !enumeration.has(value.cell())) {
        None => Ok((value, end)),
        Some(enumeration) => Err(no_member(enumeration, &text[at..end], at)),
    }
}

/// The names between the quotes of `shop.Status'Open'`, or of a text that names a member, and where that ends.
fn names_at<'t>(enumeration: &Enumeration, text: &'t str, at: usize) -> Option<(&'t str, usize)> {
    let rest = &text[at..];
    let names = rest.strip_prefix(enumeration.full_name.as_str()).unwrap_or(rest).strip_prefix('\'')?;
    let begin = text.len() - names.len();
    let length = names.find('\'')?;
    Some((&names[..length], begin + length + 1))
}

fn no_member(enumeration: &Enumeration, found: &str, at: usize) -> Box<Problem> {
    let near = suggest::nearest(found, enumeration.members.iter().map(|member| member.name.as_str()));
    let hint = near.map(|name| format!("did you mean {}'{name}'?", enumeration.full_name));
    let what = format!("{} is no member of {}", quoted(found), enumeration.full_name);
    Problem::new(Fault::BadValue, at, what).hint_if(hint)
}

fn written(model: &Model, version: Version, parameter: &Parameter) -> String {
    let Parameter { name, primitive, enumeration } = parameter;
    match (enumeration.map(|id| &model.enumerations[id.0]), version) {
        (Some(enumeration), Version::V4) => {
            let first = enumeration.members.first().map_or(Value::Null, Member::value);
            format!("{name}={}", enumeration.literal(first.cell()))
        }
        _ => format!("{name}={}", example(version, *primitive)),
    }
}
