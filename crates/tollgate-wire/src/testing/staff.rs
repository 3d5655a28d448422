//! People of four types in one set: persons, employees and managers among them, and guests.

use super::{key, property, text};
use crate::edm::{
    Changes, EntitySet, EntityType, Hierarchy, LeafId, Model, Multiplicity, NavigationId, NavigationProperty,
    Primitive, SetId, Subtype, SubtypeId, TypeId,
};
use crate::value::Value;

pub(crate) const PEOPLE: SetId = SetId(0);

/// The model.
pub(crate) fn staff() -> Model {
    let decimal = Primitive::Decimal { precision: 9, scale: 2 };
    let properties = vec![
        key("id", Primitive::Int32),
        property("name", text(20)),
        property("kind", text(1)),
        property("friend_id", Primitive::Int32),
        property("salary", decimal),
        property("boss_id", Primitive::Int32),
        property("budget", decimal),
        property("until", Primitive::Date),
    ];
    let way = |name: &str, multiplicity, on: (usize, usize), partner: &str| NavigationProperty {
        name: name.to_owned(),
        target: PEOPLE,
        multiplicity,
        on: vec![(LeafId(on.0), LeafId(on.1))],
        association: name.to_owned(),
        partner: Some(partner.to_owned()),
    };
    let subtype = |name: &str, base: Option<usize>, stored: &str, properties: &[usize], navigation: &[usize]| Subtype {
        name: name.to_owned(),
        base: base.map(SubtypeId),
        stored: Some(Value::String(stored.to_owned())),
        properties: properties.to_vec(),
        navigation: navigation.iter().copied().map(NavigationId).collect(),
        label: None,
    };
    let hierarchy = Hierarchy {
        discriminator: LeafId(2),
        subtypes: vec![
            subtype("Person", None, "p", &[], &[]),
            subtype("Employee", Some(0), "e", &[4, 5], &[2]),
            subtype("Manager", Some(1), "m", &[6], &[]),
            subtype("Guest", Some(0), "g", &[7], &[]),
        ],
    };
    let person = EntityType {
        name: "Person".to_owned(),
        properties,
        key: vec![LeafId(0)],
        navigation: vec![
            way("friend", Multiplicity::ZeroOrOne, (3, 0), "People_by_friend"),
            way("People_by_friend", Multiplicity::Many, (0, 3), "friend"),
            way("boss", Multiplicity::ZeroOrOne, (5, 0), "People_by_boss"),
            way("People_by_boss", Multiplicity::Many, (0, 5), "boss"),
        ],
        hierarchy: Some(hierarchy),
        ..EntityType::default()
    };
    let people = EntitySet { name: "People".to_owned(), entity_type: TypeId(0), label: None, changes: Changes::ALL };
    let mut model = Model {
        namespace: "staff".to_owned(),
        container: "Container".to_owned(),
        entity_types: vec![person],
        entity_sets: vec![people],
        ..Model::default()
    };
    model.finish();
    model.finish_hierarchies();
    model
}
