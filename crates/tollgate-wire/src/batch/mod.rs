//! Batches: many requests in one body, and the answers to them, as `multipart/mixed` (OData V2; V4 Protocol 11.7) and as
//! JSON (V4.01, JSON Format 19). Both formats are read and written for both sides: a server reads [`Requests`] and writes
//! answers, a client writes requests and reads [`Response`]s.
//!
//! Everything is borrowed from the body and found step by step, so that a batch of a million parts costs nothing before
//! its limit is met. Deliberately not here: executing anything, or deciding the effect of an error on the requests
//! behind it.

pub mod json;
pub mod multipart;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

/// The error in a batch as a whole, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchError {
    /// The kind of error: malformed or too large.
    pub kind: BatchErrorKind,
    /// Byte offset from 0, in the body.
    pub position: usize,
    /// The expected and the found text, without the place.
    pub message: String,
}

/// The kinds of error in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchErrorKind {
    /// The batch breaks the rules of its format.
    Malformed,
    /// The batch has more requests or more change sets than allowed.
    TooMany,
}

impl fmt::Display for BatchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (at byte {})", self.message, self.position)
    }
}

impl std::error::Error for BatchError {}

impl BatchError {
    fn malformed(position: usize, message: impl Into<String>) -> BatchError {
        BatchError { kind: BatchErrorKind::Malformed, position, message: message.into() }
    }

    fn too_many(position: usize, what: &str, requests_max: usize) -> BatchError {
        let message = format!("the batch has more than {requests_max} {what}");
        BatchError { kind: BatchErrorKind::TooMany, position, message }
    }
}

/// The next item of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The requests up to the next [`GroupEnd`](Step::GroupEnd) are one change set, or atomicity group: all or nothing.
    GroupBegin,
    /// A request: see [`Requests::request`].
    Request,
    /// The change set is complete.
    GroupEnd,
    /// The batch is over, and whole.
    End,
}

/// The requests of a batch, in their order.
#[derive(Debug)]
pub enum Requests<'a> {
    /// From `multipart/mixed`.
    Multipart(Box<multipart::RequestReader<'a>>),
    /// From JSON.
    Json(Box<json::RequestReader<'a>>),
}

impl<'a> Requests<'a> {
    /// Begins to read `multipart/mixed` with this boundary. A batch of more than `requests_max` requests, or change sets,
    /// is refused when that is found.
    pub fn multipart(body: &'a [u8], boundary: &str, requests_max: usize) -> Requests<'a> {
        Requests::Multipart(Box::new(multipart::RequestReader::new(body, boundary, requests_max)))
    }

    /// Begins to read JSON, with the same limit.
    pub fn json(body: &'a [u8], requests_max: usize) -> Requests<'a> {
        Requests::Json(Box::new(json::RequestReader::new(body, requests_max)))
    }

    /// Goes on to the next step.
    ///
    /// # Errors
    /// The error in the batch. Nothing can be read behind it.
    #[allow(clippy::should_implement_trait, reason = "a step lends its request, and the end is a step")]
    pub fn next(&mut self) -> Result<Step, BatchError> {
        match self {
            Requests::Multipart(requests) => requests.next(),
            Requests::Json(requests) => requests.next(),
        }
    }

    /// The request of the last [`Step::Request`].
    pub fn request(&self) -> &Request<'a> {
        match self {
            Requests::Multipart(requests) => requests.request(),
            Requests::Json(requests) => requests.request(),
        }
    }
}

/// One request of a batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request<'a> {
    /// Number of requests before it.
    pub index: usize,
    /// Byte offset of its beginning, in the body.
    pub position: usize,
    /// Its Content-ID or `id`.
    pub id: Option<Cow<'a, str>>,
    /// Its method as it was sent; those of JSON may be in lower case.
    pub method: Cow<'a, str>,
    /// Its URL as it was sent: relative to the service root, an absolute path, or absolute. See [`below_root`].
    pub target: Cow<'a, str>,
    /// Its headers, in their order.
    pub headers: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Its body; empty where there is none.
    pub body: Cow<'a, [u8]>,
    /// The name of its `atomicityGroup`; the change sets of multipart have none.
    pub group: Option<Cow<'a, str>>,
    /// The items that must have succeeded before it is executed.
    pub depends_on: Vec<Dependency>,
    /// The request's own condition, if any.
    pub condition: Condition,
}

impl Request<'_> {
    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0.eq_ignore_ascii_case(name)).map(|header| header.1.as_ref())
    }
}

/// The item that a request of a JSON batch depends on: always an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependency {
    /// The request with this [`index`](Request::index).
    Request(usize),
    /// The group with this many others before it.
    Group(usize),
}

/// The member `if` of a request in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Condition {
    /// There is none.
    #[default]
    Absent,
    /// There is one; what it says is not read.
    Present,
}

/// One answer out of a batch's.
#[derive(Debug, Clone, PartialEq)]
pub struct Response<'a> {
    /// The Content-ID or `id` of its request.
    pub id: Option<Cow<'a, str>>,
    /// Its status.
    pub status: u16,
    /// Its body as it was sent: in JSON the text of a JSON value, so that a body of another type is a string in quotes.
    /// Empty where there is none.
    pub body: &'a [u8],
    /// The unit that it belongs to.
    pub unit: Unit<'a>,
}

/// The unit that an answer belongs to.
#[derive(Debug, Clone, PartialEq)]
pub enum Unit<'a> {
    /// Its request alone, or a change set that failed as a whole.
    Single,
    /// The change set with this many others before it.
    ChangeSet(usize),
    /// The atomicity group of this name.
    Group(Cow<'a, str>),
}

/// A request as a client writes it into a batch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outgoing<'a> {
    /// Its Content-ID or `id`; required in JSON.
    pub id: Option<&'a str>,
    /// Its method, in capitals.
    pub method: &'a str,
    /// Its URL: relative to the service root, an absolute path, or absolute.
    pub target: &'a str,
    /// Its headers, that of the body's type included.
    pub headers: &'a [(&'a str, &'a str)],
    /// Its body; empty for none.
    pub body: &'a [u8],
    /// The name of its atomicity group; JSON only.
    pub group: Option<&'a str>,
    /// The requests that it depends on; JSON only.
    pub depends_on: &'a [&'a str],
}

/// The part of a request's URL below the service root, whose path is `root` with its slashes: `Flights(1)?$select=a` out
/// of that itself, of `/base/Flights(1)?…` and of `http://any.example/base/Flights(1)?…`. `None` where it lies elsewhere.
///
/// The host is not compared: between the client and here may be proxies under other names.
pub fn below_root<'t>(target: &'t str, root: &str) -> Option<&'t str> {
    let scheme_length = ["http://", "https://"].into_iter().find_map(|scheme| {
        let start = target.get(..scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(scheme.len())
    });
    let path = match scheme_length {
        Some(length) => {
            let rest = &target[length..];
            rest.find(['/', '?']).map_or("", |at| &rest[at..])
        }
        None if target.starts_with('/') => target,
        None => return Some(target),
    };
    match path.strip_prefix(root) {
        Some(below) => Some(below),
        // The root without its last slash.
        None => (root.strip_suffix('/') == Some(path)).then_some(""),
    }
}

/// Whether a media type is JSON or one of its subtypes (JSON Format 19.1).
fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
        || essence.rsplit_once('+').is_some_and(|(_, suffix)| suffix.eq_ignore_ascii_case("json"))
}

/// Whether a media type is text.
fn is_text(media_type: &str) -> bool {
    media_type.trim_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("text/"))
}
