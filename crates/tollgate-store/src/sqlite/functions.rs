//! The functions and the collation that [`sql`](crate::sql) calls by name, in Rust: exact decimals, checked integers,
//! Unicode texts, dates.
//!
//! They return null only for null: a call without a result fails, so that no row is lost or gained silently.

use std::borrow::Cow;
use std::num::FpCategory;

use regex::RegexBuilder;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{ToSql, ValueRef};
use rusqlite::{Connection, Error, ffi};
use tollgate_wire::date::arithmetic::{self, Direction};
use tollgate_wire::decimal::{self, DecimalError};
use tollgate_wire::edm::{Item, Primitive};

use super::dates::{date_part, duration_seconds, split_instant, time_part};
use super::form::{self, Canonical, shown};
use super::{aggregates, lists};
use crate::sql::DECIMAL_COLLATION;
use crate::sql::function::{self, MADE_BYTES_MAX, Name};
use crate::{Form, StoreError};

/// Reasons why a function has no result, as error codes of our own in a family that reading does not use otherwise.
pub(super) mod refusal {
    use super::ffi::SQLITE_CONSTRAINT;

    pub(in super::super) const INTEGER_OVERFLOW: i32 = SQLITE_CONSTRAINT | 201 << 8;
    pub(super) const DECIMAL_OVERFLOW: i32 = SQLITE_CONSTRAINT | 202 << 8;
    pub(super) const DIVISION_BY_ZERO: i32 = SQLITE_CONSTRAINT | 203 << 8;
    pub(in super::super) const REAL_RANGE: i32 = SQLITE_CONSTRAINT | 205 << 8;
    pub(super) const MOMENT_RANGE: i32 = SQLITE_CONSTRAINT | 206 << 8;
}

/// Message for the caller on an error, if it is one of these functions'.
pub(super) fn refusal_message(error: &Error) -> Option<&'static str> {
    match error.sqlite_error()?.extended_code {
        refusal::INTEGER_OVERFLOW => Some("integer overflow: a result does not fit into 64 bits"),
        refusal::DECIMAL_OVERFLOW => Some("decimal overflow: a result has more than 38 digits"),
        refusal::DIVISION_BY_ZERO => Some("division by zero"),
        refusal::MOMENT_RANGE => Some("a moment outside of the years 0001 to 9999"),
        refusal::REAL_RANGE => Some("floating-point overflow: a result is too large or too small"),
        _ => None,
    }
}

/// Prefix by which [`wrong_value`] recognises the message: SQLite forgets the code if there is a message.
const WRONG_VALUE: &str = "tollgate: a stored value is wrong: ";

/// Description of a wrong stored value, if that is why one of these functions failed.
pub(super) fn wrong_value(error: &Error) -> Option<String> {
    match error {
        Error::SqliteFailure(_, Some(message)) => message.strip_prefix(WRONG_VALUE).map(str::to_owned),
        _ => None,
    }
}

/// Registers them with a connection.
pub(super) fn register(raw: &Connection) -> Result<(), StoreError> {
    raw.create_collation(DECIMAL_COLLATION, decimal::compare)?;
    scalar(raw, function::CANONICAL, canonical)?;
    integers(raw)?;
    reals(raw)?;
    decimals(raw)?;
    texts(raw)?;
    aggregates::register(raw)?;
    lists::register(raw)?;
    dates(raw)
}

fn integers(raw: &Connection) -> Result<(), StoreError> {
    let two = |name, operation: fn(i64, i64) -> Option<i64>| {
        scalar(raw, name, move |context| {
            let operands = integer(context, 0).zip(integer(context, 1));
            operands
                .map(|(left, right)| operation(left, right).ok_or_else(|| refused(refusal::INTEGER_OVERFLOW)))
                .transpose()
        })
    };
    two(function::INTEGER_ADD, i64::checked_add)?;
    two(function::INTEGER_SUBTRACT, i64::checked_sub)?;
    two(function::INTEGER_MULTIPLY, i64::checked_mul)?;
    let divided = |name, operation: fn(i64, i64) -> Option<i64>| {
        scalar(raw, name, move |context| match (integer(context, 0), integer(context, 1)) {
            (Some(_), Some(0)) => Err(refused(refusal::DIVISION_BY_ZERO)),
            (Some(left), Some(right)) => {
                operation(left, right).map(Some).ok_or_else(|| refused(refusal::INTEGER_OVERFLOW))
            }
            _ => Ok(None),
        })
    };
    divided(function::INTEGER_DIVIDE, i64::checked_div)?;
    // The one overflow, of the smallest number by -1, leaves no rest.
    divided(function::INTEGER_MODULO, |left, right| Some(left.wrapping_rem(right)))?;
    let ranged = |name, low: i64, high: i64| {
        scalar(raw, name, move |context| Ok(integer(context, 0).filter(|number| (low..=high).contains(number))))
    };
    ranged(function::INTEGER_AS_BYTE, 0, u8::MAX.into())?;
    ranged(function::INTEGER_AS_SBYTE, i8::MIN.into(), i8::MAX.into())?;
    ranged(function::INTEGER_AS_INT16, i16::MIN.into(), i16::MAX.into())?;
    ranged(function::INTEGER_AS_INT32, i32::MIN.into(), i32::MAX.into())?;
    scalar(raw, function::INTEGER_FROM_DECIMAL, |context| {
        Ok(digits(context, 0).and_then(|digits| match digits.split_once('.').map_or(&*digits, |(whole, _)| whole) {
            "-0" | "" | "-" => Some(0),
            whole => whole.parse::<i64>().ok(),
        }))
    })?;
    scalar(raw, function::INTEGER_FROM_REAL, |context| {
        // Both bounds are exact: -2^63, and 2^63, which is one too large.
        const BOUND: f64 = 9_223_372_036_854_775_808.0;
        Ok(real(context, 0).filter(|real| (-BOUND..BOUND).contains(real)).map(|real| real.trunc() as i64))
    })?;
    scalar(raw, function::INTEGER_NEGATE, |context| {
        let operand = integer(context, 0);
        operand.map(|number| number.checked_neg().ok_or_else(|| refused(refusal::INTEGER_OVERFLOW))).transpose()
    })
}

fn reals(raw: &Connection) -> Result<(), StoreError> {
    let one = |name, operation: fn(f64) -> f64| scalar(raw, name, move |context| Ok(real(context, 0).map(operation)));
    one(function::REAL_ROUND, f64::round)?;
    one(function::REAL_FLOOR, f64::floor)?;
    one(function::REAL_CEILING, f64::ceil)?;
    let is_zero = |real: f64| real.classify() == FpCategory::Zero;
    let two = |name, operation: fn(f64, f64) -> f64| {
        scalar(raw, name, move |context| {
            let operands = real(context, 0).zip(real(context, 1));
            operands.map(|(left, right)| in_range(operation(left, right), [left, right], false)).transpose()
        })
    };
    two(function::REAL_ADD, |left, right| left + right)?;
    two(function::REAL_SUBTRACT, |left, right| left - right)?;
    scalar(raw, function::REAL_MULTIPLY, move |context| {
        let operands = real(context, 0).zip(real(context, 1));
        let product =
            |(left, right): (f64, f64)| in_range(left * right, [left, right], !is_zero(left) && !is_zero(right));
        operands.map(product).transpose()
    })?;
    let divided = |name, operation: fn(f64, f64) -> f64, never_zero: bool| {
        scalar(raw, name, move |context| match (real(context, 0), real(context, 1)) {
            // Infinity would be of a sign that SQLite forgets with that of its zeros.
            (Some(_), Some(right)) if is_zero(right) => Err(refused(refusal::DIVISION_BY_ZERO)),
            (Some(left), Some(right)) => {
                in_range(operation(left, right), [left, right], never_zero && !is_zero(left)).map(Some)
            }
            _ => Ok(None),
        })
    };
    divided(function::REAL_DIVIDE, |left, right| left / right, true)?;
    divided(function::REAL_MODULO, |left, right| left % right, false)?;
    scalar(raw, function::REAL_FROM_DECIMAL, |context| Ok(digits(context, 0).and_then(|text| text.parse::<f64>().ok())))
}

/// Checks a result: refused if it became infinite or zero only by its size, or is no number, as in PostgreSQL.
fn in_range(result: f64, operands: [f64; 2], never_zero: bool) -> rusqlite::Result<f64> {
    let finite = operands.iter().all(|operand| operand.is_finite());
    let lost = match result.classify() {
        FpCategory::Nan => true,
        FpCategory::Infinite => finite,
        FpCategory::Zero => finite && never_zero,
        FpCategory::Subnormal | FpCategory::Normal => false,
    };
    if lost { Err(refused(refusal::REAL_RANGE)) } else { Ok(result) }
}

fn decimals(raw: &Connection) -> Result<(), StoreError> {
    let one = |name, operation: fn(&str) -> Result<String, DecimalError>| {
        scalar(raw, name, move |context| {
            digits(context, 0).map(|value| operation(&value).map_err(refused_decimal)).transpose()
        })
    };
    let two = |name, operation: fn(&str, &str) -> Result<String, DecimalError>| {
        scalar(raw, name, move |context| {
            let operands = digits(context, 0).zip(digits(context, 1));
            operands.map(|(left, right)| operation(&left, &right).map_err(refused_decimal)).transpose()
        })
    };
    two(function::DECIMAL_ADD, decimal::add)?;
    two(function::DECIMAL_SUBTRACT, decimal::sub)?;
    two(function::DECIMAL_MULTIPLY, decimal::mul)?;
    two(function::DECIMAL_DIVIDE, decimal::div)?;
    two(function::DECIMAL_MODULO, decimal::modulo)?;
    one(function::DECIMAL_NEGATE, decimal::negate)?;
    one(function::DECIMAL_ROUND, decimal::round)?;
    one(function::DECIMAL_FLOOR, decimal::floor)?;
    one(function::DECIMAL_CEILING, decimal::ceiling)?;
    one(function::DECIMAL_TEXT, |digits| {
        Ok(match digits.contains('.') {
            true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => digits.to_owned(),
        })
    })
}

/// Memory limit of a compiled pattern; patterns that the parser accepts need a small part of it.
const PATTERN_BYTES_MAX: usize = 4 * 1024 * 1024;

pub(super) fn refused(extended_code: i32) -> Error {
    Error::SqliteFailure(ffi::Error::new(extended_code), None)
}

pub(super) fn refused_decimal(error: DecimalError) -> Error {
    refused(match error {
        DecimalError::Overflow => refusal::DECIMAL_OVERFLOW,
        DecimalError::DivisionByZero => refusal::DIVISION_BY_ZERO,
        // Literals are checked, so it stands in a table.
        DecimalError::Malformed => ffi::SQLITE_CORRUPT,
    })
}

fn texts(raw: &Connection) -> Result<(), StoreError> {
    let pair = |name, operation: fn(&str, &str) -> bool| {
        scalar(raw, name, move |context| {
            Ok(text(context, 0).zip(text(context, 1)).map(|(text, part)| operation(&text, &part)))
        })
    };
    pair(function::STARTS_WITH, |text, part| text.starts_with(part))?;
    pair(function::ENDS_WITH, |text, part| text.ends_with(part))?;
    scalar(raw, function::MATCHES, |context| {
        if text(context, 1).is_none() {
            return Ok(None);
        }
        // Compiled once for a statement; its time grows with the text alone.
        let pattern =
            context.get_or_create_aux(1, |pattern| -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
                Ok(RegexBuilder::new(pattern.as_str()?).size_limit(PATTERN_BYTES_MAX).build()?)
            })?;
        Ok(text(context, 0).map(|text| pattern.is_match(&text)))
    })?;
    let one = |name, operation: fn(&str) -> String| {
        scalar(raw, name, move |context| Ok(text(context, 0).map(|text| operation(&text))))
    };
    one(function::LOWER, str::to_lowercase)?;
    one(function::UPPER, str::to_uppercase)?;
    one(function::TRIM, |text| text.trim().to_owned())?;
    scalar(raw, function::LENGTH, |context| Ok(text(context, 0).map(|text| text.chars().count() as i64)))?;
    scalar(raw, function::SUBSTRING_FROM, |context| {
        Ok(text(context, 0).zip(integer(context, 1)).map(|(text, start)| substring(&text, start, i64::MAX).to_owned()))
    })?;
    scalar(raw, function::SUBSTRING, |context| {
        let arguments = text(context, 0).zip(integer(context, 1)).zip(integer(context, 2));
        Ok(arguments.map(|((text, start), length)| substring(&text, start, length).to_owned()))
    })?;
    scalar(raw, function::CONCAT, |context| match (text(context, 0), text(context, 1)) {
        (Some(left), Some(right)) => within_limit([left, right].concat()).map(Some),
        _ => Ok(None),
    })?;
    scalar(raw, function::REPLACE, |context| match (text(context, 0), text(context, 1), text(context, 2)) {
        (Some(text), Some(find), Some(by)) => replace(&text, &find, &by).map(Some),
        _ => Ok(None),
    })
}

fn dates(raw: &Connection) -> Result<(), StoreError> {
    let part = |name, operation: fn(&str) -> Option<i64>| {
        scalar(raw, name, move |context| Ok(text(context, 0).and_then(|text| operation(&text))))
    };
    part(function::YEAR, |text| date_part(text, 0))?;
    part(function::MONTH, |text| date_part(text, 1))?;
    part(function::DAY, |text| date_part(text, 2))?;
    part(function::HOUR, |text| time_part(text, 0))?;
    part(function::MINUTE, |text| time_part(text, 1))?;
    part(function::SECOND, |text| time_part(text, 2))?;
    scalar(raw, function::OFFSET_MINUTES, |context| Ok(text(context, 0).map(|_| 0)))?;
    scalar(raw, function::FRACTIONAL_SECONDS, |context| {
        Ok(text(context, 0).map(|text| match text.trim_end_matches('Z').split_once('.') {
            Some((_, fraction)) if fraction.bytes().any(|digit| digit != b'0') => {
                format!("0.{}", fraction.trim_end_matches('0'))
            }
            _ => "0".to_owned(),
        }))
    })?;
    scalar(raw, function::DATE, |context| Ok(text(context, 0).map(|text| split_instant(&text).0.to_owned())))?;
    scalar(raw, function::TIME, |context| {
        Ok(text(context, 0).map(|text| split_instant(&text).1.unwrap_or("00:00:00").to_owned()))
    })?;
    for (name, direction) in [
        (function::MOMENT_ADD, Direction::Forward),
        (function::DATE_ADD, Direction::Forward),
        (function::MOMENT_SUBTRACT, Direction::Back),
        (function::DATE_SUBTRACT, Direction::Back),
    ] {
        scalar(raw, name, move |context| match (text(context, 0), text(context, 1)) {
            (Some(moment), Some(duration)) => {
                let moved = arithmetic::plus(&moment, direction, &duration);
                let mut moved = moved.ok_or_else(|| refused(refusal::MOMENT_RANGE))?;
                // What moves is an instant, though it may have been stored without saying so.
                if moved.contains('T') && !moved.ends_with('Z') {
                    moved.push('Z');
                }
                Ok(Some(moved))
            }
            _ => Ok(None),
        })?;
    }
    for name in [function::MOMENT_DIFFERENCE, function::DATE_DIFFERENCE] {
        scalar(raw, name, |context| match (text(context, 0), text(context, 1)) {
            (Some(later), Some(earlier)) => {
                let duration = arithmetic::between(&earlier, &later);
                duration.map(Some).ok_or_else(|| refused(refusal::MOMENT_RANGE))
            }
            _ => Ok(None),
        })?;
    }
    scalar(raw, function::DURATION_SECONDS, |context| {
        let seconds = text(context, 0).map(|text| duration_seconds(&text).map_err(refused_decimal)).transpose();
        seconds.map(Option::flatten)
    })
}

/// A stored value in the canonical form of the type that the second argument names, which also contains its place after
/// ` in `.
fn canonical(context: &Context<'_>) -> rusqlite::Result<Option<String>> {
    let (value, kind) = (context.get_raw(0), context.get_raw(1).as_str()?);
    let (kind, place) = kind.split_once(" in ").map_or((kind, None), |(kind, place)| (kind, Some(place)));
    let list = kind.strip_prefix("list of ");
    let (class, form) = match list.unwrap_or(kind).split_once(' ') {
        Some((class, "seconds")) => (class, Form::Seconds),
        Some((class, _)) => (class, Form::Milliseconds),
        None => (list.unwrap_or(kind), Form::Checked),
    };
    let primitive = primitive_of(class);
    let primitive = match list.and_then(|_| Item::of(primitive)) {
        Some(item) => Primitive::Collection(item),
        None => primitive,
    };
    let mut made = Vec::new();
    match form::canonical(&mut made, form, primitive, value) {
        Some(Canonical::Null) => Ok(None),
        Some(Canonical::AsStored) => Ok(Some(value.as_str()?.to_owned())),
        Some(Canonical::Made) => Ok(Some(String::from_utf8_lossy(&made).into_owned())),
        Some(Canonical::Bytes | Canonical::Real(_)) | None => {
            let message = match (place, primitive) {
                (Some(place), Primitive::Collection(item)) => {
                    format!("{WRONG_VALUE}{place}: {} is no {}", shown(value), item.collection_name())
                }
                _ => format!("{WRONG_VALUE}{} is no {kind}", shown(value)),
            };
            Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ERROR), Some(message)))
        }
    }
}

/// The type for a word in a statement.
fn primitive_of(word: &str) -> Primitive {
    match word {
        "boolean" => Primitive::Boolean,
        "int16" => Primitive::Int16,
        "int32" => Primitive::Int32,
        "int64" => Primitive::Int64,
        "single" => Primitive::Single,
        "double" => Primitive::Double,
        "string" => Primitive::String { length_max: 0 },
        "decimal" => Primitive::Decimal { precision: 0, scale: 0 },
        "guid" => Primitive::Guid,
        "date" => Primitive::Date,
        "datetime" => Primitive::DateTime { precision: 0 },
        "instant" => Primitive::DateTimeOffset { precision: 0 },
        "time" => Primitive::TimeOfDay { precision: 0 },
        _ => Primitive::Duration,
    }
}

/// Registers one function as deterministic, and allowed in a schema.
pub(super) fn scalar<T: ToSql>(
    raw: &Connection,
    name: Name,
    operation: impl Fn(&Context<'_>) -> rusqlite::Result<T> + Send + 'static,
) -> Result<(), StoreError> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    Ok(raw.create_scalar_function(name.text, name.arguments, flags, operation)?)
}

fn text<'c>(context: &'c Context<'_>, index: usize) -> Option<Cow<'c, str>> {
    match context.get_raw(index) {
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes)),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    }
}

/// A decimal. Columns of foreign databases may contain numbers instead of digits.
pub(super) fn digits<'c>(context: &'c Context<'_>, index: usize) -> Option<Cow<'c, str>> {
    match context.get_raw(index) {
        ValueRef::Integer(integer) => Some(integer.to_string().into()),
        ValueRef::Real(real) => Some(real.to_string().into()),
        ValueRef::Text(_) | ValueRef::Null | ValueRef::Blob(_) => text(context, index),
    }
}

fn integer(context: &Context<'_>, index: usize) -> Option<i64> {
    match context.get_raw(index) {
        ValueRef::Integer(integer) => Some(integer),
        ValueRef::Null | ValueRef::Text(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    }
}

fn real(context: &Context<'_>, index: usize) -> Option<f64> {
    match context.get_raw(index) {
        ValueRef::Real(real) => Some(real),
        ValueRef::Integer(integer) => Some(integer as f64),
        ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => None,
    }
}

/// `length` characters of `text` from the one at `start` on; positions outside the text are left out.
fn substring(text: &str, start: i64, length: i64) -> &str {
    let length = if start < 0 { length.saturating_add(start) } else { length };
    let offset = |text: &str, characters: i64| {
        let characters = usize::try_from(characters).unwrap_or(0);
        text.char_indices().nth(characters).map_or(text.len(), |(offset, _)| offset)
    };
    let text = &text[offset(text, start)..];
    &text[..offset(text, length)]
}

fn replace(text: &str, find: &str, by: &str) -> rusqlite::Result<String> {
    if find.is_empty() {
        return Ok(text.to_owned());
    }
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(offset) = rest.find(find) {
        replaced.push_str(&rest[..offset]);
        replaced.push_str(by);
        rest = &rest[offset + find.len()..];
        replaced = within_limit(replaced)?;
    }
    replaced.push_str(rest);
    within_limit(replaced)
}

fn within_limit(made: String) -> rusqlite::Result<String> {
    if made.len() > MADE_BYTES_MAX {
        return Err(refused(ffi::SQLITE_TOOBIG));
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registered() -> Connection {
        let raw = Connection::open_in_memory().unwrap();
        register(&raw).unwrap();
        raw
    }

    #[test]
    fn every_function_that_statements_name_is_registered_and_answers_null_for_null() {
        let raw = registered();
        for name in function::ALL {
            let nulls = vec!["NULL"; name.arguments as usize].join(", ");
            let call = format!("SELECT {}({nulls}) IS NULL", name.text);
            assert!(raw.query_row(&call, [], |row| row.get::<_, bool>(0)).unwrap(), "{call}");
        }
    }

    /// Evaluates SQL to text, null as `null`.
    fn check(sql: &str, expected: &str) {
        let value: Option<String> =
            registered().query_row(&format!("SELECT CAST({sql} AS TEXT)"), [], |row| row.get(0)).unwrap();
        assert_eq!(value.as_deref().unwrap_or("null"), expected, "{sql}");
    }

    /// Evaluates SQL that has no result, and says why.
    fn check_refused(sql: &str, expected: &str) {
        let error = registered().query_row(&format!("SELECT {sql}"), [], |_| Ok(())).unwrap_err();
        let message = refusal_message(&error).unwrap_or_else(|| panic!("{sql}: {error}"));
        assert_eq!(message.split(':').next(), Some(expected), "{sql}");
    }

    #[test]
    fn integers_that_overflow_are_refused_and_never_become_null_or_reals() {
        check_refused("tollgate_integer_add(9223372036854775807, 1)", "integer overflow");
        check_refused("tollgate_integer_multiply(4611686018427387904, 2)", "integer overflow");
        check_refused("tollgate_integer_divide(-9223372036854775807 - 1, -1)", "integer overflow");
        check_refused("tollgate_integer_negate(-9223372036854775807 - 1)", "integer overflow");
        check("tollgate_integer_modulo(-9223372036854775807 - 1, -1)", "0");
        check("tollgate_integer_divide(-7, 2)", "-3");
        check("tollgate_integer_modulo(-7, 2)", "-1");
    }

    #[test]
    fn a_division_by_zero_is_refused_in_every_class_of_numbers() {
        check_refused("tollgate_integer_divide(1, 0)", "division by zero");
        check_refused("tollgate_integer_modulo(1, 0)", "division by zero");
        check_refused("tollgate_decimal_divide('1', '0.0')", "division by zero");
        check_refused("tollgate_real_divide(1.0, -0.0)", "division by zero");
        check_refused("tollgate_real_modulo(1.0, 0.0)", "division by zero");
        check("tollgate_integer_divide(NULL, 0)", "null");
    }

    #[test]
    fn reals_that_are_too_large_or_too_small_are_refused() {
        check_refused("tollgate_real_multiply(1e308, 10.0)", "floating-point overflow");
        check_refused("tollgate_real_multiply(1e-308, 1e-308)", "floating-point overflow");
        check_refused("tollgate_real_add(1.7e308, 1.7e308)", "floating-point overflow");
        check_refused("tollgate_real_subtract(9e999, 9e999)", "floating-point overflow");
        check_refused("tollgate_real_divide(1e308, 0.01)", "floating-point overflow");
        check_refused(
            "tollgate_real_sum(x) FROM (SELECT 1e308 AS x UNION ALL SELECT 1e308)",
            "floating-point overflow",
        );
        check("tollgate_real_multiply(0.0, 7.0)", "0.0");
        check(
            "(SELECT tollgate_real_average(x) FROM (SELECT 1.5 AS x UNION ALL SELECT NULL UNION ALL SELECT 2.5))",
            "2.0",
        );
    }

    #[test]
    fn decimals_of_too_many_digits_are_refused() {
        let most = "9".repeat(decimal::DIGITS_MAX);
        check_refused(&format!("tollgate_decimal_add('{most}', '1')"), "decimal overflow");
        check_refused(&format!("tollgate_duration_seconds('P{most}D')"), "decimal overflow");
    }

    #[test]
    fn decimals_keep_every_digit() {
        check("tollgate_decimal_add('0.1', '0.2')", "0.3");
        check("tollgate_decimal_multiply('99999999999999999.99', '100')", "9999999999999999999.00");
        check("tollgate_decimal_round('2.5')", "3");
        check("tollgate_decimal_round('-2.5')", "-3");
        check("tollgate_decimal_text('10')", "10");
        check("tollgate_decimal_text('10.250')", "10.25");
        check("tollgate_canonical(12.5, 'decimal')", "12.5");
        check("tollgate_canonical('2.50', 'decimal')", "2.50");
        check("'2.50' COLLATE \"DECIMAL\" = '2.5'", "1");
        check("'10' COLLATE \"DECIMAL\" > '9.99'", "1");
    }

    #[test]
    fn what_is_no_array_is_told_with_its_column() {
        let list = "tollgate_canonical('[\"a\"', 'list of string in airlines.hubs')";
        for sql in [format!("SELECT {list}"), format!("SELECT 1 FROM json_each({list}) AS v WHERE v.value = 'a'")] {
            let error = registered().query_row(&sql, [], |_| Ok(())).unwrap_err();
            let expected = "airlines.hubs: '[\"a\"' is no Collection(Edm.String)";
            assert_eq!(wrong_value(&error).as_deref(), Some(expected), "{sql}: {error}");
        }
    }

    #[test]
    fn texts_are_counted_in_characters_and_folded_as_unicode_says() {
        check("tollgate_length('😀ß')", "2");
        check("tollgate_upper('straße')", "STRASSE");
        check("tollgate_lower('ÇEM')", "çem");
        check("tollgate_substring('😀bc', 1, 1)", "b");
        check("tollgate_substring('abc', -1, 2)", "a");
        check("tollgate_substring_from('abc', 7)", "");
        check("tollgate_starts_with('50%', '5%')", "0");
    }

    #[test]
    fn dates_give_their_parts() {
        check("tollgate_year('-0044-03-15')", "-44");
        check("tollgate_month('2013-09-25T11:00:00Z')", "9");
        check("tollgate_hour('2013-09-25')", "0");
        check("tollgate_second('11:00:07.5')", "7");
        check("tollgate_date('2013-09-25T11:00:00.5Z')", "2013-09-25");
        check("tollgate_time('2013-09-25T11:00:00.5Z')", "11:00:00.5");
        check("tollgate_duration_seconds('-P1DT1.5S')", "-86401.5");
        check("tollgate_duration_seconds('P')", "null");
        check("tollgate_moment_add('2024-02-28T23:00:00Z', 'PT90M')", "2024-02-29T00:30:00Z");
        check("tollgate_date_subtract('2024-03-01', 'PT1S')", "2024-02-29");
        check("tollgate_moment_difference('2024-03-01T00:00:00Z', '2024-02-28T12:00:00Z')", "P1DT12H");
        check_refused(
            "tollgate_moment_add('9999-12-31T23:59:59Z', 'PT1S')",
            "a moment outside of the years 0001 to 9999",
        );
    }
}
