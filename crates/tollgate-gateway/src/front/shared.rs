//! State shared by all event loops: one reading of the configuration, replaced as a whole when it is read again.
//!
//! Which parts may be replaced is decided in `reload`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tollgate_net::http1::RequestHead;

use super::tls::FailureLog;
use crate::auth::{Grants, Policy};
use crate::built_in::service::{BuiltIn, BuiltInKind, BuiltInService, Speaks};
use crate::cache::ResponseCache;
use crate::config::{Config, Protocol};
use crate::hosted::Published;
use crate::serve::proxy::{self, Connections, RouteMatch};
use crate::serve::rest::openapi::Descriptions;
use crate::visit::common::Common;

/// State from one reading of the configuration. A request keeps the one that it began under.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Number of this reading of the configuration, from 1.
    pub(crate) generation: u64,
    pub(crate) services: Vec<Published>,
    /// Grants at paths of no service with a database.
    pub(crate) elsewhere: Elsewhere,
    /// Proxied routes and their endpoints.
    pub(crate) proxied: Arc<proxy::RoutingTable>,
    /// The response cache.
    pub(crate) cache: Arc<ResponseCache>,
    /// Cached descriptions of plain REST.
    pub(crate) descriptions: Descriptions,
    /// Parts that requests of every protocol need.
    pub(crate) common: Arc<Common>,
    /// The services without a database.
    pub(crate) built_in: Arc<[Served]>,
    /// Current connections to places.
    pub(crate) connections: Connections,
    /// Record of the failed handshakes that were logged.
    pub(crate) handshakes: Arc<FailureLog>,
}

/// A service without a database; it lasts as long as the process.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) kind: &'static BuiltInKind,
    pub(crate) service: Box<dyn BuiltIn>,
}

/// Grants at paths of no service with a database.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere {
    /// At the index, and at unknown paths.
    pub(crate) index: Option<Arc<Grants>>,
    /// At each service without a database, in their order.
    pub(crate) built_in: Vec<Option<Arc<Grants>>>,
}

/// The active state.
#[derive(Debug)]
pub(crate) struct Current {
    shared: RwLock<Arc<Shared>>,
    /// Its generation, readable without the lock: each request compares it with that of its loop.
    generation: AtomicU64,
}

impl Served {
    /// Creates the services without a database in `config`.
    pub(crate) fn all(config: &Config) -> Arc<[Served]> {
        let made = |service: &BuiltInService| Served { kind: service.kind, service: (service.kind.make)(service) };
        config.built_in.iter().map(made).collect()
    }
}

impl Elsewhere {
    /// Compiles the grants of `policy` at the index and at these services.
    pub(crate) fn new(policy: &Policy, built_in: &[Served]) -> Elsewhere {
        Elsewhere {
            index: policy.grants("/", []),
            built_in: built_in.iter().map(|served| policy.grants(served.kind.path, [])).collect(),
        }
    }
}

impl Shared {
    /// Whether SOAP is the protocol of a request for no service with a database.
    pub(crate) fn speaks_soap(&self, request: &RequestHead) -> bool {
        let found = self.proxied.find(request.host(), request.method(), request.path());
        matches!(found, RouteMatch::Route { route, .. } if route.protocol == Protocol::Soap)
            || self
                .built_in
                .iter()
                .any(|served| served.kind.speaks == Speaks::Soap && request.path() == served.kind.path)
    }
}

impl Current {
    /// Creates the holder of the active configuration.
    pub(crate) fn new(shared: Shared) -> Current {
        Current { generation: AtomicU64::new(shared.generation), shared: RwLock::new(Arc::new(shared)) }
    }

    /// The active state.
    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The generation of the active state.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Makes `shared` the active state for all new requests.
    pub(crate) fn replace(&self, shared: Shared) {
        let mut current = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        let generation = shared.generation;
        *current = Arc::new(shared);
        // Under the lock: whoever sees the new generation finds what is of it.
        self.generation.store(generation, Ordering::Release);
    }
}
