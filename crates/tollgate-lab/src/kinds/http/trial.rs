//! One trial: starts a load, watches the subject meanwhile, and reads the records.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::subjects::watched::{PLACES_MAX, Watched};
use crate::conduct::stop::{Broken, StopFlag};
use crate::load::insert::Transfer;
use crate::load::pace::gate::Gate;
use crate::load::pass::Pass;
use crate::load::record::course::Course;
use crate::load::record::recorder::Recorder;
use crate::load::renewal::Renewal;
use crate::load::scenario::Conduct;
use crate::load::script::Script;
use crate::load::worker::{self, Order, Report, ReportEnd, Work, Worker};
use crate::probe::generator::ThreadsUsed;
use crate::probe::meter::Passed;
use crate::traffic::model::Load;
use tollgate_facts::results::Reading;

/// Interval of looks at a subject during a trial; the first is in the middle of a slice, or after a trial that ended
/// before it.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The same if the observations are studied themselves. It divides no likely round trip of a link: looks in step with
/// one would always see the same.
const LOOK_OFTEN: Duration = Duration::from_millis(17);
/// Shortest transfer during which the subject may be looked at.
const LONG_TRANSFER: Duration = Duration::from_millis(200);
/// Slices within which the short transfers of a trial end, settling included.
const LONG_TRANSFER_SLICES: u32 = 8;

/// The generator, and the recorders that it reuses.
#[derive(Debug)]
pub(crate) struct Generator {
    /// Threads that load.
    pub(crate) workers: Vec<Worker>,
    /// Start of the run: the zero of all times.
    pub(crate) began: Instant,
    /// Interval of looks at subjects.
    look_every: Duration,
    spare: Vec<Recorder>,
}

/// Work and load of a trial.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The work.
    pub(crate) work: Asking,
    /// The users or rate, and the end.
    pub(crate) load: Load,
    /// The level.
    pub(crate) level: u64,
    /// The connections.
    pub(crate) renewal: Renewal,
}

/// The work of a trial.
#[derive(Debug, Clone)]
pub(crate) enum Asking {
    /// Passes, shared by all users.
    Walk,
    /// The same request again and again.
    Request,
    /// The scenario of the target, played in this way.
    Scenario(Conduct),
    /// Transfers of records.
    Insert(Box<Transfer>),
}

/// Measurements of a trial.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Joint record of all workers.
    pub(crate) recorder: Recorder,
    /// Start, from the start of the run.
    pub(crate) start: Duration,
    /// Wall time.
    pub(crate) wall: Duration,
    /// Resource use of subject, servers behind it and machine meanwhile; for an insert's subject, during transfers.
    pub(crate) passed: Passed,
    /// Resource use of the generator.
    pub(crate) used: ThreadsUsed,
    /// At a rate, the number of users who came, for each worker; else zeros.
    pub(crate) came: Vec<u64>,
    /// Samples, with the time since the run's start in milliseconds.
    pub(crate) samples: Vec<(f64, Vec<Reading>)>,
}

impl Generator {
    /// A generator of these workers; `is_seen` if its observations are studied themselves.
    pub(crate) fn new(workers: Vec<Worker>, is_seen: bool) -> Generator {
        let look_every = if is_seen { LOOK_OFTEN } else { LOOK_EVERY };
        Generator { workers, began: Instant::now(), look_every, spare: Vec::new() }
    }

    /// Runs one trial.
    pub(crate) fn trial(
        &mut self,
        subject: &mut Watched,
        asked: Asked,
        course: Course,
        stop: &StopFlag,
    ) -> Result<Measured, Broken> {
        let Asked { work, load, level, renewal } = asked;
        let target = subject.target(level);
        let slot = worker_slot(subject.variant, subject.place(level));
        let shares = self.shares(&work, &load);
        let gate = Arc::new(Gate::new(shares.len(), subject.meter.clone()));
        let mut cancels = Vec::new();
        let pass = Arc::new(Pass::new(load.users, shares.len()));
        for (worker, load) in self.workers.iter().zip(&shares) {
            cancels.push(worker.run(Order {
                slot,
                target: Arc::clone(target),
                work: match &work {
                    Asking::Walk => Work::Walk(Arc::clone(&pass)),
                    Asking::Request => Work::Script(Arc::new(Script::of_target(target))),
                    Asking::Scenario(conduct) => {
                        let program = target.program.clone().expect("a variant that plays a scenario has its program");
                        Work::Scenario(program, *conduct)
                    }
                    Asking::Insert(transfer) => Work::Insert(transfer.clone()),
                },
                renewal,
                load: load.clone(),
                gate: Arc::clone(&gate),
                course,
                recorder: self.spare.pop().unwrap_or_default(),
            }));
        }
        let slice = load.end.after.unwrap_or(LOOK_EVERY);
        let is_insert = matches!(work, Asking::Insert(_));
        // What the subject spends on an answer about itself would be charged to a transfer: it is asked only in one that
        // is longer than all short ones of a trial together. To look into /proc costs it nothing.
        let asked_after = if is_insert { LONG_TRANSFER.max(slice * LONG_TRANSFER_SLICES) } else { Duration::ZERO };
        let (trial_began, began) = (Instant::now(), self.began);
        let first_look = (slice / 2).min(self.look_every);
        let (mut samples, mut broken) = (Vec::new(), None);
        let workers = self.workers.iter().take(shares.len());
        let reports = worker::reports(workers, cancels, first_look, || {
            broken = subject.death().map(Broken::Failed).or(stop.is_stopped().then_some(Broken::Stopped));
            if broken.is_some() {
                return None;
            }
            if gate.is_open() {
                let mut readings = subject.sample();
                if trial_began.elapsed() >= asked_after {
                    readings.extend(subject.ask());
                }
                samples.push((began.elapsed().as_secs_f64() * 1e3, readings));
            }
            Some(if samples.is_empty() { first_look } else { self.look_every })
        });
        let passed = gate.end();
        let cancelled = reports.iter().any(|report| report.end == ReportEnd::Cancelled);
        let mut measured = self.merge(reports, passed, samples);
        if let Some(broken) = subject.death().map(Broken::Failed).or(broken.filter(|_| cancelled)) {
            self.keep(measured.recorder);
            return Err(broken);
        }
        if is_insert {
            measured.samples.iter_mut().for_each(|(_, readings)| drop_idle_gauges(readings));
            // What lies between transfers is not theirs.
            let transfers = &measured.recorder.tally.transfers;
            measured.passed.subject_cpu_ns = transfers.subject_cpu_ns;
            measured.passed.subject_instructions = transfers.subject_instructions;
        }
        if measured.samples.is_empty() && !matches!(work, Asking::Scenario(_)) {
            // Its memory and its threads are still those of the trial, its queues are not; behind a teardown nothing is.
            measured.samples.push((began.elapsed().as_secs_f64() * 1e3, subject.sample()));
        }
        Ok(measured)
    }

    /// Closes all connections of a variant.
    pub(crate) fn forget(&self, variant: usize) {
        for worker in &self.workers {
            (0..PLACES_MAX).for_each(|place| worker.forget(worker_slot(variant, place)));
        }
    }

    /// Takes a recorder back for the next trial.
    pub(crate) fn keep(&mut self, recorder: Recorder) {
        self.spare.push(recorder);
    }

    /// The share of each worker in the load.
    fn shares(&self, work: &Asking, load: &Load) -> Vec<Load> {
        let most = if matches!(work, Asking::Insert(_)) { 1 } else { self.workers.len() };
        let workers = most.min(load.users);
        let of = |index: usize| match work {
            // The leader alone counts passes, and the only worker transfers.
            Asking::Walk | Asking::Insert(_) => Load { end: load.end, ..load.share(index, workers) },
            Asking::Request | Asking::Scenario(_) => load.share(index, workers),
        };
        (0..workers).map(of).collect()
    }

    fn merge(&mut self, reports: Vec<Report>, passed: Passed, samples: Vec<(f64, Vec<Reading>)>) -> Measured {
        let started = reports.iter().map(|report| report.started).min().unwrap_or(self.began);
        let finished = reports.iter().map(|report| report.finished).max().unwrap_or(started);
        let used = ThreadsUsed::of(reports.iter().map(|report| report.used));
        let came = reports.iter().map(|report| report.recorder.tally.sends.users).collect();
        let mut reports = reports.into_iter();
        let mut recorder = reports.next().map(|report| report.recorder).unwrap_or_default();
        for report in reports {
            recorder.add(&report.recorder);
            self.spare.push(report.recorder);
        }
        Measured {
            recorder,
            start: started.duration_since(self.began),
            wall: finished.duration_since(started),
            passed,
            used,
            came,
            samples,
        }
    }
}

/// Drops gauges of a pool in which nothing is busy: they were read between two transfers.
fn drop_idle_gauges(readings: &mut Vec<Reading>) {
    let is_gauge = |reading: &Reading| reading.name.starts_with("work-processes-");
    if !readings.iter().any(|reading| reading.name == "work-processes-busy" && reading.value > 0.0) {
        readings.retain(|reading| !is_gauge(reading));
    }
}

/// The number under which a worker keeps the connections of a variant to one of its load targets.
fn worker_slot(variant: usize, place: usize) -> usize {
    variant * PLACES_MAX + place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauges_of_an_idle_pool_are_no_figures_of_a_transfer() {
        let check = |busy: f64, expected: &[&str]| {
            let reading = |name, value| Reading { name, unit: "", value };
            let mut readings = vec![
                reading("subject-threads", 3.0),
                reading("work-processes-busy", busy),
                reading("work-processes-waiting", 0.0),
            ];
            drop_idle_gauges(&mut readings);
            assert_eq!(readings.iter().map(|reading| reading.name).collect::<Vec<_>>(), expected);
        };
        check(0.0, &["subject-threads"]);
        check(1.0, &["subject-threads", "work-processes-busy", "work-processes-waiting"]);
    }
}
