//! A run about distance: it starts a database and links to it, and runs the batch as a child process for each trial, in
//! interleaved blocks. From these it computes the distances with names, and runs them in blocks of their own.
//!
//! It knows only the batch's command line and the figures that it prints.

mod bench;
mod child;
mod file;
mod ledger;
mod page;
mod place;
mod plan;
pub(crate) mod rules;
mod slope;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tollgate_net::link::{LinkMode, accuracy};

use super::listed::Listed;
use crate::conduct::conductor::{Beginning, Conductor, Halt, Kind, RunOutcome, Turn};
use crate::conduct::options::{Progress, RunError, RunOptions};
use crate::conduct::stop::Broken;
use crate::experiment::{Experiment, Factor, Own, Variant};
use crate::plan::Plan;
use crate::plan::schedule;
use crate::probe::system::Ticks;
use crate::secret;
use crate::subject::{check_loadable, is_named, postgres_programs};
use bench::Bench;
use child::{Ran, Report};
use file::{Away, Preset};
use ledger::Ledger;
use plan::DOCUMENTS_LEAST;
use tollgate_facts::results::{Batched, Distances, Figure, Gap, GapKind, Piece, PresetFound, PresetVerdict, Trial};

/// The kind in the list.
pub(super) const KIND: Listed = Listed {
    name: "batch",
    workload: "batch",
    about: "Generate documents out of a PostgreSQL and back into it, by as many work processes as the level says.",
    factors: &[Factor { name: "processes", unit: "processes", about: "Work processes of a batch." }],
    unit_of_work: "document",
    piece: Piece::Document,
    instead: "",
    keys: file::KEYS,
    read: file::read,
    elsewhere: |experiment| experiment,
    plan: plan::plan,
    page: page::page,
    notes: plan::notes,
    check,
    run,
};

/// Most documents of a trial.
const DOCUMENTS_MAX: u64 = 20_000;
/// Distinguishes the seed of the presets' blocks from that of the others.
const PRESETS_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Checks that the experiment can be run as asked, as far as possible without starting anything; without a link only
/// the bottom variant remains.
pub(crate) fn check(options: &RunOptions, plan: &mut Plan) -> Result<(), RunError> {
    let usage = |message: String| Err(RunError::Usage(message));
    if let Some(url) = &options.database {
        let place = place::DatabaseUrl::parse(url).map_err(|error| RunError::Usage(format!("--database: {error}")))?;
        let allowed = check_loadable(&place.host, &options.may_load);
        allowed.map_err(|error| RunError::Usage(format!("--database: {error}")))?;
        // It cannot be asked from here what stands in them.
        if !is_named(&place.host, &options.may_empty) {
            let host = &place.host;
            return usage(format!(
                "--database: this run makes tollgate_document, tollgate_unit and tollgate_result there, or empties them, and \
                 leaves them: if it may, say --i-may-empty {host}"
            ));
        }
    }
    match (options.link, &options.database) {
        (Some(LinkMode::Tun), Some(_)) => usage(
            "--link tun: a database of yours is not in the namespace at its far end; leave --database out, or take --link proxy"
                .to_owned(),
        ),
        (None, _) => {
            plan.variants.retain(|variant| options.experiment.variants[*variant].baseline.is_none());
            plan.presets = 0;
            Ok(())
        }
        (Some(LinkMode::Proxy), _) | (Some(LinkMode::Tun), None) => Ok(()),
    }
}

/// Runs the experiment.
pub(crate) fn run(beginning: Beginning<'_>) -> Result<RunOutcome, RunError> {
    if beginning.options.database.is_none() {
        postgres_programs()?;
    }
    let batches = Batches { ledger: Ledger::default(), documents: HashMap::new(), began: Instant::now() };
    let network = beginning.options.link.map_or("the network as it is: no delay is added", LinkMode::words);
    beginning.of(batches, Vec::new(), network.to_owned()).conduct()
}

/// Additional state of a run of batches.
struct Batches {
    ledger: Ledger,
    /// Documents of a trial, by variant and level.
    documents: HashMap<(usize, u64), u64>,
    began: Instant,
}

type Session<'a> = Conductor<'a, Batches>;

impl Kind for Batches {
    type Subjects = Bench;

    const DOER: &'static str = "batch at";

    fn measure(run: &mut Session<'_>) -> Result<(), Halt> {
        let name = &run.experiment.variants[run.plan.variants[0]].name;
        run.observer.progress(&Progress::Starting { variant: name });
        let mut bench = run.bench()?;
        run.describe(&bench);
        run.leave_out_what_the_link_cannot_keep()?;
        let (variants, levels) = (run.plan.variants.clone(), run.plan.levels.clone());
        run.count_off(&mut bench, &variants, &levels)?;
        run.plan_trials(run.plan.trials() + run.trials_of_presets(presets(&run.experiment).len()));
        let blocks = schedule::blocks(&run.plan, run.result.seed);
        run.blocks(&blocks, &mut bench)?;
        run.presets(&mut bench)
    }

    fn begin_anew(run: &mut Session<'_>, bench: &mut Bench, _level: u64) -> Result<(), Halt> {
        *bench = run.bench()?;
        Ok(())
    }

    fn trial(run: &mut Session<'_>, bench: &mut Bench, turn: Turn<'_>) -> Result<(), Halt> {
        run.batch(bench, turn)
    }

    fn leaves_nothing(halt: &Halt) -> bool {
        matches!(halt, Halt::Subject { .. } | Halt::Stopped)
    }

    fn fill(run: &mut Session<'_>) {
        run.kind.ledger.fill(&mut run.result);
    }

    fn conclude(run: &mut Session<'_>) {
        let Some(mut distance) = run.result.distance.take() else { return };
        let result = &run.result;
        distance.slope = slope::slope(result, presets(&run.experiment), run.plan.blocks);
        distance.hinges.clear();
        if let Some(slope) = &distance.slope {
            distance.hinges = slope::hinges(result, slope, distance.batch_cores, distance.database_cores);
            for preset in distance.presets.iter_mut().filter(|preset| preset.verdict != PresetVerdict::Refused) {
                let toll = result.toll(&preset.name, slope.level, Figure::UnitTime);
                slope::confirm(preset, slope, toll, result.cell(&preset.name, slope.level));
            }
        }
        run.result.distance = Some(distance);
    }
}

impl Session<'_> {
    /// Starts a database, after any other has ended: two at once would share the cores.
    fn bench(&self) -> Result<Bench, Halt> {
        Bench::start(self.options, &self.cores).map_err(|error| Halt::Ours(error.to_string()))
    }

    /// Stores a description of the bench.
    fn describe(&mut self, bench: &Bench) {
        self.store_variants(&self.plan.variants.clone(), bench);
        let (options, cores) = (self.options, &self.cores);
        self.result.settings.starts = if bench.is_ours() { self.plan.starts } else { 0 };
        let used = |cores_of: &[usize]| if cores_of.is_empty() { cores.all.len() } else { cores_of.len() } as u32;
        self.result.distance = Some(Distances {
            link: options.link.map_or("none", LinkMode::name).to_owned(),
            link_words: self.result.settings.network.clone(),
            database: bench.words(),
            batch_cores: used(&cores.subjects),
            database_cores: if bench.is_ours() { used(&cores.generator) } else { 0 },
            ..Distances::default()
        });
    }

    /// Adds variants to those of the result.
    fn store_variants(&mut self, variants: &[usize], bench: &Bench) {
        let subject = format!("tollgate generate, a process for each trial, on {}", bench.words());
        let stored = variants.iter().map(|variant| self.experiment.variants[*variant].stored(subject.clone()));
        self.result.experiment.variants.extend(stored);
    }

    /// Measures the shortest accurate delay of this kind of link here, and leaves out all shorter ones.
    fn leave_out_what_the_link_cannot_keep(&mut self) -> Result<(), Halt> {
        let Some(mode) = self.options.link else { return Ok(()) };
        let found = accuracy(mode).map_err(|error| Halt::Ours(format!("the link cannot be measured: {error}")))?;
        let least = found.least();
        if let Some(distance) = &mut self.result.distance {
            distance.accurate_from_us = least.map(|least| least.as_secs_f64() * 1e6);
        }
        let keeps = |away: Duration| away.is_zero() || least.is_some_and(|least| away >= least);
        let (kept, left): (Vec<usize>, Vec<usize>) =
            self.plan.variants.iter().partition(|variant| away(&self.experiment, **variant).is_none_or(keeps));
        for variant in left {
            let accurate = match least {
                Some(least) => format!("this kind of link is accurate from {} µs on here", least.as_micros()),
                None => "this kind of link keeps no delay here".to_owned(),
            };
            for level in &self.plan.levels {
                let variant = self.experiment.variants[variant].name.clone();
                let reason = format!("{accurate}: a shorter delay would be another one than it says");
                self.result.gaps.push(Gap { variant, level: *level, kind: GapKind::TooShort, reason });
            }
        }
        self.plan.variants = kept;
        Ok(())
    }

    /// Runs a few documents in each cell, to warm it up and to find how many a trial takes.
    fn count_off(&mut self, bench: &mut Bench, variants: &[usize], levels: &[u64]) -> Result<(), Halt> {
        for &variant in variants {
            for &level in levels {
                let name = self.experiment.variants[variant].name.clone();
                self.observer.progress(&Progress::Surveying { variant: &name });
                let least = level * DOCUMENTS_LEAST;
                let (report, _) = self.ran(bench, variant, level, least)?;
                let document_ms = report.batch_ms / report.told.documents.max(1) as f64;
                let wanted = (self.plan.slice.as_secs_f64() * 1e3 / document_ms).ceil();
                // As many for each process: else the last ones would work alone.
                let wanted = (wanted.min(DOCUMENTS_MAX as f64) as u64).max(least).next_multiple_of(level);
                self.kind.documents.insert((variant, level), wanted);
            }
        }
        Ok(())
    }

    fn batch(&mut self, bench: &mut Bench, turn: Turn<'_>) -> Result<(), Halt> {
        let Turn { block, variant, .. } = turn;
        let away = away(&self.experiment, variant).unwrap_or_default();
        let documents = self.kind.documents.get(&(variant, block.level)).copied().unwrap_or(DOCUMENTS_LEAST);
        let before = bench.ask(away).map_err(Halt::Ours)?;
        let (ticks, database_us) = (Ticks::now(&self.cores.all), bench.database_cpu_us());
        let start = self.kind.began.elapsed();
        let (Report { told, batch_ms, cpu_us }, readings) = self.ran(bench, variant, block.level, documents)?;
        let database_us = database_us.zip(bench.database_cpu_us()).map(|(before, after)| after - before);
        let ticks = Ticks::now(&self.cores.all).since(ticks);
        let behind = bench.ask(away).map_err(Halt::Ours)?;
        let link_us = before.zip(behind).map(|(before, behind)| (before + behind).as_secs_f64() * 0.5e6);
        let trial = Trial {
            duration_ms: batch_ms,
            units: told.stored,
            unit_times_ms: match told.stored {
                0 => Vec::new(),
                stored => vec![batch_ms / stored as f64],
            },
            requests: told.stored,
            errors: told.set_aside,
            response_time_mean_ms: batch_ms * block.level as f64 / told.stored.max(1) as f64,
            subject_cpu_us: Some(cpu_us),
            backend_cpu_us: database_us,
            batch: Some(Batched { documents, link_us, ..told }),
            stolen_share: ticks.steal_share(),
            ..turn.trial(&self.experiment.variants[variant].name, start)
        };
        let away = self.options.link.map(|_| away);
        self.kind.ledger.add(&trial, ticks, readings, away);
        self.result.trials.push(trial);
        Ok(())
    }

    /// Runs the batch once.
    fn ran(&self, bench: &mut Bench, variant: usize, level: u64, documents: u64) -> Result<Ran, Halt> {
        self.goes_on()?;
        let away = away(&self.experiment, variant).unwrap_or_default();
        let url = bench.url(away).map_err(Halt::Ours)?;
        let command = child::command(&self.options.serve_program, &url, level, documents);
        let ran = child::run(command, &self.cores, self.stop, |command| bench.spawn(command));
        ran.map_err(|broken| match broken {
            Broken::Stopped => Halt::Stopped,
            Broken::Failed(how) => self.failed_at(variant, level, how.replace(&url, &secret::hide(&url))),
        })
    }

    /// Computes the distances with names, and runs those that the link can keep, beside the one without distance.
    fn presets(&mut self, bench: &mut Bench) -> Result<(), Halt> {
        if self.plan.presets == 0 {
            return Ok(());
        }
        self.save()?;
        let Some(distance) = &mut self.result.distance else { return Ok(()) };
        let known = presets(&self.experiment);
        distance.presets = slope::presets(known, distance.slope.as_ref(), distance.accurate_from_us);
        let base = self.experiment.variants.iter().position(|variant| variant.baseline.is_none());
        let base = base.expect("one variant is checked to have no baseline");
        let variant = |(preset, found): (&Preset, &PresetFound)| {
            let away_us = found.asked_us.filter(|_| found.verdict == PresetVerdict::Open)?;
            Some(Variant {
                name: preset.name.clone(),
                title: preset.title.clone(),
                baseline: Some(self.experiment.variants[base].name.clone()),
                own: Own::new(Away(Duration::from_secs_f64(away_us / 1e6))),
                ..self.experiment.variants[base].clone()
            })
        };
        let asked: Vec<Variant> = known.iter().zip(&distance.presets).filter_map(variant).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let first = self.experiment.variants.len();
        self.experiment.variants.extend(asked);
        let mut variants: Vec<usize> = (first..self.experiment.variants.len()).collect();
        let level = self.plan.levels[0];
        self.store_variants(&variants, bench);
        self.count_off(bench, &variants, &[level])?;
        self.plan_trials(self.trials() + self.trials_of_presets(variants.len()));
        variants.push(base);
        let plan = Plan { variants, levels: vec![level], starts: 1, ..self.plan.clone() };
        let offset = self.plan.blocks;
        let mut blocks = schedule::blocks(&plan, self.result.seed ^ PRESETS_SEED);
        blocks.iter_mut().for_each(|block| block.number += offset);
        self.blocks(&blocks, bench)
    }

    fn trials_of_presets(&self, presets: usize) -> usize {
        if presets == 0 || self.plan.presets == 0 { 0 } else { (presets + 1) * self.plan.blocks as usize * 2 }
    }
}

/// Distance of a variant's database.
fn away(experiment: &Experiment, variant: usize) -> Option<Duration> {
    experiment.variants[variant].own().map(|Away(away)| *away)
}

/// The distances with names.
fn presets(experiment: &Experiment) -> &[Preset] {
    experiment.own().map_or(&[], |presets: &Vec<Preset>| presets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlanOptions;

    fn checked(change: impl FnOnce(&mut RunOptions)) -> Result<Plan, String> {
        let experiment = Experiment::builtin("distance").unwrap();
        let mut options = RunOptions { experiment, ..crate::run::tests::options() };
        change(&mut options);
        let mut plan = Plan::new(&options.experiment, &PlanOptions::default()).unwrap();
        match check(&options, &mut plan) {
            Ok(()) => Ok(plan),
            Err(error) => {
                assert!(matches!(error, RunError::Usage(_)));
                Err(error.to_string())
            }
        }
    }

    #[test]
    fn without_a_link_only_the_bottom_variant_is_run_and_no_preset() {
        let plan = checked(|options| options.link = None).unwrap();
        assert_eq!((plan.variants, plan.presets), (vec![0], 0));
        let plan = checked(|_| {}).unwrap();
        assert_eq!((plan.variants.len(), plan.presets), (6, 4));
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        let database = |url: &str| {
            let url = url.to_owned();
            move |options: &mut RunOptions| options.database = Some(url)
        };
        let check = |refused: Result<Plan, String>, expected: &str| {
            let said = refused.map(|_| ()).unwrap_err();
            assert!(said.contains(expected), "{said}");
        };
        check(checked(database("postgres://me@db.example.com/x")), "say --i-may-load db.example.com");
        check(checked(database("postgres://me@127.0.0.1/x")), "leaves them: if it may, say --i-may-empty 127.0.0.1");
        check(checked(database("sqlite:x")), "--database: expected postgres://");
        let both = |options: &mut RunOptions| {
            options.link = Some(LinkMode::Tun);
            options.may_empty = vec!["127.0.0.1".to_owned()];
            options.database = Some("postgres://me@127.0.0.1/x".to_owned());
        };
        check(checked(both), "not in the namespace");
    }
}
