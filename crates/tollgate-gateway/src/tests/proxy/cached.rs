//! Stored answers of backends: which ones, for whom, their selection, revalidation and invalidation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use tollgate_net::clock::ManualClock;

use super::backend::{Backend, Script, answer_with, replies, script};
use super::{before, config};
use crate::cache::Which;
use crate::tests::auth::Guarded;
use crate::tests::client::{Answer, Running};

pub(super) const KEPT: &str = "Cache-Control: max-age=60\r\n";

/// A script that answers with the number of earlier requests, and these fields.
pub(super) fn counting(fields: &'static str) -> Script {
    let mut asked = 0;
    replies(move |_| {
        asked += 1;
        answer_with(fields, &format!("answer {asked}"))
    })
}

/// A gateway that caches the answers of a backend with one connection.
pub(super) fn keeping(scripts: Vec<Script>, route: &str) -> (Running, Backend) {
    let backend = Backend::start(scripts);
    (before(&[&backend], "", &format!("cache = true\n{route}")), backend)
}

fn by_hand(scripts: Vec<Script>) -> (Running, ManualClock, Backend) {
    let backend = Backend::start(scripts);
    // Where the clock is moved while a backend is waited for, that is none of its time.
    let patient = "connect_ms_max = 200000\nfirst_byte_ms_max = 200000\nstall_ms_max = 200000";
    let began = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let (gateway, hand) = Running::start_by_hand(&config(&[&backend], patient, "cache = true\n"), began);
    (gateway, hand, backend)
}

pub(super) fn age(answer: &Answer) -> Option<u64> {
    answer.header("age").map(|age| age.parse().unwrap())
}

/// Sends one request after the other, each with its fields, and expects these texts.
pub(super) fn check(fields: &'static str, route: &str, asked: &[(&[(&str, &str)], &str)]) {
    let (gateway, backend) = keeping(vec![counting(fields)], route);
    for (headers, expected) in asked {
        let host = [("Host", "a")];
        let host = if headers.iter().any(|(name, _)| *name == "Host") { &[][..] } else { &host };
        gateway.get_with("/passed/a", &[host, *headers].concat()).expect(200, expected);
    }
    drop(gateway);
    backend.join();
}

#[test]
fn what_says_so_is_kept_and_what_does_not_is_asked_for_again() {
    let twice = |first: &'static str, second: &'static str| [(&[][..], first), (&[][..], second)];
    check(KEPT, "", &twice("answer 1", "answer 1"));
    check("Cache-Control: s-maxage=9\r\n", "", &twice("answer 1", "answer 1"));
    for fields in [
        "",
        "Cache-Control: no-store, max-age=60\r\n",
        "Cache-Control: private, max-age=60\r\n",
        "Cache-Control: max-age=60\r\nSet-Cookie: a=b\r\n",
        "Cache-Control: max-age=60\r\nVary: *\r\n",
        // Nobody but the backend could tell for whom it is.
        "Cache-Control: max-age=60\r\nVary: Accept, X-Forwarded-For\r\n",
        "Cache-Control: max-age=60\r\nAge: 60\r\n",
        "Cache-Control: max-age=60\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
    ] {
        check(fields, "", &twice("answer 1", "answer 2"));
    }
}

#[test]
fn nothing_is_kept_of_a_route_that_does_not_say_so() {
    let backend = Backend::start(vec![counting(KEPT)]);
    let gateway = before(&[&backend], "", "");
    for expected in ["answer 1", "answer 2"] {
        gateway.get("/passed/a").expect(200, expected);
    }
    drop(gateway);
    backend.join();
}

#[test]
fn a_request_chooses_by_its_fields_and_says_how_fresh_it_is_to_be() {
    let (german, french) = (&[("Accept-Language", "de")][..], &[("Accept-Language", "fr")][..]);
    check(
        "Cache-Control: max-age=60\r\nVary: accept-language\r\n",
        "",
        &[(german, "answer 1"), (french, "answer 2"), (german, "answer 1"), (french, "answer 2"), (&[], "answer 3")],
    );
    check(
        KEPT,
        "",
        &[
            (&[], "answer 1"),
            (&[("Cache-Control", "no-cache")], "answer 2"),
            (&[], "answer 2"),
            (&[("Cache-Control", "no-store")], "answer 3"),
            (&[("Cache-Control", "only-if-cached")], "answer 2"),
            (&[("Host", "b")], "answer 4"),
            (&[("Range", "bytes=0-1")], "answer 5"),
        ],
    );
    let (gateway, _backend) = keeping(vec![], "");
    // So do those that pass by.
    for more in [("X-Any", "a"), ("Range", "bytes=0-1"), ("If-Match", "*"), ("Connection", "X-Any")] {
        gateway.get_with("/passed/a", &[("Cache-Control", "only-if-cached"), more]).expect(504, "only-if-cached");
    }
}

#[test]
fn an_answer_to_somebody_is_for_others_only_where_it_says_so() {
    let somebody = &[("Authorization", "Basic YTpi")][..];
    check(KEPT, "", &[(somebody, "answer 1"), (somebody, "answer 2"), (&[], "answer 3"), (somebody, "answer 3")]);
    check("Cache-Control: public, max-age=60\r\n", "", &[(somebody, "answer 1"), (&[], "answer 1")]);
}

#[test]
fn a_request_with_a_body_is_neither_answered_from_what_is_kept_nor_kept() {
    let asked = script(|peer| {
        for text in ["first", "second", "third"] {
            if peer.head().contains("Content-Length: 1") {
                peer.body(1);
            }
            peer.send(&answer_with(KEPT, text));
        }
        peer.until_end();
    });
    let (gateway, backend) = keeping(vec![asked], "");
    let mut client = gateway.connect();
    client.ask_with("GET", "/passed/a", &[], "x").expect(200, "first");
    client.ask("GET", "/passed/a", &[]).expect(200, "second");
    client.ask_with("GET", "/passed/a", &[], "x").expect(200, "third");
    client.ask("GET", "/passed/a", &[]).expect(200, "second");
    drop((client, gateway));
    backend.join();
}

#[test]
fn what_has_outlived_its_lifetime_is_asked_about_and_used_again_if_it_is_still_good() {
    let first = replies(|_| {
        answer_with("Connection: close\r\nCache-Control: max-age=60\r\nETag: \"1\"\r\nX-Times: 1\r\nAge: 5\r\n", "good")
    });
    let second = replies(|head| {
        assert!(head.contains("If-None-Match: \"1\"\r\n"), "{head}");
        "HTTP/1.1 304 Not Modified\r\nConnection: close\r\nCache-Control: max-age=30\r\nETag: \"1\"\r\nX-Times: 2\r\n\r\n".to_owned()
    });
    let third = replies(|head| {
        assert!(head.contains("If-None-Match: \"1\"\r\n"), "{head}");
        answer_with(
            "Connection: close\r\nCache-Control: max-age=60\r\nLast-Modified: Tue, 14 Nov 2023 20:00:00 GMT\r\n",
            "better",
        )
    });
    let fourth = replies(|head| {
        assert!(head.contains("If-Modified-Since: Tue, 14 Nov 2023 20:00:00 GMT\r\n"), "{head}");
        assert!(!head.to_ascii_lowercase().contains("if-none-match"), "{head}");
        answer_with("", "last")
    });
    let (gateway, hand, backend) = by_hand(vec![first, second, third, fourth]);
    let get = || {
        let answer = gateway.get("/passed/a");
        let ages = answer.headers.iter().filter(|(name, _)| name == "age").count();
        (answer.text(), answer.header("x-times").map(str::to_owned), age(&answer), ages)
    };
    let told = |text: &str, times: &str, age, ages| (text.to_owned(), Some(times.to_owned()), age, ages);
    assert_eq!(get(), told("good", "1", Some(5), 1));
    hand.advance(Duration::from_secs(10));
    assert_eq!(get(), told("good", "1", Some(15), 1));
    hand.advance(Duration::from_secs(50));
    assert_eq!(get(), told("good", "2", None, 0));
    hand.advance(Duration::from_secs(29));
    assert_eq!(get(), told("good", "2", Some(29), 1));
    // Whoever has it already is told so.
    assert_eq!(gateway.get_with("/passed/a", &[("If-None-Match", "W/\"1\"")]).status, 304);
    assert_eq!(gateway.metric("tollgate_cache_validated_total"), 1);
    hand.advance(Duration::from_secs(1));
    assert_eq!(get(), ("better".to_owned(), None, None, 0));
    hand.advance(Duration::from_secs(60));
    assert_eq!(get(), ("last".to_owned(), None, None, 0));
    drop(gateway);
    backend.join();
}

#[test]
fn what_is_changed_through_the_gateway_is_asked_for_again() {
    let mut asked = 0;
    let changing = replies(move |head| {
        asked += 1;
        let method = head.split(' ').next().unwrap();
        match method {
            "DELETE" => "HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n".to_owned(),
            "POST" => "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nLocation: /passed/b?c=1\r\n\r\n".to_owned(),
            _ => answer_with(KEPT, &format!("answer {asked}")),
        }
    });
    let (gateway, backend) = keeping(vec![changing], "");
    let mut client = gateway.connect();
    let host = ("Host", "a");
    let mut get = |target: &str, expected: &str| {
        client.ask("GET", target, &[host]).expect(200, expected);
    };
    let ask = |method: &str, target: &str| gateway.connect().ask(method, target, &[host]).status;
    get("/passed/a", "answer 1");
    get("/passed/b?c=1", "answer 2");
    get("/passed/d", "answer 3");
    assert_eq!(ask("DELETE", "/passed/a"), 409);
    get("/passed/a", "answer 1");
    assert_eq!(ask("POST", "/passed/a"), 201);
    get("/passed/a", "answer 6");
    get("/passed/b?c=1", "answer 7");
    get("/passed/d", "answer 3");
    drop((client, gateway));
    backend.join();
}

#[test]
fn one_fetches_for_many_but_nobody_waits_for_what_is_not_for_others() {
    let (asked, is_asked) = channel();
    let (go_on, may_go_on) = channel();
    let first = script(move |peer| {
        peer.head();
        asked.send(()).unwrap();
        may_go_on.recv().unwrap();
        peer.send(&answer_with("Connection: close\r\n", "none to keep"));
        peer.until_end();
    });
    // Each answers only once all of them were asked: who waits for another one hangs.
    let arrived = Arc::new(AtomicUsize::new(0));
    let together = |count: usize, fields: &'static str| {
        let arrived = Arc::clone(&arrived);
        script(move |peer| {
            peer.head();
            arrived.fetch_add(1, Ordering::SeqCst);
            while arrived.load(Ordering::SeqCst) < count {
                std::thread::yield_now();
            }
            peer.send(&answer_with(&format!("Connection: close\r\n{fields}"), "together"));
            peer.until_end();
        })
    };
    let (gateway, backend) =
        keeping(vec![first, together(2, ""), together(2, ""), together(4, KEPT), together(4, KEPT)], "");
    let mut clients = [(); 3].map(|()| gateway.connect());
    let fields = [("Host", "a")];
    clients[0].send("GET", "/passed/a", &fields);
    is_asked.recv().unwrap();
    for client in &mut clients[1..] {
        client.send("GET", "/passed/a", &fields);
    }
    gateway.wait_for_metric("tollgate_cache_waits_total", |waits| waits == 2);
    go_on.send(()).unwrap();
    clients[0].read("GET").expect(200, "none to keep");
    for client in &mut clients[1..] {
        client.read("GET").expect(200, "together");
    }
    // From now on they do not even wait for the first of them, until one is to be kept.
    for client in &mut clients[1..] {
        client.send("GET", "/passed/a", &fields);
    }
    for client in &mut clients[1..] {
        client.read("GET").expect(200, "together");
    }
    assert!(age(&clients[0].ask("GET", "/passed/a", &fields)).is_some());
    assert_eq!(gateway.metric("tollgate_cache_waits_total"), 2);
    drop((clients, gateway));
    backend.join();
}

#[test]
fn an_answer_that_is_not_kept_goes_on_as_it_comes() {
    let (go_on, may_go_on) = channel();
    let slow = script(move |peer| {
        peer.head();
        peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
        may_go_on.recv().unwrap();
        peer.send("0\r\n\r\n");
        peer.until_end();
    });
    let (gateway, backend) = keeping(vec![slow], "");
    let mut client = gateway.connect();
    client.send("GET", "/passed/a", &[]);
    assert_eq!(client.read_head().status, 200);
    go_on.send(()).unwrap();
    assert_eq!(client.read_chunks(), b"first");
    drop((client, gateway));
    backend.join();
}

#[test]
fn what_mediators_made_of_an_answer_is_kept_for_whoever_asks_them_for_the_same() {
    let route = "response = [{ set-header = { X-Made = \"here\" } }]\n\
                 request = [{ choose = [{ header = \"X-Version\", equals = \"2\", then = [{ set-header = { X-Two = \"yes\" } }] }] }]";
    let two = &[("X-Version", "2")][..];
    check(KEPT, route, &[(&[], "answer 1"), (two, "answer 2"), (&[], "answer 1"), (two, "answer 2")]);
    // What the backend sees in the place of what the client said.
    let renames = "request = [{ rename-header = { X-Old = \"X-New\" } }]";
    let varies = "Cache-Control: max-age=60\r\nVary: X-New\r\n";
    check(varies, renames, &[(&[("X-Old", "1")], "answer 1"), (&[("X-Old", "2")], "answer 2")]);
    let (gateway, backend) = keeping(vec![counting(KEPT)], route);
    let mut client = gateway.connect();
    for is_kept in [false, true] {
        let told = client.ask("GET", "/passed/a", &[]);
        assert_eq!((told.header("x-made"), age(&told).is_some()), (Some("here"), is_kept));
    }
    drop((client, gateway));
    backend.join();
}

#[test]
fn who_may_not_read_is_not_answered_with_what_is_kept() {
    let backend = Backend::start(vec![counting("Cache-Control: public, max-age=60\r\n")]);
    let rules = format!(
        "[[rule]]\npath = \"/passed\"\nallow = [\"group:editors\"]\n{}",
        config(&[&backend], "", "cache = true\n")
    );
    let guarded = Guarded::start(&rules);
    let (ann, bob) = (("Authorization", "Basic YW5uOnNlY3JldA=="), ("Authorization", "Basic Ym9iOnNlY3JldA=="));
    let ask = |user: &[(&str, &str)]| guarded.gateway.get_with("/passed/a", user);
    for is_kept in [false, true] {
        let told = ask(&[bob]);
        assert_eq!((told.status, age(&told).is_some()), (200, is_kept));
        assert_eq!((ask(&[ann]).status, ask(&[]).status), (403, 401));
    }
    drop(guarded);
    backend.join();
}

#[test]
fn the_operator_sees_what_is_kept_and_throws_it_away() {
    let (gateway, backend) = keeping(vec![counting(KEPT)], "");
    gateway.get_with("/passed/a?b=c", &[("Host", "shop.example")]).expect(200, "answer 1");
    let listed = gateway.shared.cache.entries(10);
    assert_eq!(listed[0].key, "http://shop.example/passed/a?b=c");
    assert_eq!(gateway.shared.cache.invalidate(Which::One(&listed[0].key)), 1);
    gateway.get_with("/passed/a?b=c", &[("Host", "shop.example")]).expect(200, "answer 2");
    assert_eq!(gateway.shared.cache.invalidate(Which::Prefix("/passed")), 1);
    gateway.get_with("/passed/a?b=c", &[("Host", "shop.example")]).expect(200, "answer 3");
    drop(gateway);
    backend.join();
}
