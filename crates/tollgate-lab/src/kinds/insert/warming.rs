//! The warm-up of a run of inserts: each subject by itself, so that one that compiles its code at run time has enough
//! time of its own.
//!
//! It is in no figure.

use std::time::{Duration, Instant};

use super::transfers::Inserting;
use crate::conduct::conductor::Halt;
use crate::conduct::options::Progress;
use crate::kinds::http::session::Session;
use crate::kinds::http::subjects::sites::{Origin, Site};
use crate::kinds::http::subjects::watched::Watched;
use crate::load::insert::Closeness;
use crate::plan::{WARM_UP_LEAST, WARM_UP_MOST};
use tollgate_facts::results::Distance;
use tollgate_facts::stats::warm_up::{WarmUp, mser5};

/// Most records of a transfer that warms a subject up.
const RECORDS_MAX: u64 = 100;
/// Longest expected transfer for which a variant moves to the next level.
const TRANSFER_MOST: Duration = Duration::from_millis(50);

/// A variant while its subject is warmed up: it begins with few records, and gets more while it is fast.
struct Climber {
    slot: usize,
    /// Position of its level in the plan; `None` once the lowest one failed.
    at: Option<usize>,
    /// The first position that it cannot reach.
    end: usize,
}

impl Climber {
    /// Chooses the next level after a transfer of this time, or a failed one.
    fn went(&mut self, time: Option<Duration>, levels: &[u64]) {
        let Some(at) = self.at else { return };
        match time {
            None => (self.end, self.at) = (at, at.checked_sub(1)),
            Some(time) if at + 1 < self.end => {
                let next = time.as_secs_f64() * levels[at + 1] as f64 / levels[at] as f64;
                if next <= TRANSFER_MOST.as_secs_f64() {
                    self.at = Some(at + 1);
                }
            }
            Some(_) => {}
        }
    }
}

impl Session<'_, '_, Inserting> {
    /// Warms every subject up, one after another.
    pub(crate) fn warm_up_inserts(&mut self, subjects: &mut [Watched]) -> Result<(), Halt> {
        let all = self.kind.sites;
        for (first, site) in all.iter().enumerate() {
            if all[..first].iter().any(|before| is_one_subject(before, site)) {
                continue;
            }
            let own: Vec<usize> = (first..all.len()).filter(|slot| is_one_subject(site, &all[*slot])).collect();
            let is_steady = self.warm_up_subject(&own, subjects)?;
            for slot in own {
                self.kind.cells.started(all[slot].variant, None, is_steady);
            }
        }
        Ok(())
    }

    /// Runs transfers by all variants of a subject in turn until the time of a round is steady; returns whether it
    /// became so.
    fn warm_up_subject(&mut self, slots: &[usize], subjects: &mut [Watched]) -> Result<bool, Halt> {
        let levels = self.plan.levels.clone();
        let end = levels.iter().filter(|level| **level <= RECORDS_MAX).count().max(1);
        let is_near =
            |slot: &usize| self.options.experiment.variants[self.kind.sites[*slot].variant].distance == Distance::Local;
        // What goes over a link warms nothing that the same without a link does not.
        let near: Vec<usize> = slots.iter().copied().filter(is_near).collect();
        let chosen = if near.is_empty() { slots } else { &near };
        let mut climbers: Vec<Climber> = chosen.iter().map(|slot| Climber { slot: *slot, at: Some(0), end }).collect();
        let began = Instant::now();
        // Of each round the mean logarithm of the time of a record, so that no variant outweighs the others.
        let mut course = Vec::new();
        loop {
            let mut round = Vec::new();
            for climber in &mut climbers {
                let Some(at) = climber.at else { continue };
                let time = self.warm_up_transfer(&mut subjects[climber.slot], levels[at])?;
                round.extend(time.map(|time| (time.as_secs_f64().max(1e-9) / levels[at] as f64).ln()));
                climber.went(time, &levels);
            }
            if round.is_empty() && climbers.iter().all(|climber| climber.at.is_none()) {
                // Nobody can be warmed up: the survey tells why.
                return Ok(false);
            }
            if !round.is_empty() {
                course.push(round.iter().sum::<f64>() / round.len() as f64);
            }
            let elapsed = began.elapsed();
            match mser5(&course) {
                WarmUp::Cut { .. } if elapsed >= WARM_UP_LEAST => return Ok(true),
                _ if elapsed >= WARM_UP_MOST => return Ok(false),
                _ => {}
            }
        }
    }

    /// Runs one transfer; returns its time unless it failed.
    fn warm_up_transfer(&mut self, subject: &mut Watched, level: u64) -> Result<Option<Duration>, Halt> {
        let shape = &self.options.experiment.variants[subject.variant];
        self.observer.progress(&Progress::WarmingUp { variant: &shape.name });
        let measured = self.transfer(subject, level, Closeness::Count)?;
        let tally = &measured.recorder.tally;
        let time = tally.unit_times.first().copied().filter(|_| tally.failures() == 0);
        self.kind.generator.keep(measured.recorder);
        Ok(time)
    }
}

/// Whether two sites are one subject: one process of ours, or one authority of the user's.
fn is_one_subject(one: &Site, other: &Site) -> bool {
    match (&one.place, &other.place) {
        (Origin::There(one), Origin::There(other)) => one.authority() == other.authority(),
        _ => one.process == other.process,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_gets_more_records_as_long_as_it_is_quick_and_fewer_after_a_failure() {
        let levels = [5, 50, 100, 1000];
        let mut climber = Climber { slot: 0, at: Some(0), end: 3 };
        let mut check = |time_ms: Option<u64>, expected: Option<usize>| {
            climber.went(time_ms.map(Duration::from_millis), &levels);
            assert_eq!(climber.at, expected, "{time_ms:?}");
        };
        check(Some(6), Some(0));
        check(Some(5), Some(1));
        check(Some(10), Some(2));
        check(Some(1), Some(2));
        check(None, Some(1));
        check(Some(1), Some(1));
        check(None, Some(0));
        check(None, None);
        check(Some(1), None);
    }
}
