//! Caching properties of a route whose answers are stored, and invalidation when something is changed through it (RFC
//! 9111, section 4.4).
//!
//! The cache decides which answers are stored and for how long.

use tollgate_net::http1::Framing;
use tollgate_net::http1::server::Exchange;

use super::address::Reverse;
use super::{ProxyRoute, ProxyVisit};
use crate::auth::Verb;
use crate::cache::{self, Cachable, Dependence, Identity, Key, Lifetime, Origin, Proxied, Validates};
use crate::http::scheme;
use crate::visit::Visit;

/// Caching properties of the answer to a reading request; `None` bypasses the cache, so that a forbidden request is
/// refused.
pub(crate) fn cachable<'r>(visit: &Visit<'_>, route: &'r ProxyRoute, exchange: &Exchange<'_>) -> Option<Cachable<'r>> {
    let caching = route.caching.as_ref()?;
    let request = exchange.request();
    let may = visit.access.check_document(Verb::of(request.method())).is_ok();
    if !may || request.framing() != Framing::None {
        return None;
    }
    let proxied = Proxied {
        reads: &caching.reads,
        changes: &caching.changes,
        // What mediators made of an answer is not what its backend knows.
        validates: if route.mediation.leaves(request) { Validates::Yes } else { Validates::No },
    };
    Some(Cachable {
        // Backends may say the origin that the client named.
        dependence: Dependence::Origin,
        scheme: scheme(exchange.transport()),
        lifetime: Lifetime::ByFields,
        identity: if visit.access.caller().user().is_some() { Identity::Said } else { Identity::Unsaid },
        proxied: Some(proxied),
        ..Cachable::default()
    })
}

/// Invalidates stored answers after a backend answered a changing request: those for the same target, and for the
/// targets that the answer names. This happens before the client can know of the change.
pub(super) fn invalidate(proxy: &ProxyVisit<'_>, exchange: &mut Exchange<'_>, reverse: &Reverse<'_>) {
    if !keeps(proxy) {
        return;
    }
    let scheme = scheme(exchange.transport());
    let (request, head, _) = exchange.answered();
    if !cache::invalidates(request.method(), head.status()) {
        return;
    }
    let Some(host) = request.host() else { return };
    let origin = Origin::new(scheme, host);
    throw_away(proxy, origin, request.target());
    for named in ["location", "content-location"].into_iter().filter_map(|name| head.header(name)) {
        let path = named.starts_with('/') && !named.starts_with("//");
        let here =
            if path { Some(named.to_owned()) } else { reverse.path_here(named).or_else(|| origin.path_of(named)) };
        if let Some(here) = here {
            throw_away(proxy, origin, here.split('#').next().unwrap_or_default());
        }
    }
}

/// Invalidates stored answers to the same target, if a changing request was sent and its answer did not come or was not
/// awaited.
pub(super) fn invalidate_unanswered(proxy: &ProxyVisit<'_>, exchange: &Exchange<'_>) {
    let request = exchange.request();
    if keeps(proxy)
        && cache::may_change(request.method())
        && let Some(host) = request.host()
    {
        throw_away(proxy, Origin::new(scheme(exchange.transport()), host), request.target());
    }
}

/// Whether answers of any route are stored: a change through one may affect another.
fn keeps(proxy: &ProxyVisit<'_>) -> bool {
    proxy.table.keeps_answers() && proxy.cache.is_on()
}

fn throw_away(proxy: &ProxyVisit<'_>, origin: Origin<'_>, target: &str) {
    // Those who may read were asked before: the rules are no part of the key.
    proxy.cache.invalidate_key(&Key { origin: Some(origin), target, selected: "", outcome: 0 });
}
