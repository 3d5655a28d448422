//! Arrays of any size by plain REST: all of an array is inserted, or nothing.

use std::io::Write;

use super::client::{Answer, Running};

const INSERT_ALL: &str = "/rest/mass-change/insertAll";
const JSON: (&str, &str) = ("Content-Type", "application/json");

fn records(gateway: &Running) -> u64 {
    gateway.get("/odata/v4/refsvc/TestRecords/$count").text().parse().unwrap()
}

/// An array of so many records of about 600 bytes each.
fn array(count: usize) -> String {
    let filler = "x".repeat(500);
    let record = |number| format!(r#"{{"integerField":{number},"stringField":"a","largeStringField":"{filler}"}}"#);
    format!("[{}]", (0..count).map(record).collect::<Vec<_>>().join(","))
}

fn post(gateway: &Running, path: &str, body: &str) -> Answer {
    gateway.connect().ask_with("POST", path, &[JSON], body)
}

#[test]
fn an_array_is_inserted_whole_on_the_loop_and_away_from_it_and_in_parts() {
    let gateway = Running::start("");
    let mut sum = 0;
    for count in [0, 1, 3, 100, 9_000] {
        let answer = post(&gateway, "/rest/records", &array(count));
        assert_eq!((answer.status, answer.text()), (201, format!("{{\"inserted\":{count}}}")));
        sum += count as u64;
        assert_eq!(records(&gateway), sum);
    }
    let last = gateway.get("/odata/v4/refsvc/TestRecords?$filter=integerField%20eq%208999&$select=createdBy,createdAt");
    last.expect(200, "\"createdBy\":\"anonymous\"");
}

#[test]
fn the_seeds_own_shape_names_the_entity_before_the_array_or_behind_it() {
    let gateway = Running::start("");
    for (body, expected) in [
        (r#"{"insEntity":"TestRecords","insArray":[{},{}]}"#, Ok(2)),
        (r#"{"insArray":[{}],"insEntity":"refsvc.TestRecords"}"#, Ok(1)),
        (r#"{"insEntity":"TestRecords","insArray":[]}"#, Ok(0)),
        (r#"{"insArray":[{}]}"#, Err("expected insEntity to name the entity")),
        (r#"{"insEntity":"TestRecords"}"#, Err("'insArray' is missing")),
        (r#"{"insEntity":"Flights","insArray":[{}]}"#, Err("expected insEntity to be TestRecords")),
        (r#"{"insArray":[{}],"insEntity":"Flights"}"#, Err("expected insEntity to be TestRecords")),
        (r#"{"insEntity":"TestRecords","insArray":[{"integerField":true}]}"#, Err("\"target\":\"[0].integerField\"")),
    ] {
        let answer = post(&gateway, INSERT_ALL, body);
        match expected {
            Ok(count) => drop(answer.expect(201, &format!("{{\"inserted\":{count}}}"))),
            Err(fragment) => drop(answer.expect(400, fragment)),
        }
    }
    assert_eq!(records(&gateway), 3);
}

#[test]
fn one_wrong_record_keeps_all_out_and_is_told_by_its_index() {
    let gateway = Running::start("");
    for count in [18, 2_000, 9_000] {
        let good = array(count);
        let last = count - 1;
        let wrong = good.replace(&format!("\"integerField\":{last},"), &format!("\"integerField\":\"{last}\","));
        let answer = post(&gateway, "/rest/records", &wrong);
        answer.expect(400, &format!("\"target\":\"[{last}].integerField\""));
        let twice =
            good.replace("\"integerField\":", "\"ID\":\"01234567-89ab-cdef-0123-456789abcdef\",\"integerField\":");
        post(&gateway, "/rest/records", &twice).expect(409, "\"target\":\"[1].ID\"");
        assert_eq!(records(&gateway), 0, "{count}");
    }
    post(&gateway, "/rest/records", &array(1)).expect(201, "1");
}

#[test]
fn all_records_are_deleted_at_once() {
    let gateway = Running::start("");
    for (method, path) in [("DELETE", "/rest/records?all=true"), ("POST", "/rest/mass-change/deleteAllRecs")] {
        post(&gateway, "/rest/records", &array(5)).expect(201, "5");
        gateway.connect().ask_with(method, path, &[], "").expect(200, "{\"deleted\":5}");
        assert_eq!(records(&gateway), 0);
    }
}

#[test]
fn too_long_an_array_is_refused_at_once_where_it_says_so_and_else_as_soon_as_it_is() {
    let limits = |limits: &str| Running::start(&format!("[[service]]\nkind = \"records\"\nlimits = {{ {limits} }}"));
    let gateway = limits("array_bytes_max = 6000000");
    // Not a byte of the gigabyte is sent.
    let mut client = gateway.connect();
    client.send("POST", "/rest/records", &[JSON, ("Content-Length", "1000000000")]);
    client.read("POST").expect(413, "more than 6000000 bytes");
    // One that does not say how long it is.
    let mut client = gateway.connect();
    client.send("POST", INSERT_ALL, &[JSON, ("Transfer-Encoding", "chunked")]);
    let body = format!("{{\"insEntity\":\"TestRecords\",\"insArray\":{}", array(20_000));
    let chunks = body.as_bytes().chunks(100_000).map(|chunk| {
        let mut text = format!("{:x}\r\n", chunk.len()).into_bytes();
        text.extend_from_slice(chunk);
        text.extend_from_slice(b"\r\n");
        text
    });
    for chunk in chunks {
        // Once it was answered nothing more is taken.
        if client.stream().write_all(&chunk).is_err() {
            break;
        }
    }
    client.read("POST").expect(413, "more than 6000000 bytes");
    assert_eq!(records(&gateway), 0);
    let gateway = limits("array_rows_max = 3");
    post(&gateway, "/rest/records", &array(3)).expect(201, "3");
    post(&gateway, "/rest/records", &array(4)).expect(413, "more than 3 entities");
    assert_eq!(records(&gateway), 3);
}

#[test]
fn an_array_that_takes_too_long_is_undone_whether_its_client_pauses_or_not() {
    let gateway = Running::start("[[service]]\nkind = \"records\"\nlimits = { array_ms_max = 20 }");
    let body = array(20_000);
    let mut client = gateway.connect();
    client.send("POST", "/rest/records", &[JSON, ("Content-Length", &body.len().to_string())]);
    // What is read ahead alone takes longer, and the rest is never sent; but an answer comes.
    let _ = client.stream().write_all(&body.as_bytes()[..5 << 20]);
    client.read("POST").expect(408, "more than 20 ms");
    assert_eq!(records(&gateway), 0);
    let limits = "limits = { array_ms_max = 600000 }\nwork_processes = { limit = 1, wait_ms_max = 600000 }";
    let gateway = Running::start(&format!("[[service]]\nkind = \"records\"\n{limits}"));
    let mut client = gateway.connect();
    client.send("POST", "/rest/records", &[JSON, ("Content-Length", &body.len().to_string())]);
    client.stream().write_all(&body.as_bytes()[..5 << 20]).unwrap();
    // Whoever stands behind it is served once it is given up, and knows nothing of it.
    assert_eq!(records(&gateway), 0);
    client.read("POST").expect(408, "or paused");
}

#[test]
fn an_array_that_breaks_off_leaves_nothing_and_gives_its_work_process_back() {
    let gateway = Running::start("work_processes = { limit = 1, wait_ms_max = 600000 }");
    let body = array(20_000);
    for sent in [100, body.len() / 2] {
        let mut client = gateway.connect();
        client.send("POST", "/rest/records", &[JSON, ("Content-Length", &body.len().to_string())]);
        client.stream().write_all(&body.as_bytes()[..sent]).unwrap();
        drop(client);
    }
    // They wait for the only work process, and for the lock, until both are given back.
    post(&gateway, "/rest/records", &array(2)).expect(201, "2");
    gateway.wait_for_metric("tollgate_work_processes_busy", |busy| busy == 0);
    assert_eq!(records(&gateway), 2);
}
