//! Intervals of percentiles, from clusters of answers and the distribution of all of them.
//!
//! Pure: records in, stored figures out.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::cells::NS_PER_MS;
use crate::load::record::coarse::Coarse;
use crate::load::record::recorder::Recorder;
use tollgate_facts::results::{PercentileIntervals, Within};
use tollgate_facts::stats::between_starts::STARTS_MIN;
use tollgate_facts::stats::percentile;
use tollgate_facts::stats::percentile_interval::{Cluster, shares};

/// The interval of a quantile of these times, from each cluster's share of answers beyond a time in nanoseconds; also
/// absent where the percentile is not printed.
pub(crate) fn interval(times: &Histogram<u64>, quantile: f64, clusters: &[Cluster]) -> Option<Within> {
    let found = shares(quantile, clusters).filter(|_| percentile::is_available(quantile, times.len()))?;
    let at = |share: f64| times.value_at_quantile(share);
    Some(Within {
        low: times.lowest_equivalent(at(found.low)) as f64 / NS_PER_MS,
        high: found.high.map(|share| at(share) as f64 / NS_PER_MS),
    })
}

/// The intervals of all percentiles of these times, over so many clusters.
pub(crate) fn intervals(times: &Histogram<u64>, clusters: impl Fn(u64) -> Vec<Cluster>) -> Option<PercentileIntervals> {
    let of = |quantile: f64| interval(times, quantile, &clusters(times.value_at_quantile(quantile)));
    let count = clusters(0).iter().filter(|cluster| cluster.answers > 0.0).count() as u32;
    (!times.is_empty()).then(|| PercentileIntervals {
        p50: of(0.5),
        p90: of(0.9),
        p95: of(0.95),
        p99: of(0.99),
        p999: of(0.999),
        clusters: count,
    })
}

/// The distributions of a cell's trials, by start and block.
#[derive(Debug, Default)]
pub(crate) struct ByBlock {
    response: BTreeMap<(u32, u32), Coarse>,
    iterations: BTreeMap<(u32, u32), Coarse>,
}

impl ByBlock {
    /// Adds the times that a trial of this start and block recorded.
    pub(crate) fn add(&mut self, block: (u32, u32), recorder: &Recorder) {
        self.response.entry(block).or_default().add(&recorder.response);
        if let Some(stepped) = &recorder.stepped {
            self.iterations.entry(block).or_default().add(&stepped.iterations);
        }
    }

    /// The intervals of response times; `times` are all of them.
    pub(crate) fn of_response(&self, times: &Histogram<u64>) -> Option<PercentileIntervals> {
        over(&self.response, times)
    }

    /// The intervals of a scenario's iterations; `times` are all of them.
    pub(crate) fn of_iterations(&self, times: &Histogram<u64>) -> Option<PercentileIntervals> {
        over(&self.iterations, times)
    }
}

/// The intervals over starts where there are enough, like those of other figures; else over blocks.
fn over(blocks: &BTreeMap<(u32, u32), Coarse>, times: &Histogram<u64>) -> Option<PercentileIntervals> {
    let mut starts: BTreeMap<u32, Coarse> = BTreeMap::new();
    for ((start, _), block) in blocks {
        starts.entry(*start).or_default().join(block);
    }
    let clusters = |ns: u64| match starts.len() < STARTS_MIN {
        true => blocks.values().map(|block| block.cluster(ns)).collect(),
        false => starts.values().map(|start| start.cluster(ns)).collect(),
    };
    intervals(times, clusters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::record::recorder::times;
    use tollgate_facts::fixture::Noise;

    /// So many blocks of 500 exponential times with a mean of 1 ms, each times a factor of its start and of its own.
    fn blocks(starts: u32, each: u32, factor: impl Fn(u32, u32) -> f64) -> (ByBlock, Histogram<u64>) {
        let (mut noise, mut by_block, mut all) = (Noise::of(7), ByBlock::default(), times());
        for (start, block) in (0..starts).flat_map(|start| (0..each).map(move |block| (start, block))) {
            let mut recorder = Recorder::default();
            for _ in 0..500 {
                let ns = -(1.0 - noise.uniform()).ln() * factor(start, block) * NS_PER_MS;
                recorder.response.saturating_record(ns as u64);
            }
            all.add(&*recorder.response).unwrap();
            by_block.add((start, block), &recorder);
        }
        (by_block, all)
    }

    #[test]
    fn each_percentile_of_blocks_has_its_own_interval() {
        let (by_block, all) = blocks(1, 16, |_, _| 1.0);
        let found = by_block.of_response(&all).unwrap();
        assert_eq!((found.clusters, found.p999), (16, None), "8,000 answers have no p99.9");
        for (within, quantile) in [(found.p50, 0.5), (found.p90, 0.9), (found.p95, 0.95), (found.p99, 0.99_f64)] {
            let (within, truth) = (within.unwrap(), -(1.0_f64 - quantile).ln());
            let high = within.high.unwrap();
            assert!(within.low < truth && truth < high && high < 1.25 * within.low, "{quantile}: {within:?}");
        }
        assert_eq!(by_block.of_iterations(&all).unwrap().p50, None, "no scenario was played");
    }

    #[test]
    fn blocks_that_differ_make_it_wide_and_starts_count_where_there_are_two() {
        let width = |starts: u32, each: u32, factor: fn(u32, u32) -> f64| {
            let (by_block, all) = blocks(starts, each, factor);
            let found = by_block.of_response(&all).unwrap();
            (found.clusters, found.p50.map(|within| within.high.unwrap() / within.low))
        };
        let (_, alike) = width(1, 16, |_, _| 1.0);
        let (_, differing) = width(1, 16, |_, block| 1.0 + f64::from(block % 4) / 4.0);
        assert!(differing.unwrap() > 1.2 * alike.unwrap(), "{alike:?} {differing:?}");
        let (clusters, of_starts) = width(6, 6, |start, _| 1.0 + f64::from(start % 2) / 2.0);
        assert!(clusters == 6 && of_starts.unwrap() > 1.3, "{clusters} {of_starts:?}");
        assert_eq!(width(3, 12, |_, _| 1.0), (3, None), "three starts say too little of others");
    }

    #[test]
    fn of_times_that_are_all_alike_it_is_as_wide_as_a_record_is_exact() {
        let (mut by_block, mut all) = (ByBlock::default(), times());
        for block in 0..8 {
            let mut recorder = Recorder::default();
            recorder.response.record_n(5_000_000, 100).unwrap();
            all.add(&*recorder.response).unwrap();
            by_block.add((0, block), &recorder);
        }
        let Within { low, high } = by_block.of_response(&all).unwrap().p50.unwrap();
        assert!(low <= 5.0 && high.is_some_and(|high| high >= 5.0 && high < 1.002 * low), "{low} {high:?}");
    }
}
