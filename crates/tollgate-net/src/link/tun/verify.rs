//! Checks whether a line has the requested properties: round trip, throughput, handshake, the slow start of a fresh
//! connection, and losses, between two processes' worth of namespaces that are made for it.
//!
//! It deliberately judges no congestion control: slow start is judged by what no algorithm may fall below.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustix::net::sockopt::tcp_congestion;

use super::{Door, Side, Tun, TunSpec};
use crate::link::measure::{RoundTrips, SILENCE_MAX, is_readable, round_trips, throughput};
use crate::link::verify::{Effort, Verified, spacing};
use crate::link::{Echo, WayCounters};

/// Bytes of the answer on a fresh connection.
pub const ANSWER_BYTES: usize = 100_000;
/// Bytes of a segment of TCP on Ethernet with time stamps, and how many of them an initial window has (RFC 6928).
const SEGMENT_BYTES: usize = 1448;
const INITIAL_WINDOW_SEGMENTS: usize = 10;
/// Extra round trips allowed for an algorithm that paces what it sends, compared with one that only counts.
const PACED_ROUND_TRIPS: u32 = 2;
/// Bytes of the stream over a line without a rate.
const STREAM_BYTES: u64 = 128 << 20;
/// Standard deviations beyond which a count of losses is not by chance.
const DEVIATIONS: f64 = 4.0;

/// The requested and the measured properties of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct TunVerified {
    /// Its round trip and throughput.
    pub stream: Verified,
    /// Times to open a connection.
    pub handshakes: RoundTrips,
    /// Times of 100 kB that were requested on a fresh connection, from its begin to their last byte.
    pub answers: RoundTrips,
    /// The congestion control that sent them.
    pub congestion: String,
    /// The share of packets that was to get lost.
    pub asked_loss: f64,
    /// Packets that did, and all of both ways.
    pub lost: u64,
    /// All packets that came to the line.
    pub packets: u64,
    /// Median lateness of released packets.
    pub lateness_median: Duration,
    /// 99 % of them were.
    pub lateness_p99: Duration,
}

impl TunVerified {
    /// Whether a handshake takes one requested round trip, within the tolerance.
    #[must_use]
    pub fn keeps_its_handshake(&self) -> bool {
        self.handshakes.median().abs_diff(self.stream.asked) <= self.stream.tolerance()
    }

    /// Round trips that a fresh connection needs at least for 100 kB, its handshake among them: what TCP's initial
    /// window and its doubling ask for.
    #[must_use]
    pub fn answer_round_trips_least() -> u32 {
        let mut segments = ANSWER_BYTES.div_ceil(SEGMENT_BYTES);
        let (mut window, mut round_trips) = (INITIAL_WINDOW_SEGMENTS, 1);
        while segments > 0 {
            segments = segments.saturating_sub(window);
            (window, round_trips) = (window * 2, round_trips + 1);
        }
        round_trips
    }

    /// Whether a fresh connection starts slowly: it takes the round trips that it must, and not many more. Always true
    /// if losses or a rate were requested, which decide instead.
    #[must_use]
    pub fn starts_slowly(&self) -> bool {
        if self.asked_loss > 0.0 || self.stream.asked_bytes_per_s.is_some() {
            return true;
        }
        let (took, tolerance) = (self.answers.median(), self.stream.tolerance());
        let least = TunVerified::answer_round_trips_least();
        let most = least + PACED_ROUND_TRIPS;
        took + tolerance * least >= self.stream.asked * least && took <= (self.stream.asked + tolerance) * most
    }

    /// Whether as many packets got lost as chance allows.
    #[must_use]
    pub fn keeps_its_loss(&self) -> bool {
        let (packets, share) = (self.packets as f64, self.asked_loss);
        let expected = packets * share;
        (self.lost as f64 - expected).abs() <= DEVIATIONS * (expected * (1.0 - share)).sqrt()
    }

    /// Whether it has all requested properties.
    #[must_use]
    pub fn keeps_all(&self) -> bool {
        self.stream.keeps_its_round_trip()
            && self.stream.keeps_its_rate()
            && self.keeps_its_handshake()
            && self.starts_slowly()
            && self.keeps_its_loss()
    }
}

/// Measures a line of this spec that is made for it.
///
/// # Errors
/// As [`Tun::open`], or when the far end cannot be reached.
pub fn verify_tun(spec: &TunSpec, effort: Effort) -> io::Result<TunVerified> {
    let (messages, connections, answers) = match effort {
        Effort::Short => (200, 20, 3),
        Effort::Whole => (3_200, 50, 5),
    };
    let outside = Echo::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let link = &spec.link;
    let spacing = spacing(link.rate_bytes_per_s);
    let direct = round_trips(outside.address(), messages.min(1_000), spacing)?;
    let line = Tun::open(spec)?;
    let echo = FarEcho::start(&line)?;
    let near = line.door(Side::Near);
    let got = near.within(|| round_trips(echo.address(), messages, spacing))??;
    let handshakes = near.within(|| handshakes(echo.address(), connections))??;
    let (answers, congestion) = self::answers(&line, answers)?;
    let counters = line.counters();
    // A stream as fast as the machine can makes the line late, too.
    let (lateness_median, lateness_p99) = (counters.lateness_median(), counters.lateness_p99());
    let bytes_per_s = match effort {
        Effort::Short => None,
        Effort::Whole => {
            let bytes = link.rate_bytes_per_s.map_or(STREAM_BYTES, |rate| (rate.get() / 2).clamp(64, STREAM_BYTES));
            Some(near.within(|| throughput(echo.address(), bytes))??)
        }
    };
    let both = |count: fn(&WayCounters) -> u64| count(&counters.there) + count(&counters.back);
    Ok(TunVerified {
        stream: Verified {
            asked: link.round_trip(),
            got,
            direct,
            asked_bytes_per_s: link.rate_bytes_per_s,
            bytes_per_s,
        },
        handshakes,
        answers,
        congestion,
        asked_loss: spec.loss,
        lost: both(WayCounters::lost),
        packets: both(WayCounters::packets_read) - both(WayCounters::dropped),
        lateness_median,
        lateness_p99,
    })
}

/// Measures the time to open connections, one after another.
fn handshakes(address: SocketAddr, count: usize) -> io::Result<RoundTrips> {
    let mut times_ns = Vec::with_capacity(count);
    for _ in 0..count {
        let began = Instant::now();
        let socket = TcpStream::connect_timeout(&address, SILENCE_MAX)?;
        times_ns.push(began.elapsed().as_nanos() as u64);
        drop(socket);
    }
    Ok(RoundTrips::of(times_ns))
}

/// Measures the time in which a fresh connection brings 100 kB, and finds the congestion control that sends them.
fn answers(line: &Tun, count: usize) -> io::Result<(RoundTrips, String)> {
    let listener = line.door(Side::Far).within(|| TcpListener::bind((Side::Far.address(), 0)))??;
    let address = listener.local_addr()?;
    std::thread::scope(|scope| {
        let answering = scope.spawn(move || answer(&listener, count));
        let asking = line.door(Side::Near).within(|| {
            let mut buffer = vec![0; ANSWER_BYTES];
            let mut times_ns = Vec::with_capacity(count);
            for _ in 0..count {
                let began = Instant::now();
                let mut socket = TcpStream::connect_timeout(&address, SILENCE_MAX)?;
                socket.set_read_timeout(Some(SILENCE_MAX))?;
                socket.write_all(b"?")?;
                socket.read_exact(&mut buffer)?;
                times_ns.push(began.elapsed().as_nanos() as u64);
            }
            Ok::<_, io::Error>(RoundTrips::of(times_ns))
        })?;
        let answered = answering.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((asking?, answered?))
    })
}

/// Answers this many connections, one byte with many.
fn answer(listener: &TcpListener, count: usize) -> io::Result<String> {
    let (block, mut question, mut congestion) = (vec![0x2a; ANSWER_BYTES], [0], String::new());
    for _ in 0..count {
        if !is_readable(listener, SILENCE_MAX)? {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody connects over the line"));
        }
        let (mut socket, _) = listener.accept()?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(SILENCE_MAX))?;
        socket.read_exact(&mut question)?;
        congestion = tcp_congestion(&socket)?;
        socket.write_all(&block)?;
    }
    Ok(congestion)
}

/// An echo at the far end of a line.
#[derive(Debug)]
pub struct FarEcho {
    door: Door,
    echo: Option<Echo>,
}

impl FarEcho {
    /// Starts one there, from wherever the thread is.
    ///
    /// # Errors
    /// As [`Door::within`] and [`Echo::start`].
    pub fn start(line: &Tun) -> io::Result<FarEcho> {
        let door = line.door(Side::Far).clone();
        let echo = door.within(|| Echo::start(SocketAddr::from((Side::Far.address(), 0))))??;
        Ok(FarEcho { door, echo: Some(echo) })
    }

    /// As [`round_trips`], from the near end of its line to it.
    ///
    /// # Errors
    /// As [`Door::within`] and [`round_trips`].
    pub fn round_trips(&self, line: &Tun, count: usize, spacing: Duration) -> io::Result<RoundTrips> {
        line.door(Side::Near).within(|| round_trips(self.address(), count, spacing))?
    }

    /// The address on which it listens, at the far end.
    ///
    /// # Panics
    /// Never: it listens until it is dropped.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.echo.as_ref().expect("it is taken only when it is dropped").address()
    }
}

impl Drop for FarEcho {
    fn drop(&mut self) {
        let echo = self.echo.take();
        // It ends by a connection to itself, which only who is there can make. Where nobody gets there, it ends with
        // the process.
        let _ = self.door.within(|| drop(echo));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_connection_takes_three_flights_for_100_kb_and_its_handshake() {
        assert_eq!(TunVerified::answer_round_trips_least(), 4);
    }

    #[test]
    fn what_is_off_is_not_kept() {
        let of = |micros: u64| RoundTrips::of(vec![micros * 1_000]);
        let check = |change: &dyn Fn(&mut TunVerified), expected: bool| {
            let mut verified = TunVerified {
                stream: Verified {
                    asked: Duration::from_millis(10),
                    got: of(10_050),
                    direct: of(40),
                    asked_bytes_per_s: None,
                    bytes_per_s: None,
                },
                handshakes: of(10_080),
                answers: of(51_000),
                congestion: "bbr".to_owned(),
                asked_loss: 0.0,
                lost: 0,
                packets: 10_000,
                lateness_median: Duration::ZERO,
                lateness_p99: Duration::ZERO,
            };
            change(&mut verified);
            assert_eq!(verified.keeps_all(), expected, "{verified:?}");
        };
        check(&|_| (), true);
        check(&|verified| verified.answers = of(10_600), false);
        check(&|verified| verified.answers = of(40_000), true);
        check(&|verified| verified.answers = of(80_000), false);
        check(&|verified| verified.handshakes = of(100), false);
        check(&|verified| verified.lost = 1, false);
        check(&|verified| (verified.asked_loss, verified.lost) = (0.01, 110), true);
        check(&|verified| (verified.asked_loss, verified.lost) = (0.01, 145), false);
    }
}
