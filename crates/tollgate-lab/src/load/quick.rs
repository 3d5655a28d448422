//! A quick load of one URL, as ApacheBench does it, on the same engine as the experiments.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::oneshot;
use tollgate_net::http1::client::Target;

use super::little::LittlesLaw;
use super::model::{Closed, End, Load};
use super::recorder::{Course, Recorder};
use super::target::{Connection, LoadTarget};
use super::worker::{Order, Report, ReportEnd, Work, Worker};
use crate::cells;
use crate::cores::Cores;
use crate::experiment::RequestShape;
use crate::results::Percentiles;
use crate::run::{Certificates, RunError, StopFlag};
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
    /// How certificates are judged.
    pub certificates: Certificates,
    /// How long a request may take.
    pub timeout: Duration,
    /// Threads that load, each with its share of the users; absent: one.
    pub threads: Option<usize>,
    /// Hosts off loopback that may be loaded.
    pub may_load: Vec<String>,
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
            certificates: Certificates::Verified,
            timeout: super::REQUEST_TIMEOUT,
            threads: None,
            may_load: Vec::new(),
        }
    }
}

/// What a quick load found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuickResult {
    /// The URL, without its secrets.
    pub url: String,
    /// Users.
    pub concurrency: usize,
    /// Valid answers: whole ones with a status of 2xx.
    pub requests: u64,
    /// Failed requests by class.
    pub errors: BTreeMap<String, u64>,
    /// The first failure's text for each class.
    pub error_examples: BTreeMap<String, String>,
    /// From the first request to the last answer.
    pub duration_ms: f64,
    /// Valid answers per second.
    pub requests_per_second: f64,
    /// From the intended start to the last byte.
    pub response_time_ms: Percentiles,
    /// From the send to the last byte.
    pub service_time_ms: Percentiles,
    /// Points of the response time's distribution: share of requests (0 to 1) and the time in milliseconds.
    pub curve: Vec<(f64, f64)>,
    /// Head and body bytes received.
    pub bytes_received: u64,
    /// Head and body bytes sent.
    pub bytes_sent: u64,
    /// Connections opened.
    pub connections: u64,
    /// The generator's CPU time for one request, in microseconds.
    pub generator_cpu_us_per_request: f64,
    /// CPU time of the generator's busiest thread by wall time: above 0.8 it is the limit.
    pub generator_cpu_share: f64,
    /// Users as they were asked for, held against what the records find; absent for a load that was cut off.
    pub littles_law: Option<LittlesLaw>,
    /// Whether it was stopped before its bound.
    pub interrupted: bool,
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
    };
    let target = Arc::new(
        LoadTarget::new(target, shape, &[], load.connection)
            .map_err(|error| RunError::Usage(error.to_string()))?
            .with_tls(load.certificates),
    );
    let cores = Cores::divide();
    let workers: Vec<Worker> = (0..threads)
        .map(|index| Worker::start(cores.generator.get(index).copied(), load.timeout))
        .collect::<Result<_, _>>()
        .map_err(RunError::Failed)?;
    let cancels = order(load, &workers, &target);
    let (reports, interrupted) = collect(&workers, cancels, stop);
    Ok(summary(load, &reports, interrupted))
}

fn order(load: &QuickLoad, workers: &[Worker], target: &Arc<LoadTarget>) -> Vec<oneshot::Sender<()>> {
    let requests = match (load.requests, load.duration) {
        (None, None) => Some(1),
        (requests, _) => requests,
    };
    let all = Load::from(Closed::new(load.concurrency, End { after: load.duration, units: requests }));
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

fn summary(load: &QuickLoad, reports: &[Report], interrupted: bool) -> QuickResult {
    let mut all = Recorder::default();
    for report in reports {
        all.add(&report.recorder);
    }
    let started = reports.iter().map(|report| report.started).min().unwrap_or_else(Instant::now);
    let finished = reports.iter().map(|report| report.finished).max().unwrap_or(started);
    let wall = finished.duration_since(started);
    let cpu_ns: u64 = reports.iter().map(|report| report.used.cpu_ns).sum();
    let busiest_ns = reports.iter().map(|report| report.used.cpu_ns).max().unwrap_or(0);
    let tally = &all.tally;
    let asked = (tally.requests + tally.failures()).max(1);
    let littles_law = LittlesLaw::of(&all, load.concurrency as u64, wall.as_secs_f64() * 1e3);
    QuickResult {
        url: secret::hide(&load.url),
        concurrency: load.concurrency,
        requests: tally.requests,
        errors: tally.errors.iter().map(|error| (error.class.name(), error.count)).collect(),
        error_examples: tally.errors.iter().map(|error| (error.class.name(), error.example.clone())).collect(),
        duration_ms: wall.as_secs_f64() * 1e3,
        requests_per_second: tally.requests as f64 / wall.as_secs_f64().max(1e-9),
        response_time_ms: cells::percentiles(&all.response),
        service_time_ms: cells::percentiles(&all.service),
        curve: cells::curve(&all.response),
        bytes_received: tally.received_bytes,
        bytes_sent: tally.sent_bytes,
        connections: tally.connections,
        generator_cpu_us_per_request: cpu_ns as f64 / 1e3 / asked as f64,
        generator_cpu_share: busiest_ns as f64 / wall.as_nanos().max(1) as f64,
        littles_law: littles_law.filter(|_| !interrupted),
        interrupted,
    }
}
