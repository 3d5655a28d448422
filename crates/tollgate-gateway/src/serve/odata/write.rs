//! A single writing request: its body is gathered, the operation prepared, a work process and the write lock acquired,
//! and the operation performed in a transaction of its own. It is answered only after the commit.
//!
//! The operation itself is in [`crate::operation`].

use std::sync::Arc;

use tollgate_net::http1::server::Exchange;

use crate::error::{Failure, Fault};
use crate::hosted::{Hosted, Mount};
use crate::http::answer::Answer;
use crate::operation::{self, Author, ContentIds, Prepared, Request};
use crate::store::{Connection, Store};
use crate::visit::Visit;
use crate::work::pool::Writing;
use crate::work::weight::WorkPlace;

/// Largest body written on the loop: about a hundred entities of 600 bytes, which take SQLite half a millisecond.
const LOOP_BODY_BYTES_MAX: usize = 64 * 1024;

/// Answers a writing request.
pub(super) async fn answer(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    mount: &Mount,
    exchange: &mut Exchange<'_>,
) -> Result<(), Failure> {
    let body_bytes = exchange.read_body(service.rules.body_bytes_max).await?.len();
    let root = visit.memory.service_root(exchange, &mount.root);
    let prepared = {
        let (head, body, _) = exchange.parts();
        operation::prepare(
            service,
            &Request {
                method: head.method(),
                path: head.path().get(mount.root.len()..).unwrap_or_default(),
                query: head.query(),
                version: mount.version,
                root: &root,
                headers: head,
                body,
                content_ids: &ContentIds::default(),
                author: &Author::of(visit, service, head),
                page_size: visit.common.page_size,
            },
        )?
    };
    let place = match service.pool.place_of_writes() {
        WorkPlace::Loop if body_bytes <= LOOP_BODY_BYTES_MAX && !prepared.is_for_many() => WorkPlace::Loop,
        _ => WorkPlace::Away,
    };
    let writing = service.pool.acquire_to_write(&visit.task(exchange.request())).await.map_err(Fault::from)?;
    let mut answer = visit.memory.take_answer();
    std::mem::swap(&mut answer.body, &mut exchange.respond().body);
    let (done, mut answer, root) = match place {
        WorkPlace::Loop => write(service, writing, prepared, answer, root),
        WorkPlace::Away => {
            let service = Arc::clone(service);
            let job = move || write(&service, writing, prepared, answer, root);
            let ended = tokio::task::spawn_blocking(job).await;
            ended.map_err(|panic| Fault::internal(format!("work away from the loop ended badly: {panic}")))?
        }
    };
    visit.memory.give_text(root);
    let response = exchange.respond();
    if done.is_ok() {
        std::mem::swap(&mut answer.body, &mut response.body);
        response.status = answer.status;
        for (name, value) in answer.headers() {
            response.header(name, value);
        }
    }
    visit.memory.give_answer(answer);
    Ok(done?)
}

fn write(
    service: &Hosted,
    mut writing: Writing,
    prepared: Prepared,
    mut answer: Answer,
    root: String,
) -> (Result<(), Fault>, Answer, String) {
    let single = prepared.is_single_change();
    let work = |connection: &mut Connection| prepared.perform(service, connection, &root, &mut answer);
    let done = if single { writing.single_change(work) } else { writing.transaction(work) };
    (done.map(|_| ()), answer, root)
}
