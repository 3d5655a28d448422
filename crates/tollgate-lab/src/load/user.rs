//! One user: sends a request, waits for the whole answer, and sends the next on the same connection.
//!
//! It does not decide what to send, or whether the content of an answer is right.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;
use tollgate_net::http1::client::{
    BodySink, ClientConnection, ConnectError, Connector, Discard, ErrorClass as NetworkClass, ExchangeError, Exchanged,
    ResponseHead,
};
use tollgate_net::tls::HandshakeKind;

use super::answer::failure::Failure;
use super::connections::{ConnectionsUsed, Counted, Opened};
use super::pace::asleep;
use super::pace::closing::Closing;
use super::record::detail::First;
use super::record::recorder::Recorder;
use super::target::{Connection, LoadTarget, Manner};

/// Idle time after which a server may have closed a connection; if one breaks sooner, that is a failure like any other.
const IDLE_LEAST: Duration = Duration::from_secs(1);
/// Full handshakes to prepare sessions, at most: each takes milliseconds with an RSA key.
const PRIMED_MAX: usize = 512;

/// One user with the connection that it keeps between trials, and the end of its last answer.
#[derive(Debug, Default)]
pub(crate) struct User {
    // A pointer, since it is taken and put back for each request, and is part of what each poll of its task returns.
    kept: Option<(Box<ClientConnection>, Instant)>,
    /// Counts already taken from its socket.
    counted: Counted,
}

/// A whole answer with a wanted status.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    /// Time at which the request was sent.
    pub(crate) sent: Instant,
    /// Time at which the first byte was read.
    pub(crate) first_byte: Instant,
    /// Time at which the last byte was read.
    pub(crate) finished: Instant,
    /// The generator's share of its time: its last byte lay unread, or the request began late.
    pub(crate) own: Duration,
    /// Bytes of its body.
    pub(crate) body_bytes: u64,
    /// Bytes of its head, its framing and its body.
    pub(crate) received_bytes: u64,
    /// Phases of opening its connection, if it did.
    pub(crate) opened: Option<Opened>,
}

/// State shared by all requests of a trial.
pub(crate) struct Asking {
    pub(crate) connector: Rc<Connector>,
    pub(crate) target: Arc<LoadTarget>,
    /// Connections waiting for the server to close them.
    pub(crate) closing: Rc<Closing>,
    /// Addresses of the target's host, resolved once a trial: a resolver's time is not the subject's.
    pub(crate) addresses: OnceCell<Vec<SocketAddr>>,
}

impl Asking {
    async fn open(&self) -> Result<ClientConnection, ConnectError> {
        self.connector.open_at(&self.target.target, self.addresses().await?).await
    }

    /// Opens a new connection and counts it.
    async fn opened(&self, recorder: &RefCell<Recorder>) -> Result<Box<ClientConnection>, ConnectError> {
        let opened = self.open().await;
        let tally = &mut recorder.borrow_mut().tally;
        let connection = opened.inspect_err(|error| {
            tally.handshakes.failed += u64::from(error.class() == NetworkClass::Tls);
        })?;
        tally.connections += 1;
        let handshake = connection.opening().handshake;
        tally.handshakes.full += u64::from(handshake == Some(HandshakeKind::Full));
        tally.handshakes.resumed += u64::from(handshake == Some(HandshakeKind::Resumed));
        Ok(Box::new(connection))
    }

    async fn addresses(&self) -> Result<&Vec<SocketAddr>, ConnectError> {
        let reached_at = self.target.via.as_ref().unwrap_or(&self.target.target);
        self.addresses.get_or_try_init(|| self.connector.resolve(reached_at)).await
    }

    /// Prepares a TLS session for each user, if connections are opened during the measurement and may resume one, by
    /// sending `request` over connections with full handshakes. A failure is left to the trial, which reports it.
    pub(crate) async fn prime(&self, users: usize, request: &[u8]) {
        let (target, sessions) = (&self.target.target, users.min(PRIMED_MAX));
        if !self.target.takes_up_sessions() {
            return;
        }
        for _ in self.connector.sessions_ready(target)..sessions {
            // With TLS 1.2 one session serves all.
            if self.connector.sessions_ready(target) >= sessions {
                return;
            }
            let Ok(addresses) = self.addresses().await else { return };
            let Ok(mut connection) = self.connector.open_fully(target, addresses).await else { return };
            if connection.exchange(request, self.target.answers(), &mut Discard).await.is_err() {
                return;
            }
            self.closing.take(connection);
        }
    }
}

impl User {
    /// Sends `request` and reads the answer into `sink`. Bytes and connections are recorded here; the answer itself by
    /// the caller, once its content is judged.
    pub(crate) async fn ask<B: BodySink>(
        &mut self,
        asking: &Asking,
        request: &[u8],
        sink: &mut B,
        recorder: &RefCell<Recorder>,
    ) -> Result<Answer, Failure> {
        let target = &asking.target;
        let (method, statuses) = (&*target.shape.method, &target.checks.statuses);
        let manner = Manner { answers: target.answers(), method, statuses };
        self.ask_as(asking, request, sink, recorder, manner, |_| {}).await
    }

    /// The same with expectations of its own, and `on_head` for the head of the answer.
    pub(crate) async fn ask_as<B: BodySink>(
        &mut self,
        asking: &Asking,
        request: &[u8],
        sink: &mut B,
        recorder: &RefCell<Recorder>,
        manner: Manner<'_>,
        on_head: impl FnOnce(&ResponseHead),
    ) -> Result<Answer, Failure> {
        let policy = asking.target.connection;
        loop {
            let (mut connection, idle_since, begun) = match self.kept.take() {
                Some((connection, since)) => (connection, Some(since), None),
                None => {
                    let begun = Instant::now();
                    self.counted = Counted::default();
                    let connection = asking.opened(recorder).await?;
                    (connection, None, Some(begun))
                }
            };
            let exchanged = match connection.exchange(request, manner.answers, sink).await {
                Ok(exchanged) => exchanged,
                // The server closed an idle connection while the request was on its way and has seen nothing of it
                // (RFC 9112, section 9.3.1): it is asked once more on a fresh one, which is counted.
                Err(error)
                    if idle_since.is_some_and(|since| since.elapsed() >= IDLE_LEAST)
                        && manner.is_idempotent()
                        && is_stale(&error) =>
                {
                    self.counted.count(&connection, &mut recorder.borrow_mut().tally.used);
                    continue;
                }
                Err(error) => {
                    self.counted.count(&connection, &mut recorder.borrow_mut().tally.used);
                    return Err(error.into());
                }
            };
            {
                let mut recorder = recorder.borrow_mut();
                if let Some(detail) = &mut recorder.detail {
                    detail.first.get_or_insert_with(|| First::of(&connection, request, &exchanged));
                }
                let tally = &mut recorder.tally;
                tally.stamped += u64::from(exchanged.lay.is_some());
                tally.body_bytes += exchanged.body_bytes;
                tally.other_statuses += u64::from(!(200..300).contains(&exchanged.status));
                tally.kept_alive += u64::from(exchanged.reusable);
                tally.received_bytes += exchanged.head_bytes + exchanged.framing_bytes + exchanged.body_bytes;
                tally.sent_bytes += request.len() as u64;
                if begun.is_some() {
                    tally.first_requests.count(&connection);
                    tally.wire_received_bytes += connection.wire_received_bytes();
                    tally.wire_sent_bytes += connection.wire_sent_bytes();
                } else {
                    tally.wire_received_bytes += exchanged.wire_received_bytes;
                    tally.wire_sent_bytes += exchanged.wire_sent_bytes;
                }
            }
            on_head(connection.head());
            let opened = begun.map(|begun| Opened::of(begun, connection.opening()));
            let is_spent = policy.is_spent(connection.exchanges());
            if exchanged.reusable && !is_spent {
                self.kept = Some((connection, exchanged.last_byte));
            } else {
                self.counted.count(&connection, &mut recorder.borrow_mut().tally.used);
                if !exchanged.reusable && is_spent {
                    // The server closes it, as it was asked to.
                    asking.closing.take(*connection);
                }
            }
            if !manner.statuses.contains(exchanged.status) {
                return Err(Failure::status(exchanged.status));
            }
            let Exchanged { sent, first_byte, last_byte: finished, lay, body_bytes, .. } = exchanged;
            let received_bytes = exchanged.head_bytes + exchanged.framing_bytes + body_bytes;
            // Bytes may lie for want of others before them. A worker looks again and again: what it reads had not been there when it did
            // so before.
            let own = lay.unwrap_or_default().min(asleep::before(finished));
            return Ok(Answer { sent, first_byte, finished, own, body_bytes, received_bytes, opened });
        }
    }

    /// Adds the state of its connection, and the socket's counts since the last call. Not for use during the
    /// measurement: it is a system call.
    pub(crate) fn count_connection(&mut self, used: &mut ConnectionsUsed) {
        if let Some((connection, _)) = &self.kept {
            self.counted.count(connection, used);
        }
    }

    /// Gives up its connection, if any. If a `last` request is known, the server closes it.
    pub(super) async fn part(&mut self, asking: &Asking, last: &[u8]) {
        let Some((mut connection, _)) = self.kept.take() else { return };
        if !last.is_empty() && connection.exchange(last, asking.target.answers(), &mut Discard).await.is_ok() {
            asking.closing.take(*connection);
        }
    }

    /// Opens a connection, and sends `first` there unless it is empty. A failure of either is recorded.
    pub(super) async fn meet(&mut self, asking: &Asking, first: &[u8], recorder: &RefCell<Recorder>) {
        let failed = match asking.opened(recorder).await {
            Ok(connection) => {
                self.counted = Counted::default();
                self.kept = Some((connection, Instant::now()));
                if first.is_empty() {
                    return;
                }
                self.ask(asking, first, &mut Discard, recorder).await.err()
            }
            Err(error) => Some(error.into()),
        };
        if let Some(failure) = failed {
            recorder.borrow_mut().failure_aside(&failure);
        }
    }

    /// Whether its next request is the last one on its connection.
    pub(crate) fn is_last(&self, policy: Connection) -> bool {
        policy.is_spent(self.kept.as_ref().map_or(0, |(connection, _)| connection.exchanges()) + 1)
    }
}

fn is_stale(error: &ExchangeError) -> bool {
    matches!(error.class(), NetworkClass::ClosedBeforeAnswer | NetworkClass::ResetBeforeAnswer)
}
