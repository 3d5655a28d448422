//! Records to insert, generated from the run's seed, each different; and recognition of those read back. They are those
//! of the published measurement, about 600 bytes as JSON, or those of any entity set (see [`super::drawn`]).
//!
//! The serial number of a published record is its `integerField`. Keys and managed fields are left to the server. This
//! module sends nothing.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use serde_json::{Map, Value};
use tollgate_wire::edm::Version;

use super::described::Described;
use super::drawn::{Drawing, has_all, key_of};
use crate::traffic::given::GivenRecords;

/// Characters of the short text.
const TEXT_LENGTH: usize = 40;
/// Characters of the long text: a record is about 600 bytes.
const LARGE_TEXT_LENGTH: usize = 256;
/// Characters of generated texts.
pub(super) const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Records with serial numbers from 0.
#[derive(Debug)]
pub struct Records {
    text: Vec<u8>,
    /// Positions of the start of the first record and the end of each.
    ends: Vec<usize>,
    /// Fingerprint of each published record; hardly two are equal.
    fingerprints: Vec<u64>,
    /// Their entity set, if they are not the published ones.
    own: Option<Own>,
}

/// Data for records of any entity set.
#[derive(Debug)]
struct Own {
    set: Described,
    /// Their keys in URL form.
    keys: Vec<String>,
    /// Serial numbers by key.
    serials: HashMap<String, usize>,
}

impl Records {
    /// Generates `count` records of an entity set, with the values of the user's file; the same for the same seed.
    ///
    /// # Errors
    /// The reason why they cannot be generated.
    pub(crate) fn of(set: Described, file: Option<&GivenRecords>, seed: u64, count: usize) -> Result<Records, String> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let drawing = Drawing::new(&set, file, count, &mut random)?;
        let mut records = Records { text: Vec::new(), ends: vec![0], fingerprints: Vec::new(), own: None };
        let (mut keys, mut serials) = (Vec::with_capacity(count), HashMap::with_capacity(count));
        for serial in 0..count {
            let key = drawing.write(serial, &mut random, &mut records.text)?;
            records.ends.push(records.text.len());
            serials.insert(key_of(&set, &records.sent(serial)), serial);
            keys.push(key);
        }
        records.own = Some(Own { set, keys, serials });
        Ok(records)
    }

    /// Generates `count` published records; the same for the same seed.
    pub fn generate(seed: u64, count: usize) -> Records {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut records = Records { text: Vec::new(), ends: vec![0], fingerprints: Vec::new(), own: None };
        for serial in 0..count {
            write_record(serial, &mut random, &mut records.text);
            records.ends.push(records.text.len());
            let row: Row = serde_json::from_slice(records.json(serial)).expect("a record is JSON of its own form");
            records.fingerprints.push(row.fingerprint().1);
        }
        records
    }

    /// The JSON object of one record.
    pub fn json(&self, serial: usize) -> &[u8] {
        &self.text[self.ends[serial]..self.ends[serial + 1]]
    }

    /// Number of records.
    pub fn count(&self) -> usize {
        self.ends.len() - 1
    }

    /// A record as it is sent.
    fn sent(&self, serial: usize) -> Map<String, Value> {
        serde_json::from_slice(self.json(serial)).expect("a record is written as a JSON object")
    }

    /// The OData version of their form.
    pub(super) fn version(&self) -> Version {
        self.own.as_ref().map_or(Version::V4, |own| own.set.version)
    }

    /// Key of one record in URL form; absent if the server creates it.
    pub(super) fn key(&self, serial: usize) -> Option<&str> {
        self.own.as_ref().map(|own| own.keys[serial].as_str())
    }

    /// Returns the serial number of a row that was read back, and whether it equals that record; `None` if no record
    /// has that number.
    pub(super) fn is_same(&self, row: &Value) -> Option<(usize, bool)> {
        if let Some(Own { set, serials, .. }) = &self.own {
            let row = row.as_object()?;
            let serial = *serials.get(&key_of(set, row))?;
            return Some((serial, has_all(set, &self.sent(serial), row)));
        }
        let (serial, fingerprint) = Row::deserialize(row).ok()?.fingerprint();
        let serial = usize::try_from(serial?).ok().filter(|serial| *serial < self.count())?;
        Some((serial, self.fingerprints[serial] == fingerprint))
    }
}

/// A record as it is read back; fields that the server omits are absent.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    string_field: Option<String>,
    large_string_field: Option<String>,
    boolean_field: Option<bool>,
    integer_field: Option<i64>,
    integer64_field: Option<Value>,
    decimal_field: Option<Value>,
    double_field: Option<Value>,
    date_field: Option<String>,
    time_field: Option<String>,
    date_time_field: Option<String>,
    time_stamp_field: Option<String>,
}

impl Row {
    /// Returns the serial number, and a fingerprint that two different records share with a probability of 2^-64.
    fn fingerprint(&self) -> (Option<i64>, u64) {
        let mut hasher = DefaultHasher::new();
        (&self.string_field, &self.large_string_field, self.boolean_field, self.integer_field).hash(&mut hasher);
        for number in [&self.integer64_field, &self.decimal_field, &self.double_field] {
            number.as_ref().and_then(value_of).hash(&mut hasher);
        }
        self.date_field.hash(&mut hasher);
        for time in [&self.time_field, &self.date_time_field, &self.time_stamp_field] {
            time.as_deref().map(instant).hash(&mut hasher);
        }
        (self.integer_field, hasher.finish())
    }
}

/// Returns the value of a number, which a server may write as text to keep all digits. The generated numbers have at
/// most 15 significant digits, so each has a distinct value.
fn value_of(number: &Value) -> Option<u64> {
    let value = match number {
        Value::String(text) => text.parse().ok(),
        number => number.as_f64(),
    };
    value.map(f64::to_bits)
}

/// Returns a time without additions by servers: trailing zeros of the fraction, and the `Z` of UTC.
fn instant(text: &str) -> &str {
    let text = text.strip_suffix('Z').unwrap_or(text);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

fn write_record(serial: usize, random: &mut ChaCha8Rng, out: &mut Vec<u8>) {
    const FAILS: &str = "a Vec takes whatever is written";
    out.extend_from_slice(b"{\"stringField\":\"");
    write_text(TEXT_LENGTH, random, out);
    out.extend_from_slice(b"\",\"largeStringField\":\"");
    write_text(LARGE_TEXT_LENGTH, random, out);
    let day = |random: &mut ChaCha8Rng| {
        let (year, month) = (random.random_range(1990..2030), random.random_range(1..=12));
        format!("{year:04}-{month:02}-{:02}", random.random_range(1..=28))
    };
    let time = |random: &mut ChaCha8Rng| {
        let (hour, minute) = (random.random_range(0..24), random.random_range(0..60));
        format!("{hour:02}:{minute:02}:{:02}", random.random_range(0..60))
    };
    write!(
        out,
        "\",\"booleanField\":{},\"integerField\":{serial},\"integer64Field\":{},\"decimalField\":{}.{:04},\
         \"doubleField\":{}.{:06},\"dateField\":\"{}\",\"timeField\":\"{}\",\"dateTimeField\":\"{}T{}Z\",\
         \"timeStampField\":\"{}T{}.{:03}Z\"}}",
        random.random_bool(0.5),
        random.random_range(1_u64 << 32..1 << 49),
        random.random_range(1..1_000_000_000_u64),
        // Never a zero at the end, which a server may leave out.
        random.random_range(0..1000) * 10 + random.random_range(1..10),
        random.random_range(1..100_000_u64),
        random.random_range(0..100_000) * 10 + random.random_range(1..10),
        day(random),
        time(random),
        day(random),
        time(random),
        day(random),
        time(random),
        random.random_range(0..1000),
    )
    .expect(FAILS);
}

pub(super) fn write_text(length: usize, random: &mut ChaCha8Rng, out: &mut Vec<u8>) {
    // Words of seven letters, so that it looks like text to whatever compresses or indexes it.
    let is_blank = |index: usize| index % 8 == 7 && index + 1 < length;
    let mut letter = || LETTERS[random.random_range(0..LETTERS.len())];
    out.extend((0..length).map(|index| if is_blank(index) { b' ' } else { letter() }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(json: &[u8]) -> Value {
        serde_json::from_slice(json).unwrap()
    }

    #[test]
    fn records_are_about_600_bytes_and_the_same_for_the_same_seed() {
        let (one, same, other) = (Records::generate(7, 500), Records::generate(7, 500), Records::generate(8, 500));
        let mean = one.text.len() / one.count();
        assert!((560..=640).contains(&mean), "{mean}");
        assert_eq!(one.text, same.text);
        assert_ne!(one.json(3), other.json(3));
        assert_ne!(one.json(3), one.json(4));
    }

    #[test]
    fn a_record_that_comes_back_is_known_by_its_serial_number_and_content() {
        let records = Records::generate(1, 20);
        for serial in 0..20 {
            assert_eq!(records.is_same(&row(records.json(serial))), Some((serial, true)));
        }
    }

    #[test]
    fn servers_may_write_numbers_as_text_and_add_zeros_to_times() {
        let records = Records::generate(1, 20);
        let text = String::from_utf8(records.json(5).to_vec()).unwrap();
        let value = |name: &str| {
            let from = text.find(name).unwrap() + name.len() + 2;
            text[from..].split([',', '}']).next().unwrap().to_owned()
        };
        let (long, decimal) = (value("integer64Field"), value("decimalField"));
        let written = text
            .replace(&long, &format!("\"{long}\""))
            .replace(&decimal, &format!("\"{decimal}0\""))
            .replace("Z\"", "0000Z\"")
            .replacen("{", "{\"ID\":\"x\",\"createdBy\":null,", 1);
        // A second without a fraction gets zeros only behind a point.
        let written = written.replacen("0000Z\"", ".000Z\"", 1);
        assert_eq!(records.is_same(&row(written.as_bytes())), Some((5, true)), "{written}");
    }

    #[test]
    fn any_changed_field_is_found() {
        let records = Records::generate(1, 20);
        let text = String::from_utf8(records.json(5).to_vec()).unwrap();
        let other = String::from_utf8(records.json(6).to_vec()).unwrap();
        let mut changed = 0;
        for (mine, theirs) in text.trim_matches(['{', '}']).split(',').zip(other.trim_matches(['{', '}']).split(',')) {
            if mine.starts_with("\"integerField\"") || mine == theirs {
                continue;
            }
            assert_eq!(records.is_same(&row(text.replace(mine, theirs).as_bytes())), Some((5, false)), "{mine}");
            changed += 1;
        }
        assert!(changed >= 9);
        assert_eq!(records.is_same(&row(b"{\"integerField\":20}")), None);
        assert_eq!(records.is_same(&row(b"{}")), None);
    }
}
