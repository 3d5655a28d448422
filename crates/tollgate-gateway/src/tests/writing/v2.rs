//! Successful writing by V2, as Atom and as verbose JSON.

use super::{AS_JSON, ATOM, RECORDS_V2, Writer, location};
use crate::tests::client::V2;

#[test]
fn a_record_is_created_merged_replaced_and_deleted() {
    let mut writer = Writer::start();
    let created = writer.send("POST", RECORDS_V2, r#"{"stringField":"a","integerField":7}"#);
    created.expect(201, "\"stringField\":\"a\"").expect(201, "{\"d\":{");
    assert_eq!(created.header("dataserviceversion"), Some("2.0"));
    assert_eq!(created.header("odata-entityid"), None);
    let path = location(&created);
    for (method, integer) in [("MERGE", 8), ("PATCH", 9)] {
        let answer = writer.send(method, &path, &format!(r#"{{"d":{{"integerField":{integer}}}}}"#));
        assert_eq!((answer.status, answer.text()), (204, String::new()), "{method}");
        writer.get(&path).expect(200, &format!("\"integerField\":{integer}")).expect(200, "\"stringField\":\"a\"");
    }
    assert_eq!(writer.send("PUT", &path, r#"{"integerField":10}"#).status, 204);
    writer.get(&path).expect(200, "\"stringField\":null");
    let tunnels = [("X-HTTP-Method", "MERGE"), ("X-HTTP-Method-Override", "DELETE")];
    assert_eq!(writer.send_with("POST", &path, &tunnels[..1], r#"{"integerField":11}"#).status, 204);
    writer.get(&path).expect(200, "\"integerField\":11");
    assert_eq!(writer.send_with("POST", &path, &tunnels[1..], "").status, 204);
    assert_eq!(writer.get(&path).status, 404);
    // There is no upsert in V2.
    writer.send("MERGE", &path, "{}").expect(404, "no entity");
    writer.send("PUT", &path, "{}").expect(404, "no entity");
}

#[test]
fn an_atom_entry_is_created_and_changed() {
    let mut writer = Writer::start();
    let entry = |properties: &str| {
        format!(
            r#"<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><content type="application/xml"><m:properties>{properties}</m:properties></content></entry>"#
        )
    };
    let body = entry(
        r#"<d:stringField>a &amp; b</d:stringField><d:decimalField>1.2500</d:decimalField><d:dateTimeField>2013-09-25T00:00:00Z</d:dateTimeField><d:timeField>PT11H00M00S</d:timeField><d:integerField m:null="true"/>"#,
    );
    let created = writer.client.ask_with("POST", RECORDS_V2, &[ATOM], &body);
    created
        .expect(201, "<d:stringField>a &amp; b</d:stringField>")
        .expect(201, "<d:decimalField>1.2500</d:decimalField>");
    created.expect(201, "<d:timeField>PT11H00M00S</d:timeField>").expect(201, "<d:integerField m:null=\"true\"/>");
    assert_eq!(created.header("content-type"), Some("application/atom+xml;type=entry;charset=utf-8"));
    let path = location(&created);
    // What a client of Atom has read, it sends back.
    let read = writer.client.ask("GET", &path, &[]).text();
    let changed = read.replace("<d:decimalField>1.2500", "<d:decimalField>2.5");
    assert_eq!(writer.client.ask_with("PUT", &path, &[ATOM], &changed).status, 204);
    writer.client.ask("GET", &path, &[]).expect(200, "<d:decimalField>2.5</d:decimalField>").expect(200, "a &amp; b");
    let merge = entry("<d:integerField>5</d:integerField>");
    assert_eq!(writer.client.ask_with("MERGE", &path, &[ATOM], &merge).status, 204);
    writer.get(&path).expect(200, "\"integerField\":5").expect(200, "\"stringField\":\"a & b\"");
}

#[test]
fn what_was_read_as_json_can_be_sent_back() {
    let mut writer = Writer::start();
    let path = format!("{V2}FlightCollection(carrid='AA',connid='0017',fldate=datetime'2011-06-01T00:00:00')");
    let read = writer.get(&path).text();
    let changed = read.replace("\"PLANETYPE\":\"", "\"PLANETYPE\":\"X");
    assert_ne!(read, changed);
    assert_eq!(writer.send("PUT", &path, &changed).status, 204);
    assert_eq!(writer.get(&path).text(), changed);
}

#[test]
fn a_property_is_set_and_cleared_by_itself() {
    let mut writer = Writer::start();
    let path = location(&writer.send("POST", RECORDS_V2, r#"{"integerField":7,"stringField":"a"}"#));
    assert_eq!(writer.send("PUT", &format!("{path}/integerField"), r#"{"integerField":8}"#).status, 204);
    let xml = [("Content-Type", "application/xml")];
    let body = r#"<stringField xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices">b</stringField>"#;
    assert_eq!(writer.send_with("PUT", &format!("{path}/stringField"), &xml, body).status, 204);
    writer.get(&path).expect(200, "\"integerField\":8").expect(200, "\"stringField\":\"b\"");
    let text = [("Content-Type", "text/plain")];
    assert_eq!(writer.send_with("PUT", &format!("{path}/timeField/$value"), &text, "PT1H").status, 204);
    assert_eq!(writer.send("DELETE", &format!("{path}/stringField/$value"), "").status, 204);
    writer.get(&path).expect(200, "\"timeField\":\"PT01H00M00S\"").expect(200, "\"stringField\":null");
}

#[test]
fn an_answer_to_json_is_atom_where_the_client_wants_it() {
    let mut writer = Writer::start();
    let accept = ("Accept", "application/atom+xml");
    writer
        .send_with("POST", RECORDS_V2, &[accept], r#"{"integerField":7}"#)
        .expect(201, "<d:integerField>7</d:integerField>");
    let json =
        writer.client.ask_with("POST", &format!("{RECORDS_V2}?$format=json"), &[super::JSON], r#"{"integerField":7}"#);
    json.expect(201, "\"integerField\":7");
    assert_eq!(json.header("vary"), None);
    assert_eq!(writer.get(&format!("{RECORDS_V2}/$count")).text(), "2");
    assert_eq!(AS_JSON.1, "application/json");
}
