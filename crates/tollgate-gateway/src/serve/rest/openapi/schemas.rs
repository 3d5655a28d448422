//! Schemas of values, entities and request bodies: types with their ranges and lengths, nullable and required
//! properties.

use serde_json::{Map, Value, json};
use tollgate_wire::edm::{
    Arity, Enumeration, Item, Leaf, LeafId, Multiplicity, Primitive, PropertyKind, Provided, SubtypeId,
};
use tollgate_wire::value::Value as Stored;

use super::Subject;

/// Purpose of a description of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Answered as a whole.
    Answered,
    /// Answered with the properties chosen by `fields`.
    Selected,
    /// Sent to create it.
    Created,
    /// Sent to change it.
    Changed,
}

/// Schemas that all lists share.
pub(super) fn common() -> Map<String, Value> {
    let problem = json!({
        "type": "object",
        "description": "RFC 9457",
        "properties": {
            "type": { "const": "about:blank" },
            "title": { "type": "string", "description": "the phrase of the status" },
            "status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "detail": { "type": "string", "description": "what is wrong, and what would be right" },
            "code": { "type": "string", "description": "the kind of fault, for programs" },
            "target": { "type": "string", "description": "the parameter or property that is meant" },
            "details": { "type": "array", "items": { "type": "object" } },
        },
        "required": ["type", "title", "status", "detail", "code"],
    });
    let inserted = count("inserted", "how many entities the array had");
    let deleted = count("deleted", "how many entities there were");
    [("Problem", problem), ("Inserted", inserted), ("Deleted", deleted)]
        .map(|(name, schema)| (name.to_owned(), schema))
        .into_iter()
        .collect()
}

fn count(name: &str, description: &str) -> Value {
    let number = json!({ "type": "integer", "format": "int64", "minimum": 0, "description": description });
    json!({ "type": "object", "properties": { name: number }, "required": [name], "additionalProperties": false })
}

/// A reference to one of the schemas.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

impl Subject<'_> {
    /// Adds its schemas.
    pub(super) fn schemas(&self, out: &mut Map<String, Value>) {
        let name = self.name();
        for (suffix, purpose) in [
            ("", Purpose::Answered),
            ("_selected", Purpose::Selected),
            ("_new", Purpose::Created),
            ("_change", Purpose::Changed),
        ] {
            let changes = self.service.hosted.model.entity_sets[self.resource.set.0].changes;
            let wanted = match purpose {
                Purpose::Selected => true,
                Purpose::Answered => changes.insert || changes.update,
                Purpose::Created => changes.insert,
                // Related entities are created by the same schema.
                Purpose::Changed => true,
            };
            if wanted {
                out.insert(format!("{name}{suffix}"), self.entity(purpose));
            }
        }
        let items = json!({ "type": "array", "items": reference(&format!("{name}_selected")) });
        let list = json!({
            "type": "object",
            "properties": {
                "items": items,
                "count": { "type": "integer", "format": "int64", "minimum": 0, "description": "on all pages" },
                "next": { "type": "string", "format": "uri", "description": "the next page, where there is one" },
            },
            "required": ["items"],
            "additionalProperties": false,
        });
        out.insert(format!("{name}_list"), list);
    }

    fn entity(&self, purpose: Purpose) -> Value {
        let entity_type = self.entity_type;
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (position, property) in entity_type.properties.iter().enumerate() {
            let leaves = || (0..entity_type.leaves.len()).filter(|leaf| entity_type.leaves[*leaf].property == position);
            let mut schema = match property.kind {
                PropertyKind::Complex(_) => self.complex(leaves(), purpose, property.nullable),
                PropertyKind::Primitive(_) | PropertyKind::Enumeration(..) => {
                    leaves().next().map_or_else(|| json!({}), |leaf| self.leaf(&entity_type.leaves[leaf], purpose))
                }
            };
            if let Some(label) = &property.annotations.label {
                schema["title"] = label.as_str().into();
            }
            let provided = leaves().next().and_then(|leaf| entity_type.provided(LeafId(leaf)));
            if provided.is_some_and(Provided::is_managed) {
                schema["readOnly"] = true.into();
            }
            self.tell_types(position, purpose, &mut schema);
            let needed = match purpose {
                Purpose::Answered => true,
                Purpose::Selected | Purpose::Changed => false,
                // A complex value is needed where one of its own is.
                Purpose::Created => leaves().any(|leaf| self.must_be_sent(leaf)),
            };
            if needed {
                required.push(property.name.as_str());
            }
            properties.insert(property.name.clone(), schema);
        }
        if purpose == Purpose::Created {
            for navigation in &entity_type.navigation {
                let related = reference(&format!("{}_change", self.name_of(navigation.target)));
                let schema = match navigation.multiplicity {
                    Multiplicity::Many => json!({ "type": "array", "items": related }),
                    Multiplicity::One | Multiplicity::ZeroOrOne => related,
                };
                properties.insert(navigation.name.clone(), schema);
            }
        }
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        schema
    }

    fn complex(&self, leaves: impl Iterator<Item = usize>, purpose: Purpose, may_be_null: bool) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for index in leaves {
            let leaf = &self.entity_type.leaves[index];
            let name = leaf.path.rsplit('/').next().unwrap_or_default();
            properties.insert(name.to_owned(), self.leaf(leaf, purpose));
            let needed = match purpose {
                Purpose::Answered => true,
                Purpose::Selected | Purpose::Changed => false,
                Purpose::Created => self.must_be_sent(index),
            };
            if needed {
                required.push(name);
            }
        }
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        nullable(schema, may_be_null)
    }

    /// Schema of a property's value: an array for a collection, which itself is never null.
    fn leaf(&self, leaf: &Leaf, purpose: Purpose) -> Value {
        let one = leaf.primitive.item().map_or(leaf.primitive, Item::primitive);
        let schema = match self.enumeration(leaf) {
            None => value(one),
            Some(enumeration) => match purpose {
                Purpose::Answered | Purpose::Selected => shown(enumeration),
                Purpose::Created | Purpose::Changed => named(enumeration),
            },
        };
        let schema = nullable(schema, leaf.nullable);
        match leaf.primitive {
            Primitive::Collection(_) => json!({ "type": "array", "items": schema }),
            _ => schema,
        }
    }

    /// The enumeration of a property's values.
    fn enumeration(&self, leaf: &Leaf) -> Option<&Enumeration> {
        leaf.enumeration.map(|enumeration| &*self.service.hosted.model.enumerations[enumeration.0])
    }

    /// Schema of a value to compare with a property, or of a part of a key: of any length.
    pub(super) fn asked(&self, leaf: &Leaf) -> Value {
        self.enumeration(leaf).map_or_else(|| asked(leaf.primitive), named)
    }

    /// Whether an entity cannot be created without a value for it, of any type.
    fn must_be_sent(&self, leaf: usize) -> bool {
        !self.entity_type.leaves[leaf].nullable
            && self.entity_type.provided(LeafId(leaf)).is_none()
            && self.entity_type.declares(LeafId(leaf)) == SubtypeId::ROOT
    }

    /// Describes the values of the discriminator property, and the type of properties that only entities of a derived
    /// type have.
    fn tell_types(&self, property: usize, purpose: Purpose, schema: &mut Value) {
        let Some(hierarchy) = &self.entity_type.hierarchy else { return };
        let discriminator = &self.entity_type.leaves[hierarchy.discriminator.0];
        let told = if discriminator.property == property {
            let stored =
                hierarchy.subtypes.iter().filter_map(|subtype| Some((subtype, as_json(subtype.stored.as_ref()?)?)));
            let (mut values, mut meanings) = (Vec::new(), Vec::new());
            for (subtype, value) in stored {
                meanings.push(format!("{value} {}", subtype.name));
                values.push(value);
            }
            if purpose == Purpose::Created && discriminator.enumeration.is_none() {
                values.extend(discriminator.nullable.then_some(Value::Null));
                schema["enum"] = values.into();
            }
            format!("of which type it is: {}", meanings.join(", "))
        } else {
            match hierarchy.declares(property) {
                SubtypeId::ROOT => return,
                SubtypeId(derived) => format!("only of a {}", hierarchy.subtypes[derived].name),
            }
        };
        let before = schema.get("description").and_then(Value::as_str).map(|before| format!("{before}; "));
        schema["description"] = format!("{}{told}", before.unwrap_or_default()).into();
    }
}

/// JSON value of a discriminator column.
fn as_json(stored: &Stored) -> Option<Value> {
    match stored {
        Stored::Integer(number) => Some((*number).into()),
        Stored::String(text) => Some(text.as_str().into()),
        _ => None,
    }
}

/// The schema, nullable if needed.
fn nullable(mut schema: Value, may_be_null: bool) -> Value {
    if !may_be_null {
        return schema;
    }
    if let Some(listed) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        listed.push(Value::Null);
    }
    if let Some(either) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        either.push(json!({ "type": "null" }));
    } else if let Some(name) = schema.get_mut("type") {
        *name = json!([name.take(), "null"]);
    }
    schema
}

/// Schema of a value in a document.
fn value(primitive: Primitive) -> Value {
    match primitive {
        // Without quotes JSON has no word for them.
        Primitive::Single | Primitive::Double => {
            json!({ "anyOf": [asked(primitive), { "type": "string", "enum": ["INF", "-INF", "NaN"] }] })
        }
        Primitive::Decimal { precision, scale } if precision > 0 => {
            let mut schema = asked(primitive);
            let bound = 10_f64.powi(i32::from(precision) - i32::from(scale));
            schema["exclusiveMinimum"] = (-bound).into();
            schema["exclusiveMaximum"] = bound.into();
            // In words: powers of ten below one have no exact floating-point number, so that what divides by a `multipleOf`
            // of 0.01 refuses 0.07, and 48 of the prices of 400 flights.
            schema["description"] = match scale {
                0 => format!("at most {precision} digits"),
                _ => format!("at most {precision} digits, {scale} of them behind the point"),
            }
            .into();
            if scale == 0 {
                schema["multipleOf"] = 1.into();
            }
            schema
        }
        Primitive::String { length_max } if length_max > 0 => json!({ "type": "string", "maxLength": length_max }),
        Primitive::Binary { length_max } => {
            let mut schema = json!({ "type": "string", "contentEncoding": "base64" });
            if length_max > 0 {
                schema["maxLength"] = (u64::from(length_max).div_ceil(3) * 4).into();
            }
            schema
        }
        other => asked(other),
    }
}

/// Schema of the names of members, and nothing else.
fn named(enumeration: &Enumeration) -> Value {
    let names = enumeration.members.iter().map(|member| member.name.as_str());
    match enumeration.arity {
        Arity::One => json!({ "type": "string", "enum": names.collect::<Vec<_>>() }),
        Arity::Flags => {
            let names = names.collect::<Vec<_>>().join("|");
            json!({ "type": "string", "pattern": format!("^(0|({names})(,({names}))*)$") })
        }
    }
}

/// Schema of an answered enumeration: usually names, but the database may have values without one.
fn shown(enumeration: &Enumeration) -> Value {
    let names: Vec<&str> = enumeration.members.iter().map(|member| member.name.as_str()).collect();
    let one = if enumeration.arity == Arity::Flags { "any of" } else { "one of" };
    let description = format!("{one} {}; what has no name is told as it is stored", names.join(", "));
    json!({ "type": "string", "description": description, "examples": names })
}

/// Schema of a value to compare with, or of a part of a key: of any length.
fn asked(primitive: Primitive) -> Value {
    use Primitive as P;
    let integer = |format: &str, least: i64, most: i64| json!({ "type": "integer", "format": format, "minimum": least, "maximum": most });
    match primitive {
        P::Boolean => json!({ "type": "boolean" }),
        P::Byte => integer("uint8", 0, 255),
        P::SByte => integer("int8", -128, 127),
        P::Int16 => integer("int16", i16::MIN.into(), i16::MAX.into()),
        P::Int32 => integer("int32", i32::MIN.into(), i32::MAX.into()),
        P::Int64 => integer("int64", i64::MIN, i64::MAX),
        P::Single => json!({ "type": "number", "format": "float", "minimum": f32::MIN, "maximum": f32::MAX }),
        P::Double => json!({ "type": "number", "format": "double" }),
        P::Decimal { .. } => json!({ "type": "number", "format": "decimal" }),
        P::String { .. } => json!({ "type": "string" }),
        P::Binary { .. } => json!({ "type": "string", "format": "base64url" }),
        P::Guid => json!({ "type": "string", "format": "uuid" }),
        P::Date => json!({ "type": "string", "format": "date" }),
        P::DateTime { .. } => json!({ "type": "string", "format": "date-time-local" }),
        P::DateTimeOffset { .. } => json!({ "type": "string", "format": "date-time" }),
        P::TimeOfDay { .. } => json!({ "type": "string", "format": "time-local", "pattern": TIME_OF_DAY }),
        P::Duration => json!({ "type": "string", "format": "duration" }),
        // One of its values.
        P::Collection(item) => asked(item.primitive()),
    }
}

const TIME_OF_DAY: &str = r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,12})?)?$";
