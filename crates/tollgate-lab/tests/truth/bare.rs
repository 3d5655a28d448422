//! The simplest users: plain sockets and one epoll on the generator's core, each asking again once it is answered. What
//! they see beyond the server's log is the way: what the machine takes to carry as many requests there and back.
//!
//! They share nothing with the load engine: no runtime, no reader of HTTP, no histogram, so that what both see is no
//! fault of either. They know how long an answer is and look at nothing else in it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use tollgate_lab::cores::Cores;

use crate::server::TruthServer;

const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// One of them.
struct BareUser {
    stream: TcpStream,
    /// When its last answer was whole, from which the next one's time counts.
    since: Instant,
    /// What has come of an answer.
    came_bytes: usize,
}

/// Loads a class with so many users for a while, and gives every time in nanoseconds, sorted. They come over
/// `ramp_up`, before anything counts.
pub(crate) fn bare_times(
    server: &TruthServer,
    class: &str,
    users: usize,
    (ramp_up, span): (Duration, Duration),
) -> Vec<u64> {
    // Its requests repeat one path, so that all answers are as long as this one.
    let answer_bytes = server.client().answer(&format!("{class}/x")).len();
    let request = format!("GET /{class}/x HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port());
    let _pinned = Cores::divide().pin_to_generator();
    let poll = epoll::create(CreateFlags::CLOEXEC).unwrap();
    let mut all: Vec<BareUser> = Vec::with_capacity(users);
    let mut times = Vec::with_capacity(1 << 20);
    let (mut events, mut buffer): (Vec<Event>, Vec<u8>) = (Vec::with_capacity(users.max(1)), vec![0; 65_536]);
    let begun = Instant::now();
    let (counted_from, end) = (begun + ramp_up, begun + ramp_up + span);
    let mut asking = 0;
    while all.len() < users || asking > 0 {
        let comes_at = (all.len() < users).then(|| begun + ramp_up.mul_f64(all.len() as f64 / users as f64));
        if comes_at.is_some_and(|at| at <= Instant::now()) {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
            stream.set_nodelay(true).unwrap();
            epoll::add(&poll, &stream, EventData::new_u64(all.len() as u64), EventFlags::IN).unwrap();
            let since = Instant::now();
            stream.write_all(request.as_bytes()).unwrap();
            all.push(BareUser { stream, since, came_bytes: 0 });
            asking += 1;
        }
        epoll::wait(&poll, spare_capacity(&mut events), comes_at.map(|_| &NO_TIME)).unwrap();
        for event in events.drain(..) {
            let user = &mut all[event.data.u64() as usize];
            let count = user.stream.read(&mut buffer).unwrap();
            let now = Instant::now();
            assert!(count > 0, "the server closed a connection");
            user.came_bytes += count;
            if user.came_bytes < answer_bytes {
                continue;
            }
            assert_eq!(user.came_bytes, answer_bytes, "an answer is longer than the first one");
            if user.since >= counted_from {
                times.push(now.duration_since(user.since).as_nanos() as u64);
            }
            if now >= end {
                asking -= 1;
                continue;
            }
            (user.since, user.came_bytes) = (now, 0);
            user.stream.write_all(request.as_bytes()).unwrap();
        }
    }
    times.sort_unstable();
    times
}

/// The smallest of sorted times that at least `share` of all are not above, in milliseconds.
pub(crate) fn percentile_ms(sorted_ns: &[u64], share: f64) -> f64 {
    let rank = (share * sorted_ns.len() as f64).ceil() as usize;
    sorted_ns[rank.saturating_sub(1)] as f64 / 1e6
}

#[test]
fn bare_users_are_as_many_as_they_are_said_to_be_and_see_nothing_below_the_log() {
    let server = crate::server::truth_server();
    let class = "constant-1000";
    let times = bare_times(&server, class, 5, (Duration::from_millis(10), Duration::from_millis(100)));
    let did = server.did(class);
    assert_eq!(did.count("in_flight_max"), 5);
    // What is not counted: those that came while users came, and the first one.
    assert!(!times.is_empty() && (times.len() as u64) < did.count("received"), "{} times", times.len());
    assert!(percentile_ms(&times, 0.0) >= 1.0, "{:?} ns", times.first());
}
