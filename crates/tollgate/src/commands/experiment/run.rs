//! `tollgate run`: passes the experiment to the lab, shows its progress, and prints the result.
//!
//! Measuring (the lab) and rendering (the lab's reporters, from the stored result) are not here.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use tollgate_facts::results::{RunResult, TollVerdict, Verdict};
use tollgate_lab::experiment::Location;
use tollgate_lab::run::{Ending, RunOptions, StopFlag};
use tollgate_report::{self, RenderOptions};

use super::expected::{self, Expected};
use super::selection::{self, Selection};
use super::watched::{check_named, watch_local};
use crate::commands::output;
use crate::failure::{Exit, Failure};
use crate::progress::{Aim, LiveView, Shown};
use crate::signals;

const EXAMPLES: &str = "\
Examples:
  tollgate run protocol --only odata-v4-json --level 1,20
  tollgate run protocol --until-width 2%         as many blocks as it takes for tolls within ± 2 %, at most 64
  tollgate run protocol --quick --out runs/monday --json > monday.json
  tollgate run encryption --subject http=http://localhost:9000 --subject https=https://localhost:9443
  tollgate run protocol --quick --threshold 'p99(rest-json, 20) < 5 ms' --threshold 'toll.cpu < 2' --junit run.xml
  tollgate run mine.toml --subject theirs=http://127.0.0.1:9000/items --subject-pid theirs=4711

Results go to stdout, progress to stderr (a line every 10 s where that is no terminal). The run's folder holds result.json, written after every trial, report.html and the histograms. Ctrl-C saves what is done, marks it partial and exits with 130.";

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) selection: Selection,

    #[command(flatten)]
    pub(super) expected: Expected,

    /// Seed of the random order [default: random, stored with the result]
    #[arg(long, value_name = "N", help_heading = "How much")]
    pub(super) seed: Option<u64>,

    /// Folder for the result [default: runs/<experiment and time>]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(super) out: Option<PathBuf>,

    /// Print result.json to stdout instead of the table
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) shown: Shown,
}

/// The report's name in the run's folder.
const REPORT: &str = "report.html";

/// Runs the experiment.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let mut options = selection::run_options(&arguments.selection, arguments.out.clone(), arguments.seed)?;
    // What is wrong is said before anything else.
    check_named(&options, "--subject-pid")?;
    tollgate_lab::run::check(&options).map_err(selection::failure)?;
    let of_file = options.experiment.variants.iter().filter_map(|variant| match &variant.at {
        Location::Url(url) => Some((variant.name.clone(), url.clone())),
        Location::Gateway(_) | Location::Here(_) => None,
    });
    let asked: Vec<_> = options.subjects.iter().cloned().chain(of_file).collect();
    if !options.experiment.is_set_by_a_command() {
        watch_local(&mut options, asked, "--subject-pid", arguments.shown.quiet)?;
    }
    carried_out(options, &arguments.expected, None, (arguments.json, arguments.shown), out)
}

/// Runs the experiment of these options, and prints the result.
pub(super) fn carried_out(
    mut options: RunOptions,
    expected: &Expected,
    html: Option<&Path>,
    (as_json, shown): (bool, Shown),
    out: &mut dyn Write,
) -> Result<Exit, Failure> {
    let thresholds = expected.read()?;
    let plan = tollgate_lab::run::check(&options).map_err(selection::failure)?;
    options.experiment.expect(thresholds, &plan.variants, &plan.levels).map_err(|error| expected::failure(&error))?;
    let stop = StopFlag::new();
    let asked = stop.clone();
    signals::on_stop(move || asked.stop())?;

    let view = LiveView::begin(shown, options.experiment.name.clone(), Aim::Plan)?;
    let outcome = tollgate_lab::run::run(&options, &view, &stop);
    view.end();
    let outcome = outcome.map_err(selection::failure)?;

    let report = outcome.directory.join(REPORT);
    let rendered = |format: &str, options: &RenderOptions| {
        tollgate_report::render(format, &outcome.result, tollgate_lab::page, options)
    };
    let page = rendered("html", &RenderOptions::default());
    let pages = [Some(&*report), html].into_iter().flatten().map(|path| (path, page.clone()));
    let junit = expected.junit.as_deref().map(|path| (path, rendered("junit", &RenderOptions::default())));
    let mut files = pages.chain(junit);
    let filed = files.try_for_each(|(path, text)| output::whole_file(path, text.as_bytes()));
    // The table comes even where no file can be written.
    let written = match as_json {
        true => out.write_all(rendered("json", &RenderOptions::default()).as_bytes()),
        false => {
            let text = rendered("terminal", &output::render_options());
            let report = if filed.is_ok() { format!("\nreport  {}", report.display()) } else { String::new() };
            writeln!(out, "{text}{report}")
        }
    };
    Failure::unless_closed(written.and_then(|()| out.flush()))?;
    if outcome.ending != Ending::LabFailed {
        filed?;
    }
    ended(&outcome.result, outcome.ending)
}

/// Whether any figure of the run is refused.
fn is_refused(result: &RunResult) -> bool {
    result.validity.iter().any(|doubt| doubt.verdict == Verdict::Refused)
        || result.tolls.iter().any(|toll| toll.verdict == TollVerdict::Refused)
}

fn ended(result: &RunResult, ending: Ending) -> Result<Exit, Failure> {
    let reason = || result.reason.clone().unwrap_or_else(|| "the run failed".to_owned());
    match ending {
        Ending::Interrupted => Ok(Exit::Interrupted),
        Ending::SubjectFailed => Err(Failure::failed(reason()).hint("what was measured before stands, marked partial")),
        Ending::LabFailed => Err(Failure::failed(reason()).hint("what was measured before is in the table above")),
        Ending::Complete if is_refused(result) => Ok(expected::exit(&result.thresholds, Exit::Refused)),
        Ending::Complete => Ok(expected::exit(&result.thresholds, Exit::Done)),
    }
}
