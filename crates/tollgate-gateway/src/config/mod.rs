//! The gateway's configuration: a TOML file (or nothing, which serves the flights and the records from memory, and
//! Fibonacci), parsed so that every value in [`Config`] is valid.
//!
//! It opens no file and no socket: the text comes from the caller, which also applies command line options to the
//! result.

mod admin;
mod endpoint;
pub(crate) mod generate;
mod location;
mod mediation;
mod memory;
mod named;
#[cfg(test)]
mod proxy_tests;
mod route;
pub(crate) mod rules;
mod service;
#[cfg(test)]
mod tests;
mod tls;

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

pub use self::admin::Admin;
pub use self::endpoint::{Balance, Endpoint, EndpointLimits, Health, Suspension};
pub use self::generate::Generate;
pub use self::location::Location;
pub use self::mediation::Mediation;
pub use self::memory::MemoryBound;
pub(crate) use self::memory::OPERATOR_BYTES_MAX;
pub(crate) use self::route::check as check_routes;
pub use self::route::{Keeping, Protocol, Retry, Route};
pub use self::rules::{IfMatch, Rules};
use self::service::Meaning;
pub use self::service::{Kind, Service};
pub use self::tls::TlsListener;
use crate::auth::config as authentication;
pub use crate::auth::config::{Authentication, PlainBasic};
pub use crate::auth::csrf::Csrf;
pub use crate::base::config_error::ConfigError;
use crate::base::number::{optional_within, within};
use crate::built_in::BUILT_IN;
pub use crate::built_in::service::{BuiltInKind, BuiltInService};
pub use crate::cache::config::Cache;
use crate::clients::config as clients;
pub use crate::clients::{ClientIdentity, ClientLimit, ClientsConfig, QuotaAmounts};
pub use crate::store::sqlite::Synchronous;
use crate::work::settings::WorkProcessesTable;
pub use crate::work::settings::{WAIT_MS_MAX, WORK_PROCESSES_MAX, WorkProcesses};

/// The gateway's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Addresses of the services, and the number of threads.
    pub listen: Listen,
    /// Addresses of the services over TLS.
    pub tls: Vec<TlsListener>,
    /// The operator's own listener.
    pub admin: Admin,
    /// Users of the services, and their authentication.
    pub authentication: Authentication,
    /// Paging of answers.
    pub pages: Pages,
    /// The services over databases.
    pub services: Vec<Service>,
    /// The services without a database, in the order of their list.
    pub built_in: Vec<BuiltInService>,
    /// Places for forwarded requests.
    pub endpoints: Vec<Endpoint>,
    /// Routes of forwarded requests.
    pub routes: Vec<Route>,
    /// Settings of mediation.
    pub mediation: Mediation,
    /// The response cache.
    pub cache: Cache,
    /// Limits of connections.
    pub limits: Limits,
    /// Clients, and what each of them may take.
    pub clients: ClientsConfig,
    /// Longest time for requests in flight to end after a request to stop.
    pub drain_seconds: u32,
}

/// A configuration as written in its file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "tollgate gateway configuration")]
struct File {
    /// Addresses of the services, and the number of threads.
    #[schemars(with = "Listen")]
    listen: Spanned<Listen>,
    /// Addresses of the services over TLS.
    #[schemars(with = "Vec<tls::TlsTable>")]
    tls: Vec<Spanned<tls::TlsTable>>,
    /// The operator's own listener.
    admin: admin::AdminTable,
    /// The users. Absent: nobody is authenticated.
    users: Option<authentication::UsersTable>,
    /// Authentication of users.
    #[schemars(with = "Option<authentication::AuthenticationTable>")]
    authentication: Option<Spanned<authentication::AuthenticationTable>>,
    /// Maps client certificates to users: the first match decides.
    #[serde(rename = "certificate_user")]
    #[schemars(with = "Vec<authentication::CertificateTable>")]
    certificate_users: Vec<Spanned<authentication::CertificateTable>>,
    /// Access rules: the first rule that matches a request decides.
    #[serde(rename = "rule")]
    #[schemars(with = "Vec<authentication::RuleTable>")]
    rules: Vec<Spanned<authentication::RuleTable>>,
    /// The bounded pool for every read and write of a database: for each service without one of its own.
    work_processes: WorkProcessesTable,
    /// Paging of answers.
    pages: Pages,
    /// The services. Absent: the flights and the records, both in memory, and Fibonacci; none if there is a route.
    #[serde(rename = "service")]
    #[schemars(with = "Option<Vec<service::ServiceTable>>")]
    services: Option<Vec<Spanned<service::ServiceTable>>>,
    /// Places for forwarded requests: each a group of URLs with the same answers.
    #[serde(rename = "endpoint")]
    #[schemars(with = "Vec<endpoint::EndpointTable>")]
    endpoints: Vec<Spanned<endpoint::EndpointTable>>,
    /// Forwarded requests. Of all matching routes and services, the longest path wins.
    #[serde(rename = "route")]
    #[schemars(with = "Vec<route::RouteTable>")]
    routes: Vec<Spanned<route::RouteTable>>,
    /// Settings of mediation.
    mediation: mediation::MediationTable,
    /// The response cache.
    cache: Cache,
    /// Settings of `tollgate generate`; `tollgate serve` ignores them.
    generate: Option<generate::GenerateTable>,
    /// Limits of connections.
    limits: Limits,
    /// Clients.
    clients: clients::ClientsTable,
    /// What one client may take; a request must be within all limits that are for its path.
    #[serde(rename = "client_limit")]
    #[schemars(with = "Vec<clients::LimitTable>")]
    client_limits: Vec<Spanned<clients::LimitTable>>,
    /// Longest time for requests in flight to end after a request to stop.
    #[serde(deserialize_with = "within::<0, DRAIN_SECONDS_MAX, u32, _>")]
    #[schemars(range(min = 0, max = DRAIN_SECONDS_MAX))]
    drain_seconds: u32,
}

/// Addresses of the services.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Listen {
    /// Addresses such as `127.0.0.1:8080`; port 0 takes any free one. May be empty if there is a
    /// `[[tls]]`: then nothing is served without TLS.
    #[schemars(with = "Vec<String>")]
    pub addresses: Vec<SocketAddr>,
    /// Event loops for each address, each on a thread of its own; absent: one for each available core.
    #[serde(deserialize_with = "optional_within::<1, THREADS_MAX, u16, _>")]
    #[schemars(range(min = 1, max = THREADS_MAX))]
    pub threads: Option<u16>,
    /// Connections that may wait to be accepted, for each thread.
    #[serde(deserialize_with = "within::<1, BACKLOG_MAX, u32, _>")]
    #[schemars(range(min = 1, max = BACKLOG_MAX))]
    pub backlog: u32,
    /// Whether addresses beyond loopback may be listened on although nobody is asked who they are.
    pub may_expose: bool,
}

/// Paging of answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pages {
    /// Entities on one page; a client may ask for fewer (`Prefer: odata.maxpagesize`), never for more.
    #[serde(deserialize_with = "within::<1, PAGE_SIZE_MAX, u32, _>")]
    #[schemars(range(min = 1, max = PAGE_SIZE_MAX))]
    pub size: u32,
}

/// Limits of connections. The engine's further limits are fixed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Connections open at once on one listener; the next waits, or is answered 503.
    #[serde(deserialize_with = "within::<1, CONNECTIONS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = CONNECTIONS_MAX))]
    pub connections_max: u32,
    /// Further connections that wait, unread, until one of them ends, at most for the time limit of a head; the next is
    /// answered 503. While any waits, and while the last place is taken, answers close their connections.
    #[serde(deserialize_with = "within::<0, CONNECTIONS_MAX, u32, _>")]
    #[schemars(range(min = 0, max = CONNECTIONS_MAX))]
    pub connections_waiting_max: u32,
    /// Connections of one client at once on one listener, the waiting included; the next is answered 429, or closed where
    /// TLS is spoken. A client is an address, of IPv6 a network of 64 bits; trusted proxies and exempt ones are not
    /// limited. Absent: half of `connections_max`, and at least 100.
    #[serde(deserialize_with = "optional_within::<1, CONNECTIONS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = CONNECTIONS_MAX))]
    pub connections_per_client_max: Option<u32>,
    /// Longest time for a request's head, from its first byte to its last.
    #[serde(deserialize_with = "within::<1, TIMEOUT_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = TIMEOUT_MS_MAX))]
    pub header_ms_max: u32,
    /// Longest wait of a connection for its next request.
    #[serde(deserialize_with = "within::<1, TIMEOUT_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = TIMEOUT_MS_MAX))]
    pub idle_ms_max: u32,
    /// Longest time in which a client takes no byte of its answer.
    #[serde(deserialize_with = "within::<1, TIMEOUT_MS_MAX, u32, _>")]
    #[schemars(range(min = 1, max = TIMEOUT_MS_MAX))]
    pub stall_ms_max: u32,
    /// Bytes that unfinished requests may occupy on one event loop while the rest of them is awaited; the next that
    /// needs more is answered 503.
    #[serde(deserialize_with = "within::<1, HELD_BYTES_MAX, usize, _>")]
    #[schemars(range(min = 1, max = HELD_BYTES_MAX))]
    pub held_bytes_max: usize,
    /// Bytes that answers may occupy on one event loop while their clients take them; beyond it the connections end whose
    /// clients took nothing for longest.
    #[serde(deserialize_with = "within::<1, HELD_BYTES_MAX, usize, _>")]
    #[schemars(range(min = 1, max = HELD_BYTES_MAX))]
    pub unsent_bytes_max: usize,
}

/// Default time for requests in flight to end.
const DRAIN_SECONDS: u32 = 30;

// The table of limits: what a configuration may ask for at most. Defaults stand below, in the `Default`s.
/// Most event loops for each address.
pub const THREADS_MAX: i64 = 256;
const BACKLOG_MAX: i64 = 65_535;
const READ_MS_MAX: i64 = 600_000;
const CONNECTIONS_MAX: i64 = 1_000_000;
/// Connections of one client that are not limited by default.
const CONNECTIONS_PER_CLIENT_LEAST: u32 = 100;
const TIMEOUT_MS_MAX: i64 = 3_600_000;
const PAGE_SIZE_MAX: i64 = 1_000_000;
const DRAIN_SECONDS_MAX: i64 = 3_600;
const HELD_BYTES_MAX: i64 = 1 << 36;
/// The engine's own limit if no service accepts more: it also limits the operator's forms.
const BODY_BYTES_LEAST: usize = 1 << 20;

impl Generate {
    /// Reads the `[generate]` of a configuration; `None` where it has none.
    ///
    /// # Errors
    /// As [`Config::parse`]: the rest of the file is checked too.
    pub fn parse(text: &str, file_name: &str) -> Result<Option<Generate>, ConfigError> {
        Config::parse(text, file_name)?;
        let file: File = toml::from_str(text).map_err(|fault| ConfigError::new(text, file_name, &fault))?;
        file.generate.map(|table| table.meaning(&text.into(), &file_name.into())).transpose()
    }
}

impl Config {
    /// Parses `text`, which came from the file `file_name` (used in messages only).
    ///
    /// # Errors
    /// The first error, with its line and the text there.
    pub fn parse(text: &str, file_name: &str) -> Result<Config, ConfigError> {
        let file: File = toml::from_str(text).map_err(|fault| ConfigError::new(text, file_name, &fault))?;
        let common = file.work_processes.over(&WorkProcesses::default());
        let Services { of_databases: services, built_in } = match file.services {
            Some(tables) => {
                services(tables, &common).map_err(|(at, wrong)| ConfigError::at(text, file_name, at, &wrong))?
            }
            None if !file.routes.is_empty() => Services::default(),
            None => {
                let of_database = [Service::flights(), Service::records()];
                let services = of_database.map(|service| Service { work_processes: common.clone(), ..service });
                Services { of_databases: services.into(), built_in: default_built_in(&common) }
            }
        };
        let tls = tls::listeners(file.tls, text, file_name)?;
        let (shared_text, shared_name): (Arc<str>, Arc<str>) = (text.into(), file_name.into());
        let endpoints = endpoint::endpoints(file.endpoints, &shared_text, &shared_name)?;
        let routes = route::routes(file.routes, &endpoints, &shared_text, &shared_name)?;
        if file.listen.get_ref().addresses.is_empty() && tls.is_empty() {
            let wrong = "expected at least one address here, or a `[[tls]]`";
            return Err(ConfigError::at(text, file_name, file.listen.span(), wrong));
        }
        let listen = file.listen.into_inner();
        let clients = clients::meaning(file.clients, file.client_limits, &shared_text, &shared_name)?;
        let File {
            admin, pages, cache, limits, drain_seconds, users, authentication, certificate_users, rules, ..
        } = file;
        let tables = authentication::Tables { users, authentication, certificate_users, rules };
        let authentication = authentication::meaning(tables, text, file_name)
            .map_err(|(at, wrong)| ConfigError::at(text, file_name, at, &wrong))?;
        let admin =
            admin.meaning(&authentication).map_err(|(at, wrong)| ConfigError::at(text, file_name, at, &wrong))?;
        Ok(Config {
            listen,
            tls,
            admin,
            authentication,
            pages,
            services,
            built_in,
            endpoints,
            routes,
            mediation: file.mediation.meaning(),
            cache,
            limits,
            clients,
            drain_seconds,
        })
    }

    /// All configured pools of work processes.
    pub fn work_processes_mut(&mut self) -> impl Iterator<Item = &mut WorkProcesses> {
        let of_databases = self.services.iter_mut().map(|service| &mut service.work_processes);
        of_databases.chain(self.built_in.iter_mut().filter_map(|service| service.work_processes.as_mut()))
    }

    /// Remarks for the operator on settings that cannot be intended, a line each.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let is_used = |endpoint: &&Endpoint| {
            let leads = |route: &Route| {
                let mut chosen = route.chosen_endpoints.iter().flatten();
                route.endpoint.as_ref() == Some(&endpoint.name) || chosen.any(|name| **name == *endpoint.name)
            };
            self.routes.iter().any(leads)
        };
        let unused = self.endpoints.iter().filter(|endpoint| !is_used(endpoint));
        let unused = unused
            .map(|endpoint| format!("{}: no route leads to the endpoint `{}`", endpoint.origin.line(), endpoint.name));
        let says_public = |service: &&Service| {
            let stated = service.rules.cache_control.as_deref().unwrap_or_default();
            stated.split(',').any(|directive| directive.trim().eq_ignore_ascii_case("public"))
        };
        let restricts = self.authentication.restricts();
        let public = self.services.iter().filter(says_public).filter(|_| restricts);
        let public = public.map(|service| {
            let name = &service.name;
            format!("{name}: `cache_control` says `public`, so caches on the way may give what access rules restrict to anybody")
        });
        unused.chain(public).collect()
    }

    /// Who may do what, and from where: for the log of a start.
    pub fn access(&self) -> [String; 3] {
        let exposed: Vec<String> = self.exposed().map(|address| address.to_string()).collect();
        let reached = match exposed.is_empty() {
            true => "reachable from this machine only".to_owned(),
            false => format!("reachable from other machines at {}", exposed.join(" and ")),
        };
        let who = match (self.authentication.is_open(), &self.authentication.users) {
            (true, _) => "anyone who connects may".to_owned(),
            (false, Some(file)) => format!("only users of {} may, as access rules say,", file.display()),
            (false, None) => "only owners of known certificates may, as access rules say,".to_owned(),
        };
        let writable = self.services.iter().filter(|service| !service.read_only).map(|service| &*service.name);
        let writable: Vec<&str> = writable.collect();
        let what = match writable.is_empty() {
            true => "read".to_owned(),
            false => format!("read, and write to {} (--read-only prevents that)", writable.join(", ")),
        };
        let forwarded = match self.routes.len() {
            0 => "",
            1 => "; a route forwards all methods",
            _ => "; routes forward all methods",
        };
        let operator = match &self.admin.user {
            Some(user) => format!("the operator's page is for {user}"),
            None => "the operator's page is for anyone on this machine".to_owned(),
        };
        [reached, format!("{who} {what}{forwarded}"), operator]
    }

    /// The addresses that other machines may reach.
    fn exposed(&self) -> impl Iterator<Item = &SocketAddr> {
        let secured = self.tls.iter().flat_map(|listener| &listener.addresses);
        self.listen.addresses.iter().chain(secured).filter(|address| !address.ip().is_loopback())
    }

    /// The first of them at which nobody is asked who they are, if there is one and it may not be.
    pub(crate) fn exposed_to_anyone(&self) -> Option<&SocketAddr> {
        let certified = self.tls.iter().filter(|listener| listener.requires_certificates());
        let certified: Vec<&SocketAddr> = certified.flat_map(|listener| &listener.addresses).collect();
        let is_open = !self.listen.may_expose && self.authentication.is_open();
        self.exposed().find(|address| is_open && !certified.contains(address))
    }

    /// Number of work processes altogether.
    pub(crate) fn work_processes(&self) -> usize {
        let of_databases = self.services.iter().map(|service| &service.work_processes);
        let pools = of_databases.chain(self.built_in.iter().filter_map(|service| service.work_processes.as_ref()));
        let pools = pools.chain((!self.routes.is_empty()).then_some(&self.mediation.work_processes));
        pools.map(|work_processes| work_processes.limit as usize).sum()
    }

    /// Number of event loops for each address.
    pub fn threads(&self) -> usize {
        match self.listen.threads {
            Some(threads) => usize::from(threads),
            None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        }
    }
}

/// The services requested by tables.
#[derive(Default)]
struct Services {
    of_databases: Vec<Service>,
    built_in: Vec<BuiltInService>,
}

/// The services without a database served by default.
fn default_built_in(common: &WorkProcesses) -> Vec<BuiltInService> {
    BUILT_IN.iter().filter(|kind| kind.is_default).map(|kind| kind.configured(common)).collect()
}

/// Combined meaning of the tables.
fn services(
    tables: Vec<Spanned<service::ServiceTable>>,
    common: &WorkProcesses,
) -> Result<Services, (Range<usize>, String)> {
    let mut services = Services::default();
    for table in tables {
        let whole = table.span();
        let meaning = table.into_inner().meaning(common).map_err(|(at, wrong)| (at.unwrap_or(whole.clone()), wrong))?;
        let there = |name: &str| (whole.clone(), format!("the service `{name}` is there already"));
        match meaning {
            Meaning::BuiltIn(service) => {
                let place = |kind| BUILT_IN.iter().position(|listed| *listed == kind);
                let at = services.built_in.binary_search_by_key(&place(service.kind), |other| place(other.kind));
                match at {
                    Ok(_) => return Err(there(service.kind.name)),
                    Err(at) => services.built_in.insert(at, service),
                }
            }
            Meaning::Service(service) => {
                if services.of_databases.iter().any(|other| other.name == service.name) {
                    return Err(match service.kind {
                        Kind::Database { .. } => {
                            let name = service.name;
                            (whole, format!("another service is named `{name}` too: give this one a `name`"))
                        }
                        Kind::Flights { .. } | Kind::Records => there(&service.name),
                    });
                }
                services.of_databases.push(service);
            }
        }
    }
    Ok(services)
}

impl Config {
    /// The limits of the HTTP engine.
    pub(crate) fn engine_limits(&self) -> tollgate_net::limits::Limits {
        let ms = |ms: u32| Duration::from_millis(u64::from(ms));
        tollgate_net::limits::Limits {
            connections_max: self.limits.connections_max as usize,
            connections_waiting_max: self.limits.connections_waiting_max as usize,
            connections_per_client_max: self.limits.connections_per_client() as usize,
            header_timeout: ms(self.limits.header_ms_max),
            idle_timeout: ms(self.limits.idle_ms_max),
            write_stall_timeout: ms(self.limits.stall_ms_max),
            drain_timeout: Duration::from_secs(u64::from(self.drain_seconds)),
            held_bytes_max: self.limits.held_bytes_max,
            unsent_bytes_max: self.limits.unsent_bytes_max,
            // The services hold each body to a limit of its own; the engine's must not stand in their way.
            body_bytes_max: self.largest_body(),
            ..tollgate_net::limits::Limits::default()
        }
    }
}

impl Limits {
    /// Connections of one client at once.
    pub fn connections_per_client(&self) -> u32 {
        self.connections_per_client_max.unwrap_or((self.connections_max / 2).max(CONNECTIONS_PER_CLIENT_LEAST))
    }
}

impl Config {
    /// Bytes of the largest body that any service accepts.
    fn largest_body(&self) -> usize {
        let of_databases = self.services.iter().map(|service| service.rules.largest_body());
        let built_in = self.built_in.iter().map(|service| (service.kind.body_bytes_max)(service));
        let gathered = self.routes.iter().map(|route| route.body_bytes_max);
        of_databases.chain(built_in).chain(gathered).fold(BODY_BYTES_LEAST, usize::max)
    }
}

/// The JSON Schema of the configuration file, as indented JSON.
pub fn schema() -> String {
    format!("{:#}", schemars::schema_for!(File).to_value())
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: Listen::default(),
            tls: Vec::new(),
            admin: Admin::default(),
            authentication: Authentication::default(),
            pages: Pages::default(),
            services: vec![Service::flights(), Service::records()],
            built_in: default_built_in(&WorkProcesses::default()),
            endpoints: Vec::new(),
            routes: Vec::new(),
            mediation: Mediation::default(),
            cache: Cache::default(),
            limits: Limits::default(),
            clients: ClientsConfig::default(),
            drain_seconds: DRAIN_SECONDS,
        }
    }
}

impl Default for File {
    fn default() -> File {
        File {
            listen: Spanned::new(0..0, Listen::default()),
            tls: Vec::new(),
            admin: admin::AdminTable::default(),
            users: None,
            authentication: None,
            certificate_users: Vec::new(),
            rules: Vec::new(),
            work_processes: WorkProcessesTable::default(),
            pages: Pages::default(),
            services: None,
            endpoints: Vec::new(),
            routes: Vec::new(),
            mediation: mediation::MediationTable::default(),
            cache: Cache::default(),
            generate: None,
            limits: Limits::default(),
            clients: clients::ClientsTable::default(),
            client_limits: Vec::new(),
            drain_seconds: DRAIN_SECONDS,
        }
    }
}

impl Default for Listen {
    fn default() -> Listen {
        Listen {
            addresses: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 8080))],
            threads: None,
            backlog: 1024,
            may_expose: false,
        }
    }
}

impl Default for Pages {
    fn default() -> Pages {
        // 1,000: the list of 400 flights is one page, as in the published measurement.
        Pages { size: 1_000 }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections_max: 10_000,
            connections_waiting_max: 0,
            connections_per_client_max: None,
            header_ms_max: 10_000,
            idle_ms_max: 75_000,
            stall_ms_max: 30_000,
            // The largest body that a service gathers by default, 16 MiB, in a buffer of twice that.
            held_bytes_max: 36 << 20,
            // 80 slow readers of long lists, which need 0.4 MiB each.
            unsent_bytes_max: 32 << 20,
        }
    }
}
