//! One `[[endpoint]]`: places with the same answers, load balancing, time limits and suspension.
//!
//! [`EndpointTable`] is the file's contents; [`Endpoint`] is its meaning, and always valid. The file of authorities is
//! read when the gateway starts, and again with the whole configuration.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_net::http1::client::Target;
use toml::Spanned;

use crate::base::config_error::{ConfigError, Misplaced};
use crate::base::number::optional_within;
use crate::base::origin::Origin;

/// Places with the same answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Name that routes and mediators use.
    pub name: Arc<str>,
    /// URLs of the places; each path is put before that of a request.
    pub urls: Vec<Target>,
    /// Choice of the place for the next request.
    pub balance: Balance,
    /// A file in PEM with authorities trusted beside the machine's own.
    pub ca: Option<PathBuf>,
    /// Limits on the use of one place, and on its times.
    pub limits: EndpointLimits,
    /// Suspension of a place after failures.
    pub suspension: Suspension,
    /// Health checks of places, if any.
    pub health: Option<Health>,
    /// Place of its name in the file.
    pub(crate) origin: Origin,
    /// Place of the file of authorities in the file.
    pub(crate) ca_origin: Origin,
}

/// Choice of the place for the next request, among those available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Balance {
    /// Each in turn.
    #[default]
    RoundRobin,
    /// The one with the fewest requests in flight.
    LeastBusy,
    /// The first in the order of the file: the others are spares.
    InOrder,
}

/// Limits on the use of one place, and on its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointLimits {
    /// Requests in flight; the next goes to another place, or is answered 503.
    pub in_flight_max: u32,
    /// Longest time to open a connection, its TLS handshake included; 502 beyond.
    pub connect_max: Duration,
    /// Longest time from the sent request to the first byte of the answer; 504 beyond.
    pub first_byte_max: Duration,
    /// Longest pause in sending or receiving in the middle of a message; 504 beyond, or the answer is cut short.
    pub stall_max: Duration,
    /// Longest time of a request altogether; 504 beyond, or the answer is cut short.
    pub request_max: Duration,
    /// Idle time after which a connection is closed rather than used again.
    pub idle_max: Duration,
    /// Age after which a connection is closed rather than used again.
    pub age_max: Duration,
    /// Idle connections, for each event loop.
    pub connections_idle_max: usize,
}

/// Suspension of a place after failures.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspension {
    /// Failures in a row, without an answer between them.
    pub after_failures: u16,
    /// Length of the first suspension.
    pub initial: Duration,
    /// Factor of each further suspension, until it answers.
    pub factor: f64,
    /// Length of the longest suspension.
    pub max: Duration,
    /// Statuses of answers that count as failures: 5xx only.
    pub statuses: Vec<u16>,
}

// Its factor is a finite number.
impl Eq for Suspension {}

/// Health checks of places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Path requested by GET, below that of the place; 2xx or 3xx means healthy.
    pub path: String,
    /// Time between two checks.
    pub interval: Duration,
    /// Longest time of the answer.
    pub answer_max: Duration,
}

/// Places with the same answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Endpoint")]
pub(super) struct EndpointTable {
    /// Name that routes and mediators use.
    #[schemars(with = "String", length(min = 1, max = NAME_BYTES_MAX))]
    name: Spanned<String>,
    /// URLs of the places, such as `http://127.0.0.1:9001` or `https://backend.example/base`; a path is put before that
    /// of a request. Certificates are verified.
    #[schemars(with = "Vec<String>", length(min = 1, max = URLS_MAX))]
    urls: Spanned<Vec<Spanned<String>>>,
    /// Choice of the place for the next request: each in turn, the one with the fewest in flight, or the first
    /// available.
    #[serde(default)]
    balance: Balance,
    /// A file in PEM with authorities trusted beside the machine's own.
    #[schemars(with = "Option<PathBuf>")]
    ca: Option<Spanned<PathBuf>>,
    /// Requests in flight at one URL; the next goes to another URL, or is answered 503 at once.
    #[serde(default, deserialize_with = "optional_within::<1, IN_FLIGHT_MAX, u32, _>")]
    #[schemars(range(min = 1, max = IN_FLIGHT_MAX))]
    in_flight_max: Option<u32>,
    /// Longest time to open a connection, its TLS handshake included; 502 beyond.
    #[serde(default, deserialize_with = "optional_within::<1, CONNECT_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = CONNECT_MS_MAX))]
    connect_ms_max: Option<u32>,
    /// Longest time from the sent request to the first byte of the answer; 504 beyond.
    #[serde(default, deserialize_with = "optional_within::<1, TIME_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = TIME_MS_MAX))]
    first_byte_ms_max: Option<u32>,
    /// Longest pause in sending or receiving in the middle of a message; 504 beyond, or the answer is cut short.
    #[serde(default, deserialize_with = "optional_within::<1, TIME_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = TIME_MS_MAX))]
    stall_ms_max: Option<u32>,
    /// Longest time of a request altogether; 504 beyond, or the answer is cut short.
    #[serde(default, deserialize_with = "optional_within::<1, TIME_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = TIME_MS_MAX))]
    request_ms_max: Option<u32>,
    /// Idle time after which a connection is closed rather than used again: less than the backend's own limit.
    #[serde(default, deserialize_with = "optional_within::<0, TIME_MS_MAX, u32, _>")]
    #[schemars(range(min = 0, max = TIME_MS_MAX))]
    idle_ms_max: Option<u32>,
    /// Age after which a connection is closed rather than used again.
    #[serde(default, deserialize_with = "optional_within::<0, TIME_MS_MAX, u32, _>")]
    #[schemars(range(min = 0, max = TIME_MS_MAX))]
    age_ms_max: Option<u32>,
    /// Idle connections to one URL, for each event loop.
    #[serde(default, deserialize_with = "optional_within::<0, CONNECTIONS_IDLE_MAX, usize, _>")]
    #[schemars(range(min = 0, max = CONNECTIONS_IDLE_MAX))]
    connections_idle_max: Option<usize>,
    /// Suspension of a URL after failures.
    #[serde(default)]
    suspension: SuspensionTable,
    /// Health checks of URLs; absent: only the results of requests count.
    health: Option<HealthTable>,
}

/// When a URL is suspended: after failures in a row to connect, to agree on TLS, to answer in time, or to answer with a
/// whole message. Then one request tests whether it is back.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Suspension")]
struct SuspensionTable {
    /// Number of failures in a row.
    #[serde(deserialize_with = "optional_within::<1, AFTER_FAILURES_MAX, u16, _>")]
    #[schemars(range(min = 1, max = AFTER_FAILURES_MAX))]
    after_failures: Option<u16>,
    /// Length of the first suspension.
    #[schemars(with = "Option<u32>", range(min = 1, max = TIME_MS_MAX))]
    initial_ms: Option<Spanned<i64>>,
    /// Factor of each further suspension, until it answers.
    #[schemars(with = "Option<f64>", range(min = 1.0, max = FACTOR_MAX))]
    factor: Option<Spanned<f64>>,
    /// Length of the longest suspension.
    #[schemars(with = "Option<u32>", range(min = 1, max = TIME_MS_MAX))]
    max_ms: Option<Spanned<i64>>,
    /// Statuses of answers that count as failures, such as 503; 5xx only. Absent: an answer is no failure.
    #[schemars(with = "Option<Vec<u16>>", length(max = STATUSES_MAX))]
    statuses: Option<Spanned<Vec<Spanned<i64>>>>,
}

/// Health checks of URLs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Health")]
struct HealthTable {
    /// Path requested by GET, below that of the URL; 2xx or 3xx means healthy.
    #[schemars(with = "String")]
    path: Spanned<String>,
    /// Time between two checks.
    #[serde(default, deserialize_with = "optional_within::<INTERVAL_MS_MIN, TIME_MS_MAX, u32, _>")]
    #[schemars(range(min = INTERVAL_MS_MIN, max = TIME_MS_MAX))]
    interval_ms: Option<u32>,
    /// Longest time of the answer, connecting included.
    #[serde(default, deserialize_with = "optional_within::<1, CONNECT_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = CONNECT_MS_MAX))]
    answer_ms_max: Option<u32>,
}

// What a configuration may ask for at most. What it asks for by itself stands in `EndpointLimits::default` and
// `Suspension::default`.
const NAME_BYTES_MAX: usize = 64;
/// Largest number of URLs: the bits of one word, in which a request records the places it tried.
pub(crate) const URLS_MAX: usize = 64;
const ENDPOINTS_MAX: usize = 1_000;
const IN_FLIGHT_MAX: i64 = 1_000_000;
const CONNECT_MS_MAX: i64 = 600_000;
const TIME_MS_MAX: i64 = 24 * 3_600_000;
const CONNECTIONS_IDLE_MAX: i64 = 100_000;
const AFTER_FAILURES_MAX: i64 = 1_000;
const FACTOR_MAX: f64 = 100.0;
const STATUSES_MAX: usize = 100;
const INTERVAL_MS_MIN: i64 = 100;
const INTERVAL_MS: u32 = 1_000;
const ANSWER_MS: u32 = 1_000;

/// Checks the tables of a file and returns their meaning.
///
/// # Errors
/// The first error.
pub(super) fn endpoints(
    tables: Vec<Spanned<EndpointTable>>,
    text: &Arc<str>,
    file_name: &Arc<str>,
) -> Result<Vec<Endpoint>, ConfigError> {
    let mut endpoints: Vec<Endpoint> = Vec::with_capacity(tables.len());
    for (index, table) in tables.into_iter().enumerate() {
        let origin = Origin::new(text, file_name, table.span());
        if index == ENDPOINTS_MAX {
            return Err(origin.wrong(&format!("expected at most {ENDPOINTS_MAX} endpoints")));
        }
        let endpoint = table.into_inner().meaning(&origin).map_err(|(at, wrong)| origin.at(at).wrong(&wrong))?;
        if let Some(other) = endpoints.iter().find(|other| other.name == endpoint.name) {
            let wrong = format!("the endpoint `{}` is there already: {}", endpoint.name, other.origin.line());
            return Err(endpoint.origin.wrong(&wrong));
        }
        endpoints.push(endpoint);
    }
    Ok(endpoints)
}

impl EndpointTable {
    fn meaning(self, origin: &Origin) -> Result<Endpoint, Misplaced> {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        let name = self.name.as_ref();
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(is_of_name) {
            let wrong = format!("expected a name of at most {NAME_BYTES_MAX} letters, digits, `-`, `_` and `.`");
            return Err((self.name.span(), wrong));
        }
        let urls_at = self.urls.span();
        let urls = self.urls.into_inner();
        if urls.is_empty() || urls.len() > URLS_MAX {
            return Err((urls_at, format!("expected from 1 to {URLS_MAX} URLs, found {}", urls.len())));
        }
        let mut targets: Vec<Target> = Vec::with_capacity(urls.len());
        for url in urls {
            let target = target(url.as_ref()).map_err(|wrong| (url.span(), wrong))?;
            if targets.contains(&target) {
                return Err((url.span(), format!("{target} is there already")));
            }
            targets.push(target);
        }
        let ca_origin = origin.at(self.ca.as_ref().map_or_else(|| self.name.span(), Spanned::span));
        if self.ca.is_some() && !targets.iter().any(is_https) {
            let wrong = "`ca` is of no use: no URL begins with https://".to_owned();
            return Err((self.ca.map_or(0..0, |ca| ca.span()), wrong));
        }
        let default = EndpointLimits::default();
        let ms = |given: Option<u32>, default: Duration| given.map_or(default, milliseconds);
        let limits = EndpointLimits {
            in_flight_max: self.in_flight_max.unwrap_or(default.in_flight_max),
            connect_max: ms(self.connect_ms_max, default.connect_max),
            first_byte_max: ms(self.first_byte_ms_max, default.first_byte_max),
            stall_max: ms(self.stall_ms_max, default.stall_max),
            request_max: ms(self.request_ms_max, default.request_max),
            idle_max: ms(self.idle_ms_max, default.idle_max),
            age_max: ms(self.age_ms_max, default.age_max),
            connections_idle_max: self.connections_idle_max.unwrap_or(default.connections_idle_max),
        };
        Ok(Endpoint {
            origin: origin.at(self.name.span()),
            ca_origin,
            name: self.name.into_inner().into(),
            urls: targets,
            balance: self.balance,
            ca: self.ca.map(Spanned::into_inner),
            limits,
            suspension: self.suspension.meaning()?,
            health: self.health.map(HealthTable::meaning).transpose()?,
        })
    }
}

/// Parses the URL of a place; its path is put before that of requests.
fn target(url: &str) -> Result<Target, String> {
    let target = Target::parse(url).map_err(|error| {
        let at = url.char_indices().nth(error.position()).map_or("", |(at, _)| &url[at..]);
        if at.is_empty() { error.message().to_owned() } else { format!("{}, at `{at}`", error.message()) }
    })?;
    if target.path_and_query().contains('?') {
        return Err("a query does not belong here, but into `to` of a route".to_owned());
    }
    Ok(target)
}

fn is_https(target: &Target) -> bool {
    target.scheme() == tollgate_net::http1::client::Scheme::Https
}

impl SuspensionTable {
    fn meaning(self) -> Result<Suspension, Misplaced> {
        let default = Suspension::default();
        let ms = |given: &Option<Spanned<i64>>, default: Duration| match given {
            None => Ok(default),
            Some(ms) => match u32::try_from(*ms.as_ref()) {
                Ok(value) if (1..=TIME_MS_MAX).contains(ms.as_ref()) => Ok(milliseconds(value)),
                _ => Err((ms.span(), format!("expected a number from 1 to {TIME_MS_MAX}, found {}", ms.as_ref()))),
            },
        };
        let initial = ms(&self.initial_ms, default.initial)?;
        // Whoever says how long the first time means it, also where it is longer than the maximum that nobody spoke of.
        let max = ms(&self.max_ms, default.max.max(initial))?;
        if let Some(said) = self.max_ms.as_ref().filter(|_| max < initial) {
            return Err((said.span(), format!("expected at least `initial_ms`, which is {}", initial.as_millis())));
        }
        let factor = match &self.factor {
            Some(factor) if !(1.0..=FACTOR_MAX).contains(factor.as_ref()) => {
                let wrong = format!("expected a number from 1.0 to {FACTOR_MAX:.1}, found {}", factor.as_ref());
                return Err((factor.span(), wrong));
            }
            factor => factor.as_ref().map_or(default.factor, |factor| *factor.as_ref()),
        };
        let mut statuses = Vec::new();
        if let Some(said) = self.statuses {
            if said.as_ref().len() > STATUSES_MAX {
                return Err((said.span(), format!("expected at most {STATUSES_MAX} statuses")));
            }
            for status in said.into_inner() {
                match u16::try_from(*status.as_ref()) {
                    Ok(of_server @ 500..=599) => statuses.push(of_server),
                    _ => {
                        let wrong = "expected a status from 500 to 599: what a client did wrong suspends nobody";
                        return Err((status.span(), wrong.to_owned()));
                    }
                }
            }
        }
        let after_failures = self.after_failures.unwrap_or(default.after_failures);
        Ok(Suspension { after_failures, initial, factor, max, statuses })
    }
}

impl HealthTable {
    fn meaning(self) -> Result<Health, Misplaced> {
        let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
        if !self.path.as_ref().starts_with('/') || !self.path.as_ref().bytes().all(plain) {
            return Err((self.path.span(), "expected a path such as `/healthz`".to_owned()));
        }
        Ok(Health {
            path: self.path.into_inner(),
            interval: milliseconds(self.interval_ms.unwrap_or(INTERVAL_MS)),
            answer_max: milliseconds(self.answer_ms_max.unwrap_or(ANSWER_MS)),
        })
    }
}

fn milliseconds(ms: u32) -> Duration {
    Duration::from_millis(u64::from(ms))
}

impl Default for EndpointLimits {
    fn default() -> EndpointLimits {
        EndpointLimits {
            // As many as one listener has connections.
            in_flight_max: 10_000,
            connect_max: Duration::from_secs(5),
            first_byte_max: Duration::from_secs(60),
            stall_max: Duration::from_secs(30),
            request_max: Duration::from_secs(300),
            // Below the least that is usual at backends, the five seconds of Node.
            idle_max: Duration::from_secs(4),
            age_max: Duration::from_secs(600),
            // More than are busy at once on one loop; fewer would be opened anew with every wave of requests.
            connections_idle_max: 4_096,
        }
    }
}

impl Default for Suspension {
    fn default() -> Suspension {
        Suspension {
            after_failures: 3,
            initial: Duration::from_millis(250),
            factor: 2.0,
            // One request a second tries, which another URL answers if there is one: back within a second of its return.
            max: Duration::from_secs(1),
            statuses: Vec::new(),
        }
    }
}
