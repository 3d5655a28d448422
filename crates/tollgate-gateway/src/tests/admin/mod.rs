//! The operator's listener.

mod cache;
mod openmetrics;
mod operator;
mod page;

use serde_json::Value;

use super::client::{Running, somebody};

/// The gateway's status.
fn status(gateway: &Running) -> Value {
    let answer = gateway.admin().ask("GET", "/status.json", &[]);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn the_board_shows_the_request_of_a_work_process_without_its_query() {
    let gateway = Running::start("work_processes = { limit = 2, queue_max = 5, wait_ms_max = 600000 }");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let service = gateway.shared.services.iter().position(|service| service.hosted.name == "records").unwrap();
    let held = runtime.block_on(gateway.shared.services[service].hosted.pool.acquire_to_write(&somebody())).unwrap();
    let mut waits = gateway.connect();
    waits.send("GET", "/odata/v4/refsvc/TestRecords?$top=1", &[]);
    gateway.wait_for_metric("tollgate_work_processes_waiting", |waiting| waiting == 1);
    let seen = status(&gateway);
    let board = &seen["services"][service]["work_processes"];
    assert_eq!(
        (&board[0]["state"], &board[0]["method"], &board[0]["path"]),
        (&"working".into(), &"GET".into(), &"/somewhere".into())
    );
    assert_eq!(board[1]["state"], "waiting-for-database");
    assert_eq!((&board[1]["path"], &board[1]["served"]), (&"/odata/v4/refsvc/TestRecords".into(), &0.into()));
    assert!(board[1]["held_seconds"].as_f64().unwrap() >= 0.0);
    assert_eq!((&board[0]["number"], &board[1]["number"], board.as_array().unwrap().len()), (&1.into(), &2.into(), 2));
    drop(held);
    waits.read("GET").expect(200, "");
    gateway.wait_for_metric("tollgate_work_processes_busy", |busy| busy == 0);
    let board = &status(&gateway)["services"][service]["work_processes"];
    assert_eq!((&board[1]["state"], &board[1]["path"], &board[1]["served"]), (&"free".into(), &Value::Null, &1.into()));
}

#[test]
fn requests_answers_connections_and_bytes_are_counted_for_each_listener() {
    let gateway = Running::start("");
    let mut client = gateway.connect();
    client.ask("GET", "/rest/carriers/AA", &[]).expect(200, "AA");
    client.ask("GET", "/rest/carriers/ZZ", &[]).expect(404, "");
    client.send_raw("GET / HTTP/1.1\r\n\r\n");
    client.read("GET").expect(400, "");
    client.read_to_end();
    gateway.wait_for_metric("tollgate_connections_open", |open| open == 0);
    let status = status(&gateway);
    let listener = &status["listeners"][0];
    assert_eq!(listener["address"], gateway.addresses.public[0].to_string());
    assert_eq!((&listener["requests"]["received"], &status["requests"]["received"]), (&2.into(), &2.into()));
    assert_eq!(
        (&listener["requests"]["answered"]["2xx"], &listener["requests"]["answered"]["4xx"]),
        (&1.into(), &2.into())
    );
    assert_eq!((&listener["connections"]["accepted"], &listener["connections"]["open"]), (&1.into(), &0.into()));
    assert_eq!(listener["faults"], serde_json::json!([{ "name": "missing-host", "count": 1 }]));
    assert_eq!(listener["connections"]["closed"], serde_json::json!([{ "name": "fault", "count": 1 }]));
    assert!(listener["received_bytes"].as_u64() > Some(100) && listener["sent_bytes"].as_u64() > Some(400));
}

#[test]
fn a_limit_tells_its_value_what_is_used_of_it_and_how_often_it_was_met() {
    let gateway = Running::start("work_processes = { limit = 1, queue_max = 0 }\nlimits.connections_max = 4321");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _held = runtime.block_on(gateway.shared.services[0].hosted.pool.acquire(&somebody())).unwrap();
    gateway.get("/rest/carriers/AA").expect(503, "");
    let status = status(&gateway);
    let row = |of: &str, name: &str| {
        let rows = status["limits"].as_array().unwrap();
        let row = rows.iter().find(|row| row["of"] == of && row["name"] == name).unwrap();
        ["limit", "unit", "now", "peak", "met"].map(|member| row[member].to_string()).join(" ")
    };
    assert_eq!(row("flights", "work_processes"), "1 \"count\" 1 1 1");
    assert_eq!(row("flights", "queue_max"), "0 \"count\" 0 0 1");
    assert_eq!(row("flights", "wait_ms_max"), "10000 \"milliseconds\" null null 0");
    assert_eq!(row("records", "body_bytes_max"), "1048576 \"bytes\" null null null");
    assert_eq!(row("services", "array_room_bytes"), "16777216 \"bytes\" 0 null null");
    assert_eq!(row("services", "answer_room_bytes"), "41943040 \"bytes\" 0 0 0");
    assert_eq!(row("flights", "answer_bytes_max"), "67108864 \"bytes\" null null 0");
    assert_eq!(row("connections", "unsent_bytes_max"), "33554432 \"bytes\" 0 0 0");
    assert_eq!(row("memory", "unsent_answers"), "33554432 \"bytes\" null null null");
    let (sum, total) = status["limits"].as_array().unwrap().iter().filter(|row| row["of"] == "memory").fold(
        (0, 0),
        |(sum, total), row| match (row["name"] == "total", row["limit"].as_u64().unwrap()) {
            (true, limit) => (sum, limit),
            (false, limit) => (sum + limit, total),
        },
    );
    assert_eq!(sum, total);
    assert!(row("connections", "connections_max").starts_with("4321 \"count\" "));
    assert_eq!(row("connections", "header_timeout"), "10000 \"milliseconds\" null null 0");
}

#[test]
fn the_status_has_the_members_that_its_schema_says() {
    let schema: Value = serde_json::from_str(&crate::status_schema()).unwrap();
    let status = status(Running::shared());
    let members = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(members(&status), members(&schema["properties"]));
    let listener = &schema["$defs"]["ListenerStatus"]["properties"];
    assert_eq!(members(&status["listeners"][0]), members(listener));
    assert_eq!(status["format"], 1);
}

#[test]
fn a_foreign_host_is_refused() {
    let gateway = Running::shared();
    for (host, status) in
        [("localhost:9", 200), ("127.0.0.1", 200), ("evil.example", 421), ("127.0.0.1.evil.example", 421)]
    {
        for path in ["/", "/status.json", "/metrics", "/healthz"] {
            assert_eq!(gateway.admin().ask("GET", path, &[("Host", host)]).status, status, "{host} {path}");
        }
    }
}

#[test]
fn it_reads_and_knows_its_pages() {
    let gateway = Running::shared();
    gateway.admin().ask("GET", "/healthz", &[]).expect(200, "ok");
    gateway.admin().ask("GET", "/readyz", &[]).expect(200, "ready");
    gateway.admin().ask("GET", "/other", &[]).expect(404, "/metrics");
    gateway.admin().ask("POST", "/metrics", &[]).expect(405, "GET, HEAD");
    assert_eq!(gateway.admin().ask("HEAD", "/metrics", &[]).status, 200);
}
