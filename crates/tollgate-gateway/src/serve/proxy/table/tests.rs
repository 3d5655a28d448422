//! Tests of routing, and of the target at the backend.

use super::*;
use crate::auth::{Access, Allow, Caller, Verb};
use crate::config::Config;

fn table(routes: &str) -> RoutingTable {
    let config =
        Config::parse(&format!("{routes}\n[[endpoint]]\nname = \"e\"\nurls = [\"http://127.0.0.1:1\"]"), "g.toml");
    let config = config.unwrap();
    let policy = Policy::new(Vec::new(), Allow::anyone(), None);
    RoutingTable::new(Configured::of(&config), &policy, None, &Clock::system(), &log()).unwrap()
}

fn route(rest: &str) -> String {
    format!("[[route]]\nendpoint = \"e\"\n{rest}\n")
}

fn shown(found: &RouteMatch<'_>) -> String {
    match found {
        RouteMatch::Route { route, .. } => {
            let methods = route.methods().map(|methods| format!(" {methods}")).unwrap_or_default();
            format!("{}{}{methods}", route.host().unwrap_or_default(), route.path())
        }
        RouteMatch::Nothing => "nothing".to_owned(),
        RouteMatch::OtherMethods(methods) => format!("only {methods}"),
        RouteMatch::Ambiguous => "ambiguous".to_owned(),
    }
}

#[test]
fn the_longest_path_wins_then_the_host_then_the_method() {
    let texts = [
        "path = \"/a\"",
        "path = \"/a/b/\"",
        "path = \"/a/b\"\nmethods = [\"PUT\"]",
        "path = \"/a\"\nhost = \"One.Example\"",
        "path = \"/c\"\nmethods = [\"GET\", \"HEAD\"]",
    ];
    let table = table(&texts.map(route).concat());
    let check = |host: &str, method: Method, path: &str, expected: &str| {
        assert_eq!(shown(&table.find(Some(host), method, path)), expected, "{host} {method:?} {path}");
    };
    check("x", Method::Get, "/a", "/a");
    check("x", Method::Get, "/a/", "/a");
    check("x", Method::Get, "/a/bc", "/a");
    check("x", Method::Get, "/ab", "nothing");
    check("x", Method::Get, "/", "nothing");
    check("x", Method::Get, "/a/b", "/a/b");
    check("x", Method::Get, "/a/b/c/d", "/a/b");
    check("x", Method::Put, "/a/b/c", "/a/b PUT");
    check("one.example:8080", Method::Get, "/a/x", "one.example/a");
    check("one.example", Method::Get, "/a/b", "/a/b");
    check("x", Method::Head, "/c/d", "/c GET, HEAD");
    check("x", Method::Post, "/c/d", "only GET, HEAD");
    assert_eq!(shown(&table.find(None, Method::Get, "/a")), "/a");
}

#[test]
fn the_root_takes_what_nobody_else_does() {
    let table = table(&["path = \"/\"", "path = \"/a\""].map(route).concat());
    for (path, expected) in [("/", "/"), ("/b/c", "/"), ("/a/b", "/a"), ("/ab", "/")] {
        assert_eq!(shown(&table.find(None, Method::Get, path)), expected, "{path}");
    }
    assert_eq!(shown(&RoutingTable::default().find(None, Method::Get, "/")), "nothing");
}

#[test]
fn no_way_of_writing_a_path_leads_from_one_route_to_another() {
    let table = table(&["path = \"/a\"", "path = \"/a/admin\"", "path = \"/b\""].map(route).concat());
    let check = |path: &str, expected: &str| {
        assert_eq!(shown(&table.find(None, Method::Get, path)), expected, "{path}");
    };
    for path in [
        "/a/./admin",
        "/a/x/../admin",
        "/a/%61dmin",
        "/a//admin",
        "/a%2fadmin",
        "/a/admin;x=1",
        "/a;/admin",
        "/a/..;/a/admin",
        "/a/%2e%2e/b",
        "/a/%252e%252e/b",
        "/a/\\admin",
        "/a/../secret",
        "/%62/x",
    ] {
        check(path, "ambiguous");
    }
    check("/a/x%20y", "/a");
    check("/a/x;v=1", "/a");
    check("/a/admin/%3Cx%3E", "/a/admin");
    check("/a//x", "/a");
    check("/a/b/../x", "/a");
    check("/c/%20", "nothing");
}

#[test]
fn what_is_asked_of_the_backend_is_the_path_as_the_route_has_it() {
    let check = |rest: &str, prefix: &str, path: &str, query: Option<&str>, expected: &str| {
        let table = table(&route(rest));
        let RouteMatch::Route { route, .. } = table.find(None, Method::Get, path) else { panic!("{rest} {path}") };
        let mut out = Vec::new();
        route.write_target(prefix, path, query, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{rest} {prefix} {path}");
    };
    check("path = \"/a\"", "/", "/a/b", None, "/a/b");
    check("path = \"/a\"", "/base/", "/a/b", Some("x=1"), "/base/a/b?x=1");
    check("path = \"/a\"\nto = \"/z\"", "/", "/a", None, "/z");
    check("path = \"/a\"\nto = \"/z\"", "/", "/a/", None, "/z/");
    check("path = \"/a\"\nto = \"/z/\"", "/", "/a", None, "/z/");
    check("path = \"/a\"\nto = \"/z/\"", "/base", "/a/b/c", Some("q"), "/base/z/b/c?q");
    check("path = \"/a\"\nto = \"/\"", "/", "/a", None, "/");
    check("path = \"/a\"\nto = \"/\"", "/", "/a/b", None, "/b");
    check("path = \"/\"\nto = \"/z\"", "/", "/b", None, "/z/b");
    check("path = \"/\"", "/", "/", Some(""), "/?");
    check("path = \"/p\"\nto = \"/echo?bytes=1024\"", "/", "/p", None, "/echo?bytes=1024");
    check("path = \"/p\"\nto = \"/echo?bytes=1024\"", "/", "/p", Some("x"), "/echo?bytes=1024&x");
}

#[test]
fn counts_and_places_outlive_a_new_configuration() {
    let policy = Policy::new(Vec::new(), Allow::anyone(), None);
    let config = |text: &str| {
        Config::parse(&format!("{text}[[endpoint]]\nname = \"e\"\nurls = [\"http://127.0.0.1:1\"]"), "g").unwrap()
    };
    let (first, second) =
        (config(&route("path = \"/a\"")), config(&["path = \"/a\"\nto = \"/b\"", "path = \"/c\""].map(route).concat()));
    let clock = Clock::system();
    let before = RoutingTable::new(Configured::of(&first), &policy, None, &clock, &log()).unwrap();
    before.routes()[0].count(204);
    let after = RoutingTable::new(Configured::of(&second), &policy, Some(&before), &clock, &log()).unwrap();
    before.routes()[0].count(404);
    assert_eq!(after.routes()[0].answered(), [0, 1, 0, 1, 0]);
    assert_eq!(after.routes()[1].answered(), [0; 5]);
    let place = |table: &RoutingTable| table.groups().next().unwrap().members()[0].id;
    assert_eq!(place(&before), place(&after));
}

#[test]
fn what_a_rule_says_of_a_path_holds_for_every_route_that_is_asked_there() {
    let routes =
        ["path = \"/a\"", "path = \"/a/admin\"\nmethods = [\"GET\"]", "path = \"/a/admin\"\nhost = \"h\""].map(route);
    let rules = "[[rule]]\npath = \"/a/admin/\"\nallow = []\n[[rule]]\npath = \"/a/deep/down\"\nallow = []\n";
    let text = format!("{}{rules}[[endpoint]]\nname = \"e\"\nurls = [\"http://127.0.0.1:1\"]", routes.concat());
    let config = Config::parse(&text, "g").unwrap();
    let policy = Policy::new(config.authentication.rules.clone(), Allow::anyone(), None);
    let table = RoutingTable::new(Configured::of(&config), &policy, None, &Clock::system(), &log()).unwrap();
    let check = |method: Method, path: &str, expected: &str, is_permitted: bool| {
        let found = table.find(Some("x"), method, path);
        assert_eq!(shown(&found), expected, "{method:?} {path}");
        let RouteMatch::Route { grants, .. } = found else { return };
        let access = Access::new(Caller::anonymous(), grants);
        assert_eq!(access.check_document(Verb::of(method)).is_ok(), is_permitted, "{method:?} {path}");
    };
    check(Method::Get, "/a/x", "/a", true);
    check(Method::Get, "/a/admin/x", "/a/admin GET", false);
    check(Method::Post, "/a/admin/x", "/a", false);
    check(Method::Get, "/a/deep", "/a", true);
    check(Method::Get, "/a/deep/down", "/a", false);
    check(Method::Get, "/a/deep/downs", "/a", true);
    check(Method::Get, "/a/deep/x/../down", "ambiguous", false);
}

fn log() -> Arc<Log> {
    Arc::new(Log::to_stderr())
}
