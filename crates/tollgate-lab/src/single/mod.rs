//! A quick load of one URL, as ApacheBench does it, on the same engine as the experiments.

mod connections;
pub mod export;
mod found;
mod marks;
mod prepare;
mod rows;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tollgate_net::connect::SocketOptions;
use tollgate_net::http1::client::{BodyFraming, Connector};
use tollgate_net::tls::ClientSettings;

#[cfg(test)]
pub(crate) use marks::names as mark_names;

pub use crate::load::answer::json::JsonValue;
pub use crate::traffic::model::Rate;
pub use crate::traffic::request::AnswerLength;
use tollgate_facts::names::singular;
use tollgate_facts::results::load::QuickResult;

use crate::conduct::options::{Observer, Progress, RunError};
use crate::conduct::stop::StopFlag;
use crate::cores::Cores;
use crate::load::answer::odata_batch::BatchForm;
use crate::load::answer::soap;
use crate::load::pace::gate::Gate;
use crate::load::ports;
use crate::load::record::course::Course;
use crate::load::record::detail::Detail;
use crate::load::record::recorder::Recorder;
use crate::load::renewal::Renewal;
use crate::load::target::{Connection, LoadTarget};
use crate::load::worker::{self, Order, ReportEnd, Work, Worker};
use crate::probe::generator::ThreadsUsed;
use crate::probe::meter::Meter;
use crate::traffic::feed::{self, Feed, FeedEnd};
use crate::traffic::model::{End, Load, Pace};
use crate::traffic::scenario::Played;
use crate::traffic::stages::Stages;
use crate::traffic::statuses::Statuses;

/// Interval at which a running load checks whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The target and the amount of load.
#[derive(Debug, Clone, Default)]
pub struct QuickLoad {
    /// The URL.
    pub url: String,
    /// Total number of requests.
    pub requests: Option<u64>,
    /// Duration. Without both bounds one request is sent; with both, the first one reached ends the load.
    pub duration: Option<Duration>,
    /// Concurrent users.
    pub concurrency: usize,
    /// The lifetime of connections.
    pub connection: Connection,
    /// The method, in capitals.
    pub method: String,
    /// Header fields.
    pub headers: Vec<(String, String)>,
    /// The body; empty if none.
    pub body: Vec<u8>,
    /// TLS settings.
    pub tls: ClientSettings,
    /// Rate of requests, independent of the server; `concurrency` is then the maximum number under way. Absent: as fast
    /// as users get responses.
    pub rate: Option<Rate>,
    /// Changes of users or rate over time; absent: constant. Its unit decides whether users or rate change.
    pub stages: Option<Arc<Stages>>,
    /// Time over which the users arrive, before anything counts; only without a rate.
    pub ramp_up: Duration,
    /// Time limit of a request.
    pub timeout: Duration,
    /// Generator threads, each with its share of the users; absent: one.
    pub threads: Option<usize>,
    /// Hosts off loopback that may be loaded.
    pub may_load: Vec<String>,
    /// Framing of bodies.
    pub framing: BodyFraming,
    /// Rows whose values fill the placeholders in URL, header fields and body.
    pub feed: Option<Feed>,
    /// The wrapping of the body.
    pub wrapping: Wrapping,
    /// The steps that each user repeats below the URL, instead of the request.
    pub scenario: Option<Played>,
    /// Seed of a scenario's think times and random rows.
    pub seed: u64,
    /// Expected statuses.
    pub statuses: Statuses,
    /// The check of each response's length against the first one's.
    pub length: AnswerLength,
    /// Text that each response must contain.
    pub contains: Option<String>,
    /// JSON values that each answer must have.
    pub json: Vec<JsonValue>,
    /// Destination of connections instead of the URL's own host and port.
    pub via: Option<Via>,
    /// Socket options.
    pub socket: SocketOptions,
    /// Number of requests that are logged one by one; absent: none.
    pub log_requests_max: Option<usize>,
}

/// The wrapping of a body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Wrapping {
    /// None: the body is sent unchanged.
    #[default]
    None,
    /// In a SOAP envelope, for an action; faults are failures.
    Soap {
        /// The SOAP action.
        action: String,
        /// The version; absent: that of an existing envelope, else 1.1.
        version: Option<soap::Version>,
    },
    /// Repeated in one OData batch; each response in the batch response counts.
    Batch {
        /// The format of the batch.
        form: BatchForm,
        /// Requests in a batch.
        requests: usize,
        /// The service root, a path that ends with a slash; absent: the URL up to its last segment.
        root: Option<String>,
    },
}

/// Destination of connections instead of the URL's own host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// Another address, with requests as for the URL's host.
    Address(SocketAddr),
    /// A proxy (`host:port`): sent the request for an http URL, and asked for a tunnel to the host of an https URL.
    Proxy(String),
    /// A Unix socket, with requests as for the URL's host.
    Socket(PathBuf),
}

impl QuickLoad {
    /// One GET on `url` by one user on a kept connection.
    pub fn new(url: impl Into<String>) -> QuickLoad {
        QuickLoad {
            url: url.into(),
            concurrency: 1,
            method: "GET".to_owned(),
            timeout: crate::load::REQUEST_TIMEOUT,
            ..QuickLoad::default()
        }
    }

    /// Maximum number of requests, of all users together.
    fn requests_bound(&self) -> Option<u64> {
        let asked = match (self.requests, self.duration) {
            (None, None) => Some(1),
            (requests, _) => requests,
        };
        [asked, self.rows_bound()].into_iter().flatten().min()
    }

    /// Number of requests that the rows allow, if that is a bound for all users together.
    fn rows_bound(&self) -> Option<u64> {
        let feed = self.feed.as_ref().filter(|feed| feed.end == FeedEnd::Stop)?;
        let is_shared = feed.order == feed::Order::Unique || self.rate.is_some();
        let each = match self.wrapping {
            Wrapping::Batch { requests, .. } => requests as u64,
            Wrapping::None | Wrapping::Soap { .. } => 1,
        };
        (is_shared && feed.order != feed::Order::Random).then(|| feed.table.rows() as u64 / each.max(1))
    }
}

/// The result of a single load, with the records behind it.
#[derive(Debug)]
pub struct Quick {
    /// The figures.
    pub result: QuickResult,
    /// The records behind the result.
    pub recorder: Recorder,
    /// The start of the load.
    pub started: jiff::Timestamp,
    /// Time from the first request to the last response.
    pub took: Duration,
}

/// Loads one URL, and returns the figures.
///
/// # Errors
/// As [`quick_recorded`].
pub fn quick(load: &QuickLoad, stop: &StopFlag) -> Result<QuickResult, RunError> {
    quick_recorded(load, &(), stop).map(|quick| quick.result)
}

/// Loads one URL, and passes the observer its live counters once.
///
/// # Errors
/// An invalid URL, a host that may not be loaded, a message that cannot be sent, a load without users, or a generator
/// that cannot start.
pub fn quick_recorded(load: &QuickLoad, observer: &dyn Observer, stop: &StopFlag) -> Result<Quick, RunError> {
    let threads = load.threads.unwrap_or(1).min(load.concurrency);
    if threads == 0 {
        return Err(RunError::Usage("there must be at least 1 user and 1 thread".to_owned()));
    }
    check_users(load)?;
    let (target, work) = prepare::prepare(load).map_err(RunError::Usage)?;
    Connector::new(target.tls.clone()).prepare(&target.target).map_err(RunError::Usage)?;
    ports::check(load.concurrency, load.connection).map_err(RunError::Usage)?;
    let cores = Cores::divide();
    let workers = Worker::start_all(threads, &cores.generator, load.timeout, None).map_err(RunError::Failed)?;
    let gate = Arc::new(Gate::new(threads, Meter { cores: cores.all, ..Meter::default() }));
    observer.progress(&Progress::Loading { counters: &Worker::counters(&workers) });
    let started = jiff::Timestamp::now();
    let cancels = order(load, &workers, (&target, &work), &gate);
    let go_on = || (!stop.is_stopped()).then_some(LOOK_EVERY);
    let reports = worker::reports(workers.iter(), cancels, LOOK_EVERY, go_on);
    let passed = gate.end();
    let interrupted = reports.iter().any(|report| report.end == ReportEnd::Cancelled);
    let mut recorder = Recorder::default();
    for report in &reports {
        recorder.add(&report.recorder);
    }
    let begun = reports.iter().map(|report| report.started).min().unwrap_or_else(Instant::now);
    let ended = reports.iter().map(|report| report.finished).max().unwrap_or(begun);
    let took = ended.saturating_duration_since(begun);
    let used = ThreadsUsed::of(reports.iter().map(|report| report.used));
    let seen = found::Recorded { load, target: &target.target, all: &recorder, took, used, passed, interrupted };
    Ok(Quick { result: seen.result(started), recorder, started, took })
}

/// Closed users share the requests, or the iterations of a scenario. With more users than those, some have none, and
/// figures computed from users and time are wrong.
fn check_users(load: &QuickLoad) -> Result<(), RunError> {
    let users = load.concurrency as u64;
    match load.requests_bound() {
        Some(requests) if load.rate.is_none() && requests < users => {
            let all = if load.scenario.is_some() { "iterations" } else { "requests" };
            let some = if requests == 1 { singular(all) } else { all };
            Err(RunError::Usage(format!(
                "there are {users} users (-c) for {requests} {some} (-n): there must be as many {all} as users at least"
            )))
        }
        _ => Ok(()),
    }
}

fn order(
    load: &QuickLoad,
    workers: &[Worker],
    (target, work): (&Arc<LoadTarget>, &Work),
    gate: &Arc<Gate>,
) -> Vec<oneshot::Sender<()>> {
    let end = End { after: load.duration, units: load.requests_bound() };
    let pace = load.rate.map_or(Pace::Closed { ramp_up: load.ramp_up }, Pace::Open);
    let all = Load { pace, stages: load.stages.clone(), ..Load::closed(load.concurrency, end) };
    let order = |(index, worker): (usize, &Worker)| {
        let log = load.log_requests_max.map(|most| Detail::with_log(most.div_ceil(workers.len())));
        worker.run(Order {
            slot: 0,
            target: Arc::clone(target),
            work: work.clone(),
            load: all.share(index, workers.len()),
            renewal: Renewal::Kept,
            gate: Arc::clone(gate),
            course: Course::Binned,
            recorder: Recorder::detailed(log.unwrap_or_default()),
        })
    };
    workers.iter().enumerate().map(order).collect()
}
