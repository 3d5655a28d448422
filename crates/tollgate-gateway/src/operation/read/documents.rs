//! The two documents that describe a service: the service document and `$metadata`. The latter is written once and
//! kept.

use tollgate_wire::describe::service_document;
use tollgate_wire::edm::Version;
use tollgate_wire::format::DocumentKind;
use tollgate_wire::query::format_of;
use tollgate_wire::stencil::Base;

use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::answer::Reply;
use crate::http::conditions::{self, Verdict};
use crate::http::headers::{Headers, values};
use crate::operation::head::negotiation::{self, Csdl};
use crate::operation::head::versions;

const XML: &str = "application/xml;charset=utf-8";

/// Answers `$metadata`.
///
/// # Errors
/// 406 if no format is acceptable, 412 if `If-Match` fails.
pub(crate) fn answer_metadata(
    service: &Hosted,
    version: Version,
    query: Option<&str>,
    headers: &dyn Headers,
    reply: &mut impl Reply,
) -> Result<(), Fault> {
    let format = format_of(version, query);
    let csdl = negotiation::metadata(version, format.as_deref(), headers)?;
    let (document, media_type) = match (version, csdl) {
        (Version::V2, _) => (&service.documents.v2, XML),
        (Version::V4, Csdl::Xml) => (&service.documents.v4, XML),
        (Version::V4, Csdl::Json) => (&service.documents.v4_json, "application/json"),
    };
    let (name, said) = versions::answered(version, headers);
    reply.field(name, said.as_bytes());
    if version == Version::V4 {
        negotiation::say_choice(format.as_deref(), reply);
    }
    reply.field("etag", document.etag.as_bytes());
    match conditions::judge(values(headers, "if-match"), values(headers, "if-none-match"), &document.etag) {
        Verdict::Failed => return Err(Fault::precondition_failed()),
        Verdict::NotModified => reply.status(304),
        Verdict::Answer => {
            reply.field("content-type", media_type.as_bytes());
            reply.body().extend_from_slice(&document.bytes);
        }
    }
    Ok(())
}

/// Answers the service root. Its links begin with `root`, which depends on the request's `Host`, so it is written each
/// time.
///
/// # Errors
/// 406 if no format is acceptable, 412 if `If-Match` fails.
pub(crate) fn answer_service(
    service: &Hosted,
    version: Version,
    query: Option<&str>,
    root: &str,
    headers: &dyn Headers,
    reply: &mut impl Reply,
) -> Result<(), Fault> {
    let option = format_of(version, query);
    let format = negotiation::document(version, option.as_deref(), headers)?;
    service_document::write(reply.body(), &service.model, format, &Base::new(root, ""));
    let etag = conditions::etag_of(reply.body());
    let (name, said) = versions::answered(version, headers);
    reply.field(name, said.as_bytes());
    reply.field("etag", etag.as_bytes());
    negotiation::say_choice(option.as_deref(), reply);
    match conditions::judge(values(headers, "if-match"), values(headers, "if-none-match"), &etag) {
        Verdict::Failed => return Err(Fault::precondition_failed()),
        Verdict::NotModified => {
            reply.status(304);
            reply.body().clear();
        }
        Verdict::Answer => reply.field("content-type", format.content_type(DocumentKind::Service).as_bytes()),
    }
    Ok(())
}
