//! The text of `tollgate load --ab`: ab's text, in its words and its order, then the figures that ab leaves out.
//!
//! Labels, columns and units are ab's, so that parsers of ab's text read this; times have decimals where ab rounds to
//! whole milliseconds. The figures are computed by the lab.

use std::io::{self, Write};

use tollgate_facts::results::load::{ConnectionTimes, Handshaken, Offered, PhaseTimes, QuickResult, Spread};
use tollgate_facts::results::{Arrivals, FirstRequest, Percentiles, Verdict, Within};

use super::arguments::Arguments;

/// The last percentage of ab's table before 100 %.
const AB_PERCENT_MAX: f64 = 99.0;
/// Number of intervals on a line.
const INTERVALS_A_LINE: usize = 4;

/// Options of the text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Layout {
    /// Whether bodies were sent.
    with_bodies: bool,
    /// Whether the method is PUT.
    with_put: bool,
    /// Whether connections are kept.
    keep_alive: bool,
    /// Whether responses may have any length.
    any_length: bool,
    /// Whether the table of percentages is left out (-d).
    no_percentages: bool,
    /// Whether median and deviation are left out (-S).
    no_deviation: bool,
}

impl Layout {
    /// The layout that the flags request.
    pub(super) fn of(arguments: &Arguments) -> Layout {
        Layout {
            with_bodies: arguments.request.has_body(),
            with_put: arguments.request.put.is_some(),
            keep_alive: arguments.keep_alive,
            any_length: arguments.any_length || arguments.feed.is_some() || arguments.batch.is_some(),
            no_percentages: arguments.no_percentages,
            no_deviation: arguments.no_deviation,
        }
    }
}

/// Writes the result.
pub(super) fn write(result: &QuickResult, layout: &Layout, out: &mut dyn Write) -> io::Result<()> {
    subject(result, layout, out)?;
    totals(result, layout, out)?;
    connection_times(result.connection_times_ms.as_ref(), layout, out)?;
    if !layout.no_percentages {
        percentages(result, out)?;
    }
    classes(result, out)?;
    if let Some(phases) = &result.phases {
        connecting(phases, result.first_request.as_ref(), out)?;
    }
    if let Some(offered) = &result.offered {
        let what = if result.played.is_some() { "iterations" } else { "requests" };
        at_a_rate(offered, (what, if result.staged.is_some() { "up to " } else { "" }), out)?;
    }
    if let Some((head, rows)) = tollgate_report::load_stages(result) {
        let what = if result.offered.is_some() { "due" } else { "asked" };
        writeln!(out, "\nStages, each with what was {what} in it:")?;
        table(&head, &rows, out)?;
    }
    if let Some((head, rows)) = tollgate_report::load_steps(result) {
        writeln!(out, "\nIterations and their steps:")?;
        table(&head, &rows, out)?;
    }
    validity(result, out)
}

/// The loaded server.
fn subject(result: &QuickResult, layout: &Layout, out: &mut dyn Write) -> io::Result<()> {
    let subject = &result.subject;
    writeln!(out, "Server Software:        {}", subject.software)?;
    writeln!(out, "Server Hostname:        {}", subject.hostname)?;
    writeln!(out, "Server Port:            {}", subject.port)?;
    if let Some(tls) = &subject.tls {
        writeln!(out, "SSL/TLS Protocol:       {tls}")?;
    }
    writeln!(out, "\nDocument Path:          {}", subject.path)?;
    match layout.any_length {
        true => writeln!(out, "Document Length:        Variable"),
        false => writeln!(out, "Document Length:        {} bytes", subject.document_bytes.unwrap_or(0)),
    }
}

/// Requests, bytes, and their rates.
fn totals(result: &QuickResult, layout: &Layout, out: &mut dyn Write) -> io::Result<()> {
    let failed: u64 = result.errors.values().sum();
    let (seconds, ended) = (result.duration_ms / 1e3, result.requests + failed);
    writeln!(out, "\nConcurrency Level:      {}", result.concurrency)?;
    writeln!(out, "Time taken for tests:   {seconds:.3} seconds")?;
    writeln!(out, "Complete requests:      {ended}")?;
    writeln!(out, "Failed requests:        {failed}")?;
    if failed > 0 {
        let of = |wanted: fn(&str) -> bool| -> u64 {
            result.errors.iter().filter(|(class, _)| wanted(class)).map(|(_, count)| count).sum()
        };
        let connect = of(is_of_connecting);
        let length = of(|class| class == "length");
        let answered = of(|class| class == "content" || class == "soap-fault" || class.starts_with("status-"));
        let receive = failed - connect - length - answered;
        writeln!(out, "   (Connect: {connect}, Receive: {receive}, Length: {length}, Exceptions: {answered})")?;
    }
    if result.other_statuses > 0 {
        writeln!(out, "Non-2xx responses:      {}", result.other_statuses)?;
    }
    if layout.keep_alive {
        writeln!(out, "Keep-Alive requests:    {}", result.kept_alive)?;
    }
    writeln!(out, "Total transferred:      {} bytes", result.bytes_received)?;
    if layout.with_bodies {
        let label = if layout.with_put { "Total PUT:" } else { "Total body sent:" };
        writeln!(out, "{label:<24}{}", result.bytes_sent)?;
    }
    writeln!(out, "HTML transferred:       {} bytes", result.body_bytes_received)?;
    let (all, time) = (ended.max(1) as f64, seconds.max(f64::MIN_POSITIVE));
    writeln!(out, "Requests per second:    {:.2} [#/sec] (mean)", ended as f64 / time)?;
    // At a rate nobody waits for anybody, and in stages users are not all there: there is nothing to be multiplied by.
    let is_measured = result.offered.is_some() || result.staged.is_some();
    let each_ms = match is_measured {
        false => result.concurrency as f64 * result.duration_ms / all,
        true => result.response_time_ms.mean,
    };
    match result.is_unsteady() || is_measured && result.requests == 0 {
        true => writeln!(out, "Time per request:       - [ms] (mean)")?,
        false => writeln!(out, "Time per request:       {each_ms:.3} [ms] (mean)")?,
    }
    let across_ms = result.duration_ms / all;
    writeln!(out, "Time per request:       {across_ms:.3} [ms] (mean, across all concurrent requests)")?;
    let [received, sent] = [result.bytes_received, result.bytes_sent].map(|bytes| bytes as f64 / 1024.0 / time);
    writeln!(out, "Transfer rate:          {received:.2} [Kbytes/sec] received")?;
    if layout.with_bodies {
        writeln!(out, "                        {sent:.2} kb/s sent")?;
        writeln!(out, "                        {:.2} kb/s total", received + sent)?;
    }
    Ok(())
}

/// Whether a failure of this class happened before a connection was established.
fn is_of_connecting(class: &str) -> bool {
    class.starts_with("connect-")
        || ["resolve-failed", "tls", "ports-exhausted", "descriptors-exhausted"].contains(&class)
}

/// The breakdown of the time of valid responses; none without any.
fn connection_times(times: Option<&ConnectionTimes>, layout: &Layout, out: &mut dyn Write) -> io::Result<()> {
    let of = |part: fn(&ConnectionTimes) -> &Spread| times.map(part);
    let rows = [
        ("Connect:", of(|times| &times.connect)),
        ("Processing:", of(|times| &times.processing)),
        ("Waiting:", of(|times| &times.waiting)),
        ("Total:", of(|times| &times.total)),
    ];
    let cell = |value: Option<f64>| value.map_or_else(|| format!("{:>9}", "-"), |value| format!("{value:>9.3}"));
    let cells = |values: &[Option<f64>]| values.iter().map(|value| cell(*value)).collect::<String>();
    writeln!(out, "\nConnection Times (ms)")?;
    if layout.no_deviation {
        writeln!(out, "{:12}{:>9}{:>9}{:>9}", "", "min", "avg", "max")?;
        return rows.into_iter().try_for_each(|(name, spread)| {
            let values = spread.map_or([None; 3], |Spread { min, mean, max, .. }| [*min, *mean, *max].map(Some));
            writeln!(out, "{name:<12}{}", cells(&values))
        });
    }
    writeln!(out, "{:12}{:>9}{:>9}{:>9}{:>9}{:>9}", "", "min", "mean", "[+/-sd]", "median", "max")?;
    rows.into_iter().try_for_each(|(name, spread)| {
        let values = spread.map_or([None; 5], |Spread { min, mean, deviation, median, max }| {
            [Some(*min), Some(*mean), Some(*deviation), *median, Some(*max)]
        });
        writeln!(out, "{name:<12}{}", cells(&values))
    })
}

fn percentages(result: &QuickResult, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nPercentage of the requests served within a certain time (ms)")?;
    let why = if result.is_unsteady() { "the load was not steady" } else { "fewer than 30 requests beyond it" };
    for (percent, time) in result.served_within_ms.iter().filter(|(percent, _)| *percent <= AB_PERCENT_MAX) {
        let name = format!("{percent}%");
        let undelayed = result.undelayed_within_ms.iter().find(|(off, _)| off.total_cmp(percent).is_eq());
        match time {
            Some(time) if let Some((_, undelayed)) = undelayed => {
                writeln!(out, "{name:>5} {time:>9.3} ({undelayed:.3} without the generator's own delay)")?;
            }
            Some(time) => writeln!(out, "{name:>5} {time:>9.3}")?,
            None => writeln!(out, "{name:>5} {:>9} ({why})", "-")?,
        }
    }
    match result.requests {
        _ if result.is_unsteady() => writeln!(out, "{:>5} {:>9} ({why})", "100%", "-"),
        0 => writeln!(out, "{:>5} {:>9} (longest request)", "100%", "-"),
        _ => writeln!(out, "{:>5} {:>9.3} (longest request)", "100%", result.response_time_ms.max),
    }
}

/// Figures that ab lacks: failures by class, connections, handshakes, parts of batches.
fn classes(result: &QuickResult, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nURL:                    {}", result.url)?;
    if result.offered.is_none() {
        let who = match result.concurrency {
            1 => "1 user who waits".to_owned(),
            users if result.staged.is_some() => format!("up to {users} users who wait"),
            users => format!("{users} users who wait"),
        };
        writeln!(
            out,
            "Load:                   closed, {who}: a stall delays each user once; --rate avoids coordinated omission"
        )?;
    }
    let valid = result.requests_per_second;
    writeln!(out, "Valid answers:          {}, {valid:.2} per second", result.requests)?;
    let beyond = result.served_within_ms.iter().filter(|(percent, _)| *percent > AB_PERCENT_MAX);
    let beyond: Vec<String> =
        beyond.filter_map(|(percent, time)| time.map(|time| format!("p{percent} {time:.3}"))).collect();
    // Only where there is enough to tell, and not as rows of ab's table: a script that looks for `99%` finds `99.99%`, too.
    if !beyond.is_empty() {
        writeln!(out, "Slowest of them (ms):   {}", beyond.join(", "))?;
    }
    intervals(result, out)?;
    if let Some((tail, told)) = result.tail.and_then(|tail| Some((tail, tail.told()?))) {
        writeln!(out, "{:<24}{told}", format!("Beyond {}:", tail.percentile()))?;
    }
    for (class, count) in &result.errors {
        let example = result.error_examples.get(class).map(|example| format!(", first: {example}")).unwrap_or_default();
        writeln!(out, "Failed as {class:<13} {count}{example}")?;
    }
    if !result.parts.is_empty() {
        let parts: Vec<String> =
            result.parts.iter().map(|(status, count)| format!("{count} answered {status}")).collect();
        writeln!(out, "Parts of batches:       {}", parts.join(", "))?;
    }
    writeln!(out, "Connections opened:     {} ({})", result.connections, result.connection)?;
    if let Some(Handshaken { full, resumed, failed }) = result.handshakes {
        let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        writeln!(out, "TLS handshakes:         {full} full, {resumed} resumed{failed}")?;
        let (received, sent) = (result.wire_bytes_received, result.wire_bytes_sent);
        writeln!(out, "Below TLS:              {received} bytes received, {sent} sent")?;
    }
    writeln!(out, "Total sent:             {} bytes", result.bytes_sent)
}

/// The 95 % intervals of the percentages, by name and not in their rows: parsers of ab's text take a row's last word
/// for its time. A `-` is an end that too few slower responses leave open.
fn intervals(result: &QuickResult, out: &mut dyn Write) -> io::Result<()> {
    let text = |(percent, Within { low, high }): &(f64, Within)| {
        let high = high.map_or_else(|| "-".to_owned(), |high| format!("{high:.3}"));
        format!("p{percent} [{low:.3}, {high}]")
    };
    let all: Vec<String> = result.served_within_interval_ms.iter().map(text).collect();
    for (line, some) in all.chunks(INTERVALS_A_LINE).enumerate() {
        let label = if line == 0 { "95 % intervals (ms):" } else { "" };
        writeln!(out, "{label:<24}{}", some.join(", "))?;
    }
    Ok(())
}

/// The breakdown of the time of requests that opened a connection, and their bytes on the wire.
fn connecting(phases: &PhaseTimes, first: Option<&FirstRequest>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nRequests that opened their connection: {}, where their time went (ms)", phases.n)?;
    // Not `99%`: that is a row of ab's table, which a script finds by it.
    writeln!(out, "                 mean       p50       p95       p99       max")?;
    let cell = |value: Option<f64>, digits| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"));
    let mut row = |name: &str, times: &Percentiles| {
        let [p50, p95, p99] = [times.p50, times.p95, times.p99].map(|value| cell(value, 3));
        writeln!(out, "{name:<11}{:>10.3}{p50:>10}{p95:>10}{p99:>10}{:>10.3}", times.mean, times.max)
    };
    row("Waited:", &phases.waited_ms)?;
    // `Connect:` is a row of ab's table, which a script finds by its name.
    row("TCP:", &phases.connect_ms)?;
    if let Some(tls_ms) = &phases.tls_ms {
        row("TLS:", tls_ms)?;
    }
    row("First byte:", &phases.first_byte_ms)?;
    row("Last byte:", &phases.last_byte_ms)?;
    let Some(first) = first else { return Ok(()) };
    let (sent, received) = (first.wire_bytes_sent, first.wire_bytes_received);
    let trips = cell(first.round_trips, 2);
    writeln!(out, "Each of them:           {trips} round trips, {sent:.0} bytes sent, {received:.0} received")?;
    if let Some(segments) = &first.segments {
        let (sent, received, rtt) = (segments.sent, segments.received, segments.round_trip_time_ms);
        let n = segments.n;
        writeln!(out, "TCP_INFO of {n:<11} {sent:.1} segments sent, {received:.1} received, {rtt:.3} ms round trip")?;
    }
    Ok(())
}

/// The rate offered.
fn at_a_rate(offered: &Offered, (what, up_to): (&str, &str), out: &mut dyn Write) -> io::Result<()> {
    let Offered { rate_per_second, arrivals, seed, intended, unsent, users, lateness_ms, overdue_ms } = offered;
    let seed = if *arrivals == Arrivals::Poisson { format!(", seed {seed}") } else { String::new() };
    writeln!(out, "\nOffered:                {up_to}{rate_per_second} {what} per second ({arrivals}{seed})")?;
    writeln!(
        out,
        "{:<24}{intended}, of which {unsent} could not be sent; {users} users were needed",
        format!("Intended {what}:")
    )?;
    let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    let (p50, p99, max) = (cell(lateness_ms.p50), cell(lateness_ms.p99), lateness_ms.max);
    // The highest percentile that there are enough requests for; of few the mean, which they are judged by.
    let Percentiles { p90, p95, p99: own_p99, mean, max: own_max, .. } = overdue_ms;
    let highest = [(own_p99, "p99"), (p95, "p95"), (p90, "p90")].into_iter().find_map(|(own, at)| Some(((*own)?, at)));
    let (own, at) = highest.unwrap_or((*mean, "on average"));
    writeln!(
        out,
        "Sent late by (ms):      p50 {p50}, p99 {p99}, at most {max:.3}; by the generator itself {at} {own:.3}, at most \
         {own_max:.3}"
    )
}

/// A table of stages or steps.
pub(super) fn table(head: &[String], rows: &[Vec<String>], out: &mut dyn Write) -> io::Result<()> {
    let cells = |row: &[String]| row.iter().map(|cell| cell.chars().count()).collect::<Vec<usize>>();
    let all = std::iter::once(cells(head)).chain(rows.iter().map(|row| cells(row)));
    let widths = all.reduce(|most, own| most.into_iter().zip(own).map(|(most, own)| most.max(own)).collect());
    let widths = widths.unwrap_or_default();
    std::iter::once(head).chain(rows.iter().map(Vec::as_slice)).try_for_each(|row| {
        let line: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        writeln!(out, "{}", line.join("  "))
    })
}

/// The validity of the figures.
fn validity(result: &QuickResult, out: &mut dyn Write) -> io::Result<()> {
    let (cpu_us, share) = (result.generator_cpu_us_per_request, result.generator_cpu_share * 100.0);
    writeln!(out, "\nGenerator:              {cpu_us:.1} µs of CPU per request, {share:.0} % of a core")?;
    if let Some(law) = &result.littles_law {
        let verdict = law.verdict();
        writeln!(out, "Little's law:           {} users asked, {:.2} found: {verdict}", law.users, law.found)?;
    }
    for mark in &result.validity {
        let label = if mark.verdict == Verdict::Refused { "Refused:" } else { "Marked:" };
        writeln!(out, "{label:<24}{}; {}", mark.reason, mark.remedy)?;
    }
    if result.interrupted {
        writeln!(out, "Interrupted:            partial, the figures are of what was done until then")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
