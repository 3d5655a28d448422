//! The emulated link between real sockets: bytes and their order, ends, resets, back-pressure, many connections. How
//! exact its times are is measured by `tollgate link verify`, not asserted here.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tollgate_net::link::{Echo, Effort, Link, LinkSpec, WINDOW_BYTES_MIN, verify};
use tollgate_net::listen::{ListenOptions, Reserved, listen};

use crate::support::allow_descriptors;

/// Longest wait for anything; only a failure takes so long.
const PATIENCE: Duration = Duration::from_secs(30);

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_nodelay(true).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.set_write_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// Both ends of a connection through a link of this spec.
fn both_ends(spec: &LinkSpec) -> (TcpStream, TcpStream, Link) {
    let listener = TcpListener::bind(loopback()).unwrap();
    let link = Link::start(loopback(), listener.local_addr().unwrap(), spec).unwrap();
    let near = connect(link.address());
    let (far, _) = listener.accept().unwrap();
    far.set_read_timeout(Some(PATIENCE)).unwrap();
    (near, far, link)
}

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what} never came");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// One side: sends these chunks, then ends its side.
fn send(mut socket: &TcpStream, chunks: &[Vec<u8>]) {
    for chunk in chunks {
        socket.write_all(chunk).unwrap();
    }
    socket.shutdown(Shutdown::Write).unwrap();
}

fn receive(mut socket: &TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).unwrap();
    bytes
}

fn chunks() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let chunk = prop_oneof![1..100usize, 1_000..50_000usize].prop_flat_map(|size| {
        any::<u8>().prop_map(move |first| (0..size).map(|at| first.wrapping_add((at * 7) as u8)).collect())
    });
    proptest::collection::vec(chunk, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn bytes_and_order_are_kept_both_ways_up_to_the_ends(
        there in chunks(),
        back in chunks(),
        delay_us in 0..3_000u64,
        jitter_share in 0..=100u64,
        rate in prop_oneof![Just(None), (3_000_000..100_000_000u64).prop_map(NonZeroU64::new)],
        is_narrow in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let round_trip = Duration::from_micros(delay_us * 2);
        let spec = LinkSpec {
            jitter: round_trip * jitter_share as u32 / 100,
            rate_bytes_per_s: rate,
            window_bytes: is_narrow.then_some(WINDOW_BYTES_MIN),
            seed,
            ..LinkSpec::of_round_trip(round_trip)
        };
        let (near, far, link) = both_ends(&spec);
        let (at_far, at_near) = std::thread::scope(|scope| {
            scope.spawn(|| send(&near, &there));
            scope.spawn(|| send(&far, &back));
            let at_far = scope.spawn(|| receive(&far));
            (at_far.join().unwrap(), receive(&near))
        });
        prop_assert!(at_far == there.concat() && at_near == back.concat());
        wait_for("the end of the connection", || link.counters().connections_open() == 0);
        prop_assert_eq!(link.counters().bytes_there(), at_far.len() as u64);
        prop_assert_eq!(link.counters().bytes_back(), at_near.len() as u64);
        prop_assert_eq!((link.counters().held_bytes(), link.counters().connections_reset()), (0, 0));
    }
}

#[test]
fn nothing_arrives_before_its_time() {
    let delay = Duration::from_millis(20);
    let spec = LinkSpec { delay_back: Duration::from_millis(5), ..LinkSpec::of_round_trip(delay * 2) };
    let (mut near, mut far, _link) = both_ends(&spec);
    let mut byte = [0];
    for _ in 0..3 {
        let sent = Instant::now();
        near.write_all(b"x").unwrap();
        far.read_exact(&mut byte).unwrap();
        assert!(sent.elapsed() >= delay);
        let sent = Instant::now();
        far.write_all(b"x").unwrap();
        near.read_exact(&mut byte).unwrap();
        assert!(sent.elapsed() >= Duration::from_millis(5));
    }
}

#[test]
fn half_a_connection_goes_on() {
    let (mut near, mut far, _link) = both_ends(&LinkSpec::of_round_trip(Duration::from_millis(1)));
    near.write_all(b"the question").unwrap();
    near.shutdown(Shutdown::Write).unwrap();
    assert_eq!(receive(&far), b"the question");
    far.write_all(b"the answer").unwrap();
    drop(far);
    assert_eq!(receive(&near), b"the answer");
}

#[test]
fn a_reset_arrives_as_a_reset_after_the_bytes_before_it() {
    let (mut near, far, link) = both_ends(&LinkSpec::of_round_trip(Duration::from_millis(1)));
    (&far).write_all(b"half an ans").unwrap();
    let mut bytes = [0; 11];
    near.read_exact(&mut bytes).unwrap();
    socket2::SockRef::from(&far).set_linger(Some(Duration::ZERO)).unwrap();
    drop(far);
    let error = near.read(&mut bytes).unwrap_err();
    assert_eq!((&bytes, error.kind()), (b"half an ans", ErrorKind::ConnectionReset));
    wait_for("the end of the connection", || link.counters().connections_open() == 0);
    assert_eq!(link.counters().connections_reset(), 1);
}

#[test]
fn a_target_that_is_not_there_resets_its_client_and_is_counted() {
    let nobody = Reserved::on_loopback().unwrap();
    let link = Link::start(loopback(), nobody.address(), &LinkSpec::of_round_trip(Duration::from_millis(1))).unwrap();
    let mut near = connect(link.address());
    // The first bytes may be on their way when the refusal comes back, or be written after it came.
    let outcome = near.write_all(b"is anybody there?").and_then(|()| near.read(&mut [0]));
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::ConnectionReset);
    wait_for("the count", || link.counters().targets_unreachable() == 1);
    wait_for("the end of the connection", || link.counters().connections_open() == 0);
}

#[test]
fn a_client_that_leaves_before_the_target_accepts_costs_nothing() {
    let echo = Echo::start(loopback()).unwrap();
    let link = Link::start(loopback(), echo.address(), &LinkSpec::of_round_trip(Duration::from_millis(40))).unwrap();
    drop(connect(link.address()));
    wait_for("the connection", || link.counters().connections_accepted() == 1);
    wait_for("the end of the connection", || link.counters().connections_open() == 0);
}

#[test]
fn whoever_does_not_read_stops_the_sender() {
    let window_bytes = WINDOW_BYTES_MIN;
    let spec = LinkSpec { window_bytes: Some(window_bytes), ..LinkSpec::of_round_trip(Duration::from_millis(1)) };
    let (near, far, link) = both_ends(&spec);
    // More than the sockets of the system and the window of the link take together.
    let (chunk, sent) = (vec![7; 1024 * 1024], AtomicUsize::new(0));
    let received = std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..64 {
                (&near).write_all(&chunk).unwrap();
                sent.fetch_add(chunk.len(), SeqCst);
            }
            near.shutdown(Shutdown::Write).unwrap();
        });
        wait_for("a full window", || link.counters().held_bytes() >= window_bytes as u64);
        assert!(sent.load(SeqCst) < 64 * chunk.len());
        assert!(link.counters().held_bytes() < 2 * window_bytes as u64);
        receive(&far).len()
    });
    assert_eq!(received, 64 * chunk.len());
}

#[test]
fn two_thousand_connections_share_one_thread_and_leave_nothing_behind() {
    allow_descriptors();
    // The standard library's backlog of 128 would drop what is connected at once.
    let echo = listen(&ListenOptions::new(loopback())).unwrap().remove(0);
    echo.set_nonblocking(false).unwrap();
    let link = Link::start(loopback(), echo.local_addr().unwrap(), &LinkSpec::of_round_trip(Duration::from_millis(2)))
        .unwrap();
    for _ in 0..4 {
        let near: Vec<TcpStream> = (0..500).map(|_| connect(link.address())).collect();
        let far: Vec<TcpStream> = (0..500).map(|_| echo.accept().unwrap().0).collect();
        for (number, mut socket) in near.iter().enumerate() {
            socket.write_all(&(number as u64).to_be_bytes()).unwrap();
        }
        // The target accepts in an order of its own.
        let mut numbers: Vec<u64> = far
            .iter()
            .map(|mut socket| {
                let mut number = [0; 8];
                socket.read_exact(&mut number).unwrap();
                socket.write_all(&number).unwrap();
                u64::from_be_bytes(number)
            })
            .collect();
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(0..500));
        for (number, mut socket) in near.iter().enumerate() {
            let mut back = [0; 8];
            socket.read_exact(&mut back).unwrap();
            assert_eq!(u64::from_be_bytes(back), number as u64);
        }
    }
    wait_for("the end of the connections", || link.counters().connections_open() == 0);
    assert_eq!((link.counters().connections_accepted(), link.counters().held_bytes()), (2000, 0));
}

#[test]
fn draining_lets_the_open_end_and_stopping_resets_them() {
    let (mut near, far, link) = both_ends(&LinkSpec::of_round_trip(Duration::from_millis(1)));
    let address = link.address();
    near.write_all(b"last words").unwrap();
    let draining = std::thread::spawn(move || link.drain(PATIENCE));
    wait_for("the end of listening", || TcpStream::connect(address).is_err());
    near.shutdown(Shutdown::Write).unwrap();
    assert_eq!(receive(&far), b"last words");
    drop(far);
    assert_eq!(receive(&near), b"");
    draining.join().unwrap();

    let (mut near, _far, link) = both_ends(&LinkSpec::of_round_trip(Duration::from_millis(1)));
    link.stop();
    assert_eq!(near.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn a_link_that_cannot_be_is_refused_before_it_listens() {
    let spec = LinkSpec { jitter: Duration::from_millis(3), ..LinkSpec::of_round_trip(Duration::from_millis(2)) };
    let error = Link::start(loopback(), loopback(), &spec).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(error.to_string(), "a jitter of 3ms is more than the delays allow: at most 2ms");
}

#[test]
#[ignore = "asserts times: by hand, on a machine that does nothing else (`cargo test --release -p tollgate-net -- --ignored link`)"]
fn a_small_echo_takes_what_was_asked_within_60_us_and_5_percent() {
    for milliseconds in [1, 2, 5, 10, 20, 50, 160] {
        let verified = verify(&LinkSpec::of_round_trip(Duration::from_millis(milliseconds)), Effort::Short).unwrap();
        assert!(verified.keeps_its_round_trip(), "{milliseconds} ms asked, {:?} got", verified.got.median());
    }
}

#[test]
#[ignore = "asserts a throughput: by hand, on a machine that does nothing else"]
fn throughput_does_not_depend_on_the_delay_up_to_the_window() {
    let carried = |milliseconds: u64| {
        let spec = LinkSpec::of_round_trip(Duration::from_millis(milliseconds));
        verify(&spec, Effort::Whole).unwrap().bytes_per_s.unwrap()
    };
    let near = carried(0);
    for milliseconds in [1, 10, 50, 160] {
        let far = carried(milliseconds);
        assert!(far > near * 0.7, "{near:.0} bytes/s at 0 ms, {far:.0} at {milliseconds} ms");
    }
}
