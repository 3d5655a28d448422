//! The operator's listener: a page to have open all day (`/`), the same as JSON (`/status.json`) and as OpenMetrics
//! (`/metrics`), `/healthz` (the process answers), `/readyz` (it takes requests: not while it drains).
//!
//! Access is decided in `operator`.

mod authentications;
mod cached;
mod clients;
mod endpoints;
mod gather;
mod limits;
mod metrics;
mod openmetrics;
mod operator;
mod page;
mod process;
mod status;

use tollgate_net::http1::server::{Exchange, ExchangeError, Response, Service};
use tollgate_net::http1::{Method, RequestHead};
use tollgate_wire::format::Format;

use self::cached::{Listing, Token};
pub(crate) use self::gather::{Began, Listener, Protocol, Sources};
pub(crate) use self::operator::Operator;
use self::status::Status;
pub use self::status::schema;
use crate::auth::Local;
use crate::error::{Failure, Fault};

/// Fields of every answer to the browser, besides the content security policy. Without a referrer to itself the page's
/// forms would have no origin (`Origin: null`).
const FIELDS: [(&str, &str); 5] = [
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// The operator's pages.
pub(crate) struct Page {
    sources: Sources,
    operator: Operator,
    known: Local,
    token: Token,
    content_security_policy: String,
}

impl Page {
    /// Creates the page of `sources` for `operator`, on one loop.
    pub(crate) fn new(sources: Sources, operator: Operator) -> Page {
        let known = operator.local();
        let token = Token::new();
        Page { sources, operator, known, token, content_security_policy: page::content_security_policy() }
    }

    async fn answer(&self, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
        self.operator.check_host(exchange)?;
        // Whoever asks whether it is alive has no password, and learns nothing else.
        if !matches!(exchange.request().path(), "/healthz" | "/readyz") {
            let shared = self.sources.current.shared();
            self.operator.check(&self.known, &shared.common.clients, exchange).await?;
        }
        if exchange.request().path() == cached::INVALIDATE {
            return self.invalidate(exchange).await;
        }
        if exchange.request().path() == endpoints::RESET {
            return self.reset(exchange).await;
        }
        let (request, response) = exchange.split();
        if !matches!(request.method(), Method::Get | Method::Head) {
            return Err(Fault::method_not_allowed(request.method_text(), "GET, HEAD").into());
        }
        Ok(self.show(request, response)?)
    }

    /// Invalidates answers of the cache, and redirects to the page.
    async fn invalidate(&self, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
        if exchange.request().method() != Method::Post {
            return Err(Fault::method_not_allowed(exchange.request().method_text(), "POST").into());
        }
        exchange.read_body(cached::FORM_BYTES_MAX).await?;
        let (request, form, response) = exchange.parts();
        let shared = self.sources.current.shared();
        let count = cached::invalidate(&shared.cache, &self.token, request, form)?;
        shared.common.log.line(format_args!("the operator had {count} answers of the cache thrown away"));
        response.status = 303;
        response.header("location", "/#cache");
        Ok(())
    }

    /// Resets a place of an endpoint, and redirects to the page.
    async fn reset(&self, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
        if exchange.request().method() != Method::Post {
            return Err(Fault::method_not_allowed(exchange.request().method_text(), "POST").into());
        }
        exchange.read_body(cached::FORM_BYTES_MAX).await?;
        let (request, form, response) = exchange.parts();
        let shared = self.sources.current.shared();
        let place = endpoints::reset(&shared.proxied, &self.token, request, form)?;
        shared.common.log.line(format_args!("the operator had the place {place} asked again"));
        response.status = 303;
        response.header("location", "/#endpoints");
        Ok(())
    }

    fn show(&self, request: &RequestHead, response: &mut Response) -> Result<(), Fault> {
        match request.path() {
            "/" => {
                let listing = Listing::of(request.query());
                let page = page::render(&json(&self.sources.status(&listing))?, self.token.text(), &listing);
                write(response, "text/html;charset=utf-8", page.as_bytes());
                response.header("content-security-policy", &self.content_security_policy);
            }
            "/status.json" => {
                let status = json(&self.sources.status(&Listing::of(request.query())))?.to_string();
                write(response, "application/json", status.as_bytes());
            }
            "/metrics" => {
                let metrics = metrics::render(&self.sources.status(&Listing::Nothing));
                write(response, openmetrics::CONTENT_TYPE, metrics.as_bytes());
            }
            "/healthz" => write(response, "text/plain;charset=utf-8", b"ok\n"),
            "/readyz" if self.sources.shutdown.has_begun() => return Err(Fault::draining()),
            "/readyz" => write(response, "text/plain;charset=utf-8", b"ready\n"),
            _ => return Err(Fault::not_found("here are /, /status.json, /metrics, /healthz and /readyz")),
        }
        Ok(())
    }
}

fn json(status: &Status) -> Result<serde_json::Value, Fault> {
    serde_json::to_value(status).map_err(|error| Fault::internal(format!("the status is no JSON: {error}")))
}

fn write(response: &mut Response, content_type: &str, body: &[u8]) {
    response.header("content-type", content_type);
    for (name, value) in FIELDS {
        response.header(name, value);
    }
    response.body.extend_from_slice(body);
}

impl Service for Page {
    async fn serve(&self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        match self.answer(exchange).await {
            Ok(()) => Ok(()),
            Err(Failure::Broken(error)) => Err(error),
            Err(Failure::Told(fault)) => {
                let (request, response) = exchange.split();
                self.sources.current.shared().common.tell(&fault, Format::RestJson, request, response);
                Ok(())
            }
        }
    }
}
