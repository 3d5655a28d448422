//! Single values: properties as documents, raw values, entity tags, and values or hosts that try to break out.

use super::*;

#[test]
fn properties_are_documents_of_their_own() {
    let written = |format, shape| {
        let stencil = Stencil::compile_property(&testing::model(), FLIGHTS, format, &Select::All, shape);
        let (mut out, mut writer) = (Vec::new(), stencil.writer(base()));
        writer.document_begin(&mut out);
        writer.entry(&mut out, &testing::flight()[..]);
        writer.document_end(&mut out);
        text(out)
    };
    let all = |shape| ALL[..7].iter().map(|format| written(*format, shape)).collect::<Vec<_>>().join("\n");
    assert_snapshot!(all(Shape::Leaf(LeafId(16))), @r##"
    <?xml version="1.0" encoding="utf-8"?><d:PRICE xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">422.94</d:PRICE>
    {"d":{"PRICE":"422.94"}}
    {"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/PRICE","value":422.94}
    {"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/PRICE","@odata.type":"#Decimal","value":"422.94"}
    {"value":422.94}
    {"PRICE":422.94}
    <?xml version="1.0" encoding="utf-8"?><PRICE>422.94</PRICE>
    "##);
    assert_snapshot!(all(Shape::Leaf(LeafId(2))), @r##"
    <?xml version="1.0" encoding="utf-8"?><d:fldate xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">2013-09-25T00:00:00</d:fldate>
    {"d":{"fldate":"\/Date(1380067200000)\/"}}
    {"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/fldate","value":"2013-09-25"}
    {"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/fldate","@odata.type":"#Date","value":"2013-09-25"}
    {"value":"2013-09-25"}
    {"fldate":"2013-09-25"}
    <?xml version="1.0" encoding="utf-8"?><fldate>2013-09-25</fldate>
    "##);
    assert_snapshot!(all(Shape::Property(3)), @r##"
    <?xml version="1.0" encoding="utf-8"?><d:flightDetails xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:type="RMTSAMPLEFLIGHT.FlightDetails"><d:countryFrom>US</d:countryFrom><d:cityFrom>new york</d:cityFrom><d:airportFrom>JFK</d:airportFrom><d:countryTo>US</d:countryTo><d:cityTo>SAN FRANCISCO</d:cityTo><d:airportTo>SFO</d:airportTo><d:flightTime>361</d:flightTime><d:departureTime>PT11H00M00S</d:departureTime><d:arrivalTime>PT14H01M00S</d:arrivalTime><d:distance>2573.0000</d:distance><d:distanceUnit>SMI</d:distanceUnit><d:flightType></d:flightType><d:period>0</d:period></d:flightDetails>
    {"d":{"flightDetails":{"__metadata":{"type":"RMTSAMPLEFLIGHT.FlightDetails"},"countryFrom":"US","cityFrom":"new york","airportFrom":"JFK","countryTo":"US","cityTo":"SAN FRANCISCO","airportTo":"SFO","flightTime":361,"departureTime":"PT11H00M00S","arrivalTime":"PT14H01M00S","distance":"2573.0000","distanceUnit":"SMI","flightType":"","period":0}}}
    {"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/flightDetails","countryFrom":"US","cityFrom":"new york","airportFrom":"JFK","countryTo":"US","cityTo":"SAN FRANCISCO","airportTo":"SFO","flightTime":361,"departureTime":"11:00:00","arrivalTime":"14:01:00","distance":2573.0000,"distanceUnit":"SMI","flightType":"","period":0}
    {"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)/flightDetails","@odata.type":"#RMTSAMPLEFLIGHT.FlightDetails","countryFrom":"US","cityFrom":"new york","airportFrom":"JFK","countryTo":"US","cityTo":"SAN FRANCISCO","airportTo":"SFO","flightTime@odata.type":"#Int32","flightTime":361,"departureTime@odata.type":"#TimeOfDay","departureTime":"11:00:00","arrivalTime@odata.type":"#TimeOfDay","arrivalTime":"14:01:00","distance@odata.type":"#Decimal","distance":"2573.0000","distanceUnit":"SMI","flightType":"","period@odata.type":"#Byte","period":0}
    {"countryFrom":"US","cityFrom":"new york","airportFrom":"JFK","countryTo":"US","cityTo":"SAN FRANCISCO","airportTo":"SFO","flightTime":361,"departureTime":"11:00:00","arrivalTime":"14:01:00","distance":2573.0000,"distanceUnit":"SMI","flightType":"","period":0}
    {"flightDetails":{"countryFrom":"US","cityFrom":"new york","airportFrom":"JFK","countryTo":"US","cityTo":"SAN FRANCISCO","airportTo":"SFO","flightTime":361,"departureTime":"11:00:00","arrivalTime":"14:01:00","distance":2573.0000,"distanceUnit":"SMI","flightType":"","period":0}}
    <?xml version="1.0" encoding="utf-8"?><flightDetails><countryFrom>US</countryFrom><cityFrom>new york</cityFrom><airportFrom>JFK</airportFrom><countryTo>US</countryTo><cityTo>SAN FRANCISCO</cityTo><airportTo>SFO</airportTo><flightTime>361</flightTime><departureTime>11:00:00</departureTime><arrivalTime>14:01:00</arrivalTime><distance>2573.0000</distance><distanceUnit>SMI</distanceUnit><flightType></flightType><period>0</period></flightDetails>
    "##);
}

#[test]
fn raw_values_are_not_escaped() {
    let written = |version, primitive, cell| {
        let mut out = Vec::new();
        raw::write(&mut out, version, primitive, cell);
        text(out)
    };
    let (v2, v4, string) = (Some(Version::V2), Some(Version::V4), Primitive::String { length_max: 0 });
    assert_eq!(written(v2, string, Cell::Text(b"<&>")), "<&>");
    assert_eq!(written(v2, Primitive::Date, Cell::Text(b"2013-09-25")), "2013-09-25T00:00:00");
    assert_eq!(written(v4, Primitive::Date, Cell::Text(b"2013-09-25")), "2013-09-25");
    let date_time = Primitive::DateTime { precision: 0 };
    assert_eq!(written(v4, date_time, Cell::Text(b"2013-09-25T00:00:00")), "2013-09-25T00:00:00Z");
    assert_eq!(written(v2, date_time, Cell::Text(b"2013-09-25T00:00:00")), "2013-09-25T00:00:00");
    let time = Primitive::TimeOfDay { precision: 0 };
    assert_eq!(written(v2, time, Cell::Text(b"11:00:00")), "PT11H00M00S");
    assert_eq!(written(None, time, Cell::Text(b"11:00:00")), "11:00:00");
    assert_eq!(written(v4, Primitive::Boolean, Cell::Integer(1)), "true");
    assert_eq!(written(v4, Primitive::Double, Cell::Real(0.1)), "0.1");
    assert_eq!(written(v4, Primitive::Binary { length_max: 0 }, Cell::Bytes(b"\0x")), "\0x");
    assert_eq!(written(v4, string, Cell::Null), "");
}

#[test]
fn an_etag_is_weak_and_may_be_missing() {
    let etag = |set, row: &[Cell<'_>], format| {
        let mut out = Vec::new();
        let has = Stencil::compile(&testing::model(), set, format, &Select::All, &[]).write_etag(&mut out, row);
        (has, text(out))
    };
    let booking = testing::booking();
    let expected = "W/\"datetime'2013-08-01T12:30:00'\"".to_owned();
    assert_eq!(etag(BOOKINGS, &booking, Format::V2Atom), (true, expected));
    assert_eq!(etag(BOOKINGS, &booking, MINIMAL), (true, "W/\"2013-08-01T12:30:00Z\"".to_owned()));
    assert_eq!(etag(FLIGHTS, &testing::flight(), MINIMAL), (false, String::new()));
}

#[test]
fn values_that_do_not_fit_their_type_leave_the_document_well_formed() {
    let wrong = [Cell::Text(b"\"<x>"), Cell::Integer(-7), Cell::Real(f64::INFINITY), Cell::Bytes(b"\xff\"<")];
    let model = testing::model();
    for cell in wrong {
        let row = vec![cell; model.type_of(testing::SAMPLES).leaves.len()];
        for format in ALL {
            let written = document_of(testing::SAMPLES, &row, format, &Select::All);
            let read = crate::document::read(written.as_bytes(), format, None);
            assert!(read.is_ok(), "{format:?} {cell:?}: {read:?}\n{written}");
        }
    }
}

#[test]
fn a_host_cannot_break_out_of_the_document() {
    let base = Base::new("http://a\"><script>&\u{e9}/", UPDATED);
    assert_eq!(base.service_root(), "http://a%22%3E%3Cscript%3E%26%C3%A9/");
}
