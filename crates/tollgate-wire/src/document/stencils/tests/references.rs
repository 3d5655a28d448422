//! References to entities, alone and in collections.

use super::*;

fn reference(format: Format) -> String {
    let stencil = Stencil::compile_references(&testing::model(), FLIGHTS, format);
    let (mut out, mut writer) = (Vec::new(), stencil.writer(base()));
    writer.document_begin(&mut out);
    writer.entry(&mut out, &testing::flight()[..3]);
    writer.document_end(&mut out);
    assert!(!stencil.write_etag(&mut out, &testing::flight()[..3]), "a reference has no ETag");
    text(out)
}

fn references(format: Format, rows: usize, count: Option<u64>, next: Option<&str>) -> String {
    let stencil = Stencil::compile_references(&testing::model(), FLIGHTS, format);
    let (mut out, mut writer) = (Vec::new(), stencil.writer(base()));
    writer.feed_begin(&mut out, &FeedHead { path: "CarrierCollection('AA')/carrierFlights", count });
    (0..rows).for_each(|_| writer.entry(&mut out, &testing::flight()[..3]));
    writer.feed_end(&mut out, next);
    text(out)
}

#[test]
fn a_reference_is_nothing_but_a_url() {
    assert_snapshot!(reference(MINIMAL), @r#"{"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#$ref","@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)"}"#);
    assert_snapshot!(reference(NONE), @r#"{"@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)"}"#);
    assert_snapshot!(reference(Format::V2Json), @r#"{"d":{"uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')"}}"#);
    assert_snapshot!(reference(Format::V2Atom), @r#"<?xml version="1.0" encoding="utf-8"?><uri xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices">http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</uri>"#);
}

#[test]
fn references_have_count_and_next_link_as_entities_have() {
    assert_snapshot!(references(MINIMAL, 2, Some(7), Some("next?a&b")), @r#"{"@odata.context":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/$metadata#Collection($ref)","@odata.count":7,"value":[{"@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)"},{"@odata.id":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=2013-09-25)"}],"@odata.nextLink":"next?a&b"}"#);
    assert_snapshot!(references(NONE, 0, None, None), @r#"{"value":[]}"#);
    assert_snapshot!(references(Format::V2Json, 2, Some(7), Some("next?a&b")), @r#"{"d":{"__count":"7","results":[{"uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')"},{"uri":"http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')"}],"__next":"next?a&b"}}"#);
    assert_snapshot!(references(Format::V2Atom, 2, Some(7), Some("next?a&b")), @r#"<?xml version="1.0" encoding="utf-8"?><links xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices"><m:count xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">7</m:count><uri>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</uri><uri>http://127.0.0.1:8080/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection(carrid='AA',connid='0017',fldate=datetime'2013-09-25T00%3A00%3A00')</uri><next>next?a&amp;b</next></links>"#);
    assert_snapshot!(references(Format::V2Atom, 0, None, None), @r#"<?xml version="1.0" encoding="utf-8"?><links xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices"></links>"#);
}
