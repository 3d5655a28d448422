//! Paths and keys, read and written.

use crate::fixture;
use proptest::prelude::*;
use tollgate_wire::date;
use tollgate_wire::edm::{Model, Primitive, Version};
use tollgate_wire::plan::{Key, Plan, Resource, Shape};
use tollgate_wire::url;
use tollgate_wire::value::Value;

const V2: Version = Version::V2;
const V4: Version = Version::V4;

/// The plan in one line: sets, keys, steps and shape.
fn describe(model: &Model, resource: &Resource) -> String {
    let (prefix, plan) = match resource {
        Resource::Read(plan) => ("", plan),
        Resource::References(plan) => ("references to ", plan),
        _ => return format!("{resource:?}"),
    };
    let Plan { root, key, steps, shape, .. } = &**plan;
    let mut out = format!("{prefix}{}", model.entity_sets[root.0].name);
    let mut set = *root;
    let push_key = |out: &mut String, key: &Option<Key>| {
        if let Some(Key(values)) = key {
            let values: Vec<String> = values.iter().map(value).collect();
            *out += &format!("({})", values.join(", "));
        }
    };
    push_key(&mut out, key);
    for step in steps {
        out += &format!(" > {}", model.type_of(set).navigation[step.navigation.0].name);
        push_key(&mut out, &step.key);
        set = step.target;
    }
    let entity_type = model.type_of(set);
    out + &match shape {
        Shape::Property(property) => format!(" . property {}", entity_type.properties[*property].name),
        Shape::Leaf(leaf) => format!(" . leaf {}", entity_type.leaves[leaf.0].path),
        Shape::RawValue(leaf) => format!(" . raw {}", entity_type.leaves[leaf.0].path),
        other => format!(" . {other:?}"),
    }
}

fn value(value: &Value) -> String {
    match value {
        Value::Text(_, text) => text.clone(),
        Value::String(text) => format!("'{text}'"),
        other => format!("{other:?}"),
    }
}

fn check(version: Version, path: &str, expected: &str) {
    let model = fixture::model();
    let found = match url::parse(&model, version, path, None) {
        Ok((resource, _)) => describe(&model, &resource),
        Err(error) => format!("{} {error}", error.status()),
    };
    assert_eq!(found, expected, "{version:?} {path}");
}

#[test]
fn references_stand_behind_links_in_v2_and_before_ref_in_v4() {
    let flights = "references to CarrierCollection('AA') > carrierFlights . Collection";
    check(V2, "CarrierCollection('AA')/$links/carrierFlights", flights);
    check(V4, "CarrierCollection('AA')/carrierFlights/$ref", flights);
    let flight = "references to CarrierCollection('AA') > carrierFlights('AA', '0017', 2011-06-01) . Entity";
    let key = "carrid='AA',connid='0017',fldate=";
    check(V2, &format!("CarrierCollection('AA')/$links/carrierFlights({key}datetime'2011-06-01T00:00:00')"), flight);
    check(V4, &format!("CarrierCollection('AA')/carrierFlights({key}2011-06-01)/$ref"), flight);
    check(V4, "CarrierCollection('a/$ref')", "CarrierCollection('a/$ref') . Entity");
    check(
        V2,
        "CarrierCollection('AA')/$links",
        "404 $links without a navigation property behind it in the path at column 31",
    );
    check(
        V2,
        "CarrierCollection('AA')/$links/CARRNAME",
        "404 Carrier has no navigation property 'CARRNAME' in the path at column 32",
    );
    check(
        V2,
        "CarrierCollection('AA')/$links/carrierFlights/$count",
        "CarrierCollection('AA') > carrierFlights . Count",
    );
    check(
        V2,
        "CarrierCollection('AA')/$links/carrierFlights/$count/x",
        "404 nothing can follow $count in the path at column 54",
    );
    check(
        V4,
        "CarrierCollection('AA')/carrierFlights/$ref/carrid",
        "404 nothing can follow references in the path at column 45",
    );
    check(V4, "CarrierCollection('AA')/$ref", "references to CarrierCollection('AA') . Entity");
    check(V4, "CarrierCollection/$ref", "references to CarrierCollection . Collection");
    check(V4, "CarrierCollection('AA')/CARRNAME/$ref", "501 $ref is not implemented in the path at column 34");
}

#[test]
fn a_path_names_sets_entities_and_their_parts() {
    for version in [V2, V4] {
        check(version, "", "ServiceDocument");
        check(version, "$metadata", "Metadata");
        check(version, "$batch", "Batch");
        check(version, "GetAvailableFlights", "Function(0)");
        check(version, "FlightCollection", "FlightCollection . Collection");
        check(version, "FlightCollection/", "FlightCollection . Collection");
        check(version, "FlightCollection()", "FlightCollection . Collection");
        check(version, "RMTSAMPLEFLIGHT_Entities.FlightCollection/$count", "FlightCollection . Count");
        check(version, "CarrierCollection('AA')", "CarrierCollection('AA') . Entity");
        check(version, "CarrierCollection(carrid='AA')", "CarrierCollection('AA') . Entity");
        check(version, "CarrierCollection%28%27AA%27%29", "CarrierCollection('AA') . Entity");
        check(version, "CarrierCollection('O%27%27Neil%2F%25')", "CarrierCollection('O'Neil/%') . Entity");
        check(version, "CarrierCollection('a/b')/CARRNAME", "CarrierCollection('a/b') . leaf CARRNAME");
        check(version, "CarrierCollection('AA')/CARRNAME/$value", "CarrierCollection('AA') . raw CARRNAME");
        check(
            version,
            "CarrierCollection('AA')/carrierFlights",
            "CarrierCollection('AA') > carrierFlights . Collection",
        );
        check(
            version,
            "CarrierCollection('AA')/carrierFlights/$count",
            "CarrierCollection('AA') > carrierFlights . Count",
        );
    }
}

#[test]
fn keys_have_the_literals_of_their_version() {
    let flight = "FlightCollection('AA', '0017', 2013-09-25) . Entity";
    check(V2, "FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00:00:00')", flight);
    check(V2, "FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')", flight);
    check(V2, "FlightCollection( fldate = datetime'2013-09-25T00:00' , connid='0017' , carrid='AA' )", flight);
    check(V2, "FlightCollection(carrid='AA',connid='0017',fldate='20130925')", flight);
    check(V4, "FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)", flight);
    check(
        V4,
        "FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/flightDetails/distance/$value",
        "FlightCollection('AA', '0017', 2013-09-25) . raw flightDetails/distance",
    );
    check(
        V4,
        "FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/flightDetails",
        "FlightCollection('AA', '0017', 2013-09-25) . property flightDetails",
    );
    check(
        V2,
        "FlightCollection(carrid='AA',connid='0017',fldate='20130925')/flightBookings(carrid='AA',connid='0017',fldate='20130925',bookid='1')/bookedFlight/PRICE",
        "FlightCollection('AA', '0017', 2013-09-25) > flightBookings('AA', '0017', 2013-09-25, '1') > bookedFlight . leaf PRICE",
    );
    check(V2, "EverythingSet(5L)", "EverythingSet(Integer(5)) . Entity");
    check(V4, "EverythingSet(-9223372036854775808)", "EverythingSet(Integer(-9223372036854775808)) . Entity");
}

#[test]
fn a_wrong_path_says_where_and_what_would_be_right() {
    check(
        V2,
        "FlightColection",
        "404 unknown entity set 'FlightColection' in the path at column 1: did you mean FlightCollection?",
    );
    check(
        V2,
        "zzz",
        "404 unknown entity set 'zzz' in the path at column 1: there are FlightCollection, CarrierCollection, BookingCollection, EverythingSet",
    );
    check(V2, "$metadat", "404 unknown resource '$metadat' in the path at column 1: did you mean $metadata?");
    check(V2, "$metadata/x", "404 nothing can follow '$metadata' in the path at column 11");
    check(
        V2,
        "FlightCollection/PRICE",
        "404 'PRICE' cannot follow the collection 'FlightCollection' in the path at column 18: name one entity by its key first",
    );
    check(V2, "FlightCollection//PRICE", "400 an empty segment in the path at column 18");
    check(
        V2,
        "CarrierCollection('AA')/CARNAME",
        "404 Carrier has no property 'CARNAME' in the path at column 25: Carrier has CARRNAME",
    );
    check(
        V2,
        "CarrierCollection('AA')/CARRNAME/x",
        "404 'x' cannot follow the property 'CARRNAME' in the path at column 34: only $value can",
    );
    check(
        V2,
        "CarrierCollection('AA",
        "400 a parenthesis that is not closed at the segment's end in the path at column 18: a quote inside of a string is written twice",
    );
    check(
        V2,
        "CarrierCollection(AA)",
        "400 expected a literal for the key property 'carrid' in the path at column 19: expected (carrid='…')",
    );
    check(
        V2,
        "CarrierCollection('AA'x)",
        "400 expected ',' or ')' in the key, found 'x' in the path at column 23: expected (carrid='…')",
    );
    check(
        V2,
        "CarrierCollection(5)",
        "400 the key property 'carrid' is Edm.String, not Edm.Int32 in the path at column 19: write carrid='…'",
    );
    check(V2, "CarrierCollection(null)", "400 the key property 'carrid' cannot be null in the path at column 19");
    check(
        V2,
        "FlightCollection('AA')",
        "400 the key of Flight has 3 parts, each needs its name in the path at column 18: expected (carrid='…',connid='…',fldate=datetime'2013-09-25T00:00:00')",
    );
    check(
        V4,
        "FlightCollection(carrid='AA')",
        "400 the key property 'connid' is missing in the path at column 18: expected (carrid='…',connid='…',fldate=2013-09-25)",
    );
    check(
        V4,
        "FlightCollection(carid='AA')",
        "400 unknown key property 'carid' in the path at column 18: expected (carrid='…',connid='…',fldate=2013-09-25)",
    );
    check(
        V4,
        "FlightCollection(carrid='AA',carrid='AA')",
        "400 the key property 'carrid' stands twice in the path at column 30",
    );
    check(
        V4,
        "FlightCollection(carrid='AA',connid='0017',fldate='20130925')",
        "400 the key property 'fldate' is Edm.Date, not Edm.String in the path at column 51: write fldate=2013-09-25",
    );
    check(
        V2,
        "FlightCollection(carrid='Ä',connid='0017',fldate=datetime'2013-02-30T00:00:00')",
        "400 '2013-02-30T00:00:00' is no datetime in the path at column 50: expected datetime'2013-09-25T00:00:00'",
    );
    check(
        V2,
        "FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)",
        "400 '2013-09-25' is a literal of OData V4 in the path at column 51: V2 writes datetime'2013-09-25T00:00:00', time'PT11H00M00S' and guid'…'",
    );
    check(
        V4,
        "EverythingSet(9223372036854775808)",
        "400 the key property 'id' is Edm.Int64, not Edm.Decimal in the path at column 15: write id=1",
    );
    check(
        V2,
        "CarrierCollection%2F$count",
        "400 an encoded slash outside of quotes in the path at column 18: write '/' between segments",
    );
    check(
        V2,
        "CarrierCollection('%zz')",
        "400 '%' is not followed by two hexadecimal digits in the path at column 20: write a percent sign as %25",
    );
    check(
        V2,
        &format!("CarrierCollection('AA'){}", "/carrierFlights".repeat(20)),
        "404 'carrierFlights' cannot follow the collection 'FlightCollection' in the path at column 40: only a key in parentheses or $count can",
    );
}

#[test]
fn what_is_not_built_is_refused_by_its_name() {
    check(
        V2,
        "CarrierCollection('AA')/$value",
        "501 the media stream of an entity ($value) is not implemented in the path at column 25",
    );
    check(V4, "$all", "501 $all is not implemented in the path at column 1");
    check(V4, "$crossjoin(A,B)", "501 $crossjoin is not implemented in the path at column 1");
    check(V4, "FlightCollection/$filter(PRICE gt 5)", "501 $filter is not implemented in the path at column 18");
    check(
        V4,
        "FlightCollection/Model.Special",
        "501 the type cast or bound operation 'Model.Special' is not implemented in the path at column 18",
    );
}

fn key_value() -> impl Strategy<Value = (Primitive, Value)> {
    use Primitive as P;
    let text = |primitive: Primitive, text: String| (primitive, Value::Text(primitive, text));
    let moment = (-60_000_000_000_000i64..250_000_000_000_000).prop_map(|ms| date::from_epoch_ms(ms).unwrap());
    prop_oneof![
        "\\PC{0,12}".prop_map(|text| (P::String { length_max: 0 }, Value::String(text))),
        "['/%?#&+ ()=,;:@äΔ😀\\\\\"<>]{0,12}".prop_map(|text| (P::String { length_max: 0 }, Value::String(text))),
        any::<bool>().prop_map(|value| (P::Boolean, Value::Boolean(value))),
        any::<u8>().prop_map(|value| (P::Byte, Value::Integer(i64::from(value)))),
        any::<i8>().prop_map(|value| (P::SByte, Value::Integer(i64::from(value)))),
        any::<i16>().prop_map(|value| (P::Int16, Value::Integer(i64::from(value)))),
        any::<i32>().prop_map(|value| (P::Int32, Value::Integer(i64::from(value)))),
        any::<i64>().prop_map(|value| (P::Int64, Value::Integer(value))),
        any::<f64>()
            .prop_filter("NaN is no key", |value| !value.is_nan())
            .prop_map(|value| (P::Double, Value::Real(value))),
        "-?[1-9][0-9]{0,20}(\\.[0-9]{1,10})?"
            .prop_map(|digits| (P::Decimal { precision: 0, scale: 0 }, Value::Decimal(digits))),
        proptest::collection::vec(any::<u8>(), 0..20)
            .prop_map(|bytes| (P::Binary { length_max: 0 }, Value::Binary(bytes))),
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}".prop_map(move |guid| text(P::Guid, guid)),
        moment.clone().prop_map(move |moment| text(P::Date, moment.split_once('T').unwrap().0.to_owned())),
        moment.clone().prop_map(move |moment| text(P::DateTime { precision: 3 }, moment)),
        moment.clone().prop_map(move |moment| text(P::DateTimeOffset { precision: 3 }, moment + "Z")),
        moment
            .prop_map(move |moment| text(P::TimeOfDay { precision: 3 }, moment.split_once('T').unwrap().1.to_owned())),
        (0u32..100, 1u32..60)
            .prop_map(move |(days, hours)| text(P::Duration, date::duration(&format!("P{days}DT{hours}H")).unwrap())),
    ]
}

proptest! {
    #[test]
    fn a_written_key_reads_back_as_the_same_key((primitive, value) in key_value(), version in prop_oneof![Just(V2), Just(V4)]) {
        let model = fixture::keyed_by(primitive);
        let mut path = b"Things".to_vec();
        url::write_key(&mut path, version, &model.entity_types[0], std::slice::from_ref(&value), &[0]);
        let path = String::from_utf8(path).unwrap();
        prop_assert!(path.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>&\"\\/?#+".contains(&byte)), "{}", path);
        match url::parse(&model, version, &path, None) {
            Ok((Resource::Read(plan), _)) => prop_assert_eq!(plan.key, Some(Key(vec![value])), "{}", path),
            other => prop_assert!(false, "{} {:?}", path, other),
        }
    }

    #[test]
    fn no_path_panics(path in "\\PC{0,40}|(FlightCollection|CarrierCollection)?[/('%A-Fa-f0-9)$=,-]{0,40}") {
        let model = fixture::model();
        for version in [V2, V4] {
            let _ = url::parse(&model, version, &path, None);
        }
    }
}
