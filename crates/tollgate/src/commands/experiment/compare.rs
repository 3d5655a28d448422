//! `tollgate compare RUN RUN…`: puts stored runs side by side. It measures nothing and changes nothing in their
//! folders.
//!
//! Ratios and their intervals (the lab), and their rendering (the lab's reporters) are not here.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tollgate_facts::across::{self, Named};
use tollgate_facts::results::RunResult;
use tollgate_facts::threshold::{self, Runs};
use tollgate_report::{ACROSS_REPORTERS, RenderOptions};

use super::expected::{self, Expected};
use crate::commands::{output, stored};
use crate::failure::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  tollgate compare runs/native runs/vm                     the same experiment on two machines
  tollgate compare runs/monday runs/friday -f html -o week.html
  tollgate compare runs/main runs/branch --threshold 'toll-ratio.cpu < 1.05' --junit compare.xml

Ratios are each further run by the first one. They are unpaired: times and machines are part of them. The ratio of two tolls divides what slows variant and baseline alike away.";

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Run folders or result.json files; the first is the reference
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub(super) runs: Vec<PathBuf>,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "terminal", value_parser = output::formats(ACROSS_REPORTERS))]
    pub(super) format: String,

    /// Write to this file instead of stdout, complete or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) expected: Expected,
}

/// Compares the runs side by side.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let thresholds = arguments.expected.read()?;
    let runs = arguments.runs.iter().map(|run| stored::read(run)).collect::<Result<Vec<RunResult>, Failure>>()?;
    let names: Vec<String> = arguments.runs.iter().map(|run| run.display().to_string()).collect();
    let named: Vec<Named<'_>> = names.iter().zip(&runs).map(|(name, run)| Named { name, run }).collect();
    let mut found = across::across(&named).map_err(Failure::usage)?;

    let experiment = &found.experiment;
    let variants: Vec<(&str, bool)> =
        experiment.variants.iter().map(|variant| (variant.name.as_str(), variant.baseline.is_some())).collect();
    for threshold in &thresholds {
        threshold.check(&variants, &experiment.levels, Runs::Several).map_err(|error| expected::failure(&error))?;
    }
    found.thresholds = threshold::judge_across(&thresholds, &found, &runs.iter().collect::<Vec<_>>());

    let render = |format: &str, options: &RenderOptions| tollgate_report::render_across(format, &found, options);
    if let Some(path) = &arguments.expected.junit {
        output::whole_file(path, render("junit", &RenderOptions::default()).as_bytes())?;
    }
    output::rendered(arguments.output.as_deref(), out, |options| render(&arguments.format, options))?;
    Ok(expected::exit(&found.thresholds, Exit::Done))
}
