//! The first answers of a subject: whether it works at all, and for a server of the user's the criteria of its answers.
//!
//! It does not warm the subject up, or decide whose answers are the model (see [`super::own`]).

use std::thread;
use std::time::{Duration, Instant};

use super::session::Session;
use super::subjects::watched::Watched;
use super::trial::Asked;
use super::way::Way;
use crate::conduct::conductor::Halt;
use crate::load::answer::failure::ErrorClass;
use crate::load::record::course::Course;
use crate::load::renewal::Renewal;
use crate::secret;
use crate::traffic::model::{End, Load};
use tollgate_facts::results::FirstAnswers;

/// Longest time of a subject for its first unit of work.
const FIRST_ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// Pause before a subject that may still be starting is asked again.
const AGAIN_AFTER: Duration = Duration::from_millis(100);
/// Error of a subject without a valid answer.
const NO_ANSWER: Option<&str> = Some("gives no valid answer");
/// The same for a subject that gives the list only.
const NO_ENTITY: Option<&str> = Some("gives a list, but none of its entities,");
/// Remedy for a list that is not understood.
const DETAIL: &str = "; `detail`, or --detail VARIANT='items/{id}', says where its entities are";
/// Number of first answers that show whether all have the same length.
const FIRST_ANSWERS: u64 = 2;

/// The fault in first answers.
struct Wrong {
    how: String,
    /// Whether an answer came, perhaps in an unexpected format.
    came: bool,
}

impl<W: Way> Session<'_, '_, W> {
    /// Makes one user do one unit of work, to distinguish a subject that cannot do it from one that fails under load. A
    /// list of the user's without the format of a built-in experiment is walked by its own links.
    pub(super) fn first_answer(&mut self, subject: &mut Watched, level: u64) -> Result<(), Halt> {
        let mut wrong = self.tried(subject, level)?;
        if let (Some(Wrong { came: true, .. }), Some(shape)) = (&wrong, subject.by_links.take()) {
            subject.understand(&shape);
            self.kind.generator.forget(subject.variant);
            wrong = self.tried(subject, level)?;
        }
        let deadline = Instant::now() + self.kind.way.patience();
        while wrong.is_some() && Instant::now() < deadline {
            self.goes_on()?;
            // Nobody tells when a server that listens is ready.
            thread::park_timeout(AGAIN_AFTER);
            wrong = self.tried(subject, level)?;
        }
        wrong.map_or(Ok(()), |wrong| Err(self.failed(subject.variant, wrong.how)))
    }

    /// The same; returns the fault, if any. A subject whose first answers are the model gives two, which show whether
    /// all have the same length.
    fn tried(&mut self, subject: &mut Watched, level: u64) -> Result<Option<Wrong>, Halt> {
        let learns = W::LEARNS && subject.learns;
        let looks: &[u64] = if learns { &[FIRST_ANSWERS] } else { W::FIRST_LOOKS };
        let (mut failed, mut are_alike) = (None, true);
        for units in looks {
            let after = (!learns).then_some(FIRST_ANSWER_WITHIN);
            let load = Load::closed(1, End { after, units: Some(*units) });
            let work = W::first(self);
            let asked = Asked { work, load, level, renewal: Renewal::Kept };
            let measured = self.load(subject, asked, Course::Unrecorded)?;
            let tally = &measured.recorder.tally;
            let failure = tally.errors.iter().find(|error| error.class != ErrorClass::Length);
            let what = match (tally.requests, tally.units) {
                (0, _) => NO_ANSWER,
                _ if tally.lists.count > 0 && tally.details.count == 0 => NO_ENTITY,
                (_, 0) => W::FIRST_UNIT,
                _ if learns && failure.is_some() => NO_ANSWER,
                _ => None,
            };
            if tally.left_out > 0 && tally.details.count == 0 && failure.is_none() {
                let url = secret::hide(&subject.target(level).target.to_string());
                let how = format!("gives a list at {url} of which every entity is left out by its status{DETAIL}");
                failed = Some(Wrong { how, came: true });
                self.kind.generator.keep(measured.recorder);
                continue;
            }
            are_alike = tally.errors.is_empty();
            failed = what.zip(failure).map(|(what, failure)| {
                let target = subject.target(level);
                let url = secret::hide(&target.target.to_string());
                let came = tally.requests > 0 || failure.class == ErrorClass::Content;
                let helps = if came && target.shape.format.is_some() { DETAIL } else { "" };
                Wrong { how: format!("{what} at {url}: {}{helps}", failure.example), came }
            });
            self.kind.generator.keep(measured.recorder);
            if failed.is_none() {
                break;
            }
        }
        if failed.is_none() && learns {
            let has_text = subject.target(level).shape.contains.is_some();
            let bytes = subject.settle_length(level, are_alike);
            self.learned(subject.variant, FirstAnswers { bytes, has_text });
        }
        Ok(failed)
    }

    /// Stores the criteria of a variant's answers; without a length if its places differ.
    fn learned(&mut self, variant: usize, found: FirstAnswers) {
        let name = &self.options.experiment.variants[variant].name;
        let stored = self.result.experiment.variants.iter_mut().find(|stored| stored.name == *name);
        let Some(stored) = stored else { return };
        let is_other = stored.first_answers.is_some_and(|before| before != found);
        stored.first_answers = Some(if is_other { FirstAnswers { bytes: None, ..found } } else { found });
    }
}
