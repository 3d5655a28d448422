//! `tollgate report RUN`: renders a stored run again. It measures nothing and changes nothing in the run's folder.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use tollgate_facts::results::RunResult;
use tollgate_report::Reporter;

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
    /// A run's folder, or its result.json
    #[arg(value_name = "RUN")]
    pub(super) run: PathBuf,

    /// In which format
    #[arg(short, long, value_name = "FORMAT", default_value = "terminal", value_parser = formats())]
    pub(super) format: String,

    /// Write to this file in the place of stdout; it appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

/// The lab's own list of reporters, so that a new one needs no line here.
fn formats() -> PossibleValuesParser {
    let named =
        |reporter: &Reporter<RunResult>| PossibleValue::new(reporter.name).aliases(reporter.also).help(reporter.about);
    PossibleValuesParser::new(tollgate_report::REPORTERS.iter().map(named))
}

/// Renders the run.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let result = stored::read(&arguments.run)?;
    let rendered = |options| {
        tollgate_report::render(&arguments.format, &result, tollgate_lab::page, options).map_err(Failure::usage)
    };
    match &arguments.output {
        Some(path) => {
            let text = rendered(&tollgate_report::RenderOptions::default())?;
            output::whole_file(path, text.as_bytes())?;
        }
        None => {
            let text = rendered(&output::render_options())?;
            out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::output)?;
        }
    }
    Ok(Exit::Done)
}
