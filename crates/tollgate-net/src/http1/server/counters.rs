//! Counters of the server: one set of tallies per core, summed when read.
//!
//! Rendering them as metrics is for the admin page.

use std::ops::Index;

use super::super::error::Fault;
use crate::meter::Tally;
use crate::tls::HandshakeKind;
use crate::tls::server::{HandshakeFailure, Version};

/// The reasons why a connection was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseCause {
    /// The client closed it between two requests.
    Client,
    /// The client closed it, or it broke, within an exchange.
    Broken,
    /// An answer said `Connection: close`: the client asked for it, or HTTP/1.0 does.
    Agreed,
    /// After a fault of the client's.
    Fault,
    /// It waited too long between two requests.
    IdleTimeout,
    /// The client took none of an answer for too long.
    WriteStall,
    /// The client took an answer so slowly that others needed its memory.
    UnsentFull,
    /// It had sent as many requests as one connection is allowed.
    RequestsSpent,
    /// The service left a body unread that was too large to drop.
    BodyUnread,
    /// The service asked to break it off.
    Aborted,
    /// The server drains.
    Drained,
    /// Its TLS handshake failed.
    Handshake,
    /// Behind an answer, as no place was left for others.
    MadeRoom,
}

impl CloseCause {
    /// Every cause, in the order of the enum.
    pub const ALL: &[CloseCause] = &[
        CloseCause::Client,
        CloseCause::Broken,
        CloseCause::Agreed,
        CloseCause::Fault,
        CloseCause::IdleTimeout,
        CloseCause::WriteStall,
        CloseCause::UnsentFull,
        CloseCause::RequestsSpent,
        CloseCause::BodyUnread,
        CloseCause::Aborted,
        CloseCause::Drained,
        CloseCause::Handshake,
        CloseCause::MadeRoom,
    ];

    /// The stable name, in kebab case: a metric's label.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CloseCause::Client => "client",
            CloseCause::Broken => "broken",
            CloseCause::Agreed => "agreed",
            CloseCause::Fault => "fault",
            CloseCause::IdleTimeout => "idle-timeout",
            CloseCause::WriteStall => "write-stall",
            CloseCause::UnsentFull => "unsent-full",
            CloseCause::RequestsSpent => "requests-spent",
            CloseCause::BodyUnread => "body-unread",
            CloseCause::Aborted => "aborted",
            CloseCause::Drained => "drained",
            CloseCause::Handshake => "handshake",
            CloseCause::MadeRoom => "made-room",
        }
    }
}

/// The activity of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionState {
    /// It opens TLS.
    Handshaking,
    /// It waits for a request; no byte of it has come yet.
    Idle,
    /// It waits for the rest of a request.
    Reading,
    /// The service works for it.
    Working,
    /// The client has to take the bytes in the socket.
    Writing,
}

impl ConnectionState {
    /// Every state, in the order of the enum.
    pub const ALL: &[ConnectionState] = &[
        ConnectionState::Handshaking,
        ConnectionState::Idle,
        ConnectionState::Reading,
        ConnectionState::Working,
        ConnectionState::Writing,
    ];

    /// The stable name: a metric's label.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ConnectionState::Handshaking => "handshaking",
            ConnectionState::Idle => "idle",
            ConnectionState::Reading => "reading",
            ConnectionState::Working => "working",
            ConnectionState::Writing => "writing",
        }
    }
}

const STATES: usize = ConnectionState::ALL.len();
const HANDSHAKE_FAILURES: usize = HandshakeFailure::ALL.len();
const CAUSES: usize = CloseCause::ALL.len();
const FAULTS: usize = Fault::ALL.len();
const CLASSES: usize = 5;

/// The counts of one server.
#[derive(Debug)]
pub struct Counters {
    cores: Box<[CoreCounters]>,
}

/// The counts of one core, on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct CoreCounters {
    pub(crate) connections_open: Tally,
    connections_peak: Tally,
    pub(crate) connections_accepted: Tally,
    connections_waiting: Tally,
    pub(crate) held_bytes: Tally,
    pub(crate) unsent_bytes: Tally,
    unsent_bytes_peak: Tally,
    pub(crate) accept_errors: Tally,
    pub(crate) requests: Tally,
    pub(crate) panics: Tally,
    pub(crate) received_bytes: Tally,
    pub(crate) sent_bytes: Tally,
    handshakes_full: Tally,
    handshakes_resumed: Tally,
    handshakes_tls12: Tally,
    handshakes_tls13: Tally,
    handshakes_failed: Tallies<HANDSHAKE_FAILURES>,
    states: Tallies<STATES>,
    closed: Tallies<CAUSES>,
    responses: Tallies<CLASSES>,
    faults: Tallies<FAULTS>,
}

/// One for each kind.
#[derive(Debug)]
struct Tallies<const N: usize>([Tally; N]);

impl<const N: usize> Default for Tallies<N> {
    fn default() -> Self {
        Tallies(std::array::from_fn(|_| Tally::default()))
    }
}

impl<const N: usize> Index<usize> for Tallies<N> {
    type Output = Tally;

    fn index(&self, index: usize) -> &Tally {
        &self.0[index]
    }
}

impl CoreCounters {
    /// A connection is open.
    pub(crate) fn opened(&self) {
        self.connections_open.add(1);
        self.connections_peak.raise_to(self.connections_open.value());
    }

    /// Records that this many connections wait to be let in, after `before`.
    pub(crate) fn waits(&self, before: usize, now: usize) {
        self.connections_waiting.add((now as u64).wrapping_sub(before as u64));
    }

    /// Raises the peak of unsent bytes to their current number.
    pub(crate) fn unsent_peak(&self) {
        self.unsent_bytes_peak.raise_to(self.unsent_bytes.value());
    }

    pub(crate) fn closed(&self, cause: CloseCause) {
        self.closed[cause as usize].add(1);
    }

    /// A handshake has opened a connection.
    pub(crate) fn handshaken(&self, version: Version, kind: HandshakeKind) {
        match kind {
            HandshakeKind::Full => self.handshakes_full.add(1),
            HandshakeKind::Resumed => self.handshakes_resumed.add(1),
        }
        match version {
            Version::Tls12 => self.handshakes_tls12.add(1),
            Version::Tls13 => self.handshakes_tls13.add(1),
        }
    }

    pub(crate) fn handshake_failed(&self, failure: HandshakeFailure) {
        self.handshakes_failed[failure as usize].add(1);
    }

    /// A connection comes into this state.
    pub(crate) fn begins(&self, state: ConnectionState) {
        self.states[state as usize].add(1);
    }

    /// A connection leaves this state.
    pub(crate) fn ends(&self, state: ConnectionState) {
        self.states[state as usize].subtract(1);
    }

    pub(crate) fn responded(&self, status: u16) {
        self.responses[(usize::from(status / 100)).clamp(1, CLASSES) - 1].add(1);
    }

    pub(crate) fn fault(&self, fault: Fault) {
        self.faults[fault as usize].add(1);
    }
}

impl Counters {
    /// Counters for a server with this number of threads.
    #[must_use]
    pub fn new(threads: usize) -> Counters {
        Counters { cores: (0..threads.max(1)).map(|_| CoreCounters::default()).collect() }
    }

    pub(crate) fn cores(&self) -> usize {
        self.cores.len()
    }

    pub(crate) fn core(&self, index: usize) -> &CoreCounters {
        &self.cores[index]
    }

    /// Connections open now.
    #[must_use]
    pub fn connections_open(&self) -> u64 {
        self.sum(|core| &core.connections_open)
    }

    /// The most that were open at once: on each core, added up, since cores do not count together. At least what was
    /// open on all of them at any moment.
    #[must_use]
    pub fn connections_peak(&self) -> u64 {
        self.sum(|core| &core.connections_peak)
    }

    /// Connections accepted since the start.
    #[must_use]
    pub fn connections_accepted(&self) -> u64 {
        self.sum(|core| &core.connections_accepted)
    }

    /// Connections that wait, unread, to be let in.
    #[must_use]
    pub fn connections_waiting(&self) -> u64 {
        self.sum(|core| &core.connections_waiting)
    }

    /// Bytes that unfinished requests occupy now.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.sum(|core| &core.held_bytes)
    }

    /// Bytes that answers occupy now while they wait for their clients.
    #[must_use]
    pub fn unsent_bytes(&self) -> u64 {
        self.sum(|core| &core.unsent_bytes)
    }

    /// The most that they occupied at once: on each core, added up.
    #[must_use]
    pub fn unsent_bytes_peak(&self) -> u64 {
        self.sum(|core| &core.unsent_bytes_peak)
    }

    /// Connections that the system would not hand over, for lack of descriptors or memory.
    #[must_use]
    pub fn accept_errors(&self) -> u64 {
        self.sum(|core| &core.accept_errors)
    }

    /// Connections closed for that cause.
    #[must_use]
    pub fn connections_closed(&self, cause: CloseCause) -> u64 {
        self.sum(|core| &core.closed[cause as usize])
    }

    /// Connections that do that now.
    #[must_use]
    pub fn connections(&self, state: ConnectionState) -> u64 {
        self.sum(|core| &core.states[state as usize])
    }

    /// Handshakes of TLS that opened a connection.
    #[must_use]
    pub fn handshakes(&self, kind: HandshakeKind) -> u64 {
        self.sum(|core| match kind {
            HandshakeKind::Full => &core.handshakes_full,
            HandshakeKind::Resumed => &core.handshakes_resumed,
        })
    }

    /// Handshakes of TLS that agreed on that version.
    #[must_use]
    pub fn handshakes_of(&self, version: Version) -> u64 {
        self.sum(|core| match version {
            Version::Tls12 => &core.handshakes_tls12,
            Version::Tls13 => &core.handshakes_tls13,
        })
    }

    /// Handshakes of TLS that failed for that cause.
    #[must_use]
    pub fn handshakes_failed(&self, failure: HandshakeFailure) -> u64 {
        self.sum(|core| &core.handshakes_failed[failure as usize])
    }

    /// Requests whose head was read and was without fault.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.sum(|core| &core.requests)
    }

    /// Answers begun with a status of that class, 1 to 5.
    ///
    /// # Panics
    /// When there is no such class.
    #[must_use]
    pub fn responses(&self, class: u16) -> u64 {
        assert!((1..=5).contains(&class), "a status class is 1 to 5");
        self.sum(|core| &core.responses[usize::from(class) - 1])
    }

    /// Panics of the service.
    #[must_use]
    pub fn panics(&self) -> u64 {
        self.sum(|core| &core.panics)
    }

    /// Faults of clients by kind.
    #[must_use]
    pub fn faults(&self, fault: Fault) -> u64 {
        self.sum(|core| &core.faults[fault as usize])
    }

    /// Bytes that came, at the socket.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.sum(|core| &core.received_bytes)
    }

    /// Bytes that went, at the socket.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.sum(|core| &core.sent_bytes)
    }

    fn sum(&self, tally: impl Fn(&CoreCounters) -> &Tally) -> u64 {
        self.cores.iter().map(|core| tally(core).value()).fold(0, u64::wrapping_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_sums_over_the_cores() {
        let counters = Counters::new(2);
        counters.core(0).responded(200);
        counters.core(1).responded(204);
        counters.core(1).responded(503);
        counters.core(0).closed(CloseCause::Client);
        counters.core(1).fault(Fault::BadHost);
        assert_eq!((counters.responses(2), counters.responses(5), counters.responses(4)), (2, 1, 0));
        assert_eq!(counters.connections_closed(CloseCause::Client), 1);
        assert_eq!(counters.faults(Fault::BadHost), 1);
    }

    #[test]
    fn every_cause_stands_at_its_own_place() {
        assert!(CloseCause::ALL.iter().enumerate().all(|(index, cause)| *cause as usize == index));
        assert!(ConnectionState::ALL.iter().enumerate().all(|(index, state)| *state as usize == index));
    }
}
