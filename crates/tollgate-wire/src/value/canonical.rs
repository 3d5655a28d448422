//! From the text of a value as a document has it to the canonical form of [`super`], by type and version.
//!
//! Texts are written behind each other into a buffer that is used again. It knows the ranges of the types, but neither
//! lengths nor precisions: those are a property's.

use super::items;
use crate::edm::{Primitive, Version};
use crate::{base64, date, decimal};
use std::str::FromStr;

/// The result of making a text canonical.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Canonical {
    /// A Boolean (0 or 1) or an integer.
    Integer(i64),
    /// A Single or Double.
    Real(f64),
    /// The canonical text, which was written.
    Text,
    /// A binary, which was written.
    Bytes,
}

/// Reads one of the forms in which `version` writes a value of that type; plain REST has the forms of V4. `None` if it
/// is none of them: the caller must take back the part already written.
pub(crate) fn append(out: &mut Vec<u8>, version: Version, primitive: Primitive, text: &str) -> Option<Canonical> {
    use Primitive as P;
    let v2 = version == Version::V2;
    match primitive {
        P::Boolean => match text {
            "true" | "1" => Some(Canonical::Integer(1)),
            "false" | "0" => Some(Canonical::Integer(0)),
            _ => None,
        },
        P::Byte | P::SByte | P::Int16 | P::Int32 | P::Int64 => integer(primitive, text).map(Canonical::Integer),
        // The shortest text of a Single is not that of the Double nearest to it.
        P::Single => real::<f32>(text).map(f64::from).map(Canonical::Real),
        P::Double => real::<f64>(text).map(Canonical::Real),
        P::Decimal { .. } => decimal::append_canonical(out, text).map(|()| Canonical::Text),
        P::String { .. } => {
            out.extend_from_slice(text.as_bytes());
            Some(Canonical::Text)
        }
        P::Binary { .. } => base64::append_decoded(out, text).map(|()| Canonical::Bytes),
        P::Guid => guid(out, text).map(|()| Canonical::Text),
        P::Date if v2 => {
            date::append_v2_json(out, text).or_else(|| date::append_date_time(out, text))?;
            // Of a local midnight, as a date picker sends it, SAP Gateway too keeps the day in UTC.
            let time = out.iter().rposition(|byte| *byte == b'T')?;
            out.truncate(time);
            Some(Canonical::Text)
        }
        P::Date => date::append_date(out, text).map(|()| Canonical::Text),
        P::DateTime { .. } if v2 => {
            date::append_v2_json(out, text).or_else(|| date::append_date_time(out, text)).map(|()| Canonical::Text)
        }
        P::DateTime { .. } => date::append_date_time(out, text)
            .or_else(|| {
                date::append_date_time_offset(out, text)?;
                out.pop();
                Some(())
            })
            .map(|()| Canonical::Text),
        P::DateTimeOffset { .. } if v2 && text.starts_with('/') => {
            date::append_v2_json(out, text)?;
            if !out.ends_with(b"Z") {
                out.push(b'Z');
            }
            Some(Canonical::Text)
        }
        P::DateTimeOffset { .. } => date::append_date_time_offset(out, text).map(|()| Canonical::Text),
        P::TimeOfDay { .. } if v2 => date::append_v2_time(out, text).map(|()| Canonical::Text),
        P::TimeOfDay { .. } => date::append_time_of_day(out, text).map(|()| Canonical::Text),
        P::Duration => date::append_duration(out, text).map(|()| Canonical::Text),
        P::Collection(item) => items::append_canonical(out, item, text.as_bytes()).then_some(Canonical::Text),
    }
}

/// Appends the canonical form of a text as V4 writes it, of a type whose canonical form is text. False if it is
/// invalid; the caller must then take back the part already appended.
pub fn append_canonical(out: &mut Vec<u8>, primitive: Primitive, text: &str) -> bool {
    append(out, Version::V4, primitive, text) == Some(Canonical::Text)
}

/// The least and the greatest value of an integer type.
pub(crate) fn range(primitive: Primitive) -> (i64, i64) {
    match primitive {
        Primitive::Byte => (0, 255),
        Primitive::SByte => (-128, 127),
        Primitive::Int16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Primitive::Int32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

/// An integer of the type. Other ways to write a whole number (`1.0`, `1e3`) are taken as such.
#[inline]
pub(crate) fn integer(primitive: Primitive, text: &str) -> Option<i64> {
    let (least, most) = range(primitive);
    let value = digits(text).or_else(|| whole(text))?;
    (least..=most).contains(&value).then_some(value)
}

/// A sign and up to 18 digits.
#[inline]
fn digits(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let value = digits
        .iter()
        .try_fold(0i64, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0')))?;
    Some(if negative { -value } else { value })
}

#[cold]
fn whole(text: &str) -> Option<i64> {
    let canonical = decimal::canonical(text)?;
    let (whole, fraction) = canonical.split_once('.').unwrap_or((&canonical, ""));
    fraction.bytes().all(|digit| digit == b'0').then(|| whole.parse().ok()).flatten()
}

/// A real; one that is not finite only where the text says so.
fn real<F: FromStr + Into<f64> + Copy>(text: &str) -> Option<F> {
    // The parser of the standard library has other words, in any case.
    match text {
        "NaN" => "nan".parse().ok(),
        "INF" => "inf".parse().ok(),
        "-INF" => "-inf".parse().ok(),
        _ if text.ends_with(|last: char| last.is_ascii_digit() || last == '.') => {
            text.parse().ok().filter(|value: &F| (*value).into().is_finite())
        }
        _ => None,
    }
}

fn guid(out: &mut Vec<u8>, text: &str) -> Option<()> {
    let is_guid = text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    is_guid.then(|| out.extend(text.bytes().map(|byte| byte.to_ascii_lowercase())))
}
