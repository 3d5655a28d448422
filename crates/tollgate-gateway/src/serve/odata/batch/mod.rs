//! `$batch`: many requests in one (V4 Protocol 11.7 and JSON Format 19; V2: [MS-ODATA] 2.2.6.7), done in one
//! transaction under one work process, and answered as a whole once that is committed.
//!
//! The format of a batch and the meaning of its requests are elsewhere (`tollgate-wire`, [`crate::operation`]), its
//! head is in [`negotiation`]; here are limits, whether anything is written, and where the work is done. A batch that
//! is malformed anywhere is refused as a whole before any of it is done.

mod gather;
mod negotiation;
mod output;
mod run;

use std::sync::Arc;

use tollgate_net::http1::server::Exchange;
use tollgate_wire::batch::{BatchErrorKind, Step, json, multipart};
use tollgate_wire::edm::Version;

use crate::error::{Failure, Fault};
use crate::hosted::{Hosted, Mount};
use crate::operation::Author;
use crate::operation::head::preferences::Preferences;
use crate::operation::head::versions;
use crate::store::{Connection, Store};
use crate::visit::Visit;
use crate::visit::common::Common;
use crate::work::weight::WorkPlace;

use gather::Gathered;
use negotiation::{BatchFormat, answer_form, request_form};
use output::Output;
use run::{Grouping, OnError, Run, Units};

/// Most requests of a batch on the loop, if all of them write: some 15 µs each. Leaving it costs about 30.
const LOOP_REQUESTS_MAX: usize = 4;

/// Bytes of a batch searched before the loop turns to others: about 50 µs.
const SCAN_BYTES: usize = 64 * 1024;

/// Result of a search through a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scanned {
    requests: usize,
    access: BatchAccess,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchAccess {
    /// It only reads.
    Reads,
    /// It only writes.
    Writes,
    Both,
}

/// A batch with all its data, so that it can leave the loop.
struct Batch {
    body: Gathered,
    form: BatchFormat<String>,
    answer: BatchFormat<String>,
    version: Version,
    on_error: OnError,
    root_url: String,
    root_path: Box<str>,
    /// `OData-MaxVersion` of the batch, also for requests without one of their own.
    max_version: Option<String>,
    author: Author,
    common: Arc<Common>,
}

/// Answers a batch.
pub(super) async fn answer(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    mount: &Mount,
    exchange: &mut Exchange<'_>,
) -> Result<(), Failure> {
    let version = mount.version;
    let head = exchange.request();
    versions::check(version, |name| head.header(name))?;
    let form = request_form(version, head)?;
    let answer = answer_form(version, &form, head)?;
    let preferences = Preferences::of(version, head);
    let max_version = head.header("odata-maxversion").map(str::to_owned);
    let on_error = match (version, &form, &preferences.continue_on_error) {
        (.., Some(preferred)) if preferred.value => OnError::Continue,
        (.., Some(_)) => OnError::Stop,
        // [MS-ODATA] 2.2.6.7 knows no preference. Without one all requests of a JSON batch are done according to what they
        // depend on, whatever became of the others (JSON Format 4.01, 19.4 "Processing a Batch Request", which says more
        // than Protocol 8.2.8.3); those of multipart are a sequence that ends at its first error (Protocol 11.7.7.6).
        (Version::V2, ..) | (Version::V4, BatchFormat::Json, None) => OnError::Continue,
        (Version::V4, BatchFormat::Multipart(_), None) => OnError::Stop,
    };
    let author = Author::of(visit, service, head);
    let body = gather::body(visit, &service.rules, &form, exchange).await?;
    let scanned = scan(&form, body.bytes(), service.rules.batch_requests_max).await?;
    let batch = Batch {
        body,
        form,
        answer,
        version,
        on_error,
        root_url: visit.memory.service_root(exchange, &mount.root),
        root_path: mount.root.clone(),
        max_version,
        author,
        common: Arc::clone(visit.common),
    };
    let buffer = visit.common.buffers.take();
    let (batch, done) = match scanned.access {
        BatchAccess::Reads => {
            let mut reading = service.pool.acquire_long(&visit.task(exchange.request())).await.map_err(Fault::from)?;
            done(WorkPlace::Away, service, batch, buffer, move |service, batch, out| {
                // Nothing is to be made last, so nothing is begun.
                batch.run(service, &mut reading, out, Units::Unmarked)
            })
            .await?
        }
        BatchAccess::Writes | BatchAccess::Both => {
            let place = match (service.pool.place_of_writes(), scanned) {
                (WorkPlace::Loop, Scanned { requests: ..=LOOP_REQUESTS_MAX, access: BatchAccess::Writes })
                    if batch.body.bytes().len() <= SCAN_BYTES =>
                {
                    WorkPlace::Loop
                }
                _ => WorkPlace::Away,
            };
            let mut writing =
                service.pool.acquire_to_write(&visit.task(exchange.request())).await.map_err(Fault::from)?;
            done(place, service, batch, buffer, move |service, batch, out| {
                writing.transaction(|connection| batch.run(service, connection, out, Units::Savepoints))
            })
            .await?
        }
    };
    let out = match done {
        Ok(out) => out,
        Err(fault) => {
            visit.memory.give_text(batch.root_url);
            return Err(fault.into());
        }
    };
    let (request, response) = exchange.split();
    // [MS-ODATA] 2.2.6.7.2 and Protocol 11.7.
    response.status = if version == Version::V2 { 202 } else { 200 };
    let (name, said) = versions::answered(version, request);
    response.header(name, said);
    match &batch.answer {
        BatchFormat::Multipart(boundary) => {
            response.header("content-type", format!("{}; boundary={boundary}", multipart::MEDIA_TYPE));
        }
        BatchFormat::Json => response.header("content-type", json::MEDIA_TYPE),
    }
    preferences.say_of_batch(response);
    visit.memory.give_text(batch.root_url);
    send(visit, exchange, out).await?;
    // Only now is the memory of the batch counted as free.
    drop(batch.body);
    Ok(())
}

/// Does the work here or on a thread that may block, and returns the batch with the written answer.
async fn done<W>(
    place: WorkPlace,
    service: &Arc<Hosted>,
    mut batch: Batch,
    mut out: Vec<u8>,
    work: W,
) -> Result<(Batch, Result<Vec<u8>, Fault>), Fault>
where
    W: FnOnce(&Hosted, &mut Batch, &mut Vec<u8>) -> Result<(), Fault> + Send + 'static,
{
    match place {
        WorkPlace::Loop => {
            let result = work(service, &mut batch, &mut out);
            Ok((batch, result.map(|()| out)))
        }
        WorkPlace::Away => {
            let service = Arc::clone(service);
            let job = move || {
                let result = work(&service, &mut batch, &mut out);
                (batch, result.map(|()| out))
            };
            let ended = tokio::task::spawn_blocking(job).await;
            ended.map_err(|panic| Fault::internal(format!("work away from the loop ended badly: {panic}")))
        }
    }
}

/// Sends the answer from its own buffer, which is then free for the next one.
async fn send(visit: &Visit<'_>, exchange: &mut Exchange<'_>, mut out: Vec<u8>) -> Result<(), Failure> {
    std::mem::swap(&mut exchange.respond().body, &mut out);
    exchange.flush_last_part().await?;
    std::mem::swap(&mut exchange.respond().body, &mut out);
    visit.common.buffers.give_back(out);
    Ok(())
}

impl Batch {
    fn run(
        &mut self,
        service: &Hosted,
        connection: &mut Connection,
        out: &mut Vec<u8>,
        units: run::Units,
    ) -> Result<(), Fault> {
        let requests_max = service.rules.batch_requests_max;
        let (bytes, share) = self.body.split();
        let run = Run {
            service,
            connection,
            common: &self.common,
            version: self.version,
            on_error: self.on_error,
            units,
            grouping: match self.form {
                BatchFormat::Multipart(_) => Grouping::ChangeSets,
                BatchFormat::Json => Grouping::AtomicityGroups,
            },
            root: (&self.root_url, &self.root_path),
            author: &self.author,
            max_version: self.max_version.as_deref(),
            share,
            body_bytes: bytes.len(),
        };
        let output = match (&self.answer, &self.form) {
            (BatchFormat::Multipart(boundary), BatchFormat::Multipart(_)) => Output::mirrored(boundary),
            (BatchFormat::Multipart(boundary), BatchFormat::Json) => Output::flat(boundary),
            (BatchFormat::Json, _) => Output::json(out),
        };
        run.all(self.form.requests(bytes, requests_max), output, out)
    }
}

/// Searches the whole batch: checks its form and size, and finds the access it needs.
async fn scan(form: &BatchFormat<String>, body: &[u8], requests_max: usize) -> Result<Scanned, Fault> {
    let mut requests = form.requests(body, requests_max);
    let (mut count, mut reads, mut looked_at) = (0, 0, 0);
    loop {
        match requests.next()? {
            Step::End => break,
            Step::GroupBegin | Step::GroupEnd => {}
            Step::Request => {
                let request = requests.request();
                count += 1;
                reads += usize::from(request.method.eq_ignore_ascii_case("GET"));
                if request.position >= looked_at + SCAN_BYTES {
                    looked_at = request.position;
                    tokio::task::yield_now().await;
                }
            }
        }
    }
    let access = match reads {
        0 => BatchAccess::Writes,
        _ if reads == count => BatchAccess::Reads,
        _ => BatchAccess::Both,
    };
    Ok(Scanned { requests: count, access: if count == 0 { BatchAccess::Reads } else { access } })
}

/// Checks that the beginning of a batch does not already have too many requests; ending too early is no error here.
async fn check_beginning(form: &BatchFormat<String>, beginning: &[u8], requests_max: usize) -> Result<(), Fault> {
    let mut requests = form.requests(beginning, requests_max);
    let mut looked_at = 0;
    loop {
        match requests.next() {
            Err(error) if error.kind == BatchErrorKind::TooMany => return Err(error.into()),
            Err(_) | Ok(Step::End) => return Ok(()),
            Ok(_) => {
                let position = requests.request().position;
                if position >= looked_at + SCAN_BYTES {
                    looked_at = position;
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}
