//! Exports of a load's records: ApacheBench's tables for spreadsheets and gnuplot, and HdrHistogram's log.
//!
//! JSON and HTML are elsewhere, since they are made of the figures alone.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::Quick;
use crate::conduct::store::log_line;
use crate::load::answer::failure::ErrorClass;
use crate::load::record::course::BIN;
use crate::load::record::detail::Sample;
use tollgate_facts::stats::percentile;

const NS_PER_MS: f64 = 1e6;

/// The time within which each percentage of the valid responses arrived, in the format of ab's `-e`; `-` where too few
/// are beyond it. The first and the last are the shortest and the longest.
///
/// # Errors
/// Write errors.
pub fn percentages(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Percentage served,Time in ms")?;
    let response = &quick.recorder.response;
    if response.is_empty() {
        return Ok(());
    }
    for percent in 0..=100_u8 {
        let quantile = f64::from(percent) / 100.0;
        if matches!(percent, 0 | 100) || percentile::is_available(quantile, response.len()) {
            writeln!(out, "{percent},{:.3}", response.value_at_quantile(quantile) as f64 / NS_PER_MS)?;
        } else {
            writeln!(out, "{percent},-")?;
        }
    }
    Ok(())
}

/// One row for each valid response, the fastest first, in the format of ab's `-g`; times in milliseconds.
///
/// # Errors
/// Write errors.
pub fn gnuplot(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "starttime\tseconds\tctime\tdtime\tttime\twait")?;
    let log = quick.recorder.detail.as_ref().and_then(|detail| detail.log.as_ref());
    let mut samples: Vec<Sample> = log.map(|log| log.samples.clone()).unwrap_or_default();
    samples.sort_by_key(|sample| sample.total_ns);
    let begun_us = quick.started.as_microsecond();
    samples.retain(|sample| sample.failed.is_none());
    for Sample { start_ns, opening_ns, total_ns, waiting_ns, .. } in samples {
        let start = jiff::Timestamp::from_microsecond(begun_us + (start_ns / 1000) as i64).unwrap_or(quick.started);
        let [opening, rest, total, waiting] =
            [opening_ns, total_ns.saturating_sub(opening_ns), total_ns, waiting_ns].map(|ns| ns as f64 / NS_PER_MS);
        let (when, seconds) = (start.strftime("%a %b %d %H:%M:%S %Y"), start.as_second());
        writeln!(out, "{when}\t{seconds}\t{opening:.3}\t{rest:.3}\t{total:.3}\t{waiting:.3}")?;
    }
    Ok(())
}

/// The whole distributions, in nanoseconds, as HdrHistogram's own tools read them (log format 1.3): one line for each,
/// over the whole load.
///
/// # Errors
/// Write errors.
pub fn histograms(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    let Quick { recorder, started, took, .. } = quick;
    let started_s = started.as_nanosecond() as f64 / 1e9;
    writeln!(out, "#[Histogram log format version 1.3]")?;
    writeln!(
        out,
        "#Times in nanoseconds, tagged response (from the intended start), service (from the send) or failed"
    )?;
    writeln!(out, "#[StartTime: {started_s:.3} (seconds since epoch), {started}]")?;
    writeln!(out, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"")?;
    let failed = recorder.failed.as_ref().map(|failed| ("failed", failed));
    let mut named = [("response", &recorder.response), ("service", &recorder.service)].into_iter().chain(failed);
    named.try_for_each(|(tag, times)| out.write_all(&log_line(tag, Duration::ZERO, *took, times)))
}

/// A second of a load.
struct Second {
    /// Its end; the last one ends with the load.
    at: jiff::Timestamp,
    /// Its valid responses, and their rate: the last second may be shorter.
    requests: u64,
    per_second: f64,
    /// Mean response time; absent where nothing was answered.
    mean_ms: Option<f64>,
}

/// The valid answers of each second; the last one may be shorter.
fn seconds(quick: &Quick) -> Vec<Second> {
    let bins = (1.0 / BIN.as_secs_f64()).round() as usize;
    let second = |(place, bins): (usize, &[(u64, u64)])| {
        let (requests, total_ns) = bins.iter().fold((0, 0), |sum, bin| (sum.0 + bin.0, sum.1 + bin.1));
        let mean_ms = (requests > 0).then(|| total_ns as f64 / requests as f64 / NS_PER_MS);
        let after = jiff::SignedDuration::from_secs(place as i64 + 1);
        let at = quick.started.checked_add(after).unwrap_or(quick.started).min(end(quick));
        let length_s = (quick.took.as_secs_f64() - place as f64).clamp(BIN.as_secs_f64(), 1.0);
        Second { at, requests, per_second: requests as f64 / length_s, mean_ms }
    };
    quick.recorder.bins().chunks(bins).enumerate().map(second).collect()
}

/// One row for each second, for a spreadsheet.
///
/// # Errors
/// Write errors.
pub fn csv(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "second,time,requests,mean_ms")?;
    for (number, Second { at, requests, mean_ms, .. }) in (1..).zip(seconds(quick)) {
        let mean_ms = mean_ms.map(|mean_ms| format!("{mean_ms:.3}")).unwrap_or_default();
        writeln!(out, "{number},{at:.0},{requests},{mean_ms}")?;
    }
    Ok(())
}

/// One row for each request, failed ones too, with JMeter's default columns (times in whole milliseconds), so that its
/// listeners and report tools read a load.
///
/// # Errors
/// Write errors.
pub fn jtl(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,\
         grpThreads,allThreads,URL,Latency,IdleTime,Connect"
    )?;
    let log = quick.recorder.detail.as_ref().and_then(|detail| detail.log.as_ref());
    let (begun_ms, result) = (quick.started.as_nanosecond() as f64 / NS_PER_MS, &quick.result);
    let url = format!("\"{}\"", result.url.replace('"', "\"\""));
    let users = result.concurrency;
    let sent = result.bytes_sent / (result.requests + result.errors.values().sum::<u64>()).max(1);
    for sample in log.map_or(&[][..], |log| &log.samples) {
        let Sample { start_ns, opening_ns, total_ns, waiting_ns, failed, received_bytes } = *sample;
        let [start, elapsed, latency, connect] =
            [start_ns, total_ns, opening_ns + waiting_ns, opening_ns].map(|ns| ns as f64 / NS_PER_MS);
        let (code, message, failure) = match failed {
            // Which of the wanted statuses an answer had is not kept.
            None => (String::new(), "OK", String::new()),
            Some(ErrorClass::Status(status)) => (status.to_string(), "", format!("status-{status}")),
            Some(class) => (String::new(), "", class.to_string()),
        };
        writeln!(
            out,
            "{at:.0},{elapsed:.0},load,{code},{message},load 1-1,text,{success},{failure},{received_bytes},{sent},{users},\
             {users},{url},{latency:.0},0,{connect:.0}",
            at = begun_ms + start,
            success = failed.is_none(),
        )?;
    }
    Ok(())
}

/// The load as time series, in the text that Prometheus backfills (OpenMetrics, times in seconds): requests and mean
/// time of each second, percentiles and failures at the end.
///
/// # Errors
/// Write errors.
pub fn prometheus(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    let (result, seconds) = (&quick.result, seconds(quick));
    let url = result.url.replace('\\', "\\\\").replace('"', "\\\"");
    let end = end(quick).as_nanosecond() as f64 / 1e9;
    let mut gauge = |name: &str, help: &str, lines: Vec<(String, f64, f64)>| {
        writeln!(out, "# TYPE tollgate_load_{name} gauge\n# HELP tollgate_load_{name} {help}")?;
        lines.into_iter().try_for_each(|(labels, value, at)| {
            writeln!(out, "tollgate_load_{name}{{url=\"{url}\"{labels}}} {value} {at:.3}")
        })
    };
    let at = |second: &Second| second.at.as_nanosecond() as f64 / 1e9;
    let plain = |value: f64, second: &Second| (String::new(), value, at(second));
    let requests = seconds.iter().map(|second| plain(second.per_second, second)).collect();
    gauge("requests_per_second", "Valid answers per second.", requests)?;
    let means = seconds.iter().filter_map(|second| Some(plain(second.mean_ms? / 1e3, second))).collect();
    gauge("response_mean_seconds", "Mean response time of the valid answers of a second.", means)?;
    let percentile = |(percent, time): &(f64, Option<f64>)| {
        Some((format!(",quantile=\"{}\"", percent / 100.0), (*time)? / 1e3, end))
    };
    let percentiles = result.served_within_ms.iter().filter_map(percentile).collect();
    gauge("response_seconds", "Percentiles of the response time of the whole load.", percentiles)?;
    let failures = result.errors.iter();
    let failures = failures.map(|(class, count)| (format!(",class=\"{class}\""), *count as f64, end)).collect();
    gauge("failed", "Failed requests of the whole load, by class.", failures)?;
    writeln!(out, "# EOF")
}

/// The load as time series in InfluxDB's line protocol (times in nanoseconds): a line for each second, and one for the
/// whole load at its end.
///
/// # Errors
/// Write errors.
pub fn influx(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    let result = &quick.result;
    // A backslash at the end would hide the space behind it.
    let url = match result.url.strip_suffix('\\') {
        Some(url) => format!("{url}%5C"),
        None => result.url.clone(),
    };
    let url: String =
        url.chars().flat_map(|c| [',', '=', ' '].contains(&c).then_some('\\').into_iter().chain([c])).collect();
    for Second { at, requests, mean_ms, .. } in seconds(quick) {
        let mean = mean_ms.map(|mean_ms| format!(",response_mean_ms={mean_ms}")).unwrap_or_default();
        writeln!(out, "tollgate_load,url={url} requests={requests}i{mean} {}", at.as_nanosecond())?;
    }
    let failed: u64 = result.errors.values().sum();
    let percentile = |(percent, time): &(f64, Option<f64>)| Some(format!(",p{percent}_ms={}", (*time)?));
    let percentiles: String = result.served_within_ms.iter().filter_map(percentile).collect();
    writeln!(
        out,
        "tollgate_load_total,url={url} requests={}i,failed={failed}i{percentiles} {}",
        result.requests,
        end(quick).as_nanosecond()
    )
}

/// The same series as OTLP metrics in JSON (OpenTelemetry Protocol 1.3), the body that a collector accepts at
/// `/v1/metrics`.
///
/// # Errors
/// Write errors.
pub fn otlp(quick: &Quick, out: &mut dyn Write) -> io::Result<()> {
    let (result, seconds) = (&quick.result, seconds(quick));
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    // 64-bit integers are strings in protobuf's JSON.
    let time = |at: jiff::Timestamp| at.as_nanosecond().to_string();
    let of_second = |second: &Second, value: f64| json!({"timeUnixNano": time(second.at), "asDouble": value});
    let of_load = |key: &str, name: &str, value: f64| json!({"timeUnixNano": time(end(quick)), "asDouble": value, "attributes": [attribute(key, name)]});
    let gauge = |name: &str, unit: &str, points: Vec<Value>| json!({"name": format!("tollgate.load.{name}"), "unit": unit, "gauge": {"dataPoints": points}});
    let requests = seconds.iter().map(|second| of_second(second, second.per_second)).collect();
    let means = seconds.iter().filter_map(|second| Some(of_second(second, second.mean_ms? / 1e3))).collect();
    let percentile = |(percent, time): &(f64, Option<f64>)| {
        Some(of_load("quantile", &(percent / 100.0).to_string(), (*time)? / 1e3))
    };
    let percentiles = result.served_within_ms.iter().filter_map(percentile).collect();
    let failures = result.errors.iter().map(|(class, count)| of_load("class", class, *count as f64)).collect();
    let metrics = [
        gauge("requests_per_second", "{request}/s", requests),
        gauge("response_mean", "s", means),
        gauge("response", "s", percentiles),
        gauge("failed", "{request}", failures),
    ];
    let body = json!({"resourceMetrics": [{
        "resource": {"attributes": [attribute("service.name", "tollgate"), attribute("url.full", &result.url)]},
        "scopeMetrics": [{"scope": {"name": "tollgate", "version": result.version}, "metrics": metrics}],
    }]});
    writeln!(out, "{body}")
}

/// The end of the load.
fn end(quick: &Quick) -> jiff::Timestamp {
    let took = jiff::SignedDuration::try_from(quick.took).unwrap_or_default();
    quick.started.checked_add(took).unwrap_or(quick.started)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;

    use super::*;
    use crate::load::answer::failure::Failure;
    use crate::load::record::recorder::Recorder;
    use tollgate_facts::results::load::QuickResult;

    /// Decodes base64 (RFC 4648, section 4).
    fn decoded(text: &str) -> Vec<u8> {
        let value = |byte: u8| match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => panic!("{byte} in {text}"),
        };
        let digits: Vec<u32> = text.trim_end_matches('=').bytes().map(|byte| u32::from(value(byte))).collect();
        digits
            .chunks(4)
            .flat_map(|four| {
                let all = four.iter().enumerate().fold(0, |all, (at, digit)| all | digit << (18 - 6 * at));
                all.to_be_bytes()[1..four.len()].to_vec()
            })
            .collect()
    }

    /// A parsed line: its tag; start, length and longest time, all in milliseconds; and the histogram.
    fn line_of(text: &str) -> (String, [u64; 3], Histogram<u64>) {
        let fields: Vec<&str> = text.split(',').collect();
        let [tag, start, length, max, histogram] = fields[..] else { panic!("{text}") };
        let bytes = decoded(histogram);
        // The cookie of a compressed histogram of version 2, its length, and zlib's first byte.
        assert_eq!(bytes[..4], 0x1c84_9314_u32.to_be_bytes());
        assert_eq!(u32::from_be_bytes(bytes[4..8].try_into().unwrap()) as usize, bytes.len() - 8);
        assert_eq!(bytes[8], 0x78);
        let number = |field: &str| field.parse::<f64>().unwrap_or_else(|error| panic!("{error} in {text}"));
        let ms = |field: &str| (number(field) * 1e3).round() as u64;
        let read = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        (tag.strip_prefix("Tag=").unwrap().to_owned(), [ms(start), ms(length), number(max) as u64], read)
    }

    /// A load with this record.
    fn quick(recorder: Recorder) -> Quick {
        let (started, took) = (jiff::Timestamp::UNIX_EPOCH, Duration::from_millis(2500));
        Quick { result: QuickResult::default(), recorder, started, took }
    }

    #[test]
    fn a_percentage_with_too_few_answers_beyond_it_is_written_as_none() {
        let written = |answers: u64| {
            let (mut recorder, mut out) = (Recorder::default(), Vec::new());
            (1..=answers).for_each(|number| recorder.response.record(number * 1_000_000).unwrap());
            percentages(&quick(recorder), &mut out).unwrap();
            String::from_utf8(out).unwrap().strip_prefix("Percentage served,Time in ms\n").unwrap().to_owned()
        };
        let few = written(100);
        assert_eq!(few.lines().count(), 101);
        for line in ["0,1.000", "70,70.", "71,-", "99,-", "100,100."] {
            assert!(few.lines().any(|written| written.starts_with(line)), "{line} in {few}");
        }
        let many = written(3000);
        assert!(many.contains("\n99,297") && !many.contains(",-"), "{many}");
        assert_eq!(written(0), "");
    }

    #[test]
    fn a_log_of_histograms_holds_every_time_for_readers_of_its_format() {
        let mut recorder = Recorder::default();
        let start = Instant::now();
        for number in 1..=1000 {
            recorder.answer(start, start + Duration::from_micros(5), start + Duration::from_micros(10 * number));
        }
        recorder.failure(&Failure::status(503), start, start + Duration::from_millis(70));
        let (quick, mut text) = (quick(recorder), Vec::new());
        histograms(&quick, &mut text).unwrap();
        let recorder = quick.recorder;
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(text.lines().next(), Some("#[Histogram log format version 1.3]"));
        assert!(text.contains("\n#[StartTime: 0.000 (seconds since epoch), 1970-01-01T00:00:00Z]\n"), "{text}");
        assert_eq!(lines[0], r#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#);
        let written = [
            ("response", &recorder.response),
            ("service", &recorder.service),
            ("failed", recorder.failed.as_ref().unwrap()),
        ];
        assert_eq!(lines.len(), 1 + written.len());
        for (line, (tag, times)) in lines[1..].iter().zip(written) {
            let (read_tag, interval, read) = line_of(line);
            assert_eq!(read_tag, tag);
            assert_eq!(interval, [0, 2500, times.max()]);
            assert_eq!(read, **times, "{tag}");
        }
    }
}
