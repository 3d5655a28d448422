//! Canonical functions by name, with what they take and give.

use super::pattern;
use super::types::Class;
use crate::address::{Fault, Parsed, Problem, quoted, type_name};
use crate::edm::{Primitive, Version};
use crate::plan::{Expression, ExpressionKind, Function};
use crate::suggest;
use crate::value::Value;

/// Arguments of any function, at most.
pub(super) const ARGUMENTS_MAX: usize = 3;

/// A function as a version names it.
pub(super) struct Signature {
    name: &'static str,
    versions: &'static [Version],
    function: Function,
    parameters: &'static [Class],
    /// Number of arguments that may be left out, from the end.
    optional: usize,
    gives: Gives,
}

enum Gives {
    Boolean,
    Integer,
    Text,
    Date,
    Time,
    Decimal,
    Instant,
    /// Always this instant.
    Always(&'static str),
    /// The type of the first argument.
    Same,
}

const BOTH: &[Version] = &[Version::V2, Version::V4];
const V2: &[Version] = &[Version::V2];
const V4: &[Version] = &[Version::V4];
const TEXT: Class = Class::Text;
const INSTANT: Primitive = Primitive::DateTimeOffset { precision: 0 };

static SIGNATURES: [Signature; 30] = [
    signature("substringof", V2, Function::Contains, &[TEXT, TEXT], Gives::Boolean),
    signature("contains", V4, Function::Contains, &[TEXT, TEXT], Gives::Boolean),
    signature("startswith", BOTH, Function::StartsWith, &[TEXT, TEXT], Gives::Boolean),
    signature("endswith", BOTH, Function::EndsWith, &[TEXT, TEXT], Gives::Boolean),
    signature("length", BOTH, Function::Length, &[TEXT], Gives::Integer),
    signature("indexof", BOTH, Function::IndexOf, &[TEXT, TEXT], Gives::Integer),
    Signature {
        optional: 1,
        ..signature("substring", BOTH, Function::Substring, &[TEXT, Class::Integer, Class::Integer], Gives::Text)
    },
    signature("replace", V2, Function::Replace, &[TEXT, TEXT, TEXT], Gives::Text),
    signature("tolower", BOTH, Function::ToLower, &[TEXT], Gives::Text),
    signature("toupper", BOTH, Function::ToUpper, &[TEXT], Gives::Text),
    signature("trim", BOTH, Function::Trim, &[TEXT], Gives::Text),
    signature("concat", BOTH, Function::Concat, &[TEXT, TEXT], Gives::Text),
    signature("matchespattern", V4, Function::MatchesPattern, &[TEXT, TEXT], Gives::Boolean),
    signature("year", BOTH, Function::Year, &[Class::Dated], Gives::Integer),
    signature("month", BOTH, Function::Month, &[Class::Dated], Gives::Integer),
    signature("day", BOTH, Function::Day, &[Class::Dated], Gives::Integer),
    signature("hour", BOTH, Function::Hour, &[Class::Timed], Gives::Integer),
    signature("minute", BOTH, Function::Minute, &[Class::Timed], Gives::Integer),
    signature("second", BOTH, Function::Second, &[Class::Timed], Gives::Integer),
    signature("date", V4, Function::Date, &[Class::Instant], Gives::Date),
    signature("time", V4, Function::Time, &[Class::Instant], Gives::Time),
    signature("fractionalseconds", V4, Function::FractionalSeconds, &[Class::Timed], Gives::Decimal),
    signature("totalseconds", V4, Function::TotalSeconds, &[Class::Duration], Gives::Decimal),
    signature("totaloffsetminutes", V4, Function::TotalOffsetMinutes, &[Class::Instant], Gives::Integer),
    signature("now", V4, Function::Now, &[], Gives::Instant),
    signature("mindatetime", V4, Function::Now, &[], Gives::Always("0001-01-01T00:00:00Z")),
    signature("maxdatetime", V4, Function::Now, &[], Gives::Always("9999-12-31T23:59:59.999999Z")),
    signature("round", BOTH, Function::Round, &[Class::Number], Gives::Same),
    signature("floor", BOTH, Function::Floor, &[Class::Number], Gives::Same),
    signature("ceiling", BOTH, Function::Ceiling, &[Class::Number], Gives::Same),
];

const fn signature(
    name: &'static str,
    versions: &'static [Version],
    function: Function,
    parameters: &'static [Class],
    gives: Gives,
) -> Signature {
    Signature { name, versions, function, parameters, optional: 0, gives }
}

/// Functions that the versions have and tollgate does not compute yet.
const UNBUILT_V2: &[&str] = &["cast", "isof"];
const UNBUILT_V4: &[&str] = &["isdefined"];

/// The function of that name. V4.01 does not mind the case.
pub(super) fn find(version: Version, name: &str, at: usize) -> Parsed<&'static Signature> {
    let same = |known: &str| match version {
        Version::V2 => known == name,
        Version::V4 => known.eq_ignore_ascii_case(name),
    };
    let known = SIGNATURES.iter().filter(|signature| signature.versions.contains(&version));
    if let Some(found) = known.clone().find(|signature| same(signature.name)) {
        return Ok(found);
    }
    let unbuilt = if version == Version::V2 { UNBUILT_V2 } else { UNBUILT_V4 };
    if unbuilt.iter().any(|known| same(known)) {
        return Err(Problem::not_implemented(at, format!("the function {name}")));
    }
    let hint = match (version, name) {
        (Version::V2, "contains") => Some("V2 writes substringof(part, text)".to_owned()),
        (Version::V4, "substringof") => Some("V4 writes contains(text, part)".to_owned()),
        _ => suggest::nearest(name, known.map(|signature| signature.name)).map(|name| format!("did you mean {name}?")),
    };
    Err(Problem::new(Fault::UnknownFunction, at, format!("unknown function {}", quoted(name))).hint_if(hint))
}

/// The call, if number and types of its arguments are right.
pub(super) fn check(
    version: Version,
    signature: &Signature,
    mut arguments: Vec<Expression>,
    at: usize,
) -> Parsed<Expression> {
    let most = signature.parameters.len();
    if arguments.len() > most || arguments.len() < most - signature.optional {
        let expected = match signature.optional {
            0 => most.to_string(),
            optional => format!("{} to {most}", most - optional),
        };
        let plural = if most == 1 { "" } else { "s" };
        let what = format!("{} takes {expected} argument{plural}, not {}", signature.name, arguments.len());
        return Err(Problem::new(Fault::Type, at, what));
    }
    for (number, (argument, class)) in arguments.iter().zip(signature.parameters).enumerate() {
        if !class.has(version, argument.primitive) {
            let found = type_name(version, argument.primitive);
            let what =
                format!("{} takes {} as argument {}, not {found}", signature.name, class.describe(version), number + 1);
            return Err(Problem::new(Fault::Type, argument.position, what));
        }
    }
    if signature.name == "substringof" {
        arguments.swap(0, 1);
    }
    if signature.function == Function::MatchesPattern {
        let argument = &mut arguments[1];
        match &mut argument.kind {
            ExpressionKind::Literal(Value::String(text)) => {
                *text = pattern::canonical(text).map_err(|(character, what)| {
                    let what = format!("{what}, at character {} of the pattern", character + 1);
                    Problem::new(Fault::BadValue, argument.position, what)
                })?;
            }
            ExpressionKind::Literal(Value::Null) => {}
            _ => return Err(Problem::not_implemented(argument.position, "a pattern that is computed")),
        }
    }
    let primitive = match signature.gives {
        Gives::Boolean => Some(Primitive::Boolean),
        Gives::Integer => Some(Primitive::Int32),
        Gives::Text => Some(Primitive::String { length_max: 0 }),
        Gives::Date => Some(Primitive::Date),
        Gives::Time => Some(Primitive::TimeOfDay { precision: 0 }),
        Gives::Decimal => Some(Primitive::Decimal { precision: 0, scale: 0 }),
        Gives::Instant => Some(INSTANT),
        Gives::Always(instant) => {
            let kind = ExpressionKind::Literal(Value::Text(INSTANT, instant.to_owned()));
            return Ok(Expression { kind, primitive: Some(INSTANT), position: at });
        }
        Gives::Same => match arguments[0].primitive {
            Some(Primitive::Decimal { .. }) => Some(Primitive::Decimal { precision: 0, scale: 0 }),
            primitive => primitive,
        },
    };
    Ok(Expression { kind: ExpressionKind::Call(signature.function, arguments), primitive, position: at })
}
