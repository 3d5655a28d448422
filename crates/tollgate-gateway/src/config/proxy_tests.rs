//! Tests of endpoints and routes: parsing and error messages.

use std::time::Duration;

use tollgate_net::http1::Method;
use tollgate_net::http1::client::Target;

use super::*;

#[test]
fn every_key_of_an_endpoint_and_a_route_is_read() {
    let text = r#"
        [[endpoint]]
        name = "quotes"
        urls = ["http://127.0.0.1:9001", "https://backend.example/base"]
        balance = "least-busy"
        ca = "ca.pem"
        in_flight_max = 1
        connect_ms_max = 2
        first_byte_ms_max = 3
        stall_ms_max = 4
        request_ms_max = 5
        idle_ms_max = 6
        age_ms_max = 7
        connections_idle_max = 8
        suspension = { after_failures = 9, initial_ms = 10, factor = 1.5, max_ms = 11, statuses = [502, 599] }
        health = { path = "/healthz?deep", interval_ms = 120, answer_ms_max = 13 }
        [[endpoint]]
        name = "other"
        urls = ["http://[::1]:9001"]
        [[route]]
        path = "/services/Quote/"
        methods = ["GET", "POST"]
        host = "ESB.example"
        endpoint = "quotes"
        to = "/echo?bytes=5"
        soap = true
        retry = "always"
        body_bytes_max = 14
        cache = true
        [[route]]
        path = "/"
        endpoint = "other"
    "#;
    let config = Config::parse(text, "gateway.toml").unwrap();
    let ms = Duration::from_millis;
    let quotes = &config.endpoints[0];
    let urls = ["http://127.0.0.1:9001", "https://backend.example/base"].map(|url| Target::parse(url).unwrap());
    assert_eq!((&*quotes.name, &*quotes.urls, quotes.balance), ("quotes", &urls[..], Balance::LeastBusy));
    assert_eq!(quotes.ca.as_deref(), Some("ca.pem".as_ref()));
    let limits = EndpointLimits {
        in_flight_max: 1,
        connect_max: ms(2),
        first_byte_max: ms(3),
        stall_max: ms(4),
        request_max: ms(5),
        idle_max: ms(6),
        age_max: ms(7),
        connections_idle_max: 8,
    };
    assert_eq!(quotes.limits, limits);
    let suspension =
        Suspension { after_failures: 9, initial: ms(10), factor: 1.5, max: ms(11), statuses: vec![502, 599] };
    assert_eq!(quotes.suspension, suspension);
    assert_eq!(quotes.health, Some(Health { path: "/healthz?deep".into(), interval: ms(120), answer_max: ms(13) }));
    let other = &config.endpoints[1];
    assert_eq!((&other.limits, other.balance), (&EndpointLimits::default(), Balance::RoundRobin));
    assert_eq!((&other.suspension, &other.health), (&Suspension::default(), &None));
    let Route { path, methods, host, endpoint, to, protocol, retry, body_bytes_max, .. } = &config.routes[0];
    assert_eq!((&**path, methods.as_deref()), ("/services/Quote", Some(&[Method::Get, Method::Post][..])));
    assert_eq!(
        (host.as_deref(), endpoint.as_deref(), to.as_deref()),
        (Some("esb.example"), Some("quotes"), Some("/echo?bytes=5"))
    );
    assert_eq!((*protocol, *retry, *body_bytes_max), (Protocol::Soap, Retry::Always, 14));
    let Route { path, methods, protocol, retry, body_bytes_max, .. } = &config.routes[1];
    assert_eq!((&**path, methods, *protocol), ("", &None, Protocol::Http));
    assert_eq!((*retry, *body_bytes_max), (Retry::Idempotent, 1 << 20));
    assert!(config.services.is_empty() && config.built_in.is_empty(), "who proxies serves what is asked for only");
    assert!(config.remarks().is_empty());
}

#[test]
fn what_is_wrong_with_an_endpoint_stands_with_its_line() {
    for (rest, line, text) in [
        ("", 2, "missing field `urls`"),
        ("urls = []", 3, "expected from 1 to 64 URLs, found 0"),
        ("urls = [\"127.0.0.1:9001\"]", 3, "a URL begins with http:// or https://"),
        ("urls = [\"http://a b\"]", 3, "a host name or address"),
        ("urls = [\"http://me@h\"]", 3, "credentials do not belong into a URL"),
        ("urls = [\"http://h?x=1\"]", 3, "into `to` of a route"),
        ("urls = [\"http://h\", \"http://h:80/\"]", 3, "http://h/ is there already"),
        ("urls = [\"http://h\"]\nca = \"ca.pem\"", 4, "no URL begins with https://"),
        ("urls = [\"http://h\"]\nbalance = \"least-bussy\"", 4, "did you mean `least-busy`?"),
        ("urls = [\"http://h\"]\nin_flight_max = 0", 4, "expected a number from 1 to 1000000, found 0"),
        ("urls = [\"http://h\"]\nidle_ms = 3", 4, "did you mean `idle_ms_max`?"),
        ("urls = [\"http://h\"]\nsuspension.factor = 0.5", 4, "expected a number from 1.0 to 100.0, found 0.5"),
        ("urls = [\"http://h\"]\nsuspension.factor = nan", 4, "found NaN"),
        ("urls = [\"http://h\"]\nsuspension.initial_ms = 0", 4, "found 0"),
        ("urls = [\"http://h\"]\nsuspension.max_ms = 100", 4, "expected at least `initial_ms`, which is 250"),
        ("urls = [\"http://h\"]\nsuspension.statuses = [404]", 4, "what a client did wrong suspends nobody"),
        ("urls = [\"http://h\"]\nhealth = { path = \"healthz\" }", 4, "expected a path such as `/healthz`"),
        ("urls = [\"http://h\"]\nhealth = { path = \"/\", interval_ms = 1 }", 4, "found 1"),
        (
            "urls = [\"http://h\"]\n[[endpoint]]\nname = \"e\"\nurls = [\"http://i\"]",
            5,
            "is there already: gateway.toml:2",
        ),
    ] {
        let text_of_file = format!("[[endpoint]]\nname = \"e\"\n{rest}\n");
        let error = Config::parse(&text_of_file, "gateway.toml").expect_err(rest).to_string();
        // What is missing is missing of the table as a whole.
        let line = if text.starts_with("missing") { 1 } else { line };
        assert!(error.contains(text) && error.contains(&format!("gateway.toml:{line}:")), "{rest}\n{error}");
    }
    let error = Config::parse("[[endpoint]]\nname = \"a b\"\nurls = [\"http://h\"]", "g").unwrap_err().to_string();
    assert!(error.contains("g:2:8") && error.contains("letters, digits"), "{error}");
}

#[test]
fn what_is_wrong_with_a_route_stands_with_its_line() {
    for (rest, line, text) in [
        ("path = \"a\"", 5, "expected a path such as `/services/Quote`"),
        ("path = \"/a/../b\"", 5, "without `%`"),
        ("path = \"/a//b\"", 5, "without `%`"),
        ("path = \"/%61\"", 5, "without `%`"),
        ("path = \"/a\"\nendpoint = \"qotes\"", 6, "did you mean `quotes`?"),
        ("path = \"/a\"\nendpoint = \"elsewhere\"", 6, "expected `quotes`"),
        ("path = \"/a\"\nmethods = []", 6, "expected at least one method"),
        ("path = \"/a\"\nmethods = [\"get\"]", 6, "expected one of GET"),
        ("path = \"/a\"\nhost = \"h:80\"", 6, "without a port"),
        ("path = \"/a\"\nto = \"b\"", 6, "expected a path such as"),
        ("path = \"/a\"\nretry = \"alway\"", 6, "did you mean `always`?"),
        ("path = \"/a\"\nbody_bytes_max = 0", 6, "found 0"),
        ("path = \"/a\"", 5, "expected `endpoint`, or a sequence `request`"),
        ("path = \"/a\"\nresponse = [{ respond = {} }]", 5, "expected `endpoint`, or a sequence `request`"),
        (
            "path = \"/a\"\nresponse = [{ choose = [{ path = \"*\", endpoint = \"quotes\" }] }]",
            5,
            "an answer goes to the client: `quotes` cannot be chosen",
        ),
        ("path = \"/a\"\n[[route]]\npath = \"/a/\"", 7, "go elsewhere already: gateway.toml:5"),
        (
            "path = \"/a\"\nmethods = [\"GET\", \"PUT\"]\n[[route]]\npath = \"/a\"\nmethods = [\"PUT\"]",
            8,
            "elsewhere already",
        ),
        ("path = \"/a\"\nhost = \"H\"\n[[route]]\npath = \"/a\"\nhost = \"h\"", 8, "elsewhere already"),
    ] {
        let text_of_file = format!("[[endpoint]]\nname = \"quotes\"\nurls = [\"http://h\"]\n[[route]]\n{rest}\n");
        let error = Config::parse(&text_of_file, "gateway.toml").expect_err(rest).to_string();
        assert!(error.contains(text) && error.contains(&format!("gateway.toml:{line}:")), "{rest}\n{error}");
    }
}

#[test]
fn an_endpoint_that_no_route_leads_to_is_remarked() {
    let chosen = "[[endpoint]]\nname = \"spare\"\nurls = [\"http://h\"]\n[[route]]\npath = \"/a\"\n\
        request = [{ choose = [{ path = \"*\", then = [{ choose = [{ path = \"*\", endpoint = \"spare\" }] }] }] }]";
    assert_eq!(Config::parse(chosen, "gateway.toml").unwrap().remarks(), [""; 0]);
    let config = Config::parse("[[endpoint]]\nname = \"spare\"\nurls = [\"http://h\"]", "gateway.toml").unwrap();
    assert_eq!(config.remarks(), ["gateway.toml:2: no route leads to the endpoint `spare`"]);
}

#[test]
fn an_answer_for_everybody_s_caches_beside_rules_for_some_is_remarked() {
    let service = "[[service]]\nkind = \"flights\"\ncache_control = \"public, max-age=60\"\n";
    let check = |more: &str, remarks: usize| {
        let config = Config::parse(&format!("{service}{more}"), "gateway.toml").unwrap();
        assert_eq!(config.remarks().len(), remarks, "{more} {:?}", config.remarks());
    };
    check("", 0);
    check("[[rule]]\nmethods = [\"POST\"]\nallow = []", 0);
    check("[[rule]]\nallow = [\"anyone\"]", 0);
    check("[[rule]]\nallow = [\"group:editors\"]\n[users]\nfile = \"u\"", 1);
    check("[users]\nfile = \"u\"", 1);
}
