//! Clients for the operator: who was refused something, and why, and the limits of one client.

use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use super::openmetrics::{Exposition, MetricKind};
use super::status::{Counted, LimitStatus};
use crate::clients::{Clients, Reason, RefusedClient};

/// Clients shown at once.
const SHOWN_MAX: usize = 50;

/// Clients that were refused something.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct ClientsStatus {
    /// Refusals by reason.
    pub(super) refusals: Vec<Counted>,
    /// The clients that were refused most, at most 50 of those of late.
    pub(super) refused: Vec<RefusedClientStatus>,
}

/// A client that was refused something.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct RefusedClientStatus {
    /// The client: an address, an IPv6 network, or `user:` and a name.
    pub(super) client: String,
    /// The reason: `connections` and `in-flight` (it had as many as it may have), `rate` (it asked too often), `queue`
    /// (there was no place for it, or no work process or time), `wrong-password`, or `guessing` (it has to wait after wrong passwords).
    pub(super) reason: &'static str,
    /// Number of refusals since it was refused first, or came into this list again.
    pub(super) count: u64,
    /// Time since the last one.
    pub(super) seconds_ago: f64,
}

/// Status of `clients` at `now`.
pub(super) fn gather(clients: &Clients, now: Instant) -> ClientsStatus {
    let refused = |RefusedClient { client, reason, count, last }| RefusedClientStatus {
        client: client.to_string(),
        reason: reason.name(),
        count,
        seconds_ago: (now.saturating_duration_since(last).as_secs_f64() * 1e3).round() / 1e3,
    };
    let counted = |reason: &Reason| Counted { name: reason.name(), count: clients.refusals.count(*reason) };
    ClientsStatus {
        refusals: Reason::ALL.iter().map(counted).collect(),
        refused: clients.refusals.most(SHOWN_MAX).into_iter().map(refused).collect(),
    }
}

/// The limits of one client, by path.
pub(super) fn limits(clients: &Clients) -> Vec<LimitStatus> {
    let mut rows = Vec::new();
    for (limit, quota) in clients.limits() {
        let of = format!("each client at {}", limit.path.as_deref().unwrap_or("/"));
        let (rate, in_flight) = quota.refused();
        let mut row = |name: &'static str, value: u32, met: Option<u64>| {
            let limit = u64::from(value);
            rows.push(LimitStatus { of: of.clone(), name, limit, unit: "count", now: None, peak: None, met });
        };
        if let Some(per_second) = limit.amounts.per_second {
            row("requests_per_second", per_second, Some(rate));
            row("burst", limit.amounts.burst, None);
        }
        if let Some(in_flight_max) = limit.amounts.in_flight_max {
            row("in_flight_max", in_flight_max, Some(in_flight));
        }
    }
    rows
}

/// Writes the family.
pub(super) fn write(text: &mut Exposition, status: &ClientsStatus) {
    text.family(
        MetricKind::Counter,
        "tollgate_client_refusals",
        "Requests and connections refused to clients, by reason.",
    );
    for refusals in &status.refusals {
        text.labelled(&[("reason", refusals.name)], refusals.count);
    }
}
