//! Refusals in the caller's own format, with the challenge.

use super::{ANN, BOB, Guarded, JSON};
use crate::tests::client::{V2, V4};

const RULES: &str = "[authentication]\nrealm = \"the \\\"tower\\\"\"\n[[rule]]\nentity_sets = [\"BookingCollection\"]\nallow = [\"group:agents\"]\n";

#[test]
fn refusals_are_in_the_format_of_the_caller() {
    let Guarded { gateway, .. } = Guarded::start(RULES);
    let atom = ("Accept", "application/atom+xml");
    let json = ("Accept", "application/json");
    let xml = ("Accept", "application/xml");
    let v4 = format!("{V4}BookingCollection");
    let v2 = format!("{V2}BookingCollection");
    for (path, accept, content_type, told, forbidden) in [
        (&*v4, json, "application/json", r#"{"error":{"code":"Unauthorized""#, r#""code":"Forbidden""#),
        (&*v2, json, "application/json", r#"{"error":{"code":"Unauthorized""#, r#""code":"Forbidden""#),
        (&*v2, atom, "application/xml", "<code>Unauthorized</code>", "<code>Forbidden</code>"),
        ("/rest/bookings", json, "application/problem+json", r#""status":401"#, r#""status":403"#),
        ("/rest/bookings", xml, "application/problem+xml", "<status>401</status>", "<status>403</status>"),
        ("/", json, "application/problem+json", r#""status":401"#, ""),
    ] {
        let answer = gateway.get_with(path, &[accept]);
        answer.expect(401, told);
        assert_eq!(
            answer.header("www-authenticate"),
            Some(r#"Basic realm="the \"tower\"", charset="UTF-8""#),
            "{path}"
        );
        assert!(answer.header("content-type").unwrap().starts_with(content_type), "{path} {answer:?}");
        if !forbidden.is_empty() {
            let answer = gateway.get_with(path, &[accept, BOB]);
            answer.expect(403, forbidden).expect(403, "bob may not read entities of BookingCollection");
            assert_eq!(answer.header("www-authenticate"), None, "{path}");
            gateway.get_with(path, &[accept, ANN]).expect(200, "");
        }
    }
}

#[test]
fn a_part_of_a_batch_that_is_not_permitted_is_refused_in_its_place() {
    let Guarded { gateway, .. } =
        Guarded::start(&format!("{RULES}[[rule]]\nmethods = [\"GET\"]\nallow = [\"anyone\"]\n"));
    let booking = |id: &str, group: &str| {
        format!(
            r#"{{"id":"{id}","method":"POST","url":"BookingCollection"{group},"headers":{{"content-type":"application/json"}},"body":{{"carrid":"AA","connid":"0017","fldate":"2011-06-01","bookid":"9999999{id}"}}}}"#
        )
    };
    let carrier = |id: &str, group: &str| {
        format!(
            r#"{{"id":"{id}","method":"POST","url":"CarrierCollection"{group},"headers":{{"content-type":"application/json"}},"body":{{"carrid":"Z{id}"}}}}"#
        )
    };
    let together = r#","atomicityGroup":"g""#;
    let batch = format!(
        r#"{{"requests":[{{"id":"0","method":"GET","url":"CarrierCollection('AA')"}},{},{},{},{}]}}"#,
        booking("1", ""),
        carrier("2", ""),
        carrier("3", together),
        booking("4", together)
    );
    let ask = |user: &[(&str, &str)]| {
        let answer = gateway.connect().ask_with("POST", &format!("{V4}$batch"), &[&[JSON], user].concat(), &batch);
        let told: serde_json::Value = serde_json::from_str(&answer.expect(200, "").text()).unwrap();
        let statuses = told["responses"].as_array().unwrap().iter();
        let statuses: Vec<_> = statuses.map(|told| told["status"].as_u64().unwrap()).collect();
        let challenge = told["responses"][1]["headers"]["www-authenticate"].as_str().map(str::to_owned);
        (statuses, challenge)
    };
    // The group is refused for its booking, with its carrier.
    let (anonymous, challenge) = ask(&[]);
    assert_eq!(anonymous, [200, 401, 401, 401, 424]);
    assert!(challenge.is_some_and(|challenge| challenge.starts_with("Basic realm=")));
    assert_eq!(ask(&[BOB]), (vec![200, 403, 201, 424, 403], None));
    gateway.get(&format!("{V4}CarrierCollection('Z2')")).expect(200, "");
    gateway.get(&format!("{V4}CarrierCollection('Z3')")).expect(404, "");
    assert_eq!(ask(&[ANN]).0, [200, 201, 409, 201, 201]);
}

#[test]
fn who_may_do_nothing_at_a_service_is_told_so_before_the_request_is_looked_at() {
    let Guarded { gateway, .. } = Guarded::start("[[rule]]\npath = \"/odata/v4/flights/\"\nallow = [\"user:ann\"]\n");
    for target in ["nonsense", "$batch", "FlightCollection?$filter=nonsense", "$metadata"] {
        let target = format!("{V4}{target}");
        assert_eq!(
            gateway.get(&target).expect(401, "").header("content-type"),
            Some("application/json;odata.metadata=minimal")
        );
        gateway.get_with(&target, &[BOB]).expect(403, "bob may not use this service");
        assert_ne!(gateway.get_with(&target, &[ANN]).status, 403, "{target}");
    }
    // A body that nobody will read is refused unread.
    let mut client = gateway.connect();
    client.send(
        "POST",
        &format!("{V4}$batch"),
        &[("Content-Type", "application/json"), ("Content-Length", "60000000")],
    );
    client.read("POST").expect(401, "");
}

#[test]
fn who_says_twice_who_they_are_is_refused() {
    let Guarded { gateway, .. } = Guarded::start("");
    for others in [ANN, BOB] {
        gateway.get_with("/rest/carriers/AA", &[ANN, others]).expect(400, "at most one");
    }
    assert_eq!(gateway.metric("tollgate_authentications_total{outcome=\"malformed\"}"), 2);
}
