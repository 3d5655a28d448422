//! The conduct of a run: subjects are begun and warmed up, blocks are measured in their order, and every trial is
//! stored.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cells::Cells;
use super::own::Added;
use super::remote;
use super::shape::LoadShape;
use super::subjects::backends::Backends;
use super::subjects::sites::{Origin, Processes, Site};
use super::subjects::watched::{Environment, Process, Watched};
use super::trial::{Asked, Asking, Generator, Measured};
use super::way::Way;
use crate::conduct::conductor::{Conductor, Halt, Kind, Stores, Turn};
use crate::conduct::options::Progress;
use crate::experiment::Connections;
use crate::load::record::course::{BIN, Course};
use crate::load::renewal::Renewal;
use crate::load::scenario::{Conduct, Program, mixed};
use crate::load::target::{Connection, LoadTarget};
use crate::load::worker::Worker;
use crate::plan::schedule::Block;
use crate::plan::{WARM_UP_LEAST, WARM_UP_MOST};
use crate::probe::behind::{Behind, Working};
use crate::probe::cpu::CpuClocks;
use crate::probe::instructions::{Count, Counting};
use crate::probe::interface::kernel_network;
use crate::traffic::feed::FeedEnd;
use crate::traffic::model::{End, Load, Pace};
use tollgate_facts::results::{self, Moment, OpenRate, Trial, Unwatched};
use tollgate_facts::stats::warm_up::{self, WarmUp, mser5};
use tollgate_facts::toll::{round_trips, scaling};

/// Length of one part of the warm-up: ten bins.
const WARM_UP_PART: Duration = Duration::from_millis(500);

/// Separates random numbers drawn before trials from those drawn in them.
const BEFOREHAND: u64 = 0x6265_666f_7265;

/// Separates the random times of iterations from their random rows.
const ARRIVALS: u64 = 0x6172_7269_7665;
/// Users who warm up a load at a rate; they wait for their answers.
pub(super) const WARM_UP_USERS_AT_RATE: u64 = 4;

/// Additional state of a run that loads servers.
pub(crate) struct Loading<'a, W> {
    pub(crate) sites: &'a [Site],
    pub(crate) headers: &'a [(String, String)],
    pub(crate) generator: Generator,
    /// Records of each cell.
    pub(crate) cells: Cells,
    /// The processes whose instructions are counted.
    pub(crate) counting: Counting,
    /// The level of the current blocks: for a ladder, that of the subjects.
    pub(crate) at: u64,
    /// Number of loads so far that do not count.
    pub(crate) begun: u64,
    /// The way of loading; its resources are released last.
    pub(crate) way: W,
}

/// A run under way.
pub(crate) type Session<'r, 'l, W> = Conductor<'r, Loading<'l, W>>;

/// Running subjects: they end before the servers behind them, which wait for their connections.
pub(crate) struct Subjects {
    /// One at each site.
    pub(crate) all: Vec<Watched>,
    _backends: Backends,
}

/// A run in progress; dropping it cleans up, whether the run ended, failed or panicked.
struct Ending<'s, 'r, 'l, W: Way>(&'s mut Session<'r, 'l, W>);

impl<W: Way> Drop for Ending<'_, '_, '_, W> {
    fn drop(&mut self) {
        W::ended(self.0);
    }
}

impl<W: Way> Kind for Loading<'_, W> {
    type Subjects = Subjects;

    const DOER: &'static str = "subject of";

    const STORES: Stores = W::STORES;

    fn measure(run: &mut Conductor<'_, Self>) -> Result<(), Halt> {
        Ending(run).0.measured()
    }

    fn begin_anew(run: &mut Conductor<'_, Self>, subjects: &mut Subjects, level: u64) -> Result<(), Halt> {
        run.kind.at = level;
        *subjects = run.begin_all(std::mem::take(&mut subjects.all))?;
        W::warm_up(run, &mut subjects.all)
    }

    fn trial(run: &mut Conductor<'_, Self>, subjects: &mut Subjects, turn: Turn<'_>) -> Result<(), Halt> {
        run.load_trial(turn, subject_of(&mut subjects.all, turn.variant))
    }

    fn fill(run: &mut Conductor<'_, Self>) {
        run.kind.cells.fill(&mut run.result, &run.plan);
        if let Some(line) = run.kind.way.line() {
            let doubts = line.doubts(&run.result);
            run.result.validity.extend(doubts);
        }
    }

    fn close(run: &mut Conductor<'_, Self>) {
        run.result.fill_named_levels();
        if let Some(line) = run.kind.way.line() {
            run.result.settings.network = line.words(&run.result);
        }
        run.result.scalings = scaling::scalings(&run.result, run.result.seed);
        run.result.round_trips = round_trips::costs(&run.result);
    }
}

impl<W: Way> Session<'_, '_, W> {
    /// Measures everything.
    fn measured(&mut self) -> Result<(), Halt> {
        self.check_link(Moment::Before)?;
        let towards = remote::addresses(self.kind.sites, self.kind.way.line().is_some());
        self.result.machine.network = Some(kernel_network(&towards));
        let counters = Worker::counters(&self.kind.generator.workers);
        self.observer.progress(&Progress::Loading { counters: &counters });
        let mut subjects = self.begin_all(Vec::new())?;
        W::warm_up(self, &mut subjects.all)?;
        // What is cold takes longer than it will, and a cell would be skipped for it.
        let blocks = W::blocks(self, &mut subjects.all)?;
        let closed: usize = blocks.iter().map(|block| block.order.len()).sum();
        self.plan_trials(closed + self.plan.rate_trials());
        self.blocks(&blocks, &mut subjects)?;
        W::behind(self, &mut subjects.all)?;
        drop(subjects);
        self.check_link(Moment::After)
    }

    /// Measures the line to the subjects, or the link of remote variants, if there is either.
    fn check_link(&mut self, moment: Moment) -> Result<(), Halt> {
        if let Some(line) = self.kind.way.line() {
            let checks = line.check(moment).map_err(Halt::Ours)?;
            self.result.links.extend(checks);
            self.result.settings.network = line.words(&self.result);
            return Ok(());
        }
        let experiment = &self.options.experiment;
        if !remote::is_needed(W::LINKED, experiment, &self.plan) {
            return Ok(());
        }
        let check = remote::check(moment, self.plan.round_trip).map_err(Halt::Ours)?;
        self.book.faults.extend(remote::doubts(&[check], W::LINKED, (experiment, &self.plan)));
        self.result.links.push(check);
        let network = remote::network((experiment, &self.plan), self.kind.sites, W::LINKED, &self.result.links);
        self.result.settings.network = network;
        Ok(())
    }

    /// Starts every subject, one at each site. Of the subjects before, servers that are not ours continue.
    fn begin_all(&mut self, before: Vec<Watched>) -> Result<Subjects, Halt> {
        let mut lasting: HashMap<usize, Watched> = HashMap::new();
        for subject in before {
            let variant = subject.variant;
            // Where each level has a process of its own, the user restarts theirs.
            let is_over = subject.is_ours() || W::PROCESSES == Processes::OfEachLevel;
            if is_over || self.options.experiment.connections == Connections::PerStart {
                self.kind.generator.forget(variant);
            }
            if !is_over {
                lasting.insert(variant, subject);
            }
        }
        W::set(self)?;
        let directory = self.store.directory();
        let backends = Backends::begin(self.options, self.kind.sites, W::PROCESSES, directory, &self.cores);
        let backends = backends.map_err(|(variant, how)| self.failed(variant, how))?;
        let (mut all, mut begun) = (Vec::with_capacity(self.kind.sites.len()), HashMap::new());
        for site in self.kind.sites {
            let variant = &self.options.experiment.variants[site.variant];
            self.observer.progress(&Progress::Starting { variant: &variant.name });
            all.push(match lasting.remove(&site.variant) {
                Some(subject) => subject,
                None => {
                    let subject = self.begin_subject(site, &backends, &mut begun);
                    let mut subject = subject.map_err(|how| self.failed(site.variant, how))?;
                    if W::IS_SEEN {
                        self.kind.cells.look_costs(subject.variant, self.kind.at, subject.look_cpu_us());
                    }
                    subject
                }
            });
            self.goes_on()?;
        }
        self.tell_counting(&all);
        // Of servers that are not ours there are no starts.
        if self.kind.sites.iter().any(|site| matches!(site.place, Origin::Child(_))) {
            // Where each level has a process of its own, it is started once.
            self.result.settings.starts = (self.result.settings.starts + 1).min(self.plan.starts);
        }
        Ok(Subjects { all, _backends: backends })
    }

    /// Reports once whether instructions are counted, and the first reason if not.
    fn tell_counting(&mut self, subjects: &[Watched]) {
        if !subjects.iter().any(Watched::is_watched) {
            return;
        }
        let told = self.result.instructions.get_or_insert_with(|| self.kind.counting.told());
        let uncounted = || {
            subjects.iter().find_map(|subject| {
                let variant = &self.options.experiment.variants[subject.variant].name;
                Some(format!("of {variant} not: {}", subject.uncounted.as_ref()?.words()))
            })
        };
        told.reason = match (told.reason.take(), uncounted()) {
            (Some(all), Some(one)) if !all.contains(&one) => Some(format!("{all}; {one}")),
            (all, one) => all.or(one),
        };
    }

    /// Starts the subject of a site, in the process of another subject if they share it.
    fn begin_subject(
        &self,
        site: &Site,
        backends: &Backends,
        begun: &mut HashMap<usize, Rc<RefCell<Process>>>,
    ) -> Result<Watched, String> {
        let variant = &self.options.experiment.variants[site.variant];
        let environment = Environment {
            options: self.options,
            added: Added { all: self.kind.headers, wanted: self.kind.way.headers(site.variant) },
            plan: &self.plan,
            sites: self.kind.sites,
            cores: &self.cores,
            folder: self.store.directory(),
            secured: self.kind.way.secured(),
            backends,
            counting: &self.kind.counting,
        };
        let process = match backends.of(site, variant).or_else(|| begun.get(&site.process).map(Rc::clone)) {
            Some(process) => process,
            None => {
                let laid = self.kind.way.laid(variant, self.kind.at, environment.folder)?;
                let site = &Site { processes: self.kind.way.processes(site), ..site.clone() };
                let process = Process::begin(site, laid, &environment);
                let process = Rc::new(RefCell::new(process.map_err(|how| format!("is not there: {how}"))?));
                begun.insert(site.process, Rc::clone(&process));
                process
            }
        };
        Watched::begin(site, process, &environment)
    }

    /// Warms every subject up.
    pub(crate) fn warm_up_each(&mut self, subjects: &mut [Watched]) -> Result<(), Halt> {
        for subject in &mut *subjects {
            // One at each place: a listener that cannot do its work is told apart from one that fails under load.
            for level in subject.levels() {
                self.first_answer(subject, level)?;
            }
            self.part(subject.variant);
        }
        let of_all: Vec<CpuClocks> = subjects.iter().map(|subject| subject.meter.subject.clone()).collect();
        for subject in subjects {
            let name = &self.options.experiment.variants[subject.variant].name;
            self.observer.progress(&Progress::WarmingUp { variant: name });
            let looking = Behind::begin(&subject.meter.subject, &subject.meter.behind, of_all.iter());
            let is_steady = self.warm_up(subject);
            for Working { process, name: program, cpu_share } in looking.map(Behind::end).unwrap_or_default() {
                let is_known = |known: &Unwatched| known.variant == *name && known.process == process;
                if !self.result.unwatched.iter().any(is_known) {
                    let (variant, watched) = (name.clone(), subject.meter.subject.roots());
                    self.result.unwatched.push(Unwatched { variant, watched, process, name: program, cpu_share });
                }
            }
            let is_steady = is_steady?;
            let only = (W::PROCESSES == Processes::OfEachLevel).then_some(self.kind.at);
            self.kind.cells.started(subject.variant, only, is_steady);
            self.part(subject.variant);
        }
        Ok(())
    }

    /// Loads until response times are steady; returns whether they became so.
    fn warm_up(&mut self, subject: &mut Watched) -> Result<bool, Halt> {
        let (experiment, variant) = (&self.options.experiment, subject.variant);
        let peer = self.options.peer(&experiment.variants[variant]).ok().flatten();
        let wanted = peer.map_or(Duration::ZERO, |peer| peer.warm_up);
        let (most, mut ramp_up) = W::warm_up_at(experiment, &self.plan);
        let level = if W::PROCESSES == Processes::OfEachLevel { self.kind.at } else { most };
        let (asked, shape) = (&experiment.variants[variant], LoadShape::of(experiment, &experiment.variants[variant]));
        let users = match shape {
            Some(shape) if shape.is_open() => experiment.users_of(asked, level).min(WARM_UP_USERS_AT_RATE),
            _ => experiment.users_of(asked, level),
        } as usize;
        let began = Instant::now();
        let mut course = Vec::new();
        let mut points = Vec::new();
        loop {
            let pace = Pace::Closed { ramp_up: std::mem::take(&mut ramp_up) };
            let load = Load { pace, ..Load::closed(users, End::after(WARM_UP_PART)) };
            let asked = Asked { work: self.beforehand(), load, level, renewal: Renewal::Kept };
            let measured = self.load(subject, asked, Course::Binned)?;
            let answered = measured.recorder.tally.requests as f64;
            points.push((began.elapsed().as_secs_f64(), answered / measured.wall.as_secs_f64().max(1e-9)));
            let bins = measured.recorder.course_ns();
            // A part ends on a whole pass, within a bin: that last one is not comparable.
            let whole = (measured.wall.as_nanos() / BIN.as_nanos()) as usize;
            course.extend(bins.into_iter().take(whole));
            // Where nothing failed users think, and none of them asked meanwhile.
            let tally = &measured.recorder.tally;
            let failure = tally.errors.first().filter(|_| answered == 0.0).map(|error| error.example.clone());
            self.kind.generator.keep(measured.recorder);
            if let Some(failure) = failure {
                return Err(self.failed(variant, format!("answers no more while it is warmed up: {failure}")));
            }
            let elapsed = began.elapsed();
            let is_steady = match (W::WARM_UP, mser5(&course)) {
                (Some(least), _) if elapsed >= least => return Ok(true),
                (None, WarmUp::Cut { .. }) if elapsed >= WARM_UP_LEAST.max(wanted) => true,
                (None, _) if elapsed >= WARM_UP_MOST + wanted => false,
                _ => continue,
            };
            let name = experiment.variants[variant].name.clone();
            let start = self.result.warm_ups.iter().filter(|before| before.variant == name).count() as u32;
            let course = warm_up::course(&course);
            self.result.warm_ups.push(results::WarmUp { variant: name, level, start, points, is_steady, course });
            return Ok(is_steady);
        }
    }

    fn load_trial(&mut self, turn: Turn<'_>, subject: &mut Watched) -> Result<(), Halt> {
        let Turn { block, variant, .. } = turn;
        let asked = &self.options.experiment.variants[variant];
        let name = &asked.name;
        let pace = pace(&self.result.trials, &self.result.warm_ups, name, block.level);
        let slice = self.plan.slice_of(self.options.experiment.users_of(asked, block.level), pace);
        let end = End::after(slice);
        let asked = W::asked(self, turn, subject, end)?;
        let is_steady_rate = matches!(asked.load, Load { pace: Pace::Open(_), stages: None, .. });
        let course = if is_steady_rate { Course::Parts(slice) } else { Course::Unrecorded };
        let measured = self.load(subject, asked, course)?;
        let tag = format!("{name}@{}", block.level);
        let recorder = &measured.recorder;
        let mut stored = self.store.write_times(&tag, measured.start, measured.wall, &recorder.response);
        if let Some(failed) = &recorder.failed {
            stored = stored
                .and_then(|()| self.store.write_times(&format!("{tag}!failed"), measured.start, measured.wall, failed));
        }
        // Servers that are not ours have no starts, but may be connected to anew.
        let is_begun = self.result.settings.starts > 0 || self.options.experiment.connections == Connections::PerStart;
        let start = if is_begun { block.start } else { 0 };
        let trial = Trial { start, ..trial_of(name, turn, &measured) };
        let counts = [
            (measured.passed.subject_instructions, trial.subject_instructions),
            (measured.passed.behind_instructions, trial.backend_instructions),
        ];
        if counts.iter().any(|(counted, whole)| counted.is_some() && whole.is_none()) {
            self.result.instructions.get_or_insert_default().trials_shared += 1;
        }
        self.kind.cells.add(variant, &trial, slice, &measured);
        self.result.trials.push(trial);
        let tried = W::tried(self, variant, block.level, &measured.recorder.tally);
        self.kind.generator.keep(measured.recorder);
        stored.map_err(Halt::Ours)?;
        self.part(variant);
        tried
    }

    /// The load of a trial whose subject only answers.
    pub(crate) fn reading_trial(&mut self, turn: Turn<'_>, subject: &mut Watched, end: End) -> Result<Asked, Halt> {
        let Turn { block, place, .. } = turn;
        let experiment = &self.options.experiment;
        let variant = &experiment.variants[turn.variant];
        let users = experiment.users_of(variant, block.level) as usize;
        let renewal = self.settle(subject, turn)?;
        let seed = seed_of(self.result.seed, block, place);
        let work = (W::ASKING)(Conduct { seed, behind_rows: None });
        let per_second = self.rate(turn)?;
        let load = match LoadShape::of(experiment, variant) {
            Some(shape) => shape.of_trial((block.level, per_second), end, mixed(seed, ARRIVALS)),
            None => {
                Load { pace: Pace::Closed { ramp_up: self.ramp(subject, block.level) }, ..Load::closed(users, end) }
            }
        };
        Ok(Asked { work, load, level: block.level, renewal })
    }

    /// Time over which the waiting users of a trial come.
    fn ramp(&self, subject: &Watched, level: u64) -> Duration {
        let thinks = subject.target(level).program.as_ref().is_some_and(|program| program.thinks());
        if thinks { Duration::ZERO } else { self.plan.ramp }
    }

    /// Iterations that begin each second in a trial at a rate.
    fn rate(&self, Turn { block, variant, .. }: Turn<'_>) -> Result<f64, Halt> {
        let level = block.level;
        match self.options.experiment.variants[variant].model.as_ref().map(|model| &model.rate) {
            None => Ok(level as f64),
            Some(OpenRate::PerSecond(rate)) => Ok(*rate),
            Some(OpenRate::Of(name)) => throughput(&self.result.trials, name, level).ok_or_else(|| {
                let how =
                    format!("cannot be offered what `{name}` did at level {level}: that is no whole unit of work");
                self.failed_at(variant, level, how)
            }),
        }
    }

    /// Loads before a trial without counting: for the planned time, or, if connections are opened anew, for each user's
    /// first iteration, as its steps depend on each other. Returns whether the trial itself opens the connections.
    fn settle(&mut self, subject: &mut Watched, turn: Turn<'_>) -> Result<Renewal, Halt> {
        let (level, variant) = (turn.block.level, subject.variant);
        let experiment = &self.options.experiment;
        let users = experiment.users_of(&experiment.variants[variant], level);
        let renewal = self.renewal(subject.target(level), turn);
        let callers = self.kind.cells.callers(variant, level);
        let thinks = |program: &Arc<Program>| program.thinks() && callers.is_none();
        let plays = subject.target(level).program.as_ref().is_some_and(|program| !thinks(program));
        let (users, end) = match (self.plan.settle, renewal) {
            (Duration::ZERO, Renewal::Anew) if plays => {
                // Who is called at a rate may not be needed.
                let users = callers.unwrap_or(users).min(users);
                (users, End { after: None, units: Some(users) })
            }
            (Duration::ZERO, renewal) => return Ok(renewal),
            (settle, _) => (users, End::after(settle)),
        };
        let asked = Asked { work: self.beforehand(), load: Load::closed(users as usize, end), level, renewal };
        let measured = self.load(subject, asked, Course::Unrecorded)?;
        let mut tally = measured.recorder.tally.clone();
        measured.recorder.before.iter().for_each(|before| tally.add(before));
        self.kind.cells.settled(variant, level, &tally);
        self.kind.generator.keep(measured.recorder);
        Ok(Renewal::Kept)
    }

    /// Decides whether lasting connections are opened anew before a trial: before a variant's first one of a block.
    fn renewal(&self, target: &LoadTarget, Turn { block, place, variant }: Turn<'_>) -> Renewal {
        let is_first = !block.order[..place].contains(&variant);
        let is_drawn = self.options.experiment.connections == Connections::PerBlock;
        let is_anew = is_drawn && is_first && target.connection == Connection::KeepAlive;
        if is_anew { Renewal::Anew } else { Renewal::Kept }
    }

    /// Closes the connections of a variant if they are open for one trial only.
    fn part(&self, variant: usize) {
        if self.options.experiment.connections == Connections::PerTrial {
            self.kind.generator.forget(variant);
        }
    }

    pub(crate) fn load(&mut self, subject: &mut Watched, asked: Asked, course: Course) -> Result<Measured, Halt> {
        let level = asked.level;
        // A short trial may be over before anybody looks whether it is to go on.
        self.goes_on()?;
        if let Some(line) = self.kind.way.line() {
            line.at(level).map_err(Halt::Ours)?;
        }
        let measured = self.kind.generator.trial(subject, asked, course, self.stop);
        measured.map_err(|broken| self.broken(subject.variant, level, broken))
    }

    /// The work of a load that does not count, for a subject that only answers: each time with other rows, and no
    /// fewer.
    pub(crate) fn beforehand(&mut self) -> Asking {
        self.kind.begun += 1;
        let seed = mixed(mixed(self.result.seed, BEFOREHAND), self.kind.begun);
        (W::ASKING)(Conduct { seed, behind_rows: Some(FeedEnd::Again) })
    }

    pub(crate) fn failed(&self, variant: usize, how: String) -> Halt {
        self.failed_at(variant, self.plan.levels[0], how)
    }
}

/// The subject of a variant.
pub(crate) fn subject_of(subjects: &mut [Watched], variant: usize) -> &mut Watched {
    subjects.iter_mut().find(|subject| subject.variant == variant).expect("every planned variant has a subject")
}

/// Answers per second of a variant in its last trial with answers at a level, or else at the end of its warm-up.
fn pace(trials: &[Trial], warm_ups: &[results::WarmUp], variant: &str, level: u64) -> Option<f64> {
    let own = trials.iter().rev().filter(|trial| trial.level == level && trial.variant == variant);
    let mut paces = own.filter(|trial| trial.requests > 0).map(|trial| trial.requests as f64 / trial.duration_ms * 1e3);
    let warmed_up = || warm_ups.iter().rev().find(|warm_up| warm_up.variant == variant);
    paces.next().or_else(|| warmed_up()?.points.last().map(|(_, pace)| *pace))
}

/// Units of work per second of a variant in all of its trials at a level so far; absent before the first complete one.
fn throughput(trials: &[Trial], variant: &str, level: u64) -> Option<f64> {
    let own = trials.iter().filter(|trial| trial.level == level && trial.variant == variant);
    let (units, wall_ms) =
        own.fold((0, 0.0), |(units, wall_ms), trial| (units + trial.units, wall_ms + trial.duration_ms));
    (units > 0 && wall_ms > 0.0).then(|| units as f64 / wall_ms * 1e3)
}

/// The random seed of a trial: the same for all variants of a block, and another one for its second half.
fn seed_of(run: u64, block: &Block, place: usize) -> u64 {
    let half = u64::from(place * 2 >= block.order.len());
    [block.level, u64::from(block.number), half].into_iter().fold(run, mixed)
}

/// A trial as results store it.
pub(crate) fn trial_of(name: &str, turn: Turn<'_>, measured: &Measured) -> Trial {
    let tally = &measured.recorder.tally;
    let response_ns = tally.response_total_ns as f64 / tally.requests.max(1) as f64;
    let unit_times_ms: Vec<f64> = tally.unit_times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    let is_insert = tally.transfers.settlement.counted > 0;
    Trial {
        duration_ms: if is_insert { unit_times_ms.iter().sum() } else { measured.wall.as_secs_f64() * 1e3 },
        units: tally.units,
        unit_times_ms,
        requests: tally.requests,
        records: tally.transfers.records,
        errors: tally.failures(),
        bytes_received: tally.wire_received_bytes,
        bytes_sent: tally.wire_sent_bytes,
        response_time_mean_ms: response_ns / 1e6,
        subject_cpu_us: measured.passed.subject_cpu_ns.map(|used_ns| used_ns as f64 / 1e3),
        backend_cpu_us: measured.passed.behind_cpu_ns.map(|used_ns| used_ns as f64 / 1e3),
        subject_instructions: measured.passed.subject_instructions.and_then(Count::whole),
        backend_instructions: measured.passed.behind_instructions.and_then(Count::whole),
        generator_cpu_us: measured.used.cpu_ns as f64 / 1e3,
        generator_busiest_cpu_us: measured.used.busiest_cpu_ns as f64 / 1e3,
        generator_run_queue_us: measured.used.run_queue_max_ns as f64 / 1e3,
        stolen_share: measured.passed.ticks.steal_share(),
        ..turn.trial(name, measured.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::record::recorder::Recorder;
    use crate::probe::generator::ThreadsUsed;
    use crate::probe::meter::Passed;

    #[test]
    fn bytes_of_a_trial_are_those_of_tls_with_it() {
        let mut recorder = Recorder::default();
        (recorder.tally.received_bytes, recorder.tally.sent_bytes) = (1000, 100);
        (recorder.tally.wire_received_bytes, recorder.tally.wire_sent_bytes) = (3200, 600);
        let measured = Measured {
            recorder,
            start: Duration::ZERO,
            wall: Duration::from_secs(1),
            passed: Passed::default(),
            used: ThreadsUsed::default(),
            came: Vec::new(),
            samples: Vec::new(),
        };
        let block = Block { start: 0, number: 0, level: 1, order: vec![0] };
        let trial = trial_of("v", Turn { block: &block, place: 0, variant: 0 }, &measured);
        assert_eq!((trial.bytes_received, trial.bytes_sent), (3200, 600));
    }

    #[test]
    fn the_pace_of_a_level_is_that_of_its_last_trial_and_before_it_that_of_the_warm_up() {
        let (mut trials, mut warm_ups) = (Vec::new(), Vec::new());
        let of = |trials: &[Trial], warm_ups: &[results::WarmUp], variant: &str, level: u64| {
            pace(trials, warm_ups, variant, level).map(f64::round)
        };
        let trial = |requests: u64, duration_ms: f64| Trial {
            variant: "v".to_owned(),
            level: 20,
            requests,
            duration_ms,
            ..Trial::default()
        };
        assert_eq!(of(&trials, &warm_ups, "v", 20), None);
        let points = vec![(0.5, 10.0), (1.0, 1000.0)];
        warm_ups.push(results::WarmUp { variant: "v".to_owned(), points, ..results::WarmUp::default() });
        trials.push(trial(0, 1000.0));
        assert_eq!((of(&trials, &warm_ups, "v", 20), of(&trials, &warm_ups, "w", 20)), (Some(1000.0), None));
        trials.extend([trial(500, 1000.0), trial(300, 500.0)]);
        assert_eq!((of(&trials, &warm_ups, "v", 20), of(&trials, &warm_ups, "v", 40)), (Some(600.0), Some(1000.0)));
    }

    #[test]
    fn variants_of_a_block_draw_alike_and_blocks_and_runs_do_not() {
        let seeds = |run: u64, number: u32, level: u64| {
            let block = Block { number, level, start: 0, order: vec![0, 1, 2, 2, 1, 0] };
            [0, 1, 2, 3, 4, 5].map(|place| seed_of(run, &block, place))
        };
        let [there, .., back] = seeds(1, 0, 20);
        assert_eq!(seeds(1, 0, 20), [there, there, there, back, back, back]);
        let all = [seeds(1, 0, 20), seeds(1, 1, 20), seeds(1, 0, 1), seeds(2, 0, 20)];
        let mut different: Vec<u64> = all.concat();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), 8);
    }
}
