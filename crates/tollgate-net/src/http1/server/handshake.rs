//! The first bytes on a TLS listener: a handshake, a request without TLS, something else, or nothing in time.
//!
//! It does not know rustls's steps within a handshake. Until the first byte has come a connection costs no more than a
//! plain one: thousands of silent ones have no state of TLS.

use std::fmt::Display;
use std::future::poll_fn;
use std::task::Poll;

use super::Service;
use super::counters::{CloseCause, ConnectionState};
use super::link::{Link, Wait};
use crate::stream::Transport;
use crate::tls::HandshakeKind;
use crate::tls::server::{Acceptor, HandshakeFailure};

/// The outcome of the first bytes.
pub(super) enum Handshaken {
    /// TLS is open.
    Open,
    /// These are of a request without TLS.
    Plain(Vec<u8>),
    /// The connection is at its end.
    Ended(CloseCause),
}

/// The first byte of every handshake (RFC 8446 section 5.1).
const HANDSHAKE_RECORD: u8 = 22;

/// The first bytes.
enum First {
    Records(Vec<u8>),
    Request(Vec<u8>),
    Nothing(CloseCause),
    Failed(HandshakeFailure),
}

/// Opens TLS, or says what came instead.
pub(super) async fn handshake<S: Service>(link: &mut Link, acceptor: &Acceptor, service: &S) -> Handshaken {
    let first = match first_bytes(link).await {
        First::Records(bytes) => bytes,
        First::Request(bytes) => {
            fail(link, service, HandshakeFailure::PlainRequest, None);
            return Handshaken::Plain(bytes);
        }
        First::Nothing(cause) => return Handshaken::Ended(cause),
        First::Failed(failure) => {
            fail(link, service, failure, None);
            return Handshaken::Ended(CloseCause::Handshake);
        }
    };
    let outcome = open(link, acceptor, first).await;
    link.disarm();
    link.count_bytes();
    match outcome {
        Ok(()) => {
            if let Transport::Tls { version, resumed, .. } = link.transport() {
                let kind = if resumed { HandshakeKind::Resumed } else { HandshakeKind::Full };
                link.core.counters().handshaken(version, kind);
            }
            link.becomes(ConnectionState::Idle);
            Handshaken::Open
        }
        Err((failure, error)) => {
            fail(link, service, failure, error.as_ref().map(|error| error as &dyn Display));
            if error.is_some() {
                // Else a reset could destroy the alert that tells the client why.
                link.linger().await;
            }
            Handshaken::Ended(CloseCause::Handshake)
        }
    }
}

async fn open(
    link: &mut Link,
    acceptor: &Acceptor,
    first: Vec<u8>,
) -> Result<(), (HandshakeFailure, Option<rustls::Error>)> {
    let deadline = link.first_head_by;
    let begun = link.tls().expect("the listener speaks TLS").begin(acceptor.config(), &first);
    drop(first);
    begun?;
    poll_fn(|cx| {
        if let Poll::Ready(opened) = link.tls().expect("the listener speaks TLS").poll_handshake(cx) {
            return Poll::Ready(opened);
        }
        if let Err(failure) = link.hold() {
            return Poll::Ready(Err((failure, None)));
        }
        match link.wait_until(cx, deadline) {
            Wait::Over => Poll::Ready(Err((HandshakeFailure::Timeout, None))),
            Wait::Armed => Poll::Pending,
        }
    })
    .await
}

/// Waits for the first bytes, and says what they are.
async fn first_bytes(link: &mut Link) -> First {
    let core = link.core.clone();
    let deadline = link.first_head_by;
    poll_fn(|cx| {
        let mut buffers = core.take_buffers();
        buffers.input.clear();
        buffers.input.make_room(0);
        let first = match link.poll_read(cx, buffers.input.room()) {
            Poll::Ready(Ok(0)) => Some(First::Nothing(CloseCause::Client)),
            Poll::Ready(Ok(count)) => {
                let bytes = &buffers.input.room()[..count];
                Some(match bytes[0] {
                    HANDSHAKE_RECORD => First::Records(bytes.to_vec()),
                    // Methods are of letters. Whatever else it is, an answer would be as good as noise.
                    byte if byte.is_ascii_alphabetic() => First::Request(bytes.to_vec()),
                    _ => First::Failed(HandshakeFailure::NotTls),
                })
            }
            Poll::Ready(Err(_)) => Some(First::Nothing(CloseCause::Broken)),
            Poll::Pending if core.draining.get() => Some(First::Nothing(CloseCause::Drained)),
            Poll::Pending => match link.wait_until(cx, deadline) {
                Wait::Over => Some(First::Failed(HandshakeFailure::Timeout)),
                Wait::Armed => None,
            },
        };
        core.give_buffers(buffers);
        first.map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

/// Counts a failure and reports it to the service.
fn fail<S: Service>(link: &Link, service: &S, failure: HandshakeFailure, detail: Option<&dyn Display>) {
    link.core.counters().handshake_failed(failure);
    service.handshake_failed(failure, link.peer, detail);
}
