//! One row for each variant and level, figures unrounded and units in the names of the columns: for machines.

use crate::blocks::{Cell, Table};
use crate::words::view::{Row, Timed, View};
use tollgate_facts::results::{self as facts, Comparison, Estimate, Rank, Toll, TollVerdict, Verdict};

/// One column, or three: a mean and the ends of its interval.
enum Field {
    One(&'static str, fn(&Row<'_>) -> Option<f64>),
    Three(&'static str, fn(&Row<'_>) -> Option<[f64; 3]>),
}

use Field::{One, Three};

/// The numeric columns, in order; an absent value is an empty field.
const FIELDS: &[Field] = &[
    One("level", |row| Some(row.cell.level as f64)),
    One("blocks", |row| Some(f64::from(row.cell.rounds))),
    One("trials", |row| Some(f64::from(row.cell.trials))),
    One("requests", |row| Some(row.cell.requests as f64)),
    One("errors", |row| Some(row.error_count() as f64)),
    Three("requests_per_second", |row| Some(of(row.cell.requests_per_second))),
    Three("unit_time_ms", |row| Some(of(row.cell.unit_time_ms))),
    One("response_time_ms_mean", |row| asked(row).map(|cell| cell.response_time_ms.mean)),
    Three("response_time_ms_p50", |row| timed(Timed::of_requests(row.cell), Rank::P50)),
    Three("response_time_ms_p90", |row| timed(Timed::of_requests(row.cell), Rank::P90)),
    Three("response_time_ms_p95", |row| timed(Timed::of_requests(row.cell), Rank::P95)),
    Three("response_time_ms_p99", |row| timed(Timed::of_requests(row.cell), Rank::P99)),
    Three("response_time_ms_p999", |row| timed(Timed::of_requests(row.cell), Rank::P999)),
    One("response_time_ms_max", |row| asked(row).map(|cell| cell.response_time_ms.max)),
    One("bytes_per_unit", |row| asked(row).map(|cell| cell.bytes_per_unit)),
    One("connections", |row| asked(row).map(|cell| cell.connections as f64)),
    Three("subject_cpu_us_per_request", |row| row.cell.subject.map(|subject| of(subject.cpu_us_per_request))),
    Three("subject_instructions_per_request", |row| Some(of(row.cell.subject?.instructions_per_request?))),
    One("subject_cpu_share", |row| row.cell.subject.map(|subject| subject.cpu_share)),
    One("subject_resident_memory_bytes_max", |row| row.cell.subject?.memory_bytes().map(|bytes| bytes as f64)),
    One("subject_threads_max", |row| {
        row.cell.subject.map(|subject| f64::from(subject.threads_max)).filter(|threads| *threads > 0.0)
    }),
    One("generator_cpu_share", |row| asked(row).map(|cell| cell.generator.cpu_share)),
    One("records", |row| row.cell.inserted.map(|inserted| inserted.records as f64)),
    Three("ms_per_record", |row| row.cell.inserted.map(|inserted| of(inserted.ms_per_record))),
    One("records_per_second", |row| row.cell.inserted.map(|inserted| inserted.records_per_second.mean)),
    Three("subject_cpu_us_per_record", |row| Some(of(row.cell.inserted?.subject_cpu_us_per_record?))),
    Three("subject_instructions_per_record", |row| Some(of(row.cell.inserted?.subject_instructions_per_record?))),
    One("work_processes_busy_max", |row| row.cell.inserted?.work_processes_busy_max),
    One("work_processes_waiting_max", |row| row.cell.inserted?.work_processes_waiting_max),
    One("handshakes_full", |row| row.cell.connected.map(|connected| connected.handshakes_full as f64)),
    One("handshakes_resumed", |row| row.cell.connected.map(|connected| connected.handshakes_resumed as f64)),
    One("handshake_ms_p50", |row| row.cell.connected?.phases.handshake_ms.p50),
    One("share_over_200_ms", |row| row.cell.linear.as_ref().map(|linear| linear.share_over_200_ms)),
    One("equal_rate_per_second", |row| row.cell.equal_rate.as_ref().map(|rate| rate.rate_per_second)),
    Three("equal_rate_ms_p50", |row| timed(Timed::at_rate(row.cell.equal_rate.as_ref()?), Rank::P50)),
    Three("equal_rate_ms_p95", |row| timed(Timed::at_rate(row.cell.equal_rate.as_ref()?), Rank::P95)),
    Three("equal_rate_ms_p99", |row| timed(Timed::at_rate(row.cell.equal_rate.as_ref()?), Rank::P99)),
    One("equal_rate_lateness_ms_p99", |row| row.cell.equal_rate.as_ref()?.lateness_ms.p99),
    One("equal_rate_unsent", |row| row.cell.equal_rate.as_ref().map(|rate| rate.unsent as f64)),
    One("equal_rate_errors", |row| row.cell.equal_rate.as_ref().map(|rate| rate.errors.values().sum::<u64>() as f64)),
    Three("equal_rate_subject_cores", |row| row.cell.equal_rate.as_ref()?.subject_cores.map(of)),
    One("documents", |row| row.cell.batch.map(|batch| batch.documents as f64)),
    One("link_asked_us", |row| row.cell.batch?.asked_us),
    One("link_added_us", |row| Some(row.cell.batch?.added_us?.mean)),
    One("round_trips_per_document", |row| row.cell.batch.map(|batch| batch.round_trips.mean)),
    One("compute_us_per_document", |row| row.cell.batch.map(|batch| batch.compute_us.mean)),
    One("database_us_per_document", |row| row.cell.batch.map(|batch| batch.database_us.mean)),
    One("waiting_us_per_document", |row| row.cell.batch.map(|batch| batch.waiting_us.mean)),
    Three("toll_time", |row| shown(row.tolls.time)),
    Three("toll_cpu", |row| shown(row.tolls.cpu)),
    Three("toll_instructions", |row| shown(row.tolls.instructions)),
    Three("toll_bytes", |row| shown(row.tolls.bytes)),
    Three("time_by_tollgate", |row| compared(row.by_tollgate[0])),
    Three("cpu_by_tollgate", |row| compared(row.by_tollgate[1])),
];

/// The table.
pub fn table(view: &View<'_>) -> Table {
    let names = FIELDS.iter().flat_map(|field| match field {
        One(name, _) => vec![(*name).to_owned()],
        Three(name, _) => vec![(*name).to_owned(), format!("{name}_low"), format!("{name}_high")],
    });
    let last = ["toll_time_verdict", "doubts"].map(str::to_owned);
    let head = std::iter::once("variant".to_owned()).chain(names).chain(last);
    let row = |row: &Row<'_>| -> Vec<Cell> {
        let figures = FIELDS.iter().flat_map(|field| match field {
            One(_, value) => vec![value(row)],
            Three(_, values) => values(row).map_or_else(|| vec![None; 3], |values| values.map(Some).into()),
        });
        let figures = figures.map(|value| value.filter(|value| value.is_finite()));
        let figures = figures.map(|value| value.map_or_else(Cell::default, |value| value.to_string().into()));
        let verdict = row.tolls.time.map(|toll| toll.verdict.to_string()).unwrap_or_default();
        let found = view.run.findings(&row.cell.variant, row.cell.level).filter(|found| found.verdict != Verdict::Ok);
        let rules: Vec<&str> = found.map(|found| found.rule.as_str()).collect();
        let last = [verdict.into(), rules.join(" ").into()];
        std::iter::once(row.cell.variant.as_str().into()).chain(figures).chain(last).collect()
    };
    Table::new("", head).with(view.rows.iter().map(row))
}

/// The cell, if requests were sent: a batch or a command has no such values, which is not the same as 0.
fn asked<'a>(row: &Row<'a>) -> Option<&'a facts::Cell> {
    Some(row.cell).filter(|cell| cell.connections > 0 || !cell.errors.is_empty())
}

/// A percentile and the ends of its interval. A missing end is not a number.
fn timed(timed: Timed, rank: Rank) -> Option<[f64; 3]> {
    let (low, high) = timed.interval(rank).unwrap_or((f64::NAN, f64::NAN));
    Some([timed.at(rank)?, low, high])
}

fn of(estimate: Estimate) -> [f64; 3] {
    [estimate.mean, estimate.low, estimate.high]
}

fn compared(found: Option<&Comparison>) -> Option<[f64; 3]> {
    let found = found.filter(|found| found.verdict != TollVerdict::Refused)?;
    Some([found.ratio, found.low, found.high])
}

fn shown(toll: Option<&Toll>) -> Option<[f64; 3]> {
    toll.filter(|toll| toll.is_shown()).map(|toll| [toll.ratio, toll.low, toll.high])
}
