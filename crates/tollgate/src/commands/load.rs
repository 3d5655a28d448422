//! `tollgate load`: one URL under load, with ApacheBench's letters and a text laid out as its users know it.
//!
//! Deliberately not here: the load itself, which is the lab's, on the same engine as the experiments.

mod text;

use std::io::{self, Write};
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use tollgate_lab::load::{Arrivals, Connection, QuickLoad, QuickResult, Rate, basic_authorization, quick};
use tollgate_lab::run::{RunError, StopFlag};
use tollgate_net::tls::{ClientSettings, Resumption, TlsChoice, Version};

use super::input;
use crate::failure::{Exit, Failure};
use crate::signals;
use crate::values::{Credentials, HeaderField, duration, requests_per_second, seconds};

const EXAMPLES: &str = "\
Examples:
  tollgate load -n 10000 -c 20 -k http://127.0.0.1:8080/rest/flights
  tollgate load -t 10 -c 50 -k --json http://127.0.0.1:8080/
  tollgate load --rate 300/s --poisson --duration 30s http://127.0.0.1:8080/
  tollgate load -c 50 -n 5000 --tls 1.3 --no-resumption --ca ca.pem https://localhost:8443/
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

    /// Users at the same time, each with one connection; at a rate the most that there may be [default: 1, at a rate
    /// 1000]
    #[arg(short = 'c', long, value_name = "N", help_heading = "Load")]
    pub(super) concurrency: Option<NonZeroUsize>,

    /// Ask at this rate whatever the server does, such as 300/s; response times count from when a request was due
    #[arg(long, value_name = "N/s", value_parser = requests_per_second, conflicts_with = "ramp_up", help_heading = "Load")]
    pub(super) rate: Option<f64>,

    /// At a rate: as independent users ask, instead of equally far apart
    #[arg(long, requires = "rate", help_heading = "Load")]
    pub(super) poisson: bool,

    /// Seed of what --poisson draws [default: another one each time, printed]
    #[arg(long, value_name = "N", requires = "poisson", help_heading = "Load")]
    pub(super) seed: Option<u64>,

    /// Let the users come one after another over this time; nothing counts meanwhile
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Load")]
    pub(super) ramp_up: Option<Duration>,

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

    /// Open a new connection after so many requests on one
    #[arg(long, value_name = "N", conflicts_with = "keep_alive", help_heading = "Load")]
    pub(super) requests_per_connection: Option<NonZeroU32>,

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
    #[arg(long, conflicts_with = "authorities", help_heading = "TLS")]
    pub(super) insecure: bool,

    /// Trust the authorities in this PEM file too, besides the machine's own
    #[arg(long = "ca", value_name = "FILE", help_heading = "TLS")]
    pub(super) authorities: Option<PathBuf>,

    /// Offer only this version of TLS: 1.2 or 1.3
    #[arg(long = "tls", value_name = "VERSION", help_heading = "TLS")]
    pub(super) tls_version: Option<Version>,

    /// Open each connection with a full handshake
    #[arg(long, help_heading = "TLS")]
    pub(super) no_resumption: bool,

    /// A host off this machine that you are allowed to load
    #[arg(long = "i-may-load", value_name = "HOST", help_heading = "Request")]
    pub(super) may_load: Vec<String>,

    /// Print the figures as JSON
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,
}

/// Users at a rate, unless said otherwise.
const USERS_AT_A_RATE: usize = 1000;
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
        text::write(&result, out)
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
    let duration = arguments.time_limit.or(arguments.duration);
    if arguments.rate.is_some() && arguments.requests.is_none() && duration.is_none() {
        return Err(Failure::usage("--rate needs an end: say --duration TIME or -n N"));
    }
    let users = if arguments.rate.is_some() { USERS_AT_A_RATE } else { 1 };
    Ok(QuickLoad {
        requests: arguments.requests.map(u64::from),
        duration,
        concurrency: arguments.concurrency.map_or(users, NonZeroUsize::get),
        rate: arguments.rate.map(|per_second| rate(arguments, per_second)),
        ramp_up: arguments.ramp_up.unwrap_or_default(),
        connection: match arguments.requests_per_connection {
            Some(requests) => Connection::Requests(requests),
            None if arguments.keep_alive => Connection::KeepAlive,
            None => Connection::New,
        },
        method: arguments.method.clone().unwrap_or_else(|| implied.to_owned()),
        headers,
        body: body.map(|file| input::bytes(file, BODY_BYTES_MAX)).transpose()?.unwrap_or_default(),
        tls: ClientSettings {
            choice: if arguments.insecure { TlsChoice::Insecure } else { TlsChoice::Verify },
            authorities: arguments.authorities.clone(),
            version: arguments.tls_version,
            resumption: if arguments.no_resumption { Resumption::Disabled } else { Resumption::Allowed },
        },
        timeout: arguments.timeout,
        threads: arguments.threads.map(usize::from),
        may_load: arguments.may_load.clone(),
        ..QuickLoad::new(arguments.url.clone())
    })
}

fn rate(arguments: &Arguments, per_second: f64) -> Rate {
    let drawn = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    Rate {
        per_second,
        arrivals: if arguments.poisson { Arrivals::Poisson } else { Arrivals::Constant },
        seed: arguments.seed.unwrap_or_else(drawn),
    }
}

fn ended(result: &QuickResult) -> Result<Exit, Failure> {
    let failed: u64 = result.errors.values().sum();
    if result.interrupted {
        return Ok(Exit::Interrupted);
    }
    let Some((class, _)) = result.errors.iter().max_by_key(|(_, count)| **count) else {
        return match result.offered.as_ref().and_then(|offered| offered.refusals.first()) {
            Some(refusal) => Err(Failure::failed(format_args!("the figures are refused: {refusal}"))),
            None => Ok(Exit::Done),
        };
    };
    let example = result.error_examples.get(class).map_or("", String::as_str);
    let all = failed + result.requests;
    Err(Failure::failed(format_args!("{failed} of {all} requests failed, most as `{class}`: {example}")))
}
