//! The operator's listener.

use super::client::Running;

#[test]
fn metrics_are_openmetrics_with_help_type_and_end() {
    let gateway = Running::start("work_processes.limit = 3");
    gateway.get("/rest/carriers/AA").expect(200, "AA");
    let answer = gateway.admin().ask("GET", "/metrics", &[]);
    assert_eq!(answer.header("content-type"), Some("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    let text = answer.text();
    assert!(text.ends_with("# EOF\n"));
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let family = name.strip_suffix("_total").unwrap_or(name);
        assert!(text.contains(&format!("# TYPE {family} ")), "{name} has a type");
        assert!(text.contains(&format!("# HELP {family} ")), "{name} has a help");
    }
    assert_eq!(gateway.metric("tollgate_work_processes_limit{service=\"flights\"}"), 3);
    assert_eq!(gateway.metric("tollgate_work_processes_admitted_total"), 1);
    assert_eq!(gateway.metric("tollgate_responses_total{class=\"2xx\"}"), 1);
}

#[test]
fn a_foreign_host_is_refused() {
    let gateway = Running::shared();
    for (host, status) in
        [("localhost:9", 200), ("127.0.0.1", 200), ("evil.example", 421), ("127.0.0.1.evil.example", 421)]
    {
        assert_eq!(gateway.admin().ask("GET", "/metrics", &[("Host", host)]).status, status, "{host}");
    }
}

#[test]
fn it_reads_and_knows_three_pages() {
    let gateway = Running::shared();
    gateway.admin().ask("GET", "/healthz", &[]).expect(200, "ok");
    gateway.admin().ask("GET", "/readyz", &[]).expect(200, "ready");
    gateway.admin().ask("GET", "/", &[]).expect(404, "/metrics");
    gateway.admin().ask("POST", "/metrics", &[]).expect(405, "GET, HEAD");
    assert_eq!(gateway.admin().ask("HEAD", "/metrics", &[]).status, 200);
}
