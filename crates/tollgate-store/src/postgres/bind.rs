//! Values on their way into a statement: as text, which the server reads as the type of the parameter mark, and bytes
//! as bytes.

use std::error::Error;
use std::fmt::Write;

use bytes::{BufMut, BytesMut};
use postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tollgate_wire::edm::Primitive;
use tollgate_wire::items::{self, Token};
use tollgate_wire::value::{Cell, Value};

/// A value for a mark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound<'v> {
    /// Null of any type.
    Null,
    /// A Boolean.
    Boolean(bool),
    /// An integer of any size.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Canonical text, which PostgreSQL reads unchanged.
    Text(&'v [u8]),
    /// A canonical duration; a leading sign is written before each number.
    Duration(&'v [u8]),
    /// Bytes, unchanged.
    Bytes(&'v [u8]),
    /// A list as text, such as `{"a","b",NULL}`.
    List(&'v str),
    /// The values of a collection, as a canonical array of JSON.
    Items(&'v [u8]),
}

impl<'v> Bound<'v> {
    /// A value of a plan.
    pub(super) fn of(value: &'v Value) -> Bound<'v> {
        match value {
            Value::Null => Bound::Null,
            Value::Boolean(boolean) => Bound::Boolean(*boolean),
            Value::Integer(integer) => Bound::Integer(*integer),
            Value::Real(real) => Bound::Real(*real),
            Value::Text(Primitive::Duration, text) => Bound::Duration(text.as_bytes()),
            Value::Text(Primitive::Collection(_), text) => Bound::Items(text.as_bytes()),
            Value::Decimal(text) | Value::String(text) | Value::Text(_, text) => Bound::Text(text.as_bytes()),
            Value::Binary(bytes) => Bound::Bytes(bytes),
        }
    }

    /// A value of an entity, of that type.
    pub(super) fn of_cell(cell: Cell<'v>, primitive: Primitive) -> Bound<'v> {
        match (cell, primitive) {
            (Cell::Null, _) => Bound::Null,
            (Cell::Integer(integer), Primitive::Boolean) => Bound::Boolean(integer != 0),
            (Cell::Integer(integer), _) => Bound::Integer(integer),
            (Cell::Real(real), _) => Bound::Real(real),
            (Cell::Text(text), Primitive::Duration) => Bound::Duration(text),
            (Cell::Text(text), Primitive::Collection(_)) => Bound::Items(text),
            (Cell::Text(text), _) => Bound::Text(text),
            (Cell::Bytes(bytes), _) => Bound::Bytes(bytes),
        }
    }

    /// Appends it; null appends nothing.
    pub(super) fn append(self, out: &mut BytesMut) {
        let _ = self.write(out);
    }

    fn write(self, out: &mut BytesMut) -> IsNull {
        match self {
            Bound::Null => return IsNull::Yes,
            Bound::Boolean(boolean) => out.put_u8(if boolean { b't' } else { b'f' }),
            Bound::Integer(integer) => {
                let _ = write!(out, "{integer}");
            }
            // The shortest digits that are read again as the same number.
            Bound::Real(real) => {
                let _ = write!(out, "{real:?}");
            }
            Bound::Text(text) | Bound::Bytes(text) => out.put_slice(text),
            Bound::List(list) => out.put_slice(list.as_bytes()),
            Bound::Items(array) => array_literal(array, out),
            Bound::Duration([b'-', rest @ ..]) => {
                let mut within_number = false;
                for byte in rest {
                    let number = byte.is_ascii_digit() || *byte == b'.';
                    if number && !within_number {
                        out.put_u8(b'-');
                    }
                    within_number = number;
                    out.put_u8(*byte);
                }
            }
            Bound::Duration(text) => out.put_slice(text),
        }
        IsNull::No
    }
}

/// An array in PostgreSQL's format: each value in quotes, except null.
fn array_literal(array: &[u8], out: &mut BytesMut) {
    let mut before = b'{';
    let quoted = |text: &str, out: &mut BytesMut| {
        out.put_u8(b'"');
        for byte in text.bytes() {
            if matches!(byte, b'"' | b'\\') {
                out.put_u8(b'\\');
            }
            out.put_u8(byte);
        }
        out.put_u8(b'"');
    };
    // What was read and checked is a canonical array.
    let _ = items::walk(array, |token| {
        out.put_u8(std::mem::replace(&mut before, b','));
        match token {
            Token::Null => out.put_slice(b"NULL"),
            Token::Boolean(is_true) => out.put_u8(if is_true { b't' } else { b'f' }),
            Token::Number(digits) => out.put_slice(digits.as_bytes()),
            Token::Text(text) => quoted(text, out),
        }
        Ok(())
    });
    if before == b'{' {
        out.put_u8(b'{');
    }
    out.put_u8(b'}');
}

/// It can be bound to a mark of any type; if the server cannot read it, the server reports the error.
impl ToSql for Bound<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        Ok(self.write(out))
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        match self {
            Bound::Bytes(_) => Format::Binary,
            Bound::Null
            | Bound::Boolean(_)
            | Bound::Integer(_)
            | Bound::Real(_)
            | Bound::Text(_)
            | Bound::Duration(_)
            | Bound::List(_)
            | Bound::Items(_) => Format::Text,
        }
    }

    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bound: Bound<'_>, expected: &str) {
        let mut out = BytesMut::new();
        assert!(matches!(bound.write(&mut out), IsNull::No));
        assert_eq!(std::str::from_utf8(&out).unwrap(), expected);
    }

    #[test]
    fn values_are_written_as_the_server_reads_them() {
        check(Bound::Boolean(true), "t");
        check(Bound::Integer(i64::MIN), "-9223372036854775808");
        check(Bound::Real(1e300), "1e300");
        check(Bound::Real(-0.1), "-0.1");
        check(Bound::Text(b"2573.0000"), "2573.0000");
        check(Bound::Duration(b"P1DT1.5S"), "P1DT1.5S");
        check(Bound::Items(b"[]"), "{}");
        check(Bound::Items(br#"["a,\"b\\",null,"NULL",""]"#), r#"{"a,\"b\\",NULL,"NULL",""}"#);
        check(Bound::Items(b"[1,-2.5,true]"), "{1,-2.5,t}");
        check(Bound::Duration(b"-P1DT12H0.5S"), "P-1DT-12H-0.5S");
    }
}
