//! The Fibonacci service: numbers, pages of a size, and refusals.

use super::client::{Running, somebody};

#[test]
fn a_number_is_answered_as_text_or_as_json() {
    let gateway = Running::shared();
    let text = gateway.get("/fibonacci?n=20");
    text.expect(200, "fibonacci(20) = 6765\n");
    assert_eq!(text.header("content-type"), Some("text/plain;charset=utf-8"));
    assert_eq!(text.header("vary"), Some("Accept"));
    let json = gateway.get_with("/fibonacci?n=10", &[("Accept", "application/json")]);
    json.expect(200, "{\"n\":10,\"fibonacci\":55}\n");
    assert_eq!(json.header("content-type"), Some("application/json"));
    assert_eq!(gateway.ask("HEAD", "/fibonacci?n=3&bytes=100").header("content-length"), Some("100"));
    assert_eq!(gateway.ask("OPTIONS", "/fibonacci").header("allow"), Some("GET, HEAD, OPTIONS"));
}

#[test]
fn a_page_has_exactly_the_size_that_was_asked_for() {
    for bytes in [64, 1024, 1 << 20] {
        let page = Running::shared().get(&format!("/fibonacci?n=2&bytes={bytes}"));
        assert_eq!((page.status, page.body.len()), (200, bytes));
    }
}

#[test]
fn what_is_no_number_or_beyond_a_limit_is_a_problem_that_says_so() {
    for (method, target, status, fragment) in [
        ("GET", "/fibonacci", 400, "found no n"),
        ("GET", "/fibonacci?n=", 400, "a whole number from 0 to 40"),
        ("GET", "/fibonacci?n=-1", 400, "found `-1`"),
        ("GET", "/fibonacci?n=abc", 400, "found `abc`"),
        ("GET", "/fibonacci?n=1.5", 400, "found `1.5`"),
        ("GET", "/fibonacci?n=41", 400, "from 0 to 40"),
        ("GET", "/fibonacci?n=99999999999999999999", 400, "from 0 to 40"),
        ("GET", "/fibonacci?n=3&n=4", 400, "n stands there twice"),
        ("GET", "/fibonacci?m=3", 400, "expected `n` or `bytes`"),
        ("GET", "/fibonacci?n=3&bytes=16", 400, "at least 17 bytes"),
        ("GET", "/fibonacci?n=3&bytes=1048577", 400, "from 0 to 1048576"),
        ("POST", "/fibonacci?n=3", 405, "GET, HEAD, OPTIONS"),
        ("GET", "/fibonacci/3", 404, "no service"),
    ] {
        let answer = Running::shared().ask(method, target);
        answer.expect(status, fragment).expect(status, &format!("\"status\":{status}"));
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{target}");
    }
    Running::shared().get_with("/fibonacci?n=3", &[("Accept", "image/png")]).expect(406, "text/plain");
}

#[test]
fn it_has_work_processes_of_its_own() {
    let gateway = Running::start("work_processes = { limit = 1, queue_max = 0 }");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let fibonacci = gateway.shared.built_in[0].service.work_processes().unwrap();
    let held = runtime.block_on(fibonacci.acquire(&somebody())).unwrap();
    let refused = gateway.get("/fibonacci?n=20");
    refused.expect(503, "ask again later");
    assert_eq!(refused.header("retry-after"), Some("1"));
    gateway.get("/rest/carriers/AA").expect(200, "AA");
    drop(held);
    gateway.get("/fibonacci?n=20").expect(200, "6765");
    assert_eq!(gateway.metric("tollgate_work_processes_admitted_total{service=\"fibonacci\"}"), 2);
}

#[test]
fn it_is_served_only_where_it_is_configured() {
    Running::start("[[service]]\nkind = \"records\"\n").get("/fibonacci?n=3").expect(404, "no service");
    Running::start("[[service]]\nkind = \"fibonacci\"\n").get("/fibonacci?n=3").expect(200, "= 2");
}
