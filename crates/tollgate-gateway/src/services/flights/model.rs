//! The model of the flight service, with the names of its public `$metadata`.
//!
//! It declares; rows come from `data.rs`. Everything can be written but keys, which name an entity for good.

use tollgate_wire::edm::{
    Annotations, Association, AssociationEnd, Changes, ComplexId, ComplexType, Effect, EntitySet, EntityType,
    FunctionAnswer, FunctionImport, FunctionMethod, FunctionReturn, LeafId, Model, Multiplicity, NavigationProperty,
    Parameter, Primitive, Property, PropertyKind, Reached, SetId, TypeId,
};

const FLIGHT: usize = 0;
const CARRIER: usize = 1;
const BOOKING: usize = 2;
const TRAVEL_AGENCY: usize = 3;

const FLIGHT_DETAILS: ComplexId = ComplexId(0);
const FLIGHT_AVAILABILITY: ComplexId = ComplexId(1);

/// The model: namespace `RMTSAMPLEFLIGHT`, four entity sets, five function imports.
pub fn model() -> Model {
    let mut model = Model {
        namespace: "RMTSAMPLEFLIGHT".into(),
        container: "RMTSAMPLEFLIGHT_Entities".into(),
        complex_types: vec![flight_details(), flight_availability()],
        entity_types: vec![flight(), carrier(), booking(), travel_agency()],
        entity_sets: [
            ("FlightCollection", FLIGHT, "Flights"),
            ("CarrierCollection", CARRIER, "Airlines"),
            ("BookingCollection", BOOKING, "Flight bookings"),
            ("TravelagencyCollection", TRAVEL_AGENCY, "Travel agencies"),
        ]
        .map(|(name, entity_type, label)| EntitySet {
            name: name.into(),
            entity_type: TypeId(entity_type),
            label: Some(label.into()),
            changes: Changes::ALL,
        })
        .into(),
        ..Model::default()
    };
    model.finish();
    model.function_imports = function_imports(&model);
    resolve_keys(&mut model);
    relate(&mut model);
    model
}

fn flight() -> EntityType {
    entity(
        "Flight",
        "Flight",
        vec![
            key("carrid", string(3), "Airline"),
            key("connid", string(4), "Flight number"),
            key("fldate", Primitive::Date, "Date"),
            Property {
                name: "flightDetails".into(),
                kind: PropertyKind::Complex(FLIGHT_DETAILS),
                nullable: false,
                annotations: annotations("Flight details"),
            },
            with_unit("PRICE", decimal(15, 2), "Airfare", "CURRENCY"),
            with_semantics("CURRENCY", string(5), "Airline currency", "currency-code"),
            plain("PLANETYPE", string(10), "Plane type"),
            plain("SEATSMAX", Primitive::Int32, "Capacity economy class"),
            plain("SEATSOCC", Primitive::Int32, "Occupied economy class"),
            with_unit("PAYMENTSUM", decimal(17, 2), "Total of current bookings", "CURRENCY"),
            plain("SEATSMAX_B", Primitive::Int32, "Capacity business class"),
            plain("SEATSOCC_B", Primitive::Int32, "Occupied business class"),
            plain("SEATSMAX_F", Primitive::Int32, "Capacity first class"),
            plain("SEATSOCC_F", Primitive::Int32, "Occupied first class"),
        ],
    )
}

fn flight_details() -> ComplexType {
    ComplexType {
        name: "FlightDetails".into(),
        properties: vec![
            with_semantics("countryFrom", string(3), "Departure country", "country"),
            plain("cityFrom", string(20), "Departure city"),
            plain("airportFrom", string(3), "Departure airport"),
            with_semantics("countryTo", string(3), "Arrival country", "country"),
            plain("cityTo", string(20), "Arrival city"),
            plain("airportTo", string(3), "Arrival airport"),
            plain("flightTime", Primitive::Int32, "Flight time in minutes"),
            plain("departureTime", Primitive::TimeOfDay { precision: 0 }, "Departure time"),
            plain("arrivalTime", Primitive::TimeOfDay { precision: 0 }, "Arrival time"),
            with_unit("distance", decimal(9, 4), "Distance", "distanceUnit"),
            with_semantics("distanceUnit", string(3), "Unit of the distance", "unit-of-measure"),
            plain("flightType", string(1), "Charter flight"),
            plain("period", Primitive::Byte, "Arrival, days later"),
        ],
    }
}

fn flight_availability() -> ComplexType {
    ComplexType {
        name: "FlightAvailability".into(),
        properties: [
            ("ECONOMAX", "Capacity economy class"),
            ("ECONOFREE", "Free in economy class"),
            ("BUSINMAX", "Capacity business class"),
            ("BUSINFREE", "Free in business class"),
            ("FIRSTMAX", "Capacity first class"),
            ("FIRSTFREE", "Free in first class"),
        ]
        .map(|(name, label)| plain(name, Primitive::Int32, label))
        .into(),
    }
}

fn carrier() -> EntityType {
    EntityType {
        media: true,
        ..entity(
            "Carrier",
            "Airline",
            vec![
                key("carrid", string(3), "Airline"),
                plain("CARRNAME", string(20), "Airline name"),
                with_semantics("CURRCODE", string(5), "Airline currency", "currency-code"),
                with_semantics("URL", string(255), "Home page", "url"),
                unsearchable("mimeType", string(128), "Media type of the logo"),
            ],
        )
    }
}

fn booking() -> EntityType {
    entity(
        "Booking",
        "Flight booking",
        vec![
            key("carrid", string(3), "Airline"),
            key("connid", string(4), "Flight number"),
            key("fldate", Primitive::Date, "Date"),
            key("bookid", string(8), "Booking number"),
            plain("CUSTOMID", string(8), "Customer number"),
            plain("CUSTTYPE", string(1), "Customer type"),
            plain("SMOKER", string(1), "Smoker"),
            with_semantics("WUNIT", string(3), "Unit of the weight", "unit-of-measure"),
            with_unit("LUGGWEIGHT", decimal(9, 4), "Weight of luggage", "WUNIT"),
            plain("INVOICE", string(1), "Invoice"),
            plain("CLASS", string(1), "Flight class"),
            with_unit("FORCURAM", decimal(15, 14), "Price in foreign currency", "FORCURKEY"),
            with_semantics("FORCURKEY", string(5), "Payment currency", "currency-code"),
            with_unit("LOCCURAM", decimal(15, 14), "Price in local currency", "LOCCURKEY"),
            with_semantics("LOCCURKEY", string(5), "Airline currency", "currency-code"),
            plain("ORDER_DATE", Primitive::Date, "Booking date"),
            plain("COUNTER", string(8), "Sales counter"),
            plain("AGENCYNUM", string(8), "Agency number"),
            plain("CANCELLED", string(1), "Cancelled"),
            plain("RESERVED", string(1), "Reserved"),
            with_semantics("PASSNAME", string(25), "Passenger name", "name"),
            plain("PASSFORM", string(15), "Form of address"),
            with_semantics("PASSBIRTH", Primitive::Date, "Birth date", "bday"),
        ],
    )
}

fn travel_agency() -> EntityType {
    entity(
        "Travelagency",
        "Travel agency",
        vec![
            key("agencynum", string(8), "Agency number"),
            with_semantics("NAME", string(25), "Agency name", "org"),
            with_semantics("STREET", string(30), "Street", "street"),
            with_semantics("POSTBOX", string(10), "PO box", "pobox"),
            with_semantics("POSTCODE", string(10), "Postal code", "zip"),
            with_semantics("CITY", string(25), "City", "city"),
            with_semantics("COUNTRY", string(3), "Country", "country"),
            with_semantics("REGION", string(3), "Region", "region"),
            with_semantics("TELEPHONE", string(30), "Telephone", "tel"),
            with_semantics("URL", string(255), "Home page", "url"),
            plain("LANGU", string(2), "Language"),
            with_semantics("CURRENCY", string(5), "Agency currency", "currency-code"),
            unsearchable("mimeType", string(128), "Media type of the home page"),
        ],
    )
}

fn function_imports(model: &Model) -> Vec<FunctionImport> {
    let telephone = model.entity_types[TRAVEL_AGENCY].leaf("TELEPHONE").expect("an agency has a telephone");
    let one_flight = || {
        vec![
            Parameter::new("airlineid", string(3)),
            Parameter::new("connectionid", string(4)),
            Parameter::new("flightdate", Primitive::Date),
        ]
    };
    let of_one_flight = |values: &[&str]| FunctionAnswer::Computed {
        set: SetId(FLIGHT),
        key: vec![0, 1, 2],
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    let details: Vec<String> =
        flight_details().properties.iter().map(|property| format!("flightDetails/{}", property.name)).collect();
    let details: Vec<&str> = details.iter().map(String::as_str).collect();
    vec![
        FunctionImport {
            name: "CheckFlightAvailability".into(),
            method: FunctionMethod::Get,
            bound: None,
            parameters: one_flight(),
            returns: FunctionReturn::Complex(FLIGHT_AVAILABILITY),
            answer: of_one_flight(&[
                "SEATSMAX",
                "SEATSMAX sub SEATSOCC",
                "SEATSMAX_B",
                "SEATSMAX_B sub SEATSOCC_B",
                "SEATSMAX_F",
                "SEATSMAX_F sub SEATSOCC_F",
            ]),
        },
        FunctionImport {
            name: "GetAvailableFlights".into(),
            method: FunctionMethod::Get,
            bound: None,
            parameters: vec![
                Parameter::new("fromdate", Primitive::Date),
                Parameter::new("todate", Primitive::Date),
                Parameter::new("cityfrom", string(20)),
                Parameter::new("cityto", string(20)),
            ],
            returns: FunctionReturn::Entities(SetId(FLIGHT)),
            // A place is free in any class.
            answer: FunctionAnswer::Matching(
                "fldate ge @fromdate and fldate le @todate and flightDetails/cityFrom eq @cityfrom \
                 and flightDetails/cityTo eq @cityto and (SEATSOCC lt SEATSMAX or SEATSOCC_B lt SEATSMAX_B \
                 or SEATSOCC_F lt SEATSMAX_F)"
                    .into(),
            ),
        },
        FunctionImport {
            name: "GetFlightDetails".into(),
            method: FunctionMethod::Get,
            bound: None,
            parameters: one_flight(),
            returns: FunctionReturn::Complex(FLIGHT_DETAILS),
            answer: of_one_flight(&details),
        },
        FunctionImport {
            name: "GetAgencyDetails".into(),
            method: FunctionMethod::Get,
            bound: None,
            parameters: vec![Parameter::new("agencynum", string(8))],
            returns: FunctionReturn::Entity(SetId(TRAVEL_AGENCY)),
            answer: FunctionAnswer::Keyed(vec![0]),
        },
        FunctionImport {
            name: "UpdateAgencyPhoneNo".into(),
            method: FunctionMethod::Put,
            bound: None,
            parameters: vec![Parameter::new("agencynum", string(8)), Parameter::new("telephone", string(30))],
            returns: FunctionReturn::Entity(SetId(TRAVEL_AGENCY)),
            answer: FunctionAnswer::Acting(Effect {
                set: SetId(TRAVEL_AGENCY),
                reached: Reached::Keyed(vec![0]),
                condition: None,
                values: vec![(telephone, "@telephone".into())],
            }),
        },
    ]
}

fn resolve_keys(model: &mut Model) {
    for entity_type in &mut model.entity_types {
        entity_type.key = (0..entity_type.leaves.len())
            .map(LeafId)
            .filter(|leaf| KEY_NAMES.contains(&entity_type.leaves[leaf.0].path.as_str()))
            .collect();
    }
    let booking = &mut model.entity_types[BOOKING];
    booking.etag = booking.leaf("ORDER_DATE");
    let carrier = &mut model.entity_types[CARRIER];
    carrier.media_type = carrier.leaf("mimeType");
    carrier.stream = Some(LOGO.into());
}

/// The logo of a carrier: its name, written as SVG.
const LOGO: &str = "concat(concat('<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"240\" height=\"48\"><text x=\"8\" y=\"32\" \
                    font-family=\"sans-serif\" font-size=\"24\">', \
                    replace(replace(CARRNAME, '&', '&amp;'), '<', '&lt;')), '</text></svg>')";

/// Names that belong to the key anywhere in this model.
const KEY_NAMES: [&str; 5] = ["carrid", "connid", "fldate", "bookid", "agencynum"];

/// Leaves shared by two types, as names on the principal's and the dependent's side alike.
const FLIGHT_KEY: [&str; 3] = ["carrid", "connid", "fldate"];

fn relate(model: &mut Model) {
    // The first booking of a flight, by its number, stands for all in this relation.
    relation(
        model,
        "BookingFlight",
        &FLIGHT_KEY,
        End { set: FLIGHT, role: "Flight", multiplicity: Multiplicity::One, navigation: Some("flightbooking") },
        End { set: BOOKING, role: "Booking", multiplicity: Multiplicity::ZeroOrOne, navigation: Some("bookedFlight") },
    );
    relation(
        model,
        "FlightBookings",
        &FLIGHT_KEY,
        End { set: FLIGHT, role: "Flight", multiplicity: Multiplicity::One, navigation: Some("flightBookings") },
        End { set: BOOKING, role: "Booking", multiplicity: Multiplicity::Many, navigation: None },
    );
    relation(
        model,
        "CarrierToFlight",
        &["carrid"],
        End { set: CARRIER, role: "Carrier", multiplicity: Multiplicity::One, navigation: Some("carrierFlights") },
        End { set: FLIGHT, role: "Flight", multiplicity: Multiplicity::Many, navigation: Some("FlightCarrier") },
    );
}

/// One end of an association; `navigation` leads from here to the other end.
struct End {
    set: usize,
    role: &'static str,
    multiplicity: Multiplicity,
    navigation: Option<&'static str>,
}

fn relation(model: &mut Model, name: &str, shared: &[&str], principal: End, dependent: End) {
    let leaf = |set: usize, path: &str| {
        model.entity_types[set].leaf(path).expect("the names of a relation are leaves of both types")
    };
    let constraint: Vec<_> = shared.iter().map(|path| (leaf(principal.set, path), leaf(dependent.set, path))).collect();
    let reversed: Vec<_> = constraint.iter().map(|(principal, dependent)| (*dependent, *principal)).collect();
    for (from, to, on) in [(&principal, &dependent, &constraint), (&dependent, &principal, &reversed)] {
        let Some(navigation) = from.navigation else { continue };
        model.entity_types[from.set].navigation.push(NavigationProperty {
            name: navigation.into(),
            target: SetId(to.set),
            multiplicity: to.multiplicity,
            on: on.clone(),
            association: name.into(),
            partner: to.navigation.map(str::to_owned),
        });
    }
    model.associations.push(Association {
        name: name.into(),
        ends: [principal, dependent].map(|end| AssociationEnd {
            role: end.role.into(),
            set: SetId(end.set),
            multiplicity: end.multiplicity,
        }),
        constraint,
    });
}

fn entity(name: &str, label: &str, properties: Vec<Property>) -> EntityType {
    EntityType { name: name.into(), label: Some(label.into()), properties, ..EntityType::default() }
}

fn annotations(label: &str) -> Annotations {
    Annotations { label: Some(label.into()), ..Annotations::default() }
}

fn plain(name: &str, primitive: Primitive, label: &str) -> Property {
    Property {
        name: name.into(),
        kind: PropertyKind::Primitive(primitive),
        nullable: true,
        annotations: annotations(label),
    }
}

fn key(name: &str, primitive: Primitive, label: &str) -> Property {
    Property { nullable: false, ..plain(name, primitive, label) }
}

fn with_unit(name: &str, primitive: Primitive, label: &str, unit: &str) -> Property {
    let mut property = plain(name, primitive, label);
    property.annotations.unit = Some(unit.into());
    property
}

fn with_semantics(name: &str, primitive: Primitive, label: &str, semantics: &str) -> Property {
    let mut property = plain(name, primitive, label);
    property.annotations.semantics = Some(semantics.into());
    property
}

fn unsearchable(name: &str, primitive: Primitive, label: &str) -> Property {
    let mut property = plain(name, primitive, label);
    property.annotations.not_sortable = true;
    property.annotations.not_filterable = true;
    property
}

fn string(length_max: u32) -> Primitive {
    Primitive::String { length_max }
}

fn decimal(precision: u16, scale: u16) -> Primitive {
    Primitive::Decimal { precision, scale }
}
