//! Generated records of any entity set: values drawn by type, unique keys, and a way to recognize a row that is read
//! back.
//!
//! A server may write a value in another form than it was sent, so values are compared, not texts.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};
use tollgate_wire::edm::{Cell, Primitive, Version};
use tollgate_wire::url::write_literal;

use super::described::{Described, Kind, Property, Said};
use super::records::{LETTERS, write_text};
use super::typed::typed;
use crate::traffic::given::{GivenRecords, GivenValue, Numbers};

/// Characters of a text, at most.
const TEXT_LENGTH: u32 = 40;
/// Characters of a text used as serial number, at most.
const KEY_LENGTH: u32 = 9;
/// Digits of a number, at most: even a reader with binary floating point keeps them.
const DIGITS: u32 = 15;
/// Fewest values of a drawn key: with fewer, such as codes or personnel numbers, it might be the key of a foreign row.
const VALUES_LEAST: i64 = 100_000_000;
/// Digits of a text used as serial number.
const KEY_DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Smallest number for unique texts of the user's file; all fit an `Edm.Int32`.
const UNIQUE_LEAST: i64 = 1_000_000_000;

/// A drawn value, in the same form for both versions.
#[derive(Debug)]
pub(super) enum Drawn {
    Integer(i64),
    Text(String),
}

/// Generator of the records of a set.
pub(super) struct Drawing<'d> {
    set: &'d Described,
    file: Option<&'d GivenRecords>,
    /// The part of the key that is unique, as its position and its value for the first record.
    serial: (usize, i64),
    /// The unique number in the first record's texts from the user's file.
    unique: i64,
}

impl<'d> Drawing<'d> {
    /// Creates a generator for `count` records.
    ///
    /// # Errors
    /// The reason why they cannot have keys of their own.
    pub(super) fn new(
        set: &'d Described,
        file: Option<&'d GivenRecords>,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Drawing<'d>, String> {
        let of_key = |property: &&Property| property.is_key && property.said.is_none();
        let is_named = |property: &&Property| matches!(property.kind, Kind::Members(_));
        if let Some(property) = set.properties.iter().filter(of_key).find(is_named) {
            return Err(format!("its key `{}` is an enumeration: give its value", property.name));
        }
        let drawn = set.properties.iter().enumerate().filter(|(_, property)| of_key(property));
        let widest = drawn.max_by_key(|(_, property)| capacity(property));
        let serial = match widest {
            None => return Err("no part of its key can be drawn".to_owned()),
            Some((_, property)) if capacity(property) < VALUES_LEAST => {
                let name = &property.name;
                return Err(format!(
                    "its key `{name}` is so short that a record could have the key of somebody else's row"
                ));
            }
            Some((place, property)) => {
                let capacity = capacity(property);
                (place, random.random_range(capacity / 2..=capacity - count as i64))
            }
        };
        let unique = file.map_or(0, |_| random.random_range(UNIQUE_LEAST..2 * UNIQUE_LEAST));
        Ok(Drawing { set, file, serial, unique })
    }

    /// Writes a record as JSON, and returns its key in URL form.
    ///
    /// # Errors
    /// An invalid value in the user's file.
    pub(super) fn write(&self, number: usize, random: &mut ChaCha8Rng, json: &mut Vec<u8>) -> Result<String, String> {
        let Described { version, properties } = self.set;
        let mut key: Vec<(&str, Vec<u8>)> = Vec::new();
        json.push(b'{');
        for (place, property) in properties.iter().enumerate() {
            let in_file = match property.said {
                Some(Said::InFile) => match self.in_file(property, number) {
                    None => continue,
                    value => value,
                },
                _ => None,
            };
            if !json.ends_with(b"{") {
                json.push(b',');
            }
            json.extend_from_slice(Value::from(property.name.as_str()).to_string().as_bytes());
            json.push(b':');
            let mut literal = Vec::new();
            match (&property.kind, &property.said, in_file) {
                (_, _, Some(GivenValue::Json(value))) => json.extend_from_slice(value.to_string().as_bytes()),
                (kind, Some(Said::OfAll(value)), _) => {
                    json.extend_from_slice(value.to_string().as_bytes());
                    write_given(*version, kind, value, &mut literal);
                }
                (Kind::Plain(primitive), _, in_file) => {
                    let (serial, first) = self.serial;
                    let drawn = match in_file {
                        Some(GivenValue::Text(text)) => typed(*primitive, *version, &text)
                            .map_err(|what| self.wrong(property, number, &format!("`{text}` is no {what}")))?,
                        _ if place == serial => numbered(*primitive, first + number as i64, random),
                        _ => drawn(*primitive, *version, random),
                    };
                    write_json(*version, *primitive, &drawn, json);
                    write_literal(&mut literal, *version, *primitive, drawn.cell());
                }
                (Kind::Members(members), _, in_file) => {
                    let member = match in_file {
                        Some(GivenValue::Text(text)) => text.trim().to_owned(),
                        _ => members[random.random_range(0..members.len())].clone(),
                    };
                    json.extend_from_slice(Value::from(member.as_str()).to_string().as_bytes());
                    write_given(*version, &property.kind, &member.into(), &mut literal);
                }
                (Kind::Other, _, Some(_)) => {
                    let why = "a text has no form for its type: give it as JSON";
                    return Err(self.wrong(property, number, why));
                }
                (Kind::Other, ..) => unreachable!("what cannot be drawn is given or left out"),
            }
            if property.is_key {
                key.push((&property.name, literal));
            }
        }
        json.push(b'}');
        let one = |(name, literal): &(&str, Vec<u8>)| match key.len() {
            1 => String::from_utf8_lossy(literal).into_owned(),
            _ => format!("{name}={}", String::from_utf8_lossy(literal)),
        };
        Ok(format!("({})", key.iter().map(one).collect::<Vec<_>>().join(",")))
    }

    /// Returns the file's value for a property in a record, if any.
    fn in_file(&self, property: &Property, number: usize) -> Option<GivenValue<'d>> {
        let numbers = Numbers { record: number, unique: self.unique + number as i64 };
        self.file?.value(&property.name, numbers)
    }

    /// Describes an invalid property in a record of the file.
    fn wrong(&self, property: &Property, number: usize, why: &str) -> String {
        let name = &property.name;
        let place = self.file.map(|file| file.place(name, Some(number))).unwrap_or_default();
        format!("{place}: `{name}`: {why}")
    }
}

impl Drawn {
    fn cell(&self) -> Cell<'_> {
        match self {
            Drawn::Integer(number) => Cell::Integer(*number),
            Drawn::Text(text) => Cell::Text(text.as_bytes()),
        }
    }
}

/// Returns the key of a row, in a form that is unique to it.
pub(super) fn key_of(set: &Described, row: &Map<String, Value>) -> String {
    let value = |property: &Property| canonical(&property.kind, row.get(&property.name)?);
    let parts = set.properties.iter().filter(|property| property.is_key);
    parts.map(|property| value(property).unwrap_or_default() + "\n").collect()
}

/// Whether a row has all sent values.
pub(super) fn has_all(set: &Described, sent: &Map<String, Value>, row: &Map<String, Value>) -> bool {
    set.properties.iter().all(|property| {
        let value = |of: &Map<String, Value>| of.get(&property.name).and_then(|value| canonical(&property.kind, value));
        !sent.contains_key(&property.name) || value(sent) == value(row)
    })
}

/// Returns the number of values of a key's part, if serial numbers fit it; otherwise 0.
fn capacity(property: &Property) -> i64 {
    let digits = |count: u32| 10_i64.pow(count.min(DIGITS));
    match property.kind {
        Kind::Plain(Primitive::Guid | Primitive::Int64) => digits(DIGITS),
        Kind::Plain(Primitive::Int32) => i32::MAX.into(),
        Kind::Plain(Primitive::Int16) => i16::MAX.into(),
        Kind::Plain(Primitive::Byte | Primitive::SByte) => i8::MAX.into(),
        Kind::Plain(Primitive::Decimal { precision, scale }) => digits(whole_digits(precision, scale)),
        Kind::Plain(Primitive::String { length_max }) => 36_i64.pow(key_length(length_max)),
        _ => 0,
    }
}

fn key_length(length_max: u32) -> u32 {
    if length_max == 0 { KEY_LENGTH } else { length_max.min(KEY_LENGTH) }
}

/// Returns the number of digits before the point.
fn whole_digits(precision: u16, scale: u16) -> u32 {
    match precision {
        0 => 9,
        precision => u32::from(precision.saturating_sub(scale)).min(9),
    }
}

/// Returns the value of a key's part that is a serial number.
fn numbered(primitive: Primitive, serial: i64, random: &mut ChaCha8Rng) -> Drawn {
    match primitive {
        Primitive::Guid => Drawn::Text(guid(random)),
        Primitive::String { length_max } => {
            let (mut left, mut text) = (serial, Vec::new());
            for _ in 0..key_length(length_max) {
                text.push(KEY_DIGITS[(left % 36) as usize]);
                left /= 36;
            }
            text.reverse();
            Drawn::Text(String::from_utf8_lossy(&text).into_owned())
        }
        Primitive::Decimal { .. } => Drawn::Text(serial.to_string()),
        _ => Drawn::Integer(serial),
    }
}

fn drawn(primitive: Primitive, version: Version, random: &mut ChaCha8Rng) -> Drawn {
    let mut two = |least: u32, most: u32| format!("{:02}", random.random_range(least..most));
    let text = match primitive {
        Primitive::Boolean => return Drawn::Integer(i64::from(random.random_bool(0.5))),
        Primitive::Byte | Primitive::SByte => return Drawn::Integer(random.random_range(1..=i64::from(i8::MAX))),
        Primitive::Int16 => return Drawn::Integer(random.random_range(1..=i64::from(i16::MAX))),
        Primitive::Int32 => return Drawn::Integer(random.random_range(1..=i64::from(i32::MAX))),
        Primitive::Int64 => return Drawn::Integer(random.random_range(1 << 32..1 << 49)),
        // Halves and quarters are the same number in binary and in decimal.
        Primitive::Single | Primitive::Double => format!("{}.25", random.random_range(1..100_000)),
        Primitive::Decimal { precision, scale } => {
            let whole = random.random_range(1..10_i64.pow(whole_digits(precision, scale).clamp(1, 9)));
            let whole = if whole_digits(precision, scale) == 0 { 0 } else { whole };
            match u32::from(scale).min(DIGITS - 9) {
                0 => whole.to_string(),
                1 => format!("{whole}.5"),
                // Never a zero at the end, which a server may leave out.
                scale => format!(
                    "{whole}.{:0width$}5",
                    random.random_range(0..10_i64.pow(scale - 1)),
                    width = scale as usize - 1
                ),
            }
        }
        Primitive::String { length_max } => {
            let length = if length_max == 0 { TEXT_LENGTH } else { length_max.min(TEXT_LENGTH) };
            let mut text = Vec::new();
            write_text(length as usize, random, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        }
        // Base64 of three bytes each, without signs that another alphabet has not.
        Primitive::Binary { length_max } => {
            let length = if length_max == 0 { 24 } else { (length_max as usize / 3 * 4).min(24) };
            (0..length).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
        }
        Primitive::Guid => guid(random),
        Primitive::Date => format!("20{}-{}-{}", two(10, 30), two(1, 13), two(1, 29)),
        Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. } => {
            let zone = if matches!((primitive, version), (Primitive::DateTime { .. }, Version::V2)) { "" } else { "Z" };
            let date = format!("20{}-{}-{}", two(10, 30), two(1, 13), two(1, 29));
            // Midnight: in V2 it may be a date.
            format!("{date}T00:00:00{zone}")
        }
        Primitive::TimeOfDay { .. } => format!("{}:{}:{}", two(10, 24), two(10, 60), two(10, 60)),
        Primitive::Duration => format!("PT{}H{}M", two(10, 24), two(10, 60)),
        Primitive::Collection(_) => String::new(),
    };
    Drawn::Text(text)
}

fn guid(random: &mut ChaCha8Rng) -> String {
    let bits: u128 = random.random();
    // Version 4, variant 1 (RFC 9562, section 5.4).
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let text = format!("{bits:032x}");
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

/// Writes a value in the JSON form of that version.
fn write_json(version: Version, primitive: Primitive, drawn: &Drawn, out: &mut Vec<u8>) {
    let is_quoted = match (primitive, version) {
        (Primitive::Boolean | Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32, _) => false,
        (Primitive::Int64 | Primitive::Decimal { .. } | Primitive::Single | Primitive::Double, version) => {
            version == Version::V2
        }
        _ => true,
    };
    let text = match drawn {
        Drawn::Integer(number) if primitive == Primitive::Boolean => (*number != 0).to_string(),
        Drawn::Integer(number) => number.to_string(),
        Drawn::Text(text) if version == Version::V2 => match primitive {
            Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. } => {
                format!("/Date({})/", instant_ms(text).unwrap_or_default())
            }
            Primitive::TimeOfDay { .. } => format!("PT{}H{}M{}S", &text[..2], &text[3..5], &text[6..]),
            _ => text.clone(),
        },
        Drawn::Text(text) => text.clone(),
    };
    out.extend_from_slice(if is_quoted { Value::from(text).to_string() } else { text }.as_bytes());
}

/// Writes a value given for all records in the form of a key.
fn write_given(version: Version, kind: &Kind, given: &Value, out: &mut Vec<u8>) {
    let primitive = if let Kind::Plain(primitive) = kind { *primitive } else { Primitive::String { length_max: 0 } };
    let text = match given {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match (given, given.as_i64()) {
        (Value::Bool(is_so), _) => write_literal(out, version, primitive, Cell::Integer((*is_so).into())),
        (_, Some(number)) => write_literal(out, version, primitive, Cell::Integer(number)),
        _ => write_literal(out, version, primitive, Cell::Text(text.as_bytes())),
    }
}

/// Returns a value in the one form used for comparison; absent if it has none.
fn canonical(kind: &Kind, value: &Value) -> Option<String> {
    if value.is_null() {
        return None;
    }
    let Kind::Plain(primitive) = kind else {
        // A structure may come back with more than was sent.
        return (!value.is_object() && !value.is_array()).then(|| value.to_string());
    };
    let text = value.as_str();
    Some(match (primitive, text) {
        (
            Primitive::Byte
            | Primitive::SByte
            | Primitive::Int16
            | Primitive::Int32
            | Primitive::Int64
            | Primitive::Single
            | Primitive::Double
            | Primitive::Decimal { .. },
            text,
        ) => {
            let number: Option<f64> = text.map_or_else(|| value.as_f64(), |text| text.trim().parse().ok());
            number?.to_string()
        }
        (_, None) => value.to_string(),
        (Primitive::Guid, Some(text)) => text.to_ascii_lowercase(),
        (Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. }, Some(text)) => instant_ms(text)?.to_string(),
        (Primitive::TimeOfDay { .. } | Primitive::Duration, Some(text)) if text.contains('P') => {
            text.parse::<jiff::SignedDuration>().ok()?.as_millis().to_string()
        }
        (Primitive::TimeOfDay { .. }, Some(text)) if text.contains('.') => {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        (Primitive::Binary { .. }, Some(text)) => text.trim_end_matches('=').replace('-', "+").replace('_', "/"),
        (_, Some(text)) => text.to_owned(),
    })
}

/// Returns a time as milliseconds since 1970, from the forms of both versions; without a zone it is UTC.
fn instant_ms(text: &str) -> Option<i64> {
    if let Some(inner) = text.strip_prefix("/Date(") {
        let inner = inner.strip_suffix(")/")?;
        // The zone behind the number is only how it is shown (OData 2.0, JSON format).
        let end =
            inner.char_indices().skip(1).find(|(_, sign)| ['+', '-'].contains(sign)).map_or(inner.len(), |(at, _)| at);
        return inner[..end].parse().ok();
    }
    let parse = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
    parse(text).or_else(|| parse(&format!("{text}Z")))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::described::{read, tests};
    use super::*;
    use crate::traffic::places::OwnRecord;

    fn made(metadata: &[u8], set: &str, own: &OwnRecord, count: usize) -> Result<(Described, Vec<Made>), String> {
        let set = read(metadata, set, own)?;
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let drawing = Drawing::new(&set, own.file.as_deref(), count, &mut random)?;
        let one = |number: usize| {
            let mut json = Vec::new();
            let key = drawing.write(number, &mut random, &mut json)?;
            Ok((key, serde_json::from_slice(&json).unwrap()))
        };
        let all: Result<_, String> = (0..count).map(one).collect();
        let all = all?;
        Ok((set, all))
    }

    /// A record's key and its JSON.
    type Made = (String, Value);

    fn records(metadata: &[u8], set: &str, count: usize) -> (Described, Vec<Made>) {
        let mut own = tests::own("{\"author_ID\":7,\"Order\":\"O'1\"}", None);
        own.values.retain(|name, _| String::from_utf8_lossy(metadata).contains(&format!("\"{name}\"")));
        made(metadata, set, &own, count).unwrap()
    }

    #[test]
    fn a_record_has_a_value_of_each_type_and_a_key_of_its_own() {
        let (set, all) = records(tests::BOOKS, "Books", 50);
        assert_eq!(set.version, Version::V4);
        for (number, (key, record)) in all.iter().enumerate() {
            assert_eq!(*key, format!("(ID={},IsActive=true)", record["ID"]));
            assert_eq!(record["ID"].as_i64().unwrap() - all[0].1["ID"].as_i64().unwrap(), number as i64);
            assert_eq!((&record["author_ID"], record["title"].as_str().unwrap().len()), (&Value::from(7), 30));
            assert!(["New", "Old"].contains(&record["state"].as_str().unwrap()));
            let price = record["price"].to_string();
            assert!(price.len() <= 10 && price.rsplit_once('.').unwrap().1.len() == 2, "{price}");
        }
        let (_, all) = records(tests::ITEMS, "Items", 2);
        let (key, record) = &all[0];
        assert_eq!(*key, format!("(Order='O''1',Position={})", record["Position"]));
        assert!(
            record["Due"].as_str().unwrap().starts_with("/Date(1") && record["At"].as_str().unwrap().starts_with("PT")
        );
        assert!(record["Amount"].is_string(), "{record}");
    }

    #[test]
    fn a_row_is_the_same_in_any_form_of_its_values_and_no_other() {
        let (set, all) = records(tests::ITEMS, "Items", 2);
        let key = |row: &Value| key_of(&set, row.as_object().unwrap());
        let sent = &all[0].1;
        let is_same = |row: &Value| has_all(&set, sent.as_object().unwrap(), row.as_object().unwrap());
        let mut row = sent.clone();
        row["ChangedBy"] = "me".into();
        row["Amount"] = Value::from(format!("{}0", sent["Amount"].as_str().unwrap()));
        row["Due"] = Value::from(sent["Due"].as_str().unwrap().replace(")/", "+0000)/"));
        assert!(is_same(&row), "{row}");
        assert_eq!(key(&row), key(sent));
        assert_ne!(key(&row), key(&all[1].1));
        for name in ["Amount", "Due", "At"] {
            let mut changed = sent.clone();
            changed[name] = "1".into();
            assert!(!is_same(&changed), "{name}");
        }
    }

    #[test]
    fn values_are_compared_and_not_their_forms() {
        let check = |primitive: Primitive, one: &str, other: &str| {
            let canonical = |json: &str| canonical(&Kind::Plain(primitive), &serde_json::from_str(json).unwrap());
            assert!(canonical(one).is_some(), "{one}");
            assert_eq!(canonical(one), canonical(other), "{one} {other}");
        };
        check(Primitive::Decimal { precision: 9, scale: 2 }, "12.5", "\"12.50\"");
        check(Primitive::Guid, "\"ABCDEF01-0000-4000-8000-000000000000\"", "\"abcdef01-0000-4000-8000-000000000000\"");
        check(
            Primitive::DateTimeOffset { precision: 0 },
            "\"2020-01-02T00:00:00Z\"",
            "\"2020-01-02T01:00:00.000+01:00\"",
        );
        check(Primitive::DateTime { precision: 0 }, "\"1970-01-01T00:00:01\"", "\"/Date(1000)/\"");
        check(Primitive::TimeOfDay { precision: 0 }, "\"12:34:56\"", "\"12:34:56.000\"");
        check(Primitive::TimeOfDay { precision: 0 }, "\"PT08H05M00S\"", "\"PT8H5M\"");
        check(Primitive::Binary { length_max: 0 }, "\"ab-_\"", "\"ab+/\"");
    }

    #[test]
    fn records_of_a_file_have_its_values_and_keys_of_their_own() {
        let of = |file: (&str, &str), count: usize| {
            made(tests::BOOKS, "Books", &tests::own("{\"author_ID\":7}", Some(file)), count)
        };
        let (set, all) = of(("b.csv", "title,price\nOne,12.50\nTwo,\n"), 4).unwrap();
        let titles: Vec<&Value> = all.iter().map(|(_, record)| &record["title"]).collect();
        assert_eq!(titles, ["One", "Two", "One", "Two"]);
        assert_eq!((&all[0].1["price"], all[1].1.get("price")), (&Value::from(12.5), None));
        assert_ne!(all[0].0, all[2].0);
        // What was not sent may be anything.
        let mut row = all[1].1.clone();
        row["price"] = 3.into();
        assert!(has_all(&set, all[1].1.as_object().unwrap(), row.as_object().unwrap()));

        let (_, all) =
            of(("b.json", r#"{"price": "{{unique}}", "title": "No. {{number}}", "state": "Old"}"#), 3).unwrap();
        let (key, record) = &all[2];
        assert_eq!(*key, format!("(ID={},IsActive=true)", record["ID"]));
        assert_eq!(record["price"].as_i64().unwrap() - all[0].1["price"].as_i64().unwrap(), 2);
        assert_eq!((&record["title"], &record["state"]), (&"No. 3".into(), &"Old".into()));

        let check = |file: (&str, &str), expected: &str| assert_eq!(of(file, 4).unwrap_err(), expected);
        let wrong = "b.csv, line 3, column 2: `price`: `1,5` is no number such as 12.50";
        check(("b.csv", "title,price\nOne,1\nTwo,\"1,5\"\n"), wrong);
        let list = "b.csv, line 2, column 1: `tags`: a text has no form for its type: give it as JSON";
        check(("b.csv", "tags\na\n"), list);
        check(("b.json", r#"{"price": "{{number}}x"}"#), "b.json: `price`: `1x` is no number such as 12.50");
    }

    #[test]
    fn a_key_that_somebody_else_may_have_is_refused() {
        let narrow =
            String::from_utf8_lossy(tests::BOOKS).replace("\"ID\" Type=\"Edm.Int32\"", "\"ID\" Type=\"Edm.Byte\"");
        let refused = made(narrow.as_bytes(), "Books", &tests::own("{}", None), 100).unwrap_err();
        assert!(refused.starts_with("its key `ID` is so short"), "{refused}");
    }
}
