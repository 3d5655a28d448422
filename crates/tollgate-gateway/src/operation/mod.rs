//! One OData operation, V2 or V4: a request that reads or writes becomes changes in a store and an [`Answer`].
//!
//! It is synchronous and knows no socket, no transaction and no lock: a single request and the parts of a batch are done by
//! the same code, inside a transaction that the caller began and ends. What is wrong is a [`Fault`]; the caller then undoes
//! whatever was done.

mod action;
mod answer;
mod author;
mod change;
mod content_ids;
mod create;
mod headers;
mod methods;
mod perform;
mod preferences;
mod prepare;
mod property;
pub(crate) mod provide;
pub(crate) mod reach;
mod read;
mod reference;
mod relation;
mod represent;
pub(crate) mod spare;
pub(crate) mod subtype;
mod target;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use tollgate_net::http1::Method;
use tollgate_wire::edm::Version;
use tollgate_wire::plan::Resource;
use tollgate_wire::url;

pub(crate) use answer::{Answer, Reply};
pub(crate) use author::Author;
pub(crate) use change::{Absent, Changed, How, check_key};
pub(crate) use content_ids::ContentIds;
pub(crate) use create::{Creation, is_alone};
#[cfg(test)]
pub(crate) use headers::Fields;
pub(crate) use headers::{Conditions, Headers, check_coding, meant_method, values};
pub(crate) use methods::{READING, allowed, allowed_of_action};
pub(crate) use preferences::Preferences;
pub(crate) use prepare::Prepared;
pub(crate) use relation::{deletion_refused, refused};

use crate::error::Fault;
use crate::hosted::Hosted;
use crate::odata::versions;
use crate::store::Connection;

/// A request for one operation.
pub(crate) struct Request<'a> {
    /// The method as it came; V2's tunnelled methods are found in the fields.
    pub(crate) method: Method,
    /// The path below the service root, percent-encoded.
    pub(crate) path: &'a str,
    /// What stands behind `?`, percent-encoded.
    pub(crate) query: Option<&'a str>,
    /// The version of the service root.
    pub(crate) version: Version,
    /// The absolute URL of the service, with its slash.
    pub(crate) root: &'a str,
    /// The fields.
    pub(crate) headers: &'a dyn Headers,
    /// The body.
    pub(crate) body: &'a [u8],
    /// What earlier requests of the same batch created; empty outside of batches.
    pub(crate) content_ids: &'a ContentIds,
    /// In whose name, and when.
    pub(crate) author: &'a Author,
    /// Entities of a collection that are answered at once.
    pub(crate) page_size: u64,
}

/// What an operation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Performed {
    /// It read: nothing has changed.
    Read,
    /// It wrote. [`Answer::address`] says where the entity stands, if there still is one.
    Wrote,
}

/// Does one operation inside a transaction that the caller began. `answer` is begun anew.
///
/// # Errors
/// What is to be told to the client; the caller undoes whatever was done.
pub(crate) fn perform(
    service: &Hosted,
    connection: &mut Connection,
    request: &Request<'_>,
    answer: &mut Answer,
) -> Result<Performed, Fault> {
    let meant = Meant::of(service, request)?;
    match meant.method {
        Method::Get | Method::Head => read::perform(service, connection, request, meant, answer),
        _ => prepare::prepare(service, request, meant)?.perform(service, connection, request.root, answer),
    }
}

/// Reads and checks a request that writes.
///
/// # Errors
/// Whatever can be found wrong without a database.
pub(crate) fn prepare(service: &Hosted, request: &Request<'_>) -> Result<Prepared, Fault> {
    prepare::prepare(service, request, Meant::of(service, request)?)
}

/// What a request's head means.
struct Meant<'a> {
    method: Method,
    /// The path with a Content-ID at its beginning resolved.
    path: Cow<'a, str>,
    resource: Resource,
    preferences: Preferences,
}

impl<'a> Meant<'a> {
    fn of(service: &Hosted, request: &Request<'a>) -> Result<Meant<'a>, Fault> {
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

fn method_text(method: Method) -> &'static str {
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
