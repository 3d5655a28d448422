//! Literals of URLs, V2's (`datetime'…'`, `5L`) and V4's (bare dates, `duration'…'`), and their conversion to the type
//! that is wanted.
//!
//! It deliberately does not decode percent signs (the text is decoded already). A Decimal or an Int64 passes through a
//! float only if it is compared with a Single or Double.

use super::error::{Fault, Parsed, Problem, quoted};
use super::percent::hex;
use crate::edm::{Primitive, Version};
use crate::value::Value;
use crate::{base64, date, decimal};
use std::borrow::Cow;

/// A literal with its type; `None` is the type of null.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Literal {
    pub(crate) value: Value,
    pub(crate) primitive: Option<Primitive>,
}

/// Reads the literal that begins at `at`, with the offset behind it; `None` if there is no literal.
pub(crate) fn read(version: Version, text: &str, at: usize) -> Parsed<Option<(Literal, usize)>> {
    let bytes = &text.as_bytes()[at..];
    match bytes.first() {
        Some(b'\'') => {
            let (content, end) = string(text, at)?;
            Ok(Some((Literal::new(Value::String(content.into_owned()), TEXT), end)))
        }
        Some(b'0'..=b'9') => bare(version, text, at).map(Some),
        Some(b'+' | b'-') => match bytes.get(1) {
            Some(b'0'..=b'9') => bare(version, text, at).map(Some),
            Some(b'I') if bytes.starts_with(b"-INF") && !continues(bytes, 4) => {
                Ok(Some((Literal::new(Value::Real(f64::NEG_INFINITY), Primitive::Double), at + 4)))
            }
            _ => Ok(None),
        },
        Some(byte) if byte.is_ascii_alphabetic() => word(version, text, at),
        _ => Ok(None),
    }
}

/// Reads a quoted string; two quotes mean one. Borrowed where there are none inside.
fn string(text: &str, at: usize) -> Parsed<(Cow<'_, str>, usize)> {
    let mut content = Cow::Borrowed("");
    let mut from = at + 1;
    loop {
        let Some(length) = text.as_bytes()[from..].iter().position(|byte| *byte == b'\'') else {
            return Err(Problem::syntax(at, "a string that does not end")
                .hint("close it with a quote; write '' for a quote inside"));
        };
        content += &text[from..from + length];
        from += length + 1;
        if text.as_bytes().get(from) != Some(&b'\'') {
            return Ok((content, from));
        }
        content += "'";
        from += 1;
    }
}

impl Literal {
    fn new(value: Value, primitive: Primitive) -> Literal {
        Literal { value, primitive: Some(primitive) }
    }
}

const TEXT: Primitive = Primitive::String { length_max: 0 };
const DECIMAL: Primitive = Primitive::Decimal { precision: 0, scale: 0 };
const DATE_TIME: Primitive = Primitive::DateTime { precision: 0 };
const DATE_TIME_OFFSET: Primitive = Primitive::DateTimeOffset { precision: 0 };
const TIME_OF_DAY: Primitive = Primitive::TimeOfDay { precision: 0 };

/// Whether an identifier goes on at this offset, so that the word before it is no complete literal.
fn continues(bytes: &[u8], at: usize) -> bool {
    bytes
        .get(at)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'(') || *byte >= 0x80)
}

/// Literals that begin with a letter: keywords, `type'…'`, and V4 guids.
fn word(version: Version, text: &str, at: usize) -> Parsed<Option<(Literal, usize)>> {
    let bytes = &text.as_bytes()[at..];
    if version == Version::V4
        && let Some(literal) = guid(bytes)
    {
        return Ok(Some((literal, at + GUID_CHARS)));
    }
    let length = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let name = &text[at..at + length];
    if bytes.get(length) == Some(&b'\'') {
        return prefixed(version, text, at, name);
    }
    if continues(bytes, length) {
        return Ok(None);
    }
    let keyword = |word: &str| match version {
        Version::V2 => name == word,
        Version::V4 => name.eq_ignore_ascii_case(word),
    };
    let literal = match name {
        "INF" => Literal::new(Value::Real(f64::INFINITY), Primitive::Double),
        "NaN" => Literal::new(Value::Real(f64::NAN), Primitive::Double),
        _ if keyword("true") => Literal::new(Value::Boolean(true), Primitive::Boolean),
        _ if keyword("false") => Literal::new(Value::Boolean(false), Primitive::Boolean),
        _ if keyword("null") => Literal { value: Value::Null, primitive: None },
        _ => return Ok(None),
    };
    Ok(Some((literal, at + length)))
}

/// `datetime'…'` and its like.
fn prefixed(version: Version, text: &str, at: usize, prefix: &str) -> Parsed<Option<(Literal, usize)>> {
    use Version::{V2, V4};
    let (content, end) = string(text, at + prefix.len())?;
    let is = |name: &str| prefix.eq_ignore_ascii_case(name);
    let literal = match version {
        V2 if is("datetime") => {
            date::date_time(&content).map(|text| Literal::new(Value::Text(DATE_TIME, text), DATE_TIME))
        }
        V2 if is("datetimeoffset") => date::date_time_offset(&content.replace(' ', "+"))
            .map(|text| Literal::new(Value::Text(DATE_TIME_OFFSET, text), DATE_TIME_OFFSET)),
        V2 if is("time") => {
            date::text_from_v2_time(&content).map(|text| Literal::new(Value::Text(TIME_OF_DAY, text), TIME_OF_DAY))
        }
        V2 if is("guid") => (content.len() == GUID_CHARS).then(|| guid(content.as_bytes())).flatten(),
        V2 if is("binary") || is("x") => {
            binary_of_hex(&content).map(|bytes| Literal::new(Value::Binary(bytes), BINARY))
        }
        V4 if is("binary") => base64::decode(&content).map(|bytes| Literal::new(Value::Binary(bytes), BINARY)),
        V4 if is("duration") => date::duration(&content)
            .map(|text| Literal::new(Value::Text(Primitive::Duration, text), Primitive::Duration)),
        V4 if is("geography") || is("geometry") => {
            return Err(Problem::not_implemented(at, format!("the type Edm.{prefix}")));
        }
        V4 if ["datetime", "datetimeoffset", "time", "guid", "x"].into_iter().any(is) => {
            let problem = Problem::syntax(at, format!("{prefix}'…' is a literal of OData V2"));
            return Err(problem.hint("in V4 dates, times and guids stand without prefix and quotes"));
        }
        V2 if is("duration") => return Err(Problem::syntax(at, "duration'…' is a literal of OData V4")),
        V4 => return Err(Problem::not_implemented(at, format!("the enumeration type {}", quoted(prefix)))),
        V2 => {
            let problem = Problem::syntax(at, format!("unknown literal type {}", quoted(prefix)));
            return Err(problem.hint("V2 has datetime, datetimeoffset, time, guid, binary and X"));
        }
    };
    match literal {
        Some(literal) => Ok(Some((comparable(literal, at)?, end))),
        None => {
            let lower = prefix.to_ascii_lowercase();
            let hint = format!("expected {}", example(version, &lower));
            Err(Problem::syntax(at, format!("{} is no {lower}", quoted(&content))).hint(hint))
        }
    }
}

/// Refuses years that the grammar has and no store can compare.
fn comparable(literal: Literal, at: usize) -> Parsed<Literal> {
    match (&literal.value, literal.primitive) {
        (
            Value::Text(_, text),
            Some(Primitive::Date | Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. }),
        ) if !date::sorts_as_text(text) => {
            let what = format!("{} is not in the years 0001 to 9999", quoted(text));
            Err(Problem::new(Fault::BadValue, at, what))
        }
        _ => Ok(literal),
    }
}

const BINARY: Primitive = Primitive::Binary { length_max: 0 };

fn example(version: Version, prefix: &str) -> &'static str {
    match (prefix, version) {
        ("datetime", _) => "datetime'2013-09-25T00:00:00'",
        ("datetimeoffset", _) => "datetimeoffset'2013-09-25T00:00:00Z'",
        ("time", _) => "time'PT11H00M00S'",
        ("guid", _) => "guid'01234567-89ab-cdef-0123-456789abcdef'",
        ("duration", _) => "duration'P1DT12H30M5.5S'",
        (_, Version::V2) => "an even number of hexadecimal digits",
        (_, Version::V4) => "base64url",
    }
}

/// Literals that begin with a digit or a sign: numbers, and V4's dates, times and guids.
fn bare(version: Version, text: &str, at: usize) -> Parsed<(Literal, usize)> {
    let bytes = &text.as_bytes()[at..];
    if version == Version::V4
        && let Some(literal) = guid(bytes)
    {
        return Ok((literal, at + GUID_CHARS));
    }
    let mut length = bytes
        .iter()
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b':' | b'+' | b'-' | b'_') || **byte >= 0x80
        })
        .count();
    let mut run = &text[at..at + length];
    let digits = run.trim_start_matches(['+', '-']);
    let first_digits = digits.bytes().take_while(|byte| byte.is_ascii_digit()).count();
    let dated = first_digits >= 4 && digits.as_bytes().get(first_digits) == Some(&b'-');
    let timed = first_digits == 2 && digits.as_bytes().get(2) == Some(&b':');
    if version == Version::V2 && (dated || timed || (run.len() >= GUID_CHARS && guid(run.as_bytes()).is_some())) {
        return Err(Problem::syntax(at, format!("{} is a literal of OData V4", quoted(run)))
            .hint("V2 writes datetime'2013-09-25T00:00:00', time'PT11H00M00S' and guid'…'"));
    }
    let literal = if dated {
        // A client that sends its plus sign uncoded meets servers that read it as a space: there is only one meaning.
        let with_plus;
        if run.contains(':') && bytes.get(length) == Some(&b' ') && is_offset(&bytes[length + 1..]) {
            with_plus = format!("{run}+{}", &text[at + length + 1..at + length + 6]);
            length += 6;
            run = &with_plus;
        }
        if run.contains(':') {
            date::date_time_offset(run).map(|text| Literal::new(Value::Text(DATE_TIME_OFFSET, text), DATE_TIME_OFFSET))
        } else {
            date::date(run).map(|text| Literal::new(Value::Text(Primitive::Date, text), Primitive::Date))
        }
        .ok_or_else(|| {
            Problem::syntax(at, format!("{} is no date", quoted(run)))
                .hint("expected 2013-09-25 or 2013-09-25T00:00:00Z")
        })
    } else if timed && (version == Version::V2 || date::time_of_day(run).is_some() || is_clock(run)) {
        date::time_of_day(run)
            .map(|text| Literal::new(Value::Text(TIME_OF_DAY, text), TIME_OF_DAY))
            .ok_or_else(|| Problem::syntax(at, format!("{} is no time of day", quoted(run))).hint("expected 11:00:00"))
    } else if let (Version::V4, Some(colon)) = (version, run.find(':'))
        && let Some(literal) = number(version, &run[..colon])
    {
        // A value of `case` follows.
        length = colon;
        Ok(literal)
    } else {
        number(version, run).ok_or_else(|| Problem::syntax(at, format!("{} is no number", quoted(run))))
    };
    Ok((comparable(literal?, at)?, at + length))
}

/// Whether the text was meant as a time of day: two digits on both sides of a colon.
fn is_clock(run: &str) -> bool {
    matches!(run.as_bytes(), [_, _, b':', b'0'..=b'9', b'0'..=b'9', ..])
}

fn is_offset(bytes: &[u8]) -> bool {
    matches!(bytes, [b'0'..=b'9', b'0'..=b'9', b':', b'0'..=b'9', b'0'..=b'9', rest @ ..] if !rest.first().is_some_and(u8::is_ascii_alphanumeric))
}

/// A number, in V2 with its suffix. One with a point or exponent stays in its digits: what it is compared with decides.
fn number(version: Version, text: &str) -> Option<Literal> {
    let (digits, suffix) = match (version, text.as_bytes().last()?) {
        (Version::V2, suffix @ (b'L' | b'l' | b'M' | b'm' | b'D' | b'd' | b'F' | b'f')) => {
            (&text[..text.len() - 1], *suffix)
        }
        _ => (text, b' '),
    };
    if !is_number(digits) {
        return None;
    }
    let real = |primitive| digits.parse().ok().map(|value| Literal::new(Value::Real(value), primitive));
    match suffix.to_ascii_lowercase() {
        b'l' => digits.parse().ok().map(|value| Literal::new(Value::Integer(value), Primitive::Int64)),
        b'd' => real(Primitive::Double),
        b'f' => real(Primitive::Single),
        b'm' => decimal::canonical(digits).map(|text| Literal::new(Value::Decimal(text), DECIMAL)),
        _ => match digits.parse::<i64>() {
            Ok(value) if i32::try_from(value).is_ok() => Some(Literal::new(Value::Integer(value), Primitive::Int32)),
            Ok(value) => Some(Literal::new(Value::Integer(value), Primitive::Int64)),
            Err(_) => match decimal::canonical(digits) {
                Some(text) => Some(Literal::new(Value::Decimal(text), DECIMAL)),
                None => real(Primitive::Double),
            },
        },
    }
}

/// `[sign] digits [. digits] [e [sign] digits]`.
fn is_number(text: &str) -> bool {
    let digits = |text: &mut &[u8]| {
        let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        *text = &text[count..];
        count > 0
    };
    let sign = |text: &mut &[u8]| {
        if let [b'+' | b'-', rest @ ..] = text {
            *text = rest;
        }
    };
    let mut rest = text.as_bytes();
    sign(&mut rest);
    let mut good = digits(&mut rest);
    if let [b'.', after @ ..] = rest {
        rest = after;
        good &= digits(&mut rest);
    }
    if let [b'e' | b'E', after @ ..] = rest {
        rest = after;
        sign(&mut rest);
        good &= digits(&mut rest);
    }
    good && rest.is_empty()
}

const GUID_CHARS: usize = 36;

/// Reads a guid that is the whole front of `bytes`.
fn guid(bytes: &[u8]) -> Option<Literal> {
    let text = bytes.get(..GUID_CHARS)?;
    let shaped = text.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    let ends = !bytes.get(GUID_CHARS).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if !shaped || !ends {
        return None;
    }
    let text = text.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    Some(Literal::new(Value::Text(Primitive::Guid, text), Primitive::Guid))
}

fn binary_of_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.as_bytes().chunks_exact(2).map(|pair| Some(hex(pair[0])? << 4 | hex(pair[1])?)).collect()
}

/// The value in the form that a leaf of type `to` has, if that loses nothing: integers are checked against their range,
/// an integer becomes a Decimal, both become a real only where a real is wanted, dates and times follow the version.
pub(crate) fn convert(version: Version, value: Value, to: Primitive) -> Result<Value, Value> {
    use Primitive as P;
    match (value, to) {
        (value @ Value::Boolean(_), P::Boolean)
        | (value @ Value::Real(_), P::Single | P::Double)
        | (value @ Value::Decimal(_), P::Decimal { .. })
        | (value @ Value::String(_), P::String { .. })
        | (value @ Value::Binary(_), P::Binary { .. }) => Ok(value),
        (Value::Integer(value), to) => match to {
            P::Decimal { .. } => Ok(Value::Decimal(value.to_string())),
            P::Single | P::Double => Ok(Value::Real(value as f64)),
            _ => match integer_range(to) {
                Some((low, high)) if (low..=high).contains(&value) => Ok(Value::Integer(value)),
                _ => Err(Value::Integer(value)),
            },
        },
        (Value::Decimal(text), P::Single | P::Double) => {
            text.parse().map(Value::Real).map_err(|_| Value::Decimal(text))
        }
        // V2 shows a Duration as a string, V4.01 lets its prefix be left out.
        (Value::String(text), P::Duration) => match date::duration(&text) {
            Some(canonical) => Ok(Value::Text(P::Duration, canonical)),
            None => Err(Value::String(text)),
        },
        (Value::Text(from, text), to) => convert_text(version, from, text, to),
        (value, _) => Err(value),
    }
}

fn convert_text(version: Version, from: Primitive, text: String, to: Primitive) -> Result<Value, Value> {
    use Primitive as P;
    const MIDNIGHT: &str = "T00:00:00";
    match (from, to) {
        (P::Guid, P::Guid)
        | (P::Date, P::Date)
        | (P::DateTime { .. }, P::DateTime { .. })
        | (P::DateTimeOffset { .. }, P::DateTimeOffset { .. })
        | (P::TimeOfDay { .. }, P::TimeOfDay { .. })
        | (P::Duration, P::Duration) => Ok(Value::Text(to, text)),
        // V2 writes a Date as a DateTime at midnight.
        (P::DateTime { .. }, P::Date) if text.ends_with(MIDNIGHT) => Ok(Value::Text(to, cut(text, MIDNIGHT.len()))),
        // V4 writes a DateTime as a DateTimeOffset in UTC, and promotes a Date to its midnight.
        (P::DateTimeOffset { .. }, P::DateTime { .. }) if version == Version::V4 => {
            Ok(Value::Text(to, cut(text, "Z".len())))
        }
        (P::Date, P::DateTime { .. }) if version == Version::V4 => Ok(Value::Text(to, text + MIDNIGHT)),
        (P::Date, P::DateTimeOffset { .. }) if version == Version::V4 => Ok(Value::Text(to, text + MIDNIGHT + "Z")),
        _ => Err(Value::Text(from, text)),
    }
}

fn cut(mut text: String, bytes: usize) -> String {
    text.truncate(text.len() - bytes);
    text
}

fn integer_range(primitive: Primitive) -> Option<(i64, i64)> {
    match primitive {
        Primitive::Byte => Some((0, 255)),
        Primitive::SByte => Some((-128, 127)),
        Primitive::Int16 => Some((i64::from(i16::MIN), i64::from(i16::MAX))),
        Primitive::Int32 => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        Primitive::Int64 => Some((i64::MIN, i64::MAX)),
        _ => None,
    }
}

/// The type's name as the version knows it, for messages.
pub(crate) fn type_name(version: Version, primitive: Option<Primitive>) -> &'static str {
    use Primitive as P;
    let Some(primitive) = primitive else { return "null" };
    match (primitive, version) {
        (P::Boolean, _) => "Edm.Boolean",
        (P::Byte, _) => "Edm.Byte",
        (P::SByte, _) => "Edm.SByte",
        (P::Int16, _) => "Edm.Int16",
        (P::Int32, _) => "Edm.Int32",
        (P::Int64, _) => "Edm.Int64",
        (P::Single, _) => "Edm.Single",
        (P::Double, _) => "Edm.Double",
        (P::Decimal { .. }, _) => "Edm.Decimal",
        (P::String { .. }, _) => "Edm.String",
        (P::Binary { .. }, _) => "Edm.Binary",
        (P::Guid, _) => "Edm.Guid",
        (P::Date | P::DateTime { .. }, Version::V2) => "Edm.DateTime",
        (P::Date, Version::V4) => "Edm.Date",
        (P::DateTime { .. }, Version::V4) | (P::DateTimeOffset { .. }, _) => "Edm.DateTimeOffset",
        (P::TimeOfDay { .. }, Version::V2) => "Edm.Time",
        (P::TimeOfDay { .. }, Version::V4) => "Edm.TimeOfDay",
        (P::Duration, Version::V2) => "Edm.String",
        (P::Duration, Version::V4) => "Edm.Duration",
        (P::Collection(item), _) => item.collection_name(),
    }
}
