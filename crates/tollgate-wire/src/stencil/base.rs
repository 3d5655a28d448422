//! The request's part of a document: the address of the service, the time, and the head of a collection.
//!
//! It deliberately contains nothing of a row.

use std::borrow::Cow;

/// The part of a document that depends on the request, not on the row.
#[derive(Debug, Clone)]
pub struct Base<'a> {
    service_root: Cow<'a, str>,
    updated: &'a str,
}

impl<'a> Base<'a> {
    /// `service_root` is the absolute URL of the service with its slash at the end; characters that have no place in a
    /// URL (the host comes from the client) are percent-encoded. `updated` is the time of the answer as Atom writes it,
    /// such as `2013-09-25T00:00:00Z`.
    pub fn new(service_root: &'a str, updated: &'a str) -> Base<'a> {
        let has_place = |byte: u8| HAS_PLACE[usize::from(byte)];
        let service_root = if !service_root.bytes().all(has_place) {
            let encode = |byte: u8| match has_place(byte) {
                true => char::from(byte).to_string(),
                false => format!("%{byte:02X}"),
            };
            Cow::Owned(service_root.bytes().map(encode).collect())
        } else {
            Cow::Borrowed(service_root)
        };
        Base { service_root, updated }
    }

    /// The absolute URL of the service, with its slash.
    pub fn service_root(&self) -> &str {
        &self.service_root
    }

    /// The time of the answer.
    pub fn updated(&self) -> &str {
        self.updated
    }
}

/// The bytes that a URL, and a document around it, may contain unescaped.
const HAS_PLACE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        let character = byte as u8;
        table[byte] = character.is_ascii_graphic()
            && !matches!(character, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | b'&');
        byte += 1;
    }
    table
};

/// The head of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedHead<'a> {
    /// The path of the collection below the service root as requested, without its query: `FlightCollection`.
    pub path: &'a str,
    /// The number of all matching entities, if it was requested.
    pub count: Option<u64>,
}
