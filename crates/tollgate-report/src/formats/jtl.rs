//! JMeter's result file (JTL as CSV), so that JMeter's own listeners and report tools read a run.
//!
//! One row for each unit of work, with JMeter's default columns. Its times are whole milliseconds; finer figures are in
//! the other formats. A transfer of inserts has the label `variant@records`, its connections as threads, and its time
//! rounded up, as many take less than one; its answers have codes of several kinds, so it has none, as JMeter's own
//! transactions. Trials keep errors by count, not by unit: where some failed, each unit of that trial is marked
//! unsuccessful and says so, as nothing may be dropped.

use super::csv::quoted;
use tollgate_facts::results::{Inserting, RunResult, Trial};

const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,\
                      bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// The units of work of a run.
pub(crate) fn run(run: &RunResult) -> String {
    let epoch_ms = run.started.parse::<jiff::Timestamp>().map_or(0, |start| start.as_millisecond()) as f64;
    let mut text = format!("{HEADER}\n");
    for trial in &run.trials {
        let variant = run.experiment.variant(&trial.variant);
        let inserting = variant.and_then(|variant| variant.inserting.as_ref());
        let mut at_ms = epoch_ms + trial.start_ms;
        for elapsed_ms in &trial.unit_times_ms {
            text.push_str(&row(trial, inserting, at_ms, *elapsed_ms));
            at_ms += elapsed_ms;
        }
    }
    text
}

fn row(trial: &Trial, inserting: Option<&Inserting>, at_ms: f64, elapsed_ms: f64) -> String {
    let units = trial.unit_times_ms.len().max(1) as u64;
    let (label, threads, whole_ms): (_, _, fn(f64) -> f64) = match inserting {
        Some(inserting) => {
            (format!("{}@{}", trial.variant, trial.level), u64::from(inserting.connections).min(trial.level), f64::ceil)
        }
        None => (trial.variant.clone(), trial.level, f64::round),
    };
    let (code, message, failure) = match (trial.errors, inserting) {
        (0, None) => ("200", "OK".to_owned(), String::new()),
        (0, Some(_)) => ("", format!("requests acknowledged: {}", trial.requests / units), String::new()),
        (errors, _) => {
            let all = trial.requests + errors;
            ("", "failed requests".to_owned(), format!("{errors} of the {all} requests of this trial failed"))
        }
    };
    format!(
        "{at:.0},{elapsed:.0},{label},{code},{message},{label} {threads}-1,text,{success},{failure},{bytes},{sent},{threads},{threads},,{latency_ms:.0},0,0\n",
        at = at_ms,
        elapsed = whole_ms(elapsed_ms),
        latency_ms = whole_ms(trial.response_time_mean_ms.min(elapsed_ms)),
        label = quoted(&label),
        success = trial.errors == 0,
        failure = quoted(&failure),
        bytes = trial.bytes_received / units,
        sent = trial.bytes_sent / units,
    )
}
