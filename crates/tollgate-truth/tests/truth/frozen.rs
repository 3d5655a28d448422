//! A server that is stopped (SIGSTOP) while requests come at a rate: all that came meanwhile waited for it, and the
//! percentiles show it at the true size.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use tollgate_facts::results::load::QuickResult;
use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, Rate, quick};
use tollgate_lab::traffic::model::Arrivals;

use crate::server::{TruthServer, truth_server};

/// A histogram of three significant digits may report a value by this share too low.
const DIGITS_ERROR: f64 = 0.001;

/// Start and end of the time when the server was certainly stopped, and the time when the load was ordered.
pub(crate) struct Frozen {
    pub(crate) ordered: Instant,
    pub(crate) from: Instant,
    pub(crate) until: Instant,
}

/// Sends requests at a constant rate, and stops the server for a while once it has answered some.
pub(crate) fn frozen_within(
    server: &TruthServer,
    (class, requests, per_second): (&str, u64, f64),
    stall: Duration,
) -> (QuickResult, Frozen) {
    let rate = Rate { per_second, arrivals: Arrivals::Constant, seed: 1 };
    let load = QuickLoad {
        rate: Some(rate),
        requests: Some(requests),
        concurrency: 1000,
        ..QuickLoad::new(server.url(&format!("{class}/x")))
    };
    let ordered = Instant::now();
    std::thread::scope(|scope| {
        let loading = scope.spawn(|| quick(&load, &StopFlag::new()).unwrap());
        while server.did(class).count("received") < requests / 10 && !loading.is_finished() {
            std::thread::park_timeout(Duration::from_millis(5));
        }
        let pid = Pid::from_raw(i32::try_from(server.pid()).unwrap()).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        // A process of several threads goes on until one of them has seen the signal: wait until all of them stand.
        waitpid(Some(pid), WaitOptions::UNTRACED).unwrap();
        let from = Instant::now();
        // Nobody sends: this is the stall itself, not a wait for something.
        let (_sender, receiver) = mpsc::channel::<()>();
        let _ = receiver.recv_timeout(stall);
        let until = Instant::now();
        kill_process(pid, Signal::CONT).unwrap();
        (loading.join().unwrap(), Frozen { ordered, from, until })
    })
}

impl Frozen {
    /// Lower bound of a percentile of this many requests at a rate: of those due while the server was frozen, the n-th
    /// came n intervals after the freeze began, and was answered after it ended. `None` if the load ended first, as on
    /// a machine that itself was frozen.
    fn least_ms(&self, share: f64, requests: u64, per_second: f64) -> Option<f64> {
        let beyond = requests - (share * requests as f64).ceil() as u64 + 1;
        let after = Duration::from_secs_f64((beyond + 1) as f64 / per_second);
        let last_due = self.ordered + Duration::from_secs_f64((requests - 1) as f64 / per_second);
        let due = self.from + after;
        (due <= self.until.min(last_due)).then(|| (self.until - due).as_secs_f64() * 1e3)
    }
}

#[test]
fn a_server_that_stands_still_shows_in_the_percentiles_of_an_open_load() {
    const REQUESTS: u64 = 3000;
    const PER_SECOND: f64 = 1000.0;
    let server = truth_server();
    let (found, frozen) = frozen_within(&server, ("plain", REQUESTS, PER_SECOND), Duration::from_millis(400));
    assert_eq!((found.requests, found.errors.len()), (REQUESTS, 0), "{:?}", found.error_examples);
    assert_eq!(found.offered.as_ref().map(|offered| (offered.intended, offered.unsent)), Some((REQUESTS, 0)));
    let times = found.response_time_ms;
    for (share, reported) in [(0.9, times.p90), (0.95, times.p95), (0.99, times.p99), (1.0, Some(times.max))] {
        let reported = reported.expect("there are enough requests");
        if let Some(least_ms) = frozen.least_ms(share, REQUESTS, PER_SECOND) {
            assert!(reported >= least_ms * (1.0 - DIGITS_ERROR), "{share}: {reported}, at least {least_ms}");
        }
    }
}
