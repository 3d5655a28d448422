//! Reasons why a backend gave no answer.
//!
//! The answer to its client, and whether another attempt is worth while, is not decided here.

use std::fmt;
use std::io;

use super::super::error::Fault;

/// The reason why a backend gave no answer.
#[derive(Debug)]
pub struct UpstreamError {
    kind: Kind,
    source: Option<io::Error>,
}

/// The step at which a backend failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Its name has no address.
    Unresolved,
    /// There is no connection to it.
    Unconnected,
    /// There was none in time.
    ConnectTimedOut,
    /// TLS with it failed.
    Tls,
    /// It closed or reset the connection before the first byte of an answer.
    ClosedBeforeAnswer,
    /// It did so within the answer.
    ClosedWithinAnswer,
    /// The answer did not begin in time.
    AnswerTimedOut,
    /// Nothing came or went for too long.
    Stalled,
    /// The exchange as a whole took too long.
    ExchangeTimedOut,
    /// The answer is not HTTP/1.1 as it must be.
    Malformed(Fault),
    /// The answer is larger than what is gathered of one.
    TooLarge,
}

impl UpstreamError {
    pub(in crate::http1) fn new(kind: Kind) -> UpstreamError {
        UpstreamError { kind, source: None }
    }

    pub(in crate::http1) fn with_source(kind: Kind, source: io::Error) -> UpstreamError {
        UpstreamError { kind, source: Some(source) }
    }

    pub(super) fn unresolved(source: io::Error) -> UpstreamError {
        UpstreamError::with_source(Kind::Unresolved, source)
    }

    pub(super) fn unconnected(source: io::Error) -> UpstreamError {
        UpstreamError::with_source(Kind::Unconnected, source)
    }

    pub(super) fn unencrypted(source: io::Error) -> UpstreamError {
        UpstreamError::with_source(Kind::Tls, source)
    }

    /// The step at which it failed.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for UpstreamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Unresolved => formatter.write_str("its name has no address")?,
            Kind::Unconnected => formatter.write_str("there is no connection to it")?,
            Kind::ConnectTimedOut => formatter.write_str("there was no connection to it in time")?,
            Kind::Tls => formatter.write_str("TLS with it failed")?,
            Kind::ClosedBeforeAnswer => formatter.write_str("it closed the connection before it answered")?,
            Kind::ClosedWithinAnswer => formatter.write_str("it closed the connection within its answer")?,
            Kind::AnswerTimedOut => formatter.write_str("it did not begin to answer in time")?,
            Kind::Stalled => formatter.write_str("nothing came from it, and it took nothing, for too long")?,
            Kind::ExchangeTimedOut => formatter.write_str("the exchange with it took too long")?,
            Kind::Malformed(fault) => write!(formatter, "its answer is malformed: {fault}")?,
            Kind::TooLarge => formatter.write_str("its answer is larger than what may be gathered of one")?,
        }
        match &self.source {
            Some(source) => write!(formatter, ": {source}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UpstreamError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
