//! Writing by V4.

use crate::tests::client::Running;

/// The records by V4.
const RECORDS: &str = "/odata/v4/refsvc/TestRecords";
const JSON: (&str, &str) = ("Content-Type", "application/json");

#[test]
fn a_record_is_created_read_changed_and_deleted() {
    let gateway = Running::start("");
    let mut client = gateway.connect();
    let created = client.ask_with("POST", RECORDS, &[JSON], r#"{"stringField":"a","integerField":7}"#);
    created.expect(201, "\"stringField\":\"a\"").expect(201, "\"createdBy\":\"anonymous\"");
    let location = created.header("location").unwrap().to_owned();
    assert_eq!(created.header("odata-entityid"), Some(location.as_str()));
    let path = &location[location.find("/odata").unwrap()..];
    client.ask("GET", path, &[]).expect(200, "\"integerField\":7");
    let changed = client.ask_with("PATCH", path, &[JSON], r#"{"integerField":8}"#);
    assert_eq!((changed.status, changed.text()), (204, String::new()));
    client.ask("GET", path, &[]).expect(200, "\"integerField\":8").expect(200, "\"stringField\":\"a\"");
    let replaced = client.ask_with("PUT", path, &[JSON], r#"{"integerField":9}"#);
    assert_eq!(replaced.status, 204);
    client.ask("GET", path, &[]).expect(200, "\"integerField\":9").expect(200, "\"stringField\":null");
    assert_eq!(client.ask("DELETE", path, &[]).status, 204);
    assert_eq!(client.ask("GET", path, &[]).status, 404);
    assert_eq!(client.ask("DELETE", path, &[]).status, 404);
}
