//! `tollgate load` in daily use: bodies on the command line, thresholds, files for other tools, sockets and tunnels.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::helper::{get, serving, tollgate, wait_for};
use crate::load::FLIGHT;

#[test]
fn a_body_may_stand_on_the_command_line() {
    let gateway = serving(&[]);
    let records = format!("{}/odata/v4/refsvc/TestRecords", gateway.url);
    let run = |line: &[&str]| {
        tollgate([&["load", "-v2", "-n", "5", "-k", "-l"], line, &[records.as_str()]].concat()).finish()
    };
    let json = r#"{"stringField":"typed"}"#;
    run(&["--json-body", json]).check(0, "none failed", "> Content-Type: application/json\n");
    run(&["--body", json, "-T", "application/json"]).check(0, "none failed", "> POST /odata");
    assert_eq!(get(&format!("{records}/$count")), (200, "10".to_owned()));
    let form = ["--form", "a b=1", "--form", "c=2&3", "--expect-status", "any"];
    run(&form).check(0, "", "> Content-Type: application/x-www-form-urlencoded\n").check(
        0,
        "",
        "> Content-Length: 15\n",
    );
    run(&["--json-body", "{x"]).check(2, "", "--json-body is not JSON: ");
    run(&["--form", "a"]).check(2, "", "expected NAME=VALUE");
    run(&["--body", "a", "-p", "b"]).check(2, "", "cannot be used with");
}

/// Gets the list once, and then again and again a flight out of it.
const SCENARIO: &str = r#"
[[scenario]]
name = "flights"
[[scenario.setup]]
name = "list"
path = "flights"
extract = { carrier = { json = "/items/0/carrid" } }
[[scenario.step]]
name = "airline"
path = "flights/{{carrier}}/0017/2012-05-09"
status = "2xx,404"
[[scenario.step]]
name = "again"
path = "flights"
assert = [{ json = "/items/0/carrid", equals = "{{carrier}}" }]
"#;

#[test]
fn steps_with_a_log_in_are_played_from_a_file() {
    let gateway = serving(&[]);
    let folder = tempfile::tempdir().unwrap();
    let run = |text: &str, further: &[&str]| {
        fs::write(folder.path().join("steps.toml"), text).unwrap();
        let url = format!("{}/rest/", gateway.url);
        let words = [&["load", "--scenario", "steps.toml", "-q"], further, &[&url]].concat();
        tollgate(words).within(folder.path()).finish()
    };
    // Beside other programs a generator is late, and its figures are refused.
    let played = |text: &str, further: &[&str], expected: &str| {
        let played = run(text, further);
        assert!([0, 3].contains(&played.code) && played.out.contains(expected), "{expected}: {played:?}");
        played.out
    };
    let result: Value = serde_json::from_str(&played(SCENARIO, &["-n", "6", "-c", "2", "--json"], "")).unwrap();
    let counts = [&result["requests"], &result["played"]["iterations"], &result["connections"]];
    assert_eq!(counts.map(|count| count.as_u64().unwrap()), [12, 6, 2], "{result}");
    let steps = result["played"]["steps"].as_array().unwrap();
    let steps: Vec<_> = steps.iter().map(|step| (step["name"].as_str(), step["requests"].as_u64())).collect();
    assert_eq!(steps, [(Some("airline"), Some(6)), (Some("again"), Some(6))]);
    played(SCENARIO, &["-n", "6"], "iteration        6");
    played(SCENARIO, &["-n", "6", "--ab"], "Iterations and their steps:");
    played(SCENARIO, &["--rate", "100/s", "-n", "5"], "100 iterations/s offered");
    let wrong = SCENARIO.replacen("/items/0/carrid", "/items/0/nothing", 1);
    run(&wrong, &["-n", "6"]).check(1, "as extraction, first: setup or teardown, step `list`", "");
    let unknown = SCENARIO.replacen("{{carrier}}/", "{{carier}}/", 1);
    run(&unknown, &[]).check(2, "", "steps.toml:10:8");
    let experiment = include_str!("../../../../examples/command.toml");
    run(experiment, &[]).check(2, "", "steps.toml: its workload is no scenario");
    fs::write(folder.path().join("who.csv"), "place\nhere\nthere\n").unwrap();
    let rows = SCENARIO.replacen(
        "[[scenario.setup]]",
        "feed = [{ file = \"who.csv\", order = \"unique\", end = \"stop\" }]\n[[scenario.setup]]",
        1,
    );
    played(&rows, &["-n", "9"], "rows came to an end after 2 of 9 iterations; give the feed more rows");
    played(&rows, &[], "4 answers");
    run(SCENARIO, &["-n", "1", "-c", "2"]).check(2, "", "there are 2 users (-c) for 1 iteration (-n)");
    run(SCENARIO, &["-n", "1", "--body", "a"]).check(2, "", "cannot be used with");
    run(SCENARIO, &["-n", "1", "-H", "Host: a"]).check(2, "", "leave -H Host out");
}

#[test]
fn a_quiet_load_says_nothing_but_its_result() {
    let gateway = serving(&[]);
    for line in [&["-q"][..], &["--quiet", "--live", "0"]] {
        let load = tollgate([&["load", "-n", "100", "-k"], line, &[&format!("{}{FLIGHT}", gateway.url)]].concat());
        let load = load.finish();
        assert_eq!(load.check(0, "none failed", "").err, "", "{line:?}");
    }
    let taken = ["load", "-n", "1", "--live", gateway.url.trim_start_matches("http://"), "http://127.0.0.1:1/"];
    tollgate(taken).finish().check(2, "", "--live 127.0.0.1:");
}

#[test]
fn a_load_can_be_looked_at_while_it_lasts() {
    let gateway = serving(&[]);
    let mut load = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    let url = format!("{}{FLIGHT}", gateway.url);
    load.args(["load", "-t", "1h", "-k", "--live", "0", &url]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut load = load.spawn().unwrap();
    let mut stderr = BufReader::new(load.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let page = line.trim_end().strip_prefix("live view: ").unwrap();
    assert!(page.starts_with("http://127.0.0.1:"), "{page}");
    let state = wait_for("figures", || {
        let (status, body) = get(&format!("{page}state.json"));
        let state: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(status, 200);
        state["now"]["p99_ms"].is_number().then_some(state)
    });
    assert_eq!((&state["title"], &state["failed"]), (&url.as_str().into(), &0.into()), "{state:#}");
    assert!(state["answered"].as_u64().unwrap() >= 100 && state["left_s"].as_f64().unwrap() > 0.0, "{state:#}");
    let (_, body) = get(page);
    assert!(body.starts_with("<!doctype html>"), "{body}");
    kill_process(Pid::from_child(&load), Signal::INT).unwrap();
    let mut out = String::new();
    load.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(out.starts_with("Interrupted, partial figures: "), "{out}");
    assert_eq!(load.wait().unwrap().code(), Some(130));
}

#[test]
fn a_threshold_that_does_not_hold_ends_with_its_own_code() {
    let gateway = serving(&[]);
    let run = |line: &[&str], path: &str| {
        let url = format!("{}{path}", gateway.url);
        tollgate([&["load", "-n", "100", "-k"], line, &[url.as_str()]].concat()).finish()
    };
    run(&["--threshold", "max < 30 s", "--threshold", "errors == 0"], FLIGHT).check(0, "passed   max < 30 s: ", "");
    run(&["--threshold", "max < 1 us"], FLIGHT).check(99, "FAILED   max < 1 us: ", "");
    // Who expects something of failures has said how many are too many.
    let nothing = "/rest/nothing/here";
    run(&["--threshold", "error-share < 1 %"], nothing).check(99, "FAILED   error-share < 1 %: 100 %", "");
    run(&["--threshold", "errors <= 100"], nothing).check(3, "passed   errors <= 100: 100", "every request failed");
    run(&["--threshold", "p50 < 1 s"], nothing).check(99, "FAILED   p50 < 1 s, refused: every request failed", "");
    run(&["--threshold", "memory < 1 GiB"], FLIGHT).check(2, "", "a single load has no memory");
    run(&["--threshold", "p5 < 1 s"], FLIGHT).check(2, "", "--threshold: ");
    run(&["--threshold", "toll(a).cpu < 2"], FLIGHT).check(2, "", "--threshold: ");
    let json = run(&["--json", "--threshold", "errors == 0"], FLIGHT).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["thresholds"][0]["outcome"], "holds", "{json:#}");
}

#[test]
fn series_and_requests_are_written_for_other_tools() {
    let gateway = serving(&[]);
    let folder = tempfile::tempdir().unwrap();
    let url = format!("{}{FLIGHT}", gateway.url);
    let formats = ["csv", "jtl", "prometheus", "influx", "otlp"];
    let exports: Vec<String> =
        formats.iter().flat_map(|name| ["--export".to_owned(), format!("{name}={name}")]).collect();
    let mut line = vec!["load", "-n", "200", "--requests-per-connection", "50"];
    line.extend(exports.iter().map(String::as_str));
    line.push(&url);
    tollgate(line).within(folder.path()).finish().check(0, "", "");
    let [csv, jtl, prometheus, influx, otlp] =
        formats.map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
    let requests = |column: &str| column.split(',').nth(2).unwrap().parse::<u64>().unwrap();
    assert_eq!(csv.lines().skip(1).map(requests).sum::<u64>(), 200, "{csv}");
    assert_eq!(jtl.lines().count(), 201, "{jtl}");
    assert!(jtl.lines().skip(1).all(|row| row.split(',').count() == 17 && row.contains(",load,,OK,")), "{jtl}");
    assert!(
        prometheus.contains("tollgate_load_requests_per_second{url=\"http://") && prometheus.ends_with("# EOF\n"),
        "{prometheus}"
    );
    assert!(influx.contains("requests=200i,failed=0i,p50_ms="), "{influx}");
    let otlp: Value = serde_json::from_str(&otlp).unwrap();
    let points = &otlp["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["gauge"]["dataPoints"];
    assert!(points[0]["asDouble"].as_f64().unwrap() > 0.0, "{otlp:#}");
    let nothing = format!("{}/rest/nothing/here", gateway.url);
    let line = ["load", "-n", "3", "--export", "jtl=failed.jtl", &nothing];
    tollgate(line).within(folder.path()).finish().check(1, "", "");
    let failed = fs::read_to_string(folder.path().join("failed.jtl")).unwrap();
    assert_eq!(failed.matches(",404,,load 1-1,text,false,status-404,").count(), 3, "{failed}");
    tollgate(["load", "--export", "pdf=a", &url]).finish().check(2, "", "`pdf` is not a format: use one of csv, jtl");
}

#[test]
fn a_server_is_asked_by_its_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        let mut heads = Vec::new();
        for stream in listener.incoming().take(3) {
            let mut stream = stream.unwrap();
            heads.push(head(&mut stream));
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi").unwrap();
        }
        heads
    });
    let socket = path.to_str().unwrap();
    let load = tollgate(["load", "-n", "3", "--unix-socket", socket, "http://far.example/a"]).finish();
    load.check(0, "3 connections (one request each)", "");
    assert!(server.join().unwrap().iter().all(|head| head.starts_with("GET /a HTTP/1.1\r\nHost: far.example\r\n")));
    let missing = tollgate(["load", "--unix-socket", "/missing.sock", "http://localhost/"]).finish();
    missing.check(1, "connect-failed", "no connection to /missing.sock: No such file");
}

/// A request's head, read byte by byte, so that the bytes after it stay unread.
fn head(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

#[test]
fn https_goes_through_a_proxys_tunnel() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    tollgate(["cert", "--out", folder.path().to_str().unwrap()]).finish().check(0, "server.pem", "");
    let (certificate, key) = (file("server.pem"), file("server.key"));
    let gateway = serving(&["--tls-listen", "127.0.0.1:0", "--certificate", &certificate, "--key", &key]);
    let place = gateway.url.trim_start_matches("https://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = listener.local_addr().unwrap().to_string();
    // A tunnel for each who says who they are. It ends with the test's process, as its threads do with their connections.
    let (heads, asked) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, place, heads) = (stream.unwrap(), place.clone(), heads.clone());
            std::thread::spawn(move || {
                let head = head(&mut stream);
                let is_known = head.contains("\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n");
                let _ = heads.send(head);
                if !is_known {
                    let refused = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
                    return stream.write_all(refused.as_bytes()).unwrap();
                }
                stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
                let mut server = TcpStream::connect(&place).unwrap();
                let (mut back, mut forth) = (server.try_clone().unwrap(), stream.try_clone().unwrap());
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut back, &mut forth);
                    let _ = forth.shutdown(Shutdown::Write);
                });
                let _ = std::io::copy(&mut stream, &mut server);
                let _ = server.shutdown(Shutdown::Write);
            });
        }
    });
    let url = format!("{}{FLIGHT}", gateway.url);
    let line = ["load", "-v2", "--insecure", "-n", "20", "-c", "1", "-k", "-X", &proxy, "-P", "me:secret", &url];
    let through = tollgate(line).finish();
    through.check(0, "none failed", "> GET /rest/flights");
    assert!(!through.err.contains("Proxy-Authorization"), "what is for the proxy reaches no server: {through:#?}");
    let line = ["load", "--insecure", "-n", "3", "-X", &proxy, "-P", "me:secret", &url];
    tollgate(line).finish().check(0, "none failed", "");
    let refused = tollgate(["load", "--insecure", "-n", "1", "-X", &proxy, &url]).finish();
    refused.check(1, "with 407 Proxy Authentication Required", "the proxy answered CONNECT 127.0.0.1:");
    let heads: Vec<String> = asked.try_iter().collect();
    assert!(heads.iter().all(|head| head.starts_with("CONNECT 127.0.0.1:")), "{heads:?}");
}
