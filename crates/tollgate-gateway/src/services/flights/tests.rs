//! Tests of the flight service's model and data set.

use tollgate_wire::edm::{Primitive, SetId};
use tollgate_wire::plan::{Key, Options, Plan, Shape};
use tollgate_wire::value::{Cell, Row, Value};

use super::{SEED, create, mapping, model};
use crate::store::sqlite::{Location, SqliteConnection, SqliteDatabase};
use crate::store::{Flow, RowSink};

/// Every cell of every row as text.
#[derive(Default)]
struct Table {
    columns: usize,
    rows: Vec<Vec<String>>,
}

impl RowSink for Table {
    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        let text = |column| match row.cell(column) {
            Cell::Null => "null".to_owned(),
            Cell::Integer(integer) => integer.to_string(),
            Cell::Real(real) => real.to_string(),
            Cell::Text(bytes) | Cell::Bytes(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        };
        self.rows.push((0..self.columns).map(text).collect());
        Flow::Continue
    }
}

fn filled(seed: u64) -> (SqliteDatabase, SqliteConnection) {
    let database = SqliteDatabase::open(Location::Memory, mapping()).unwrap();
    let mut connection = database.connection().unwrap();
    create(&mut connection, seed).unwrap();
    (database, connection)
}

fn rows(connection: &SqliteConnection, set: SetId, key: Option<Key>) -> Vec<Vec<String>> {
    let model = model();
    let shape = if key.is_some() { Shape::Entity } else { Shape::Collection };
    let plan = Plan { root: set, key, steps: Vec::new(), shape, options: Options::default() };
    let mut table = Table { columns: model.type_of(set).leaves.len(), rows: Vec::new() };
    connection.read(&model, &plan, None, &mut table).unwrap();
    table.rows
}

fn flight_0017(date: &str) -> Vec<String> {
    let (_database, connection) = filled(SEED);
    let key = vec![Value::String("AA".into()), Value::String("0017".into()), Value::Text(Primitive::Date, date.into())];
    let mut rows = rows(&connection, model().set("FlightCollection").unwrap(), Some(Key(key)));
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

#[test]
fn the_sample_flight_of_the_reference_has_its_values() {
    insta::assert_snapshot!(flight_0017("2013-09-25").join("|"), @"AA|0017|2013-09-25|US|new york|JFK|US|SAN FRANCISCO|SFO|361|11:00:00|14:01:00|2573.0000|SMI||0|422.94|USD|747-400|385|368|187282.26|31|31|21|19");
}

#[test]
fn the_flight_of_the_seeds_url_exists() {
    insta::assert_snapshot!(flight_0017("2011-06-01").join("|"), @"AA|0017|2011-06-01|US|new york|JFK|US|SAN FRANCISCO|SFO|361|11:00:00|14:01:00|2573.0000|SMI||0|422.94|USD|747-400|385|331|170952.34|31|26|21|18");
}

#[test]
fn the_data_set_is_the_same_on_every_machine() {
    let (_database, connection) = filled(SEED);
    let mut seen = String::new();
    for (index, set) in model().entity_sets.iter().enumerate() {
        let rows = rows(&connection, SetId(index), None);
        let all: String = rows.iter().map(|row| row.join("|") + "\n").collect();
        seen += &format!("{}: {} rows, checksum {:016x}\n", set.name, rows.len(), fnv1a(all.as_bytes()));
    }
    insta::assert_snapshot!(seen, @r#"
    FlightCollection: 400 rows, checksum e74108266c56245e
    CarrierCollection: 12 rows, checksum 4e2263d0448c3ce6
    BookingCollection: 3219 rows, checksum b41f55de3cedb645
    TravelagencyCollection: 24 rows, checksum 5b316c2aa80fee74
    "#);
}

#[test]
fn another_seed_gives_other_bookings_for_the_same_flights() {
    let (bookings, flights) = (SetId(2), SetId(0));
    let ((_one_database, one), (_two_database, two)) = (filled(1), filled(2));
    assert_ne!(rows(&one, bookings, None), rows(&two, bookings, None));
    let keys =
        |connection| rows(connection, flights, None).into_iter().map(|row| row[..3].to_vec()).collect::<Vec<_>>();
    assert_eq!(keys(&one), keys(&two));
}

#[test]
fn every_value_fits_the_type_that_the_metadata_declares() {
    let model = model();
    let (_database, connection) = filled(SEED);
    for index in 0..model.entity_sets.len() {
        let entity_type = model.type_of(SetId(index));
        for row in rows(&connection, SetId(index), None) {
            for (leaf, value) in entity_type.leaves.iter().zip(&row).filter(|(_, value)| *value != "null") {
                let fits = match leaf.primitive {
                    Primitive::String { length_max } => value.chars().count() <= length_max as usize,
                    Primitive::Decimal { precision, scale } => tollgate_wire::decimal::fits(value, precision, scale),
                    _ => true,
                };
                assert!(fits, "{} of {}: {value}", leaf.path, entity_type.name);
            }
        }
    }
}

#[test]
fn creating_it_twice_changes_nothing() {
    let (_database, mut connection) = filled(SEED);
    create(&mut connection, SEED + 1).unwrap();
    assert_eq!(rows(&connection, SetId(0), None).len(), 400);
}

#[test]
fn associations_and_navigation_agree() {
    let model = model();
    let mut seen = String::new();
    for entity_type in &model.entity_types {
        for navigation in &entity_type.navigation {
            let target = model.type_of(navigation.target);
            let on: Vec<_> = navigation
                .on
                .iter()
                .map(|(here, there)| format!("{}={}", entity_type.leaves[here.0].path, target.leaves[there.0].path))
                .collect();
            seen += &format!(
                "{}.{} -> {} {:?} by {} on {} back {}\n",
                entity_type.name,
                navigation.name,
                target.name,
                navigation.multiplicity,
                navigation.association,
                on.join(","),
                navigation.partner.as_deref().unwrap_or("-"),
            );
        }
    }
    insta::assert_snapshot!(seen, @r#"
    Flight.flightbooking -> Booking ZeroOrOne by BookingFlight on carrid=carrid,connid=connid,fldate=fldate back bookedFlight
    Flight.flightBookings -> Booking Many by FlightBookings on carrid=carrid,connid=connid,fldate=fldate back -
    Flight.FlightCarrier -> Carrier One by CarrierToFlight on carrid=carrid back carrierFlights
    Carrier.carrierFlights -> Flight Many by CarrierToFlight on carrid=carrid back FlightCarrier
    Booking.bookedFlight -> Flight One by BookingFlight on carrid=carrid,connid=connid,fldate=fldate back flightbooking
    "#);
}

/// FNV-1a of 64 bits: short, and the same everywhere.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn a_file_of_another_layout_is_refused() {
    let database = SqliteDatabase::open(Location::Memory, mapping()).unwrap();
    let mut connection = database.connection().unwrap();
    connection.set_layout_version(99).unwrap();
    let error = create(&mut connection, SEED).unwrap_err();
    assert_eq!(error.to_string(), "the database has layout version 99, this program needs 1");
}
