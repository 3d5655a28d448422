//! `/echo`: the request's body back with its content type, or with `?bytes=1024` a page of exactly so many bytes. It
//! serves as backend when the cost of mediators is measured, so it does as little as possible.
//!
//! It never waits, computes or fails. For a slow or broken backend, use a scripted one.

mod page;

use tollgate_net::http1::server::{Delimiter, Exchange};
use tollgate_net::http1::{Method, RequestHead};

use super::service::{Answering, BuiltIn, BuiltInKind, Speaks, TableKey};
use crate::auth::Verb;
use crate::built_in::echo::page::{PAGE_BYTES_MAX, write_page};
use crate::error::{Failure, Fault};
use crate::visit::Visit;

const PATH: &str = "/echo";

const EXAMPLE: &str = "/echo?bytes=1024";

const ALLOW: &str = "GET, HEAD, OPTIONS, POST";

/// Larger pages leave in parts of this size, a whole number of lines.
const PART_BYTES: u64 = 64 * 1024;

/// The kind.
pub(super) const KIND: BuiltInKind = BuiltInKind {
    name: "echo",
    summary: "What was sent, or as many bytes as were asked for: something to stand behind a mediator.",
    path: PATH,
    example: EXAMPLE,
    speaks: Speaks::Http,
    is_default: false,
    keys: &[TableKey::BodyBytes],
    body_bytes_max: |service| service.body_bytes_max,
    make: |service| Box::new(Echo { body_bytes_max: service.body_bytes_max }),
};

/// The service.
#[derive(Debug)]
struct Echo {
    /// Bytes of the largest accepted body.
    body_bytes_max: usize,
}

impl Echo {
    /// Answers one request.
    ///
    /// # Errors
    /// An error in it, or a broken exchange.
    async fn answered(&self, visit: &Visit<'_>, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
        let request = exchange.request();
        visit.access.check_document(Verb::of(request.method()))?;
        match request.method() {
            Method::Get | Method::Head | Method::Post => {}
            Method::Options => {
                let response = exchange.respond();
                response.status = 204;
                response.header("allow", ALLOW);
                return Ok(());
            }
            _ => return Err(Fault::method_not_allowed(request.method_text(), ALLOW).into()),
        }
        match page_bytes(request)? {
            Some(bytes) => self.page(exchange, bytes).await,
            None => self.back(exchange).await,
        }
    }

    /// Answers with the request's body.
    async fn back(&self, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
        exchange.read_body(self.body_bytes_max).await?;
        let (request, body, response) = exchange.parts();
        if let Some(content_type) = request.header("content-type") {
            response.header("content-type", content_type);
        }
        // It is a stranger's, and no browser shall take it for a page of ours.
        response.header("x-content-type-options", "nosniff");
        response.body.extend_from_slice(body);
        Ok(())
    }

    /// Answers with so many bytes.
    async fn page(&self, exchange: &mut Exchange<'_>, bytes: u64) -> Result<(), Failure> {
        // What was sent is read to its end, as by whoever would work on it.
        let mut read_bytes = 0;
        while let Some(part) = exchange.next_body_part().await? {
            read_bytes += part.len();
            if read_bytes > self.body_bytes_max {
                return Err(Fault::body_too_large(self.body_bytes_max as u64).into());
            }
        }
        let is_head = exchange.request().method() == Method::Head;
        let response = exchange.respond();
        response.header("content-type", "text/plain;charset=utf-8");
        if bytes <= PART_BYTES {
            write_page(&mut response.body, bytes as usize);
            return Ok(());
        }
        response.delimit(Delimiter::Length(bytes));
        let mut left = if is_head { 0 } else { bytes };
        loop {
            let part = left.min(PART_BYTES);
            write_page(&mut exchange.respond().body, part as usize);
            exchange.flush_part().await?;
            left -= part;
            if left == 0 {
                return Ok(());
            }
        }
    }
}

impl BuiltIn for Echo {
    fn answer<'a, 'e: 'a>(&'a self, visit: &'a Visit<'a>, exchange: &'a mut Exchange<'e>) -> Answering<'a> {
        Box::pin(self.answered(visit, exchange))
    }
}

/// Size of the requested page; `None` to send the request's body back.
fn page_bytes(request: &RequestHead) -> Result<Option<u64>, Fault> {
    let mut bytes = None;
    for option in request.query().unwrap_or_default().split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        if name != "bytes" {
            return Err(Fault::bad_request(name, format!("expected `bytes`, found `{name}`")));
        }
        if bytes.is_some() {
            return Err(Fault::bad_request(name, "bytes stands there twice"));
        }
        let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_number.then(|| value.parse().ok()).flatten().filter(|number| *number <= PAGE_BYTES_MAX);
        bytes = Some(number.ok_or_else(|| {
            let expected = format!("expected bytes to be a whole number from 0 to {PAGE_BYTES_MAX}, found `{value}`");
            Fault::bad_request(name, expected)
        })?);
    }
    Ok(bytes)
}
