//! `tollgate load` from outside, against our own gateway.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::helper::{Finished, get, serving, tollgate, wait_for};

pub(crate) const FLIGHT: &str = "/rest/flights/AA/0017/20110601";

fn figures(line: &[&str], code: i32) -> Value {
    let load = tollgate([&["load", "--json"], line].concat()).finish();
    serde_json::from_str(&load.check(code, "", "").out).unwrap()
}

/// Figures of a load at a rate. A busy machine may send late, and then they are refused.
fn at_a_rate(load: &Finished) -> Value {
    assert!(matches!(load.code, 0 | 3), "{load:#?}");
    serde_json::from_str(&load.out).unwrap()
}

/// Whether the load was not steady, as it is where others take the server's core: it has no times then.
fn is_unsteady(figures: &Value) -> bool {
    let marks = figures["validity"].as_array().unwrap();
    marks.iter().any(|mark| mark["rule"] == "steady" && mark["verdict"] == "refused")
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
fn a_url_without_a_scheme_is_http_as_with_ab() {
    let gateway = serving(&[]);
    let url = format!("{}{FLIGHT}", gateway.url.trim_start_matches("http://"));
    let load = tollgate(["load", "-n", "20", "-k", &url]).finish();
    load.check(0, &format!("from http://{url}"), "");
    tollgate(["load", "-n", "2", "ftp://127.0.0.1/"]).finish().check(2, "", "a URL begins with http:// or https://");
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
    let line = ["load", "--json", "--rate", "500/s", "--poisson", "--seed", "7", "-n", "100", "-k", &url];
    let figures = at_a_rate(&tollgate(line).finish());
    assert_eq!((&figures["requests"], &figures["offered"]["seed"]), (&100.into(), &7.into()), "{figures:#}");
    assert_eq!((&figures["offered"]["intended"], &figures["offered"]["unsent"]), (&100.into(), &0.into()));
    tollgate(["load", "--rate", "5", &url]).finish().check(2, "", "--rate needs an end");
}

#[test]
fn users_or_a_rate_change_from_stage_to_stage() {
    let gateway = serving(&[]);
    let url = format!("{}{FLIGHT}", gateway.url);
    // Up to 200 per second in 0.2 s, and half a second at it: 20 and 100.
    // A busy machine may send late: whether figures are refused is of no interest here.
    let staged = |stages: &str| -> Value {
        let load = tollgate(["load", "--json", "--stages", stages, "-k", &url]).finish();
        assert!(matches!(load.code, 0 | 3), "{load:#?}");
        serde_json::from_str(&load.out).unwrap()
    };
    let rates = staged("200ms:200/s,500ms:200/s");
    let stages = rates["staged"]["stages"].as_array().unwrap();
    let due = |stage: &Value| stage["begun"].as_u64().unwrap() + stage["unstarted"].as_u64().unwrap();
    assert_eq!(stages.iter().map(due).collect::<Vec<_>>(), [20, 100], "{rates:#}");
    let users = staged("100ms:3..3,100ms:1");
    assert_eq!((&users["concurrency"], &users["offered"]), (&3.into(), &Value::Null), "{users:#}");
    // Users come and go: there is no number of them to be found again.
    assert_eq!(users["littles_law"], Value::Null, "{users:#}");
    let whole = |stage: &Value| stage["whole"].as_u64().unwrap();
    let stages = users["staged"]["stages"].as_array().unwrap();
    assert_eq!(stages.iter().map(whole).sum::<u64>(), users["requests"].as_u64().unwrap(), "{users:#}");
    let folder = tempfile::tempdir().unwrap();
    let line = ["load", "--stages", "500ms:2", "-k", "--html", "report.html", &url];
    tollgate(line).within(folder.path()).finish().check(0, "\nstage     asked  seconds  users", "");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("The stages") && page.contains("Users asked for and at work"), "{page}");
    let refused = |line: &[&str], expected: &str| {
        tollgate([&["load"], line, &[url.as_str()]].concat()).finish().check(2, "", expected);
    };
    refused(&["--stages", "10s"], "expected TIME:NUMBER");
    refused(&["--stages", "1s:5", "-c", "5"], "leave -c out");
    refused(&["--stages", "1s:5", "-n", "5"], "cannot be used with");
    refused(&["--poisson", "-n", "5"], "--poisson says how requests come at a rate");
    refused(&["--stages", "1s:0.3/s"], "make 0.15 requests together");
    refused(&["--stages", "1s:0.5"], "from or to 0.5 users: users are whole");
    refused(&["--stages", "1s:2.4,1s:2.4"], "from or to 2.4 users");
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
fn a_feed_fills_url_and_body_and_ends_the_load() {
    let gateway = serving(&[]);
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("keys.csv", "carrier,connection,date\nAA,0017,20110601\nLH,0400,20110601\n");
    let run = |line: &[&str], code: i32| {
        let load = tollgate([&["load", "--json"], line].concat()).within(folder.path()).finish();
        serde_json::from_str::<Value>(&load.check(code, "", "").out).unwrap()
    };
    let url = format!("{}/rest/flights/{{{{carrier}}}}/{{{{connection}}}}/{{{{date}}}}", gateway.url);
    for order in ["in-order", "random"] {
        let figures = run(&["-n", "40", "-c", "4", "-k", "--feed", "keys.csv", "--feed-order", order, &url], 0);
        assert_eq!(
            (&figures["requests"], &figures["errors"]),
            (&40.into(), &serde_json::json!({})),
            "{order} {figures:#}"
        );
    }
    let rows: String = (0..50).map(|row| format!("\"row \"\"{row}\"\"\"\n")).collect();
    write("records.csv", &format!("text\n{rows}"));
    write("record.json", r#"{"stringField":"{{text}}"}"#);
    let records = format!("{}/odata/v4/refsvc/TestRecords", gateway.url);
    let sent = [
        "-p",
        "record.json",
        "-T",
        "application/json",
        "-k",
        "-c",
        "3",
        "--feed",
        "records.csv",
        "--feed-order",
        "unique",
    ];
    let figures = run(&[sent.as_slice(), &["--threads", "2", &records]].concat(), 0);
    assert_eq!((&figures["requests"], &figures["errors"]), (&50.into(), &serde_json::json!({})), "{figures:#}");
    assert_eq!(get(&format!("{records}/$count")), (200, "50".to_owned()));
    let last = format!("{records}?$filter=stringField%20eq%20'row%20%2249%22'&$count=true&$top=0");
    assert!(get(&last).1.contains("\"@odata.count\":1"), "{}", get(&last).1);
    // At a rate the feed ends the load, too; in chunks as well as with a length.
    let line = [&["load", "--json"], sent.as_slice(), &["--rate", "2000/s", "--chunked=7", &records]].concat();
    let figures = at_a_rate(&tollgate(line).within(folder.path()).finish());
    assert_eq!((&figures["requests"], &figures["offered"]["intended"]), (&50.into(), &50.into()), "{figures:#}");
    let refused =
        tollgate(["load", "--feed", "keys.csv", &url.replace("carrier", "carier")]).within(folder.path()).finish();
    refused.check(2, "", "the URL: the feed has no column `carier`: did you mean `carrier`?");
    let refused =
        tollgate(["load", "--feed", "keys.csv", &url.replace("{{", "").replace("}}", "")]).within(folder.path());
    refused.finish().check(2, "", "the feed's columns are used nowhere: write {{carrier}}");
    let line = ["load", "-n", "10", "-k", "--feed", "keys.csv", "--feed-order", "unique", &url];
    let short = tollgate(line).within(folder.path()).finish();
    short.check(0, "marked   rows came to an end after 2 of 10 requests; give the feed more rows", "");
    write("broken.csv", "a,b\n1\n");
    let refused = tollgate(["load", "--feed", "broken.csv", &url]).within(folder.path()).finish();
    refused.check(2, "", "broken.csv, line 2: 1 values where the first row has 2 names");
}

#[test]
fn every_part_of_a_batch_counts() {
    let gateway = serving(&[]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("record.json"), r#"{"stringField":"batched"}"#).unwrap();
    let records = format!("{}/odata/v4/refsvc/TestRecords", gateway.url);
    for (place, form) in ["multipart", "change-set", "json"].into_iter().enumerate() {
        let line =
            ["load", "--json", "-n", "4", "-k", "-p", "record.json", "--batch", "25", "--batch-form", form, &records];
        let load = tollgate(line).within(folder.path()).finish();
        let figures: Value = serde_json::from_str(&load.check(0, "", "").out).unwrap();
        assert_eq!((&figures["requests"], &figures["parts"]["201"]), (&4.into(), &100.into()), "{form} {figures:#}");
        assert_eq!(get(&format!("{records}/$count")), (200, (100 * (place + 1)).to_string()));
    }
    let flights = format!("{}/odata/v4/flights/FlightCollection", gateway.url);
    let load = tollgate(["load", "-n", "3", "--batch", "2", &format!("{flights}('nothing')")]).finish();
    // A service that is not told to go on ends a batch with its first error.
    load.check(1, "batched  3 answered 400", "part 1 of 2: 400");
    let figures = figures(&["-n", "3", "-k", "--batch", "4", &format!("{flights}?$top=1")], 0);
    assert_eq!(figures["parts"]["200"], 12, "{figures:#}");
}

#[test]
fn answers_are_held_against_what_is_expected() {
    let gateway = serving(&[]);
    let url = format!("{}{FLIGHT}", gateway.url);
    let run = |line: &[&str]| tollgate([&["load", "-n", "20", "-k"], line].concat()).finish();
    run(&["--expect-body", "0017", &url]).check(0, "none failed", "");
    run(&["--expect-body", "Lummerland", &url]).check(1, "20 as content", "does not contain `Lummerland`");
    let nothing = format!("{}/rest/nothing/here", gateway.url);
    run(&["--ab", &nothing]).check(1, "Non-2xx responses:      20", "--expect-status");
    run(&["--expect-status", "404", &nothing]).check(0, "none failed", "");
    run(&["--expect-status", "404", &url]).check(1, "20 as status-200, first: 200 OK", "200 OK");
    run(&["-l", &url]).check(0, "Response bodies were not checked; use --expect-body TEXT.", "");
    run(&["--expect-json", "/carrid=AA", &url]).check(0, "none failed", "");
    let wrong = "`/carrid` of the answer is `AA` instead of `LH`";
    run(&["--expect-json", "/carrid=LH", &url]).check(1, wrong, wrong);
}

#[test]
fn answers_of_which_only_status_and_length_were_looked_at_are_marked() {
    let gateway = serving(&[]);
    let url = format!("{}{FLIGHT}", gateway.url);
    let check = |line: &[&str], checked: u64| {
        let found = figures(&[&["-n", "400", "-k"], line, &[url.as_str()]].concat(), 0);
        let is_marked = found["validity"].as_array().unwrap().iter().any(|mark| mark["rule"] == "content");
        assert_eq!((&found["checked"], is_marked), (&checked.into(), checked == 0), "{line:?} {found:#}");
    };
    // A page of errors may be as long as the first answer, and the first answer may be one.
    check(&[], 0);
    check(&["-l"], 0);
    check(&["--expect-body", "AA"], 400);
}

#[test]
fn answers_of_another_length_have_failed_as_with_ab_unless_said_otherwise() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    // Each answer is one byte longer than the one before, on a connection of its own.
    let server = std::thread::spawn(move || {
        for (length, stream) in listener.incoming().take(6).enumerate() {
            let mut stream = stream.unwrap();
            let mut request = [0; 1024];
            assert!(stream.read(&mut request).unwrap() > 0);
            let body = "x".repeat(length);
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").unwrap();
        }
    });
    let load = tollgate(["load", "--ab", "-n", "3", &url]).finish();
    load.check(1, "Length: 2, Exceptions: 0)", "the answer has 1 bytes, the first one had 0");
    load.check(1, "Document Length:        0 bytes", "-l accepts answers of any length");
    tollgate(["load", "-n", "3", "-l", &url]).finish().check(0, "none failed", "");
    server.join().unwrap();
}

#[test]
fn figures_go_into_files_that_others_read() {
    let gateway = serving(&[]);
    let folder = tempfile::tempdir().unwrap();
    let url = format!("{}{FLIGHT}", gateway.url);
    let line = ["load", "-n", "3000", "-c", "2", "-k", "--html", "report.html", "--hlog", "times.hlog", &url];
    tollgate(line).within(folder.path()).finish().check(0, "", "");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("3,000 valid answers") && page.contains("<svg") && page.len() < 500_000, "{page}");
    let log = fs::read_to_string(folder.path().join("times.hlog")).unwrap();
    assert!(log.starts_with("#[Histogram log format version 1.3]\n") && log.contains("Tag=response,"), "{log}");
    let refused = tollgate(["load", "--html", "missing/report.html", &url]).within(folder.path()).finish();
    refused.check(2, "", "cannot write missing/report.html");
    tollgate(["schema", "load"]).finish().check(0, "served_within_ms", "");
}

#[test]
fn what_was_done_until_it_was_stopped_is_told_as_partial() {
    // `timeout` signals its child and then the child's group: moments later it is the same signal again.
    for signals in [[Signal::INT].as_slice(), &[Signal::INT, Signal::TERM], &[Signal::TERM, Signal::INT]] {
        let gateway = serving(&[]);
        let load = tollgate(["load", "-t", "60", "-k", &format!("{}{FLIGHT}", gateway.url)]).start();
        answered(&gateway.admin, 100);
        signals.iter().for_each(|signal| load.signal(*signal));
        load.finish().check(130, "Interrupted, partial figures: ", "");
    }
}

/// Waits until the gateway has answered this many requests.
fn answered(admin: &str, count: u64) {
    let counted = || {
        let text = get(&format!("{admin}/metrics")).1;
        let lines = text.lines().filter(|line| line.starts_with("tollgate_requests_total"));
        let most = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).fold(0.0, f64::max);
        (most >= count as f64).then_some(())
    };
    wait_for("answers", counted);
}

/// Duration for which the server is frozen.
const FREEZE: Duration = Duration::from_secs(2);

#[test]
fn a_frozen_server_shows_at_its_true_size_at_a_rate_and_not_with_users_who_wait() {
    let frozen = |line: &[&str]| {
        let gateway = serving(&[]);
        let url = format!("{}{FLIGHT}", gateway.url);
        let load = tollgate([&["load", "--json", "-k"], line, &[url.as_str()]].concat()).start();
        answered(&gateway.admin, 100);
        gateway.running.signal(Signal::STOP);
        // The freeze is what is given, not what is measured: it lasts at least so long.
        let begun = Instant::now();
        while begun.elapsed() < FREEZE {
            std::thread::park_timeout(FREEZE.saturating_sub(begun.elapsed()));
        }
        gateway.running.signal(Signal::CONT);
        let finished = load.finish();
        (serde_json::from_str::<Value>(&finished.out).unwrap(), finished.code)
    };
    // Of 800 requests in 4 s all that fall due within the 2 s wait for its end: half of them, evenly from 0 to 2 s. So
    // more than a quarter waited longer than 0.9 s, and one of ten longer than 1.5 s. A machine that is too busy to work them
    // off in the rest of the time has a load that is not steady, and no percentiles.
    let (open, code) = frozen(&["--rate", "200/s", "--duration", "4s", "-c", "2000"]);
    let time = |figures: &Value, name: &str| figures["response_time_ms"][name].as_f64().unwrap();
    assert_eq!((&open["offered"]["intended"], &open["errors"]), (&800.into(), &serde_json::json!({})), "{open:#}");
    if is_unsteady(&open) {
        assert_eq!((code, &open["response_time_ms"]["p90"]), (3, &Value::Null));
        return;
    }
    assert!(time(&open, "p90") >= 1500.0 && time(&open, "max") >= 1900.0, "{}", open["response_time_ms"]);
    let served = |percent: f64| {
        let all = open["served_within_ms"].as_array().unwrap();
        all.iter().find(|pair| pair[0] == percent).unwrap()[1].as_f64().unwrap()
    };
    assert!(served(75.0) >= 900.0, "{}", open["served_within_ms"]);
    // It is the server that was held up: every request was sent, and no user was missing. Only a generator that was
    // itself late for a tenth of that may be refused, and then more users are no help.
    let marks = open["validity"].as_array().unwrap();
    let refused: Vec<&Value> = marks.iter().filter(|mark| mark["verdict"] == "refused").collect();
    assert_eq!(code, if refused.is_empty() { 0 } else { 3 }, "{marks:#?}");
    assert!(refused.iter().all(|mark| mark["rule"] == "lateness"), "{refused:#?}");
    assert!(refused.iter().all(|mark| !mark["remedy"].as_str().unwrap().contains("more users")), "{refused:#?}");
    // Users who wait ask nothing meanwhile: one request each is all that they show of it.
    let (closed, _) = frozen(&["-t", "4", "-c", "2"]);
    assert!(time(&closed, "max") >= 1900.0 && time(&closed, "p95") < 1000.0, "{}", closed["response_time_ms"]);
}

#[test]
fn a_generator_that_was_stopped_is_marked_with_users_who_wait_and_refused_at_a_rate() {
    let stopped_after = |requests: u64, line: &[&str]| {
        let gateway = serving(&[]);
        let url = format!("{}{FLIGHT}", gateway.url);
        let load = tollgate([&["load", "--json", "-k"], line, &[url.as_str()]].concat()).start();
        answered(&gateway.admin, requests);
        load.signal(Signal::STOP);
        let begun = Instant::now();
        while begun.elapsed() < FREEZE {
            std::thread::park_timeout(FREEZE.saturating_sub(begun.elapsed()));
        }
        load.signal(Signal::CONT);
        let finished = load.finish();
        (serde_json::from_str::<Value>(&finished.out).unwrap(), finished.code)
    };
    let stopped = |line: &[&str]| stopped_after(100, line);
    let of_rule = |found: &Value, rule: &str| {
        let marks = found["validity"].as_array().unwrap().clone();
        marks.into_iter().find(|mark| mark["rule"] == rule).unwrap_or_else(|| panic!("no mark `{rule}`: {found:#}"))
    };
    // Half of the time, in which nothing was asked: its heartbeat says so, though the users' answers do not.
    let (closed, _) = stopped(&["-t", "4", "-c", "2"]);
    let mark = of_rule(&closed, "stalls");
    assert!(mark["value"].as_f64().unwrap() > 0.3 && mark["verdict"] == "marked", "{mark:#}");
    // What was due meanwhile went out late, and it is the generator that was, even where its backlog called all users.
    for users in ["2000", "8"] {
        let (open, code) = stopped(&["--rate", "500/s", "--duration", "4s", "-c", users]);
        let mark = of_rule(&open, "lateness");
        assert_eq!((&mark["verdict"], code), (&"refused".into(), 3), "{open:#}");
        assert!(mark["remedy"].as_str().unwrap().contains("give it cores of its own"), "{mark:#}");
    }
    // Of so few there is no percentile that would tell. 2 s of 50 a second are most of those that are left.
    let (few, code) = stopped_after(5, &["--rate", "50/s", "-n", "100", "-c", "200"]);
    let mark = of_rule(&few, "lateness");
    assert_eq!(
        (&mark["verdict"], code, &few["offered"]["overdue_ms"]["p90"]),
        (&"refused".into(), 3, &Value::Null),
        "{few:#}"
    );
    assert!(mark["reason"].as_str().unwrap().contains("late on average"), "{mark:#}");
}

#[test]
fn errors_are_counted_by_class_and_shown() {
    let gateway = serving(&[]);
    let line = ["load", "--ab", "-n", "20", "-k", &format!("{}/rest/nothing/here", gateway.url)];
    let load = tollgate(line).finish();
    load.check(1, "Refused:                every request failed", "");
    load.check(1, "Total:              -        -        -        -        -\n", "");
    load.check(1, "Valid answers:          0, 0.00 per second", "");
    let figures = figures(&["-n", "20", "-k", &format!("{}/rest/nothing/here", gateway.url)], 1);
    assert_eq!(figures["errors"]["status-404"], 20, "{figures:#}");
    for times in ["response_time_ms", "service_time_ms", "connection_times_ms"] {
        assert_eq!(figures[times], Value::Null, "{times}");
    }
}

#[test]
fn what_cannot_be_loaded_is_a_clear_error() {
    let check = |line: &[&str], code: i32, expected: &str| {
        tollgate([&["load"], line].concat()).finish().check(code, "", expected);
    };
    check(&["127.0.0.1:1/a b"], 2, "127.0.0.1:1/a b");
    check(&["http://other.example/"], 2, "--i-may-load other.example");
    check(&["-p", "missing.json", "http://127.0.0.1:1/"], 2, "cannot read missing.json");
    check(&["http://127.0.0.1:1/"], 1, "127.0.0.1:1");
    for (letter, number) in [("-n", "0"), ("-n", "-1"), ("-n", "x"), ("-c", "0"), ("-c", "-1"), ("--threads", "0")] {
        check(&[letter, number, "http://127.0.0.1:1/"], 2, "expected a whole number above 0");
    }
    check(&["-t", "-1", "http://127.0.0.1:1/"], 2, "expected seconds above 0");
    check(&["-n", "100", "-c", "200", "http://127.0.0.1:1/"], 2, "there are 200 users (-c) for 100 requests (-n)");
}

#[test]
fn a_reader_that_closes_early_changes_nothing_of_the_exit_code() {
    let mut load = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    load.args(["load", "-n", "1", "http://127.0.0.1:1/"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut load = load.spawn().unwrap();
    drop(load.stdout.take());
    assert_eq!(load.wait().unwrap().code(), Some(1));
}

#[test]
fn a_proxy_that_is_not_there_is_named_and_not_the_server() {
    let gateway = serving(&[]);
    let load = tollgate(["load", "-n", "1", "-X", "127.0.0.1:1", &gateway.url]).finish();
    load.check(1, "", "no connection to 127.0.0.1:1, which is to be asked for ");
}

#[test]
fn a_posted_file_creates_an_entity_with_every_request() {
    let gateway = serving(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body.json");
    fs::write(&file, r#"{"stringField":"posted"}"#).unwrap();
    let records = format!("{}/odata/v4/refsvc/TestRecords", gateway.url);
    let line = ["-n", "20", "-c", "2", "-k", "-l", "-p", file.to_str().unwrap(), "-T", "application/json", &records];
    let posted = figures(&line, 0);
    assert_eq!((&posted["requests"], &posted["errors"]), (&20.into(), &serde_json::json!({})), "{posted:#}");
    assert_eq!(get(&format!("{records}/$count")), (200, "20".to_owned()));
    // What stands behind --chunked is the URL.
    let line = ["-p", file.to_str().unwrap(), "-T", "application/json", "--chunked", &records];
    assert_eq!(figures(&line, 0)["requests"], 1);
    assert_eq!(get(&format!("{records}/$count")), (200, "21".to_owned()));
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
        let line = [&["load", "--json", "-n", "60", "-c", "3", "--ca", ca.as_str()], line, &[url.as_str()]].concat();
        let load = tollgate(&line).finish();
        let figures = if line.contains(&"--rate") {
            at_a_rate(&load)
        } else {
            serde_json::from_str(&load.check(0, "", "").out).unwrap()
        };
        let expected = serde_json::json!({ "full": full, "resumed": resumed, "failed": 0 });
        assert_eq!((&figures["requests"], &figures["handshakes"]), (&60.into(), &expected), "{line:?} {figures:#}");
        assert_eq!(figures["first_request"]["round_trips"], round_trips, "{line:?}");
        let tls_ms = figures["phases"]["tls_ms"]["max"].as_f64();
        assert!(tls_ms.map_or_else(|| is_unsteady(&figures), |most| most > 0.0), "{figures:#}");
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
