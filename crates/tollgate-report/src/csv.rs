//! One row for each variant and level, figures unrounded and units in the header (RFC 4180).

use super::view::{Row, View};
use super::{RenderOptions, Reporter};
use std::io::{self, Write};
use tollgate_facts::results::{Comparison, RunResult, Toll, TollVerdict};

pub(super) const REPORTER: Reporter =
    Reporter { name: "csv", also: &[], extension: "csv", about: "one row a cell, for a spreadsheet", render };

type Field = (&'static str, fn(&Row<'_>) -> Option<f64>);

/// The numeric columns, in order; an absent value is an empty field.
const FIELDS: &[Field] = &[
    ("level", |row| Some(row.cell.level as f64)),
    ("blocks", |row| Some(f64::from(row.cell.rounds))),
    ("trials", |row| Some(f64::from(row.cell.trials))),
    ("requests", |row| Some(row.cell.requests as f64)),
    ("errors", |row| Some(row.error_count() as f64)),
    ("requests_per_second", |row| Some(row.cell.requests_per_second.mean)),
    ("requests_per_second_low", |row| Some(row.cell.requests_per_second.low)),
    ("requests_per_second_high", |row| Some(row.cell.requests_per_second.high)),
    ("unit_time_ms", |row| Some(row.cell.unit_time_ms.mean)),
    ("unit_time_ms_low", |row| Some(row.cell.unit_time_ms.low)),
    ("unit_time_ms_high", |row| Some(row.cell.unit_time_ms.high)),
    ("response_time_ms_mean", |row| Some(row.cell.response_time_ms.mean)),
    ("response_time_ms_p50", |row| row.cell.response_time_ms.p50),
    ("response_time_ms_p90", |row| row.cell.response_time_ms.p90),
    ("response_time_ms_p95", |row| row.cell.response_time_ms.p95),
    ("response_time_ms_p99", |row| row.cell.response_time_ms.p99),
    ("response_time_ms_p999", |row| row.cell.response_time_ms.p999),
    ("response_time_ms_max", |row| Some(row.cell.response_time_ms.max)),
    ("bytes_per_unit", |row| Some(row.cell.bytes_per_unit)),
    ("connections", |row| Some(row.cell.connections as f64)),
    ("subject_cpu_us_per_request", |row| row.cell.subject.map(|subject| subject.cpu_us_per_request.mean)),
    ("subject_cpu_us_per_request_low", |row| row.cell.subject.map(|subject| subject.cpu_us_per_request.low)),
    ("subject_cpu_us_per_request_high", |row| row.cell.subject.map(|subject| subject.cpu_us_per_request.high)),
    ("subject_cpu_share", |row| row.cell.subject.map(|subject| subject.cpu_share)),
    ("subject_resident_memory_bytes_max", |row| {
        row.cell.subject.map(|subject| subject.resident_memory_bytes_max as f64)
    }),
    ("subject_threads_max", |row| row.cell.subject.map(|subject| f64::from(subject.threads_max))),
    ("generator_cpu_share", |row| Some(row.cell.generator.cpu_share)),
    ("records", |row| row.cell.inserted.map(|inserted| inserted.records as f64)),
    ("ms_per_record", |row| row.cell.inserted.map(|inserted| inserted.ms_per_record.mean)),
    ("ms_per_record_low", |row| row.cell.inserted.map(|inserted| inserted.ms_per_record.low)),
    ("ms_per_record_high", |row| row.cell.inserted.map(|inserted| inserted.ms_per_record.high)),
    ("records_per_second", |row| row.cell.inserted.map(|inserted| inserted.records_per_second.mean)),
    ("subject_cpu_us_per_record", |row| Some(row.cell.inserted?.subject_cpu_us_per_record?.mean)),
    ("subject_cpu_us_per_record_low", |row| Some(row.cell.inserted?.subject_cpu_us_per_record?.low)),
    ("subject_cpu_us_per_record_high", |row| Some(row.cell.inserted?.subject_cpu_us_per_record?.high)),
    ("work_processes_busy_max", |row| row.cell.inserted?.work_processes_busy_max),
    ("work_processes_waiting_max", |row| row.cell.inserted?.work_processes_waiting_max),
    ("handshakes_full", |row| row.cell.connected.map(|connected| connected.handshakes_full as f64)),
    ("handshakes_resumed", |row| row.cell.connected.map(|connected| connected.handshakes_resumed as f64)),
    ("handshake_ms_p50", |row| row.cell.connected?.phases.handshake_ms.p50),
    ("share_over_200_ms", |row| row.cell.linear.as_ref().map(|linear| linear.share_over_200_ms)),
    ("equal_rate_per_second", |row| row.cell.equal_rate.as_ref().map(|rate| rate.rate_per_second)),
    ("equal_rate_ms_p50", |row| row.cell.equal_rate.as_ref()?.response_time_ms.p50),
    ("equal_rate_ms_p95", |row| row.cell.equal_rate.as_ref()?.response_time_ms.p95),
    ("equal_rate_ms_p99", |row| row.cell.equal_rate.as_ref()?.response_time_ms.p99),
    ("equal_rate_lateness_ms_p99", |row| row.cell.equal_rate.as_ref()?.lateness_ms.p99),
    ("equal_rate_unsent", |row| row.cell.equal_rate.as_ref().map(|rate| rate.unsent as f64)),
    ("equal_rate_errors", |row| row.cell.equal_rate.as_ref().map(|rate| rate.errors.values().sum::<u64>() as f64)),
    ("documents", |row| row.cell.batch.map(|batch| batch.documents as f64)),
    ("link_asked_us", |row| row.cell.batch?.asked_us),
    ("link_added_us", |row| Some(row.cell.batch?.added_us?.mean)),
    ("round_trips_per_document", |row| row.cell.batch.map(|batch| batch.round_trips.mean)),
    ("compute_us_per_document", |row| row.cell.batch.map(|batch| batch.compute_us.mean)),
    ("database_us_per_document", |row| row.cell.batch.map(|batch| batch.database_us.mean)),
    ("waiting_us_per_document", |row| row.cell.batch.map(|batch| batch.waiting_us.mean)),
    ("toll_time", |row| shown(row.tolls.time, |toll| toll.ratio)),
    ("toll_time_low", |row| shown(row.tolls.time, |toll| toll.low)),
    ("toll_time_high", |row| shown(row.tolls.time, |toll| toll.high)),
    ("toll_cpu", |row| shown(row.tolls.cpu, |toll| toll.ratio)),
    ("toll_cpu_low", |row| shown(row.tolls.cpu, |toll| toll.low)),
    ("toll_cpu_high", |row| shown(row.tolls.cpu, |toll| toll.high)),
    ("toll_bytes", |row| shown(row.tolls.bytes, |toll| toll.ratio)),
    ("toll_bytes_low", |row| shown(row.tolls.bytes, |toll| toll.low)),
    ("toll_bytes_high", |row| shown(row.tolls.bytes, |toll| toll.high)),
    ("time_by_tollgate", |row| compared(row.by_tollgate.time, |found| found.ratio)),
    ("time_by_tollgate_low", |row| compared(row.by_tollgate.time, |found| found.low)),
    ("time_by_tollgate_high", |row| compared(row.by_tollgate.time, |found| found.high)),
    ("cpu_by_tollgate", |row| compared(row.by_tollgate.cpu, |found| found.ratio)),
    ("cpu_by_tollgate_low", |row| compared(row.by_tollgate.cpu, |found| found.low)),
    ("cpu_by_tollgate_high", |row| compared(row.by_tollgate.cpu, |found| found.high)),
];

fn render(run: &RunResult, out: &mut dyn Write, _: &RenderOptions) -> io::Result<()> {
    let view = View::of(run);
    write!(out, "variant")?;
    for (name, _) in FIELDS {
        write!(out, ",{name}")?;
    }
    write!(out, ",toll_time_verdict,doubts\r\n")?;
    for row in &view.rows {
        write!(out, "{}", quoted(&row.cell.variant))?;
        for (_, value) in FIELDS {
            match value(row).filter(|value| value.is_finite()) {
                Some(value) => write!(out, ",{value}")?,
                None => write!(out, ",")?,
            }
        }
        let verdict = row.tolls.time.map_or("", |toll| super::sentence::verdict(toll.verdict));
        let rules: Vec<&str> = row.marks.iter().map(|number| view.doubts[number - 1].rule).collect();
        write!(out, ",{verdict},{}\r\n", quoted(&rules.join(" ")))?;
    }
    Ok(())
}

/// A text field, quoted only where it must be.
pub(super) fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

fn compared(found: Option<&Comparison>, value: fn(&Comparison) -> f64) -> Option<f64> {
    found.filter(|found| found.verdict != TollVerdict::Refused).map(value)
}

fn shown(toll: Option<&Toll>, value: fn(&Toll) -> f64) -> Option<f64> {
    toll.filter(|toll| toll.is_shown()).map(value)
}
