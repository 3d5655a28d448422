//! The model of the records service: the names are the reference server's, the facets those that its types have there.
//!
//! Optional properties and the source of their values are declared with the property.

use tollgate_wire::edm::{
    Annotations, Changes, EntitySet, EntityType, LeafId, Model, Primitive, Property, PropertyKind, Provided, TypeId,
};

/// The model: namespace `refsvc`, one entity set `TestRecords`.
pub fn model() -> Model {
    let mut model = Model {
        namespace: "refsvc".into(),
        container: "EntityContainer".into(),
        entity_types: vec![EntityType {
            name: "TestRecords".into(),
            label: Some("Test record".into()),
            properties: PROPERTIES.iter().map(Declared::property).collect(),
            ..EntityType::default()
        }],
        entity_sets: vec![EntitySet {
            name: "TestRecords".into(),
            entity_type: TypeId(0),
            label: Some("Test records".into()),
            changes: Changes::ALL,
        }],
        ..Model::default()
    };
    model.finish();
    let record = &mut model.entity_types[0];
    record.key = vec![LeafId(0)];
    let declared = PROPERTIES.into_iter().enumerate();
    record.provided = declared.filter_map(|(leaf, declared)| Some((LeafId(leaf), declared.provided?))).collect();
    model
}

/// A property as the table below declares it.
struct Declared {
    name: &'static str,
    primitive: Primitive,
    label: &'static str,
    provided: Option<Provided>,
}

const PROPERTIES: [Declared; 16] = [
    provided("ID", Primitive::Guid, "Record", Provided::Uuid),
    provided("createdAt", TIMESTAMP, "Created at", Provided::CreatedAt),
    provided("createdBy", TEXT, "Created by", Provided::CreatedBy),
    provided("modifiedAt", TIMESTAMP, "Changed at", Provided::ModifiedAt),
    provided("modifiedBy", TEXT, "Changed by", Provided::ModifiedBy),
    plain("stringField", TEXT, "Text"),
    plain("largeStringField", Primitive::String { length_max: 0 }, "Text of any length"),
    plain("booleanField", Primitive::Boolean, "Yes or no"),
    plain("integerField", Primitive::Int32, "Integer"),
    plain("integer64Field", Primitive::Int64, "Long integer"),
    plain("decimalField", Primitive::Decimal { precision: 18, scale: 4 }, "Decimal number"),
    plain("doubleField", Primitive::Double, "Floating-point number"),
    plain("dateField", Primitive::Date, "Date"),
    plain("timeField", Primitive::TimeOfDay { precision: 0 }, "Time of day"),
    plain("dateTimeField", Primitive::DateTimeOffset { precision: 0 }, "Instant to the second"),
    plain("timeStampField", TIMESTAMP, "Instant to the tenth of a microsecond"),
];

const TEXT: Primitive = Primitive::String { length_max: 255 };
const TIMESTAMP: Primitive = Primitive::DateTimeOffset { precision: 7 };

const fn plain(name: &'static str, primitive: Primitive, label: &'static str) -> Declared {
    Declared { name, primitive, label, provided: None }
}

const fn provided(name: &'static str, primitive: Primitive, label: &'static str, provided: Provided) -> Declared {
    Declared { name, primitive, label, provided: Some(provided) }
}

impl Declared {
    fn property(&self) -> Property {
        let managed = match self.provided {
            Some(Provided::CreatedAt | Provided::CreatedBy | Provided::ModifiedAt | Provided::ModifiedBy) => true,
            Some(Provided::Uuid | Provided::Default(_) | Provided::Database | Provided::Computed) | None => false,
        };
        let key = matches!(self.provided, Some(Provided::Uuid));
        Property {
            name: self.name.into(),
            kind: PropertyKind::Primitive(self.primitive),
            nullable: !key,
            annotations: Annotations {
                label: Some(self.label.into()),
                not_creatable: managed,
                not_updatable: managed || key,
                ..Annotations::default()
            },
        }
    }
}
