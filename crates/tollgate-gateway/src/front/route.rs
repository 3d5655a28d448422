//! Route of a request by its path, and its processing: after authentication come the rules, then the response cache,
//! then the handler.
//!
//! Each protocol checks the rules, for each entity set that a request reaches. The cache never shares answers between
//! different outcomes of the rules: they are part of its key.

use std::sync::Arc;

use tollgate_net::http1::server::{Exchange, ExchangeError};
use tollgate_net::http1::{Method, RequestHead};

use super::core::Core;
use super::shared::{Served, Shared};
use crate::auth::{Grants, Verb};
use crate::cache::{self, Cachable, Dependence, Fetch, Identity, Lifetime, Turn};
use crate::error::{Failure, Fault};
use crate::front::index;
use crate::hosted::{Hosted, Mount, Published, is_below};
use crate::http::{self, rest_format};
use crate::serve::proxy::{self, ProxyRoute, ProxyVisit, RouteMatch};
use crate::serve::{odata, rest};
use crate::visit::Visit;

/// Target of a request.
pub(super) enum Route<'s> {
    /// A service, by OData.
    OData(&'s Arc<Hosted>, &'s Mount),
    /// A service, by plain REST.
    Rest(&'s Published),
    /// The description of the service's plain REST.
    OpenApi(&'s Published),
    /// A service without a database, with the grants there.
    BuiltIn(&'s Served, Option<&'s Arc<Grants>>),
    /// A backend, with the grants there.
    Proxied(&'s ProxyRoute, Option<&'s Arc<Grants>>),
    /// No target, for this reason.
    Refused(Fault),
    /// The index, or no target.
    Bare,
}

impl<'s> Route<'s> {
    /// Finds the route of a request. Prefixes are few and differ in their first bytes: comparing them all costs less
    /// than a hash.
    pub(super) fn of(shared: &'s Shared, request: &RequestHead) -> Route<'s> {
        let (services, path) = (&shared.services, request.path());
        for service in services {
            if let Some(mount) = service.mount_of(path) {
                return Route::OData(&service.hosted, mount);
            }
        }
        if let Some(service) = services.iter().find(|service| service.rest.has(path)) {
            return Route::Rest(service);
        }
        if let Some(service) = services.iter().find(|service| service.rest.describes(path)) {
            return Route::OpenApi(service);
        }
        let built_in = shared.built_in.iter().zip(&shared.elsewhere.built_in);
        for (served, grants) in built_in {
            if served.kind.path == path {
                return Route::BuiltIn(served, grants.as_ref());
            }
        }
        // Services stand within the paths of routes, and no route within that of a service: they are the longer ones.
        match shared.proxied.find(request.host(), request.method(), path) {
            RouteMatch::Route { route, grants } => Route::Proxied(route, grants),
            RouteMatch::Nothing => Route::Bare,
            RouteMatch::OtherMethods(allow) => Route::Refused(Fault::other_methods(request.method_text(), allow)),
            RouteMatch::Ambiguous => Route::Refused(Fault::ambiguous_path()),
        }
    }

    /// The path of the service or route, which limits of clients are for.
    pub(super) fn root(&self) -> &str {
        match self {
            Route::OData(_, mount) => &mount.root,
            Route::Rest(service) | Route::OpenApi(service) => service.rest.root(),
            Route::BuiltIn(served, _) => served.kind.path,
            Route::Proxied(route, _) => route.path(),
            Route::Bare | Route::Refused(_) => "/",
        }
    }

    /// The grants there.
    pub(super) fn grants(&self, shared: &'s Shared) -> Option<&'s Arc<Grants>> {
        match self {
            Route::OData(_, mount) => mount.grants.as_ref(),
            // Where several services share a root, the same rules hold for what is no list.
            Route::Rest(service) | Route::OpenApi(service) => service.rest.grants(),
            Route::BuiltIn(_, grants) | Route::Proxied(_, grants) => *grants,
            Route::Bare | Route::Refused(_) => shared.elsewhere.index.as_ref(),
        }
    }

    /// Answers a request from the cache or by its handler.
    ///
    /// # Errors
    /// Only where the exchange breaks; all other errors are answered.
    pub(super) async fn serve(
        &self,
        core: &Core,
        shared: &Shared,
        visit: &Visit<'_>,
        exchange: &mut Exchange<'_>,
    ) -> Result<(), ExchangeError> {
        let Some(cachable) = self.cachable(visit, exchange) else {
            let outcome = self.handle(core, shared, visit, exchange, &mut Fetch::alone()).await;
            let written = match self {
                Route::OData(service, _) => Some(&service.pool),
                Route::Rest(service) => Some(&service.hosted.pool),
                _ => None,
            };
            if let Some(pool) = written
                && cache::invalidates(exchange.request().method(), exchange.respond().status)
            {
                // Once more, for what a transaction did not tell of itself.
                pool.changed();
            }
            return outcome;
        };
        let cache = &shared.cache;
        match cache::turn(cache, &cachable, exchange).await? {
            Turn::Answered => {}
            Turn::Refused(fault) => {
                let (request, response) = exchange.split();
                visit.tell(&fault, core.error_format(Some(request)), request, response);
            }
            Turn::Fetch(mut fetch) => {
                let outcome = self.handle(core, shared, visit, exchange, &mut fetch).await;
                fetch.settle(cache, exchange, &outcome);
                return outcome;
            }
        }
        if let Route::Proxied(route, _) = self {
            route.count(exchange.respond().status);
        }
        Ok(())
    }

    /// Caching properties of answers to a reading request; `None` where none is ever stored.
    fn cachable(&self, visit: &Visit<'_>, exchange: &Exchange<'_>) -> Option<Cachable<'s>> {
        let request = exchange.request();
        if !matches!(request.method(), Method::Get | Method::Head) {
            return None;
        }
        let cachable = match self {
            Route::OData(service, _) => of_rows(service, odata::CHOOSING_FIELDS)?,
            Route::Rest(service) => of_rows(&service.hosted, rest::CHOOSING_FIELDS)?,
            Route::BuiltIn(served, _) => served.service.cachable(request)?,
            Route::Bare | Route::Refused(_) | Route::OpenApi(_) => return None,
            // Whether it may read is asked before: who may, is given what all of those are.
            Route::Proxied(route, _) => return proxy::cachable(visit, route, exchange),
        };
        let identity = if visit.access.caller().user().is_some() { Identity::Said } else { cachable.identity };
        let scheme = http::scheme(exchange.transport());
        Some(Cachable { identity, scheme, outcome: visit.access.outcome()?, ..cachable })
    }

    /// Has a request answered by its handler. The state for services with a database is boxed apart: it is 4.8 KiB, and
    /// would be part of each connection, those that wait for a backend too.
    async fn handle(
        &self,
        core: &Core,
        shared: &Shared,
        visit: &Visit<'_>,
        exchange: &mut Exchange<'_>,
        fetch: &mut Fetch<'_>,
    ) -> Result<(), ExchangeError> {
        let told = match self {
            // Versions, URL, format, work process, rows, conditions: see serve/odata/.
            Route::OData(service, mount) => return Box::pin(odata::serve(visit, service, mount, exchange)).await,
            // The same rows without the protocol.
            Route::Rest(service) => return Box::pin(rest::serve(visit, service, exchange)).await,
            // The lists and what may be asked of them.
            Route::OpenApi(service) => {
                rest::openapi::answer(visit, (&shared.descriptions, &shared.services), service.rest.root(), exchange)
                    .map_err(Failure::Told)
            }
            // A number, bytes or a quote: see built_in/.
            Route::BuiltIn(served, _) => served.service.answer(visit, exchange).await,
            Route::Bare => bare(visit, shared, exchange).map_err(Failure::Told),
            // A place of an endpoint, and its answer back: see serve/proxy/.
            Route::Proxied(route, _) => {
                let proxy = ProxyVisit {
                    visit,
                    table: &shared.proxied,
                    cache: &shared.cache,
                    pools: &core.pools,
                    memories: &core.memories,
                };
                return proxy::forward(&proxy, route, exchange, fetch).await;
            }
            Route::Refused(fault) => {
                let may = visit.access.check_document(Verb::of(exchange.request().method()));
                Err(Failure::Told(may.err().unwrap_or_else(|| fault.clone())))
            }
        };
        if let Err(failure) = told {
            let fault = match failure {
                Failure::Told(fault) => fault,
                Failure::Broken(error) => return Err(error),
            };
            let (request, response) = exchange.split();
            visit.tell(&fault, core.error_format(Some(request)), request, response);
        }
        Ok(())
    }
}

/// Answers a request for no service.
fn bare(visit: &Visit<'_>, shared: &Shared, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    let request = exchange.request();
    visit.access.check_document(Verb::of(request.method()))?;
    let services = &shared.services;
    match request.path() {
        // For whoever opens the bare address.
        "/" => index::answer(exchange, shared),
        path if is_below(path, rest_format::ROOT) => Err(rest::unknown(services, path)),
        _ => Err(Fault::not_found("no service is mounted here: / lists those that are")),
    }
}

/// Caching properties of rows: stored if the service states a lifetime, until something is written.
fn of_rows<'s>(service: &'s Hosted, varies: &'static [&'static str]) -> Option<Cachable<'s>> {
    service.rules.cache_control.as_ref()?;
    Some(Cachable {
        // Links of OData, and those to next pages, are absolute.
        dependence: Dependence::Origin,
        lifetime: Lifetime::ByFields,
        changes: Some(service.pool.changes()),
        varies,
        ..Cachable::default()
    })
}
