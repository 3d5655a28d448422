//! Reasons why a request failed: failures are counted by class.

use tollgate_net::http1::client::{ConnectError, ErrorClass as NetworkClass, ExchangeError};
use tollgate_net::http1::server::reason;

/// Characters of a failure's own words that are kept.
const WORDS_LENGTH_MAX: usize = 160;

/// Class of a failure, shown by its name in results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
#[display(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// A status that was not wanted; by default, any outside 2xx.
    #[display("status-{_0}")]
    Status(u16),
    /// Content that was not expected.
    Content,
    /// A length other than the first answer's.
    Length,
    /// A SOAP fault.
    SoapFault,
    /// A value for a later step that is missing in the answer, or cannot be sent.
    Extraction,
    /// A failed assertion about the answer.
    Assertion,
    /// No complete answer.
    #[display("{}", _0.name())]
    Network(NetworkClass),
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The class under which it is counted.
    pub(crate) class: ErrorClass,
    /// Description of the failure.
    pub(crate) text: String,
}

impl Failure {
    /// Creates a failure of this class.
    pub(crate) fn new(class: ErrorClass, text: impl Into<String>) -> Failure {
        Failure { class, text: text.into() }
    }

    /// A status that was not wanted.
    pub(crate) fn status(status: u16) -> Failure {
        Failure::new(ErrorClass::Status(status), format!("answered {status}"))
    }

    /// Creates a failure for unexpected content.
    pub(crate) fn content(text: impl Into<String>) -> Failure {
        Failure::new(ErrorClass::Content, text)
    }

    /// A status that was not wanted, with the message in the body: `503 Service Unavailable: no work process became
    /// free within 5 ms`.
    pub(crate) fn refusal(status: u16, body: &[u8]) -> Failure {
        let name = match reason(status) {
            "" => status.to_string(),
            reason => format!("{status} {reason}"),
        };
        let text = match words(body) {
            Some(words) => format!("{name}: {}", words.chars().take(WORDS_LENGTH_MAX).collect::<String>()),
            None => name,
        };
        Failure::new(ErrorClass::Status(status), text)
    }

    /// Adds the message in the answer's body, if the failure is about an answer.
    pub(crate) fn in_words_of(self, body: &[u8]) -> Failure {
        match self.class {
            ErrorClass::Status(status) => Failure::refusal(status, body),
            _ => self,
        }
    }

    /// Whether no complete answer came.
    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self.class, ErrorClass::Network(_))
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Failure {
        let helps = match error.refuses_certificate() {
            true => "; --ca FILE trusts its authority, --insecure looks at no certificate",
            false => "",
        };
        Failure::new(ErrorClass::Network(error.class()), format!("{error}{helps}"))
    }
}

impl From<ExchangeError> for Failure {
    fn from(error: ExchangeError) -> Failure {
        Failure::new(ErrorClass::Network(error.class()), error.to_string())
    }
}

/// Longest text of a server that is repeated, in characters.
const WORDS_MAX: usize = 200;

/// The words of a server, on one line and without control characters.
pub(crate) fn words(body: &[u8]) -> Option<String> {
    let text = message(body)?;
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(WORDS_MAX).collect();
    Some(plain.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The message of an OData error, or the first line of a plain text.
fn message(body: &[u8]) -> Option<String> {
    if let Ok(json) = serde_json::from_slice::<serde_json::Value>(body) {
        let error = json.get("error").unwrap_or(&json);
        let message = error.get("message").unwrap_or(error);
        let text = message.as_str().or_else(|| message.get("value")?.as_str())?;
        return Some(text.to_owned());
    }
    // An answer may be cut off within a character.
    let text = body.utf8_chunks().next()?.valid().trim().lines().next()?.trim_end();
    (!text.starts_with('<')).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_words_of_the_server() {
        let check =
            |body: &str, expected: &str| assert_eq!(Failure::refusal(503, body.as_bytes()).text, expected, "{body}");
        check("", "503 Service Unavailable");
        check("busy\n", "503 Service Unavailable: busy");
        check("<html>no", "503 Service Unavailable");
        check("\u{1b}[31mred\u{7}\n", "503 Service Unavailable: [31mred");
        check("Traceback:\n  line 1", "503 Service Unavailable: Traceback:");
        check("{\"error\":{\"message\":\"pool\"}}", "503 Service Unavailable: pool");
        check("{\"error\":{\"message\":{\"lang\":\"en\",\"value\":\"pool\"}}}", "503 Service Unavailable: pool");
    }
}
