//! A model to parse against: flights as the flight service has them, and `Everything`, with a property of each type.
//! Shared by the tests and the fuzz targets.

use tollgate_wire::edm::{
    Annotations, Changes, ComplexId, ComplexType, EntitySet, EntityType, FunctionAnswer, FunctionImport,
    FunctionMethod, FunctionReturn, LeafId, Model, Multiplicity, NavigationProperty, Parameter, Primitive, Property,
    PropertyKind, SetId, TypeId,
};

/// The model.
pub(crate) fn model() -> Model {
    use Primitive as P;
    let text = |length_max| P::String { length_max };
    let flight = entity(
        "Flight",
        &[
            ("carrid", text(3)),
            ("connid", text(4)),
            ("fldate", P::Date),
            ("PRICE", P::Decimal { precision: 15, scale: 2 }),
            ("CURRENCY", text(5)),
            ("PLANETYPE", text(10)),
            ("SEATSMAX", P::Int32),
            ("SEATSOCC", P::Int32),
            ("PAYMENTSUM", P::Decimal { precision: 17, scale: 2 }),
        ],
    );
    let carrier = EntityType {
        media: true,
        ..entity("Carrier", &[("carrid", text(3)), ("CARRNAME", text(20)), ("URL", text(255))])
    };
    let booking = entity(
        "Booking",
        &[
            ("carrid", text(3)),
            ("connid", text(4)),
            ("fldate", P::Date),
            ("bookid", text(8)),
            ("PASSNAME", text(25)),
            ("ORDER_DATE", P::DateTime { precision: 0 }),
        ],
    );
    let everything = entity("Everything", &EVERYTHING);
    let complex = ComplexType {
        name: "FlightDetails".to_owned(),
        properties: [
            ("cityFrom", text(20)),
            ("flightTime", P::Int32),
            ("departureTime", P::TimeOfDay { precision: 0 }),
            ("distance", P::Decimal { precision: 9, scale: 4 }),
        ]
        .into_iter()
        .map(|(name, primitive)| property(name, PropertyKind::Primitive(primitive)))
        .collect(),
    };
    let mut model = Model {
        namespace: "RMTSAMPLEFLIGHT".to_owned(),
        container: "RMTSAMPLEFLIGHT_Entities".to_owned(),
        entity_types: vec![flight, carrier, booking, everything],
        complex_types: vec![complex],
        entity_sets: ["FlightCollection", "CarrierCollection", "BookingCollection", "EverythingSet"]
            .into_iter()
            .enumerate()
            .map(|(id, name)| EntitySet {
                name: name.to_owned(),
                entity_type: TypeId(id),
                label: None,
                changes: Changes::ALL,
            })
            .collect(),
        enumerations: Vec::new(),
        singletons: Vec::new(),
        associations: Vec::new(),
        function_imports: vec![
            FunctionImport {
                name: "GetAvailableFlights".to_owned(),
                method: FunctionMethod::Get,
                bound: None,
                parameters: vec![Parameter::new("cityfrom", text(20))],
                returns: FunctionReturn::Entities(SetId(0)),
                answer: FunctionAnswer::Nothing,
            },
            FunctionImport {
                name: "FlightsSince".to_owned(),
                method: FunctionMethod::Get,
                bound: None,
                parameters: vec![Parameter::new("airline", text(3)), Parameter::new("since", Primitive::Date)],
                returns: FunctionReturn::Entities(SetId(0)),
                answer: FunctionAnswer::Matching("carrid eq @airline and fldate ge @since".to_owned()),
            },
        ],
    };
    model.entity_types[0].properties.insert(3, property("flightDetails", PropertyKind::Complex(ComplexId(0))));
    model.finish();
    for (entity_type, parts) in [(0, 3), (1, 1), (2, 4), (3, 1)] {
        model.entity_types[entity_type].key = (0..parts).map(LeafId).collect();
    }
    model.entity_types[0].navigation =
        vec![navigation("flightBookings", 2, Multiplicity::Many), navigation("FlightCarrier", 1, Multiplicity::One)];
    model.entity_types[1].navigation = vec![navigation("carrierFlights", 0, Multiplicity::Many)];
    model.entity_types[2].navigation = vec![navigation("bookedFlight", 0, Multiplicity::ZeroOrOne)];
    model
}

/// A model whose only set has a key of one part with that type.
pub(crate) fn keyed_by(primitive: Primitive) -> Model {
    let mut model = Model {
        namespace: "Test".to_owned(),
        container: "Container".to_owned(),
        entity_types: vec![entity("Thing", &[("id", primitive), ("other", primitive)])],
        entity_sets: vec![EntitySet {
            name: "Things".to_owned(),
            entity_type: TypeId(0),
            label: None,
            changes: Changes::ALL,
        }],
        ..Model::default()
    };
    model.finish();
    model.entity_types[0].key = vec![LeafId(0)];
    model
}

/// One of each type.
pub(crate) const EVERYTHING: [(&str, Primitive); 17] = [
    ("id", Primitive::Int64),
    ("boolean", Primitive::Boolean),
    ("byte", Primitive::Byte),
    ("sbyte", Primitive::SByte),
    ("int16", Primitive::Int16),
    ("int32", Primitive::Int32),
    ("single", Primitive::Single),
    ("double", Primitive::Double),
    ("decimal", Primitive::Decimal { precision: 20, scale: 5 }),
    ("text", Primitive::String { length_max: 0 }),
    ("binary", Primitive::Binary { length_max: 0 }),
    ("guid", Primitive::Guid),
    ("date", Primitive::Date),
    ("moment", Primitive::DateTime { precision: 7 }),
    ("instant", Primitive::DateTimeOffset { precision: 7 }),
    ("daytime", Primitive::TimeOfDay { precision: 3 }),
    ("duration", Primitive::Duration),
];

fn entity(name: &str, properties: &[(&str, Primitive)]) -> EntityType {
    EntityType {
        name: name.to_owned(),
        properties: properties
            .iter()
            .map(|(name, primitive)| property(name, PropertyKind::Primitive(*primitive)))
            .collect(),
        ..EntityType::default()
    }
}

fn property(name: &str, kind: PropertyKind) -> Property {
    Property { name: name.to_owned(), kind, nullable: true, annotations: Annotations::default() }
}

fn navigation(name: &str, target: usize, multiplicity: Multiplicity) -> NavigationProperty {
    NavigationProperty {
        name: name.to_owned(),
        target: SetId(target),
        multiplicity,
        on: vec![(LeafId(0), LeafId(0))],
        association: String::new(),
        partner: None,
    }
}
