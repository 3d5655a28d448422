//! What all event loops share: what one reading of the configuration says, replaced as a whole when it is read again, and
//! what lasts as long as the process.
//!
//! What it deliberately does not do: say what may be replaced; that stands in `reload`.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tollgate_net::clock::Clock;
use tollgate_net::http1::RequestHead;
use tollgate_net::http1::server::Response;

use crate::auth::{Authentication, Grants, Policy};
use crate::cache::ResponseCache;
use crate::config::{self, Config, Protocol};
use crate::csrf::Tokens;
use crate::echo::{self, Echo};
use crate::error::Fault;
use crate::error_format::ErrorFormat;
use crate::fibonacci::{self, Fibonacci};
use crate::hosted::Hosted;
use crate::log::Log;
use crate::odata::batch::Room;
use crate::parts::Buffers;
use crate::proxy::{self, Connections, Found};
use crate::rest::AheadBytes;
use crate::rest::openapi::Descriptions;
use crate::stock_quote::{self, StockQuote};
use crate::tls::FailureLog;

/// What one reading of the configuration says. A request keeps to the one that it began under.
#[derive(Debug)]
pub(crate) struct Shared {
    /// How often the configuration was read, from 1.
    pub(crate) generation: u64,
    pub(crate) services: Vec<Arc<Hosted>>,
    /// Who asks.
    pub(crate) authentication: Arc<Authentication>,
    /// Who may do what at paths that are no service's with a database.
    pub(crate) elsewhere: Elsewhere,
    /// What is passed on, and where to.
    pub(crate) proxied: proxy::Table,
    /// The answers that are kept for others.
    pub(crate) cache: Arc<ResponseCache>,
    pub(crate) page_size: u64,
    /// What was described of plain REST so far.
    pub(crate) descriptions: Descriptions,
    pub(crate) lasting: Arc<Lasting>,
}

/// What lasts as long as the process.
#[derive(Debug)]
pub(crate) struct Lasting {
    pub(crate) fibonacci: Option<Fibonacci>,
    pub(crate) echo: Option<Echo>,
    pub(crate) stock_quote: Option<StockQuote>,
    /// What connections to places there are.
    pub(crate) connections: Connections,
    pub(crate) buffers: Buffers,
    /// The memory for batches.
    pub(crate) batch_room: Room,
    /// The memory for arrays.
    pub(crate) ahead: AheadBytes,
    /// What those who write must show, where a service wants it.
    pub(crate) tokens: Tokens,
    /// What managed fields are stamped by.
    pub(crate) clock: Clock,
    pub(crate) log: Arc<Log>,
    /// Which failed handshakes the log was told of.
    pub(crate) handshakes: FailureLog,
}

/// Who may do what at paths that are no service's with a database.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere {
    /// At the index, and at what is nobody's.
    pub(crate) index: Option<Arc<Grants>>,
    /// At the Fibonacci service.
    pub(crate) fibonacci: Option<Arc<Grants>>,
    /// At the echo.
    pub(crate) echo: Option<Arc<Grants>>,
    /// At the stock quotes.
    pub(crate) stock_quote: Option<Arc<Grants>>,
}

/// What is in force now.
#[derive(Debug)]
pub(crate) struct Current {
    shared: RwLock<Arc<Shared>>,
    /// Its generation, to be read without the lock: each request compares it with that of its loop.
    generation: AtomicU64,
}

impl Lasting {
    /// What `config` asks for, with the services that were launched for it.
    pub(crate) fn new(config: &Config, services: &[Hosted], clock: Clock, log: Arc<Log>) -> Lasting {
        Lasting {
            fibonacci: config.fibonacci.as_ref().map(Fibonacci::new),
            echo: config.backends.echo.as_ref().map(Echo::new),
            stock_quote: config.backends.stock_quote.map(|config::StockQuote| StockQuote::new()),
            connections: Connections::default(),
            buffers: Buffers::default(),
            batch_room: Room::of(services.iter().map(|service| &service.rules)),
            ahead: AheadBytes::default(),
            tokens: Tokens::new(),
            clock,
            log,
            handshakes: FailureLog::new(),
        }
    }
}

impl Elsewhere {
    /// As `policy` says.
    pub(crate) fn new(policy: &Policy) -> Elsewhere {
        Elsewhere {
            index: policy.grants("/", []),
            fibonacci: policy.grants(fibonacci::PATH, []),
            echo: policy.grants(echo::PATH, []),
            stock_quote: policy.grants(stock_quote::PATH, []),
        }
    }
}

impl Shared {
    /// Tells a fault to whoever asked, on whichever listener, and what is for the operator to the log.
    pub(crate) fn tell(
        &self,
        fault: &Fault,
        format: impl Into<ErrorFormat>,
        request: &RequestHead,
        response: &mut Response,
    ) {
        self.log_inner(fault, request.method_text(), request.path());
        fault.answer(format, response);
    }

    /// Whether SOAP is spoken where a request goes that is for no service with a database.
    pub(crate) fn speaks_soap(&self, request: &RequestHead) -> bool {
        let found = self.proxied.find(request.host(), request.method(), request.path());
        matches!(found, Found::Route { route, .. } if route.protocol == Protocol::Soap)
            || (self.stock_quote.is_some() && request.path() == stock_quote::PATH)
    }

    /// Tells the log what only the operator should read of a request; its query may hold what nobody should.
    pub(crate) fn log_inner(&self, fault: &Fault, method: &str, path: &str) {
        if let Some((status, code, inner)) = fault.inner() {
            self.log.line(format_args!("{status} {code} for {method} {path}: {inner}"));
        }
    }
}

impl Deref for Shared {
    type Target = Lasting;

    fn deref(&self) -> &Lasting {
        &self.lasting
    }
}

impl Current {
    /// That is in force.
    pub(crate) fn new(shared: Shared) -> Current {
        Current { generation: AtomicU64::new(shared.generation), shared: RwLock::new(Arc::new(shared)) }
    }

    /// What is in force now.
    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The generation of what is in force now.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Lets every request to come be done under `shared`.
    pub(crate) fn replace(&self, shared: Shared) {
        let mut current = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        let generation = shared.generation;
        *current = Arc::new(shared);
        // Under the lock: whoever sees the new generation finds what is of it.
        self.generation.store(generation, Ordering::Release);
    }
}
