//! Reports of a run: reporters read a stored result and write text.
//!
//! A reporter measures nothing, computes no toll and opens no file: it renders what `result.json` contains, so that an
//! old run can be shown again at any time. It knows no kind of experiment: the caller supplies the function that builds
//! the page.

mod across;
mod formats;
mod load;

pub use formats::{Colour, RenderOptions};

use serde::Serialize;
use tollgate_facts::across::Across;
use tollgate_facts::results::RunResult;
use tollgate_facts::results::load::QuickResult;
use tollgate_page::blocks::{Column, Page, Table};
use tollgate_page::parts::{staged, steps};

/// Every reporter, in the order in which help lists them.
pub const REPORTERS: &[Reporter<RunResult>] = &[
    Reporter::page("terminal", &["text", "table"], "table, tolls, footnotes", formats::terminal::text),
    Reporter::page(
        "html",
        &["report"],
        "self-contained report with charts, to read and to forward",
        formats::html::text,
    ),
    Reporter::page("markdown", &["md"], "table for a README or an issue", formats::markdown::text),
    Reporter::whole("csv", &[], "one row a cell, for a spreadsheet", formats::csv::run),
    Reporter::whole("jtl", &["jmeter"], "for JMeter's report tools", formats::jtl::run),
    Reporter::whole("json", &[], "everything, as stored", json),
    Reporter::whole("junit", &[], "one case a cell, for a build server", formats::junit::run),
];

/// Every reporter of runs side by side, in the order in which help lists them.
pub const ACROSS_REPORTERS: &[Reporter<Across>] = &[
    Reporter::page("terminal", &["text", "table"], "tables", formats::terminal::text),
    Reporter::page("html", &["report"], "self-contained page with overlaid charts", formats::html::text),
    Reporter::page("markdown", &["md"], "tables for an issue", formats::markdown::text),
    Reporter::whole("json", &[], "everything, for machines", json),
    Reporter::whole("junit", &[], "one case a threshold, for a build server", formats::junit::across),
];

fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("keys of results are text, and nothing in them refuses to be written")
        + "\n"
}

/// The stages of a single load as a table, head and rows; absent without stages.
pub fn load_stages(result: &QuickResult) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    Some(texts(&staged::table(result.staged.as_ref()?)))
}

/// The iterations and steps of a single load in the same way; absent without a scenario.
pub fn load_steps(result: &QuickResult) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    Some(texts(&steps::of_load(result.played.as_ref()?)))
}

/// Head and rows of a table.
fn texts(table: &Table) -> (Vec<String>, Vec<Vec<String>>) {
    let rows = table.rows.iter().map(|row| row.texts().into_iter().map(str::to_owned).collect());
    (table.columns.iter().map(Column::text).collect(), rows.collect())
}

/// The page of a single load: self-contained, with charts.
pub fn load_page(result: &QuickResult) -> String {
    formats::html::text(&load::page(result), &RenderOptions::default())
}

/// One way of showing a run, or runs side by side.
#[derive(Debug)]
pub struct Reporter<T: 'static> {
    /// Name, as in `tollgate report -f NAME`.
    pub name: &'static str,
    /// Other accepted names.
    pub also: &'static [&'static str],
    /// Its purpose, in a few words.
    pub about: &'static str,
    shows: Shows<T>,
}

/// The output function of a reporter.
#[derive(Debug)]
enum Shows<T: 'static> {
    Page(WritePage),
    Whole(fn(&T) -> String),
}

type WritePage = fn(&Page, &RenderOptions) -> String;
type Names = &'static [&'static str];

impl<T> Reporter<T> {
    const fn page(name: &'static str, also: Names, about: &'static str, write: WritePage) -> Self {
        Self { name, also, about, shows: Shows::Page(write) }
    }

    const fn whole(name: &'static str, also: Names, about: &'static str, write: fn(&T) -> String) -> Self {
        Self { name, also, about, shows: Shows::Whole(write) }
    }
}

/// `run` as the reporter `name` shows it; `page` builds its page, for those that show one.
///
/// # Panics
/// Where none of [`REPORTERS`] has that name.
pub fn render(name: &str, run: &RunResult, page: fn(&RunResult) -> Page, options: &RenderOptions) -> String {
    shown(REPORTERS, name, run, page, options)
}

/// Runs side by side as the reporter `name` shows them.
///
/// # Panics
/// Where none of [`ACROSS_REPORTERS`] has that name.
pub fn render_across(name: &str, across: &Across, options: &RenderOptions) -> String {
    shown(ACROSS_REPORTERS, name, across, across::page, options)
}

fn shown<T>(all: &[Reporter<T>], name: &str, of: &T, page: fn(&T) -> Page, options: &RenderOptions) -> String {
    let is_it = |reporter: &&Reporter<T>| reporter.name == name || reporter.also.contains(&name);
    match all.iter().find(is_it).expect("a name is taken from the list").shows {
        Shows::Page(write) => write(&page(of), options),
        Shows::Whole(write) => write(of),
    }
}
