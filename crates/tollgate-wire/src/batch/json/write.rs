//! Writes batches, and the answers to them, as JSON.
//!
//! It deliberately does not check what it is given: a body that says to be JSON is JSON.

use super::super::{Outgoing, is_json, is_text};
use crate::base64;
use crate::escape;
use crate::number::write_integer;

/// Writes requests, as a client.
///
/// ```
/// use tollgate_wire::batch::{Outgoing, json};
///
/// let mut body = Vec::new();
/// let mut writer = json::RequestWriter::new(&mut body);
/// let headers = [("content-type", "application/json")];
/// let post = Outgoing { id: Some("1"), method: "POST", target: "Flights", headers: &headers, ..Outgoing::default() };
/// writer.request(&Outgoing { body: b"{\"A\":1}", ..post });
/// writer.finish();
/// let expected = concat!(
///     r#"{"requests":[{"id":"1","method":"POST","url":"Flights","#,
///     r#""headers":{"content-type":"application/json"},"body":{"A":1}}]}"#
/// );
/// assert_eq!(std::str::from_utf8(&body), Ok(expected));
/// ```
#[derive(Debug)]
pub struct RequestWriter<'o> {
    out: &'o mut Vec<u8>,
    begun: bool,
}

impl<'o> RequestWriter<'o> {
    /// Begins a batch behind what is in `out`.
    pub fn new(out: &'o mut Vec<u8>) -> RequestWriter<'o> {
        out.extend_from_slice(b"{\"requests\":[");
        RequestWriter { out, begun: false }
    }

    /// Writes a request.
    pub fn request(&mut self, request: &Outgoing<'_>) {
        let out = &mut *self.out;
        separate(out, &mut self.begun);
        out.extend_from_slice(b"{\"id\":");
        string(out, request.id.unwrap_or_default());
        if let Some(group) = request.group {
            out.extend_from_slice(b",\"atomicityGroup\":");
            string(out, group);
        }
        for (position, name) in request.depends_on.iter().enumerate() {
            out.extend_from_slice(if position == 0 { b",\"dependsOn\":[".as_slice() } else { b",".as_slice() });
            string(out, name);
        }
        if !request.depends_on.is_empty() {
            out.push(b']');
        }
        out.extend_from_slice(b",\"method\":");
        string(out, request.method);
        out.extend_from_slice(b",\"url\":");
        string(out, request.target);
        let headers = request.headers.iter().map(|(name, value)| (*name, value.as_bytes()));
        headers_and_body(out, headers, request.body);
    }

    /// The batch is complete.
    pub fn finish(self) {
        self.out.extend_from_slice(b"]}");
    }
}

/// Writes answers, as a server.
#[derive(Debug)]
pub struct ResponseWriter {
    begun: bool,
    /// The start of the atomicity group, to take it back: the length of the buffer, and whether an answer preceded it.
    group_start: (usize, bool),
}

impl ResponseWriter {
    /// Begins an answer behind what is in `out`. All that is written is given the same buffer.
    pub fn new(out: &mut Vec<u8>) -> ResponseWriter {
        out.extend_from_slice(b"{\"responses\":[");
        ResponseWriter { begun: false, group_start: (out.len(), false) }
    }

    /// The answers to an atomicity group follow.
    pub fn begin_group(&mut self, out: &[u8]) {
        self.group_start = (out.len(), self.begun);
    }

    /// Takes back what was written since the group began.
    pub fn abandon_group(&mut self, out: &mut Vec<u8>) {
        out.truncate(self.group_start.0);
        self.begun = self.group_start.1;
    }

    /// Writes the answer to one request.
    pub fn response<'n, 'v>(
        &mut self,
        out: &mut Vec<u8>,
        id: Option<&str>,
        group: Option<&str>,
        status: u16,
        headers: impl Iterator<Item = (&'n str, &'v [u8])> + Clone,
        body: &[u8],
    ) {
        separate(out, &mut self.begun);
        out.push(b'{');
        if let Some(id) = id {
            out.extend_from_slice(b"\"id\":");
            string(out, id);
            out.push(b',');
        }
        if let Some(group) = group {
            out.extend_from_slice(b"\"atomicityGroup\":");
            string(out, group);
            out.push(b',');
        }
        out.extend_from_slice(b"\"status\":");
        write_integer(out, i64::from(status));
        headers_and_body(out, headers, body);
    }

    /// The answer is complete.
    pub fn finish(self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"]}");
    }
}

fn separate(out: &mut Vec<u8>, begun: &mut bool) {
    if *begun {
        out.push(b',');
    }
    *begun = true;
}

fn headers_and_body<'n, 'v>(
    out: &mut Vec<u8>,
    headers: impl Iterator<Item = (&'n str, &'v [u8])> + Clone,
    body: &[u8],
) {
    let mut open = false;
    for (name, value) in headers.clone() {
        out.extend_from_slice(if open { b",".as_slice() } else { b",\"headers\":{".as_slice() });
        open = true;
        out.push(b'"');
        let start = out.len();
        escape::json_text(out, name.as_bytes());
        out[start..].make_ascii_lowercase();
        out.extend_from_slice(b"\":\"");
        escape::json_text(out, value);
        out.push(b'"');
    }
    if open {
        out.push(b'}');
    }
    if !body.is_empty() {
        out.extend_from_slice(b",\"body\":");
        let media_type = headers.into_iter().find(|header| header.0.eq_ignore_ascii_case("content-type"));
        write_body(out, media_type.and_then(|header| std::str::from_utf8(header.1).ok()), body);
    }
    out.push(b'}');
}

/// A body by its media type: JSON as it is, text as a string, all else in base64url.
fn write_body(out: &mut Vec<u8>, media_type: Option<&str>, body: &[u8]) {
    let media_type = media_type.unwrap_or(super::MEDIA_TYPE);
    if is_json(media_type) {
        return out.extend_from_slice(body);
    }
    out.push(b'"');
    if is_text(media_type) {
        escape::json_text(out, body);
    } else {
        base64::encode_url(out, body);
    }
    out.push(b'"');
}

fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    escape::json_text(out, text.as_bytes());
    out.push(b'"');
}
