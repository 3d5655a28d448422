//! Replacing a configuration while the gateway runs.

use serde_json::Value;

use super::auth::{ANN, lines};
use super::client::Running;

fn configuration(gateway: &Running) -> Value {
    let answer = gateway.admin().ask("GET", "/status.json", &[]);
    serde_json::from_slice::<Value>(&answer.body).unwrap()["configuration"].take()
}

#[test]
fn rules_and_pages_are_replaced_on_open_connections_and_what_was_kept_is_not_given_to_others() {
    let service = "[[service]]\nkind = \"flights\"\ncache_control = \"public, max-age=60\"\n";
    let gateway = Running::start(service);
    let mut client = gateway.connect();
    let mut ask = |target: &str| {
        let answer = client.ask("GET", target, &[]);
        (answer.status, answer.header("age").is_some(), answer.text().matches("\"carrid\"").count())
    };
    assert_eq!((ask("/rest/carriers?limit=3"), ask("/rest/carriers?limit=3")), ((200, false, 3), (200, true, 3)));
    gateway.reload(&format!("{service}[pages]\nsize = 2")).unwrap();
    assert_eq!(ask("/rest/carriers?limit=3"), (200, false, 2), "a page is smaller now");
    let rule = "[[rule]]\nentity_sets = [\"CarrierCollection\"]\nallow = []\n";
    gateway.reload(&format!("{service}{rule}")).unwrap();
    assert_eq!(ask("/rest/carriers?limit=3").0, 403);
    gateway.reload(service).unwrap();
    assert_eq!(ask("/rest/carriers?limit=3"), (200, false, 3));
    assert_eq!(configuration(&gateway)["generation"], 4);
}

#[test]
fn a_configuration_that_is_the_same_keeps_what_was_kept() {
    let endpoint = |port: u16| {
        format!(
            "[[endpoint]]\nname = \"e\"\nurls = [\"http://127.0.0.1:{port}\"]\n[[route]]\npath = \"/a\"\nendpoint = \"e\"\n"
        )
    };
    let service = "[[service]]\nkind = \"flights\"\ncache_control = \"public, max-age=60\"\n";
    let with_routes = format!("{service}{}", endpoint(1));
    let gateway = Running::start(&with_routes);
    gateway.get("/rest/carriers/AA").expect(200, "");
    gateway.reload(&with_routes).unwrap();
    assert!(gateway.get("/rest/carriers/AA").header("age").is_some());
    gateway.reload(&format!("{service}{}", endpoint(2))).unwrap();
    assert_eq!(gateway.get("/rest/carriers/AA").header("age"), None);
    gateway.reload(&format!("{service}[cache]\nentries_max = 0")).unwrap();
    for _ in 0..2 {
        assert_eq!(gateway.get("/rest/carriers/AA").header("age"), None);
    }
    assert_eq!(gateway.metric("tollgate_cache_hits_total"), 1, "it goes on counting");
}

#[test]
fn a_broken_configuration_is_refused_and_changes_nothing() {
    let before = "[[rule]]\nentity_sets = [\"CarrierCollection\"]\nallow = []\n";
    let gateway = Running::start(before);
    for (broken, wrong) in [
        ("[pages]\nsize = 0", "test.toml:2:8"),
        ("[[rule]]\npath = \"/nowhere\"\nallow = [\"anyone\"]", "test.toml:1: the rule is for nothing"),
        ("[users]\nfile = \"/nowhere/users\"", "/nowhere/users"),
        ("[[service]]\nkind = \"flights\"\n[[route]]\npath = \"/rest/flights/x\"", "test.toml:4:8"),
        (
            "[[route]]\npath = \"/\"\nendpoint = \"e\"\n[[endpoint]]\nname = \"e\"\nurls = [\"https://b.example\"]\nca = \"/nowhere.pem\"",
            "test.toml:7:6",
        ),
    ] {
        let error = gateway.reload(broken).unwrap_err();
        assert!(error.contains(wrong), "{broken}\n{error}");
        assert_eq!(gateway.get("/rest/carriers/AA").status, 403, "{broken}");
        let told = configuration(&gateway);
        assert!(told["generation"] == 1 && told["refused"].is_string(), "{told}");
        assert!(told["error"].as_str().unwrap().contains(wrong), "{told}");
    }
    gateway.reload("").unwrap();
    assert_eq!(gateway.get("/rest/carriers/AA").status, 200);
    let told = configuration(&gateway);
    assert_eq!((&told["generation"], &told["refused"], &told["error"]), (&2.into(), &Value::Null, &Value::Null));
}

#[test]
fn what_needs_a_restart_is_said_and_stays_as_it_was() {
    let gateway = Running::start("");
    let other = "drain_seconds = 7\n[listen]\nthreads = 2\n[limits]\nidle_ms_max = 5\n[pages]\nsize = 1\n[[service]]\nkind = \"records\"\n\
                 [[rule]]\nentity_sets = [\"Later\"]\nallow = []";
    gateway.reload(other).unwrap();
    let told = configuration(&gateway);
    assert_eq!(told["needs_restart"], serde_json::json!(["[listen]", "[[service]]", "[limits]", "drain_seconds"]));
    assert_eq!(gateway.get("/rest/carriers").text().matches("\"carrid\"").count(), 1, "pages are smaller all the same");
    gateway.reload("").unwrap();
    assert_eq!(configuration(&gateway)["needs_restart"], serde_json::json!([]));
}

#[test]
fn users_may_come_and_go_with_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    std::fs::write(&users, lines().join("\n")).unwrap();
    let gateway = Running::start("");
    let ask = || gateway.get("/rest/carriers/AA").status;
    assert_eq!(ask(), 200);
    gateway.reload(&format!("[users]\nfile = {users:?}")).unwrap();
    assert_eq!(ask(), 401);
    let signed_in = || gateway.get_with("/rest/carriers/AA", &[ANN]).status;
    assert_eq!((signed_in(), signed_in()), (200, 200));
    gateway.reload(&format!("[users]\nfile = {users:?}\n[authentication]\nrealm = \"other\"")).unwrap();
    assert_eq!(signed_in(), 200);
    gateway.wait_for_metric("tollgate_authentications_total{outcome=\"verified\"}", |verified| verified == 2);
    assert_eq!(
        gateway.metric("tollgate_authentications_total{outcome=\"known\"}"),
        1,
        "nothing is lost of what was counted"
    );
    gateway.reload("").unwrap();
    assert_eq!(ask(), 200);
}

#[test]
fn routes_for_other_methods_and_ambiguous_paths_are_told_apart_from_what_is_nowhere() {
    let gateway = Running::start(
        "[[route]]\npath = \"/a\"\nmethods = [\"POST\"]\nendpoint = \"e\"\n[[endpoint]]\nname = \"e\"\nurls = [\"http://127.0.0.1:1\"]",
    );
    assert_eq!(gateway.get("/a/x").expect(405, "POST").header("allow"), Some("POST"));
    gateway.ask("POST", "/b/../a").expect(400, "may mean another one");
    gateway.get("/b").expect(404, "");
}
