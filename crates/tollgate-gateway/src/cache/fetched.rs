//! The answer of a backend on its way into the cache: its head shows if it cannot be stored, so that nobody waits for
//! the rest, and `304` confirms a stored one (RFC 9111, section 4.3).
//!
//! Sending the request and moving the answer is the proxy's task.

use std::sync::Arc;

use tollgate_net::http1::server::{Exchange, Response, rendered_fields};

use super::ResponseCache;
use super::entry::Entry;
use super::front::{Fetch, ResponseFields};

/// Fields that a revalidation does not change: they belong to the stored body (section 3.2).
const OF_THE_BODY: [&str; 3] = ["content-encoding", "content-type", "content-range"];

impl Fetch<'_> {
    /// Rendered fields that ask a backend to revalidate the stored answer; `None` if there is none.
    pub(crate) fn condition(&self) -> Option<Vec<u8>> {
        let stale = self.0.as_ref()?.stale.as_ref()?;
        let mut fields = Vec::new();
        let last_modified = stale.last_modified_s.and_then(|_| stale.field("last-modified"));
        let named = [("If-None-Match", stale.etag.as_deref().map(str::as_bytes)), ("If-Modified-Since", last_modified)];
        for (name, value) in named {
            if let Some(value) = value {
                fields.extend_from_slice(name.as_bytes());
                fields.extend_from_slice(b": ");
                fields.extend_from_slice(value);
                fields.extend_from_slice(b"\r\n");
            }
        }
        Some(fields)
    }

    /// Notes that a backend began to answer. Returns the stored answer if the backend confirms it.
    pub(crate) fn begun(&mut self, exchange: &mut Exchange<'_>) -> Option<Arc<Entry>> {
        let fetching = self.0.as_mut()?;
        let (_, head, _) = exchange.answered();
        fetching.date = head.header("date").map(str::to_owned);
        fetching.stale.take().filter(|_| head.status() == 304)
    }

    /// Combines the stored answer with the `304` that confirms it, whose fields are in `response`.
    pub(crate) fn freshen(&mut self, cache: &ResponseCache, kept: &Entry, response: &mut Response) {
        cache.count_validated();
        let said = ResponseFields::of(response).etag;
        if let (Some(said), Some(etag)) = (said, &kept.etag)
            && opaque(&said) != opaque(etag)
            && let Some(leader) = self.0.as_ref().and_then(|fetching| fetching.leader.take())
        {
            // It is not clear which one it means: good enough for whoever asks, but not for others.
            leader.keep_to_itself();
        }
        let new = response.rendered_headers().to_vec();
        response.clear();
        response.status = kept.status;
        for (name, value) in merged(&kept.fields, &new) {
            response.header(name, value);
        }
        response.body.extend_from_slice(&kept.body);
    }

    /// Handles the complete head of an answer, before its body. If it cannot be stored, waiting requests are released,
    /// and it is passed on as it comes.
    pub(crate) fn settle_head(&mut self, cache: &ResponseCache, exchange: &mut Exchange<'_>) {
        let Some(fetching) = self.0.as_ref() else { return };
        let now = exchange.now();
        let (_, head, response) = exchange.answered();
        let may_be_kept = fetching.freshness(cache, &ResponseFields::of(response), response.status, now).is_some();
        let is_too_large = head.content_length().is_some_and(|length| length > cache.entry_bytes_max as u64);
        if may_be_kept && is_too_large {
            cache.count_too_large();
        }
        if !may_be_kept || is_too_large {
            exchange.end_keeping();
            if let Some(leader) = self.0.take().and_then(|fetching| fetching.leader.take()) {
                leader.keep_to_itself();
            }
        }
    }
}

/// The fields of a stored answer, with updated ones in place of the old ones.
fn merged<'f>(kept: &'f [u8], new: &'f [u8]) -> impl Iterator<Item = (&'f str, &'f [u8])> {
    let is_kept = |name: &str| OF_THE_BODY.iter().any(|own| own.eq_ignore_ascii_case(name));
    let is_new =
        move |name: &str| !is_kept(name) && rendered_fields(new).any(|(other, _)| other.eq_ignore_ascii_case(name));
    let old = rendered_fields(kept).filter(move |(name, _)| !is_new(name));
    old.chain(rendered_fields(new).filter(move |(name, _)| !is_kept(name)))
}

/// An entity tag without its mark of weakness.
fn opaque(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kept: &str, new: &str, expected: &str) {
        let fields = merged(kept.as_bytes(), new.as_bytes());
        let text: String =
            fields.map(|(name, value)| format!("{name}: {}\r\n", String::from_utf8_lossy(value))).collect();
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_said_anew_replaces_what_was_kept_but_for_what_belongs_to_the_body() {
        check("A: 1\r\nB: 2\r\nb: 3\r\n", "B: 4\r\nC: 5\r\n", "A: 1\r\nB: 4\r\nC: 5\r\n");
        check(
            "Content-Type: a\r\nETag: \"1\"\r\n",
            "content-type: b\r\nContent-Encoding: gzip\r\nCache-Control: max-age=5\r\n",
            "Content-Type: a\r\nETag: \"1\"\r\nCache-Control: max-age=5\r\n",
        );
        check("", "", "");
    }
}
