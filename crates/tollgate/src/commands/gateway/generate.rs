//! `tollgate generate`: the gateway's batch, with its progress on stderr and its figures on stdout.
//!
//! The batch itself and its configuration are not here.

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, value_parser};
use tollgate_gateway::config::{self, Generate, Location};
use tollgate_gateway::generate::{Batch, BatchError, Ended, Report, Stop, make_sample};

use crate::commands::input;
use crate::failure::{Exit, Failure};
use crate::progress::BatchLine;
use crate::signals;

const EXAMPLES: &str = "\
Examples:
  tollgate generate --database postgres://me@localhost/test --sample 500 --processes 6
                                             makes a sample of 500 documents and generates from it
  tollgate generate --database postgres://me@localhost/test
                                             goes on with what is left of it
  tollgate generate generate.toml --processes 6 --json
                                             your own tables (examples/generate.toml says how)

Each document is generated exactly once, also when the batch is killed and begun again, or when two batches run at once.
One with which something is wrong is set aside with its error, and the rest goes on. Ctrl-C and SIGTERM let the documents in hand finish.

Exit codes: 0 no document waits any more, 1 the database or this machine failed, or another session holds documents, 2 usage or configuration, 130 interrupted.";

/// The largest configuration file that is read.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The variable that names the database where the command line does not.
const DATABASE_VARIABLE: &str = "TOLLGATE_DATABASE";

/// Most documents of a sample.
const SAMPLE_MAX: u64 = 10_000_000;

/// Default number of work processes: that of the published measurement of such a batch.
const PROCESSES: u32 = 6;

/// Arguments of `generate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A configuration with a `[generate]` (`tollgate schema config`); without one, the sample
    #[arg(value_name = "CONFIG.toml")]
    pub(super) config: Option<PathBuf>,

    /// The database: postgres://USER@HOST/DATABASE or sqlite:FILE; it comes before the variable TOLLGATE_DATABASE, which
    /// others do not see with a password in it, and both before what stands in the configuration
    #[arg(long, value_name = "URL")]
    pub(super) database: Option<String>,

    /// Work processes: documents in hand at the same time, each with a connection to the database
    #[arg(short = 'p', long, value_name = "N", default_value_t = PROCESSES, value_parser = value_parser!(u32).range(1..=config::WORK_PROCESSES_MAX))]
    pub(super) processes: u32,

    /// Make the sample anew in that database, with so many documents, before the batch begins
    #[arg(long, value_name = "N", conflicts_with = "config", value_parser = value_parser!(u64).range(1..=SAMPLE_MAX))]
    pub(super) sample: Option<u64>,

    /// Print the figures as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs the batch.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let generate = arguments.config.as_deref().map(read).transpose()?;
    // What clap would say, but for the value: it may hold a password.
    let parsed =
        |from: &str, url: &str| Location::parse(url).map_err(|wrong| Failure::usage(format_args!("{from}: {wrong}")));
    let stated = match (&arguments.database, std::env::var(DATABASE_VARIABLE)) {
        (Some(url), _) => Some(parsed("--database", url)?),
        (None, Ok(url)) => Some(parsed(DATABASE_VARIABLE, &url)?),
        (None, Err(_)) => generate.as_ref().and_then(|generate| generate.database.clone()),
    };
    let location = stated.ok_or_else(|| {
        Failure::usage("which database?")
            .hint("say `--database postgres://USER@HOST/DATABASE` or `--database sqlite:FILE`")
    })?;
    if let Some(documents) = arguments.sample {
        make_sample(&location, documents).map_err(|error| told(&error, &location))?;
    }
    let batch = match &generate {
        Some(generate) => Batch::new(&location, generate),
        None => Batch::of_sample(&location),
    };
    let batch = batch.map_err(|error| told(&error, &location))?;
    let stop = Stop::default();
    let asked = stop.clone();
    signals::on_stop(move || asked.begin())?;
    let line = RefCell::new(BatchLine::on_stderr());
    let report = batch.run(arguments.processes as usize, &stop, move |progress| line.borrow_mut().draw(progress));
    let report = report.map_err(|error| told(&error, &location))?;
    write(&report, arguments.json, out).map_err(Failure::output)?;
    match (report.ended, report.left) {
        (Ended::Complete, _) => Ok(Exit::Done),
        (Ended::Interrupted, left) => {
            let left = left.map_or_else(|| "nobody knows how many".to_owned(), |left| left.to_string());
            // Where nobody reads stderr, there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "tollgate: interrupted; {left} documents are left for the next time");
            Ok(Exit::Interrupted)
        }
        (Ended::HeldElsewhere, left) => {
            let left = left.unwrap_or_default();
            Err(Failure::failed(format_args!(
                "{location}: {left} documents wait still, and another session holds them"
            ))
            .hint("another batch may be at work: begin it again when that has ended"))
        }
        (Ended::Failed, _) => {
            let reason = report.reason.unwrap_or_default();
            Err(Failure::failed(format_args!("{location}: {reason}"))
                .hint("nothing is lost: begin it again when that is set right, and it goes on with what is left"))
        }
    }
}

fn read(path: &Path) -> Result<Generate, Failure> {
    let name = path.display().to_string();
    let found = Generate::parse(&input::text(path, CONFIG_BYTES_MAX)?, &name).map_err(Failure::usage)?;
    found.ok_or_else(|| Failure::usage(format_args!("{name} has no `[generate]`")))
}

fn told(error: &BatchError, location: &Location) -> Failure {
    match error {
        BatchError::Config(_) => Failure::usage(error),
        BatchError::Location(_) => Failure::usage(format_args!("--database: {error}")),
        BatchError::NoSample => {
            Failure::usage(format_args!("{location}: {error}, and no configuration names other tables"))
                .hint("`--sample 500` makes one of 500 documents")
        }
        BatchError::Database(_) | BatchError::Machine(_) => Failure::failed(format_args!("{location}: {error}")),
    }
}

fn write(report: &Report, json: bool, out: &mut dyn Write) -> std::io::Result<()> {
    if json {
        let text = serde_json::to_string_pretty(report).map_err(std::io::Error::other)?;
        writeln!(out, "{text}")?;
        return out.flush();
    }
    let seconds = |us: u64| us as f64 / 1e6;
    let whole = (report.compute_us + report.database_us + report.waiting_us).max(1) as f64;
    let mut row = |name: &str, value: String| writeln!(out, "{name:<24} {value}");
    row("documents", format!("{} by {} work processes", report.documents, report.processes))?;
    row("stored", report.stored.to_string())?;
    row("set aside", report.set_aside.to_string())?;
    row("left", report.left.map_or_else(|| "?".to_owned(), |left| left.to_string()))?;
    row("time", format!("{:.3} s, {:.1} documents/s", report.batch_ms / 1e3, report.documents_per_second))?;
    for (name, us) in [
        ("  computing", report.compute_us),
        ("  database", report.database_us),
        ("  waiting for a core", report.waiting_us),
    ] {
        row(name, format!("{:5.1} %  {:.3} s", 100.0 * us as f64 / whole, seconds(us)))?;
    }
    row("CPU", format!("{:.3} s", seconds(report.cpu_us)))?;
    row(
        "round trips",
        format!(
            "{} for documents, {:.2} each, and {} besides",
            report.round_trips, report.round_trips_per_document, report.round_trips_besides
        ),
    )?;
    row("connecting", format!("{:.1} ms before that", report.connect_ms))?;
    if report.reconnects > 0 {
        row("reconnected", format!("{} times", report.reconnects))?;
    }
    for set_aside in &report.first_errors {
        writeln!(out, "set aside {}: {}", set_aside.key, set_aside.error)?;
    }
    let more = report.set_aside.saturating_sub(report.first_errors.len() as u64);
    if more > 0 {
        writeln!(out, "and {more} more, each with its error beside it in the database")?;
    }
    out.flush()
}
