//! The load at equal rate: once the closed load has found the throughput of every variant of a level, all of them are
//! offered the same rate, again in mirrored blocks. Only here are response times compared: users who wait for a slower
//! server offer it less.
//!
//! It does not judge whether the rate was kept (see [`crate::judge`]).

use super::Connecting;
use crate::conduct::conductor::{Halt, Turn};
use crate::conduct::options::Progress;
use crate::kinds::http::encrypting::{Encrypting, RateSize};
use crate::kinds::http::session::{Session, subject_of, trial_of};
use crate::kinds::http::subjects::watched::Watched;
use crate::kinds::http::trial::{Asked, Asking};
use crate::load::record::course::Course;
use crate::load::renewal::Renewal;
use crate::plan::schedule::{self, Block};
use crate::plan::{Plan, RatePlan};
use crate::traffic::model::{End, Load, Rate};
use tollgate_facts::results::EqualRate;

/// Distinguishes random numbers drawn here from those of the closed load.
const SEED: u64 = 0x7261_7465;
/// Most users, as a multiple of those of the closed load: a slow server that can take the rate has that many waiting
/// for it.
const USERS_FACTOR: u64 = 10;

impl Session<'_, '_, Connecting> {
    /// Offers every level its rate, block by block.
    pub(crate) fn at_equal_rate(&mut self, subjects: &mut [Watched]) -> Result<(), Halt> {
        let encrypting = self.options.experiment.own::<Encrypting>();
        let (Some(shape), Some(planned)) = (encrypting.and_then(|own| own.equal_rate), self.plan.equal_rate) else {
            return Ok(());
        };
        let offer = |level: &u64| {
            // A level of which a variant was not answered at all is offered nothing.
            let least = self.kind.cells.least_throughput(&self.result, *level)?;
            let (rate_per_second, rate_share) = match shape.size {
                RateSize::Share(share) => (rounded(least * share), share),
                RateSize::PerSecond(rate) => (rate, rate / least),
            };
            Some((*level, EqualRate { rate_per_second, rate_share, arrivals: shape.arrivals, ..EqualRate::default() }))
        };
        let offers: Vec<(u64, EqualRate)> = self.plan.levels.iter().filter_map(offer).collect();
        let blocks = blocks(&self.plan, planned, self.result.seed);
        let total = self.trials() + blocks.iter().map(|block| block.order.len()).sum::<usize>();
        self.plan_trials(total);
        for (number, block) in blocks.iter().enumerate() {
            let level = block.level;
            let Some((_, offer)) = offers.iter().find(|(known, _)| *known == level) else { continue };
            for (place, variant) in block.order.iter().enumerate() {
                let subject = subject_of(subjects, *variant);
                let turn = Turn { block, place, variant: *variant };
                let seed = self.result.seed ^ SEED ^ ((number as u64) << 32 | place as u64);
                let rate = Rate { per_second: offer.rate_per_second, arrivals: offer.arrivals, seed };
                let users = self.options.experiment.users(level) * USERS_FACTOR;
                let load = Load::at_a_rate(users as usize, rate, End::after(planned.slice));
                let asked = Asked { work: Asking::Request, load, level, renewal: Renewal::Kept };
                let name = &self.options.experiment.variants[*variant].name;
                let at = self.result.experiment.level_title(level);
                self.observer.progress(&Progress::Measuring { variant: name, at: &at });
                let measured = self.load(subject, asked, Course::Parts(planned.slice))?;
                let tag = format!("{name}@{level}!rate");
                let stored = self.store.write_times(&tag, measured.start, measured.wall, &measured.recorder.response);
                self.book.further += 1;
                let is_last_of_block = block.order[place + 1..].iter().all(|later| later != variant);
                let trial = trial_of(name, turn, &measured);
                self.kind.cells.add_at_rate(*variant, trial.clone(), (offer, planned), &measured, is_last_of_block);
                self.kind.generator.keep(measured.recorder);
                stored.map_err(Halt::Ours)?;
                self.tell(*variant, level, Some(&trial));
            }
            // There are many trials, and no figure of one stands by itself.
            self.save()?;
        }
        Ok(())
    }
}

/// The blocks of the load at equal rate.
fn blocks(plan: &Plan, rate: RatePlan, seed: u64) -> Vec<Block> {
    // Subjects go on as they are: their starts were dealt out among the blocks of the closed load.
    let plan = Plan { blocks: rate.blocks, starts: 1, ..plan.clone() };
    schedule::blocks(&plan, seed ^ SEED)
}

/// Rounds a rate down to two digits, which are enough and easy to remember.
fn rounded(rate: f64) -> f64 {
    let step = 10_f64.powf(rate.max(1.0).log10().floor() - 1.0);
    ((rate / step).floor() * step).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_rounded_down_to_two_digits() {
        let check = |rate: f64, expected: f64| assert!((rounded(rate) - expected).abs() < 1e-9, "{rate}");
        check(1234.5, 1200.0);
        check(99.9, 99.0);
        check(57.0, 57.0);
        check(5.67, 5.6);
        check(0.2, 1.0);
    }
}
