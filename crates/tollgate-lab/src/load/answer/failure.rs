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
        match self {
            ErrorClass::Status(status) => format!("status-{status}"),
            ErrorClass::Content => "content".to_owned(),
            ErrorClass::Length => "length".to_owned(),
            ErrorClass::SoapFault => "soap-fault".to_owned(),
            ErrorClass::Extraction => "extraction".to_owned(),
            ErrorClass::Assertion => "assertion".to_owned(),
            ErrorClass::Network(class) => class.name().to_owned(),
        }
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
    /// An answer with a status outside 2xx.
    pub(crate) fn status(status: u16) -> Failure {
        Failure { class: ErrorClass::Status(status), text: format!("answered {status}") }
    }

    /// An answer that is not what was asked for.
    pub(crate) fn content(text: impl Into<String>) -> Failure {
        Failure { class: ErrorClass::Content, text: text.into() }
    }

    /// An answer without what a later step needs.
    pub(crate) fn extraction(text: impl Into<String>) -> Failure {
        Failure { class: ErrorClass::Extraction, text: text.into() }
    }

    /// An answer of which something does not hold.
    pub(crate) fn assertion(text: impl Into<String>) -> Failure {
        Failure { class: ErrorClass::Assertion, text: text.into() }
    }

    /// An answer of another length than the first one.
    pub(crate) fn length(came_bytes: u64, first_bytes: u64) -> Failure {
        let text = format!("the answer has {came_bytes} bytes, the first one had {first_bytes}");
        Failure { class: ErrorClass::Length, text }
    }

    /// A SOAP fault, with its own words.
    pub(crate) fn soap_fault(words: impl Into<String>) -> Failure {
        Failure { class: ErrorClass::SoapFault, text: words.into() }
    }

    /// Whether no whole answer came.
    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self.class, ErrorClass::Network(_))
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Failure {
        Failure { class: ErrorClass::Network(error.class()), text: error.to_string() }
    }
}

impl From<ExchangeError> for Failure {
    fn from(error: ExchangeError) -> Failure {
        Failure { class: ErrorClass::Network(error.class()), text: error.to_string() }
    }
}
