//! How much a run measures and how long that takes, before it runs.
//!
//! It deliberately does not order anything: [`crate::schedule`] does.

mod asked;
mod batch;
mod between;

pub(crate) use batch::DOCUMENTS_LEAST;
use std::time::Duration;

use crate::experiment::{Connections, Distance, Experiment, ExtentOverride, LoadShape, WorkloadKind};
use tollgate_facts::stats::sequential;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// A first look: two levels if the experiment says so, short slices, one start.
    Quick,
    /// A few minutes.
    #[default]
    Default,
    /// Every level, narrow intervals, three starts of each subject.
    Full,
}

/// What an extent measures where neither the file nor the command line says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtentDefaults {
    /// Blocks for each level.
    pub blocks: u32,
    /// Least length of a trial in milliseconds.
    pub slice_ms: u32,
    /// Starts of each subject.
    pub starts: u32,
    /// Blocks of trials that go through stages, which last long.
    pub blocks_of_stages: u32,
}

impl Extent {
    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Extent::Quick => "quick",
            Extent::Default => "default",
            Extent::Full => "full",
        }
    }

    /// Its defaults. Many short slices beat few long ones: at equal time, mirrored slices of 100 ms on warm connections
    /// gave half-widths of 1.7-2.0 %, slices of 1 s 3.4-4.4 %.
    pub fn defaults(self) -> ExtentDefaults {
        match self {
            Extent::Quick => ExtentDefaults { blocks: 8, slice_ms: 100, starts: 1, blocks_of_stages: 1 },
            Extent::Default => ExtentDefaults { blocks: 16, slice_ms: 110, starts: 1, blocks_of_stages: 4 },
            Extent::Full => ExtentDefaults { blocks: 32, slice_ms: 250, starts: 3, blocks_of_stages: 8 },
        }
    }

    /// Where slices grow with the users, they do up to this.
    fn slice_most(self) -> Duration {
        Duration::from_millis(match self {
            Extent::Quick => 600,
            Extent::Default => 10_000,
            Extent::Full => 20_000,
        })
    }

    fn of(self, experiment: &Experiment) -> &ExtentOverride {
        match self {
            Extent::Quick => &experiment.quick,
            Extent::Default => &experiment.default,
            Extent::Full => &experiment.full,
        }
    }
}

/// What a run measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The extent it was made from.
    pub extent: Extent,
    /// Positions of the measured variants in [`Experiment::variants`], in the order of the file.
    pub variants: Vec<usize>,
    /// The measured levels, ascending.
    pub levels: Vec<u64>,
    /// Blocks for each level.
    pub blocks: u32,
    /// Least length of a trial.
    pub slice: Duration,
    /// Most that a trial is planned to last: more than the slice only where slices grow with the users.
    pub slice_most: Duration,
    /// Starts of each subject.
    pub starts: u32,
    /// Time for the trials of one cell, for workloads whose units may take any time.
    pub cell: Option<Duration>,
    /// Round trip of the link of remote variants.
    pub round_trip: Duration,
    /// Processes that are measured: all variants of an insert and of one configuration share one for each peer, and one of
    /// ours.
    pub subjects: u32,
    /// How long subjects are warmed up at each of their starts, about.
    pub warm_up: Duration,
    /// What is likely spent between trials and before them: storing, connections, handshakes, starts.
    pub between: Duration,
    /// Variants that have no time for their transfers, since those wait for the link too often, each with the least
    /// such level.
    pub too_far: Vec<(usize, u64)>,
    /// How long the trials take at least, a survey of inserts among them.
    pub trials_least: Duration,
    /// Time before a trial in which its users are at it already and nothing counts, where connections are opened while
    /// they are measured.
    pub settle: Duration,
    /// What is measured at equal rate after the closed load; absent: nothing.
    pub equal_rate: Option<RatePlan>,
    /// Of a ladder, how long a pass of each variant likely takes at each level; else empty.
    pub passes_likely: Vec<(usize, u64, Duration)>,
    /// Distances with names, each run at the least level in as many blocks as the others; of a batch.
    pub presets: u32,
    /// Stop when no toll's interval reaches further than so much to either side, in millionths; absent: after all blocks.
    pub until_width_ppm: Option<u32>,
    /// Half the width of the band of "no toll", in millionths; absent: the usual one.
    pub equivalence_ppm: Option<u32>,
}

/// What is measured at equal rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatePlan {
    /// Blocks for each level.
    pub blocks: u32,
    /// Length of a trial.
    pub slice: Duration,
}

/// Where slices grow with the users, each is to be answered so often in a trial: some more than
/// [`crate::validity::ANSWERS_PER_USER_MIN`], as nobody knows beforehand how fast a trial will be.
pub const ANSWERS_PER_USER: f64 = 12.0;
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

/// Trials of one variant in one block: once there, once back.
pub const TRIALS_PER_BLOCK: u32 = 2;
/// With fewer blocks there is no interval.
pub const BLOCKS_LEAST: u32 = 2;

/// How many blocks a cell gets whose trials take so long; none where they would be too few.
pub fn blocks_within(cell: Duration, trial: Duration, planned: u32) -> u32 {
    let block = trial * TRIALS_PER_BLOCK;
    let fitting = (cell.as_nanos() / block.as_nanos().max(1)).min(u128::from(planned)) as u32;
    if fitting < BLOCKS_LEAST.min(planned) { 0 } else { fitting }
}

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
            (true, _) => crate::run::WARM_UP_LEAST * plan.subjects,
            (false, false) => crate::run::WARM_UP_LEAST * plan.variants.len() as u32,
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
                self.warm_up += whole_passes(pass, crate::run::WARM_UP_OF_LADDER);
            }
        }
        self.between = between::between(experiment, self);
    }

    /// Blocks of a variant at a level: of a ladder as many as a cell has time for, but two in any case.
    pub fn blocks_at(&self, variant: usize, level: u64) -> u32 {
        let is_meant = |(known, at, _): &&(usize, u64, Duration)| (*known, *at) == (variant, level);
        let pass = self.passes_likely.iter().find(is_meant).map(|(.., pass)| *pass);
        let (Some(pass), Some(cell)) = (pass, self.cell) else { return self.blocks };
        blocks_within(cell, pass.max(self.slice), self.blocks).max(BLOCKS_LEAST.min(self.blocks))
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

    /// How long a trial of so many users lasts of whom so many are answered in a second: where slices grow, as long as each
    /// takes to be answered several times. A shorter trial would be their start and their end.
    pub fn slice_of(&self, users: u64, answers_per_second: Option<f64>) -> Duration {
        let wanted_s = answers_per_second.map_or(0.0, |rate| ANSWERS_PER_USER * users as f64 / rate);
        let most_s = self.slice_most.as_secs_f64();
        self.slice.max(Duration::from_secs_f64(if wanted_s < most_s { wanted_s } else { most_s }))
    }

    /// Which start of the subjects a block of this number belongs to, from 0: starts split the blocks evenly, the first ones
    /// taking what is left over; where one looks in between, each look's blocks have a start of their own.
    pub fn start_of(&self, block: u32) -> u32 {
        match self.until_width_ppm {
            Some(_) => sequential::interim_looks_before(block).min(self.starts.saturating_sub(1)),
            None => (u64::from(block) * u64::from(self.starts) / u64::from(self.blocks.max(1))) as u32,
        }
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.variants.len() * self.levels.len()
    }

    /// How many trials there are, those at equal rate left out.
    pub fn trials(&self) -> usize {
        let of_level = |level: &u64| self.variants.iter().map(|variant| self.blocks_at(*variant, *level)).sum::<u32>();
        self.levels.iter().map(of_level).sum::<u32>() as usize * TRIALS_PER_BLOCK as usize
    }

    /// How many trials there are at equal rate.
    pub fn rate_trials(&self) -> usize {
        self.equal_rate.map_or(0, |rate| self.cells() * rate.blocks as usize * TRIALS_PER_BLOCK as usize)
    }

    /// How long it takes, about: the trials, the warm-up, and what lies between. A slower machine takes longer.
    pub fn duration(&self) -> Duration {
        self.trials_least + self.between + self.warm_up * self.starts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(options: &PlanOptions) -> Result<Plan, String> {
        Plan::new(&Experiment::builtin("protocol").unwrap(), options)
    }

    #[test]
    fn the_quick_protocol_has_two_levels_and_eight_blocks() {
        let plan = plan(&PlanOptions { extent: Extent::Quick, ..PlanOptions::default() }).unwrap();
        assert_eq!((plan.levels.clone(), plan.blocks, plan.cells(), plan.trials()), (vec![1, 20], 8, 12, 192));
        assert!(plan.duration() <= Duration::from_secs(45), "{:?}", plan.duration());
    }

    #[test]
    fn the_band_of_no_toll_is_the_files_unless_it_is_said_otherwise() {
        let mut experiment = Experiment::builtin("protocol").unwrap();
        experiment.equivalence_ppm = Some(15_000);
        let band = |asked: Option<u32>| {
            let options = PlanOptions { equivalence_ppm: asked, ..PlanOptions::default() };
            Plan::new(&experiment, &options).unwrap().equivalence_ppm
        };
        assert_eq!((band(None), band(Some(50_000))), (Some(15_000), Some(50_000)));
    }

    #[test]
    fn the_quick_batching_has_eight_variants_near_and_from_afar_and_fits_into_a_minute() {
        let experiment = Experiment::builtin("batching").unwrap();
        let options = PlanOptions { extent: Extent::Quick, ..PlanOptions::default() };
        let plan = Plan::new(&experiment, &options).unwrap();
        assert_eq!((plan.variants.len(), plan.levels.len(), plan.round_trip.as_millis()), (16, 4, 20));
        assert!(plan.duration() <= Duration::from_secs(45), "{:?}", plan.duration());
        let full = Plan::new(&experiment, &PlanOptions { extent: Extent::Full, ..PlanOptions::default() }).unwrap();
        assert_eq!((full.cells(), full.round_trip.as_millis()), (48 * 30, 160));
    }

    #[test]
    fn a_cell_gets_as_many_blocks_as_fit_and_none_if_they_are_too_few() {
        let check = |cell_ms: u64, trial_ms: u64, expected: u32| {
            let found = blocks_within(Duration::from_millis(cell_ms), Duration::from_millis(trial_ms), 8);
            assert_eq!(found, expected, "{trial_ms} ms in {cell_ms} ms");
        };
        check(1000, 1, 8);
        check(1000, 62, 8);
        check(1000, 63, 7);
        check(1000, 250, 2);
        check(1000, 251, 0);
        check(1000, 0, 8);
    }

    #[test]
    fn each_peer_is_warmed_up_by_itself() {
        let check = |name: &str, subjects: &[&str], expected: u32| {
            let subjects: Vec<String> = subjects.iter().map(|subject| (*subject).to_owned()).collect();
            let experiment = Experiment::builtin(name).unwrap().on_subjects(&subjects).unwrap();
            let options = PlanOptions { extent: Extent::Quick, ..PlanOptions::default() };
            let plan = Plan::new(&experiment, &options).unwrap();
            assert_eq!(plan.subjects, expected, "{name} {subjects:?}");
            assert_eq!(plan.warm_up, crate::run::WARM_UP_LEAST * expected);
        };
        check("batching", &["tollgate"], 1);
        check("batching", &["cap", "tollgate"], 2);
        check("protocol", &["tollgate"], 6);
        check("protocol", &["cap", "tollgate"], 12);
    }

    #[test]
    fn what_the_link_alone_makes_too_long_is_known_before_the_run() {
        let experiment = Experiment::builtin("batching").unwrap();
        let plan = Plan::new(&experiment, &PlanOptions::default()).unwrap();
        let level = |name: &str| {
            let position = experiment.variant(name).unwrap();
            plan.too_far.iter().find(|(variant, _)| *variant == position).map(|(_, level)| *level)
        };
        assert_eq!(level("sequential-remote"), Some(100), "100 round trips of 20 ms, four times, are 8 s");
        assert_eq!((level("sequential"), level("custom-rest-remote")), (None, None));
        assert!(plan.duration() <= Duration::from_secs(240), "{:?}", plan.duration());
    }

    #[test]
    fn the_quick_mediation_fits_into_a_minute_and_the_default_into_eight() {
        let experiment = Experiment::builtin("mediation").unwrap();
        let plan = |extent| Plan::new(&experiment, &PlanOptions { extent, ..PlanOptions::default() }).unwrap();
        let quick = plan(Extent::Quick);
        assert_eq!((quick.levels.clone(), quick.cells(), quick.subjects), (vec![20, 320], 14, 3));
        assert!(quick.duration() <= Duration::from_secs(57), "{:?}", quick.duration());
        let default = plan(Extent::Default);
        assert_eq!(default.cells(), 7 * 8);
        assert!((300..480).contains(&default.duration().as_secs()), "{:?}", default.duration());
    }

    #[test]
    fn slices_grow_until_each_user_is_answered_often_and_only_where_connections_are_open_for_a_trial() {
        let check = |name: &str, users: u64, per_second: Option<f64>, expected_ms: u64| {
            let plan = Plan::new(&Experiment::builtin(name).unwrap(), &PlanOptions::default()).unwrap();
            let slice = plan.slice_of(users, per_second);
            assert_eq!(slice.as_millis(), u128::from(expected_ms), "{name}, {users} users, {per_second:?} a second");
        };
        check("mediation", 20, Some(20_000.0), 100);
        check("mediation", 320, Some(20_000.0), 192);
        check("mediation", 2560, Some(20_000.0), 1536);
        check("mediation", 2560, Some(100.0), 10_000);
        check("mediation", 2560, Some(0.0), 10_000);
        check("mediation", 2560, None, 100);
        check("protocol", 2560, Some(100.0), 110);
    }

    #[test]
    fn the_quick_encryption_fits_into_a_minute_and_the_default_into_seven() {
        let experiment = Experiment::builtin("encryption").unwrap();
        let plan = |extent| Plan::new(&experiment, &PlanOptions { extent, ..PlanOptions::default() }).unwrap();
        let quick = plan(Extent::Quick);
        assert_eq!((quick.levels.clone(), quick.cells(), quick.rate_trials()), (vec![1, 2], 10, 160));
        assert!(quick.duration() <= Duration::from_secs(62), "{:?}", quick.duration());
        let default = plan(Extent::Default);
        assert_eq!(default.cells(), 25);
        // It took 6 min 37 s where it was measured.
        assert!((360..430).contains(&default.duration().as_secs()), "{:?}", default.duration());
        let levels = Some(vec![6]);
        let refused = Plan::new(&experiment, &PlanOptions { levels, ..PlanOptions::default() }).unwrap_err();
        assert_eq!(refused, "level 6 of `encryption` is not from 1 to 5 (--level)");
    }

    #[test]
    fn a_ladder_takes_as_long_as_its_slowest_rungs_and_the_fast_ones_get_more_blocks() {
        let experiment = Experiment::builtin("ladder").unwrap();
        let plan = |extent| Plan::new(&experiment, &PlanOptions { extent, ..PlanOptions::default() }).unwrap();
        let quick = plan(Extent::Quick);
        assert_eq!((quick.levels.clone(), quick.cells(), quick.subjects), (vec![5, 10, 20, 30], 8, 8));
        // It took 52 s where it was measured, on a machine with more to do.
        assert!((45..60).contains(&quick.duration().as_secs()), "{:?}", quick.duration());
        let blocks = [5, 10, 20, 30].map(|level| quick.blocks_at(quick.variants[0], level));
        assert_eq!(blocks, [2, 2, 4, 4]);
        assert_eq!(quick.trials(), 2 * (2 + 2 + 4 + 4 + 4 * 2));
        let default = plan(Extent::Default);
        assert!((240..330).contains(&default.duration().as_secs()), "{:?}", default.duration());
    }

    #[test]
    fn a_chosen_variant_brings_its_baseline_along() {
        let only = vec!["odata-v2-atom".to_owned()];
        assert_eq!(plan(&PlanOptions { only, ..PlanOptions::default() }).unwrap().variants, [0, 2]);
    }

    #[test]
    fn unknown_names_and_levels_out_of_range_are_refused() {
        let check = |options: PlanOptions, expected: &str| assert_eq!(plan(&options).unwrap_err(), expected);
        check(
            PlanOptions { only: vec!["odata-v2-atm".to_owned()], ..PlanOptions::default() },
            "experiment `protocol` has no variant `odata-v2-atm`: did you mean `odata-v2-atom`?",
        );
        check(
            PlanOptions { levels: Some(vec![0]), ..PlanOptions::default() },
            "level 0 of `protocol` is not from 1 to 20000 (--level)",
        );
        check(PlanOptions { rounds: Some(0), ..PlanOptions::default() }, "there must be at least 1 round (--rounds)");
    }

    #[test]
    fn a_run_that_may_stop_has_64_blocks_and_a_start_for_each_look_where_there_are_several() {
        let options = |extent| PlanOptions { extent, until_width_ppm: Some(20_000), ..PlanOptions::default() };
        let quick = plan(&options(Extent::Quick)).unwrap();
        assert_eq!((quick.blocks, quick.starts, quick.start_of(63)), (64, 1, 0));
        let full = plan(&options(Extent::Full)).unwrap();
        assert_eq!([0, 7, 8, 15, 16, 63].map(|block| full.start_of(block)), [0, 0, 1, 1, 2, 2]);
        let check = |name: &str, expected: &str| {
            let refused = Plan::new(&Experiment::builtin(name).unwrap(), &options(Extent::Quick)).unwrap_err();
            assert!(refused.contains(expected) && refused.ends_with("(--until-width)"), "{refused}");
        };
        check("batching", "different numbers of blocks");
        check("encryption", "equal rate");
        check("ladder", "by itself");
        check("distance", "distances");
    }

    #[test]
    fn there_are_never_more_starts_than_blocks() {
        let options = PlanOptions { extent: Extent::Full, rounds: Some(2), ..PlanOptions::default() };
        assert_eq!(plan(&options).unwrap().starts, 2);
    }
}
