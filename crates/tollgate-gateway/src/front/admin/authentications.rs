//! Authentications for the operator: their outcomes and the state of password hashing, as part of the status and as
//! families of samples.
//!
//! It names nobody: refused users are in the log.

use schemars::JsonSchema;
use serde::Serialize;

use super::openmetrics::{Exposition, MetricKind};
use super::status::Counted;
use crate::auth::Authentication;

/// Authentications by outcome, and password hashing.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct AuthenticationStatus {
    /// Requests with credentials, by outcome; `known` ones had been verified a moment ago.
    pub(super) outcomes: Vec<Counted>,
    /// The hashing of passwords; null if none are accepted.
    pub(super) hashing: Option<HashingStatus>,
}

/// Passwords being hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct HashingStatus {
    /// Largest number hashed at once.
    pub(super) limit: u64,
    /// Number being hashed.
    pub(super) busy: u64,
    /// Requests that wait for it.
    pub(super) waiting: u64,
    /// The most that waited at once.
    pub(super) waiting_peak: u64,
    /// Acquired turns.
    pub(super) admitted: u64,
}

/// Status of `authentication`; `None` where nobody authenticates.
pub(super) fn gather(authentication: &Authentication) -> Option<AuthenticationStatus> {
    let outcomes = authentication.outcomes().map(|(name, count)| Counted { name, count });
    let hashing = authentication.hashing().map(|hashing| HashingStatus {
        limit: hashing.limit,
        busy: hashing.busy,
        waiting: hashing.waiting,
        waiting_peak: hashing.waiting_max,
        admitted: hashing.admitted_total,
    });
    authentication.is_on().then(|| AuthenticationStatus { outcomes: outcomes.into(), hashing })
}

/// Writes the families.
pub(super) fn write(text: &mut Exposition, status: &AuthenticationStatus) {
    text.family(
        MetricKind::Counter,
        "tollgate_authentications",
        "Requests that said who asks, by how that ended: known ones had been verified a moment ago.",
    );
    for outcome in &status.outcomes {
        text.labelled(&[("outcome", outcome.name)], outcome.count);
    }
    let Some(hashing) = status.hashing else { return };
    for (kind, name, help, value) in [
        (
            MetricKind::Gauge,
            "tollgate_password_hashes_limit",
            "Passwords that are hashed at once, at most.",
            hashing.limit,
        ),
        (MetricKind::Gauge, "tollgate_password_hashes_busy", "Passwords that are being hashed.", hashing.busy),
        (MetricKind::Gauge, "tollgate_password_hashes_waiting", "Requests that wait for that.", hashing.waiting),
        (
            MetricKind::Gauge,
            "tollgate_password_hashes_waiting_peak",
            "The most that waited at once since the start.",
            hashing.waiting_peak,
        ),
        (MetricKind::Counter, "tollgate_password_hashes", "Turns to hash a password that were had.", hashing.admitted),
    ] {
        text.family(kind, name, help).sample(value);
    }
}
