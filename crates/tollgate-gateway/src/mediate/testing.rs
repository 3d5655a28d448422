//! Messages and sequences for tests: a message is described in code, a sequence in TOML, and the result is a text.

use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use tollgate_net::http1::client::Answers;
use tollgate_net::http1::{RequestHead, ResponseHead};
use tollgate_net::limits::Limits;

use super::effort::Effort;
use super::mediators::MEDIATORS;
use super::message::{ClientOrigin, Memory, Passing};
use super::way::Way;
use crate::base::client::Client;
use crate::base::config_error::ConfigError;
use crate::base::log::Log;
use crate::mediate::mediator::Outcome;
use crate::mediate::reading::MediatorReader;
use crate::mediate::sequence::Sequence;

/// A message for tests.
#[derive(Debug, Clone)]
pub(super) struct Message {
    head: String,
    fields: String,
    body: Vec<u8>,
    answer: Option<u16>,
}

/// Result of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    /// Status and code of a fault with its inner message; or that of an answer; or 0.
    pub(super) outcome: String,
    pub(super) fields: String,
    pub(super) body: String,
    pub(super) endpoint: Option<usize>,
}

impl Message {
    /// Creates a request with a body in XML.
    pub(super) fn post(target: &str, body: &str) -> Message {
        Message {
            head: format!("POST {target} HTTP/1.1\r\nHost: here.example\r\n"),
            fields: String::new(),
            body: body.as_bytes().to_owned(),
            answer: None,
        }
    }

    /// Creates a request without a body.
    pub(super) fn get(target: &str) -> Message {
        Message { head: format!("GET {target} HTTP/1.1\r\nHost: here.example\r\n"), ..Message::post(target, "") }
    }

    /// Turns it into the answer to such a request.
    pub(super) fn answered(self, status: u16) -> Message {
        Message { answer: Some(status), ..self }
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Message {
        write!(self.fields, "{name}: {value}\r\n").unwrap();
        self
    }

    pub(super) fn with_bytes(self, body: &[u8]) -> Message {
        Message { body: body.to_owned(), ..self }
    }

    /// Passes it to `look` as a message on its way.
    pub(super) fn passing<T>(&self, look: impl FnOnce(&mut Passing<'_>) -> T) -> T {
        let limits = Limits::default();
        let (mut request, mut answer) = (RequestHead::default(), ResponseHead::default());
        // The fields are those of what passes.
        let request_fields = if self.answer.is_none() { self.fields.as_str() } else { "" };
        request.parse(format!("{}{request_fields}\r\n", self.head).as_bytes(), &limits).unwrap().unwrap();
        let status = self.answer.unwrap_or(200);
        let head = format!("HTTP/1.1 {status} told\r\n{}\r\n", self.fields);
        answer.parse(head.as_bytes(), Answers::Ordinary, &limits).unwrap().unwrap();
        let mut memory = Memory::default();
        let client = Client::at(Ipv4Addr::LOCALHOST.into());
        let mut passing = Passing {
            client: &client,
            request: &request,
            way: if self.answer.is_some() { Way::Answer(&answer) } else { Way::Request },
            origin: ClientOrigin { scheme: "https", authority: "here.example" },
            body: &self.body,
            endpoint: None,
            effort: Effort::begins(),
            memory: &mut memory,
        };
        look(&mut passing)
    }

    /// Passes it through a route's sequence, given as TOML.
    pub(super) fn through(&self, sequence: &str) -> Told {
        self.through_sequence(&compiled(sequence).unwrap_or_else(|error| panic!("{error}")))
    }

    pub(super) fn through_sequence(&self, sequence: &Sequence) -> Told {
        self.passing(|passing| {
            let outcome = match sequence.pass(passing) {
                Ok(Outcome::Continue) => String::new(),
                Ok(Outcome::Respond { status }) => status.to_string(),
                Err(fault) => format!("{fault:?}"),
            };
            let is_response = matches!(passing.way, Way::Answer(_)) || !outcome.is_empty();
            let mut fields = String::new();
            let write = |name: &str, value: &[u8]| {
                if !name.eq_ignore_ascii_case("host") {
                    writeln!(fields, "{name}: {}", String::from_utf8_lossy(value)).unwrap();
                }
            };
            if is_response && self.answer.is_none() {
                passing.memory.edits.apply([], write);
            } else {
                passing.memory.edits.apply(passing.way.fields(passing.request), write);
            }
            let body = String::from_utf8_lossy(passing.view().body).into_owned();
            Told { outcome, fields, body, endpoint: passing.endpoint }
        })
    }
}

/// Compiles a route's sequence, given as TOML; files are beside this one's tests.
pub(super) fn compiled(sequence: &str) -> Result<Sequence, ConfigError> {
    compiled_in(Path::new("gateway.toml"), sequence)
}

/// The same for a configuration in this file.
pub(super) fn compiled_in(file: &Path, sequence: &str) -> Result<Sequence, ConfigError> {
    let text = format!("[[route]]\nrequest = {sequence}\n");
    let log = Arc::new(Log::to_stderr());
    let file_name = file.display().to_string();
    let reading = MediatorReader::new((&text, &file_name), &["ibm", "others"], &log, MEDIATORS);
    Ok(reading.routes()?.remove(0).0)
}
