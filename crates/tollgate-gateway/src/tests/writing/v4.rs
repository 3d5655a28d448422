//! Successful writing by V4.

use super::{AS_JSON, JSON, RECORDS_V4, Writer, location};
use crate::tests::client::{V2, V4};

#[test]
fn a_record_is_created_read_changed_replaced_and_deleted() {
    let mut writer = Writer::start();
    let created = writer.send("POST", RECORDS_V4, r#"{"stringField":"a","integerField":7}"#);
    created.expect(201, "\"stringField\":\"a\"").expect(201, "\"createdBy\":\"anonymous\"");
    assert_eq!(created.header("odata-entityid"), created.header("location"));
    assert_eq!(created.header("odata-version"), Some("4.0"));
    assert_eq!(created.header("vary"), Some("Accept"));
    let path = location(&created);
    assert_eq!(writer.get(&path).text(), created.text());
    let changed = writer.send("PATCH", &path, r#"{"integerField":8}"#);
    assert_eq!((changed.status, changed.text()), (204, String::new()));
    writer.get(&path).expect(200, "\"integerField\":8").expect(200, "\"stringField\":\"a\"");
    assert_eq!(writer.send("PUT", &path, r#"{"integerField":9}"#).status, 204);
    let replaced = writer.get(&path);
    replaced.expect(200, "\"integerField\":9").expect(200, "\"stringField\":null");
    replaced.expect(200, "\"createdBy\":\"anonymous\"");
    assert_eq!(writer.send("DELETE", &path, "").status, 204);
    assert_eq!(writer.get(&path).status, 404);
    assert_eq!(writer.send("DELETE", &path, "").status, 404);
}

#[test]
fn every_type_comes_back_as_it_was_sent() {
    let mut writer = Writer::start();
    let body = r#""stringField":"a\"é","largeStringField":"b","booleanField":true,"integerField":-2147483648,"integer64Field":9223372036854775807,"decimalField":12345678901234.5678,"doubleField":1.5e300,"dateField":"2013-09-25","timeField":"11:00:00","dateTimeField":"2013-09-25T00:00:00Z","timeStampField":"2013-09-25T00:00:00.1234567Z"}"#;
    let created = writer.send("POST", RECORDS_V4, &format!("{{{body}"));
    created.expect(201, body);
    writer.get(&location(&created)).expect(200, body);
}

#[test]
fn a_key_in_the_body_of_a_change_is_ignored() {
    let mut writer = Writer::start();
    let path = location(&writer.send("POST", RECORDS_V4, r#"{"integerField":7}"#));
    let other = r#"{"ID":"01234567-89ab-cdef-0123-456789abcdef","integerField":8}"#;
    for method in ["PATCH", "PUT"] {
        assert_eq!(writer.send(method, &path, other).status, 204, "{method}");
        writer.get(&path).expect(200, "\"integerField\":8");
    }
    let count = writer.get(&format!("{RECORDS_V4}/$count"));
    assert_eq!(count.text(), "1");
}

#[test]
fn what_is_answered_is_as_the_client_prefers() {
    let mut writer = Writer::start();
    let minimal = ("Prefer", "return=minimal");
    let whole = ("Prefer", "return=representation");
    let created = writer.send_with("POST", RECORDS_V4, &[minimal], r#"{"integerField":7}"#);
    assert_eq!((created.status, created.text()), (204, String::new()));
    assert_eq!(created.header("preference-applied"), Some("return=minimal"));
    assert_eq!(created.header("odata-entityid"), created.header("location"));
    let path = location(&created);
    let changed = writer.send_with("PATCH", &path, &[whole], r#"{"integerField":8}"#);
    changed.expect(200, "\"integerField\":8");
    assert_eq!(changed.header("preference-applied"), Some("return=representation"));
    writer.send_with("PATCH", &path, &[minimal], r#"{"integerField":9}"#);
    writer.get(&path).expect(200, "\"integerField\":9");
    let full = ("Accept", "application/json;odata.metadata=full");
    writer.send_with("PUT", &path, &[whole, full], r#"{"integerField":1}"#).expect(200, "\"@odata.editLink\"");
    let selected = writer.send("POST", &format!("{RECORDS_V4}?$select=integerField"), r#"{"integerField":7}"#);
    selected.expect(201, "\"integerField\":7");
    assert!(!selected.text().contains("doubleField"), "{}", selected.text());
}

#[test]
fn what_the_server_provides_is_not_the_clients_to_set() {
    let mut writer = Writer::start();
    let body = r#"{"createdBy":"mallory","createdAt":"1999-01-01T00:00:00Z","modifiedBy":"mallory"}"#;
    let alice = ("Authorization", "Basic YWxpY2U6c2VjcmV0");
    let created = writer.send_with("POST", RECORDS_V4, &[alice], body);
    created.expect(201, "\"createdBy\":\"alice\"").expect(201, "\"modifiedBy\":\"alice\"");
    assert!(!created.text().contains("1999-01-01"));
    let path = location(&created);
    assert_eq!(writer.send("PATCH", &path, body).status, 204);
    writer.get(&path).expect(200, "\"createdBy\":\"alice\"").expect(200, "\"modifiedBy\":\"anonymous\"");
}

#[test]
fn an_upsert_creates_unless_the_client_knows_better() {
    let mut writer = Writer::start();
    let path = format!("{RECORDS_V4}(01234567-89ab-4def-8123-456789abcdef)");
    let existing = ("If-Match", "*");
    let absent = ("If-None-Match", "*");
    writer.send_with("PATCH", &path, &[existing], r#"{"integerField":1}"#).expect(412, "If-Match");
    let created = writer.send_with("PATCH", &path, &[absent], r#"{"integerField":1}"#);
    created.expect(201, "\"ID\":\"01234567-89ab-4def-8123-456789abcdef\"").expect(201, "\"createdBy\":\"anonymous\"");
    assert_eq!(location(&created), path);
    writer.send_with("PATCH", &path, &[absent], r#"{"integerField":2}"#).expect(412, "If-None-Match");
    assert_eq!(writer.send_with("PATCH", &path, &[existing], r#"{"integerField":3}"#).status, 204);
    writer.get(&path).expect(200, "\"integerField\":3");
    let other = format!("{RECORDS_V4}(11234567-89ab-4def-8123-456789abcdef)");
    let put = writer.send_with("PUT", &other, &[("Prefer", "return=minimal")], r#"{"integerField":4}"#);
    assert_eq!((put.status, location(&put)), (204, other.clone()));
    writer.get(&other).expect(200, "\"integerField\":4");
    // A property or a path over navigation creates nothing.
    let third = format!("{RECORDS_V4}(21234567-89ab-4def-8123-456789abcdef)/integerField");
    writer.send("PUT", &third, r#"{"value":4}"#).expect(404, "");
    writer
        .send(
            "PATCH",
            &format!("{V4}CarrierCollection('ZZ')/carrierFlights(carrid='ZZ',connid='0001',fldate=2011-06-01)"),
            "{}",
        )
        .expect(404, "");
}

#[test]
fn a_property_is_set_and_cleared_by_itself() {
    let mut writer = Writer::start();
    let path = location(&writer.send("POST", RECORDS_V4, r#"{"integerField":7,"stringField":"a"}"#));
    assert_eq!(writer.send("PUT", &format!("{path}/integerField"), r#"{"value":8}"#).status, 204);
    let whole = [("Prefer", "return=representation")];
    writer.send_with("PUT", &format!("{path}/stringField"), &whole, r#"{"value":"b"}"#).expect(200, "\"value\":\"b\"");
    writer.get(&path).expect(200, "\"integerField\":8").expect(200, "\"stringField\":\"b\"");
    let text = [("Content-Type", "text/plain")];
    assert_eq!(writer.send_with("PUT", &format!("{path}/stringField/$value"), &text, "c d").status, 204);
    assert_eq!(writer.send_with("PUT", &format!("{path}/decimalField/$value"), &text, "1.5").status, 204);
    assert_eq!(writer.send("DELETE", &format!("{path}/integerField"), "").status, 204);
    let found = writer.get(&path);
    found
        .expect(200, "\"stringField\":\"c d\"")
        .expect(200, "\"decimalField\":1.5")
        .expect(200, "\"integerField\":null");
    let null = writer.send_with("PUT", &format!("{path}/stringField"), &whole, r#"{"value":null}"#);
    assert_eq!((null.status, null.text()), (204, String::new()));
    writer.send("PUT", &format!("{path}/ID"), r#"{"value":"01234567-89ab-4def-8123-456789abcdef"}"#).expect(400, "key");
    writer.send("PUT", &format!("{path}/createdBy"), r#"{"value":"me"}"#).expect(400, "set by the server");
    writer.send("PUT", &format!("{path}/integerField"), r#"{"value":"much"}"#).expect(400, "integerField");
    writer.send("DELETE", &format!("{path}/ID"), "").expect(400, "ID");
}

#[test]
fn a_complex_property_is_merged_or_replaced_by_itself() {
    let mut writer = Writer::start();
    let path = format!("{V4}FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)");
    let details = format!("{path}/flightDetails");
    assert_eq!(writer.send("PATCH", &details, r#"{"cityTo":"here"}"#).status, 204);
    writer.get(&details).expect(200, "\"cityTo\":\"here\"").expect(200, "\"airportTo\":\"SFO\"");
    assert_eq!(writer.send("PUT", &details, r#"{"cityTo":"there"}"#).status, 204);
    writer.get(&details).expect(200, "\"cityTo\":\"there\"").expect(200, "\"airportTo\":null");
    assert_eq!(writer.send("PUT", &format!("{details}/cityTo"), r#"{"value":"x"}"#).status, 204);
    writer.get(&path).expect(200, "\"cityTo\":\"x\"").expect(200, "\"PLANETYPE\":\"");
}

#[test]
fn a_key_in_the_body_must_be_that_of_the_url_in_v2() {
    let mut writer = Writer::start();
    let path = format!("{V2}CarrierCollection('AA')");
    assert_eq!(writer.send("MERGE", &path, r#"{"carrid":"AA","CARRNAME":"A"}"#).status, 204);
    writer.send("MERGE", &path, r#"{"carrid":"LH","CARRNAME":"B"}"#).expect(400, "as in the URL");
    writer.get(&path).expect(200, "\"CARRNAME\":\"A\"");
}

#[test]
fn writing_is_offered_where_there_is_some() {
    let mut writer = Writer::start();
    for (target, allow) in [
        (RECORDS_V4, "GET, HEAD, OPTIONS, POST"),
        (&format!("{RECORDS_V4}(01234567-89ab-4def-8123-456789abcdef)"), "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"),
        (&format!("{V4}CarrierCollection('AA')/carrierFlights/$ref"), "DELETE, GET, HEAD, OPTIONS, POST"),
    ] {
        let answer = writer.client.ask("OPTIONS", target, &[]);
        assert_eq!((answer.status, answer.header("allow")), (204, Some(allow)), "{target}");
    }
    let merge = writer.client.ask_with("MERGE", &format!("{V4}CarrierCollection('AA')"), &[JSON, AS_JSON], "{}");
    assert_eq!(merge.header("allow"), Some("DELETE, GET, HEAD, OPTIONS, PATCH, PUT"));
}
