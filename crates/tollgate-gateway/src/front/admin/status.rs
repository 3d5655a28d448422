//! The shape of `/status.json`: what the gateway is doing, as one document. The page and `/metrics` are made of the same,
//! so that no two of them can disagree.
//!
//! Counters only go up until the process ends; whoever wants a rate reads twice and divides by `uptime_seconds`. Where its
//! figures come from stands in `gather`.

use schemars::JsonSchema;
use serde::Serialize;

use super::authentications::AuthenticationStatus;
use super::endpoints::{EndpointStatus, RefusedStatus, RouteStatus};

/// Which shape this is; another number means that members went away or changed their meaning.
pub(super) const FORMAT: u32 = 1;

/// What the gateway is doing.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "tollgate status")]
pub(super) struct Status {
    /// Which shape this is: 1.
    pub(super) format: u32,
    /// The process.
    pub(super) server: ServerStatus,
    /// Requests and answers of all listeners together, without the operator's own.
    pub(super) requests: Requests,
    /// The services, in the order of the configuration.
    pub(super) services: Vec<ServiceStatus>,
    /// The answers that are kept for others.
    pub(super) cache: CacheStatus,
    /// The listeners, in the order of the configuration.
    pub(super) listeners: Vec<ListenerStatus>,
    /// Every place of every endpoint, by the endpoints' names.
    pub(super) endpoints: Vec<EndpointStatus>,
    /// Requests that found no place of an endpoint to go to.
    pub(super) endpoints_refused: Vec<RefusedStatus>,
    /// The routes, by path.
    pub(super) routes: Vec<RouteStatus>,
    /// What is in force of the configuration.
    pub(super) configuration: ConfigurationStatus,
    /// How callers showed who they are; null where nobody is asked.
    pub(super) authentication: Option<AuthenticationStatus>,
    /// Orders that were placed at the stock quotes; null where these are not served.
    pub(super) stock_orders: Option<u64>,
    /// Every limit, with what is used of it and how often it was met.
    pub(super) limits: Vec<LimitStatus>,
}

/// The process.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct ServerStatus {
    /// Version of the program.
    pub(super) version: &'static str,
    /// Number of the process.
    pub(super) process: u32,
    /// When it began to serve, in UTC (RFC 3339).
    pub(super) started: String,
    /// How long ago that is.
    pub(super) uptime_seconds: f64,
    /// Whether it takes requests or ends.
    pub(super) state: ServerState,
    /// CPU time of all its threads.
    pub(super) cpu_seconds: f64,
    /// Cores that it may use.
    pub(super) cores: u64,
    /// Memory that is in use.
    pub(super) resident_bytes: Option<u64>,
    /// Threads.
    pub(super) threads: Option<u64>,
    /// Files and sockets that are open.
    pub(super) open_files: Option<u64>,
    /// How many may be open.
    pub(super) open_files_max: Option<u64>,
}

/// What is in force of the configuration, which SIGHUP has read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct ConfigurationStatus {
    /// How often one was put in force, the first time included.
    pub(super) generation: u64,
    /// When that was read, in UTC (RFC 3339).
    pub(super) read: String,
    /// Parts of it that wait for a restart.
    pub(super) needs_restart: Vec<&'static str>,
    /// When one was read since that was refused; null where none was.
    pub(super) refused: Option<String>,
    /// Why it was.
    pub(super) error: Option<String>,
}

/// Whether it takes requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ServerState {
    /// It does.
    Serving,
    /// It was told to stop, and finishes what is in flight.
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
    /// Interim ones.
    #[serde(rename = "1xx")]
    pub(super) interim: u64,
    /// It went well.
    #[serde(rename = "2xx")]
    pub(super) successful: u64,
    /// It is elsewhere, or not modified.
    #[serde(rename = "3xx")]
    pub(super) redirected: u64,
    /// The client's fault.
    #[serde(rename = "4xx")]
    pub(super) client_faults: u64,
    /// Ours, or there is too much to do.
    #[serde(rename = "5xx")]
    pub(super) server_faults: u64,
}

/// The response cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct CacheStatus {
    /// Answers that are kept.
    pub(super) entries: u64,
    /// How many may be.
    pub(super) entries_max: u64,
    /// Bytes that they take.
    pub(super) bytes: u64,
    /// How many they may take.
    pub(super) bytes_max: u64,
    /// Requests that were answered from it.
    pub(super) hits: u64,
    /// Requests whose answer had to be fetched.
    pub(super) misses: u64,
    /// Requests that waited for what another fetched.
    pub(super) waits: u64,
    /// Answers that were kept since the start.
    pub(super) stored: u64,
    /// Answers that made room for others.
    pub(super) evicted: u64,
    /// Answers that had outlived their lifetime.
    pub(super) expired: u64,
    /// Answers that were thrown away before: what they were read from had changed, or somebody said so.
    pub(super) invalidated: u64,
    /// Answers that were too large to be kept.
    pub(super) too_large: u64,
    /// Answers that had outlived their lifetime, and of which their backend said that they are still good.
    pub(super) validated: u64,
    /// The answers that are asked for most, at most 100; with `?find=TEXT` those of them whose key holds the text.
    pub(super) listed: Vec<CacheEntryStatus>,
}

/// One answer that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct CacheEntryStatus {
    /// What it answers: a path and query, with the origin before it where the answer names it.
    pub(super) key: String,
    /// Fields of the request that chose it.
    pub(super) varies: Vec<String>,
    /// Bytes that it takes.
    pub(super) bytes: u64,
    /// How old it is.
    pub(super) age_seconds: u64,
    /// How old it may become.
    pub(super) lifetime_seconds: u64,
    /// How often it was asked for.
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
    /// Connections to its database that were opened again; null where it has none that can break.
    pub(super) database_reconnects: Option<u64>,
}

/// The work processes of one service together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct PoolStatus {
    /// How many there are.
    pub(super) limit: u64,
    /// How many are held.
    pub(super) busy: u64,
    /// The most that were held at once.
    pub(super) busy_peak: u64,
    /// How many requests wait for one, or with one for the database.
    pub(super) waiting: u64,
    /// The most that waited at once.
    pub(super) waiting_peak: u64,
    /// How many may wait.
    pub(super) waiting_max: u64,
    /// How long one may wait.
    pub(super) wait_seconds_max: f64,
    /// Requests that had one.
    pub(super) admitted: u64,
    /// Requests that had to wait first.
    pub(super) queued: u64,
    /// How long those waited altogether.
    pub(super) waited_seconds: f64,
    /// Requests that had none.
    pub(super) refused: Refusals,
}

/// Requests that had no work process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Refusals {
    /// As many as may wait were waiting already.
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
    /// What it does: `free`, `given` (to a request that waited and has not gone on yet), `working`, or
    /// `waiting-for-database` (until others have left it).
    pub(super) state: &'static str,
    /// Method of the request that it works for.
    pub(super) method: Option<String>,
    /// Path of that request, cut; never its query.
    pub(super) path: Option<String>,
    /// Who asked, where somebody signed in.
    pub(super) user: Option<String>,
    /// How long it is held already.
    pub(super) held_seconds: Option<f64>,
    /// Requests that had it before.
    pub(super) served: u64,
}

/// One listener.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct ListenerStatus {
    /// Where it listens.
    pub(super) address: String,
    /// `http` or `https`.
    pub(super) protocol: &'static str,
    /// Its connections.
    pub(super) connections: Connections,
    /// Its handshakes; null without TLS.
    pub(super) handshakes: Option<Handshakes>,
    /// Its requests and answers.
    pub(super) requests: Requests,
    /// Requests that HTTP forbids, by the fault; those that happened.
    pub(super) faults: Vec<Counted>,
    /// Bytes read from clients, at the socket.
    pub(super) received_bytes: u64,
    /// Bytes written to clients, at the socket.
    pub(super) sent_bytes: u64,
    /// Bytes that unfinished requests hold while the rest is waited for.
    pub(super) held_bytes: u64,
}

/// The connections of a listener.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Connections {
    /// Open now.
    pub(super) open: u64,
    /// The most that were open at once, on each event loop, added up.
    pub(super) open_peak: u64,
    /// How many may be open.
    pub(super) open_max: u64,
    /// Those that wait, unread, until one of them ends.
    pub(super) waiting: u64,
    /// How many may wait.
    pub(super) waiting_max: u64,
    /// Those that are open, by what they do.
    pub(super) states: ConnectionStates,
    /// Accepted since the start.
    pub(super) accepted: u64,
    /// Those that the system would not hand over.
    pub(super) accept_errors: u64,
    /// Closed since the start, by the cause; those that happened.
    pub(super) closed: Vec<Counted>,
}

/// Connections that are open, by what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct ConnectionStates {
    /// They open TLS.
    pub(super) handshaking: u64,
    /// They wait for a request, of which nothing has come yet.
    pub(super) idle: u64,
    /// They wait for the rest of a request.
    pub(super) reading: u64,
    /// A service works for them.
    pub(super) working: u64,
    /// The client has to take what stands in the socket.
    pub(super) writing: u64,
}

/// The handshakes of a listener with TLS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Handshakes {
    /// Those with keys and certificates.
    pub(super) full: u64,
    /// Those that took up an earlier session.
    pub(super) resumed: u64,
    /// Those that agreed on TLS 1.2.
    #[serde(rename = "tls_1_2")]
    pub(super) tls12: u64,
    /// Those that agreed on TLS 1.3.
    #[serde(rename = "tls_1_3")]
    pub(super) tls13: u64,
    /// Those that failed, by the cause; causes that happened.
    pub(super) failed: Vec<Counted>,
}

/// How often something happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Counted {
    /// What.
    pub(super) name: &'static str,
    /// How often.
    pub(super) count: u64,
}

/// One limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct LimitStatus {
    /// Whose it is: a service's name, `services` for what all share, `cache`, or `connections` for those that hold for each
    /// connection or listener.
    pub(super) of: String,
    /// Its name.
    pub(super) name: &'static str,
    /// What may not be exceeded.
    pub(super) limit: u64,
    /// Of what: `count`, `bytes`, `milliseconds`, or `bytes-per-second`.
    pub(super) unit: &'static str,
    /// What is used of it now; null where that is no thing that lasts.
    pub(super) now: Option<u64>,
    /// The most that was used of it.
    pub(super) peak: Option<u64>,
    /// How often something was refused, ended or delayed for it; null where that is not counted.
    pub(super) met: Option<u64>,
}

/// The JSON Schema of `/status.json`, as indented JSON.
pub fn schema() -> String {
    format!("{:#}", schemars::schema_for!(Status).to_value())
}
