//! Speed of writing, checking and reading documents, without store or network: bytes per second of CPU time for a list
//! of 400 flights in each format, microseconds for one detail, for following a list's links, for checking a detail and
//! for reading it as a body; at last, microseconds for each record of an array that arrives in parts.
//!
//! `cargo run --release -p tollgate-wire --example throughput [SECONDS PER FIGURE]`
//!
//! Figures of one machine and minute: compare only what one run prints. It deliberately asserts nothing.
#![allow(clippy::print_stdout, reason = "the table is the result")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_wire::body::{ArrayStep, Reader};
use tollgate_wire::content::Checker;
use tollgate_wire::edm::{
    Annotations, Changes, ComplexId, ComplexType, EntitySet, EntityType, LeafId, Model, Multiplicity,
    NavigationProperty, Primitive, Property, PropertyKind, SetId, TypeId,
};
use tollgate_wire::entry::Entry;
use tollgate_wire::format::{Format, Ieee754, Metadata, Padding, Release};
use tollgate_wire::links::{self, Search, Template};
use tollgate_wire::plan::Select;
use tollgate_wire::stencil::{Base, FeedHead, Stencil};
use tollgate_wire::value::Cell;

const FLIGHTS: usize = 400;
const KEY: [&str; 3] = ["carrid", "connid", "fldate"];

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.5);
    let time = Duration::from_secs_f64(seconds);
    let model = model();
    let dates: Vec<String> =
        (0..FLIGHTS).map(|day| format!("20{:02}-{:02}-{:02}", day / 336, day / 28 % 12 + 1, day % 28 + 1)).collect();
    let rows: Vec<Vec<Cell<'_>>> = dates.iter().map(|date| flight(date)).collect();
    let template = Template::parse("/rest/flights/{carrid}/{connid}/{fldate}").expect("the braces are paired");
    let reader = Reader::new(Arc::new(model.clone()));
    let titles = [
        ["", "bytes", "list", "detail", "detail", "links", "check", "read"],
        ["format", "detail", "MB/s", "us", "MB/s", "us/list", "us", "us"],
    ];
    for [first, rest @ ..] in titles {
        println!("{first:<22}{}", rest.map(|title| format!(" {title:>9}")).concat());
    }
    for (name, format) in formats() {
        let stencil = Stencil::compile(&model, SetId(0), format, &Select::All, &[]);
        let base = Base::new("http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/", "2013-09-25T12:00:00Z");
        let mut list = Vec::new();
        let list_s = measure(time, || {
            list.clear();
            let mut writer = stencil.writer(base.clone());
            writer.feed_begin(&mut list, &FeedHead { path: "FlightCollection", count: None });
            for row in &rows {
                writer.entry(&mut list, black_box(&row[..]));
            }
            writer.feed_end(&mut list, None);
            black_box(&list);
        });
        let mut detail = Vec::new();
        let detail_s = measure(time, || {
            detail.clear();
            let mut writer = stencil.writer(base.clone());
            writer.document_begin(&mut detail);
            writer.entry(&mut detail, black_box(&rows[0][..]));
            writer.document_end(&mut detail);
            black_box(&detail);
        });
        let search = Search { template: Some(&template), properties: &KEY };
        let links_s = measure(time, || {
            black_box(links::follow(black_box(&list), format, &search)).expect("a list has links");
        });
        let found = links::follow(&list, format, &search).expect("a list has links");
        let checker = Checker::new(format, &KEY);
        let expected = checker.expect(found.links[0].values.iter().map(String::as_str));
        let check_s = measure(time, || {
            assert!(checker.check(black_box(&detail), &expected), "a detail is the flight that the list names");
        });
        let mut entry = Entry::default();
        let read_s = measure(time, || {
            let read = reader.read(black_box(&detail), format, SetId(0), "", &mut entry);
            read.expect("a detail is a body");
            black_box(&entry);
        });
        println!(
            "{name:<22} {:>9} {:>9.0} {:>9.3} {:>9.0} {:>9.0} {:>9.3} {:>9.3}",
            detail.len(),
            list.len() as f64 / list_s / 1e6,
            detail_s * 1e6,
            detail.len() as f64 / detail_s / 1e6,
            links_s * 1e6,
            check_s * 1e6,
            read_s * 1e6,
        );
    }
    arrays(time);
}

/// Reads arrays of the record of the `batching` experiment: 12 properties, in parts of different size.
fn arrays(time: Duration) {
    const RECORDS: usize = 1_000;
    let reader = Reader::new(Arc::new(records()));
    let mut document = b"[".to_vec();
    for number in 0..RECORDS {
        let id = format!("{number:08x}-0123-4567-89ab-0123456789ab");
        let record = format!(
            r#"{{"ID":"{id}","stringField":"a text of some length","largeStringField":"{}","booleanField":true,"integerField":123456,"integer64Field":9007199254740993,"decimalField":12345.6789,"doubleField":3.141592653589793,"dateField":"2021-03-04","timeField":"12:34:56","dateTimeField":"2021-03-04T12:34:56Z","timeStampField":"2021-03-04T12:34:56.123Z"}}"#,
            "a long text, as people write it; ".repeat(8),
        );
        document.extend_from_slice(if number == 0 { b"" } else { b"," });
        document.extend_from_slice(record.as_bytes());
    }
    document.push(b']');
    println!("\n{:<22} {:>9} {:>9} {:>9}", "array in parts of", "bytes", "us/record", "MB/s");
    for part in [1 << 10, 16 << 10, 64 << 10, document.len()] {
        let mut entry = Entry::default();
        let seconds = measure(time, || {
            let mut array = reader.array(SetId(0), "", None);
            let mut found = 0;
            for bytes in black_box(&document).chunks(part) {
                array.feed(bytes);
                while array.next(&mut entry).expect("every record is right") == ArrayStep::Entry {
                    black_box(&entry);
                    found += 1;
                }
            }
            assert_eq!(found, RECORDS, "every record is found");
        });
        println!(
            "{part:<22} {:>9} {:>9.3} {:>9.0}",
            document.len() / RECORDS,
            seconds * 1e6 / RECORDS as f64,
            document.len() as f64 / seconds / 1e6,
        );
    }
}

/// The fastest of many short runs, in seconds for one call: what disturbs a run only makes it slower, and a short one has
/// a chance to fit between two disturbances.
fn measure(time: Duration, mut call: impl FnMut()) -> f64 {
    const RUN_S: f64 = 0.000_5;
    let start = Instant::now();
    (0..10).for_each(|_| call());
    let calls = (RUN_S / (start.elapsed().as_secs_f64() / 10.0)).clamp(1.0, 1e5) as u32;
    let mut fastest = f64::INFINITY;
    while start.elapsed() < time {
        let run = Instant::now();
        (0..calls).for_each(|_| call());
        fastest = fastest.min(run.elapsed().as_secs_f64() / f64::from(calls));
    }
    fastest
}

fn formats() -> [(&'static str, Format); 8] {
    let v4 = |metadata| Format::V4Json { metadata, ieee754: Ieee754::Number, release: Release::V40 };
    [
        ("odata-v2-atom", Format::V2Atom),
        ("odata-v2-json", Format::V2Json),
        ("odata-v4-json-none", v4(Metadata::None)),
        ("odata-v4-json", v4(Metadata::Minimal)),
        ("odata-v4-json-full", v4(Metadata::Full)),
        ("rest-json", Format::RestJson),
        ("rest-xml", Format::RestXml { padding: Padding::Without }),
        ("rest-xml-padded", Format::RestXml { padding: Padding::AtomSize }),
    ]
}

fn flight(date: &str) -> Vec<Cell<'_>> {
    use Cell::{Integer, Text};
    let text = |text: &'static str| Text(text.as_bytes());
    let mut row = vec![text("AA"), text("0017"), Text(date.as_bytes())];
    row.extend(["US", "new york", "JFK", "US", "SAN FRANCISCO", "SFO"].map(text));
    row.extend([
        Integer(361),
        text("11:00:00"),
        text("14:01:00"),
        text("2573.0000"),
        text("SMI"),
        text(""),
        Integer(0),
    ]);
    row.extend(["422.94", "USD", "747-400"].map(text));
    row.extend([Integer(385), Integer(368), text("187282.26"), Integer(31), Integer(31), Integer(21), Integer(19)]);
    row
}

fn records() -> Model {
    let text = |length_max| Primitive::String { length_max };
    let properties = [
        ("ID", Primitive::Guid),
        ("stringField", text(255)),
        ("largeStringField", text(0)),
        ("booleanField", Primitive::Boolean),
        ("integerField", Primitive::Int32),
        ("integer64Field", Primitive::Int64),
        ("decimalField", Primitive::Decimal { precision: 18, scale: 4 }),
        ("doubleField", Primitive::Double),
        ("dateField", Primitive::Date),
        ("timeField", Primitive::TimeOfDay { precision: 0 }),
        ("dateTimeField", Primitive::DateTimeOffset { precision: 0 }),
        ("timeStampField", Primitive::DateTimeOffset { precision: 7 }),
    ];
    let record = EntityType {
        name: "TestRecords".to_owned(),
        properties: properties.map(property).to_vec(),
        ..EntityType::default()
    };
    let mut model = Model { entity_types: vec![record], entity_sets: vec![set("TestRecords")], ..Model::default() };
    model.finish();
    model.entity_types[0].key = vec![LeafId(0)];
    model
}

fn property((name, primitive): (&str, Primitive)) -> Property {
    Property {
        name: name.to_owned(),
        kind: PropertyKind::Primitive(primitive),
        nullable: true,
        annotations: Annotations::default(),
    }
}

/// A set of the first type.
fn set(name: &str) -> EntitySet {
    EntitySet { name: name.to_owned(), entity_type: TypeId(0), label: None, changes: Changes::ALL }
}

fn model() -> Model {
    const INT: Primitive = Primitive::Int32;
    const TIME: Primitive = Primitive::TimeOfDay { precision: 0 };
    let text = |length_max| Primitive::String { length_max };
    let decimal = |precision, scale| Primitive::Decimal { precision, scale };
    let details = [
        ("countryFrom", text(3)),
        ("cityFrom", text(20)),
        ("airportFrom", text(3)),
        ("countryTo", text(3)),
        ("cityTo", text(20)),
        ("airportTo", text(3)),
        ("flightTime", INT),
        ("departureTime", TIME),
        ("arrivalTime", TIME),
        ("distance", decimal(9, 4)),
        ("distanceUnit", text(3)),
        ("flightType", text(1)),
        ("period", Primitive::Byte),
    ];
    let mut properties = [("carrid", text(3)), ("connid", text(4)), ("fldate", Primitive::Date)].map(property).to_vec();
    properties.push(Property {
        name: "flightDetails".to_owned(),
        kind: PropertyKind::Complex(ComplexId(0)),
        nullable: false,
        annotations: Annotations::default(),
    });
    let rest = [
        ("PRICE", decimal(15, 2)),
        ("CURRENCY", text(5)),
        ("PLANETYPE", text(10)),
        ("SEATSMAX", INT),
        ("SEATSOCC", INT),
        ("PAYMENTSUM", decimal(17, 2)),
        ("SEATSMAX_B", INT),
        ("SEATSOCC_B", INT),
        ("SEATSMAX_F", INT),
        ("SEATSOCC_F", INT),
    ];
    properties.extend(rest.map(property));
    let way = |name: &str, multiplicity, association: &str| NavigationProperty {
        name: name.to_owned(),
        target: SetId(0),
        multiplicity,
        on: Vec::new(),
        association: association.to_owned(),
        partner: None,
    };
    let navigation = vec![
        way("flightbooking", Multiplicity::ZeroOrOne, "BookingFlight"),
        way("flightBookings", Multiplicity::Many, "FlightBookings"),
        way("FlightCarrier", Multiplicity::One, "CarrierToFlight"),
    ];
    let flight = EntityType { name: "Flight".to_owned(), properties, navigation, ..EntityType::default() };
    let mut model = Model {
        namespace: "RMTSAMPLEFLIGHT".to_owned(),
        container: "RMTSAMPLEFLIGHT_Entities".to_owned(),
        entity_types: vec![flight],
        complex_types: vec![ComplexType {
            name: "FlightDetails".to_owned(),
            properties: details.map(property).to_vec(),
        }],
        entity_sets: vec![set("FlightCollection")],
        ..Model::default()
    };
    model.finish();
    model.entity_types[0].key = vec![LeafId(0), LeafId(1), LeafId(2)];
    model
}
