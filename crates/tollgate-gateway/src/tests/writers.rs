//! Concurrent writers, and readers meanwhile: no client gets an error for a busy database, and a pool that is too small
//! leads to 503.

use std::thread;

use super::client::{Running, somebody};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const ODATA: &str = "/odata/v4/refsvc/TestRecords";

/// Concurrent writers by OData and by both forms of REST, and readers of one entity, of lists and of counts.
fn all_at_once(gateway: &Running) {
    const ROUNDS: usize = 40;
    let record = r#"{"stringField":"a","integerField":1}"#;
    let array = format!("[{}]", [record; 30].join(","));
    let writers: [(&str, &str, usize); 4] =
        [(ODATA, record, 1), ("/rest/records", record, 1), ("/rest/records", &array, 30), (ODATA, record, 1)];
    thread::scope(|scope| {
        for (path, body, _) in writers {
            scope.spawn(move || {
                let mut client = gateway.connect();
                for _ in 0..ROUNDS {
                    client.ask_with("POST", path, &[JSON], body).expect(201, "");
                }
            });
        }
        for path in
            ["/odata/v4/refsvc/TestRecords?$top=5", "/odata/v4/refsvc/TestRecords/$count", "/rest/records?limit=500"]
        {
            scope.spawn(move || {
                let mut client = gateway.connect();
                for _ in 0..ROUNDS {
                    client.ask("GET", path, &[]).expect(200, "");
                }
            });
        }
    });
    let expected: usize = writers.iter().map(|writer| writer.2 * ROUNDS).sum();
    assert_eq!(gateway.get(&format!("{ODATA}/$count")).text(), expected.to_string());
}

#[test]
fn readers_and_writers_of_a_database_in_memory_never_meet() {
    all_at_once(&Running::start("listen.threads = 2\n[[service]]\nkind = \"records\""));
}

#[test]
fn writers_of_a_file_wait_for_each_other_and_readers_for_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("records.db");
    let service = format!("kind = \"records\"\ndatabase = \"sqlite:{}\"\nsynchronous = \"off\"", file.display());
    all_at_once(&Running::start(&format!("listen.threads = 2\n[[service]]\n{service}")));
}

#[test]
fn a_pool_of_one_with_a_short_wait_answers_503_to_who_writes_and_tells_when_to_come_back() {
    let gateway = Running::start("work_processes = { limit = 1, wait_ms_max = 1 }");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let service = gateway.shared.services.iter().find(|service| service.hosted.name == "records").unwrap();
    let held = runtime.block_on(service.hosted.pool.acquire(&somebody())).unwrap();
    for (path, body) in [
        (ODATA, "{}"),
        ("/rest/records", "{}"),
        ("/rest/records", "[{}]"),
        ("/rest/mass-change/insertAll", "{\"insArray\":[]}"),
    ] {
        let answer = gateway.connect().ask_with("POST", path, &[JSON], body);
        answer.expect(503, "no work process became free within 1 ms");
        assert_eq!(answer.header("retry-after"), Some("1"), "{path}");
    }
    // The flights have work processes of their own.
    gateway.get("/rest/carriers/AA").expect(200, "AA");
    drop(held);
    gateway.connect().ask_with("POST", ODATA, &[JSON], "{}").expect(201, "");
}

#[test]
fn who_waits_too_long_for_the_lock_of_a_database_is_answered_503_and_counted() {
    let gateway = Running::start("work_processes = { limit = 3, wait_ms_max = 1 }");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let service = gateway.shared.services.iter().find(|service| service.hosted.name == "records").unwrap();
    let held = runtime.block_on(service.hosted.pool.acquire_to_write(&somebody())).unwrap();
    gateway.connect().ask_with("POST", ODATA, &[JSON], "{}").expect(503, "1 ms");
    gateway.get(&format!("{ODATA}/$count")).expect(503, "1 ms");
    let refused = "tollgate_work_processes_refused_total{service=\"records\",reason=\"waited-too-long\"}";
    assert_eq!(gateway.metric(refused), 2);
    drop(held);
    gateway.get(&format!("{ODATA}/$count")).expect(200, "0");
}
