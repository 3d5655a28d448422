//! Cost of connections: handshakes by kind, phases of first requests, and bytes on the wire.
//!
//! Users record one [`Opened`] for each request that opened its connection; the
//! [`Recorder`](super::record::recorder::Recorder) of their worker keeps them.

use std::time::Instant;

use derive_more::AddAssign;
use tollgate_net::http1::client::{ClientConnection, Opening};
use tollgate_net::tls::Agreed;

use super::record::recorder::{Times, nanoseconds};
use super::user::Answer;
use tollgate_facts::results::SocketCounts;

/// One connection in this many is sampled by asking the kernel, which takes about 1 µs.
const LOOKED_AT_EACH: u64 = 16;

/// First requests on their connections, from connecting to the last byte of the answer, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign)]
pub struct FirstRequests {
    /// Number of requests.
    pub count: u64,
    /// Bytes sent below TLS, its handshake included.
    pub wire_sent_bytes: u64,
    /// Bytes received below TLS, its handshake included.
    pub wire_received_bytes: u64,
    /// Round trips that were waited for: one for TCP, then each time that bytes came back after some were sent.
    pub round_trips: u64,
    /// Number of connections that were sampled.
    pub looked_at: u64,
    /// Segments sent by those, also without data (TCP_INFO).
    pub segments_sent: u64,
    /// Segments received by those, also without data (TCP_INFO).
    pub segments_received: u64,
    /// Segments retransmitted by those (TCP_INFO).
    pub retransmitted: u64,
    /// Their smoothed round-trip times in nanoseconds (TCP_INFO).
    pub round_trip_time_ns: u64,
}

impl FirstRequests {
    /// Counts a connection after its first answer.
    pub(crate) fn count(&mut self, connection: &ClientConnection) {
        self.count += 1;
        self.wire_sent_bytes += connection.wire_sent_bytes();
        self.wire_received_bytes += connection.wire_received_bytes();
        self.round_trips += u64::from(connection.round_trips());
        if self.count % LOOKED_AT_EACH == 1
            && let Some(counts) = connection.tcp_counts()
        {
            self.looked_at += 1;
            self.segments_sent += u64::from(counts.segments_sent);
            self.segments_received += u64::from(counts.segments_received);
            self.retransmitted += u64::from(counts.retransmitted);
            self.round_trip_time_ns += counts.round_trip_time.as_nanos() as u64;
        }
    }
}

/// Observations of the connections of a load, each taken when it was closed or the load was over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionsUsed {
    /// The kernel's counts of their sockets.
    pub sockets: SocketCounts,
    /// Agreed TLS parameters, each with its number of connections: a server has one set, or a few.
    pub agreed: Vec<(Agreed, u64)>,
}

impl ConnectionsUsed {
    fn count_agreed(&mut self, agreed: Agreed, count: u64) {
        match self.agreed.iter_mut().find(|(known, _)| *known == agreed) {
            Some((_, known)) => *known += count,
            None => self.agreed.push((agreed, count)),
        }
    }

    /// Adds others.
    pub(crate) fn add(&mut self, other: &ConnectionsUsed) {
        self.sockets += other.sockets;
        other.agreed.iter().for_each(|(agreed, count)| self.count_agreed(*agreed, *count));
    }
}

/// Values of a connection's socket counters that were counted already.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counted {
    sent: u32,
    sent_again: u32,
    received: u32,
    out_of_order: u32,
}

impl Counted {
    /// Adds what `connection` agreed on, and what its socket did since the last call. One system call, about 1 µs.
    pub(crate) fn count(&mut self, connection: &ClientConnection, used: &mut ConnectionsUsed) {
        if let Some(agreed) = connection.opening().agreed {
            used.count_agreed(agreed, 1);
        }
        let sockets = &mut used.sockets;
        let Some(counts) = connection.tcp_counts() else { return };
        // The kernel's counts begin again after 4 thousand million.
        let since = |now: u32, before: &mut u32| u64::from(now.wrapping_sub(std::mem::replace(before, now)));
        sockets.segments_sent += since(counts.segments_sent, &mut self.sent);
        sockets.segments_retransmitted += since(counts.retransmitted, &mut self.sent_again);
        sockets.segments_received += since(counts.segments_received, &mut self.received);
        sockets.segments_out_of_order += since(counts.out_of_order, &mut self.out_of_order);
    }
}

/// Phases of requests that opened a connection, each from the end of the one before it. Together they make up the
/// response time, except for the moments between.
#[derive(Debug, Clone, Default)]
pub struct Phases {
    /// From the intended start until connecting began.
    pub waited: Times,
    /// Until the TCP connection was open.
    pub connect: Times,
    /// Until the TLS handshake was done; empty without TLS.
    pub tls: Times,
    /// From the send to the first byte of the answer.
    pub first_byte: Times,
    /// From the first byte to the last byte.
    pub last_byte: Times,
}

/// Phases of opening a connection for a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opened {
    begun: Instant,
    connect_ns: u64,
    tls_ns: Option<u64>,
}

impl Opened {
    /// Creates one for a connection that began to connect at `begun`.
    pub(crate) fn of(begun: Instant, Opening { connect_ns, tls_ns, .. }: Opening) -> Opened {
        Opened { begun, connect_ns, tls_ns }
    }

    /// Time to connect and do the TLS handshake.
    pub(crate) fn opening_ns(&self) -> u64 {
        self.connect_ns + self.tls_ns.unwrap_or(0)
    }
}

impl Phases {
    /// Returns the number of requests that opened their connection, and their total time in nanoseconds.
    pub(crate) fn all(&self) -> (u64, f64) {
        let parts = [&self.waited, &self.connect, &self.tls, &self.first_byte, &self.last_byte];
        (self.connect.len(), parts.iter().map(|part| part.mean() * part.len() as f64).sum())
    }

    /// Records one request.
    pub(crate) fn record(&mut self, intended: Instant, answer: &Answer, opened: &Opened) {
        self.waited.saturating_record(nanoseconds(opened.begun, intended));
        self.connect.saturating_record(opened.connect_ns);
        if let Some(tls_ns) = opened.tls_ns {
            self.tls.saturating_record(tls_ns);
        }
        self.first_byte.saturating_record(nanoseconds(answer.first_byte, answer.sent));
        self.last_byte.saturating_record(nanoseconds(answer.finished, answer.first_byte));
    }

    /// Forgets everything but keeps the memory.
    pub(crate) fn reset(&mut self) {
        self.all_mut().into_iter().for_each(|times| times.reset());
    }

    /// Adds others.
    pub fn add(&mut self, other: &Phases) {
        let others = [&other.waited, &other.connect, &other.tls, &other.first_byte, &other.last_byte];
        for (own, other) in self.all_mut().into_iter().zip(others) {
            own.add(other);
        }
    }

    fn all_mut(&mut self) -> [&mut Times; 5] {
        [&mut self.waited, &mut self.connect, &mut self.tls, &mut self.first_byte, &mut self.last_byte]
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hdrhistogram::Histogram;

    use super::*;

    #[test]
    fn the_parts_of_a_request_are_told_apart() {
        let start = Instant::now();
        let at = |micros: u64| start + Duration::from_micros(micros);
        let opened = Opened { begun: at(10), connect_ns: 20_000, tls_ns: Some(300_000) };
        let (sent, first_byte, finished) = (at(335), at(435), at(440));
        let answer = Answer {
            sent,
            first_byte,
            finished,
            own: Duration::ZERO,
            body_bytes: 0,
            received_bytes: 0,
            opened: Some(opened),
        };
        let mut phases = Phases::default();
        phases.record(at(0), &answer, &opened);
        phases.record(at(0), &answer, &Opened { tls_ns: None, ..opened });
        let mut both = phases.clone();
        both.add(&phases);
        let check = |histogram: &Histogram<u64>, count: u64, micros: u64| {
            assert_eq!(histogram.len(), count);
            assert!(histogram.equivalent(histogram.max(), micros * 1000), "{} is not {micros} µs", histogram.max());
        };
        check(&both.waited, 4, 10);
        check(&both.connect, 4, 20);
        check(&both.tls, 2, 300);
        check(&both.first_byte, 4, 100);
        check(&both.last_byte, 4, 5);
        both.reset();
        assert_eq!(both.connect.len(), 0);
    }
}
