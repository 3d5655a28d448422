//! A plan of what an experiment measures, of its file and of what is asked.
//!
//! What it deliberately does not do: order trials (see [`super::schedule`]).

use std::time::Duration;

use super::extent::Extent;
use super::planned::{Plan, RatePlan, TRIALS_PER_BLOCK, WARM_UP_LEAST, WARM_UP_OF_LADDER, blocks_within};
use super::{asked, batch, between};
use crate::experiment::{Connections, Distance, Experiment, LoadShape, WorkloadKind};
use tollgate_facts::stats::sequential;

/// Time of an answer where nothing was measured yet: for the plan alone. The mean of all variants of `mediation` on two
/// cores.
const ANSWER_LIKELY: Duration = Duration::from_micros(42);
/// The same by a peer.
const ANSWER_OF_PEER_LIKELY: Duration = Duration::from_micros(120);

/// At a rate slices are so much longer: users are not busy throughout.
const RATE_SLICES: u32 = 10;

/// Time for the trials of one cell of an insert where the file says nothing.
const CELL_DEFAULT: Duration = Duration::from_secs(60);

/// Settling time in milliseconds where the file says nothing.
const SETTLE_MS_DEFAULT: u32 = 50;

/// Warm-up of a variant whose subject others warm up, too: what a steady state takes to be seen.
const WARM_UP_SHARED: Duration = Duration::from_millis(1500);

/// Entities of the flights' list, which a ladder's pass asks for.
const DETAILS_LIKELY: u32 = 400;
/// What a ladder's gateway and the database likely add to the round trip of an answer, and of a list.
const WORK_LIKELY: Duration = Duration::from_micros(800);
const LIST_LIKELY: Duration = Duration::from_millis(10);

/// What a load takes that lasts so long at least and ends on a whole pass.
fn whole_passes(pass: Duration, least: Duration) -> Duration {
    let count = least.as_nanos().div_ceil(pass.as_nanos().max(1)).max(1);
    pass * u32::try_from(count).unwrap_or(u32::MAX)
}

/// What the command line asks beyond the extent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanOptions {
    /// How much.
    pub extent: Extent,
    /// Blocks for each level.
    pub rounds: Option<u32>,
    /// Names of variants; empty means all. Their baselines come along.
    pub only: Vec<String>,
    /// Levels; any number will do, the experiment's are only its own choice.
    pub levels: Option<Vec<u64>>,
    /// Stop when no toll's interval reaches further than so much to either side, in millionths; then blocks are looked at as
    /// [`sequential`] says.
    pub until_width_ppm: Option<u32>,
    /// Half the width of the band of "no toll", in millionths; absent: the usual one.
    pub equivalence_ppm: Option<u32>,
}

impl Plan {
    /// What `experiment` measures under `options`.
    ///
    /// # Errors
    /// A sentence that names the unknown variant or the level out of range.
    pub fn new(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
        let defaults = options.extent.defaults();
        let overrides = options.extent.of(experiment);
        if options.until_width_ppm.is_some() {
            asked::can_stop(experiment)?;
        }
        let looked_at = options.until_width_ppm.map(|_| sequential::INTERIM_LOOKS[sequential::INTERIM_LOOKS.len() - 1]);
        let blocks = options.rounds.or(looked_at).or(overrides.blocks).unwrap_or(match &experiment.load {
            Some(load) if load.stages.is_some() => defaults.blocks_of_stages,
            _ => defaults.blocks,
        });
        if blocks == 0 {
            return Err("there must be at least 1 round (--rounds)".to_owned());
        }
        let levels = match &options.levels {
            None => overrides.levels.clone().unwrap_or_else(|| experiment.levels.clone()),
            Some(levels) => asked::checked_levels(levels, experiment)?,
        };
        let mut chosen = vec![options.only.is_empty() && overrides.variants.is_none(); experiment.variants.len()];
        if let (true, Some(variants)) = (options.only.is_empty(), &overrides.variants) {
            variants.iter().for_each(|position| chosen[*position] = true);
        }
        for name in &options.only {
            for position in experiment.variants_named(name)? {
                let mut next = Some(position);
                while let Some(position) = next {
                    chosen[position] = true;
                    next = experiment.variants[position].baseline;
                }
            }
        }
        let variants: Vec<usize> = (0..chosen.len()).filter(|position| chosen[*position]).collect();
        let starts = overrides.starts.unwrap_or(defaults.starts).min(blocks);
        let slice = match (&experiment.load, overrides.slice_ms) {
            (Some(LoadShape { stages: Some(stages), .. }), _) => stages.lasts(),
            (Some(_), None) => Duration::from_millis(u64::from(defaults.slice_ms * RATE_SLICES)),
            (_, slice_ms) => Duration::from_millis(u64::from(slice_ms.unwrap_or(defaults.slice_ms))),
        };
        let is_insert = experiment.workload == WorkloadKind::Insert;
        let cell = overrides.cell_ms.map_or(CELL_DEFAULT, |milliseconds| Duration::from_millis(milliseconds.into()));
        let of_ladder = experiment.ladder.map(|ladder| ladder.round_trip_ms);
        let round_trip_ms = overrides.round_trip_ms.or(experiment.round_trip_ms).or(of_ladder).unwrap_or(0);
        let round_trip = Duration::from_millis(round_trip_ms.into());
        let settles = experiment.encrypting.is_some() || experiment.connections == Connections::PerTrial;
        let settle_ms = settles.then(|| overrides.settle_ms.unwrap_or(SETTLE_MS_DEFAULT));
        let offers = experiment.encrypting.as_ref().is_some_and(|encrypting| encrypting.equal_rate.is_some());
        let equal_rate = offers.then(|| RatePlan {
            blocks: options.rounds.or(overrides.rate_blocks).unwrap_or(blocks),
            slice: overrides.rate_slice_ms.map_or(slice, |milliseconds| Duration::from_millis(milliseconds.into())),
        });
        let mut plan = Plan {
            extent: options.extent,
            variants,
            levels,
            blocks,
            slice,
            slice_most: match experiment.connections {
                Connections::PerTrial => slice.max(options.extent.slice_most()),
                Connections::Kept => slice,
            },
            starts,
            cell: (is_insert || experiment.ladder.is_some()).then_some(cell),
            round_trip,
            subjects: 0,
            warm_up: Duration::ZERO,
            between: Duration::ZERO,
            too_far: Vec::new(),
            trials_least: Duration::ZERO,
            settle: Duration::from_millis(settle_ms.unwrap_or(0).into()),
            equal_rate,
            passes_likely: Vec::new(),
            presets: experiment.presets.len() as u32,
            until_width_ppm: options.until_width_ppm,
            equivalence_ppm: options.equivalence_ppm.or(experiment.equivalence_ppm),
        };
        if experiment.ladder.is_some() {
            plan.climb(experiment);
            return Ok(plan);
        }
        plan.subjects = plan.count_subjects(experiment);
        plan.warm_up = match (is_insert, settles) {
            (true, _) => WARM_UP_LEAST * plan.subjects,
            (false, false) => WARM_UP_LEAST * plan.variants.len() as u32,
            (false, true) => WARM_UP_SHARED * plan.variants.len() as u32,
        };
        if experiment.workload == WorkloadKind::Batch {
            plan.subjects = 1;
            plan.warm_up = batch::WARM_UP;
            plan.trials_least = batch::trials(experiment, &plan);
            return Ok(plan);
        }
        plan.survey(experiment);
        plan.between = between::between(experiment, &plan);
        Ok(plan)
    }

    /// What can be told of a ladder: each variant has a process at each level, which is warmed up by a pass at least.
    fn climb(&mut self, experiment: &Experiment) {
        self.starts = 1;
        self.subjects = (self.variants.len() * self.levels.len()) as u32;
        for level in &self.levels {
            for position in &self.variants {
                // As many at once as all that is counted lets through; the list comes before.
                let connections = experiment.variants[*position].connections_max.map_or(u64::MAX, u64::from);
                let at_once = (*level).min(experiment.users(*level)).min(connections).max(1) as u32;
                let (answer, list) = (self.round_trip + WORK_LIKELY, self.round_trip + LIST_LIKELY);
                let pass = list + answer * DETAILS_LIKELY / at_once;
                self.passes_likely.push((*position, *level, pass));
                self.trials_least +=
                    whole_passes(pass, self.slice) * (self.blocks_at(*position, *level) * TRIALS_PER_BLOCK);
                self.warm_up += whole_passes(pass, WARM_UP_OF_LADDER);
            }
        }
        self.between = between::between(experiment, self);
    }

    fn count_subjects(&self, experiment: &Experiment) -> u32 {
        let shared = experiment.workload == WorkloadKind::Insert || experiment.configuration.is_some();
        let peer = |position: &usize| {
            let variant = &experiment.variants[*position];
            (variant.peer.as_deref(), variant.backend.as_deref())
        };
        let is_first = |(place, position): &(usize, &usize)| {
            !shared || self.variants[..*place].iter().all(|earlier| peer(earlier) != peer(position))
        };
        self.variants.iter().enumerate().filter(is_first).count() as u32
    }

    /// What can be told of the time of each cell before anything is measured.
    fn survey(&mut self, experiment: &Experiment) {
        let Some(cell) = self.cell else {
            let rate = self.equal_rate.map_or(Duration::ZERO, |rate| rate.slice * self.rate_trials() as u32);
            self.trials_least = self.settle * self.trials() as u32 + rate;
            for position in &self.variants {
                let is_peer = experiment.variants[*position].peer.is_some();
                let answer = if is_peer { ANSWER_OF_PEER_LIKELY } else { ANSWER_LIKELY };
                for level in &self.levels {
                    let slice = self.slice_of(experiment.users(*level), Some(1.0 / answer.as_secs_f64()));
                    self.trials_least += slice * (self.blocks * TRIALS_PER_BLOCK);
                }
            }
            return;
        };
        for &position in &self.variants {
            let variant = &experiment.variants[position];
            for &level in &self.levels {
                let waits = variant.mode.map_or(0, |mode| mode.waits(level));
                let far = match variant.distance {
                    Distance::Local => Duration::ZERO,
                    Distance::Remote => self.round_trip * u32::try_from(waits).unwrap_or(u32::MAX),
                };
                let blocks = blocks_within(cell, far.max(self.slice), self.blocks);
                // What is too far at one level is so at all above.
                if blocks == 0 {
                    self.too_far.push((position, level));
                    break;
                }
                self.trials_least += far + far.max(self.slice) * (blocks * TRIALS_PER_BLOCK);
            }
        }
    }
}
