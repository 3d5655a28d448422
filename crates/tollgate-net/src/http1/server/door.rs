//! Admission of the connections of one core: a limited number is served at once, a limited number waits behind them,
//! unread, and the rest is turned away.
//!
//! It deliberately closes no connection to make room. If some wait, or no place is left, an answer announces that its
//! connection closes (see [`Core::is_crowded`]); a connection that waits for a request keeps its place.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use tokio::net::TcpStream;

use super::super::error::Fault;
use super::core::Core;
use super::counters::CloseCause;
use super::guests::{Exempt, Guest, Guests};
use super::link::Link;
use super::{Service, connection};
use crate::stream::Stream;
use crate::tls::server::{Acceptor, Connection};

/// Connections beyond the limit that a core still answers at once; more are closed without a word.
const TURNED_AWAY_MAX: usize = 64;
/// The same for those of clients that have too many: they leave the rest to others.
const TURNED_AWAY_OF_CLIENTS_MAX: usize = 32;

/// The entry of connections.
pub(super) struct Door<S> {
    core: Rc<Core>,
    service: Rc<S>,
    /// Opens TLS, if the listener speaks it.
    acceptor: Option<Acceptor>,
    guests: Arc<Guests>,
    exempt: Exempt,
    waiting: RefCell<VecDeque<Waiting>>,
}

/// A connection that waits to be let in.
struct Waiting {
    arrival: Arrival,
    until: Instant,
}

/// A connection that was accepted.
struct Arrival {
    socket: TcpStream,
    peer: SocketAddr,
    /// Absent for an exempt client.
    guest: Option<Guest>,
}

impl<S: Service> Door<S> {
    pub(super) fn new(
        core: Rc<Core>,
        service: Rc<S>,
        acceptor: Option<Acceptor>,
        (guests, exempt): (Arc<Guests>, Exempt),
    ) -> Door<S> {
        Door { core, service, acceptor, guests, exempt, waiting: RefCell::default() }
    }

    /// The shared state of all connections.
    pub(super) fn core(&self) -> &Rc<Core> {
        &self.core
    }

    /// The service that answers.
    pub(super) fn service(&self) -> &Rc<S> {
        &self.service
    }

    /// Has a new connection served, wait, or turned away.
    pub(super) fn enter(&self, socket: TcpStream, peer: SocketAddr) {
        self.core.counters().connections_accepted.add(1);
        let guest = match self.exempt.has(peer.ip()) {
            true => None,
            false => match self.guests.enter(peer.ip(), self.core.limits.connections_per_client_max) {
                Some(guest) => Some(guest),
                None => {
                    self.service.client_refused(peer);
                    return self.turn_away(socket, peer, Fault::ClientConnectionsFull, TURNED_AWAY_OF_CLIENTS_MAX);
                }
            },
        };
        let arrival = Arrival { socket, peer, guest };
        let waiting = self.waiting.borrow().len();
        if waiting == 0 && self.has_place() {
            self.admit(arrival);
        } else if waiting < self.core.limits.connections_waiting_max {
            let until = self.core.now() + self.core.limits.header_timeout;
            self.waiting.borrow_mut().push_back(Waiting { arrival, until });
            self.count_waiting();
        } else {
            self.turn_away(arrival.socket, peer, Fault::ConnectionsFull, TURNED_AWAY_MAX);
        }
    }

    /// Whether any connection waits to be let in.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// Has those that waited longest served, as far as there are places.
    pub(super) fn let_in(&self) {
        while self.has_place() {
            let Some(Waiting { arrival, .. }) = self.waiting.borrow_mut().pop_front() else { break };
            self.admit(arrival);
        }
        self.count_waiting();
    }

    /// Turns away those that have waited too long.
    pub(super) fn turn_late_away(&self) {
        let now = self.core.now();
        while self.waiting.borrow().front().is_some_and(|first| first.until <= now) {
            self.turn_first_away();
        }
        self.count_waiting();
    }

    /// Turns away all that wait.
    pub(super) fn turn_all_away(&self) {
        while self.has_waiting() {
            self.turn_first_away();
        }
        self.count_waiting();
    }

    fn turn_first_away(&self) {
        let first = self.waiting.borrow_mut().pop_front();
        if let Some(Waiting { arrival: Arrival { socket, peer, .. }, .. }) = first {
            self.turn_away(socket, peer, Fault::ConnectionsFull, TURNED_AWAY_MAX);
        }
    }

    fn has_place(&self) -> bool {
        self.core.served() < self.core.limits.connections_max
    }

    fn count_waiting(&self) {
        self.core.set_waiting(self.waiting.borrow().len());
    }

    fn admit(&self, Arrival { socket, peer, guest }: Arrival) {
        let service = self.service.clone();
        match &self.acceptor {
            None => {
                let link = Link::new(self.core.clone(), Stream::plain(socket), peer, guest);
                tokio::task::spawn_local(connection::run(link, service));
            }
            Some(acceptor) => {
                let stream = Stream::TlsServer(Box::new(Connection::new(socket)));
                let link = Link::new(self.core.clone(), stream, peer, guest);
                tokio::task::spawn_local(connection::run_tls(link, service, acceptor.clone()));
            }
        }
    }

    fn turn_away(&self, socket: TcpStream, peer: SocketAddr, fault: Fault, turned_away_max: usize) {
        let core = self.core.clone();
        if self.acceptor.is_some() || !core.turns_away(turned_away_max) {
            // With TLS an answer would cost a handshake, which is what there is too much of.
            core.counters().fault(fault);
            core.counters().closed(CloseCause::Fault);
            return;
        }
        let link = Link::new(core.clone(), Stream::plain(socket), peer, None);
        let service = self.service.clone();
        let turned_away = TurnedAway(core);
        tokio::task::spawn_local(async move {
            connection::turn_away(link, service, fault).await;
            drop(turned_away);
        });
    }
}

/// A connection that is turned away, counted until this is dropped, and by the core behind its link.
struct TurnedAway(Rc<Core>);

impl Drop for TurnedAway {
    fn drop(&mut self) {
        self.0.turned_away();
    }
}
