//! The quantities of a cell, each with its name, its unit, and its place in a result.
//!
//! It deliberately computes nothing: a quantity that a cell does not contain is absent.

use crate::results::load::QuickResult;
use crate::results::{Cell, Estimate, Figure, PercentileIntervals, Percentiles, Rank};

/// A quantity of one cell.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    /// Its name in thresholds.
    pub name: &'static str,
    /// Unit of its values; empty where the name says it.
    pub unit: &'static str,
    /// The figure by which tolls compare it; absent if they do not.
    pub figure: Option<Figure>,
    /// The reason why a cell may lack it.
    pub missing: &'static str,
    of: fn(&Cell) -> Option<Estimate>,
}

const UNMEASURED: &str = "nothing was measured";
const UNWATCHED: &str = "the subject's process was not watched";
const UNCOUNTED: &str = "instructions of the subject's process were not counted";
const TOO_FEW: &str = "fewer than 30 requests were slower: take more blocks";
const NOT_AT_RATE: &str = "it was not measured at equal rate, or by too few requests";

/// Failed requests.
pub const ERRORS: Quantity = one("errors", "", UNMEASURED, |cell| plain(failed(cell) as f64));

/// Failed requests by all requests.
pub const ERROR_SHARE: Quantity = one("error-share", "%", UNMEASURED, |cell| {
    let asked = cell.requests + cell.equal_rate.as_ref().map_or(0, |rate| rate.answered) + failed(cell);
    plain(failed(cell) as f64 / asked as f64 * 100.0).filter(|_| asked > 0)
});

/// Every quantity, in the order in which help lists them.
pub const QUANTITIES: &[Quantity] = &[
    one("rps", "", UNMEASURED, |cell| estimated(cell.requests_per_second)),
    one("records-per-second", "", "nothing was inserted", |cell| estimated(cell.inserted?.records_per_second)),
    one("time", "ms", UNMEASURED, |cell| estimated(cell.unit_time_ms)).compared(Figure::UnitTime),
    one("cpu", "us", UNWATCHED, |cell| match cell.inserted {
        Some(inserted) => estimated(inserted.subject_cpu_us_per_record?),
        None => estimated(cell.subject?.cpu_us_per_request),
    })
    .compared(Figure::SubjectCpu),
    one("instructions", "", UNCOUNTED, |cell| match cell.inserted {
        Some(inserted) => estimated(inserted.subject_instructions_per_record?),
        None => estimated(cell.subject?.instructions_per_request?),
    })
    .compared(Figure::Instructions),
    one("bytes", "bytes", UNMEASURED, |cell| answered(cell, cell.bytes_per_unit)).compared(Figure::Bytes),
    one("memory", "bytes", UNWATCHED, |cell| plain(cell.subject?.memory_bytes()? as f64)),
    one("mean", "ms", UNMEASURED, |cell| answered(cell, cell.response_time_ms.mean)),
    one("p50", "ms", TOO_FEW, |cell| waiting(cell, Rank::P50)),
    one("p90", "ms", TOO_FEW, |cell| waiting(cell, Rank::P90)),
    one("p95", "ms", TOO_FEW, |cell| waiting(cell, Rank::P95)),
    one("p99", "ms", TOO_FEW, |cell| waiting(cell, Rank::P99)),
    one("p999", "ms", TOO_FEW, |cell| waiting(cell, Rank::P999)),
    one("max", "ms", UNMEASURED, |cell| answered(cell, cell.response_time_ms.max)),
    one("p50-at-rate", "ms", NOT_AT_RATE, |cell| at_rate(cell, Rank::P50)).compared(Figure::MedianAtRate),
    one("p95-at-rate", "ms", NOT_AT_RATE, |cell| at_rate(cell, Rank::P95)).compared(Figure::P95AtRate),
    one("p99-at-rate", "ms", NOT_AT_RATE, |cell| at_rate(cell, Rank::P99)).compared(Figure::P99AtRate),
    ERRORS,
    ERROR_SHARE,
];

const fn one(
    name: &'static str,
    unit: &'static str,
    missing: &'static str,
    of: fn(&Cell) -> Option<Estimate>,
) -> Quantity {
    Quantity { name, unit, figure: None, missing, of }
}

impl Quantity {
    const fn compared(self, figure: Figure) -> Quantity {
        Quantity { figure: Some(figure), ..self }
    }

    /// The cell's value, in its unit; of 0 blocks if no interval is stored.
    pub fn of(self, cell: &Cell) -> Option<Estimate> {
        (self.of)(cell).filter(|found| found.mean.is_finite())
    }

    /// Whether a single load has it.
    pub fn is_of_load(self) -> bool {
        const OF_LOAD: [&str; 9] = ["rps", "mean", "p50", "p90", "p95", "p99", "p999", "max", "bytes"];
        OF_LOAD.contains(&self.name) || self.is_of_errors()
    }

    /// A single load's value.
    pub fn of_load(self, load: &QuickResult) -> Option<Estimate> {
        // A cell's throughput is a mean of blocks; a single load has none.
        if self.name == "rps" {
            return plain(load.requests_per_second);
        }
        self.of(&Cell {
            requests: load.requests,
            errors: load.errors.clone(),
            response_time_ms: load.response_time_ms,
            response_interval_ms: load.response_interval_ms,
            bytes_per_unit: load.bytes_received as f64 / load.requests.max(1) as f64,
            ..Cell::default()
        })
    }

    /// Whether it belongs to the load at equal rate.
    pub fn is_at_rate(self) -> bool {
        self.figure.is_some_and(Figure::is_at_rate)
    }

    /// Whether it counts failures, which can be trusted even in a cell that is refused for them.
    pub fn is_of_errors(self) -> bool {
        [ERRORS, ERROR_SHARE].contains(&self)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Quantity) -> bool {
        self.name == other.name
    }
}

impl Eq for Quantity {}

impl Figure {
    /// The cell's value of it.
    pub(crate) fn of_cell(self, cell: &Cell) -> Option<Estimate> {
        QUANTITIES.iter().find(|quantity| quantity.figure == Some(self))?.of(cell)
    }
}

fn estimated(estimate: Estimate) -> Option<Estimate> {
    Some(estimate).filter(|estimate| estimate.n > 0)
}

fn plain(value: f64) -> Option<Estimate> {
    Some(Estimate { mean: value, low: value, high: value, n: 0 })
}

fn answered(cell: &Cell, value: f64) -> Option<Estimate> {
    plain(value).filter(|_| cell.requests > 0)
}

fn waiting(cell: &Cell, rank: Rank) -> Option<Estimate> {
    percentile(cell.response_time_ms, cell.response_interval_ms, rank)
}

fn at_rate(cell: &Cell, rank: Rank) -> Option<Estimate> {
    let rate = cell.equal_rate.as_ref()?;
    percentile(rate.response_time_ms, rate.response_interval_ms, rank)
}

/// A percentile with its interval; without one in results that do not have intervals.
fn percentile(times: Percentiles, intervals: Option<PercentileIntervals>, rank: Rank) -> Option<Estimate> {
    let time_ms = times.at(rank)?;
    intervals.map_or_else(|| plain(time_ms), |intervals| Some(intervals.estimate(rank, time_ms)))
}

/// Failures of both loads.
fn failed(cell: &Cell) -> u64 {
    let at_rate = cell.equal_rate.iter().flat_map(|rate| rate.errors.values());
    cell.errors.values().chain(at_rate).sum()
}
