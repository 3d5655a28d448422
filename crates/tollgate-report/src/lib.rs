//! What is shown of a run: reporters that read a stored result and write text.
//!
//! A reporter measures nothing, computes no toll and opens no file: it renders what `result.json` holds, so that an old
//! run can be shown again at any time.

mod across;
mod chart;
mod csv;
mod distance;
mod encryption;
mod html;
mod inserts;
mod json;
mod jtl;
mod junit;
mod ladder;
mod markdown;
mod marked;
mod mediation;
mod number;
mod peers;
mod scenario;
mod sentence;
mod staged;
mod terminal;
mod thresholds;
mod view;

#[cfg(test)]
mod generated;
#[cfg(test)]
mod tests;

pub use across::{ACROSS_REPORTERS, AcrossReporter, render_across};

use std::io::{self, Write};
use tollgate_facts::results::RunResult;
use tollgate_facts::results::load::QuickResult;

/// Every reporter, in the order in which help lists them.
pub const REPORTERS: &[Reporter] = &[
    terminal::REPORTER,
    html::REPORTER,
    markdown::REPORTER,
    csv::REPORTER,
    jtl::REPORTER,
    json::REPORTER,
    junit::REPORTER,
];

/// The stages of a single load as a table, head and rows; absent of a load that stays as it is.
pub fn load_stages(result: &QuickResult) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let table = result.staged.as_ref().map(staged::of_load)?;
    Some((table.head, table.rows))
}

/// The page of a single load: self-contained, with charts.
pub fn load_page(result: &QuickResult) -> String {
    html::load_page(result)
}

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
    /// Writes it.
    pub render: fn(&RunResult, &mut dyn Write, &RenderOptions) -> io::Result<()>,
}

/// Where the text will be shown; files ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether escape sequences for colours are welcome.
    pub colour: Colour,
    /// Columns of the terminal.
    pub width: usize,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { colour: Colour::Plain, width: 120 }
    }
}

/// Whether escape sequences for colours are welcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// None: a file, a pipe, or `NO_COLOR`.
    Plain,
    /// ANSI colours.
    Ansi,
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

/// Writes `run` as the reporter `name` shows it.
///
/// # Errors
/// [`RenderError::Unknown`] before anything is written, [`RenderError::Write`] when the output fails.
pub fn render(name: &str, run: &RunResult, out: &mut dyn Write, options: &RenderOptions) -> Result<(), RenderError> {
    let reporter = find(name).ok_or_else(|| RenderError::Unknown { name: name.to_owned() })?;
    (reporter.render)(run, out, options)?;
    Ok(())
}
