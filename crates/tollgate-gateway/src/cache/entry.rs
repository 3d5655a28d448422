//! One stored answer: its rendered head, its body, its key, and its lifetime.
//!
//! It never changes once it is made, so that any number of loops send it at the same time.

use std::mem::size_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tollgate_net::http1::RequestHead;
use tollgate_net::http1::server::rendered_fields;

use super::key::{Key, KeyText};
use super::policy::Freshness;

/// Bytes of an entry besides the answer's own: its place in the index, and the allocator's overhead.
const OVERHEAD_BYTES: usize = 256;

/// A stored answer.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Key of the request that it answers.
    pub(crate) key: KeyText,
    /// Request fields that selected it.
    pub(crate) varying: Box<[Varying]>,
    /// Its status.
    pub(crate) status: u16,
    /// Its fields, rendered.
    pub(crate) fields: Box<[u8]>,
    /// Its body.
    pub(crate) body: Box<[u8]>,
    /// Its `ETag`.
    pub(crate) etag: Option<Box<str>>,
    /// Its `Last-Modified`, in seconds since 1970.
    pub(crate) last_modified_s: Option<i64>,
    /// Time at which it was stored.
    pub(crate) kept_at: Instant,
    /// Its age at that time, and its largest age.
    pub(crate) freshness: Freshness,
    /// Version of the data that it was read from.
    pub(crate) source: Option<SourceVersion>,
}

/// A field of a request, with the value for which an answer was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Varying {
    name: Box<str>,
    /// All its lines, joined by `, `; `None` where it was absent.
    value: Option<Box<[u8]>>,
}

/// Version of the data behind an answer, by a count of changes.
#[derive(Debug, Clone)]
pub(crate) struct SourceVersion {
    changes: Arc<AtomicU64>,
    seen: u64,
}

impl Entry {
    /// Whether it answers this request.
    pub(crate) fn answers(&self, key: &Key<'_>, request: &RequestHead) -> bool {
        self.key.is(key) && self.varying.iter().all(|varying| varying.is_in(request))
    }

    /// Whether it replaces `other`.
    pub(crate) fn replaces(&self, other: &Entry) -> bool {
        self.key == other.key && self.varying == other.varying
    }

    /// Whether the data that it was read from is unchanged.
    pub(crate) fn is_current(&self) -> bool {
        self.source.as_ref().is_none_or(SourceVersion::is_current)
    }

    /// Its age.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        self.freshness.age + now.saturating_duration_since(self.kept_at)
    }

    /// Whether it may not be used any more, for any caller.
    pub(crate) fn is_spent(&self, now: Instant) -> bool {
        self.age(now) >= self.freshness.lifetime || !self.is_current()
    }

    /// Whether a backend can revalidate it.
    pub(crate) fn has_validator(&self) -> bool {
        self.status == 200 && (self.etag.is_some() || self.last_modified_s.is_some())
    }

    /// The value of the first of its fields of this name.
    pub(crate) fn field(&self, name: &str) -> Option<&[u8]> {
        rendered_fields(&self.fields).find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let varying = self.varying.iter().map(Varying::bytes).sum::<usize>();
        let etag = self.etag.as_ref().map_or(0, |etag| etag.len());
        let own = self.key.as_str().len() + self.fields.len() + self.body.len() + varying + etag;
        own + size_of::<Entry>() + OVERHEAD_BYTES
    }
}

impl AsRef<[u8]> for Entry {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl Varying {
    /// The field of that name as it is in `request`.
    pub(crate) fn of(name: &str, request: &RequestHead) -> Varying {
        let lines: Vec<&[u8]> = lines(name, request).collect();
        let value = (!lines.is_empty()).then(|| lines.join(&b", "[..]).into());
        Varying { name: name.to_ascii_lowercase().into(), value }
    }

    /// The name of the field, in lower case.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn is_in(&self, request: &RequestHead) -> bool {
        let mut lines = lines(&self.name, request);
        let Some(value) = &self.value else { return lines.next().is_none() };
        let Some(first) = lines.next() else { return false };
        let left = value.strip_prefix(first);
        let left = lines.fold(left, |left, line| left?.strip_prefix(b", ")?.strip_prefix(line));
        left.is_some_and(<[u8]>::is_empty)
    }

    fn bytes(&self) -> usize {
        size_of::<Varying>() + self.name.len() + self.value.as_ref().map_or(0, |value| value.len())
    }
}

impl SourceVersion {
    /// The current version of the source: to be taken before anything is read from it.
    pub(crate) fn now(changes: &Arc<AtomicU64>) -> SourceVersion {
        SourceVersion { changes: Arc::clone(changes), seen: changes.load(Ordering::Acquire) }
    }

    /// Whether it has not changed since.
    pub(crate) fn is_current(&self) -> bool {
        self.changes.load(Ordering::Acquire) == self.seen
    }
}

fn lines<'r>(name: &'r str, request: &'r RequestHead) -> impl Iterator<Item = &'r [u8]> {
    request.headers().filter(move |field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1)
}

#[cfg(test)]
mod tests {
    use tollgate_net::limits::Limits;

    use super::*;

    fn request(fields: &str) -> RequestHead {
        let mut head = RequestHead::default();
        let text = format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        head.parse(text.as_bytes(), &Limits::default()).unwrap().unwrap();
        head
    }

    #[test]
    fn a_field_is_the_same_on_one_line_or_on_several_and_absent_is_not_empty() {
        let alike = [
            vec!["Accept: a, b\r\n", "accept: a\r\nX: y\r\nACCEPT: b\r\n"],
            vec!["", "X: y\r\n"],
            vec!["Accept:\r\n", "Accept: \r\n"],
            vec!["Accept: a\r\n"],
            vec!["Accept: a,b\r\n"],
            vec!["Accept: A, b\r\n"],
        ];
        for (index, of_index) in alike.iter().enumerate() {
            for (other, of_other) in alike.iter().enumerate() {
                for (kept, asked) in of_index.iter().flat_map(|kept| of_other.iter().map(move |asked| (kept, asked))) {
                    let varying = Varying::of("Accept", &request(kept));
                    assert_eq!(varying.is_in(&request(asked)), index == other, "{kept:?} {asked:?}");
                }
            }
        }
    }
}
