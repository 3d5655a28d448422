//! `tollgate load`: one URL under load, with ApacheBench's letters and a text laid out as its users know it.
//!
//! Deliberately not here: the load itself, which is the lab's, on the same engine as the experiments.

use std::io::{self, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tollgate_lab::load::{Connection, QuickLoad, QuickResult, basic_authorization, quick};
use tollgate_lab::run::{Certificates, RunError, StopFlag};

use super::input;
use crate::failure::{Exit, Failure};
use crate::signals;
use crate::values::{Credentials, HeaderField, duration, seconds};

const EXAMPLES: &str = "\
Examples:
  tollgate load -n 10000 -c 20 -k http://127.0.0.1:8080/rest/flights
  tollgate load -t 10 -c 50 -k --json http://127.0.0.1:8080/
  tollgate load -c 4 -n 1000 -p order.json -T application/json http://127.0.0.1:8080/orders

The letters are ApacheBench's. Unlike ab, requests are HTTP/1.1, nothing fails silently, and response times come with percentiles up to p99.9, the generator's own CPU, and a check by Little's law.";

/// Arguments of `load`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What to ask for
    #[arg(value_name = "URL")]
    pub(super) url: String,

    /// Stop after so many requests [default: 1, or no bound if a time is given]
    #[arg(short = 'n', long, value_name = "N", help_heading = "Load")]
    pub(super) requests: Option<NonZeroU64>,

    /// Users at the same time, each with one connection
    #[arg(short = 'c', long, value_name = "N", default_value = "1", help_heading = "Load")]
    pub(super) concurrency: NonZeroUsize,

    /// Threads that load, each with its share of the users [default: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(super) threads: Option<NonZeroUsize>,

    /// Stop after so many seconds
    #[arg(short = 't', value_name = "SECONDS", value_parser = seconds, conflicts_with = "duration", help_heading = "Load")]
    pub(super) time_limit: Option<Duration>,

    /// Stop after a time, such as 10s, 500ms or 2m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Load")]
    pub(super) duration: Option<Duration>,

    /// Keep connections open; without it, every request opens one, as with ab
    #[arg(short = 'k', long, help_heading = "Load")]
    pub(super) keep_alive: bool,

    /// Give a request up after so many seconds, as an error of class `timeout`
    #[arg(short = 's', value_name = "SECONDS", value_parser = seconds, default_value = "30", help_heading = "Load")]
    pub(super) timeout: Duration,

    /// Method [default: GET, or POST with -p, PUT with -u]
    #[arg(short = 'm', long, value_name = "METHOD", help_heading = "Request")]
    pub(super) method: Option<String>,

    /// Ask with HEAD
    #[arg(short = 'i', conflicts_with_all = ["method", "post", "put"], help_heading = "Request")]
    pub(super) head: bool,

    /// A header field
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", help_heading = "Request")]
    pub(super) headers: Vec<HeaderField>,

    /// A cookie
    #[arg(short = 'C', value_name = "NAME=VALUE", help_heading = "Request")]
    pub(super) cookies: Vec<String>,

    /// Basic authentication, sent at once
    #[arg(short = 'A', long = "basic", value_name = "USER:PASSWORD", help_heading = "Request")]
    pub(super) basic: Option<Credentials>,

    /// Send this file's content with POST
    #[arg(short = 'p', long, value_name = "FILE", conflicts_with = "put", help_heading = "Request")]
    pub(super) post: Option<PathBuf>,

    /// Send this file's content with PUT
    #[arg(short = 'u', long, value_name = "FILE", help_heading = "Request")]
    pub(super) put: Option<PathBuf>,

    /// Content type of what is sent
    #[arg(short = 'T', long, value_name = "TYPE", default_value = "text/plain", help_heading = "Request")]
    pub(super) content_type: String,

    /// Do not verify the server's certificate
    #[arg(long, help_heading = "Request")]
    pub(super) insecure: bool,

    /// A host off this machine that you are allowed to load
    #[arg(long = "i-may-load", value_name = "HOST", help_heading = "Request")]
    pub(super) may_load: Vec<String>,

    /// Print the figures as JSON
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,
}

/// The largest body that is sent.
const BODY_BYTES_MAX: u64 = 256 << 20;

/// Loads the URL and prints the figures; failed requests make the exit code 1, after the figures.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let load = quick_load(arguments)?;
    let stop = StopFlag::new();
    let asked = stop.clone();
    signals::on_stop(move || asked.stop())?;
    let result = quick(&load, &stop).map_err(|error| match error {
        RunError::Usage(_) => Failure::usage(error),
        RunError::Failed(_) => Failure::failed(error),
    })?;
    let written = if arguments.json {
        serde_json::to_writer_pretty(&mut *out, &result).map_err(io::Error::from).and_then(|()| writeln!(out))
    } else {
        write(&result, out)
    };
    written.and_then(|()| out.flush()).map_err(Failure::output)?;
    ended(&result)
}

fn quick_load(arguments: &Arguments) -> Result<QuickLoad, Failure> {
    let (body, implied) = match (&arguments.post, &arguments.put) {
        (Some(file), _) => (Some(file), "POST"),
        (None, Some(file)) => (Some(file), "PUT"),
        (None, None) => (None, if arguments.head { "HEAD" } else { "GET" }),
    };
    let mut headers: Vec<(String, String)> = Vec::new();
    if body.is_some() {
        headers.push(("Content-Type".to_owned(), arguments.content_type.clone()));
    }
    if let Some(credentials) = &arguments.basic {
        let value = basic_authorization(&credentials.user, &credentials.password);
        headers.push(("Authorization".to_owned(), value));
    }
    if !arguments.cookies.is_empty() {
        headers.push(("Cookie".to_owned(), arguments.cookies.join("; ")));
    }
    // The user's own come last, since a later field replaces an earlier one of the same name.
    headers.extend(arguments.headers.iter().map(|field| (field.name.clone(), field.value.clone())));
    Ok(QuickLoad {
        requests: arguments.requests.map(u64::from),
        duration: arguments.time_limit.or(arguments.duration),
        concurrency: arguments.concurrency.get(),
        connection: if arguments.keep_alive { Connection::KeepAlive } else { Connection::New },
        method: arguments.method.clone().unwrap_or_else(|| implied.to_owned()),
        headers,
        body: body.map(|file| input::bytes(file, BODY_BYTES_MAX)).transpose()?.unwrap_or_default(),
        certificates: if arguments.insecure { Certificates::Unverified } else { Certificates::Verified },
        timeout: arguments.timeout,
        threads: arguments.threads.map(usize::from),
        may_load: arguments.may_load.clone(),
        ..QuickLoad::new(arguments.url.clone())
    })
}

fn write(result: &QuickResult, out: &mut dyn Write) -> io::Result<()> {
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

fn ended(result: &QuickResult) -> Result<Exit, Failure> {
    let failed: u64 = result.errors.values().sum();
    if result.interrupted {
        return Ok(Exit::Interrupted);
    }
    let Some((class, _)) = result.errors.iter().max_by_key(|(_, count)| **count) else { return Ok(Exit::Done) };
    let example = result.error_examples.get(class).map_or("", String::as_str);
    let all = failed + result.requests;
    Err(Failure::failed(format_args!("{failed} of {all} requests failed, most as `{class}`: {example}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_lab::load::LittlesLaw;
    use tollgate_lab::results::Percentiles;

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
            connections: 20,
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
}
