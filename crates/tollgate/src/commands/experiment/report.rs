//! `tollgate report RUN`: renders a stored run again. It measures nothing and changes nothing in the run's folder.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tollgate_report::{REPORTERS, RenderOptions};

use crate::commands::{output, stored};
use crate::failure::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  tollgate report runs/monday                     the tables, on the terminal
  tollgate report runs/monday -f html -o monday.html
  tollgate report runs/monday -f csv > monday.csv";

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Run folder or result.json
    #[arg(value_name = "RUN")]
    pub(super) run: PathBuf,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "terminal", value_parser = output::formats(REPORTERS))]
    pub(super) format: String,

    /// Write to this file instead of stdout, complete or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

/// Renders the run.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let result = stored::read(&arguments.run)?;
    let render =
        |options: &RenderOptions| tollgate_report::render(&arguments.format, &result, tollgate_lab::page, options);
    output::rendered(arguments.output.as_deref(), out, render)?;
    Ok(Exit::Done)
}
