//! One value of a body: its text in canonical form, within the length, the digits and the range that its property has.
//!
//! It deliberately does not know where the text was, or whether null was allowed.

use super::shape::Leaf;
use crate::address::{NUL, quoted, type_name};
use crate::decimal;
use crate::edm::{Enumeration, Member, Primitive, Version};
use crate::number::is_plain_number;
use crate::value::canonical::{self, Canonical};
use crate::value::{Cell, Value};

/// Members that a message names.
const MEMBERS_TOLD_MAX: usize = 8;

/// The reason why a text is no value of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is no value of the type, or out of its range.
    Type,
    /// It has this number of characters or bytes, which is too many.
    Length(usize),
    /// A decimal has more digits than the property.
    Digits,
    /// A time has more digits of its seconds than the property.
    Fraction,
    /// A date lies in no year of four digits.
    Year,
    /// It is no member of the enumeration.
    Member,
    /// It has the character U+0000: no URL can name such a text, and PostgreSQL keeps none.
    Nul,
}

/// Writes the canonical form of `text` into `out`; it is of that version of OData, or of plain REST.
#[inline]
pub(crate) fn append(
    out: &mut Vec<u8>,
    protocol: Option<Version>,
    leaf: &Leaf,
    text: &str,
) -> Result<Canonical, Wrong> {
    let begin = out.len();
    if let Some(enumeration) = &leaf.enumeration {
        return member(out, protocol, enumeration, leaf.primitive, text);
    }
    let version = protocol.unwrap_or(Version::V4);
    match leaf.primitive {
        Primitive::Decimal { precision, scale } => {
            let digits = text.as_bytes();
            let is_zero = || !digits.iter().any(|digit| matches!(digit, b'1'..=b'9'));
            // A zero has no sign.
            if is_plain_number(digits) && (digits[0] != b'-' || !is_zero()) {
                out.extend_from_slice(digits);
            } else {
                decimal::append_canonical(out, text).ok_or(Wrong::Type)?;
            }
            within_digits(out, begin, precision, scale)?;
            Ok(Canonical::Text)
        }
        Primitive::String { length_max } => {
            if memchr::memchr(0, text.as_bytes()).is_some() {
                return Err(Wrong::Nul);
            }
            length_of_text(text, length_max)?;
            out.extend_from_slice(text.as_bytes());
            Ok(Canonical::Text)
        }
        primitive => {
            let found = canonical::append(out, version, primitive, text).ok_or(Wrong::Type)?;
            match primitive {
                Primitive::Binary { length_max } => length(out.len() - begin, length_max)?,
                Primitive::Date => within_years(&out[begin..])?,
                Primitive::DateTime { precision } | Primitive::DateTimeOffset { precision } => {
                    within_years(&out[begin..])?;
                    within_fraction(&out[begin..], precision)?;
                }
                Primitive::TimeOfDay { precision } => within_fraction(&out[begin..], precision)?,
                _ => {}
            }
            Ok(found)
        }
    }
}

/// The stored value of a member. A protocol has it in the form in which it shows it, and in no other: V2 as it is stored,
/// V4 and plain REST by its name.
#[cold]
fn member(
    out: &mut Vec<u8>,
    protocol: Option<Version>,
    enumeration: &Enumeration,
    primitive: Primitive,
    text: &str,
) -> Result<Canonical, Wrong> {
    let value = match (protocol, primitive) {
        (None, _) => enumeration.named(text),
        (Some(Version::V4), _) => enumeration.value(text),
        (Some(Version::V2), Primitive::String { .. }) => Some(Value::String(text.to_owned())),
        (Some(Version::V2), primitive) => canonical::integer(primitive, text).map(Value::Integer),
    };
    match value.filter(|value| enumeration.has(value.cell())) {
        Some(Value::Integer(number)) => Ok(Canonical::Integer(number)),
        Some(Value::String(stored)) => {
            out.extend_from_slice(stored.as_bytes());
            Ok(Canonical::Text)
        }
        _ => Err(Wrong::Member),
    }
}

/// The value, which has the type of the leaf already, within its length, its digits and its range.
pub(crate) fn value(leaf: &Leaf, value: Value) -> Result<Value, Wrong> {
    if leaf.enumeration.as_ref().is_some_and(|enumeration| !enumeration.has(value.cell())) {
        return Err(Wrong::Member);
    }
    match (value, leaf.primitive) {
        (Value::Decimal(text), Primitive::Decimal { precision, scale }) => {
            let mut digits = text.into_bytes();
            within_digits(&mut digits, 0, precision, scale)?;
            Ok(Value::Decimal(String::from_utf8(digits).expect("a decimal is written in ASCII")))
        }
        (value, primitive) => {
            match (&value, primitive) {
                (Value::String(text), Primitive::String { length_max }) => length_of_text(text, length_max)?,
                (Value::Binary(bytes), Primitive::Binary { length_max }) => length(bytes.len(), length_max)?,
                (Value::Text(_, text), Primitive::Date) => within_years(text.as_bytes())?,
                (Value::Text(_, text), Primitive::DateTime { precision } | Primitive::DateTimeOffset { precision }) => {
                    within_years(text.as_bytes())?;
                    within_fraction(text.as_bytes(), precision)?;
                }
                (Value::Text(_, text), Primitive::TimeOfDay { precision }) => {
                    within_fraction(text.as_bytes(), precision)?;
                }
                _ => {}
            }
            Ok(value)
        }
    }
}

/// A number within a collection is finite: databases have no common array of others.
///
/// # Errors
/// The message.
pub(crate) fn finite(cell: Cell<'_>) -> Result<(), &'static str> {
    match cell {
        Cell::Real(real) if !real.is_finite() => Err("expected a finite number"),
        _ => Ok(()),
    }
}

/// Checks the length of a text, in characters; 0 is no limit.
#[inline]
pub(crate) fn length_of_text(text: &str, length_max: u32) -> Result<(), Wrong> {
    // No text has more characters than bytes.
    if length_max == 0 || text.len() <= length_max as usize {
        return Ok(());
    }
    length(text.chars().count(), length_max)
}

pub(crate) fn length(found: usize, length_max: u32) -> Result<(), Wrong> {
    if length_max == 0 || found <= length_max as usize { Ok(()) } else { Err(Wrong::Length(found)) }
}

/// The decimal behind `begin` has no more digits than the property; zeros behind its last digit do not count and go.
fn within_digits(out: &mut Vec<u8>, begin: usize, precision: u16, scale: u16) -> Result<(), Wrong> {
    if precision == 0 {
        return Ok(());
    }
    let text = &out[begin..];
    let point = memchr::memchr(b'.', text);
    let (whole, fraction) = point.map_or((text.len(), 0), |point| (point, text.len() - point - 1));
    let scale_max = usize::from(scale);
    if fraction <= scale_max && whole + scale_max <= usize::from(precision) {
        return Ok(());
    }
    let text = std::str::from_utf8(text).expect("a decimal is written in ASCII");
    if !decimal::fits(text, precision, scale) {
        return Err(Wrong::Digits);
    }
    if let Some(point) = point.filter(|_| fraction > scale_max) {
        out.truncate(begin + point + if scale_max == 0 { 0 } else { 1 + scale_max });
    }
    Ok(())
}

/// The stores compare dates as texts, which only four digits of a year allow.
fn within_years(canonical: &[u8]) -> Result<(), Wrong> {
    let four_digits = canonical.get(4) == Some(&b'-') && canonical[0] != b'-' && !canonical.starts_with(b"0000");
    if four_digits { Ok(()) } else { Err(Wrong::Year) }
}

fn within_fraction(canonical: &[u8], precision: u8) -> Result<(), Wrong> {
    let digits = memchr::memchr(b'.', canonical)
        .map_or(0, |point| canonical[point + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count());
    if precision == 0 || digits <= usize::from(precision) { Ok(()) } else { Err(Wrong::Fraction) }
}

impl Wrong {
    /// The sentence for the client.
    #[cold]
    pub(crate) fn message(self, protocol: Option<Version>, leaf: &Leaf, text: &str) -> String {
        let text = quoted(text);
        let version = protocol.unwrap_or(Version::V4);
        match (self, leaf.primitive) {
            (Wrong::Length(found), Primitive::Binary { length_max }) => {
                format!("at most {length_max} bytes are allowed, found {found}")
            }
            (Wrong::Length(found), Primitive::String { length_max }) => {
                format!("at most {length_max} characters are allowed, found {found}")
            }
            (Wrong::Digits, Primitive::Decimal { precision, scale }) => {
                format!("at most {precision} digits are allowed, {scale} of them behind the point, found {text}")
            }
            (
                Wrong::Fraction,
                Primitive::DateTime { precision }
                | Primitive::DateTimeOffset { precision }
                | Primitive::TimeOfDay { precision },
            ) => format!("at most {precision} digits of a second are allowed, found {text}"),
            (Wrong::Member | Wrong::Type, _) if leaf.enumeration.is_some() => {
                let members = leaf.enumeration.iter().flat_map(|enumeration| &enumeration.members);
                let told = |member: &Member| match (version, &member.stored) {
                    (Version::V4, _) => member.name.clone(),
                    (Version::V2, Some(stored)) => stored.clone(),
                    (Version::V2, None) => member.number.to_string(),
                };
                let names: Vec<String> = members.take(MEMBERS_TOLD_MAX).map(told).collect();
                format!("expected a member such as {}, found {text}", names.join(", "))
            }
            (Wrong::Nul, _) => NUL.to_owned(),
            (Wrong::Year, _) => format!("a year from 0001 to 9999 is allowed, found {text}"),
            _ => format!("expected {}, found {text}", expected(version, leaf.primitive)),
        }
    }
}

/// The type with its range, where its name does not imply it.
pub(crate) fn expected(version: Version, primitive: Primitive) -> String {
    let name = type_name(version, Some(primitive));
    match primitive {
        Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32 | Primitive::Int64 => {
            let (least, most) = canonical::range(primitive);
            format!("{name} from {least} to {most}")
        }
        _ => name.to_owned(),
    }
}
