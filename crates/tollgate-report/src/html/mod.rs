//! `report.html`: one file that answers the question, shows what the answer rests on, and says how to doubt it.
//!
//! It needs no network, no script and no other file. Every picture has its table and its CSV beside it. It is written
//! as well-formed XML, so that a test can hold it against a parser.

pub(super) mod across;
mod afar;
mod answer;
mod cells;
mod distance;
mod encryption;
mod figures;
mod inserts;
mod ladder;
mod load;
mod mediation;
mod method;
mod parts;
mod peers;
mod published;
mod scenario;
mod staged;
#[cfg(test)]
mod tests;
mod watched;

use super::sentence;
use super::view::View;
use super::{RenderOptions, Reporter};
use parts::escape;
use std::io::{self, Write};
use tollgate_facts::results::RunResult;

pub(super) use load::load_page;

pub(super) const REPORTER: Reporter = Reporter {
    name: "html",
    also: &["report"],
    extension: "html",
    about: "self-contained report with charts, to read and to forward",
    render,
};

const STYLE: &str = include_str!("style.css");

/// One section of the page: absent when the run holds nothing for it.
type Section = fn(&View<'_>) -> Option<String>;

/// The sections in the order of the page: the answer first, then what it rests on, then how it came about.
const SECTIONS: &[Section] = &[
    answer::head,        // the question, the answer with its interval, whether the run is whole
    distance::section,   // of distance: the line, overheads, time against what a link adds
    inserts::section,    // of inserts: time per record, the wide tables, the fitted costs
    answer::cards,       // each variant's toll, to be read in a glance
    ladder::section,     // of limits: the time over work processes, what binds, the gateways over time
    afar::section,       // of first requests over lines of several lengths: time against the length
    encryption::section, // of encryption: distributions, messages on the wire
    figures::tolls,      // the same as a picture, with the table of every level
    mediation::charts,   // of mediation: throughput, memory and response times over the users
    mediation::tables,   // of mediation: payloads, memory, the law, warm-ups
    peers::section,      // what peers took by what tollgate took
    encryption::tables,  // of encryption: each level, first requests, peaks, speeds
    staged::section,     // of stages: each of them, and the course over time
    scenario::section,   // of scenarios: each step
    cells::table,        // every figure, and the doubts beside them
    figures::charts,     // time, throughput, distribution
    watched::section,    // CPU, memory and work processes over time
    thresholds,          // what was expected, and what decided
    published::table,    // what others published for the same question
    method::section,     // how it was measured, what is hidden, how to repeat it
];

fn thresholds(view: &View<'_>) -> Option<String> {
    across::section_of_thresholds(&view.run.experiment, &view.run.thresholds)
}

fn render(run: &RunResult, out: &mut dyn Write, _: &RenderOptions) -> io::Result<()> {
    let view = View::of(run);
    let title = format!("{}: {}", run.experiment.name, run.experiment.question);
    let description = sentence::answer(run, "×");
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta name=\"generator\" content=\"tollgate {}\"/>\n\
         <meta name=\"description\" content=\"{}\"/>\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        escape(&run.version),
        escape(&description),
        escape(&title)
    )?;
    for section in SECTIONS {
        if let Some(text) = section(&view) {
            writeln!(out, "{text}")?;
        }
    }
    writeln!(out, "</main>\n</body>\n</html>")
}
