//! The two documents that describe a service: the service document and `$metadata`. The latter is made once and kept.

use tollgate_net::http1::server::Exchange;
use tollgate_wire::edm::{Model, Version, metadata_v2, metadata_v4, service_document};
use tollgate_wire::format::DocumentKind;
use tollgate_wire::query::format_of;
use tollgate_wire::stencil::Base;

use super::{negotiation, versions};
use crate::conditions::{self, Verdict};
use crate::error::{Failure, Fault};
use crate::hosted::{Hosted, Mount};
use crate::server::Core;

/// The kept metadata documents.
#[derive(Debug)]
pub(crate) struct Documents {
    v2: Document,
    v4: Document,
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
        Documents { v2: document(metadata_v2::write), v4: document(metadata_v4::write) }
    }
}

/// Answers `$metadata`.
pub(super) fn answer_metadata(service: &Hosted, mount: &Mount, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
    let (request, response) = exchange.split();
    let format = format_of(mount.version, request.query());
    negotiation::metadata(format.as_deref(), request.values("accept"))?;
    let document = match mount.version {
        Version::V2 => &service.documents.v2,
        Version::V4 => &service.documents.v4,
    };
    let (name, said) = versions::answered(mount.version);
    response.header(name, said);
    response.header("etag", &document.etag);
    match conditions::judge(request.values("if-match"), request.values("if-none-match"), &document.etag) {
        Verdict::Failed => return Err(Fault::precondition_failed().into()),
        Verdict::NotModified => response.status = 304,
        Verdict::Answer => {
            response.header("content-type", "application/xml;charset=utf-8");
            response.body.extend_from_slice(&document.bytes);
        }
    }
    Ok(())
}

/// Answers the service root. Its links begin with the `Host` of the request, so it is written each time.
pub(super) fn answer_service(
    core: &Core,
    service: &Hosted,
    mount: &Mount,
    exchange: &mut Exchange<'_>,
) -> Result<(), Failure> {
    let root = core.service_root(exchange, &mount.root);
    let (request, response) = exchange.split();
    let option = format_of(mount.version, request.query());
    let format = negotiation::document(mount.version, option.as_deref(), request.values("accept"))?;
    service_document::write(&mut response.body, &service.model, format, &Base::new(&root, ""));
    let etag = conditions::etag_of(&response.body);
    let (name, said) = versions::answered(mount.version);
    response.header(name, said);
    response.header("etag", &etag);
    negotiation::say_choice(option.as_deref(), response);
    match conditions::judge(request.values("if-match"), request.values("if-none-match"), &etag) {
        Verdict::Failed => return Err(Fault::precondition_failed().into()),
        Verdict::NotModified => {
            response.status = 304;
            response.body.clear();
        }
        Verdict::Answer => response.header("content-type", format.content_type(DocumentKind::Service)),
    }
    core.give_text(root);
    Ok(())
}
