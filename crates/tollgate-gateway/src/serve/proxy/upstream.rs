//! A request at its backend: the choice of place, the sent message, and the result for the place.
//!
//! Fields are in `fields`, the choice of places in `endpoint`, and the transfer of bytes in the engine.

use std::rc::Rc;
use std::time::Instant;

use tollgate_net::http1::server::{
    Asking, Body, Delimiter, Enclosed, Exchange, ExchangeError, ForwardError, Gathered, Patience,
};
use tollgate_net::http1::upstream::{Kind, Origin, Pool, UpstreamError};
use tollgate_net::http1::{Framing, Method, RequestHead};

use super::address::{Addresses, Reverse};
use super::cached;
use super::endpoint::{Ending, Group, Permit, Tried, Unavailable};
use super::fields::{self, Came, Credentials};
use super::lent::Lent;
use super::{ProxyRoute, ProxyVisit};
use crate::config::{EndpointLimits, Retry};
use crate::error::{Failure, Fault};
use crate::http::scheme;
use crate::mediate::{self, Edits};

/// Largest body sent with its head, which can be sent again.
pub(super) const GATHERED_BYTES_MAX: usize = 64 * 1024;

/// A request to be sent.
pub(super) struct Outgoing<'m> {
    pub(super) gathered: Gathered,
    /// Changes by mediators.
    pub(super) lent: Option<Lent<'m>>,
    /// Rendered fields that ask to revalidate the stored answer.
    pub(super) condition: Option<Vec<u8>>,
}

/// A request that a backend began to answer.
pub(super) struct UpstreamRequest<'g> {
    pub(super) asking: Asking,
    pool: Rc<Pool>,
    permit: Permit<'g>,
}

/// The fault if neither route nor mediator names an endpoint.
pub(super) fn nowhere() -> Fault {
    Fault::internal("a route without endpoint, and no mediator chose one")
}

/// Sends the request to one place after the other, until one begins to answer.
pub(super) async fn ask<'g>(
    proxy: &ProxyVisit<'_>,
    route: &ProxyRoute,
    group: &'g Group,
    exchange: &mut Exchange<'_>,
    outgoing: Outgoing<'_>,
) -> Result<UpstreamRequest<'g>, Failure> {
    let began = exchange.now();
    let mut tried = Tried::default();
    let mut failed: Option<Fault> = None;
    let mut request = Outbound::new(outgoing);
    // Asked again, a request goes over a connection that did not wait: it is sent twice at most.
    let mut wanted = Origin::Reused;
    'places: loop {
        let mut permit = match group.pick(exchange.now(), &tried) {
            Ok(permit) => permit,
            // What is told is what was met, and not that there is nobody else.
            Err(unavailable) => return Err(failed.unwrap_or_else(|| no_place(unavailable)).into()),
        };
        let limits = permit.limits();
        let patience = patience(limits, began);
        let pool = proxy.pools.of(&permit);
        loop {
            let opened = match wanted {
                Origin::Reused => exchange.connection(&pool, limits.connect_max, patience.whole_by).await,
                Origin::Fresh => exchange.fresh_connection(&pool, limits.connect_max, patience.whole_by).await,
            };
            let connection = match opened {
                Ok(connection) => connection,
                Err(ForwardError::Client(error)) => return Err(permit.left_by_client(error).into()),
                Err(ForwardError::Backend(error)) => {
                    let fault = unanswered(&permit, &error);
                    let is_over = error.kind() == Kind::ExchangeTimedOut;
                    let is_first = tried.is_none();
                    tried.note(permit.index());
                    // A place that others left little time for is not to blame.
                    if !is_over || is_first {
                        permit.ended(ending(error.kind()));
                    }
                    if is_over {
                        return Err(fault.into());
                    }
                    // Nothing was sent there: whatever the method, another place may be asked.
                    failed = Some(fault);
                    continue 'places;
                }
            };
            let body = request.address(proxy, route, exchange, &permit);
            let origin = connection.origin();
            let may_ask_again = may_ask_again(route, exchange.request().method(), origin, body);
            let mut asking = exchange.begin_asking(connection, patience, body);
            let error = match exchange.ask(&mut asking).await {
                Ok(()) => {
                    permit.answers(exchange.answered().1.status());
                    cached::invalidate(proxy, exchange, &Reverse::new(permit.target(), route));
                    return Ok(UpstreamRequest { asking, pool, permit });
                }
                Err(ForwardError::Client(error)) => {
                    cached::invalidate_unanswered(proxy, exchange);
                    return Err(permit.left_by_client(error).into());
                }
                Err(ForwardError::Backend(error)) => error,
            };
            let was_closed_while_it_waited = origin == Origin::Reused && error.kind() == Kind::ClosedBeforeAnswer;
            if was_closed_while_it_waited && may_ask_again {
                pool.count_retry();
                wanted = Origin::Fresh;
                continue;
            }
            cached::invalidate_unanswered(proxy, exchange);
            let fault = unanswered(&permit, &error);
            let is_blameless = match error.kind() {
                Kind::ClosedBeforeAnswer => was_closed_while_it_waited,
                Kind::ExchangeTimedOut => asking.awaited_client() || !tried.is_none(),
                _ => false,
            };
            if !is_blameless {
                permit.ended(ending(error.kind()));
            }
            return Err(fault.into());
        }
    }
}

/// Whether a request without a byte of answer may be sent again: it was sent over a reused connection, it is complete,
/// and repeating it does no harm (RFC 9110, section 9.2.2).
fn may_ask_again(route: &ProxyRoute, method: Method, origin: Origin, body: Body) -> bool {
    let harmless = match route.retry {
        Retry::Always => true,
        Retry::Never => false,
        Retry::Idempotent => match method {
            Method::Get | Method::Head | Method::Put | Method::Delete | Method::Options | Method::Trace => true,
            Method::Post | Method::Patch | Method::Merge | Method::Other => false,
        },
    };
    harmless && origin == Origin::Reused && body == Body::Whole
}

/// A request on its way to places.
struct Outbound<'m> {
    /// Present until the request is in the outbound buffer. It is dropped with the memory of the mediators: none of it
    /// waits for a backend.
    unwritten: Option<Outgoing<'m>>,
    /// The place for which it is written.
    place: usize,
    /// Bytes of its first two lines, which name its target.
    address_bytes: usize,
    body: Body,
}

impl<'m> Outbound<'m> {
    fn new(outgoing: Outgoing<'m>) -> Outbound<'m> {
        Outbound { unwritten: Some(outgoing), place: 0, address_bytes: 0, body: Body::Whole }
    }

    /// Writes it into the outbound buffer for the place of `permit`; returns whether its body is whole.
    fn address(
        &mut self,
        proxy: &ProxyVisit<'_>,
        route: &ProxyRoute,
        exchange: &mut Exchange<'_>,
        permit: &Permit<'_>,
    ) -> Body {
        if let Some(outgoing) = self.unwritten.take() {
            (self.address_bytes, self.body) = write_request(proxy, route, exchange, permit, &outgoing);
        } else if self.place != permit.index() {
            let (request, _, out) = exchange.outbound();
            let mut address = Vec::new();
            write_address(&mut address, route, request, permit);
            out.splice(..self.address_bytes, address.iter().copied());
            self.address_bytes = address.len();
        }
        self.place = permit.index();
        self.body
    }
}

/// Writes the lines of a request with its target: the first one, and `Host`.
fn write_address(out: &mut Vec<u8>, route: &ProxyRoute, request: &RequestHead, permit: &Permit<'_>) {
    let target = permit.target();
    out.extend_from_slice(request.method_text().as_bytes());
    out.push(b' ');
    route.write_target(target.path_and_query(), request.path(), request.query(), out);
    out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    out.extend_from_slice(target.authority().as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Writes head and body for a place; returns the length of the lines with the target, and whether the body is complete.
fn write_request(
    proxy: &ProxyVisit<'_>,
    route: &ProxyRoute,
    exchange: &mut Exchange<'_>,
    permit: &Permit<'_>,
    outgoing: &Outgoing<'_>,
) -> (usize, Body) {
    let transport = exchange.transport();
    let (request, _, out) = exchange.outbound();
    out.clear();
    write_address(out, route, request, permit);
    let address_bytes = out.len();
    let came = Came {
        address: proxy.visit.address,
        scheme: scheme(transport),
        credentials: match proxy.visit.common.authentication.is_on() {
            true => Credentials::Ours,
            false => Credentials::TheBackends,
        },
        host: request.host(),
    };
    let lent = outgoing.lent.as_ref();
    fields::write_request(out, request, &came, lent.map_or(&Edits::default(), Lent::edits));
    if let Some(condition) = &outgoing.condition {
        out.extend_from_slice(condition);
    }
    let body = match outgoing.gathered {
        Gathered::Whole => {
            exchange.enclose(lent.and_then(Lent::replacement).map_or(Enclosed::Gathered, Enclosed::Given))
        }
        // Nobody has read it, so that nobody put another in its place.
        Gathered::Beginning => exchange.enclose(Enclosed::Streamed),
    };
    (address_bytes, body)
}

/// Converts status and fields of the backend's answer for the client.
pub(super) fn write_fields(exchange: &mut Exchange<'_>, edits: &Edits, reverse: &Reverse<'_>) {
    let scheme = scheme(exchange.transport());
    let (request, head, response) = exchange.answered();
    response.status = head.status();
    fields::write_answer(response, head, edits, &Addresses { reverse: *reverse, scheme, host: request.host() });
}

/// Converts the backend's answer for the client, except its body.
pub(super) fn answer(exchange: &mut Exchange<'_>, edits: &Edits, reverse: &Reverse<'_>) {
    write_fields(exchange, edits, reverse);
    let (_, head, response) = exchange.answered();
    match (head.framing(), head.content_length()) {
        // Of an answer to HEAD too, which has none of them.
        (Framing::Length(length), _) | (Framing::None, Some(length)) => response.delimit(Delimiter::Length(length)),
        (Framing::None | Framing::Chunked | Framing::UntilClose, _) => {}
    }
}

/// The same for HEAD, where mediators would read the body of a GET: their result would have another, unknown length.
pub(super) fn answer_without_body(exchange: &mut Exchange<'_>, edits: &mut Edits, reverse: &Reverse<'_>) {
    mediate::forget_body(edits);
    answer(exchange, edits, reverse);
    exchange.respond().delimit(Delimiter::Automatic);
}

impl<'g> UpstreamRequest<'g> {
    /// The reverse mapping for the answering place.
    pub(super) fn reverse<'r>(&self, route: &'r ProxyRoute) -> Reverse<'r>
    where
        'g: 'r,
    {
        Reverse::new(self.permit.target(), route)
    }

    /// Ends an exchange whose answer arrived, and is not passed on unchanged.
    pub(super) fn answered(self, exchange: &mut Exchange<'_>) {
        let (_, head, _) = exchange.answered();
        let status = head.status();
        exchange.release(self.asking, &self.pool);
        self.permit.ended(Ending::Answered(status));
    }

    /// Ends a successful exchange.
    pub(super) async fn end(self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        let (request, head, _) = exchange.answered();
        let (is_head, status) = (request.method() == Method::Head, head.status());
        exchange.release(self.asking, &self.pool);
        self.permit.ended(Ending::Answered(status));
        // The length that is told is the one that GET would bring.
        if is_head { exchange.flush_part().await } else { Ok(()) }
    }

    /// Ends an exchange that broke within the answer.
    pub(super) fn failed(self, error: ForwardError) -> Failure {
        match error {
            ForwardError::Client(error) => self.permit.left_by_client(error).into(),
            ForwardError::Backend(error) => {
                let fault = unanswered(&self.permit, &error);
                let is_blameless = match error.kind() {
                    // That we gather no more is not held against it.
                    Kind::TooLarge => true,
                    Kind::ExchangeTimedOut => self.asking.awaited_client(),
                    _ => false,
                };
                if !is_blameless {
                    self.permit.ended(ending(error.kind()));
                }
                fault.into()
            }
        }
    }
}

fn patience(limits: &EndpointLimits, began: Instant) -> Patience {
    Patience { first_byte: limits.first_byte_max, stall: limits.stall_max, whole_by: began + limits.request_max }
}

/// Result for the place after an error.
fn ending(kind: Kind) -> Ending {
    match kind {
        Kind::Unresolved | Kind::Unconnected | Kind::ConnectTimedOut => Ending::ConnectFailed,
        Kind::Tls => Ending::TlsFailed,
        Kind::AnswerTimedOut | Kind::Stalled | Kind::ExchangeTimedOut => Ending::TimedOut,
        Kind::ClosedBeforeAnswer | Kind::ClosedWithinAnswer | Kind::Malformed(_) | Kind::TooLarge => Ending::Broken,
    }
}

/// Fault for the client if a place did not answer.
fn unanswered(permit: &Permit<'_>, error: &UpstreamError) -> Fault {
    let inner = format!("{}: {error}", permit.target());
    match error.kind() {
        Kind::AnswerTimedOut | Kind::Stalled | Kind::ExchangeTimedOut => Fault::backend_late(inner),
        _ => Fault::backend_failed(inner),
    }
}

fn no_place(unavailable: Unavailable) -> Fault {
    match unavailable {
        Unavailable::Suspended { retry_after_seconds } => Fault::backend_away(retry_after_seconds),
        Unavailable::Full { retry_after_seconds } => Fault::backend_full(retry_after_seconds),
        Unavailable::Tried => Fault::internal("a group of places has none"),
    }
}
