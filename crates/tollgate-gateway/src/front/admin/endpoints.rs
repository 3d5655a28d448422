//! Endpoints and routes for the operator: the state of each place, its answers, and resetting one at once; as part of
//! the status and as families of samples.

use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;
use tollgate_net::http1::RequestHead;

use super::cached::{self, Token};
use super::openmetrics::{Exposition, MetricKind};
use crate::error::Fault;
use crate::serve::proxy::endpoint::{FAILURES, Group, Phase};
use crate::serve::proxy::{ConnectionCounts, Connections, ProxyRoute, RoutingTable};

/// Path of the form.
pub(super) const RESET: &str = "/endpoints/reset";

/// One place of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct EndpointStatus {
    /// Key that resets it: the endpoint's name and the URL.
    pub(super) key: String,
    /// The endpoint's name.
    pub(super) endpoint: String,
    /// The place's URL.
    pub(super) url: String,
    /// Its state: `ready`, `suspended`, or `trying` (its time was over, and one request tests it).
    pub(super) state: &'static str,
    /// Remaining suspension; null if not suspended.
    pub(super) suspended_ms: Option<u64>,
    /// Number of suspensions.
    pub(super) suspensions: u64,
    /// Failures in a row.
    pub(super) failures_in_a_row: u64,
    /// Requests in flight.
    pub(super) in_flight: u64,
    /// Largest number in flight.
    pub(super) in_flight_max: u64,
    /// Answers of 2xx.
    pub(super) answered_2xx: u64,
    /// Answers of 3xx.
    pub(super) answered_3xx: u64,
    /// Answers of 4xx.
    pub(super) answered_4xx: u64,
    /// Answers of 5xx.
    pub(super) answered_5xx: u64,
    /// Requests that failed to connect.
    pub(super) failed_connect: u64,
    /// Requests that failed to agree on TLS.
    pub(super) failed_tls: u64,
    /// Requests that took too long.
    pub(super) failed_timeout: u64,
    /// Requests whose answer was cut short or missing.
    pub(super) failed_broken: u64,
    /// All failed requests.
    pub(super) failed: u64,
    /// Requests whose client went away; they do not count as failures.
    pub(super) left: u64,
    /// Open connections.
    pub(super) connections_open: u64,
    /// Idle connections among them.
    pub(super) connections_idle: u64,
    /// Connections opened since the start.
    pub(super) connections_opened: u64,
    /// Requests over reused connections.
    pub(super) connections_reused: u64,
    /// Requests sent again.
    pub(super) retried: u64,
}

/// Requests that found no place of an endpoint; each was answered 503.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct RefusedStatus {
    /// The endpoint's name.
    pub(super) endpoint: String,
    /// Because every place was suspended.
    pub(super) suspended: u64,
    /// Because the most allowed requests were in flight.
    pub(super) full: u64,
    /// Largest number in flight, at each of its places.
    pub(super) in_flight_max: u64,
}

/// One route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct RouteStatus {
    /// Its path; everything below belongs to it.
    pub(super) path: String,
    /// The host that it matches; null: any.
    pub(super) host: Option<String>,
    /// The methods that it matches; null: all.
    pub(super) methods: Option<String>,
    /// The endpoint; null if a mediator decides.
    pub(super) endpoint: Option<String>,
    /// Answers of 2xx.
    pub(super) answered_2xx: u64,
    /// Answers of 3xx.
    pub(super) answered_3xx: u64,
    /// Answers of 4xx.
    pub(super) answered_4xx: u64,
    /// Answers of 5xx.
    pub(super) answered_5xx: u64,
}

/// Every place of every endpoint.
pub(super) fn endpoints(table: &RoutingTable, connections: &Connections, now: Instant) -> Vec<EndpointStatus> {
    table.groups().flat_map(|group| places(group, connections, now)).collect()
}

fn places(group: &Group, connections: &Connections, now: Instant) -> impl Iterator<Item = EndpointStatus> {
    group.members().iter().map(move |member| {
        let look = member.place.look(now);
        let ConnectionCounts { open, idle, opened, reused, retried, .. } = connections.to(member.id);
        let [_, answered_2xx, answered_3xx, answered_4xx, answered_5xx] = look.answered;
        let [failed_connect, failed_tls, failed_timeout, failed_broken] = look.failed;
        let url = member.target.to_string();
        EndpointStatus {
            key: key(group.name(), &url),
            endpoint: group.name().to_string(),
            url,
            state: state(look.phase),
            suspended_ms: (look.phase == Phase::Suspended).then_some(look.suspended_for.as_millis() as u64),
            suspensions: look.suspended,
            failures_in_a_row: look.failures_in_a_row.into(),
            in_flight: look.in_flight.into(),
            in_flight_max: group.endpoint().limits.in_flight_max.into(),
            answered_2xx,
            answered_3xx,
            answered_4xx,
            answered_5xx,
            failed_connect,
            failed_tls,
            failed_timeout,
            failed_broken,
            failed: look.failed.iter().sum(),
            left: look.left,
            connections_open: open,
            connections_idle: idle,
            connections_opened: opened,
            connections_reused: reused,
            retried,
        }
    })
}

/// The requests that found no place, by endpoint.
pub(super) fn refused(table: &RoutingTable) -> Vec<RefusedStatus> {
    let of_group = |group: &Group| {
        let (suspended, full) = group.refused();
        let in_flight_max = group.endpoint().limits.in_flight_max.into();
        RefusedStatus { endpoint: group.name().to_string(), suspended, full, in_flight_max }
    };
    table.groups().map(|group| of_group(group)).collect()
}

/// Every route.
pub(super) fn routes(table: &RoutingTable) -> Vec<RouteStatus> {
    let status = |route: &ProxyRoute| {
        let [_, answered_2xx, answered_3xx, answered_4xx, answered_5xx] = route.answered();
        RouteStatus {
            path: route.path().to_owned(),
            host: route.host().map(str::to_owned),
            methods: route.methods(),
            endpoint: route.endpoint.as_ref().map(|group| group.name().to_string()),
            answered_2xx,
            answered_3xx,
            answered_4xx,
            answered_5xx,
        }
    };
    table.routes().iter().map(status).collect()
}

/// Resets the place that the form names, and returns its key.
///
/// # Errors
/// 403 without the page's token or from elsewhere, 400 for a form that names no place.
pub(super) fn reset(table: &RoutingTable, token: &Token, head: &RequestHead, form: &[u8]) -> Result<String, Fault> {
    let form = cached::checked_form(token, head, form)?;
    let said = cached::fields(form).find_map(|(name, value)| (name == "place").then_some(value)).unwrap_or_default();
    let mut members = table.groups().flat_map(|group| group.members().iter().map(move |member| (group, member)));
    let found = members.find(|(group, member)| key(group.name(), &member.target.to_string()) == said);
    let (_, member) =
        found.ok_or_else(|| Fault::bad_request("body", "expected `place` with the key of a place of an endpoint"))?;
    member.place.reset();
    Ok(said)
}

/// Writes the metric families.
pub(super) fn write(text: &mut Exposition, endpoints: &[EndpointStatus], refused: &[RefusedStatus]) {
    if endpoints.is_empty() {
        return;
    }
    text.family(MetricKind::Gauge, "tollgate_endpoint_state", "Places of endpoints by the state that they are in.");
    for place in endpoints {
        for state in [Phase::Ready, Phase::Suspended, Phase::Trying].map(state) {
            let labels = [("endpoint", &*place.endpoint), ("url", &place.url), ("state", state)];
            text.labelled(&labels, u8::from(place.state == state));
        }
    }
    type Figure = (MetricKind, &'static str, &'static str, fn(&EndpointStatus) -> u64);
    const FIGURES: &[Figure] = &[
        (MetricKind::Gauge, "tollgate_endpoint_in_flight", "Requests in flight.", |place| place.in_flight),
        (MetricKind::Gauge, "tollgate_endpoint_in_flight_limit", "Requests that may be.", |place| place.in_flight_max),
        (MetricKind::Counter, "tollgate_endpoint_suspensions", "How often it was suspended.", |place| {
            place.suspensions
        }),
        (MetricKind::Counter, "tollgate_endpoint_left", "Requests whose client went away.", |place| place.left),
        (MetricKind::Gauge, "tollgate_endpoint_connections_open", "Connections that are open.", |place| {
            place.connections_open
        }),
        (MetricKind::Gauge, "tollgate_endpoint_connections_idle", "Of those, waiting for a request.", |place| {
            place.connections_idle
        }),
        (MetricKind::Counter, "tollgate_endpoint_connections_opened", "Connections that were opened.", |place| {
            place.connections_opened
        }),
        (
            MetricKind::Counter,
            "tollgate_endpoint_connections_reused",
            "Requests over connections that had waited.",
            |place| place.connections_reused,
        ),
        (MetricKind::Counter, "tollgate_endpoint_retries", "Requests that were sent once more.", |place| place.retried),
    ];
    for (kind, name, help, value) in FIGURES {
        text.family(*kind, name, help);
        for place in endpoints {
            text.labelled(&[("endpoint", &*place.endpoint), ("url", &place.url)], value(place));
        }
    }
    text.family(MetricKind::Counter, "tollgate_endpoint_responses", "Answers by the class of their status.");
    for place in endpoints {
        let EndpointStatus { answered_2xx, answered_3xx, answered_4xx, answered_5xx, .. } = place;
        for (class, count) in
            [("2xx", answered_2xx), ("3xx", answered_3xx), ("4xx", answered_4xx), ("5xx", answered_5xx)]
        {
            text.labelled(&[("endpoint", &*place.endpoint), ("url", &place.url), ("class", class)], count);
        }
    }
    text.family(MetricKind::Counter, "tollgate_endpoint_failures", "Requests without a whole answer, by the cause.");
    for place in endpoints {
        let counts = [place.failed_connect, place.failed_tls, place.failed_timeout, place.failed_broken];
        for (cause, count) in FAILURES.iter().zip(counts) {
            text.labelled(&[("endpoint", &*place.endpoint), ("url", &place.url), ("cause", cause)], count);
        }
    }
    text.family(MetricKind::Counter, "tollgate_endpoint_refused", "Requests that found no place, by the reason.");
    for refused in refused {
        for (reason, count) in [("suspended", refused.suspended), ("full", refused.full)] {
            text.labelled(&[("endpoint", &*refused.endpoint), ("reason", reason)], count);
        }
    }
}

/// Writes the metric family of the routes.
pub(super) fn write_routes(text: &mut Exposition, routes: &[RouteStatus]) {
    if routes.is_empty() {
        return;
    }
    text.family(MetricKind::Counter, "tollgate_route_responses", "Answers of a route by the class of their status.");
    for route in routes {
        let (host, methods) = (route.host.as_deref().unwrap_or("*"), route.methods.as_deref().unwrap_or("*"));
        let RouteStatus { answered_2xx, answered_3xx, answered_4xx, answered_5xx, .. } = route;
        for (class, count) in
            [("2xx", answered_2xx), ("3xx", answered_3xx), ("4xx", answered_4xx), ("5xx", answered_5xx)]
        {
            let labels = [("path", &*route.path), ("host", host), ("methods", methods), ("class", class)];
            text.labelled(&labels, count);
        }
    }
}

fn key(endpoint: &str, url: &str) -> String {
    format!("{endpoint} {url}")
}

fn state(phase: Phase) -> &'static str {
    match phase {
        Phase::Ready => "ready",
        Phase::Suspended => "suspended",
        Phase::Trying => "trying",
    }
}
