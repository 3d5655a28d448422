//! A quick load of one URL, as ApacheBench does it, on the same engine as the experiments.

mod found;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tollgate_net::http1::client::{Connector, Target};
use tollgate_net::tls::ClientSettings;

pub use found::{FirstRequest, Handshaken, Offered, PhaseTimes, QuickResult, Segments};

use super::model::{Arrivals, Closed, End, Lane, Load, Open};
use super::ports;
use super::recorder::{Course, Recorder};
use super::target::{Connection, LoadTarget};
use super::worker::{Order, Report, ReportEnd, Work, Worker};
use crate::cores::Cores;
use crate::experiment::RequestShape;
use crate::run::{RunError, StopFlag};
use crate::secret;
use crate::subject::check_loadable;

/// How often a running load looks whether it shall stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What is loaded, and how much.
#[derive(Debug, Clone)]
pub struct QuickLoad {
    /// The URL.
    pub url: String,
    /// So many requests in all.
    pub requests: Option<u64>,
    /// For so long. With neither bound one request is sent; with both the first one ends it.
    pub duration: Option<Duration>,
    /// Users who ask at the same time.
    pub concurrency: usize,
    /// How long connections live.
    pub connection: Connection,
    /// The method, in capitals.
    pub method: String,
    /// Header fields.
    pub headers: Vec<(String, String)>,
    /// The body; empty if none.
    pub body: Vec<u8>,
    /// How TLS is spoken.
    pub tls: ClientSettings,
    /// At which rate requests come, whatever the server does; `concurrency` is then the most that are under way.
    /// Absent: as fast as users are answered.
    pub rate: Option<Rate>,
    /// Over which time the users come, before anything counts; only without a rate.
    pub ramp_up: Duration,
    /// How long a request may take.
    pub timeout: Duration,
    /// Threads that load, each with its share of the users; absent: one.
    pub threads: Option<usize>,
    /// Hosts off loopback that may be loaded.
    pub may_load: Vec<String>,
}

/// A rate of requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Requests per second.
    pub per_second: f64,
    /// How their intended starts lie.
    pub arrivals: Arrivals,
    /// Seed of what is drawn.
    pub seed: u64,
}

impl QuickLoad {
    /// One GET on `url` by one user on a kept connection.
    pub fn new(url: impl Into<String>) -> QuickLoad {
        QuickLoad {
            url: url.into(),
            requests: None,
            duration: None,
            concurrency: 1,
            connection: Connection::KeepAlive,
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            tls: ClientSettings::default(),
            rate: None,
            ramp_up: Duration::ZERO,
            timeout: super::REQUEST_TIMEOUT,
            threads: None,
            may_load: Vec::new(),
        }
    }
}

/// Loads one URL.
///
/// # Errors
/// A URL that is none, a host that may not be loaded, a load of nobody, or a generator that cannot start.
pub fn quick(load: &QuickLoad, stop: &StopFlag) -> Result<QuickResult, RunError> {
    let target =
        Target::parse(&load.url).map_err(|error| RunError::Usage(format!("`{}`: {error}", secret::hide(&load.url))))?;
    check_loadable(target.host(), &load.may_load).map_err(|error| RunError::Usage(error.to_string()))?;
    let threads = load.threads.unwrap_or(1).min(load.concurrency);
    if threads == 0 {
        return Err(RunError::Usage("there must be at least 1 user and 1 thread".to_owned()));
    }
    let shape = RequestShape {
        format: None,
        detail: None,
        key: Vec::new(),
        method: load.method.clone(),
        headers: load.headers.clone(),
        body: load.body.clone(),
        contains: None,
        answer: crate::experiment::AnswerShape::default(),
    };
    let target = Arc::new(
        LoadTarget::new(target, shape, &[], load.connection)
            .map_err(|error| RunError::Usage(error.to_string()))?
            .with_tls(load.tls.clone()),
    );
    Connector::new(target.tls.clone()).prepare(&target.target).map_err(RunError::Usage)?;
    ports::check(load.concurrency, load.connection).map_err(RunError::Usage)?;
    let cores = Cores::divide();
    let workers: Vec<Worker> = (0..threads)
        .map(|index| Worker::start(cores.generator.get(index).copied(), load.timeout))
        .collect::<Result<_, _>>()
        .map_err(RunError::Failed)?;
    let cancels = order(load, &workers, &target);
    let (reports, interrupted) = collect(&workers, cancels, stop);
    Ok(QuickResult::of(load, &reports, interrupted))
}

fn order(load: &QuickLoad, workers: &[Worker], target: &Arc<LoadTarget>) -> Vec<oneshot::Sender<()>> {
    let requests = match (load.requests, load.duration) {
        (None, None) => Some(1),
        (requests, _) => requests,
    };
    let end = End { after: load.duration, units: requests };
    let all = match load.rate {
        None => Load::from(Closed { users: load.concurrency, end, ramp_up: load.ramp_up }),
        Some(Rate { per_second, arrivals, seed }) => Load::from(Open {
            rate_per_second: per_second,
            arrivals,
            users_max: load.concurrency,
            end,
            seed,
            lane: Lane::WHOLE,
        }),
    };
    let mut cancels = Vec::new();
    for (index, worker) in workers.iter().enumerate() {
        let (cancel, cancelled) = oneshot::channel();
        cancels.push(cancel);
        worker.run(Order {
            slot: 0,
            target: Arc::clone(target),
            work: Work::Request,
            load: all.share(index, workers.len()),
            course: Course::Unrecorded,
            recorder: Recorder::default(),
            cancel: cancelled,
        });
    }
    cancels
}

fn collect(workers: &[Worker], cancels: Vec<oneshot::Sender<()>>, stop: &StopFlag) -> (Vec<Report>, bool) {
    let mut cancels = Some(cancels);
    let reports = workers
        .iter()
        .map(|worker| {
            loop {
                if let Some(report) = worker.report(LOOK_EVERY) {
                    return report;
                }
                if stop.is_stopped() {
                    // Dropping the senders cancels all workers alike.
                    cancels = None;
                }
            }
        })
        .collect::<Vec<Report>>();
    let interrupted = reports.iter().any(|report| report.end == ReportEnd::Cancelled);
    drop(cancels);
    (reports, interrupted)
}
