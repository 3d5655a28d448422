//! rustls driven record by record: what came is opened, what is to go is sealed, in memory that the caller lends.
//!
//! It touches no socket. rustls's own buffered connection would keep 4 KiB for each one that idles.

use std::io::{self, IoSlice};

use rustls::CommonState;
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedStatus, WriteTraffic};

use super::scratch::{Outgoing, RECORD_BYTES_MAX, RECORD_OVERHEAD_BYTES, SEALED_BYTES_MAX};

/// The protocol of one side, as rustls has it without buffers of its own.
pub(super) trait Protocol {
    /// The state of a connection that only that side has.
    type Data;

    /// Works on the records at the beginning of `incoming`, as far as the next thing that the caller has to do.
    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data>;

    /// The state of a connection that both sides have.
    fn common(&self) -> &CommonState;
}

impl Protocol for UnbufferedClientConnection {
    type Data = ClientConnectionData;

    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, ClientConnectionData> {
        self.process_tls_records(incoming)
    }

    fn common(&self) -> &CommonState {
        self
    }
}

impl Protocol for UnbufferedServerConnection {
    type Data = ServerConnectionData;

    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, ServerConnectionData> {
        self.process_tls_records(incoming)
    }

    fn common(&self) -> &CommonState {
        self
    }
}

/// The result of working on records.
pub(super) struct Driven<T> {
    /// Bytes of what came that are done with.
    pub(super) used: usize,
    /// The peer said that nothing more comes.
    pub(super) ended: bool,
    /// The result of the chance to write; `None` if there was none (yet, or any more).
    pub(super) written: Option<T>,
}

/// Works through the received bytes until more are needed. Plaintext goes to `deliver`, records of the protocol's own
/// to `outgoing`; then `write` may seal something, once the handshake is through.
///
/// # Errors
/// Rustls's error; the alert for the peer is in `outgoing`, and `protocol` must not be used again.
pub(super) fn drive<P: Protocol, T>(
    protocol: &mut P,
    incoming: &mut [u8],
    outgoing: &mut Outgoing,
    mut deliver: impl FnMut(&[u8]),
    write: impl FnOnce(&mut WriteTraffic<'_, P::Data>, &mut Outgoing) -> T,
) -> Result<Driven<T>, rustls::Error> {
    let (mut used, mut ended) = (0, false);
    loop {
        let status = protocol.process(&mut incoming[used..]);
        let mut discard = status.discard;
        match status.state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(record) = traffic.next_record() {
                    let record = record?;
                    discard += record.discard;
                    deliver(record.payload);
                }
            }
            Ok(ConnectionState::EncodeTlsData(mut message)) => {
                encode(&mut message, outgoing);
            }
            Ok(ConnectionState::TransmitTlsData(sent)) => {
                // What stands in `outgoing` leaves in order, before anything that comes later.
                sent.done();
            }
            Ok(ConnectionState::PeerClosed) => {
                ended = true;
            }
            Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                let written = Some(write(&mut traffic, outgoing));
                return Ok(Driven { used: used + discard, ended, written });
            }
            Ok(state) => {
                // More is needed, or nothing more comes. There is no early data: it is not offered.
                ended |= matches!(state, ConnectionState::Closed);
                return Ok(Driven { used: used + discard, ended, written: None });
            }
            Err(error) => {
                used += discard;
                // Only what is ready to go: the rest must not be looked at again.
                while protocol.common().wants_write()
                    && let Ok(ConnectionState::EncodeTlsData(mut alert)) = protocol.process(&mut incoming[used..]).state
                {
                    encode(&mut alert, outgoing);
                }
                return Err(error);
            }
        }
        used += discard;
    }
}

/// Copies a message of the handshake behind what is to go.
fn encode<D>(message: &mut EncodeTlsData<'_, D>, outgoing: &mut Outgoing) {
    let mut room = RECORD_OVERHEAD_BYTES;
    loop {
        match message.encode(outgoing.room(room)) {
            Ok(written) => return outgoing.fill(written),
            Err(EncodeError::InsufficientSize(error)) => room = error.required_size,
            Err(EncodeError::AlreadyEncoded) => return,
        }
    }
}

/// Seals as much of `parts` as goes at once, in records as full as can be: a head and its small body are one. Returns
/// how much that is.
pub(super) fn seal<D>(
    traffic: &mut WriteTraffic<'_, D>,
    parts: &[IoSlice<'_>],
    gathered: &mut Vec<u8>,
    outgoing: &mut Outgoing,
) -> io::Result<usize> {
    gathered.clear();
    let mut left = SEALED_BYTES_MAX;
    let mut remaining = parts.iter().filter(|part| !part.is_empty()).peekable();
    while let Some(part) = remaining.next() {
        let mut part = &part[..part.len().min(left)];
        left -= part.len();
        let is_last = remaining.peek().is_none() || left == 0;
        while !part.is_empty() {
            if gathered.is_empty() && (is_last || part.len() >= RECORD_BYTES_MAX) {
                // Straight from where it stands: whole records, or what is the end anyway.
                let straight = if is_last { part.len() } else { part.len() / RECORD_BYTES_MAX * RECORD_BYTES_MAX };
                let (now, later) = part.split_at(straight);
                encrypt(traffic, now, outgoing)?;
                part = later;
                continue;
            }
            let (begun, later) = part.split_at(part.len().min(RECORD_BYTES_MAX - gathered.len()));
            gathered.extend_from_slice(begun);
            part = later;
            if gathered.len() == RECORD_BYTES_MAX {
                encrypt(traffic, gathered, outgoing)?;
                gathered.clear();
            }
        }
        if left == 0 {
            break;
        }
    }
    if !gathered.is_empty() {
        encrypt(traffic, gathered, outgoing)?;
    }
    Ok(SEALED_BYTES_MAX - left)
}

/// Seals the message that nothing more comes.
pub(super) fn close<D>(traffic: &mut WriteTraffic<'_, D>, outgoing: &mut Outgoing) {
    // Where the keys are worn out, the end of the connection must do.
    if let Ok(written) = traffic.queue_close_notify(outgoing.room(RECORD_OVERHEAD_BYTES)) {
        outgoing.fill(written);
    }
}

fn encrypt<D>(traffic: &mut WriteTraffic<'_, D>, plaintext: &[u8], outgoing: &mut Outgoing) -> io::Result<()> {
    let records = plaintext.len().div_ceil(RECORD_BYTES_MAX);
    let mut room = plaintext.len() + records * RECORD_OVERHEAD_BYTES;
    loop {
        match traffic.encrypt(plaintext, outgoing.room(room)) {
            Ok(written) => {
                outgoing.fill(written);
                return Ok(());
            }
            // An answer to a change of keys may go first.
            Err(EncryptError::InsufficientSize(error)) => room = error.required_size,
            Err(error @ EncryptError::EncryptExhausted) => return Err(io::Error::other(error)),
        }
    }
}
