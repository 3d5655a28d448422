//! Runs side by side, as reporters show them: terminal, HTML, Markdown, JSON and JUnit.
//!
//! Reporters render what [`tollgate_facts::across`] found; they compute no ratio.

mod markdown;
mod tables;
mod terminal;
#[cfg(test)]
mod tests;

use super::chart::escape;
use super::{RenderError, RenderOptions, junit};
use std::io::{self, Write};
use tollgate_facts::across::Across;
use tollgate_facts::results::State;

pub(crate) use tables::*;

/// One way of showing runs side by side.
#[derive(Debug, Clone, Copy)]
pub struct AcrossReporter {
    /// As in `tollgate compare -f NAME`.
    pub name: &'static str,
    /// Other names that are understood.
    pub also: &'static [&'static str],
    /// What it is good for, in a few words.
    pub about: &'static str,
    render: fn(&Across, &mut dyn Write, &RenderOptions) -> io::Result<()>,
}

/// Every reporter, in the order in which help lists them.
pub const ACROSS_REPORTERS: &[AcrossReporter] = &[
    AcrossReporter { name: "terminal", also: &["text", "table"], about: "tables", render: terminal::render },
    AcrossReporter {
        name: "html",
        also: &["report"],
        about: "self-contained page with overlaid charts",
        render: super::html::across::render,
    },
    AcrossReporter { name: "markdown", also: &["md"], about: "tables for an issue", render: markdown::render },
    AcrossReporter { name: "json", also: &[], about: "everything, for machines", render: json },
    AcrossReporter { name: "junit", also: &[], about: "one case a threshold, for a build server", render: junit },
];

/// Writes runs side by side as the reporter `name` shows them.
///
/// # Errors
/// [`RenderError::Unknown`] before anything is written, [`RenderError::Write`] when the output fails.
pub fn render_across(
    name: &str,
    across: &Across,
    out: &mut dyn Write,
    options: &RenderOptions,
) -> Result<(), RenderError> {
    let is_it = |reporter: &&AcrossReporter| reporter.name == name || reporter.also.contains(&name);
    let reporter = ACROSS_REPORTERS.iter().find(is_it).ok_or_else(|| RenderError::Unknown { name: name.to_owned() })?;
    (reporter.render)(across, out, options)?;
    Ok(())
}

fn json(across: &Across, out: &mut dyn Write, _: &RenderOptions) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, across)?;
    out.write_all(b"\n")
}

/// One case for each run, which is in error where it is not whole, and one for each threshold.
fn junit(across: &Across, out: &mut dyn Write, _: &RenderOptions) -> io::Result<()> {
    let suite = escape(&across.experiment.name);
    let errors = across.runs.iter().filter(|run| run.state != State::Complete).count();
    let failures = junit::failing(&across.thresholds);
    let cases = across.runs.len() + across.thresholds.len();
    let started = across.runs.first().map_or("", |run| run.started.as_str());
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites><testsuite name=\"{suite}\" tests=\"{cases}\" failures=\"{failures}\" errors=\"{errors}\" \
         timestamp=\"{}\">",
        escape(started)
    )?;
    for run in &across.runs {
        let name = escape(&format!("run {} is whole: {}", run.number, run.name));
        write!(out, "<testcase classname=\"{suite}\" name=\"{name}\" time=\"0\">")?;
        if let Some(why) = incompleteness(run) {
            write!(out, "<error message=\"{}\"/>", escape(&why))?;
        }
        writeln!(out, "</testcase>")?;
    }
    junit::threshold_cases(&across.experiment, &across.thresholds, &suite, out)?;
    writeln!(out, "</testsuite></testsuites>")
}
