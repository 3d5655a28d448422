//! Successful requests: fields, targets, framing, order, reused connections.

use super::backend::{Backend, always, answer, late, replies, script};
use super::before;

#[test]
fn a_backend_gets_the_request_as_if_it_were_asked_itself_and_learns_who_asked() {
    let backend = Backend::start(vec![script(|peer| {
        let seen = peer.head() + &peer.body(5);
        peer.send(&answer(&seen));
        peer.until_end();
    })]);
    let gateway = before(&[&backend], "", "to = \"/service?fixed=1\"");
    let mut client = gateway.connect();
    client.send_raw(
        "POST http://shop.example:80/passed/deep?x=%20 HTTP/1.1\r\nHost: other\r\nConnection: hop\r\nHop: 1\r\n\
         X-Forwarded-For: 10.0.0.1\r\nSOAPAction: \"urn:a\"\r\nTransfer-Encoding: chunked\r\n\r\n\
         2\r\nab\r\n3\r\ncde\r\n0\r\nX: trailer\r\n\r\n",
    );
    let seen = client.read("POST");
    let expected = format!(
        "POST /service/deep?fixed=1&x=%20 HTTP/1.1\r\nHost: {}\r\nSOAPAction: \"urn:a\"\r\nVia: 1.1 tollgate\r\n\
         X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: shop.example:80\r\n\
         Forwarded: for=127.0.0.1;proto=http;host=\"shop.example:80\"\r\nContent-Length: 5\r\n\r\nabcde",
        backend.address
    );
    seen.expect(200, &expected);
    assert_eq!((seen.header("via"), seen.header("content-type")), (Some("1.1 tollgate"), Some("text/plain")));
    drop(gateway);
    backend.join();
}

#[test]
fn pipelined_requests_are_answered_in_order_over_one_connection() {
    let backend = Backend::start(vec![script(|peer| {
        for _ in 0..3 {
            let head = peer.head();
            peer.send(&answer(head.split(' ').nth(1).unwrap()));
        }
        peer.until_end();
    })]);
    let gateway = before(&[&backend], "", "");
    let mut client = gateway.connect();
    let paths = ["/passed", "/passed/", "/passed/a?b"];
    let requests: Vec<String> = paths.iter().map(|path| format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")).collect();
    client.send_raw(&requests.concat());
    for path in paths {
        assert_eq!(client.read("GET").text(), path);
    }
    drop(gateway);
    backend.join();
}

#[test]
fn answers_without_a_body_stay_so_and_keep_the_connection() {
    let backend = Backend::start(vec![script(|peer| {
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nETag: \"a\"\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            peer.head();
            peer.send(answer);
        }
        peer.until_end();
    })]);
    let gateway = before(&[&backend], "", "");
    let mut client = gateway.connect();
    let head = client.ask("HEAD", "/passed", &[]);
    assert_eq!((head.status, head.header("content-length"), head.header("etag")), (200, Some("1234"), Some("\"a\"")));
    assert_eq!(client.ask("GET", "/passed", &[]).status, 204);
    assert_eq!(client.ask("GET", "/passed", &[]).status, 304);
    assert_eq!(client.ask("GET", "/passed", &[]).header("content-length"), Some("0"));
    drop(gateway);
    backend.join();
}

#[test]
fn a_client_that_waits_for_it_is_told_to_go_on_and_the_backend_is_not_asked() {
    // One that is gathered, one that is streamed.
    for length in [3, 300_000] {
        let backend = Backend::start(vec![script(move |peer| {
            assert!(!peer.head().to_ascii_lowercase().contains("expect"));
            let body = peer.body(length);
            peer.send(&answer(&body));
            peer.until_end();
        })]);
        let gateway = before(&[&backend], "", "");
        let mut client = gateway.connect();
        client.send("POST", "/passed", &[("Expect", "100-continue"), ("Content-Length", &length.to_string())]);
        assert_eq!(client.read_head().status, 100);
        let body = "a".repeat(length);
        client.send_raw(&body);
        assert!(client.read("POST").text() == body);
        drop(gateway);
        backend.join();
    }
}

#[test]
fn an_upgrade_is_declined_by_leaving_it_out() {
    let backend = Backend::start(vec![script(|peer| {
        let head = peer.head().to_ascii_lowercase();
        assert!(!head.contains("upgrade") && !head.contains("connection"), "{head}");
        peer.send(&answer("plain"));
        peer.until_end();
    })]);
    let gateway = before(&[&backend], "", "");
    gateway.get_with("/passed", &[("Connection", "Upgrade"), ("Upgrade", "websocket")]).expect(200, "plain");
    drop(gateway);
    backend.join();
}

#[test]
fn a_long_answer_is_streamed_and_a_half_one_is_seen_to_be_half() {
    let long = "x".repeat(1_000_000);
    let (whole, half) = (long.clone(), long.clone());
    let backend = Backend::start(vec![script(move |peer| {
        peer.head();
        peer.send(&format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{whole}\r\n0\r\n\r\n",
            1_000_000
        ));
        peer.head();
        peer.send(&format!("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n{half}"));
    })]);
    let gateway = before(&[&backend], "", "");
    let mut client = gateway.connect();
    assert!(client.ask("GET", "/passed", &[]).text() == long);
    client.send("GET", "/passed", &[]);
    assert_eq!(client.read_head().header("content-length"), Some("2000000"));
    let read = client.read_to_end().len();
    assert!((1..=1_000_000).contains(&read), "{read} bytes and the end of the connection");
    drop(gateway);
    backend.join();
}

#[test]
fn an_answer_to_head_says_nothing_of_a_body_that_a_mediator_would_write() {
    // One that mediators read, and the description of a service.
    let routes = ["response = [{ set-header = { X-Found = { xpath = \"string(/*)\" } } }]", "soap = true"];
    for (route, target) in routes.into_iter().zip(["/passed", "/passed?wsdl"]) {
        let backend = Backend::start(vec![script(|peer| {
            for _ in 0..2 {
                peer.head();
                peer.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 1234\r\nETag: \"1\"\r\nX-Kept: a\r\n\r\n",
                );
            }
            peer.until_end();
        })]);
        let gateway = before(&[&backend], "", route);
        let mut client = gateway.connect();
        for _ in 0..2 {
            let told = client.ask("HEAD", target, &[]);
            let fields = ["content-length", "etag", "x-kept"].map(|name| told.header(name));
            assert_eq!((told.status, fields), (200, [None, None, Some("a")]), "{target}");
        }
        drop(gateway);
        backend.join();
    }
}

#[test]
fn addresses_of_the_backend_become_those_by_which_the_client_came() {
    let reply = |head: &str| {
        let own = head.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap();
        format!(
            "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nLocation: http://{own}/app/new\r\n\
             Content-Location: http://{own}/elsewhere\r\n\r\n"
        )
    };
    // With edits and without.
    for more in ["", "response = [{ set-header = { X-A = \"b\" } }]"] {
        let backend = Backend::start(vec![replies(reply)]);
        let gateway = before(&[&backend], "", &format!("to = \"/app\"\n{more}"));
        let told = gateway.get_with("/passed/a", &[("Host", "shop.example")]);
        assert_eq!(told.header("location"), Some("http://shop.example/passed/new"));
        assert!(told.header("content-location").unwrap().ends_with("/elsewhere"), "{told:?}");
        assert_eq!(told.header("x-a").is_some(), !more.is_empty());
        drop(gateway);
        backend.join();
    }
}

#[test]
fn what_is_in_flight_is_answered_before_the_end() {
    let (backend, is_asked, go_on) = late();
    let mut gateway = before(&[&backend], "", "");
    let mut client = gateway.connect();
    client.send("GET", "/passed", &[]);
    is_asked.recv().unwrap();
    gateway.shutdown.begin();
    gateway.admin().ask("GET", "/readyz", &[]).expect(503, "");
    go_on.send(()).unwrap();
    let late = client.read("GET");
    late.expect(200, "late");
    assert_eq!(late.header("connection"), Some("close"));
    gateway.stop();
    backend.join();
}

#[test]
fn methods_and_paths_that_no_route_is_for_are_told_so() {
    let backend = Backend::start(vec![always(answer("here"))]);
    let gateway = before(&[&backend], "", "methods = [\"GET\", \"POST\"]");
    gateway.get("/passed/on").expect(200, "here");
    let refused = gateway.ask("DELETE", "/passed");
    refused.expect(405, "");
    assert_eq!(refused.header("allow"), Some("GET, POST"));
    gateway.get("/passed/../x").expect(400, "");
    gateway.get("/passedon").expect(404, "");
    drop(gateway);
    backend.join();
}
