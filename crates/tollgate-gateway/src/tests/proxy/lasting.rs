//! Backends that come and go under many requests, and clients that never end theirs: nothing hangs, nothing is lost,
//! and no memory is kept needlessly.
//!
//! The same on a large scale, with figures, is `bench/reliability`.

use std::time::Duration;

use super::backend::{Backend, Peer, Script, always, answer, script};
use super::{before, before_by_hand};
use crate::tests::client::Connection;

#[test]
fn a_backend_that_dies_is_a_502_for_each_in_flight_then_a_503_and_is_found_when_it_is_back() {
    const IN_FLIGHT: usize = 100;
    let (asked, is_asked) = std::sync::mpsc::channel();
    let (dies, mut may_die) = (std::sync::Arc::new(std::sync::Barrier::new(IN_FLIGHT + 1)), Vec::<Script>::new());
    for _ in 0..IN_FLIGHT {
        let (asked, dies) = (asked.clone(), std::sync::Arc::clone(&dies));
        may_die.push(script(move |peer| {
            peer.head();
            asked.send(()).unwrap();
            dies.wait();
        }));
    }
    let backend = Backend::start(may_die);
    let (gateway, hand) = before_by_hand(&[&backend], "", "");
    let mut clients: Vec<Connection> = (0..IN_FLIGHT).map(|_| gateway.connect()).collect();
    for client in &mut clients {
        client.send("GET", "/passed", &[]);
    }
    for _ in 0..IN_FLIGHT {
        is_asked.recv().unwrap();
    }
    dies.wait();
    for client in &mut clients {
        client.read("GET").expect(502, "BadGateway");
    }
    let away = gateway.get("/passed");
    away.expect(503, "");
    assert_eq!(away.header("retry-after"), Some("1"));
    let backend = backend.back(vec![always(answer("back"))]);
    let mut client = gateway.connect();
    let back = loop {
        let told = client.ask("GET", "/passed", &[]);
        if told.status != 503 {
            break told;
        }
        hand.advance(Duration::from_millis(250));
        std::thread::yield_now();
    };
    back.expect(200, "back");
    drop(client);
    drop(gateway);
    backend.join();
}

/// Time at which a backend ends a connection after an answer.
#[derive(Debug, Clone, Copy)]
enum Ends {
    /// After an answer.
    Behind,
    /// On the next request.
    WhenAsked,
}

#[test]
fn connections_that_backends_close_between_requests_are_seen_by_no_client() {
    // So many answers over each connection, and then one of two ends: whatever a generator of 32 bits says.
    let mut random = 20_261_122_u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) % below
    };
    let (mut answers, mut scripts) = (0, Vec::<Script>::new());
    for _ in 0..150 {
        let (count, ends) = (1 + next(4), if next(2) == 0 { Ends::Behind } else { Ends::WhenAsked });
        answers += count;
        scripts.push(script(move |peer| serve(peer, count, ends)));
    }
    scripts.push(always(answer("rest")));
    let backend = Backend::start(scripts);
    let gateway = before(&[&backend], "", "retry = \"always\"");
    let mut client = gateway.connect();
    for index in 0..answers {
        let method = ["GET", "POST", "PUT"][index as usize % 3];
        client.send_raw(&format!("{method} /passed HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"));
        client.read(method).expect(200, "kept");
    }
    drop(gateway);
    // The last script still waits for its connection.
    drop(std::net::TcpStream::connect(backend.address));
    backend.join();
}

fn serve(peer: &mut Peer, count: u32, ends: Ends) {
    for _ in 0..count {
        if peer.try_head().is_none() {
            return;
        }
        peer.body(4);
        peer.send(&answer("kept"));
    }
    match ends {
        Ends::Behind => {}
        Ends::WhenAsked => drop(peer.try_head()),
    }
}

#[test]
fn clients_that_stall_within_large_bodies_hold_little_and_give_it_back() {
    const CLIENTS: u64 = 20;
    const SENT: usize = 256 * 1024;
    let (came, has_come) = std::sync::mpsc::channel();
    let scripts = (0..CLIENTS).map(|_| {
        let came = came.clone();
        script(move |peer: &mut Peer| {
            peer.head();
            peer.body(SENT);
            came.send(()).unwrap();
            assert_eq!(peer.until_end(), b"", "nobody invents the rest");
        })
    });
    let backend = Backend::start(scripts.collect());
    let gateway = before(&[&backend], "", "");
    let mut clients: Vec<Connection> = (0..CLIENTS).map(|_| gateway.connect()).collect();
    for client in &mut clients {
        client.send("POST", "/passed", &[("Content-Length", "1048576")]);
        client.send_raw(&"x".repeat(SENT));
    }
    for _ in 0..CLIENTS {
        has_come.recv().unwrap();
    }
    gateway.wait_for_metric("tollgate_held_bytes", |held| held < CLIENTS * 1024);
    assert!(!backend.is_done(), "they wait, and hold next to nothing");
    drop(clients);
    gateway.wait_for_metric("tollgate_held_bytes", |held| held == 0);
    drop(gateway);
    backend.join();
}
