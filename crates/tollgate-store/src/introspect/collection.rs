//! Collections of values: arrays of PostgreSQL, and in SQLite texts declared as arrays of JSON by a mapping file.
//!
//! It does not check the texts: one that is no such array is an error when it is read.

use tollgate_wire::edm::{Item, Primitive, Provided};
use tollgate_wire::items;
use tollgate_wire::value::Value;

use super::catalog::{CatalogColumn, CatalogTable, Lists};
use super::function::TYPES;

/// The item type for a name in a mapping file.
pub(super) fn item(name: &str) -> Option<Item> {
    TYPES.iter().find(|(known, _)| *known == name).and_then(|(_, primitive)| Item::of(*primitive))
}

/// The type of a column for a collection.
pub(super) fn primitive(item: Item, column: &CatalogColumn) -> Option<Primitive> {
    match column.primitive? {
        // Its facets are the database's.
        found @ Primitive::Collection(_) => Some(found),
        _ => Some(Primitive::Collection(item)),
    }
}

/// Error of such a collection in a column.
pub(super) fn unfit(name: &str, table: &CatalogTable, column: &CatalogColumn, lists: Lists) -> Option<String> {
    let Some(item) = item(name) else {
        let known = TYPES.iter().filter(|(_, primitive)| Item::of(*primitive).is_some()).map(|(known, _)| *known);
        return Some(format!("its values can be of {}", known.collect::<Vec<_>>().join(", ")));
    };
    let position = table.column(&column.name);
    let refers = |columns: &[usize]| columns.iter().any(|column| Some(*column) == position);
    if refers(&table.primary_key) || table.foreign_keys.iter().any(|key| refers(&key.columns)) {
        return Some("it is part of a key, or refers to another table".to_owned());
    }
    match (column.primitive, lists) {
        (Some(Primitive::Collection(found)), _) if found.collection_name() == item.collection_name() => None,
        (Some(Primitive::Collection(found)), _) => Some(format!("it is a {}", found.collection_name())),
        (Some(Primitive::String { length_max: 0 }), Lists::Texts) => None,
        (_, Lists::Texts) => Some(format!("it is of type {}: expected a text without limit", column.declared)),
        (_, Lists::Arrays) => Some(format!("it is of type {}: expected an array", column.declared)),
    }
}

/// Source of a collection's missing value: as for others, or empty.
pub(super) fn provided(primitive: Primitive, provided: Option<Provided>) -> Provided {
    let Primitive::Collection(item) = primitive else { return Provided::Database };
    match provided {
        None => Provided::Default(Value::Text(primitive, "[]".to_owned())),
        Some(Provided::Default(Value::String(text))) => {
            let mut made = Vec::new();
            let is_one = items::append_canonical(&mut made, item, text.as_bytes());
            let made = String::from_utf8(made).ok().filter(|_| is_one);
            made.map_or(Provided::Database, |made| Provided::Default(Value::Text(primitive, made)))
        }
        Some(other) => other,
    }
}
