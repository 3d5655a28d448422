//! `/metrics`: the status as families of samples. Names are stable; figures that need the history of a request, such as
//! which one a work process works for, are not among them.

use super::openmetrics::{Exposition, MetricKind};
use super::status::{
    CacheStatus, ConfigurationStatus, ConnectionStates, ListenerStatus, PoolStatus, Requests, ServerStatus,
    ServiceStatus, Status,
};
use super::{authentications, clients, endpoints};
use crate::work::board::ProcessState;

/// A figure of work processes: kind, name, help and value.
type Figure = (MetricKind, &'static str, &'static str, fn(&PoolStatus) -> u64);

const FIGURES: &[Figure] = &[
    (MetricKind::Gauge, "tollgate_work_processes_limit", "Work processes that there are.", |pool| pool.limit),
    (MetricKind::Gauge, "tollgate_work_processes_busy", "Work processes that are held by a request.", |pool| pool.busy),
    (
        MetricKind::Gauge,
        "tollgate_work_processes_busy_peak",
        "The most that were held at once since the start.",
        |pool| pool.busy_peak,
    ),
    (MetricKind::Gauge, "tollgate_work_processes_waiting", "Requests that wait for a work process.", |pool| {
        pool.waiting
    }),
    (
        MetricKind::Gauge,
        "tollgate_work_processes_waiting_peak",
        "The most that waited at once since the start.",
        |pool| pool.waiting_peak,
    ),
    (MetricKind::Gauge, "tollgate_work_processes_waiting_limit", "Requests that may wait for one.", |pool| {
        pool.waiting_max
    }),
    (MetricKind::Counter, "tollgate_work_processes_admitted", "Requests that had a work process.", |pool| {
        pool.admitted
    }),
    (MetricKind::Counter, "tollgate_work_processes_queued", "Requests that had to wait for one first.", |pool| {
        pool.queued
    }),
];

/// A figure of a listener: kind, name, help and value.
type ListenerFigure = (MetricKind, &'static str, &'static str, fn(&ListenerStatus) -> u64);

const LISTENER_FIGURES: &[ListenerFigure] = &[
    (MetricKind::Gauge, "tollgate_connections_open", "Connections that are open.", |listener| {
        listener.connections.open
    }),
    (
        MetricKind::Gauge,
        "tollgate_connections_open_peak",
        "The most that were open at once since the start, on each event loop, added up.",
        |listener| listener.connections.open_peak,
    ),
    (MetricKind::Gauge, "tollgate_connections_limit", "Connections that may be open.", |listener| {
        listener.connections.open_max
    }),
    (MetricKind::Gauge, "tollgate_connections_waiting", "Connections that wait to be let in.", |listener| {
        listener.connections.waiting
    }),
    (MetricKind::Counter, "tollgate_connections_accepted", "Connections that were accepted.", |listener| {
        listener.connections.accepted
    }),
    (MetricKind::Counter, "tollgate_accept_errors", "Connections that could not be accepted.", |listener| {
        listener.connections.accept_errors
    }),
    (
        MetricKind::Gauge,
        "tollgate_held_bytes",
        "Bytes that unfinished requests hold while the rest of them is waited for.",
        |listener| listener.held_bytes,
    ),
    (
        MetricKind::Gauge,
        "tollgate_unsent_bytes",
        "Bytes that answers hold while their clients take them.",
        |listener| listener.unsent_bytes,
    ),
    (
        MetricKind::Gauge,
        "tollgate_unsent_peak_bytes",
        "The most that they held at once since the start, on each event loop, added up.",
        |listener| listener.unsent_bytes_peak,
    ),
    (MetricKind::Counter, "tollgate_requests", "Requests whose head was read.", |listener| listener.requests.received),
    (MetricKind::Counter, "tollgate_panics", "Requests that ended in a panic.", |listener| listener.requests.panics),
    (MetricKind::Counter, "tollgate_received_bytes", "Bytes read from clients.", |listener| listener.received_bytes),
    (MetricKind::Counter, "tollgate_sent_bytes", "Bytes written to clients.", |listener| listener.sent_bytes),
];

/// A figure of the response cache: kind, name, help and value.
type CacheFigure = (MetricKind, &'static str, &'static str, fn(&CacheStatus) -> u64);

const CACHE_FIGURES: &[CacheFigure] = &[
    (MetricKind::Gauge, "tollgate_cache_entries", "Answers that are kept.", |cache| cache.entries),
    (MetricKind::Gauge, "tollgate_cache_bytes", "Bytes of the answers that are kept.", |cache| cache.bytes),
    (MetricKind::Counter, "tollgate_cache_hits", "Requests that were answered from the cache.", |cache| cache.hits),
    (MetricKind::Counter, "tollgate_cache_misses", "Requests whose answer had to be fetched.", |cache| cache.misses),
    (MetricKind::Counter, "tollgate_cache_waits", "Requests that waited for what another fetched.", |cache| {
        cache.waits
    }),
    (MetricKind::Counter, "tollgate_cache_stored", "Answers that were kept.", |cache| cache.stored),
    (MetricKind::Counter, "tollgate_cache_evicted", "Answers that made room for others.", |cache| cache.evicted),
    (MetricKind::Counter, "tollgate_cache_expired", "Answers that had outlived their lifetime.", |cache| cache.expired),
    (MetricKind::Counter, "tollgate_cache_invalidated", "Answers that were thrown away before.", |cache| {
        cache.invalidated
    }),
    (MetricKind::Counter, "tollgate_cache_too_large", "Answers that were too large to be kept.", |cache| {
        cache.too_large
    }),
    (MetricKind::Counter, "tollgate_cache_validated", "Old answers that a backend said are still good.", |cache| {
        cache.validated
    }),
];

/// Renders `status`.
pub(super) fn render(status: &Status) -> String {
    let mut text = Exposition::default();
    server(&mut text, &status.server);
    services(&mut text, &status.services);
    for (kind, name, help, value) in CACHE_FIGURES {
        text.family(*kind, name, help).sample(value(&status.cache));
    }
    listeners(&mut text, &status.listeners);
    handshakes(&mut text, &status.listeners);
    if let Some(orders) = status.stock_orders {
        text.family(MetricKind::Counter, "tollgate_stock_orders", "Orders placed at the stock quotes.").sample(orders);
    }
    if let Some(status) = &status.authentication {
        authentications::write(&mut text, status);
    }
    clients::write(&mut text, &status.clients);
    endpoints::write(&mut text, &status.endpoints, &status.endpoints_refused);
    endpoints::write_routes(&mut text, &status.routes);
    configuration(&mut text, &status.configuration);
    limits(&mut text, status);
    text.finish()
}

fn configuration(text: &mut Exposition, status: &ConfigurationStatus) {
    let help = "How often a configuration was put in force, the first time included.";
    text.family(MetricKind::Gauge, "tollgate_configuration_generation", help).sample(status.generation);
    let help = "Whether the one that was read last was refused.";
    text.family(MetricKind::Gauge, "tollgate_configuration_refused", help).sample(u8::from(status.refused.is_some()));
}

fn server(text: &mut Exposition, server: &ServerStatus) {
    text.family(MetricKind::Info, "tollgate_build", "The program.").labelled(&[("version", server.version)], 1);
    text.family(MetricKind::Gauge, "tollgate_uptime_seconds", "Time since it began to serve.")
        .sample(server.uptime_seconds);
    text.family(MetricKind::Counter, "tollgate_cpu_seconds", "CPU time of all its threads.").sample(server.cpu_seconds);
    let figures = [
        ("tollgate_resident_bytes", "Memory that is in use.", server.resident_bytes),
        ("tollgate_threads", "Threads of the process.", server.threads),
        ("tollgate_open_files", "Files and sockets that are open.", server.open_files),
        ("tollgate_open_files_limit", "Files and sockets that may be open.", server.open_files_max),
    ];
    for (name, help, value) in figures {
        let Some(value) = value else { continue };
        text.family(MetricKind::Gauge, name, help).sample(value);
    }
}

/// Activity and counters of each service's work processes.
fn services(text: &mut Exposition, services: &[ServiceStatus]) {
    for (kind, name, help, value) in FIGURES {
        text.family(*kind, name, help);
        for service in services {
            text.labelled(&[("service", &service.name)], value(&service.pool));
        }
    }
    text.family(MetricKind::Gauge, "tollgate_work_processes", "Work processes by what they do.");
    for service in services {
        for state in ProcessState::ALL {
            let count = service.work_processes.iter().filter(|seen| seen.state == state.name()).count();
            text.labelled(&[("service", &service.name), ("state", state.name())], count);
        }
    }
    text.family(MetricKind::Counter, "tollgate_work_processes_waited_seconds", "Time that those waited.");
    for service in services {
        text.labelled(&[("service", &service.name)], service.pool.waited_seconds);
    }
    if services.iter().any(|service| service.database_reconnects.is_some()) {
        text.family(
            MetricKind::Counter,
            "tollgate_database_reconnects",
            "Connections to a database that were opened again.",
        );
    }
    for service in services {
        if let Some(reconnects) = service.database_reconnects {
            text.labelled(&[("service", &service.name)], reconnects);
        }
    }
    text.family(MetricKind::Counter, "tollgate_work_processes_refused", "Requests that had none, by the reason.");
    for service in services {
        let refused = &service.pool.refused;
        for (reason, count) in [
            ("queue-full", refused.queue_full),
            ("waited-too-long", refused.waited_too_long),
            ("client-gone", refused.client_gone),
        ] {
            text.labelled(&[("service", &service.name), ("reason", reason)], count);
        }
    }
}

fn listeners(text: &mut Exposition, listeners: &[ListenerStatus]) {
    for (kind, name, help, value) in LISTENER_FIGURES {
        text.family(*kind, name, help);
        for listener in listeners {
            text.labelled(&labels(listener), value(listener));
        }
    }
    text.family(MetricKind::Gauge, "tollgate_connections", "Connections that are open, by what they do.");
    for listener in listeners {
        let ConnectionStates { handshaking, idle, reading, working, writing } = listener.connections.states;
        for (state, count) in [
            ("handshaking", handshaking),
            ("idle", idle),
            ("reading", reading),
            ("working", working),
            ("writing", writing),
        ] {
            let [address, protocol] = labels(listener);
            text.labelled(&[address, protocol, ("state", state)], count);
        }
    }
    text.family(MetricKind::Counter, "tollgate_connections_closed", "Connections that were closed, by the cause.");
    for listener in listeners {
        for closed in &listener.connections.closed {
            let [address, protocol] = labels(listener);
            text.labelled(&[address, protocol, ("cause", closed.name)], closed.count);
        }
    }
    text.family(MetricKind::Counter, "tollgate_responses", "Answers, by the class of their status.");
    for listener in listeners {
        let Requests { answered, .. } = &listener.requests;
        for (class, count) in [
            ("1xx", answered.interim),
            ("2xx", answered.successful),
            ("3xx", answered.redirected),
            ("4xx", answered.client_faults),
            ("5xx", answered.server_faults),
        ] {
            let [address, protocol] = labels(listener);
            text.labelled(&[address, protocol, ("class", class)], count);
        }
    }
    text.family(MetricKind::Counter, "tollgate_protocol_errors", "Requests that HTTP forbids, by the fault.");
    for listener in listeners {
        for fault in &listener.faults {
            let [address, protocol] = labels(listener);
            text.labelled(&[address, protocol, ("fault", fault.name)], fault.count);
        }
    }
}

/// Results of the handshakes of listeners with TLS.
fn handshakes(text: &mut Exposition, listeners: &[ListenerStatus]) {
    let over_tls: Vec<_> =
        listeners.iter().filter_map(|listener| Some((listener, listener.handshakes.as_ref()?))).collect();
    if over_tls.is_empty() {
        return;
    }
    text.family(
        MetricKind::Counter,
        "tollgate_tls_handshakes",
        "TLS handshakes that opened a connection, by their kind.",
    );
    for (listener, handshakes) in &over_tls {
        for (kind, count) in [("full", handshakes.full), ("resumed", handshakes.resumed)] {
            text.labelled(&[("listener", &listener.address), ("kind", kind)], count);
        }
    }
    text.family(
        MetricKind::Counter,
        "tollgate_tls_agreements",
        "TLS handshakes that opened a connection, by their version.",
    );
    for (listener, handshakes) in &over_tls {
        for (version, count) in [("1.2", handshakes.tls12), ("1.3", handshakes.tls13)] {
            text.labelled(&[("listener", &listener.address), ("version", version)], count);
        }
    }
    text.family(MetricKind::Counter, "tollgate_tls_handshakes_failed", "TLS handshakes that failed, by the cause.");
    for (listener, handshakes) in &over_tls {
        for failed in &handshakes.failed {
            text.labelled(&[("listener", &listener.address), ("cause", failed.name)], failed.count);
        }
    }
}

/// How often each limit was reached, where that is counted. Values and use are in the families above for limits that
/// change.
fn limits(text: &mut Exposition, status: &Status) {
    text.family(
        MetricKind::Counter,
        "tollgate_limit_met",
        "How often something was refused, ended or delayed for a limit.",
    );
    for limit in &status.limits {
        if let Some(met) = limit.met {
            text.labelled(&[("of", &limit.of), ("limit", limit.name)], met);
        }
    }
}

fn labels(listener: &ListenerStatus) -> [(&str, &str); 2] {
    [("listener", &listener.address), ("protocol", listener.protocol)]
}
