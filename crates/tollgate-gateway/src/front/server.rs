//! The gateway as a process: construction from the configuration, listeners, threads, and shutdown.
//!
//! Requests are processed in `chain`.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use tollgate_net::clock::Clock;
use tollgate_net::http1::server::{Counters, Server, Shutdown};
use tollgate_net::limits::Limits;
use tollgate_net::listen::ListenOptions;

use super::admin;
use super::core::Core;
use super::launch::{self, Launched};
use super::reload::Reloader;
use super::shared::{Current, Elsewhere, Served, Shared};
use super::start_error::StartError;
use super::tls::{Certificates, FailureLog};
use crate::auth::Authentication;
use crate::auth::csrf::Tokens;
use crate::base::log::Log;
use crate::cache::ResponseCache;
use crate::clients::Clients;
use crate::config::{Config, MemoryBound, OPERATOR_BYTES_MAX};
use crate::hosted::Published;
use crate::serve::proxy::{self, Connections};
use crate::serve::rest::openapi::Descriptions;
use crate::visit::common::Common;
use crate::visit::room::{AheadBytes, BatchRoom};
use crate::work::parts::Buffers;

/// Niceness of threads for long work: a third of the time of an event loop, so that a few long reads do not hold up all
/// short ones.
const AWAY_NICENESS: i32 = 5;

/// A gateway that listens. It answers once it runs.
pub struct Gateway {
    servers: Vec<Server>,
    admin: Server,
    addresses: Addresses,
    current: Arc<Current>,
    counters: Vec<Arc<Counters>>,
    limits: Limits,
    memory: MemoryBound,
    remarks: Vec<String>,
    reloader: Reloader,
    operator: admin::Operator,
}

/// Addresses of a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// The services without TLS, in the order of the configuration.
    pub public: Vec<SocketAddr>,
    /// The services over TLS, in the order of the configuration.
    pub tls: Vec<SocketAddr>,
    /// The operator's listener.
    pub admin: SocketAddr,
}

impl Gateway {
    /// Opens the databases, fills empty ones, and listens.
    ///
    /// # Errors
    /// [`StartError`] if an address or a database cannot be used.
    pub fn start(config: Config) -> Result<Gateway, StartError> {
        Gateway::start_by(config, Clock::system())
    }

    /// The same with another clock.
    ///
    /// # Errors
    /// As [`start`](Gateway::start).
    pub(crate) fn start_by(config: Config, clock: Clock) -> Result<Gateway, StartError> {
        let threads = config.threads();
        let log = Arc::new(Log::to_stderr());
        let certificates = Certificates::load(config.tls.clone(), Arc::clone(&log))?;
        let work_processes = config.work_processes();
        launch::check_listeners(&config)?;
        let authentication =
            Authentication::new(&config.authentication, clock.clone(), Arc::clone(&log)).map_err(StartError::Users)?;
        let policy = authentication.policy(&config.authentication);
        let Launched { services, mut remarks } = launch::launch(&config, &policy)?;
        remarks.extend(certificates.remarks(SystemTime::now()));
        remarks.extend(config.remarks());
        let proxied = proxy::RoutingTable::new(proxy::Configured::of(&config), &policy, None, &clock, &log);
        let proxied = proxied.map_err(StartError::Config)?;
        let operators = admin::Operator::configuration(&config.admin, &config.authentication);
        let operators = authentication.beside(&operators, Clock::system());
        let operator = admin::Operator::new(&config.admin, operators);
        let batch =
            |service: &Published| service.hosted.rules.batch_bytes_max + service.hosted.rules.batch_answer_bytes_max;
        let common = Common {
            page_size: u64::from(config.pages.size),
            authentication: Arc::new(authentication),
            buffers: Buffers::default(),
            batch_room: BatchRoom::of(services.iter().map(batch).max().unwrap_or(0)),
            ahead: AheadBytes::default(),
            tokens: Arc::new(Tokens::new()),
            clients: Arc::new(Clients::new(&config.clients, None, clock.clone())),
            clock: clock.clone(),
            log,
        };
        let built_in = Served::all(&config);
        let shared = Shared {
            generation: 1,
            services,
            elsewhere: Elsewhere::new(&policy, &built_in),
            proxied: Arc::new(proxied),
            cache: ResponseCache::new(&config.cache, clock),
            descriptions: Descriptions::default(),
            common: Arc::new(common),
            built_in,
            connections: Connections::default(),
            handshakes: Arc::new(FailureLog::new()),
        };
        let current = Arc::new(Current::new(shared));
        let listen = |address: SocketAddr, threads: usize| {
            let options = ListenOptions { address, backlog: config.listen.backlog, threads };
            // What leaves the loop holds a work process, so there is never work for more threads.
            let bound = Server::bind(&options).map_err(|error| StartError::Listen { address, error })?;
            let current = Arc::clone(&current);
            let is_unlimited = move |address| current.shared().common.clients.is_unlimited(address);
            Ok(bound.with_blocking_threads(work_processes, AWAY_NICENESS).with_exempt_clients(is_unlimited))
        };
        let plain = config.listen.addresses.iter().map(|address| listen(*address, threads));
        let mut servers = plain.collect::<Result<Vec<_>, _>>()?;
        let public = servers.iter().map(Server::local_addr).collect();
        let over_tls = certificates.listeners();
        let over_tls = over_tls
            .into_iter()
            .map(|(address, acceptor)| listen(address, threads).map(|server| server.with_tls(acceptor)))
            .collect::<Result<Vec<_>, _>>()?;
        let tls = over_tls.iter().map(Server::local_addr).collect();
        servers.extend(over_tls);
        let admin = listen(config.admin.address, 1)?;
        let addresses = Addresses { public, tls, admin: admin.local_addr() };
        let counters = servers.iter().map(|_| Arc::new(Counters::new(threads))).collect();
        let (limits, memory) = (config.engine_limits(), config.memory());
        let reloader = Reloader::new(config, Arc::clone(&current), certificates);
        Ok(Gateway { servers, admin, addresses, current, counters, limits, memory, remarks, reloader, operator })
    }

    /// Its addresses.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Remarks for the operator on the databases that were found: parts that are not served, or not as they are.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Handle that gives it a new configuration while it runs.
    pub fn reloader(&self) -> Reloader {
        self.reloader.clone()
    }

    /// State shared by its loops.
    #[cfg(test)]
    pub(crate) fn shared(&self) -> Arc<Shared> {
        self.current.shared()
    }

    /// Serves until `shutdown` begins and requests in flight have ended. Blocks.
    ///
    /// # Errors
    /// A listener breaks.
    pub fn run(self, shutdown: &Shutdown) -> io::Result<()> {
        let Gateway { servers, admin, addresses, current, counters, limits, memory, reloader, operator, .. } = self;
        let clock = current.shared().common.clock.clone();
        // The operator can watch the drain: the admin listener ends after the others.
        let admin_shutdown = Shutdown::new();
        let plain = addresses.public.len();
        let protocols = (0..).map(|index| if index < plain { admin::Protocol::Http } else { admin::Protocol::Https });
        let listeners = servers.iter().zip(&counters).zip(protocols);
        let sources = admin::Sources {
            current: Arc::clone(&current),
            reloader,
            listeners: listeners
                .map(|((server, counters), protocol)| admin::Listener {
                    address: server.local_addr(),
                    protocol,
                    counters: Arc::clone(counters),
                })
                .collect(),
            limits: limits.clone(),
            memory,
            shutdown: shutdown.clone(),
            began: admin::Began::now(),
        };
        thread::scope(|scope| {
            let admin_thread = scope.spawn({
                let admin_shutdown = admin_shutdown.clone();
                let counters = Arc::new(Counters::new(1));
                // What the operator asks for is small, and must not take the clients' memory.
                let limits = Limits {
                    held_bytes_max: OPERATOR_BYTES_MAX,
                    unsent_bytes_max: OPERATOR_BYTES_MAX,
                    ..limits.clone()
                };
                let page = move |_: usize| admin::Page::new(sources.clone(), operator.clone());
                move || admin.run(page, limits, Clock::system(), admin_shutdown, counters)
            });
            let running: Vec<_> = servers
                .into_iter()
                .zip(counters)
                .map(|(server, counters)| {
                    let (current, limits, clock) = (&current, limits.clone(), clock.clone());
                    let core = move |_: usize| Core::new(current);
                    let shutdown = shutdown.clone();
                    scope.spawn(move || server.run(core, limits, clock, shutdown, counters))
                })
                .collect();
            let health = scope.spawn(|| proxy::health::run(|| Arc::clone(&current.shared().proxied), &admin_shutdown));
            let mut outcome = Ok(());
            for thread in running {
                outcome = outcome.and(ended(thread.join()));
            }
            admin_shutdown.begin();
            outcome.and(ended(admin_thread.join())).and(ended(health.join()))
        })
    }
}

fn ended(joined: thread::Result<io::Result<()>>) -> io::Result<()> {
    joined.unwrap_or_else(|_| Err(io::Error::other("a serving thread panicked")))
}
