//! Forwarding of a request to a place of its endpoint, and of its answer to the client. The hot path.
//!
//! Bodies up to 64 KiB go with their head in one write, larger ones as they come, both ways at the same time; nothing
//! is gathered for longer than that unless a mediator wants it. The exchange with the backend is in `upstream`.

use tollgate_net::http1::server::{Exchange, ExchangeError};

use super::mediated;
use super::upstream::{GATHERED_BYTES_MAX, Outgoing, answer, ask, nowhere, write_fields};
use super::{ProxyRoute, ProxyVisit};
use crate::auth::Verb;
use crate::cache::Fetch;
use crate::error::Failure;
use crate::mediate::Edits;

/// Forwards a request, or answers the client with a fault. Its answer may be stored if `fetch` allows.
///
/// # Errors
/// Only where the exchange breaks.
pub(crate) async fn forward(
    proxy: &ProxyVisit<'_>,
    route: &ProxyRoute,
    exchange: &mut Exchange<'_>,
    fetch: &mut Fetch<'_>,
) -> Result<(), ExchangeError> {
    let outcome = pass(proxy, route, exchange, fetch).await;
    let told = match outcome {
        Ok(()) => Ok(()),
        Err(Failure::Broken(error)) => return Err(error),
        // Half of an answer cannot be taken back: its client sees that it is half.
        Err(Failure::Told(fault)) if exchange.has_begun() => {
            let request = exchange.request();
            proxy.visit.common.log_inner(&fault, request.method_text(), request.path());
            return Err(exchange.cut_short());
        }
        Err(Failure::Told(fault)) => Err(fault),
    };
    if let Err(fault) = told {
        exchange.withdraw();
        let (request, response) = exchange.split();
        proxy.visit.tell(&fault, route.error_format(request), request, response);
    }
    route.count(exchange.respond().status);
    Ok(())
}

async fn pass(
    proxy: &ProxyVisit<'_>,
    route: &ProxyRoute,
    exchange: &mut Exchange<'_>,
    fetch: &mut Fetch<'_>,
) -> Result<(), Failure> {
    proxy.visit.access.check_document(Verb::of(exchange.request().method()))?;
    if !route.mediation.leaves(exchange.request()) {
        // Apart, so that connections of other routes do not carry what that needs.
        return Box::pin(mediated::pass(proxy, route, exchange, fetch)).await;
    }
    let group = route.endpoint.as_deref();
    let gathered = exchange.gather_body(GATHERED_BYTES_MAX).await?;
    let outgoing = Outgoing { gathered, lent: None, condition: fetch.condition() };
    let mut asked = ask(proxy, route, group.ok_or_else(nowhere)?, exchange, outgoing).await?;
    let reverse = asked.reverse(route);
    if let Some(kept) = fetch.begun(exchange) {
        write_fields(exchange, &Edits::default(), &reverse);
        fetch.freshen(proxy.cache, &kept, exchange.respond());
        asked.answered(exchange);
        return Ok(());
    }
    answer(exchange, &Edits::default(), &reverse);
    fetch.settle_head(proxy.cache, exchange);
    let relayed = exchange.relay(&mut asked.asking).await;
    if let Err(error) = relayed {
        return Err(asked.failed(error));
    }
    asked.end(exchange).await.map_err(Failure::Broken)
}
