//! What is known of each cell of a load, and what is told of it.
//!
//! It deliberately does not keep trials: those are in the result.

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

/// What peaks are told of: the series, the series of its limit, and the unit.
const PEAKS: [(&str, Option<&str>, &str); 3] = [
    ("work-processes-busy", Some("work-processes-limit"), "work processes"),
    ("work-processes-waiting", None, "requests"),
    ("subject-threads", None, "threads"),
];

/// What is known of one cell at equal rate.
#[derive(Debug)]
struct AtRate {
    /// What was offered, without what came of it.
    offer: EqualRate,
    load: LoadRecord,
    /// They are in no result one by one.
    trials: Vec<Trial>,
    groups: Groups,
    /// Of each worker the most users that came in a trial: they stay, with their connections.
    came_most: Vec<u64>,
    /// For how long something was due in each trial.
    slice: Duration,
}

/// What all trials of one load of a cell recorded: with users who wait, or at equal rate.
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

/// Widths of bins in milliseconds: all distributions of one load can be laid over each other.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bins {
    closed_ms: f64,
    rate_ms: f64,
}

/// What is known of one cell.
#[derive(Debug, Default)]
struct Entry {
    variant: usize,
    name: String,
    level: u64,
    /// What was recorded with users who wait, or in a scenario.
    load: LoadRecord,
    series: Growing,
    /// Connections that were opened before time counted; at a rate those that warmed the subject up are left out.
    opened_before: u64,
    /// Whether they are drawn anew before its trials: those that warmed the subject up are then none of its own.
    are_drawn: bool,
    /// Starts of the subject, each of which closed them.
    starts: u64,
    /// At a rate, where users come as they are needed: the most that came in a trial.
    came_most: u64,
    /// Whether users have a setup, in which their connections are opened before time counts.
    has_setup: bool,
    unsteady_starts: u32,
    systems: Systems,
    /// Cores on which subjects and what is behind them run; 0 where they are not pinned.
    subject_cores: usize,
    /// Users of its trials: as many as the level says, or for an insert as many as its mode has connections.
    users: u64,
    /// How an insert's transfers were settled in the survey, and what did not agree there.
    surveyed: Transfers,
    /// What is expected of its connections; absent where they are no part of the question.
    connecting: Option<Connecting>,
    /// What the experiment says of how they are encrypted.
    claims: Claims,
    /// The shortest time for which users of a trial began to ask; absent before the first one.
    slice_least: Option<Duration>,
    /// What was counted before trials, while connections were opened.
    settling: Tally,
    /// What was recorded at equal rate; absent before that.
    rate: Option<AtRate>,
    /// What was seen of a ladder's gateway; absent for other experiments.
    seen: Option<Seen>,
    /// How a scenario is loaded where its users do not simply wait.
    shape: Option<LoadShape>,
    /// Trials in which rows came to an end.
    trials_out_of_rows: u32,
    /// Users as response times and pauses find them in each trial, by those who were there.
    shares: Vec<f64>,
    look_cpu_us: Option<f64>,
    /// What was found by now; absent while a trial is not in it yet.
    found: Option<(Cell, Vec<Validity>)>,
}

impl Cells {
    /// An empty book of cells that are measured at these sites, ours on these cores; it may be the question what looks see of
    /// the gateway.
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

    /// A subject was started and warmed up, for one level alone or for all: each has that many connections open.
    pub(crate) fn started(&mut self, variant: usize, only: Option<u64>, is_steady: bool) {
        let is_meant = |entry: &&mut Entry| entry.variant == variant && only.is_none_or(|level| entry.level == level);
        self.cells.iter_mut().filter(is_meant).for_each(|entry| entry.started(is_steady));
    }

    /// What it takes a subject to be looked at.
    pub(crate) fn look_costs(&mut self, variant: usize, level: u64, cpu_us: Option<f64>) {
        self.entry(variant, level).look_cpu_us = cpu_us;
    }

    /// Adds what was asked while connections were opened before a trial: it is in no figure.
    pub(crate) fn settled(&mut self, variant: usize, level: u64, tally: &Tally) {
        self.entry(variant, level).settle(tally);
    }

    /// At a rate, how many users have come in a trial so far, and at least so many as warmed the subject up.
    pub(crate) fn callers(&self, variant: usize, level: u64) -> Option<u64> {
        let is_it = |entry: &&Entry| entry.variant == variant && entry.level == level && entry.is_open();
        self.cells.iter().find(is_it).map(|entry| entry.came_most.max(WARM_UP_USERS_AT_RATE))
    }

    /// Adds a trial whose users began to ask for so long.
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

    /// Adds a trial at equal rate, of what is offered in so many blocks.
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

    /// Answers per second of the slowest variant of a level; absent where one has none.
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

    /// Adds how a transfer of the survey was settled.
    pub(crate) fn surveyed(&mut self, variant: usize, level: u64, transfers: &Transfers) {
        self.entry(variant, level).surveyed.settle(transfers.settlement, transfers.fault.clone());
    }

    /// Puts cells, doubts and what is told of them into `result`; only cells with something new are made anew.
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

    /// A cell to which something is added: what was found of it by now is found anew.
    fn entry(&mut self, variant: usize, level: u64) -> &mut Entry {
        let entry = self.cells.iter_mut().find(|entry| entry.variant == variant && entry.level == level);
        let entry = entry.expect("every planned variant has a cell at every planned level");
        entry.found = None;
        entry
    }
}

/// A load whose times grew as long as it lasted has no percentiles.
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

    /// What is held against figures of trials that lasted so long, where so many connections were opened of which so many
    /// might be.
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
    /// Something was asked before time counted.
    fn settle(&mut self, tally: &Tally) {
        self.settling.add(tally);
        if self.are_drawn {
            self.opened_before += tally.connections;
        }
    }

    /// Its subject was started and warmed up.
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

    /// Connections that users may open: before time counts, or at a rate when they first come after a start, unless they
    /// have them from their setup.
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

    /// The most that was seen of what a limit may hold.
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
        let grows = plan.slice_most > plan.slice && cell.trials > 0 && self.users > 0;
        Evidence {
            cell,
            checked: tally.checked,
            answers_per_user: grows.then(|| tally.requests as f64 / (self.users * u64::from(cell.trials)) as f64),
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
