//! Writing single entities by plain REST.

use super::client::{Answer, Running};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const XML: (&str, &str) = ("Content-Type", "application/xml");

/// Location of an entity, below the host.
fn location(answer: &Answer) -> String {
    let location = answer.header("location").unwrap();
    location[location.find("/rest").unwrap()..].to_owned()
}

#[test]
fn a_record_is_created_read_changed_replaced_and_deleted_by_its_uuid() {
    let gateway = Running::start("");
    let mut client = gateway.connect();
    let created = client.ask_with("POST", "/rest/records", &[JSON], r#"{"stringField":"a","integerField":7}"#);
    created.expect(201, "\"stringField\":\"a\"").expect(201, "\"createdBy\":\"anonymous\"");
    let path = location(&created);
    assert_eq!(path.len(), "/rest/records/".len() + 36, "{path}");
    client.ask("GET", &path, &[]).expect(200, "\"integerField\":7");
    let changed = client.ask_with("PATCH", &path, &[JSON], r#"{"integerField":8}"#);
    changed.expect(200, "\"integerField\":8").expect(200, "\"stringField\":\"a\"");
    let replaced = client.ask_with("PUT", &path, &[JSON], r#"{"integerField":9}"#);
    replaced.expect(200, "\"integerField\":9").expect(200, "\"stringField\":null");
    assert_eq!(client.ask("DELETE", &path, &[]).status, 204);
    client.ask("GET", &path, &[]).expect(404, "there is no such record");
    client.ask("DELETE", &path, &[]).expect(404, "no entity with this key");
    client.ask_with("PATCH", &path, &[JSON], "{}").expect(404, "no entity with this key");
}

#[test]
fn a_byte_order_mark_before_a_body_says_nothing() {
    let gateway = Running::start("");
    let mut client = gateway.connect();
    let record = "\u{feff}{\"stringField\":\"a\"}";
    client.ask_with("POST", "/rest/records", &[JSON], record).expect(201, "\"stringField\":\"a\"");
    client.ask_with("POST", "/rest/records", &[JSON], "\u{feff}[{},{}]").expect(201, "{\"inserted\":2}");
    let v4 = "/odata/v4/refsvc/";
    let created = client.ask_with("POST", &format!("{v4}TestRecords"), &[JSON], record);
    created.expect(201, "\"stringField\":\"a\"");
    let batch = "\u{feff}{\"requests\":[{\"id\":\"1\",\"method\":\"get\",\"url\":\"TestRecords/$count\"}]}";
    client.ask_with("POST", &format!("{v4}$batch"), &[JSON], batch).expect(200, "\"body\":\"4\"");
}

#[test]
fn a_record_may_come_and_go_as_xml() {
    let gateway = Running::start("");
    let mut client = gateway.connect();
    let body = "<TestRecords><stringField>a &amp; b</stringField><decimalField>1.50</decimalField></TestRecords>";
    let created = client.ask_with("POST", "/rest/records", &[XML, ("Accept", "application/xml")], body);
    created.expect(201, "<stringField>a &amp; b</stringField>");
    client.ask("GET", &location(&created), &[]).expect(200, "\"decimalField\":1.50");
}

#[test]
fn a_column_of_any_name_comes_and_goes_as_xml() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("odd.db");
    let tables = "CREATE TABLE pads (id INTEGER PRIMARY KEY, padding TEXT); INSERT INTO pads VALUES (1, 'soft')";
    rusqlite::Connection::open(&file).unwrap().execute_batch(tables).unwrap();
    let service = format!("[[service]]\nkind = \"database\"\ndatabase = \"sqlite:{}\"", file.display());
    let gateway = Running::start(&service);
    let mut client = gateway.connect();
    let path = "/rest/odd/pads/1";
    let document = client.ask("GET", path, &[("Accept", "application/xml")]);
    document.expect(200, "<pad><id>1</id><padding>soft</padding></pad>");
    client.ask_with("PUT", path, &[XML], document.text()).expect(200, "\"padding\":\"soft\"");
}

#[test]
fn keys_of_dates_and_with_reserved_letters_stand_in_the_location_and_are_found_there() {
    let gateway = Running::start("");
    let mut client = gateway.connect();
    let flight = r#"{"carrid":"A/é","connid":"0 17","fldate":"2031-06-01","flightDetails":{"countryFrom":"DE"}}"#;
    let created = client.ask_with("POST", "/rest/flights", &[JSON], flight);
    assert_eq!(created.status, 201, "{}", created.text());
    assert_eq!(location(&created), "/rest/flights/A%2F%C3%A9/0%2017/2031-06-01");
    client.ask("GET", &location(&created), &[]).expect(200, "\"countryFrom\":\"DE\"");
    let again = client.ask_with("POST", "/rest/flights", &[JSON], flight);
    again.expect(409, "it exists already");
}

#[test]
fn an_entity_with_an_etag_is_changed_only_in_the_state_that_the_client_knows() {
    let gateway = Running::start("");
    let mut client = gateway.connect();
    let list = client.ask("GET", "/rest/bookings?limit=1", &[]).text();
    let value = |name: &str| {
        let rest = list.split_once(&format!("\"{name}\":\"")).unwrap().1;
        rest.split('"').next().unwrap().to_owned()
    };
    let path =
        format!("/rest/bookings/{}/{}/{}/{}", value("carrid"), value("connid"), value("fldate"), value("bookid"));
    let read = client.ask("GET", &path, &[]);
    let etag = read.header("etag").unwrap();
    let body = r#"{"PASSNAME":"Somebody"}"#;
    client.ask_with("PATCH", &path, &[JSON], body).expect(428, "If-Match");
    client.ask_with("PATCH", &path, &[JSON, ("If-Match", "W/\"other\"")], body).expect(412, "has changed");
    let changed = client.ask_with("PATCH", &path, &[JSON, ("If-Match", etag)], body);
    changed.expect(200, "Somebody");
    assert_eq!(changed.header("etag"), Some(etag), "the date of the order is the ETag, and has not changed");
    client.ask("DELETE", &path, &[("If-Match", "*")]).expect(204, "");
}

#[test]
fn what_is_wrong_with_a_body_is_told_with_its_property() {
    let gateway = Running::start("");
    let check = |body: &str, headers: &[(&str, &str)], status: u16, fragment: &str| {
        let answer = gateway.connect().ask_with("POST", "/rest/records", headers, body);
        answer.expect(status, fragment).expect(status, &format!("\"status\":{status}"));
    };
    check(r#"{"integerField":"x"}"#, &[JSON], 400, "\"target\":\"integerField\"");
    check(r#"{"integerField":2147483648}"#, &[JSON], 400, "\"target\":\"integerField\"");
    check(r#"{"integerFeld":1}"#, &[JSON], 400, "did you mean integerField?");
    check(r#"{"decimalField":1.23456}"#, &[JSON], 400, "\"target\":\"decimalField\"");
    check(r#"{"stringField":"#, &[JSON], 400, "\"status\":400");
    check("", &[JSON], 400, "before it is complete");
    check("7", &[JSON], 400, "expected an array of entities, or one entity");
    check("{}", &[("Content-Type", "text/csv")], 415, "text/csv");
    check("{}", &[JSON, ("Content-Encoding", "gzip")], 415, "gzip");
    check("{}", &[JSON, ("Accept", "text/html")], 406, "application/json");
    let long = format!("{{\"largeStringField\":\"{}\"}}", "x".repeat(1 << 20));
    check(&long, &[JSON], 413, "more than 1048576 bytes");
    assert_eq!(gateway.get("/odata/v4/refsvc/TestRecords/$count").text(), "0");
}
