//! Experiments that load servers over HTTP.
//!
//! What it deliberately does not do: generate load (see [`crate::load`]).

mod cells;
mod descriptors;
mod inserting;
mod observing;
mod onset;
mod paces;
mod rate;
mod remote;
mod session;
mod subjects;
mod survey;
mod trial;
mod warming;

use tollgate_net::link::Door;

use crate::conduct::conductor::{Beginning, RunOutcome};
use crate::conduct::options::{LinkChoice, Observer, Progress, RunError, RunOptions};
use crate::conduct::stop::StopFlag;
use crate::conduct::store::Store;
use crate::cores::Cores;
use crate::experiment::{Distance, WorkloadKind};
use crate::load::REQUEST_TIMEOUT;
use crate::load::worker::Worker;
use crate::plan::Plan;
use crate::secret;
use crate::traffic::header::{basic_authorization, check_header};
use crate::traffic::mode::Mode;
use cells::Cells;
use inserting::Inserting;
use paces::Paces;
use session::Loading;
use subjects::line::Line;
use subjects::secured::Secured;
use subjects::sites::{self, Origin, Site};
use subjects::{emptying, rungs};
use tollgate_facts::results;
use trial::Generator;

/// Whether it can be run as asked, as far as that can be told without touching the network.
pub(crate) fn check(options: &RunOptions, plan: &Plan) -> Result<(), RunError> {
    if options.link != LinkChoice::default() || options.database.is_some() {
        let name = &options.experiment.name;
        return Err(RunError::Usage(format!(
            "--link and --database are for batches, such as `distance`; `{name}` is none"
        )));
    }
    sites::sites(options, plan)?;
    headers(options)?;
    descriptors::check(&options.experiment, plan).map_err(RunError::Usage)?;
    descriptors::check_ports(&options.experiment, plan).map_err(RunError::Usage)
}

/// Runs it.
pub(crate) fn run(
    options: &RunOptions,
    plan: Plan,
    observer: &dyn Observer,
    stop: &StopFlag,
) -> Result<RunOutcome, RunError> {
    let experiment = &options.experiment;
    let sites = sites::sites(options, &plan)?;
    let headers = headers(options)?;
    rungs::check(options)?;
    emptying::check(options, &sites, &headers)?;
    let started = jiff::Timestamp::now();
    let store = Store::choose(options.out.as_deref(), &experiment.name, started)?;
    let cores = Cores::divide();
    // Before keys are made: who has no right to a line is told so at once.
    let line = Line::open(experiment, &plan, &sites, &cores)?;
    let line = line.as_ref();
    let is_ours =
        |site: &Site| matches!(site.place, Origin::Child(_)) && experiment.variants[site.variant].peer.is_none();
    let secured = match sites.iter().any(is_ours) {
        true => Secured::make(experiment, &plan.levels, store.directory(), &options.serve_program)
            .map_err(RunError::Failed)?,
        false => None,
    };
    let afar = rungs::Afar::begin(options, &plan, store.directory(), &cores)?;
    let seed = options.seed.unwrap_or_else(|| started.as_nanosecond() as u64);
    let generator = Generator::new(workers(&cores, line.map(Line::near))?, cores.all.clone());
    observer.progress(&Progress::Planned { trials: plan.trials(), duration: plan.duration() });
    let most = plan.levels.iter().copied().max().unwrap_or(0);
    let loading = Loading {
        sites: &sites,
        headers: &headers,
        generator: if afar.is_some() { generator.looking_often() } else { generator },
        cells: Cells::new(
            experiment,
            &plan,
            |variant| sites::cores(&sites, &cores, variant),
            |variant| sites::systems(&sites, experiment, variant),
        ),
        inserting: (experiment.workload == WorkloadKind::Insert).then(|| Inserting::new(seed, most)),
        secured,
        line,
        afar,
        at: plan.levels[0],
        paces: Paces::default(),
        starts: 0,
        begun: 0,
    };
    let variants = sites.iter().map(|site| stored(options, site)).collect();
    let network = network(options, &plan, &sites);
    let is_away = experiment.ladder.is_some() || is_any_remote(options, &sites);
    let round_trip_ms = is_away.then_some(plan.round_trip.as_secs_f64() * 1e3);
    let beginning = Beginning { options, plan, cores: &cores, observer, stop, store, seed, started, variants, network };
    let mut run = beginning.of(loading);
    run.result.settings.round_trip_ms = round_trip_ms;
    run.conduct()
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

fn is_any_remote(options: &RunOptions, sites: &[Site]) -> bool {
    sites.iter().any(|site| options.experiment.variants[site.variant].distance == Distance::Remote)
}

/// The network in words.
fn network(options: &RunOptions, plan: &Plan, sites: &[Site]) -> String {
    let is_loopback = sites.iter().all(|site| match &site.place {
        Origin::Child(_) => true,
        Origin::There(target) => crate::subject::check_loadable(target.host(), &[]).is_ok(),
    });
    let network = if is_loopback { "loopback" } else { "network" };
    let far = || remote::words(plan.round_trip, &[]);
    match (is_any_remote(options, sites), options.experiment.ladder.is_some()) {
        (true, _) => format!("{network}, and for the remote variants {}", far()),
        (false, true) => format!("{network}, and to the database {}", far()),
        (false, false) => network.to_owned(),
    }
}

/// A variant as results have it.
fn stored(options: &RunOptions, site: &Site) -> results::Variant {
    let experiment = &options.experiment;
    let is_insert = experiment.workload == WorkloadKind::Insert;
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
}
