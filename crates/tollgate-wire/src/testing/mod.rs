//! A small flight service by hand, for the tests of this crate: names and types of the real one, few of its parts.

use crate::edm::{
    Annotations, Association, AssociationEnd, Changes, ComplexId, ComplexType, EntitySet, EntityType, FunctionAnswer,
    FunctionImport, FunctionMethod, FunctionReturn, LeafId, Model, Multiplicity, NavigationProperty, Parameter,
    Primitive, Property, PropertyKind, Provided, SetId, TypeId,
};
use crate::value::{Cell, Value};

mod staff;

pub(crate) use staff::{PEOPLE, staff};

pub(crate) const FLIGHTS: SetId = SetId(0);
pub(crate) const CARRIERS: SetId = SetId(1);
pub(crate) const BOOKINGS: SetId = SetId(2);
/// A set with a property of every primitive type.
pub(crate) const SAMPLES: SetId = SetId(3);

const DATE: Primitive = Primitive::Date;
const INT: Primitive = Primitive::Int32;
const TIME: Primitive = Primitive::TimeOfDay { precision: 0 };

const fn text(length_max: u32) -> Primitive {
    Primitive::String { length_max }
}

const fn decimal(precision: u16, scale: u16) -> Primitive {
    Primitive::Decimal { precision, scale }
}

fn property(name: &str, primitive: Primitive) -> Property {
    let annotations = Annotations { label: Some(format!("Label of {name}")), ..Annotations::default() };
    Property { name: name.to_owned(), kind: PropertyKind::Primitive(primitive), nullable: true, annotations }
}

fn key(name: &str, primitive: Primitive) -> Property {
    let mut key = property(name, primitive);
    key.nullable = false;
    key.annotations.not_updatable = true;
    key
}

fn properties(list: &[(&str, Primitive)]) -> Vec<Property> {
    list.iter().map(|(name, primitive)| property(name, *primitive)).collect()
}

/// The model.
pub(crate) fn model() -> Model {
    let details = ComplexType {
        name: "FlightDetails".to_owned(),
        properties: properties(&[
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
        ]),
    };
    let mut flight = vec![key("carrid", text(3)), key("connid", text(4)), key("fldate", DATE)];
    flight.push(Property {
        name: "flightDetails".to_owned(),
        kind: PropertyKind::Complex(ComplexId(0)),
        nullable: false,
        annotations: Annotations::default(),
    });
    flight.extend(properties(&[
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
    ]));
    flight[4].annotations.unit = Some("CURRENCY".to_owned());
    flight[5].annotations.semantics = Some("currency-code".to_owned());
    flight[6].annotations.not_sortable = true;
    let carrier = vec![key("carrid", text(3)), property("CARRNAME", text(20)), property("mimeType", text(128))];
    let mut booking = vec![key("carrid", text(3)), key("connid", text(4)), key("fldate", DATE), key("bookid", text(8))];
    booking.extend(properties(&[
        ("LUGGWEIGHT", decimal(9, 4)),
        ("ORDER_DATE", Primitive::DateTime { precision: 0 }),
        ("PASSNAME", text(25)),
    ]));
    let mut sample = vec![key("id", Primitive::Int64), key("name", text(0))];
    sample.extend(properties(&[
        ("boolean", Primitive::Boolean),
        ("byte", Primitive::Byte),
        ("sbyte", Primitive::SByte),
        ("int16", Primitive::Int16),
        ("int32", INT),
        ("int64", Primitive::Int64),
        ("single", Primitive::Single),
        ("double", Primitive::Double),
        ("decimal", decimal(0, 0)),
        ("string", text(0)),
        ("binary", Primitive::Binary { length_max: 0 }),
        ("guid", Primitive::Guid),
        ("date", DATE),
        ("dateTime", Primitive::DateTime { precision: 3 }),
        ("dateTimeOffset", Primitive::DateTimeOffset { precision: 3 }),
        ("time", TIME),
        ("duration", Primitive::Duration),
    ]));
    let entity = |name: &str, properties| EntityType { name: name.to_owned(), properties, ..EntityType::default() };
    let set = |name: &str, entity_type| EntitySet {
        name: name.to_owned(),
        entity_type: TypeId(entity_type),
        label: None,
        changes: Changes::ALL,
    };
    let mut model = Model {
        namespace: "RMTSAMPLEFLIGHT".to_owned(),
        container: "RMTSAMPLEFLIGHT_Entities".to_owned(),
        entity_types: vec![
            entity("Flight", flight),
            entity("Carrier", carrier),
            entity("Booking", booking),
            entity("Sample", sample),
        ],
        complex_types: vec![details],
        entity_sets: vec![
            set("FlightCollection", 0),
            set("CarrierCollection", 1),
            set("BookingCollection", 2),
            set("SampleCollection", 3),
        ],
        ..Model::default()
    };
    model.finish();
    let leaves = |count: usize| (0..count).map(LeafId).collect::<Vec<_>>();
    let same = |count: usize| (0..count).map(|leaf| (LeafId(leaf), LeafId(leaf))).collect::<Vec<_>>();
    let [flight, carrier, booking, sample] = &mut model.entity_types[..] else { panic!("four types stand above") };
    (flight.key, carrier.key, booking.key, sample.key) = (leaves(3), leaves(1), leaves(4), leaves(2));
    carrier.media = true;
    carrier.media_type = carrier.leaf("mimeType");
    booking.etag = booking.leaf("ORDER_DATE");
    let way = |name: &str, target, multiplicity, on, association: &str, partner: Option<&str>| NavigationProperty {
        name: name.to_owned(),
        target,
        multiplicity,
        on: same(on),
        association: association.to_owned(),
        partner: partner.map(str::to_owned),
    };
    flight.navigation = vec![
        way("flightbooking", BOOKINGS, Multiplicity::ZeroOrOne, 3, "BookingFlight", Some("bookedFlight")),
        way("flightBookings", BOOKINGS, Multiplicity::Many, 3, "FlightBookings", None),
        way("FlightCarrier", CARRIERS, Multiplicity::One, 1, "CarrierToFlight", Some("carrierFlights")),
    ];
    carrier.navigation =
        vec![way("carrierFlights", FLIGHTS, Multiplicity::Many, 1, "CarrierToFlight", Some("FlightCarrier"))];
    booking.navigation =
        vec![way("bookedFlight", FLIGHTS, Multiplicity::One, 3, "BookingFlight", Some("flightbooking"))];
    let end = |role: &str, set, multiplicity| AssociationEnd { role: role.to_owned(), set, multiplicity };
    let association = |name: &str, ends, on| Association { name: name.to_owned(), ends, constraint: same(on) };
    let (one, many) = (Multiplicity::One, Multiplicity::Many);
    model.associations = vec![
        association("CarrierToFlight", [end("Carrier", CARRIERS, one), end("Flight", FLIGHTS, many)], 1),
        association(
            "BookingFlight",
            [end("Flight", FLIGHTS, one), end("Booking", BOOKINGS, Multiplicity::ZeroOrOne)],
            3,
        ),
        association("FlightBookings", [end("Flight", FLIGHTS, one), end("Booking", BOOKINGS, many)], 3),
    ];
    model.function_imports = vec![
        FunctionImport {
            name: "GetAvailableFlights".to_owned(),
            method: FunctionMethod::Get,
            bound: None,
            parameters: vec![Parameter::new("fromdate", DATE), Parameter::new("cityfrom", text(20))],
            returns: FunctionReturn::Entities(FLIGHTS),
            answer: FunctionAnswer::Nothing,
        },
        FunctionImport {
            name: "GetFlightDetails".to_owned(),
            method: FunctionMethod::Get,
            bound: None,
            parameters: vec![Parameter::new("airlineid", text(3))],
            returns: FunctionReturn::Complex(ComplexId(0)),
            answer: FunctionAnswer::Nothing,
        },
        FunctionImport {
            name: "UpdateAgencyPhoneNo".to_owned(),
            method: FunctionMethod::Put,
            bound: None,
            parameters: vec![Parameter::new("telephone", text(30))],
            returns: FunctionReturn::Entity(CARRIERS),
            answer: FunctionAnswer::Nothing,
        },
    ];
    model
}

/// A set that is read and insert only, and whose server provides everything in some way.
pub(crate) fn managed() -> Model {
    let entity_type = EntityType {
        name: "Record".to_owned(),
        properties: std::iter::once(key("ID", Primitive::Guid))
            .chain(properties(&[
                ("createdAt", Primitive::DateTimeOffset { precision: 7 }),
                ("createdBy", text(255)),
                ("number", INT),
                ("total", INT),
                ("weight", decimal(9, 4)),
                ("day", DATE),
                ("note", text(0)),
            ]))
            .collect(),
        ..EntityType::default()
    };
    let changes = Changes { insert: true, update: false, delete: false };
    let set = EntitySet { name: "Records".to_owned(), entity_type: TypeId(0), label: None, changes };
    let mut model = Model {
        namespace: "Test".to_owned(),
        container: "Container".to_owned(),
        entity_types: vec![entity_type],
        entity_sets: vec![set],
        ..Model::default()
    };
    model.finish();
    model.entity_types[0].key = vec![LeafId(0)];
    let provided = [
        Provided::Uuid,
        Provided::CreatedAt,
        Provided::CreatedBy,
        Provided::Database,
        Provided::Computed,
        Provided::Default(Value::Decimal("1.5000".to_owned())),
        Provided::Default(Value::Text(DATE, "2013-09-25".to_owned())),
    ];
    model.entity_types[0].provided = provided.into_iter().enumerate().map(|(leaf, how)| (LeafId(leaf), how)).collect();
    model
}

/// The flight of the reference: AA 0017 of 2013-09-25.
pub(crate) fn flight() -> Vec<Cell<'static>> {
    use Cell::{Integer, Text};
    vec![
        Text(b"AA"),
        Text(b"0017"),
        Text(b"2013-09-25"),
        Text(b"US"),
        Text(b"new york"),
        Text(b"JFK"),
        Text(b"US"),
        Text(b"SAN FRANCISCO"),
        Text(b"SFO"),
        Integer(361),
        Text(b"11:00:00"),
        Text(b"14:01:00"),
        Text(b"2573.0000"),
        Text(b"SMI"),
        Text(b""),
        Integer(0),
        Text(b"422.94"),
        Text(b"USD"),
        Text(b"747-400"),
        Integer(385),
        Integer(368),
        Text(b"187282.26"),
        Integer(31),
        Integer(31),
        Integer(21),
        Integer(19),
    ]
}

/// A booking of that flight; its passenger's name needs escaping everywhere.
pub(crate) fn booking() -> Vec<Cell<'static>> {
    use Cell::{Null, Text};
    vec![
        Text(b"AA"),
        Text(b"0017"),
        Text(b"2013-09-25"),
        Text(b"00000001"),
        Null,
        Text(b"2013-08-01T12:30:00"),
        Text(b"O'Neil <\"&\\> M\xc3\xbcller"),
    ]
}

/// A carrier.
pub(crate) fn carrier() -> Vec<Cell<'static>> {
    vec![Cell::Text(b"AA"), Cell::Text(b"American Airlines"), Cell::Text(b"image/png")]
}

/// A document with a line for each tag, read by another parser on the way: it is well-formed, and a snapshot is legible.
pub(crate) fn indented(document: &[u8]) -> String {
    let mut reader = quick_xml::Reader::from_reader(document);
    reader.config_mut().check_end_names = true;
    let mut writer = quick_xml::Writer::new_with_indent(Vec::new(), b' ', 1);
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => break,
            event => writer.write_event(event).unwrap(),
        }
    }
    String::from_utf8(writer.into_inner()).unwrap()
}
