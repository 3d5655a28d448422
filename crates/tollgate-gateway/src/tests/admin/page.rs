//! The page as delivered, before any script has run. Its scripts are tested in a browser.

use super::super::client::Running;

#[test]
fn the_page_needs_no_script_to_show_its_tables() {
    let gateway = Running::start("work_processes.limit = 3");
    gateway.get("/rest/carriers/AA").expect(200, "AA");
    let page = gateway.admin().ask("GET", "/", &[]).text();
    for (fragment, times) in [
        ("<h3>flights</h3>", 1),
        ("<h3>records</h3>", 1),
        ("<h3>fibonacci</h3>", 1),
        // A place in the strip and a row for each of three work processes of three services.
        ("/state\" data-state=\"free\">", 3 * 3 * 2),
        ("data-at=\"/services/0/pool/admitted\" data-as=\"count\">1</dd>", 1),
        ("data-as=\"text\">connections_max</th>", 1),
        ("<template>", 6),
    ] {
        assert_eq!(page.matches(fragment).count(), times, "{fragment}");
    }
}

#[test]
fn the_browser_is_told_to_run_nothing_but_what_stands_in_the_page() {
    let answer = Running::shared().admin().ask("GET", "/", &[]);
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("content-type", "text/html;charset=utf-8"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    let page = answer.text();
    // Neither attribute would be let through.
    assert!(!page.contains(" style=") && !page.contains(" onclick="));
    assert_eq!((page.matches("<script>").count(), page.matches("<style>").count()), (1, 1));
}
