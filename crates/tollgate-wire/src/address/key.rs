//! Key predicates, read and written: `(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00:00:00')`.
//!
//! It deliberately does not look an entity up, and does not decode a path: it gets decoded text and writes encoded text.

use super::error::{Fault, Parsed, Problem, quoted};
use super::literal::{self, type_name};
use super::percent;
use crate::edm::{EntityType, LeafId, Model, Primitive, SetId, Version};
use crate::plan::Key;
use crate::value::{Cell, Row, Value};
use crate::{base64, date};
use std::io::Write;

/// Reads the text between the parentheses; `at` is where it begins in the path. `None` for an empty one, which names
/// the whole collection.
pub(crate) fn parse(
    (version, aliases): (Version, &Aliases),
    entity_type: &EntityType,
    text: &str,
    at: usize,
) -> Parsed<Option<Key>> {
    let mut reader = KeyReader { version, aliases, entity_type, text, position: 0 };
    reader.key().map_err(|problem| problem.behind(at))
}

/// The value of one part of a key, by its position, given as a whole segment: texts are there without quotes.
pub(crate) fn of_segment(entity_type: &EntityType, part: usize, text: &str) -> Option<Value> {
    let declared = &entity_type.leaves[entity_type.key.get(part)?.0];
    if matches!(declared.primitive, Primitive::String { .. }) {
        return Some(Value::String(text.to_owned()));
    }
    let (literal, end) = literal::read(Version::V4, text, 0).ok()??;
    let whole = end == text.len() && literal.value != Value::Null;
    literal::convert(Version::V4, literal.value, declared.primitive).ok().filter(|_| whole)
}

/// Parameter aliases with their `@`, and their texts.
pub(crate) type Aliases = [(String, String)];

struct KeyReader<'t> {
    version: Version,
    aliases: &'t Aliases,
    entity_type: &'t EntityType,
    text: &'t str,
    position: usize,
}

impl<'t> KeyReader<'t> {
    fn key(&mut self) -> Parsed<Option<Key>> {
        self.space();
        if self.position == self.text.len() {
            return Ok(None);
        }
        let entity_type = self.entity_type;
        let parts = &entity_type.key;
        let Some(mut name) = self.name() else {
            let [only] = parts[..] else {
                let what = format!("the key of {} has {} parts, each needs its name", entity_type.name, parts.len());
                return Err(Problem::new(Fault::BadKey, self.position, what).hint(self.shape()));
            };
            let value = self.value(only)?;
            self.end()?;
            return Ok(Some(Key(vec![value])));
        };
        let mut values = vec![Value::Null; parts.len()];
        loop {
            let (at, written) = name;
            let Some(part) = parts.iter().position(|leaf| entity_type.leaves[leaf.0].path == written) else {
                let what = format!("unknown key property {}", quoted(written));
                return Err(Problem::new(Fault::BadKey, at, what).hint(self.shape()));
            };
            if values[part] != Value::Null {
                let what = format!("the key property '{written}' stands twice");
                return Err(Problem::new(Fault::BadKey, at, what));
            }
            values[part] = self.value(parts[part])?;
            self.space();
            if self.text.as_bytes().get(self.position) != Some(&b',') {
                break;
            }
            self.position += 1;
            self.space();
            let Some(next) = self.name() else {
                return Err(Problem::syntax(self.position, "expected a key property with its value").hint(self.shape()));
            };
            name = next;
        }
        self.end()?;
        if let Some(missing) = values.iter().position(|value| *value == Value::Null) {
            let what = format!("the key property '{}' is missing", entity_type.leaves[parts[missing].0].path);
            return Err(Problem::new(Fault::BadKey, 0, what).hint(self.shape()));
        }
        Ok(Some(Key(values)))
    }

    /// A name and the equals sign behind it; `None`, without moving, if something else follows.
    fn name(&mut self) -> Option<(usize, &'t str)> {
        let bytes = &self.text.as_bytes()[self.position..];
        let length = bytes
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/') || **byte >= 0x80)
            .count();
        let spaces = bytes[length..].iter().take_while(|byte| **byte == b' ').count();
        if length == 0 || bytes.get(length + spaces) != Some(&b'=') {
            return None;
        }
        let at = self.position;
        self.position += length + spaces + 1;
        self.space();
        Some((at, &self.text[at..at + length]))
    }

    fn value(&mut self, leaf: LeafId) -> Parsed<Value> {
        let at = self.position;
        let declared = &self.entity_type.leaves[leaf.0];
        let read = match self.text[at..].starts_with('@') {
            true => self.alias(at)?,
            false => literal::read(self.version, self.text, at)?,
        };
        let Some((literal, end)) = read else {
            let what = format!("expected a literal for the key property '{}'", declared.path);
            return Err(Problem::syntax(at, what).hint(self.shape()));
        };
        self.position = end;
        let found = literal.primitive;
        let value = match literal.value {
            Value::Null => {
                return Err(Problem::new(
                    Fault::BadKey,
                    at,
                    format!("the key property '{}' cannot be null", declared.path),
                ));
            }
            value => literal::convert(self.version, value, declared.primitive),
        };
        value.or_else(|value| compatible(self.version, value, declared.primitive)).map_err(|_| {
            let (found, expected) = (type_name(self.version, found), type_name(self.version, Some(declared.primitive)));
            let what = match found == expected || found.starts_with("Edm.Int") && expected.contains("Int") {
                true => format!("the key property '{}' is out of the range of {expected}", declared.path),
                false => format!("the key property '{}' is {expected}, not {found}", declared.path),
            };
            Problem::new(Fault::BadKey, at, what).hint(format!(
                "write {}={}",
                declared.path,
                example(self.version, declared.primitive)
            ))
        })
    }

    /// The literal behind an alias, and where its name ends here. It is one literal and nothing else, so that it can add
    /// nothing to the key.
    fn alias(&self, at: usize) -> Parsed<Option<(literal::Literal, usize)>> {
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        let end = at + 1 + self.text.as_bytes()[at + 1..].iter().take_while(|byte| is_name(byte)).count();
        let name = &self.text[at..end];
        let Some((_, text)) = self.aliases.iter().find(|(known, _)| known == name) else {
            return Err(Problem::new(Fault::BadKey, at, format!("the alias {} is not given", quoted(name))));
        };
        match literal::read(self.version, text, 0) {
            Ok(Some((literal, read))) if text[read..].trim().is_empty() => Ok(Some((literal, end))),
            _ => Err(Problem::new(Fault::BadKey, at, format!("expected a literal behind the alias {name}"))),
        }
    }

    fn end(&mut self) -> Parsed<()> {
        self.space();
        if self.position == self.text.len() {
            return Ok(());
        }
        let rest = quoted(&self.text[self.position..]);
        Err(Problem::syntax(self.position, format!("expected ',' or ')' in the key, found {rest}")).hint(self.shape()))
    }

    fn space(&mut self) {
        self.position += self.text.as_bytes()[self.position..].iter().take_while(|byte| **byte == b' ').count();
    }

    /// An example of a correct key of the type.
    fn shape(&self) -> String {
        let parts: Vec<String> = self
            .entity_type
            .key
            .iter()
            .map(|leaf| {
                let leaf = &self.entity_type.leaves[leaf.0];
                format!("{}={}", leaf.path, example(self.version, leaf.primitive))
            })
            .collect();
        format!("expected ({})", parts.join(","))
    }
}

/// The form in which SAP's compatibility mode writes dates in keys: `fldate='20110601'`.
pub(super) fn compatible(version: Version, value: Value, to: Primitive) -> Result<Value, Value> {
    let Value::String(text) = value else { return Err(value) };
    if let (Version::V2, [y1, y2, y3, y4, m1, m2, d1, d2]) = (version, text.as_bytes()) {
        let dashed = [*y1, *y2, *y3, *y4, b'-', *m1, *m2, b'-', *d1, *d2];
        let date = std::str::from_utf8(&dashed).ok().and_then(date::date).filter(|date| date::sorts_as_text(date));
        match (date, to) {
            (Some(date), Primitive::Date) => return Ok(Value::Text(to, date)),
            (Some(date), Primitive::DateTime { .. }) => return Ok(Value::Text(to, date + "T00:00:00")),
            _ => {}
        }
    }
    Err(Value::String(text))
}

pub(super) fn example(version: Version, primitive: Primitive) -> &'static str {
    use Primitive as P;
    match (primitive, version) {
        (P::Boolean, _) => "true",
        (P::Byte | P::SByte | P::Int16 | P::Int32, _) => "1",
        (P::Int64, Version::V2) => "1L",
        (P::Int64, Version::V4) => "1",
        (P::Single, Version::V2) => "1.5f",
        (P::Double, Version::V2) => "1.5d",
        (P::Decimal { .. }, Version::V2) => "1.50M",
        (P::Single | P::Double | P::Decimal { .. }, Version::V4) => "1.50",
        (P::String { .. }, _) => "'…'",
        (P::Binary { .. }, Version::V2) => "X'00ff'",
        (P::Binary { .. }, Version::V4) => "binary'…'",
        (P::Guid, Version::V2) => "guid'01234567-89ab-cdef-0123-456789abcdef'",
        (P::Guid, Version::V4) => "01234567-89ab-cdef-0123-456789abcdef",
        (P::Date | P::DateTime { .. }, Version::V2) => "datetime'2013-09-25T00:00:00'",
        (P::Date, Version::V4) => "2013-09-25",
        (P::DateTimeOffset { .. }, Version::V2) => "datetimeoffset'2013-09-25T00:00:00Z'",
        (P::DateTime { .. } | P::DateTimeOffset { .. }, Version::V4) => "2013-09-25T00:00:00Z",
        (P::TimeOfDay { .. }, Version::V2) => "time'PT11H00M00S'",
        (P::TimeOfDay { .. }, Version::V4) => "11:00:00",
        (P::Duration, Version::V2) => "'PT36H'",
        (P::Duration, Version::V4) => "duration'PT36H'",
        // No key is one.
        (P::Collection(_), _) => "[…]",
    }
}

/// Writes the canonical key predicate with its parentheses, percent-encoded so that it is valid in a URL, an XML
/// attribute and a JSON string. `columns` is the column of `row` for each part of the key.
pub fn write_key<R: Row + ?Sized>(
    out: &mut Vec<u8>,
    version: Version,
    entity_type: &EntityType,
    row: &R,
    columns: &[usize],
) {
    out.push(b'(');
    for (part, (leaf, column)) in entity_type.key.iter().zip(columns).enumerate() {
        let leaf = &entity_type.leaves[leaf.0];
        if part > 0 {
            out.push(b',');
        }
        if entity_type.key.len() > 1 {
            percent::encode(out, leaf.path.as_bytes());
            out.push(b'=');
        }
        write_literal(out, version, leaf.primitive, row.cell(*column));
    }
    out.push(b')');
}

/// Writes the address of the entity with this key below the service root: set and key, percent-encoded.
pub fn write_address(out: &mut Vec<u8>, version: Version, model: &Model, set: SetId, key: &Key) {
    percent::encode(out, model.entity_sets[set.0].name.as_bytes());
    let columns: Vec<usize> = (0..key.0.len()).collect();
    write_key(out, version, model.type_of(set), &key.0[..], &columns);
}

/// Writes one literal as a URL has it, percent-encoded.
pub fn write_literal(out: &mut Vec<u8>, version: Version, primitive: Primitive, cell: Cell<'_>) {
    use Primitive as P;
    use Version::{V2, V4};
    let (before, after): (&str, &str) = match (primitive, version) {
        (P::Int64, V2) => ("", "L"),
        (P::Decimal { .. }, V2) => ("", "M"),
        (P::Guid, V2) => ("guid'", "'"),
        (P::Date, V2) => ("datetime'", "T00:00:00'"),
        (P::DateTime { .. }, V2) => ("datetime'", "'"),
        (P::DateTime { .. }, V4) => ("", "Z"),
        (P::DateTimeOffset { .. }, V2) => ("datetimeoffset'", "'"),
        (P::TimeOfDay { .. }, V2) => ("time'", "'"),
        (P::String { .. }, _) | (P::Duration, V2) => ("'", "'"),
        (P::Duration, V4) => ("duration'", "'"),
        (P::Binary { .. }, V2) => ("X'", "'"),
        (P::Binary { .. }, V4) => ("binary'", "'"),
        _ => ("", ""),
    };
    if cell == Cell::Null {
        out.extend_from_slice(b"null");
        return;
    }
    out.extend_from_slice(before.as_bytes());
    match cell {
        Cell::Null => {}
        Cell::Integer(value) if primitive == P::Boolean => {
            out.extend_from_slice(if value == 0 { b"false".as_slice() } else { b"true".as_slice() });
        }
        Cell::Integer(value) => write_display(out, value),
        Cell::Real(value) => write_real(out, version, primitive, value),
        Cell::Text(text) if matches!(primitive, P::TimeOfDay { .. }) && version == V2 => {
            date::v2_time_from_text(out, text)
        }
        Cell::Text(text) => {
            for (part, between_quotes) in text.split(|byte| *byte == b'\'').enumerate() {
                if part > 0 {
                    out.extend_from_slice(b"''");
                }
                percent::encode(out, between_quotes);
            }
        }
        Cell::Bytes(bytes) if version == V4 => base64::encode_url(out, bytes),
        Cell::Bytes(bytes) => {
            for byte in bytes {
                let _ = write!(out, "{byte:02X}");
            }
        }
    }
    out.extend_from_slice(after.as_bytes());
}

fn write_real(out: &mut Vec<u8>, version: Version, primitive: Primitive, value: f64) {
    if value.is_nan() {
        out.extend_from_slice(b"NaN");
    } else if value.is_infinite() {
        out.extend_from_slice(if value < 0.0 { b"-INF".as_slice() } else { b"INF".as_slice() });
    } else {
        // The debug form is the shortest that reads back as the same number, with an exponent where it is long.
        write_display(out, format_args!("{value:?}"));
        if version == Version::V2 {
            out.push(if primitive == Primitive::Single { b'f' } else { b'd' });
        }
    }
}

fn write_display(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    write!(out, "{value}").expect("a vector takes every byte");
}
