//! Values in JSON answers, found by JSON pointer (RFC 6901).
//!
//! It builds no JSON tree, and reads no further than the value.

use std::str::FromStr;

use tollgate_wire::document::ReadError;
use tollgate_wire::json::reader::{Event, Limits, Reader};

/// A value that an answer must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonValue {
    /// The pointer as it was written.
    pointer: String,
    path: Vec<String>,
    value: String,
}

/// `POINTER=VALUE`, such as `/value/0/id=17`.
impl FromStr for JsonValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (pointer, value) = text.split_once('=').ok_or("expected POINTER=VALUE, such as /status=ok")?;
        let path = path(pointer).ok_or_else(|| format!("`{pointer}` is no JSON pointer: it begins with a slash"))?;
        Ok(JsonValue { pointer: pointer.to_owned(), path, value: value.to_owned() })
    }
}

impl JsonValue {
    /// Compares it with an answer. Texts, numbers, booleans and whole objects are compared as they are written; an
    /// expected `null` also matches a missing value.
    ///
    /// # Errors
    /// The value that the answer has instead.
    pub(super) fn check(&self, body: &[u8]) -> Result<(), String> {
        let (mut found, JsonValue { pointer, path, value }) = (Vec::new(), self);
        match find(body, path, &mut found)? {
            true if found == value.as_bytes() => Ok(()),
            true => {
                let found = String::from_utf8_lossy(&found);
                Err(format!("`{pointer}` of the answer is `{found}` instead of `{value}`"))
            }
            false if value == "null" => Ok(()),
            false => Err(format!("the answer has no `{pointer}`, which should be `{value}`")),
        }
    }
}

/// Splits a JSON pointer into names and indices (RFC 6901, section 3 and 4); absent if it is not one.
pub(crate) fn path(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let rest = pointer.strip_prefix('/')?;
    Some(rest.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect())
}

/// Appends the value at this path; `false` if there is none.
///
/// # Errors
/// An answer that is not JSON.
pub(crate) fn find(body: &[u8], path: &[String], out: &mut Vec<u8>) -> Result<bool, String> {
    value_at(body, path, out).map_err(|error| format!("the answer is no JSON: {error}"))
}

/// Appends a text without quotes and escapes, a number in its digits, or an object or array as written; `null` counts
/// as nothing.
fn value_at(body: &[u8], path: &[String], out: &mut Vec<u8>) -> Result<bool, ReadError> {
    let mut reader = Reader::new(body, Limits::default())?;
    for name in path {
        match reader.next()? {
            Event::ObjectBegin => loop {
                match reader.next()? {
                    Event::Name(known) if known == name.as_str() => break,
                    Event::Name(_) => reader.skip_value()?,
                    _ => return Ok(false),
                }
            },
            Event::ArrayBegin => {
                // RFC 6901, section 4: no sign and no leading zero.
                let is_index =
                    name == "0" || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
                let Some(index) = name.parse::<usize>().ok().filter(|_| is_index) else { return Ok(false) };
                for _ in 0..index {
                    let depth = reader.depth();
                    reader.next()?;
                    if reader.depth() < depth {
                        return Ok(false);
                    }
                    leave(&mut reader, depth)?;
                }
            }
            _ => return Ok(false),
        }
    }
    match reader.next()? {
        Event::Text(text) => out.extend_from_slice(text.as_bytes()),
        Event::Number(digits) => out.extend_from_slice(digits.as_bytes()),
        Event::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Event::ObjectBegin | Event::ArrayBegin => {
            let (start, depth) = (reader.position() - 1, reader.depth() - 1);
            leave(&mut reader, depth)?;
            out.extend_from_slice(&body[start..reader.position()]);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Reads on until at most `depth` brackets are open.
fn leave(reader: &mut Reader<'_>, depth: u32) -> Result<(), ReadError> {
    while reader.depth() > depth {
        reader.next()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_held_against_a_value_at_its_pointer() {
        let check = |text: &str, body: &str, expected: Result<(), &str>| {
            let found = text.parse::<JsonValue>().unwrap().check(body.as_bytes());
            assert_eq!(found.as_ref().copied().map_err(String::as_str), expected, "{text} in {body}");
        };
        check("/status=ok", r#"{"status":"ok"}"#, Ok(()));
        check("/a/1/b=2.50", r#"{"a":[0,{"b":2.50}]}"#, Ok(()));
        check("/a=b=c", r#"{"a":"b=c"}"#, Ok(()));
        check("/x~1y=true", r#"{"x/y":true}"#, Ok(()));
        check("/status=ok", r#"{"status":"busy"}"#, Err("`/status` of the answer is `busy` instead of `ok`"));
        check("/a=null", r#"{"a":null}"#, Ok(()));
        check("/a/01=2", r#"{"a":[1,2]}"#, Err("the answer has no `/a/01`, which should be `2`"));
        check("/status=ok", "{}", Err("the answer has no `/status`, which should be `ok`"));
        let found = "/a=1".parse::<JsonValue>().unwrap().check(b"<html>");
        assert!(found.unwrap_err().starts_with("the answer is no JSON: "));
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        assert!("status=ok".parse::<JsonValue>().unwrap_err().contains("begins with a slash"));
        assert!("/status".parse::<JsonValue>().unwrap_err().contains("POINTER=VALUE"));
    }
}
