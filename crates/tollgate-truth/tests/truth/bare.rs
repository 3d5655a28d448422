//! The simplest users: plain sockets and one epoll on the generator's core, each asking again once it is answered, or
//! at a rate. Their times beyond the server's log are the way: the machine's cost to carry the requests.
//!
//! They share nothing with the load engine: no runtime, no reader of HTTP, no histogram, so that what both see is no
//! fault of either. They know how long an answer is and look at nothing else in it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime};
use tollgate_lab::cores::Cores;

use crate::server::TruthServer;

const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// Connections of a load at a rate, all there before it begins.
const USERS_AT_A_RATE: usize = 400;
/// Time in which their requests do not count: the server is still accepting connections when the first ones come.
const SETTLING: Duration = Duration::from_millis(200);
/// Time before something is due in which the clock is watched all the time, since a sleeping core takes a while to
/// wake. Before that it sleeps: an answer that comes then has to wake it, as it would any client that is not at work.
const AWAKE_BEFORE: Duration = Duration::from_micros(60);
/// Under this number the alarm rings.
const ALARM: u64 = u64::MAX;

/// A timer that is waited for beside the sockets: what the poll itself waits is rounded up to whole milliseconds.
struct Alarm(OwnedFd);

impl Alarm {
    fn beside(poll: &OwnedFd) -> Alarm {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK).unwrap();
        // Edges only: it is set anew each time, and need not be read.
        epoll::add(poll, &timer, EventData::new_u64(ALARM), EventFlags::IN | EventFlags::ET).unwrap();
        Alarm(timer)
    }

    fn ring_in(&self, rest: Duration) {
        let it_value = Timespec { tv_sec: rest.as_secs() as i64, tv_nsec: i64::from(rest.subsec_nanos()) };
        let once = Itimerspec { it_interval: NO_TIME, it_value };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once).unwrap();
    }
}

/// One of them.
struct BareUser {
    stream: TcpStream,
    /// From when on its answer's time counts.
    since: Instant,
    /// Bytes of the answer so far.
    came_bytes: usize,
}

impl BareUser {
    /// Connects, and lets itself be waited for under its number.
    fn connect(server: &TruthServer, poll: &OwnedFd, number: usize) -> BareUser {
        let stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream.set_nodelay(true).unwrap();
        epoll::add(poll, &stream, EventData::new_u64(number as u64), EventFlags::IN).unwrap();
        BareUser { stream, since: Instant::now(), came_bytes: 0 }
    }

    fn ask(&mut self, request: &str, since: Instant) {
        (self.since, self.came_bytes) = (since, 0);
        self.stream.write_all(request.as_bytes()).unwrap();
    }

    /// Reads what is there, and says when an answer is whole.
    fn read(&mut self, buffer: &mut [u8], answer_bytes: usize) -> Option<Instant> {
        let count = self.stream.read(buffer).unwrap();
        let now = Instant::now();
        assert!(count > 0, "the server closed a connection");
        self.came_bytes += count;
        assert!(self.came_bytes <= answer_bytes, "an answer is longer than the first one");
        (self.came_bytes == answer_bytes).then_some(now)
    }
}

fn request(server: &TruthServer, class: &str) -> String {
    format!("GET /{class}/x HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port())
}

/// Loads a class with `users` users for a while, and returns every time in nanoseconds, sorted. They come over
/// `ramp_up`, before anything counts.
pub(crate) fn bare_times(
    server: &TruthServer,
    class: &str,
    users: usize,
    (ramp_up, span): (Duration, Duration),
) -> Vec<u64> {
    // Its requests repeat one path, so that all answers are as long as this one.
    let answer_bytes = server.client().answer(&format!("{class}/x")).len();
    let request = request(server, class);
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
            let mut user = BareUser::connect(server, &poll, all.len());
            user.ask(&request, Instant::now());
            all.push(user);
            asking += 1;
        }
        epoll::wait(&poll, spare_capacity(&mut events), comes_at.map(|_| &NO_TIME)).unwrap();
        for event in events.drain(..) {
            let user = &mut all[event.data.u64() as usize];
            let Some(now) = user.read(&mut buffer, answer_bytes) else { continue };
            if user.since >= counted_from {
                times.push(now.duration_since(user.since).as_nanos() as u64);
            }
            if now >= end {
                asking -= 1;
            } else {
                user.ask(&request, now);
            }
        }
    }
    times.sort_unstable();
    times
}

/// Asks for one of these classes at each moment of a Poisson process, however many still wait, and gives the mean time
/// from when a request was due until its answer was whole, in milliseconds.
pub(crate) fn bare_mean_at_rate_ms(
    server: &TruthServer,
    classes: &[String],
    per_second: f64,
    span: Duration,
    seed: u64,
) -> f64 {
    let answer_bytes = server.client().answer(&format!("{}/x", classes[0])).len();
    let requests: Vec<String> = classes.iter().map(|class| request(server, class)).collect();
    let _pinned = Cores::divide().pin_to_generator();
    let poll = epoll::create(CreateFlags::CLOEXEC).unwrap();
    let alarm = Alarm::beside(&poll);
    let mut all: Vec<BareUser> = (0..USERS_AT_A_RATE).map(|number| BareUser::connect(server, &poll, number)).collect();
    let mut idle: Vec<usize> = (0..USERS_AT_A_RATE).collect();
    let (mut events, mut buffer): (Vec<Event>, Vec<u8>) = (Vec::with_capacity(64), vec![0; 65_536]);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // In (0, 1]: the logarithm of 0 is no time.
    let gap = |random: &mut ChaCha8Rng| Duration::from_secs_f64(-(1.0 - random.random::<f64>()).ln() / per_second);
    let counted_from = Instant::now() + SETTLING;
    let (mut due, end) = (Instant::now() + gap(&mut random), counted_from + span);
    let (mut total, mut answered) = (Duration::ZERO, 0);
    while due < end || idle.len() < all.len() {
        let left = due.saturating_duration_since(Instant::now());
        // Where all wait for answers, what is due waits too, and its time counts.
        if due < end
            && left.is_zero()
            && let Some(user) = idle.pop()
        {
            all[user].ask(&requests[random.random_range(0..requests.len())], due);
            due += gap(&mut random);
            continue;
        }
        let rest = left.saturating_sub(AWAKE_BEFORE);
        let is_awake = due < end && rest.is_zero();
        if due < end && !is_awake {
            alarm.ring_in(rest);
        }
        epoll::wait(&poll, spare_capacity(&mut events), is_awake.then_some(&NO_TIME)).unwrap();
        for event in events.drain(..).filter(|event| event.data.u64() != ALARM) {
            let number = event.data.u64() as usize;
            let Some(now) = all[number].read(&mut buffer, answer_bytes) else { continue };
            idle.push(number);
            let since = all[number].since;
            if since >= counted_from {
                total += now.duration_since(since);
                answered += 1;
            }
        }
    }
    total.as_secs_f64() * 1e3 / f64::from(answered)
}

/// The smallest of sorted times that at least `share` of all are not above, in milliseconds.
pub(crate) fn percentile_ms(sorted_ns: &[u64], share: f64) -> f64 {
    let rank = (share * sorted_ns.len() as f64).ceil() as usize;
    sorted_ns[rank.saturating_sub(1)] as f64 / 1e6
}

#[test]
fn bare_users_are_no_more_than_they_are_said_to_be_and_see_nothing_below_the_log() {
    let server = crate::server::truth_server();
    let class = "constant-1000";
    let times = bare_times(&server, class, 5, (Duration::from_millis(10), Duration::from_millis(100)));
    let did = server.did(class);
    assert!((1..=5).contains(&did.count("in_flight_max")), "{did:?}");
    // What is not counted: those that came while users came, and the first one, which showed how long an answer is.
    assert!((times.len() as u64) < did.count("received"), "{} times, {did:?}", times.len());
    assert!(times.iter().all(|time_ns| *time_ns >= 1_000_000), "{:?} ns", times.first());
}

#[test]
fn bare_users_at_a_rate_ask_as_often_as_the_rate_says_and_see_no_mean_below_the_log() {
    let server = crate::server::truth_server();
    let classes = ["constant-1000,seed-1", "constant-1000,seed-2"].map(str::to_owned);
    let mean_ms = bare_mean_at_rate_ms(&server, &classes, 1000.0, Duration::from_millis(200), 7);
    let received = classes.each_ref().map(|class| server.did(class).count("received"));
    // One more of the first class showed how long an answer is. Of 400 (half of them counted) 60 are three standard
    // deviations.
    assert!((340..=460).contains(&(received[0] + received[1] - 1)), "{received:?}");
    assert!(received[1] > 100 && mean_ms >= 1.0, "{received:?}, {mean_ms} ms");
}
