//! HEAD, ETags and conditional requests.

use super::client::{Running, V2, V4};

const BOOKING: &str = "BookingCollection?$top=1&$format=json";

/// The path of the first booking, which has an ETag.
fn booking() -> String {
    let text = Running::shared().get(&format!("{V2}{BOOKING}")).text();
    let uri = text.split("\"uri\":\"http://").nth(1).unwrap();
    uri[uri.find('/').unwrap()..uri.find('"').unwrap()].to_owned()
}

#[test]
fn head_answers_what_get_does_without_the_body() {
    for target in [
        format!("{V2}FlightCollection(carrid='AA',connid='0017',fldate='20110601')"),
        format!("{V2}FlightCollection?$top=3"),
        format!("{V2}FlightCollection/$count"),
        format!("{V2}FlightCollection?$filter=nonsense"),
        format!("{V4}$metadata"),
        V4.to_owned(),
        "/rest/flights/AA/0017/2011-06-01".to_owned(),
        // Long enough to come in parts.
        format!("{V2}FlightCollection"),
        "/rest/flights".to_owned(),
    ] {
        let mut connection = Running::shared().connect();
        let got = connection.ask("GET", &target, &[]);
        let head = connection.ask("HEAD", &target, &[]);
        let without_date = |answer: &super::client::Answer| {
            answer.headers.iter().filter(|header| header.0 != "date").cloned().collect::<Vec<_>>()
        };
        assert_eq!((head.status, without_date(&head)), (got.status, without_date(&got)), "{target}");
        // The connection goes on.
        let again = connection.ask("GET", &target, &[]);
        assert_eq!((again.status, again.body.len()), (got.status, got.body.len()), "{target}");
        // A feed says at which second it was written.
        assert!(again.body == got.body || got.text().contains("<updated>"), "{target}");
    }
}

#[test]
fn an_etag_that_the_client_has_is_not_modified() {
    let gateway = Running::shared();
    for target in [booking(), format!("{V2}$metadata"), format!("{V4}$metadata"), V4.to_owned(), V2.to_owned()] {
        let etag = gateway.get(&target).header("etag").expect(&target).to_owned();
        let same = gateway.get_with(&target, &[("If-None-Match", &etag)]);
        assert_eq!((same.status, same.header("etag"), same.body.len()), (304, Some(etag.as_str()), 0), "{target}");
        let other = gateway.get_with(&target, &[("If-None-Match", "W/\"other\"")]);
        assert_eq!(other.status, 200, "{target}");
        assert_eq!(gateway.get_with(&target, &[("If-Match", &etag)]).status, 200, "{target}");
        gateway.get_with(&target, &[("If-Match", "\"other\"")]).expect(412, "If-Match");
    }
}

#[test]
fn what_accept_chose_says_so_also_when_it_is_not_modified() {
    let gateway = Running::shared();
    let rest = "/rest/flights/AA/0017/2011-06-01".to_owned();
    let feed = format!("{V2}FlightCollection?$top=1");
    for target in [booking(), feed.clone(), V2.to_owned(), V4.to_owned(), format!("{V4}FlightCollection"), rest] {
        let answer = gateway.get(&target);
        assert_eq!((answer.status, answer.header("vary")), (200, Some("Accept")), "{target}");
        if let Some(etag) = answer.header("etag") {
            let same = gateway.get_with(&target, &[("If-None-Match", etag)]);
            assert_eq!((same.status, same.header("vary")), (304, Some("Accept")), "{target}");
        }
    }
    for chosen in [format!("{feed}&$format=json"), format!("{V2}FlightCollection/$count")] {
        assert_eq!(gateway.get(&chosen).header("vary"), None, "{chosen}");
    }
}

#[test]
fn headers_that_hold_lists_may_come_on_several_lines() {
    let gateway = Running::shared();
    let target = format!("{V4}$metadata");
    let etag = gateway.get(&target).header("etag").unwrap().to_owned();
    let headers = [("If-None-Match", "\"other\""), ("If-None-Match", &etag)];
    assert_eq!(gateway.get_with(&target, &headers).status, 304);
    let headers = [("Accept", "text/html"), ("Accept", "application/json")];
    gateway.get_with(&format!("{V2}FlightCollection?$top=1"), &headers).expect(200, "{\"d\"");
    gateway.get_with("/rest/flights/AA/0017/2011-06-01", &headers).expect(200, "{");
    let headers = [("Prefer", "return=minimal"), ("Prefer", "odata.maxpagesize=2")];
    let answer = gateway.get_with(&format!("{V4}FlightCollection"), &headers);
    assert_eq!(answer.header("preference-applied"), Some("odata.maxpagesize=2"));
}

#[test]
fn the_etag_of_the_header_is_that_of_the_document() {
    let gateway = Running::shared();
    let booking = booking();
    let json = gateway.get(&format!("{booking}?$format=json"));
    let etag = json.header("etag").unwrap().replace('"', "\\\"");
    json.expect(200, &format!("\"etag\":\"{etag}\""));
    let v4_target = booking.replace(V2, V4).replace("datetime'", "").replace("T00%3A00%3A00'", "");
    let v4 = gateway.get(&v4_target);
    let etag = v4.header("etag").unwrap().replace('"', "\\\"");
    v4.expect(200, &format!("\"@odata.etag\":\"{etag}\""));
}
