//! The shape of `/status.json`: the gateway's status as one document. The page and `/metrics` use the same values, so
//! that they cannot disagree.
//!
//! Counters only go up until the process ends; for a rate, read twice and divide by `uptime_seconds`. The figures are
//! collected in `gather`.

use schemars::JsonSchema;
use serde::Serialize;

use super::authentications::AuthenticationStatus;
use super::clients::ClientsStatus;
use super::endpoints::{EndpointStatus, RefusedStatus, RouteStatus};

/// Version of this format; another number means that members went away or changed their meaning.
pub(super) const FORMAT: u32 = 1;

/// Status of the gateway.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "tollgate status")]
pub(super) struct Status {
    /// Version of this format: 1.
    pub(super) format: u32,
    /// The process.
    pub(super) server: ServerStatus,
    /// Requests and answers of all listeners together, without the operator's own.
    pub(super) requests: Requests,
    /// The services, in the order of the configuration.
    pub(super) services: Vec<ServiceStatus>,
    /// The response cache.
    pub(super) cache: CacheStatus,
    /// The listeners, in the order of the configuration.
    pub(super) listeners: Vec<ListenerStatus>,
    /// Every place of every endpoint, by the endpoints' names.
    pub(super) endpoints: Vec<EndpointStatus>,
    /// Requests that found no place of an endpoint.
    pub(super) endpoints_refused: Vec<RefusedStatus>,
    /// The routes, by path.
    pub(super) routes: Vec<RouteStatus>,
    /// The active configuration.
    pub(super) configuration: ConfigurationStatus,
    /// Authentications of callers; null if authentication is off.
    pub(super) authentication: Option<AuthenticationStatus>,
    /// Clients that were refused something.
    pub(super) clients: ClientsStatus,
    /// Orders placed at the stock quotes; null where these are not served.
    pub(super) stock_orders: Option<u64>,
    /// Every limit, with its current use and how often it was reached.
    pub(super) limits: Vec<LimitStatus>,
}

/// The process.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct ServerStatus {
    /// Version of the program.
    pub(super) version: &'static str,
    /// Process id.
    pub(super) process: u32,
    /// Start of service, in UTC (RFC 3339).
    pub(super) started: String,
    /// Time since then.
    pub(super) uptime_seconds: f64,
    /// Whether it takes requests or ends.
    pub(super) state: ServerState,
    /// CPU time of all its threads.
    pub(super) cpu_seconds: f64,
    /// Cores that it may use.
    pub(super) cores: u64,
    /// Resident memory.
    pub(super) resident_bytes: Option<u64>,
    /// Threads.
    pub(super) threads: Option<u64>,
    /// Open files and sockets.
    pub(super) open_files: Option<u64>,
    /// Limit of open files.
    pub(super) open_files_max: Option<u64>,
}

/// The active configuration, as last read at the start or on SIGHUP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct ConfigurationStatus {
    /// Number of configurations that became active, the first one included.
    pub(super) generation: u64,
    /// Time at which it was read, in UTC (RFC 3339).
    pub(super) read: String,
    /// Parts of it that need a restart.
    pub(super) needs_restart: Vec<&'static str>,
    /// Time of a later configuration that was refused; null if none was.
    pub(super) refused: Option<String>,
    /// Reason of the refusal.
    pub(super) error: Option<String>,
}

/// Whether it takes requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ServerState {
    /// It takes requests.
    Serving,
    /// It was asked to stop, and finishes the requests in flight.
    Draining,
}

/// Requests and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub(super) struct Requests {
    /// Requests whose head was read.
    pub(super) received: u64,
    /// Answers by the class of their status.
    pub(super) answered: Classes,
    /// Requests that ended in a panic.
    pub(super) panics: u64,
}

/// Answers by the class of their status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub(super) struct Classes {
    /// Interim answers (1xx).
    #[serde(rename = "1xx")]
    pub(super) interim: u64,
    /// Successful answers (2xx).
    #[serde(rename = "2xx")]
    pub(super) successful: u64,
    /// Redirected or not modified (3xx).
    #[serde(rename = "3xx")]
    pub(super) redirected: u64,
    /// Faults of clients (4xx).
    #[serde(rename = "4xx")]
    pub(super) client_faults: u64,
    /// Faults of the server, or overload (5xx).
    #[serde(rename = "5xx")]
    pub(super) server_faults: u64,
}

/// The response cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct CacheStatus {
    /// Stored answers.
    pub(super) entries: u64,
    /// Largest number of answers.
    pub(super) entries_max: u64,
    /// Bytes of the stored answers.
    pub(super) bytes: u64,
    /// Largest size in bytes.
    pub(super) bytes_max: u64,
    /// Requests answered from it.
    pub(super) hits: u64,
    /// Requests whose answer had to be fetched.
    pub(super) misses: u64,
    /// Requests that waited for another fetch.
    pub(super) waits: u64,
    /// Answers stored since the start.
    pub(super) stored: u64,
    /// Answers evicted to make room for others.
    pub(super) evicted: u64,
    /// Answers that had outlived their lifetime.
    pub(super) expired: u64,
    /// Answers invalidated before they expired: their data changed, or the operator asked for it.
    pub(super) invalidated: u64,
    /// Answers too large to be stored.
    pub(super) too_large: u64,
    /// Answers past their lifetime that their backend confirmed.
    pub(super) validated: u64,
    /// The answers with most hits, at most 100; with `?find=TEXT` those of them whose key contains the text.
    pub(super) listed: Vec<CacheEntryStatus>,
}

/// One stored answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct CacheEntryStatus {
    /// Its key: a path and query, with the origin before it where the answer names it.
    pub(super) key: String,
    /// Request fields that selected it.
    pub(super) varies: Vec<String>,
    /// Its size in bytes.
    pub(super) bytes: u64,
    /// Its age.
    pub(super) age_seconds: u64,
    /// Its largest age.
    pub(super) lifetime_seconds: u64,
    /// Number of hits.
    pub(super) hits: u64,
}

/// One service.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct ServiceStatus {
    /// Its name.
    pub(super) name: String,
    /// Its work processes together.
    pub(super) pool: PoolStatus,
    /// Each of them, in the order of their numbers.
    pub(super) work_processes: Vec<WorkProcessStatus>,
    /// Reopened connections to its database; null where none can break.
    pub(super) database_reconnects: Option<u64>,
}

/// The work processes of one service together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct PoolStatus {
    /// Number of work processes.
    pub(super) limit: u64,
    /// Number in use.
    pub(super) busy: u64,
    /// Most in use at once.
    pub(super) busy_peak: u64,
    /// Requests that wait for one, or with one for the database.
    pub(super) waiting: u64,
    /// The most that waited at once.
    pub(super) waiting_peak: u64,
    /// Largest number that may wait.
    pub(super) waiting_max: u64,
    /// Longest wait.
    pub(super) wait_seconds_max: f64,
    /// Requests that got one.
    pub(super) admitted: u64,
    /// Requests that had to wait first.
    pub(super) queued: u64,
    /// Sum of all waits.
    pub(super) waited_seconds: f64,
    /// Requests that got none.
    pub(super) refused: Refusals,
}

/// Requests that got no work process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Refusals {
    /// The queue was full.
    pub(super) queue_full: u64,
    /// None became free in time.
    pub(super) waited_too_long: u64,
    /// The client went away while it waited.
    pub(super) client_gone: u64,
}

/// One work process.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct WorkProcessStatus {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Its state: `free`, `given` (to a request that waited and has not gone on yet), `working`, or
    /// `waiting-for-database` (until others have left it).
    pub(super) state: &'static str,
    /// Method of its current request.
    pub(super) method: Option<String>,
    /// Path of that request, cut; never its query.
    pub(super) path: Option<String>,
    /// The caller, if signed in.
    pub(super) user: Option<String>,
    /// Time in use so far.
    pub(super) held_seconds: Option<f64>,
    /// Requests served before.
    pub(super) served: u64,
}

/// One listener.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct ListenerStatus {
    /// Its address.
    pub(super) address: String,
    /// `http` or `https`.
    pub(super) protocol: &'static str,
    /// Its connections.
    pub(super) connections: Connections,
    /// Its handshakes; null without TLS.
    pub(super) handshakes: Option<Handshakes>,
    /// Its requests and answers.
    pub(super) requests: Requests,
    /// Requests that violate HTTP, by fault; only faults that happened.
    pub(super) faults: Vec<Counted>,
    /// Bytes read from clients, at the socket.
    pub(super) received_bytes: u64,
    /// Bytes written to clients, at the socket.
    pub(super) sent_bytes: u64,
    /// Bytes occupied by unfinished requests while the rest is awaited.
    pub(super) held_bytes: u64,
    /// Bytes occupied by answers while their clients take them.
    pub(super) unsent_bytes: u64,
    /// The most that they occupied at once, on each event loop, added up.
    pub(super) unsent_bytes_peak: u64,
}

/// The connections of a listener.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Connections {
    /// Open now.
    pub(super) open: u64,
    /// The most that were open at once, on each event loop, added up.
    pub(super) open_peak: u64,
    /// Largest number open.
    pub(super) open_max: u64,
    /// Connections that wait, unread, for an open one to end.
    pub(super) waiting: u64,
    /// Largest number that may wait.
    pub(super) waiting_max: u64,
    /// Open connections, by activity.
    pub(super) states: ConnectionStates,
    /// Accepted since the start.
    pub(super) accepted: u64,
    /// Connections that the system failed to accept.
    pub(super) accept_errors: u64,
    /// Closed since the start, by cause; only causes that happened.
    pub(super) closed: Vec<Counted>,
}

/// Open connections, by activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct ConnectionStates {
    /// In the TLS handshake.
    pub(super) handshaking: u64,
    /// Waiting for a request; no byte of it has arrived.
    pub(super) idle: u64,
    /// Waiting for the rest of a request.
    pub(super) reading: u64,
    /// Waiting for a service.
    pub(super) working: u64,
    /// Waiting for the client to take the data in the socket.
    pub(super) writing: u64,
}

/// The handshakes of a listener with TLS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Handshakes {
    /// Full handshakes, with keys and certificates.
    pub(super) full: u64,
    /// Resumed earlier sessions.
    pub(super) resumed: u64,
    /// Handshakes with TLS 1.2.
    #[serde(rename = "tls_1_2")]
    pub(super) tls12: u64,
    /// Handshakes with TLS 1.3.
    #[serde(rename = "tls_1_3")]
    pub(super) tls13: u64,
    /// Failed handshakes, by cause; only causes that happened.
    pub(super) failed: Vec<Counted>,
}

/// Number of events of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Counted {
    /// Kind of event.
    pub(super) name: &'static str,
    /// Number of events.
    pub(super) count: u64,
}

/// One limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct LimitStatus {
    /// Owner of the limit: a service's name, `services` for what all share, `cache`, `connections` for those of each
    /// connection or listener, `memory` for the sum of those that bound memory, or `each client at` and a path.
    pub(super) of: String,
    /// Its name.
    pub(super) name: &'static str,
    /// Value of the limit.
    pub(super) limit: u64,
    /// Unit: `count`, `bytes`, `milliseconds`, or `bytes-per-second`.
    pub(super) unit: &'static str,
    /// Current use; null where nothing lasts.
    pub(super) now: Option<u64>,
    /// Its highest use.
    pub(super) peak: Option<u64>,
    /// Number of times something was refused, ended or delayed for it; null if not counted.
    pub(super) met: Option<u64>,
}

/// The JSON Schema of `/status.json`, as indented JSON.
pub fn schema() -> String {
    format!("{:#}", schemars::schema_for!(Status).to_value())
}
