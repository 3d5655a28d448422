//! The rule of time that users who wait hide: their time beyond the highest percentile that is printed.
//!
//! A stall delays each of them once, so it is in no percentile; an open load would have charged it to all requests due
//! meanwhile. The rule estimates no percentile of an open load: only such a load can.

use hdrhistogram::Histogram;

use crate::load::record::recorder::Recorder;
use tollgate_facts::results::{TAIL_SHARE_MAX, Tail};
use tollgate_facts::rules::{Finding, marked};
use tollgate_facts::stats::percentile;

/// Largest mean of the answers beyond a percentile, as a multiple of it: that of the heaviest tail that counts as usual
/// (Pareto with index 1.5, at any percentile). Exponential times have 1.2 at p99, lognormal ones of a standard
/// deviation of 1 have 1.5.
const MEAN_BY_PERCENTILE_MAX: f64 = 3.0;
/// Least quantile with a tail: below p90 it is the upper half of a few answers, and some of them opened a connection.
const QUANTILE_MIN: f64 = 0.9;
const NS_PER_MS: f64 = 1e6;

/// The answers beyond the highest of these percentiles that may be printed, without those that opened their connection;
/// absent where none may be printed, and for a load at a rate, which hides nothing.
pub(crate) fn tail(recorder: &Recorder, quantiles: impl IntoIterator<Item = f64>) -> Option<Tail> {
    if recorder.tally.sends.intended > 0 {
        return None;
    }
    let times: &Histogram<u64> = &recorder.response;
    let printed = quantiles.into_iter().filter(|quantile| percentile::is_available(*quantile, times.len()));
    let quantile = printed.reduce(f64::max)?;
    // 1 - 0.999 is a little above 0.001.
    let answers = ((1.0 - quantile) * times.len() as f64 + 1e-6) as u64;
    let within = times.len() - answers;
    let (mut seen, mut all_ns, mut beyond_ns) = (0, 0.0, 0.0);
    for bucket in times.iter_recorded() {
        let (count, one_ns) = (bucket.count_at_value(), times.median_equivalent(bucket.value_iterated_to()) as f64);
        seen += count;
        all_ns += count as f64 * one_ns;
        beyond_ns += seen.saturating_sub(within).min(count) as f64 * one_ns;
    }
    // To open a connection is no stall, and told by itself. Where that is quick its answers are not in the tail.
    let from_ns = times.value_at_quantile(quantile) as f64;
    let opened = recorder.phases.as_ref().map(|phases| phases.all());
    let opened = opened.filter(|(count, total_ns)| *total_ns > *count as f64 * from_ns);
    let (opened, opened_ns) = opened.unwrap_or_default();
    let (answers, beyond_ns) = (answers.saturating_sub(opened), (beyond_ns - opened_ns).max(0.0));
    all_ns -= opened_ns;
    (answers > 0 && all_ns > 0.0).then(|| Tail {
        quantile,
        from_ms: from_ns / NS_PER_MS,
        answers,
        mean_ms: beyond_ns / answers as f64 / NS_PER_MS,
        time_share: beyond_ns / all_ns,
    })
}

/// Marks a load if more of its users' time is beyond the percentile than a usual tail has.
pub(crate) fn hidden(tail: Option<Tail>, remedy: &'static str) -> Option<Finding> {
    let tail = tail.filter(|tail| tail.quantile >= QUANTILE_MIN && tail.time_share > TAIL_SHARE_MAX)?;
    let Tail { from_ms, answers, mean_ms, time_share, .. } = tail;
    let reason = format!(
        "{:.1} % of the users' time lay beyond {} ({from_ms:.3} ms): its {answers} answers took {mean_ms:.1} ms on average, \
         and users who wait meet a stall once each",
        time_share * 100.0,
        tail.percentile(),
    );
    (mean_ms > MEAN_BY_PERCENTILE_MAX * from_ms).then(|| marked(reason, remedy, (time_share, TAIL_SHARE_MAX)))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use tollgate_facts::fixture::Noise;

    /// Answers that took so long, in milliseconds.
    fn recorded(times_ms: impl IntoIterator<Item = f64>) -> Recorder {
        let start = Instant::now();
        let mut recorder = Recorder::default();
        for ms in times_ms {
            recorder.answer(start, start, start + Duration::from_secs_f64(ms / 1e3));
        }
        recorder
    }

    fn found(recorder: &Recorder) -> Tail {
        tail(recorder, [0.5, 0.9, 0.95, 0.99, 0.999]).unwrap()
    }

    fn is_marked(recorder: &Recorder) -> bool {
        hidden(tail(recorder, [0.5, 0.9, 0.95, 0.99, 0.999]), "ask at a rate").is_some()
    }

    #[test]
    fn a_stall_of_2_s_in_7_s_under_four_users_is_29_percent_of_their_time_and_marked() {
        // Four users for 7 s: answers of 0.8 ms, and one of 2 s for each.
        let stalled = recorded((0..25_000).map(|_| 0.8).chain([2000.0; 4]));
        let tail = found(&stalled);
        assert_eq!((tail.quantile, tail.answers, tail.percentile().as_str()), (0.99, 250, "p99"));
        assert!((tail.time_share - (8.0 + 0.246 * 0.8) / 28.0).abs() < 2e-3, "{tail:?}");
        let found = hidden(Some(tail), "ask at a rate").unwrap();
        let reason = &found.reason;
        assert!(reason.starts_with("29.3 % of the users' time lay beyond p99 (0.800 ms): its 250 answers"), "{reason}");
        // Of more answers it lies beyond p99.9, which hides it as well.
        let longer = recorded((0..35_000).map(|_| 0.8).chain([2000.0; 4]));
        assert!(is_marked(&longer) && self::found(&longer).percentile() == "p99.9");
    }

    #[test]
    fn what_is_alike_or_has_an_exponential_or_a_usual_long_tail_hides_nothing() {
        let constant = recorded([0.8; 4_000]);
        assert!((found(&constant).time_share - 0.01).abs() < 1e-6 && !is_marked(&constant));
        let check = |draw: &dyn Fn(&mut Noise) -> f64, sizes: &[u64], expected_share: Option<f64>| {
            for answers in sizes.iter().copied() {
                let mut noise = Noise::of(answers);
                let marked = (0..20).filter(|_| is_marked(&recorded((0..answers).map(|_| draw(&mut noise))))).count();
                assert_eq!(marked, 0, "of 20 loads of {answers} answers");
            }
            let mut noise = Noise::of(3);
            let tail = found(&recorded((0..20_000).map(|_| draw(&mut noise))));
            assert!(expected_share.is_none_or(|share| (tail.time_share / share - 1.0).abs() < 0.1), "{tail:?}");
        };
        // Beyond p99 of an exponential time lie 0.01 (1 + ln 100) of it.
        let sizes = [300, 1_000, 4_000, 40_000];
        check(&|noise| -(1.0 - noise.uniform()).ln(), &sizes, Some(0.0561));
        check(&|noise| noise.normal().exp(), &sizes, Some(0.0924));
        // A tenth of the answers take twenty times as long: p99 shows what they take.
        check(&|noise| if noise.uniform() < 0.1 { 20.0 } else { 1.0 }, &sizes[2..], None);
    }

    #[test]
    fn a_load_at_a_rate_hides_nothing_and_of_a_few_answers_nothing_is_said() {
        let mut open = recorded((0..4_000).map(|_| 0.8).chain([2000.0; 4]));
        assert!(tail(&open, [0.99]).is_some());
        open.tally.sends.intended = 4_004;
        assert_eq!(tail(&open, [0.99]), None);
        assert_eq!(tail(&recorded([1.0; 59]), [0.5, 0.9]), None);
        // The first answers open a connection: of a few that is not hidden, as no percentile hides it.
        assert!(!is_marked(&recorded((0..100).map(|place| if place < 50 { 10.0 } else { 0.5 }))));
    }

    #[test]
    fn to_open_connections_is_no_stall() {
        // 20 users whose first answers take a handshake more.
        let mut opening = recorded((0..980).map(|_| 1.0).chain([16.0; 20]));
        assert!(is_marked(&opening));
        let phases = opening.phases.get_or_insert_default();
        phases.tls.record_n(15_000_000, 20).unwrap();
        for part in [&mut phases.connect, &mut phases.waited, &mut phases.first_byte] {
            part.record_n(300_000, 20).unwrap();
        }
        assert!(!is_marked(&opening));
        // Many that are opened quickly, and a long tail that is no stall: none of them is in it.
        let mut quick = recorded((0..9_000).map(|_| 1.0).chain((0..1_000).map(|at| 2.0 + f64::from(at) / 100.0)));
        let before = tail(&quick, [0.99]);
        let phases = quick.phases.get_or_insert_default();
        phases.connect.record_n(100_000, 64).unwrap();
        phases.first_byte.record_n(1_000_000, 64).unwrap();
        assert_eq!(tail(&quick, [0.99]), before);
    }
}
