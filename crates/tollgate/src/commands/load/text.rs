//! The text of `tollgate load`: what ab prints, where it prints it, and what ab leaves out.
//!
//! Deliberately not here: what the figures are; the lab finds them.

use std::io::{self, Write};

use tollgate_lab::load::{FirstRequest, Handshaken, Offered, PhaseTimes, QuickResult};
use tollgate_lab::results::Percentiles;

/// Writes what was found.
pub(super) fn write(result: &QuickResult, out: &mut dyn Write) -> io::Result<()> {
    let failed: u64 = result.errors.values().sum();
    let seconds = result.duration_ms / 1e3;
    writeln!(out, "URL:                    {}", result.url)?;
    writeln!(out, "Concurrency Level:      {}", result.concurrency)?;
    writeln!(out, "Time taken for tests:   {seconds:.3} seconds")?;
    writeln!(out, "Complete requests:      {}", result.requests)?;
    writeln!(out, "Failed requests:        {failed}")?;
    for (class, count) in &result.errors {
        let example = result.error_examples.get(class).map(|example| format!(", first: {example}")).unwrap_or_default();
        writeln!(out, "   {class}: {count}{example}")?;
    }
    writeln!(out, "Connections opened:     {}", result.connections)?;
    if let Some(Handshaken { full, resumed, failed }) = result.handshakes {
        let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        writeln!(out, "TLS handshakes:         {full} full, {resumed} resumed{failed}")?;
        let (received, sent) = (result.wire_bytes_received, result.wire_bytes_sent);
        writeln!(out, "Below TLS:              {received} bytes received, {sent} sent")?;
    }
    writeln!(out, "Total transferred:      {} bytes", result.bytes_received)?;
    writeln!(out, "Total sent:             {} bytes", result.bytes_sent)?;
    writeln!(out, "Requests per second:    {:.2} [#/sec] (mean)", result.requests_per_second)?;
    writeln!(out, "Time per request:       {:.3} [ms] (mean)", result.response_time_ms.mean)?;
    let kilobytes = result.bytes_received as f64 / 1024.0;
    writeln!(out, "Transfer rate:          {:.2} [Kbytes/sec] received", kilobytes / seconds.max(f64::MIN_POSITIVE))?;

    let times = &result.response_time_ms;
    writeln!(out, "\nPercentage of the requests served within a certain time (ms)")?;
    let percentiles =
        [("50%", times.p50), ("90%", times.p90), ("95%", times.p95), ("99%", times.p99), ("99.9%", times.p999)];
    for (name, value) in percentiles {
        match value {
            Some(value) => writeln!(out, "{name:>7}  {value:9.3}")?,
            None => writeln!(out, "{name:>7}          -  (fewer than 30 requests beyond it)")?,
        }
    }
    writeln!(out, "{:>7}  {:9.3}  (longest request)", "100%", times.max)?;

    if let Some(phases) = &result.phases {
        connecting(phases, result.first_request.as_ref(), out)?;
    }
    if let Some(offered) = &result.offered {
        at_a_rate(offered, out)?;
    }

    let (cpu_us, share) = (result.generator_cpu_us_per_request, result.generator_cpu_share * 100.0);
    let limit = if share > 80.0 { ": it was the limit, not the server" } else { "" };
    writeln!(out, "\nGenerator:              {cpu_us:.1} us of CPU per request, {share:.0} % of a core{limit}")?;
    if let Some(law) = &result.littles_law {
        let verdict = if law.holds { "holds" } else { "does not hold: do not trust these figures" };
        writeln!(out, "Little's law:           {} users asked, {:.2} found: {verdict}", law.users, law.found)?;
    }
    if result.interrupted {
        writeln!(out, "Interrupted: the figures are of what was done until then")?;
    }
    Ok(())
}

/// Where the time of requests that opened a connection went, in ab's table, and what they took on the wire.
fn connecting(phases: &PhaseTimes, first: Option<&FirstRequest>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nRequests that opened their connection: {}, where their time went (ms)", phases.n)?;
    writeln!(out, "                 mean       50%       95%       99%       max")?;
    let mut row = |name: &str, times: &Percentiles| {
        let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
        let (p50, p95, p99) = (cell(times.p50), cell(times.p95), cell(times.p99));
        writeln!(out, "{name:<11} {:9.3} {p50:>9} {p95:>9} {p99:>9} {:9.3}", times.mean, times.max)
    };
    row("Waited:", &phases.waited_ms)?;
    row("Connect:", &phases.connect_ms)?;
    if let Some(tls_ms) = &phases.tls_ms {
        row("TLS:", tls_ms)?;
    }
    row("First byte:", &phases.first_byte_ms)?;
    row("Last byte:", &phases.last_byte_ms)?;
    let Some(first) = first else { return Ok(()) };
    let (trips, sent, received) = (first.round_trips, first.wire_bytes_sent, first.wire_bytes_received);
    writeln!(out, "Each of them:           {trips:.2} round trips, {sent:.0} bytes sent, {received:.0} received")?;
    if let Some(segments) = &first.segments {
        let (sent, received, rtt) = (segments.sent, segments.received, segments.round_trip_time_ms);
        let n = segments.n;
        writeln!(out, "TCP_INFO of {n:<11} {sent:.1} segments sent, {received:.1} received, {rtt:.3} ms round trip")?;
    }
    Ok(())
}

/// What was offered at a rate, and whether the figures may be read.
fn at_a_rate(offered: &Offered, out: &mut dyn Write) -> io::Result<()> {
    let Offered { rate_per_second, arrivals, seed, intended, unsent, users, lateness_ms, refusals } = offered;
    let seed = if *arrivals == "poisson" { format!(", seed {seed}") } else { String::new() };
    writeln!(out, "\nOffered:                {rate_per_second} requests per second ({arrivals}{seed})")?;
    writeln!(
        out,
        "Intended requests:      {intended}, of which {unsent} could not be sent; {users} users were needed"
    )?;
    let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    let (p50, p99, max) = (cell(lateness_ms.p50), cell(lateness_ms.p99), lateness_ms.max);
    writeln!(out, "Sent late by (ms):      50% {p50}, 99% {p99}, at most {max:.3}")?;
    for refusal in refusals {
        writeln!(out, "Refused:                {refusal}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_lab::load::{LittlesLaw, Segments};

    fn result() -> QuickResult {
        QuickResult {
            url: "http://…@127.0.0.1:8080/".to_owned(),
            concurrency: 20,
            requests: 10_000,
            errors: [("status-503".to_owned(), 2)].into(),
            error_examples: [("status-503".to_owned(), "503 Service Unavailable".to_owned())].into(),
            duration_ms: 500.0,
            requests_per_second: 20_000.0,
            response_time_ms: Percentiles {
                mean: 0.998,
                p50: Some(0.95),
                p90: Some(1.2),
                p95: Some(1.4),
                p99: Some(2.0),
                p999: None,
                max: 4.5,
            },
            service_time_ms: Percentiles::default(),
            curve: Vec::new(),
            bytes_received: 10_240_000,
            bytes_sent: 1_000_000,
            wire_bytes_received: 10_240_000,
            wire_bytes_sent: 1_000_000,
            connections: 20,
            handshakes: None,
            phases: None,
            first_request: None,
            offered: None,
            generator_cpu_us_per_request: 6.24,
            generator_cpu_share: 0.12,
            littles_law: Some(LittlesLaw { users: 20, found: 19.96, off: 0.002, bound: 0.01, holds: true }),
            interrupted: false,
        }
    }

    #[test]
    fn the_text_is_abs_with_what_ab_leaves_out() {
        let mut out = Vec::new();
        write(&result(), &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"
        URL:                    http://…@127.0.0.1:8080/
        Concurrency Level:      20
        Time taken for tests:   0.500 seconds
        Complete requests:      10000
        Failed requests:        2
           status-503: 2, first: 503 Service Unavailable
        Connections opened:     20
        Total transferred:      10240000 bytes
        Total sent:             1000000 bytes
        Requests per second:    20000.00 [#/sec] (mean)
        Time per request:       0.998 [ms] (mean)
        Transfer rate:          20000.00 [Kbytes/sec] received

        Percentage of the requests served within a certain time (ms)
            50%      0.950
            90%      1.200
            95%      1.400
            99%      2.000
          99.9%          -  (fewer than 30 requests beyond it)
           100%      4.500  (longest request)

        Generator:              6.2 us of CPU per request, 12 % of a core
        Little's law:           20 users asked, 19.96 found: holds
        ");
    }

    #[test]
    fn a_broken_law_is_said_with_what_follows() {
        let broken = LittlesLaw { users: 20, found: 17.0, off: 0.15, bound: 0.01, holds: false };
        let mut out = Vec::new();
        write(&QuickResult { littles_law: Some(broken), ..result() }, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("20 users asked, 17.00 found: does not hold: do not trust these figures"), "{text}");
    }

    #[test]
    fn connections_and_their_handshakes_are_taken_apart() {
        let times = Percentiles { mean: 0.5, p50: Some(0.4), p95: Some(0.9), max: 2.0, ..Percentiles::default() };
        let phases = PhaseTimes {
            waited_ms: Percentiles::default(),
            connect_ms: times,
            tls_ms: Some(times),
            first_byte_ms: times,
            last_byte_ms: times,
            n: 1000,
        };
        let segments = Segments { sent: 6.0, received: 5.5, retransmitted: 0.0, round_trip_time_ms: 0.03, n: 63 };
        let first = FirstRequest {
            round_trips: 3.0,
            wire_bytes_sent: 512.0,
            wire_bytes_received: 2048.0,
            n: 1000,
            segments: Some(segments),
        };
        let mut out = Vec::new();
        connecting(&phases, Some(&first), &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"
        Requests that opened their connection: 1000, where their time went (ms)
                         mean       50%       95%       99%       max
        Waited:         0.000         -         -         -     0.000
        Connect:        0.500     0.400     0.900         -     2.000
        TLS:            0.500     0.400     0.900         -     2.000
        First byte:     0.500     0.400     0.900         -     2.000
        Last byte:      0.500     0.400     0.900         -     2.000
        Each of them:           3.00 round trips, 512 bytes sent, 2048 received
        TCP_INFO of 63          6.0 segments sent, 5.5 received, 0.030 ms round trip
        ");
        let handshakes = Some(Handshaken { full: 1000, resumed: 0, failed: 2 });
        let mut out = Vec::new();
        write(&QuickResult { handshakes, ..result() }, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("TLS handshakes:         1000 full, 0 resumed, 2 failed\n"), "{text}");
        assert!(text.contains("Below TLS:              10240000 bytes received, 1000000 sent\n"), "{text}");
    }

    #[test]
    fn a_rate_that_was_not_kept_is_said_with_what_helps() {
        let offered = Offered {
            rate_per_second: 300.0,
            arrivals: "poisson",
            seed: 7,
            intended: 3000,
            unsent: 60,
            users: 10,
            lateness_ms: Percentiles { p50: Some(0.02), p99: Some(0.2), max: 1.5, ..Percentiles::default() },
            refusals: vec!["60 of 3000 requests could not be sent: allow more users, or offer less".to_owned()],
        };
        let mut out = Vec::new();
        at_a_rate(&offered, &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"
        Offered:                300 requests per second (poisson, seed 7)
        Intended requests:      3000, of which 60 could not be sent; 10 users were needed
        Sent late by (ms):      50% 0.020, 99% 0.200, at most 1.500
        Refused:                60 of 3000 requests could not be sent: allow more users, or offer less
        ");
    }
}
