//! All routes and endpoints of one configuration, in lookup order: the longest path wins, then routes with a host, then
//! routes with methods.
//!
//! Paths are only compared byte by byte. A path that another server could read as one of another route is refused, so
//! that no spelling bypasses an access rule.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_net::clock::Clock;
use tollgate_net::http1::{Method, RequestHead};

use super::caching::Caching;
use super::compile::compile;
use super::endpoint::{Group, PlaceId};
use super::path;
use crate::auth::{Grants, Policy, is_within};
use crate::base::config_error::ConfigError;
use crate::base::log::Log;
use crate::config::{self, Config, Endpoint, Protocol, Retry, Route};
use crate::error::format::ErrorFormat;
use crate::mediate::Mediation;
use crate::work::dispatcher::Dispatcher;

/// All routes and endpoints of one configuration.
#[derive(Debug, Default)]
pub(crate) struct RoutingTable {
    /// By path; below one path in lookup order.
    routes: Vec<ProxyRoute>,
    /// The paths in their order.
    places: Vec<PathRules>,
    longest: usize,
    groups: BTreeMap<Arc<str>, Arc<Group>>,
    /// The endpoints in the order of the configuration, which is how mediators name them.
    by_number: Vec<Arc<Group>>,
    /// Permits to mediate large messages; they survive a new configuration.
    mediating: Option<Dispatcher<()>>,
    /// Whether answers of any route are stored.
    keeps_answers: bool,
}

/// Configuration of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Configured<'c> {
    /// The forwarded requests.
    pub(crate) routes: &'c [Route],
    /// Their endpoints.
    pub(crate) endpoints: &'c [Endpoint],
    /// Settings of mediation.
    pub(crate) mediation: &'c config::Mediation,
}

impl<'c> Configured<'c> {
    /// The parts of a configuration for it.
    pub(crate) fn of(config: &'c Config) -> Configured<'c> {
        Configured { routes: &config.routes, endpoints: &config.endpoints, mediation: &config.mediation }
    }
}

/// A path of routes or of access rules.
#[derive(Debug)]
struct PathRules {
    path: Box<str>,
    /// Its routes, in lookup order; empty if only a rule names it.
    routes: Range<usize>,
    /// Grants there and below, up to the next one.
    grants: Option<Arc<Grants>>,
}

/// Requests that are forwarded.
#[derive(Debug)]
pub(crate) struct ProxyRoute {
    path: Box<str>,
    methods: Methods,
    host: Option<Box<str>>,
    to: Option<To>,
    /// Endpoint of the requests; `None`: a mediator decides.
    pub(crate) endpoint: Option<Arc<Group>>,
    /// Protocol of the route.
    pub(crate) protocol: Protocol,
    /// Condition for sending a request again.
    pub(crate) retry: Retry,
    /// Bytes of a gathered body; 413 beyond.
    pub(crate) body_bytes_max: usize,
    /// Mediation of its messages.
    pub(crate) mediation: Mediation,
    /// Caching properties, if its answers are stored.
    pub(super) caching: Option<Caching>,
    /// Answers by the class of their status, from 1xx to 5xx; they survive a new configuration.
    answered: Arc<Answered>,
}

/// Answers by the class of their status, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Answered([AtomicU64; 5]);

/// Replacement of the matched part of a path.
#[derive(Debug)]
struct To {
    path: Box<str>,
    query: Option<Box<str>>,
}

/// A set of methods, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Methods(u16);

/// Route of a request.
#[derive(Debug)]
pub(crate) enum RouteMatch<'t> {
    /// A route matches.
    Route {
        /// The route.
        route: &'t ProxyRoute,
        /// Grants at that path: rules may be for it and not for the route's own.
        grants: Option<&'t Arc<Grants>>,
    },
    /// No route matches.
    Nothing,
    /// Only routes for other methods: these.
    OtherMethods(String),
    /// One route as written, and perhaps another as its backend reads it.
    Ambiguous,
}

impl RoutingTable {
    /// Creates the configured table with the grants of `policy`; mediators log to `log`. Places and counters in
    /// `before` are kept.
    ///
    /// # Errors
    /// An error in a file that an endpoint or a mediator names, or in a mediator.
    pub(crate) fn new(
        Configured { routes: configured, endpoints, mediation }: Configured<'_>,
        policy: &Policy,
        before: Option<&RoutingTable>,
        clock: &Clock,
        log: &Arc<Log>,
    ) -> Result<RoutingTable, ConfigError> {
        let mediating = before.and_then(|before| before.mediating.clone()).unwrap_or_else(|| {
            let config::WorkProcesses { limit, queue_max, .. } = mediation.work_processes;
            let permits = vec![(); limit as usize];
            Dispatcher::new(permits, queue_max as usize, mediation.work_processes.wait_max())
        });
        let mediations = compile(configured, endpoints, log, &mediating)?;
        let mut groups = BTreeMap::new();
        let mut by_number = Vec::with_capacity(endpoints.len());
        for endpoint in endpoints {
            let known = before.and_then(|before| before.groups.get(&endpoint.name));
            let group = Group::new(endpoint, known.map(|group| &**group), clock)?;
            let group = Arc::new(group);
            groups.insert(Arc::clone(&endpoint.name), Arc::clone(&group));
            by_number.push(group);
        }
        let route = |(route, mediation): (&Route, Mediation)| {
            let known = before.and_then(|before| before.routes.iter().find(|known| known.is(route)));
            ProxyRoute::new(route, mediation, &groups, known)
        };
        let mut routes: Vec<ProxyRoute> = configured.iter().zip(mediations).map(route).collect();
        routes.sort_by(|left, right| {
            let order = |route: &ProxyRoute| (route.host.is_none(), route.methods == Methods::ALL);
            left.path.cmp(&right.path).then_with(|| order(left).cmp(&order(right)))
        });
        let mut paths: Vec<&str> = places(configured, policy).collect();
        paths.sort_unstable();
        paths.dedup();
        let place = |path: &str| {
            let begin = routes.partition_point(|route| *route.path < *path);
            let count = routes[begin..].iter().take_while(|route| *route.path == *path).count();
            let grants = policy.grants(if path.is_empty() { "/" } else { path }, []);
            PathRules { path: path.into(), routes: begin..begin + count, grants }
        };
        let places: Vec<PathRules> = paths.into_iter().map(place).collect();
        let longest = places.iter().map(|place| place.path.len()).max().unwrap_or_default();
        let keeps_answers = routes.iter().any(|route| route.caching.is_some());
        Ok(RoutingTable { routes, places, longest, groups, by_number, mediating: Some(mediating), keeps_answers })
    }

    /// Finds the route of a request. The host is the requested one, with or without its port.
    pub(crate) fn find(&self, host: Option<&str>, method: Method, path: &str) -> RouteMatch<'_> {
        if self.routes.is_empty() {
            return RouteMatch::Nothing;
        }
        let found = self.find_as_it_stands(host, method, path);
        if !path::is_plain(path) {
            let same = |other: Option<(&PathRules, &ProxyRoute)>| match (found, other) {
                (Some((place, route)), Some((other_place, other_route))) => {
                    std::ptr::eq(place, other_place) && std::ptr::eq(route, other_route)
                }
                (found, other) => found.is_none() && other.is_none(),
            };
            if !path::readings(path).all(|reading| same(self.find_as_it_stands(host, method, &reading))) {
                return RouteMatch::Ambiguous;
            }
        }
        match found {
            Some((place, route)) => RouteMatch::Route { route, grants: place.grants.as_ref() },
            None => self.other_methods(host, path),
        }
    }

    /// Every route, by path.
    pub(crate) fn routes(&self) -> &[ProxyRoute] {
        &self.routes
    }

    /// Every endpoint, by name.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &Arc<Group>> {
        self.groups.values()
    }

    /// Whether that id is in use.
    pub(crate) fn has(&self, place: PlaceId) -> bool {
        self.groups.values().any(|group| group.members().iter().any(|member| member.id == place))
    }

    /// The endpoint that a mediator chose.
    pub(crate) fn chosen(&self, number: usize) -> Option<&Arc<Group>> {
        self.by_number.get(number)
    }

    /// The permits to mediate large messages, if there is a route.
    pub(crate) fn mediating(&self) -> Option<&Dispatcher<()>> {
        self.mediating.as_ref()
    }

    /// Whether answers of any route are stored.
    pub(crate) fn keeps_answers(&self) -> bool {
        self.keeps_answers
    }

    /// Whether some of those are written by mediators.
    pub(crate) fn keeps_what_mediators_made(&self) -> bool {
        let mediates = |mediation: &Mediation| !mediation.request.is_empty() || !mediation.answer.is_empty();
        self.routes.iter().any(|route| route.caching.is_some() && mediates(&route.mediation))
    }

    /// Finds the longest matching path, and the first of the routes at it or above it.
    fn find_as_it_stands<'t>(
        &'t self,
        host: Option<&str>,
        method: Method,
        path: &str,
    ) -> Option<(&'t PathRules, &'t ProxyRoute)> {
        let mut longest = None;
        for place in self.fitting(path) {
            let longest = *longest.get_or_insert(place);
            let mut routes = self.routes[place.routes.clone()].iter();
            if let Some(route) = routes.find(|route| route.methods.has(method) && route.is_for_host(host)) {
                return Some((longest, route));
            }
        }
        None
    }

    /// Result for the same request with any other method.
    fn other_methods(&self, host: Option<&str>, path: &str) -> RouteMatch<'_> {
        let routes = self.fitting(path).flat_map(|place| &self.routes[place.routes.clone()]);
        let methods = routes.filter(|route| route.is_for_host(host)).map(|route| route.methods.0);
        match methods.reduce(|all, methods| all | methods) {
            Some(methods) => RouteMatch::OtherMethods(Methods(methods).names()),
            None => RouteMatch::Nothing,
        }
    }

    /// The places at or above `path`, the longest first.
    fn fitting<'t, 'p>(&'t self, path: &'p str) -> impl Iterator<Item = &'t PathRules> + use<'t, 'p> {
        let bytes = path.as_bytes();
        let whole = (!path.ends_with('/')).then_some(path.len());
        let most = bytes.len().min(self.longest + 1);
        let slashes = (0..most).rev().filter(|at| bytes[*at] == b'/');
        whole.into_iter().chain(slashes).filter(|end| *end <= self.longest).filter_map(|end| {
            let found = self.places.binary_search_by(|place| (*place.path).cmp(&path[..end]));
            found.ok().map(|at| &self.places[at])
        })
    }
}

/// Paths with grants: those of the routes, and those below them that rules name. Without a slash at their ends.
pub(crate) fn places<'c>(routes: &'c [Route], policy: &'c Policy) -> impl Iterator<Item = &'c str> {
    let below = |path: &&str| routes.iter().any(|route| is_within(path, &route.path));
    let of_rules = policy.paths().map(|path| path.trim_end_matches('/')).filter(below);
    routes.iter().map(|route| &*route.path).chain(of_rules)
}

impl ProxyRoute {
    /// Error format for its clients.
    pub(super) fn error_format(&self, request: &RequestHead) -> ErrorFormat {
        match self.protocol {
            Protocol::Soap => ErrorFormat::of_soap(Some(request)),
            Protocol::Http => ErrorFormat::of_path(Some(request)),
        }
    }

    fn new(
        route: &Route,
        mediation: Mediation,
        groups: &BTreeMap<Arc<str>, Arc<Group>>,
        known: Option<&ProxyRoute>,
    ) -> ProxyRoute {
        ProxyRoute {
            path: route.path.as_str().into(),
            methods: Methods::of(route),
            host: route.host.as_deref().map(Box::from),
            to: route.to.as_deref().map(To::new),
            // The configuration names no endpoint that is not there.
            endpoint: route.endpoint.as_ref().and_then(|name| groups.get(name)).map(Arc::clone),
            protocol: route.protocol,
            retry: route.retry,
            body_bytes_max: route.body_bytes_max,
            caching: Caching::of(route, &mediation),
            mediation,
            answered: known.map_or_else(Arc::default, |known| Arc::clone(&known.answered)),
        }
    }

    /// Whether it is the same route in another configuration.
    fn is(&self, route: &Route) -> bool {
        *self.path == route.path && self.host.as_deref() == route.host.as_deref() && self.methods == Methods::of(route)
    }

    fn is_for_host(&self, host: Option<&str>) -> bool {
        self.host.as_ref().is_none_or(|own| host.is_some_and(|host| own.eq_ignore_ascii_case(without_port(host))))
    }

    /// The path as written in the configuration.
    pub(crate) fn path(&self) -> &str {
        if self.path.is_empty() { "/" } else { &self.path }
    }

    /// The host that it matches.
    pub(crate) fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// The methods that it matches, separated by commas; `None`: all.
    pub(crate) fn methods(&self) -> Option<String> {
        (self.methods != Methods::ALL).then(|| self.methods.names())
    }

    /// Writes the backend's target for `path` and `query`, which match this route: `prefix`, the path of its place,
    /// then the path as the route rewrites it.
    pub(crate) fn write_target(&self, prefix: &str, path: &str, query: Option<&str>, out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend_from_slice(prefix.trim_end_matches('/').as_bytes());
        let mut said = None;
        match &self.to {
            None => out.extend_from_slice(path.as_bytes()),
            Some(to) => {
                let rest = &path[self.path.len()..];
                let bare = to.path.trim_end_matches('/');
                // `/` adds nothing to the path of a place that is an address by itself.
                let is_whole = bare.is_empty() && out.len() > begin;
                let kept = if rest.is_empty() && !is_whole { &to.path } else { bare };
                out.extend_from_slice(kept.as_bytes());
                out.extend_from_slice(rest.as_bytes());
                said = to.query.as_deref();
            }
        }
        if out.len() == begin {
            out.push(b'/');
        }
        for (query, mark) in said.into_iter().chain(query).zip([b'?', b'&']) {
            out.push(mark);
            out.extend_from_slice(query.as_bytes());
        }
    }

    /// The reverse: the path by which a client reaches `there` of the backend, a path with everything after it, where
    /// `prefix` is the path of its place. `None` if it is not reached this way.
    pub(crate) fn path_here(&self, prefix: &str, there: &str) -> Option<String> {
        let below = |there: &'_ str, path: &str| {
            let rest = there.strip_prefix(path.trim_end_matches('/'))?;
            (rest.is_empty() || rest.starts_with(['/', '?', '#'])).then(|| rest.to_owned())
        };
        let rest = below(there, prefix)?;
        let here = match &self.to {
            None => below(&rest, &self.path).map(|_| rest)?,
            Some(to) => format!("{}{}", self.path, below(&rest, &to.path)?),
        };
        Some(if here.starts_with('/') { here } else { format!("/{here}") })
    }

    /// Counts an answer with this status.
    pub(crate) fn count(&self, status: u16) {
        let class = usize::from(status / 100).clamp(1, self.answered.0.len()) - 1;
        self.answered.0[class].fetch_add(1, Ordering::Relaxed);
    }

    /// Answers by the class of their status, from 1xx to 5xx.
    pub(crate) fn answered(&self) -> [u64; 5] {
        std::array::from_fn(|class| self.answered.0[class].load(Ordering::Relaxed))
    }
}

#[cfg(test)]
impl ProxyRoute {
    /// Creates a route of all methods without an endpoint.
    pub(in crate::serve::proxy) fn at(path: &str) -> ProxyRoute {
        let processes = Dispatcher::new(vec![()], 0, std::time::Duration::ZERO);
        ProxyRoute {
            path: path.trim_end_matches('/').into(),
            methods: Methods::ALL,
            host: None,
            to: None,
            endpoint: None,
            protocol: Protocol::Http,
            retry: Retry::Never,
            body_bytes_max: 0,
            caching: None,
            mediation: Mediation::new(
                crate::mediate::Sequence::default(),
                crate::mediate::Sequence::default(),
                processes,
            ),
            answered: Arc::default(),
        }
    }

    /// The same with another path at the backend.
    pub(in crate::serve::proxy) fn to(self, to: &str) -> ProxyRoute {
        ProxyRoute { to: Some(To::new(to)), ..self }
    }
}

impl To {
    fn new(text: &str) -> To {
        let (path, query) = text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
        To { path: path.into(), query: query.map(Box::from) }
    }
}

impl Methods {
    const ALL: Methods = Methods(u16::MAX);

    const NAMES: [(Method, &'static str); 9] = [
        (Method::Get, "GET"),
        (Method::Head, "HEAD"),
        (Method::Post, "POST"),
        (Method::Put, "PUT"),
        (Method::Patch, "PATCH"),
        (Method::Merge, "MERGE"),
        (Method::Delete, "DELETE"),
        (Method::Options, "OPTIONS"),
        (Method::Trace, "TRACE"),
    ];

    fn of(route: &Route) -> Methods {
        let Some(methods) = &route.methods else { return Methods::ALL };
        Methods(methods.iter().fold(0, |bits, method| bits | Methods::bit(*method)))
    }

    fn bit(method: Method) -> u16 {
        1 << method as u16
    }

    fn has(self, method: Method) -> bool {
        self.0 & Methods::bit(method) != 0
    }

    fn names(self) -> String {
        let named = Methods::NAMES.iter().filter(|(method, _)| self.has(*method));
        named.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
    }
}

/// A host without the port behind it.
fn without_port(host: &str) -> &str {
    let port = host.rfind(':').filter(|colon| host.rfind(']').is_none_or(|bracket| bracket < *colon));
    port.map_or(host, |colon| &host[..colon])
}

#[cfg(test)]
mod tests;
