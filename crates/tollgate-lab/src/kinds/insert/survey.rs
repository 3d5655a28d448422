//! The survey of a run of inserts: the time of a transfer and the onset of errors, for each variant and level, from
//! which the numbers of blocks are chosen before anything is measured.
//!
//! It is in no figure but the settlement of its transfers, which are compared record by record at every level.

use std::time::Duration;

use super::onset::Failed;
use super::transfers::Inserting;
use crate::conduct::conductor::Halt;
use crate::conduct::options::Progress;
use crate::kinds::http::session::Session;
use crate::kinds::http::subjects::watched::Watched;
use crate::load::insert::Closeness;
use crate::plan::schedule::{self, Block};
use crate::plan::{BLOCKS_LEAST, TRIALS_PER_BLOCK, blocks_within};
use crate::secret;
use crate::traffic::mode::Mode;
use tollgate_facts::results::{Gap, GapKind};

impl Session<'_, '_, Inserting> {
    /// Runs one transfer of each variant at each level, the smallest first, until errors begin or it takes too long.
    pub(crate) fn survey(&mut self, subjects: &mut [Watched]) -> Result<Vec<Block>, Halt> {
        for subject in subjects {
            let name = &self.options.experiment.variants[subject.variant].name;
            self.observer.progress(&Progress::Surveying { variant: name });
            // Levels that the survey does not come to have none.
            self.plan.blocks_of.extend(self.plan.levels.iter().map(|level| ((subject.variant, *level), 0)));
            self.survey_one(subject)?;
        }
        Ok(schedule::blocks(&self.plan, self.result.seed))
    }

    fn survey_one(&mut self, subject: &mut Watched) -> Result<(), Halt> {
        let variant = subject.variant;
        let shape = &self.options.experiment.variants[variant];
        let mode = *shape.own::<Mode>().expect("every variant of an insert has a mode");
        let cell = self.plan.cell.expect("an insert has a bound on a cell's time");
        // The time of the last transfer by what it waited for: more records take at least as long again.
        let mut wait = Duration::ZERO;
        for level in self.plan.levels.clone() {
            let projected = wait * u32::try_from(mode.waits(level)).unwrap_or(u32::MAX);
            if blocks_within(cell, projected, self.plan.blocks) == 0 {
                self.too_long(variant, level, projected, "would take at least");
                continue;
            }
            let (mut failure, mut time) = self.survey_transfer(subject, level)?;
            // One that is slow once may be quick the next time: a cell is skipped only for the faster of two.
            if time.is_some_and(|time| blocks_within(cell, time.max(self.plan.slice), self.plan.blocks) == 0) {
                let (again, faster) = self.survey_transfer(subject, level)?;
                (failure, time) = (failure.or(again), time.min(faster).or(time));
            }
            if let Some(failed) = failure {
                if shape.baseline.is_none() && level == self.plan.levels[0] {
                    let (url, failure) = (secret::hide(&subject.target(level).target.to_string()), failed.example);
                    return Err(self.failed(variant, format!("gives no valid answer at {url}: {failure}")));
                }
                let is_least = level == self.plan.levels[0];
                match is_least && matches!(mode, Mode::Batch { .. }) && failed.is_of_the_way() {
                    true => self.note_unsupported(variant, &failed),
                    false => self.note_onset(variant, level, &failed),
                }
                return Ok(());
            }
            let Some(time) = time else { continue };
            wait = time / u32::try_from(mode.waits(level)).unwrap_or(u32::MAX);
            let blocks = blocks_within(cell, time.max(self.plan.slice), self.plan.blocks);
            self.plan.blocks_of.insert((variant, level), blocks);
            if blocks == 0 {
                self.too_long(variant, level, time, "takes");
            }
        }
        Ok(())
    }

    /// Runs one transfer; returns its failure, if any, and its time, if it is complete.
    fn survey_transfer(
        &mut self,
        subject: &mut Watched,
        level: u64,
    ) -> Result<(Option<Failed>, Option<Duration>), Halt> {
        let measured = self.transfer(subject, level, Closeness::Compare)?;
        let tally = &measured.recorder.tally;
        let found = (Failed::of(tally), tally.unit_times.first().copied());
        self.kind.cells.surveyed(subject.variant, level, &tally.transfers);
        self.kind.generator.keep(measured.recorder);
        Ok(found)
    }

    fn too_long(&mut self, variant: usize, level: u64, time: Duration, verb: &str) {
        let cell = self.plan.cell.unwrap_or_default();
        self.result.gaps.push(Gap {
            variant: self.options.experiment.variants[variant].name.clone(),
            level,
            kind: GapKind::TooLong,
            reason: format!(
                "skipped: a transfer {verb} {:.3} s, and {} of them do not fit into the {} s of a cell",
                time.as_secs_f64(),
                BLOCKS_LEAST * TRIALS_PER_BLOCK,
                cell.as_secs_f64()
            ),
        });
    }
}
