//! Writes batches, and the answers to them, as `multipart/mixed`.
//!
//! It deliberately does not look for the boundary in what it writes: the caller chooses a long and random one.

use super::super::Outgoing;
use crate::number::write_integer;

/// Prefix of a change set's boundary, before that of the batch. Many readers, Apache Olingo's client among them, take
/// any line that begins with the delimiter of the batch for one of its own (RFC 2046, section 5.1.1).
const CHANGE_SET: &str = "changeset_";

/// Writes requests, as a client.
///
/// ```
/// use tollgate_wire::batch::{Outgoing, multipart};
///
/// let mut body = Vec::new();
/// let mut writer = multipart::RequestWriter::new(&mut body, "batch_1");
/// writer.request(&Outgoing { method: "GET", target: "Flights", ..Outgoing::default() });
/// writer.begin_change_set();
/// let headers = [("Content-Type", "application/json")];
/// let post = Outgoing { id: Some("1"), method: "POST", target: "Flights", headers: &headers, ..Outgoing::default() };
/// writer.request(&Outgoing { body: b"{}", ..post });
/// writer.end_change_set();
/// writer.finish();
/// assert!(body.ends_with(b"--batch_1--\r\n"));
/// ```
#[derive(Debug)]
pub struct RequestWriter<'o> {
    out: &'o mut Vec<u8>,
    frame: Frame<'o>,
}

impl<'o> RequestWriter<'o> {
    /// Begins a batch behind what is in `out`. The boundary has at most 60 characters, and those of RFC 2046.
    pub fn new(out: &'o mut Vec<u8>, boundary: &'o str) -> RequestWriter<'o> {
        RequestWriter { out, frame: Frame::new(boundary) }
    }

    /// The requests up to [`end_change_set`](RequestWriter::end_change_set) are to be done together or not at all.
    pub fn begin_change_set(&mut self) {
        self.frame.begin_change_set(self.out);
    }

    /// Writes a request.
    pub fn request(&mut self, request: &Outgoing<'_>) {
        self.frame.begin_part(self.out, request.id);
        let out = &mut *self.out;
        for text in [request.method, " ", request.target, " HTTP/1.1\r\n"] {
            out.extend_from_slice(text.as_bytes());
        }
        for (name, value) in request.headers {
            header(out, name, value.as_bytes());
        }
        content(out, request.body);
    }

    /// The change set is complete.
    pub fn end_change_set(&mut self) {
        self.frame.end_change_set(self.out);
    }

    /// The batch is complete.
    pub fn finish(self) {
        self.frame.finish(self.out);
    }
}

/// Writes answers, as a server.
#[derive(Debug)]
pub struct ResponseWriter<'b> {
    frame: Frame<'b>,
    /// The start of the change set, so that it can be taken back.
    change_set_start: usize,
}

impl<'b> ResponseWriter<'b> {
    /// An answer with this boundary of at most 60 characters. All that is written is given the same buffer.
    pub fn new(boundary: &'b str) -> ResponseWriter<'b> {
        ResponseWriter { frame: Frame::new(boundary), change_set_start: 0 }
    }

    /// The answers up to [`end_change_set`](ResponseWriter::end_change_set) are those to a change set.
    pub fn begin_change_set(&mut self, out: &mut Vec<u8>) {
        self.change_set_start = out.len();
        self.frame.begin_change_set(out);
    }

    /// Writes the answer to one request, or to a change set that failed as a whole.
    pub fn response<'n, 'v>(
        &mut self,
        out: &mut Vec<u8>,
        id: Option<&str>,
        status: (u16, &str),
        headers: impl IntoIterator<Item = (&'n str, &'v [u8])>,
        body: &[u8],
    ) {
        self.frame.begin_part(out, id);
        out.extend_from_slice(b"HTTP/1.1 ");
        write_integer(out, i64::from(status.0));
        out.push(b' ');
        out.extend_from_slice(status.1.as_bytes());
        out.extend_from_slice(b"\r\n");
        for (name, value) in headers {
            header(out, name, value);
        }
        content(out, body);
    }

    /// The answers to the change set are complete.
    pub fn end_change_set(&mut self, out: &mut Vec<u8>) {
        self.frame.end_change_set(out);
    }

    /// Takes back the change set that was begun, and what was written in it.
    pub fn abandon_change_set(&mut self, out: &mut Vec<u8>) {
        out.truncate(self.change_set_start);
        self.frame.in_change_set = false;
    }

    /// The answer is complete.
    pub fn finish(self, out: &mut Vec<u8>) {
        self.frame.finish(out);
    }
}

#[derive(Debug)]
struct Frame<'b> {
    boundary: &'b str,
    in_change_set: bool,
}

impl<'b> Frame<'b> {
    fn new(boundary: &'b str) -> Frame<'b> {
        Frame { boundary, in_change_set: false }
    }

    fn delimiter(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"--");
        if self.in_change_set {
            out.extend_from_slice(CHANGE_SET.as_bytes());
        }
        out.extend_from_slice(self.boundary.as_bytes());
    }

    fn begin_change_set(&mut self, out: &mut Vec<u8>) {
        self.delimiter(out);
        out.extend_from_slice(b"\r\nContent-Type: multipart/mixed; boundary=");
        out.extend_from_slice(CHANGE_SET.as_bytes());
        out.extend_from_slice(self.boundary.as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
        self.in_change_set = true;
    }

    fn begin_part(&self, out: &mut Vec<u8>, id: Option<&str>) {
        self.delimiter(out);
        out.extend_from_slice(b"\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n");
        if let Some(id) = id {
            header(out, "Content-ID", id.as_bytes());
        }
        out.extend_from_slice(b"\r\n");
    }

    fn end_change_set(&mut self, out: &mut Vec<u8>) {
        self.delimiter(out);
        out.extend_from_slice(b"--\r\n");
        self.in_change_set = false;
    }

    fn finish(&self, out: &mut Vec<u8>) {
        self.delimiter(out);
        out.extend_from_slice(b"--\r\n");
    }
}

fn header(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    // No value can end its line.
    out.extend(value.iter().map(|byte| if byte.is_ascii_control() { b' ' } else { *byte }));
    out.extend_from_slice(b"\r\n");
}

/// The end of the head, and the body with its length. Its line end belongs to the next delimiter.
fn content(out: &mut Vec<u8>, body: &[u8]) {
    if !body.is_empty() {
        out.extend_from_slice(b"Content-Length: ");
        write_integer(out, i64::try_from(body.len()).expect("a body fits into memory"));
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body);
    out.extend_from_slice(b"\r\n");
}
