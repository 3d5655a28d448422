//! Records from the user's own file: rows of a CSV whose first row names properties, or JSON objects, whose texts may
//! have places for numbers. They are taken from the first to the last, and then again.
//!
//! It does not know the types of the properties (see [`crate::load::insert`]).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::feed::csv::Table;
use super::feed::template::{self, Piece};

/// Placeholder of the record's number, from 1.
const NUMBER: &str = "number";
/// Placeholder of a number that no other record has, drawn from the run's seed.
const UNIQUE: &str = "unique";

/// The records of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenRecords {
    /// The file as the user named it.
    pub(crate) name: String,
    entries: Entries,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entries {
    /// With the text, to find lines again.
    Csv(Table, String),
    Json(Vec<Map<String, Value>>),
}

/// A value from the file.
#[derive(Debug, PartialEq)]
pub(crate) enum GivenValue<'g> {
    /// A text in the form of its property's type.
    Text(Cow<'g, str>),
    /// JSON that is sent unchanged.
    Json(Cow<'g, Value>),
}

/// The values of the placeholders in a record's texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    /// The record's number, from 0.
    pub(crate) record: usize,
    /// A number that no other record has.
    pub(crate) unique: i64,
}

impl GivenRecords {
    /// Reads a file of that name.
    ///
    /// # Errors
    /// The fault, with the file and the place in it.
    pub(crate) fn parse(file: &str, text: String) -> Result<GivenRecords, String> {
        let entries = match file.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
            Some("csv") => {
                let table = Table::parse(text.as_bytes()).map_err(|error| format!("{file}, {error}"))?;
                Entries::Csv(table, text)
            }
            Some("json") => Entries::Json(objects(&text).map_err(|error| format!("{file}, {error}"))?),
            _ => return Err(format!("{file}: a file of records ends in .csv or .json")),
        };
        Ok(GivenRecords { name: file.to_owned(), entries })
    }

    /// The number of records.
    pub(crate) fn count(&self) -> usize {
        match &self.entries {
            Entries::Csv(table, _) => table.rows(),
            Entries::Json(objects) => objects.len(),
        }
    }

    /// The properties that occur in any record.
    pub(crate) fn names(&self) -> Vec<&str> {
        match &self.entries {
            Entries::Csv(table, _) => table.columns.iter().map(String::as_str).collect(),
            Entries::Json(objects) => {
                let mut names: Vec<&str> = objects.iter().flat_map(Map::keys).map(String::as_str).collect();
                names.sort_unstable();
                names.dedup();
                names
            }
        }
    }

    /// A record's value of a property; `None` where it has no such property or leaves it empty.
    pub(crate) fn value(&self, name: &str, numbers: Numbers) -> Option<GivenValue<'_>> {
        let row = numbers.record % self.count();
        match &self.entries {
            Entries::Csv(table, _) => {
                let column = table.columns.iter().position(|known| known == name)?;
                let text = String::from_utf8_lossy(table.value(row, column));
                (!text.is_empty()).then_some(GivenValue::Text(text))
            }
            Entries::Json(objects) => Some(match objects[row].get(name)? {
                Value::String(text) if has_places(text) => GivenValue::Text(filled(text, numbers).into()),
                value if is_fixed(value) => GivenValue::Json(Cow::Borrowed(value)),
                value => GivenValue::Json(Cow::Owned(all_filled(value, numbers))),
            }),
        }
    }

    /// The place of a property's name, or of a record's value of it: `books.csv, line 3, column 2`.
    pub(crate) fn place(&self, name: &str, record: Option<usize>) -> String {
        let file = &self.name;
        match &self.entries {
            Entries::Csv(table, text) => {
                let column = table.columns.iter().position(|known| known == name).map_or(0, |column| column + 1);
                let line = record.map_or(1, |record| Table::line(text.as_bytes(), record % self.count()));
                format!("{file}, line {line}, column {column}")
            }
            Entries::Json(objects) => {
                let first = || objects.iter().position(|object| object.contains_key(name));
                let number = record.map(|record| record % self.count()).or_else(first).unwrap_or_default() + 1;
                if objects.len() == 1 { file.clone() } else { format!("{file}, record {number}") }
            }
        }
    }
}

/// One object or a list of them.
fn objects(text: &str) -> Result<Vec<Map<String, Value>>, String> {
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let told = error.to_string();
        let told = told.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&told);
        format!("line {line}, column {column}: {told}")
    })?;
    let all = match value {
        Value::Array(all) => all,
        one => vec![one],
    };
    if all.is_empty() {
        return Err("line 1: expected at least one record, but the list is empty".to_owned());
    }
    let mut objects = Vec::with_capacity(all.len());
    for (value, number) in all.into_iter().zip(1..) {
        let Value::Object(object) = value else {
            return Err(format!("record {number}: `{value}` is no object"));
        };
        for (name, value) in &object {
            check_places(value).map_err(|why| format!("record {number}: `{name}`: {why}"))?;
        }
        objects.push(object);
    }
    Ok(objects)
}

/// Whether it has no placeholders.
fn is_fixed(value: &Value) -> bool {
    match value {
        Value::String(text) => !has_places(text),
        Value::Array(all) => all.iter().all(is_fixed),
        Value::Object(object) => object.values().all(is_fixed),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn has_places(text: &str) -> bool {
    text.contains("{{")
}

fn check_places(value: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => {
            for piece in template::parse(text).map_err(|error| error.message)? {
                match piece {
                    Piece::Value { column: NUMBER | UNIQUE, escape: None, .. } | Piece::Text(_) => {}
                    Piece::Value { column, .. } => {
                        return Err(format!("`{{{{{column}}}}}` is neither `{{{{{NUMBER}}}}}` nor `{{{{{UNIQUE}}}}}`"));
                    }
                }
            }
            Ok(())
        }
        Value::Array(all) => all.iter().try_for_each(check_places),
        Value::Object(object) => object.values().try_for_each(check_places),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn filled(text: &str, numbers: Numbers) -> String {
    let piece = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => (*text).to_owned(),
        Piece::Value { column: UNIQUE, .. } => numbers.unique.to_string(),
        Piece::Value { .. } => (numbers.record + 1).to_string(),
    };
    template::parse(text).expect("places are checked when the file is read").iter().map(piece).collect()
}

fn all_filled(value: &Value, numbers: Numbers) -> Value {
    match value {
        Value::String(text) => filled(text, numbers).into(),
        Value::Array(all) => all.iter().map(|value| all_filled(value, numbers)).collect(),
        Value::Object(object) => {
            object.iter().map(|(name, value)| (name.clone(), all_filled(value, numbers))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(file: &str, text: &str) -> Result<GivenRecords, String> {
        GivenRecords::parse(file, text.to_owned())
    }

    #[test]
    fn records_are_taken_in_turn_and_then_again() {
        let check = |file: &str, text: &str, name: &str, record: usize, expected: Option<GivenValue<'_>>| {
            let records = parse(file, text).unwrap();
            assert_eq!(records.value(name, Numbers { record, unique: 700 + record as i64 }), expected, "{text} {name}");
        };
        let text = |text: &'static str| Some(GivenValue::Text(text.into()));
        let json = |json: &str| Some(GivenValue::Json(Cow::Owned(serde_json::from_str(json).unwrap())));
        let csv = "title,stock\nOne,1\nTwo,\n";
        check("b.csv", csv, "title", 2, text("One"));
        check("b.csv", csv, "stock", 0, text("1"));
        check("b.csv", csv, "stock", 1, None);
        check("b.csv", csv, "price", 0, None);
        let one = r#"{"ID": "B-{{unique}}", "stock": 5, "title": "as it is", "tags": ["t{{number}}", 1]}"#;
        check("b.JSON", one, "ID", 3, text("B-703"));
        check("b.JSON", one, "stock", 3, json("5"));
        check("b.JSON", one, "title", 3, json("\"as it is\""));
        check("b.JSON", one, "tags", 3, json("[\"t4\", 1]"));
        check("b.json", r#"[{"a": 1}, {"b": 2}]"#, "b", 3, json("2"));
    }

    #[test]
    fn what_is_wrong_says_where() {
        let check = |file: &str, text: &str, expected: &str| assert_eq!(parse(file, text).unwrap_err(), expected);
        check("b.txt", "", "b.txt: a file of records ends in .csv or .json");
        check("b.csv", "a,b\n1\n", "b.csv, line 2: 1 values where the first row has 2 names");
        check("b.json", "{\n \"a\": 1,}", "b.json, line 2, column 9: trailing comma");
        check("b.json", "[]", "b.json, line 1: expected at least one record, but the list is empty");
        check("b.json", "[{}, 5]", "b.json, record 2: `5` is no object");
        let unknown = "b.json, record 1: `a`: `{{n}}` is neither `{{number}}` nor `{{unique}}`";
        check("b.json", "{\"a\": [\"{{n}}\"]}", unknown);
        check("b.json", "{\"a\": \"{{n\"}", "b.json, record 1: `a`: `{{` has no `}}` behind it");
        let records = parse("b.csv", "a,b\n\n1,2\n3,4\n").unwrap();
        assert_eq!(records.place("b", None), "b.csv, line 1, column 2");
        assert_eq!(records.place("b", Some(3)), "b.csv, line 4, column 2");
        assert_eq!(parse("b.json", "[{}, {\"a\": 1}]").unwrap().place("a", None), "b.json, record 2");
    }
}
