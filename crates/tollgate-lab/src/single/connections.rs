//! Checks whether connections of a load differ from each other throughout their lives: then its figures apply to these
//! connections only, and another load gets others.
//!
//! By one-way analysis of variance of means of consecutive answers: by their ranks whether they differ (so that a rare
//! slow response does not count), by their values how much. It looks only at closed users who keep one connection from
//! first response to last: all of them met the same.

use crate::load::record::portions::Portions;
use tollgate_facts::rules::{Finding, marked_above};
use tollgate_facts::stats::between_starts::{Between, among};
use tollgate_facts::stats::mean;

/// Minimum number of responses of a connection that is examined.
const ANSWERS_MIN: u64 = 30;
/// Share of loads in which connections differ this much by chance.
const P_MAX: f64 = 0.001;
/// Connections that differ by less, as a share of the mean, are considered alike.
const DIFFER_SHARE_MAX: f64 = 0.02;

/// Returns a finding if connections differ beyond chance, with the size of the difference.
pub(super) fn differ(connections: &[Portions]) -> Option<Finding> {
    let counted = connections.iter().filter(|connection| connection.answers() >= ANSWERS_MIN);
    let each = counted.clone().map(Portions::each).max()?;
    let means_ns = counted.map(|connection| connection.means_of(each)).filter(|means| !means.is_empty());
    let means_ns: Vec<Vec<f64>> = means_ns.collect();
    let found = |means: &[Vec<f64>]| among(&means.iter().collect::<Vec<_>>());
    found(&ranked(&means_ns)).filter(|found| found.p < P_MAX)?;
    let Between { deviation, .. } = found(&means_ns)?;
    let own_ms: Vec<f64> = means_ns.iter().filter_map(|means| Some(mean(means)? / 1e6)).collect();
    let share = deviation / 1e6 / mean(&own_ms)?;
    let [least, most] = [f64::min, f64::max].map(|of| own_ms.iter().copied().reduce(of).unwrap_or_default());
    let reason = format!(
        "{} connections took {least:.3} to {most:.3} ms on average, each as long as it lived: they differ by \
         {:.1} % beyond chance",
        own_ms.len(),
        share * 1e2
    );
    let remedy =
        "the figures are those of these connections: `tollgate run` draws them anew with each block; or use more (-c)";
    marked_above(reason, remedy, (share, DIFFER_SHARE_MAX))
}

/// The ranks of values among all of them; equal ones share their mean rank.
fn ranked(values: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut all = values.concat();
    all.sort_by(f64::total_cmp);
    let rank = |value: &f64| {
        let [below, up_to] = [all.partition_point(|other| other < value), all.partition_point(|other| other <= value)];
        (below + up_to) as f64 / 2.0
    };
    values.iter().map(|values| values.iter().map(rank).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    type Draw = fn(&mut ChaCha8Rng) -> f64;

    const CONSTANT: Draw = |_| 1.0;
    const EXPONENTIAL: Draw = |random| -(1.0 - random.random_range(0.0..1.0_f64)).ln();
    const BIMODAL: Draw = |random| if random.random_range(0.0..1.0) < 0.9 { 0.5 } else { 5.5 };
    /// A tail as heavy as that of Pareto's law with index 1.5.
    const HEAVY: Draw = |random| (1.0 - random.random_range(0.0..1.0_f64)).powf(-1.0 / 1.5);

    /// The number of loads that are marked, out of this many. Users with a connection each wait for one server in the
    /// order in which they come, or each has its own; every second connection takes `lottery` longer.
    fn marked(loads: u64, users: usize, answers: usize, (service, has_queue): (Draw, bool), lottery: f64) -> usize {
        let one = |seed: &u64| {
            let mut random = ChaCha8Rng::seed_from_u64(*seed);
            let mut connections = vec![Portions::default(); users];
            let longer: Vec<f64> = (0..users).map(|user| if user % 2 == 0 { lottery } else { 0.0 }).collect();
            let (mut asked, mut free) = (vec![0.0_f64; users], 0.0_f64);
            for _ in 0..answers {
                let user = (0..users).min_by(|one, other| asked[*one].total_cmp(&asked[*other])).unwrap();
                let begun = if has_queue { asked[user].max(free) } else { asked[user] };
                let ended = begun + service(&mut random) + longer[user];
                connections[user].add(((ended - asked[user]) * 1e6) as u64);
                (asked[user], free) = (ended, ended);
            }
            differ(&connections).is_some()
        };
        (0..loads).filter(one).count()
    }

    #[test]
    fn connections_of_a_fair_server_are_alike_with_a_queue_and_without() {
        for service in [CONSTANT, EXPONENTIAL, BIMODAL, HEAVY] {
            for (users, answers) in [(2, 100), (4, 1_000), (20, 2_000)] {
                for has_queue in [true, false] {
                    let found = marked(200, users, answers, (service, has_queue), 0.0);
                    assert!(found <= 1, "{found} of 200 of {users}, {answers}, {has_queue}");
                }
            }
        }
    }

    #[test]
    fn connections_that_differ_for_life_by_a_tenth_are_seen() {
        for (users, answers) in [(4, 4_000), (20, 4_000)] {
            let found = marked(50, users, answers, (CONSTANT, false), 0.1);
            assert_eq!(found, 50, "of 50 of {users}, {answers}");
        }
        let found = marked(50, 4, 10_000, (EXPONENTIAL, false), 0.3);
        assert!(found >= 45, "{found} of 50");
        assert_eq!(marked(50, 4, 4_000, (CONSTANT, false), 0.01), 0, "one in a hundred is no difference");
        // Those that take three times as long are answered a third as often.
        assert_eq!(marked(50, 5, 400, (CONSTANT, false), 2.0), 50);
    }

    #[test]
    fn one_connection_and_those_with_few_answers_say_nothing() {
        let of = |times: &[u64]| {
            let mut portions = Portions::default();
            times.iter().for_each(|time| portions.add(*time));
            portions
        };
        let long = of(&[2_000_000; 40]);
        assert_eq!(differ(&[]), None);
        assert_eq!(differ(std::slice::from_ref(&long)), None);
        assert_eq!(differ(&[long.clone(), of(&[1_000_000; 29])]), None);
        let found = differ(&[long, of(&[1_000_000; 30])]).unwrap();
        assert!(found.reason.starts_with("2 connections took 1.000 to 2.000 ms on average"), "{found:?}");
    }
}
