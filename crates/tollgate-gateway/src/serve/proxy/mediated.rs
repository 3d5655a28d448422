//! Requests of routes with mediators: gathered as far as those need it, passed through their sequences on the way to
//! the backend and back.
//!
//! For mediators themselves, see `mediate`; for the fields that are passed on, see `fields`. Their memory is returned
//! as soon as it is copied to the send buffer: none of it waits for a backend.

use std::borrow::Cow;

use tollgate_net::http1::Method;
use tollgate_net::http1::server::{Exchange, Gathered};

use super::lent::Lent;
use super::upstream::{GATHERED_BYTES_MAX, Outgoing, answer, answer_without_body, ask, nowhere, write_fields};
use super::{ProxyRoute, ProxyVisit};
use crate::cache::Fetch;
use crate::error::{Failure, Fault};
use crate::http::scheme;
use crate::mediate::{ClientOrigin, Effort, Memory, Outcome, Passing, Way};

/// Forwards a request through the sequences of its route.
///
/// # Errors
/// The fault for the client, or a broken exchange.
pub(super) async fn pass(
    proxy: &ProxyVisit<'_>,
    route: &ProxyRoute,
    exchange: &mut Exchange<'_>,
    fetch: &mut Fetch<'_>,
) -> Result<(), Failure> {
    let mediation = &route.mediation;
    let gathered = if mediation.request.needs_body() {
        exchange.read_body(route.body_bytes_max).await?;
        Gathered::Whole
    } else {
        exchange.gather_body(GATHERED_BYTES_MAX).await?
    };
    let mut lent = Lent::of(proxy.memories);
    let (scheme, local) = (scheme(exchange.transport()), exchange.local());
    let (request, body, response) = exchange.parts();
    let authority = request.host().map_or_else(|| Cow::Owned(local.to_string()), Cow::Borrowed);
    let origin = ClientOrigin { scheme, authority: &authority };
    // What is not whole is no message.
    let body = if gathered == Gathered::Whole { body } else { &[] };
    let (effort, memory) = (Effort::begins(), &mut lent.memory);
    let client = &proxy.visit.client;
    let mut passing = Passing { client, request, way: Way::Request, origin, body, endpoint: None, effort, memory };
    let outcome = mediation.mediate_request(&mut passing).await?;
    let chosen = passing.endpoint.and_then(|number| proxy.table.chosen(number));
    if let Outcome::Respond { status } = outcome {
        lent.respond(response, status);
        return Ok(());
    }
    let group = chosen.or(route.endpoint.as_ref()).ok_or_else(nowhere)?;
    // What a backend could say of what it knows is nothing of what mediators made of that.
    let outgoing = Outgoing { gathered, lent: Some(lent), condition: None };
    let mut asked = ask(proxy, route, group, exchange, outgoing).await?;
    let reverse = asked.reverse(route);
    fetch.begun(exchange);

    let sequence = mediation.for_answer(exchange.request());
    let reads = sequence.needs_body();
    let gathers = reads && exchange.request().method() != Method::Head;
    if gathers && let Err(error) = exchange.gather_answer(&mut asked.asking, route.body_bytes_max).await {
        return Err(asked.failed(error));
    }
    let mut lent = Lent::of(proxy.memories);
    let mediated = match sequence.is_empty() {
        true => Ok(Outcome::Continue),
        false => mediate_answer(proxy, route, exchange, scheme, &mut lent.memory).await,
    };
    match mediated {
        Ok(Outcome::Continue) if !gathers => {
            match reads {
                true => answer_without_body(exchange, &mut lent.memory.edits, &reverse),
                false => answer(exchange, lent.edits(), &reverse),
            }
            fetch.settle_head(proxy.cache, exchange);
            // How long the rest takes is up to backend and client.
            drop(lent);
            if let Err(error) = exchange.relay(&mut asked.asking).await {
                return Err(asked.failed(error));
            }
        }
        Ok(Outcome::Continue) => write_fields(exchange, lent.edits(), &reverse),
        Ok(Outcome::Respond { status }) => {
            let (_, _, response) = exchange.answered();
            lent.respond(response, status);
            asked.answered(exchange);
            return Ok(());
        }
        // The backend did its part.
        Err(fault) => {
            asked.answered(exchange);
            return Err(fault.into());
        }
    }
    if gathers {
        asked.answered(exchange);
        return Ok(());
    }
    asked.end(exchange).await.map_err(Failure::Broken)
}

/// Passes the answer through its sequence; if that writes another body, it replaces the backend's.
async fn mediate_answer(
    proxy: &ProxyVisit<'_>,
    route: &ProxyRoute,
    exchange: &mut Exchange<'_>,
    scheme: &str,
    memory: &mut Memory,
) -> Result<Outcome, Fault> {
    let local = exchange.local();
    let (request, head, response) = exchange.answered();
    let mut body = std::mem::take(&mut response.body);
    let authority = request.host().map_or_else(|| Cow::Owned(local.to_string()), Cow::Borrowed);
    let origin = ClientOrigin { scheme, authority: &authority };
    let (client, way, effort) = (&proxy.visit.client, Way::Answer(head), Effort::begins());
    let mut passing = Passing { client, request, way, origin, body: &body, endpoint: None, effort, memory };
    let outcome = route.mediation.mediate_answer(&mut passing).await;
    if let Some(replacement) = memory.replacement() {
        body.clear();
        body.extend_from_slice(replacement);
    }
    response.body = body;
    outcome
}
