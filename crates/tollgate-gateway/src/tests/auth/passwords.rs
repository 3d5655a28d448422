//! Sign-in by name and password, and the cost of verifying them.

use crate::tests::client::somebody;

use super::{ANN, BOB, Guarded, JSON, NOBODY, WRONG, lines};

#[test]
fn users_are_let_in_and_nobody_else() {
    let Guarded { gateway, .. } = Guarded::start("");
    for path in ["/", "/odata/v4/flights/", "/rest/carriers/AA", "/fibonacci?n=1", "/nothing"] {
        let status = |headers: &[(&str, &str)]| gateway.get_with(path, headers).status;
        let expected = if path == "/nothing" { 404 } else { 200 };
        assert_eq!((status(&[ANN]), status(&[BOB])), (expected, expected), "{path}");
        assert_eq!((status(&[]), status(&[WRONG]), status(&[NOBODY])), (401, 401, 401), "{path}");
    }
    for malformed in ["Basic", "Basic %%%", "Basic YW5u", "Bearer YW5uOnNlY3JldA==", "Basic YW5uOnNlY3JldP8="] {
        assert_eq!(gateway.get_with("/", &[("Authorization", malformed)]).status, 401, "{malformed}");
    }
    // The scheme may be written in any case.
    assert_eq!(gateway.get_with("/", &[("Authorization", "bAsIc YW5uOnNlY3JldA==")]).status, 200);
}

#[test]
fn a_password_is_verified_once_and_a_wrong_one_too() {
    let Guarded { gateway, .. } = Guarded::start("");
    let outcome = |name: &str| gateway.metric(&format!("tollgate_authentications_total{{outcome=\"{name}\"}}"));
    for _ in 0..10 {
        gateway.get_with("/rest/carriers/AA", &[ANN]).expect(200, "");
    }
    assert_eq!((outcome("verified"), outcome("known")), (1, 9));
    for _ in 0..3 {
        gateway.get_with("/rest/carriers/AA", &[WRONG]).expect(401, "");
    }
    gateway.get_with("/rest/carriers/AA", &[("Authorization", "Basic YW5u")]).expect(401, "");
    assert_eq!((outcome("refused"), outcome("repeated"), outcome("malformed"), outcome("overloaded")), (1, 2, 1, 0));
    assert_eq!(gateway.metric("tollgate_password_hashes_busy"), 0);
}

#[test]
fn where_nothing_is_kept_each_request_costs_a_hash() {
    let Guarded { gateway, .. } = Guarded::start("[authentication]\ncached_seconds = 0");
    for _ in 0..2 {
        gateway.get_with("/rest/carriers/AA", &[BOB]).expect(200, "");
    }
    assert_eq!(gateway.metric("tollgate_authentications_total{outcome=\"verified\"}"), 2);
}

#[test]
fn more_than_may_wait_for_a_hash_are_503_and_known_users_are_served_meanwhile() {
    let Guarded { gateway, .. } =
        Guarded::start("[authentication]\nhashes_at_once = 1\nhashes_waiting_max = 2\n[listen]\nthreads = 1");
    gateway.get_with("/rest/carriers/AA", &[ANN]).expect(200, "");
    // Held as a hash would hold it, so that no test waits for one.
    let turns = gateway.shared.common.authentication.turns();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let held = runtime.block_on(turns.acquire(&somebody())).unwrap();
    let mut waiting: Vec<_> = (0..2).map(|_| gateway.connect()).collect();
    for client in &mut waiting {
        client.send("GET", "/rest/carriers/AA", &[BOB]);
    }
    gateway.wait_for_metric("tollgate_password_hashes_waiting", |waiting| waiting == 2);
    let refused = gateway.get_with("/rest/carriers/AA", &[NOBODY]);
    assert_eq!(refused.expect(503, "waiting to be verified").header("retry-after"), Some("1"));
    gateway.get_with("/rest/carriers/AA", &[ANN]).expect(200, "");
    drop(held);
    for client in &mut waiting {
        client.read("GET").expect(200, "");
    }
    // The second found what the first had brought to light.
    assert_eq!(gateway.metric("tollgate_authentications_total{outcome=\"verified\"}"), 2);
}

#[test]
fn a_new_users_file_counts_at_once_and_a_broken_one_not_at_all() {
    let Guarded { gateway, users, folder: _folder } = Guarded::start("");
    let statuses = || [ANN, BOB].map(|user| gateway.get_with("/rest/carriers/AA", &[user]).status);
    assert_eq!(statuses(), [200, 200]);
    std::fs::write(&users, &lines()[1]).unwrap();
    assert_eq!(statuses(), [200, 200]);
    gateway.reload_the_same().unwrap();
    assert_eq!(statuses(), [401, 200]);
    std::fs::write(&users, "ann:secret").unwrap();
    let error = gateway.reload_the_same().unwrap_err();
    assert!(error.contains("users:1: expected a hash") && !error.contains("secret"), "{error}");
    assert_eq!(statuses(), [401, 200]);
    std::fs::write(&users, lines().join("\n")).unwrap();
    gateway.reload_the_same().unwrap();
    assert_eq!(statuses(), [200, 200]);
}

#[test]
fn managed_fields_carry_the_user_and_never_a_name_that_was_only_said() {
    let folder = tempfile::tempdir().unwrap();
    let (file, mapping) = (folder.path().join("notes.db"), folder.path().join("notes.toml"));
    let table = "CREATE TABLE notes (id INTEGER PRIMARY KEY, made_by TEXT, changed_by TEXT)";
    rusqlite::Connection::open(&file).unwrap().execute_batch(table).unwrap();
    let managed = "[tables.notes.columns]\nmade_by.managed = \"created_by\"\nchanged_by.managed = \"modified_by\"\n";
    std::fs::write(&mapping, managed).unwrap();
    let service = format!(
        "[[rule]]\nallow = [\"anyone\"]\n[[service]]\nkind = \"database\"\ndatabase = \"sqlite:{}\"\nmapping = {:?}",
        file.display(),
        mapping.to_str().unwrap()
    );
    let Guarded { gateway, .. } = Guarded::start(&service);
    let mut client = gateway.connect();
    let mut ask = |method: &str, path: &str, user: &[(&str, &str)]| {
        let headers = [&[JSON], user].concat();
        client.ask_with(method, path, &headers, "{}")
    };
    ask("POST", "/odata/v4/notes/notes", &[ANN]).expect(201, "\"made_by\":\"ann\",\"changed_by\":\"ann\"");
    assert_eq!(ask("PATCH", "/odata/v4/notes/notes(1)", &[BOB]).status, 204);
    gateway.get("/odata/v4/notes/notes(1)").expect(200, "\"made_by\":\"ann\",\"changed_by\":\"bob\"");
    ask("POST", "/rest/notes/notes", &[BOB]).expect(201, "\"made_by\":\"bob\"");
    ask("POST", "/rest/notes/notes", &[]).expect(201, "\"made_by\":\"anonymous\"");
    ask("POST", "/rest/notes/notes", &[WRONG]).expect(401, "");
    let batch = r#"{"requests":[{"id":"1","method":"POST","url":"notes","headers":{"content-type":"application/json"},"body":{}}]}"#;
    client.ask_with("POST", "/odata/v4/notes/$batch", &[JSON, ANN], batch).expect(200, "\"made_by\":\"ann\"");
}
