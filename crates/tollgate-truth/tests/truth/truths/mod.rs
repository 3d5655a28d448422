//! The table of truths with its narrow bounds, for a quiet machine: each test checks rows of it and prints a line for each,
//! which `bench/truth/report.py` makes a report of. None is run by a plain `cargo test`.
//!
//! `TOLLGATE_TRUTH_RUNS` says how many comparisons are made of each kind: 100, with which all of it takes three
//! hours on a calm host. The table speaks of 400; its bounds are those of chance for as many as are made. Another
//! `TOLLGATE_TRUTH_SEED` draws everything anew.

mod burdens;
mod calm;
mod clean;
mod counts;
mod percentiles;
mod queues;
mod steadiness;
mod thinking;
mod times;
mod tolls;
mod wrk;

use std::fmt::Display;

use calm::Calm;

/// Comparisons of each kind, unless said otherwise.
const RUNS: u32 = 100;

/// Number of comparisons of each kind.
fn runs() -> u32 {
    match std::env::var("TOLLGATE_TRUTH_RUNS") {
        Err(_) => RUNS,
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("TOLLGATE_TRUTH_RUNS is no number: {text}")),
    }
}

/// Number of repetitions where the table leaves it open: one, and three from 300 comparisons on.
fn repetitions() -> u32 {
    (runs() / RUNS).clamp(1, 3)
}

/// The failed rows, reported at the end; the other rows are checked first.
#[derive(Debug, Default)]
struct Table {
    broken: Vec<String>,
    calm: Calm,
}

impl Table {
    /// Adds a row: the truth, the bound, the finding with its number of runs, and whether it holds.
    #[allow(clippy::print_stdout, reason = "the script that makes a report reads these lines")]
    fn row(&mut self, truth: impl Display, bound: impl Display, found: impl Display, runs: u32, holds: bool) {
        let (again, verdict) = (self.calm.told(), if holds { "holds" } else { "FAILS" });
        let line = format!("{truth} | {bound} | {found}{again} | {runs} | {verdict}");
        println!("truth: {line}");
        if !holds {
            self.broken.push(line);
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.broken.is_empty(), "not so:\n{}", self.broken.join("\n"));
        }
    }
}

/// Reports the part of the table that is left out, with the reason.
#[allow(clippy::print_stdout, reason = "the script that makes a report reads these lines")]
fn skipped(what: impl Display) {
    println!("skipped: {what}");
}

/// The middle of some values; of an even number the mean of both in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}
