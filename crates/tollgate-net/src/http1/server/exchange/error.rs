//! Reasons why an exchange cannot go on.
//!
//! The fate of the connection is not decided here.

use std::fmt;
use std::io;

use super::super::link::WriteError;
use crate::http1::error::Fault;

/// The reason why an exchange cannot go on.
#[derive(Debug)]
pub enum ExchangeError {
    /// The client's fault. Returned by a service that has sent nothing, it is answered by [`Service::refusal`].
    ///
    /// [`Service::refusal`]: super::super::Service::refusal
    Fault(Fault),
    /// The connection broke.
    Broken(io::Error),
    /// The client took none of the answer for too long.
    WriteStalled,
    /// The client took the answer so slowly that others needed its memory.
    UnsentFull,
    /// A service's own wish: to break the connection off, without an answer or within one.
    Abort(Abort),
}

/// The way in which a connection is broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abort {
    /// With an orderly end of the connection.
    Close,
    /// With a reset.
    Reset,
}

impl From<WriteError> for ExchangeError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Broken(error) => ExchangeError::Broken(error),
            WriteError::Stalled => ExchangeError::WriteStalled,
            WriteError::Full => ExchangeError::UnsentFull,
        }
    }
}

impl From<Fault> for ExchangeError {
    fn from(fault: Fault) -> Self {
        ExchangeError::Fault(fault)
    }
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExchangeError::Fault(fault) => write!(formatter, "the client's request: {fault}"),
            ExchangeError::Broken(error) => write!(formatter, "the client's connection broke: {error}"),
            ExchangeError::WriteStalled => formatter.write_str("the client took none of the answer for too long"),
            ExchangeError::UnsentFull => formatter.write_str("the client took the answer too slowly for its memory"),
            ExchangeError::Abort(_) => formatter.write_str("the service broke the connection off"),
        }
    }
}

impl std::error::Error for ExchangeError {}
