//! What an operator may set: a TOML file (or nothing, which serves the flight service from memory), parsed so that no
//! value behind [`Config`] can be wrong.
//!
//! It opens no file and no socket: the text comes from the caller, who also lays command line options over the result.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::services::flights;
use crate::store::sqlite::READ_TIME_BUDGET;

mod error;

pub use error::ConfigError;

/// The gateway's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "tollgate gateway configuration")]
pub struct Config {
    /// Where the services are offered, and by how many threads.
    pub listen: Listen,
    /// The operator's own listener.
    pub admin: Admin,
    /// The bounded pool behind which every read of the database stands.
    pub work_processes: WorkProcesses,
    /// How answers are cut into pages.
    pub pages: Pages,
    /// Where the data lie.
    pub database: Database,
    /// What one client may take of the gateway.
    pub limits: Limits,
    /// How long requests in flight may take to end once the gateway was told to stop.
    #[serde(deserialize_with = "within::<0, DRAIN_SECONDS_MAX, u32, _>")]
    #[schemars(range(min = 0, max = DRAIN_SECONDS_MAX))]
    pub drain_seconds: u32,
}

/// Where the services are offered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Listen {
    /// Addresses such as `127.0.0.1:8080`; port 0 takes any that is free.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub addresses: Vec<SocketAddr>,
    /// Event loops for each address, each on a thread of its own; absent: one for each core that the process may use.
    #[serde(deserialize_with = "optional_within::<1, THREADS_MAX, u16, _>")]
    #[schemars(range(min = 1, max = THREADS_MAX))]
    pub threads: Option<u16>,
    /// Connections that may wait to be accepted, for each thread.
    #[serde(deserialize_with = "within::<1, BACKLOG_MAX, u32, _>")]
    #[schemars(range(min = 1, max = BACKLOG_MAX))]
    pub backlog: u32,
}

/// The operator's own listener: `/metrics`, `/healthz`, `/readyz`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Admin {
    /// A loopback address; port 0 takes any that is free.
    #[serde(deserialize_with = "loopback")]
    #[schemars(with = "String")]
    pub address: SocketAddr,
}

/// The bounded pool of work processes. One is a permit and a database connection.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkProcesses {
    /// How many there are.
    #[serde(deserialize_with = "within::<1, WORK_PROCESSES_MAX, u32, _>")]
    #[schemars(range(min = 1, max = WORK_PROCESSES_MAX))]
    pub limit: u32,
    /// How many requests may wait for one; the next is answered 503.
    #[serde(deserialize_with = "within::<0, QUEUE_MAX, u32, _>")]
    #[schemars(range(min = 0, max = QUEUE_MAX))]
    pub queue_max: u32,
    /// How long one may wait before it is answered 503.
    #[serde(deserialize_with = "within::<1, WAIT_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = WAIT_MS_MAX))]
    pub wait_ms_max: u32,
}

/// How answers are cut into pages.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pages {
    /// Entities on one page; a client may ask for fewer (`Prefer: odata.maxpagesize`), never for more.
    #[serde(deserialize_with = "within::<1, PAGE_SIZE_MAX, u32, _>")]
    #[schemars(range(min = 1, max = PAGE_SIZE_MAX))]
    pub size: u32,
}

/// Where the data lie.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Database {
    /// `"memory"`, or `{ file = "flights.db" }`.
    pub location: Location,
    /// Seed of the data that fill an empty database.
    pub seed: u64,
    /// How long one read may take before it is interrupted and answered 503.
    #[serde(deserialize_with = "within::<1, READ_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = READ_MS_MAX))]
    pub read_ms_max: u32,
}

/// What one client may take of the gateway. The engine's further limits are fixed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Connections open at once on one listener; the next is answered 503.
    #[serde(deserialize_with = "within::<1, CONNECTIONS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = CONNECTIONS_MAX))]
    pub connections_max: u32,
    /// How long a request's head may take to come, from its first byte to its last.
    #[serde(deserialize_with = "within::<1, TIMEOUT_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = TIMEOUT_MS_MAX))]
    pub header_ms_max: u32,
    /// How long a connection may wait for its next request.
    #[serde(deserialize_with = "within::<1, TIMEOUT_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = TIMEOUT_MS_MAX))]
    pub idle_ms_max: u32,
    /// How long a client may take nothing of its answer.
    #[serde(deserialize_with = "within::<1, TIMEOUT_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = TIMEOUT_MS_MAX))]
    pub stall_ms_max: u32,
}

/// Where an SQLite database lies.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// In memory: gone with the process.
    Memory,
    /// In this file, made when it is not there.
    File(PathBuf),
}

// The table of limits: what a configuration may ask for at most. Defaults stand below, in the `Default`s.
/// Most event loops for each address.
pub const THREADS_MAX: i64 = 256;
const BACKLOG_MAX: i64 = 65_535;
/// Most work processes: a connection each, and 1,000 are about 200 MB of SQLite caches.
pub const WORK_PROCESSES_MAX: i64 = 1_000;
const QUEUE_MAX: i64 = 1_000_000;
const WAIT_MS_MAX: i64 = 600_000;
const READ_MS_MAX: i64 = 600_000;
const CONNECTIONS_MAX: i64 = 1_000_000;
const TIMEOUT_MS_MAX: i64 = 3_600_000;
const PAGE_SIZE_MAX: i64 = 100_000;
const DRAIN_SECONDS_MAX: i64 = 3_600;

impl Config {
    /// Reads `text`, which came from the file `file_name` (used in messages only).
    ///
    /// # Errors
    /// The first thing that is wrong, with its line and the text that stands there.
    pub fn parse(text: &str, file_name: &str) -> Result<Config, ConfigError> {
        toml::from_str(text).map_err(|fault| ConfigError::new(text, file_name, &fault))
    }

    /// How many event loops serve each address.
    pub fn threads(&self) -> usize {
        match self.listen.threads {
            Some(threads) => usize::from(threads),
            None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        }
    }
}

impl Config {
    /// The limits of the HTTP engine.
    pub(crate) fn engine_limits(&self) -> tollgate_net::limits::Limits {
        let ms = |ms: u32| Duration::from_millis(u64::from(ms));
        tollgate_net::limits::Limits {
            connections_max: self.limits.connections_max as usize,
            header_timeout: ms(self.limits.header_ms_max),
            idle_timeout: ms(self.limits.idle_ms_max),
            write_stall_timeout: ms(self.limits.stall_ms_max),
            drain_timeout: Duration::from_secs(u64::from(self.drain_seconds)),
            ..tollgate_net::limits::Limits::default()
        }
    }
}

impl WorkProcesses {
    /// How long a request may wait for a work process.
    pub fn wait_max(&self) -> Duration {
        Duration::from_millis(u64::from(self.wait_ms_max))
    }
}

/// The JSON Schema of the configuration file, as indented JSON.
pub fn schema() -> String {
    format!("{:#}", schemars::schema_for!(Config).to_value())
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: Listen::default(),
            admin: Admin::default(),
            work_processes: WorkProcesses::default(),
            pages: Pages::default(),
            database: Database::default(),
            limits: Limits::default(),
            drain_seconds: 30,
        }
    }
}

impl Default for Listen {
    fn default() -> Listen {
        Listen { addresses: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))], threads: None, backlog: 1024 }
    }
}

impl Default for Admin {
    fn default() -> Admin {
        Admin { address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) }
    }
}

impl Default for WorkProcesses {
    fn default() -> WorkProcesses {
        // 20: the work processes of the tuned SAP Gateway that the flight service was published with.
        WorkProcesses { limit: 20, queue_max: 1_000, wait_ms_max: 10_000 }
    }
}

impl Default for Pages {
    fn default() -> Pages {
        // 1,000: the list of 400 flights is one page, as in the published measurement.
        Pages { size: 1_000 }
    }
}

impl Default for Database {
    fn default() -> Database {
        // READ_TIME_BUDGET is a whole number of seconds, and small.
        let read_ms_max = READ_TIME_BUDGET.as_millis() as u32;
        Database { location: Location::Memory, seed: flights::SEED, read_ms_max }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections_max: 10_000, header_ms_max: 10_000, idle_ms_max: 75_000, stall_ms_max: 30_000 }
    }
}

fn within<'de, const LEAST: i64, const MOST: i64, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: TryFrom<i64>,
    D: Deserializer<'de>,
{
    let number = i64::deserialize(deserializer)?;
    let out_of_range = || serde::de::Error::custom(format!("expected a number from {LEAST} to {MOST}, found {number}"));
    if !(LEAST..=MOST).contains(&number) {
        return Err(out_of_range());
    }
    T::try_from(number).map_err(|_| out_of_range())
}

fn optional_within<'de, const LEAST: i64, const MOST: i64, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: TryFrom<i64>,
    D: Deserializer<'de>,
{
    within::<LEAST, MOST, T, D>(deserializer).map(Some)
}

fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SocketAddr>, D::Error> {
    let addresses = Vec::<SocketAddr>::deserialize(deserializer)?;
    if addresses.is_empty() {
        return Err(serde::de::Error::custom("expected at least one address"));
    }
    Ok(addresses)
}

fn loopback<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    checked_admin(SocketAddr::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

/// The address, if the operator's listener may be there.
///
/// # Errors
/// Says why not: it must be loopback.
pub fn checked_admin(address: SocketAddr) -> Result<SocketAddr, String> {
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err(format!(
        "expected a loopback address such as 127.0.0.1:9090, found {address}: the admin listener asks nobody who they are"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_error(text: &str, expected: &str) {
        let fault = Config::parse(text, "gateway.toml").expect_err(text);
        assert_eq!(format!("\n{fault}\n"), expected, "{text}");
    }

    #[test]
    fn nothing_is_the_default() {
        assert_eq!(Config::parse("", "gateway.toml").unwrap(), Config::default());
    }

    #[test]
    fn the_example_for_users_is_read() {
        Config::parse(include_str!("../../../../examples/gateway.toml"), "gateway.toml").unwrap();
    }

    #[test]
    fn the_defaults_of_the_engines_limits_are_the_engines_own() {
        let (ours, engine) = (Config::default().engine_limits(), tollgate_net::limits::Limits::default());
        assert_eq!(ours, tollgate_net::limits::Limits { drain_timeout: Duration::from_secs(30), ..engine });
    }

    #[test]
    fn every_key_is_read() {
        let text = r#"
            drain_seconds = 5
            [listen]
            addresses = ["127.0.0.1:0", "[::1]:8080"]
            threads = 2
            backlog = 10
            [admin]
            address = "127.0.0.1:9090"
            [work_processes]
            limit = 1
            queue_max = 0
            wait_ms_max = 50
            [pages]
            size = 100
            [database]
            location = { file = "flights.db" }
            seed = 7
            read_ms_max = 100
            [limits]
            connections_max = 10
            header_ms_max = 1
            idle_ms_max = 2
            stall_ms_max = 3
        "#;
        let config = Config::parse(text, "gateway.toml").unwrap();
        assert_eq!(
            config,
            Config {
                listen: Listen {
                    addresses: vec!["127.0.0.1:0".parse().unwrap(), "[::1]:8080".parse().unwrap()],
                    threads: Some(2),
                    backlog: 10,
                },
                admin: Admin { address: "127.0.0.1:9090".parse().unwrap() },
                work_processes: WorkProcesses { limit: 1, queue_max: 0, wait_ms_max: 50 },
                pages: Pages { size: 100 },
                database: Database { location: Location::File("flights.db".into()), seed: 7, read_ms_max: 100 },
                limits: Limits { connections_max: 10, header_ms_max: 1, idle_ms_max: 2, stall_ms_max: 3 },
                drain_seconds: 5,
            }
        );
    }

    #[test]
    fn an_unknown_key_is_shown_with_the_one_that_was_meant() {
        check_error(
            "drain_seconds = 5\n[work_processes]\nlimits = 3\n",
            r#"
error: unknown key `limits`
 --> gateway.toml:3:1
  |
3 | limits = 3
  | ^^^^^^ did you mean `limit`?
"#,
        );
        check_error(
            "[database]\ncolour = 3\n",
            r#"
error: unknown key `colour`
 --> gateway.toml:2:1
  |
2 | colour = 3
  | ^^^^^^ expected `location`, `seed` or `read_ms_max`
"#,
        );
    }

    #[test]
    fn a_wrong_type_is_shown_with_file_line_and_text() {
        check_error(
            "[work_processes]\nlimit = \"many\"\n",
            r#"
error: invalid type: string "many", expected a whole number
 --> gateway.toml:2:9
  |
2 | limit = "many"
  |         ^^^^^^
"#,
        );
    }

    #[test]
    fn a_number_out_of_range_is_shown_with_the_range() {
        check_error(
            "[work_processes]\nlimit = 0\n",
            r#"
error: expected a number from 1 to 1000, found 0
 --> gateway.toml:2:9
  |
2 | limit = 0
  |         ^
"#,
        );
        check_error(
            "[listen]\nthreads = 257\n",
            r#"
error: expected a number from 1 to 256, found 257
 --> gateway.toml:2:11
  |
2 | threads = 257
  |           ^^^
"#,
        );
    }

    #[test]
    fn an_admin_address_off_loopback_is_refused() {
        check_error(
            "admin.address = \"0.0.0.0:9090\"\n",
            r#"
error: expected a loopback address such as 127.0.0.1:9090, found 0.0.0.0:9090: the admin listener asks nobody who they are
 --> gateway.toml:1:17
  |
1 | admin.address = "0.0.0.0:9090"
  |                 ^^^^^^^^^^^^^^
"#,
        );
    }

    #[test]
    fn a_syntax_error_is_shown_where_it_is() {
        check_error(
            "[listen\n",
            r#"
error: unclosed table, expected `]`
 --> gateway.toml:1:8
  |
1 | [listen
  |        ^
"#,
        );
    }

    #[test]
    fn the_schema_names_every_key() {
        let schema = schema();
        for key in ["addresses", "threads", "queue_max", "wait_ms_max", "drain_seconds", "location", "seed"] {
            assert!(schema.contains(&format!("\"{key}\"")), "{key} is missing in {schema}");
        }
    }
}
