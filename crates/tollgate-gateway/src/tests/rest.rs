//! Plain REST.

use super::client::{Running, V2};

#[test]
fn a_flight_is_answered_as_json() {
    let answer = Running::shared().get("/rest/flights/AA/0017/2011-06-01");
    insta::assert_snapshot!(answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(Running::shared().get("/rest/flights/AA/0017/20110601").body, answer.body);
}

#[test]
fn xml_is_as_large_as_atom_for_who_asks_for_it_and_plain_for_all_others() {
    let gateway = Running::shared();
    for (rest, odata) in [
        ("/rest/flights/AA/0017/2011-06-01", "FlightCollection(carrid='AA',connid='0017',fldate='20110601')"),
        ("/rest/flights", "FlightCollection"),
        ("/rest/carriers", "CarrierCollection"),
    ] {
        let padded = gateway.get_with(rest, &[("Accept", "application/xml;padding=atom")]);
        let atom = gateway.get(&format!("{V2}{odata}"));
        let ratio = padded.body.len() as f64 / atom.body.len() as f64;
        assert!((0.96..1.04).contains(&ratio), "{rest}: {} against {}", padded.body.len(), atom.body.len());
        for accept in ["application/xml", "text/xml", "application/xml;padding=none", "application/xml;charset=utf-8"] {
            let plain = gateway.get_with(rest, &[("Accept", accept)]);
            assert_eq!(plain.header("content-type"), Some("application/xml;charset=utf-8"));
            assert!(!plain.text().contains("padding"), "{accept} {rest}: {}", plain.text());
        }
    }
}

#[test]
fn errors_are_problems() {
    for (method, target, accept, status, fragment) in [
        ("GET", "/rest/planes", "*/*", 404, "flights, carriers, bookings, travelagencies, records"),
        ("GET", "/rest/", "*/*", 404, "flights"),
        ("GET", "/rest/flights/AA", "*/*", 400, "carrid/connid/fldate"),
        ("GET", "/rest/flights/AA/0017/tomorrow", "*/*", 400, "`tomorrow` is no value for fldate"),
        ("GET", "/rest/flights/AA/0017/2011-02-30", "*/*", 400, "fldate"),
        ("GET", "/rest/flights/AA/0017/2011-06-01/x", "*/*", 404, "nothing stands below"),
        ("GET", "/rest/flights/XX/0017/2011-06-01", "*/*", 404, "no such flight"),
        ("GET", "/rest/flights/%2/0017/2011-06-01", "*/*", 400, "carrid"),
        ("GET", "/rest/flights?limit=many", "*/*", 400, "limit"),
        ("GET", "/rest/flights?limit=1&limit=2", "*/*", 400, "twice"),
        ("GET", "/rest/flights?sort=PRYCE", "*/*", 400, "did you mean PRICE?"),
        ("GET", "/rest/flights?PRICE.ge=cheap", "*/*", 400, "\"target\":\"PRICE.ge\""),
        ("GET", "/rest/flights?colour=red", "*/*", 400, "unknown parameter 'colour'"),
        ("GET", "/rest/flights/AA/0017/2011-06-01?carrid=AA", "*/*", 400, "one entity has `fields` only"),
        ("GET", "/rest/flights", "text/html", 406, "application/json"),
        ("PUT", "/rest/flights", "*/*", 405, "PUT"),
        ("DELETE", "/rest/flights", "*/*", 400, "?all=true"),
        ("DELETE", "/rest/flights?all=yes", "*/*", 400, "?all=true"),
        ("DELETE", "/rest/flights/AA/0017/2011-06-01?all=true", "*/*", 400, "`all`"),
        ("POST", "/rest/flights?limit=1", "*/*", 400, "`limit`"),
        ("POST", "/rest/flights/AA/0017/2011-06-01", "*/*", 405, "POST"),
        ("GET", "/rest/mass-change/insertAll", "*/*", 405, "OPTIONS, POST"),
        ("GET", "/rest/mass-change/updateAll", "*/*", 404, "mass-change/updateAll"),
        ("GET", "/nowhere", "*/*", 404, "no service"),
    ] {
        let answer = Running::shared().connect().ask(method, target, &[("Accept", accept)]);
        answer.expect(status, fragment).expect(status, &format!("\"status\":{status}"));
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{target}");
    }
}

#[test]
fn a_problem_has_the_phrase_of_its_status_line_as_its_title() {
    let path = "/rest/flights?unknown=1";
    Running::shared().get(path).expect(400, "\"title\":\"Bad Request\"");
}

#[test]
fn the_bare_address_lists_what_is_served_and_every_link_of_it_leads_somewhere() {
    let gateway = Running::shared();
    let index = gateway.get("/");
    let index = index.expect(200, "{\"services\":[{").text();
    let services: Vec<&str> = index.split("\"url\":\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(services.len(), 12);
    let page = gateway.get_with("/", &[("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")]);
    assert_eq!(page.header("content-type"), Some("text/html;charset=utf-8"));
    for url in services {
        assert_eq!(gateway.get(url).status, 200, "{url}");
        page.expect(200, &format!("<a href=\"{url}\">"));
    }
    gateway.ask("POST", "/").expect(405, "MethodNotAllowed");
}

#[test]
fn errors_are_told_as_accept_chose() {
    let gateway = Running::shared();
    for (accept, content_type, start) in [
        ("application/xml", "application/problem+xml", "<?xml"),
        ("application/json, application/xml;q=0.5", "application/problem+json", "{"),
    ] {
        let answer = gateway.get_with("/rest/flights/XX/0017/2011-06-01", &[("Accept", accept)]);
        assert_eq!((answer.status, answer.header("content-type")), (404, Some(content_type)), "{accept}");
        assert!(answer.text().starts_with(start), "{accept}: {}", answer.text());
    }
}
