//! Common parts of services without a database: kind, configuration and answering.
//!
//! It knows no single service: the list does.

use std::fmt;
use std::pin::Pin;

use tollgate_net::http1::RequestHead;
use tollgate_net::http1::server::Exchange;

use crate::cache::Cachable;
use crate::error::Failure;
use crate::visit::Visit;
use crate::work::dispatcher::Dispatcher;
use crate::work::settings::WorkProcesses;

/// Default lifetime: the one in the server's cache of the published measurement.
const LIFETIME_SECONDS: u32 = 300;

/// Longest lifetime: a year.
pub(crate) const LIFETIME_SECONDS_MAX: i64 = 365 * 24 * 3600;

/// Default bytes of the largest accepted body.
const BODY_BYTES_MAX: usize = 16 << 20;

/// A kind of service without a database, with its static properties.
pub struct BuiltInKind {
    /// Its name, in the configuration and for the operator.
    pub(crate) name: &'static str,
    /// Short description, for readers of the configuration's schema.
    pub(crate) summary: &'static str,
    /// Path where it is served.
    pub(crate) path: &'static str,
    /// An example request for the index of links.
    pub(crate) example: &'static str,
    /// Its protocol.
    pub(crate) speaks: Speaks,
    /// Whether it is served if the configuration names no service.
    pub(crate) is_default: bool,
    /// The keys that its table may have.
    pub(crate) keys: &'static [TableKey],
    /// Bytes of its largest message.
    pub(crate) body_bytes_max: fn(&BuiltInService) -> usize,
    /// Makes the service.
    pub(crate) make: fn(&BuiltInService) -> Box<dyn BuiltIn>,
}

/// Protocol of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// HTTP, with any content.
    Http,
    /// SOAP: errors are faults.
    Soap,
}

/// A key of a service's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableKey {
    /// `work_processes`: permits to work.
    WorkProcesses,
    /// `lifetime_seconds`: how long an answer stays good.
    Lifetime,
    /// `limits.body_bytes_max`.
    BodyBytes,
}

/// Configuration of a service without a database. Fields that its kind has no key for keep their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltInService {
    /// Its kind.
    pub kind: &'static BuiltInKind,
    /// Permits to work, where its kind has any.
    pub work_processes: Option<WorkProcesses>,
    /// Lifetime of an answer, also in the response cache.
    pub lifetime_seconds: u32,
    /// Bytes of the largest accepted body; 413 beyond.
    pub body_bytes_max: usize,
}

/// A running answer.
pub(crate) type Answering<'a> = Pin<Box<dyn Future<Output = Result<(), Failure>> + 'a>>;

/// A service without a database. To add one: its folder here, and its line in the list.
pub(crate) trait BuiltIn: fmt::Debug + Send + Sync {
    /// Answers one request.
    ///
    /// # Errors
    /// An error in it, no available work process, or a broken exchange.
    fn answer<'a, 'e: 'a>(&'a self, visit: &'a Visit<'a>, exchange: &'a mut Exchange<'e>) -> Answering<'a>;

    /// Its permits to work, where it has any.
    fn work_processes(&self) -> Option<&Dispatcher<()>> {
        None
    }

    /// Caching rules for the answer to a reading request; `None` where each request must reach the service.
    fn cachable(&self, _request: &RequestHead) -> Option<Cachable<'static>> {
        None
    }

    /// Number of orders placed, if it takes any.
    fn orders(&self) -> Option<u64> {
        None
    }
}

impl BuiltInKind {
    /// Its name, in the configuration and for the operator.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Creates one of this kind with defaults, and work processes such as these if it has any.
    pub(crate) fn configured(&'static self, common: &WorkProcesses) -> BuiltInService {
        BuiltInService {
            kind: self,
            work_processes: self.has(TableKey::WorkProcesses).then(|| common.clone()),
            lifetime_seconds: LIFETIME_SECONDS,
            body_bytes_max: BODY_BYTES_MAX,
        }
    }

    /// Whether its table may have that key.
    pub(crate) fn has(&self, key: TableKey) -> bool {
        self.keys.contains(&key)
    }
}

impl PartialEq for BuiltInKind {
    fn eq(&self, other: &BuiltInKind) -> bool {
        self.name == other.name
    }
}

impl Eq for BuiltInKind {}

impl fmt::Debug for BuiltInKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl Speaks {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Speaks::Http => "HTTP",
            Speaks::Soap => "SOAP",
        }
    }
}

impl TableKey {
    /// Name of the key in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            TableKey::WorkProcesses => "work_processes",
            TableKey::Lifetime => "lifetime_seconds",
            TableKey::BodyBytes => "limits.body_bytes_max",
        }
    }
}
