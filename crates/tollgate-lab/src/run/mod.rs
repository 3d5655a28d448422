//! A whole run: subjects are started, warmed up and measured in interleaved blocks; the result is stored after every
//! trial, so that whatever happens later, what was measured stands.
//!
//! What it deliberately does not do: print (an [`Observer`] is told), compute tolls, or render.

mod batch;
mod book;
mod descriptors;
mod distance;
mod inserting;
mod looking;
mod observing;
mod onset;
mod options;
mod paces;
mod rate;
mod series;
mod session;
mod stop;
mod store;
mod subjects;
mod survey;
mod trial;
mod warming;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use tollgate_net::link::Door;

pub use options::{Certificates, LinkChoice, Observer, Progress, RunError, RunOptions};
pub use stop::StopFlag;
pub use store::{HISTOGRAMS, RESULT};

use self::subjects::line::Line;
use self::subjects::secured::Secured;
use self::subjects::sites::{Origin, Site};
use crate::cores::Cores;
use crate::experiment::{Distance, WorkloadKind};
use crate::load::REQUEST_TIMEOUT;
use crate::load::worker::Worker;
use crate::plan::Plan;
use crate::probe;
use crate::secret;
use crate::traffic::header::{basic_authorization, check_header};
use crate::traffic::mode::Mode;
use inserting::Inserting;
use session::{Halt, Session};
use store::Store;
use tollgate_facts::results::{self, FORMAT, RunResult, State};
use tollgate_facts::stats::sequential::Looking;

/// What a run left.
#[derive(Debug)]
pub struct RunOutcome {
    /// The result as it is stored.
    pub result: RunResult,
    /// The folder that holds `result.json`.
    pub directory: PathBuf,
    /// How it ended.
    pub ending: Ending,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Everything planned was measured.
    Complete,
    /// It was told to stop; what was measured stands.
    Interrupted,
    /// A subject failed; what was measured stands.
    SubjectFailed,
}

/// Whether an experiment can be run as asked, as far as that can be told without touching the network.
///
/// # Errors
/// What is wrong with it.
pub fn check(options: &RunOptions) -> Result<Plan, RunError> {
    let mut plan = Plan::new(&options.experiment, &options.plan).map_err(RunError::Usage)?;
    let peers = plan.variants.iter().filter_map(|variant| options.peer(&options.experiment.variants[*variant]).ok()?);
    plan.warm_up += peers.map(|peer| peer.warm_up).sum::<Duration>();
    if options.experiment.workload == WorkloadKind::Batch {
        batch::check(options, &mut plan)?;
        return Ok(plan);
    }
    if options.link != LinkChoice::default() || options.database.is_some() {
        let name = &options.experiment.name;
        return Err(RunError::Usage(format!(
            "--link and --database are for batches, such as `distance`; `{name}` is none"
        )));
    }
    self::subjects::sites::sites(options, &plan)?;
    headers(options)?;
    descriptors::check(&options.experiment, &plan).map_err(RunError::Usage)?;
    descriptors::check_ports(&options.experiment, &plan).map_err(RunError::Usage)?;
    Ok(plan)
}

/// Runs an experiment.
///
/// # Errors
/// Why nothing was measured: what was asked cannot be, or a subject could not be started.
pub fn run(options: &RunOptions, observer: &dyn Observer, stop: &StopFlag) -> Result<RunOutcome, RunError> {
    let plan = check(options)?;
    if options.experiment.workload == WorkloadKind::Batch {
        return batch::run(options, &plan, observer, stop);
    }
    let sites = self::subjects::sites::sites(options, &plan)?;
    let headers = headers(options)?;
    self::subjects::rungs::check(options)?;
    self::subjects::emptying::check(options, &sites, &headers)?;
    let started = jiff::Timestamp::now();
    let store = Store::choose(options.out.as_deref(), &options.experiment.name, started)?;
    let cores = Cores::divide();
    // Before keys are made: who has no right to a line is told so at once.
    let line = Line::open(&options.experiment, &plan, &sites, &cores)?;
    let line = line.as_ref();
    let is_ours = |site: &Site| {
        matches!(site.place, Origin::Child(_)) && options.experiment.variants[site.variant].peer.is_none()
    };
    let secured = match sites.iter().any(is_ours) {
        true => Secured::make(&options.experiment, &plan.levels, store.directory(), &options.serve_program)
            .map_err(RunError::Failed)?,
        false => None,
    };
    let afar = self::subjects::rungs::Afar::begin(options, &plan, store.directory(), &cores)?;
    let seed = options.seed.unwrap_or_else(|| started.as_nanosecond() as u64);
    let workers = workers(&cores, line.map(Line::near))?;
    observer.progress(&Progress::Planned { trials: plan.trials(), duration: plan.duration() });
    let mut session = Session {
        options,
        plan: &plan,
        sites: &sites,
        headers: &headers,
        cores: &cores,
        observer,
        stop,
        generator: match options.experiment.ladder {
            Some(_) => trial::Generator::new(workers, cores.all.clone()).looking_often(),
            None => trial::Generator::new(workers, cores.all.clone()),
        },
        book: book::Book::new(
            &options.experiment,
            &plan,
            |variant| self::subjects::sites::cores(&sites, &cores, variant),
            |variant| self::subjects::sites::systems(&sites, &options.experiment, variant),
        ),
        store,
        result: blank(options, &plan, &sites, &cores, seed, started),
        inserting: (options.experiment.workload == WorkloadKind::Insert)
            .then(|| Inserting::new(seed, plan.levels.iter().copied().max().unwrap_or(0))),
        secured,
        line,
        afar,
        at: plan.levels[0],
        paces: paces::Paces::default(),
        starts: 0,
        begun: 0,
    };
    // Only now: the result says how many cores the machine lent us, not how many this thread keeps.
    let _on_generator_cores = cores.pin_to_generator();
    match session.conduct() {
        Ok(ending) => {
            let directory = session.store.directory().to_owned();
            Ok(RunOutcome { result: session.result, directory, ending })
        }
        Err(Halt::Subject { variant, how, .. }) => {
            let name = &options.experiment.variants[variant].name;
            Err(RunError::Failed(format!("the subject of `{name}` {how}")))
        }
        Err(Halt::Ours(message)) => Err(RunError::Failed(message)),
        Err(Halt::Stopped) => Err(RunError::Failed("it was interrupted".to_owned())),
    }
}

/// The present time as results keep it.
fn now_text() -> String {
    text(jiff::Timestamp::now())
}

fn text(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The user's header fields, checked, and basic authentication sent at once.
fn headers(options: &RunOptions) -> Result<Vec<(String, String)>, RunError> {
    let mut headers = options.headers.clone();
    if let Some((user, password)) = &options.basic {
        headers.push(("Authorization".to_owned(), basic_authorization(user, password)));
    }
    for (name, value) in &headers {
        check_header(name, value).map_err(RunError::Usage)?;
    }
    Ok(headers)
}

fn workers(cores: &Cores, door: Option<&Door>) -> Result<Vec<Worker>, RunError> {
    (0..cores.generator.len().max(1))
        .map(|index| Worker::start_in(cores.generator.get(index).copied(), REQUEST_TIMEOUT, door.cloned()))
        .collect::<Result<_, _>>()
        .map_err(RunError::Failed)
}

/// The peers that are measured, in the order of the command line.
fn peers(options: &RunOptions, sites: &[Site]) -> Vec<results::Peer> {
    let is_planned =
        |name: &str| sites.iter().any(|site| options.experiment.variants[site.variant].peer.as_deref() == Some(name));
    let planned = options.peers.iter().filter(|peer| is_planned(&peer.name));
    planned.map(|peer| results::Peer { name: peer.name.clone(), title: peer.title.clone() }).collect()
}

/// The result before anything is measured.
fn blank(
    options: &RunOptions,
    plan: &Plan,
    sites: &[Site],
    cores: &Cores,
    seed: u64,
    started: jiff::Timestamp,
) -> RunResult {
    let experiment = &options.experiment;
    let (factor, factor_unit) = experiment.factor.words();
    let is_insert = experiment.workload == WorkloadKind::Insert;
    let is_loopback = sites.iter().all(|site| match &site.place {
        Origin::Child(_) => true,
        Origin::There(target) => crate::subject::check_loadable(target.host(), &[]).is_ok(),
    });
    let variants = sites.iter().map(|site| {
        let variant = &experiment.variants[site.variant];
        results::Variant {
            name: variant.name.clone(),
            title: variant.title.clone(),
            baseline: variant.baseline.map(|baseline| experiment.variants[baseline].name.clone()),
            subject: match &site.place {
                Origin::Child(path) if let Ok(Some(peer)) = options.peer(variant) => format!("{}, {path}", peer.title),
                Origin::Child(path) if is_insert => format!("tollgate serve, {path}"),
                Origin::Child(path) if experiment.ladder.is_some() => {
                    format!("tollgate serve, a process of its own at each level, {path}")
                }
                Origin::Child(path) => format!("tollgate serve, a process of its own, {path}"),
                Origin::There(target) => secret::hide(&target.to_string()),
            },
            inserting: variant.mode.map(|mode| results::Inserting {
                mode: mode.to_string(),
                connections: mode.connections(),
                records_per_request: (mode != Mode::CustomRest).then(|| mode.records_per_request(1)),
            }),
            distance: match variant.distance {
                Distance::Local => results::Distance::Local,
                Distance::Remote => results::Distance::Remote,
            },
            peer: variant.peer.clone(),
            connecting: variant.connecting,
            backend: variant.backend.clone(),
        }
    });
    let is_ladder = experiment.ladder.is_some();
    let network = if is_loopback { "loopback" } else { "network" };
    let is_remote = sites.iter().any(|site| experiment.variants[site.variant].distance == Distance::Remote);
    RunResult {
        format: FORMAT,
        experiment: results::Experiment {
            name: experiment.name.clone(),
            question: experiment.question.clone(),
            factor: factor.to_owned(),
            factor_unit: factor_unit.to_owned(),
            levels: plan.levels.clone(),
            named_levels: experiment.named_levels(),
            users: match (&experiment.encrypting, experiment.ladder) {
                (Some(encrypting), _) => Some(encrypting.users),
                (None, ladder) => ladder.map(|ladder| ladder.users),
            },
            variants: variants.collect(),
            unit_of_work: match experiment.workload {
                WorkloadKind::Walk => "pass over the list and every entity that it names".to_owned(),
                WorkloadKind::Request => "request".to_owned(),
                WorkloadKind::Scenario => "iteration of all steps".to_owned(),
                WorkloadKind::Insert => "transfer of as many records as the level says".to_owned(),
                WorkloadKind::Batch => "document".to_owned(),
            },
            piece: match experiment.workload {
                WorkloadKind::Insert => results::Piece::Record,
                WorkloadKind::Batch => results::Piece::Document,
                WorkloadKind::Walk | WorkloadKind::Request | WorkloadKind::Scenario => results::Piece::Request,
            },
            published_table: experiment.published_table.map(|table| table.name().to_owned()),
        },
        version: options.version.clone(),
        started: text(started),
        finished: None,
        state: State::Running,
        reason: None,
        machine: probe::machine::machine(),
        command: options.command_line.clone(),
        seed,
        settings: results::Settings {
            extent: plan.extent.name().to_owned(),
            blocks: plan.blocks,
            slice_ms: plan.slice.as_secs_f64() * 1e3,
            generator_cores: cores.generator.clone(),
            subject_cores: cores.subjects.clone(),
            starts: 0,
            network: match (is_remote, is_ladder) {
                (true, _) => {
                    format!("{network}, and for the remote variants {}", distance::words(plan.round_trip, &[]))
                }
                (false, true) => format!("{network}, and to the database {}", distance::words(plan.round_trip, &[])),
                (false, false) => network.to_owned(),
            },
            equivalence_share: plan
                .equivalence_ppm
                .map_or(tollgate_facts::results::NO_TOLL_BAND, |ppm| f64::from(ppm) / 1e6),
            insecure: options.certificates == Certificates::Unverified,
            content_checked_share: 0.0,
            round_trip_ms: (is_remote || is_ladder).then_some(plan.round_trip.as_secs_f64() * 1e3),
            cell_ms: plan.cell.map(|cell| cell.as_secs_f64() * 1e3),
            looks: plan.until_width_ppm.map(|width_ppm| results::Looks {
                width: f64::from(width_ppm) / 1e6,
                done: 0,
                is_reached: false,
                alpha: Looking::Often.alpha(),
            }),
        },
        cells: Vec::new(),
        tolls: Vec::new(),
        validity: Vec::new(),
        trials: Vec::new(),
        series: Vec::new(),
        published: experiment.published.clone(),
        gaps: Vec::new(),
        links: Vec::new(),
        peers: peers(options, sites),
        comparisons: Vec::new(),
        thresholds: Vec::new(),
        fits: Vec::new(),
        flows: Vec::new(),
        round_trips: Vec::new(),
        crypto: Vec::new(),
        peaks: Vec::new(),
        scalings: Vec::new(),
        warm_ups: Vec::new(),
        distance: None,
    }
}
