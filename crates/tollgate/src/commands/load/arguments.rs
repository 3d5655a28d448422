//! The flags of `tollgate load`: every letter of ApacheBench, and words for features that ab lacks.
//!
//! For the resulting load, see [`super::asked`].

use std::convert::Infallible;
use std::net::IpAddr;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgAction, Args, Command, ValueEnum};
use tollgate_lab::single::JsonValue;
use tollgate_lab::traffic::stages::Stages;
use tollgate_lab::traffic::statuses::Statuses;

use super::asked::Place;
use super::files::Export;
use crate::commands::asking::{Request, Tls, with_scheme};
use crate::progress::Shown;
use crate::values::{Credentials, count, requests_per_second, seconds_or_time};

const EXAMPLES: &str = "\
Examples:
  tollgate load -n 10000 -c 20 -k http://127.0.0.1:8080/rest/flights
  tollgate load -t 30s -c 50 -k --expect-body AA --threshold 'p99 < 20 ms' http://127.0.0.1:8080/
  tollgate load --rate 300/s -t 30s -k http://127.0.0.1:8080/
  tollgate load -n 500 -k --json-body '{\"name\":\"x\"}' http://127.0.0.1:8080/items
  tollgate load --scenario login.toml -c 20 -t 30s http://127.0.0.1:8080/api/
  tollgate load -n 1000 -k --feed keys.csv 'http://127.0.0.1:8080/flights/{{carrid}}/{{connid}}'

ApacheBench's letters work as they do there; --ab prints its text. --help-all lists all flags.

Exit codes: 0 done, 1 requests failed, 2 usage, 3 the figures are refused, 99 a threshold does not hold, 130 interrupted.";

const ALL_EXAMPLES: &str = "\
Examples:
  tollgate load -n 10000 -c 20 -k http://127.0.0.1:8080/rest/flights
  tollgate load -p request.xml -n 10000 -c 20 -k -H \"SOAPAction: urn:getQuote\" -T \"text/xml; charset=UTF-8\" URL
  tollgate load --rate 300/s --poisson --duration 30s -k http://127.0.0.1:8080/
  tollgate load --stages 10s:50,30s:50,10s:0 -k --html report.html http://127.0.0.1:8080/
  tollgate load -n 5000 -k --feed keys.csv --feed-order random 'http://127.0.0.1:8080/flights/{{carrid}}/{{connid}}'
  tollgate load --scenario login.toml -c 20 -t 30s http://127.0.0.1:8080/api/
  tollgate load -n 500 -k -p record.json --batch 100 http://127.0.0.1:8080/odata/v4/refsvc/TestRecords
  tollgate load -t 30 -c 50 --tls 1.3 --no-resumption --ca ca.pem --html report.html https://localhost:8443/

The letters are ApacheBench's, and --ab prints its text, with decimals. Unlike ab, requests are HTTP/1.1, -t implies no
-n, an answer with a status outside 2xx has failed (see --expect-status), and nothing fails silently.

Exit codes: 0 done, 1 requests failed, 2 usage, 3 the figures are refused, 99 a threshold does not hold, 130 interrupted
(what was done is printed).";

/// Flags that `-h` lists; the others are for `--help-all`.
const FIRST: [&str; 36] = [
    "url",
    "requests",
    "concurrency",
    "duration",
    "rate",
    "stages",
    "scenario",
    "timeout",
    "keep_alive",
    "proxy",
    "unix_socket",
    "may_load",
    "method",
    "headers",
    "cookies",
    "basic",
    "post",
    "text",
    "json_body",
    "form",
    "content_type",
    "feed",
    "expect_status",
    "expect_body",
    "expect_json",
    "thresholds",
    "authorities",
    "insecure",
    "json",
    "html",
    "export",
    "ab",
    "quiet",
    "live",
    "help",
    "help_all",
];

/// The same command with a short `-h`.
pub(crate) fn with_short_help(command: Command) -> Command {
    command.mut_args(|argument| {
        let is_first = FIRST.contains(&argument.get_id().as_str());
        argument.hide_short_help(!is_first)
    })
}

/// Arguments of `load`.
#[derive(Debug, Args)]
#[command(version, disable_help_flag = true, after_help = EXAMPLES, after_long_help = ALL_EXAMPLES)]
pub(crate) struct Arguments {
    /// URL to load; http:// if it names no scheme. With a feed, {{column}} is replaced by a value
    #[arg(value_name = "URL", value_parser = |url: &str| Ok::<String, Infallible>(with_scheme(url)))]
    pub(super) url: String,

    /// Number of requests [default: 1, or unlimited with a duration]
    #[arg(short = 'n', long, value_name = "N", value_parser = count::<NonZeroU64>, allow_negative_numbers = true, help_heading = "Load")]
    pub(super) requests: Option<NonZeroU64>,

    /// Number of concurrent users, each with one connection; at a fixed rate, the most that are used [default: 1, at a
    /// fixed rate 1000, with a scenario 200]
    #[arg(short = 'c', long, visible_alias = "users", value_name = "N", value_parser = count::<NonZeroUsize>, allow_negative_numbers = true, help_heading = "Load")]
    pub(super) concurrency: Option<NonZeroUsize>,

    /// Duration, such as 10s, 500ms or 2m; a bare number is seconds
    #[arg(short = 't', long, value_name = "TIME", value_parser = seconds_or_time, allow_negative_numbers = true, help_heading = "Load")]
    pub(super) duration: Option<Duration>,

    /// Send at a fixed rate, such as 300/s, even if the server falls behind. Response times count from the scheduled
    /// send
    #[arg(long, value_name = "N/s", value_parser = requests_per_second, conflicts_with = "ramp_up", help_heading = "Load")]
    pub(super) rate: Option<f64>,

    /// Send at random intervals (Poisson arrivals) instead of equal ones
    #[arg(long, help_heading = "Load")]
    pub(super) poisson: bool,

    /// Change the number of users or the rate over time. Each stage has a duration and a target: 10s:50,30s:50,10s:0
    /// (users) or 10s:300/s,30s:300/s (rate). FROM..TO also sets the start
    #[arg(long, value_name = "TIME:N,…", value_parser = stages, conflicts_with_all = ["rate", "ramp_up", "requests", "duration"], help_heading = "Load")]
    pub(super) stages: Option<Arc<Stages>>,

    /// Start the users one after another over this time, which is not measured
    #[arg(long, visible_alias = "ramp", value_name = "TIME", value_parser = seconds_or_time, help_heading = "Load")]
    pub(super) ramp_up: Option<Duration>,

    /// Seed of --poisson, of random rows and of a scenario's think times [default: random, printed]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(super) seed: Option<u64>,

    /// Load generator threads, which share the users [default: 1]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>, help_heading = "Load")]
    pub(super) threads: Option<NonZeroUsize>,

    /// Request timeout; a late answer fails as class `timeout`
    #[arg(short = 's', long, value_name = "TIME", value_parser = seconds_or_time, allow_negative_numbers = true, default_value = "30", help_heading = "Load")]
    pub(super) timeout: Duration,

    /// Keep connections open; by default each request opens a new one, as in ab
    #[arg(short = 'k', long, help_heading = "Connections")]
    pub(super) keep_alive: bool,

    /// Open a new connection after this many requests
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>, conflicts_with = "keep_alive", help_heading = "Connections")]
    pub(super) requests_per_connection: Option<NonZeroU32>,

    /// Connect to this address for this host, instead of resolving its name
    #[arg(long, value_name = "HOST:PORT:ADDRESS", conflicts_with = "proxy", help_heading = "Connections")]
    pub(super) resolve: Option<Place>,

    /// Source address of connections
    #[arg(short = 'B', value_name = "ADDRESS", help_heading = "Connections")]
    pub(super) bind: Option<IpAddr>,

    /// Size of the socket buffers, each way, in bytes [default: the kernel's]
    #[arg(short = 'b', value_name = "BYTES", help_heading = "Connections")]
    pub(super) buffer_bytes: Option<u32>,

    /// HTTP proxy; an https URL uses a tunnel (CONNECT)
    #[arg(short = 'X', long, value_name = "HOST:PORT", help_heading = "Connections")]
    pub(super) proxy: Option<String>,

    /// Connect to this Unix socket instead of the URL's host
    #[arg(long, value_name = "PATH", conflicts_with_all = ["proxy", "resolve", "bind", "buffer_bytes"], help_heading = "Connections")]
    pub(super) unix_socket: Option<PathBuf>,

    /// Allow load on this remote host; may be repeated
    #[arg(long = "i-may-load", value_name = "HOST", help_heading = "Connections")]
    pub(super) may_load: Vec<String>,

    #[command(flatten)]
    pub(super) request: Request,

    /// Basic authentication for the proxy
    #[arg(short = 'P', value_name = "USER:PASSWORD", help_heading = "Request")]
    pub(super) proxy_basic: Option<Credentials>,

    /// Send bodies in chunks of this many bytes, without Content-Length [default size: 16384]
    #[arg(long, value_name = "BYTES", num_args = 0..=1, require_equals = true, default_missing_value = "16384", value_parser = count::<NonZeroUsize>, help_heading = "Request")]
    pub(super) chunked: Option<NonZeroUsize>,

    /// Send the body in a SOAP envelope for this action; a fault counts as a failure
    #[arg(long, value_name = "ACTION", conflicts_with_all = ["json_body", "form"], help_heading = "Request")]
    pub(super) soap: Option<String>,

    /// SOAP version [default: that of the file's envelope, else 1.1]
    #[arg(long, value_name = "VERSION", requires = "soap", help_heading = "Request")]
    pub(super) soap_version: Option<SoapVersion>,

    /// Send this many requests in one OData $batch; each answer in it is counted
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>, conflicts_with = "soap", help_heading = "Request")]
    pub(super) batch: Option<NonZeroUsize>,

    /// Format of the batch
    #[arg(long, value_name = "FORM", requires = "batch", default_value = "multipart", help_heading = "Request")]
    pub(super) batch_form: BatchFormat,

    /// Path of the service root, with a trailing slash [default: the URL up to its last segment]
    #[arg(long, value_name = "PATH", requires = "batch", help_heading = "Request")]
    pub(super) batch_root: Option<String>,

    /// TOML file with the steps that each user repeats below the URL, such as a login and what its token is for
    /// (docs/scenarios.md); -n counts iterations
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "method", "head", "post", "put", "text", "json_body", "form", "content_type", "soap", "batch", "chunked", "feed", "proxy",
            "requests_per_connection", "expect_status", "expect_body", "expect_json", "any_length",
        ],
        help_heading = "Request"
    )]
    pub(super) scenario: Option<PathBuf>,

    /// CSV file with column names in its first row. {{name}} in URL, headers and body is replaced by a value, escaped
    /// for its place ({{name|raw}}, |json, |xml or |url for another escape)
    #[arg(long, value_name = "FILE", help_heading = "Feed")]
    pub(super) feed: Option<PathBuf>,

    /// Order of the rows
    #[arg(long, value_name = "ORDER", requires = "feed", default_value = "in-order", help_heading = "Feed")]
    pub(super) feed_order: FeedOrder,

    /// After the last row [default: again; for unique rows: stop]
    #[arg(long, value_name = "END", requires = "feed", help_heading = "Feed")]
    pub(super) feed_end: Option<FeedEnding>,

    /// Accepted statuses, such as 200, 2xx,304, 400-404 or any
    #[arg(long, value_name = "STATUSES", default_value = "2xx", help_heading = "Answers")]
    pub(super) expect_status: Statuses,

    /// Text that every answer must contain
    #[arg(long, value_name = "TEXT", help_heading = "Answers")]
    pub(super) expect_body: Option<String>,

    /// JSON value that every answer must have at a JSON pointer, such as /status=ok; may be repeated
    #[arg(long, value_name = "POINTER=VALUE", help_heading = "Answers")]
    pub(super) expect_json: Vec<JsonValue>,

    /// Expectation, such as 'p99 < 20 ms', 'rps > 500' or 'error-share < 1 %'; exit 99 if it is not met; may be
    /// repeated
    #[arg(long = "threshold", value_name = "EXPECTATION", help_heading = "Answers")]
    pub(super) thresholds: Vec<String>,

    /// Accept answers of any length; by default each must be as long as the first, except with a feed or --batch
    #[arg(short = 'l', help_heading = "Answers")]
    pub(super) any_length: bool,

    #[command(flatten)]
    pub(super) tls: Tls,

    /// Print all figures as JSON (`tollgate schema load`)
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,

    /// Print ApacheBench's text
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub(super) ab: bool,

    /// Write figures for other tools: csv (a row per second), jtl (JMeter, a row per request), prometheus (OpenMetrics),
    /// influx (line protocol) or otlp (OpenTelemetry, JSON); may be repeated
    #[arg(long, value_name = "FORMAT=FILE", help_heading = "Output")]
    pub(super) export: Vec<Export>,

    /// Write a self-contained HTML report with charts
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) html: Option<PathBuf>,

    /// Write the full distributions as an HdrHistogram log
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) hlog: Option<PathBuf>,

    /// Write the percentiles as CSV, as ab does
    #[arg(short = 'e', value_name = "FILE", help_heading = "Output")]
    pub(super) csv: Option<PathBuf>,

    /// Write one line per request for gnuplot, as ab does (the first million)
    #[arg(short = 'g', value_name = "FILE", help_heading = "Output")]
    pub(super) gnuplot: Option<PathBuf>,

    /// Print ab's text without its table of percentages
    #[arg(short = 'd', help_heading = "Output")]
    pub(super) no_percentages: bool,

    /// Print ab's text without median and deviation of connection times
    #[arg(short = 'S', help_heading = "Output")]
    pub(super) no_deviation: bool,

    /// From 2 on, print the first request and its answer to stderr
    #[arg(short = 'v', value_name = "N", default_value_t = 0, help_heading = "Output")]
    pub(super) verbosity: u8,

    #[command(flatten)]
    pub(super) shown: Shown,

    /// Accepted for ab compatibility; a failed request never ends the load
    #[arg(short = 'r', help_heading = "Output")]
    pub(super) go_on: bool,

    /// Print the most used flags
    #[arg(short = 'h', long, action = ArgAction::HelpShort)]
    help: Option<bool>,

    /// Print all flags
    #[arg(long, action = ArgAction::HelpLong)]
    help_all: Option<bool>,

    /// ab's HTML tables, refused with what is there instead.
    #[arg(short = 'w', hide = true)]
    pub(super) html_tables: bool,

    /// Of ab's HTML tables.
    #[arg(short = 'x', hide = true, value_name = "ATTRIBUTES")]
    pub(super) table: Option<String>,

    /// Of ab's HTML tables.
    #[arg(short = 'y', hide = true, value_name = "ATTRIBUTES")]
    pub(super) row: Option<String>,

    /// Of ab's HTML tables.
    #[arg(short = 'z', hide = true, value_name = "ATTRIBUTES")]
    pub(super) cell: Option<String>,
}

impl Arguments {
    /// Whether ApacheBench's text is printed; letters that change it imply it.
    pub(super) fn is_abs(&self) -> bool {
        self.ab || self.no_percentages || self.no_deviation
    }
}

/// A version of SOAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SoapVersion {
    /// text/xml with SOAPAction
    #[value(name = "1.1")]
    V11,
    /// application/soap+xml with action
    #[value(name = "1.2")]
    V12,
}

/// How a batch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BatchFormat {
    /// Multipart, each request by itself
    Multipart,
    /// Multipart, all in one change set: how OData V2 writes
    ChangeSet,
    /// JSON: OData V4.01
    Json,
}

/// In which order rows are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FeedOrder {
    /// From the first to the last, by each user for itself
    InOrder,
    /// Any, drawn for each request
    Random,
    /// From the first to the last, each row by one request
    Unique,
}

/// What comes behind the last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FeedEnding {
    /// The first row
    Again,
    /// Nothing: the load ends
    Stop,
}

fn stages(text: &str) -> Result<Arc<Stages>, String> {
    text.parse().map(Arc::new)
}
