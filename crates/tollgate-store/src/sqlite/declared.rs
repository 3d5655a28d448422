//! Types and defaults as an SQLite table declares them, as types and values of a model.
//!
//! SQLite itself takes any words for a type; here their common meanings count, then its own rules of affinity (SQLite,
//! "Datatypes In SQLite", section 3.1). Decimals have at most 15 digits, since SQLite keeps them as binary numbers;
//! without declared facets they have none in the model either.

use tollgate_wire::edm::{Primitive, Provided};
use tollgate_wire::value::{Value, append_canonical};

/// Digits of a decimal that survive SQLite's binary numbers.
pub(super) const DECIMAL_DIGITS_MAX: u16 = 15;

/// A decimal with its point anywhere.
const ANY_DECIMAL: Primitive = Primitive::Decimal { precision: 0, scale: 0 };

/// Digits of a second.
const FRACTION_DIGITS: u8 = 7;

/// The type of a declaration; `None` if only its values can show it. In a strict table `INT` has 64 bits.
pub(super) fn declared(text: &str, strict: bool) -> Option<Primitive> {
    let upper = text.trim().to_ascii_uppercase();
    let (name, facets) = match upper.split_once('(') {
        Some((name, rest)) => {
            let (facets, rest) = rest.split_once(')').unwrap_or((rest, ""));
            (format!("{} {}", name.trim(), rest.trim()).trim().to_owned(), facets.to_owned())
        }
        None => (upper.clone(), String::new()),
    };
    let mut numbers = facets.split(',').map_while(|facet| facet.trim().parse::<u32>().ok());
    let (first, second) = (numbers.next(), numbers.next());
    let has = |part: &str| name.contains(part);
    let length_max = first.unwrap_or(0);
    Some(match name.as_str() {
        "INT" if strict => Primitive::Int64,
        "BIT" => Primitive::Boolean,
        "GUID" | "UUID" | "UNIQUEIDENTIFIER" => Primitive::Guid,
        "DATE" => Primitive::Date,
        "TIME" | "TIME WITHOUT TIME ZONE" => Primitive::TimeOfDay { precision: FRACTION_DIGITS },
        "TIMESTAMPTZ" | "DATETIMEOFFSET" | "TIMESTAMP WITH TIME ZONE" => {
            Primitive::DateTimeOffset { precision: FRACTION_DIGITS }
        }
        "MONEY" => ANY_DECIMAL,
        "TINYINT" | "SMALLINT" | "INT2" => Primitive::Int16,
        "INT" | "INT4" | "MEDIUMINT" => Primitive::Int32,
        _ if has("BOOL") => Primitive::Boolean,
        _ if name.starts_with("DATETIME") || name.starts_with("TIMESTAMP") => {
            Primitive::DateTime { precision: FRACTION_DIGITS }
        }
        _ if name.starts_with("DEC") || name.starts_with("NUMERIC") || name == "NUMBER" => {
            let Some(digits) = first else { return Some(ANY_DECIMAL) };
            let precision = digits.clamp(1, u32::from(DECIMAL_DIGITS_MAX)) as u16;
            Primitive::Decimal { precision, scale: second.unwrap_or(0).min(u32::from(precision)) as u16 }
        }
        _ if has("INT") => Primitive::Int64,
        _ if has("CHAR") || has("CLOB") || has("TEXT") || has("STRING") || name == "JSON" => {
            Primitive::String { length_max }
        }
        _ if has("BLOB") || has("BINARY") || has("BYTEA") => Primitive::Binary { length_max },
        _ if has("REAL") || has("FLOA") || has("DOUB") => Primitive::Double,
        _ => return None,
    })
}

/// Source of a column's default: a constant if it is one, otherwise the database.
pub(super) fn constant(text: &str, primitive: Option<Primitive>) -> Option<Provided> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("NULL") {
        return None;
    }
    let value = primitive.and_then(|primitive| value(text, primitive));
    Some(value.map_or(Provided::Database, Provided::Default))
}

fn value(text: &str, primitive: Primitive) -> Option<Value> {
    let quoted = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).map(|inner| inner.replace("''", "'"));
    match primitive {
        Primitive::Boolean => match text.to_ascii_uppercase().as_str() {
            "0" | "FALSE" => Some(Value::Boolean(false)),
            "1" | "TRUE" => Some(Value::Boolean(true)),
            _ => None,
        },
        Primitive::Byte | Primitive::SByte | Primitive::Int16 | Primitive::Int32 | Primitive::Int64 => {
            text.parse().ok().map(Value::Integer)
        }
        Primitive::Single | Primitive::Double => {
            text.parse().ok().filter(|real: &f64| real.is_finite()).map(Value::Real)
        }
        Primitive::Decimal { .. } => canonical(primitive, quoted.as_deref().unwrap_or(text)).map(Value::Decimal),
        Primitive::String { .. } => quoted.map(Value::String),
        Primitive::Guid
        | Primitive::Date
        | Primitive::DateTime { .. }
        | Primitive::DateTimeOffset { .. }
        | Primitive::TimeOfDay { .. }
        | Primitive::Duration => canonical(primitive, &quoted?).map(|text| Value::Text(primitive, text)),
        // A mapping file says that a text is one.
        Primitive::Binary { .. } | Primitive::Collection(_) => None,
    }
}

fn canonical(primitive: Primitive, text: &str) -> Option<String> {
    let mut made = Vec::new();
    let is_one = append_canonical(&mut made, primitive, text);
    is_one.then(|| String::from_utf8(made).expect("canonical texts are UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_have_their_common_meanings() {
        let decimal = |precision, scale| Some(Primitive::Decimal { precision, scale });
        let string = |length_max| Some(Primitive::String { length_max });
        for (text, expected) in [
            ("integer", Some(Primitive::Int64)),
            ("INT", Some(Primitive::Int32)),
            ("unsigned big int", Some(Primitive::Int64)),
            ("smallint", Some(Primitive::Int16)),
            ("BOOLEAN", Some(Primitive::Boolean)),
            ("VARCHAR(40)", string(40)),
            ("character varying (7)", string(7)),
            ("nvarchar", string(0)),
            ("text", string(0)),
            ("DECIMAL(10,2)", decimal(10, 2)),
            ("DECIMAL(10)", decimal(10, 0)),
            ("numeric(38, 4)", decimal(15, 4)),
            ("NUMERIC", decimal(0, 0)),
            ("money", decimal(0, 0)),
            ("DECIMAL(0)", decimal(1, 0)),
            ("double precision", Some(Primitive::Double)),
            ("REAL", Some(Primitive::Double)),
            ("date", Some(Primitive::Date)),
            ("DATETIME", Some(Primitive::DateTime { precision: 7 })),
            ("timestamp(3) without time zone", Some(Primitive::DateTime { precision: 7 })),
            ("timestamp (3) with time zone", Some(Primitive::DateTimeOffset { precision: 7 })),
            ("time", Some(Primitive::TimeOfDay { precision: 7 })),
            ("uuid", Some(Primitive::Guid)),
            ("varbinary(8)", Some(Primitive::Binary { length_max: 8 })),
            ("blob", Some(Primitive::Binary { length_max: 0 })),
            ("", None),
            ("whatever", None),
        ] {
            assert_eq!(declared(text, false), expected, "{text}");
        }
        assert_eq!(declared("INT", true), Some(Primitive::Int64));
    }

    #[test]
    fn a_default_is_a_constant_or_the_databases_business() {
        let moment = Primitive::DateTime { precision: 7 };
        let text = Primitive::String { length_max: 0 };
        let default = |value| Some(Provided::Default(value));
        for (sql, primitive, expected) in [
            ("0", Primitive::Boolean, default(Value::Boolean(false))),
            ("-7", Primitive::Int32, default(Value::Integer(-7))),
            ("1.50", Primitive::Decimal { precision: 9, scale: 2 }, default(Value::Decimal("1.50".into()))),
            ("'it''s'", text, default(Value::String("it's".into()))),
            ("NULL", text, None),
            ("CURRENT_TIMESTAMP", moment, Some(Provided::Database)),
            ("lower('X')", text, Some(Provided::Database)),
            ("'2013-09-25T11:00:00'", moment, default(Value::Text(moment, "2013-09-25T11:00:00".into()))),
        ] {
            assert_eq!(constant(sql, Some(primitive)), expected, "{sql}");
        }
    }
}
