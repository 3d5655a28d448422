//! One `[[service]]`: its kind, database, work processes and rules.
//!
//! [`ServiceTable`] is the file's contents; [`Service`] is its meaning, and always valid.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::json;
use toml::Spanned;

use super::location::Location;
use super::{READ_MS_MAX, WorkProcesses, WorkProcessesTable};
use crate::auth::csrf::Csrf;
use crate::base::number::optional_within;
use crate::built_in::BUILT_IN;
use crate::built_in::service::{BuiltInKind, BuiltInService, LIFETIME_SECONDS_MAX, TableKey};
use crate::config::rules::{IfMatch, Rules};
use crate::http::cache_control::CacheControl;
use crate::services::flights;
use crate::store::sqlite::{READ_TIME_BUDGET, Synchronous};

/// A service to be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Its name, unique in the gateway; that of a database is part of its URLs.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Location of its data.
    pub location: Location,
    /// Time at which an SQLite file is written to the disk.
    pub synchronous: Synchronous,
    /// The work processes over that database.
    pub work_processes: WorkProcesses,
    /// Longest time of one read before it is interrupted and answered 503.
    pub read_ms_max: u32,
    /// Whether nothing of it may be changed.
    pub read_only: bool,
    /// Its requirements for writing, and its limits for one client.
    pub rules: Rules,
}

/// Kind of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The flight service, filled if its database is empty.
    Flights {
        /// Seed of the data.
        seed: u64,
    },
    /// The records service, created if its database is empty.
    Records,
    /// The tables of an existing database.
    Database {
        /// A file with names, hidden parts and restrictions.
        mapping: Option<PathBuf>,
    },
}

/// A service as written in the file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Service")]
pub(super) struct ServiceTable {
    /// Kind of the service.
    kind: KindName,
    /// For a database: its name in URLs such as `/odata/v4/NAME/`; absent: the file's or the database's own.
    #[schemars(with = "Option<String>")]
    name: Option<Spanned<String>>,
    /// `sqlite::memory:` (the default of flights and records), `sqlite:FILE` or `postgres://USER@HOST/DATABASE`.
    #[schemars(with = "Option<String>")]
    database: Option<Spanned<String>>,
    /// For flights: the seed of the data that fill an empty database.
    #[schemars(with = "Option<u64>")]
    seed: Option<Spanned<u64>>,
    /// For a database: a file with names, hidden parts and restrictions for its tables and columns.
    #[schemars(with = "Option<PathBuf>")]
    mapping: Option<Spanned<PathBuf>>,
    /// For an SQLite file: when a commit is on the disk.
    #[schemars(with = "Option<Synchronous>")]
    synchronous: Option<Spanned<Synchronous>>,
    /// Longest time of one read before it is interrupted and answered 503.
    #[serde(default, deserialize_with = "optional_within::<1, READ_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = READ_MS_MAX))]
    read_ms_max: Option<u32>,
    /// Whether nothing of it may be changed, whoever asks. Single tables are restricted in a mapping file.
    read_only: Option<bool>,
    /// For Fibonacci: lifetime of a number, also in the response cache.
    #[serde(default, deserialize_with = "optional_within::<0, LIFETIME_SECONDS_MAX, u32, _>")]
    #[schemars(range(min = 0, max = LIFETIME_SECONDS_MAX))]
    lifetime_seconds: Option<u32>,
    /// Whether writing requests need a token fetched before (`X-CSRF-Token`).
    csrf: Option<Csrf>,
    /// Whether changing an entity that has an ETag needs `If-Match`.
    if_match: Option<IfMatch>,
    /// Name stored as the creator and changer of entities if the client is not signed in. Absent: `anonymous`.
    user: Option<String>,
    /// `Cache-Control` of answers to reads, such as `public, max-age=60`; the response cache follows it, and drops them
    /// as soon as anything is written. Absent: the field is not sent, and they are not kept.
    #[schemars(with = "Option<String>")]
    cache_control: Option<Spanned<String>>,
    /// Its work processes, if they differ from those of the whole gateway.
    #[serde(default)]
    work_processes: WorkProcessesTable,
    /// Its limits for one client.
    limits: Option<LimitsTable>,
}

/// Meaning of a table.
pub(super) enum Meaning {
    Service(Service),
    BuiltIn(BuiltInService),
}

/// Kind of a service, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KindName {
    Flights,
    Records,
    Database,
    BuiltIn(&'static BuiltInKind),
}

/// The kinds with a database: their names and descriptions.
const OF_DATABASES: [(KindName, &str, &str); 3] = [
    (KindName::Flights, "flights", "The flight service: carriers, flights, bookings and travel agencies."),
    (KindName::Records, "records", "The records service: one set with a property of every common type."),
    (KindName::Database, "database", "The tables of a database that is there already."),
];

/// Every kind, with its name and description.
fn kinds() -> impl Iterator<Item = (KindName, &'static str, &'static str)> {
    let built_in = BUILT_IN.iter().map(|kind| (KindName::BuiltIn(kind), kind.name, kind.summary));
    OF_DATABASES.into_iter().chain(built_in)
}

impl<'de> Deserialize<'de> for KindName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<KindName, D::Error> {
        static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| kinds().map(|(_, name, _)| name).collect());
        let said = String::deserialize(deserializer)?;
        let named = kinds().find(|(_, name, _)| *name == said);
        named.map(|(kind, ..)| kind).ok_or_else(|| D::Error::unknown_variant(&said, &NAMES))
    }
}

impl JsonSchema for KindName {
    fn schema_name() -> Cow<'static, str> {
        "KindName".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let kind = |(_, name, summary)| json!({ "description": summary, "type": "string", "const": name });
        json_schema!({ "oneOf": kinds().map(kind).collect::<Vec<_>>() })
    }
}

/// Limits of a service for one client; each is answered 413 beyond, unless stated otherwise.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ServiceLimits")]
struct LimitsTable {
    /// Bytes of one answer to a read; an answer that has begun is cut off beyond.
    #[serde(deserialize_with = "optional_within::<1, ANSWER_BYTES_MAX, u64, _>")]
    #[schemars(range(min = 1, max = ANSWER_BYTES_MAX))]
    answer_bytes_max: Option<u64>,
    /// Entities of one answer to a read, expanded ones included; an answer that has begun is cut off beyond.
    #[serde(deserialize_with = "optional_within::<1, ROWS_MAX, u64, _>")]
    #[schemars(range(min = 1, max = ROWS_MAX))]
    answer_entities_max: Option<u64>,
    /// Requests in one batch, those in change sets included.
    #[serde(deserialize_with = "optional_within::<1, REQUESTS_MAX, usize, _>")]
    #[schemars(range(min = 1, max = REQUESTS_MAX))]
    batch_requests_max: Option<usize>,
    /// Bytes of one batch.
    #[serde(deserialize_with = "optional_within::<1, GATHERED_BYTES_MAX, usize, _>")]
    #[schemars(range(min = 1, max = GATHERED_BYTES_MAX))]
    batch_bytes_max: Option<usize>,
    /// Bytes of the answer to one batch.
    #[serde(deserialize_with = "optional_within::<1, GATHERED_BYTES_MAX, usize, _>")]
    #[schemars(range(min = 1, max = GATHERED_BYTES_MAX))]
    batch_answer_bytes_max: Option<usize>,
    /// Longest time of one batch once it has a work process; 503 beyond.
    #[serde(deserialize_with = "optional_within::<1, BATCH_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = BATCH_MS_MAX))]
    batch_ms_max: Option<u32>,
    /// Bytes of one entity.
    #[serde(deserialize_with = "optional_within::<1, GATHERED_BYTES_MAX, usize, _>")]
    #[schemars(range(min = 1, max = GATHERED_BYTES_MAX))]
    body_bytes_max: Option<usize>,
    /// Bytes of one array of plain REST, which is never gathered.
    #[serde(deserialize_with = "optional_within::<1, ARRAY_BYTES_MAX, u64, _>")]
    #[schemars(range(min = 1, max = ARRAY_BYTES_MAX))]
    array_bytes_max: Option<u64>,
    /// Entities of one array of plain REST.
    #[serde(deserialize_with = "optional_within::<1, ROWS_MAX, u64, _>")]
    #[schemars(range(min = 1, max = ROWS_MAX))]
    array_rows_max: Option<u64>,
    /// Longest time of one array of plain REST once it has a work process; 408 beyond.
    #[serde(deserialize_with = "optional_within::<1, ARRAY_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = ARRAY_MS_MAX))]
    array_ms_max: Option<u32>,
}

// What a configuration may ask for at most.
const REQUESTS_MAX: i64 = 1_000_000;
/// Upper bound of byte limits: gathered data is in memory as a whole.
const GATHERED_BYTES_MAX: i64 = 1 << 30;
const BATCH_MS_MAX: i64 = 24 * 3600 * 1000;
const ARRAY_MS_MAX: i64 = 24 * 3600 * 1000;
const ARRAY_BYTES_MAX: i64 = 1 << 40;
const ANSWER_BYTES_MAX: i64 = 1 << 40;
const ROWS_MAX: i64 = 1_000_000_000;
const NAME_BYTES_MAX: usize = 64;

/// Names that a database's service cannot have: those of the other services, and parts of their URLs.
const RESERVED_NAMES: [&str; 8] =
    ["flights", "carriers", "bookings", "travelagencies", "records", "refsvc", "mass-change", crate::mediate::NAME];

/// Error in a service, with its place in the file, if not the table as a whole.
pub(super) type Wrong = (Option<Range<usize>>, String);

impl Service {
    /// Creates the flight service in memory.
    pub fn flights() -> Service {
        Service::new("flights", Kind::Flights { seed: flights::SEED }, Location::Memory)
    }

    /// Creates the records service in memory.
    pub fn records() -> Service {
        Service::new("records", Kind::Records, Location::Memory)
    }

    /// Creates a service for the tables of a database, under its own name.
    ///
    /// # Errors
    /// It is in memory, or its name cannot be used in a URL.
    pub fn of_database(location: Location) -> Result<Service, String> {
        let own = location.database_name().unwrap_or_default();
        let name: String = own.chars().map(|letter| if is_of_name(letter) { letter } else { '-' }).collect();
        Service::named_database(&name, location)
    }

    /// Creates a service for the tables of a database, under this name.
    ///
    /// # Errors
    /// As [`of_database`](Service::of_database).
    pub fn named_database(name: &str, location: Location) -> Result<Service, String> {
        if location == Location::Memory {
            return Err("a database in memory has no tables: expected sqlite:FILE or postgres://…".to_owned());
        }
        checked_name(name)?;
        Ok(Service::new(name, Kind::Database { mapping: None }, location))
    }

    fn new(name: &str, kind: Kind, location: Location) -> Service {
        Service {
            name: name.to_owned(),
            kind,
            location,
            synchronous: Synchronous::default(),
            work_processes: WorkProcesses::default(),
            // READ_TIME_BUDGET is a whole number of seconds, and small.
            read_ms_max: READ_TIME_BUDGET.as_millis() as u32,
            read_only: false,
            rules: Rules::default(),
        }
    }
}

impl ServiceTable {
    /// Checks the table and returns its meaning; `common` are the work processes of the whole gateway.
    pub(super) fn meaning(self, common: &WorkProcesses) -> Result<Meaning, Wrong> {
        match self.kind {
            KindName::BuiltIn(kind) => self.built_in(kind, common).map(Meaning::BuiltIn),
            KindName::Flights | KindName::Records | KindName::Database => self.service(common).map(Meaning::Service),
        }
    }

    /// Refuses keys without a meaning for a service without database.
    fn has_only_keys_of(&self, kind: &BuiltInKind) -> Result<(), Wrong> {
        let limits = self.limits.as_ref();
        let own_limits =
            self.work_processes.limit.or(self.work_processes.queue_max).or(self.work_processes.wait_ms_max);
        let foreign = [
            ("name", self.name.is_some(), self.name.as_ref().map(Spanned::span)),
            ("database", self.database.is_some(), self.database.as_ref().map(Spanned::span)),
            ("seed", self.seed.is_some(), self.seed.as_ref().map(Spanned::span)),
            ("mapping", self.mapping.is_some(), self.mapping.as_ref().map(Spanned::span)),
            ("synchronous", self.synchronous.is_some(), self.synchronous.as_ref().map(Spanned::span)),
            ("cache_control", self.cache_control.is_some(), self.cache_control.as_ref().map(Spanned::span)),
            ("read_ms_max", self.read_ms_max.is_some(), None),
            ("read_only", self.read_only.is_some(), None),
            ("csrf", self.csrf.is_some(), None),
            ("if_match", self.if_match.is_some(), None),
            ("user", self.user.is_some(), None),
            ("lifetime_seconds", self.lifetime_seconds.is_some(), None),
            ("work_processes", own_limits.is_some(), None),
            ("limits.body_bytes_max", limits.is_some_and(|limits| limits.body_bytes_max.is_some()), None),
            ("limits", limits.is_some_and(LimitsTable::is_for_databases), None),
        ];
        match foreign.into_iter().find(|(key, stands, _)| *stands && !kind.keys.iter().any(|has| has.name() == *key)) {
            None => Ok(()),
            Some((key, _, span)) => {
                Err((span, format!("`{key}` is not for services of kind `{}`, which have no database", kind.name)))
            }
        }
    }

    fn built_in(self, kind: &'static BuiltInKind, common: &WorkProcesses) -> Result<BuiltInService, Wrong> {
        self.has_only_keys_of(kind)?;
        let mut service = kind.configured(&self.work_processes.over(common));
        service.lifetime_seconds = self.lifetime_seconds.unwrap_or(service.lifetime_seconds);
        let stated = self.limits.and_then(|limits| limits.body_bytes_max);
        service.body_bytes_max = stated.unwrap_or(service.body_bytes_max);
        Ok(service)
    }

    fn service(self, common: &WorkProcesses) -> Result<Service, Wrong> {
        let only_for = |kind: KindName, key: &str, span: Option<Range<usize>>, of: &str| match span {
            Some(span) if self.kind != kind => Err((Some(span), format!("`{key}` is only for services of kind {of}"))),
            _ => Ok(()),
        };
        only_for(KindName::Database, "name", self.name.as_ref().map(Spanned::span), "`database`")?;
        only_for(KindName::Database, "mapping", self.mapping.as_ref().map(Spanned::span), "`database`")?;
        only_for(KindName::Flights, "seed", self.seed.as_ref().map(Spanned::span), "`flights`")?;
        if self.lifetime_seconds.is_some() {
            let of: Vec<_> =
                BUILT_IN.iter().filter(|kind| kind.has(TableKey::Lifetime)).map(|kind| kind.name).collect();
            return Err((None, format!("`lifetime_seconds` is only for services of kind `{}`", of.join("`, `"))));
        }
        let location = self.database.as_ref().map(|url| {
            Location::parse(url.as_ref())
                .map(|location| (location, url.span()))
                .map_err(|wrong| (Some(url.span()), wrong))
        });
        let location = location.transpose()?;
        let mut service = match self.kind {
            KindName::Flights => Service::flights(),
            KindName::Records | KindName::BuiltIn(_) => Service::records(),
            KindName::Database => {
                let (location, span) = location.clone().ok_or_else(|| {
                    let wrong = "a service of kind `database` needs `database = \"sqlite:FILE\"` or `\"postgres://…\"`";
                    (None, wrong.to_owned())
                })?;
                let span = match &self.name {
                    Some(name) if location != Location::Memory => name.span(),
                    _ => span,
                };
                let made = match &self.name {
                    Some(name) => Service::named_database(name.as_ref(), location),
                    None => Service::of_database(location),
                };
                let mut service = made.map_err(|wrong| (Some(span), wrong))?;
                service.kind = Kind::Database { mapping: self.mapping.map(Spanned::into_inner) };
                service
            }
        };
        if let (Kind::Flights { seed }, Some(given)) = (&mut service.kind, self.seed) {
            *seed = given.into_inner();
        }
        if let Some((location, _)) = location {
            service.location = location;
        }
        if let Some(synchronous) = self.synchronous {
            if !matches!(service.location, Location::File(_)) {
                return Err((Some(synchronous.span()), "`synchronous` is only for SQLite files".to_owned()));
            }
            service.synchronous = synchronous.into_inner();
        }
        service.work_processes = self.work_processes.over(common);
        service.read_ms_max = self.read_ms_max.unwrap_or(service.read_ms_max);
        service.read_only = self.read_only.unwrap_or_default();
        let cache_control = self.cache_control.map(|stated| match CacheControl::stated(stated.as_ref()) {
            Ok(_) => Ok(stated.into_inner().into()),
            Err(wrong) => Err((Some(stated.span()), wrong)),
        });
        let default = Rules::default();
        let limits = self.limits.unwrap_or_default();
        service.rules = Rules {
            csrf: self.csrf.unwrap_or_default(),
            if_match: self.if_match.unwrap_or_default(),
            answer_bytes_max: limits.answer_bytes_max.unwrap_or(default.answer_bytes_max),
            answer_entities_max: limits.answer_entities_max.unwrap_or(default.answer_entities_max),
            batch_requests_max: limits.batch_requests_max.unwrap_or(default.batch_requests_max),
            batch_bytes_max: limits.batch_bytes_max.unwrap_or(default.batch_bytes_max),
            batch_answer_bytes_max: limits.batch_answer_bytes_max.unwrap_or(default.batch_answer_bytes_max),
            batch_ms_max: limits.batch_ms_max.unwrap_or(default.batch_ms_max),
            body_bytes_max: limits.body_bytes_max.unwrap_or(default.body_bytes_max),
            array_bytes_max: limits.array_bytes_max.unwrap_or(default.array_bytes_max),
            array_rows_max: limits.array_rows_max.unwrap_or(default.array_rows_max),
            array_ms_max: limits.array_ms_max.unwrap_or(default.array_ms_max),
            user: self.user.map_or(default.user, Into::into),
            cache_control: cache_control.transpose()?,
        };
        Ok(service)
    }
}

impl LimitsTable {
    /// Whether it has any key that is only for services over databases.
    fn is_for_databases(&self) -> bool {
        let counts = [self.batch_requests_max, self.batch_bytes_max, self.batch_answer_bytes_max];
        let times = [self.batch_ms_max, self.array_ms_max];
        let answers = [self.array_bytes_max, self.array_rows_max, self.answer_bytes_max, self.answer_entities_max];
        counts.iter().any(Option::is_some) || times.iter().any(Option::is_some) || answers.iter().any(Option::is_some)
    }
}

fn checked_name(name: &str) -> Result<(), String> {
    if RESERVED_NAMES.contains(&name) || BUILT_IN.iter().any(|kind| kind.name == name) {
        return Err(format!("the name `{name}` is taken: give the service another one with `name`"));
    }
    let is_shaped = name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(is_of_name);
    if !is_shaped || name.len() > NAME_BYTES_MAX {
        return Err(format!(
            "`{name}` cannot stand in a URL: expected a name of letters, digits, `-` and `_` that begins with a letter"
        ));
    }
    Ok(())
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')
}
