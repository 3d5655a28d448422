//! Batches in JSON (V4.01).

use serde_json::Value;

use super::*;

/// Sends requests to a gateway of its own and compares the outline of the answer, and the number of records afterwards,
/// with the expected ones.
fn check(headers: &[(&str, &str)], sent: &[String], expected: &str, records: u64) {
    let gateway = Running::start("");
    let headers = [&[JSON], headers].concat();
    let answer = gateway.batch(V4, &headers, &requests(sent));
    assert_eq!((answer.status, outline(&answer).as_str()), (200, expected), "{}", answer.text());
    assert_eq!(gateway.records(), records);
}

const STOP: (&str, &str) = ("Prefer", "continue-on-error=false");

#[test]
fn independent_requests_are_done_each_by_itself() {
    let sent = [create("a", 1, ""), create("b", 1, ""), create("c", 2, "")];
    check(&[], &sent, "a=201 b=409 c=201", 2);
    check(&[("Prefer", "odata.continue-on-error")], &sent, "a=201 b=409 c=201", 2);
    check(&[STOP], &sent, "a=201 b=409", 1);
    check(&[], &[], "", 0);
}

#[test]
fn what_depends_on_a_failure_is_not_done() {
    let sent = [
        create("a", 1, ""),
        create("b", 1, r#","dependsOn":["a"]"#),
        create("c", 2, r#","dependsOn":["a","b"]"#),
        create("d", 3, r#","dependsOn":["c"]"#),
        create("e", 4, r#","dependsOn":["a"]"#),
        create("f", 5, r#","if":{"x":1}"#),
    ];
    check(&[], &sent, "a=201 b=409 c=424 d=424 e=201 f=424", 2);
}

#[test]
fn a_group_is_done_as_a_whole_or_not_at_all() {
    let group = |name: &str, number, group: &str| create(name, number, &format!(r#","atomicityGroup":"{group}""#));
    let sent = [
        group("a", 1, "g"),
        group("b", 2, "g"),
        group("c", 3, "h"),
        group("d", 1, "h"),
        group("e", 4, "h"),
        create("f", 5, r#","dependsOn":["h"]"#),
        create("g2", 6, r#","dependsOn":["g"]"#),
        create("i", 7, r#","dependsOn":["c"]"#),
    ];
    check(&[], &sent, "g:a=201 g:b=201 h:c=424 h:d=409 h:e=424 f=424 g2=201 i=424", 3);
    check(&[STOP], &sent, "g:a=201 g:b=201 h:c=424 h:d=409 h:e=424", 2);
}

#[test]
fn what_reads_sees_what_was_written_before_it() {
    let get = |id: &str, url: &str| format!(r#"{{"id":"{id}","method":"get","url":"{url}"}}"#);
    let gateway = Running::start("");
    let root = format!("http://any{V4}");
    let sent = [
        create("0", 7, ""),
        get("1", &format!("TestRecords({})?$select=integerField", id(7))),
        get("2", "TestRecords/$count"),
        get("3", "$metadata"),
        get("4", &root),
        get("5", &format!("{V4}TestRecords?$select=integerField")),
        format!(r#"{{"id":"6","method":"delete","url":"TestRecords({})"}}"#, id(7)),
        get("7", &format!("TestRecords({})", id(7))),
        get("8", "/odata/v4/flights/FlightCollection"),
        get("9", "TestRecords?$filter=nonsense"),
        r#"{"id":"10","method":"post","url":"$batch","body":{"requests":[]}}"#.to_owned(),
        get("11", "$99/x"),
        r#"{"id":"12","method":"brew","url":"TestRecords"}"#.to_owned(),
        r#"{"id":"13","method":"head","url":"TestRecords"}"#.to_owned(),
    ];
    let answer = gateway.batch(V4, &[JSON], &requests(&sent));
    let expected = "0=201 1=200 2=200 3=200 4=200 5=200 6=204 7=404 8=404 9=400 10=400 11=424 12=501 13=405";
    assert_eq!(outline(&answer), expected, "{}", answer.text());
    let value: Value = serde_json::from_str(&answer.text()).unwrap();
    let responses = &value["responses"];
    assert_eq!(responses[1]["body"]["integerField"], 7);
    assert_eq!(responses[2]["body"], "1");
    assert!(responses[3]["body"].as_str().unwrap().starts_with("PD94bWwg"), "{}", responses[3]);
    assert_eq!(responses[4]["body"]["value"][0]["name"], "TestRecords");
    assert_eq!(responses[5]["body"]["value"][0]["integerField"], 7);
    assert_eq!(responses[6].get("body"), None);
    assert!(responses[9]["headers"]["content-type"].as_str().unwrap().starts_with("application/json"));
    assert!(responses[9]["body"]["error"]["message"].as_str().unwrap().contains("nonsense"));
    assert!(responses[0]["headers"]["location"].as_str().unwrap().ends_with(&format!("TestRecords({})", id(7))));
}

#[test]
fn a_group_may_read_what_it_wrote() {
    let read = format!(r#"{{"id":"b","atomicityGroup":"g","method":"get","url":"TestRecords({})"}}"#, id(1));
    check(&[], &[create("a", 1, r#","atomicityGroup":"g""#), read], "g:a=201 g:b=200", 1);
}

#[test]
fn a_batch_of_reads_writes_nothing_and_pages() {
    let gateway = Running::start("pages.size = 2");
    let sent: Vec<String> = (1..=3).map(|number| create(&number.to_string(), number, "")).collect();
    gateway.batch(V4, &[JSON], &requests(&sent)).expect(200, "");
    let get = r#"{"id":"1","method":"GET","url":"TestRecords"}"#.to_owned();
    let answer = gateway.batch(V4, &[JSON], &requests(&[get]));
    let value: Value = serde_json::from_str(&answer.text()).unwrap();
    let body = &value["responses"][0]["body"];
    assert_eq!(body["value"].as_array().unwrap().len(), 2);
    let next = body["@odata.nextLink"].as_str().unwrap();
    let again = format!(r#"{{"id":"1","method":"GET","url":"{next}"}}"#);
    let answer = gateway.batch(V4, &[JSON], &requests(&[again]));
    let value: Value = serde_json::from_str(&answer.text()).unwrap();
    assert_eq!(value["responses"][0]["body"]["value"].as_array().unwrap().len(), 1, "{value}");
}

#[test]
fn a_malformed_batch_is_refused_before_any_of_it_is_done() {
    let gateway = Running::start("");
    let good = create("a", 1, "");
    for (body, message) in [
        (requests(&[good.clone(), create("a", 2, "")]), "stands there twice"),
        (requests(&[good.clone(), create("b", 2, r#","dependsOn":["c"]"#)]), "stands not before it"),
        (format!(r#"{{"requests":[{good},"#), "the document ends"),
        (String::new(), "the document ends"),
    ] {
        gateway.batch(V4, &[JSON], &body).expect(400, message);
    }
    assert_eq!(gateway.records(), 0);
}

#[test]
fn the_answer_has_the_form_that_is_accepted() {
    let gateway = Running::start("");
    let group = r#","atomicityGroup":"g""#;
    let sent = |from| requests(&[create("1", from, group), create("2", from + 1, group), create("3", 1, "")]);
    for (accept, from, expected) in [
        ("multipart/mixed", 1, "1=201 2=201 3=409"),
        ("application/json;q=0.1, multipart/mixed", 10, "1=201 2=201 3=409"),
        ("multipart/mixed", 0, "1=424 2=409 3=409"),
        ("application/json", 20, "g:1=201 g:2=201 3=409"),
        ("*/*", 30, "g:1=201 g:2=201 3=409"),
    ] {
        let answer = gateway.batch(V4, &[JSON, ("Accept", accept)], &sent(from));
        assert_eq!(outline(&answer), expected, "{accept}");
    }
    gateway.batch(V4, &[JSON, ("Accept", "text/html")], &sent(40)).expect(406, "multipart/mixed");
    gateway.batch(V4, &[("Content-Type", "text/plain")], "").expect(415, "multipart/mixed or application/json");
    gateway.batch(V2, &[JSON], &sent(40)).expect(415, "expected a batch of multipart/mixed");
    let said = gateway.batch(V4, &[JSON, ("Prefer", "odata.continue-on-error")], &sent(50));
    assert_eq!(said.header("preference-applied"), Some("odata.continue-on-error=true"));
}
