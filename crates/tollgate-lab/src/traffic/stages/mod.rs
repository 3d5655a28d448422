//! Stages: the number of users, or the rate of iterations, during a load. Each stage leads evenly from one number to
//! another.
//!
//! It does not send requests, or know the time of day.

mod parse;

use std::time::Duration;

pub use tollgate_facts::results::StageUnit as Unit;

/// Maximum number of stages of a load.
pub const STAGES_MAX: usize = 32;
/// Maximum total duration of all stages.
pub const LASTS_MAX: Duration = Duration::from_secs(6 * 3600);
/// The highest rate.
pub const RATE_MAX: f64 = 1e6;
/// Most users.
pub const USERS_MAX: f64 = 20_000.0;

/// Stages in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Stages {
    unit: Unit,
    stages: Vec<Stage>,
    /// For each stage, its beginning in seconds, and the amount requested until then: rate by time.
    begins: Vec<(f64, f64)>,
}

/// One stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Value at its start.
    pub from: f64,
    /// Value at its end.
    pub to: f64,
    /// Duration.
    pub lasts: Duration,
}

impl Stages {
    /// Makes stages of these.
    ///
    /// # Errors
    /// The exceeded limit, or that nothing is requested.
    pub fn new(unit: Unit, stages: Vec<Stage>) -> Result<Stages, String> {
        let most = match unit {
            Unit::Users => USERS_MAX,
            Unit::PerSecond => RATE_MAX,
        };
        if stages.is_empty() || stages.len() > STAGES_MAX {
            return Err(format!("there are {} stages: from 1 to {STAGES_MAX} may be", stages.len()));
        }
        if let Some(short) = stages.iter().find(|stage| stage.lasts.is_zero()) {
            return Err(format!("stage `{}` lasts no time: a step is made by `from`", short.name));
        }
        let values = || stages.iter().flat_map(|stage| [stage.from, stage.to]);
        if let Some(beyond) = values().find(|value| !(0.0..=most).contains(value)) {
            return Err(format!("a stage leads from or to {beyond}: it is from 0 to {most}"));
        }
        if let Some(part) = values().find(|value| unit == Unit::Users && value.fract() != 0.0) {
            return Err(format!(
                "a stage leads from or to {part} users: users are whole, rates (`/s`, `rate`) need not be"
            ));
        }
        let lasts: Duration = stages.iter().map(|stage| stage.lasts).sum();
        if lasts > LASTS_MAX {
            return Err(format!(
                "the stages last {} s together: at most {} may be",
                lasts.as_secs(),
                LASTS_MAX.as_secs()
            ));
        }
        let mut begins = Vec::with_capacity(stages.len());
        let (mut at_s, mut count) = (0.0, 0.0);
        for stage in &stages {
            begins.push((at_s, count));
            at_s += stage.lasts.as_secs_f64();
            count += stage.count_within(stage.lasts.as_secs_f64());
        }
        let stages = Stages { unit, stages, begins };
        match unit {
            _ if count <= 0.0 => Err("the stages ask for nothing: one must lead to more than 0".to_owned()),
            Unit::PerSecond if count < 1.0 => {
                Err(format!("the stages make {count} requests together: they must make 1 or more"))
            }
            Unit::Users | Unit::PerSecond => Ok(stages),
        }
    }

    /// Unit that they count.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The stages, each with its beginning in seconds.
    pub fn each(&self) -> impl Iterator<Item = (&Stage, f64)> {
        self.stages.iter().zip(&self.begins).map(|(stage, (at_s, _))| (stage, *at_s))
    }

    /// Total duration of all stages.
    pub fn lasts(&self) -> Duration {
        self.stages.iter().map(|stage| stage.lasts).sum()
    }

    /// The highest number.
    pub fn most(&self) -> f64 {
        self.stages.iter().map(|stage| stage.from.max(stage.to)).fold(0.0, f64::max)
    }

    /// The position of the stage at this time after the beginning; after the end, the last one.
    pub fn place(&self, after: Duration) -> usize {
        let after_s = after.as_secs_f64();
        self.begins.iter().rposition(|(at_s, _)| *at_s <= after_s).unwrap_or(0)
    }

    /// The number at this time after the beginning; 0 after the end.
    pub fn at(&self, after: Duration) -> f64 {
        if after >= self.lasts() {
            return 0.0;
        }
        let place = self.place(after);
        let within_s = after.as_secs_f64() - self.begins[place].0;
        self.stages[place].at(within_s)
    }

    /// Total amount requested until then; for users, their time in seconds.
    pub fn count_until(&self, after: Duration) -> f64 {
        let after = after.min(self.lasts());
        let place = self.place(after);
        let (at_s, count) = self.begins[place];
        count + self.stages[place].count_within(after.as_secs_f64() - at_s)
    }

    /// The time at which this amount was requested: the inverse of [`count_until`](Stages::count_until); absent if
    /// never.
    pub(crate) fn reaches(&self, count: f64) -> Option<Duration> {
        let place = self.begins.iter().rposition(|(_, before)| *before <= count)?;
        let (at_s, before) = self.begins[place];
        let Stage { from, to, lasts, .. } = &self.stages[place];
        let (left, lasts_s) = (count - before, lasts.as_secs_f64());
        // left = from x + (to - from) x^2 / (2 lasts), solved so that a rate which stays divides by nothing.
        let inner = from * from + 2.0 * (to - from) / lasts_s * left;
        let within_s = if left <= 0.0 { 0.0 } else { 2.0 * left / (from + inner.max(0.0).sqrt()) };
        let is_reached = left <= self.stages[place].count_within(lasts_s);
        is_reached.then(|| Duration::try_from_secs_f64(at_s + within_s).ok()).flatten()
    }

    /// The time, this long after the beginning or later, at which the user with this number, from 0, arrives: when the
    /// target passes the middle between without and with it, so that the mean number of users is the target. Absent if
    /// it arrives no more.
    pub(crate) fn comes(&self, user: usize, after: Duration) -> Option<Duration> {
        let user = user as f64 + 0.5;
        if self.at(after) > user {
            return Some(after);
        }
        let after_s = after.as_secs_f64();
        for (stage, at_s) in self.each() {
            let lasts_s = stage.lasts.as_secs_f64();
            if at_s + lasts_s <= after_s || stage.from.max(stage.to) <= user {
                continue;
            }
            // From the moment at which the number is the user's own, it is there.
            let comes_s = match stage.from > user {
                true => at_s,
                false => at_s + (user - stage.from) / (stage.to - stage.from) * lasts_s,
            };
            if comes_s >= after_s {
                // A moment later, so that it is there when it looks.
                return Duration::try_from_secs_f64(comes_s).ok().map(|comes| comes + Duration::from_micros(1));
            }
        }
        None
    }
}

impl Stage {
    fn at(&self, within_s: f64) -> f64 {
        self.from + (self.to - self.from) * within_s / self.lasts.as_secs_f64()
    }

    fn count_within(&self, within_s: f64) -> f64 {
        (self.from + self.at(within_s)) / 2.0 * within_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(unit: Unit) -> Stages {
        let stage = |name: &str, from, to, seconds| Stage {
            name: name.to_owned(),
            from,
            to,
            lasts: Duration::from_secs(seconds),
        };
        let all = vec![stage("up", 0.0, 50.0, 10), stage("hold", 50.0, 50.0, 30), stage("down", 50.0, 0.0, 10)];
        Stages::new(unit, all).unwrap()
    }

    #[test]
    fn a_number_goes_evenly_from_one_to_the_other() {
        let stages = stages(Unit::Users);
        let check = |seconds: f64, value: f64, place: usize, count: f64| {
            let after = Duration::from_secs_f64(seconds);
            assert!((stages.at(after) - value).abs() < 1e-9, "{seconds}: {}", stages.at(after));
            assert_eq!(stages.place(after), place, "{seconds}");
            assert!((stages.count_until(after) - count).abs() < 1e-6, "{seconds}: {}", stages.count_until(after));
        };
        check(0.0, 0.0, 0, 0.0);
        check(5.0, 25.0, 0, 62.5);
        check(10.0, 50.0, 1, 250.0);
        check(25.0, 50.0, 1, 1000.0);
        check(45.0, 25.0, 2, 1937.5);
        check(50.0, 0.0, 2, 2000.0);
        check(60.0, 0.0, 2, 2000.0);
        assert_eq!((stages.lasts(), stages.most()), (Duration::from_secs(50), 50.0));
    }

    #[test]
    fn what_is_due_is_due_when_so_much_was_asked_for() {
        let stages = stages(Unit::PerSecond);
        for count in [0.0, 0.5, 62.5, 249.9, 250.0, 1000.0, 1750.0, 1999.9] {
            let at = stages.reaches(count).unwrap();
            assert!((stages.count_until(at) - count).abs() < 1e-3, "{count} at {at:?}");
        }
        assert_eq!(stages.reaches(2000.5), None);
        assert_eq!(stages.reaches(-1.0), None);
    }

    #[test]
    fn as_many_users_are_there_in_the_mean_as_are_asked_for() {
        let ramp = |to| Stage { name: "up".to_owned(), from: 0.0, to, lasts: Duration::from_secs(1) };
        for to in [1.0, 2.0, 20.0] {
            let stages = Stages::new(Unit::Users, vec![ramp(to)]).unwrap();
            let comes = |user| stages.comes(user, Duration::ZERO).unwrap().as_secs_f64();
            let there: f64 = (0..to as usize).map(|user| 1.0 - comes(user)).sum();
            assert!((there - to / 2.0).abs() < 1e-3, "{there} of 0 to {to}");
            assert_eq!(stages.comes(to as usize, Duration::ZERO), None);
        }
    }

    #[test]
    fn a_user_comes_and_goes_when_the_number_passes_its_own() {
        let stages = stages(Unit::Users);
        let check = |user: usize, at_ms: u64, expected_us: Option<u64>| {
            let comes = stages.comes(user, Duration::from_millis(at_ms));
            assert_eq!(comes, expected_us.map(Duration::from_micros), "{user} at {at_ms} ms");
        };
        check(0, 0, Some(100_001));
        check(25, 1000, Some(5_100_001));
        check(25, 5200, Some(5_200_000));
        check(25, 44_800, Some(44_800_000));
        check(25, 45_000, None);
        check(49, 20_000, Some(20_000_000));
        check(50, 20_000, None);
        check(0, 51_000, None);
        // Whoever is told when to come is there then.
        for user in 0..50 {
            let comes = stages.comes(user, Duration::ZERO).unwrap();
            assert!(!comes.is_zero());
            assert_eq!(stages.comes(user, comes), Some(comes), "{user}");
        }
    }

    #[test]
    fn stages_beyond_a_limit_are_refused() {
        let check_of = |unit: Unit, stages: &[(f64, f64, u64)], expected: &str| {
            let stage = |(from, to, seconds): &(f64, f64, u64)| Stage {
                name: "s".to_owned(),
                from: *from,
                to: *to,
                lasts: Duration::from_secs(*seconds),
            };
            let error = Stages::new(unit, stages.iter().map(stage).collect()).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        let check = |stages: &[(f64, f64, u64)], expected: &str| check_of(Unit::Users, stages, expected);
        check(&[], "0 stages");
        check(&[(0.0, 1.0, 1); STAGES_MAX + 1], "33 stages");
        check(&[(0.0, 1.0, 0)], "lasts no time");
        check(&[(0.0, 20_001.0, 1)], "20001");
        check(&[(-1.0, 1.0, 1)], "-1");
        check(&[(f64::NAN, 1.0, 1)], "NaN");
        check(&[(0.0, 1.0, 21_601)], "21601 s");
        check(&[(0.0, 0.0, 5)], "ask for nothing");
        check(&[(0.0, 0.9, 5)], "from or to 0.9 users");
        check(&[(0.0, 3.0, 5), (3.0, 2.4, 5)], "from or to 2.4 users");
        check_of(Unit::PerSecond, &[(0.0, 0.3, 1)], "make 0.15 requests");
    }
}
