//! Cached answers of backends, under attacks, lost clients and changes: answers that must not be given out.

use std::sync::mpsc::{Sender, channel};

use super::backend::{Backend, Script, answer_with, replies, script};
use super::cached::{KEPT, age, check, counting, keeping};
use super::{before, config};

#[test]
fn what_a_backend_does_not_see_chooses_no_answer() {
    let german = ("Accept-Language", "de");
    let withheld = [german, ("Connection", "keep-alive, Accept-Language")];
    check(
        "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n",
        "",
        &[
            (&withheld, "answer 1"),
            (&[german], "answer 2"),
            (&withheld, "answer 3"),
            (&[german], "answer 2"),
            (&[german, ("Connection", "TE, Keep-Alive"), ("TE", "trailers")], "answer 2"),
        ],
    );
}

#[test]
fn of_an_answer_that_breaks_off_nothing_stands_in_front_of_the_error() {
    for bytes in [5, 200_000] {
        let breaks_off = script(move |peer| {
            peer.head();
            let part = "x".repeat(bytes);
            peer.send(&format!("HTTP/1.1 200 OK\r\n{KEPT}Transfer-Encoding: chunked\r\n\r\n{bytes:x}\r\n{part}\r\n"));
        });
        let (gateway, backend) = keeping(vec![breaks_off], "");
        let told = gateway.get("/passed/a");
        told.expect(502, "{");
        assert!(told.text().starts_with('{') && told.body.len() < 1000, "{} bytes", told.body.len());
        drop(gateway);
        backend.join();
    }
}

#[test]
fn what_mediators_made_is_made_anew_by_those_of_another_configuration() {
    let made = |text: &str| format!("cache = true\nresponse = [{{ set-header = {{ X-Made = \"{text}\" }} }}]");
    let backend = Backend::start(vec![counting(KEPT)]);
    let gateway = before(&[&backend], "", "cache = true");
    let get = || {
        let told = gateway.get_with("/passed/a", &[("Host", "a")]);
        (told.text(), told.header("x-made").map(str::to_owned))
    };
    let answer = |number: u32, made: Option<&str>| (format!("answer {number}"), made.map(str::to_owned));
    assert_eq!(get(), answer(1, None));
    // Nobody made anything of it.
    gateway.reload(&config(&[&backend], "", "cache = true")).unwrap();
    assert_eq!(get(), answer(1, None));
    for (route, expected) in [
        (made("one"), answer(2, Some("one"))),
        (made("two"), answer(3, Some("two"))),
        ("cache = true".to_owned(), answer(4, None)),
    ] {
        gateway.reload(&config(&[&backend], "", &route)).unwrap();
        assert_eq!((get(), get()), (expected.clone(), expected));
    }
    drop(gateway);
    backend.join();
}

#[test]
fn what_another_route_changes_is_asked_for_again() {
    let backend = Backend::start(vec![counting(KEPT)]);
    let writes = "[[route]]\npath = \"/passed\"\nmethods = [\"POST\"]\nendpoint = \"backend\"\n";
    let gateway = before(&[&backend], "", &format!("methods = [\"GET\"]\ncache = true\n{writes}"));
    let mut client = gateway.connect();
    for (method, expected) in [("GET", 1), ("GET", 1), ("POST", 2), ("GET", 3), ("GET", 3)] {
        client.ask(method, "/passed/a", &[]).expect(200, &format!("answer {expected}"));
    }
    drop((client, gateway));
    backend.join();
}

#[test]
fn a_host_is_one_however_it_is_written() {
    let (gateway, backend) = keeping(vec![counting(KEPT)], "");
    let mut client = gateway.connect();
    for (method, host, expected) in [
        ("GET", "shop", 1),
        ("GET", "SHOP", 1),
        ("GET", "Shop:80", 1),
        ("GET", "shop:81", 2),
        ("POST", "SHOP:80", 3),
        ("GET", "shop:81", 2),
        ("GET", "shop", 4),
        ("GET", "sHop:80", 4),
    ] {
        client.ask(method, "/passed/a", &[("Host", host)]).expect(200, &format!("answer {expected}"));
    }
    drop((client, gateway));
    backend.join();
}

/// A script that signals each request, and never answers; it ends with its connection.
fn silent(asked: &Sender<()>) -> Script {
    let asked = asked.clone();
    script(move |peer| {
        peer.head();
        asked.send(()).unwrap();
        assert!(peer.until_end().is_empty());
    })
}

#[test]
fn who_waits_for_what_another_fetches_and_leaves_has_nothing_fetched() {
    let (asked, is_asked) = channel();
    // There is no connection for anybody else.
    let (gateway, backend) = keeping(vec![silent(&asked)], "");
    let mut clients = [(); 4].map(|()| gateway.connect());
    let fields = [("Host", "a")];
    clients[0].send("GET", "/passed/a", &fields);
    is_asked.recv().unwrap();
    for client in &mut clients[1..] {
        client.send("GET", "/passed/a", &fields);
    }
    gateway.wait_for_metric("tollgate_cache_waits_total", |waits| waits == 3);
    let [first, others @ ..] = clients;
    drop(others);
    gateway.wait_for_metric("tollgate_connections_open", |open| open == 1);
    drop(first);
    backend.join();
    gateway.wait_for_metric("tollgate_endpoint_left_total", |left| left == 1);
    assert_eq!(gateway.metric("tollgate_cache_misses_total"), 1);
}

#[test]
fn what_was_sent_and_not_answered_may_have_changed_something() {
    let (asked, is_asked) = channel();
    let kept_then_breaks = script(|peer| {
        peer.head();
        peer.send(&answer_with(KEPT, "first"));
        peer.head();
    });
    let second = replies(|_| answer_with(&format!("Connection: close\r\n{KEPT}"), "second"));
    let third = replies(|_| answer_with(KEPT, "third"));
    let (gateway, backend) = keeping(vec![kept_then_breaks, second, silent(&asked), third], "");
    let mut client = gateway.connect();
    let host = [("Host", "a")];
    client.ask("GET", "/passed/a", &host).expect(200, "first");
    client.ask("POST", "/passed/a", &host).expect(502, "");
    assert_eq!(age(client.ask("GET", "/passed/a", &host).expect(200, "second")), None);
    assert!(age(client.ask("GET", "/passed/a", &host).expect(200, "second")).is_some());
    let mut leaves = gateway.connect();
    leaves.send("POST", "/passed/a", &host);
    is_asked.recv().unwrap();
    drop(leaves);
    gateway.wait_for_metric("tollgate_endpoint_left_total", |left| left == 1);
    client.ask("GET", "/passed/a", &host).expect(200, "third");
    drop((client, gateway));
    backend.join();
}
