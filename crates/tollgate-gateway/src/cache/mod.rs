//! The response cache, shared by all event loops: answers are kept in memory for as long as their handler states or
//! their `Cache-Control` allows, and are sent again without a work process, a database or a copy of a large body.
//!
//! It is divided into parts, each under a lock of its own, locked for one lookup. It never serves stale answers and
//! never writes to a disk. Answers that have outlived their lifetime are revalidated where there is a backend.

pub(crate) mod config;
mod entry;
mod fetched;
mod flight;
mod front;
mod http_date;
mod key;
mod policy;
mod shard;
mod statistics;
#[cfg(test)]
mod tests;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tollgate_net::clock::Clock;

pub(crate) use self::entry::Entry;
use self::flight::{Flight, Leader, Waiter};
pub(crate) use self::front::{Cachable, Dependence, Fetch, Lifetime, Proxied, Turn, turn};
use self::key::KeyText;
pub(crate) use self::key::{Key, Origin};
pub(crate) use self::policy::{Identity, invalidates, may_change};
pub(crate) use self::shard::Validates;
use self::shard::{Known, Question, Shard, Why};
pub(crate) use self::statistics::{EntryInfo, Statistics};
pub use crate::http::cache_control as control;

/// Largest number of parts. With that many, loops seldom contend for a lock.
const SHARDS_MAX: usize = 16;

/// Least room of each part, in answers of the largest size and in answers at all: else there are fewer parts.
const LARGEST_IN_SHARD_MIN: usize = 4;
const ENTRIES_IN_SHARD_MIN: usize = 64;

/// The response cache.
#[derive(Debug)]
pub(crate) struct ResponseCache {
    shards: Box<[Mutex<Shard>]>,
    /// Its keys are random: nobody can choose targets that collide.
    hashing: RandomState,
    state: Switch,
    entry_bytes_max: usize,
    wait_max: Duration,
    /// Statistics of the caches that it replaced.
    done_before: Statistics,
    clock: Clock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

/// Result of a lookup.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// This stored answer answers it.
    Hit(Arc<Entry>),
    /// It fetches, for itself and for others.
    Lead(Leader),
    /// Another fetches already.
    Wait(Waiter),
    /// It fetches for itself.
    Alone,
}

/// Selection of answers to invalidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which<'a> {
    /// Answers with this key, as listed.
    One(&'a str),
    /// Answers whose path begins with this.
    Prefix(&'a str),
    /// All.
    All,
}

impl ResponseCache {
    /// Creates an empty cache.
    pub(crate) fn new(config: &config::Cache, clock: Clock) -> Arc<ResponseCache> {
        ResponseCache::begin(config, Statistics::default(), clock)
    }

    /// Creates an empty cache that replaces another and continues its counters. Answers on their way into the old one
    /// are not stored here.
    pub(crate) fn instead_of(before: &ResponseCache, config: &config::Cache) -> Arc<ResponseCache> {
        let done = before.statistics();
        let invalidated_total = done.invalidated_total + done.entries;
        let done = Statistics { entries: 0, bytes: 0, invalidated_total, ..done };
        ResponseCache::begin(config, done, before.clock.clone())
    }

    fn begin(config: &config::Cache, done_before: Statistics, clock: Clock) -> Arc<ResponseCache> {
        let largest = config.entry_bytes_max.saturating_mul(LARGEST_IN_SHARD_MIN);
        let by_bytes = config.bytes_max / largest.max(1);
        let by_entries = config.entries_max / ENTRIES_IN_SHARD_MIN;
        let shards = by_bytes.min(by_entries).clamp(1, SHARDS_MAX);
        // A power of two, so that a few bits of the hash choose.
        let shards = 1 << shards.ilog2();
        let shard = || Mutex::new(Shard::new(config.bytes_max / shards, config.entries_max / shards));
        Arc::new(ResponseCache {
            shards: std::iter::repeat_with(shard).take(shards).collect(),
            hashing: RandomState::new(),
            state: if config.enabled { Switch::On } else { Switch::Off },
            entry_bytes_max: config.entry_bytes_max,
            wait_max: config.wait_max(),
            done_before,
            clock,
        })
    }

    /// Looks up a request.
    fn ask(self: &Arc<Self>, question: &Question<'_>, now: Instant) -> Lookup {
        let mut hasher = self.hashing.build_hasher();
        question.key.hash(&mut hasher);
        let hash = hasher.finish();
        // Requests that are known to have different answers do not wait for each other.
        let flight_hash = || {
            let mut hasher = hasher.clone();
            for name in question.varies.iter().copied().chain(question.reads.iter().map(|name| &**name)) {
                for value in question.request.values(name) {
                    hasher.write(value.as_bytes());
                }
                hasher.write_u8(0xff);
            }
            hasher.finish()
        };
        let known = self.shard(hash).ask(hash, flight_hash, question, now);
        let leads = |flight, stale| {
            let flight_hash = flight_hash();
            Lookup::Lead(Leader { cache: Arc::clone(self), hash, flight_hash, flight, stale })
        };
        match known {
            Known::Hit(entry) => Lookup::Hit(entry),
            Known::Awaited(landing) => Lookup::Wait(Waiter { landing, wait_max: self.wait_max }),
            Known::Led(number, landing, stale) => leads(Flight::Led { number, landing }, stale),
            Known::Unknown(Why::Unshared, ..) if question.passes_conditions => Lookup::Alone,
            Known::Unknown(_, stale, thrown_away)
                if question.leads == shard::Leads::Yes && !question.control.only_if_cached =>
            {
                leads(Flight::Alone { thrown_away }, stale)
            }
            Known::Unknown(..) => Lookup::Alone,
        }
    }

    /// Stores an answer, unless something was invalidated since its fetch began.
    fn keep(&self, hash: u64, flight_hash: u64, flight: &Flight, entry: &Arc<Entry>) {
        let mut shard = self.shard(hash);
        let may_be_kept = match flight {
            Flight::Led { number, .. } => shard.land(flight_hash, *number),
            Flight::Alone { thrown_away } => shard.is_as_it_was(*thrown_away),
            Flight::Landed => false,
        };
        if may_be_kept && entry.is_current() {
            shard.forget_unshared(flight_hash);
            shard.keep(hash, Arc::clone(entry), entry.kept_at);
        }
    }

    /// Ends a fetch without an answer.
    fn land(&self, hash: u64, flight_hash: u64, number: u64) {
        self.shard(hash).land(flight_hash, number);
    }

    /// Ends a fetch with an answer that is not for others.
    fn land_unshared(&self, hash: u64, flight_hash: u64, number: u64) {
        let now = self.clock.now();
        let mut shard = self.shard(hash);
        shard.land(flight_hash, number);
        shard.note_unshared(flight_hash, now);
    }

    /// Invalidates all answers for `key`, whatever fields chose among them; fetches under way are not stored.
    pub(crate) fn invalidate_key(&self, key: &Key<'_>) {
        let mut hasher = self.hashing.build_hasher();
        key.hash(&mut hasher);
        let hash = hasher.finish();
        self.shard(hash).invalidate_key(hash, key);
    }

    /// Whether answers are stored at all.
    pub(crate) fn is_on(&self) -> bool {
        self.state == Switch::On
    }

    /// Counts an answer that a backend confirmed.
    fn count_validated(&self) {
        lock(&self.shards[0]).statistics.validated_total += 1;
    }

    /// The answers with most hits, at most so many.
    pub(crate) fn entries(&self, limit: usize) -> Vec<EntryInfo> {
        let now = self.clock.now();
        let mut found = Vec::new();
        for shard in &self.shards {
            let shard = lock(shard);
            // Only references are gathered under the lock.
            let mut of_shard: Vec<_> = shard.iter().map(|(entry, hits)| (hits, entry)).collect();
            of_shard.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
            of_shard.truncate(limit);
            found.extend(of_shard.into_iter().map(|(hits, entry)| (hits, Arc::clone(entry))));
        }
        found.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
        found.truncate(limit);
        let info = |(hits, entry): (u64, Arc<Entry>)| EntryInfo {
            key: entry.key.as_str().to_owned(),
            varies: entry.varying.iter().map(|varying| varying.name().to_owned()).collect(),
            bytes: entry.bytes() as u64,
            age: entry.age(now),
            lifetime: entry.freshness.lifetime,
            hits,
        };
        found.into_iter().map(info).collect()
    }

    /// Its contents and counters.
    pub(crate) fn statistics(&self) -> Statistics {
        let mut all = self.done_before;
        for shard in &self.shards {
            all += lock(shard).statistics;
        }
        all
    }

    /// Invalidates answers and returns their number. Fetches under way for them are not stored.
    pub(crate) fn invalidate(&self, which: Which<'_>) -> u64 {
        self.shards.iter().map(|shard| lock(shard).invalidate(&which)).sum()
    }

    /// Counts an answer that was too large to be stored.
    fn count_too_large(&self) {
        lock(&self.shards[0]).statistics.too_large_total += 1;
    }

    fn shard(&self, hash: u64) -> MutexGuard<'_, Shard> {
        // Not the bits by which the tables inside choose.
        lock(&self.shards[(hash >> 32) as usize & (self.shards.len() - 1)])
    }
}

impl Which<'_> {
    fn means(&self, key: &KeyText) -> bool {
        match self {
            Which::One(listed) => key.as_str() == *listed,
            Which::Prefix(prefix) => key.target().starts_with(prefix),
            Which::All => true,
        }
    }
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}
