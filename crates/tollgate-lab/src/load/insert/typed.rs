//! A text of the user's own file as a value of its property's type: in the form in which drawn values are, too.
//!
//! It does not guess: a number with a comma or a date of another order is refused. Blanks around a value count only
//! where it is a text.

use serde_json::Number;
use tollgate_wire::edm::{Primitive, Version};

use super::drawn::Drawn;

/// Reads a text as a value.
///
/// # Errors
/// The expected form, to follow "`abc` is no ".
pub(super) fn typed(primitive: Primitive, version: Version, text: &str) -> Result<Drawn, String> {
    let text = if matches!(primitive, Primitive::String { .. }) { text } else { text.trim() };
    let whole = |least: i64, most: i64| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.map(Drawn::Integer).ok_or_else(|| format!("whole number from {least} to {most}"))
    };
    let expected = |found: Option<String>, what: &str| found.map(Drawn::Text).ok_or_else(|| what.to_owned());
    match primitive {
        Primitive::Boolean => match text {
            "true" | "1" => Ok(Drawn::Integer(1)),
            "false" | "0" => Ok(Drawn::Integer(0)),
            _ => Err("`true` or `false`".to_owned()),
        },
        Primitive::Byte => whole(0, u8::MAX.into()),
        Primitive::SByte => whole(i8::MIN.into(), i8::MAX.into()),
        Primitive::Int16 => whole(i16::MIN.into(), i16::MAX.into()),
        Primitive::Int32 => whole(i32::MIN.into(), i32::MAX.into()),
        Primitive::Int64 => whole(i64::MIN, i64::MAX),
        Primitive::Single | Primitive::Double | Primitive::Decimal { .. } => {
            let is_number = serde_json::from_str::<Number>(text).is_ok();
            expected(is_number.then(|| text.to_owned()), "number such as 12.50")
        }
        Primitive::String { length_max } => match text.chars().count() {
            length if length_max > 0 && length > length_max as usize => {
                Err(format!("text of at most {length_max} characters: it has {length}"))
            }
            _ => Ok(Drawn::Text(text.to_owned())),
        },
        Primitive::Guid => {
            let is_guid = text.len() == 36
                && text.bytes().enumerate().all(|(place, byte)| match place {
                    8 | 13 | 18 | 23 => byte == b'-',
                    _ => byte.is_ascii_hexdigit(),
                });
            expected(is_guid.then(|| text.to_owned()), "GUID such as 01234567-89ab-4cde-8f01-23456789abcd")
        }
        Primitive::Date => {
            let date = text.parse::<jiff::civil::Date>().ok();
            expected(date.map(|date| date.to_string()), "date such as 2024-05-31")
        }
        Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. } => {
            let is_local = version == Version::V2 && matches!(primitive, Primitive::DateTime { .. });
            let time = instant(text).map(|time| time.to_string());
            let time = time.map(|time| if is_local { time.trim_end_matches('Z').to_owned() } else { time });
            expected(time, "time such as 2024-05-31T12:30:00Z")
        }
        Primitive::TimeOfDay { .. } => {
            let time = text.parse::<jiff::civil::Time>().ok();
            expected(time.map(|time| time.to_string()), "time such as 12:30:00")
        }
        Primitive::Duration => {
            let is_duration = text.parse::<jiff::Span>().is_ok() && text.trim_start_matches('-').starts_with('P');
            expected(is_duration.then(|| text.to_owned()), "duration such as PT1H30M")
        }
        Primitive::Binary { .. } => Ok(Drawn::Text(text.to_owned())),
        Primitive::Collection(_) => Err("value: lists stand in JSON".to_owned()),
    }
}

/// Returns the instant of a time; without a zone it is UTC, and a date is its midnight.
fn instant(text: &str) -> Option<jiff::Timestamp> {
    let parse = |text: &str| text.parse::<jiff::Timestamp>().ok();
    parse(text).or_else(|| parse(&format!("{text}Z"))).or_else(|| parse(&format!("{text}T00:00:00Z")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_a_value_of_its_type_or_is_told_what_it_is_not() {
        let check = |primitive: Primitive, text: &str, expected: Result<&str, &str>| {
            let found = typed(primitive, Version::V4, text).map(|drawn| match drawn {
                Drawn::Integer(number) => number.to_string(),
                Drawn::Text(text) => text,
            });
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
        };
        check(Primitive::Boolean, "true", Ok("1"));
        check(Primitive::Boolean, "yes", Err("`true` or `false`"));
        check(Primitive::Byte, "255", Ok("255"));
        check(Primitive::Byte, "256", Err("whole number from 0 to 255"));
        check(Primitive::Int32, "1.0", Err("whole number from -2147483648 to 2147483647"));
        let decimal = Primitive::Decimal { precision: 9, scale: 2 };
        check(decimal, "12.50", Ok("12.50"));
        check(decimal, "12,50", Err("number such as 12.50"));
        check(Primitive::String { length_max: 2 }, "äö", Ok("äö"));
        check(Primitive::String { length_max: 2 }, "äöü", Err("text of at most 2 characters: it has 3"));
        check(Primitive::String { length_max: 0 }, "äöü", Ok("äöü"));
        check(Primitive::Guid, "01234567-89ab-4cde-8f01-23456789abcd", Ok("01234567-89ab-4cde-8f01-23456789abcd"));
        check(Primitive::Guid, "1", Err("GUID such as 01234567-89ab-4cde-8f01-23456789abcd"));
        check(Primitive::Date, "2024-05-31", Ok("2024-05-31"));
        check(Primitive::Date, "31.05.2024", Err("date such as 2024-05-31"));
        let time = Primitive::DateTimeOffset { precision: 0 };
        check(time, "2024-05-31T12:30:00+02:00", Ok("2024-05-31T10:30:00Z"));
        check(time, "2024-05-31 12:30:00", Ok("2024-05-31T12:30:00Z"));
        check(time, "2024-05-31", Ok("2024-05-31T00:00:00Z"));
        check(time, "now", Err("time such as 2024-05-31T12:30:00Z"));
        check(Primitive::TimeOfDay { precision: 0 }, "08:05", Ok("08:05:00"));
        check(Primitive::Duration, "PT1H30M", Ok("PT1H30M"));
        check(Primitive::Duration, "1h 30m", Err("duration such as PT1H30M"));
        check(Primitive::Boolean, " true", Ok("1"));
        check(Primitive::Int32, " 12 ", Ok("12"));
        check(decimal, " 12.50 ", Ok("12.50"));
        check(decimal, "  ", Err("number such as 12.50"));
        check(Primitive::Date, "2024-05-31 ", Ok("2024-05-31"));
        check(time, " 2024-05-31", Ok("2024-05-31T00:00:00Z"));
        check(Primitive::Duration, " PT1H30M", Ok("PT1H30M"));
        check(Primitive::String { length_max: 3 }, " a ", Ok(" a "));
    }
}
