//! Errors between sending a request and having the answer, in classes with stable names.
//!
//! The classes are those of results: counted, exported and compared. No HTTP status is an error here.

use std::fmt;
use std::io;

use super::super::error::Fault;
use crate::tls::client::CertificateRefused;

macro_rules! classes {
    ($($(#[doc = $sentence:literal])+ $variant:ident: $name:literal;)+) => {
        /// A class of failures.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ErrorClass {
            $($(#[doc = $sentence])+ $variant,)+
        }

        impl ErrorClass {
            /// Every class, in the order of the enum.
            pub const ALL: &[ErrorClass] = &[$(ErrorClass::$variant,)+];

            /// The stable name, in kebab case.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(ErrorClass::$variant => $name,)+
                }
            }
        }
    };
}

classes! {
    /// The host's name has no address.
    ResolveFailed: "resolve-failed";
    /// Nobody listens there.
    ConnectRefused: "connect-refused";
    /// There is no connection in time.
    ConnectTimeout: "connect-timeout";
    /// There is no route to the target.
    ConnectUnreachable: "connect-unreachable";
    /// Ours: no source port is free.
    PortsExhausted: "ports-exhausted";
    /// Ours: no file descriptor is free.
    DescriptorsExhausted: "descriptors-exhausted";
    /// Connecting failed in another way.
    ConnectFailed: "connect-failed";
    /// The TLS handshake or a TLS record failed.
    Tls: "tls";
    /// The connection was reset before a byte of the answer came.
    ResetBeforeAnswer: "reset-before-answer";
    /// The connection was reset within the answer.
    ResetWithinAnswer: "reset-within-answer";
    /// The server closed the connection before a byte of the answer came.
    ClosedBeforeAnswer: "closed-before-answer";
    /// The server closed the connection within the answer.
    ClosedWithinAnswer: "closed-within-answer";
    /// The answer is not HTTP/1.1 as it must be.
    MalformedAnswer: "malformed-answer";
    /// The answer was not complete in time.
    Timeout: "timeout";
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The reason why there is no connection.
#[derive(Debug)]
pub struct ConnectError {
    class: ErrorClass,
    what: String,
    source: Option<io::Error>,
}

impl ConnectError {
    pub(super) fn new(class: ErrorClass, what: String, source: Option<io::Error>) -> ConnectError {
        ConnectError { class, what, source }
    }

    /// An error of connecting, classified by the system's error.
    pub(super) fn connecting(to: &str, error: io::Error) -> ConnectError {
        // The two that have no kind of their own on stable Rust.
        const EMFILE: i32 = 24;
        const ENFILE: i32 = 23;
        let class = match error.kind() {
            io::ErrorKind::ConnectionRefused => ErrorClass::ConnectRefused,
            io::ErrorKind::TimedOut => ErrorClass::ConnectTimeout,
            io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => ErrorClass::ConnectUnreachable,
            io::ErrorKind::AddrNotAvailable | io::ErrorKind::AddrInUse => ErrorClass::PortsExhausted,
            _ if matches!(error.raw_os_error(), Some(EMFILE | ENFILE)) => ErrorClass::DescriptorsExhausted,
            _ => ErrorClass::ConnectFailed,
        };
        ConnectError { class, what: format!("no connection to {to}"), source: Some(error) }
    }

    /// The class.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// Whether the server's certificate was refused.
    #[must_use]
    pub fn refuses_certificate(&self) -> bool {
        self.source.as_ref().and_then(io::Error::get_ref).is_some_and(|source| source.is::<CertificateRefused>())
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => write!(formatter, "{}: {source}", self.what),
            None => formatter.write_str(&self.what),
        }
    }
}

impl std::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// The reason why an exchange has no complete answer. The connection is of no more use.
#[derive(Debug)]
pub enum ExchangeError {
    /// The connection was reset.
    Reset(Stage, io::Error),
    /// The server closed the connection too early.
    Closed(Stage),
    /// The answer is malformed, and how.
    Malformed(Fault),
    /// The answer was not complete in time.
    Timeout(Stage),
    /// A TLS record failed.
    Tls(io::Error),
}

/// Progress of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// No byte of the answer had come.
    BeforeAnswer,
    /// Some bytes of the answer had come.
    WithinAnswer,
}

impl ExchangeError {
    /// The class.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            ExchangeError::Reset(Stage::BeforeAnswer, _) => ErrorClass::ResetBeforeAnswer,
            ExchangeError::Reset(Stage::WithinAnswer, _) => ErrorClass::ResetWithinAnswer,
            ExchangeError::Closed(Stage::BeforeAnswer) => ErrorClass::ClosedBeforeAnswer,
            ExchangeError::Closed(Stage::WithinAnswer) => ErrorClass::ClosedWithinAnswer,
            ExchangeError::Malformed(_) => ErrorClass::MalformedAnswer,
            ExchangeError::Timeout(_) => ErrorClass::Timeout,
            ExchangeError::Tls(_) => ErrorClass::Tls,
        }
    }

    /// A failure of reading or writing.
    pub(super) fn broken(error: io::Error, stage: Stage) -> ExchangeError {
        match error.kind() {
            // rustls reports its own failures, and a close without the closing alert, in these two kinds.
            io::ErrorKind::InvalidData => ExchangeError::Tls(error),
            io::ErrorKind::UnexpectedEof => ExchangeError::Closed(stage),
            _ => ExchangeError::Reset(stage, error),
        }
    }
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExchangeError::Reset(stage, error) => write!(formatter, "the connection broke {stage}: {error}"),
            ExchangeError::Closed(stage) => write!(formatter, "the server closed the connection {stage}"),
            ExchangeError::Malformed(fault) => write!(formatter, "the answer is malformed: {fault}"),
            ExchangeError::Timeout(stage) => write!(formatter, "the time was over {stage}"),
            ExchangeError::Tls(error) => write!(formatter, "TLS failed: {error}"),
        }
    }
}

impl std::error::Error for ExchangeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ExchangeError::Reset(_, error) | ExchangeError::Tls(error) => Some(error),
            ExchangeError::Malformed(fault) => Some(fault),
            ExchangeError::Closed(_) | ExchangeError::Timeout(_) => None,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Stage::BeforeAnswer => "before the answer",
            Stage::WithinAnswer => "within the answer",
        })
    }
}
