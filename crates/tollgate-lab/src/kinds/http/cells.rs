//! Records of each cell of a load, and the results made from them.
//!
//! Trials are not kept here: they are in the result.

use super::session::WARM_UP_USERS_AT_RATE;
use super::shape::LoadShape;
use super::subjects::sites::{self, Site};
use super::trial::Measured;
use crate::conduct::series::Growing;
use crate::cores::Cores;
use crate::experiment::{Connections, Experiment};
use crate::judge::cells;
use crate::judge::intervals::ByBlock;
use crate::judge::negotiated::Claims;
use crate::judge::spread::{self, Groups};
use crate::judge::trend::{Stretch, Trend};
use crate::judge::{self, Evidence, OwnCpu, SeenBeside, Systems, WithinTrials};
use crate::load::record::course::PARTS;
use crate::load::record::recorder::{Recorder, Tally, Transfers};
use crate::load::record::{interactive, little};
use crate::plan::{Plan, RatePlan, TRIALS_PER_BLOCK};
use crate::probe::system::Ticks;
use crate::traffic::mode::Mode;
use crate::traffic::scenario;
use std::time::Duration;
use tollgate_facts::results::{
    Cell, Connecting, EqualRate, IterationsOffered, Occupancy, Peak, Piece, Played, Reading, RunResult, Settlement,
    TcpCounts, Trial, Validity, Verdict,
};
use tollgate_facts::rules::STEADY;
use tollgate_facts::toll::{comparison, fit, occupancy::Seen};

/// Kinds of peaks: the series, the series of its limit, and the unit.
const PEAKS: [(&str, Option<&str>, &str); 3] = [
    ("work-processes-busy", Some("work-processes-limit"), "work processes"),
    ("work-processes-waiting", None, "requests"),
    ("subject-threads", None, "threads"),
];

/// Records of one cell at equal rate.
#[derive(Debug)]
struct AtRate {
    /// The offered load, without its outcome.
    offer: EqualRate,
    load: LoadRecord,
    /// Trials at equal rate; results do not list them.
    trials: Vec<Trial>,
    groups: Groups,
    /// For each worker the most users that came in a trial: they stay, with their connections.
    came_most: Vec<u64>,
    /// Time in each trial during which requests were due.
    slice: Duration,
}

/// Records of all trials of one load of a cell: with users who wait, or at equal rate.
#[derive(Debug, Default)]
struct LoadRecord {
    recorder: Recorder,
    by_block: ByBlock,
    ticks: Ticks,
    tcp: TcpCounts,
}

/// All cells of a run.
#[derive(Debug)]
pub(crate) struct Cells {
    cells: Vec<Entry>,
    bins: Bins,
}

/// Widths of bins in milliseconds, the same for all distributions of one load so that they can be compared.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bins {
    closed_ms: f64,
    rate_ms: f64,
}

/// Records of one cell.
#[derive(Debug, Default)]
struct Entry {
    variant: usize,
    name: String,
    level: u64,
    /// Records of the load with users who wait, or of a scenario.
    load: LoadRecord,
    series: Growing,
    /// Connections that were opened before time counted; at a rate without those of the warm-up.
    opened_before: u64,
    /// Whether connections are opened anew before its trials: those of the warm-up are then not counted.
    are_drawn: bool,
    /// Starts of the subject; each closed all connections.
    starts: u64,
    /// At a rate, where users come when they are needed: the most that came in a trial.
    came_most: u64,
    /// Whether users have a setup, in which their connections are opened before time counts.
    has_setup: bool,
    unsteady_starts: u32,
    systems: Systems,
    /// Cores of subjects and the servers behind them; 0 if they are not pinned.
    subject_cores: usize,
    /// Users of its trials: as many as the level says, or for an insert as many as its mode has connections.
    users: u64,
    /// Settlement of an insert's transfers in the survey, and the first difference found there.
    surveyed: Transfers,
    /// The way its users connect; absent if connections are not studied.
    connecting: Option<Connecting>,
    /// Claims of the experiment about its encryption.
    claims: Claims,
    /// The shortest time during which users of a trial began requests; absent before the first trial.
    slice_least: Option<Duration>,
    /// Requests counted before trials, while connections were opened.
    settling: Tally,
    /// Records at equal rate; absent before that load.
    rate: Option<AtRate>,
    /// Observations of a ladder's gateway; absent for other experiments.
    seen: Option<Seen>,
    /// The load of a scenario whose users do not simply wait.
    shape: Option<LoadShape>,
    /// Trials that ran out of rows.
    trials_out_of_rows: u32,
    /// Users in each trial by response times and pauses, as a ratio to those who were there.
    shares: Vec<f64>,
    look_cpu_us: Option<f64>,
    /// Cell and doubts so far; absent until the last trial is included.
    found: Option<(Cell, Vec<Validity>)>,
}

impl Cells {
    /// Empty records of cells measured at these sites, ours on these cores; `is_seen` if the gateway itself is
    /// observed.
    pub(crate) fn new(experiment: &Experiment, plan: &Plan, sites: &[Site], cores: &Cores, is_seen: bool) -> Cells {
        let entry = |level: u64, variant: usize| {
            let shape = &experiment.variants[variant];
            Entry {
                variant,
                name: shape.name.clone(),
                level,
                has_setup: shape.own().is_some_and(|played: &scenario::Played| !played.scenario.setup.is_empty()),
                systems: sites::systems(sites, experiment, variant),
                subject_cores: sites::cores(sites, cores, variant),
                users: shape.own().map_or(experiment.users_of(shape, level), |mode: &Mode| mode.connections_for(level)),
                connecting: shape.own().copied(),
                claims: Claims::of(experiment, shape, level),
                shape: LoadShape::of(experiment, shape),
                are_drawn: experiment.connections == Connections::PerBlock
                    && shape.own().is_none_or(|way: &Connecting| way.requests_per_connection.is_none()),
                seen: is_seen.then(Seen::default),
                ..Entry::default()
            }
        };
        let cells = plan.levels.iter().flat_map(|level| plan.variants.iter().map(|variant| entry(*level, *variant)));
        Cells { cells: cells.collect(), bins: Bins::default() }
    }

    /// Records that a subject was started and warmed up, for one level or for all: each has that many connections open.
    pub(crate) fn started(&mut self, variant: usize, only: Option<u64>, is_steady: bool) {
        let is_meant = |entry: &&mut Entry| entry.variant == variant && only.is_none_or(|level| entry.level == level);
        self.cells.iter_mut().filter(is_meant).for_each(|entry| entry.started(is_steady));
    }

    /// Stores the cost of looking at a subject.
    pub(crate) fn look_costs(&mut self, variant: usize, level: u64, cpu_us: Option<f64>) {
        self.entry(variant, level).look_cpu_us = cpu_us;
    }

    /// Adds requests that opened connections before a trial: they are in no figure.
    pub(crate) fn settled(&mut self, variant: usize, level: u64, tally: &Tally) {
        self.entry(variant, level).settle(tally);
    }

    /// At a rate, the most users that have come in a trial so far, and at least as many as in the warm-up.
    pub(crate) fn callers(&self, variant: usize, level: u64) -> Option<u64> {
        let is_it = |entry: &&Entry| entry.variant == variant && entry.level == level && entry.is_open();
        self.cells.iter().find(is_it).map(|entry| entry.came_most.max(WARM_UP_USERS_AT_RATE))
    }

    /// Adds a trial during whose `slice` users began requests.
    pub(crate) fn add(&mut self, variant: usize, trial: &Trial, slice: Duration, measured: &Measured) {
        let entry = self.entry(variant, trial.level);
        entry.slice_least = Some(entry.slice_least.map_or(slice, |least| least.min(slice)));
        entry.load.add(trial, measured);
        measured.recorder.before.iter().for_each(|before| entry.settle(before));
        entry.came_most = entry.came_most.max(measured.recorder.tally.sends.users);
        entry.shares.extend(interactive::share(&measured.recorder.tally));
        entry.trials_out_of_rows += u32::from(measured.recorder.tally.out_of_rows > 0);
        for (at_ms, readings) in &measured.samples {
            if let Some(seen) = &mut entry.seen {
                seen.add(readings);
            }
            let is_shown = |reading: &&Reading| entry.seen.is_some() || !reading.name.starts_with("connections-");
            for reading in readings.iter().filter(is_shown) {
                entry.series.add(*at_ms, *reading);
            }
        }
        let max_ms =
            if measured.recorder.response.is_empty() { 0.0 } else { measured.recorder.response.max() as f64 / 1e6 };
        entry.series.add(trial.start_ms, Reading { name: "response-time-max", unit: "ms", value: max_ms });
        entry.series.add_cores(trial);
    }

    /// Adds a trial at equal rate, with the load offered and planned.
    pub(crate) fn add_at_rate(
        &mut self,
        variant: usize,
        trial: Trial,
        (offer, planned): (&EqualRate, RatePlan),
        measured: &Measured,
        is_last_of_block: bool,
    ) {
        let entry = self.entry(variant, trial.level);
        let block = planned.slice * TRIALS_PER_BLOCK;
        let rate = entry.rate.get_or_insert_with(|| AtRate {
            offer: offer.clone(),
            load: LoadRecord::default(),
            trials: Vec::new(),
            groups: Groups::new(planned.blocks, offer.rate_per_second * block.as_secs_f64()),
            came_most: Vec::new(),
            slice: planned.slice,
        });
        rate.load.add(&trial, measured);
        rate.trials.push(trial);
        rate.came_most.resize(rate.came_most.len().max(measured.came.len()), 0);
        rate.came_most.iter_mut().zip(&measured.came).for_each(|(most, came)| *most = (*most).max(*came));
        rate.groups.add(&measured.recorder.response, is_last_of_block);
    }

    /// Answers per second of the slowest variant of a level; absent if one has no answers.
    pub(crate) fn least_throughput(&self, run: &RunResult, level: u64) -> Option<f64> {
        let of = |entry: &Entry| {
            let own = run.trials_of(&entry.name, level).into_iter();
            let (requests, wall_ms) = own
                .fold((0, 0.0), |(requests, wall_ms), trial| (requests + trial.requests, wall_ms + trial.duration_ms));
            (requests > 0).then(|| requests as f64 / (wall_ms / 1e3))
        };
        let rates: Option<Vec<f64>> = self.cells.iter().filter(|entry| entry.level == level).map(of).collect();
        rates?.into_iter().reduce(f64::min)
    }

    /// Adds the settlement of a transfer of the survey.
    pub(crate) fn surveyed(&mut self, variant: usize, level: u64, transfers: &Transfers) {
        self.entry(variant, level).surveyed.settle(transfers.settlement, transfers.fault.clone());
    }

    /// Puts cells, doubts and everything derived from them into `result`; only changed cells are computed anew.
    pub(crate) fn fill(&mut self, result: &mut RunResult, plan: &Plan) {
        let bins = self.bins_that_suit();
        if bins != self.bins {
            // A cell in bins of another width could not be laid over the others.
            self.cells.iter_mut().for_each(|entry| entry.found = None);
            self.bins = bins;
        }
        let (mut checked, mut requests) = (0, 0);
        for entry in &mut self.cells {
            let (cell, doubts) = match entry.found.take() {
                Some(found) => found,
                None => {
                    let trials = result.trials_of(&entry.name, entry.level);
                    if trials.is_empty() {
                        // Of a cell without figures only a settlement that did not agree is told.
                        result.validity.extend(judge::unsettled(&entry.name, entry.level, &entry.surveyed));
                        continue;
                    }
                    let mut cell = entry.cell(&trials, bins, plan);
                    let doubts = judge::judge(&entry.evidence(&cell, &trials, plan));
                    without_percentiles(&mut cell, &doubts);
                    (cell, doubts)
                }
            };
            checked += entry.load.recorder.tally.checked;
            requests += entry.load.recorder.tally.requests;
            result.validity.extend_from_slice(&doubts);
            result.cells.push(cell.clone());
            entry.found = Some((cell, doubts));
        }
        if result.experiment.piece == Piece::Record {
            // Of an insert's answers only the status is read; what was sent is compared with what is stored.
            let settled = |of: fn(&Settlement) -> u64| -> u64 {
                result.cells.iter().filter_map(|cell| Some(of(&cell.inserted.as_ref()?.settlement))).sum()
            };
            (checked, requests) = (settled(|found| found.compared), settled(|found| found.counted));
        }
        result.settings.content_checked_share = if requests == 0 { 0.0 } else { checked as f64 / requests as f64 };
        result.series = self.cells.iter().flat_map(|entry| entry.series.stored(&entry.name, entry.level)).collect();
        result.peaks = self.cells.iter().filter(|entry| entry.connecting.is_some()).flat_map(Entry::peaks).collect();
        result.fits = fit::fits(result);
        result.comparisons = comparison::compute(result);
    }

    fn bins_that_suit(&self) -> Bins {
        let connecting = || self.cells.iter().filter(|entry| entry.connecting.is_some());
        let closed = connecting().map(|entry| &*entry.load.recorder.response);
        let at_rate = connecting().filter_map(|entry| Some(&*entry.rate.as_ref()?.load.recorder.response));
        Bins { closed_ms: spread::bin_ms(closed), rate_ms: spread::bin_ms(at_rate) }
    }

    /// A cell that is about to change: its results so far are dropped.
    fn entry(&mut self, variant: usize, level: u64) -> &mut Entry {
        let entry = self.cells.iter_mut().find(|entry| entry.variant == variant && entry.level == level);
        let entry = entry.expect("every planned variant has a cell at every planned level");
        entry.found = None;
        entry
    }
}

/// Removes the percentiles of a load whose times grew throughout.
fn without_percentiles(cell: &mut Cell, doubts: &[Validity]) {
    let is_unsteady = |rule: &str| doubts.iter().any(|doubt| doubt.rule == rule && doubt.verdict == Verdict::Refused);
    if is_unsteady(STEADY.name) {
        for times in [&mut cell.response_time_ms, &mut cell.service_time_ms] {
            *times = times.unsteady();
        }
        (cell.response_interval_ms, cell.undelayed_ms) = (None, None);
        cell.curve.clear();
        if let Some(played) = &mut cell.played {
            played.iteration_time_ms = played.iteration_time_ms.unsteady();
            played.iteration_interval_ms = None;
            played.steps.iter_mut().for_each(|step| step.response_time_ms = step.response_time_ms.unsteady());
        }
    }
    if let Some(rate) = cell.equal_rate.as_mut().filter(|_| is_unsteady(STEADY.name_at_rate())) {
        rate.response_time_ms = rate.response_time_ms.unsteady();
        (rate.response_interval_ms, rate.undelayed_ms) = (None, None);
    }
}

impl LoadRecord {
    fn add(&mut self, trial: &Trial, measured: &Measured) {
        self.by_block.add((trial.start, trial.block), &measured.recorder);
        self.recorder.add(&measured.recorder);
        // Single times of units are in the trials already, and would grow without end here.
        self.recorder.tally.unit_times.clear();
        self.ticks += measured.passed.ticks;
        self.tcp += measured.passed.tcp;
    }

    /// Observations beside the figures of trials that lasted so long, with connections opened and connections allowed.
    fn beside<'t>(
        &self,
        trials: impl IntoIterator<Item = &'t Trial>,
        lasted_ms: f64,
        [opened, entitled]: [u64; 2],
    ) -> SeenBeside<'_> {
        let (mut wall_ms, mut over) = (0.0, Vec::new());
        let mut own = Some(OwnCpu { generator_us: 0.0, subject_us: Some(0.0) });
        for trial in trials {
            wall_ms += trial.duration_ms;
            own = own.filter(|_| trial.records == 0).map(|own| OwnCpu {
                generator_us: own.generator_us + trial.generator_cpu_us,
                subject_us: own
                    .subject_us
                    .zip(trial.subject_cpu_us)
                    .map(|(sum_us, subject_us)| sum_us + subject_us + trial.backend_cpu_us.unwrap_or(0.0)),
            });
            let answers = trial.requests as f64;
            let total_ms = answers * trial.response_time_mean_ms;
            over.push(Stretch { answers, total_ms, lasted_ms: trial.duration_ms });
        }
        let part_ms = lasted_ms * over.len() as f64 / PARTS as f64;
        let part = |(count, total_ns): &(u64, u64)| Stretch {
            answers: *count as f64,
            total_ms: *total_ns as f64 / 1e6,
            lasted_ms: part_ms,
        };
        let parts: Vec<Stretch> = self.recorder.bins().iter().map(part).collect();
        let answered = self.recorder.tally.requests as f64 / wall_ms * 1e3;
        SeenBeside {
            ticks: self.ticks,
            own,
            beats: self.recorder.stalls.as_ref(),
            fresh_connections: opened.saturating_sub(entitled),
            within: Trend::of(&parts).map(|trend| WithinTrials { trend, lasted_ms, answered }),
            over: Trend::of(&over),
        }
    }
}

impl AtRate {
    fn found(&self, bin_ms: f64) -> EqualRate {
        let LoadRecord { recorder, by_block, tcp, .. } = &self.load;
        let (tally, sends) = (&recorder.tally, recorder.tally.sends);
        EqualRate {
            intended: sends.intended,
            sent: sends.intended - sends.unsent,
            unsent: sends.unsent,
            answered: tally.requests,
            errors: cells::errors(&tally.errors),
            error_examples: cells::error_examples(&tally.errors),
            handshakes_full: tally.handshakes.full,
            handshakes_resumed: tally.handshakes.resumed,
            negotiated: cells::negotiated(&tally.used),
            lateness_ms: recorder.lateness.as_ref().map(cells::percentiles).unwrap_or_default(),
            overdue_ms: recorder.overdue.as_ref().map(cells::percentiles).unwrap_or_default(),
            generator: cells::generator(&self.trials, recorder.stalls.as_ref()),
            subject_cores: cells::cores_kept_busy(&self.trials),
            tcp: Some(TcpCounts { own: Some(tally.used.sockets), ..*tcp }),
            response_time_ms: cells::percentiles(&recorder.response),
            response_interval_ms: by_block.of_response(&recorder.response),
            undelayed_ms: cells::undelayed(recorder),
            linear: spread::linear(&recorder.response, bin_ms),
            groups: self.groups.done().to_vec(),
            ..self.offer.clone()
        }
    }

    fn beside(&self) -> SeenBeside<'_> {
        let connections = [self.load.recorder.tally.connections, self.came_most.iter().sum()];
        self.load.beside(&self.trials, self.slice.as_secs_f64() * 1e3, connections)
    }
}

impl Entry {
    /// Adds requests made before time counted.
    fn settle(&mut self, tally: &Tally) {
        self.settling.add(tally);
        if self.are_drawn {
            self.opened_before += tally.connections;
        }
    }

    /// Records that its subject was started and warmed up.
    fn started(&mut self, is_steady: bool) {
        if !self.is_open() && !self.are_drawn {
            self.opened_before += self.users;
        }
        self.starts += 1;
        self.unsteady_starts += u32::from(!is_steady);
        self.found = None;
    }

    /// Whether iterations begin at a rate.
    fn is_open(&self) -> bool {
        self.shape.as_ref().is_some_and(LoadShape::is_open)
    }

    /// Connections that users may open: before time counts, or at a rate when they first come after a start, unless
    /// their setup opened them.
    fn connections_entitled(&self) -> u64 {
        let coming = if self.is_open() && !self.has_setup { self.starts.max(1) * self.came_most } else { 0 };
        self.opened_before + coming
    }

    fn cell(&self, trials: &[&Trial], bins: Bins, plan: &Plan) -> Cell {
        let LoadRecord { recorder, by_block, ticks, tcp } = &self.load;
        let mut cell = cells::cell(trials, recorder, self.series.subject());
        cell.response_interval_ms = by_block.of_response(&recorder.response);
        cell.connections += self.opened_before;
        cell.tcp = Some(TcpCounts { own: Some(recorder.tally.used.sockets), ..*tcp });
        if self.connecting.is_some() {
            let wall_s = trials.iter().map(|trial| trial.duration_ms).sum::<f64>() / 1e3;
            cell.connected = Some(cells::connected(recorder, wall_s));
            cell.linear = Some(spread::linear(&recorder.response, bins.closed_ms));
            cell.equal_rate = self.rate.as_ref().map(|rate| rate.found(bins.rate_ms));
        }
        cell.played = recorder.stepped.as_deref().map(|stepped| Played {
            trials_out_of_rows: self.trials_out_of_rows,
            offered: self.shape.as_ref().filter(|shape| shape.is_open()).map(|shape| self.offered(shape, cell.trials)),
            staged: recorder.staged.as_deref().map(|staged| cells::staged(staged, cell.trials)),
            interactive_law: interactive::law(&recorder.tally, self.users, &self.shares),
            iteration_interval_ms: by_block.of_iterations(&stepped.iterations),
            ..cells::played(stepped)
        });
        cell.occupancy = self.seen.as_ref().and_then(|seen| {
            let (users, look_cpu_us) = (self.users, self.look_cpu_us);
            let cores_busy_share = ticks.busy_share();
            let known = Occupancy { users, cores_busy_share, look_cpu_us, ..Occupancy::default() };
            seen.found(known, cell.requests_per_second.mean, plan.round_trip.as_secs_f64() * 1e3)
        });
        if let Some(inserted) = &mut cell.inserted {
            inserted.settlement += self.surveyed.settlement;
            inserted.work_processes_busy_max = self.series.peak("work-processes-busy");
            inserted.work_processes_waiting_max = self.series.peak("work-processes-waiting");
        }
        cell
    }

    fn offered(&self, shape: &LoadShape, trials: u32) -> IterationsOffered {
        let Recorder { tally, lateness, overdue, .. } = &self.load.recorder;
        let sends = tally.sends;
        IterationsOffered {
            arrivals: shape.arrivals,
            intended: sends.intended,
            unstarted: sends.unsent,
            users: sends.users as f64 / f64::from(trials.max(1)),
            users_max: u64::from(shape.users_max),
            lateness_ms: lateness.as_ref().map(cells::percentiles).unwrap_or_default(),
            overdue_ms: overdue.as_ref().map(cells::percentiles).unwrap_or_default(),
        }
    }

    /// The peaks of limited resources.
    fn peaks(&self) -> Vec<Peak> {
        let peak = |(name, limit, unit): &(&str, Option<&str>, &str)| {
            Some(Peak {
                variant: self.name.clone(),
                level: self.level,
                name: (*name).to_owned(),
                value: self.series.peak(name)?,
                limit: limit.and_then(|limit| self.series.peak(limit)),
                unit: (*unit).to_owned(),
            })
        };
        PEAKS.iter().filter_map(peak).collect()
    }

    fn evidence<'a>(&'a self, cell: &'a Cell, trials: &[&Trial], plan: &Plan) -> Evidence<'a> {
        let LoadRecord { recorder, ticks, .. } = &self.load;
        let tally = &recorder.tally;
        let slice_ms = self.slice_least.unwrap_or(plan.slice).as_secs_f64() * 1e3;
        let counts = plan.counts_rounds && cell.trials > 0 && self.users > 1;
        Evidence {
            cell,
            checked: tally.checked,
            answers_per_user: counts.then(|| tally.requests as f64 / (self.users * u64::from(cell.trials)) as f64),
            settling: &self.settling,
            littles_law: little::law(recorder, self.users, slice_ms).map(|law| {
                let stolen_share = ticks.stolen_ms() / (slice_ms * f64::from(cell.trials.max(1)));
                let run_queue_share = cell.generator.run_queue_share;
                law.without_core(little::between_reads(recorder, run_queue_share, stolen_share, slice_ms))
            }),
            unsettled: self.surveyed.fault.as_deref().or(tally.transfers.fault.as_deref()),
            beside: self.load.beside(trials.iter().copied(), slice_ms, [cell.connections, self.connections_entitled()]),
            rate_beside: self.rate.as_ref().map(AtRate::beside).unwrap_or_default(),
            unsteady_starts: self.unsteady_starts,
            connecting: self.connecting,
            claims: &self.claims,
            subject_cores: self.subject_cores,
            systems: self.systems,
            blocks_planned: plan.blocks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlanOptions;

    #[test]
    fn at_a_rate_users_with_a_setup_have_their_connections_before_time_counts() {
        let variant = |name: &str| format!("[[variant]]\nname = \"{name}\"\nurl = \"/\"\nscenario = \"{name}\"\n");
        let step = |phase: &str| format!("[[scenario.{phase}]]\nname = \"{phase}\"\npath = \"x\"\n");
        let text = format!(
            "name = \"mine\"\nquestion = \"Whose are they?\"\n[factor]\nname = \"rate\"\nlevels = [10]\n\
             [workload]\nkind = \"scenario\"\n{}{}[[scenario]]\nname = \"bare\"\n{}[[scenario]]\nname = \"set-up\"\n{}{}",
            variant("bare"),
            variant("set-up"),
            step("step"),
            step("setup"),
            step("step"),
        );
        let experiment = Experiment::parse(&text, "mine.toml").unwrap();
        let plan = Plan::new(&experiment, &PlanOptions::default()).unwrap();
        let mut cells = Cells::new(&experiment, &plan, &[], &Cores::default(), false);
        let entitled = cells.cells.iter_mut().map(|entry| {
            entry.came_most = 5;
            entry.connections_entitled()
        });
        assert_eq!(entitled.collect::<Vec<_>>(), [5, 0]);
        let fresh = |opened: u64| LoadRecord::default().beside([], 1.0, [opened, 5]).fresh_connections;
        assert_eq!([4, 5, 6].map(fresh), [0, 0, 1]);
    }
}
