//! Admission of the connections of one core: a limited number is served at once, a limited number waits behind them,
//! unread, and the rest is turned away.
//!
//! It deliberately closes no connection to make room. If some wait, or no place is left, an answer announces that its
//! connection closes (see [`Core::is_crowded`]); a connection that waits for a request keeps its place.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Instant;

use tokio::net::TcpStream;

use super::super::error::Fault;
use super::core::Core;
use super::counters::CloseCause;
use super::link::Link;
use super::{Service, connection};
use crate::stream::Stream;
use crate::tls::server::{Acceptor, Connection};

/// Connections beyond the limit that a core still answers at once; more are closed without a word.
const TURNED_AWAY_MAX: usize = 64;

/// The entry of connections.
pub(super) struct Door<S> {
    core: Rc<Core>,
    service: Rc<S>,
    /// Opens TLS, if the listener speaks it.
    acceptor: Option<Acceptor>,
    turned_away: Rc<Cell<usize>>,
    waiting: RefCell<VecDeque<Waiting>>,
}

/// A connection that waits to be let in.
struct Waiting {
    socket: TcpStream,
    peer: SocketAddr,
    until: Instant,
}

impl<S: Service> Door<S> {
    pub(super) fn new(core: Rc<Core>, service: Rc<S>, acceptor: Option<Acceptor>) -> Door<S> {
        Door { core, service, acceptor, turned_away: Rc::default(), waiting: RefCell::default() }
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
        let waiting = self.waiting.borrow().len();
        if waiting == 0 && self.has_place() {
            self.admit(socket, peer);
        } else if waiting < self.core.limits.connections_waiting_max {
            let until = self.core.now() + self.core.limits.header_timeout;
            self.waiting.borrow_mut().push_back(Waiting { socket, peer, until });
            self.count_waiting();
        } else {
            self.turn_away(socket, peer);
        }
    }

    /// Whether any connection waits to be let in.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// Has those that waited longest served, as far as there are places.
    pub(super) fn let_in(&self) {
        while self.has_place() {
            let Some(Waiting { socket, peer, .. }) = self.waiting.borrow_mut().pop_front() else { break };
            self.admit(socket, peer);
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
        if let Some(Waiting { socket, peer, .. }) = first {
            self.turn_away(socket, peer);
        }
    }

    fn has_place(&self) -> bool {
        self.core.connections() - self.turned_away.get() < self.core.limits.connections_max
    }

    fn count_waiting(&self) {
        self.core.set_waiting(self.waiting.borrow().len());
    }

    fn admit(&self, socket: TcpStream, peer: SocketAddr) {
        let service = self.service.clone();
        match &self.acceptor {
            None => {
                let link = Link::new(self.core.clone(), Stream::plain(socket), peer);
                tokio::task::spawn_local(connection::run(link, service));
            }
            Some(acceptor) => {
                let stream = Stream::TlsServer(Box::new(Connection::new(socket)));
                let link = Link::new(self.core.clone(), stream, peer);
                tokio::task::spawn_local(connection::run_tls(link, service, acceptor.clone()));
            }
        }
    }

    fn turn_away(&self, socket: TcpStream, peer: SocketAddr) {
        let turned_away = self.turned_away.clone();
        if self.acceptor.is_some() {
            // An answer would cost a handshake, which is what there is too much of.
            self.core.counters().fault(Fault::ConnectionsFull);
            self.core.counters().closed(CloseCause::Fault);
        } else if turned_away.get() < TURNED_AWAY_MAX {
            turned_away.set(turned_away.get() + 1);
            let link = Link::new(self.core.clone(), Stream::plain(socket), peer);
            let service = self.service.clone();
            tokio::task::spawn_local(async move {
                connection::turn_away(link, service).await;
                turned_away.set(turned_away.get() - 1);
            });
        }
    }
}
