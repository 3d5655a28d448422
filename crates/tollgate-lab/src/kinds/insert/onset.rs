//! The onset of a variant's errors: the lowest level with an error, in the survey or in a trial.
//!
//! It does not judge errors. One failed request is enough; its share is in the text.

use super::transfers::Inserting;
use crate::kinds::http::session::Session;
use crate::load::answer::failure::ErrorClass;
use crate::load::record::recorder::Tally;
use tollgate_facts::results::{Gap, GapKind};

/// The failure of a transfer or a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    /// The first failure's class.
    pub(crate) class: ErrorClass,
    /// The first failure's text.
    pub(crate) example: String,
    /// Requests that failed.
    pub(crate) failures: u64,
    /// All requests, answered or not.
    pub(crate) requests: u64,
}

impl Failed {
    /// The failure of a trial; absent without one.
    pub(crate) fn of(tally: &Tally) -> Option<Failed> {
        let first = tally.errors.first()?;
        let (class, example) = (first.class, first.example.clone());
        let failures = tally.failures();
        Some(Failed { class, example, failures, requests: tally.requests + failures })
    }

    /// Whether the request was refused for its form: the same records went in another way, and the server was not
    /// loaded.
    pub(crate) fn is_of_the_way(&self) -> bool {
        matches!(self.class, ErrorClass::Status(400 | 404..=406 | 410 | 411 | 414..=428 | 431..=499 | 501 | 505))
    }

    /// Describes the failure: `503 Service Unavailable (2 of 120 requests)`.
    fn words(&self) -> String {
        let noun = if self.requests == 1 { "request" } else { "requests" };
        format!("{} ({} of {} {noun})", self.example, self.failures, self.requests)
    }
}

impl Session<'_, '_, Inserting> {
    /// Stores that errors began at this level: nothing more is measured there or above, so a later onset is at a lower
    /// level.
    pub(crate) fn note_onset(&mut self, variant: usize, level: u64, failed: &Failed) {
        let name = &self.options.experiment.variants[variant].name;
        let gaps = &mut self.result.gaps;
        gaps.retain(|gap| gap.variant != *name || (gap.kind == GapKind::TooLong && gap.level < level));
        let gap = |level, kind, reason| Gap { variant: name.clone(), level, kind, reason };
        gaps.push(gap(level, GapKind::ErrorOnset, failed.words()));
        let above = self.plan.levels.iter().filter(|above| **above > level);
        let begun = || format!("errors began at {level} records");
        gaps.extend(above.map(|above| gap(*above, GapKind::AfterOnset, begun())));
    }

    /// Stores that the service does not take records in this way: the variant is not measured.
    pub(crate) fn note_unsupported(&mut self, variant: usize, failed: &Failed) {
        let name = &self.options.experiment.variants[variant].name;
        let gap = |level: &u64| Gap {
            variant: name.clone(),
            level: *level,
            kind: GapKind::Unsupported,
            reason: failed.example.clone(),
        };
        self.result.gaps.extend(self.plan.levels.iter().map(gap));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_how_many_requests_it_hit() {
        let check = |failures: u64, requests: u64, expected: &str| {
            let failed = Failed {
                class: ErrorClass::Status(503),
                example: "503 Service Unavailable".to_owned(),
                failures,
                requests,
            };
            assert_eq!(failed.words(), expected);
        };
        check(2, 120, "503 Service Unavailable (2 of 120 requests)");
        check(1, 1, "503 Service Unavailable (1 of 1 request)");
    }
}
