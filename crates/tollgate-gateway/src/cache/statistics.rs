//! Contents and counters of the cache.

use std::ops::AddAssign;
use std::time::Duration;

/// Contents and counters of the cache, each part of it read in one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Statistics {
    /// Answers stored now.
    pub(crate) entries: u64,
    /// Bytes of these answers.
    pub(crate) bytes: u64,
    /// Requests answered at once.
    pub(crate) hits_total: u64,
    /// Requests for which an answer had to be fetched.
    pub(crate) misses_total: u64,
    /// Requests that waited for another fetch.
    pub(crate) waits_total: u64,
    /// Answers that were stored.
    pub(crate) stored_total: u64,
    /// Answers evicted to make room for others.
    pub(crate) evicted_total: u64,
    /// Answers that had outlived their lifetime.
    pub(crate) expired_total: u64,
    /// Answers that were invalidated, by the operator or by a change of their data.
    pub(crate) invalidated_total: u64,
    /// Answers too large to be stored.
    pub(crate) too_large_total: u64,
    /// Answers past their lifetime that their backend confirmed.
    pub(crate) validated_total: u64,
}

/// One stored answer, for the admin pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntryInfo {
    /// Its key: a path and query, with the origin before it where the answer names it.
    pub(crate) key: String,
    /// Request fields that selected it, in lower case.
    pub(crate) varies: Vec<String>,
    /// Its size in bytes.
    pub(crate) bytes: u64,
    /// Its age.
    pub(crate) age: Duration,
    /// Its largest age.
    pub(crate) lifetime: Duration,
    /// Number of hits.
    pub(crate) hits: u64,
}

impl Statistics {
    /// Counts the removal of a useless answer: it had expired, or its data had changed.
    pub(super) fn removed(&mut self, was_current: bool) {
        match was_current {
            true => self.expired_total += 1,
            false => self.invalidated_total += 1,
        }
    }
}

impl AddAssign for Statistics {
    fn add_assign(&mut self, other: Statistics) {
        self.entries += other.entries;
        self.bytes += other.bytes;
        self.hits_total += other.hits_total;
        self.misses_total += other.misses_total;
        self.waits_total += other.waits_total;
        self.stored_total += other.stored_total;
        self.evicted_total += other.evicted_total;
        self.expired_total += other.expired_total;
        self.invalidated_total += other.invalidated_total;
        self.too_large_total += other.too_large_total;
        self.validated_total += other.validated_total;
    }
}
