//! The same rows as plain REST: `/rest/flights` and `/rest/flights/AA/0017/2011-06-01`, as JSON or, with
//! `Accept: application/xml`, as XML padded to Atom's size. Errors are problems (RFC 9457) in the same format.
//!
//! It has no query language: whoever wants to filter asks by OData.

mod route;

use tollgate_net::http1::server::{Exchange, ExchangeError};
use tollgate_net::http1::{Method, RequestHead};
use tollgate_wire::edm::{Model, SetId, Version};
use tollgate_wire::format::{DocumentKind, Format, Padding};
use tollgate_wire::plan::{Plan, Shape};

use self::route::Resource;
use crate::accept;
use crate::error::{Failure, Fault};
use crate::feed::{Feed, Next};
use crate::odata::READING;
use crate::server::Core;
use crate::single::{Found, Single};

/// Where REST begins.
pub(crate) const ROOT: &str = "/rest/";

/// The names of the flight service's sets in URLs, in the order of its model: a list, and one of it.
const NAMES: [(&str, &str); 4] =
    [("flights", "flight"), ("carriers", "carrier"), ("bookings", "booking"), ("travelagencies", "travel agency")];

const XML: Format = Format::RestXml { padding: Padding::AtomSize };
const OFFERS: &[(&str, Format)] =
    &[("application/json", Format::RestJson), ("application/xml", XML), ("text/xml", XML)];

/// The names of the lists.
pub(crate) fn lists() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(list, _)| *list)
}

/// What REST names.
#[derive(Debug)]
pub(crate) struct Rest {
    resources: Vec<Resource>,
}

impl Rest {
    /// Names the sets of the flight service.
    pub(crate) fn new(model: &Model) -> Rest {
        let named = NAMES.iter().take(model.entity_sets.len()).enumerate();
        Rest { resources: named.map(|(index, (list, item))| Resource { list, item, set: SetId(index) }).collect() }
    }
}

/// Answers one request below [`ROOT`].
///
/// # Errors
/// Only where the exchange breaks; whatever else is wrong is answered.
pub(crate) async fn serve(core: &Core, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
    match answer(core, exchange).await {
        Ok(()) => Ok(()),
        Err(Failure::Broken(error)) => Err(error),
        Err(Failure::Told(fault)) => {
            let (request, response) = exchange.split();
            core.tell(&fault, error_format(Some(request)), response);
            Ok(())
        }
    }
}

/// The format in which a fault is told: what Accept chose, else JSON.
pub(crate) fn error_format(request: Option<&RequestHead>) -> Format {
    let accept = request.into_iter().flat_map(|request| request.values("accept"));
    accept::choose(accept, OFFERS, |format, _| Some(format)).unwrap_or(Format::RestJson)
}

async fn answer(core: &Core, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
    let shared = &core.shared;
    let (request, response) = exchange.split();
    let path = request.path().get(ROOT.len()..).unwrap_or_default();
    let (resource, plan) = route::parse(&shared.model, &shared.rest.resources, path, request.query())?;
    if request.method() == Method::Options {
        response.status = 204;
        response.header("allow", READING);
        return Ok(());
    }
    check_method(request.method(), request.method_text(), &plan)?;
    let Some(format) = accept::choose(request.values("accept"), OFFERS, |format, _| Some(format)) else {
        return Err(Fault::not_acceptable("expected Accept to allow application/json or application/xml").into());
    };
    let stencil = shared.stencils.of(&shared.model, plan.set(), plan.shape, format, &plan.options);
    response.header("vary", "Accept");
    if plan.shape == Shape::Entity {
        response.header("content-type", format.content_type(DocumentKind::Entry));
        let root = core.service_root(exchange, ROOT);
        // Dates stand in V4's form, which is ISO 8601.
        let single = Single { plan, stencil: Some(stencil), version: Version::V4, root, updated: String::new() };
        return match single.answer(core, exchange).await? {
            Found::Answered => Ok(()),
            Found::Nothing | Found::Missing => {
                Err(Fault::not_found(format!("there is no such {}", resource.item)).into())
            }
        };
    }
    response.header("content-type", format.content_type(DocumentKind::Feed));
    let root = core.service_root(exchange, ROOT);
    let page_left = shared.page_size;
    let path = resource.list.to_owned();
    Feed { plan, stencil, root, updated: String::new(), path, next: Next::Offset, page_left, written: 0 }
        .answer(core, exchange)
        .await
}

fn check_method(method: Method, method_text: &str, plan: &Plan) -> Result<(), Fault> {
    match (method, plan.shape) {
        (Method::Get | Method::Head, _) => Ok(()),
        (Method::Post, Shape::Collection) | (Method::Put | Method::Patch | Method::Delete, Shape::Entity) => {
            Err(Fault::not_implemented(&format!("{method_text} in REST")))
        }
        _ => Err(Fault::method_not_allowed(method_text, READING)),
    }
}
