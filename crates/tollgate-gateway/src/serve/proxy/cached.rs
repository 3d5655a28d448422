//! What the response cache is to know of a route whose answers it keeps, and what becomes of kept answers when something is
//! changed through it (RFC 9111, section 4.4).
//!
//! Which answers may be kept and for how long is the cache's affair.

use tollgate_net::http1::Framing;
use tollgate_net::http1::server::Exchange;

use super::address::Reverse;
use super::{ProxyRoute, ProxyVisit};
use crate::auth::Verb;
use crate::cache::{self, Cachable, Dependence, Identity, Key, Lifetime, Origin, Proxied, Validates};
use crate::http::scheme;
use crate::visit::Visit;

/// What the cache is to know of the answer to a request that reads; `None` where it is not asked, which leaves a request
/// that may not be made to be refused.
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

/// A backend answered: if something was changed, kept answers to the same target are thrown away, and those to the targets
/// that the answer names. That is before the client can know of it.
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

/// A request was sent, and no answer came, or nobody waited for it: if it may have changed something, kept answers to the
/// same target are thrown away.
pub(super) fn invalidate_unanswered(proxy: &ProxyVisit<'_>, exchange: &Exchange<'_>) {
    let request = exchange.request();
    if keeps(proxy)
        && cache::may_change(request.method())
        && let Some(host) = request.host()
    {
        throw_away(proxy, Origin::new(scheme(exchange.transport()), host), request.target());
    }
}

/// Whether anything is kept of any route: what one changes, another may have read.
fn keeps(proxy: &ProxyVisit<'_>) -> bool {
    proxy.table.keeps_answers() && proxy.cache.is_on()
}

fn throw_away(proxy: &ProxyVisit<'_>, origin: Origin<'_>, target: &str) {
    // Those who may read were asked before: the rules are no part of the key.
    proxy.cache.invalidate_key(&Key { origin: Some(origin), target, selected: "", outcome: 0 });
}
