//! Access to the admin listener.

use super::super::auth::{ANN, BOB, Guarded, WRONG};
use super::super::client::Running;

#[test]
fn where_an_operator_is_named_nobody_else_may_look() {
    let guarded = Guarded::start("authentication.default = [\"anyone\"]\nadmin.user = \"ann\"");
    let ask = |path: &str, headers: &[(&str, &str)]| guarded.gateway.admin().ask("GET", path, headers);
    for path in ["/", "/status.json", "/metrics", "/nothing"] {
        let refused = ask(path, &[]);
        assert_eq!(refused.status, 401, "{path}");
        let challenge = refused.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Basic realm=\"tollgate monitor\""), "{challenge}");
        assert_eq!(ask(path, &[WRONG]).status, 401, "{path}");
        ask(path, &[BOB]).expect(403, "not the operator");
    }
    for path in ["/", "/status.json", "/metrics"] {
        assert_eq!(ask(path, &[ANN]).status, 200, "{path}");
    }
    ask("/nothing", &[ANN]).expect(404, "/metrics");
    // Whoever watches whether it is alive has no password.
    ask("/healthz", &[]).expect(200, "ok");
    ask("/readyz", &[]).expect(200, "ready");
}

#[test]
fn a_foreign_host_is_refused_before_anybody_is_asked_for_a_password() {
    let guarded = Guarded::start("[admin]\nuser = \"ann\"\nhosts = [\"monitor.example\"]");
    for (host, status) in [
        ("localhost:9", 200),
        ("127.0.0.1", 200),
        ("monitor.example", 200),
        ("Monitor.Example:9090", 200),
        ("other.example", 421),
        ("monitor.example.evil.example", 421),
        ("10.0.0.1", 421),
    ] {
        let answer = guarded.gateway.admin().ask("GET", "/status.json", &[("Host", host), ANN]);
        assert_eq!(answer.status, status, "{host}");
    }
    assert_eq!(guarded.gateway.admin().ask("GET", "/", &[("Host", "other.example")]).status, 421);
}

#[test]
fn guesses_at_the_operators_password_are_listed() {
    let Guarded { gateway, .. } = Guarded::start("admin.user = \"ann\"");
    gateway.admin().ask("GET", "/", &[]).expect(401, "");
    assert_eq!(gateway.admin().ask("GET", "/", &[WRONG]).status, 401);
    let status = gateway.admin().ask("GET", "/status.json", &[ANN]);
    status.expect(200, "{\"client\":\"127.0.0.1\",\"count\":1,\"reason\":\"wrong-password\"");
}

#[test]
fn a_new_users_file_counts_for_the_operator_too() {
    let Guarded { gateway, users, folder: _folder } = Guarded::start("admin.user = \"ann\"");
    let status = || gateway.admin().ask("GET", "/", &[ANN]).status;
    assert_eq!(status(), 200);
    std::fs::write(&users, "ann:*\n").unwrap();
    gateway.reload_the_same().unwrap();
    assert_eq!(status(), 401);
}

#[test]
fn without_an_operator_whoever_reaches_loopback_may_look() {
    assert_eq!(Running::shared().admin().ask("GET", "/", &[BOB]).status, 200);
}
