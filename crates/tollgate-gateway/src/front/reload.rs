//! A new configuration while the gateway runs: checked as a whole, then activated as a whole, for new requests. An
//! error changes nothing.
//!
//! It does not read the file: the caller that applies command line options does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::auth::{Authentication, Users};
use crate::cache::ResponseCache;
use crate::clients::Clients;
use crate::config::{self, Config};
use crate::front::launch::{self, Idle};
use crate::front::shared::{Current, Elsewhere, Shared};
use crate::front::tls::Certificates;
use crate::hosted::Published;
use crate::serve::proxy;
use crate::serve::rest::openapi::Descriptions;
use crate::visit::common::Common;

/// Gives a gateway a new configuration while it runs.
#[derive(Debug, Clone)]
pub struct Reloader {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Active configuration. Locked during activation: reloads run one after the other.
    in_force: Mutex<Config>,
    reading: Mutex<ReloadStatus>,
    current: Arc<Current>,
    certificates: Certificates,
}

/// Result of reading the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReloadStatus {
    /// Time at which the active one was read.
    pub(super) read: SystemTime,
    /// Parts of it that need a restart, by their names in the file.
    pub(super) needs_restart: Vec<&'static str>,
    /// Time and reason of a later refusal.
    pub(super) refused: Option<(SystemTime, String)>,
}

/// A part of a configuration that cannot be replaced while the gateway runs: its name, and whether it changed.
type Fixed = (&'static str, fn(&Config, &Config) -> bool);

const FIXED: &[Fixed] = &[
    ("[listen]", |old, new| old.listen != new.listen),
    ("the addresses of [[tls]]", |old, new| !has_the_same_listeners(old, new)),
    ("[admin]", |old, new| old.admin != new.admin),
    ("[[service]]", has_other_services),
    ("[limits]", |old, new| old.limits != new.limits),
    ("[mediation]", |old, new| old.mediation != new.mediation),
    ("drain_seconds", |old, new| old.drain_seconds != new.drain_seconds),
];

/// A configuration ready to be activated.
struct Prepared {
    config: Config,
    shared: Shared,
    users: Users,
    needs_restart: Vec<&'static str>,
}

impl Reloader {
    /// Creates the reloader of a gateway that runs under `config`.
    pub(super) fn new(config: Config, current: Arc<Current>, certificates: Certificates) -> Reloader {
        let reading = ReloadStatus { read: SystemTime::now(), needs_restart: Vec::new(), refused: None };
        let (in_force, reading) = (Mutex::new(config), Mutex::new(reading));
        Reloader { inner: Arc::new(Inner { in_force, reading, current, certificates }) }
    }

    /// Activates the new configuration, or keeps the old one if reading failed or it has an error. Files that it names
    /// are read again, even if it is unchanged. The result is logged and shown in the status.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub fn reload(&self, read: Result<Config, String>) -> Result<(), String> {
        let Inner { in_force, reading, current, certificates } = &*self.inner;
        let mut in_force = lock(in_force);
        let (before, now) = (current.shared(), SystemTime::now());
        let prepared = read.and_then(|new| prepare(&in_force, new, &before, certificates));
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(wrong) => {
                let generation = before.generation;
                before.common.log.line(format_args!(
                    "the configuration was read and refused; that of generation {generation} stays in force: {wrong}"
                ));
                lock(reading).refused = Some((now, wrong.clone()));
                return Err(wrong);
            }
        };
        let Prepared { config, shared, users, needs_restart } = prepared;
        let generation = shared.generation;
        shared.common.authentication.replace_users(users);
        current.replace(shared);
        certificates.replace(&config.tls);
        let log = &before.common.log;
        log.line(format_args!("the configuration was read again: generation {generation} is in force"));
        if !needs_restart.is_empty() {
            let parts = needs_restart.join(", ");
            log.line(format_args!("changes of {parts} need a restart: until then they stay as they were"));
        }
        for remark in config.remarks() {
            log.line(format_args!("{remark}"));
        }
        *lock(reading) = ReloadStatus { read: now, needs_restart, refused: None };
        *in_force = config;
        Ok(())
    }

    /// Result of reading the configuration.
    pub(super) fn reading(&self) -> ReloadStatus {
        lock(&self.inner.reading).clone()
    }

    /// Current configuration of the response cache.
    pub(super) fn cache(&self) -> config::Cache {
        lock(&self.inner.in_force).cache.clone()
    }
}

/// Prepares everything in `new`, except the parts that stay as in `old`.
fn prepare(old: &Config, new: Config, before: &Shared, certificates: &Certificates) -> Result<Prepared, String> {
    let needs_restart: Vec<_> = FIXED.iter().filter(|(_, differs)| differs(old, &new)).map(|(name, _)| *name).collect();
    let idle = if has_other_services(old, &new) { Idle::Allowed } else { Idle::Refused };
    let tls = if has_the_same_listeners(old, &new) { new.tls } else { old.tls.clone() };
    let Config { authentication, pages, endpoints, routes, cache, clients, .. } = new;
    let config = Config { authentication, pages, endpoints, routes, cache, clients, tls, ..old.clone() };
    config.admin.check(&config.authentication)?;
    launch::check_listeners(&config).map_err(|error| error.to_string())?;
    let users = Authentication::read_users(&config.authentication).map_err(|error| error.to_string())?;
    let authentication = match shows_the_same(&old.authentication, &config.authentication) {
        true => Arc::clone(&before.common.authentication),
        false => Arc::new(before.common.authentication.under(&config.authentication)),
    };
    let policy = authentication.policy(&config.authentication);
    launch::check(&config, before.services.iter(), &policy, idle).map_err(|error| error.to_string())?;
    // With all that mediators are made of: their stylesheets are read again too.
    let configured = proxy::Configured::of(&config);
    let proxied =
        proxy::RoutingTable::new(configured, &policy, Some(&before.proxied), &before.common.clock, &before.common.log);
    let proxied = proxied.map_err(|error| error.to_string())?;
    certificates.check(&config.tls)?;
    let governed = |service: &Published| {
        let mut service = service.clone();
        service.govern(&policy);
        service
    };
    // What is kept was answered to whom the old rules let have it, as the old routes made it. What mediators are made of
    // stands in files too, and is not compared.
    let keeps_answers = config.authentication == old.authentication
        && config.cache == old.cache
        && config.pages == old.pages
        && config.routes == old.routes
        && config.endpoints == old.endpoints
        && !proxied.keeps_what_mediators_made()
        && !before.proxied.keeps_what_mediators_made();
    let cache = match keeps_answers {
        true => Arc::clone(&before.cache),
        false => ResponseCache::instead_of(&before.cache, &config.cache),
    };
    let page_size = u64::from(config.pages.size);
    let clients = Clients::new(&config.clients, Some(&before.common.clients), before.common.clock.clone());
    let common = Common { page_size, authentication, clients: Arc::new(clients), ..Common::clone(&before.common) };
    let shared = Shared {
        generation: before.generation + 1,
        services: before.services.iter().map(governed).collect(),
        elsewhere: Elsewhere::new(&policy, &before.built_in),
        proxied: Arc::new(proxied),
        cache,
        descriptions: Descriptions::default(),
        common: Arc::new(common),
        built_in: Arc::clone(&before.built_in),
        connections: before.connections.clone(),
        handshakes: Arc::clone(&before.handshakes),
    };
    Ok(Prepared { config, shared, users, needs_restart })
}

/// Whether authentication is unchanged; permissions are not compared.
fn shows_the_same(old: &config::Authentication, new: &config::Authentication) -> bool {
    let unruled = config::Authentication { rules: old.rules.clone(), default: old.default.clone(), ..new.clone() };
    unruled == *old
}

fn has_other_services(old: &Config, new: &Config) -> bool {
    old.services != new.services || old.built_in != new.built_in
}

fn has_the_same_listeners(old: &Config, new: &Config) -> bool {
    let addresses = |config: &Config| config.tls.iter().map(|listener| listener.addresses.clone()).collect::<Vec<_>>();
    addresses(old) == addresses(new)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
