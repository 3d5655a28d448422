//! Formats of a batch and its answer, decided by its head.
//!
//! It does not read the body.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use tollgate_net::http1::RequestHead;
use tollgate_wire::batch::{Requests, json, multipart};
use tollgate_wire::edm::Version;

use crate::error::Fault;
use crate::http::accept;

/// Format of a batch, or of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BatchFormat<B> {
    /// `multipart/mixed` with this boundary.
    Multipart(B),
    /// JSON.
    Json,
}

impl BatchFormat<String> {
    pub(super) fn requests<'b>(&self, body: &'b [u8], requests_max: usize) -> Requests<'b> {
        match self {
            BatchFormat::Multipart(boundary) => Requests::multipart(body, boundary, requests_max),
            BatchFormat::Json => Requests::json(body, requests_max),
        }
    }
}

/// Format of the batch, by its Content-Type.
pub(super) fn request_form(version: Version, head: &RequestHead) -> Result<BatchFormat<String>, Fault> {
    let said = head.header("content-type").unwrap_or_default();
    if let Some(boundary) = multipart::boundary(said) {
        return Ok(BatchFormat::Multipart(boundary.to_owned()));
    }
    let essence = said.split(';').next().unwrap_or_default().trim();
    if version == Version::V4 && essence.eq_ignore_ascii_case(json::MEDIA_TYPE) {
        return Ok(BatchFormat::Json);
    }
    if essence.eq_ignore_ascii_case(multipart::MEDIA_TYPE) {
        return Err(Fault::bad_request(
            "content-type",
            format!("expected a boundary of 1 to 70 characters in `{said}`"),
        ));
    }
    let readable = match version {
        Version::V2 => "multipart/mixed",
        Version::V4 => "multipart/mixed or application/json",
    };
    Err(Fault::unsupported_media_type(format!("expected a batch of {readable}, found `{said}`")))
}

/// Format of the answer: as `Accept` prefers, else that of the batch (Protocol 11.7.1).
pub(super) fn answer_form(
    version: Version,
    form: &BatchFormat<String>,
    head: &RequestHead,
) -> Result<BatchFormat<String>, Fault> {
    const MULTIPART: (&str, BatchFormat<()>) = (multipart::MEDIA_TYPE, BatchFormat::Multipart(()));
    const JSON: (&str, BatchFormat<()>) = (json::MEDIA_TYPE, BatchFormat::Json);
    let offers: &[_] = match (version, form) {
        (Version::V2, _) => &[MULTIPART],
        (Version::V4, BatchFormat::Multipart(_)) => &[MULTIPART, JSON],
        (Version::V4, BatchFormat::Json) => &[JSON, MULTIPART],
    };
    match accept::choose(head.values("accept"), offers, |offer, _| Some(offer)) {
        Some(BatchFormat::Multipart(())) => Ok(BatchFormat::Multipart(boundary())),
        Some(BatchFormat::Json) => Ok(BatchFormat::Json),
        // V2's libraries send the `Accept` of their single requests along; there is but one form to answer in.
        None if version == Version::V2 => Ok(BatchFormat::Multipart(boundary())),
        None => Err(Fault::not_acceptable("expected Accept to allow multipart/mixed or application/json")),
    }
}

/// An unpredictable boundary, so that no value of an entity can be made to contain it.
fn boundary() -> String {
    let half = || RandomState::new().hash_one(0);
    format!("batch_{:016x}{:016x}", half(), half())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_differ_and_are_right() {
        let (one, other) = (boundary(), boundary());
        assert_ne!(one, other);
        assert_eq!(multipart::boundary(&format!("multipart/mixed; boundary={one}")), Some(one.as_str()));
    }
}
