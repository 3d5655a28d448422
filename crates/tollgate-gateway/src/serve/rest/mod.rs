//! The same rows as plain REST: `/rest/flights` and `/rest/flights/AA/0017/2011-06-01`, as JSON or, with
//! `Accept: application/xml`, as XML. Errors are problems (RFC 9457) in the same format.
//!
//! Lists take `POST` of one entity or of an array of any size, entities `PUT`, `PATCH` and `DELETE`. Parameters filter,
//! order and page a list ([`tollgate_wire::query::rest`]); OData offers a richer query language.

mod change;
mod insertion;
mod intake;
mod mass_change;
pub(crate) mod openapi;
mod route;
mod write;

use tollgate_net::http1::server::{Exchange, ExchangeError};
use tollgate_net::http1::{Method, RequestHead};
use tollgate_wire::edm::Version;
use tollgate_wire::format::{DocumentKind, Format};
use tollgate_wire::plan::{Plan, Shape};

use self::route::RestRequest;
use crate::auth::Verb;
use crate::error::{Failure, Fault};
use crate::hosted::{Hosted, Published};
use crate::http::READING;
use crate::http::rest_format::{self, ROOT};
use crate::operation::How;
use crate::operation::read::feed::{Feed, Next};
use crate::operation::read::single::{Found, Single};
use crate::visit::Visit;
use crate::work::allowance::Spent;

/// Request fields that select among the answers to one URL.
pub(crate) const CHOOSING_FIELDS: &[&str] = &["accept"];

/// Answers one request that is below one of the lists of `published`.
///
/// # Errors
/// Only where the exchange breaks; all other errors are answered.
pub(crate) async fn serve(
    visit: &Visit<'_>,
    published: &Published,
    exchange: &mut Exchange<'_>,
) -> Result<(), ExchangeError> {
    match answer(visit, published, exchange).await {
        Ok(()) => Ok(()),
        Err(Failure::Broken(error)) => Err(error),
        Err(Failure::Told(fault)) => {
            let (request, response) = exchange.split();
            visit.tell(&fault, rest_format::of_error(Some(request)), request, response);
            Ok(())
        }
    }
}

/// Fault for a path below [`ROOT`] that belongs to no service.
pub(crate) fn unknown(services: &[Published], path: &str) -> Fault {
    let below = path.get(ROOT.len()..).unwrap_or_default();
    let lists: Vec<String> = services.iter().flat_map(|service| service.rest.lists()).collect();
    let known: Vec<&str> = lists.iter().filter_map(|list| list.strip_prefix(ROOT)).collect();
    Fault::not_found(format!("`{below}` is not here, but {}", known.join(", ")))
}

async fn answer(visit: &Visit<'_>, published: &Published, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
    visit.access.check_any()?;
    let Published { hosted: service, rest, .. } = published;
    let request = exchange.request();
    let (method, query) = (request.method(), request.query());
    let path = request.path().get(rest.root.len()..).unwrap_or_default();
    if !matches!(method, Method::Get | Method::Head | Method::Options | Method::Trace) {
        visit.common.tokens.check(service.rules.csrf, request, visit.access.caller())?;
    }
    if let Some((set, mass_change)) = rest.mass_change_of(path) {
        return mass_change::answer(mass_change, visit, service, set, exchange).await;
    }
    let resource = route::find(&rest.resources, path)?;
    // Before anything is said of what its entities have.
    visit.access.check(resource.set, Verb::of(method))?;
    // What is asked for besides a list or an entity is asked by those who read.
    let reads = matches!(method, Method::Get | Method::Head);
    let RestRequest { resource, plan, limit } = route::parse(&service.model, resource, path, query.filter(|_| reads))?;
    if matches!(method, Method::Put | Method::Patch) {
        // The changed entity is answered, which is to read it.
        visit.access.check(plan.set(), Verb::Get)?;
    }
    let allow = allowed(service, &plan);
    match (method, plan.shape) {
        (Method::Get | Method::Head, _) => {
            return read(visit, published, exchange, RestRequest { resource, plan, limit }).await;
        }
        (Method::Options, _) => {
            let response = exchange.respond();
            response.status = 204;
            response.header("allow", allow);
            return Ok(());
        }
        _ if !allow.split(", ").any(|allowed| allowed == request.method_text()) => {
            return Err(Fault::method_not_allowed(request.method_text(), allow).into());
        }
        (Method::Delete, Shape::Collection) => {
            route::check_all(query)?;
            return write::delete_all(visit, service, plan.set(), exchange).await;
        }
        _ => {}
    }
    if let Some(option) = query.into_iter().flat_map(|query| query.split('&')).find(|option| !option.is_empty()) {
        return Err(route::unknown_option(option, "no options").into());
    }
    match method {
        Method::Post => write::create(visit, published, resource, exchange).await,
        Method::Put => write::change(visit, service, exchange, plan, How::Replace).await,
        Method::Patch => write::change(visit, service, exchange, plan, How::Merge).await,
        _ => write::delete(visit, service, exchange, plan).await,
    }
}

/// Answers a list or an entity.
async fn read(
    visit: &Visit<'_>,
    Published { hosted: service, rest, .. }: &Published,
    exchange: &mut Exchange<'_>,
    RestRequest { resource, plan, limit }: RestRequest<'_>,
) -> Result<(), Failure> {
    let (request, response) = exchange.split();
    let format = answer_format(request)?;
    let stencil = service.stencils.of(&service.model, plan.set(), plan.shape, format, &plan.options);
    response.header("vary", "Accept");
    if let Some(cache_control) = &service.rules.cache_control {
        response.header("cache-control", &**cache_control);
    }
    if plan.shape == Shape::Entity {
        response.header("content-type", format.content_type(DocumentKind::Entry));
        let root = visit.memory.service_root(exchange, &rest.root);
        // Dates stand in V4's form, which is ISO 8601.
        let single = Single { plan, stencil: Some(stencil), version: Version::V4, root, updated: String::new() };
        return match single.answer(visit, service, exchange).await? {
            Found::Answered => Ok(()),
            Found::Nothing | Found::Missing => {
                Err(Fault::not_found(format!("there is no such {}", resource.item)).into())
            }
        };
    }
    response.header("content-type", format.content_type(DocumentKind::Feed));
    let root = visit.memory.service_root(exchange, &rest.root);
    let page_left = limit.unwrap_or(u64::MAX).min(visit.common.page_size);
    let query = exchange.request().query().map(str::to_owned);
    let (path, next) = (resource.segment.to_string(), Next::Cursor { query });
    let (updated, spent) = (String::new(), Spent::default());
    Feed { plan, stencil, root, updated, path, next, page_left, written: 0, next_page: None, spent }
        .answer(visit, service, exchange)
        .await
}

/// Format of an answered entity.
fn answer_format(request: &RequestHead) -> Result<Format, Fault> {
    rest_format::chosen(request)
        .ok_or_else(|| Fault::not_acceptable("expected Accept to allow application/json or application/xml"))
}

/// The methods of a list or of an entity, as its set allows.
fn allowed(service: &Hosted, plan: &Plan) -> &'static str {
    let changes = service.model.entity_sets[plan.set().0].changes;
    match (plan.shape, changes.insert, changes.update, changes.delete) {
        (Shape::Collection, true, _, true) => "DELETE, GET, HEAD, OPTIONS, POST",
        (Shape::Collection, true, _, false) => "GET, HEAD, OPTIONS, POST",
        (Shape::Entity, _, true, true) => "DELETE, GET, HEAD, OPTIONS, PATCH, PUT",
        (Shape::Entity, _, true, false) => "GET, HEAD, OPTIONS, PATCH, PUT",
        (Shape::Collection | Shape::Entity, _, false, true) | (Shape::Collection, false, true, true) => {
            "DELETE, GET, HEAD, OPTIONS"
        }
        _ => READING,
    }
}
