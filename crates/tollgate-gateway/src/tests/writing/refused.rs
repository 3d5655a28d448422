//! Refused writes, with the side at fault and the property; nothing of them is stored.

use super::{RECORDS_V2, RECORDS_V4, Writer};
use crate::tests::client::{V2, V4};

#[test]
fn a_wrong_value_is_told_with_its_property_in_the_callers_format() {
    let mut writer = Writer::start();
    for (body, target) in [
        (r#"{"integerField":2147483648}"#, "integerField"),
        (r#"{"integerField":"7"}"#, "integerField"),
        (r#"{"decimalField":0.00001}"#, "decimalField"),
        (r#"{"dateField":"2013-02-30"}"#, "dateField"),
        (r#"{"ID":"no-guid"}"#, "ID"),
        (r#"{"ID":null}"#, "ID"),
        (r#"{"booleanField":1}"#, "booleanField"),
    ] {
        writer.send("POST", RECORDS_V4, body).expect(400, &format!("\"target\":\"{target}\""));
    }
    let long = "x".repeat(256);
    writer
        .send("POST", RECORDS_V4, &format!(r#"{{"stringField":"{long}"}}"#))
        .expect(400, "\"target\":\"stringField\"");
    writer.send("POST", RECORDS_V2, r#"{"integerField":2147483648}"#).expect(400, "integerField");
    let xml = writer.client.ask_with("POST", RECORDS_V2, &[super::JSON], r#"{"integerField":2147483648}"#);
    xml.expect(400, "<error").expect(400, "integerField");
    assert_eq!(writer.get(&format!("{RECORDS_V4}/$count")).text(), "0");
}

#[test]
fn what_is_missing_is_named() {
    let mut writer = Writer::start();
    let flights = format!("{V4}FlightCollection");
    writer.send("POST", &flights, r#"{"carrid":"AA","connid":"9999"}"#).expect(400, "\"target\":\"fldate\"");
    writer.send("POST", &flights, r#"{"carrid":"AA","connid":null,"fldate":"2011-06-01"}"#).expect(400, "connid");
}

#[test]
fn what_is_there_already_is_a_conflict() {
    let mut writer = Writer::start();
    let carriers = format!("{V4}CarrierCollection");
    writer.send("POST", &carriers, r#"{"carrid":"AA"}"#).expect(409, "\"target\":\"carrid\"");
    writer.send("POST", &format!("{V2}CarrierCollection"), r#"{"carrid":"AA"}"#).expect(409, "carrid");
}

#[test]
fn bodies_that_cannot_be_read_are_refused() {
    let mut writer = Writer::start();
    for (target, headers, body, status) in [
        (RECORDS_V4, ("Content-Type", "application/xml"), "{}", 415),
        (RECORDS_V4, ("Content-Type", "application/json;charset=latin1"), "{}", 415),
        (RECORDS_V4, ("Content-Encoding", "gzip"), "{}", 415),
        (RECORDS_V2, ("Content-Type", "text/plain"), "{}", 415),
        (RECORDS_V4, ("Accept", "text/html"), "{}", 406),
        (RECORDS_V4, ("OData-Version", "5.0"), "{}", 400),
        (RECORDS_V4, ("Prefer", "x"), "", 400),
        (RECORDS_V4, ("Prefer", "x"), "[]", 400),
        (RECORDS_V4, ("Prefer", "x"), "{\"integerField\":", 400),
        (RECORDS_V4, ("Prefer", "x"), "{\"integerField\":1}x", 400),
        (RECORDS_V4, ("Prefer", "x"), "\u{0}", 400),
        (RECORDS_V4, ("Prefer", "x"), "{\"nothing\":1}", 400),
        (RECORDS_V4, ("Prefer", "x"), "{\"integerField\":1,\"integerField\":1}", 400),
        (RECORDS_V2, ("Content-Type", "application/atom+xml"), "<entry", 400),
        (RECORDS_V2, ("Content-Type", "application/atom+xml"), "<!DOCTYPE a [<!ENTITY b 'c'>]><entry>&b;</entry>", 400),
    ] {
        let answer = writer.send_with("POST", target, &[headers], body);
        assert_eq!(answer.status, status, "{headers:?} {body:?} {}", answer.text());
    }
    let depth = 100_000;
    let nested = format!("{}{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    writer.send("POST", RECORDS_V4, &nested).expect(400, "error");
    let levels = "{\"carrid\":\"Z\",\"carrierFlights\":[{\"FlightCarrier\":".repeat(30);
    writer.send("POST", &format!("{V4}CarrierCollection"), &levels).expect(400, "error");
    assert_eq!(writer.get(&format!("{RECORDS_V4}/$count")).text(), "0");
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let gateway = crate::tests::client::Running::start("");
    let limit = gateway.shared.services[1].hosted.rules.body_bytes_max;
    let check = |length: usize, status: u16| {
        let body = format!("{{\"largeStringField\":\"{}\"}}", "x".repeat(length - "{\"largeStringField\":\"\"}".len()));
        let answer = gateway.connect().ask_with("POST", RECORDS_V4, &[super::JSON], &body);
        assert_eq!(answer.status, status, "{length}");
    };
    check(limit, 201);
    check(limit + 1, 413);
}

#[test]
fn options_that_look_for_entities_do_not_apply_to_writing() {
    let mut writer = Writer::start();
    writer.send("POST", &format!("{RECORDS_V4}?$top=1"), "{}").expect(400, "$top");
    writer.send("POST", &format!("{RECORDS_V4}?$filter=integerField%20eq%201"), "{}").expect(400, "$filter");
    writer.send("POST", &format!("{RECORDS_V4}?$count=true"), "{}").expect(400, "$count");
    writer.send("POST", &format!("{RECORDS_V4}?sap-client=100"), "{}").expect(201, "");
}
