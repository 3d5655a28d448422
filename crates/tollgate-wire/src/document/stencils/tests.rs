//! Exact documents of hand-made rows in each format.

use crate::edm::{LeafId, NavigationId, Primitive, SetId, Version};
use crate::format::{Format, Ieee754, Metadata, Padding, Release};
use crate::plan::{Expand, Select, Shape};
use crate::stencil::{Base, FeedHead, Stencil, raw};
use crate::testing::{self, BOOKINGS, CARRIERS, FLIGHTS};
use crate::value::Cell;
use insta::assert_snapshot;

mod references;
mod values;

const ROOT: &str = "http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/";
const UPDATED: &str = "2013-09-25T12:00:00Z";
const MINIMAL: Format = Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release: Release::V40 };
const FULL: Format = Format::V4Json { metadata: Metadata::Full, ieee754: Ieee754::String, release: Release::V40 };
const NONE: Format = Format::V4Json { metadata: Metadata::None, ieee754: Ieee754::Number, release: Release::V40 };
const PLAIN_XML: Format = Format::RestXml { padding: Padding::Without };
const ALL: [Format; 8] = [
    Format::V2Atom,
    Format::V2Json,
    MINIMAL,
    FULL,
    NONE,
    Format::RestJson,
    PLAIN_XML,
    Format::RestXml { padding: Padding::AtomSize },
];

fn base() -> Base<'static> {
    Base::new(ROOT, UPDATED)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn document_of(set: SetId, row: &[Cell<'_>], format: Format, select: &Select) -> String {
    let stencil = Stencil::compile(&testing::model(), set, format, select, &[]);
    let (mut out, mut writer) = (Vec::new(), stencil.writer(base()));
    writer.document_begin(&mut out);
    writer.entry(&mut out, row);
    writer.document_end(&mut out);
    text(out)
}

fn document(format: Format, select: &Select) -> String {
    document_of(FLIGHTS, &testing::flight(), format, select)
}

/// Carrier, price and one field of the details, and one link.
fn some() -> Select {
    Select::Only { leaves: vec![LeafId(0), LeafId(4), LeafId(16)], navigation: vec![NavigationId(2)] }
}

/// The row for it: those leaves, then the rest of the key.
fn some_row() -> Vec<Cell<'static>> {
    [0, 4, 16, 1, 2].map(|leaf: usize| testing::flight()[leaf]).to_vec()
}

fn feed(format: Format, expand: &[Expand], count: Option<u64>, next: Option<&str>) -> String {
    let select = Select::Only { leaves: vec![LeafId(0), LeafId(1)], navigation: Vec::new() };
    let stencil = Stencil::compile(&testing::model(), FLIGHTS, format, &select, expand);
    let row = [0, 1, 2].map(|leaf: usize| testing::flight()[leaf]);
    let row = &row[..];
    let (mut out, mut writer) = (Vec::new(), stencil.writer(base()));
    writer.feed_begin(&mut out, &FeedHead { path: "FlightCollection", count });
    for related in 0..2 {
        writer.entry_begin(&mut out, row);
        for (index, expand) in expand.iter().enumerate() {
            writer.expand_begin(&mut out, index, row);
            for _ in 0..related {
                match expand.target {
                    BOOKINGS => {
                        // The passenger, then the key and the ETag.
                        let booking = [6, 0, 1, 2, 3, 5].map(|leaf: usize| testing::booking()[leaf]);
                        writer.expand_entity(&mut out, &booking[..]);
                        writer.expand_entity(&mut out, &booking[..]);
                    }
                    _ => writer.expand_entity(&mut out, &testing::carrier()[..]),
                }
            }
            writer.expand_end(&mut out);
        }
        writer.entry_end(&mut out, row);
    }
    writer.feed_end(&mut out, next);
    text(out)
}

fn expansions() -> [Expand; 2] {
    let passenger = Select::Only { leaves: vec![LeafId(6)], navigation: Vec::new() };
    [Expand::new(NavigationId(2), CARRIERS, Select::All), Expand::new(NavigationId(1), BOOKINGS, passenger)]
}

#[test]
fn sizes_are_close_to_those_of_the_reference() {
    let check = |format, expected: usize| {
        let size = document(format, &Select::All).len();
        assert!(size.abs_diff(expected) * 20 <= expected, "{format:?}: {size} bytes, not within 5 % of {expected}");
    };
    check(Format::V2Atom, 2_589);
    check(Format::V2Json, 1_598);
    check(Format::RestJson, 524);
}

#[test]
fn padded_xml_is_as_large_as_atom_alone_and_in_a_list() {
    let padded = Format::RestXml { padding: Padding::AtomSize };
    for (set, row) in [(FLIGHTS, testing::flight()), (CARRIERS, testing::carrier()), (BOOKINGS, testing::booking())] {
        let size = |format| document_of(set, &row, format, &Select::All).len();
        let (atom, plain) = (size(Format::V2Atom), size(padded));
        assert!(plain.abs_diff(atom) * 25 <= atom, "{plain} bytes, not within 4 % of {atom}");
        assert!(document_of(set, &row, padded, &Select::All).contains("<padding>...."));
    }
    let (atom, plain) = (feed(Format::V2Atom, &[], None, None).len(), feed(padded, &[], None, None).len());
    assert!(plain.abs_diff(atom) * 4 <= atom, "{plain} bytes, not near {atom}");
}

#[test]
fn a_flight_as_atom() {
    assert_snapshot!(document(Format::V2Atom, &Select::All).replace("><", ">\n<"), @r#"
    <?xml version="1.0" encoding="utf-8"?>
    <entry xml:base="http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/" xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices">
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</id>
    <title type="text">FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</title>
    <updated>2013-09-25T12:00:00Z</updated>
    <category term="RMTSAMPLEFLIGHT.Flight" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')" rel="edit" title="Flight"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/flightbooking" rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/flightbooking" type="application/atom+xml;type=entry" title="RMTSAMPLEFLIGHT.BookingFlight"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/flightBookings" rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/flightBookings" type="application/atom+xml;type=feed" title="RMTSAMPLEFLIGHT.FlightBookings"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/FlightCarrier" rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/FlightCarrier" type="application/atom+xml;type=entry" title="RMTSAMPLEFLIGHT.CarrierToFlight"/>
    <content type="application/xml">
    <m:properties>
    <d:carrid>AA</d:carrid>
    <d:connid>0017</d:connid>
    <d:fldate>2013-09-25T00:00:00</d:fldate>
    <d:flightDetails m:type="RMTSAMPLEFLIGHT.FlightDetails">
    <d:countryFrom>US</d:countryFrom>
    <d:cityFrom>new york</d:cityFrom>
    <d:airportFrom>JFK</d:airportFrom>
    <d:countryTo>US</d:countryTo>
    <d:cityTo>SAN FRANCISCO</d:cityTo>
    <d:airportTo>SFO</d:airportTo>
    <d:flightTime>361</d:flightTime>
    <d:departureTime>PT11H00M00S</d:departureTime>
    <d:arrivalTime>PT14H01M00S</d:arrivalTime>
    <d:distance>2573.0000</d:distance>
    <d:distanceUnit>SMI</d:distanceUnit>
    <d:flightType>
    </d:flightType>
    <d:period>0</d:period>
    </d:flightDetails>
    <d:PRICE>422.94</d:PRICE>
    <d:CURRENCY>USD</d:CURRENCY>
    <d:PLANETYPE>747-400</d:PLANETYPE>
    <d:SEATSMAX>385</d:SEATSMAX>
    <d:SEATSOCC>368</d:SEATSOCC>
    <d:PAYMENTSUM>187282.26</d:PAYMENTSUM>
    <d:SEATSMAX_B>31</d:SEATSMAX_B>
    <d:SEATSOCC_B>31</d:SEATSOCC_B>
    <d:SEATSMAX_F>21</d:SEATSMAX_F>
    <d:SEATSOCC_F>19</d:SEATSOCC_F>
    </m:properties>
    </content>
    </entry>
    "#);
}

#[test]
fn a_flight_as_verbose_json() {
    assert_snapshot!(document(Format::V2Json, &Select::All).replace(",\"", ",\n\""), @r#"
    {"d":{"__metadata":{"id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')",
    "uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')",
    "type":"RMTSAMPLEFLIGHT.Flight"},
    "carrid":"AA",
    "connid":"0017",
    "fldate":"\/Date(1380067200000)\/",
    "flightDetails":{"__metadata":{"type":"RMTSAMPLEFLIGHT.FlightDetails"},
    "countryFrom":"US",
    "cityFrom":"new york",
    "airportFrom":"JFK",
    "countryTo":"US",
    "cityTo":"SAN FRANCISCO",
    "airportTo":"SFO",
    "flightTime":361,
    "departureTime":"PT11H00M00S",
    "arrivalTime":"PT14H01M00S",
    "distance":"2573.0000",
    "distanceUnit":"SMI",
    "flightType":"",
    "period":0},
    "PRICE":"422.94",
    "CURRENCY":"USD",
    "PLANETYPE":"747-400",
    "SEATSMAX":385,
    "SEATSOCC":368,
    "PAYMENTSUM":"187282.26",
    "SEATSMAX_B":31,
    "SEATSOCC_B":31,
    "SEATSMAX_F":21,
    "SEATSOCC_F":19,
    "flightbooking":{"__deferred":{"uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/flightbooking"}},
    "flightBookings":{"__deferred":{"uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/flightBookings"}},
    "FlightCarrier":{"__deferred":{"uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/FlightCarrier"}}}}
    "#);
}

#[test]
fn a_flight_as_v4_json() {
    assert_snapshot!(document(MINIMAL, &Select::All), @r#"{"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection/$entity","carrid":"AA","connid":"0017","fldate":"2013-09-25","flightDetails":{"countryFrom":"US","cityFrom":"new york","airportFrom":"JFK","countryTo":"US","cityTo":"SAN FRANCISCO","airportTo":"SFO","flightTime":361,"departureTime":"11:00:00","arrivalTime":"14:01:00","distance":2573.0000,"distanceUnit":"SMI","flightType":"","period":0},"PRICE":422.94,"CURRENCY":"USD","PLANETYPE":"747-400","SEATSMAX":385,"SEATSOCC":368,"PAYMENTSUM":187282.26,"SEATSMAX_B":31,"SEATSOCC_B":31,"SEATSMAX_F":21,"SEATSOCC_F":19}"#);
    assert_snapshot!(document_of(FLIGHTS, &some_row(), NONE, &some()), @r#"{"carrid":"AA","flightDetails":{"cityFrom":"new york"},"PRICE":422.94}"#);
    assert_snapshot!(document(FULL, &Select::All).replace(",\"", ",\n\""), @r##"
    {"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection/$entity",
    "@odata.type":"#RMTSAMPLEFLIGHT.Flight",
    "@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)",
    "@odata.editLink":"FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)",
    "carrid":"AA",
    "connid":"0017",
    "fldate@odata.type":"#Date",
    "fldate":"2013-09-25",
    "flightDetails":{"@odata.type":"#RMTSAMPLEFLIGHT.FlightDetails",
    "countryFrom":"US",
    "cityFrom":"new york",
    "airportFrom":"JFK",
    "countryTo":"US",
    "cityTo":"SAN FRANCISCO",
    "airportTo":"SFO",
    "flightTime@odata.type":"#Int32",
    "flightTime":361,
    "departureTime@odata.type":"#TimeOfDay",
    "departureTime":"11:00:00",
    "arrivalTime@odata.type":"#TimeOfDay",
    "arrivalTime":"14:01:00",
    "distance@odata.type":"#Decimal",
    "distance":"2573.0000",
    "distanceUnit":"SMI",
    "flightType":"",
    "period@odata.type":"#Byte",
    "period":0},
    "PRICE@odata.type":"#Decimal",
    "PRICE":"422.94",
    "CURRENCY":"USD",
    "PLANETYPE":"747-400",
    "SEATSMAX@odata.type":"#Int32",
    "SEATSMAX":385,
    "SEATSOCC@odata.type":"#Int32",
    "SEATSOCC":368,
    "PAYMENTSUM@odata.type":"#Decimal",
    "PAYMENTSUM":"187282.26",
    "SEATSMAX_B@odata.type":"#Int32",
    "SEATSMAX_B":31,
    "SEATSOCC_B@odata.type":"#Int32",
    "SEATSOCC_B":31,
    "SEATSMAX_F@odata.type":"#Int32",
    "SEATSMAX_F":21,
    "SEATSOCC_F@odata.type":"#Int32",
    "SEATSOCC_F":19,
    "flightbooking@odata.associationLink":"FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/flightbooking/$ref",
    "flightbooking@odata.navigationLink":"FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/flightbooking",
    "flightBookings@odata.associationLink":"FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/flightBookings/$ref",
    "flightBookings@odata.navigationLink":"FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/flightBookings",
    "FlightCarrier@odata.associationLink":"FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/FlightCarrier/$ref",
    "FlightCarrier@odata.navigationLink":"FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/FlightCarrier"}
    "##);
}

#[test]
fn a_flight_as_plain_json_and_xml() {
    assert_snapshot!(document(Format::RestJson, &Select::All), @r#"{"carrid":"AA","connid":"0017","fldate":"2013-09-25","flightDetails":{"countryFrom":"US","cityFrom":"new york","airportFrom":"JFK","countryTo":"US","cityTo":"SAN FRANCISCO","airportTo":"SFO","flightTime":361,"departureTime":"11:00:00","arrivalTime":"14:01:00","distance":2573.0000,"distanceUnit":"SMI","flightType":"","period":0},"PRICE":422.94,"CURRENCY":"USD","PLANETYPE":"747-400","SEATSMAX":385,"SEATSOCC":368,"PAYMENTSUM":187282.26,"SEATSMAX_B":31,"SEATSOCC_B":31,"SEATSMAX_F":21,"SEATSOCC_F":19}"#);
    assert_snapshot!(document(PLAIN_XML, &Select::All), @r#"<?xml version="1.0" encoding="utf-8"?><Flight><carrid>AA</carrid><connid>0017</connid><fldate>2013-09-25</fldate><flightDetails><countryFrom>US</countryFrom><cityFrom>new york</cityFrom><airportFrom>JFK</airportFrom><countryTo>US</countryTo><cityTo>SAN FRANCISCO</cityTo><airportTo>SFO</airportTo><flightTime>361</flightTime><departureTime>11:00:00</departureTime><arrivalTime>14:01:00</arrivalTime><distance>2573.0000</distance><distanceUnit>SMI</distanceUnit><flightType></flightType><period>0</period></flightDetails><PRICE>422.94</PRICE><CURRENCY>USD</CURRENCY><PLANETYPE>747-400</PLANETYPE><SEATSMAX>385</SEATSMAX><SEATSOCC>368</SEATSOCC><PAYMENTSUM>187282.26</PAYMENTSUM><SEATSMAX_B>31</SEATSMAX_B><SEATSOCC_B>31</SEATSOCC_B><SEATSMAX_F>21</SEATSMAX_F><SEATSOCC_F>19</SEATSOCC_F></Flight>"#);
}

#[test]
fn a_selection_shows_only_what_was_selected() {
    let written = |format| document_of(FLIGHTS, &some_row(), format, &some());
    assert_snapshot!(written(Format::V2Atom).replace("><", ">\n<"), @r#"
    <?xml version="1.0" encoding="utf-8"?>
    <entry xml:base="http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/" xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices">
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</id>
    <title type="text">FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</title>
    <updated>2013-09-25T12:00:00Z</updated>
    <category term="RMTSAMPLEFLIGHT.Flight" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')" rel="edit" title="Flight"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/FlightCarrier" rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/FlightCarrier" type="application/atom+xml;type=entry" title="RMTSAMPLEFLIGHT.CarrierToFlight"/>
    <content type="application/xml">
    <m:properties>
    <d:carrid>AA</d:carrid>
    <d:flightDetails m:type="RMTSAMPLEFLIGHT.FlightDetails">
    <d:cityFrom>new york</d:cityFrom>
    </d:flightDetails>
    <d:PRICE>422.94</d:PRICE>
    </m:properties>
    </content>
    </entry>
    "#);
    assert_snapshot!(written(Format::V2Json), @r#"{"d":{"__metadata":{"id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')","uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')","type":"RMTSAMPLEFLIGHT.Flight"},"carrid":"AA","flightDetails":{"__metadata":{"type":"RMTSAMPLEFLIGHT.FlightDetails"},"cityFrom":"new york"},"PRICE":"422.94","FlightCarrier":{"__deferred":{"uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/FlightCarrier"}}}}"#);
    // A client cannot compute the address from what it sees, so it is told.
    assert_snapshot!(written(MINIMAL), @r#"{"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection(carrid,flightDetails/cityFrom,PRICE,FlightCarrier)/$entity","@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)","carrid":"AA","flightDetails":{"cityFrom":"new york"},"PRICE":422.94}"#);
    assert_snapshot!(written(Format::RestJson), @r#"{"carrid":"AA","flightDetails":{"cityFrom":"new york"},"PRICE":422.94}"#);
    assert_snapshot!(written(PLAIN_XML), @r#"<?xml version="1.0" encoding="utf-8"?><Flight><carrid>AA</carrid><flightDetails><cityFrom>new york</cityFrom></flightDetails><PRICE>422.94</PRICE></Flight>"#);
}

#[test]
fn nulls_etags_media_and_special_characters() {
    for (set, row) in [(BOOKINGS, testing::booking()), (CARRIERS, testing::carrier())] {
        let written = |format| document_of(set, &row, format, &Select::All);
        let name = &testing::model().entity_sets[set.0].name;
        let all = ALL[..7].iter().map(|format| written(*format)).collect::<Vec<_>>().join("\n\n");
        match name.as_str() {
            "BookingCollection" => assert_snapshot!(all, @r##"
            <?xml version="1.0" encoding="utf-8"?><entry xml:base="http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/" xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" m:etag="W/&quot;datetime'2013-08-01T12:30:00'&quot;"><id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')</id><title type="text">BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')</title><updated>2013-09-25T12:00:00Z</updated><category term="RMTSAMPLEFLIGHT.Booking" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/><link href="BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')" rel="edit" title="Booking"/><link href="BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')/bookedFlight" rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/bookedFlight" type="application/atom+xml;type=entry" title="RMTSAMPLEFLIGHT.BookingFlight"/><content type="application/xml"><m:properties><d:carrid>AA</d:carrid><d:connid>0017</d:connid><d:fldate>2013-09-25T00:00:00</d:fldate><d:bookid>00000001</d:bookid><d:LUGGWEIGHT m:null="true"/><d:ORDER_DATE>2013-08-01T12:30:00</d:ORDER_DATE><d:PASSNAME>O'Neil &lt;"&amp;\&gt; Müller</d:PASSNAME></m:properties></content></entry>

            {"d":{"__metadata":{"id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')","uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')","type":"RMTSAMPLEFLIGHT.Booking","etag":"W/\"datetime'2013-08-01T12:30:00'\""},"carrid":"AA","connid":"0017","fldate":"\/Date(1380067200000)\/","bookid":"00000001","LUGGWEIGHT":null,"ORDER_DATE":"\/Date(1375360200000)\/","PASSNAME":"O'Neil <\"&\\> Müller","bookedFlight":{"__deferred":{"uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')/bookedFlight"}}}}

            {"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#BookingCollection/$entity","@odata.etag":"W/\"2013-08-01T12:30:00Z\"","carrid":"AA","connid":"0017","fldate":"2013-09-25","bookid":"00000001","LUGGWEIGHT":null,"ORDER_DATE":"2013-08-01T12:30:00Z","PASSNAME":"O'Neil <\"&\\> Müller"}

            {"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#BookingCollection/$entity","@odata.type":"#RMTSAMPLEFLIGHT.Booking","@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=2013-09-25,bookid='00000001')","@odata.etag":"W/\"2013-08-01T12:30:00Z\"","@odata.editLink":"BookingCollection(carrid='AA',connid='0017',fldate=2013-09-25,bookid='00000001')","carrid":"AA","connid":"0017","fldate@odata.type":"#Date","fldate":"2013-09-25","bookid":"00000001","LUGGWEIGHT@odata.type":"#Decimal","LUGGWEIGHT":null,"ORDER_DATE@odata.type":"#DateTimeOffset","ORDER_DATE":"2013-08-01T12:30:00Z","PASSNAME":"O'Neil <\"&\\> Müller","bookedFlight@odata.associationLink":"BookingCollection(carrid='AA',connid='0017',fldate=2013-09-25,bookid='00000001')/bookedFlight/$ref","bookedFlight@odata.navigationLink":"BookingCollection(carrid='AA',connid='0017',fldate=2013-09-25,bookid='00000001')/bookedFlight"}

            {"carrid":"AA","connid":"0017","fldate":"2013-09-25","bookid":"00000001","LUGGWEIGHT":null,"ORDER_DATE":"2013-08-01T12:30:00Z","PASSNAME":"O'Neil <\"&\\> Müller"}

            {"carrid":"AA","connid":"0017","fldate":"2013-09-25","bookid":"00000001","LUGGWEIGHT":null,"ORDER_DATE":"2013-08-01T12:30:00","PASSNAME":"O'Neil <\"&\\> Müller"}

            <?xml version="1.0" encoding="utf-8"?><Booking><carrid>AA</carrid><connid>0017</connid><fldate>2013-09-25</fldate><bookid>00000001</bookid><LUGGWEIGHT null="true"/><ORDER_DATE>2013-08-01T12:30:00</ORDER_DATE><PASSNAME>O'Neil &lt;"&amp;\&gt; Müller</PASSNAME></Booking>
            "##),
            _ => assert_snapshot!(all, @r##"
            <?xml version="1.0" encoding="utf-8"?><entry xml:base="http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/" xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"><id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')</id><title type="text">CarrierCollection('AA')</title><updated>2013-09-25T12:00:00Z</updated><category term="RMTSAMPLEFLIGHT.Carrier" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/><link href="CarrierCollection('AA')" rel="edit" title="Carrier"/><link href="CarrierCollection('AA')/carrierFlights" rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/carrierFlights" type="application/atom+xml;type=feed" title="RMTSAMPLEFLIGHT.CarrierToFlight"/><content type="image/png" src="CarrierCollection('AA')/$value"/><m:properties><d:carrid>AA</d:carrid><d:CARRNAME>American Airlines</d:CARRNAME><d:mimeType>image/png</d:mimeType></m:properties></entry>

            {"d":{"__metadata":{"id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')","uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')","type":"RMTSAMPLEFLIGHT.Carrier","content_type":"image/png","media_src":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')/$value"},"carrid":"AA","CARRNAME":"American Airlines","mimeType":"image/png","carrierFlights":{"__deferred":{"uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')/carrierFlights"}}}}

            {"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#CarrierCollection/$entity","carrid":"AA","CARRNAME":"American Airlines","mimeType":"image/png"}

            {"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#CarrierCollection/$entity","@odata.type":"#RMTSAMPLEFLIGHT.Carrier","@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')","@odata.editLink":"CarrierCollection('AA')","@odata.mediaReadLink":"CarrierCollection('AA')/$value","@odata.mediaContentType":"image/png","carrid":"AA","CARRNAME":"American Airlines","mimeType":"image/png","carrierFlights@odata.associationLink":"CarrierCollection('AA')/carrierFlights/$ref","carrierFlights@odata.navigationLink":"CarrierCollection('AA')/carrierFlights"}

            {"carrid":"AA","CARRNAME":"American Airlines","mimeType":"image/png"}

            {"carrid":"AA","CARRNAME":"American Airlines","mimeType":"image/png"}

            <?xml version="1.0" encoding="utf-8"?><Carrier><carrid>AA</carrid><CARRNAME>American Airlines</CARRNAME><mimeType>image/png</mimeType></Carrier>
            "##),
        }
    }
}

#[test]
fn feeds_have_count_and_next_link() {
    let written = |format| feed(format, &[], Some(400), Some("FlightCollection?$skiptoken=a\"b&c"));
    assert_snapshot!(written(Format::V2Atom).replace("><", ">\n<"), @r#"
    <?xml version="1.0" encoding="utf-8"?>
    <feed xml:base="http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/" xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices">
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection</id>
    <title type="text">FlightCollection</title>
    <updated>2013-09-25T12:00:00Z</updated>
    <author>
    <name/>
    </author>
    <link href="FlightCollection" rel="self" title="FlightCollection"/>
    <m:count>400</m:count>
    <entry>
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</id>
    <title type="text">FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</title>
    <updated>2013-09-25T12:00:00Z</updated>
    <category term="RMTSAMPLEFLIGHT.Flight" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')" rel="edit" title="Flight"/>
    <content type="application/xml">
    <m:properties>
    <d:carrid>AA</d:carrid>
    <d:connid>0017</d:connid>
    </m:properties>
    </content>
    </entry>
    <entry>
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</id>
    <title type="text">FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</title>
    <updated>2013-09-25T12:00:00Z</updated>
    <category term="RMTSAMPLEFLIGHT.Flight" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')" rel="edit" title="Flight"/>
    <content type="application/xml">
    <m:properties>
    <d:carrid>AA</d:carrid>
    <d:connid>0017</d:connid>
    </m:properties>
    </content>
    </entry>
    <link rel="next" href="FlightCollection?$skiptoken=a&quot;b&amp;c"/>
    </feed>
    "#);
    assert_snapshot!(written(Format::V2Json), @r#"{"d":{"__count":"400","results":[{"__metadata":{"id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')","uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')","type":"RMTSAMPLEFLIGHT.Flight"},"carrid":"AA","connid":"0017"},{"__metadata":{"id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')","uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')","type":"RMTSAMPLEFLIGHT.Flight"},"carrid":"AA","connid":"0017"}],"__next":"FlightCollection?$skiptoken=a\"b&c"}}"#);
    assert_snapshot!(written(MINIMAL), @r#"{"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection(carrid,connid)","@odata.count":400,"value":[{"@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)","carrid":"AA","connid":"0017"},{"@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)","carrid":"AA","connid":"0017"}],"@odata.nextLink":"FlightCollection?$skiptoken=a\"b&c"}"#);
    assert_snapshot!(written(FULL), @r##"{"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection(carrid,connid)","@odata.count":"400","value":[{"@odata.type":"#RMTSAMPLEFLIGHT.Flight","@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)","@odata.editLink":"FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)","carrid":"AA","connid":"0017"},{"@odata.type":"#RMTSAMPLEFLIGHT.Flight","@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)","@odata.editLink":"FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)","carrid":"AA","connid":"0017"}],"@odata.nextLink":"FlightCollection?$skiptoken=a\"b&c"}"##);
    assert_snapshot!(written(Format::RestJson), @r#"{"count":400,"items":[{"carrid":"AA","connid":"0017"},{"carrid":"AA","connid":"0017"}],"next":"FlightCollection?$skiptoken=a\"b&c"}"#);
    assert_snapshot!(written(PLAIN_XML), @r#"<?xml version="1.0" encoding="utf-8"?><FlightCollection count="400"><Flight><carrid>AA</carrid><connid>0017</connid></Flight><Flight><carrid>AA</carrid><connid>0017</connid></Flight><next>FlightCollection?$skiptoken=a"b&amp;c</next></FlightCollection>"#);
}

#[test]
fn expansions_stand_inside_of_the_entry() {
    let written = |format| feed(format, &expansions(), None, None);
    assert_snapshot!(written(Format::V2Atom).replace("><", ">\n<"), @r#"
    <?xml version="1.0" encoding="utf-8"?>
    <feed xml:base="http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/" xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices">
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection</id>
    <title type="text">FlightCollection</title>
    <updated>2013-09-25T12:00:00Z</updated>
    <author>
    <name/>
    </author>
    <link href="FlightCollection" rel="self" title="FlightCollection"/>
    <entry>
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</id>
    <title type="text">FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</title>
    <updated>2013-09-25T12:00:00Z</updated>
    <category term="RMTSAMPLEFLIGHT.Flight" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')" rel="edit" title="Flight"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/FlightCarrier" rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/FlightCarrier" type="application/atom+xml;type=entry" title="RMTSAMPLEFLIGHT.CarrierToFlight">
    <m:inline>
    </m:inline>
    </link>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/flightBookings" rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/flightBookings" type="application/atom+xml;type=feed" title="RMTSAMPLEFLIGHT.FlightBookings">
    <m:inline>
    <feed>
    <title type="text">BookingCollection</title>
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/flightBookings</id>
    <updated>2013-09-25T12:00:00Z</updated>
    </feed>
    </m:inline>
    </link>
    <content type="application/xml">
    <m:properties>
    <d:carrid>AA</d:carrid>
    <d:connid>0017</d:connid>
    </m:properties>
    </content>
    </entry>
    <entry>
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</id>
    <title type="text">FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</title>
    <updated>2013-09-25T12:00:00Z</updated>
    <category term="RMTSAMPLEFLIGHT.Flight" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')" rel="edit" title="Flight"/>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/FlightCarrier" rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/FlightCarrier" type="application/atom+xml;type=entry" title="RMTSAMPLEFLIGHT.CarrierToFlight">
    <m:inline>
    <entry>
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')</id>
    <title type="text">CarrierCollection('AA')</title>
    <updated>2013-09-25T12:00:00Z</updated>
    <category term="RMTSAMPLEFLIGHT.Carrier" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <link href="CarrierCollection('AA')" rel="edit" title="Carrier"/>
    <link href="CarrierCollection('AA')/carrierFlights" rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/carrierFlights" type="application/atom+xml;type=feed" title="RMTSAMPLEFLIGHT.CarrierToFlight"/>
    <content type="image/png" src="CarrierCollection('AA')/$value"/>
    <m:properties>
    <d:carrid>AA</d:carrid>
    <d:CARRNAME>American Airlines</d:CARRNAME>
    <d:mimeType>image/png</d:mimeType>
    </m:properties>
    </entry>
    </m:inline>
    </link>
    <link href="FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/flightBookings" rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/flightBookings" type="application/atom+xml;type=feed" title="RMTSAMPLEFLIGHT.FlightBookings">
    <m:inline>
    <feed>
    <title type="text">BookingCollection</title>
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')/flightBookings</id>
    <updated>2013-09-25T12:00:00Z</updated>
    <entry m:etag="W/&quot;datetime'2013-08-01T12:30:00'&quot;">
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')</id>
    <title type="text">BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')</title>
    <updated>2013-09-25T12:00:00Z</updated>
    <category term="RMTSAMPLEFLIGHT.Booking" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <link href="BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')" rel="edit" title="Booking"/>
    <content type="application/xml">
    <m:properties>
    <d:PASSNAME>O'Neil &lt;"&amp;\&gt; Müller</d:PASSNAME>
    </m:properties>
    </content>
    </entry>
    <entry m:etag="W/&quot;datetime'2013-08-01T12:30:00'&quot;">
    <id>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')</id>
    <title type="text">BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')</title>
    <updated>2013-09-25T12:00:00Z</updated>
    <category term="RMTSAMPLEFLIGHT.Booking" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <link href="BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')" rel="edit" title="Booking"/>
    <content type="application/xml">
    <m:properties>
    <d:PASSNAME>O'Neil &lt;"&amp;\&gt; Müller</d:PASSNAME>
    </m:properties>
    </content>
    </entry>
    </feed>
    </m:inline>
    </link>
    <content type="application/xml">
    <m:properties>
    <d:carrid>AA</d:carrid>
    <d:connid>0017</d:connid>
    </m:properties>
    </content>
    </entry>
    </feed>
    "#);
    assert_snapshot!(written(Format::V2Json), @r#"{"d":{"results":[{"__metadata":{"id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')","uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')","type":"RMTSAMPLEFLIGHT.Flight"},"carrid":"AA","connid":"0017","FlightCarrier":null,"flightBookings":{"results":[]}},{"__metadata":{"id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')","uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')","type":"RMTSAMPLEFLIGHT.Flight"},"carrid":"AA","connid":"0017","FlightCarrier":{"__metadata":{"id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')","uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')","type":"RMTSAMPLEFLIGHT.Carrier","content_type":"image/png","media_src":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')/$value"},"carrid":"AA","CARRNAME":"American Airlines","mimeType":"image/png","carrierFlights":{"__deferred":{"uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/CarrierCollection('AA')/carrierFlights"}}},"flightBookings":{"results":[{"__metadata":{"id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')","uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')","type":"RMTSAMPLEFLIGHT.Booking","etag":"W/\"datetime'2013-08-01T12:30:00'\""},"PASSNAME":"O'Neil <\"&\\> Müller"},{"__metadata":{"id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')","uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00',bookid='00000001')","type":"RMTSAMPLEFLIGHT.Booking","etag":"W/\"datetime'2013-08-01T12:30:00'\""},"PASSNAME":"O'Neil <\"&\\> Müller"}]}}]}}"#);
    assert_snapshot!(written(MINIMAL), @r#"{"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection(carrid,connid,FlightCarrier(),flightBookings(PASSNAME))","value":[{"@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)","carrid":"AA","connid":"0017","FlightCarrier":null,"flightBookings":[]},{"@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)","carrid":"AA","connid":"0017","FlightCarrier":{"carrid":"AA","CARRNAME":"American Airlines","mimeType":"image/png"},"flightBookings":[{"@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=2013-09-25,bookid='00000001')","@odata.etag":"W/\"2013-08-01T12:30:00Z\"","PASSNAME":"O'Neil <\"&\\> Müller"},{"@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/BookingCollection(carrid='AA',connid='0017',fldate=2013-09-25,bookid='00000001')","@odata.etag":"W/\"2013-08-01T12:30:00Z\"","PASSNAME":"O'Neil <\"&\\> Müller"}]}]}"#);
    assert_snapshot!(written(NONE), @r#"{"value":[{"carrid":"AA","connid":"0017","FlightCarrier":null,"flightBookings":[]},{"carrid":"AA","connid":"0017","FlightCarrier":{"carrid":"AA","CARRNAME":"American Airlines","mimeType":"image/png"},"flightBookings":[{"PASSNAME":"O'Neil <\"&\\> Müller"},{"PASSNAME":"O'Neil <\"&\\> Müller"}]}]}"#);
    assert_snapshot!(written(Format::RestJson), @r#"{"items":[{"carrid":"AA","connid":"0017","FlightCarrier":null,"flightBookings":[]},{"carrid":"AA","connid":"0017","FlightCarrier":{"carrid":"AA","CARRNAME":"American Airlines","mimeType":"image/png"},"flightBookings":[{"PASSNAME":"O'Neil <\"&\\> Müller"},{"PASSNAME":"O'Neil <\"&\\> Müller"}]}]}"#);
    assert_snapshot!(written(PLAIN_XML), @r#"<?xml version="1.0" encoding="utf-8"?><FlightCollection><Flight><carrid>AA</carrid><connid>0017</connid><FlightCarrier></FlightCarrier><flightBookings></flightBookings></Flight><Flight><carrid>AA</carrid><connid>0017</connid><FlightCarrier><Carrier><carrid>AA</carrid><CARRNAME>American Airlines</CARRNAME><mimeType>image/png</mimeType></Carrier></FlightCarrier><flightBookings><Booking><PASSNAME>O'Neil &lt;"&amp;\&gt; Müller</PASSNAME></Booking><Booking><PASSNAME>O'Neil &lt;"&amp;\&gt; Müller</PASSNAME></Booking></flightBookings></Flight></FlightCollection>"#);
}

#[test]
fn an_entity_of_nothing_but_an_expansion_has_its_commas_right() {
    let select = Select::Only { leaves: Vec::new(), navigation: Vec::new() };
    let expand = [Expand::new(NavigationId(0), BOOKINGS, select.clone())];
    let row = [0, 1, 2].map(|leaf: usize| testing::flight()[leaf]);
    let written = |format, alone: bool| {
        let stencil = Stencil::compile(&testing::model(), FLIGHTS, format, &select, &expand);
        let (mut out, mut writer) = (Vec::new(), stencil.writer(base()));
        if alone {
            writer.document_begin(&mut out);
        } else {
            writer.feed_begin(&mut out, &FeedHead { path: "FlightCollection", count: None });
        }
        writer.entry_begin(&mut out, &row[..]);
        writer.expand_begin(&mut out, 0, &row[..]);
        writer.expand_end(&mut out);
        writer.entry_end(&mut out, &row[..]);
        if alone {
            writer.document_end(&mut out);
        } else {
            writer.feed_end(&mut out, None);
        }
        text(out)
    };
    assert_eq!(written(NONE, true), r#"{"flightbooking":null}"#);
    assert_eq!(written(NONE, false), r#"{"value":[{"flightbooking":null}]}"#);
    assert_eq!(written(Format::RestJson, true), r#"{"flightbooking":null}"#);
    assert_snapshot!(written(MINIMAL, true), @r#"{"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection(flightbooking())/$entity","@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)","flightbooking":null}"#);
}
