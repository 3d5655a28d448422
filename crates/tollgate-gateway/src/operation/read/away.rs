//! Work that leaves the loop: it runs on a thread that may block, under a work process, and its answer comes back in
//! parts that the loop sends as the client takes them.
//!
//! An answer that fits one part is sent as a whole, with its length. If the client is slow the work is paused: it
//! returns its work process, and queues again once its parts were taken.

use std::sync::Arc;

use tollgate_net::http1::Method;
use tollgate_net::http1::server::{Exchange, ExchangeError};

use crate::error::{Failure, Fault};
use crate::hosted::Hosted;
use crate::store::Connection;
use crate::visit::Visit;
use crate::work::parts::{self, Buffers, Part, PartWriter};

/// Work that writes an answer, in one or more steps.
pub(crate) trait Work: Send + 'static {
    /// Writes until it is done, or until the writer stops it.
    ///
    /// # Errors
    /// The fault for the client, if nothing was sent yet.
    fn go(&mut self, service: &Hosted, connection: &mut Connection, writer: &mut PartWriter)
    -> Result<Progress, Fault>;

    /// The value of `Link`, if the answer has one.
    fn link(&self, sent: Sent) -> Option<String>;
}

/// Whether an answer is complete when its head leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The whole answer.
    Whole,
    /// Its beginning.
    InParts,
}

/// Progress of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Everything is written.
    Done,
    /// More is to be written, as soon as the client has taken the parts so far.
    Paused,
}

/// Runs `work` outside the loop. The answer's status and fields must be set already; they are replaced when the work
/// fails before its first part was sent.
///
/// If the client goes away, sending fails or this future is dropped; either way the work stops at its next part.
///
/// # Errors
/// The work's fault, no available work process, or a broken exchange.
pub(crate) async fn run(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    exchange: &mut Exchange<'_>,
    mut work: impl Work,
) -> Result<(), Failure> {
    let mut work_process = service.pool.acquire_long(&visit.task(exchange.request())).await.map_err(Fault::from)?;
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
            exchange.keep_beside(parts::BESIDE_BYTES_MAX);
            send(exchange, part, buffers, Position::Within).await?;
            if exchange.request().method() == Method::Head {
                // The head is all that is wanted; going away stops the work.
                return Ok(());
            }
        }
        exchange.keep_beside(0);
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
        // Half an answer is out: only a connection that ends early shows the client that it is not the whole.
        return Err(Failure::Broken(exchange.cut_short()));
    }
}

/// Place of a part in its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Within,
    Last,
}

/// Sends a part from its own buffer, which is then free for the next one.
async fn send(
    exchange: &mut Exchange<'_>,
    mut part: Part,
    buffers: &Buffers,
    position: Position,
) -> Result<(), ExchangeError> {
    std::mem::swap(&mut exchange.respond().body, &mut part.bytes);
    match position {
        Position::Within => exchange.flush_part().await?,
        Position::Last => exchange.flush_last_part().await?,
    }
    std::mem::swap(&mut exchange.respond().body, &mut part.bytes);
    buffers.give_back(part.bytes);
    Ok(())
}
