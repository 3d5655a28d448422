//! What is shown of a run: reporters that read a stored result and write text.
//!
//! A reporter measures nothing, computes no toll and opens no file: it renders what `result.json` holds, so that an old
//! run can be shown again at any time. It knows no kind of experiment: who asks says how the page of a run is built.

mod across;
mod formats;
mod load;

pub use formats::{Colour, RenderOptions};

use std::io::{self, Write};
use tollgate_facts::across::Across;
use tollgate_facts::results::RunResult;
use tollgate_facts::results::load::QuickResult;
use tollgate_page::blocks::{Column, Page};
use tollgate_page::parts::{raw, staged};
use tollgate_page::words::view::View;

/// Every reporter, in the order in which help lists them.
pub const REPORTERS: &[Reporter] = &[
    Reporter {
        name: "terminal",
        also: &["text", "table"],
        extension: "txt",
        about: "table, tolls, footnotes",
        render: |run, page, out, options| formats::terminal::page(&page(run), out, options),
    },
    Reporter {
        name: "html",
        also: &["report"],
        extension: "html",
        about: "self-contained report with charts, to read and to forward",
        render: |run, page, out, _| out.write_all(formats::html::page(&page(run)).as_bytes()),
    },
    Reporter {
        name: "markdown",
        also: &["md"],
        extension: "md",
        about: "table for a README or an issue",
        render: |run, page, out, _| out.write_all(formats::markdown::page(&page(run)).as_bytes()),
    },
    Reporter {
        name: "csv",
        also: &[],
        extension: "csv",
        about: "one row a cell, for a spreadsheet",
        render: |run, _, out, _| out.write_all(formats::csv::text(&raw::table(&View::of(run))).as_bytes()),
    },
    Reporter {
        name: "jtl",
        also: &["jmeter"],
        extension: "jtl",
        about: "for JMeter's report tools",
        render: |run, _, out, _| formats::jtl::run(run, out),
    },
    Reporter {
        name: "json",
        also: &[],
        extension: "json",
        about: "everything, as stored",
        render: |run, _, out, _| writeln!(out, "{}", serde_json::to_string_pretty(run)?),
    },
    Reporter {
        name: "junit",
        also: &[],
        extension: "xml",
        about: "one case a cell, for a build server",
        render: |run, _, out, _| formats::junit::run(run, out),
    },
];

/// Every reporter of runs side by side, in the order in which help lists them.
pub const ACROSS_REPORTERS: &[AcrossReporter] = &[
    AcrossReporter {
        name: "terminal",
        also: &["text", "table"],
        about: "tables",
        render: |across, out, options| formats::terminal::page(&across::page(across), out, options),
    },
    AcrossReporter {
        name: "html",
        also: &["report"],
        about: "self-contained page with overlaid charts",
        render: |across, out, _| out.write_all(formats::html::page(&across::page(across)).as_bytes()),
    },
    AcrossReporter {
        name: "markdown",
        also: &["md"],
        about: "tables for an issue",
        render: |across, out, _| out.write_all(formats::markdown::page(&across::page(across)).as_bytes()),
    },
    AcrossReporter {
        name: "json",
        also: &[],
        about: "everything, for machines",
        render: |across, out, _| writeln!(out, "{}", serde_json::to_string_pretty(across)?),
    },
    AcrossReporter {
        name: "junit",
        also: &[],
        about: "one case a threshold, for a build server",
        render: |across, out, _| formats::junit::across(across, out),
    },
];

/// The stages of a single load as a table, head and rows; absent of a load that stays as it is.
pub fn load_stages(result: &QuickResult) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let table = staged::table(result.staged.as_ref()?);
    let rows = table.rows.iter().map(|row| row.texts().into_iter().map(str::to_owned).collect());
    Some((table.columns.iter().map(Column::text).collect(), rows.collect()))
}

/// The page of a single load: self-contained, with charts.
pub fn load_page(result: &QuickResult) -> String {
    formats::html::page(&load::page(result))
}

/// Builds the page of a run, whatever its kind.
pub type Paged = fn(&RunResult) -> Page;

/// One way of showing a run.
#[derive(Debug, Clone, Copy)]
pub struct Reporter {
    /// As in `tollgate report -f NAME`.
    pub name: &'static str,
    /// Other names that are understood.
    pub also: &'static [&'static str],
    /// Extension of a file that holds it.
    pub extension: &'static str,
    /// What it is good for, in a few words.
    pub about: &'static str,
    render: fn(&RunResult, Paged, &mut dyn Write, &RenderOptions) -> io::Result<()>,
}

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

/// Why nothing, or not everything, was written.
#[derive(Debug)]
pub enum RenderError {
    /// The caller asked for a reporter that does not exist.
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// The output did not take it.
    Write(io::Error),
}

impl std::fmt::Display for RenderError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown { name } => {
                let known: Vec<&str> = REPORTERS.iter().map(|reporter| reporter.name).collect();
                write!(out, "unknown report format {name:?}: expected one of {}", known.join(", "))
            }
            Self::Write(error) => write!(out, "the report could not be written: {error}"),
        }
    }
}

impl std::error::Error for RenderError {}

impl From<io::Error> for RenderError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// Finds a reporter by its name or one of its other names.
pub fn find(name: &str) -> Option<&'static Reporter> {
    REPORTERS.iter().find(|reporter| reporter.name == name || reporter.also.contains(&name))
}

/// Writes `run` as the reporter `name` shows it; `page` builds its page, for those that show one.
///
/// # Errors
/// [`RenderError::Unknown`] before anything is written, [`RenderError::Write`] when the output fails.
pub fn render(
    name: &str,
    run: &RunResult,
    page: Paged,
    out: &mut dyn Write,
    options: &RenderOptions,
) -> Result<(), RenderError> {
    let reporter = find(name).ok_or_else(|| RenderError::Unknown { name: name.to_owned() })?;
    (reporter.render)(run, page, out, options)?;
    Ok(())
}

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
