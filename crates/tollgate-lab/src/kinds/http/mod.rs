//! Experiments that load servers over HTTP.
//!
//! It does not generate load (see [`crate::load`]).

pub(super) mod between;
pub(super) mod cells;
mod descriptors;
pub(super) mod encrypting;
pub(super) mod file;
mod first;
pub(super) mod line;
pub(super) mod own;
pub(super) mod plan;
pub(super) mod remote;
pub(super) mod session;
pub(super) mod shape;
pub(super) mod subjects;
pub(super) mod trial;
pub(super) mod way;

use super::listed::Listed;
use crate::conduct::conductor::{Beginning, RunOutcome};
use crate::conduct::options::{RunError, RunOptions};
use crate::experiment::{Author, Connections, Experiment, Factor};
use crate::load::REQUEST_TIMEOUT;
use crate::load::worker::Worker;
use crate::plan::{ANSWERS_PER_USER, Note, Plan, seconds};
use crate::probe::instructions::Counting;
use crate::secret;
use crate::traffic::header::{basic_authorization, check_header};
use crate::traffic::mode::Mode;
use cells::Cells;
use line::Line;
use session::Loading;

use subjects::sites::{self, Origin, Site};
use tollgate_facts::results::{self, Piece};
use trial::Generator;
use way::Way;

/// Users who ask at the same time, each waiting for its answer before it asks again.
pub(super) const CONCURRENCY: Factor = Factor {
    name: "concurrency",
    unit: "users",
    about: "Users who ask at the same time, each waiting for its answer before it asks again.",
};
/// The unit of work of single requests.
pub(super) const REQUEST: &str = "request";
/// The unit of work of a walk.
pub(super) const PASS: &str = "pass over the list and every entity that it names";

/// A kind that is loaded in way `W`: the parts common to most of them, without name and workload.
pub(super) const fn kind<W: Way>() -> Listed {
    Listed {
        name: "",
        workload: "",
        about: "",
        factors: &[CONCURRENCY],
        unit_of_work: REQUEST,
        piece: Piece::Request,
        instead: "",
        keys: &[],
        read: |document| document.experiment(document.levels_of_users()?),
        elsewhere: |experiment| experiment,
        plan: plan::plan,
        notes,
        check: check::<W>,
        run: run::<W>,
        page: |_| None,
    }
}

/// Notes on a plan whose slices grow with the users.
fn notes(experiment: &Experiment, plan: &Plan) -> Vec<Note> {
    let (often, most) = (ANSWERS_PER_USER, seconds(plan.slice_most));
    let told = format!("longer with many users: until each is answered about {often} times, but at most {most}");
    let grows = (plan.slice_most > plan.slice).then_some(("", told));
    let told = format!("users of a trial come over {} before anything counts", seconds(plan.ramp));
    let ramps = (!plan.ramp.is_zero()).then_some(("ramp", told));
    grows.into_iter().chain(ramps).chain(connections(experiment, plan)).collect()
}

/// The note on connections.
fn connections(experiment: &Experiment, plan: &Plan) -> Option<Note> {
    let per_start = format!("opened anew with each start, {} in all", plan.starts);
    let told = match experiment.connections {
        Connections::PerBlock => "opened anew for each block, before anything counts",
        Connections::PerStart => &per_start,
        Connections::PerTrial => "opened anew for each trial, before anything counts",
        Connections::Kept => "kept as long as the server keeps them",
        Connections::OfKind => return None,
    };
    Some(("sockets", told.to_owned()))
}

/// Checks that it can be run as asked, as far as possible without the network.
fn check<W: Way>(options: &RunOptions, plan: &mut Plan) -> Result<(), RunError> {
    let sites = sites::sites(options, plan, W::PROCESSES)?;
    let is_ours = |site: &Site| matches!(site.place, Origin::Child(_));
    if options.experiment.connections != Connections::PerStart && !sites.iter().any(is_ours) {
        // Nothing would begin anew.
        plan.starts = 1;
    }
    headers(options)?;
    own::check(options, &sites)?;
    descriptors::check(&options.experiment, plan, W::LINKED).map_err(RunError::Usage)
}

/// Runs the experiment.
fn run<W: Way>(beginning: Beginning<'_>) -> Result<RunOutcome, RunError> {
    let Beginning { options, plan, cores, .. } = &beginning;
    let experiment = &options.experiment;
    let sites = sites::sites(options, plan, W::PROCESSES)?;
    let headers = headers(options)?;
    let way = W::begin(&beginning, &sites, &headers)?;
    let (count, near) = (cores.generator.len().max(1), way.line().map(Line::near));
    let workers = Worker::start_all(count, &cores.generator, REQUEST_TIMEOUT, near).map_err(RunError::Failed)?;
    let loading = Loading {
        sites: &sites,
        headers: &headers,
        generator: Generator::new(workers, W::IS_SEEN),
        cells: Cells::new(experiment, plan, &sites, cores, W::IS_SEEN),
        counting: Counting::here(),
        at: plan.levels[0],
        begun: 0,
        way,
    };
    let variants = sites.iter().map(|site| stored(options, site, W::SERVED_BY)).collect();
    let network = remote::network((experiment, plan), &sites, W::LINKED, &[]);
    let is_away = remote::is_needed(W::LINKED, experiment, plan);
    let has_another_message = has_another_message(options);
    let mut run = beginning.of(loading, variants, network);
    run.result.settings.round_trip_ms = is_away.then_some(run.plan.round_trip.as_secs_f64() * 1e3);
    if has_another_message && let Some(answer) = &mut run.result.experiment.answer {
        answer.words.clear();
    }
    run.conduct()
}

/// Whether the titles of a built-in experiment are about other messages than those that are sent.
fn has_another_message(options: &RunOptions) -> bool {
    options.experiment.author == Author::Tollgate && options.own_request.is_another_message()
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

/// A variant as results store it.
fn stored(options: &RunOptions, site: &Site, served_by: &str) -> results::Variant {
    let variant = &options.experiment.variants[site.variant];
    let subject = match &site.place {
        Origin::Child(path) if let Ok(Some(peer)) = options.peer(variant) => format!("{}, {path}", peer.title),
        Origin::Child(path) => format!("{served_by}, {path}"),
        Origin::There(target) => secret::hide(&target.to_string()),
    };
    let stored = variant.stored(subject);
    let title = if has_another_message(options) { stored.name.clone() } else { stored.title.clone() };
    results::Variant {
        title,
        inserting: variant.own().map(|mode: &Mode| results::Inserting {
            mode: mode.to_string(),
            connections: mode.connections(),
            records_per_request: (*mode != Mode::CustomRest).then(|| mode.records_per_request(1)),
        }),
        connecting: variant.own().copied(),
        ..stored
    }
}
