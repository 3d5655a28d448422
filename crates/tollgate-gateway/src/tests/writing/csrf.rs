//! Tokens against forged requests.

use super::{JSON, RECORDS_V2, RECORDS_V4, Writer};
use crate::tests::client::Answer;

const REQUIRED: &str = "[[service]]\nkind = \"records\"\ncsrf = \"required\"\n";
const FETCH: (&str, &str) = ("X-CSRF-Token", "Fetch");

/// The token of an answer, and the cookie as a client sends it back.
fn token(answer: &Answer) -> (String, String) {
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap();
    (answer.header("x-csrf-token").unwrap().to_owned(), cookie.to_owned())
}

#[test]
fn whoever_writes_shows_the_token_and_its_cookie_where_the_service_wants_it() {
    let mut writer = Writer::start_with(REQUIRED);
    let fetched = writer.client.ask("GET", "/odata/v4/refsvc/", &[FETCH]);
    fetched.expect(200, "TestRecords");
    assert_eq!(fetched.header("cache-control"), Some("private, no-store"));
    assert!(fetched.header("set-cookie").unwrap().ends_with("; Path=/; HttpOnly; SameSite=Lax"));
    let (token_text, cookie) = token(&fetched);
    let token = ("X-CSRF-Token", token_text.as_str());
    let cookie = ("Cookie", cookie.as_str());
    for (headers, status) in [
        (vec![], 403),
        (vec![token], 403),
        (vec![cookie], 403),
        (vec![FETCH, cookie], 403),
        (vec![("X-CSRF-Token", "AAAA"), cookie], 403),
        (vec![token, ("Cookie", "tollgate-session=AAAA")], 403),
        // The token is of whoever fetched it.
        (vec![token, cookie, ("Authorization", "Basic YWxpY2U6c2VjcmV0")], 403),
        (vec![token, cookie], 201),
        (vec![token, ("Cookie", "a=b"), cookie], 201),
    ] {
        let answer = writer.send_with("POST", RECORDS_V4, &headers, "{}");
        assert_eq!(answer.status, status, "{headers:?} {}", answer.text());
        assert_eq!(answer.header("x-csrf-token"), (status == 403).then_some("Required"), "{headers:?}");
    }
    // One token is good for both versions, for batches and for plain REST.
    writer.send_with("POST", RECORDS_V2, &[token, cookie], "{}").expect(201, "");
    writer.send("POST", RECORDS_V2, "{}").expect(403, "X-CSRF-Token");
    let batch = r#"{"requests":[{"id":"1","method":"POST","url":"TestRecords","body":{}}]}"#;
    writer.send("POST", "/odata/v4/refsvc/$batch", batch).expect(403, "X-CSRF-Token");
    writer.send_with("POST", "/odata/v4/refsvc/$batch", &[token, cookie], batch).expect(200, "201");
    writer.send("POST", "/rest/records", "{}").expect(403, "X-CSRF-Token");
    writer.send_with("POST", "/rest/records", &[token, cookie], "{}").expect(201, "");
    for method in ["PATCH", "PUT", "DELETE", "MERGE"] {
        writer.send(method, RECORDS_V2, "{}").expect(403, "X-CSRF-Token");
    }
    assert_eq!(writer.get(RECORDS_V4).status, 200);
}

#[test]
fn a_token_is_answered_to_whoever_asks_and_the_cookie_is_kept() {
    let mut writer = Writer::start();
    let path = super::location(&writer.send("POST", RECORDS_V4, "{}"));
    let first = writer.client.ask("HEAD", "/sap/opu/odata/refsvc/", &[FETCH]);
    let (token_text, cookie) = token(&first);
    for (target, status) in [
        (RECORDS_V4, 200),
        ("/odata/v4/refsvc/$metadata", 200),
        (&path, 200),
        (&format!("{path}/stringField"), 204),
        (&format!("{RECORDS_V4}/$count"), 200),
    ] {
        let again = writer.client.ask("GET", target, &[("x-csrf-token", "fetch"), ("Cookie", &cookie)]);
        assert_eq!(again.status, status, "{target}");
        assert_eq!(again.header("x-csrf-token"), Some(token_text.as_str()), "{target}");
        assert_eq!(again.header("set-cookie"), None, "{target}");
    }
    let strange = writer.client.ask("GET", RECORDS_V4, &[FETCH, ("Cookie", "tollgate-session=a<b")]);
    assert!(strange.header("set-cookie").is_some());
    assert_eq!(writer.client.ask("GET", RECORDS_V4, &[]).header("x-csrf-token"), None);
    assert_eq!(writer.client.ask_with("POST", RECORDS_V4, &[FETCH, JSON], "{}").header("x-csrf-token"), None);
}
