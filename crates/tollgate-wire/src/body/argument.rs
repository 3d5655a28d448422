//! Arguments of an action from its body, and computed values to be stored: both are checked against the types of the
//! model like all that a client sends.
//!
//! It deliberately does not know what the action does with them.

use super::Reader;
use super::check::{self, Wrong};
use super::entry::Entry;
use super::error::{BodyError, Read};
use super::json::Json;
use super::shape::Leaf;
use crate::address::convert;
use crate::edm::{LeafId, Parameter, SetId, Version};
use crate::format::Format;
use crate::value::{Cell, Value};

impl Reader {
    /// Reads the arguments of an operation, one for each of its parameters. An empty body has none.
    ///
    /// # Errors
    /// The first thing that is wrong: no value of its type, one that is missing, a name that is no parameter's.
    pub fn read_arguments(&self, document: &[u8], format: Format, operation: usize) -> Result<Vec<Value>, BodyError> {
        self.arguments(document, format, operation).map_err(|error| *error)
    }

    fn arguments(&self, document: &[u8], format: Format, operation: usize) -> Read<Vec<Value>> {
        let context = self.context(format, "");
        let shape = context.shapes.of_operation(operation);
        let mut entry = Entry::new(shape.leaves);
        if !document.trim_ascii().is_empty() {
            let mut json = Json::new(document, context, String::new());
            json.object("an object with the parameters", shape, &mut entry)?;
            json.end()?;
        }
        let parameters = &context.model.function_imports[operation].parameters;
        let value = |(position, parameter): (usize, &Parameter)| match entry.cell_of(LeafId(position)) {
            Some(cell) => Ok(Value::of(cell, parameter.primitive)),
            None => Err(BodyError::new(0, "the parameter is missing").inside(&parameter.name)),
        };
        parameters.iter().enumerate().map(value).collect()
    }

    /// Gives a leaf of an entity of `set` a value that was computed.
    ///
    /// # Errors
    /// If it is no value of the leaf, such as one that is too long.
    pub fn assign(&self, set: SetId, leaf: LeafId, value: Value, entry: &mut Entry) -> Result<(), BodyError> {
        let declared = &self.compiled.model.type_of(set).leaves[leaf.0];
        let shape = Leaf::of(&self.compiled.model, declared, leaf);
        let assigned = match value {
            Value::Null if declared.nullable => Ok(Value::Null),
            Value::Null => return Err(*BodyError::new(0, "the property cannot be null").inside(&declared.path)),
            value => convert(Version::V4, value, declared.primitive)
                .map_err(|value| (Wrong::Type, value))
                .and_then(|value| check::value(&shape, value.clone()).map_err(|wrong| (wrong, value))),
        };
        let assigned = assigned.map_err(|(wrong, value)| {
            let message = wrong.message(Some(Version::V4), &shape, &text(&value));
            *BodyError::new(0, message).inside(&declared.path)
        })?;
        entry.set(leaf, assigned.cell());
        Ok(())
    }
}

/// The value as a message repeats it.
fn text(value: &Value) -> String {
    match value.cell() {
        Cell::Null => "null".to_owned(),
        Cell::Integer(integer) => integer.to_string(),
        Cell::Real(real) => real.to_string(),
        Cell::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Cell::Bytes(bytes) => format!("{} bytes", bytes.len()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::format::{Ieee754, Metadata, Release};
    use crate::testing;

    const JSON: Format =
        Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release: Release::V40 };
    const FLIGHTS_OF: usize = 0;

    #[test]
    fn arguments_have_the_types_of_their_parameters_and_none_is_missing() {
        let reader = Reader::new(Arc::new(testing::model()));
        let check = |body: &str, expected: Result<usize, &str>| {
            let read = reader.read_arguments(body.as_bytes(), JSON, FLIGHTS_OF);
            match (read, expected) {
                (Ok(values), Ok(count)) => assert_eq!(values.len(), count, "{body}"),
                (Err(error), Err(part)) => {
                    let told = format!("{:?}", error);
                    assert!(told.contains(part), "{body}: {told}");
                }
                (found, _) => panic!("{body}: {found:?}"),
            }
        };
        check(r#"{"fromdate":"2013-09-25","cityfrom":"new york"}"#, Ok(2));
        check(
            r#" {"cityfrom":"new york","@odata.type":"x.y","a@b.c":1,"fromdate":"2013-09-25"} "#,
            Err("expected the type"),
        );
        check(r#"{"fromdate":"2013-09-25"}"#, Err("cityfrom"));
        check("", Err("fromdate"));
        check(r#"{"fromdate":"2013-09-31","cityfrom":""}"#, Err("fromdate"));
        check(r#"{"fromdate":"2013-09-25","cityfrom":null}"#, Err("null"));
        check(r#"{"fromdate":"2013-09-25","cityfrom":"a city with a long name"}"#, Err("20 characters"));
        check(r#"{"fromdate":"2013-09-25","cityfrom":"a","cityto":"b"}"#, Err("cityto"));
        check(r#"[]"#, Err("object"));
    }

    #[test]
    fn a_computed_value_is_held_against_the_property() {
        let reader = Reader::new(Arc::new(testing::model()));
        let flight = &testing::model().entity_types[0];
        let check = |path: &str, value: Value, good: bool| {
            let (mut entry, leaf) = (Entry::new(flight.leaves.len()), flight.leaf(path).unwrap());
            let assigned = reader.assign(testing::FLIGHTS, leaf, value.clone(), &mut entry);
            assert_eq!(assigned.is_ok(), good, "{path} {value:?} {assigned:?}");
        };
        check("SEATSMAX", Value::Integer(385), true);
        check("SEATSMAX", Value::Integer(3_000_000_000), false);
        check("PRICE", Value::Integer(3), true);
        check("PRICE", Value::Decimal("1.25".to_owned()), true);
        check("PRICE", Value::Decimal("1.255".to_owned()), false);
        check("CURRENCY", Value::String("EUR".to_owned()), true);
        check("CURRENCY", Value::String("EUREUR".to_owned()), false);
        check("CURRENCY", Value::Null, true);
        check("carrid", Value::Null, false);
        check("CURRENCY", Value::Integer(1), false);
    }
}
