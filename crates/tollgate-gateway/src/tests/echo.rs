//! The echo: the request back, pages of a size, and refusals.

use super::client::Running;

const ECHO: &str = "[[service]]\nkind = \"echo\"\nlimits.body_bytes_max = 100000\n";

#[test]
fn what_was_sent_comes_back_with_its_content_type() {
    let gateway = Running::start(ECHO);
    let mut connection = gateway.connect();
    for body in ["", "a", "<a>\u{e9}</a>", &"x".repeat(100_000)] {
        let answer = connection.ask_with("POST", "/echo", &[("Content-Type", "text/xml; charset=utf-8")], body);
        assert_eq!((answer.status, answer.text().as_str()), (200, body));
        assert_eq!(answer.header("content-type"), Some("text/xml; charset=utf-8"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    let untyped = connection.ask_with("POST", "/echo", &[], "a");
    assert_eq!((untyped.header("content-type"), untyped.text().as_str()), (None, "a"));
    assert_eq!((connection.ask("GET", "/echo", &[]).status, connection.ask("GET", "/echo", &[]).body.len()), (200, 0));
}

#[test]
fn a_page_has_exactly_the_bytes_that_were_asked_for() {
    let gateway = Running::start(ECHO);
    let mut connection = gateway.connect();
    for bytes in [0, 1, 1024, 5120, 65_536, 65_537, 1 << 20] {
        let target = format!("/echo?bytes={bytes}");
        let page = connection.ask("GET", &target, &[]);
        assert_eq!((page.status, page.body.len()), (200, bytes));
        assert_eq!(page.header("content-length"), Some(bytes.to_string().as_str()));
        assert_eq!(page.header("content-type"), Some("text/plain;charset=utf-8"));
        let posted = connection.ask_with("POST", &target, &[], "x".repeat(2000));
        assert_eq!((posted.status, &posted.body), (200, &page.body), "whatever was sent");
        assert_eq!(connection.ask("HEAD", &target, &[]).header("content-length"), page.header("content-length"));
    }
}

#[test]
fn what_it_does_not_take_is_a_problem_that_says_so() {
    let gateway = Running::start(ECHO);
    for (method, target, body, status, fragment) in [
        ("GET", "/echo?bytes=", "", 400, "a whole number from 0 to 1073741824"),
        ("GET", "/echo?bytes=-1", "", 400, "found `-1`"),
        ("GET", "/echo?bytes=1073741825", "", 400, "from 0 to 1073741824"),
        ("GET", "/echo?bytes=99999999999999999999", "", 400, "from 0 to 1073741824"),
        ("GET", "/echo?bytes=1&bytes=2", "", 400, "bytes stands there twice"),
        ("GET", "/echo?size=1", "", 400, "expected `bytes`"),
        ("PUT", "/echo", "a", 405, "GET, HEAD, OPTIONS, POST"),
        ("POST", "/echo", &"x".repeat(100_001), 413, "ContentTooLarge"),
        ("POST", "/echo?bytes=1", &"x".repeat(100_001), 413, "ContentTooLarge"),
        ("GET", "/echo/1", "", 404, "no service"),
    ] {
        let answer = gateway.connect().ask_with(method, target, &[], body);
        answer.expect(status, fragment);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{target}");
    }
    assert_eq!(gateway.ask("OPTIONS", "/echo").header("allow"), Some("GET, HEAD, OPTIONS, POST"));
}

#[test]
fn it_is_served_only_where_it_is_configured() {
    Running::shared().get("/echo").expect(404, "no service");
    Running::start(ECHO).get("/").expect(200, "/echo?bytes=1024");
}
