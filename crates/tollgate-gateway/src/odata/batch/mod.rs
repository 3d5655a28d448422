//! `$batch`: many requests in one (V4 Protocol 11.7 and JSON Format 19; V2: [MS-ODATA] 2.2.6.7), done in one transaction
//! under one work process, and answered as a whole once that is committed.
//!
//! What a batch is, and what its requests mean, is decided elsewhere (`tollgate-wire`, [`crate::operation`]); here is what
//! lies between: limits, formats, whether anything is written, and where the work is done. A batch that is malformed
//! anywhere is refused as a whole before any of it is done.

mod gather;
mod output;
mod run;

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use tollgate_net::http1::RequestHead;
use tollgate_net::http1::server::Exchange;
use tollgate_wire::batch::{BatchErrorKind, Requests, Step, json, multipart};
use tollgate_wire::edm::Version;

use super::versions;
use crate::accept;
use crate::error::{Failure, Fault};
use crate::hosted::{Hosted, Mount};
use crate::operation::{Author, values};
use crate::server::Shared;
use crate::store::{Connection, Store};
use crate::visit::Visit;
use crate::weight::Place;
pub(crate) use gather::Room;

use gather::Gathered;
use output::Output;
use run::{Grouping, OnError, Run, Units};

/// Most requests of a batch that is done on the loop, if all of them write: some 15 us each. Leaving it costs about 30.
const LOOP_REQUESTS_MAX: usize = 4;

/// How much of a batch is looked through before the loop turns to others: about 50 us.
const SCAN_BYTES: usize = 64 * 1024;

/// How a batch, or its answer, is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form<B> {
    /// `multipart/mixed` with this boundary.
    Multipart(B),
    /// JSON.
    Json,
}

/// What a look through a batch showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scanned {
    requests: usize,
    access: Access,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// All requests read.
    Reads,
    /// All requests write.
    Writes,
    Both,
}

/// A batch with all that doing it needs, so that it can leave the loop.
struct Batch {
    body: Gathered,
    form: Form<String>,
    answer: Form<String>,
    version: Version,
    on_error: OnError,
    root_url: String,
    root_path: Box<str>,
    author: Author,
    shared: Arc<Shared>,
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
    let preference = match version {
        Version::V2 => None,
        Version::V4 => ContinueOnError::of(head),
    };
    let on_error = match (version, &form, &preference) {
        (_, _, Some(preference)) => preference.on_error,
        // [MS-ODATA] 2.2.6.7 knows no preference. Without one all requests of a JSON batch are done according to what they
        // depend on, whatever became of the others (JSON Format 4.01, 19.4 "Processing a Batch Request", which says more
        // than Protocol 8.2.8.3); those of multipart are a sequence that ends at its first error (Protocol 11.7.7.6).
        (Version::V2, ..) | (Version::V4, Form::Json, None) => OnError::Continue,
        (Version::V4, Form::Multipart(_), None) => OnError::Stop,
    };
    let author = visit.author(service, head);
    let body = gather::body(visit, &service.rules, &form, exchange).await?;
    let scanned = scan(&form, body.bytes(), service.rules.batch_requests_max).await?;
    let batch = Batch {
        body,
        form,
        answer,
        version,
        on_error,
        root_url: visit.service_root(exchange, &mount.root),
        root_path: mount.root.clone(),
        author,
        shared: Arc::clone(&visit.shared),
    };
    let buffer = visit.shared.buffers.take();
    let (batch, done) = match scanned.access {
        Access::Reads => {
            let mut reading = service.pool.acquire(&visit.task(exchange.request())).await.map_err(Fault::from)?;
            done(Place::Away, service, batch, buffer, move |service, batch, out| {
                // Nothing is to be made last, so nothing is begun.
                batch.run(service, &mut reading, out, Units::Unmarked)
            })
            .await?
        }
        Access::Writes | Access::Both => {
            let place = match (service.pool.place_of_writes(), scanned) {
                (Place::Loop, Scanned { requests: ..=LOOP_REQUESTS_MAX, access: Access::Writes })
                    if batch.body.bytes().len() <= SCAN_BYTES =>
                {
                    Place::Loop
                }
                _ => Place::Away,
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
            visit.give_text(batch.root_url);
            return Err(fault.into());
        }
    };
    let response = exchange.respond();
    // [MS-ODATA] 2.2.6.7.2 and Protocol 11.7.
    response.status = if version == Version::V2 { 202 } else { 200 };
    let (name, said) = versions::answered(version);
    response.header(name, said);
    match &batch.answer {
        Form::Multipart(boundary) => {
            response.header("content-type", format!("{}; boundary={boundary}", multipart::MEDIA_TYPE));
        }
        Form::Json => response.header("content-type", json::MEDIA_TYPE),
    }
    if let Some(preference) = preference {
        response.header("preference-applied", preference.applied());
    }
    visit.give_text(batch.root_url);
    send(visit, exchange, out).await?;
    // Only now is the memory of the batch counted as free.
    drop(batch.body);
    Ok(())
}

/// Does the work here or on a thread that may block, and hands the batch back with what was written.
async fn done<W>(
    place: Place,
    service: &Arc<Hosted>,
    mut batch: Batch,
    mut out: Vec<u8>,
    work: W,
) -> Result<(Batch, Result<Vec<u8>, Fault>), Fault>
where
    W: FnOnce(&Hosted, &mut Batch, &mut Vec<u8>) -> Result<(), Fault> + Send + 'static,
{
    match place {
        Place::Loop => {
            let result = work(service, &mut batch, &mut out);
            Ok((batch, result.map(|()| out)))
        }
        Place::Away => {
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

/// Sends the answer out of its own buffer, which then is free for another.
async fn send(visit: &Visit<'_>, exchange: &mut Exchange<'_>, mut out: Vec<u8>) -> Result<(), Failure> {
    std::mem::swap(&mut exchange.respond().body, &mut out);
    exchange.flush_last_part().await?;
    std::mem::swap(&mut exchange.respond().body, &mut out);
    visit.shared.buffers.give_back(out);
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
            shared: &self.shared,
            version: self.version,
            on_error: self.on_error,
            units,
            grouping: match self.form {
                Form::Multipart(_) => Grouping::ChangeSets,
                Form::Json => Grouping::AtomicityGroups,
            },
            root: (&self.root_url, &self.root_path),
            author: &self.author,
            share,
            body_bytes: bytes.len(),
        };
        let output = match (&self.answer, &self.form) {
            (Form::Multipart(boundary), Form::Multipart(_)) => Output::mirrored(boundary),
            (Form::Multipart(boundary), Form::Json) => Output::flat(boundary),
            (Form::Json, _) => Output::json(out),
        };
        run.all(self.form.requests(bytes, requests_max), output, out)
    }
}

impl Form<String> {
    fn requests<'b>(&self, body: &'b [u8], requests_max: usize) -> Requests<'b> {
        match self {
            Form::Multipart(boundary) => Requests::multipart(body, boundary, requests_max),
            Form::Json => Requests::json(body, requests_max),
        }
    }
}

/// How the batch is written, by its Content-Type.
fn request_form(version: Version, head: &RequestHead) -> Result<Form<String>, Fault> {
    let said = head.header("content-type").unwrap_or_default();
    if let Some(boundary) = multipart::boundary(said) {
        return Ok(Form::Multipart(boundary.to_owned()));
    }
    let essence = said.split(';').next().unwrap_or_default().trim();
    if version == Version::V4 && essence.eq_ignore_ascii_case(json::MEDIA_TYPE) {
        return Ok(Form::Json);
    }
    if essence.eq_ignore_ascii_case(multipart::MEDIA_TYPE) {
        return Err(Fault::bad_request(
            "content-type",
            format!("expected a boundary of 1 to 70 characters in `{said}`"),
        ));
    }
    let readable = match version {
        Version::V2 => "multipart/mixed",
        Version::V4 => "multipart/mixed or application/json",
    };
    Err(Fault::unsupported_media_type(format!("expected a batch of {readable}, found `{said}`")))
}

/// How the answer is written: as `Accept` has it, and where it does not care like the batch (Protocol 11.7.1).
fn answer_form(version: Version, form: &Form<String>, head: &RequestHead) -> Result<Form<String>, Fault> {
    const MULTIPART: (&str, Form<()>) = (multipart::MEDIA_TYPE, Form::Multipart(()));
    const JSON: (&str, Form<()>) = (json::MEDIA_TYPE, Form::Json);
    let offers: &[_] = match (version, form) {
        (Version::V2, _) => &[MULTIPART],
        (Version::V4, Form::Multipart(_)) => &[MULTIPART, JSON],
        (Version::V4, Form::Json) => &[JSON, MULTIPART],
    };
    match accept::choose(head.values("accept"), offers, |offer, _| Some(offer)) {
        Some(Form::Multipart(())) => Ok(Form::Multipart(boundary())),
        Some(Form::Json) => Ok(Form::Json),
        // V2's libraries send the `Accept` of their single requests along; there is but one form to answer in.
        None if version == Version::V2 => Ok(Form::Multipart(boundary())),
        None => Err(Fault::not_acceptable("expected Accept to allow multipart/mixed or application/json")),
    }
}

/// A boundary that nobody can foresee, so that no value of an entity can be made to hold it.
fn boundary() -> String {
    let half = || RandomState::new().hash_one(0);
    format!("batch_{:016x}{:016x}", half(), half())
}

/// The preference `continue-on-error` (Protocol 8.2.8.3), with or without `odata.` as 4.01 has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ContinueOnError {
    on_error: OnError,
    prefix: &'static str,
}

impl ContinueOnError {
    fn of(head: &RequestHead) -> Option<ContinueOnError> {
        ContinueOnError::among(values(head, "prefer"))
    }

    fn among<'a>(prefer: impl Iterator<Item = &'a str>) -> Option<ContinueOnError> {
        prefer.flat_map(|line| line.split([',', ';'])).find_map(|preference| {
            let (name, value) = preference.split_once('=').unwrap_or((preference, "true"));
            let (name, value) = (name.trim(), value.trim().trim_matches('"'));
            let plain = name.get(..6).filter(|prefix| prefix.eq_ignore_ascii_case("odata.")).map(|_| &name[6..]);
            let known = plain.unwrap_or(name).eq_ignore_ascii_case("continue-on-error");
            let on_error = match value {
                "true" if known => OnError::Continue,
                "false" if known => OnError::Stop,
                _ => return None,
            };
            Some(ContinueOnError { on_error, prefix: if plain.is_some() { "odata." } else { "" } })
        })
    }

    fn applied(self) -> String {
        let value = self.on_error == OnError::Continue;
        format!("{}continue-on-error={value}", self.prefix)
    }
}

/// Looks through the whole batch: whether it is well made and small enough, and what it asks for.
async fn scan(form: &Form<String>, body: &[u8], requests_max: usize) -> Result<Scanned, Fault> {
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
        0 => Access::Writes,
        _ if reads == count => Access::Reads,
        _ => Access::Both,
    };
    Ok(Scanned { requests: count, access: if count == 0 { Access::Reads } else { access } })
}

/// Whether the beginning of a batch has too many requests already; that it ends too early is no fault of a beginning.
async fn check_beginning(form: &Form<String>, beginning: &[u8], requests_max: usize) -> Result<(), Fault> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preference_is_found_among_others_in_both_spellings() {
        for (prefer, expected) in [
            (vec![], None),
            (vec!["return=minimal"], None),
            (vec!["continue-on-error"], Some("continue-on-error=true")),
            (vec!["return=minimal, odata.Continue-On-Error"], Some("odata.continue-on-error=true")),
            (vec!["a", "odata.continue-on-error=\"false\""], Some("odata.continue-on-error=false")),
            (vec!["continue-on-error=maybe"], None),
        ] {
            let found = ContinueOnError::among(prefer.iter().copied()).map(ContinueOnError::applied);
            assert_eq!(found.as_deref(), expected, "{prefer:?}");
        }
    }

    #[test]
    fn boundaries_differ_and_are_right() {
        let (one, other) = (boundary(), boundary());
        assert_ne!(one, other);
        assert_eq!(multipart::boundary(&format!("multipart/mixed; boundary={one}")), Some(one.as_str()));
    }
}
