//! Counters of the pools of all event loops, for the admin pages.
//!
//! Only creating a pool and reading the counters take the lock.

use std::sync::{Arc, Mutex, PoisonError};

use tollgate_net::http1::upstream::Counts;

use super::endpoint::PlaceId;

/// The counters of every pool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connections(Arc<Mutex<Vec<OfPool>>>);

/// The counters of one pool, and the id of its place.
type OfPool = (PlaceId, Arc<Counts>);

/// The connections of all event loops to one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ConnectionCounts {
    /// Open now.
    pub(crate) open: u64,
    /// Idle ones among them.
    pub(crate) idle: u64,
    /// Opened since the start.
    pub(crate) opened: u64,
    /// Requests over reused connections.
    pub(crate) reused: u64,
    /// Connections that grew too old, or that the backend closed while idle.
    pub(crate) stale: u64,
    /// Requests sent again.
    pub(crate) retried: u64,
}

impl Connections {
    /// Adds a pool.
    pub(super) fn add(&self, place: PlaceId, counts: &Arc<Counts>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((place, Arc::clone(counts)));
    }

    /// Removes a pool that is dropped.
    pub(super) fn remove(&self, gone: &Arc<Counts>) {
        let mut pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|(_, counts)| !Arc::ptr_eq(counts, gone));
    }

    /// Counts of the connections to one place.
    pub(crate) fn to(&self, place: PlaceId) -> ConnectionCounts {
        let pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum = ConnectionCounts::default();
        for (_, counts) in pools.iter().filter(|(known, _)| *known == place) {
            sum.open += counts.connections_open();
            sum.idle += counts.connections_idle();
            sum.opened += counts.connections_opened();
            sum.reused += counts.reused();
            sum.stale += counts.stale();
            sum.retried += counts.retried();
        }
        sum
    }
}
