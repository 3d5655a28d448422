//! Work that leaves the loop: it runs on a thread that may block, under a work process, and its answer comes back in
//! parts which the loop sends as the client takes them.
//!
//! An answer that fits one part is sent as a whole, with its length. Where the client is slow the work is paused: it gives
//! its work process back, and stands in the queue again once its parts were taken.

use std::sync::Arc;

use tollgate_net::http1::Method;
use tollgate_net::http1::server::{Abort, Exchange, ExchangeError};

use crate::error::{Failure, Fault};
use crate::hosted::Hosted;
use crate::store::Connection;
use crate::visit::Visit;
use crate::work::parts::{self, Buffers, PartWriter};
use crate::work::pool::Reading;

/// Something that writes an answer, in as many goes as it takes.
pub(crate) trait Work: Send + 'static {
    /// Writes until it is done, or until the writer stops it.
    ///
    /// # Errors
    /// What is to be told to the client, if nothing was sent yet.
    fn go(&mut self, service: &Hosted, connection: &mut Connection, writer: &mut PartWriter)
    -> Result<Progress, Fault>;

    /// The value of `Link`, where the answer has one.
    fn link(&self, sent: Sent) -> Option<String>;
}

/// How much of an answer is known when its head leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// All of it.
    Whole,
    /// Its beginning.
    InParts,
}

/// How far work came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Everything is written.
    Done,
    /// More is to be written, as soon as the client has taken what was.
    Paused,
}

/// Does `work` away from the loop. The answer's status and fields must stand already; they are replaced when the work
/// fails before its first part was sent.
///
/// Where the client goes away, sending fails or this future is dropped; either way the work stops at its next part.
///
/// # Errors
/// What the work says, or that no work process was to be had, or that the exchange broke.
pub(crate) async fn run(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    exchange: &mut Exchange<'_>,
    work: impl Work,
) -> Result<(), Failure> {
    let work_process = service.pool.acquire(&visit.task(exchange.request())).await.map_err(Fault::from)?;
    run_with(visit, service, exchange, work, work_process).await
}

/// The same under a work process that is held already.
///
/// # Errors
/// As [`run`].
pub(crate) async fn run_with(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    exchange: &mut Exchange<'_>,
    mut work: impl Work,
    mut work_process: Reading,
) -> Result<(), Failure> {
    let buffers = &visit.common.buffers;
    let mut begun = false;
    let mut link = work.link(Sent::InParts);
    loop {
        let hosted = Arc::clone(service);
        let (mut writer, mut parts) = parts::channel(buffers);
        let job = tokio::task::spawn_blocking(move || {
            let progress = work.go(&hosted, &mut work_process, &mut writer);
            // The rest waits for the client without holding anybody up.
            drop(work_process);
            (work, progress, writer.into_rest())
        });
        while let Some(part) = parts.recv().await {
            begun = true;
            if let Some(link) = link.take() {
                exchange.respond().header("link", &link);
            }
            send(exchange, part, buffers, Position::Within).await?;
            if exchange.request().method() == Method::Head {
                // The head is all that is wanted; going away stops the work.
                return Ok(());
            }
        }
        let fault = match job.await {
            Ok((done, Ok(Progress::Done), rest)) => {
                if let Some(link) = done.link(Sent::Whole).filter(|_| !begun) {
                    exchange.respond().header("link", &link);
                }
                return Ok(send(exchange, rest, buffers, Position::Last).await?);
            }
            Ok((paused, Ok(Progress::Paused), rest)) => {
                begun = true;
                if let Some(link) = link.take() {
                    exchange.respond().header("link", &link);
                }
                work = paused;
                send(exchange, rest, buffers, Position::Within).await?;
                work_process = service.pool.acquire_again(&visit.task(exchange.request())).await;
                continue;
            }
            Ok((_, Err(fault), _)) => fault,
            Err(panic) => Fault::internal(format!("work away from the loop ended badly: {panic}")),
        };
        if !begun {
            return Err(Failure::Told(fault));
        }
        let request = exchange.request();
        visit.common.log_inner(&fault, request.method_text(), request.path());
        // Half an answer is out: only a connection that ends early tells the client that it is not the whole.
        return Err(Failure::Broken(ExchangeError::Abort(Abort::Close)));
    }
}

/// Where a part stands in its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Within,
    Last,
}

/// Sends a part out of its own buffer, which then is free for another.
async fn send(
    exchange: &mut Exchange<'_>,
    mut part: Vec<u8>,
    buffers: &Buffers,
    position: Position,
) -> Result<(), ExchangeError> {
    std::mem::swap(&mut exchange.respond().body, &mut part);
    match position {
        Position::Within => exchange.flush_part().await?,
        Position::Last => exchange.flush_last_part().await?,
    }
    std::mem::swap(&mut exchange.respond().body, &mut part);
    buffers.give_back(part);
    Ok(())
}
