//! Endpoints for the operator, and their health checks.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::Value;
use tollgate_net::listen::Reserved;

use super::client::Running;

fn status(gateway: &Running) -> Value {
    serde_json::from_slice(&gateway.admin().ask("GET", "/status.json", &[]).body).unwrap()
}

fn state(address: &str, state: &str) -> String {
    format!("tollgate_endpoint_state{{endpoint=\"e\",url=\"http://{address}/\",state=\"{state}\"}}")
}

#[test]
fn a_suspended_place_is_shown_and_asked_again_when_the_operator_says_so() {
    let nobody = Reserved::on_loopback().unwrap();
    let address = nobody.address().to_string();
    let gateway = Running::start(&format!(
        "[[route]]\npath = \"/a\"\nendpoint = \"e\"\n[[endpoint]]\nname = \"e\"\nurls = [\"http://{address}\"]\n\
         suspension = {{ after_failures = 1, initial_ms = 600000, max_ms = 600000 }}"
    ));
    gateway.get("/a").expect(502, "");
    // The loop's time is coarse: it may be a little behind that of the suspension, and seconds are rounded up.
    let told = gateway.get("/a").expect(503, "").header("retry-after").map(str::to_owned);
    let told_s: u64 = told.unwrap().parse().unwrap();
    assert!((500..=601).contains(&told_s), "{told_s}");
    let seen = status(&gateway);
    let place = &seen["endpoints"][0];
    assert_eq!(
        (&place["state"], &place["failed_connect"], &place["suspensions"]),
        (&"suspended".into(), &1.into(), &1.into())
    );
    assert!(place["suspended_ms"].as_u64().unwrap() > 500_000, "{place}");
    assert_eq!((&seen["routes"][0]["path"], &seen["routes"][0]["answered_5xx"]), (&"/a".into(), &2.into()));
    assert_eq!(gateway.metric(&state(&address, "suspended")), 1);
    assert_eq!(gateway.metric("tollgate_endpoint_refused_total{endpoint=\"e\",reason=\"suspended\"}"), 1);
    assert_eq!(gateway.metric("tollgate_route_responses_total{path=\"/a\",host=\"*\",methods=\"*\",class=\"5xx\"}"), 2);
    let page = gateway.admin().ask("GET", "/", &[]).text();
    let token = page.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let form = |token: &str, place: &str| {
        let body = format!("token={token}&place={}", place.replace(' ', "+"));
        let headers = [("Content-Type", "application/x-www-form-urlencoded")];
        gateway.admin().ask_with("POST", "/endpoints/reset", &headers, &body).status
    };
    let key = place["key"].as_str().unwrap();
    assert_eq!((form("forged", key), form(token, "e http://elsewhere/")), (403, 400));
    assert_eq!(gateway.metric(&state(&address, "suspended")), 1);
    assert_eq!(form(token, key), 303);
    assert_eq!(gateway.metric(&state(&address, "ready")), 1);
    gateway.admin().ask("GET", "/endpoints/reset", &[]).expect(405, "POST");
}

#[test]
fn a_place_that_is_asked_whether_it_is_well_goes_and_comes_without_any_request() {
    let nobody = Reserved::on_loopback().unwrap();
    let address = nobody.address().to_string();
    let gateway = Running::start(&format!(
        "[[route]]\npath = \"/a\"\nendpoint = \"e\"\n[[endpoint]]\nname = \"e\"\nurls = [\"http://{address}\"]\n\
         health = {{ path = \"/well\", interval_ms = 100 }}\nsuspension = {{ initial_ms = 600000, max_ms = 600000 }}"
    ));
    gateway.wait_for_metric(&state(&address, "suspended"), |is_so| is_so == 1);
    let listener = TcpListener::bind(&address).unwrap();
    let (hear, heard) = std::sync::mpsc::channel();
    // It stays well until that was seen, and until nobody wants to hear of it any more.
    let backend = std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let mut asked = [0; 1024];
            let count = socket.read(&mut asked).unwrap();
            let _ = socket.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
            if hear.send(String::from_utf8_lossy(&asked[..count]).into_owned()).is_err() {
                return;
            }
        }
    });
    gateway.wait_for_metric(&state(&address, "ready"), |is_so| is_so == 1);
    let asked = heard.recv().unwrap();
    assert!(asked.starts_with("GET /well HTTP/1.1\r\n"), "{asked}");
    assert_eq!(gateway.metric("tollgate_route_responses_total"), 0);
    drop(heard);
    backend.join().unwrap();
}
