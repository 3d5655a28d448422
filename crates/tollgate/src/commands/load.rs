//! `tollgate load`: one URL under load, with ApacheBench's letters and, with `--ab`, its text.
//!
//! The load itself is in the lab, on the same engine as the experiments.

mod arguments;
mod asked;
mod files;
mod summary;
mod text;

use std::io::{self, Write};

use tollgate_facts::results::load::QuickResult;
use tollgate_facts::results::{Outcome, Verdict};
use tollgate_facts::threshold::{self, Asked, Runs, Threshold};
use tollgate_lab::run::{RunError, StopFlag};
use tollgate_lab::secret;
use tollgate_lab::single::{Quick, QuickLoad, quick_recorded};

pub(crate) use arguments::{Arguments, with_short_help};
use files::Files;

use crate::failure::{Exit, Failure};
use crate::progress::{Aim, LiveView};
use crate::signals;

/// Lowest verbosity at which the first request and its response are shown.
const SHOWN_FROM: u8 = 2;

/// Loads the URL and prints the figures. The worst finding decides the exit code: failed requests, refused figures,
/// unmet thresholds.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    refuse(arguments)?;
    let thresholds = thresholds(&arguments.thresholds)?;
    let load = asked::quick_load(arguments)?;
    let files = Files::create(arguments)?;
    let stop = StopFlag::new();
    let asked = stop.clone();
    signals::on_stop(move || asked.stop())?;
    let view = LiveView::begin(arguments.shown, secret::hide(&load.url), aim(&load))?;
    let quick = quick_recorded(&load, &view, &stop);
    view.end();
    let mut quick = quick.map_err(|error| match error {
        RunError::Usage(_) => Failure::usage(error),
        RunError::Failed(_) => Failure::failed(error),
    })?;
    quick.result.thresholds = threshold::judge_load(&thresholds, &quick.result);
    if arguments.verbosity >= SHOWN_FROM {
        show_first(&quick, &mut io::stderr().lock()).map_err(Failure::output)?;
    }
    let written = if arguments.json {
        serde_json::to_writer_pretty(&mut *out, &quick.result).map_err(io::Error::from).and_then(|()| writeln!(out))
    } else if arguments.is_abs() {
        text::write(&quick.result, &text::Layout::of(arguments), out)
    } else {
        summary::write(&quick.result, out)
    };
    Failure::unless_closed(written.and_then(|()| out.flush()))?;
    files.write(&quick)?;
    // Who expects something of failures has said how many are too many.
    let expects_errors =
        thresholds.iter().any(|threshold| matches!(threshold.asked, Asked::Of(of) if of.is_of_errors()));
    ended(&quick.result, expects_errors)
}

/// The end of the load.
fn aim(load: &QuickLoad) -> Aim {
    let requests = match (load.requests, load.duration) {
        // A feed ends it, after as many as there are rows for.
        (Some(u64::MAX), _) => None,
        // Those are iterations, and what is counted are requests.
        _ if load.scenario.is_some() => None,
        (None, None) => Some(1),
        (requests, _) => requests,
    };
    Aim::Load { ramp_up: load.ramp_up, lasts: load.duration, requests }
}

/// The thresholds on the figures, parsed.
fn thresholds(texts: &[String]) -> Result<Vec<Threshold>, Failure> {
    let wrong = |error| Failure::usage(format_args!("--threshold: {error}"));
    let read = |text: &String| {
        let threshold = Threshold::parse(text).map_err(wrong)?;
        threshold.check(&[], &[], Runs::One).map_err(wrong)?;
        match threshold.asked {
            Asked::Of(of) if of.is_of_load() => Ok(threshold),
            Asked::Of(of) => {
                Err(Failure::usage(format_args!("--threshold: `{text}`: a single load has no {}", of.name))
                    .hint("tollgate versus and tollgate run watch the server's process"))
            }
            _ => Err(Failure::usage(format_args!("--threshold: `{text}`: a single load has no tolls"))
                .hint("tollgate versus compares two URLs")),
        }
    };
    if texts.len() > threshold::THRESHOLDS_MAX {
        let (count, most) = (texts.len(), threshold::THRESHOLDS_MAX);
        return Err(Failure::usage(format_args!("{count} thresholds: at most {most} (--threshold)")));
    }
    texts.iter().map(read).collect()
}

/// Refuses letters of ab that are not supported, each with its alternative.
fn refuse(arguments: &Arguments) -> Result<(), Failure> {
    let tables = [arguments.html_tables, arguments.table.is_some(), arguments.row.is_some(), arguments.cell.is_some()];
    if tables.contains(&true) {
        let letters = "-w, -x, -y and -z (HTML tables) are not written";
        return Err(Failure::usage(letters).hint("--html FILE writes a whole page with charts"));
    }
    Ok(())
}

/// Shows the first request and its response without their bodies and without possible secrets.
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

fn ended(result: &QuickResult, expects_errors: bool) -> Result<Exit, Failure> {
    let failed: u64 = result.errors.values().sum();
    if result.interrupted {
        return Ok(Exit::Interrupted);
    }
    if threshold::worst(&result.thresholds) != Outcome::Holds {
        return Ok(Exit::Threshold);
    }
    let most = result.errors.iter().max_by_key(|(_, count)| **count);
    if let Some((class, _)) = most.filter(|_| !expects_errors) {
        let example = result.error_examples.get(class).map_or("", String::as_str);
        let all = failed + result.requests;
        let plural = if all == 1 { "" } else { "s" };
        let text = format_args!("{failed} of {all} request{plural} failed, most as `{class}`: {example}");
        let failure = Failure::failed(text);
        return Err(match class.as_str() {
            "length" => failure.hint("-l accepts answers of any length"),
            // A step of a scenario says it itself.
            _ if class.starts_with("status-") && result.played.is_none() => {
                failure.hint("--expect-status says which statuses are wanted")
            }
            _ => failure,
        });
    }
    match result.validity.iter().find(|mark| mark.verdict == Verdict::Refused) {
        Some(mark) => Err(Failure::refused(format_args!("the figures are refused: {}", mark.reason)).hint(mark.remedy)),
        None => Ok(Exit::Done),
    }
}
