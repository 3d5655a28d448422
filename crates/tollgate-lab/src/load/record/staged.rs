//! Record of a load in stages: counts and times of each stage, and the course over time.
//!
//! A unit belongs to the stage in which it was due, whenever it ended; in the course it belongs to the time of its end.
//! It computes no figures.

use std::sync::Arc;
use std::time::{Duration, Instant};

use derive_more::AddAssign;
use hdrhistogram::Histogram;

use super::recorder::{Recorder, Times, nanoseconds, times};
use crate::traffic::stages::Stages;

/// Points of the course, at most; a longer load has wider ones.
const POINTS_MAX: u64 = 600;
/// The course's times: in microseconds up to a minute, to 1 %, 10 KB a point.
const COURSE_US_MAX: u64 = 60_000_000;
const COURSE_DIGITS: u8 = 2;

/// Record of a load in stages.
#[derive(Debug, Clone)]
pub struct StagedRecord {
    /// The stages.
    pub stages: Arc<Stages>,
    start: Instant,
    /// Width of a point of the course.
    pub width: Duration,
    /// One for each stage.
    pub parts: Vec<StagePart>,
    /// One for each width.
    pub points: Vec<CoursePart>,
}

/// Record of one stage.
#[derive(Debug, Clone, Default)]
pub struct StagePart {
    /// Counts of the stage.
    pub counts: Counts,
    /// Times of whole units of work, from when they were due.
    pub times: Times,
}

/// Record of one point in time.
#[derive(Debug, Clone)]
pub struct CoursePart {
    /// Counts of the point.
    pub counts: Counts,
    /// Times of whole units of work, in microseconds.
    pub times_us: Histogram<u32>,
}

/// Counts of a stage or of a point of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign)]
pub struct Counts {
    /// Units of work that were due; 0 in a closed load.
    pub due: u64,
    /// Those that were begun.
    pub begun: u64,
    /// Those completed.
    pub whole: u64,
    /// Those that failed.
    pub failed: u64,
    /// Valid answers.
    pub requests: u64,
    /// Total time in which users did units of work within it.
    pub users_ns: u64,
}

impl StagedRecord {
    /// Creates an empty record for a load that begins now.
    pub(crate) fn new(stages: &Arc<Stages>, start: Instant) -> StagedRecord {
        let seconds = stages.lasts().as_secs().max(1);
        StagedRecord {
            stages: Arc::clone(stages),
            start,
            width: Duration::from_secs(seconds.div_ceil(POINTS_MAX)),
            parts: stages.each().map(|_| StagePart::default()).collect(),
            points: Vec::with_capacity(POINTS_MAX as usize),
        }
    }

    fn part(&mut self, due: Instant) -> &mut StagePart {
        let place = self.stages.place(due.saturating_duration_since(self.start));
        &mut self.parts[place]
    }

    fn point(&mut self, at: Instant) -> &mut CoursePart {
        let place = (at.saturating_duration_since(self.start).as_nanos() / self.width.as_nanos()) as usize;
        if self.points.len() <= place {
            self.points.resize_with(place + 1, CoursePart::default);
        }
        &mut self.points[place]
    }

    /// Counts for the stage of the due time, and for the point of the event.
    fn count(&mut self, (due, at): (Instant, Instant), count: impl Fn(&mut Counts)) {
        count(&mut self.part(due).counts);
        count(&mut self.point(at).counts);
    }

    pub(super) fn ended(&mut self, due: Instant, (begun, ended): (Instant, Instant), time: Option<Duration>) {
        match time {
            Some(time) => {
                self.count((due, ended), |counts| counts.whole += 1);
                self.part(due).times.saturating_record(time.as_nanos() as u64);
                self.point(ended).times_us.saturating_record((time.as_micros() as u64).max(1));
            }
            None => self.count((due, ended), |counts| counts.failed += 1),
        }
        // A unit of work may reach over several stages and points: each has its part of the user's time.
        for ((stage, at_s), part) in self.stages.each().zip(&mut self.parts) {
            let comes = self.start + Duration::from_secs_f64(at_s);
            let (from, until) = (begun.max(comes), ended.min(comes + stage.lasts));
            part.counts.users_ns += nanoseconds(until, from);
        }
        let mut from = begun;
        while from < ended {
            let passed = from.saturating_duration_since(self.start).as_nanos() / self.width.as_nanos();
            let next = self.start + self.width * (passed as u32 + 1);
            let until = next.min(ended);
            self.point(from).counts.users_ns += nanoseconds(until, from);
            from = until;
        }
    }

    /// Counts a valid answer to a request sent at `asked`.
    pub(crate) fn answered(&mut self, asked: Instant, finished: Instant) {
        self.count((asked, finished), |counts| counts.requests += 1);
    }

    /// Adds the record of another worker or trial, of the same stages.
    pub(crate) fn add(&mut self, other: &StagedRecord) {
        for (own, other) in self.parts.iter_mut().zip(&other.parts) {
            own.counts += other.counts;
            own.times.add(&other.times);
        }
        self.points.resize_with(self.points.len().max(other.points.len()), CoursePart::default);
        for (own, other) in self.points.iter_mut().zip(&other.points) {
            own.counts += other.counts;
            own.times_us += &other.times_us;
        }
    }
}

impl Default for CoursePart {
    fn default() -> CoursePart {
        let times_us = Histogram::new_with_bounds(1, COURSE_US_MAX, COURSE_DIGITS);
        CoursePart { counts: Counts::default(), times_us: times_us.expect("the bounds are constants in range") }
    }
}

impl Recorder {
    /// Records stages from now on, if the load has any.
    pub(crate) fn begin_stages(&mut self, stages: Option<&Arc<Stages>>, start: Instant) {
        self.staged = stages.map(|stages| Box::new(StagedRecord::new(stages, start)));
    }

    /// Counts a due unit of work of an open load.
    pub(crate) fn due(&mut self, intended: Instant) {
        self.tally.sends.intended += 1;
        if let Some(staged) = &mut self.staged {
            staged.count((intended, intended), |counts| counts.due += 1);
        }
    }

    /// Counts a begun unit of work of an open load.
    pub(crate) fn begun(&mut self, intended: Instant, now: Instant) {
        self.lateness.get_or_insert_with(times).saturating_record(nanoseconds(now, intended));
        self.unit_begun(intended, now);
    }

    /// Counts a begun unit of work, which was due at `due`.
    pub(crate) fn unit_begun(&mut self, due: Instant, now: Instant) {
        if let Some(staged) = &mut self.staged {
            staged.count((due, now), |counts| counts.begun += 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_due_in_a_stage_is_its_own_and_the_course_has_it_where_it_ended() {
        let stages: Arc<Stages> = Arc::new("1s:10..10/s,2s:0/s".parse().unwrap());
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut recorder = Recorder::default();
        recorder.begin_stages(Some(&stages), start);
        for due in [at(500), at(900), at(1500)] {
            recorder.due(due);
        }
        recorder.begun(at(500), at(500));
        recorder.unit_ended(at(500), (at(500), at(600)), Some(Duration::from_millis(100)));
        recorder.begun(at(900), at(950));
        recorder.unit_ended(at(900), (at(950), at(2450)), Some(Duration::from_millis(1550)));
        recorder.begun(at(1500), at(1500));
        recorder.unit_ended(at(1500), (at(1500), at(1700)), None);
        let mut twice = recorder.clone();
        twice.add(&recorder);
        for (recorder, factor) in [(&recorder, 1), (&twice, 2)] {
            let staged = recorder.staged.as_ref().unwrap();
            let counts = |counts: Counts| [counts.due, counts.begun, counts.whole, counts.failed].map(|n| n / factor);
            assert_eq!(
                staged.parts.iter().map(|part| counts(part.counts)).collect::<Vec<_>>(),
                [[2, 2, 2, 0], [1, 1, 0, 1]]
            );
            let points: Vec<[u64; 4]> = staged.points.iter().map(|point| counts(point.counts)).collect();
            assert_eq!(points, [[2, 2, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]]);
            let users: Vec<u64> =
                staged.points.iter().map(|point| point.counts.users_ns / factor / 1_000_000).collect();
            assert_eq!(users, [150, 1200, 450]);
            let users = staged.parts.iter().map(|part| part.counts.users_ns / factor / 1_000_000);
            assert_eq!(users.collect::<Vec<_>>(), [150, 1650]);
        }
    }
}
