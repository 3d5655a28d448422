//! The two documents that describe a service: the service document and `$metadata`. The latter is made once and kept.

use tollgate_wire::describe::{csdl_json, metadata_v2, metadata_v4, service_document};
use tollgate_wire::edm::{Model, Version};
use tollgate_wire::format::DocumentKind;
use tollgate_wire::query::format_of;
use tollgate_wire::stencil::Base;

use super::negotiation::Csdl;
use super::{negotiation, versions};
use crate::conditions::{self, Verdict};
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::operation::{Headers, Reply, values};

const XML: &str = "application/xml;charset=utf-8";

/// The kept metadata documents.
#[derive(Debug)]
pub(crate) struct Documents {
    v2: Document,
    v4: Document,
    v4_json: Document,
}

#[derive(Debug)]
struct Document {
    bytes: Vec<u8>,
    etag: String,
}

impl Documents {
    /// Writes the metadata of `model` in both versions.
    pub(crate) fn new(model: &Model) -> Documents {
        let document = |write: fn(&Model, &mut Vec<u8>)| {
            let mut bytes = Vec::new();
            write(model, &mut bytes);
            let etag = conditions::etag_of(&bytes);
            Document { bytes, etag }
        };
        Documents {
            v2: document(metadata_v2::write),
            v4: document(metadata_v4::write),
            v4_json: document(csdl_json::write),
        }
    }
}

/// Answers `$metadata`.
///
/// # Errors
/// 406 where no way of writing it is acceptable, 412 where `If-Match` fails.
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

/// Answers the service root. Its links begin with `root`, which the request's `Host` says, so it is written each time.
///
/// # Errors
/// 406 where no format is acceptable, 412 where `If-Match` fails.
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
