//! Report of a batch: the figures as one document, and the sums behind them.
//!
//! It renders no text: the command line does.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use schemars::JsonSchema;
use serde::Serialize;

/// Most documents set aside whose errors a report keeps.
const ERRORS_MAX: usize = 10;

/// Report of a batch. Times in microseconds are sums over all documents.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "tollgate generate")]
pub struct Report {
    /// The batch's end.
    pub ended: Ended,
    /// Reason, if it failed.
    pub reason: Option<String>,
    /// Documents that are stored or set aside.
    pub documents: u64,
    /// Documents whose result was stored.
    pub stored: u64,
    /// Documents that were set aside since something is wrong with them.
    pub set_aside: u64,
    /// Errors of the first of them.
    pub first_errors: Vec<SetAside>,
    /// Documents that wait still.
    pub left: Option<u64>,
    /// Work processes.
    pub processes: usize,
    /// From the first claim to the last commit, in milliseconds.
    pub batch_ms: f64,
    /// Time to open all connections and prepare their statements before that, in milliseconds.
    pub connect_ms: f64,
    /// Round trips to the database for those documents, from `BEGIN` to the answer to `COMMIT`.
    pub round_trips: u64,
    /// The same for each.
    pub round_trips_per_document: f64,
    /// Further round trips that served no document: claims that found none, counts, work in vain.
    pub round_trips_besides: u64,
    /// Time spent computing, by the wall clock.
    pub compute_us: u64,
    /// Time waiting for the database.
    pub database_us: u64,
    /// Time in which a document waited for a core.
    pub waiting_us: u64,
    /// User and system time of the process from the first claim to the last commit.
    pub cpu_us: u64,
    /// Documents a second.
    pub documents_per_second: f64,
    /// Number of reopened connections.
    pub reconnects: u64,
}

/// End of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// No document waits any more.
    Complete,
    /// Some documents still wait, held by another session for seconds.
    HeldElsewhere,
    /// It was asked to stop.
    Interrupted,
    /// The database or the operating system failed.
    Failed,
}

/// A document that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SetAside {
    /// Its key.
    pub key: String,
    /// Its error.
    pub error: String,
}

/// Sums over the work processes.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) stored: u64,
    pub(super) set_aside: u64,
    pub(super) first_errors: Vec<SetAside>,
    pub(super) round_trips: u64,
    /// Of all connections, for any purpose.
    pub(super) round_trips_in_all: u64,
    pub(super) times: Times,
    pub(super) reconnects: u64,
    pub(super) last_commit: Option<Moment>,
}

/// Time of documents, by activity.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) compute: Duration,
    pub(super) database: Duration,
    pub(super) waiting: Duration,
}

/// A moment by two clocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    at: Instant,
    cpu: Duration,
}

impl Moment {
    pub(super) fn now() -> Moment {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        // A clock of the kernel is not negative.
        let (seconds, nanoseconds) = (u64::try_from(cpu.tv_sec), u32::try_from(cpu.tv_nsec));
        Moment { at: Instant::now(), cpu: Duration::new(seconds.unwrap_or(0), nanoseconds.unwrap_or(0)) }
    }

    fn since(&self, earlier: &Moment) -> (Duration, Duration) {
        (self.at.duration_since(earlier.at), self.cpu.saturating_sub(earlier.cpu))
    }
}

impl Sums {
    /// Records a document that was set aside.
    pub(super) fn note_error(&mut self, key: &dyn std::fmt::Display, error: &str) {
        if self.first_errors.len() < ERRORS_MAX {
            self.first_errors.push(SetAside { key: key.to_string(), error: error.to_owned() });
        }
    }

    /// Adds a document that is stored or set aside: its round trips and its time.
    pub(super) fn add(&mut self, round_trips: u64, times: Times) {
        self.round_trips += round_trips;
        self.times.compute += times.compute;
        self.times.database += times.database;
        self.times.waiting += times.waiting;
        self.last_commit = Some(Moment::now());
    }

    /// Report of the batch from `begun` on, after `connect` for opening the connections.
    pub(super) fn report(self, begun: &Moment, connect: Duration, processes: usize) -> Report {
        let (wall, cpu) = self.last_commit.map_or_else(Default::default, |last| last.since(begun));
        let documents = self.stored + self.set_aside;
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let microseconds = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        Report {
            ended: Ended::Complete,
            reason: None,
            documents,
            stored: self.stored,
            set_aside: self.set_aside,
            first_errors: self.first_errors,
            left: None,
            processes,
            batch_ms: milliseconds(wall),
            connect_ms: milliseconds(connect),
            round_trips: self.round_trips,
            round_trips_per_document: ratio(self.round_trips as f64, documents as f64),
            round_trips_besides: self.round_trips_in_all.saturating_sub(self.round_trips),
            compute_us: microseconds(self.times.compute),
            database_us: microseconds(self.times.database),
            waiting_us: microseconds(self.times.waiting),
            cpu_us: microseconds(cpu),
            documents_per_second: ratio(documents as f64, wall.as_secs_f64()),
            reconnects: self.reconnects,
        }
    }
}
