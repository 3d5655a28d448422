//! From gauges and counters to a [`Status`]: they are read in place, by the operator's thread, while the loops go on.
//! Dependent values are read at one moment (a pool), the rest one after the other.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tollgate_net::http1::Fault as ProtocolFault;
use tollgate_net::http1::server::{CloseCause, ConnectionState, Counters, Shutdown};
use tollgate_net::limits::Limits;
use tollgate_net::tls::HandshakeKind;
use tollgate_net::tls::server::{HandshakeFailure, Version};
use tollgate_wire::date;

use super::cached::{self, Listing};
use super::process::Process;
use super::status::{
    Classes, ConfigurationStatus, ConnectionStates, Connections, Counted, FORMAT, Handshakes, ListenerStatus,
    PoolStatus, Refusals, Requests, ServerState, ServerStatus, ServiceStatus, Status, WorkProcessStatus,
};
use super::{authentications, clients, endpoints, limits};
use crate::config::MemoryBound;
use crate::front::reload::{ReloadStatus, Reloader};
use crate::front::shared::Current;
use crate::hosted::Hosted;
use crate::mediate;
use crate::work::board::Seen;
use crate::work::dispatcher::Occupancy;

/// Sources of the operator's page.
#[derive(Clone)]
pub(crate) struct Sources {
    /// The active state shared by the loops.
    pub(crate) current: Arc<Current>,
    /// Reloader, which knows the result of the last reload.
    pub(crate) reloader: Reloader,
    /// The public listeners.
    pub(crate) listeners: Vec<Listener>,
    /// The limits of the HTTP engine, which apply to each of them.
    pub(crate) limits: Limits,
    /// The memory that requests and answers may take under the configuration of the start.
    pub(crate) memory: MemoryBound,
    /// Handle that ends the public listeners.
    pub(crate) shutdown: Shutdown,
    /// Time of their start.
    pub(crate) began: Began,
}

/// One public listener.
#[derive(Clone)]
pub(crate) struct Listener {
    /// Its address.
    pub(crate) address: SocketAddr,
    /// Its protocol.
    pub(crate) protocol: Protocol,
    /// Its counters.
    pub(crate) counters: Arc<Counters>,
}

/// Protocol of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

/// Time at which the gateway began to serve, by both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Began {
    wall: SystemTime,
    instant: Instant,
}

impl Began {
    /// The current time.
    pub(crate) fn now() -> Began {
        Began { wall: SystemTime::now(), instant: Instant::now() }
    }
}

impl Sources {
    /// Current status of the gateway, with those answers of its cache.
    pub(super) fn status(&self, listing: &Listing) -> Status {
        let listeners: Vec<_> = self.listeners.iter().map(|listener| self.listener(listener)).collect();
        let mut all = Requests::default();
        listeners.iter().for_each(|listener| all.add(&listener.requests));
        let shared = self.current.shared();
        let of_databases = shared.services.iter().map(|service| of_database(&service.hosted));
        let built_in =
            shared.built_in.iter().filter_map(|served| Some((served.kind.name, served.service.work_processes()?)));
        let built_in =
            built_in.map(|(name, pool)| one_service(name, pool.occupancy(), pool.queue_limits(), pool.board()));
        let large_messages = shared.proxied.mediating().filter(|_| !shared.proxied.routes().is_empty());
        let large_messages =
            large_messages.map(|pool| one_service(mediate::NAME, pool.occupancy(), pool.queue_limits(), pool.board()));
        let services: Vec<_> = of_databases.chain(built_in).chain(large_messages).collect();
        let authentication = authentications::gather(&shared.common.authentication);
        let stock_orders = shared.built_in.iter().find_map(|served| served.service.orders());
        let cache_limits = self.reloader.cache();
        let (server, cache) = (self.server(), cached::status(&shared.cache, &cache_limits, listing));
        let limits = limits::table(self, &shared, &cache_limits, (&services, &listeners, &cache));
        let configuration = self.configuration(shared.generation);
        Status {
            format: FORMAT,
            server,
            requests: all,
            services,
            cache,
            listeners,
            endpoints: endpoints::endpoints(&shared.proxied, &shared.connections, shared.common.clock.now()),
            endpoints_refused: endpoints::refused(&shared.proxied),
            routes: endpoints::routes(&shared.proxied),
            configuration,
            authentication,
            clients: clients::gather(&shared.common.clients, shared.common.clock.now()),
            stock_orders,
            limits,
        }
    }

    fn configuration(&self, generation: u64) -> ConfigurationStatus {
        let ReloadStatus { read, needs_restart, refused } = self.reloader.reading();
        let (refused, error) = refused.map(|(at, why)| (written(at), why)).unzip();
        ConfigurationStatus { generation, read: written(read), needs_restart, refused, error }
    }

    fn server(&self) -> ServerStatus {
        let process = Process::now();
        ServerStatus {
            version: env!("CARGO_PKG_VERSION"),
            process: std::process::id(),
            started: written(self.began.wall),
            uptime_seconds: seconds(self.began.instant.elapsed()),
            state: if self.shutdown.has_begun() { ServerState::Draining } else { ServerState::Serving },
            cpu_seconds: seconds(process.cpu),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64),
            resident_bytes: process.resident_bytes,
            threads: process.threads,
            open_files: process.open_files,
            open_files_max: process.open_files_max,
        }
    }

    fn listener(&self, listener: &Listener) -> ListenerStatus {
        let counters = &*listener.counters;
        let closed = CloseCause::ALL.iter().map(|cause| (cause.name(), counters.connections_closed(*cause)));
        let faults = ProtocolFault::ALL.iter().map(|fault| (fault.name(), counters.faults(*fault)));
        ListenerStatus {
            address: listener.address.to_string(),
            protocol: match listener.protocol {
                Protocol::Http => "http",
                Protocol::Https => "https",
            },
            connections: Connections {
                open: counters.connections_open(),
                open_peak: counters.connections_peak(),
                open_max: self.limits.connections_max as u64,
                waiting: counters.connections_waiting(),
                waiting_max: self.limits.connections_waiting_max as u64,
                states: ConnectionStates {
                    handshaking: counters.connections(ConnectionState::Handshaking),
                    idle: counters.connections(ConnectionState::Idle),
                    reading: counters.connections(ConnectionState::Reading),
                    working: counters.connections(ConnectionState::Working),
                    writing: counters.connections(ConnectionState::Writing),
                },
                accepted: counters.connections_accepted(),
                accept_errors: counters.accept_errors(),
                closed: counted(closed),
            },
            handshakes: (listener.protocol == Protocol::Https).then(|| handshakes(counters)),
            requests: Requests {
                received: counters.requests(),
                answered: Classes {
                    interim: counters.responses(1),
                    successful: counters.responses(2),
                    redirected: counters.responses(3),
                    client_faults: counters.responses(4),
                    server_faults: counters.responses(5),
                },
                panics: counters.panics(),
            },
            faults: counted(faults),
            received_bytes: counters.received_bytes(),
            sent_bytes: counters.sent_bytes(),
            held_bytes: counters.held_bytes(),
            unsent_bytes: counters.unsent_bytes(),
            unsent_bytes_peak: counters.unsent_bytes_peak(),
        }
    }
}

impl Requests {
    fn add(&mut self, other: &Requests) {
        self.received += other.received;
        self.answered.interim += other.answered.interim;
        self.answered.successful += other.answered.successful;
        self.answered.redirected += other.answered.redirected;
        self.answered.client_faults += other.answered.client_faults;
        self.answered.server_faults += other.answered.server_faults;
        self.panics += other.panics;
    }
}

fn handshakes(counters: &Counters) -> Handshakes {
    let failed = HandshakeFailure::ALL.iter().map(|failure| (failure.name(), counters.handshakes_failed(*failure)));
    Handshakes {
        full: counters.handshakes(HandshakeKind::Full),
        resumed: counters.handshakes(HandshakeKind::Resumed),
        tls12: counters.handshakes_of(Version::Tls12),
        tls13: counters.handshakes_of(Version::Tls13),
        failed: counted(failed),
    }
}

fn of_database(service: &Hosted) -> ServiceStatus {
    let pool = &service.pool;
    let database_reconnects = service.database.reconnects();
    ServiceStatus {
        database_reconnects,
        ..one_service(&service.name, pool.occupancy(), pool.queue_limits(), pool.board())
    }
}

fn one_service(
    name: &str,
    pool: Occupancy,
    (waiting_max, wait_max): (usize, Duration),
    board: Vec<Seen>,
) -> ServiceStatus {
    ServiceStatus {
        name: name.to_owned(),
        pool: PoolStatus {
            limit: pool.limit,
            busy: pool.busy,
            busy_peak: pool.busy_max,
            waiting: pool.waiting,
            waiting_peak: pool.waiting_max,
            waiting_max: waiting_max as u64,
            wait_seconds_max: seconds(wait_max),
            admitted: pool.admitted_total,
            queued: pool.queued_total,
            waited_seconds: seconds(pool.waited),
            refused: Refusals {
                queue_full: pool.refused_full_total,
                waited_too_long: pool.refused_late_total,
                client_gone: pool.abandoned_total,
            },
        },
        work_processes: (1..).zip(board).map(|(number, seen)| work_process(number, seen)).collect(),
        database_reconnects: None,
    }
}

fn work_process(number: u64, seen: Seen) -> WorkProcessStatus {
    let (request, served, state) = (seen.request, seen.served, seen.state.name());
    let held_seconds = request.as_ref().map(|request| seconds(request.held));
    let (method, path, user) = match request {
        Some(request) => (Some(request.method), Some(request.path), Some(request.user)),
        None => (None, None, None),
    };
    WorkProcessStatus { number, state, method, path, user: user.filter(|user| !user.is_empty()), held_seconds, served }
}

/// Counters above zero.
fn counted(all: impl Iterator<Item = (&'static str, u64)>) -> Vec<Counted> {
    all.filter(|(_, count)| *count > 0).map(|(name, count)| Counted { name, count }).collect()
}

/// The time in UTC, by seconds (RFC 3339).
fn written(time: SystemTime) -> String {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let whole_seconds_ms = i64::try_from(since_epoch.as_secs()).unwrap_or_default().saturating_mul(1000);
    date::from_epoch_ms(whole_seconds_ms).unwrap_or_default() + "Z"
}

/// Seconds with microseconds, the most that an operator can use.
fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e6
}
