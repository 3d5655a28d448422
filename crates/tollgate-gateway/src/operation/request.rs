//! A request for one operation, and the meaning of its head.
//!
//! It reads no body and queries no database.

use std::borrow::Cow;

use tollgate_net::http1::Method;
use tollgate_wire::edm::Version;
use tollgate_wire::plan::Resource;
use tollgate_wire::url;

use super::author::Author;
use super::content_ids::ContentIds;
use super::head::preferences::Preferences;
use super::head::{meant_method, versions};
use super::reach;
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::headers::Headers;

/// A request for one operation.
pub(crate) struct Request<'a> {
    /// The original method; V2's tunnelled methods are found in the fields.
    pub(crate) method: Method,
    /// The path below the service root, percent-encoded.
    pub(crate) path: &'a str,
    /// Query behind `?`, percent-encoded.
    pub(crate) query: Option<&'a str>,
    /// The version of the service root.
    pub(crate) version: Version,
    /// The absolute URL of the service, with its slash.
    pub(crate) root: &'a str,
    /// The fields.
    pub(crate) headers: &'a dyn Headers,
    /// The body.
    pub(crate) body: &'a [u8],
    /// Entities that earlier requests of the same batch created; empty outside of batches.
    pub(crate) content_ids: &'a ContentIds,
    /// Author and time of the change.
    pub(crate) author: &'a Author,
    /// Entities of a collection answered at once.
    pub(crate) page_size: u64,
}

/// Effect of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Performed {
    /// It read: nothing was changed.
    Read,
    /// It wrote. [`Answer::address`] is the entity's address, if it still exists.
    Wrote,
}

/// Meaning of a request's head.
pub(super) struct Meant<'a> {
    pub(super) method: Method,
    /// The path with a Content-ID at its beginning resolved.
    pub(super) path: Cow<'a, str>,
    pub(super) resource: Resource,
    pub(super) preferences: Preferences,
}

impl<'a> Meant<'a> {
    /// Reads and checks the head of `request`.
    ///
    /// # Errors
    /// An error in it, or a missing permission of the author.
    pub(super) fn of(service: &Hosted, request: &Request<'a>) -> Result<Meant<'a>, Fault> {
        let Request { version, headers, .. } = *request;
        versions::check(version, |name| headers.value(name, 0))?;
        let method = meant_method(version, request.method, headers)?;
        let path = request.content_ids.resolve(request.path);
        let (resource, unknown) = url::parse(&service.model, version, &path, request.query).map_err(Fault::from)?;
        reach::check(request.author.access(), &resource, method)?;
        let preferences = Preferences::of(version, headers);
        preferences.check(&unknown)?;
        Ok(Meant { method, path, resource, preferences })
    }
}

/// The name of a method.
pub(super) fn method_text(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
        Method::Merge => "MERGE",
        Method::Options => "OPTIONS",
        Method::Trace => "TRACE",
        Method::Other => "this method",
    }
}
