//! `tollgate report RUN`: renders a stored run again. It measures nothing and changes nothing in the run's folder.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use tollgate_lab::report;
use tollgate_lab::results::{self, RunResult};

use super::{input, output};
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
        |reporter: &report::Reporter| PossibleValue::new(reporter.name).aliases(reporter.also).help(reporter.about);
    PossibleValuesParser::new(report::REPORTERS.iter().map(named))
}

/// The result's name in a run's folder.
const RESULT: &str = "result.json";

/// The largest result that is read: a full run of the largest experiment has a few megabytes.
const RESULT_BYTES_MAX: u64 = 256 << 20;

/// Renders the run.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let result = read(&arguments.run)?;
    match &arguments.output {
        Some(path) => {
            let mut text = Vec::new();
            let options = report::RenderOptions::default();
            report::render(&arguments.format, &result, &mut text, &options).map_err(output::render_failure)?;
            output::whole_file(path, &text)?;
        }
        None => {
            report::render(&arguments.format, &result, out, &output::render_options())
                .map_err(output::render_failure)?;
            out.flush().map_err(Failure::output)?;
        }
    }
    Ok(Exit::Done)
}

fn read(run: &Path) -> Result<RunResult, Failure> {
    let path: PathBuf = if run.is_dir() { run.join(RESULT) } else { run.to_owned() };
    let not_a_run = |failure: Failure| failure.hint("RUN is a folder that `tollgate run` wrote, or its result.json");
    let unreadable = |reason: &dyn fmt::Display| not_a_run(input::unreadable(&path, reason));
    let text = input::text(&path, RESULT_BYTES_MAX).map_err(not_a_run)?;
    // The version is looked at first: another one may differ in any other field.
    let format: FormatOnly = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    if !(results::FORMAT_OLDEST..=results::FORMAT).contains(&format.format) {
        let reason = format!("its format is {}, this tollgate reads {}", format.format, results::FORMAT);
        return Err(unreadable(&reason));
    }
    serde_json::from_str(&text).map_err(|error| unreadable(&error))
}

#[derive(serde::Deserialize)]
struct FormatOnly {
    format: u32,
}
