//! One connection from its acceptance to its end: read a head, have it served, answer, and again.
//!
//! It has no buffer while it waits for a request: buffers go back to the core's pool. It keeps the bytes of a partial
//! head.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use super::super::error::Fault;
use super::Service;
use super::buffers::Buffers;
use super::core::Core;
use super::counters::{CloseCause, ConnectionState};
use super::exchange::{Exchange, ExchangeError, Next};
use super::handshake::{self, Handshaken};
use super::held::HeldHead;
use super::link::{Link, Wait};
use crate::tls::server::Acceptor;

/// The result of reading a head.
enum HeadRead {
    Complete,
    Fault(Fault),
    Ended(CloseCause),
}

/// Serves a connection of a TLS listener until it ends.
pub(super) async fn run_tls<S: Service>(mut link: Link, service: Rc<S>, acceptor: Acceptor) {
    let core = link.core.clone();
    match handshake::handshake(&mut link, &acceptor, &*service).await {
        Handshaken::Open => run(link, service).await,
        Handshaken::Plain(first) => {
            let mut buffers = core.take_buffers();
            buffers.input.load(&first);
            refuse(&mut link, buffers, &*service, Fault::PlainRequest).await;
            core.counters().closed(CloseCause::Handshake);
        }
        Handshaken::Ended(cause) => core.counters().closed(cause),
    }
}

/// Serves a connection until it ends.
pub(super) async fn run<S: Service>(mut link: Link, service: Rc<S>) {
    let core = link.core.clone();
    let mut slot = None;
    let mut requests: u64 = 0;
    let cause = loop {
        match read_head(&mut link, &mut slot, requests).await {
            HeadRead::Complete => {}
            HeadRead::Fault(fault) => {
                refuse(&mut link, slot.take().unwrap_or_else(|| core.take_buffers()), &*service, fault).await;
                break CloseCause::Fault;
            }
            HeadRead::Ended(cause) => break cause,
        }
        requests += 1;
        core.counters().requests.add(1);
        link.becomes(ConnectionState::Working);
        let buffers = slot.as_mut().expect("a head was read into it");
        match serve(&mut link, buffers, &*service, requests).await {
            Next::Request => {}
            Next::Close(cause) => break cause,
            Next::Linger(cause) => {
                give_back(&core, &mut slot);
                link.linger().await;
                break cause;
            }
        }
    };
    give_back(&core, &mut slot);
    if !matches!(cause, CloseCause::Broken | CloseCause::Aborted | CloseCause::WriteStall | CloseCause::UnsentFull) {
        // Never behind an answer that was cut off: the goodbye would say that it was whole.
        link.say_goodbye();
    }
    core.counters().closed(cause);
}

/// Answers a connection that there is no place for.
pub(super) async fn turn_away<S: Service>(mut link: Link, service: Rc<S>, fault: Fault) {
    let core = link.core.clone();
    refuse(&mut link, core.take_buffers(), &*service, fault).await;
    core.counters().closed(CloseCause::Fault);
}

fn give_back(core: &Core, slot: &mut Option<Box<Buffers>>) {
    if let Some(mut buffers) = slot.take() {
        buffers.input.clear();
        core.give_buffers(buffers);
    }
}

async fn serve<S: Service>(link: &mut Link, buffers: &mut Buffers, service: &S, requests: u64) -> Next {
    let core = link.core.clone();
    let cause = if core.draining.get() {
        Some(CloseCause::Drained)
    } else if requests >= core.limits.requests_per_connection_max {
        Some(CloseCause::RequestsSpent)
    } else if core.is_crowded() {
        Some(CloseCause::MadeRoom)
    } else {
        None
    };
    let mut exchange = Exchange::new(link, buffers, cause);
    let outcome = {
        let mut serving = pin!(service.serve(&mut exchange));
        poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| serving.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        })
        .await
    };
    let fault = match outcome {
        Some(Ok(())) => return exchange.finish().await,
        Some(Err(ExchangeError::Fault(fault))) => fault,
        Some(Err(error)) => return exchange.after(&error),
        None => {
            core.counters().panics.add(1);
            core.counters().fault(Fault::ServiceFailed);
            Fault::ServiceFailed
        }
    };
    if exchange.has_begun() {
        return Next::Close(CloseCause::Broken);
    }
    exchange.close_after(CloseCause::Fault);
    let (head, response) = exchange.split();
    response.clear();
    response.status = fault.status();
    service.refusal(fault, Some(head), response);
    exchange.finish().await
}

/// Answers a head that is none, in the protocol that what can be read of it asks for, and reads on a little so that the
/// answer arrives.
async fn refuse<S: Service>(link: &mut Link, mut buffers: Box<Buffers>, service: &S, fault: Fault) {
    link.core.counters().fault(fault);
    let readable = buffers.head.salvage(buffers.input.unused(), &link.core.limits);
    let mut exchange = Exchange::new(link, &mut buffers, Some(CloseCause::Fault));
    let (head, response) = exchange.split();
    response.status = fault.status();
    service.refusal(fault, readable.then_some(head), response);
    let next = exchange.finish().await;
    // Lingering needs none of it, and whoever refuses many at once has no memory to spare.
    give_back(&link.core, &mut Some(buffers));
    if let Next::Linger(_) = next {
        link.linger().await;
    }
}

/// Reads the next head into `slot`, which may contain bytes of it already.
async fn read_head(link: &mut Link, slot: &mut Option<Box<Buffers>>, requests: u64) -> HeadRead {
    let core = link.core.clone();
    let limits = &core.limits;
    if let Some(buffers) = slot
        && !buffers.input.is_empty()
        && let Some(outcome) = parse(buffers, &core)
    {
        return outcome;
    }
    let mut deadline: Option<Instant> = None;
    let mut held = HeldHead::nothing(&core);
    loop {
        let mut was_idle = true;
        let read = poll_fn(|cx| {
            let buffers = slot.get_or_insert_with(|| {
                let mut buffers = core.take_buffers();
                buffers.input.load(held.bytes());
                buffers
            });
            was_idle = buffers.input.is_empty();
            buffers.input.make_room(buffers.input.start());
            if let Poll::Ready(read) = link.poll_read(cx, buffers.input.room()) {
                return Poll::Ready(Ok(read));
            }
            if was_idle && core.draining.get() {
                return Poll::Ready(Err(HeadRead::Ended(CloseCause::Drained)));
            }
            link.becomes(if was_idle { ConnectionState::Idle } else { ConnectionState::Reading });
            let deadline = *deadline.get_or_insert_with(|| match (was_idle, requests) {
                (_, 0) => link.first_head_by,
                (true, _) => core.now() + limits.idle_timeout,
                (false, _) => core.now() + limits.header_timeout,
            });
            if link.wait_until(cx, deadline) == Wait::Over {
                return Poll::Ready(Err(match was_idle {
                    true => HeadRead::Ended(CloseCause::IdleTimeout),
                    false => HeadRead::Fault(Fault::HeaderTimeout),
                }));
            }
            if let Err(fault) = held.keep(buffers.input.unused()) {
                return Poll::Ready(Err(HeadRead::Fault(fault)));
            }
            give_back(&core, slot);
            Poll::Pending
        })
        .await;
        let count = match read {
            Ok(Ok(count)) => count,
            Ok(Err(_)) => return HeadRead::Ended(CloseCause::Broken),
            Err(outcome) => return outcome,
        };
        let buffers = slot.as_mut().expect("bytes were read into it");
        if count == 0 {
            return match was_idle {
                true => HeadRead::Ended(CloseCause::Client),
                // The rest will not come; what is there may still be worth an answer.
                false => parse(buffers, &core).unwrap_or(HeadRead::Fault(Fault::ClosedInHead)),
            };
        }
        buffers.input.filled(count);
        let unused = buffers.input.unused();
        // Without a new line in it, what came cannot end a head: bytes that trickle in are not parsed again each time.
        let worth_parsing =
            was_idle || unused[unused.len() - count..].contains(&b'\n') || unused.len() >= limits.head_bytes_max;
        if worth_parsing && let Some(outcome) = parse(buffers, &core) {
            link.disarm();
            return outcome;
        }
        if was_idle && requests > 0 {
            // From here the head has its own time.
            deadline = None;
        }
    }
}

/// Parses what was read; `None` when a head is not complete.
fn parse(buffers: &mut Buffers, core: &Core) -> Option<HeadRead> {
    match buffers.head.parse(buffers.input.unused(), &core.limits) {
        Ok(Some(used)) => {
            buffers.input.advance(used);
            Some(HeadRead::Complete)
        }
        Ok(None) => None,
        Err(fault) => Some(HeadRead::Fault(fault)),
    }
}
