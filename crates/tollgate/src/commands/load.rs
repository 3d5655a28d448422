//! `tollgate load`: one URL under load, with ApacheBench's letters and a text laid out as its users and their scripts know
//! it.
//!
//! Deliberately not here: the load itself, which is the lab's, on the same engine as the experiments.

mod arguments;
mod asked;
mod text;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tollgate_facts::results::Verdict;
use tollgate_facts::results::load::QuickResult;
use tollgate_lab::run::{RunError, StopFlag};
use tollgate_lab::single::export;
use tollgate_lab::single::{Quick, quick_recorded};

pub(crate) use arguments::Arguments;

use crate::failure::{Exit, Failure};
use crate::signals;

/// From this verbosity on the first request and its answer are shown.
const SHOWN_FROM: u8 = 2;

/// Loads the URL and prints the figures. Failed requests make the exit code 1, refused figures 3, both after the figures.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    refuse(arguments)?;
    let load = asked::quick_load(arguments)?;
    // Before anything is asked: nobody wants to load for an hour and then be told that a folder is missing.
    let files = Files::create(arguments)?;
    let stop = StopFlag::new();
    let asked = stop.clone();
    signals::on_stop(move || asked.stop())?;
    let quick = quick_recorded(&load, &stop).map_err(|error| match error {
        RunError::Usage(_) => Failure::usage(error),
        RunError::Failed(_) => Failure::failed(error),
    })?;
    if arguments.verbosity >= SHOWN_FROM {
        show_first(&quick, &mut io::stderr().lock()).map_err(Failure::output)?;
    }
    let written = if arguments.json {
        serde_json::to_writer_pretty(&mut *out, &quick.result).map_err(io::Error::from).and_then(|()| writeln!(out))
    } else {
        text::write(&quick.result, &text::Layout::of(arguments), out)
    };
    Failure::unless_closed(written.and_then(|()| out.flush()))?;
    files.write(&quick)?;
    ended(&quick.result)
}

/// Letters of ab that are not taken, each with what does the same.
fn refuse(arguments: &Arguments) -> Result<(), Failure> {
    let tables = [arguments.html_tables, arguments.table.is_some(), arguments.row.is_some(), arguments.cell.is_some()];
    if tables.contains(&true) {
        let letters = "-w, -x, -y and -z (HTML tables) are not written";
        return Err(Failure::usage(letters).hint("--html FILE writes a whole page with charts"));
    }
    Ok(())
}

/// Writes what was found in one form.
type Writer = fn(&Quick, &mut dyn Write) -> io::Result<()>;

/// The files that are written at the end, open from the beginning.
struct Files<'a> {
    files: Vec<(&'a Path, File, Writer)>,
}

impl<'a> Files<'a> {
    fn create(arguments: &'a Arguments) -> Result<Files<'a>, Failure> {
        type Writer = fn(&Quick, &mut dyn Write) -> io::Result<()>;
        let asked: [(&Option<_>, Writer); 4] = [
            (&arguments.csv, export::percentages),
            (&arguments.gnuplot, export::gnuplot),
            (&arguments.hlog, export::histograms),
            (&arguments.html, |quick, out| out.write_all(tollgate_report::load_page(&quick.result).as_bytes())),
        ];
        let mut files = Vec::new();
        for (path, writer) in asked {
            let Some(path) = path else { continue };
            let file = File::create(path)
                .map_err(|error| Failure::usage(format_args!("cannot write {}: {error}", path.display())))?;
            files.push((path.as_path(), file, writer));
        }
        Ok(Files { files })
    }

    fn write(self, quick: &Quick) -> Result<(), Failure> {
        for (path, file, writer) in self.files {
            let mut out = BufWriter::new(file);
            let written = writer(quick, &mut out).and_then(|()| out.flush());
            written.map_err(|error| Failure::failed(format_args!("cannot write {}: {error}", path.display())))?;
        }
        Ok(())
    }
}

/// The first request and its answer without their bodies; what may be a secret is not shown.
fn show_first(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    let first = quick.recorder.detail.as_ref().and_then(|detail| detail.first.as_ref());
    let Some(first) = first else { return writeln!(out, "no request was answered") };
    for line in first.request_head.lines() {
        match line.split_once(": ") {
            Some((name, _)) if is_secret(name) => writeln!(out, "> {name}: …")?,
            _ => writeln!(out, "> {line}")?,
        }
    }
    first.head.lines().try_for_each(|line| match line.split_once(": ") {
        Some((name, _)) if is_secret(name) => writeln!(out, "< {name}: …"),
        _ => writeln!(out, "< {line}"),
    })?;
    writeln!(out, "< ({} bytes)", first.body_bytes)
}

fn is_secret(name: &str) -> bool {
    ["authorization", "proxy-authorization", "cookie", "set-cookie"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

fn ended(result: &QuickResult) -> Result<Exit, Failure> {
    let failed: u64 = result.errors.values().sum();
    if result.interrupted {
        return Ok(Exit::Interrupted);
    }
    if let Some((class, _)) = result.errors.iter().max_by_key(|(_, count)| **count) {
        let example = result.error_examples.get(class).map_or("", String::as_str);
        let all = failed + result.requests;
        let failure = Failure::failed(format_args!("{failed} of {all} requests failed, most as `{class}`: {example}"));
        return Err(match class.as_str() {
            "length" => failure.hint("-l accepts answers of any length"),
            _ if class.starts_with("status-") => failure.hint("--expect-status says which statuses are wanted"),
            _ => failure,
        });
    }
    match result.validity.iter().find(|mark| mark.verdict == Verdict::Refused) {
        Some(mark) => Err(Failure::refused(format_args!("the figures are refused: {}", mark.reason)).hint(mark.remedy)),
        None => Ok(Exit::Done),
    }
}
