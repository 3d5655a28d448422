//! The line of packets between two network namespaces. Without root there is nothing to test, and one line says so.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Once;
use std::time::Duration;

use tollgate_net::link::{Effort, Side, Tun, TunSpec, verify_tun};

/// The line, or none where it takes more rights than this test has.
fn line(spec: &TunSpec) -> Option<Tun> {
    match Tun::open(spec) {
        Ok(line) => Some(line),
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported) => {
            static SAID: Once = Once::new();
            #[expect(clippy::print_stderr, reason = "whoever runs the tests is to know what they did not show")]
            SAID.call_once(|| eprintln!("skipped: the line between network namespaces, which {error}"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A connection over the line: the near socket and the far one.
fn connected(line: &Tun) -> (TcpStream, TcpStream) {
    let listener = line.door(Side::Far).within(|| TcpListener::bind((Side::Far.address(), 0)).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let near = line.door(Side::Near).within(|| TcpStream::connect(address).unwrap()).unwrap();
    (near, listener.accept().unwrap().0)
}

/// Sends all of it from near, and returns the bytes that arrive.
fn carried(line: &Tun, sent: &[u8]) -> Vec<u8> {
    let (mut near, mut far) = connected(line);
    let mut arrived = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(move || near.write_all(sent).unwrap());
        far.read_to_end(&mut arrived).unwrap();
    });
    arrived
}

#[test]
fn who_connects_from_near_is_seen_with_its_address_at_far() {
    let Some(line) = line(&TunSpec::of_round_trip(Duration::from_millis(2))) else { return };
    let (near, far) = connected(&line);
    assert_eq!(near.peer_addr().unwrap().ip(), Side::Far.address());
    assert_eq!(far.peer_addr().unwrap(), near.local_addr().unwrap());
    assert_eq!(far.peer_addr().unwrap().ip(), Side::Near.address());
}

#[test]
fn what_is_sent_arrives_in_packets_of_the_size_of_ethernet() {
    let Some(line) = line(&TunSpec::of_round_trip(Duration::from_millis(2))) else { return };
    let sent: Vec<u8> = (0..1_000_000_u32).map(|position| (position % 251) as u8).collect();
    assert!(carried(&line, &sent) == sent);
    let there = &line.counters().there;
    assert!(there.packets() > 1_000_000 / 1500, "{}", there.packets());
    assert!(there.bytes() > 1_000_000 && there.bytes() / there.packets() <= 1500);
    assert_eq!((there.lost(), there.dropped(), there.refused()), (0, 0, 0));
}

#[test]
fn what_is_lost_and_overtaken_arrives_all_the_same() {
    let spec = TunSpec { loss: 0.02, reorder: 0.05, ..TunSpec::of_round_trip(Duration::from_millis(2)) };
    let Some(line) = line(&spec) else { return };
    let sent: Vec<u8> = (0..500_000_u32).map(|position| (position % 251) as u8).collect();
    assert!(carried(&line, &sent) == sent);
    let there = &line.counters().there;
    assert!(there.lost() > 0 && there.overtaken() > 0, "{there:?}");
}

#[test]
fn each_end_has_a_loopback_interface_of_its_own() {
    let Some(line) = line(&TunSpec::of_round_trip(Duration::ZERO)) else { return };
    let outside = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = outside.local_addr().unwrap();
    let inside = |side: Side| {
        line.door(side).within(|| {
            let listener = TcpListener::bind(address).unwrap();
            assert_eq!(TcpStream::connect(address).unwrap().peer_addr().unwrap(), address);
            drop(listener);
            TcpStream::connect(address).unwrap_err().kind()
        })
    };
    assert_eq!(inside(Side::Near).unwrap(), ErrorKind::ConnectionRefused);
    assert_eq!(inside(Side::Far).unwrap(), ErrorKind::ConnectionRefused);
}

#[test]
fn a_thread_that_entered_starts_its_children_there() {
    let Some(line) = line(&TunSpec::of_round_trip(Duration::ZERO)) else { return };
    let namespace = || {
        let told = Command::new("readlink").arg("/proc/self/ns/net").output().unwrap();
        String::from_utf8(told.stdout).unwrap()
    };
    let [near, far] = [Side::Near, Side::Far].map(|side| {
        std::thread::scope(|scope| {
            let entered = scope.spawn(|| {
                line.enter(side).unwrap();
                namespace()
            });
            entered.join().unwrap()
        })
    });
    assert!(near != far && near != namespace() && far != namespace());
}

#[test]
fn a_line_that_is_changed_keeps_its_connections() {
    let Some(line) = line(&TunSpec::of_round_trip(Duration::from_millis(5))) else { return };
    let (mut near, mut far) = connected(&line);
    for round_trip_ms in [0, 2, 1] {
        line.change(&TunSpec::of_round_trip(Duration::from_millis(round_trip_ms))).unwrap();
        let mut arrived = [0; 4];
        near.write_all(b"ping").unwrap();
        far.read_exact(&mut arrived).unwrap();
        assert_eq!(&arrived, b"ping");
    }
    let beyond = TunSpec::of_round_trip(Duration::from_secs(61));
    assert_eq!(line.change(&beyond).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_program_runs_at_its_end_and_tells_how_it_ended() {
    let Some(line) = line(&TunSpec::of_round_trip(Duration::ZERO)) else { return };
    let mut script = Command::new("sh");
    script.args(["-c", "grep -q 'line:' /proc/self/net/dev && exit 7"]);
    let mut number = 0;
    let ended = line.door(Side::Far).run(&mut script, |started| number = started).unwrap();
    assert_eq!((ended.code(), number != 0), (Some(7), true));
}

#[test]
fn without_the_line_nothing_goes_over_any_more() {
    let Some(line) = line(&TunSpec::of_round_trip(Duration::ZERO)) else { return };
    let near = line.door(Side::Near).clone();
    let interfaces = |door: &tollgate_net::link::Door| {
        door.within(|| std::fs::read_to_string("/proc/thread-self/net/dev").unwrap()).unwrap()
    };
    assert!(interfaces(&near).contains("line:"));
    drop(line);
    assert!(!interfaces(&near).contains("line:"));
}

#[test]
fn a_line_that_cannot_be_is_no_question_of_rights() {
    let spec = TunSpec { loss: 1.0, ..TunSpec::of_round_trip(Duration::ZERO) };
    assert_eq!(Tun::open(&spec).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
#[ignore = "asserts times: by hand, on a machine that does nothing else (`cargo test --release -p tollgate-net -- --ignored tun`)"]
fn a_line_keeps_what_was_asked() {
    if line(&TunSpec::of_round_trip(Duration::ZERO)).is_none() {
        return;
    }
    for round_trip_ms in [1, 10, 50] {
        let spec = TunSpec::of_round_trip(Duration::from_millis(round_trip_ms));
        let verified = verify_tun(&spec, Effort::Whole).unwrap();
        println!(
            "{round_trip_ms} ms: got {:?} p99 {:?} direct {:?}, handshake {:?}, answer {:?} ({}), {:.0} MB/s, late {:?} {:?}",
            verified.stream.got.median(),
            verified.stream.got.p99(),
            verified.stream.direct.median(),
            verified.handshakes.median(),
            verified.answers.median(),
            verified.congestion,
            verified.stream.bytes_per_s.unwrap() / 1e6,
            verified.lateness_median,
            verified.lateness_p99
        );
        assert!(verified.keeps_all(), "{verified:?}");
    }
}
