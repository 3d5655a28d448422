//! Why a request failed: one class for each reason, under which failures are counted.

use tollgate_net::http1::client::{ConnectError, ErrorClass as NetworkClass, ExchangeError};

/// What can go wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorClass {
    /// An answer with a status that was not wanted: outside 2xx, if nothing else was said.
    Status(u16),
    /// An answer that is not what was asked for.
    Content,
    /// An answer of another length than the first one.
    Length,
    /// A SOAP fault.
    SoapFault,
    /// What a later step needs is not in the answer, or cannot be sent.
    Extraction,
    /// Something that should hold of the answer does not.
    Assertion,
    /// No whole answer.
    Network(NetworkClass),
}

impl ErrorClass {
    /// The name in results.
    pub fn name(self) -> String {
        let name = match self {
            ErrorClass::Status(status) => return format!("status-{status}"),
            ErrorClass::Content => "content",
            ErrorClass::Length => "length",
            ErrorClass::SoapFault => "soap-fault",
            ErrorClass::Extraction => "extraction",
            ErrorClass::Assertion => "assertion",
            ErrorClass::Network(class) => class.name(),
        };
        name.to_owned()
    }
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Under which name it is counted.
    pub(crate) class: ErrorClass,
    /// What happened.
    pub(crate) text: String,
}

impl Failure {
    /// A failure of this class.
    pub(crate) fn new(class: ErrorClass, text: impl Into<String>) -> Failure {
        Failure { class, text: text.into() }
    }

    /// An answer with a status that was not wanted.
    pub(crate) fn status(status: u16) -> Failure {
        Failure::new(ErrorClass::Status(status), format!("answered {status}"))
    }

    /// An answer that is not what was asked for.
    pub(crate) fn content(text: impl Into<String>) -> Failure {
        Failure::new(ErrorClass::Content, text)
    }

    /// Whether no whole answer came.
    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self.class, ErrorClass::Network(_))
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Failure {
        Failure::new(ErrorClass::Network(error.class()), error.to_string())
    }
}

impl From<ExchangeError> for Failure {
    fn from(error: ExchangeError) -> Failure {
        Failure::new(ErrorClass::Network(error.class()), error.to_string())
    }
}
