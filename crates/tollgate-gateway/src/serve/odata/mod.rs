//! OData V2 and V4 below a service root: from the request to the answer.
//!
//! URLs, formats and rows are handled elsewhere (`tollgate-wire`, [`crate::store`]); here are methods, versions,
//! formats, conditions, pages, and where the work is done.

pub(crate) mod batch;
mod write;

use std::sync::Arc;

use tollgate_net::http1::server::{Exchange, ExchangeError};
use tollgate_net::http1::{Method, RequestHead};
use tollgate_wire::format::Format;
use tollgate_wire::url;

use crate::error::{Failure, Fault};
use crate::hosted::{Hosted, Mount};
use crate::http::headers::Headers;
use crate::operation::head::methods::allowed;
use crate::operation::head::preferences::Preferences;
use crate::operation::head::{negotiation, versions};
use crate::operation::reach;
use crate::operation::read::{self, Read, ReadRequest, updated};
use crate::visit::Visit;

/// Request fields that select among the answers to one URL.
pub(crate) const CHOOSING_FIELDS: &[&str] =
    &["accept", "prefer", "odata-version", "odata-maxversion", "dataserviceversion", "maxdataserviceversion"];

/// Fields not listed in `Vary` yet, for foreign caches.
const VARY: &str = "Prefer, OData-Version, OData-MaxVersion, DataServiceVersion, MaxDataServiceVersion";

/// Answers one request below `mount`.
///
/// # Errors
/// Only where the exchange breaks; all other errors are answered.
pub(crate) async fn serve(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    mount: &Mount,
    exchange: &mut Exchange<'_>,
) -> Result<(), ExchangeError> {
    let transport = exchange.transport();
    let (request, response) = exchange.split();
    let offer = visit.common.tokens.offer(request, transport, visit.access.caller());
    let reads = matches!(request.method(), Method::Get | Method::Head);
    match (&offer, &service.rules.cache_control) {
        // It is for this client alone, and says so.
        (Some(offer), _) => offer.say(response),
        (None, Some(cache_control)) if reads => {
            response.header("cache-control", &**cache_control);
            response.header("vary", VARY);
        }
        (None, _) => {}
    }
    match answer(visit, service, mount, exchange).await {
        Ok(()) => {
            // Of nothing to be read there is an answer of its own, begun anew.
            if let Some(offer) = offer.filter(|_| exchange.respond().status == 204) {
                offer.say(exchange.respond());
            }
            Ok(())
        }
        Err(Failure::Broken(error)) => Err(error),
        Err(Failure::Told(fault)) => {
            let (request, response) = exchange.split();
            visit.tell(&fault, error_format(mount, Some(request)), request, response);
            Ok(())
        }
    }
}

/// Error format for a caller below `mount`.
pub(crate) fn error_format(mount: &Mount, request: Option<&RequestHead>) -> Format {
    let query = request.and_then(RequestHead::query);
    negotiation::error(mount.version, query, request.map(|request| -> &dyn Headers { request }))
}

async fn answer(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    mount: &Mount,
    exchange: &mut Exchange<'_>,
) -> Result<(), Failure> {
    visit.access.check_any()?;
    let request = exchange.request();
    let version = mount.version;
    let below = request.path().get(mount.root.len()..).unwrap_or_default();
    let query = request.query();
    match request.method() {
        Method::Get | Method::Head => {}
        Method::Options => {
            let (resource, _) = url::parse(&service.model, version, below, query).map_err(Fault::from)?;
            reach::check(&visit.access, &resource, request.method())?;
            let response = exchange.respond();
            response.status = 204;
            response.header("allow", allowed(&service.model, version, &resource));
            return Ok(());
        }
        Method::Trace => {
            let (resource, _) = url::parse(&service.model, version, below, query).map_err(Fault::from)?;
            reach::check(&visit.access, &resource, request.method())?;
            let allow = allowed(&service.model, version, &resource);
            return Err(Fault::method_not_allowed(request.method_text(), allow).into());
        }
        Method::Post | Method::Put | Method::Patch | Method::Merge | Method::Delete | Method::Other => {
            visit.common.tokens.check(service.rules.csrf, request, visit.access.caller())?;
            return match below {
                "$batch" if request.method() == Method::Post => batch::answer(visit, service, mount, exchange).await,
                _ => write::answer(visit, service, mount, exchange).await,
            };
        }
    }
    versions::check(version, |name| request.header(name))?;
    let (resource, unknown) = visit.memory.plans.read(&service.model, version, below, query).map_err(Fault::from)?;
    reach::check(&visit.access, &resource, request.method())?;
    let preferences = Preferences::of(version, request);
    preferences.check(&unknown)?;
    let mut root = visit.memory.service_root(exchange, &mount.root);
    let (request, response) = exchange.split();
    let asked = ReadRequest {
        method: request.method_text(),
        version,
        path: request.path().get(mount.root.len()..).unwrap_or_default(),
        query: request.query(),
        page_size: visit.common.page_size,
        preferences: &preferences,
    };
    let read = read::prepare(service, resource, &asked, (&mut root, updated), request, response)?;
    if matches!(read, Read::Described) {
        visit.memory.give_text(root);
        return Ok(());
    }
    read.answer(visit, service, exchange).await
}
