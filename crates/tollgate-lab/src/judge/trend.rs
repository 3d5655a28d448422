//! Whether response times went one way while a load lasted: then its figures are those of so long a load.
//!
//! By M. G. Kendall's rank correlation (A new measure of rank correlation, Biometrika 30, 1938) of ten parts: a trend is a
//! change that most pairs of parts agree on, and that is large. At a rate, one that grows with the time is a queue.

use crate::load::record::course::PARTS;
use tollgate_facts::rules::{Finding, marked, refused};

/// Kendall's tau of parts that change by chance is beyond it in 1 of 60 loads, in either direction …
const TAU_MIN: f64 = 0.6;
/// … and then they hardly change by more than this share of their mean.
const CHANGE_SHARE_MAX: f64 = 0.5;
/// Fewer answers have no course.
const ANSWERS_MIN: f64 = 50.0;
/// Nor have fewer parts with an answer.
const PARTS_MIN: usize = 3;
/// At a rate, a growth by more than this share of the time that passes is that of a queue: so much more is offered than
/// answered.
const GROWTH_MAX: f64 = 0.01;
/// The same of what grows in the second half of trials, each of which begins without a queue: one that comes to rest does so
/// by then, or hardly grows.
const LATE_GROWTH_MAX: f64 = 0.05;
/// With fewer answers a queue that grows by 5 % of what is offered is not told from one that comes and goes …
const TELLING_MIN: u64 = 5_000;
/// … where the last ones waited for others: they took so many times of the fastest.
const WAITED_MIN: f64 = 2.0;

/// What was answered in a stretch of a load.
#[derive(Debug, Clone, Copy, PartialEq, Default, derive_more::AddAssign)]
pub(crate) struct Stretch {
    /// Answers, or what is in proportion to them.
    pub(crate) answers: f64,
    /// Their response times, added up.
    pub(crate) total_ms: f64,
}

/// How response times went in ten parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trend {
    /// In the first and in the last parts, in milliseconds.
    from_ms: f64,
    to_ms: f64,
    /// What lies between, as a share of the mean of all parts; negative where answers became faster.
    change: f64,
    /// Kendall's.
    tau: f64,
    /// How much of the whole lies between the middles of the first and the last parts.
    apart: f64,
    /// By how much times grew in the second half, in milliseconds, over this much of the whole.
    late: Growth,
}

/// By how much times grew, over how much of the whole.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Growth {
    by_ms: f64,
    over: f64,
}

/// What a load at a rate was, beside its trend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfRate<'a> {
    /// For how long something was due.
    pub(crate) lasted_ms: f64,
    /// What it was in words: `the load` or `trials`.
    pub(crate) what: &'a str,
    /// What was answered each second, in words.
    pub(crate) answered: &'a str,
    /// Whether it began without a queue again and again: then a queue that comes to rest grows, too.
    pub(crate) is_trials: bool,
}

impl Trend {
    /// That of these stretches in order; absent where they or their answers are too few. A part without an answer says nothing.
    pub(crate) fn of(stretches: &[Stretch]) -> Option<Trend> {
        let part = |part: usize| {
            let range = stretches.len() * part / PARTS..stretches.len() * (part + 1) / PARTS;
            let mut all = Stretch::default();
            stretches[range].iter().for_each(|stretch| all += *stretch);
            (all.answers > 0.0).then(|| (part as f64, all.total_ms / all.answers))
        };
        let answers: f64 = stretches.iter().map(|stretch| stretch.answers).sum();
        let parts: Vec<(f64, f64)> = (0..PARTS).filter_map(part).collect();
        let count = parts.len();
        if stretches.len() < PARTS || answers < ANSWERS_MIN || count < PARTS_MIN {
            return None;
        }
        let pairs = parts
            .iter()
            .enumerate()
            .flat_map(|(place, (_, one))| parts[place + 1..].iter().map(move |(_, other)| other - one));
        let agreed: f64 = pairs.map(|change| if change == 0.0 { 0.0 } else { change.signum() }).sum();
        let growth = |from: &[(f64, f64)], to: &[(f64, f64)]| {
            let [(from, from_ms), (to, to_ms)] = [from, to].map(middle);
            Growth { by_ms: to_ms - from_ms, over: (to - from) / PARTS as f64 }
        };
        let (first, last) = (&parts[..2], &parts[count - 2..]);
        let late = (count / 2).min(count.saturating_sub(4));
        let [(_, from_ms), (_, to_ms), (_, mean_ms)] = [first, last, &parts].map(middle);
        Some(Trend {
            from_ms,
            to_ms,
            change: (to_ms - from_ms) / mean_ms,
            tau: agreed / (count * (count - 1) / 2) as f64,
            apart: growth(first, last).over,
            late: growth(&parts[late..late + 2], last),
        })
    }

    /// Whether they went one way, and far.
    fn is_one(&self) -> bool {
        self.tau.abs() >= TAU_MIN && self.change.abs() > CHANGE_SHARE_MAX && self.tau.signum() == self.change.signum()
    }

    fn told(&self, meanwhile: &str) -> String {
        format!("response times went from {:.3} to {:.3} ms {meanwhile}", self.from_ms, self.to_ms)
    }

    /// Of users who wait: so long a load has these times, and another one others.
    pub(crate) fn of_users(&self, meanwhile: &str, remedy: &'static str) -> Option<Finding> {
        self.is_one().then(|| marked(self.told(meanwhile), remedy, (self.change.abs(), CHANGE_SHARE_MAX)))
    }

    /// At a rate, where times that grow with the time are those of a queue that has no steady length.
    pub(crate) fn at_a_rate(&self, load: OfRate<'_>) -> Option<Finding> {
        let OfRate { lasted_ms, what, answered, is_trials } = load;
        let Growth { by_ms, over } =
            if is_trials { self.late } else { Growth { by_ms: self.to_ms - self.from_ms, over: self.apart } };
        let growth = by_ms / (over * lasted_ms).max(f64::MIN_POSITIVE);
        let bound = if is_trials { LATE_GROWTH_MAX } else { GROWTH_MAX };
        let meanwhile = format!("while {what} lasted {:.3} s", lasted_ms / 1e3);
        let remedy = match is_trials {
            true => "let each last longer (`slice_ms`, at equal rate `rate_slice_ms`), or offer less",
            false => "let it last longer, or offer less",
        };
        match self.is_one() {
            true if growth > bound => {
                let told = self.told(&meanwhile);
                let reason = format!("{told}: {answered}, and times grow as long as it lasts");
                let remedy = "offer less than was answered a second";
                Some(refused(reason, remedy, (growth, bound)))
            }
            true => self.of_users(&meanwhile, remedy),
            false => None,
        }
    }

    /// That a load at a rate was too short to tell whether it was steady, where so many were answered, the fastest within
    /// this time.
    pub(crate) fn too_short(&self, answers: u64, least_ms: f64, lasted_ms: f64) -> Option<Finding> {
        let waiting = self.to_ms / lasted_ms.max(f64::MIN_POSITIVE);
        let is_short = answers < TELLING_MIN && waiting > GROWTH_MAX && self.to_ms > WAITED_MIN * least_ms;
        let reason = format!(
            "{answers} answers are too few to tell whether the load was steady: the last took {:.3} ms, the fastest \
             {least_ms:.3}",
            self.to_ms
        );
        is_short.then(|| marked(reason, "let it last longer: 5,000 answers tell", (waiting, GROWTH_MAX)))
    }
}

/// That so many answers at a rate, half of which took so long and the fastest so long, are too few to tell whether the load
/// was steady, as they waited for each other.
pub(crate) fn too_few(answers: u64, half_ms: f64, least_ms: f64) -> Option<Finding> {
    let reason = format!(
        "{answers} answers in so short a time are too few to tell whether the load was steady: half of them took \
         {half_ms:.3} ms, the fastest {least_ms:.3}"
    );
    let times = half_ms / least_ms.max(f64::MIN_POSITIVE);
    (times > WAITED_MIN).then(|| marked(reason, "let it last longer: 5,000 answers tell", (times, WAITED_MIN)))
}

/// Where some parts lie on average, and their mean time.
fn middle(parts: &[(f64, f64)]) -> (f64, f64) {
    let (places, times_ms) = parts.iter().fold((0.0, 0.0), |(place, ms), (at, one)| (place + at, ms + one));
    (places / parts.len() as f64, times_ms / parts.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use tollgate_facts::results::Verdict;

    fn course(times_ms: impl IntoIterator<Item = f64>) -> Vec<Stretch> {
        times_ms.into_iter().map(|ms| Stretch { answers: 50.0, total_ms: 50.0 * ms }).collect()
    }

    /// A load of so many requests on one server that takes a millisecond, or that on average, asked by Poisson arrivals at
    /// this share of what it can do; with what is printed of the finding.
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
            stretches.resize(stretches.len().max(stretch + 1), Stretch::default());
            stretches[stretch] += Stretch { answers: 1.0, total_ms: free - at };
        }
        let trend = Trend::of(&stretches)?;
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
    fn neither_what_is_constant_nor_one_part_nor_a_few_stretches_are() {
        let check = |times_ms: Vec<f64>| {
            let trend = Trend::of(&course(times_ms));
            assert!(trend.is_none_or(|trend| trend.of_users("", "").is_none()), "{trend:?}");
        };
        check(vec![1.0; 40]);
        check((0..40).map(|place| if place == 39 { 50.0 } else { 1.0 }).collect());
        check((0..9).map(f64::from).collect());
        check(Vec::new());
        let few: Vec<Stretch> = (0..40).map(|at| Stretch { answers: 1.0, total_ms: f64::from(at) }).collect();
        assert_eq!(Trend::of(&few), None);
    }

    #[test]
    fn parts_in_which_nothing_was_begun_any_more_do_not_hide_what_grew_before() {
        for begun in [3, 4, 5, 8, 10] {
            let stretch = |part: usize| {
                let answers = if part < begun { 25.0 } else { 0.0 };
                Stretch { answers, total_ms: answers * 10.0 * part as f64 }
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
        let mut parts = [Stretch::default(); PARTS];
        for _ in 0..32 {
            let (mut at, mut free) = (0.0_f64, 0.0_f64);
            loop {
                at -= (1.0 - random.random_range(0.0..1.0_f64)).ln() / load;
                if at >= lasting {
                    break;
                }
                free = at.max(free) + service(random.random_range(0.0..1.0));
                parts[(at / lasting * PARTS as f64) as usize] += Stretch { answers: 1.0, total_ms: free - at };
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
