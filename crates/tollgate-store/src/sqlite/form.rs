//! Values in the form of a foreign database's column: checked and made canonical when read, written in the column's
//! form.
//!
//! SQLite allows any value in every column. A value that is not of the property's type is an error that names the
//! column, never a guess. It does nothing for columns in the canonical form: those are ours.

use rusqlite::types::ValueRef;
use tollgate_wire::date;
use tollgate_wire::edm::{LeafId, Model, Primitive, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::items;
use tollgate_wire::value::{Cell, Row, append_canonical};

use super::declared::DECIMAL_DIGITS_MAX;
use super::row::{SqliteRow, plain};
use crate::{Column, Form, Identity, Mapping, StoreError};

/// Converts rows of one set to the canonical form, one after the other.
pub(super) struct Converter<'m> {
    columns: Vec<ColumnRule<'m>>,
    table: &'m str,
    /// The key, which names a row in errors.
    key: &'m [LeafId],
    /// Values of the current row that differ from the stored ones.
    converted: Entry,
    made: Vec<u8>,
}

struct ColumnRule<'m> {
    leaf: LeafId,
    name: &'m str,
    primitive: Primitive,
    form: Form,
    nulls: Nulls,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nulls {
    Allowed,
    Refused,
}

impl<'m> Converter<'m> {
    /// Creates a converter for rows with these columns of the entities in `set`; `None` if all are in the canonical
    /// form.
    pub(super) fn new(
        model: &'m Model,
        mapping: &'m Mapping,
        set: SetId,
        leaves: impl Iterator<Item = LeafId>,
    ) -> Option<Converter<'m>> {
        let table = mapping.table(set);
        if table.columns.iter().all(|column| column.form == Form::Canonical) {
            return None;
        }
        let entity_type = model.type_of(set);
        let rule = |leaf: LeafId| {
            let (column, declared) = (&table.columns[leaf.0], &entity_type.leaves[leaf.0]);
            let nulls = match declared.primitive {
                // Null is the empty collection; it is nullable where its values are.
                Primitive::Collection(_) => Nulls::Allowed,
                _ if declared.nullable || table.identity == Identity::Nothing => Nulls::Allowed,
                _ => Nulls::Refused,
            };
            ColumnRule { leaf, name: &column.name, primitive: declared.primitive, form: column.form, nulls }
        };
        let columns: Vec<_> = leaves.map(rule).collect();
        let key = &entity_type.key;
        Some(Converter { columns, table: &table.name, key, converted: Entry::default(), made: Vec::new() })
    }

    /// Checks the current row of a statement, and makes its values canonical.
    pub(super) fn convert(&mut self, row: &rusqlite::Row<'_>) -> Result<(), StoreError> {
        self.converted.reset(self.columns.len());
        for (index, column) in self.columns.iter().enumerate() {
            if column.form == Form::Canonical {
                continue;
            }
            let value = row.get_ref(index)?;
            self.made.clear();
            match canonical(&mut self.made, column.form, column.primitive, value) {
                Some(Canonical::Null) if column.nulls == Nulls::Refused => {
                    return Err(self.wrong(row, column, "null is not allowed there"));
                }
                Some(Canonical::AsStored | Canonical::Null) => {}
                Some(Canonical::Made) => self.converted.set(LeafId(index), Cell::Text(&self.made)),
                Some(Canonical::Bytes) => self.converted.set(LeafId(index), Cell::Bytes(&self.made)),
                Some(Canonical::Real(real)) => self.converted.set_real(LeafId(index), real),
                None => {
                    let kind = match column.primitive {
                        Primitive::Collection(item) => item.collection_name().to_owned(),
                        other => format!("{other:?}"),
                    };
                    return Err(self.wrong(row, column, &format!("{} is no {kind}", shown(value))));
                }
            }
        }
        Ok(())
    }

    /// The value of a column of that row, if it differs from the stored one.
    #[inline]
    pub(super) fn cell(&self, column: usize) -> Option<Cell<'_>> {
        // Behind the columns of the entity stand those of the order, which the statement has made canonical.
        if column < self.columns.len() { self.converted.cell_of(LeafId(column)) } else { None }
    }

    /// Refuses a row that could not be found again by its key, because the key is not stored in its column's form:
    /// paging after it would fail.
    pub(super) fn check_key(&self, row: &SqliteRow<'_, '_>, key_columns: &[usize]) -> Result<(), StoreError> {
        for index in key_columns {
            let column = &self.columns[*index];
            let mut made = Vec::new();
            if column.form != Form::Canonical
                && stored(row.cell(*index), column.form, &mut made) != row.raw.get_ref(*index)?
            {
                let value = shown(row.raw.get_ref(*index)?);
                return Err(self.wrong(row.raw, column, &format!("{value} is not written as the others are")));
            }
        }
        Ok(())
    }

    /// Error for a wrong value, with its column and row.
    #[cold]
    fn wrong(&self, row: &rusqlite::Row<'_>, column: &ColumnRule<'_>, message: &str) -> StoreError {
        let key = self.key.iter().filter_map(|leaf| {
            let position = self.columns.iter().position(|column| column.leaf == *leaf)?;
            Some(format!("{}={}", self.columns[position].name, shown(row.get_ref(position).ok()?)))
        });
        let key = key.collect::<Vec<_>>().join(", ");
        let place = format!("{}.{}", self.table, column.name);
        StoreError::Stored { place, message: format!("{message} (in the row {key})") }
    }
}

/// Canonical form of a stored value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Canonical {
    Null,
    /// The stored value.
    AsStored,
    /// The converted text.
    Made,
    /// The converted bytes.
    Bytes,
    Real(f64),
}

/// The canonical form of a stored value, in `made` if it differs; `None` if it is not of this type.
pub(super) fn canonical(
    made: &mut Vec<u8>,
    form: Form,
    primitive: Primitive,
    value: ValueRef<'_>,
) -> Option<Canonical> {
    use Primitive as P;
    let value = match value {
        ValueRef::Null => return Some(Canonical::Null),
        ValueRef::Text(text) => StoredValue::Text(std::str::from_utf8(text).ok()?),
        ValueRef::Integer(integer) => StoredValue::Integer(integer),
        ValueRef::Real(real) => StoredValue::Real(real),
        ValueRef::Blob(bytes) => StoredValue::Blob(bytes),
    };
    match (primitive, value) {
        (P::Boolean, StoredValue::Integer(0 | 1)) => Some(Canonical::AsStored),
        (P::Byte | P::SByte | P::Int16 | P::Int32 | P::Int64, StoredValue::Integer(integer)) => {
            in_range(primitive, integer).then_some(Canonical::AsStored)
        }
        (P::Single | P::Double, StoredValue::Real(_)) => Some(Canonical::AsStored),
        (P::Single | P::Double, StoredValue::Integer(integer)) => Some(Canonical::Real(integer as f64)),
        (P::String { .. }, StoredValue::Text(_)) => Some(Canonical::AsStored),
        (P::Decimal { .. } | P::String { .. }, StoredValue::Integer(integer)) => {
            made.extend_from_slice(integer.to_string().as_bytes());
            Some(Canonical::Made)
        }
        (P::Decimal { .. }, StoredValue::Real(real)) => {
            let digits = real.to_string();
            append_canonical(made, primitive, &digits).then_some(Canonical::Made)
        }
        (P::String { .. }, StoredValue::Real(real)) => {
            made.extend_from_slice(real.to_string().as_bytes());
            Some(Canonical::Made)
        }
        (P::Binary { .. }, StoredValue::Blob(_)) => Some(Canonical::AsStored),
        (P::Binary { .. }, StoredValue::Text(text)) => {
            made.extend_from_slice(text.as_bytes());
            Some(Canonical::Bytes)
        }
        (P::Guid, StoredValue::Blob(bytes)) => guid(made, bytes),
        (P::Guid, StoredValue::Text(text)) => text_form(made, text, |made| append_canonical(made, primitive, text)),
        (P::Decimal { .. } | P::TimeOfDay { .. } | P::Duration, StoredValue::Text(text)) => {
            text_form(made, text, |made| append_canonical(made, primitive, text))
        }
        (P::Date | P::DateTime { .. } | P::DateTimeOffset { .. }, StoredValue::Text(text)) => {
            text_form(made, text, |made| moment(made, primitive, text))
        }
        (P::Collection(item), StoredValue::Text(text)) => {
            text_form(made, text, |made| items::append_canonical(made, item, text.as_bytes()))
        }
        (P::DateTime { .. } | P::DateTimeOffset { .. }, StoredValue::Integer(count)) => {
            epoch(made, form, primitive, count)
        }
        _ => None,
    }
}

enum StoredValue<'v> {
    Text(&'v str),
    Integer(i64),
    Real(f64),
    Blob(&'v [u8]),
}

/// The converted text, or the text itself if they are the same.
fn text_form(made: &mut Vec<u8>, text: &str, make: impl FnOnce(&mut Vec<u8>) -> bool) -> Option<Canonical> {
    if !make(made) {
        return None;
    }
    Some(if made == text.as_bytes() { Canonical::AsStored } else { Canonical::Made })
}

/// A date, with or without time, in the formats of SQL and programs: with a blank or a `T`, with or without an offset
/// from UTC.
fn moment(made: &mut Vec<u8>, primitive: Primitive, text: &str) -> bool {
    let (date, time) = match text.find([' ', 'T', 't']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim_start())),
        None => (text, None),
    };
    let midnight =
        |time: &str| time.trim_end_matches('Z').split(['.', ':']).all(|part| part.bytes().all(|digit| digit == b'0'));
    match (primitive, time) {
        (Primitive::Date, Some(time)) if !midnight(time) => false,
        (Primitive::Date, _) => append_canonical(made, primitive, date),
        (_, time) => {
            let time = time.unwrap_or("00:00:00");
            let joined = format!("{date}T{time}");
            let has_offset = time.contains(['Z', 'z', '+', '-']);
            match primitive {
                Primitive::DateTimeOffset { .. } if !has_offset => append_canonical(made, primitive, &(joined + "Z")),
                _ => append_canonical(made, primitive, &joined),
            }
        }
    }
}

/// A number of seconds or milliseconds since 1970 as a date and a time.
fn epoch(made: &mut Vec<u8>, form: Form, primitive: Primitive, count: i64) -> Option<Canonical> {
    let epoch_ms = match form {
        Form::Seconds => count.checked_mul(1_000)?,
        Form::Milliseconds => count,
        Form::Canonical | Form::Checked | Form::Blank | Form::UpperCase | Form::Bytes => return None,
    };
    made.extend_from_slice(date::from_epoch_ms(epoch_ms)?.as_bytes());
    if matches!(primitive, Primitive::DateTimeOffset { .. }) {
        made.push(b'Z');
    }
    Some(Canonical::Made)
}

fn guid(made: &mut Vec<u8>, bytes: &[u8]) -> Option<Canonical> {
    let bytes: &[u8; 16] = bytes.try_into().ok()?;
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            made.push(b'-');
        }
        made.extend([byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
    }
    Some(Canonical::Made)
}

fn in_range(primitive: Primitive, integer: i64) -> bool {
    match primitive {
        Primitive::Byte => u8::try_from(integer).is_ok(),
        Primitive::SByte => i8::try_from(integer).is_ok(),
        Primitive::Int16 => i16::try_from(integer).is_ok(),
        Primitive::Int32 => i32::try_from(integer).is_ok(),
        _ => true,
    }
}

/// A canonical value in the form of its column, in `made` if it differs.
pub(super) fn stored<'v>(cell: Cell<'v>, form: Form, made: &'v mut Vec<u8>) -> ValueRef<'v> {
    let Cell::Text(text) = cell else { return plain(cell) };
    made.clear();
    match form {
        Form::Canonical | Form::Checked => plain(cell),
        Form::Blank => {
            made.extend(text.iter().map(|byte| if *byte == b'T' { b' ' } else { *byte }));
            if made.last() == Some(&b'Z') {
                made.pop();
                made.extend_from_slice(b"+00:00");
            }
            ValueRef::Text(made)
        }
        Form::UpperCase => {
            made.extend(text.iter().map(u8::to_ascii_uppercase));
            ValueRef::Text(made)
        }
        Form::Bytes => {
            let digits: Vec<u8> =
                text.iter().filter_map(|byte| (*byte as char).to_digit(16)).map(|digit| digit as u8).collect();
            made.extend(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
            ValueRef::Blob(made)
        }
        Form::Seconds => date::epoch_ms(text).map_or(plain(cell), |ms| ValueRef::Integer(ms.div_euclid(1_000))),
        Form::Milliseconds => date::epoch_ms(text).map_or(plain(cell), ValueRef::Integer),
    }
}

/// Refuses values that SQLite would change: NaN, which becomes null, and in a foreign database's column a decimal with
/// more digits than its binary numbers have. Decimals with facets were checked against them.
///
/// # Errors
/// [`StoreError::Condition`], with the column.
pub(super) fn check_storable(cell: Cell<'_>, primitive: Primitive, column: &Column) -> Result<(), StoreError> {
    let condition = match (cell, primitive) {
        (Cell::Real(real), _) if real.is_nan() => "it holds no NaN".to_owned(),
        (Cell::Text(text), Primitive::Decimal { precision: 0, .. })
            if column.form == Form::Checked && significant_digits(text) > usize::from(DECIMAL_DIGITS_MAX) =>
        {
            format!("at most {DECIMAL_DIGITS_MAX} digits")
        }
        _ => return Ok(()),
    };
    Err(StoreError::Condition { condition, column: Some(column.name.clone()) })
}

/// Digits from the first to the last that is not zero.
fn significant_digits(decimal: &[u8]) -> usize {
    let digits = decimal.iter().filter(|byte| byte.is_ascii_digit());
    let behind_zeros = digits.skip_while(|digit| **digit == b'0').enumerate();
    behind_zeros.filter(|(_, digit)| **digit != b'0').last().map_or(0, |(last, _)| last + 1)
}

/// A stored value for a message, long enough to find it.
pub(super) fn shown(value: ValueRef<'_>) -> String {
    const CHARACTERS_MAX: usize = 40;
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(integer) => integer.to_string(),
        ValueRef::Real(real) => real.to_string(),
        ValueRef::Text(text) => {
            let text: String = String::from_utf8_lossy(text).chars().take(CHARACTERS_MAX).collect();
            format!("'{text}'")
        }
        ValueRef::Blob(bytes) => format!("a blob of {} bytes", bytes.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECIMAL: Primitive = Primitive::Decimal { precision: 10, scale: 2 };
    const TEXT: Primitive = Primitive::String { length_max: 0 };
    const MOMENT: Primitive = Primitive::DateTime { precision: 6 };
    const INSTANT: Primitive = Primitive::DateTimeOffset { precision: 6 };

    /// Converts a stored value; `refused` if it is not of that type.
    fn check(primitive: Primitive, form: Form, value: impl Into<rusqlite::types::Value>, expected: &str) {
        let value = value.into();
        let value = ValueRef::from(&value);
        let mut made = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let seen = match canonical(&mut made, form, primitive, value) {
            None => "refused".to_owned(),
            Some(Canonical::Null) => "null".to_owned(),
            Some(Canonical::AsStored) => format!("as stored {}", shown(value)),
            Some(Canonical::Made) => text(&made),
            Some(Canonical::Bytes) => format!("bytes {}", text(&made)),
            Some(Canonical::Real(real)) => format!("{real:?}"),
        };
        assert_eq!(seen, expected, "{primitive:?} {form:?} {value:?}");
    }

    #[test]
    fn stored_values_become_canonical_or_are_refused() {
        use Form::{Bytes, Checked, Milliseconds, Seconds};
        check(Primitive::Boolean, Checked, 1, "as stored 1");
        check(Primitive::Boolean, Checked, 2, "refused");
        check(Primitive::Boolean, Checked, "true".to_owned(), "refused");
        check(Primitive::Int16, Checked, 32_767, "as stored 32767");
        check(Primitive::Int16, Checked, 32_768, "refused");
        check(Primitive::Int64, Checked, 1.5, "refused");
        check(Primitive::Double, Checked, 3, "3.0");
        check(DECIMAL, Checked, 3, "3");
        check(DECIMAL, Checked, 422.94, "422.94");
        check(DECIMAL, Checked, 1e21, "1000000000000000000000");
        check(DECIMAL, Checked, f64::INFINITY, "refused");
        check(DECIMAL, Checked, "1.50".to_owned(), "as stored '1.50'");
        check(DECIMAL, Checked, "+1.5e1".to_owned(), "15");
        check(DECIMAL, Checked, "many".to_owned(), "refused");
        check(TEXT, Checked, 7, "7");
        check(TEXT, Checked, vec![1_u8], "refused");
        check(Primitive::Binary { length_max: 0 }, Checked, "ab".to_owned(), "bytes ab");
        check(Primitive::Date, Checked, "2013-09-25".to_owned(), "as stored '2013-09-25'");
        check(Primitive::Date, Checked, "2013-09-25 00:00:00.000".to_owned(), "2013-09-25");
        check(Primitive::Date, Checked, "2013-09-25 11:00:00".to_owned(), "refused");
        check(Primitive::Date, Checked, "25.9.2013".to_owned(), "refused");
        check(Primitive::Date, Checked, 1_380_067_200, "refused");
        check(MOMENT, Checked, "2013-09-25 11:00:00".to_owned(), "2013-09-25T11:00:00");
        check(MOMENT, Checked, "2013-09-25 11:00:00.500+02:00".to_owned(), "2013-09-25T09:00:00.5");
        check(MOMENT, Checked, "2013-09-25".to_owned(), "2013-09-25T00:00:00");
        check(MOMENT, Checked, "2013-13-25 11:00:00".to_owned(), "refused");
        check(MOMENT, Seconds, 1_380_067_200, "2013-09-25T00:00:00");
        check(INSTANT, Milliseconds, -1, "1969-12-31T23:59:59.999Z");
        check(INSTANT, Checked, "2013-09-25 11:00:00".to_owned(), "2013-09-25T11:00:00Z");
        check(INSTANT, Checked, "2013-09-25T11:00:00Z".to_owned(), "as stored '2013-09-25T11:00:00Z'");
        check(Primitive::TimeOfDay { precision: 0 }, Checked, "11:00".to_owned(), "11:00:00");
        check(Primitive::Guid, Bytes, vec![0xab; 16], "abababab-abab-abab-abab-abababababab");
        check(Primitive::Guid, Bytes, vec![0xab; 15], "refused");
        let upper = "ABABABAB-ABAB-ABAB-ABAB-ABABABABABAB".to_owned();
        check(Primitive::Guid, Checked, upper, "abababab-abab-abab-abab-abababababab");
    }

    #[test]
    fn what_is_written_in_a_columns_form_is_read_as_it_was() {
        let moment = "2013-09-25T11:00:00";
        let guid = "0a1b2c3d-0000-4000-8000-00000000000f";
        for (primitive, form, value) in [
            (MOMENT, Form::Blank, moment),
            (INSTANT, Form::Blank, "2013-09-25T11:00:00.123456Z"),
            (INSTANT, Form::Seconds, "2013-09-25T11:00:00Z"),
            (MOMENT, Form::Seconds, "1969-12-31T23:59:59"),
            (INSTANT, Form::Milliseconds, "2013-09-25T11:00:00.123Z"),
            (Primitive::Guid, Form::UpperCase, guid),
            (Primitive::Guid, Form::Bytes, guid),
            (Primitive::Guid, Form::Checked, guid),
        ] {
            let (mut kept, mut made) = (Vec::new(), Vec::new());
            let kept = stored(Cell::Text(value.as_bytes()), form, &mut kept);
            let read = canonical(&mut made, form, primitive, kept);
            let read = match read {
                Some(Canonical::AsStored) => kept.as_str().unwrap().to_owned(),
                Some(Canonical::Made) => String::from_utf8(made).unwrap(),
                other => panic!("{value} was read as {other:?}"),
            };
            assert_eq!(read, value, "{form:?}");
        }
    }
}
