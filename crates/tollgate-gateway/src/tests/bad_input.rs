//! Errors in requests, reported with their place in the caller's protocol.

use super::client::{Running, V2, V4};

fn check(method: &str, root: &str, below: &str, accept: &str, status: u16, fragments: &[&str]) {
    let answer = Running::shared().connect().ask(method, &format!("{root}{below}"), &[("Accept", accept)]);
    for fragment in fragments {
        answer.expect(status, fragment);
    }
    let content_type = match (root == V2, accept.contains("json")) {
        (true, false) => "application/xml;charset=utf-8",
        (true, true) => "application/json;charset=utf-8",
        (false, _) => "application/json;odata.metadata=minimal",
    };
    assert_eq!(answer.header("content-type"), Some(content_type), "{below}");
    assert_eq!(answer.header("vary"), (root == V2).then_some("Accept"), "{below}");
    assert!(answer.header(if root == V2 { "dataserviceversion" } else { "odata-version" }).is_some());
}

#[test]
fn bad_urls_are_answered_with_their_place() {
    for (root, below, status, fragments) in [
        (V2, "FlightCollection?$filter=carrid%20eq", 400, vec!["$filter", "column"]),
        (V2, "FlightCollection?$filter=carrid%20eq%20'AA'%20an%20PRICE%20gt%201", 400, vec!["column 16"]),
        (V2, "FlightCollection?$filter=colour%20eq%201", 400, vec!["colour"]),
        (V2, "FlightCollection?$filter=PRICE%20eq%20'AA'", 400, vec!["$filter"]),
        (V2, "FlightCollection?$orderby=colour", 400, vec!["$orderby", "colour"]),
        (V2, "FlightCollection?$select=colour", 400, vec!["$select", "colour"]),
        (V2, "FlightCollection?$expand=colour", 400, vec!["$expand", "colour"]),
        (V2, "FlightCollection?$top=-1", 400, vec!["$top"]),
        (V2, "FlightCollection?$nothing=1", 400, vec!["$nothing"]),
        (V2, "FlightCollection(carrid='AA')", 400, vec!["connid"]),
        (V2, "FlightCollection(carrid='AA',connid='0017',fldate='yesterday')", 400, vec!["fldate"]),
        (V2, "Flights", 404, vec!["Flights"]),
        (V2, "FlightCollection(carrid='AA',connid='0017',fldate='20110601')/colour", 404, vec!["colour"]),
        (V2, "FlightCollection(carrid='XX',connid='0017',fldate='20110601')", 404, vec![]),
        (V2, "FlightCollection(carrid='XX',connid='0017',fldate='20110601')/flightBookings", 404, vec![]),
        (V4, "FlightCollection?$filter=carrid%20eq", 400, vec!["\"error\"", "$filter"]),
        (V4, "FlightCollection(carrid='XX',connid='0017',fldate=2011-06-01)", 404, vec!["\"error\""]),
        (V4, "FlightCollection(carrid='AA',connid='0017',fldate='20110601')", 400, vec!["fldate"]),
        (V4, "%zz", 400, vec!["hexadecimal"]),
    ] {
        check("GET", root, below, "*/*", status, &fragments);
        check("GET", root, below, "application/json", status, &fragments);
    }
}

#[test]
fn what_is_not_built_yet_is_named() {
    for (method, root, below, fragment) in [
        ("GET", V4, "FlightCollection?$apply=join(flightBookings%20as%20b)", "join"),
        ("GET", V4, "FlightCollection?$deltatoken=a", "$deltatoken"),
    ] {
        check(method, root, below, "*/*", 501, &[fragment]);
    }
}

#[test]
fn methods_that_a_resource_does_not_have_are_refused_with_those_it_has() {
    for (method, below, allow) in [
        ("DELETE", "FlightCollection", "GET, HEAD, OPTIONS, POST"),
        ("PUT", "$metadata", "GET, HEAD, OPTIONS"),
        ("POST", "", "GET, HEAD, OPTIONS"),
        ("POST", "FlightCollection/$count", "GET, HEAD, OPTIONS"),
        ("TRACE", "FlightCollection", "GET, HEAD, OPTIONS, POST"),
        ("GET", "$batch", "OPTIONS, POST"),
    ] {
        let answer = Running::shared().ask(method, &format!("{V2}{below}"));
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allow)), "{method} {below}");
    }
}

#[test]
fn options_are_answered_with_the_methods_that_there_are() {
    for (target, allow) in [
        (format!("{V2}FlightCollection"), "GET, HEAD, OPTIONS, POST"),
        (format!("{V4}$batch"), "OPTIONS, POST"),
        ("/rest/flights".to_owned(), "DELETE, GET, HEAD, OPTIONS, POST"),
        ("/rest/records/01234567-89ab-cdef-0123-456789abcdef".to_owned(), "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"),
        ("/rest/mass-change/insertAll".to_owned(), "OPTIONS, POST"),
        ("*".to_owned(), "GET, HEAD, OPTIONS"),
    ] {
        let answer = Running::shared().ask("OPTIONS", &target);
        assert_eq!((answer.status, answer.header("allow")), (204, Some(allow)), "{target}");
    }
}

#[test]
fn a_method_that_nothing_here_knows_is_not_implemented() {
    for method in ["get", "PROPFIND"] {
        check(method, V2, "FlightCollection", "*/*", 501, &[method]);
        check(method, V4, "FlightCollection", "*/*", 501, &[method]);
        for target in ["/rest/flights", "/nowhere"] {
            Running::shared().ask(method, target).expect(501, &format!("method {method}"));
        }
    }
}

#[test]
fn formats_that_are_not_there_are_refused() {
    for (root, below, accept) in [
        (V2, "FlightCollection", "text/html"),
        (V2, "FlightCollection?$format=yaml", "*/*"),
        (V2, "$metadata", "application/json"),
        (V4, "FlightCollection", "application/atom+xml"),
        (V4, "FlightCollection?$format=atom", "*/*"),
        (V4, "FlightCollection", "application/json;odata.metadata=some"),
        (V4, "FlightCollection", "application/json;colour=red"),
        (V4, "FlightCollection?$format=application/json;charset=iso-8859-1", "*/*"),
        (V4, "$metadata", "text/html"),
    ] {
        check("GET", root, below, accept, 406, &[]);
    }
}

#[test]
fn errors_are_documents_of_their_protocol() {
    let gateway = Running::shared();
    let target = "FlightCollection?$filter=colour%20eq%201";
    insta::assert_snapshot!("v2_atom_error", gateway.get(&format!("{V2}{target}")).text());
    insta::assert_snapshot!("v2_json_error", gateway.get(&format!("{V2}{target}&$format=json")).text());
    insta::assert_snapshot!("v4_error", gateway.get(&format!("{V4}{target}")).text());
}

#[test]
fn what_http_forbids_is_told_in_the_callers_protocol() {
    let v4_json = "application/json;odata.metadata=minimal";
    for (target, accept, content_type, fragment) in [
        (format!("{V4}$batch"), "*/*", v4_json, "{\"error\":{\"code\":\"Protocol\""),
        (format!("{V2}$batch"), "*/*", "application/xml;charset=utf-8", "<error "),
        (
            format!("{V2}$batch"),
            "application/json",
            "application/json;charset=utf-8",
            "{\"error\":{\"code\":\"Protocol\"",
        ),
        (
            format!("{V2}$batch?$format=json"),
            "*/*",
            "application/json;charset=utf-8",
            "{\"error\":{\"code\":\"Protocol\"",
        ),
        ("/rest/flights".to_owned(), "*/*", "application/problem+json", "\"status\":400"),
    ] {
        for bad in [vec![("Content-Length", "1"); 2], vec![("Bad Name", "1")], vec![("Host", "a b")]] {
            let headers = [&[("Accept", accept)], &bad[..]].concat();
            let mut connection = Running::shared().connect();
            let answer = connection.ask("POST", &target, &headers);
            answer.expect(400, fragment);
            let said = answer.header("content-type").unwrap();
            assert!(said.starts_with(content_type), "{target} {bad:?}: {said}");
            assert_eq!(connection.read_to_end(), b"");
        }
    }
    // Nothing of the request line is known: the protocol is nobody's.
    let mut connection = Running::shared().connect();
    connection.send_raw("nonsense\r\n\r\n");
    connection.read("GET").expect(400, "\"status\":400");
}

#[test]
fn computed_values_that_do_not_exist_are_told_instead_of_losing_rows() {
    let gateway = Running::shared();
    for (filter, fragment) in [
        ("SEATSMAX%20div%20(SEATSMAX%20sub%20SEATSMAX)%20eq%201", "division by zero"),
        ("PRICE%20div%20(PRICE%20sub%20PRICE)%20eq%201", "division by zero"),
        ("SEATSMAX%20mul%209223372036854775807%20gt%200", "integer overflow"),
    ] {
        let answer = gateway.get(&format!("{V4}FlightCollection?$filter={filter}"));
        answer.expect(400, "\"code\":\"BadValue\"").expect(400, fragment);
    }
}
