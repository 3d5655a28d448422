//! The operator's listener, on loopback only: `/metrics` (OpenMetrics), `/healthz` (the process answers), `/readyz` (it
//! takes requests: not while it drains).
//!
//! It changes nothing and asks nobody who they are, so a request whose `Host` is not this machine's is refused: a web
//! page in the operator's browser cannot read it under a name of its own.

mod openmetrics;

use std::net::IpAddr;
use std::sync::Arc;

use tollgate_net::http1::server::{CloseCause, ConnectionState, Counters, Exchange, ExchangeError, Service, Shutdown};
use tollgate_net::http1::{Fault as ProtocolFault, Method};
use tollgate_net::tls::HandshakeKind;
use tollgate_net::tls::server::HandshakeFailure;

use tollgate_wire::format::Format;

use self::openmetrics::{Exposition, Kind};
use crate::dispatcher::Occupancy;
use crate::error::Fault;
use crate::server::Shared;

/// A figure of work processes: kind, name, help and value.
type Figure = (Kind, &'static str, &'static str, fn(&Occupancy) -> u64);

const FIGURES: &[Figure] = &[
    (Kind::Gauge, "tollgate_work_processes_limit", "Work processes that there are.", |pool| pool.limit),
    (Kind::Gauge, "tollgate_work_processes_busy", "Work processes that are held by a request.", |pool| pool.busy),
    (Kind::Gauge, "tollgate_work_processes_busy_peak", "The most that were held at once since the start.", |pool| {
        pool.busy_max
    }),
    (Kind::Gauge, "tollgate_work_processes_waiting", "Requests that wait for a work process.", |pool| pool.waiting),
    (Kind::Gauge, "tollgate_work_processes_waiting_peak", "The most that waited at once since the start.", |pool| {
        pool.waiting_max
    }),
    (Kind::Counter, "tollgate_work_processes_admitted", "Requests that had a work process.", |pool| {
        pool.admitted_total
    }),
    (Kind::Counter, "tollgate_work_processes_queued", "Requests that had to wait for one first.", |pool| {
        pool.queued_total
    }),
];

/// What the operator can ask.
#[derive(Clone)]
pub(crate) struct Page {
    shared: Arc<Shared>,
    counters: Vec<Arc<Counters>>,
    shutdown: Shutdown,
}

impl Page {
    /// The page over what the loops share, the counters of each listener, and the signal that drains them.
    pub(crate) fn new(shared: Arc<Shared>, counters: Vec<Arc<Counters>>, shutdown: Shutdown) -> Page {
        Page { shared, counters, shutdown }
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
            "/metrics" => {
                response.header("content-type", openmetrics::CONTENT_TYPE);
                response.body.extend_from_slice(self.metrics().as_bytes());
            }
            "/healthz" => {
                response.header("content-type", "text/plain;charset=utf-8");
                response.body.extend_from_slice(b"ok\n");
            }
            "/readyz" if self.shutdown.has_begun() => return Err(Fault::draining()),
            "/readyz" => {
                response.header("content-type", "text/plain;charset=utf-8");
                response.body.extend_from_slice(b"ready\n");
            }
            _ => return Err(Fault::not_found("here are /metrics, /healthz and /readyz")),
        }
        Ok(())
    }

    fn metrics(&self) -> String {
        let mut text = Exposition::default();
        self.work_processes(&mut text);
        text.family(Kind::Gauge, "tollgate_connections_open", "Connections that are open.")
            .sample(self.sum(Counters::connections_open));
        text.family(Kind::Gauge, "tollgate_connections", "Connections that are open, by what they do.");
        for state in ConnectionState::ALL {
            text.labelled(&[("state", state.name())], self.sum(|counters| counters.connections(*state)));
        }
        text.family(
            Kind::Gauge,
            "tollgate_held_bytes",
            "Bytes that unfinished requests hold while the rest is waited for.",
        )
        .sample(self.sum(Counters::held_bytes));
        text.family(Kind::Counter, "tollgate_connections_accepted", "Connections that were accepted.")
            .sample(self.sum(Counters::connections_accepted));
        text.family(Kind::Counter, "tollgate_connections_closed", "Connections that were closed, by the cause.");
        for cause in CloseCause::ALL {
            text.labelled(&[("cause", cause.name())], self.sum(|counters| counters.connections_closed(*cause)));
        }
        tls(&mut text, |count| self.sum(count));
        text.family(Kind::Counter, "tollgate_accept_errors", "Connections that could not be accepted.")
            .sample(self.sum(Counters::accept_errors));
        text.family(Kind::Counter, "tollgate_requests", "Requests whose head was read.")
            .sample(self.sum(Counters::requests));
        text.family(Kind::Counter, "tollgate_responses", "Answers, by the class of their status.");
        for (class, name) in [(1, "1xx"), (2, "2xx"), (3, "3xx"), (4, "4xx"), (5, "5xx")] {
            text.labelled(&[("class", name)], self.sum(|counters| counters.responses(class)));
        }
        text.family(Kind::Counter, "tollgate_protocol_errors", "Requests that HTTP forbids, by the fault.");
        for fault in ProtocolFault::ALL {
            text.labelled(&[("fault", fault.name())], self.sum(|counters| counters.faults(*fault)));
        }
        text.family(Kind::Counter, "tollgate_panics", "Requests that ended in a panic.")
            .sample(self.sum(Counters::panics));
        text.family(Kind::Counter, "tollgate_received_bytes", "Bytes read from clients.")
            .sample(self.sum(Counters::received_bytes));
        text.family(Kind::Counter, "tollgate_sent_bytes", "Bytes written to clients.")
            .sample(self.sum(Counters::sent_bytes));
        text.finish()
    }

    /// What the work processes of each service are doing and have done.
    fn work_processes(&self, text: &mut Exposition) {
        let pools: Vec<(&str, Occupancy)> = self.shared.pools().collect();
        for (kind, name, help, value) in FIGURES {
            text.family(*kind, name, help);
            for (service, pool) in &pools {
                text.labelled(&[("service", service)], value(pool));
            }
        }
        text.family(Kind::Counter, "tollgate_work_processes_waited_seconds", "Time that those waited.");
        for (service, pool) in &pools {
            text.labelled(&[("service", service)], pool.waited.as_secs_f64());
        }
        text.family(Kind::Counter, "tollgate_database_reconnects", "Connections to a database that were opened again.");
        for service in &self.shared.services {
            if let Some(reconnects) = service.database.reconnects() {
                text.labelled(&[("service", &service.name)], reconnects);
            }
        }
        text.family(Kind::Counter, "tollgate_work_processes_refused", "Requests that had none, by the reason.");
        for (service, pool) in &pools {
            for (reason, count) in [
                ("queue-full", pool.refused_full_total),
                ("waited-too-long", pool.refused_late_total),
                ("client-gone", pool.abandoned_total),
            ] {
                text.labelled(&[("service", service), ("reason", reason)], count);
            }
        }
    }

    fn sum(&self, count: impl Fn(&Counters) -> u64) -> u64 {
        self.counters.iter().map(|counters| count(counters)).sum()
    }
}

/// The handshakes of TLS, summed over the listeners by `sum`.
fn tls(text: &mut Exposition, sum: impl Fn(&dyn Fn(&Counters) -> u64) -> u64) {
    text.family(Kind::Counter, "tollgate_tls_handshakes", "TLS handshakes that opened a connection, by their kind.");
    for (kind, name) in [(HandshakeKind::Full, "full"), (HandshakeKind::Resumed, "resumed")] {
        text.labelled(&[("kind", name)], sum(&|counters| counters.handshakes(kind)));
    }
    text.family(Kind::Counter, "tollgate_tls_handshakes_failed", "TLS handshakes that failed, by the cause.");
    for failure in HandshakeFailure::ALL {
        text.labelled(&[("cause", failure.name())], sum(&|counters| counters.handshakes_failed(*failure)));
    }
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
