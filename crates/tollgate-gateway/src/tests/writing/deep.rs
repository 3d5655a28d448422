//! Entities created together, and relations written with them.

use super::{Writer, location};
use crate::tests::client::{V2, V4};

#[test]
fn a_carrier_is_created_with_its_flights_and_their_bookings() {
    let mut writer = Writer::start();
    let body = r#"{"carrid":"ZZ","CARRNAME":"Zed","carrierFlights":[
        {"connid":"0001","fldate":"2011-06-01","PRICE":1.50,"flightBookings":[{"bookid":"1"},{"bookid":"2","CLASS":"Y"}]},
        {"connid":"0002","fldate":"2011-06-02","carrid":"ZZ"}]}"#;
    let created = writer.send("POST", &format!("{V4}CarrierCollection"), body);
    created.expect(201, "\"carrierFlights\":[{").expect(201, "\"connid\":\"0002\"");
    assert_eq!(location(&created), format!("{V4}CarrierCollection('ZZ')"));
    let booking = "BookingCollection(carrid='ZZ',connid='0001',fldate=2011-06-01,bookid='2')";
    writer.get(&format!("{V4}{booking}")).expect(200, "\"CLASS\":\"Y\"");
    assert_eq!(writer.get(&format!("{V4}CarrierCollection('ZZ')/carrierFlights/$count")).text(), "2");
}

#[test]
fn v2_creates_entities_together_as_json_and_as_atom() {
    let mut writer = Writer::start();
    let body =
        r#"{"d":{"carrid":"ZZ","carrierFlights":{"results":[{"connid":"0001","fldate":"/Date(1306886400000)/"}]}}}"#;
    writer.send("POST", &format!("{V2}CarrierCollection"), body).expect(201, "\"carrierFlights\":{\"results\":[{");
    let body = r#"<entry xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><link rel="http://schemas.microsoft.com/ado/2007/08/dataservices/related/carrierFlights" type="application/atom+xml;type=feed"><m:inline><feed><entry><content type="application/xml"><m:properties><d:connid>0003</d:connid><d:fldate>2011-06-01T00:00:00</d:fldate></m:properties></content></entry></feed></m:inline></link><m:properties><d:carrid>YY</d:carrid></m:properties></entry>"#;
    let created = writer.client.ask_with("POST", &format!("{V2}CarrierCollection"), &[super::ATOM], body);
    created.expect(201, "<d:connid>0003</d:connid>");
    let flight = "FlightCollection(carrid='YY',connid='0003',fldate=datetime'2011-06-01T00:00:00')";
    writer.get(&format!("{V2}{flight}")).expect(200, "");
}

#[test]
fn nothing_is_created_where_a_part_cannot_be() {
    let mut writer = Writer::start();
    let before = (writer.count("CarrierCollection"), writer.count("FlightCollection"));
    for (body, status, fragment) in [
        // The second flight is the first one again.
        (
            r#"{"carrid":"ZZ","carrierFlights":[{"connid":"1","fldate":"2011-06-01"},{"connid":"1","fldate":"2011-06-01"}]}"#,
            409,
            "unique",
        ),
        (r#"{"carrid":"ZZ","carrierFlights":[{"connid":"1","fldate":"2011-06-01"},{"connid":"2"}]}"#, 400, "fldate"),
        (r#"{"carrid":"ZZ","carrierFlights":[{"connid":"1","carrid":"AA","fldate":"2011-06-01"}]}"#, 400, "carrid"),
        (
            r#"{"carrid":"ZZ","carrierFlights":[{"connid":"12345","fldate":"2011-06-01"}]}"#,
            400,
            "carrierFlights[0]/connid",
        ),
    ] {
        writer.send("POST", &format!("{V4}CarrierCollection"), body).expect(status, fragment);
    }
    assert_eq!((writer.count("CarrierCollection"), writer.count("FlightCollection")), before);
}

#[test]
fn an_entity_is_created_below_another() {
    let mut writer = Writer::start();
    let flights = format!("{V4}CarrierCollection('AA')/carrierFlights");
    let created = writer.send("POST", &flights, r#"{"connid":"9999","fldate":"2030-01-01"}"#);
    created.expect(201, "\"carrid\":\"AA\"");
    assert_eq!(location(&created), format!("{V4}FlightCollection(carrid='AA',connid='9999',fldate=2030-01-01)"));
    writer.send("POST", &flights, r#"{"carrid":"LH","connid":"9998","fldate":"2030-01-01"}"#).expect(400, "carrid");
    let bookings = format!("{flights}(carrid='AA',connid='9999',fldate=2030-01-01)/flightBookings");
    writer.send("POST", &bookings, r#"{"bookid":"1"}"#).expect(201, "\"fldate\":\"2030-01-01\"");
    let nowhere = format!("{V4}CarrierCollection('QQ')/carrierFlights");
    writer.send("POST", &nowhere, r#"{"connid":"1","fldate":"2030-01-01"}"#).expect(404, "does not exist");
    let nowhere = format!("{flights}(carrid='AA',connid='9997',fldate=2030-01-01)/flightBookings");
    writer.send("POST", &nowhere, r#"{"bookid":"1"}"#).expect(404, "does not exist");
    let v2 = format!("{V2}CarrierCollection('AA')/carrierFlights");
    writer.send("POST", &v2, r#"{"connid":"9996","fldate":"/Date(1306886400000)/"}"#).expect(201, "\"carrid\":\"AA\"");
}

#[test]
fn a_link_in_the_body_sets_the_foreign_key() {
    let mut writer = Writer::start();
    let flights = format!("{V4}FlightCollection");
    let bound = |carrier: &str, connection: &str| {
        format!(
            r#"{{"connid":"{connection}","fldate":"2030-01-01","FlightCarrier@odata.bind":"CarrierCollection('{carrier}')"}}"#
        )
    };
    writer.send("POST", &flights, &bound("AA", "9999")).expect(201, "\"carrid\":\"AA\"");
    writer.send("POST", &flights, &bound("QQ", "9998")).expect(400, "FlightCarrier");
    // The relation is part of the key, so it stays.
    let path = format!("{V4}FlightCollection(carrid='AA',connid='9999',fldate=2030-01-01)");
    assert_eq!(writer.send("PATCH", &path, r#"{"FlightCarrier@odata.bind":"CarrierCollection('AA')"}"#).status, 204);
    writer.send("PATCH", &path, r#"{"FlightCarrier@odata.bind":"CarrierCollection('LH')"}"#).expect(400, "carrid");
}

#[test]
fn entities_within_an_entity_that_is_changed_are_refused() {
    let mut writer = Writer::start();
    let path = format!("{V4}CarrierCollection('AA')");
    let body = r#"{"carrierFlights":[{"connid":"1","fldate":"2011-06-01"}]}"#;
    writer.send("PATCH", &path, body).expect(400, "entities within");
    writer.send_with("PATCH", &path, &[("OData-Version", "4.01")], body).expect(501, "within an entity");
}
