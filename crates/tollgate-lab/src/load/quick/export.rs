//! What a load recorded, in the files of others: ApacheBench's tables for spreadsheets and gnuplot, and HdrHistogram's log.
//!
//! Deliberately not here: JSON and HTML, which are made of the figures alone.

use std::io::{self, Write};
use std::time::Duration;

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use super::Quick;
use crate::load::detail::Sample;

const NS_PER_MS: f64 = 1e6;
/// Tag of the response times in a log of histograms.
const RESPONSE: &str = "response";
/// Tag of the service times.
const SERVICE: &str = "service";
/// Tag of what failed requests took.
const FAILED: &str = "failed";

/// The time within which each percentage of the valid answers came, as ab's `-e` writes it.
///
/// # Errors
/// Those of writing.
pub fn percentages(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Percentage served,Time in ms")?;
    let response = &quick.recorder.response;
    if response.is_empty() {
        return Ok(());
    }
    for percent in 0..=100_u8 {
        let time = response.value_at_quantile(f64::from(percent) / 100.0);
        writeln!(out, "{percent},{:.3}", time as f64 / NS_PER_MS)?;
    }
    Ok(())
}

/// Each valid answer by itself, the fastest first, as ab's `-g` writes it; times in milliseconds.
///
/// # Errors
/// Those of writing.
pub fn gnuplot(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "starttime\tseconds\tctime\tdtime\tttime\twait")?;
    let log = quick.recorder.detail.as_ref().and_then(|detail| detail.log.as_ref());
    let mut samples: Vec<Sample> = log.map(|log| log.samples.clone()).unwrap_or_default();
    samples.sort_by_key(|sample| sample.total_ns);
    let begun_us = quick.started.as_microsecond();
    for Sample { start_ns, opening_ns, total_ns, waiting_ns } in samples {
        let start = jiff::Timestamp::from_microsecond(begun_us + (start_ns / 1000) as i64).unwrap_or(quick.started);
        let [opening, rest, total, waiting] =
            [opening_ns, total_ns.saturating_sub(opening_ns), total_ns, waiting_ns].map(|ns| ns as f64 / NS_PER_MS);
        let (when, seconds) = (start.strftime("%a %b %d %H:%M:%S %Y"), start.as_second());
        writeln!(out, "{when}\t{seconds}\t{opening:.3}\t{rest:.3}\t{total:.3}\t{waiting:.3}")?;
    }
    Ok(())
}

/// The distributions whole, in nanoseconds, as HdrHistogram's own tools read them (log format 1.3).
///
/// # Errors
/// Those of writing.
pub fn histograms(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = V2DeflateSerializer::new();
    let (recorder, started) = (&quick.recorder, quick.started.as_nanosecond() as f64 / 1e9);
    writeln!(out, "#[Histogram log format version 1.3]")?;
    writeln!(
        out,
        "#Times in nanoseconds, tagged response (from the intended start), service (from the send) or failed"
    )?;
    writeln!(out, "#[StartTime: {started:.3} (seconds since epoch), {}]", quick.started)?;
    writeln!(out, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"")?;
    let mut out = out;
    let mut writer = IntervalLogWriterBuilder::new().begin_log_with(&mut out, &mut serializer)?;
    let named =
        [(RESPONSE, Some(&recorder.response)), (SERVICE, Some(&recorder.service)), (FAILED, recorder.failed.as_ref())];
    for (name, times) in named {
        let Some(times) = times else { continue };
        let written = writer.write_histogram(times, Duration::ZERO, quick.took, Tag::new(name));
        written.map_err(|error| io::Error::other(error.to_string()))?;
    }
    Ok(())
}
