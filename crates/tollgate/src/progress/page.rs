//! The page of `--live`: one self-contained document that requests `/state.json` each second, for as long as the run
//! lasts. At the end it keeps its last figures and says that there is no answer any more.
//!
//! Style and script are files of their own, allowed in the browser's content security policy by their hashes. Nothing
//! here changes the run.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use tollgate_net::clock::Clock;
use tollgate_net::http1::Method;
use tollgate_net::http1::server::{Counters, Exchange, ExchangeError, Response, Server, Service, Shutdown};
use tollgate_net::limits::Limits;
use tollgate_net::listen::ListenOptions;
use tollgate_wire::csp;

use super::state::View;
use super::{Shared, text};
use crate::failure::Failure;

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");
const BODY: &str = include_str!("page/body.html");

/// Maximum number of browsers at the same time.
const CONNECTIONS_MAX: usize = 32;
/// Time limit for a browser's last response, when the run is over.
const DRAIN: Duration = Duration::from_millis(500);

/// A page while it is served.
#[derive(Debug)]
pub(super) struct Served {
    address: SocketAddr,
    shutdown: Shutdown,
    serving: Option<JoinHandle<()>>,
}

impl Served {
    /// Serves the shared state at this address.
    pub(super) fn begin(address: SocketAddr, shared: Arc<Shared>) -> Result<Served, Failure> {
        let failed = |error| Failure::usage(format_args!("--live {address}: {error}"));
        let server = Server::bind(&ListenOptions::new(address)).map_err(failed)?;
        let (address, shutdown) = (server.local_addr(), Shutdown::new());
        let counters = Arc::new(Counters::new(server.threads()));
        let limits = Limits { connections_max: CONNECTIONS_MAX, drain_timeout: DRAIN, ..Limits::default() };
        let service = move |_| Page {
            document: document(),
            policy: policy(),
            is_local: address.ip().is_loopback(),
            shared: Arc::clone(&shared),
        };
        let until = shutdown.clone();
        let serving = std::thread::Builder::new().name("live-page".to_owned()).spawn(move || {
            // Whoever looks on sees that nobody answers; the run goes on.
            let _ = server.run(service, limits, Clock::system(), until, counters);
        });
        Ok(Served { address, shutdown, serving: Some(serving.map_err(failed)?) })
    }

    /// The address of the page.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.shutdown.begin();
        if let Some(serving) = self.serving.take() {
            // A panic of the thread was printed when it happened, and is no reason to lose a result.
            let _ = serving.join();
        }
    }
}

/// `/state.json`.
#[derive(Serialize)]
struct PageState {
    #[serde(flatten)]
    view: View,
    /// The progress, in words.
    far: String,
}

/// The responses.
struct Page {
    document: String,
    policy: String,
    /// Whether only this machine can reach it.
    is_local: bool,
    shared: Arc<Shared>,
}

impl Page {
    /// Whether a request names a host of ours: a foreign page can direct a name of its own to this machine, and would
    /// read data not meant for it. No address is looked up.
    fn is_ours(&self, host: Option<&str>) -> bool {
        let name = match host.unwrap_or_default() {
            host if host.starts_with('[') => host.trim_start_matches('[').split(']').next().unwrap_or_default(),
            host => host.split(':').next().unwrap_or_default(),
        };
        !self.is_local || name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
    }
}

impl Service for Page {
    async fn serve(&self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        let (request, response) = exchange.split();
        if !self.is_ours(request.host()) {
            response.status = 421;
            write(response, "text/plain", "this page answers to localhost and to addresses alone\n");
        } else if !matches!(request.method(), Method::Get | Method::Head) {
            response.status = 405;
            response.header("allow", "GET, HEAD");
            write(response, "text/plain", "here is nothing to be changed\n");
        } else {
            match request.path() {
                "/" => {
                    write(response, "text/html", &self.document);
                    response.header("content-security-policy", &self.policy);
                }
                "/state.json" => {
                    let view = self.shared.view();
                    let state = PageState { far: text::how_far(&view), view };
                    let state = serde_json::to_string(&state).expect("names and numbers are JSON");
                    write(response, "application/json", &state);
                }
                _ => {
                    response.status = 404;
                    write(response, "text/plain", "here are / and /state.json\n");
                }
            }
        }
        Ok(())
    }
}

fn write(response: &mut Response, content_type: &str, body: &str) {
    response.header("content-type", format!("{content_type};charset=utf-8"));
    response.header("cache-control", "no-store");
    response.header("x-content-type-options", "nosniff");
    response.header("referrer-policy", "no-referrer");
    response.header("cross-origin-resource-policy", "same-origin");
    response.body.extend_from_slice(body.as_bytes());
}

fn document() -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>tollgate live</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">\
         <style>{STYLE}</style></head><body>{BODY}<script>{SCRIPT}</script></body></html>\n"
    )
}

/// Limits what a browser may load and run for the page.
fn policy() -> String {
    let (style, script) = (csp::source(STYLE), csp::source(SCRIPT));
    format!(
        "default-src 'none'; style-src '{style}'; script-src '{script}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_style_nor_script_ends_its_element_early() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</"));
        assert!(document().contains(SCRIPT) && policy().contains("script-src 'sha256-"));
    }
}
