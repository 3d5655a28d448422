//! What the cache holds and has done.

use std::ops::AddAssign;
use std::time::Duration;

/// What the cache holds and has done, each part of it read in one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Statistics {
    /// Answers that are kept now.
    pub(crate) entries: u64,
    /// Bytes that they take.
    pub(crate) bytes: u64,
    /// Requests that were answered at once.
    pub(crate) hits_total: u64,
    /// Requests for which an answer had to be fetched.
    pub(crate) misses_total: u64,
    /// Requests that waited for what another fetched.
    pub(crate) waits_total: u64,
    /// Answers that were kept.
    pub(crate) stored_total: u64,
    /// Answers that made room for others.
    pub(crate) evicted_total: u64,
    /// Answers that had outlived their lifetime.
    pub(crate) expired_total: u64,
    /// Answers that were thrown away, by the operator or since what they were read from had changed.
    pub(crate) invalidated_total: u64,
    /// Answers that were too large to be kept.
    pub(crate) too_large_total: u64,
    /// Answers that had outlived their lifetime, and of which their backend said that they are still good.
    pub(crate) validated_total: u64,
}

/// One answer that is kept, for whoever watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntryInfo {
    /// What it answers: a path and query, with the origin before it where the answer names it.
    pub(crate) key: String,
    /// Fields of the request that chose it, in lower case.
    pub(crate) varies: Vec<String>,
    /// Bytes that it takes.
    pub(crate) bytes: u64,
    /// How old it is.
    pub(crate) age: Duration,
    /// How old it may become.
    pub(crate) lifetime: Duration,
    /// How often it was asked for.
    pub(crate) hits: u64,
}

impl Statistics {
    /// One was found that is of no use: it was overtaken by time, or by a change.
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
