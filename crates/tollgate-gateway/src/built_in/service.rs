//! What every service without a database is: its kind, how it is configured, and how it answers.
//!
//! It deliberately knows none of them: the list does.

use std::fmt;
use std::pin::Pin;

use tollgate_net::http1::RequestHead;
use tollgate_net::http1::server::Exchange;

use crate::cache::Cachable;
use crate::error::Failure;
use crate::visit::Visit;
use crate::work::dispatcher::Dispatcher;
use crate::work::settings::WorkProcesses;

/// As long as the resource of the published measurement stayed in the server's cache.
const LIFETIME_SECONDS: u32 = 300;

/// Longest lifetime: a year.
pub(crate) const LIFETIME_SECONDS_MAX: i64 = 365 * 24 * 3600;

/// Bytes of the largest body that is taken by default.
const BODY_BYTES_MAX: usize = 16 << 20;

/// A kind of service without a database: all that is known of it before one is made.
pub struct BuiltInKind {
    /// Its name, in the configuration and for the operator.
    pub(crate) name: &'static str,
    /// What it is, for who reads the schema of the configuration.
    pub(crate) summary: &'static str,
    /// Where it is served.
    pub(crate) path: &'static str,
    /// A request for who follows links.
    pub(crate) example: &'static str,
    /// What it speaks.
    pub(crate) speaks: Speaks,
    /// Whether it is served where the configuration names no service.
    pub(crate) is_default: bool,
    /// The keys that its table may have.
    pub(crate) keys: &'static [TableKey],
    /// Bytes of the largest message that it takes.
    pub(crate) body_bytes_max: fn(&BuiltInService) -> usize,
    /// Makes the service.
    pub(crate) make: fn(&BuiltInService) -> Box<dyn BuiltIn>,
}

/// What a service speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// HTTP, and nothing more is known of it.
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

/// A service without a database, as it is configured. What its kind has no key for stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltInService {
    /// Its kind.
    pub kind: &'static BuiltInKind,
    /// Permits to work, where its kind has any.
    pub work_processes: Option<WorkProcesses>,
    /// How long an answer stays good, and is kept by the response cache.
    pub lifetime_seconds: u32,
    /// Bytes of the largest body that is taken; 413 beyond.
    pub body_bytes_max: usize,
}

/// An answer on its way.
pub(crate) type Answering<'a> = Pin<Box<dyn Future<Output = Result<(), Failure>> + 'a>>;

/// A service without a database. To add one: its folder here, and its line in the list.
pub(crate) trait BuiltIn: fmt::Debug + Send + Sync {
    /// Answers one request.
    ///
    /// # Errors
    /// What is wrong with it, that no work process was to be had, or that the exchange broke.
    fn answer<'a, 'e: 'a>(&'a self, visit: &'a Visit<'a>, exchange: &'a mut Exchange<'e>) -> Answering<'a>;

    /// Its permits to work, where it has any.
    fn work_processes(&self) -> Option<&Dispatcher<()>> {
        None
    }

    /// What the response cache is to know of the answer to a request that reads; `None` where each request is to reach the
    /// service.
    fn cachable(&self, _request: &RequestHead) -> Option<Cachable<'static>> {
        None
    }

    /// How many orders were placed, where it takes any.
    fn orders(&self) -> Option<u64> {
        None
    }
}

impl BuiltInKind {
    /// Its name, in the configuration and for the operator.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// One of this kind as it is by default, with work processes such as these where it has any.
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
    /// How it stands in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            TableKey::WorkProcesses => "work_processes",
            TableKey::Lifetime => "lifetime_seconds",
            TableKey::BodyBytes => "limits.body_bytes_max",
        }
    }
}
