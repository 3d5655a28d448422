//! Counters of a link. One thread writes, any may read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The counts of one link.
#[derive(Debug, Default)]
pub struct LinkCounters {
    pub(super) accepted: AtomicU64,
    pub(super) open: AtomicU64,
    pub(super) unreachable: AtomicU64,
    pub(super) resets: AtomicU64,
    pub(super) bytes: [AtomicU64; 2],
    pub(super) held_bytes: AtomicU64,
    pub(super) releases: AtomicU64,
    pub(super) late_ns: AtomicU64,
    pub(super) late_ns_max: AtomicU64,
}

impl LinkCounters {
    /// Connections accepted so far.
    #[must_use]
    pub fn connections_accepted(&self) -> u64 {
        self.accepted.load(Relaxed)
    }

    /// Connections open now.
    #[must_use]
    pub fn connections_open(&self) -> u64 {
        self.open.load(Relaxed)
    }

    /// Connections whose target could not be reached; their clients saw a reset.
    #[must_use]
    pub fn targets_unreachable(&self) -> u64 {
        self.unreachable.load(Relaxed)
    }

    /// Connections that ended with a reset, for any reason.
    #[must_use]
    pub fn connections_reset(&self) -> u64 {
        self.resets.load(Relaxed)
    }

    /// Bytes passed on from clients to the target.
    #[must_use]
    pub fn bytes_there(&self) -> u64 {
        self.bytes[0].load(Relaxed)
    }

    /// Bytes passed on from the target to clients.
    #[must_use]
    pub fn bytes_back(&self) -> u64 {
        self.bytes[1].load(Relaxed)
    }

    /// Bytes under way now.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Relaxed)
    }

    /// Number of releases.
    #[must_use]
    pub fn releases(&self) -> u64 {
        self.releases.load(Relaxed)
    }

    /// Mean lateness of releases: the link's own fault.
    #[must_use]
    pub fn lateness_mean(&self) -> Duration {
        Duration::from_nanos(self.late_ns.load(Relaxed) / self.releases().max(1))
    }

    /// Largest lateness of a release.
    #[must_use]
    pub fn lateness_max(&self) -> Duration {
        Duration::from_nanos(self.late_ns_max.load(Relaxed))
    }

    pub(super) fn released(&self, late_ns: u64) {
        self.releases.fetch_add(1, Relaxed);
        self.late_ns.fetch_add(late_ns, Relaxed);
        self.late_ns_max.fetch_max(late_ns, Relaxed);
    }
}
