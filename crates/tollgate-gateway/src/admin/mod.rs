//! The operator's listener: a page to have open all day (`/`), the same as JSON (`/status.json`) and as OpenMetrics
//! (`/metrics`), `/healthz` (the process answers), `/readyz` (it takes requests: not while it drains).
//!
//! A request whose `Host` is not this machine's is refused: a web page in the operator's browser cannot read it under a
//! name of its own.

mod authentications;
mod gather;
mod limits;
mod metrics;
mod openmetrics;
mod page;
mod process;
mod status;

use std::net::IpAddr;

use tollgate_net::http1::Method;
use tollgate_net::http1::server::{Exchange, ExchangeError, Response, Service};
use tollgate_wire::format::Format;

pub(crate) use self::gather::{Began, Listener, Protocol, Sources};
use self::status::Status;
pub use self::status::schema;
use crate::error::Fault;

/// What every answer tells the browser, beside what it may do with the page.
const FIELDS: [(&str, &str); 5] = [
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// What the operator can ask.
#[derive(Clone)]
pub(crate) struct Page {
    sources: Sources,
    content_security_policy: String,
}

impl Page {
    /// The page made of `sources`.
    pub(crate) fn new(sources: Sources) -> Page {
        Page { sources, content_security_policy: page::content_security_policy() }
    }

    fn answer(&self, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
        let (request, response) = exchange.split();
        if !request.host().is_some_and(is_local) {
            return Err(Fault::misdirected("this listener answers only to localhost and loopback addresses"));
        }
        if !matches!(request.method(), Method::Get | Method::Head) {
            return Err(Fault::method_not_allowed(request.method_text(), "GET, HEAD"));
        }
        match request.path() {
            "/" => {
                let page = page::render(&json(&self.sources.status())?);
                write(response, "text/html;charset=utf-8", page.as_bytes());
                response.header("content-security-policy", &self.content_security_policy);
            }
            "/status.json" => {
                let status = json(&self.sources.status())?.to_string();
                write(response, "application/json", status.as_bytes());
            }
            "/metrics" => {
                let metrics = metrics::render(&self.sources.status());
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
        if let Err(fault) = self.answer(exchange) {
            fault.answer(Format::RestJson, exchange.respond());
        }
        Ok(())
    }
}

/// `localhost`, `127.0.0.1:9090`, `[::1]:9090`.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_local() {
        for (host, expected) in [
            ("localhost", true),
            ("LOCALHOST:9090", true),
            ("127.0.0.1:9090", true),
            ("127.8.8.8", true),
            ("[::1]:9090", true),
            ("[::1]", true),
            ("example.org", false),
            ("127.0.0.1.example.org", false),
            ("localhost.example.org:80", false),
            ("10.0.0.1", false),
            ("", false),
        ] {
            assert_eq!(is_local(host), expected, "{host}");
        }
    }
}
