//! The gateway put together: the one place that says which parts stand between a socket and a row, and in which order.
//!
//! What each part does stands in its own file; nothing here reads a header or writes a body.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tollgate_net::clock::Clock;
use tollgate_net::http1::server::{Counters, Exchange, ExchangeError, Response, Server, Service, Shutdown};
use tollgate_net::http1::{Fault as ProtocolFault, Method, RequestHead};
use tollgate_net::limits::Limits;
use tollgate_net::listen::ListenOptions;
use tollgate_net::stream::Transport;
use tollgate_net::tls::server::HandshakeFailure;
use tollgate_wire::date;
use tollgate_wire::format::Format;
use tollgate_xml::Workspace;

use crate::admin;
use crate::auth::{Authentication, Local};
use crate::cache::ResponseCache;
use crate::config::{Config, PlainBasic};
use crate::error::Fault;
use crate::error_format::ErrorFormat;
use crate::hosted::is_below;
use crate::launch::{self, Launched};
use crate::log::Log;
use crate::mediate::Memories;
use crate::odata;
use crate::operation::{Answer, READING};
use crate::plans::Plans;
use crate::proxy::{self, Pools};
use crate::reload::Reloader;
use crate::rest;
use crate::rest::openapi::Descriptions;
use crate::route::Route;
use crate::shared::{Current, Elsewhere, Lasting, Shared};
use crate::start_error::StartError;
use crate::tls::Certificates;
use crate::visit::Visit;

/// A gateway that listens. It answers once it is run.
pub struct Gateway {
    servers: Vec<Server>,
    admin: Server,
    addresses: Addresses,
    current: Arc<Current>,
    counters: Vec<Arc<Counters>>,
    limits: Limits,
    remarks: Vec<String>,
    reloader: Reloader,
    operator: admin::Operator,
}

/// Where a gateway listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// The services without TLS, in the order of the configuration.
    pub public: Vec<SocketAddr>,
    /// The services over TLS, in the order of the configuration.
    pub tls: Vec<SocketAddr>,
    /// The operator's listener.
    pub admin: SocketAddr,
}

/// What one event loop holds.
pub(crate) struct Core {
    current: Arc<Current>,
    // Of this loop alone: counting who holds it then disturbs no other core.
    held: RefCell<Rc<Held>>,
    // Texts of service roots, used again: a request then allocates none.
    texts: RefCell<Vec<String>>,
    // Answers to requests that write, used again too.
    answers: RefCell<Vec<Answer>>,
    /// Memory of the last message, for the next. Not to be borrowed across a wait.
    pub(crate) workspace: RefCell<Workspace>,
    /// What URLs that come again ask for.
    pub(crate) plans: Plans,
    /// Connections to the places of endpoints.
    pub(crate) pools: Pools,
    /// What mediators write into.
    pub(crate) memories: Memories,
}

/// What one event loop holds of what is in force.
pub(crate) struct Held {
    pub(crate) shared: Arc<Shared>,
    // Whose credentials were verified a moment ago.
    known: Rc<Local>,
}

/// Texts and answers kept by a loop: more requests than that seldom wait at once.
const TEXTS_MAX: usize = 16;

/// Largest answer that is kept.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

impl Gateway {
    /// Opens the database, fills it where it is empty, and listens.
    ///
    /// # Errors
    /// [`StartError`] when an address or the database cannot be had.
    pub fn start(config: Config) -> Result<Gateway, StartError> {
        Gateway::start_by(config, Clock::system())
    }

    /// The same by another clock.
    ///
    /// # Errors
    /// As [`start`](Gateway::start).
    pub(crate) fn start_by(config: Config, clock: Clock) -> Result<Gateway, StartError> {
        let threads = config.threads();
        let log = Arc::new(Log::to_stderr());
        let certificates = Certificates::load(config.tls.clone(), Arc::clone(&log))?;
        let work_processes = config.work_processes();
        check_plain_basic(&config)?;
        let authentication =
            Authentication::new(&config.authentication, clock.clone(), Arc::clone(&log)).map_err(StartError::Users)?;
        let policy = authentication.policy(&config.authentication);
        let Launched { services, mut remarks } = launch::launch(&config, &policy)?;
        remarks.extend(certificates.remarks(SystemTime::now()));
        remarks.extend(config.remarks());
        let proxied = proxy::Table::new(proxy::Configured::of(&config), &policy, None, &clock, &log);
        let proxied = proxied.map_err(StartError::Config)?;
        let operators = admin::Operator::configuration(&config.admin, &config.authentication);
        let operators = authentication.beside(&operators, Clock::system());
        let operator = admin::Operator::new(&config.admin, operators);
        let lasting = Lasting::new(&config, &services, clock.clone(), log);
        let shared = Shared {
            generation: 1,
            services: services.into_iter().map(Arc::new).collect(),
            authentication: Arc::new(authentication),
            elsewhere: Elsewhere::new(&policy),
            proxied,
            cache: ResponseCache::new(&config.cache, clock),
            page_size: u64::from(config.pages.size),
            descriptions: Descriptions::default(),
            lasting: Arc::new(lasting),
        };
        let current = Arc::new(Current::new(shared));
        let hashes_at_once = config.authentication.hashes_at_once as usize;
        let listen = |address: SocketAddr, threads: usize| {
            let options = ListenOptions { address, backlog: config.listen.backlog, threads };
            // What leaves the loop holds a work process or hashes a password, so there is never work for more threads.
            let bound = Server::bind(&options);
            bound
                .map(|server| server.with_blocking_threads(work_processes + hashes_at_once))
                .map_err(|error| StartError::Listen { address, error })
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
        let limits = config.engine_limits();
        let reloader = Reloader::new(config, Arc::clone(&current), certificates);
        Ok(Gateway { servers, admin, addresses, current, counters, limits, remarks, reloader, operator })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// What the operator should know of the databases that were found: what of them is not served as it is, or not at all.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// What gives it a new configuration while it runs.
    pub fn reloader(&self) -> Reloader {
        self.reloader.clone()
    }

    /// What its loops share.
    #[cfg(test)]
    pub(crate) fn shared(&self) -> Arc<Shared> {
        self.current.shared()
    }

    /// Serves until `shutdown` begins and what was in flight has ended. Blocks.
    ///
    /// # Errors
    /// What a listener says when it breaks.
    pub fn run(self, shutdown: &Shutdown) -> io::Result<()> {
        let Gateway { servers, admin, addresses, current, counters, limits, reloader, operator, .. } = self;
        let clock = current.shared().clock.clone();
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
            shutdown: shutdown.clone(),
            began: admin::Began::now(),
        };
        thread::scope(|scope| {
            let admin_thread = scope.spawn({
                let admin_shutdown = admin_shutdown.clone();
                let counters = Arc::new(Counters::new(1));
                let limits = limits.clone();
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
            let health = scope.spawn(|| proxy::health::run(&current, &admin_shutdown));
            let mut outcome = Ok(());
            for thread in running {
                outcome = outcome.and(ended(thread.join()));
            }
            admin_shutdown.begin();
            outcome.and(ended(admin_thread.join())).and(ended(health.join()))
        })
    }
}

/// Whether names and passwords come only where they may.
pub(crate) fn check_plain_basic(config: &Config) -> Result<(), StartError> {
    let authentication = &config.authentication;
    if !authentication.takes_basic() || authentication.plain_basic == PlainBasic::Anywhere {
        return Ok(());
    }
    match config.listen.addresses.iter().find(|address| !address.ip().is_loopback()) {
        None => Ok(()),
        Some(address) => Err(StartError::PlainBasic { address: *address }),
    }
}

fn ended(joined: thread::Result<io::Result<()>>) -> io::Result<()> {
    joined.unwrap_or_else(|_| Err(io::Error::other("a serving thread panicked")))
}

impl Service for Core {
    async fn serve(&self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        // The engine has checked the framing, the target and the host by now. Prefixes are few and told apart by their
        // first bytes: comparing them all costs less than a hash.
        let request = exchange.request();
        let path = request.path();
        if request.method() == Method::Other {
            // Names are case-sensitive (RFC 9110, section 9.1): `get` is no GET, and nothing here has such a method.
            let fault = Fault::not_implemented(&format!("method {}", request.method_text()));
            let (request, response) = exchange.split();
            self.tell(&fault, self.error_format(Some(request)), request, response);
            return Ok(());
        }
        if path == "*" {
            // The engine lets the asterisk through for OPTIONS only: the gateway as a whole is meant (section 9.3.7).
            let response = exchange.respond();
            response.status = 204;
            response.header("allow", READING);
            return Ok(());
        }
        // Who asks, before anything is said of what there is. What they may do is asked by each protocol for what a
        // request reaches: see operation/reach.rs.
        let held = self.held();
        let shared = &held.shared;
        let caller = match shared.authentication.caller(&held.known, exchange).await {
            Ok(caller) => caller,
            Err(fault) => {
                let (request, response) = exchange.split();
                self.tell(&fault, self.error_format(Some(request)), request, response);
                return Ok(());
            }
        };
        let route = Route::of(shared, exchange.request());
        let visit = Visit::new(self, shared, caller, route.grants(shared));
        route.serve(&visit, exchange).await
    }

    fn refusal(&self, fault: ProtocolFault, request: Option<&RequestHead>, response: &mut Response) {
        Fault::from(fault).answer(self.error_format(request), response);
    }

    fn tick(&self, now: Instant) {
        self.pools.clean(now);
    }

    fn handshake_failed(&self, failure: HandshakeFailure, peer: SocketAddr, detail: Option<&dyn fmt::Display>) {
        let shared = &self.held().shared;
        shared.handshakes.note(&shared.log, failure, peer, detail);
    }
}

impl Core {
    /// What a loop begins with.
    fn new(current: &Arc<Current>) -> Core {
        let shared = current.shared();
        Core {
            current: Arc::clone(current),
            plans: Plans::default(),
            pools: Pools::new(&shared.connections),
            memories: Memories::default(),
            held: RefCell::new(Rc::new(Held::new(shared))),
            texts: RefCell::default(),
            answers: RefCell::default(),
            workspace: RefCell::default(),
        }
    }

    /// What is in force now.
    fn held(&self) -> Rc<Held> {
        let held = Rc::clone(&self.held.borrow());
        if held.shared.generation == self.current.generation() {
            return held;
        }
        let shared = self.current.shared();
        let held = Rc::new(held.under(shared));
        *self.held.borrow_mut() = Rc::clone(&held);
        self.pools.keep(|place| held.shared.proxied.has(place));
        held
    }

    /// In which format a caller is told what is wrong before it is known whose resource is meant.
    pub(crate) fn error_format(&self, request: Option<&RequestHead>) -> ErrorFormat {
        let held = self.held();
        let services = &held.shared.services;
        let mount = request.and_then(|request| services.iter().find_map(|service| service.mount_of(request.path())));
        match mount {
            Some(mount) => odata::error_format(mount, request).into(),
            None if request.is_some_and(|request| held.shared.speaks_soap(request)) => ErrorFormat::of_soap(request),
            None => rest::error_format(request.filter(|request| is_below(request.path(), rest::ROOT))).into(),
        }
    }

    /// `http://host/root/`, or `https://…`, as the client sees it: from its `Host`, which the engine has checked to be
    /// a name or an address; without one (HTTP/1.0) from the socket. `X-Forwarded-*` is whatever the client says and
    /// not looked at.
    pub(crate) fn service_root(&self, exchange: &Exchange<'_>, root: &str) -> String {
        let mut text = self.texts.borrow_mut().pop().unwrap_or_default();
        text.push_str(match exchange.transport() {
            Transport::Plain => "http://",
            Transport::Tls { .. } => "https://",
        });
        match exchange.request().host() {
            Some(host) => text.push_str(host),
            None => text.push_str(&exchange.local().to_string()),
        }
        text.push_str(root);
        text
    }

    /// The time as Atom writes it; the other formats do not have it.
    pub(crate) fn updated(&self, format: Format) -> String {
        if format != Format::V2Atom {
            return String::new();
        }
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let whole_seconds_ms = i64::try_from(since_epoch.as_secs()).unwrap_or_default().saturating_mul(1000);
        let mut updated = date::from_epoch_ms(whole_seconds_ms).unwrap_or_default();
        updated.push('Z');
        updated
    }

    /// Keeps a text for the next request.
    pub(crate) fn give_text(&self, mut text: String) {
        text.clear();
        let mut texts = self.texts.borrow_mut();
        if texts.len() < TEXTS_MAX {
            texts.push(text);
        }
    }

    /// An empty answer for a request that writes.
    pub(crate) fn take_answer(&self) -> Answer {
        self.answers.borrow_mut().pop().unwrap_or_default()
    }

    /// Keeps an answer for the next request.
    pub(crate) fn give_answer(&self, mut answer: Answer) {
        if answer.body.capacity() > ANSWER_BYTES_MAX {
            return;
        }
        answer.clear();
        let mut answers = self.answers.borrow_mut();
        if answers.len() < TEXTS_MAX {
            answers.push(answer);
        }
    }

    /// Tells a fault to the caller, and what is for the operator to the log.
    pub(crate) fn tell(
        &self,
        fault: &Fault,
        format: impl Into<ErrorFormat>,
        request: &RequestHead,
        response: &mut Response,
    ) {
        self.held().shared.tell(fault, format, request, response);
    }

    /// Tells the log what only the operator should read of a request.
    pub(crate) fn log_inner(&self, fault: &Fault, method: &str, path: &str) {
        self.held().shared.log_inner(fault, method, path);
    }
}

impl Held {
    fn new(shared: Arc<Shared>) -> Held {
        Held { known: Rc::new(shared.authentication.local()), shared }
    }

    /// The same loop under another configuration: whoever was verified stays so, if nothing about that is another.
    fn under(&self, shared: Arc<Shared>) -> Held {
        if Arc::ptr_eq(&self.shared.authentication, &shared.authentication) {
            return Held { known: Rc::clone(&self.known), shared };
        }
        Held::new(shared)
    }
}
