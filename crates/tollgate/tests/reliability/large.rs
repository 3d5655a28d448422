//! Requests that are too large are refused at once, and allowed ones do not accumulate in memory.

use std::fmt::Write as _;

use crate::client::Client;
use crate::helper::{Serving, serving};
use crate::ledger::SERVICE;

/// Memory that one process may take while 20,000 records arrive in one request.
const MEMORY_BYTES_MAX: u64 = 60 << 20;
/// Memory limit of one process while the largest permitted array arrives: the database is in memory.
const ENDLESS_MEMORY_BYTES_MAX: u64 = 240 << 20;
/// Limit of its memory growth by a refused oversized request.
const GROWTH_BYTES_MAX: u64 = 8 << 20;

#[test]
fn a_gigabyte_of_records_is_refused_before_it_is_sent() {
    let gateway = serving(&[]);
    let before = memory_bytes_most(&gateway);
    for path in [
        "/rest/records",
        "/rest/mass-change/insertAll",
        &format!("{SERVICE}/$batch"),
        &format!("{SERVICE}/TestRecords"),
    ] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            1_u64 << 30
        );
        let answer = Client::new(&gateway.url).send(&[head.as_bytes()]).unwrap();
        assert_eq!(answer.status, 413, "{path}: {}", answer.text());
    }
    assert!(memory_bytes_most(&gateway) - before < GROWTH_BYTES_MAX);
}

#[test]
fn an_array_that_never_ends_is_refused_at_the_limit_and_leaves_nothing() {
    let gateway = serving(&[]);
    let record = format!(r#"{{"largeStringField":"{}"}},"#, "x".repeat(100_000));
    let chunk = format!("{:x}\r\n{record}\r\n", record.len());
    let head = "POST /rest/records HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n";
    // A gigabyte, if it were let in.
    let mut parts = vec![head.as_bytes()];
    parts.extend(std::iter::repeat_n(chunk.as_bytes(), 10_000));
    let answer = Client::new(&gateway.url).send(&parts).unwrap();
    assert_eq!(answer.status, 413, "{}", answer.text());
    let most = memory_bytes_most(&gateway);
    assert!(most < ENDLESS_MEMORY_BYTES_MAX, "{most} bytes");
    let count = Client::new(&gateway.url).get(&format!("{SERVICE}/TestRecords/$count")).unwrap();
    assert_eq!((count.status, count.text().as_str()), (200, "0"));
}

#[test]
fn a_batch_of_a_million_parts_is_refused_at_its_limit() {
    let gateway = serving(&[]);
    let mut body = String::from(r#"{"requests":["#);
    for number in 0..1_000_000 {
        write!(body, r#"{{"id":"{number}","method":"GET","url":"TestRecords"}},"#).unwrap();
    }
    let path = format!("{SERVICE}/$batch");
    let answer = Client::new(&gateway.url).post_json(&path, &body).unwrap();
    assert_eq!(answer.status, 413, "{}", answer.text());
    assert!(memory_bytes_most(&gateway) < 2 * MEMORY_BYTES_MAX);
    let count = Client::new(&gateway.url).get(&format!("{SERVICE}/TestRecords/$count")).unwrap();
    assert_eq!((count.status, count.text().as_str()), (200, "0"));
}

#[test]
fn twenty_thousand_records_in_one_request_pass_through_little_memory() {
    const RECORDS: u64 = 20_000;
    let folder = tempfile::tempdir().unwrap();
    // In a file, so that the records themselves are not counted.
    let gateway = serving(&["--records", &format!("sqlite:{}", folder.path().join("records.db").display())]);
    let mut body = String::from(r#"{"insEntity":"TestRecords","insArray":["#);
    for number in 0..RECORDS {
        let comma = if number == 0 { "" } else { "," };
        write!(
            body,
            r#"{comma}{{"stringField":"{number}","largeStringField":"{:x<500}","integerField":{number}}}"#,
            ""
        )
        .unwrap();
    }
    body.push_str("]}");
    let mut client = Client::new(&gateway.url);
    let answer = client.post_json("/rest/mass-change/insertAll", &body).unwrap();
    assert!((200..300).contains(&answer.status), "{} {}", answer.status, answer.text());
    let count = client.get(&format!("{SERVICE}/TestRecords/$count")).unwrap();
    assert_eq!(count.text(), RECORDS.to_string());
    let most = memory_bytes_most(&gateway);
    assert!(most < MEMORY_BYTES_MAX, "{most} bytes");
}

/// The most memory that the process ever had.
fn memory_bytes_most(gateway: &Serving) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.running.process())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().unwrap();
    kilobytes * 1024
}
