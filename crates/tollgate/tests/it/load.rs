//! `tollgate load` from outside, against our own gateway.

use std::fs;

use serde_json::Value;

use crate::helper::{get, serving, tollgate};

const FLIGHT: &str = "/rest/flights/AA/0017/20110601";

fn figures(line: &[&str], code: i32) -> Value {
    let load = tollgate([&["load", "--json"], line].concat()).finish();
    serde_json::from_str(&load.check(code, "", "").out).unwrap()
}

#[test]
fn the_figures_account_for_every_request() {
    let gateway = serving(&[]);
    let figures = figures(&["-n", "500", "-c", "4", "-k", &format!("{}{FLIGHT}", gateway.url)], 0);
    assert_eq!((&figures["requests"], &figures["connections"]), (&500.into(), &4.into()), "{figures:#}");
    assert_eq!(figures["errors"], serde_json::json!({}));
    assert!(figures["response_time_ms"]["p50"].as_f64().unwrap() > 0.0);
}

#[test]
fn without_keep_alive_every_request_opens_a_connection() {
    let gateway = serving(&[]);
    let figures = figures(&["-n", "50", "-c", "2", &format!("{}{FLIGHT}", gateway.url)], 0);
    assert_eq!(figures["connections"], 50, "{figures:#}");
}

#[test]
fn at_a_rate_what_was_offered_is_told() {
    let gateway = serving(&[]);
    let url = format!("{}{FLIGHT}", gateway.url);
    let figures = figures(&["--rate", "500/s", "--poisson", "--seed", "7", "-n", "100", "-k", &url], 0);
    assert_eq!((&figures["requests"], &figures["offered"]["seed"]), (&100.into(), &7.into()), "{figures:#}");
    assert_eq!((&figures["offered"]["intended"], &figures["offered"]["unsent"]), (&100.into(), &0.into()));
    tollgate(["load", "--rate", "5", &url]).finish().check(2, "", "--rate needs an end");
}

#[test]
fn connections_are_opened_anew_after_so_many_requests_and_taken_apart() {
    let gateway = serving(&[]);
    let url = format!("{}{FLIGHT}", gateway.url);
    let figures = figures(&["-n", "100", "--requests-per-connection", "10", &url], 0);
    assert_eq!((&figures["connections"], &figures["phases"]["n"]), (&10.into(), &10.into()), "{figures:#}");
    assert_eq!(figures["first_request"]["round_trips"], 2.0);
    assert_eq!(figures["handshakes"], Value::Null);
}

#[test]
fn the_text_is_laid_out_as_abs() {
    let gateway = serving(&[]);
    let load = tollgate(["load", "-n", "200", "-k", &format!("{}{FLIGHT}", gateway.url)]).finish();
    for line in ["Requests per second:", "Failed requests:        0", "50%", "99%", "100%", "Little's law"] {
        load.check(0, line, "");
    }
}

#[test]
fn errors_are_counted_by_class_and_shown() {
    let gateway = serving(&[]);
    let figures = figures(&["-n", "20", "-k", &format!("{}/rest/nothing/here", gateway.url)], 1);
    assert_eq!(figures["errors"]["status-404"], 20, "{figures:#}");
}

#[test]
fn what_cannot_be_loaded_is_a_clear_error() {
    let check = |line: &[&str], code: i32, expected: &str| {
        tollgate([&["load"], line].concat()).finish().check(code, "", expected);
    };
    check(&["127.0.0.1:80/"], 2, "127.0.0.1:80/");
    check(&["http://other.example/"], 2, "--i-may-load other.example");
    check(&["-p", "missing.json", "http://127.0.0.1:1/"], 2, "cannot read missing.json");
    check(&["http://127.0.0.1:1/"], 1, "127.0.0.1:1");
}

#[test]
fn a_posted_file_creates_an_entity_with_every_request() {
    let gateway = serving(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body.json");
    fs::write(&file, r#"{"stringField":"posted"}"#).unwrap();
    let records = format!("{}/odata/v4/refsvc/TestRecords", gateway.url);
    let line = ["-n", "20", "-c", "2", "-k", "-l", "-p", file.to_str().unwrap(), "-T", "application/json", &records];
    let figures = figures(&line, 0);
    assert_eq!((&figures["requests"], &figures["errors"]), (&20.into(), &serde_json::json!({})), "{figures:#}");
    assert_eq!(get(&format!("{records}/$count")), (200, "20".to_owned()));
}

#[test]
fn a_gateway_is_loaded_over_tls_by_the_handshakes_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    tollgate(["cert", "--out", folder.path().to_str().unwrap()]).finish().check(0, "server.pem", "");
    let (certificate, key, ca) = (file("server.pem"), file("server.key"), file("ca.pem"));
    let gateway = serving(&["--tls-listen", "127.0.0.1:0", "--certificate", &certificate, "--key", &key]);
    let url = format!("{}{FLIGHT}", gateway.url);
    assert!(url.starts_with("https://"), "{url}");
    // Handshakes and the times that the client waits for the server until its first answer is there.
    let check = |line: &[&str], [full, resumed]: [u64; 2], round_trips: f64| {
        let line = [&["-n", "60", "-c", "3", "--ca", ca.as_str()], line, &[url.as_str()]].concat();
        let figures = figures(&line, 0);
        let expected = serde_json::json!({ "full": full, "resumed": resumed, "failed": 0 });
        assert_eq!((&figures["requests"], &figures["handshakes"]), (&60.into(), &expected), "{line:?} {figures:#}");
        assert_eq!(figures["first_request"]["round_trips"], round_trips, "{line:?}");
        assert!(figures["phases"]["tls_ms"]["max"].as_f64().unwrap() > 0.0);
        let bytes = |name: &str| figures[name].as_u64().unwrap();
        assert!(
            bytes("wire_bytes_received") > bytes("bytes_received") && bytes("wire_bytes_sent") > bytes("bytes_sent")
        );
    };
    check(&["--tls", "1.3", "--no-resumption"], [60, 0], 3.0);
    check(&["--tls", "1.3"], [0, 60], 3.0);
    check(&["--tls", "1.2", "--no-resumption"], [60, 0], 4.0);
    check(&["--tls", "1.2"], [0, 60], 3.0);
    check(&["--tls", "1.3", "--no-resumption", "-k"], [3, 0], 3.0);
    check(&["--tls", "1.3", "--no-resumption", "--rate", "600/s"], [60, 0], 3.0);
    let unknown = figures(&["-n", "3", &url], 1);
    assert_eq!((&unknown["errors"]["tls"], &unknown["handshakes"]["failed"]), (&3.into(), &3.into()), "{unknown:#}");
    assert_eq!(figures(&["-n", "3", "--insecure", &url], 0)["requests"], 3);
}
