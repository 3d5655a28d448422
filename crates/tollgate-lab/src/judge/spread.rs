//! Response times in other forms than percentiles of a whole cell: in bins of one width, and by groups of blocks.
//!
//! Pure: histograms in, stored figures out.

use hdrhistogram::Histogram;

use super::cells::{NS_PER_MS, quantile_ms};
use tollgate_facts::results::{Linear, RateGroup};
use tollgate_facts::stats::percentile;
use tollgate_facts::toll::GROUPS_MIN;

/// Widths of bins in milliseconds; the first one with few overflowing answers is taken. The published width is 2 ms.
const BINS_MS: [f64; 5] = [0.02, 0.1, 0.5, 2.0, 10.0];
/// Most bins.
const BINS_MAX: usize = 150;
/// Share of the answers that may lie beyond the last bin.
const OVERFLOW_SHARE_MAX: f64 = 0.02;
/// Answers slower than this are counted by themselves, as was published.
const SLOW_MS: f64 = 200.0;
/// Extra answers in a group beyond what a percentile needs, since trials at random arrivals differ.
const RESERVE: f64 = 1.15;

/// A width of bins that suits all of these histograms, so that they can be laid over each other.
pub fn bin_ms<'a>(all: impl Iterator<Item = &'a Histogram<u64>> + Clone) -> f64 {
    let fits = |bin_ms: &&f64| {
        let end_ns = **bin_ms * BINS_MAX as f64 * NS_PER_MS;
        all.clone().all(|times| share_over(times, end_ns) <= OVERFLOW_SHARE_MAX)
    };
    BINS_MS.iter().find(fits).copied().unwrap_or(BINS_MS[BINS_MS.len() - 1])
}

/// A histogram in nanoseconds in bins of this width.
pub fn linear(times: &Histogram<u64>, bin_ms: f64) -> Linear {
    let (mut counts, mut overflow) = (vec![0_u64; BINS_MAX], 0);
    for value in times.iter_recorded() {
        let bin = (value.value_iterated_to() as f64 / NS_PER_MS / bin_ms) as usize;
        match counts.get_mut(bin) {
            Some(count) => *count += value.count_at_value(),
            None => overflow += value.count_at_value(),
        }
    }
    let used = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    counts.truncate(used);
    Linear {
        bin_ms,
        counts,
        overflow,
        overflow_from_ms: bin_ms * BINS_MAX as f64,
        share_over_200_ms: share_over(times, SLOW_MS * NS_PER_MS),
    }
}

fn share_over(times: &Histogram<u64>, bound_ns: f64) -> f64 {
    let over = times.iter_recorded().filter(|value| value.value_iterated_to() as f64 > bound_ns);
    over.map(|value| value.count_at_value()).sum::<u64>() as f64 / times.len().max(1) as f64
}

/// Percentiles that have tolls, as shares of 1.
const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// Percentiles by groups of blocks, while blocks come in: each percentile has the smallest groups that are large enough
/// for it, the same ones for all variants of a level.
#[derive(Debug)]
pub struct Groups {
    groups: Vec<Group>,
    done: Vec<RateGroup>,
}

#[derive(Debug)]
struct Group {
    /// Place of its percentile in [`QUANTILES`].
    place: usize,
    /// Blocks in each group.
    blocks: u32,
    times: Histogram<u64>,
    /// Blocks in the present one, and its number.
    filled: u32,
    number: u32,
}

impl Groups {
    /// Groups of so many blocks in all, each with about so many answers.
    pub fn new(blocks: u32, answers_per_block: f64) -> Groups {
        let of = |(place, quantile): (usize, f64)| {
            let needed = percentile::samples_needed(quantile) as f64 * RESERVE;
            let size =
                (needed / answers_per_block.max(f64::MIN_POSITIVE)).ceil().clamp(1.0, f64::from(u32::MAX)) as u32;
            let times = crate::load::record::recorder::times();
            // Too few groups say nothing.
            (blocks / size >= GROUPS_MIN).then_some(Group { place, blocks: size, times, filled: 0, number: 0 })
        };
        Groups { groups: QUANTILES.into_iter().enumerate().filter_map(of).collect(), done: Vec::new() }
    }

    /// Adds the answers of one trial; the last one of a block ends it.
    pub fn add(&mut self, times: &Histogram<u64>, is_last_of_block: bool) {
        for group in &mut self.groups {
            group.times.add(times).expect("all histograms have the same bounds");
            group.filled += u32::from(is_last_of_block);
            if group.filled < group.blocks || !is_last_of_block {
                continue;
            }
            let found = quantile_ms(&group.times, QUANTILES[group.place]);
            let only = |place: usize| found.filter(|_| place == group.place);
            self.done.push(RateGroup {
                group: group.number,
                blocks: group.blocks,
                requests: group.times.len(),
                p50_ms: only(0),
                p95_ms: only(1),
                p99_ms: only(2),
            });
            group.times.reset();
            (group.filled, group.number) = (0, group.number + 1);
        }
    }

    /// The groups that are complete.
    pub fn done(&self) -> &[RateGroup] {
        &self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::record::recorder::times;

    fn of_ms(values: &[f64]) -> Histogram<u64> {
        let mut histogram = times();
        values.iter().for_each(|value| histogram.record((value * NS_PER_MS) as u64).unwrap());
        histogram
    }

    #[test]
    fn answers_are_counted_in_bins_of_one_width_and_beyond() {
        let found = linear(&of_ms(&[0.5, 1.0, 2.5, 2.6, 400.0]), 2.0);
        assert_eq!((found.counts.as_slice(), found.overflow, found.overflow_from_ms), (&[2, 2][..], 1, 300.0));
        let found = linear(&of_ms(&[0.5, 1.0, 2.5, 250.0]), 2.0);
        assert_eq!((found.counts.len(), found.counts[125], found.overflow), (126, 1, 0));
        assert!((found.share_over_200_ms - 0.25).abs() < 1e-9);
        assert_eq!(linear(&times(), 2.0), Linear { bin_ms: 2.0, overflow_from_ms: 300.0, ..Linear::default() });
    }

    #[test]
    fn the_bins_are_as_narrow_as_all_can_have_them() {
        let check = |all: &[&[f64]], expected: f64| {
            let all: Vec<Histogram<u64>> = all.iter().map(|values| of_ms(values)).collect();
            assert!((bin_ms(all.iter()) - expected).abs() < f64::EPSILON);
        };
        check(&[&[0.1, 2.9]], 0.02);
        check(&[&[0.1], &[40.0]], 0.5);
        check(&[&[5000.0]], 10.0);
        check(&[], 0.02);
    }

    #[test]
    fn every_percentile_has_groups_that_are_large_enough_for_it_or_none() {
        let mut groups = Groups::new(12, 200.0);
        let block = of_ms(&(1..=100).map(f64::from).collect::<Vec<_>>());
        for _ in 0..12 {
            groups.add(&block, false);
            groups.add(&block, true);
        }
        let medians = groups.done().iter().filter(|group| group.p50_ms.is_some());
        assert_eq!(medians.count(), 12);
        let p95: Vec<&RateGroup> = groups.done().iter().filter(|group| group.p95_ms.is_some()).collect();
        assert_eq!((p95.len(), p95[0].blocks, p95[0].requests, p95[2].group), (3, 4, 800, 2));
        assert!(groups.done().iter().all(|group| group.p99_ms.is_none()), "18 blocks would be one group");
    }
}
