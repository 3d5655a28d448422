//! Common part of `run` and `plan`: from the words on the command line to an experiment and its amount.
//!
//! The lab knows the variants and levels of an experiment, and names them in its errors.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;
use tollgate_lab::experiment::{Connections, Experiment, TOLLGATE, Variant};
use tollgate_lab::plan::{Extent, PlanOptions};
use tollgate_lab::run::{RunError, RunOptions};
use tollgate_lab::subject::Peer;
use tollgate_lab::traffic::request::{OwnRequest, Template};
use tollgate_net::link::LinkMode;

use super::secrets;
use crate::commands::asking::{Answers, Request, Tls};
use crate::commands::input;
use crate::failure::Failure;
use crate::values::{Assignment, requests_per_second, share};

/// How much is measured: shared by `run`, `plan` and `versus`.
#[derive(Debug, Args)]
pub(crate) struct Amount {
    /// Few levels and few, short blocks: an answer in under a minute, with wide intervals
    #[arg(long, conflicts_with = "full", help_heading = "How much")]
    pub(super) quick: bool,

    /// All levels and many blocks: narrow intervals
    #[arg(long, help_heading = "How much")]
    pub(super) full: bool,

    /// Blocks per level; each block measures every variant twice, in mirrored order
    #[arg(long, visible_alias = "rounds", value_name = "N", help_heading = "How much")]
    pub(super) blocks: Option<NonZeroU32>,

    /// Stop after 8, 16, 32 or 64 blocks, once the interval of every toll is at most this wide to either side
    /// (intervals are then Pocock's, which correct for looking four times)
    #[arg(long, value_name = "SHARE", value_parser = width, conflicts_with = "blocks", help_heading = "How much")]
    pub(super) until_width: Option<u32>,

    /// Report "no toll" if the whole interval is within this share of 1 [default: the experiment's, else 3%]
    #[arg(long, value_name = "SHARE", value_parser = width, help_heading = "How much")]
    pub(super) equivalence: Option<u32>,

    /// How long connections stay open that your server would keep: `per-block` (new ones for each block, so that
    /// intervals include differences between connections), `per-start` or `kept` [default: the experiment's, else
    /// per-block]
    #[arg(long, value_name = "HOW", value_parser = str::parse::<Connections>, help_heading = "How much")]
    pub(super) connections: Option<Connections>,
}

/// What is to be run, and how much of it: shared by `run` and `plan`.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Built-in experiment (`tollgate list`), or your own file ending in .toml
    #[arg(value_name = "EXPERIMENT|FILE.toml")]
    pub(super) experiment: String,

    #[command(flatten)]
    pub(super) amount: Amount,

    /// Fixed rate for all variants after the closed load, in requests per second, such as 75, instead of a share of the
    /// slowest one's throughput (`encryption`)
    #[arg(long, value_name = "N", value_parser = requests_per_second, help_heading = "How much")]
    pub(super) rate: Option<f64>,

    /// Only these variants, and their baselines
    #[arg(long, value_name = "VARIANT,…", value_delimiter = ',', help_heading = "How much")]
    pub(super) only: Vec<String>,

    /// Only these levels
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = "How much")]
    pub(super) level: Vec<u64>,

    /// Your own system instead of a variant; with a path, the collection to read
    #[arg(long = "subject", value_name = "VARIANT=URL", help_heading = "Your own subject")]
    pub(super) subjects: Vec<Assignment<String>>,

    /// Your own OData entity set, V4 or V2, instead of the built-in one. Records are made from its `$metadata` and
    /// deleted by their keys
    #[arg(long, value_name = "URL", conflicts_with_all = ["subjects", "peers"], help_heading = "Your own subject")]
    pub(super) entity_set: Option<String>,

    /// Your own records for --entity-set, instead of generated ones: a CSV with property names in its first row, or
    /// JSON (an object or a list of them); missing keys are generated
    #[arg(long, value_name = "FILE", help_heading = "Your own subject")]
    pub(super) records: Option<String>,

    /// Several subjects in one table: names of `tollgate list`, `tollgate` for our own gateway, or subject files ending
    /// in .toml
    #[arg(long = "subjects", value_name = "NAME,…", value_delimiter = ',', help_heading = "Peers")]
    pub(super) peers: Vec<String>,

    /// Additional argument for tollgate's own gateway; `{folder}` is a folder of that process alone
    #[arg(long = "serve-arg", value_name = "ARGUMENT", allow_hyphen_values = true, help_heading = "Our own subject")]
    pub(super) serve_arguments: Vec<String>,

    /// Process of your subject on this machine, to measure its CPU time and memory, including its children
    #[arg(long = "subject-pid", value_name = "VARIANT=PID", help_heading = "Your own subject")]
    pub(super) subject_pids: Vec<Assignment<u32>>,

    /// URL of one entity of your list, relative to the list's URL, with key properties in braces:
    /// rest-json='products/{id}', odata-v4-json="Products('{ID}')" [default: OData's own links]
    #[arg(long = "detail", value_name = "VARIANT=TEMPLATE", help_heading = "Your own subject")]
    pub(super) details: Vec<Assignment<String>>,

    /// Statuses that leave an entity of your list out instead of failing, such as 404,410; the report counts them
    #[arg(long, value_name = "STATUS,…", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(400..600), help_heading = "Your own subject")]
    pub(super) leave_out: Vec<u16>,

    #[command(flatten)]
    pub(super) request: Request,

    #[command(flatten)]
    pub(super) answers: Answers,

    #[command(flatten)]
    pub(super) tls: Tls,

    /// Your own PostgreSQL for a batch, instead of one started for the run. The tables tollgate_document, tollgate_unit
    /// and tollgate_result are created there, or emptied (--i-may-empty), and remain
    #[arg(long, value_name = "URL", help_heading = "Your own subject")]
    pub(super) database: Option<String>,

    /// Link to a batch's database: `proxy`, `tun` (packets between two network namespaces, needs root) or `none` (your
    /// own network; compare two saved runs)
    #[arg(long, value_name = "KIND", default_value = "proxy", value_parser = link, help_heading = "How much")]
    pub(super) link: Link,

    /// Allow load on this remote host; by default only loopback is allowed; may be repeated
    #[arg(long = "i-may-load", value_name = "HOST", help_heading = "Your own subject")]
    pub(super) may_load: Vec<String>,

    /// Allow emptying tables on this host; by default a table of yours that contains rows is refused
    #[arg(long = "i-may-empty", value_name = "HOST", help_heading = "Your own subject")]
    pub(super) may_empty: Vec<String>,
}

/// The largest experiment file that is read.
const EXPERIMENT_BYTES_MAX: u64 = 1 << 20;

/// Reads the experiment: a built-in one by its name, a user's by a file name that ends in `.toml`.
fn experiment(name: &str) -> Result<Experiment, Failure> {
    if !name.ends_with(".toml") {
        return Experiment::builtin(name).map_err(|error| {
            Failure::usage(error).hint("`tollgate list` shows the experiments; a file ends in .toml")
        });
    }
    let text = input::text(Path::new(name), EXPERIMENT_BYTES_MAX)?;
    Experiment::parse(&text, name).map_err(|error| {
        let failure = Failure::usage(error);
        // A file of the other half of tollgate is easily taken for one of this half.
        match !text.trim().is_empty() && tollgate_gateway::Config::parse(&text, name).is_ok() {
            true => failure.hint(format!("this is a gateway's configuration: tollgate serve {name}")),
            false => failure,
        }
    })
}

/// The experiment on the named subjects, and those of them that are not our own.
fn on_peers(experiment: Experiment, subjects: &[String]) -> Result<(Experiment, Vec<Peer>), Failure> {
    if subjects.is_empty() {
        return Ok((experiment, Vec::new()));
    }
    let (mut names, mut peers) = (Vec::new(), Vec::new());
    for subject in subjects {
        if subject == TOLLGATE {
            names.push(subject.clone());
            continue;
        }
        let peer = Peer::find(subject)
            .map_err(|error| Failure::usage(error).hint("`tollgate list` shows the subjects; a file ends in .toml"))?;
        names.push(peer.name.clone());
        peers.push(peer);
    }
    let experiment =
        experiment.on_subjects(&names).map_err(|error| Failure::usage(format_args!("--subjects: {error}")))?;
    let name = experiment.name.clone();
    let cannot = |peer: &Peer, variant: &Variant| {
        variant.peer.as_ref() == Some(&peer.name) && !peer.can_do(&name, variant.base_name())
    };
    let experiment = experiment.without(|variant| peers.iter().any(|peer| cannot(peer, variant)));
    Ok((experiment, peers))
}

/// The program that serves the built-in subjects: this one.
pub(super) fn serve_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| {
        Failure::failed(format_args!("cannot find this program, which serves the built-in subjects: {error}"))
    })
}

/// All options for the lab; `plan` gives no folder and no seed.
pub(crate) fn run_options(
    selection: &Selection,
    out: Option<PathBuf>,
    seed: Option<u64>,
) -> Result<RunOptions, Failure> {
    let serve_program = serve_program()?;
    let mut experiment = experiment(&selection.experiment)?;
    if selection.subjects.iter().any(|subject| subject.value.starts_with("https://")) {
        experiment = experiment.elsewhere();
    }
    if let Some(url) = &selection.entity_set {
        let into = experiment.into_entity_set(url);
        experiment = into.map_err(|message| Failure::usage(format_args!("--entity-set: {message}")))?;
    }
    if let Some(rate) = selection.rate {
        experiment = experiment.at_rate(rate).map_err(|message| Failure::usage(format_args!("--rate: {message}")))?;
    }
    if let Some(file) = &selection.records {
        let with = experiment.with_records(file);
        experiment = with.map_err(|message| Failure::usage(format_args!("--records: {message}")))?;
    }
    let (experiment, peers) = on_peers(selection.amount.connected(experiment)?, &selection.peers)?;
    Ok(RunOptions {
        experiment,
        peers,
        plan: PlanOptions {
            only: selection.only.clone(),
            levels: (!selection.level.is_empty()).then(|| selection.level.clone()),
            ..selection.amount.plan()
        },
        out,
        subjects: selection.subjects.iter().map(|subject| (subject.name.clone(), subject.value.clone())).collect(),
        serve_arguments: selection.serve_arguments.clone(),
        subject_pids: selection.subject_pids.iter().map(|subject| (subject.name.clone(), subject.value)).collect(),
        own_request: OwnRequest {
            details: selection.details.iter().map(detail).collect::<Result<_, _>>()?,
            leave_out: selection.leave_out.clone(),
            ..selection.request.own(&selection.answers)?
        },
        headers: selection.request.said().into_iter().chain(selection.request.content_type(None)).collect(),
        basic: selection.request.basic.clone().map(|credentials| (credentials.user, credentials.password)),
        tls: selection.tls.settings(),
        may_load: selection.may_load.clone(),
        may_empty: selection.may_empty.clone(),
        link: selection.link,
        database: selection.database.clone(),
        seed,
        command_line: secrets::without_secrets(std::env::args()),
        serve_program,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The place of the entities of a variant.
fn detail(Assignment { name, value }: &Assignment<String>) -> Result<(String, Template), Failure> {
    let template = Template::parse(value).map_err(|error| Failure::usage(format_args!("--detail {name}: {error}")))?;
    let names_any = template.names().next().is_some();
    names_any
        .then_some((name.clone(), template))
        .ok_or_else(|| Failure::usage(format_args!("--detail {name}: no property stands in braces, such as `{{id}}`")))
}

/// A kind of link, or `none`. Under this type name, clap does not treat it as an optional argument.
type Link = Option<LinkMode>;

/// A kind of link by its name.
fn link(name: &str) -> Result<Link, String> {
    match name {
        "none" => Ok(None),
        name => name.parse().map(Some).map_err(|_: String| "expected proxy, tun or none".to_owned()),
    }
}

/// Turns an error without any measurement into a failure, by its cause.
pub(crate) fn failure(error: RunError) -> Failure {
    match error {
        RunError::Usage(_) => Failure::usage(error),
        RunError::Failed(_) => Failure::failed(error),
    }
}

impl Amount {
    /// The amount, of all variants and levels.
    pub(super) fn plan(&self) -> PlanOptions {
        PlanOptions {
            extent: match (self.quick, self.full) {
                (true, _) => Extent::Quick,
                (_, true) => Extent::Full,
                _ => Extent::Default,
            },
            blocks: self.blocks.map(u32::from),
            until_width_ppm: self.until_width,
            equivalence_ppm: self.equivalence,
            ..PlanOptions::default()
        }
    }

    /// The experiment with the requested lifetime of connections.
    pub(super) fn connected(&self, experiment: Experiment) -> Result<Experiment, Failure> {
        let Some(connections) = self.connections else { return Ok(experiment) };
        let on = experiment.on_connections(connections);
        on.map_err(|message| Failure::usage(format_args!("--connections: {message}")))
    }
}

/// Half the width of an interval, in millionths: `2%` is 20,000.
fn width(text: &str) -> Result<u32, String> {
    match share(text)? * 1e6 {
        ppm if ppm >= 1.0 => Ok(ppm.round() as u32),
        _ => Err("expected more than 0%: no interval is of no width".to_owned()),
    }
}
