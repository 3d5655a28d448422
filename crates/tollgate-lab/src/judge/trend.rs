//! Whether response times, answers per second or requests under way rose or fell throughout a load: its figures then
//! depend on how long it was.
//!
//! By M. G. Kendall's rank correlation (A new measure of rank correlation, Biometrika 30, 1938; The treatment of ties
//! in ranking problems, Biometrika 33, 1945) of ten parts: a trend is a large change that most pairs of parts agree on.
//! At a rate, times that grow throughout are those of a queue.

use crate::load::record::course::PARTS;
use tollgate_facts::results::Trial;
use tollgate_facts::rules::{Finding, marked, refused};

/// Least of Kendall's tau for a trend: parts that change by chance are beyond it in 1 of 60 loads, in either direction
/// …
const TAU_MIN: f64 = 0.6;
/// … and then rarely change by more than this share of their mean.
const CHANGE_SHARE_MAX: f64 = 0.5;
/// Parts that differ by no more than this share of the mean are equal: a single lasting change is a trend, too, with
/// three parts on either side.
const ALIKE_SHARE_MAX: f64 = 0.15;
/// Fewest answers for a trend.
const ANSWERS_MIN: f64 = 50.0;
/// Fewest parts with an answer for a trend.
const PARTS_MIN: usize = 3;
/// At a rate, times that grow by more than this share of the elapsed time are those of a queue: more is offered than
/// answered by this share.
const GROWTH_MAX: f64 = 0.01;
/// The same for growth in the second half of trials, as each begins without a queue: a queue that settles has
/// done so by then, or hardly grows.
const LATE_GROWTH_MAX: f64 = 0.05;
/// With fewer answers a queue that grows by 5 % of the offered load cannot be told from a passing one …
const TELLING_MIN: u64 = 5_000;
/// … where the last ones waited for others: they took more than this multiple of the fastest.
const WAITED_MIN: f64 = 2.0;

/// A stretch of a load, and its answers.
#[derive(Debug, Clone, Copy, PartialEq, Default, derive_more::AddAssign)]
pub(crate) struct Stretch {
    /// Number of answers, or a figure in proportion to it.
    pub(crate) answers: f64,
    /// Sum of their response times.
    pub(crate) total_ms: f64,
    /// Length of the stretch.
    pub(crate) lasted_ms: f64,
}

/// Course of one figure over ten parts of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OneWay {
    /// Means of the first two and the last two parts.
    from: f64,
    to: f64,
    /// Change between them, as a share of the mean of all parts; negative where it fell.
    change: f64,
    /// Kendall's tau.
    tau: f64,
}

/// Course of a load over ten parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trend {
    /// Response times, in milliseconds.
    times: OneWay,
    /// Distance between the middles of the first two and the last two parts with an answer, as a share of the whole.
    apart: f64,
    /// Growth of times in the second half, in milliseconds, over this share of the whole.
    late: Growth,
    /// Answers each second, from the first one on while something was due.
    answered: Option<OneWay>,
    /// Requests under way meanwhile, by Little's law.
    under_way: Option<OneWay>,
}

/// Growth of times, and the share of the whole over which they grew.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Growth {
    by_ms: f64,
    over: f64,
}

/// Properties of a load at a rate, beside its trend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfRate<'a> {
    /// Time during which requests were due.
    pub(crate) lasted_ms: f64,
    /// Name of the load: `the load` or `trials`.
    pub(crate) what: &'a str,
    /// Answers each second, in words.
    pub(crate) answered: &'a str,
    /// Whether it consists of trials that each begin without a queue: then a queue that settles grows, too.
    pub(crate) is_trials: bool,
}

impl OneWay {
    /// The course of the values of parts in their order, each with its place; absent with too few parts or a mean of
    /// zero.
    fn of(parts: &[(f64, f64)]) -> Option<OneWay> {
        let count = parts.len();
        let (_, mean) = middle(parts);
        if count < PARTS_MIN || mean <= 0.0 {
            return None;
        }
        let pairs = parts
            .iter()
            .enumerate()
            .flat_map(|(place, (_, one))| parts[place + 1..].iter().map(move |(_, other)| other - one));
        let unlike: Vec<f64> = pairs.filter(|change| change.abs() > ALIKE_SHARE_MAX * mean).map(f64::signum).collect();
        let all = count * (count - 1) / 2;
        let [(_, from), (_, to)] = [&parts[..2], &parts[count - 2..]].map(middle);
        let tau = unlike.iter().sum::<f64>() / ((unlike.len().max(1) * all) as f64).sqrt();
        Some(OneWay { from, to, change: (to - from) / mean, tau })
    }

    /// Whether it changed in one direction, and by enough.
    fn is_one(&self) -> bool {
        self.tau.abs() >= TAU_MIN && self.change.abs() > CHANGE_SHARE_MAX && self.tau.signum() == self.change.signum()
    }
}

impl Trend {
    /// The trend of these stretches in order; absent where they or their answers are too few. A part without an answer
    /// has no time.
    pub(crate) fn of(stretches: &[Stretch]) -> Option<Trend> {
        Trend::while_due(stretches, stretches.len())
    }

    /// The same where requests were due in the first `due` stretches, and later ones only awaited answers.
    pub(crate) fn while_due(stretches: &[Stretch], due: usize) -> Option<Trend> {
        let answers: f64 = stretches.iter().map(|stretch| stretch.answers).sum();
        if answers < ANSWERS_MIN { None } else { Trend::of_enough(stretches, due) }
    }

    /// The trend over trials in their order, however few units of work they have.
    pub(crate) fn over(trials: &[&Trial]) -> Option<Trend> {
        let of = |trial: &&Trial| {
            let (answers, total_ms) = (trial.units as f64, trial.unit_times_ms.iter().sum());
            Stretch { answers, total_ms, lasted_ms: trial.duration_ms }
        };
        Trend::of_enough(&trials.iter().map(of).collect::<Vec<_>>(), trials.len())
    }

    fn of_enough(stretches: &[Stretch], due: usize) -> Option<Trend> {
        let parts = ten(stretches, |part| (part.answers > 0.0).then(|| part.total_ms / part.answers));
        let times = OneWay::of(&parts)?;
        // What is begun first is answered only after a while.
        let begun = stretches.iter().position(|stretch| stretch.answers > 0.0).unwrap_or(due);
        let each_second = |of: fn(&Stretch) -> f64| {
            let while_due = stretches.get(begun..due).unwrap_or_default();
            OneWay::of(&ten(while_due, |part| (part.lasted_ms > 0.0).then(|| of(part) / part.lasted_ms)))
        };
        let growth = |from: &[(f64, f64)], to: &[(f64, f64)]| {
            let [(from, from_ms), (to, to_ms)] = [from, to].map(middle);
            Growth { by_ms: to_ms - from_ms, over: (to - from) / PARTS as f64 }
        };
        let count = parts.len();
        let (first, last) = (&parts[..2], &parts[count - 2..]);
        let late = (count / 2).min(count.saturating_sub(4));
        Some(Trend {
            times,
            apart: growth(first, last).over,
            late: growth(&parts[late..late + 2], last),
            answered: each_second(|part| part.answers * 1e3),
            under_way: each_second(|part| part.total_ms),
        })
    }

    /// Describes the first of its figures that has a trend, and by which share it changed.
    fn told(&self, meanwhile: &str) -> Option<(String, f64)> {
        let ways = [
            (Some(self.times), "response times", 3, " ms"),
            (self.answered, "answers", 1, " a second"),
            (self.under_way, "requests under way", 2, ""),
        ];
        ways.into_iter().find_map(|(way, what, digits, unit)| {
            let OneWay { from, to, change, .. } = way.filter(OneWay::is_one)?;
            Some((format!("{what} went from {from:.digits$} to {to:.digits$}{unit} {meanwhile}"), change.abs()))
        })
    }

    /// Marks a trend of users who wait: the figures depend on how long the load was.
    pub(crate) fn of_users(&self, meanwhile: &str, remedy: &'static str) -> Option<Finding> {
        self.told(meanwhile).map(|(told, change)| marked(told, remedy, (change, CHANGE_SHARE_MAX)))
    }

    /// Finds a trend at a rate, where times that grow throughout are those of a queue without a steady length.
    pub(crate) fn at_a_rate(&self, load: OfRate<'_>) -> Option<Finding> {
        let OfRate { lasted_ms, what, answered, is_trials } = load;
        let Growth { by_ms, over } =
            if is_trials { self.late } else { Growth { by_ms: self.times.to - self.times.from, over: self.apart } };
        let growth = by_ms / (over * lasted_ms).max(f64::MIN_POSITIVE);
        let bound = if is_trials { LATE_GROWTH_MAX } else { GROWTH_MAX };
        let meanwhile = format!("while {what} lasted {:.3} s", lasted_ms / 1e3);
        let remedy = match is_trials {
            true => "let each last longer (`slice_ms`, at equal rate `rate_slice_ms`), or offer less",
            false => "let it last longer, or offer less",
        };
        if growth > bound && self.times.is_one() {
            let (told, _) = self.told(&meanwhile)?;
            let reason = format!("{told}: {answered}, and times grow as long as it lasts");
            return Some(refused(reason, "offer less than was answered a second", (growth, bound)));
        }
        self.of_users(&meanwhile, remedy)
    }

    /// Marks a load at a rate that was too short to tell whether it was steady, with this many answers and the fastest
    /// within this time.
    pub(crate) fn too_short(&self, answers: u64, least_ms: f64, lasted_ms: f64) -> Option<Finding> {
        let waiting = self.times.to / lasted_ms.max(f64::MIN_POSITIVE);
        let is_short = answers < TELLING_MIN && waiting > GROWTH_MAX && self.times.to > WAITED_MIN * least_ms;
        let reason = format!(
            "{answers} answers are too few to tell whether the load was steady: the last took {:.3} ms, the fastest \
             {least_ms:.3}",
            self.times.to
        );
        is_short.then(|| marked(reason, "let it last longer: 5,000 answers tell", (waiting, GROWTH_MAX)))
    }
}

/// Marks a load at a rate with too few answers to tell whether it was steady, as they waited for each other: by its
/// median and its fastest answer.
pub(crate) fn too_few(answers: u64, half_ms: f64, least_ms: f64) -> Option<Finding> {
    let reason = format!(
        "{answers} answers in so short a time are too few to tell whether the load was steady: half of them took \
         {half_ms:.3} ms, the fastest {least_ms:.3}"
    );
    let times = half_ms / least_ms.max(f64::MIN_POSITIVE);
    (times > WAITED_MIN).then(|| marked(reason, "let it last longer: 5,000 answers tell", (times, WAITED_MIN)))
}

/// The value of each of ten parts that has one, with its place; empty with fewer stretches than that.
fn ten(stretches: &[Stretch], value: impl Fn(&Stretch) -> Option<f64>) -> Vec<(f64, f64)> {
    let part = |part: usize| {
        let range = stretches.len() * part / PARTS..stretches.len() * (part + 1) / PARTS;
        let mut all = Stretch::default();
        stretches[range].iter().for_each(|stretch| all += *stretch);
        Some((part as f64, value(&all)?))
    };
    let parts = if stretches.len() < PARTS { 0..0 } else { 0..PARTS };
    parts.filter_map(part).collect()
}

/// The mean place of these parts, and their mean value.
fn middle(parts: &[(f64, f64)]) -> (f64, f64) {
    let (places, values) = parts.iter().fold((0.0, 0.0), |(place, sum), (at, one)| (place + at, sum + one));
    let count = parts.len().max(1) as f64;
    (places / count, values / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use tollgate_facts::results::Verdict;

    fn course(times_ms: impl IntoIterator<Item = f64>) -> Vec<Stretch> {
        times_ms.into_iter().map(|ms| Stretch { answers: 50.0, total_ms: 50.0 * ms, lasted_ms: 50.0 }).collect()
    }

    /// The finding for a load of `answers` requests on one server that takes a millisecond, always or on average, at
    /// Poisson arrivals with this share of its capacity.
    fn found(load: f64, answers: u64, is_constant: bool, seed: u64) -> Option<Finding> {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let (mut at, mut free, mut least_ms) = (0.0_f64, 0.0_f64, f64::MAX);
        let mut stretches: Vec<Stretch> = Vec::new();
        for _ in 0..answers {
            let mut exponential = || -(1.0 - random.random_range(0.0..1.0_f64)).ln();
            at += exponential() / load;
            free = at.max(free) + if is_constant { 1.0 } else { exponential() };
            least_ms = least_ms.min(free - at);
            let stretch = (free / 5.0) as usize;
            let nothing = Stretch { lasted_ms: 5.0, ..Stretch::default() };
            stretches.resize(stretches.len().max(stretch + 1), nothing);
            stretches[stretch] += Stretch { answers: 1.0, total_ms: free - at, lasted_ms: 0.0 };
        }
        let trend = Trend::while_due(&stretches, ((at / 5.0).round() as usize).min(stretches.len()))?;
        let load = OfRate { lasted_ms: free, what: "the load", answered: "", is_trials: false };
        trend.at_a_rate(load).or_else(|| trend.too_short(answers, least_ms, free))
    }

    #[test]
    fn what_grows_or_falls_all_the_time_is_a_trend() {
        let check = |times_ms: &[f64], expected: &str| {
            let found = Trend::of(&course(times_ms.iter().copied())).unwrap().of_users("meanwhile", "").unwrap();
            assert!(found.verdict == Verdict::Marked && found.reason.contains(expected), "{found:?}");
        };
        let growing: Vec<f64> = (0..40).map(f64::from).collect();
        check(&growing, "from 3.500 to 35.500 ms meanwhile");
        check(&growing.iter().map(|ms| 40.0 - ms).collect::<Vec<_>>(), "from 36.500 to 4.500 ms");
    }

    #[test]
    fn fewer_answers_a_second_and_more_under_way_are_a_trend_where_times_stay_as_they_are() {
        let check = |stretches: Vec<Stretch>, expected: &str| {
            let trend = Trend::of(&stretches).unwrap();
            let found = trend.of_users("meanwhile", "").map(|found| found.reason);
            assert_eq!(found.unwrap_or_default(), expected, "{trend:?}");
            let load = OfRate { lasted_ms: 2_000.0, what: "trials", answered: "", is_trials: true };
            let at_a_rate = trend.at_a_rate(load).map(|found| found.verdict);
            assert_eq!(at_a_rate, (!expected.is_empty()).then_some(Verdict::Marked));
        };
        let of = |answers: f64, ms: f64| Stretch { answers, total_ms: answers * ms, lasted_ms: 50.0 };
        let each = |of: &dyn Fn(f64) -> Stretch| (0..40).map(|at| of(f64::from(at))).collect::<Vec<_>>();
        check(each(&|at| of(100.0 - 2.0 * at, 1.0)), "answers went from 1860.0 to 580.0 a second meanwhile");
        // From one moment on half of them fail, or a third of the time nothing is answered.
        let halved = |at: f64| of(if at < 16.0 { 100.0 } else { 50.0 }, 1.0);
        check(each(&halved), "answers went from 2000.0 to 1000.0 a second meanwhile");
        check(
            each(&|at| of(if at < 26.0 { 100.0 } else { 0.0 }, 1.0)),
            "answers went from 2000.0 to 0.0 a second meanwhile",
        );
        // Neither of both changes by half.
        check(each(&|at| of(80.0 + at, 1.0 + at / 80.0)), "requests under way went from 1.74 to 3.34 meanwhile");
        check(each(&|at| of(80.0 + at, 1.0)), "");
        // What is begun first is answered only after a while; what comes in bursts is no trend.
        check(each(&|at| of(if at < 14.0 { 0.0 } else { 100.0 }, 700.0)), "");
        check(each(&|at| of(if at % 10.0 < 9.0 { 0.0 } else { 100.0 }, 450.0)), "");
    }

    #[test]
    fn behind_what_was_due_nobody_need_be_answered() {
        let of = |at: u32| Stretch { answers: f64::from(100 * u32::from(at < 40)), total_ms: 50.0, lasted_ms: 50.0 };
        let stretches: Vec<Stretch> = (0..80).map(of).collect();
        let found = |due: usize| Trend::while_due(&stretches, due).unwrap().of_users("", "").is_some();
        assert_eq!([found(40), found(80)], [false, true]);
    }

    #[test]
    fn users_who_are_answered_by_chance_have_no_trend_however_few_they_are() {
        for (users, answers) in [(1, 200), (4, 1_000), (50, 1_000), (4, 5_000)] {
            let seen = (0..200).filter(|seed| {
                let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(*seed);
                let span = f64::from(answers) / f64::from(users) / 40.0;
                let mut stretches = vec![Stretch { lasted_ms: span, ..Stretch::default() }; 40];
                for _ in 0..users {
                    let mut at = 0.0;
                    loop {
                        let took = -(1.0 - random.random_range(0.0..1.0_f64)).ln();
                        at += took;
                        let Some(stretch) = stretches.get_mut((at / span) as usize) else { break };
                        *stretch += Stretch { answers: 1.0, total_ms: took, lasted_ms: 0.0 };
                    }
                }
                Trend::of(&stretches).is_some_and(|trend| trend.of_users("", "").is_some())
            });
            let seen = seen.count();
            assert!(seen <= 4, "{seen} of 200 of {users}, {answers}");
        }
    }

    #[test]
    fn trials_are_a_course_however_few_units_they_have() {
        let trial = |place: u32| tollgate_facts::results::Trial {
            units: 1,
            unit_times_ms: vec![100.0 + 10.0 * f64::from(place)],
            duration_ms: 100.0 + 10.0 * f64::from(place),
            ..tollgate_facts::fixture::protocol().trials[0].clone()
        };
        let trials: Vec<Trial> = (0..16).map(trial).collect();
        let over = |from: usize| Trend::over(&trials[from..].iter().collect::<Vec<_>>());
        let found = over(0).unwrap().of_users("meanwhile", "").unwrap();
        assert_eq!(found.reason, "response times went from 107.500 to 235.000 ms meanwhile");
        assert_eq!(over(7), None, "nine are too few");
    }

    #[test]
    fn neither_what_is_constant_nor_one_part_nor_a_few_stretches_are() {
        let check = |times_ms: Vec<f64>| {
            let trend = Trend::of(&course(times_ms));
            assert!(trend.is_none_or(|trend| trend.of_users("", "").is_none()), "{trend:?}");
        };
        check(vec![1.0; 40]);
        check((0..40).map(|place| if place == 39 { 50.0 } else { 1.0 }).collect());
        check((0..9).map(f64::from).collect());
        check(Vec::new());
        let of = |at: u32| Stretch { answers: 1.0, total_ms: f64::from(at), lasted_ms: 50.0 };
        let few: Vec<Stretch> = (0..40).map(of).collect();
        assert_eq!(Trend::of(&few), None);
    }

    #[test]
    fn parts_in_which_nothing_was_begun_any_more_do_not_hide_what_grew_before() {
        for begun in [3, 4, 5, 8, 10] {
            let stretch = |part: usize| {
                let answers = if part < begun { 25.0 } else { 0.0 };
                Stretch { answers, total_ms: answers * 10.0 * part as f64, lasted_ms: 25.0 }
            };
            let trend = Trend::of(&(0..PARTS).map(stretch).collect::<Vec<_>>()).unwrap();
            let found = trend.at_a_rate(OfRate { lasted_ms: 250.0, what: "trials", answered: "", is_trials: true });
            assert!(found.is_some_and(|found| found.verdict == Verdict::Refused), "{begun}: {trend:?}");
        }
    }

    #[test]
    fn a_queue_that_cannot_be_steady_is_refused_and_one_that_can_is_not() {
        for load in [1.05, 1.2, 1.5, 2.0] {
            let passed = (0..40).filter(|seed| found(load, 5_000, true, *seed).is_none());
            assert_eq!(passed.count(), 0, "of 40 at {load}");
            let refused =
                |seed: &u64| found(load, 5_000, true, *seed).is_some_and(|found| found.verdict == Verdict::Refused);
            let refused = (0..40).filter(refused).count();
            assert!(refused >= 38, "{refused} of 40 at {load}");
        }
        for load in [0.3, 0.6, 0.8] {
            let seen = (0..100).filter(|seed| found(load, 5_000, true, *seed).is_some()).count();
            assert!(seen <= 2, "{seen} of 100 at {load}");
        }
    }

    /// Trials that each begin without a queue, as runs have them, of so many service times each, all together.
    fn of_trials(load: f64, service: fn(f64) -> f64, lasting: f64, seed: u64) -> Option<Finding> {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut parts = [Stretch { lasted_ms: 32.0 * lasting / PARTS as f64, ..Stretch::default() }; PARTS];
        for _ in 0..32 {
            let (mut at, mut free) = (0.0_f64, 0.0_f64);
            loop {
                at -= (1.0 - random.random_range(0.0..1.0_f64)).ln() / load;
                if at >= lasting {
                    break;
                }
                free = at.max(free) + service(random.random_range(0.0..1.0));
                parts[(at / lasting * PARTS as f64) as usize] +=
                    Stretch { answers: 1.0, total_ms: free - at, lasted_ms: 0.0 };
            }
        }
        Trend::of(&parts)?.at_a_rate(OfRate { lasted_ms: lasting, what: "trials", answered: "", is_trials: true })
    }

    #[test]
    fn trials_that_a_server_can_bear_are_hardly_ever_refused_however_short_and_those_that_it_cannot_always() {
        let constant: fn(f64) -> f64 = |_| 1.0;
        let exponential: fn(f64) -> f64 = |drawn| -(1.0 - drawn).ln();
        let bimodal: fn(f64) -> f64 = |drawn| if drawn < 0.9 { 1.0 / 1.9 } else { 10.0 / 1.9 };
        let all = |load, service, lasting| {
            (0..100).map(move |seed| of_trials(load, service, lasting, seed).map_or(Verdict::Ok, |found| found.verdict))
        };
        let refused =
            |load, service, lasting| all(load, service, lasting).filter(|found| *found == Verdict::Refused).count();
        for (load, service, lasting) in [
            (0.8, exponential, 110.0),
            (0.8, constant, 55.0),
            (0.7, exponential, 62.0),
            (0.5, bimodal, 62.0),
            (0.8, exponential, 1000.0),
        ] {
            let found = refused(load, service, lasting);
            assert!(found <= 5, "{found} of 100 at {load}, trials of {lasting}");
        }
        for (load, service, lasting) in [(1.2, constant, 100.0), (1.2, exponential, 250.0), (1.5, bimodal, 100.0)] {
            let found = refused(load, service, lasting);
            assert!(found >= 95, "{found} of 100 at {load}, trials of {lasting}");
        }
        let passed = all(1.05, constant, 1000.0).filter(|found| *found == Verdict::Ok).count();
        assert_eq!(passed, 0, "of 100");
    }

    #[test]
    fn a_load_that_is_too_short_to_tell_says_so() {
        for (answers, is_constant) in [(200, true), (1_000, true), (200, false), (1_000, false)] {
            let passed = (0..200).filter(|seed| found(1.05, answers, is_constant, *seed).is_none()).count();
            assert!(passed <= 12, "{passed} of 200 of {answers}");
            let seen = (0..200).filter(|seed| found(0.3, answers, is_constant, *seed).is_some()).count();
            assert!(seen <= 10, "{seen} of 200 of {answers}");
        }
    }
}
