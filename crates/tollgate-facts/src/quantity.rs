//! What may be asked of a cell: each quantity with its name, its unit, and where a result keeps it.
//!
//! It deliberately computes nothing: a quantity that a cell does not hold is absent.

use crate::results::{Cell, Estimate, Figure};

/// A quantity of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Valid answers per second.
    Rps,
    /// Records per second of an insert.
    RecordsPerSecond,
    /// What tolls compare, too.
    Of(Figure),
    /// Most resident memory of the subject.
    Memory,
    /// Mean response time.
    Mean,
    /// Median of the response time.
    P50,
    /// Its 90th percentile.
    P90,
    /// Its 95th percentile.
    P95,
    /// Its 99th percentile.
    P99,
    /// Its 99.9th percentile.
    P999,
    /// Its largest.
    Max,
    /// Failed requests.
    Errors,
    /// Failed requests by all requests.
    ErrorShare,
}

/// A quantity as it was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The figure, in the quantity's unit.
    pub value: f64,
    /// Its 95 % interval; absent where none is stored.
    pub interval: Option<(f64, f64)>,
    /// Blocks behind it; 0 where it has no interval.
    pub blocks: u32,
}

/// Every quantity with its name in thresholds, in the order in which help lists them.
pub const QUANTITIES: &[(&str, Quantity)] = &[
    ("rps", Quantity::Rps),
    ("records-per-second", Quantity::RecordsPerSecond),
    ("time", Quantity::Of(Figure::UnitTime)),
    ("cpu", Quantity::Of(Figure::SubjectCpu)),
    ("bytes", Quantity::Of(Figure::Bytes)),
    ("memory", Quantity::Memory),
    ("mean", Quantity::Mean),
    ("p50", Quantity::P50),
    ("p90", Quantity::P90),
    ("p95", Quantity::P95),
    ("p99", Quantity::P99),
    ("p999", Quantity::P999),
    ("max", Quantity::Max),
    ("p50-at-rate", Quantity::Of(Figure::MedianAtRate)),
    ("p95-at-rate", Quantity::Of(Figure::P95AtRate)),
    ("p99-at-rate", Quantity::Of(Figure::P99AtRate)),
    ("errors", Quantity::Errors),
    ("error-share", Quantity::ErrorShare),
];

/// The figures that tolls compare, by their names in thresholds.
pub fn figures() -> Vec<(&'static str, Figure)> {
    let figure = |(name, quantity): &(&'static str, Quantity)| match quantity {
        Quantity::Of(figure) => Some((*name, *figure)),
        _ => None,
    };
    QUANTITIES.iter().filter_map(figure).collect()
}

impl Quantity {
    /// Unit of its values; empty where the name says it.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Rps | Self::RecordsPerSecond | Self::Errors => "",
            Self::Of(figure) => figure.unit(),
            Self::Memory => "bytes",
            Self::ErrorShare => "%",
            _ => "ms",
        }
    }

    /// Whether it is of the load at equal rate.
    pub fn is_at_rate(self) -> bool {
        matches!(self, Self::Of(figure) if figure.is_at_rate())
    }

    /// Whether it counts failures, which may be read where a cell is refused for them.
    pub fn is_of_errors(self) -> bool {
        matches!(self, Self::Errors | Self::ErrorShare)
    }

    /// What the cell holds of it.
    pub fn of(self, cell: &Cell) -> Option<Found> {
        let times = &cell.response_time_ms;
        let rate = cell.equal_rate.as_ref();
        let at_rate = rate.map(|rate| rate.response_time_ms);
        let failed = cell.errors.values().chain(rate.iter().flat_map(|rate| rate.errors.values())).sum::<u64>();
        let of = |estimate: Estimate| {
            (estimate.n > 0).then(|| Found {
                value: estimate.mean,
                interval: (estimate.n > 1).then_some((estimate.low, estimate.high)),
                blocks: estimate.n,
            })
        };
        let plain = |value: f64| Some(Found { value, interval: None, blocks: 0 });
        let answered = |value: f64| plain(value).filter(|_| cell.requests > 0);
        match self {
            Self::Rps => of(cell.requests_per_second),
            Self::RecordsPerSecond => of(cell.inserted?.records_per_second),
            Self::Of(Figure::UnitTime) => of(cell.unit_time_ms),
            Self::Of(Figure::SubjectCpu) => of(match cell.inserted {
                Some(inserted) => inserted.subject_cpu_us_per_record?,
                None => cell.subject?.cpu_us_per_request,
            }),
            Self::Of(Figure::Bytes) => answered(cell.bytes_per_unit),
            Self::Memory => plain(cell.subject?.resident_memory_bytes_max as f64),
            Self::Mean => answered(times.mean),
            Self::P50 => plain(times.p50?),
            Self::P90 => plain(times.p90?),
            Self::P95 => plain(times.p95?),
            Self::P99 => plain(times.p99?),
            Self::P999 => plain(times.p999?),
            Self::Max => answered(times.max),
            Self::Of(Figure::MedianAtRate) => plain(at_rate?.p50?),
            Self::Of(Figure::P95AtRate) => plain(at_rate?.p95?),
            Self::Of(Figure::P99AtRate) => plain(at_rate?.p99?),
            Self::Errors => plain(failed as f64),
            Self::ErrorShare => {
                let asked = cell.requests + rate.map_or(0, |rate| rate.answered) + failed;
                plain(failed as f64 / asked as f64 * 100.0).filter(|_| asked > 0)
            }
        }
        .filter(|found| found.value.is_finite())
    }
}
