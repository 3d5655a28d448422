//! `/fibonacci?n=30`: the Fibonacci service over HTTP, as plain text or, with `Accept: application/json`, as JSON;
//! `&bytes=1024` makes the page exactly so long. It has work processes of its own, which are permits to compute,
//! without a database.
//!
//! It keeps nothing, but states how long its answer stays good.

mod number;

use std::time::Duration;

use tollgate_net::http1::server::Exchange;
use tollgate_net::http1::{Method, RequestHead};

use self::number::{N_MAX, ON_LOOP_N_MAX, PAGE_BYTES_MAX, PageFormat};
use super::service::{Answering, BuiltIn, BuiltInKind, BuiltInService, Speaks, TableKey};
use crate::auth::Verb;
use crate::cache::{Cachable, Lifetime};
use crate::error::{Failure, Fault};
use crate::http::conditions::{self, Verdict};
use crate::http::{READING, accept};
use crate::visit::Visit;
use crate::work::board::Task;
use crate::work::dispatcher::Dispatcher;

const PATH: &str = "/fibonacci";

const EXAMPLE: &str = "/fibonacci?n=20";

const OFFERS: &[(&str, PageFormat)] = &[("text/plain", PageFormat::Text), ("application/json", PageFormat::Json)];

/// The kind.
pub(super) const KIND: BuiltInKind = BuiltInKind {
    name: "fibonacci",
    summary: "A number that is computed badly on purpose: something worth caching.",
    path: PATH,
    example: EXAMPLE,
    speaks: Speaks::Http,
    is_default: true,
    keys: &[TableKey::Lifetime, TableKey::WorkProcesses],
    // It reads no body.
    body_bytes_max: |_| 0,
    make: |service| Box::new(Fibonacci::new(service)),
};

/// The service with its work processes.
#[derive(Debug)]
struct Fibonacci {
    /// Permits to compute.
    work_processes: Dispatcher<()>,
    /// Lifetime of an answer.
    lifetime: Duration,
}

/// Parameters of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NumberRequest {
    n: u32,
    page_bytes: Option<usize>,
    form: PageFormat,
}

impl Fibonacci {
    /// The service as it is configured.
    fn new(config: &BuiltInService) -> Fibonacci {
        let work_processes = config.work_processes.clone().unwrap_or_default();
        let permits = vec![(); work_processes.limit as usize];
        Fibonacci {
            work_processes: Dispatcher::new(permits, work_processes.queue_max as usize, work_processes.wait_max()),
            lifetime: Duration::from_secs(u64::from(config.lifetime_seconds)),
        }
    }

    /// Answers one request.
    ///
    /// # Errors
    /// An error in it, or no available work process.
    async fn answered(&self, visit: &Visit<'_>, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
        let request = exchange.request();
        visit.access.check_document(Verb::of(request.method()))?;
        match request.method() {
            Method::Get | Method::Head => {}
            Method::Options => {
                let response = exchange.respond();
                response.status = 204;
                response.header("allow", READING);
                return Ok(());
            }
            _ => return Err(Fault::method_not_allowed(request.method_text(), READING).into()),
        }
        let asked = NumberRequest::parse(request)?;
        let computed = self.compute(asked.n, &visit.task(request)).await?;
        let (request, response) = exchange.split();
        number::write_page(&mut response.body, asked.form, asked.n, computed, asked.page_bytes).map_err(|least| {
            Fault::bad_request("bytes", format!("the page has at least {least} bytes: expected bytes to allow them"))
        })?;
        let etag = conditions::etag_of(&response.body);
        response.header("etag", &etag);
        response.header("vary", "Accept");
        match conditions::judge(request.values("if-match"), request.values("if-none-match"), &etag) {
            Verdict::Failed => return Err(Fault::precondition_failed().into()),
            Verdict::NotModified => {
                response.status = 304;
                response.body.clear();
            }
            Verdict::Answer => response.header("content-type", content_type(asked.form)),
        }
        Ok(())
    }

    async fn compute(&self, n: u32, task: &Task<'_>) -> Result<u64, Fault> {
        let work_process = self.work_processes.acquire(task).await?;
        if n <= ON_LOOP_N_MAX {
            return Ok(number::number(n));
        }
        let job = move || {
            // Held here: a client that goes away does not make the processor free.
            let _held = work_process;
            number::number(n)
        };
        let ended = tokio::task::spawn_blocking(job).await;
        ended.map_err(|panic| Fault::internal(format!("computing ended badly: {panic}")))
    }
}

impl BuiltIn for Fibonacci {
    fn answer<'a, 'e: 'a>(&'a self, visit: &'a Visit<'a>, exchange: &'a mut Exchange<'e>) -> Answering<'a> {
        Box::pin(self.answered(visit, exchange))
    }

    fn work_processes(&self) -> Option<&Dispatcher<()>> {
        Some(&self.work_processes)
    }

    /// Caching properties: numbers are the same for everybody, in two forms.
    fn cachable(&self, request: &RequestHead) -> Option<Cachable<'static>> {
        let selected = content_type(form(request)?);
        Some(Cachable { selected, lifetime: Lifetime::Stated(self.lifetime), ..Cachable::default() })
    }
}

/// Form of a caller's answer.
fn form(request: &RequestHead) -> Option<PageFormat> {
    accept::choose(request.values("accept"), OFFERS, |form, _| Some(form))
}

/// Content type of a form.
fn content_type(form: PageFormat) -> &'static str {
    match form {
        PageFormat::Text => "text/plain;charset=utf-8",
        PageFormat::Json => "application/json",
    }
}

impl NumberRequest {
    fn parse(request: &RequestHead) -> Result<NumberRequest, Fault> {
        let (mut n, mut page_bytes) = (None, None);
        for option in request.query().unwrap_or_default().split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let (target, most) = match name {
                "n" => (&mut n, u64::from(N_MAX)),
                "bytes" => (&mut page_bytes, PAGE_BYTES_MAX as u64),
                _ => {
                    return Err(Fault::bad_request(name, format!("expected `n` or `bytes`, found `{name}`")));
                }
            };
            if target.is_some() {
                return Err(Fault::bad_request(name, format!("{name} stands there twice")));
            }
            *target = Some(within(name, value, most)?);
        }
        let n = n.ok_or_else(|| Fault::bad_request("n", format!("expected such as {EXAMPLE}, found no n")))?;
        let form = form(request)
            .ok_or_else(|| Fault::not_acceptable("expected Accept to allow text/plain or application/json"))?;
        // Both are held to limits far below.
        Ok(NumberRequest { n: n as u32, page_bytes: page_bytes.map(|bytes| bytes as usize), form })
    }
}

fn within(name: &str, value: &str, most: u64) -> Result<u64, Fault> {
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| value.parse().ok()).flatten().filter(|number| *number <= most).ok_or_else(|| {
        Fault::bad_request(name, format!("expected {name} to be a whole number from 0 to {most}, found `{value}`"))
    })
}
