//! Bodies: their content as read, and the errors of invalid ones.

use crate::documents::V4;
use crate::fixture;
use std::sync::Arc;
use tollgate_wire::body::{self, Reader};
use tollgate_wire::edm::{Model, SetId, Version};
use tollgate_wire::entry::Entry;
use tollgate_wire::format::{Format, Padding};
use tollgate_wire::plan::Shape;
use tollgate_wire::value::Cell;

pub(crate) const FLIGHTS: &str = "FlightCollection";
const EVERYTHING: &str = "EverythingSet";
const ROOT: &str = "http://localhost:8080/odata/v4/flights/";

pub(crate) fn model() -> Arc<Model> {
    Arc::new(fixture::model())
}

/// The value of each leaf, and the related entities, as text.
pub(crate) fn describe(model: &Model, set: SetId, entry: &Entry) -> String {
    let entity_type = model.type_of(set);
    let mut parts = Vec::new();
    for (id, leaf) in entity_type.leaves.iter().enumerate() {
        let text = match entry.cell_of(tollgate_wire::edm::LeafId(id)) {
            None => continue,
            Some(Cell::Null) => "null".to_owned(),
            Some(Cell::Integer(value)) => value.to_string(),
            Some(Cell::Real(value)) => format!("{value:?}"),
            Some(Cell::Text(text)) => format!("'{}'", std::str::from_utf8(text).unwrap()),
            Some(Cell::Bytes(bytes)) => format!("{bytes:02x?}"),
        };
        parts.push(format!("{}={text}", leaf.path));
    }
    for (navigation, children) in &entry.children {
        let navigation = &entity_type.navigation[navigation.0];
        let children: Vec<String> = children.iter().map(|child| describe(model, navigation.target, child)).collect();
        parts.push(format!("{}=[{}]", navigation.name, children.join("; ")));
    }
    for (navigation, link) in &entry.links {
        parts.push(format!("{}->{link:?}", entity_type.navigation[navigation.0].name));
    }
    parts.join(" ")
}

/// The body as text, or its error.
fn read(format: Format, set: &str, document: &str) -> String {
    let model = model();
    let set = model.set(set).unwrap();
    let mut entry = Entry::default();
    match Reader::new(model.clone()).read(document.as_bytes(), format, set, ROOT, &mut entry) {
        Ok(()) => describe(&model, set, &entry),
        Err(error) => format!("{error}"),
    }
}

const V2: Format = Format::V2Json;
const ATOM: Format = Format::V2Atom;
const REST: Format = Format::RestJson;
const XML: Format = Format::RestXml { padding: Padding::Without };

#[test]
fn a_reference_is_the_url_of_an_entity() {
    let check = |format: Format, document: &str, expected: &str| {
        let model = model();
        let set = model.set("CarrierCollection").unwrap();
        let found = match Reader::new(model).read_reference(document.as_bytes(), format, set, ROOT) {
            Ok(link) => format!("{link:?}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{document}");
    };
    let carrier = "Key(Key([String(\"AA\")]))";
    check(V4, r#"{"@odata.id":"CarrierCollection('AA')"}"#, carrier);
    check(
        V4,
        r#"{"@odata.context":"$metadata#x","@id":"http://localhost:8080/odata/v4/flights/CarrierCollection('AA')"}"#,
        carrier,
    );
    check(V4, r#"{"@odata.id":"$1"}"#, "ContentId(\"1\")");
    check(V2, r#"{"uri":"CarrierCollection('AA')"}"#, carrier);
    check(V2, r#"{"d":{"uri":"CarrierCollection('AA')"}}"#, carrier);
    check(
        ATOM,
        "<uri xmlns=\"http://schemas.microsoft.com/ado/2007/08/dataservices\">CarrierCollection('AA')</uri>",
        carrier,
    );
    check(V4, "{}", "the member '@odata.id' is missing (at byte 2)");
    check(V4, r#"{"@odata.id":7}"#, "expected the URL of an entity (at byte 13)");
    check(V4, r#"{"carrid":"AA"}"#, "expected the URL of an entity, found the member 'carrid' (at byte 1)");
    check(
        V4,
        r#"{"@odata.id":"FlightCollection"}"#,
        "expected an entity of CarrierCollection with its key, found 'FlightCollection' (at byte 13)",
    );
    check(
        V2,
        r#"{"d":{"d":{"uri":"CarrierCollection('AA')"}}}"#,
        "expected the URL of an entity, found the member 'd' (at byte 6)",
    );
    check(ATOM, "<link>x</link>", "expected the element 'uri', found 'link' (at byte 6)");
}

#[test]
fn members_come_in_any_order_and_nest() {
    let check = |document: &str, expected: &str| assert_eq!(read(V4, FLIGHTS, document), expected, "{document}");
    check(
        r#"{"carrid":"AA","connid":"0017","fldate":"2013-09-25","PRICE":422.94,"CURRENCY":"USD"}"#,
        "carrid='AA' connid='0017' fldate='2013-09-25' PRICE='422.94' CURRENCY='USD'",
    );
    check(
        r#" { "PRICE" : "1.5e2" , "flightDetails":{"distance":2573.0000,"cityFrom":"new\u0020york"},"carrid":null }"#,
        "carrid=null flightDetails/cityFrom='new york' flightDetails/distance='2573.0000' PRICE='150'",
    );
    check(
        r#"{"flightDetails":null}"#,
        "flightDetails/cityFrom=null flightDetails/flightTime=null flightDetails/departureTime=null flightDetails/distance=null",
    );
    check("{}", "");
    check("\u{feff}{\"carrid\":\"AA\"}", "carrid='AA'");
    check(
        r##"{"@odata.context":"x","@odata.type":"#RMTSAMPLEFLIGHT.Flight","@x":[{}],"PRICE@odata.type":"#Decimal","PRICE":1}"##,
        "PRICE='1'",
    );
}

#[test]
fn what_is_no_entity_is_refused_with_its_place() {
    let check =
        |format, document: &str, expected: &str| assert_eq!(read(format, FLIGHTS, document), expected, "{document}");
    check(V4, "[]", "expected an entity, found an array (at byte 0)");
    check(V4, "", "expected an entity, found nothing (at byte 0)");
    check(V4, "{}x", "the document goes on behind its value (at byte 2)");
    check(V4, r#"{"PRICE":1,}"#, "expected a name in quotes (at byte 11)");
    check(V4, r#"{"PRICE":1"#, "expected ',' or '}' (at byte 10)");
    check(V4, r#"{"PRICE" 1}"#, "expected ':' behind a name (at byte 9)");
    check(
        V4,
        r#"{"PRYCE":1}"#,
        "PRYCE: RMTSAMPLEFLIGHT.Flight has no property 'PRYCE'; did you mean PRICE? (at byte 1)",
    );
    check(V4, r#"{"PRICE":1,"PRICE":2}"#, "PRICE: the property stands twice (at byte 11)");
    check(
        V4,
        r#"{"flightDetails":{"cityTo":1}}"#,
        "flightDetails/cityTo: RMTSAMPLEFLIGHT.FlightDetails has no property 'cityTo' (at byte 18)",
    );
    check(V4, r#"{"flightDetails":[]}"#, "flightDetails: expected an object, found an array (at byte 17)");
    check(
        V4,
        r##"{"@odata.type":"#RMTSAMPLEFLIGHT.Carrier"}"##,
        "expected the type RMTSAMPLEFLIGHT.Flight, found '#RMTSAMPLEFLIGHT.Carrier' (at byte 15)",
    );
    check(V2, r#"{"d":[{}]}"#, "expected one entity, found an array (at byte 5)");
    check(V2, r#"{"d":{},"e":{}}"#, "expected nothing behind 'd' (at byte 8)");
    check(
        V2,
        r#"{"d":{"PRYCE":""}}"#,
        "PRYCE: RMTSAMPLEFLIGHT.Flight has no property 'PRYCE'; did you mean PRICE? (at byte 6)",
    );
    check(ATOM, "<feed/>", "expected an entry, found the element 'feed' (at byte 7)");
    check(
        ATOM,
        "<entry><properties><PRYCE/></properties></entry>",
        "PRYCE: RMTSAMPLEFLIGHT.Flight has no property 'PRYCE'; did you mean PRICE? (at byte 27)",
    );
    check(XML, "<F><PRICE>1</PRICE><PRICE>1</PRICE></F>", "PRICE: the property stands twice (at byte 26)");
    check(XML, "<F><PRICE><b/></PRICE></F>", "PRICE: expected a text, found the element 'b' (at byte 14)");
    let bytes = [b"{\"CURRENCY\":\"\xff\"}".as_slice(), b"<F><CURRENCY>\xff</CURRENCY></F>"];
    let model = model();
    for (bytes, format) in bytes.into_iter().zip([V4, XML]) {
        let error =
            Reader::new(model.clone()).read(bytes, format, model.set(FLIGHTS).unwrap(), "", &mut Entry::default());
        assert_eq!(error.unwrap_err().position, 13);
    }
}

/// One property of the type that has one of each, in one format.
fn value(format: Format, name: &str, text: &str) -> String {
    let document = match format {
        ATOM => format!("<entry><content><m:properties xmlns:m='m'>{text}</m:properties></content></entry>"),
        XML => format!("<Everything>{text}</Everything>"),
        _ => format!("{{\"{name}\":{text}}}"),
    };
    let found = read(format, EVERYTHING, &document);
    let found = found.strip_prefix(name).unwrap_or(&found);
    found.split(" (at byte").next().unwrap().trim_start_matches(['=', ':', ' ']).to_owned()
}

#[test]
fn values_have_their_type_their_range_and_their_digits() {
    let json = |name: &str, text: &str, expected: &str| assert_eq!(value(V4, name, text), expected, "{name} {text}");
    json("id", "-9223372036854775808", "-9223372036854775808");
    json("id", "\"9223372036854775807\"", "9223372036854775807");
    json(
        "id",
        "9223372036854775808",
        "expected Edm.Int64 from -9223372036854775808 to 9223372036854775807, found '9223372036854775808'",
    );
    json("id", "1.5e1", "15");
    json("id", "1.5", "expected Edm.Int64 from -9223372036854775808 to 9223372036854775807, found '1.5'");
    json("byte", "255", "255");
    json("byte", "256", "expected Edm.Byte from 0 to 255, found '256'");
    json("sbyte", "-129", "expected Edm.SByte from -128 to 127, found '-129'");
    json("int16", "32768", "expected Edm.Int16 from -32768 to 32767, found '32768'");
    json("int32", "\"1\"", "expected Edm.Int32 from -2147483648 to 2147483647, found '1'");
    json("int32", "true", "expected Edm.Int32 from -2147483648 to 2147483647, found 'true'");
    json("boolean", "true", "1");
    json("boolean", "1", "expected Edm.Boolean, found '1'");
    json("boolean", "\"true\"", "expected Edm.Boolean, found 'true'");
    json("double", "1e308", "1e308");
    json("double", "1e309", "expected Edm.Double, found '1e309'");
    json("double", "\"INF\"", "inf");
    json("double", "\"1\"", "expected Edm.Double, found '1'");
    json("single", "3.5e38", "expected Edm.Single, found '3.5e38'");
    json("single", "0.1", "0.10000000149011612");
    json("decimal", "123456789012345.12345", "'123456789012345.12345'");
    json("decimal", "\"-0.00\"", "'0.00'");
    json("decimal", "1.5e3", "'1500'");
    json("decimal", "1500000e-5", "'15.00000'");
    json("decimal", "0.123450", "'0.12345'");
    json("decimal", "0.123456", "at most 20 digits are allowed, 5 of them behind the point, found '0.123456'");
    json(
        "decimal",
        "1234567890123456",
        "at most 20 digits are allowed, 5 of them behind the point, found '1234567890123456'",
    );
    json("decimal", "1e999999", "expected Edm.Decimal, found '1e999999'");
    json("decimal", "\"1,5\"", "expected Edm.Decimal, found '1,5'");
    json("text", "\"\\ud83d\\udeeb\"", "'🛫'");
    json("text", "7", "expected Edm.String, found '7'");
    json("text", "{}", "expected Edm.String, found an object");
    json("binary", "\"AP-A\"", "[00, ff, 80]");
    json("binary", "\"AP+A\"", "[00, ff, 80]");
    json("binary", "\"A\"", "expected Edm.Binary, found 'A'");
    json("guid", "\"0123ABCD-0123-4567-89ab-0123456789ab\"", "'0123abcd-0123-4567-89ab-0123456789ab'");
    json("guid", "\"0123abcd\"", "expected Edm.Guid, found '0123abcd'");
    json("date", "\"2012-02-29\"", "'2012-02-29'");
    json("date", "\"2013-02-29\"", "expected Edm.Date, found '2013-02-29'");
    json("date", "\"-0044-03-15\"", "a year from 0001 to 9999 is allowed, found '-0044-03-15'");
    json("date", "\"10000-01-01\"", "a year from 0001 to 9999 is allowed, found '10000-01-01'");
    json("moment", "\"2013-09-25T12:00:00Z\"", "'2013-09-25T12:00:00'");
    json("instant", "\"2013-09-25T12:00:00.1234567+02:00\"", "'2013-09-25T10:00:00.1234567Z'");
    json(
        "instant",
        "\"2013-09-25T12:00:00.12345678Z\"",
        "at most 7 digits of a second are allowed, found '2013-09-25T12:00:00.12345678Z'",
    );
    json("instant", "\"2013-09-25T12:00:00\"", "expected Edm.DateTimeOffset, found '2013-09-25T12:00:00'");
    json("daytime", "\"11:00:00.1230\"", "'11:00:00.123'");
    json("daytime", "\"24:00\"", "expected Edm.TimeOfDay, found '24:00'");
    json("duration", "\"PT036H\"", "'PT36H'");
}

#[test]
fn v2_has_values_of_its_own() {
    let check = |format, name: &str, text: &str, expected: &str| {
        assert_eq!(value(format, name, text), expected, "{name} {text}")
    };
    check(V2, "id", "\"17\"", "17");
    check(V2, "int32", "\"17\"", "17");
    check(V2, "double", "\"1.5E+1\"", "15.0");
    check(V2, "decimal", "\"1.50\"", "'1.50'");
    check(V2, "date", r#""\/Date(1380067200000)\/""#, "'2013-09-25'");
    // What a date picker sends east of Greenwich, and a date with time in all its forms: the day in UTC.
    check(V2, "date", r#""/Date(1577833200000)/""#, "'2019-12-31'");
    check(V2, "date", r#""/Date(1577833200000+0000)/""#, "'2019-12-31'");
    check(V2, "date", r#""2013-09-25T23:59:59.999""#, "'2013-09-25'");
    check(V2, "date", r#""/Date(x)/""#, "expected Edm.DateTime, found '/Date(x)/'");
    check(V2, "date", r#""2013-09-25""#, "expected Edm.DateTime, found '2013-09-25'");
    check(V2, "moment", r#""\/Date(1380067200250)\/""#, "'2013-09-25T00:00:00.25'");
    check(V2, "moment", r#""2013-09-25T00:00:00""#, "'2013-09-25T00:00:00'");
    check(V2, "instant", r#""\/Date(1380067200000+0120)\/""#, "'2013-09-25T00:00:00Z'");
    check(V2, "daytime", r#""PT11H00M00S""#, "'11:00:00'");
    check(V2, "binary", r#""AP+A""#, "[00, ff, 80]");
    check(ATOM, "date", "<d:date xmlns:d='d'>2013-09-25T00:00:00</d:date>", "'2013-09-25'");
    check(ATOM, "int32", "<int32> 17\n</int32>", "17");
    check(ATOM, "int32", "<int32 m:null='true'/>", "null");
    check(ATOM, "int32", "<int32/>", "expected Edm.Int32 from -2147483648 to 2147483647, found ''");
    check(ATOM, "boolean", "<boolean>true</boolean>", "1");
    check(ATOM, "text", "<text/>", "''");
    check(ATOM, "text", "<text> a&amp;<![CDATA[<b>]]>&#x20AC; </text>", "' a&<b>€ '");
    check(XML, "date", "<date>2013-09-25</date><padding>...</padding>", "'2013-09-25'");
    check(XML, "date", "<date null='true'/>", "null");
    check(REST, "instant", "\"2013-09-25T12:00Z\"", "'2013-09-25T12:00:00Z'");
}

#[test]
fn nulls_and_lengths_are_those_of_the_property() {
    let mut model = fixture::model();
    let booking = &mut model.entity_types[2];
    booking.leaves[0].nullable = false;
    let set = model.set("BookingCollection").unwrap();
    let reader = Reader::new(Arc::new(model));
    let check = |document: &str, expected: Option<&str>| {
        let read = reader.read(document.as_bytes(), V4, set, "", &mut Entry::default());
        assert_eq!(read.err().map(|error| error.to_string()).as_deref(), expected, "{document}");
    };
    check(r#"{"carrid":null}"#, Some("carrid: the property cannot be null (at byte 10)"));
    check(r#"{"connid":null}"#, None);
    check(&format!("{{\"PASSNAME\":\"{}\"}}", "ü".repeat(25)), None);
    let error = "PASSNAME: at most 25 characters are allowed, found 26 (at byte 12)";
    check(&format!("{{\"PASSNAME\":\"{}\"}}", "ü".repeat(26)), Some(error));
}

#[test]
fn related_entities_are_created_or_linked() {
    let check =
        |format, document: &str, expected: &str| assert_eq!(read(format, FLIGHTS, document), expected, "{document}");
    let key = |key: &str| format!("FlightCarrier->Key(Key([String(\"{key}\")]))");
    check(V4, r#"{"FlightCarrier@odata.bind":"CarrierCollection('AA')"}"#, &key("AA"));
    check(V4, &format!("{{\"FlightCarrier@odata.bind\":\"{ROOT}CarrierCollection('A%20A')\"}}"), &key("A A"));
    check(V4, r#"{"FlightCarrier":{"@id":"/odata/v4/flights/CarrierCollection('AA')"}}"#, &key("AA"));
    check(
        V4,
        r#"{"FlightCarrier":{"@odata.id":"CarrierCollection('AA')","carrid":"AA"}}"#,
        "FlightCarrier=[carrid='AA']",
    );
    check(V4, r#"{"FlightCarrier@bind":"$1"}"#, "FlightCarrier->ContentId(\"1\")");
    check(V4, r#"{"FlightCarrier":null}"#, "");
    check(
        V4,
        r#"{"flightBookings@odata.bind":["$1","$2"],"flightBookings":[{"bookid":"1"},{"@id":"$3"}]}"#,
        "flightBookings=[bookid='1'] flightBookings->ContentId(\"1\") flightBookings->ContentId(\"2\") flightBookings->ContentId(\"3\")",
    );
    check(
        V4,
        r#"{"flightBookings":[{},{"bookid":1}]}"#,
        "flightBookings[1]/bookid: expected Edm.String, found '1' (at byte 32)",
    );
    check(V4, r#"{"FlightCarrier":[]}"#, "FlightCarrier: expected an entity (at byte 17)");
    check(V4, r#"{"flightBookings":{}}"#, "flightBookings: expected an array of entities (at byte 18)");
    check(
        V4,
        r#"{"FlightCarrier@odata.bind":"BookingCollection('AA')"}"#,
        "FlightCarrier: the key of Booking has 4 parts, each needs its name in the path at column 19: expected (carrid='…',connid='…',fldate=2013-09-25,bookid='…') (at byte 28)",
    );
    check(
        V4,
        r#"{"FlightCarrier@odata.bind":"CarrierCollection"}"#,
        "FlightCarrier: expected an entity of CarrierCollection with its key, found 'CarrierCollection' (at byte 28)",
    );
    check(
        V4,
        r#"{"FlightCarrier@odata.bind":"http://example.org/CarrierCollection('AA')"}"#,
        "FlightCarrier: 'http://example.org/CarrierCollection('AA')' does not lie below the service root http://localhost:8080/odata/v4/flights/ (at byte 28)",
    );
    check(V4, r#"{"FlightCarrier@odata.bind":null}"#, "FlightCarrier: expected the URL of an entity (at byte 28)");
    check(V4, r#"{"PRICE@odata.bind":"x"}"#, "PRICE: the property leads nowhere (at byte 1)");
    check(
        V2,
        r#"{"d":{"__metadata":{"uri":"x"},"FlightCarrier":{"__metadata":{"uri":"CarrierCollection('AA')"}}}}"#,
        &key("AA"),
    );
    check(V2, r#"{"FlightCarrier":{"__deferred":{"uri":"x"}},"flightBookings":{"__deferred":{"uri":"x"}}}"#, "");
    check(V2, r#"{"flightBookings":{"results":[{"bookid":"1"}]}}"#, "flightBookings=[bookid='1']");
    check(
        V2,
        r#"{"flightBookings":[{"bookid":"1"}],"FlightCarrier":{"carrid":"AA"}}"#,
        "flightBookings=[bookid='1']; FlightCarrier=[carrid='AA']".replace("; ", " ").as_str(),
    );
    let related = "http://schemas.microsoft.com/ado/2007/08/dataservices/related/";
    let atom =
        |link: &str| format!("<entry><id>x</id><link rel='edit' href='y'/><link rel='{related}{link}</link></entry>");
    check(ATOM, &atom("FlightCarrier' href='CarrierCollection(&apos;AA&apos;)'>"), &key("AA"));
    check(ATOM, &atom("FlightCarrier' href=\"CarrierCollection('AA')/carrierFlights\">"), "");
    check(
        ATOM,
        &atom(
            "FlightCarrier' href='x'><m:inline><entry><m:properties><d:carrid>AA</d:carrid></m:properties></entry></m:inline>",
        ),
        "FlightCarrier=[carrid='AA']",
    );
    check(
        ATOM,
        &atom(
            "flightBookings'><inline><feed><entry/><entry><content><properties><bookid>123456789</bookid></properties></content></entry></feed></inline>",
        ),
        "flightBookings[1]/bookid: at most 8 characters are allowed, found 9 (at byte 191)",
    );
    check(
        ATOM,
        &atom("FlyghtCarrier'>"),
        "FlyghtCarrier: RMTSAMPLEFLIGHT.Flight has no property 'FlyghtCarrier'; did you mean FlightCarrier? (at byte 132)",
    );
    check(
        XML,
        "<F><flightBookings><B><bookid>1</bookid></B><B/></flightBookings><FlightCarrier><C/></FlightCarrier></F>",
        "flightBookings=[bookid='1'; ] FlightCarrier=[]",
    );
    check(
        XML,
        "<F><FlightCarrier><C/><C/></FlightCarrier></F>",
        "FlightCarrier: expected one entity, found several (at byte 26)",
    );
}

#[test]
fn entities_are_nested_to_the_limit_and_not_one_above() {
    let json = |depth: usize| {
        (0..depth).fold("{}".to_owned(), |inner, level| match (depth - level) % 2 {
            1 => format!("{{\"FlightCarrier\":{inner}}}"),
            _ => format!("{{\"carrierFlights\":[{inner}]}}"),
        })
    };
    assert!(read(V4, FLIGHTS, &json(body::DEPTH_MAX)).starts_with("FlightCarrier="));
    let error = read(V4, FLIGHTS, &json(body::DEPTH_MAX + 1));
    assert!(error.contains("entities are nested deeper than 8"), "{error}");
    let xml = |depth: usize| {
        (0..depth).fold(String::new(), |inner, level| match (depth - level) % 2 {
            1 => format!("<FlightCarrier><C>{inner}</C></FlightCarrier>"),
            _ => format!("<carrierFlights><F>{inner}</F></carrierFlights>"),
        })
    };
    assert!(read(XML, FLIGHTS, &format!("<F>{}</F>", xml(body::DEPTH_MAX))).starts_with("FlightCarrier="));
    let error = read(XML, FLIGHTS, &format!("<F>{}</F>", xml(body::DEPTH_MAX + 1)));
    assert!(error.contains("entities are nested deeper than 8"), "{error}");
    let skipped = format!("{{\"@x\":{}1{}}}", "[".repeat(100), "]".repeat(100));
    assert_eq!(read(V4, FLIGHTS, &skipped), "brackets are nested deeper than 64 (at byte 70)");
}

#[test]
fn a_property_is_read_alone() {
    let model = model();
    let set = model.set(FLIGHTS).unwrap();
    let entity_type = model.type_of(set);
    let reader = Reader::new(model.clone());
    let check = |format, path: &str, document: &str, expected: &str| {
        let shape = match entity_type.leaf(path) {
            Some(leaf) => Shape::Leaf(leaf),
            None => Shape::Property(entity_type.property(path).unwrap()),
        };
        let mut entry = Entry::default();
        let found = match reader.read_property(document.as_bytes(), format, set, shape, &mut entry) {
            Ok(()) => describe(&model, set, &entry),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{document}");
    };
    check(V4, "PRICE", r#"{"@odata.context":"x","value":1.50}"#, "PRICE='1.50'");
    check(V4, "PRICE", r#"{"value":null}"#, "PRICE=null");
    check(V4, "PRICE", r#"{}"#, "the value of 'PRICE' is missing (at byte 2)");
    check(V4, "PRICE", r#"{"value":"x"}"#, "PRICE: expected Edm.Decimal, found 'x' (at byte 9)");
    check(V4, "PRICE", r#"{"PRICE":1}"#, "expected the value of 'PRICE', found the member 'PRICE' (at byte 1)");
    check(V4, "flightDetails", r#"{"@odata.context":"x","cityFrom":"A"}"#, "flightDetails/cityFrom='A'");
    check(V4, "flightDetails", r#"{"value":{"cityFrom":"A"}}"#, "flightDetails/cityFrom='A'");
    check(
        V4,
        "flightDetails/cityFrom",
        r#"{"value":7}"#,
        "flightDetails/cityFrom: expected Edm.String, found '7' (at byte 9)",
    );
    check(V2, "PRICE", r#"{"d":{"PRICE":"1.50"}}"#, "PRICE='1.50'");
    check(V2, "PRICE", r#"{"PRICE":"1.50"}"#, "PRICE='1.50'");
    check(
        V2,
        "flightDetails",
        r#"{"d":{"flightDetails":{"__metadata":{},"cityFrom":"A"}}}"#,
        "flightDetails/cityFrom='A'",
    );
    check(REST, "PRICE", r#"{"PRICE":1}"#, "PRICE='1'");
    check(REST, "flightDetails/cityFrom", r#"{"cityFrom":"A"}"#, "flightDetails/cityFrom='A'");
    check(ATOM, "PRICE", "<d:PRICE>1</d:PRICE>", "PRICE='1'");
    check(ATOM, "PRICE", "<d:PRICE m:null='true'/>", "PRICE=null");
    check(ATOM, "PRICE", "<d:PRYCE/>", "expected the element 'PRICE', found 'PRYCE' (at byte 10)");
    check(ATOM, "flightDetails", "<flightDetails><cityFrom>A</cityFrom></flightDetails>", "flightDetails/cityFrom='A'");
    check(XML, "flightDetails/cityFrom", "<cityFrom>A</cityFrom>", "flightDetails/cityFrom='A'");
    let raw = |path: &str, body: &[u8], expected: &str| {
        let mut entry = Entry::default();
        let found = match reader.read_raw(body, Some(Version::V4), set, entity_type.leaf(path).unwrap(), &mut entry) {
            Ok(()) => describe(&model, set, &entry),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected);
    };
    raw("PRICE", b"1.5\n", "PRICE='1.5'");
    raw("CURRENCY", b" USD ", "CURRENCY=' USD '");
    raw("CURRENCY", b"123456", "CURRENCY: at most 5 characters are allowed, found 6 (at byte 0)");
    raw("CURRENCY", b"\xff", "CURRENCY: the value is no UTF-8 (at byte 0)");
}

#[test]
fn the_free_function_reads_as_the_reader_does() {
    let model = fixture::model();
    let schema = tollgate_wire::document::Schema { model: &model, set: model.set(EVERYTHING).unwrap() };
    let mut entry = Entry::default();
    body::read(br#"{"id":9007199254740993}"#, V4, schema, &mut entry).unwrap();
    assert_eq!(describe(&model, schema.set, &entry), "id=9007199254740993");
}

#[test]
fn a_text_with_a_character_that_no_url_can_name_is_refused() {
    let nul = "the character U+0000, which no text of a database has";
    for (format, document) in [
        (V4, r#"{"carrid":"A\u0000"}"#),
        (REST, r#"{"carrid":"\u0000"}"#),
        (V2, r#"{"carrid":"A\u0000A"}"#),
        (V4, r#"{"carrid":"AA","FlightCarrier@odata.bind":"CarrierCollection('A\u0000')"}"#),
        (V4, r#"{"carrid":"AA","FlightCarrier@odata.bind":"CarrierCollection('A%00')"}"#),
    ] {
        let told = read(format, FLIGHTS, document);
        assert!(told.contains(nul), "{document}: {told}");
    }
}
