//! The JSON Schema of an experiment's file: the keys of all experiments, and those of each kind.
//!
//! It describes the union: a key that does not go with another one is reported by an error message.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::document::{COMMON, FileFormat, TableName, distinct};
use super::file::ExperimentFile;

/// The schema of a file that is of one of these kinds.
pub(crate) fn schema(kinds: &[FileFormat]) -> Schema {
    let mut generator = SchemaGenerator::default();
    let mut factor = keys(&mut generator, TableName::Factor, kinds);
    let mut workload = keys(&mut generator, TableName::Workload, kinds);
    name_one(&mut factor, "name", kinds.iter().map(|kind| (kind.heading.factor.name, kind.heading.factor.about)));
    name_one(&mut workload, "kind", kinds.iter().map(|kind| (kind.workload, kind.about)));
    let variant = object(keys(&mut generator, TableName::Variant, kinds), &["name"], "One way of doing the work.");
    let mut top = keys(&mut generator, TableName::Top, kinds);
    top.insert("factor".to_owned(), object(factor, &["name"], "What is swept over levels."));
    top.insert("workload".to_owned(), object(workload, &["kind"], "What is done."));
    let ways =
        json!({ "type": "array", "minItems": 1, "items": variant, "description": "The ways of doing the work." });
    top.insert("variant".to_owned(), ways);
    let about = ExperimentFile::json_schema(&mut SchemaGenerator::default()).get("description").cloned();
    let about = about.as_ref().and_then(Value::as_str).unwrap_or_default();
    let mut schema = object(top, &["name", "question", "factor", "workload", "variant"], about);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "tollgate experiment".into();
    schema["$defs"] = Value::Object(generator.take_definitions(true));
    Schema::try_from(schema).expect("an object is a schema")
}

/// Keys of a table: those of all experiments, and those of each kind, without duplicates.
fn keys(generator: &mut SchemaGenerator, table: TableName, kinds: &[FileFormat]) -> Map<String, Value> {
    let parts = COMMON.iter().chain(kinds.iter().flat_map(|kind| kind.keys.iter().copied().flatten()));
    let mut keys = Map::new();
    for part in parts.filter(|part| part.table == table) {
        let described = (part.schema)(generator);
        for (key, value) in described.get("properties").and_then(Value::as_object).into_iter().flatten() {
            match keys.get_mut(key) {
                None => drop(keys.insert(key.clone(), value.clone())),
                Some(known) if known == value => {}
                // Kinds that mean other things by it: either may be meant.
                Some(known) => *known = json!({ "anyOf": [known.take(), value] }),
            }
        }
    }
    keys
}

/// Limits a key to one of these values.
fn name_one<'n>(keys: &mut Map<String, Value>, key: &str, names: impl Iterator<Item = (&'n str, &'n str)>) {
    let one = |(name, about): (&str, &str)| json!({ "type": "string", "const": name, "description": about });
    let told = distinct(names.filter(|(_, about)| !about.is_empty()));
    keys[key]["oneOf"] = told.into_iter().map(one).collect();
}

fn object(keys: Map<String, Value>, required: &[&str], about: &str) -> Value {
    json!({
        "type": "object",
        "description": about,
        "properties": keys,
        "required": required,
        "additionalProperties": false,
    })
}
