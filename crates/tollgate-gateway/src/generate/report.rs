//! What became of a batch: the figures as one document, and the sums that they are made of.
//!
//! It deliberately renders no text: that is the command line's.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use schemars::JsonSchema;
use serde::Serialize;

/// Documents that were set aside of which a report keeps what was wrong.
const ERRORS_MAX: usize = 10;

/// What became of a batch. Times in microseconds are sums over all documents.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "tollgate generate")]
pub struct Report {
    /// How it ended.
    pub ended: Ended,
    /// Why, where it failed.
    pub reason: Option<String>,
    /// Documents that are stored or set aside.
    pub documents: u64,
    /// Documents whose result was stored.
    pub stored: u64,
    /// Documents that were set aside since something is wrong with them.
    pub set_aside: u64,
    /// What is wrong with the first of them.
    pub first_errors: Vec<SetAside>,
    /// Documents that wait still.
    pub left: Option<u64>,
    /// Work processes.
    pub processes: usize,
    /// From the first claim to the last commit, in milliseconds.
    pub batch_ms: f64,
    /// How long it took before that to open all connections and to prepare their statements, in milliseconds.
    pub connect_ms: f64,
    /// Round trips to the database for those documents, from `BEGIN` to the answer to `COMMIT`.
    pub round_trips: u64,
    /// The same for each.
    pub round_trips_per_document: f64,
    /// Round trips besides, to no document's good: claims that found none, counts, what was done in vain.
    pub round_trips_besides: u64,
    /// Time spent computing, as a clock on the wall has it.
    pub compute_us: u64,
    /// Time in which an answer of the database was waited for.
    pub database_us: u64,
    /// Time in which a document waited for a core.
    pub waiting_us: u64,
    /// User and system time of the process from the first claim to the last commit.
    pub cpu_us: u64,
    /// Documents a second.
    pub documents_per_second: f64,
    /// How often a connection was opened again.
    pub reconnects: u64,
}

/// How a batch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// No document was found any more that waits.
    Complete,
    /// Documents wait still, in the hands of another session that did not let go of them for seconds.
    HeldElsewhere,
    /// It was told to stop.
    Interrupted,
    /// The database, or this machine, did not let it go on.
    Failed,
}

/// A document that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SetAside {
    /// Its key.
    pub key: String,
    /// What is wrong with it.
    pub error: String,
}

/// What the work processes add up.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) stored: u64,
    pub(super) set_aside: u64,
    pub(super) first_errors: Vec<SetAside>,
    pub(super) round_trips: u64,
    /// Of all connections, whatever they were for.
    pub(super) round_trips_in_all: u64,
    pub(super) times: Times,
    pub(super) reconnects: u64,
    pub(super) last_commit: Option<Moment>,
}

/// Where the time of documents went.
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
    /// A document was set aside.
    pub(super) fn note_error(&mut self, key: &dyn std::fmt::Display, error: &str) {
        if self.first_errors.len() < ERRORS_MAX {
            self.first_errors.push(SetAside { key: key.to_string(), error: error.to_owned() });
        }
    }

    /// A document is stored or set aside: its round trips and its time.
    pub(super) fn add(&mut self, round_trips: u64, times: Times) {
        self.round_trips += round_trips;
        self.times.compute += times.compute;
        self.times.database += times.database;
        self.times.waiting += times.waiting;
        self.last_commit = Some(Moment::now());
    }

    /// What came of them from `begun` on, after `connect` was taken to open the connections.
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
