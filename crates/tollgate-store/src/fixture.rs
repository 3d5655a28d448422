//! Models for the tests of single files: carriers, their flights and the bookings of these, and records of many
//! properties.
//!
//! It has few rows: the answers of stores are tested over the rows of `tests/it`.

use tollgate_wire::edm::{
    Annotations, Changes, EntitySet, EntityType, LeafId, Model, Multiplicity, NavigationProperty, Primitive, Property,
    PropertyKind, SetId, TypeId,
};
use tollgate_wire::entry::Entry;
use tollgate_wire::value::Value;

use crate::sqlite::{Location, SqliteConnection, SqliteDatabase};
use crate::{Discard, Mapping, Store};

const CARRIERS: SetId = SetId(0);
const FLIGHTS: SetId = SetId(1);
const BOOKINGS: SetId = SetId(2);

const TEXT: Primitive = Primitive::String { length_max: 0 };
const PRICE: Primitive = Primitive::Decimal { precision: 15, scale: 4 };

/// Number of each for one of the level above.
const CONNECTIONS: [&str; 2] = ["0017", "0064"];
const DATES: [&str; 6] = ["2011-06-01", "2011-07-01", "2011-08-01", "2011-09-01", "2011-10-01", "2011-11-01"];
const BOOKINGS_OF_EACH: usize = 400;

/// Carriers, flights and bookings.
pub(crate) fn flights() -> Model {
    let mut model = model(&[
        ("Carrier", &[("carrid", TEXT)], 1),
        ("Flight", &[("carrid", TEXT), ("connid", TEXT), ("fldate", Primitive::Date), ("PRICE", PRICE)], 3),
        (
            "Booking",
            &[("carrid", TEXT), ("connid", TEXT), ("fldate", Primitive::Date), ("bookid", TEXT), ("PASSNAME", TEXT)],
            4,
        ),
    ]);
    let navigation = |name: &str, target, multiplicity, leaves: usize| NavigationProperty {
        name: name.into(),
        target,
        multiplicity,
        on: (0..leaves).map(|leaf| (LeafId(leaf), LeafId(leaf))).collect(),
        association: String::new(),
        partner: None,
    };
    model.entity_types[1].navigation = vec![
        navigation("FlightCarrier", CARRIERS, Multiplicity::One, 1),
        navigation("flightBookings", BOOKINGS, Multiplicity::Many, 3),
    ];
    model
}

/// One set of records, whose first leaf is the key.
pub(crate) fn records() -> Model {
    let mut leaves = [("", TEXT); 16];
    let names = ["ID", "b", "c", "d", "e", "stringField", "g", "booleanField", "i", "j", "k", "l", "m", "n", "o", "p"];
    leaves.iter_mut().zip(names).for_each(|(leaf, name)| leaf.0 = name);
    model(&[("TestRecords", &leaves, 1)])
}

/// A database in memory with flights in it.
pub(crate) fn filled() -> (SqliteDatabase, SqliteConnection, Model) {
    let model = flights();
    let database = SqliteDatabase::open(Location::Memory, Mapping::by_type_name(&model)).unwrap();
    let mut connection = database.connection().unwrap();
    connection.create_tables(&model).unwrap();
    connection.transaction(|connection| fill(connection, &model)).unwrap();
    (database, connection, model)
}

fn fill(connection: &mut SqliteConnection, model: &Model) -> Result<(), crate::StoreError> {
    let text = |text: &str| Value::String(text.to_owned());
    let date = |date: &str| Value::Text(Primitive::Date, date.to_owned());
    let mut insert = |set, row: &[Value]| connection.insert(model, set, &Entry::of_values(row), None::<&mut Discard>);
    for carrier in ["AA", "LH"] {
        insert(CARRIERS, &[text(carrier)])?;
        for (number, day) in CONNECTIONS.iter().flat_map(|number| DATES.map(|day| (number, day))) {
            let key = [text(carrier), text(number), date(day)];
            let price = [Value::Decimal("422.94".to_owned())];
            insert(FLIGHTS, &[&key[..], &price].concat())?;
            for booking in 0..BOOKINGS_OF_EACH {
                insert(BOOKINGS, &[&key[..], &[text(&booking.to_string()), text("Ada")]].concat())?;
            }
        }
    }
    Ok(())
}

/// A type: its name, its leaves, and the number of key leaves.
type Outline<'a> = (&'a str, &'a [(&'a str, Primitive)], usize);

/// A model of types; sets are named as collections of them.
fn model(types: &[Outline<'_>]) -> Model {
    let property = |(name, primitive): &(&str, Primitive)| Property {
        name: (*name).into(),
        kind: PropertyKind::Primitive(*primitive),
        nullable: false,
        annotations: Annotations::default(),
    };
    let entity_type = |(name, leaves, _): &Outline<'_>| EntityType {
        name: (*name).into(),
        properties: leaves.iter().map(property).collect(),
        ..EntityType::default()
    };
    let set = |(index, (name, ..)): (usize, &Outline<'_>)| EntitySet {
        name: format!("{name}Collection"),
        entity_type: TypeId(index),
        label: None,
        changes: Changes::ALL,
    };
    let mut model = Model {
        entity_types: types.iter().map(entity_type).collect(),
        entity_sets: types.iter().enumerate().map(set).collect(),
        ..Model::default()
    };
    model.finish();
    for (made, (_, _, key)) in model.entity_types.iter_mut().zip(types) {
        made.key = (0..*key).map(LeafId).collect();
    }
    model
}
