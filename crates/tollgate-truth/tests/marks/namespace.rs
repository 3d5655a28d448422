//! Faults of the network, in a network namespace of the test's own: no other connections are counted or harmed. Users
//! who may not make one leave these tests out.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};
use tollgate_facts::results::Verdict;
use tollgate_lab::load::target::Connection;
use tollgate_lab::probe::network::tcp_counts;
use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, quick};
use tollgate_net::link::{Side, Tun, TunSpec};

use crate::faults::{closed, load, mark, through_a_full_listener};
use crate::runs::{at_equal_rate, doubt, measure_and_say};
use crate::server::{Answering, SOUND, Server, wait};

/// A listener of loopback whose queue has room for two connections: the kernel counts from 0.
pub(crate) fn listener_with_backlog_of_1() -> TcpListener {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    set_socket_reuseaddr(&socket, true).unwrap();
    bind(&socket, &std::net::SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&socket, 1).unwrap();
    socket.into()
}

/// Does `work` in a network namespace of its own, where that is allowed.
fn alone(work: impl FnOnce() + Send + 'static) {
    let line = match Tun::open(&TunSpec::of_round_trip(std::time::Duration::ZERO)) {
        Ok(line) => line,
        Err(error) => {
            eprintln!("left out: {error}");
            return;
        }
    };
    let inside = std::thread::spawn(move || {
        line.enter(Side::Far).unwrap();
        work();
    });
    inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn segments_that_are_sent_again_are_marked() {
    alone(|| {
        // Who is turned away sends his first segment again.
        let (_server, found) = through_a_full_listener();
        assert!(found.tcp.own.is_some_and(|own| own.segments_retransmitted > 0), "{found:#?}");
        mark(&found, "retransmissions", Verdict::Marked);
        mark(&found, "listen-overflow", Verdict::Marked);
    });
}

#[test]
fn segments_that_other_programs_send_again_mark_no_load_that_waits_meanwhile() {
    alone(|| {
        let (own, full) = (TcpListener::bind("127.0.0.1:0").unwrap(), listener_with_backlog_of_1());
        let (waiting, address, once) = (own.try_clone().unwrap(), full.local_addr().unwrap(), Once::new());
        // Once the load's first connection is there, others are turned away by a listener of theirs, and nobody is answered
        // until they have sent enough again.
        let others = move || {
            once.call_once(|| {
                poll(&mut [PollFd::new(&waiting, PollFlags::IN)], None).unwrap();
                let before = tcp_counts();
                (0..8).for_each(|_| drop(std::thread::spawn(move || TcpStream::connect(address))));
                while tcp_counts().since(before).segments_retransmitted < 3 {
                    wait(Duration::from_millis(1));
                }
            });
        };
        let server = Server::on(own, SOUND, others);
        let found = load(&closed(&server, 64, 4));
        assert!(found.tcp.segments_retransmitted >= 3 && found.response_time_ms.max >= 190.0, "{found:#?}");
        assert!(found.tcp.own.is_some_and(|own| own.segments_sent >= 64), "{found:#?}");
        assert!(found.validity.iter().all(|mark| mark.rule != "retransmissions"), "{:#?}", found.validity);
    });
}

#[test]
fn a_server_that_is_deaf_every_other_second_is_marked_at_equal_rate() {
    alone(|| {
        let (at_a_rate, begun) = (Arc::new(AtomicBool::new(false)), Instant::now());
        let heard = Arc::clone(&at_a_rate);
        // Who is turned away comes again after a second, in which the server listens. It takes its time, so that no
        // machine is so fast that those few are nothing among all.
        let until_it_listens = move || {
            while heard.load(Ordering::Relaxed) && begun.elapsed().as_secs() % 2 == 1 {
                wait(Duration::from_millis(1));
            }
        };
        let answering = Answering { takes: Duration::from_millis(5), ..SOUND };
        let server = Server::on(listener_with_backlog_of_1(), answering, until_it_listens);
        let run = measure_and_say(&server, &at_equal_rate(0.5, 2500, "connection = \"new\""), 2, &at_a_rate);
        for rule in ["rate-listen-overflow", "rate-retransmissions"] {
            assert_eq!(doubt(&run, rule).verdict, Verdict::Marked);
        }
        assert!(run.validity.iter().all(|doubt| doubt.rule != "listen-overflow"), "{:#?}", run.validity);
    });
}

/// The file with the ports of connections, one for each namespace.
const PORT_RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";
/// Ports of the namespace: as many as the lab leaves to others, and 44.
const PORTS: &str = "20000 20299";

/// Connections on all ports that are left.
fn all_ports(to: SocketAddr) -> Vec<TcpStream> {
    std::iter::from_fn(|| TcpStream::connect(to).ok()).collect()
}

#[test]
fn a_generator_without_ports_is_told_before_and_blames_nobody_else() {
    alone(|| {
        std::fs::write(PORT_RANGE, PORTS).unwrap();
        let server = Server::start(SOUND);
        let refused = quick(&closed(&server, 1000, 100), &StopFlag::new()).unwrap_err().to_string();
        assert!(refused.contains("100 ports are needed and 44 are free (20000 to 20299"), "{refused}");

        // Others take all of them meanwhile.
        let taken = all_ports(server.address);
        let found = load(&QuickLoad { concurrency: 20, ..closed(&server, 40, 20) });
        assert_eq!((found.requests, found.errors.get("ports-exhausted")), (0, Some(&40)), "{found:#?}");
        mark(&found, "generator-errors", Verdict::Refused);
        drop(taken);
    });
}

#[test]
fn a_generator_that_runs_out_of_ports_at_equal_rate_refuses_what_is_said_of_it() {
    alone(|| {
        let at_a_rate = Arc::new(AtomicBool::new(false));
        let server = Server::start(Answering { takes: Duration::from_millis(2), ..SOUND });
        let (begins, address) = (Arc::clone(&at_a_rate), server.address);
        // Others take all of them for the first second.
        let others = std::thread::spawn(move || {
            while !begins.load(Ordering::Relaxed) {
                wait(Duration::from_millis(1));
            }
            std::fs::write(PORT_RANGE, PORTS).unwrap();
            let taken = all_ports(address);
            wait(Duration::from_secs(1));
            drop(taken);
        });
        let run = measure_and_say(&server, &at_equal_rate(0.5, 1500, "connection = \"new\""), 2, &at_a_rate);
        others.join().unwrap();
        assert_eq!(doubt(&run, "rate-generator-errors").verdict, Verdict::Refused);
        assert!(run.validity.iter().all(|doubt| doubt.rule != "generator-errors"), "{:#?}", run.validity);
    });
}

#[test]
fn connections_that_wait_on_the_servers_side_take_none_of_the_generators_ports() {
    alone(|| {
        std::fs::write(PORT_RANGE, PORTS).unwrap();
        // It closes first, so each connection waits with it: more of them than there are ports beside those of others.
        let server = Server::start(Answering { answers_a_connection: 1, ..SOUND });
        let many = QuickLoad { connection: Connection::New, ..closed(&server, 60, 1) };
        for _ in 0..2 {
            let found = load(&many);
            assert_eq!((found.requests, found.errors.len()), (60, 0), "{found:#?}");
        }
    });
}
