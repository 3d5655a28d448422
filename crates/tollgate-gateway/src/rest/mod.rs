//! The same rows as plain REST: `/rest/flights` and `/rest/flights/AA/0017/2011-06-01`, as JSON or, with
//! `Accept: application/xml`, as XML. Errors are problems (RFC 9457) in the same format.
//!
//! Lists take `POST` of one entity or of an array of any size, entities `PUT`, `PATCH` and `DELETE`. Parameters choose,
//! order and page what is in a list ([`tollgate_wire::query::rest`]); whoever wants more of a language asks by OData.

mod change;
mod insertion;
mod intake;
mod mass_change;
pub(crate) mod openapi;
mod route;
mod write;

use std::sync::Arc;

use tollgate_net::http1::server::{Exchange, ExchangeError};
use tollgate_net::http1::{Method, RequestHead};
use tollgate_wire::edm::{Model, SetId, Version};
use tollgate_wire::format::{DocumentKind, Format, Padding};
use tollgate_wire::plan::{Plan, Shape};

pub(crate) use self::intake::AheadBytes;
use self::mass_change::MassChange;
use self::route::{Asked, Resource};
use crate::accept::{self, MediaRange};
use crate::auth::{Grants, Policy, Verb};
use crate::error::{Failure, Fault};
use crate::feed::{Feed, Next};
use crate::hosted::Hosted;
use crate::operation::{How, READING};
use crate::single::{Found, Single};
use crate::visit::Visit;

/// Where REST of all services begins.
pub(crate) const ROOT: &str = "/rest/";

/// Fields of a request that choose among the answers to one URL.
pub(crate) const CHOOSING_FIELDS: &[&str] = &["accept"];

const XML: Format = Format::RestXml { padding: Padding::Without };
const OFFERS: &[(&str, Format)] =
    &[("application/json", Format::RestJson), ("application/xml", XML), ("text/xml", XML)];

/// The parameter of XML's media type by which a measurement asks for documents of Atom's size
/// (`Accept: application/xml;padding=atom`), to tell payload and protocol apart; nobody else gets them.
const PADDING: (&str, &str) = ("padding", "atom");

/// What REST names of one service.
#[derive(Debug, Clone)]
pub(crate) struct Rest {
    root: Box<str>,
    resources: Vec<Resource>,
    /// The set that is changed by the seed's own paths.
    mass_changed: Option<SetId>,
    /// Who may do what there.
    grants: Option<Arc<Grants>>,
}

impl Rest {
    /// Names the sets of a service below `root`, in the order of its model: a list, and one of it.
    pub(crate) fn new<'n>(root: &str, names: impl IntoIterator<Item = (&'n str, &'n str)>) -> Rest {
        let resource = |(index, (list, item)): (usize, (&str, &str))| Resource::new(list, item, SetId(index));
        Rest {
            root: root.into(),
            resources: names.into_iter().enumerate().map(resource).collect(),
            mass_changed: None,
            grants: None,
        }
    }

    /// Lets this set be changed as a whole by the seed's own paths.
    pub(crate) fn with_mass_change(mut self, set: SetId) -> Rest {
        self.mass_changed = Some(set);
        self
    }

    /// What of the seed's own paths `below` is, and which set it changes.
    fn mass_change_of(&self, below: &str) -> Option<(SetId, MassChange)> {
        Some((self.mass_changed?, MassChange::of(below)?))
    }

    /// Whether `path` is a list of this service, or below one.
    pub(crate) fn has(&self, path: &str) -> bool {
        let Some(below) = path.strip_prefix(&*self.root) else { return false };
        let name = below.split('/').next().unwrap_or_default();
        self.resources.iter().any(|resource| resource.is(name)) || self.mass_change_of(below).is_some()
    }

    /// Whether `path` is that of the document that describes what is below the root.
    pub(crate) fn describes(&self, path: &str) -> bool {
        path.strip_prefix(&*self.root) == Some(openapi::NAME)
    }

    /// The path of that document.
    pub(crate) fn description(&self) -> String {
        format!("{}{}", self.root, openapi::NAME)
    }

    /// Where its lists begin.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Who may do what there.
    pub(crate) fn grants(&self) -> Option<&Arc<Grants>> {
        self.grants.as_ref()
    }

    /// Lets everything be done as `policy` says; `model` is that of the service.
    pub(crate) fn govern(&mut self, policy: &Policy, model: &Model) {
        self.grants = policy.grants(&self.root, self.places(model));
    }

    /// The entity sets, each with the path of its list.
    pub(crate) fn places<'m>(&self, model: &'m Model) -> impl Iterator<Item = (&'m str, String)> {
        let list = |resource: &Resource| format!("{}{}", self.root, resource.segment);
        self.resources.iter().map(move |resource| (&*model.entity_sets[resource.set.0].name, list(resource)))
    }

    /// The paths that are this service's, with all that is below them.
    pub(crate) fn taken(&self) -> impl Iterator<Item = String> {
        let mass_change = self.mass_changed.map(|_| format!("{}{}", self.root, mass_change::ROOT));
        self.lists().chain(mass_change).chain([self.description()])
    }

    /// The paths of the lists.
    pub(crate) fn lists(&self) -> impl Iterator<Item = String> {
        self.resources.iter().map(|resource| format!("{}{}", self.root, resource.segment))
    }
}

/// Answers one request that is below one of the lists of `service`.
///
/// # Errors
/// Only where the exchange breaks; whatever else is wrong is answered.
pub(crate) async fn serve(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    exchange: &mut Exchange<'_>,
) -> Result<(), ExchangeError> {
    match answer(visit, service, exchange).await {
        Ok(()) => Ok(()),
        Err(Failure::Broken(error)) => Err(error),
        Err(Failure::Told(fault)) => {
            let (request, response) = exchange.split();
            visit.tell(&fault, error_format(Some(request)), request, response);
            Ok(())
        }
    }
}

/// What is told of a path below [`ROOT`] that is of no service.
pub(crate) fn unknown(services: &[Arc<Hosted>], path: &str) -> Fault {
    let below = path.get(ROOT.len()..).unwrap_or_default();
    let lists: Vec<String> = services.iter().flat_map(|service| service.rest.lists()).collect();
    let known: Vec<&str> = lists.iter().filter_map(|list| list.strip_prefix(ROOT)).collect();
    Fault::not_found(format!("`{below}` is not here, but {}", known.join(", ")))
}

/// The format in which a fault is told: what Accept chose, else JSON.
pub(crate) fn error_format(request: Option<&RequestHead>) -> Format {
    let accept = request.into_iter().flat_map(|request| request.values("accept"));
    accept::choose(accept, OFFERS, |format, range| Some(padded(format, range))).unwrap_or(Format::RestJson)
}

async fn answer(visit: &Visit<'_>, service: &Arc<Hosted>, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
    visit.access.check_any()?;
    let rest = &service.rest;
    let request = exchange.request();
    let (method, query) = (request.method(), request.query());
    let path = request.path().get(rest.root.len()..).unwrap_or_default();
    if !matches!(method, Method::Get | Method::Head | Method::Options | Method::Trace) {
        visit.shared.tokens.check(&service.rules, request, visit.access.caller())?;
    }
    if let Some((set, mass_change)) = rest.mass_change_of(path) {
        return mass_change.answer(visit, service, set, exchange).await;
    }
    let resource = route::find(&rest.resources, path)?;
    // Before anything is said of what its entities have.
    visit.access.check(resource.set, Verb::of(method))?;
    // What is asked for besides a list or an entity is asked by those who read.
    let reads = matches!(method, Method::Get | Method::Head);
    let Asked { resource, plan, limit } = route::parse(&service.model, resource, path, query.filter(|_| reads))?;
    if matches!(method, Method::Put | Method::Patch) {
        // The changed entity is answered, which is to read it.
        visit.access.check(plan.set(), Verb::Get)?;
    }
    let allow = allowed(service, &plan);
    match (method, plan.shape) {
        (Method::Get | Method::Head, _) => {
            return read(visit, service, exchange, Asked { resource, plan, limit }).await;
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
        Method::Post => write::create(visit, service, resource, exchange).await,
        Method::Put => write::change(visit, service, exchange, plan, How::Replace).await,
        Method::Patch => write::change(visit, service, exchange, plan, How::Merge).await,
        _ => write::delete(visit, service, exchange, plan).await,
    }
}

/// Answers a list or an entity.
async fn read(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    exchange: &mut Exchange<'_>,
    Asked { resource, plan, limit }: Asked<'_>,
) -> Result<(), Failure> {
    let rest = &service.rest;
    let (request, response) = exchange.split();
    let format = answer_format(request)?;
    let stencil = service.stencils.of(&service.model, plan.set(), plan.shape, format, &plan.options);
    response.header("vary", "Accept");
    if let Some(cache_control) = &service.rules.cache_control {
        response.header("cache-control", &**cache_control);
    }
    if plan.shape == Shape::Entity {
        response.header("content-type", format.content_type(DocumentKind::Entry));
        let root = visit.service_root(exchange, &rest.root);
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
    let root = visit.service_root(exchange, &rest.root);
    let page_left = limit.unwrap_or(u64::MAX).min(visit.shared.page_size);
    let query = exchange.request().query().map(str::to_owned);
    let (path, next) = (resource.segment.to_string(), Next::Cursor { query });
    Feed { plan, stencil, root, updated: String::new(), path, next, page_left, written: 0, next_page: None }
        .answer(visit, service, exchange)
        .await
}

/// In which format an entity is answered.
fn answer_format(request: &RequestHead) -> Result<Format, Fault> {
    accept::choose(request.values("accept"), OFFERS, |format, range| Some(padded(format, range)))
        .ok_or_else(|| Fault::not_acceptable("expected Accept to allow application/json or application/xml"))
}

/// The format, as the range of `Accept` that chose it wants it.
fn padded(format: Format, range: Option<MediaRange<'_>>) -> Format {
    let is_wanted = || range.and_then(|range| range.parameter(PADDING.0)) == Some(PADDING.1);
    match format {
        Format::RestXml { .. } if is_wanted() => Format::RestXml { padding: Padding::AtomSize },
        other => other,
    }
}

/// The methods of a list or of an entity, by what its set allows.
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
