//! The answer to one operation, before it is an HTTP response or a part of a batch: status, fields and body, in buffers
//! that are used again.
//!
//! It writes nothing itself: operations and errors fill it.

use std::ops::Range;

/// An answer being written.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status code, 200 to begin with.
    pub(crate) status: u16,
    /// The body.
    pub(crate) body: Vec<u8>,
    /// Address of the entity that was created or changed, below the service root: `FlightCollection(…)`,
    /// percent-encoded. Empty where there is none. Later requests of the same batch name it by its Content-ID.
    pub(crate) address: Vec<u8>,
    fields: Vec<(&'static str, Range<usize>)>,
    /// The values of all fields.
    values: Vec<u8>,
}

/// Target for an answer: this one, or that of the HTTP engine.
pub(crate) trait Reply {
    /// Begins the answer anew, with this status and nothing else.
    fn begin(&mut self, status: u16);

    /// Changes the status of the answer so far.
    fn status(&mut self, status: u16);

    /// Adds a field.
    fn field(&mut self, name: &'static str, value: &[u8]);

    /// The body.
    fn body(&mut self) -> &mut Vec<u8>;
}

impl Default for Answer {
    fn default() -> Answer {
        Answer { status: 200, body: Vec::new(), address: Vec::new(), fields: Vec::new(), values: Vec::new() }
    }
}

impl Answer {
    /// Makes it an empty 200 again; the memory stays.
    pub(crate) fn clear(&mut self) {
        self.status = 200;
        self.body.clear();
        self.address.clear();
        self.fields.clear();
        self.values.clear();
    }

    /// Adds a field.
    pub(crate) fn header(&mut self, name: &'static str, value: impl AsRef<[u8]>) {
        self.header_of(name, &[value.as_ref()]);
    }

    /// Adds a field whose value is these parts, one behind the other.
    pub(crate) fn header_of(&mut self, name: &'static str, parts: &[&[u8]]) {
        let begin = self.values.len();
        for part in parts {
            self.values.extend_from_slice(part);
        }
        self.fields.push((name, begin..self.values.len()));
    }

    /// Adds a field whose value `write` writes; if it returns that there is none, nothing is added.
    pub(crate) fn header_with(&mut self, name: &'static str, write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let begin = self.values.len();
        match write(&mut self.values) {
            true => self.fields.push((name, begin..self.values.len())),
            false => self.values.truncate(begin),
        }
    }

    /// The fields in their order.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&'static str, &[u8])> + Clone {
        self.fields.iter().map(|(name, range)| (*name, &self.values[range.clone()]))
    }

    /// Adds the address of the created entity: `Location`, and in V4 its id too. `root` is the service root.
    pub(crate) fn say_location(&mut self, root: &str, id: EntityId) {
        let address = std::mem::take(&mut self.address);
        self.header_of("location", &[root.as_bytes(), &address]);
        if id == EntityId::Said {
            self.header_of("odata-entityid", &[root.as_bytes(), &address]);
        }
        self.address = address;
    }
}

/// Whether an answer has the entity's id beside its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntityId {
    /// It has `OData-EntityId` (V4).
    Said,
    /// It has no such field (V2).
    Unsaid,
}

impl Reply for Answer {
    fn begin(&mut self, status: u16) {
        self.clear();
        self.status = status;
    }

    fn status(&mut self, status: u16) {
        self.status = status;
    }

    fn field(&mut self, name: &'static str, value: &[u8]) {
        self.header(name, value);
    }

    fn body(&mut self) -> &mut Vec<u8> {
        &mut self.body
    }
}

impl Reply for tollgate_net::http1::server::Response {
    fn begin(&mut self, status: u16) {
        self.status = status;
        self.clear_headers();
        self.body.clear();
    }

    fn status(&mut self, status: u16) {
        self.status = status;
    }

    fn field(&mut self, name: &'static str, value: &[u8]) {
        self.header(name, value);
    }

    fn body(&mut self) -> &mut Vec<u8> {
        &mut self.body
    }
}
