//! The parts of dates, times and durations in their canonical texts.
//!
//! Date arithmetic is in [`arithmetic`](tollgate_wire::date::arithmetic).

use tollgate_wire::decimal::{self, DecimalError};

/// Year, month or day of a Date, DateTime or DateTimeOffset; a year may be negative or longer than four digits.
pub(super) fn date_part(text: &str, part: usize) -> Option<i64> {
    let date = split_instant(text).0;
    let (sign, digits) = date.strip_prefix('-').map_or((1, date), |digits| (-1, digits));
    let number: i64 = digits.split('-').nth(part)?.parse().ok()?;
    Some(if part == 0 { sign * number } else { number })
}

/// Hour, minute or whole second of a TimeOfDay, DateTime or DateTimeOffset; 0 of a Date.
pub(super) fn time_part(text: &str, part: usize) -> Option<i64> {
    match split_instant(text).1 {
        Some(time) => time.split([':', '.']).nth(part)?.parse().ok(),
        None => Some(0),
    }
}

/// The date and the time of an instant; a time of day alone is a time.
pub(super) fn split_instant(text: &str) -> (&str, Option<&str>) {
    let text = text.strip_suffix('Z').unwrap_or(text);
    match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None if text.contains(':') => ("", Some(text)),
        None => (text, None),
    }
}

/// The length of an ISO 8601 duration from days to seconds, as a decimal.
pub(super) fn duration_seconds(text: &str) -> Result<Option<String>, DecimalError> {
    let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let mut seconds = "0".to_owned();
    let mut number = "";
    let Some(mut rest) = unsigned.strip_prefix('P') else { return Ok(None) };
    while let Some(end) = rest.find(|character: char| character.is_ascii_alphabetic()) {
        let unit_seconds = match rest.as_bytes()[end] {
            b'T' => {
                rest = &rest[end + 1..];
                continue;
            }
            b'D' => "86400",
            b'H' => "3600",
            b'M' => "60",
            b'S' => "1",
            _ => return Ok(None),
        };
        number = &rest[..end];
        seconds = decimal::add(&seconds, &decimal::mul(number, unit_seconds)?)?;
        rest = &rest[end + 1..];
    }
    if number.is_empty() {
        return Ok(None);
    }
    if negative { decimal::negate(&seconds).map(Some) } else { Ok(Some(seconds)) }
}
