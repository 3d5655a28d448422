//! Rows as PostgreSQL sends them, passed on as cells in canonical form: most columns are borrowed unchanged, the others
//! are converted into a reused buffer.
//!
//! Decimals come as digits and never pass through a float.

use std::error::Error;
use std::io::Write;
use std::ops::Range;

use postgres::types::{FromSql, Type};
use tollgate_wire::edm::{EntityType, Item, LeafId, Primitive};
use tollgate_wire::items;
use tollgate_wire::value::{Cell, Row};

use super::failure::Failure;

/// Format of a sent column, and type of its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One byte.
    Boolean,
    /// 2, 4 or 8 bytes.
    Integer,
    /// 4 or 8 bytes.
    Real,
    Bytes,
    /// Microseconds, days and months.
    Interval,
    /// Text that is canonical.
    Text,
    /// Digits, or `NaN` and `Infinity`, which have no canonical form.
    Digits,
    /// A date, or `infinity`, or one before our era.
    Date(Infinity),
    /// A date and a time with a blank between them.
    Moment(Infinity),
    /// The same with `+00` at its end.
    Instant(Infinity),
    /// An array of JSON.
    List(Item),
}

/// Treatment of `infinity` and `-infinity`, which no model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Infinity {
    /// The first or last time that every client knows: for an ordinary value of a row.
    Shown,
    /// An error: a row must be found again by its key, and not by a substitute for its value.
    Refused,
}

impl Kind {
    /// The kind of a column for values of a type, or of an expression.
    pub(super) fn of(primitive: Option<Primitive>) -> Kind {
        match primitive {
            Some(Primitive::Boolean) => Kind::Boolean,
            Some(Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32 | Primitive::Int64) => {
                Kind::Integer
            }
            Some(Primitive::Single | Primitive::Double) => Kind::Real,
            Some(Primitive::Decimal { .. }) => Kind::Digits,
            Some(Primitive::Binary { .. }) => Kind::Bytes,
            Some(Primitive::Date) => Kind::Date(Infinity::Refused),
            Some(Primitive::DateTime { .. }) => Kind::Moment(Infinity::Refused),
            Some(Primitive::DateTimeOffset { .. }) => Kind::Instant(Infinity::Refused),
            Some(Primitive::Duration) => Kind::Interval,
            Some(Primitive::Collection(item)) => Kind::List(item),
            Some(Primitive::String { .. } | Primitive::Guid | Primitive::TimeOfDay { .. }) | None => Kind::Text,
        }
    }
}

impl Kind {
    /// The kind of a column for the values of a key of an order. They are in no answer, only in tokens, which are sent
    /// back to the server: in its own format, which can express more times than clients can.
    pub(super) fn of_order(primitive: Option<Primitive>) -> Kind {
        match Kind::of(primitive) {
            Kind::Date(_) | Kind::Moment(_) | Kind::Instant(_) => Kind::Text,
            kind => kind,
        }
    }

    /// The kind of a column for a leaf of an entity.
    pub(super) fn of_leaf(entity_type: &EntityType, leaf: LeafId) -> Kind {
        match Kind::of(Some(entity_type.leaves[leaf.0].primitive)) {
            kind if entity_type.key.contains(&leaf) => kind,
            Kind::Date(_) => Kind::Date(Infinity::Shown),
            Kind::Moment(_) => Kind::Moment(Infinity::Shown),
            Kind::Instant(_) => Kind::Instant(Infinity::Shown),
            kind => kind,
        }
    }
}

/// Parses rows one after the other, in reused memory.
#[derive(Debug, Default)]
pub(super) struct Reader {
    slots: Vec<Slot>,
    converted: Vec<u8>,
}

#[derive(Debug, Clone)]
enum Slot {
    Null,
    Integer(i64),
    Real(f64),
    /// Unchanged from the row.
    Text,
    Bytes,
    /// Position in the converted texts.
    Converted(Range<usize>),
}

/// A parsed row.
pub(super) struct PostgresRow<'r, C> {
    slots: &'r [Slot],
    columns: &'r C,
    converted: &'r [u8],
}

/// The columns of a row as sent.
pub(super) trait Columns {
    /// The bytes of a column, `None` if it is null or missing.
    fn column(&self, column: usize) -> Option<&[u8]>;
}

impl Columns for postgres::Row {
    #[inline] // for each cell, in code that is made for the sink of another crate
    fn column(&self, column: usize) -> Option<&[u8]> {
        self.try_get::<_, Option<Sent<'_>>>(column).ok().flatten().map(|sent| sent.0)
    }
}

/// A value as sent, of any type.
struct Sent<'r>(&'r [u8]);

impl<'r> FromSql<'r> for Sent<'r> {
    fn from_sql(_: &Type, sent: &'r [u8]) -> Result<Sent<'r>, Box<dyn Error + Sync + Send>> {
        Ok(Sent(sent))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl<C: Columns> Row for PostgresRow<'_, C> {
    fn cell(&self, column: usize) -> Cell<'_> {
        let sent = || self.columns.column(column).unwrap_or_default();
        match &self.slots[column] {
            Slot::Null => Cell::Null,
            Slot::Integer(integer) => Cell::Integer(*integer),
            Slot::Real(real) => Cell::Real(*real),
            Slot::Text => Cell::Text(sent()),
            Slot::Bytes => Cell::Bytes(sent()),
            Slot::Converted(range) => Cell::Text(&self.converted[range.clone()]),
        }
    }
}

impl Reader {
    /// Parses the cells of a row with these columns.
    ///
    /// # Errors
    /// A value has no canonical form, or is not of its column's kind.
    pub(super) fn read<'r, C: Columns>(
        &'r mut self,
        columns: &'r C,
        kinds: &[Kind],
    ) -> Result<PostgresRow<'r, C>, Failure> {
        self.slots.clear();
        self.converted.clear();
        for (position, kind) in kinds.iter().enumerate() {
            let slot = match columns.column(position) {
                None => Slot::Null,
                Some(sent) => self.slot(*kind, sent).map_err(|message| Failure::Unreadable { position, message })?,
            };
            self.slots.push(slot);
        }
        Ok(PostgresRow { slots: &self.slots, columns, converted: &self.converted })
    }

    /// A value for a message; empty if it cannot be read.
    pub(super) fn shown<C: Columns>(&mut self, columns: &C, position: usize, kind: Kind) -> String {
        let Some(sent) = columns.column(position) else { return "null".to_owned() };
        match self.slot(kind, sent) {
            Ok(Slot::Integer(integer)) => integer.to_string(),
            Ok(Slot::Real(real)) => real.to_string(),
            Ok(Slot::Converted(range)) => String::from_utf8_lossy(&self.converted[range]).into_owned(),
            Ok(Slot::Null | Slot::Text | Slot::Bytes) | Err(_) => String::from_utf8_lossy(sent).into_owned(),
        }
    }

    fn slot(&mut self, kind: Kind, value: &[u8]) -> Result<Slot, &'static str> {
        let begin = self.converted.len();
        Ok(match kind {
            Kind::Text => Slot::Text,
            Kind::Bytes => Slot::Bytes,
            Kind::Boolean => match value {
                [boolean] => Slot::Integer(i64::from(*boolean)),
                _ => return Err("a Boolean has another form"),
            },
            Kind::Integer => Slot::Integer(integer(value)?),
            Kind::Real => Slot::Real(real(value)?),
            Kind::Digits => {
                if !value.last().is_some_and(u8::is_ascii_digit) {
                    return Err("a number is infinite or none");
                }
                Slot::Text
            }
            Kind::Date(Infinity::Shown) | Kind::Moment(Infinity::Shown) | Kind::Instant(Infinity::Shown)
                if value.ends_with(b"infinity") =>
            {
                let (date, time) = match value {
                    b"-infinity" => ("0001-01-01", "T00:00:00"),
                    _ => ("9999-12-31", "T23:59:59"),
                };
                self.converted.extend_from_slice(date.as_bytes());
                match kind {
                    Kind::Instant(_) => self.converted.extend([time.as_bytes(), b"Z"].concat()),
                    Kind::Moment(_) => self.converted.extend(time.as_bytes()),
                    _ => {}
                }
                Slot::Converted(begin..self.converted.len())
            }
            Kind::Date(_) => {
                known_date(value)?;
                Slot::Text
            }
            Kind::Moment(_) | Kind::Instant(_) => {
                known_date(value)?;
                let (value, end) = match kind {
                    Kind::Instant(_) => (value.strip_suffix(b"+00").unwrap_or(value), &b"Z"[..]),
                    _ => (value, &b""[..]),
                };
                self.converted.extend_from_slice(value);
                if let Some(blank) = self.converted[begin..].iter().position(|byte| *byte == b' ') {
                    self.converted[begin + blank] = b'T';
                }
                // A value that is stored as text has its end already.
                if !value.ends_with(end) {
                    self.converted.extend_from_slice(end);
                }
                Slot::Converted(begin..self.converted.len())
            }
            Kind::List(item) => {
                if !items::append_canonical(&mut self.converted, item, value) {
                    return Err("a list holds another list, or what is no finite number or no date of our era");
                }
                Slot::Converted(begin..self.converted.len())
            }
            Kind::Interval => {
                duration(value, &mut self.converted)?;
                Slot::Converted(begin..self.converted.len())
            }
        })
    }
}

fn integer(value: &[u8]) -> Result<i64, &'static str> {
    Ok(match *value {
        [a, b] => i64::from(i16::from_be_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => return Err("an integer has another form"),
    })
}

fn real(value: &[u8]) -> Result<f64, &'static str> {
    Ok(match *value {
        [a, b, c, d] => f64::from(f32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => f64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => return Err("a floating-point number has another form"),
    })
}

/// A date of our era that is not infinite: it begins and ends with a digit, or with `Z` where it is stored as text.
fn known_date(value: &[u8]) -> Result<(), &'static str> {
    match (value.first(), value.last()) {
        (Some(b'0'..=b'9'), Some(b'0'..=b'9' | b'Z')) => Ok(()),
        _ => Err("a date is infinite or lies before our era"),
    }
}

/// An interval as an ISO 8601 duration, with one sign for the whole: days and a time, and before them months where there
/// are any. Parts of different signs are made one, of days of 24 hours and months of 30 days, as PostgreSQL compares them.
fn duration(value: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    const DAY_US: i128 = 86_400_000_000;
    let [micros @ .., d0, d1, d2, d3, m0, m1, m2, m3] = value else {
        return Err("an interval has another form");
    };
    let mut micros = i128::from(integer(micros)?);
    let mut days = i128::from(i32::from_be_bytes([*d0, *d1, *d2, *d3]));
    let mut months = i128::from(i32::from_be_bytes([*m0, *m1, *m2, *m3]));
    let negative = [micros, days, months].iter().any(|part| *part < 0);
    if negative && [micros, days, months].iter().any(|part| *part > 0) {
        micros += (days + 30 * months) * DAY_US;
        (days, months) = (0, 0);
    }
    if negative && micros <= 0 {
        out.push(b'-');
    }
    let [micros, days, months] = [micros, days, months].map(i128::unsigned_abs);
    let whole = micros / 1_000_000;
    let (years, months) = (months / 12, months % 12);
    out.push(b'P');
    let begin = out.len();
    parts(out, &[(years, 'Y'), (months, 'M'), (days, 'D')]);
    let [hours, minutes, seconds] = [whole / 3600, whole / 60 % 60, whole % 60];
    let fraction = micros % 1_000_000;
    if micros > 0 || out.len() == begin {
        out.push(b'T');
        parts(out, &[(hours, 'H'), (minutes, 'M')]);
        if seconds > 0 || fraction > 0 || out.ends_with(b"T") {
            let _ = write!(out, "{seconds}");
            if fraction > 0 {
                let digits = format!("{fraction:06}");
                let _ = write!(out, ".{}", digits.trim_end_matches('0'));
            }
            out.push(b'S');
        }
    }
    Ok(())
}

/// Appends the numbers that are not zero, each with its unit.
fn parts(out: &mut Vec<u8>, parts: &[(u128, char)]) {
    for (number, unit) in parts.iter().filter(|(number, _)| *number > 0) {
        // Writing to memory cannot fail.
        let _ = write!(out, "{number}{unit}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Columns for Vec<Option<Vec<u8>>> {
        fn column(&self, column: usize) -> Option<&[u8]> {
            self[column].as_deref()
        }
    }

    fn check(kind: Kind, sent: &[u8], expected: &str) {
        let row = vec![Some(sent.to_vec())];
        let mut reader = Reader::default();
        let seen = match reader.read(&row, &[kind]) {
            Ok(row) => match row.cell(0) {
                Cell::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
                other => format!("{other:?}"),
            },
            Err(Failure::Unreadable { message, .. }) => message.to_owned(),
            Err(other) => format!("{other:?}"),
        };
        assert_eq!(seen, expected, "{kind:?} {sent:?}");
    }

    #[test]
    fn texts_become_canonical() {
        check(Kind::Digits, b"2573.0000", "2573.0000");
        check(Kind::Date(Infinity::Refused), b"2013-09-25", "2013-09-25");
        check(Kind::Moment(Infinity::Refused), b"2013-09-25 11:00:00.5", "2013-09-25T11:00:00.5");
        check(Kind::Instant(Infinity::Refused), b"2013-09-25 11:00:00+00", "2013-09-25T11:00:00Z");
        check(Kind::Instant(Infinity::Refused), b"2013-09-25T11:00:00.1234567Z", "2013-09-25T11:00:00.1234567Z");
    }

    #[test]
    fn numbers_come_in_any_width() {
        check(Kind::Integer, &(-2_i16).to_be_bytes(), "Integer(-2)");
        check(Kind::Integer, &i64::MIN.to_be_bytes(), "Integer(-9223372036854775808)");
        check(Kind::Real, &0.5_f32.to_be_bytes(), "Real(0.5)");
        check(Kind::Boolean, &[1], "Integer(1)");
    }

    #[test]
    fn what_has_no_canonical_form_is_refused() {
        check(Kind::Digits, b"NaN", "a number is infinite or none");
        check(Kind::Digits, b"-Infinity", "a number is infinite or none");
        check(Kind::Date(Infinity::Refused), b"infinity", "a date is infinite or lies before our era");
        check(Kind::Moment(Infinity::Refused), b"0044-03-15 00:00:00 BC", "a date is infinite or lies before our era");
        check(Kind::Integer, b"123", "an integer has another form");
    }

    #[test]
    fn a_time_without_end_is_the_last_that_clients_know() {
        check(Kind::Date(Infinity::Shown), b"infinity", "9999-12-31");
        check(Kind::Date(Infinity::Shown), b"-infinity", "0001-01-01");
        check(Kind::Moment(Infinity::Shown), b"infinity", "9999-12-31T23:59:59");
        check(Kind::Instant(Infinity::Shown), b"-infinity", "0001-01-01T00:00:00Z");
    }

    #[test]
    fn intervals_become_durations_with_one_sign() {
        let interval = |months: i32, days: i32, micros: i64| {
            [&micros.to_be_bytes()[..], &days.to_be_bytes(), &months.to_be_bytes()].concat()
        };
        check(Kind::Interval, &interval(0, 0, 0), "PT0S");
        check(Kind::Interval, &interval(0, 1, 43_200_000_000), "P1DT12H");
        check(Kind::Interval, &interval(0, 0, 129_600_000_000), "PT36H");
        check(Kind::Interval, &interval(0, 0, -60_000_000), "-PT1M");
        check(Kind::Interval, &interval(0, 0, 1_500_000), "PT1.5S");
        check(Kind::Interval, &interval(14, 3, 0), "P1Y2M3D");
        check(Kind::Interval, &interval(0, 1, -1_000_000), "PT23H59M59S");
    }

    #[test]
    fn a_null_is_null_of_any_kind_and_a_reader_is_used_again() {
        let mut reader = Reader::default();
        let first = vec![None, Some(b"2013-09-25 00:00:00".to_vec())];
        let second = vec![Some(vec![0; 4]), None];
        let kinds = [Kind::Integer, Kind::Moment(Infinity::Refused)];
        assert_eq!(reader.read(&first, &kinds).unwrap().cell(0), Cell::Null);
        let seen = reader.read(&second, &kinds).unwrap();
        assert_eq!((seen.cell(0), seen.cell(1)), (Cell::Integer(0), Cell::Null));
    }
}
