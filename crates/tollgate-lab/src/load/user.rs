//! One user of a closed load: asks, waits for the whole answer, and asks again on the same connection.
//!
//! What it deliberately does not do: decide what is asked, or whether an answer's content is right.

use std::cell::{OnceCell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tollgate_net::http1::client::{
    BodySink, ClientConnection, ConnectError, Connector, ErrorClass as NetworkClass, ExchangeError,
};

use super::failure::Failure;
use super::recorder::Recorder;
use super::target::{Connection, LoadTarget};

/// A connection that waited so long may have been closed by a server that lets none idle; one that was answered a moment
/// ago and breaks is a failure like any other.
const IDLE_LEAST: Duration = Duration::from_secs(1);

/// One user with the connection that it keeps between trials.
#[derive(Debug, Default)]
pub(super) struct User {
    kept: Option<Kept>,
}

/// A connection and the end of its last answer.
#[derive(Debug)]
struct Kept {
    connection: ClientConnection,
    since: Instant,
}

/// A whole answer with a status of 2xx.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    /// When the request went out.
    pub(super) sent: Instant,
    /// When the last byte was read.
    pub(super) finished: Instant,
    /// Bytes of its body.
    pub(super) body_bytes: u64,
}

/// What all requests of a trial have in common.
pub(super) struct Asking {
    pub(super) connector: Rc<Connector>,
    pub(super) target: Arc<LoadTarget>,
    pub(super) policy: Connection,
    /// Where the target's host is, asked once a trial: a resolver's time is not the subject's.
    pub(super) addresses: OnceCell<Vec<SocketAddr>>,
}

impl Asking {
    async fn open(&self) -> Result<ClientConnection, ConnectError> {
        let target = &self.target.target;
        let addresses = match self.addresses.get() {
            Some(addresses) => addresses,
            None => {
                let found = self.connector.resolve(target).await?;
                self.addresses.get_or_init(|| found)
            }
        };
        self.connector.open_at(target, addresses).await
    }
}

impl User {
    /// Sends `request` and reads the answer into `sink`. Bytes and connections are recorded here; the answer itself by
    /// the caller, once its content is judged.
    pub(super) async fn ask<B: BodySink>(
        &mut self,
        asking: &Asking,
        request: &[u8],
        sink: &mut B,
        recorder: &RefCell<Recorder>,
    ) -> Result<Answer, Failure> {
        loop {
            let (mut connection, idle_since) = match self.kept.take() {
                Some(Kept { connection, since }) => (connection, Some(since)),
                None => {
                    let connection = asking.open().await?;
                    recorder.borrow_mut().tally.connections += 1;
                    (connection, None)
                }
            };
            let exchanged = match connection.exchange(request, asking.target.answers(), sink).await {
                Ok(exchanged) => exchanged,
                // The server closed an idle connection while the request was on its way and has seen nothing of it
                // (RFC 9112, section 9.3.1): it is asked once more on a fresh one, which is counted.
                Err(error)
                    if idle_since.is_some_and(|since| since.elapsed() >= IDLE_LEAST)
                        && asking.target.is_repeatable()
                        && is_stale(&error) =>
                {
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            {
                let tally = &mut recorder.borrow_mut().tally;
                tally.received_bytes += exchanged.head_bytes + exchanged.framing_bytes + exchanged.body_bytes;
                tally.sent_bytes += request.len() as u64;
            }
            if exchanged.reusable && asking.policy == Connection::KeepAlive {
                self.kept = Some(Kept { connection, since: exchanged.last_byte });
            }
            if !(200..300).contains(&exchanged.status) {
                return Err(Failure::status(exchanged.status));
            }
            return Ok(Answer {
                sent: exchanged.sent,
                finished: exchanged.last_byte,
                body_bytes: exchanged.body_bytes,
            });
        }
    }
}

fn is_stale(error: &ExchangeError) -> bool {
    matches!(error.class(), NetworkClass::ClosedBeforeAnswer | NetworkClass::ResetBeforeAnswer)
}
