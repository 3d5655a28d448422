//! The values of a collection as one cell: an array of JSON in one canonical form, so that stores and documents pass it on
//! as they pass on a text.
//!
//! | item | in the array |
//! |---|---|
//! | Boolean | `true` or `false` |
//! | Int16 … Int64 | digits |
//! | Single, Double | the shortest digits that are read again as the same number; always finite |
//! | all others | the canonical text of [`crate::value`] in quotes, decimals too: no reader is to make a float of one |
//! | null | `null` |
//!
//! It deliberately does not know whether nulls are allowed, or how long a value may be: that is a property's.

use super::canonical::{self, Canonical};
use crate::edm::{Cell, Item, Primitive, Value, Version};
use crate::escape;
use crate::number::{Width, write_integer, write_real};
use crate::syntax::{Lexer, ReadError};

/// A value of an array as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    /// Null.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// The digits of a number.
    Number(&'a str),
    /// A text, decoded.
    Text(&'a str),
}

/// Calls `each` with the values of an array of JSON without other arrays or objects.
///
/// # Errors
/// It is no such array, or `each` rejects a value.
pub fn walk(array: &[u8], mut each: impl FnMut(Token<'_>) -> Result<(), ReadError>) -> Result<(), ReadError> {
    let mut lexer = Lexer { bytes: array, at: 0 };
    let mut scratch = String::new();
    let fault = |lexer: &Lexer<'_>, expected: &str| ReadError { position: lexer.at, message: expected.to_owned() };
    if lexer.skip_space() != Some(b'[') {
        return Err(fault(&lexer, "expected an array"));
    }
    lexer.at += 1;
    let mut more = lexer.skip_space() != Some(b']');
    while more {
        match lexer.skip_space() {
            Some(b'"') => each(Token::Text(lexer.string_in(&mut scratch)?))?,
            Some(b'-' | b'0'..=b'9') => each(Token::Number(lexer.number()?))?,
            Some(b't') => lexer.word("true").and_then(|()| each(Token::Boolean(true)))?,
            Some(b'f') => lexer.word("false").and_then(|()| each(Token::Boolean(false)))?,
            Some(b'n') => lexer.word("null").and_then(|()| each(Token::Null))?,
            _ => return Err(fault(&lexer, "expected a value")),
        }
        more = match lexer.skip_space() {
            Some(b',') => true,
            Some(b']') => false,
            _ => return Err(fault(&lexer, "expected ',' or ']'")),
        };
        lexer.at += usize::from(more);
    }
    lexer.at += 1;
    match lexer.skip_space() {
        None => Ok(()),
        Some(_) => Err(fault(&lexer, "the array goes on behind its end")),
    }
}

/// Appends the canonical form of an array, whose values have one of the forms in which V4 or a database writes them.
/// False if it is invalid; the caller must then take back the part already appended.
pub fn append_canonical(out: &mut Vec<u8>, item: Item, array: &[u8]) -> bool {
    let primitive = item.primitive();
    let mut writer = Writer::new(out);
    let mut made = Vec::new();
    let wrong = || ReadError { position: 0, message: String::new() };
    walk(array, |token| {
        made.clear();
        let cell = match (token, primitive) {
            (Token::Null, _) => Cell::Null,
            (Token::Boolean(is_true), Primitive::Boolean) => Cell::Integer(i64::from(is_true)),
            (Token::Text(text), Primitive::String { .. }) => Cell::Text(text.as_bytes()),
            (Token::Boolean(_), _) | (Token::Number(_), Primitive::String { .. }) => return Err(wrong()),
            (Token::Number(text) | Token::Text(text), _) => {
                match canonical::append(&mut made, Version::V4, primitive, text).ok_or_else(wrong)? {
                    Canonical::Integer(integer) => Cell::Integer(integer),
                    Canonical::Real(real) => Cell::Real(real),
                    Canonical::Text | Canonical::Bytes => Cell::Text(&made),
                }
            }
        };
        if matches!(cell, Cell::Real(real) if !real.is_finite()) {
            return Err(wrong());
        }
        writer.push(primitive, cell);
        Ok(())
    })
    .is_ok()
        && writer.finish()
}

/// Writes the canonical form of an array, value by value.
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
    has_value: bool,
}

impl<'o> Writer<'o> {
    /// Begins an array at the end of `out`.
    pub fn new(out: &'o mut Vec<u8>) -> Writer<'o> {
        out.push(b'[');
        Writer { out, has_value: false }
    }

    /// Appends a value of that type.
    pub fn push(&mut self, primitive: Primitive, cell: Cell<'_>) {
        let out = &mut *self.out;
        if self.has_value {
            out.push(b',');
        }
        self.has_value = true;
        match cell {
            Cell::Null => out.extend_from_slice(b"null"),
            Cell::Integer(integer) if primitive == Primitive::Boolean => {
                out.extend_from_slice(if integer == 0 { b"false".as_slice() } else { b"true".as_slice() });
            }
            Cell::Integer(integer) => write_integer(out, integer),
            Cell::Real(real) => write_real(out, real, width(primitive)),
            Cell::Text(text) | Cell::Bytes(text) => {
                out.push(b'"');
                escape::json_text(out, text);
                out.push(b'"');
            }
        }
    }

    /// Ends the array. True, so that it may end a chain of conditions.
    pub fn finish(self) -> bool {
        self.out.push(b']');
        true
    }
}

fn width(primitive: Primitive) -> Width {
    if primitive == Primitive::Single { Width::Single } else { Width::Double }
}

/// Calls `each` with the values of a canonical array, as cells of its items' type; of what is no such array, with those
/// before the first that is none.
pub fn cells(array: &[u8], mut each: impl FnMut(Cell<'_>)) {
    let _ = walk(array, |token| {
        each(match token {
            Token::Null => Cell::Null,
            Token::Boolean(is_true) => Cell::Integer(i64::from(is_true)),
            Token::Number(digits) => match digits.parse() {
                Ok(integer) => Cell::Integer(integer),
                Err(_) => Cell::Real(digits.parse().unwrap_or_default()),
            },
            Token::Text(text) => Cell::Text(text.as_bytes()),
        });
        Ok(())
    });
}

/// Number of values in an array; null has none.
pub fn count(cell: Cell<'_>) -> usize {
    let mut count = 0;
    if let Cell::Text(array) = cell {
        cells(array, |_| count += 1);
    }
    count
}

/// The values of a canonical array.
pub fn values(array: &[u8], item: Item) -> Vec<Value> {
    let mut values = Vec::new();
    cells(array, |cell| values.push(Value::of(cell, item.primitive())));
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: Item = Item::String { length_max: 0 };
    const DECIMAL: Item = Item::Decimal { precision: 0, scale: 0 };
    const MOMENT: Item = Item::DateTime { precision: 0 };
    const INSTANT: Item = Item::DateTimeOffset { precision: 0 };

    /// `expected` is `refused` where it is no array of such items.
    fn check(item: Item, array: &str, expected: &str) {
        let mut out = Vec::new();
        let seen = if append_canonical(&mut out, item, array.as_bytes()) {
            String::from_utf8(out).unwrap()
        } else {
            "refused".to_owned()
        };
        assert_eq!(seen, expected, "{item:?} {array}");
    }

    #[test]
    fn arrays_have_one_form_whoever_wrote_them() {
        check(TEXT, " [ ] ", "[]");
        check(TEXT, r#"["a", "b\u00e9\"", null]"#, r#"["a","bé\"",null]"#);
        check(TEXT, "[1]", "refused");
        check(TEXT, r#"[["a"]]"#, "refused");
        check(TEXT, r#"{"a":1}"#, "refused");
        check(TEXT, r#"["a"] x"#, "refused");
        check(TEXT, r#"["a""b"]"#, "refused");
        check(TEXT, r#"["a",]"#, "refused");
        check(TEXT, "", "refused");
        check(Item::Int16, "[1,-2, 32767]", "[1,-2,32767]");
        check(Item::Int16, "[32768]", "refused");
        check(Item::Int64, r#"[9223372036854775807,"7"]"#, "[9223372036854775807,7]");
        check(Item::Boolean, "[true,false,1]", "[true,false,true]");
        check(Item::Boolean, "[2]", "refused");
        check(Item::Int32, "[true]", "refused");
        check(DECIMAL, r#"[1.50,"2",1e2]"#, r#"["1.50","2","100"]"#);
        check(Item::Double, "[1.5,2,1e300]", "[1.5,2.0,1e300]");
        check(Item::Double, r#"["NaN"]"#, "refused");
        check(Item::Date, r#"["2013-09-25"]"#, r#"["2013-09-25"]"#);
        check(Item::Date, r#"["infinity"]"#, "refused");
        check(MOMENT, r#"["2013-09-25T10:00:00"]"#, r#"["2013-09-25T10:00:00"]"#);
        check(INSTANT, r#"["2013-09-25T10:00:00+00:00"]"#, r#"["2013-09-25T10:00:00Z"]"#);
        check(Item::TimeOfDay { precision: 0 }, r#"["11:00"]"#, r#"["11:00:00"]"#);
    }

    #[test]
    fn values_are_counted_null_ones_too() {
        assert_eq!(count(Cell::Null), 0);
        assert_eq!(count(Cell::Text(b"[]")), 0);
        assert_eq!(count(Cell::Text(b"[null,\"a\",\"a\"]")), 3);
    }

    proptest! {
        #[test]
        fn what_is_canonical_stays_as_it_is(texts in proptest::collection::vec(proptest::option::of(".*"), 0..5)) {
            let mut first = Vec::new();
            let mut writer = Writer::new(&mut first);
            for text in &texts {
                writer.push(TEXT.primitive(), text.as_ref().map_or(Cell::Null, |text| Cell::Text(text.as_bytes())));
            }
            writer.finish();
            let mut again = Vec::new();
            prop_assert!(append_canonical(&mut again, TEXT, &first));
            prop_assert_eq!(&first, &again);
            prop_assert_eq!(values(&first, TEXT).len(), texts.len());
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            for item in [TEXT, DECIMAL, Item::Boolean, Item::Int16, Item::Date] {
                append_canonical(&mut Vec::new(), item, &bytes);
            }
        }
    }
}
