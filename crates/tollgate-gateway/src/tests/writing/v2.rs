//! Writing by V2, as Atom and as verbose JSON.

use crate::tests::client::Running;

/// The records by V2.
const RECORDS: &str = "/sap/opu/odata/refsvc/TestRecords";
const JSON: [(&str, &str); 2] = [("Content-Type", "application/json"), ("Accept", "application/json")];

#[test]
fn a_record_is_created_merged_and_deleted() {
    let gateway = Running::start("");
    let mut client = gateway.connect();
    let created = client.ask_with("POST", RECORDS, &JSON, r#"{"d":{"stringField":"a","integerField":7}}"#);
    created.expect(201, "\"stringField\":\"a\"");
    let location = created.header("location").unwrap();
    let path = &location[location.find("/sap").unwrap()..];
    assert_eq!(client.ask_with("MERGE", path, &JSON, r#"{"d":{"integerField":8}}"#).status, 204);
    client.ask("GET", path, &JSON).expect(200, "\"integerField\":8").expect(200, "\"stringField\":\"a\"");
    let tunnel = ("X-HTTP-Method", "DELETE");
    assert_eq!(client.ask_with("POST", path, &[tunnel], "").status, 204);
    assert_eq!(client.ask("GET", path, &JSON).status, 404);
}
