//! The memory that requests and answers may take under a configuration: the sum of all limits that bound some of it.
//!
//! It is not all memory of the process. It leaves out databases with their caches, the program itself, documents under
//! mediation, and connections without a request.

use std::fmt;

use tollgate_net::http1::server::{KEPT_BYTES_MAX, WAITING_BYTES};

use super::{Cache, Config, Service};
use crate::visit::room::{AHEAD_BYTES_TOTAL_MAX, BatchRoom};
use crate::work::answer_room::ROOM_BYTES;
use crate::work::parts;

/// Bytes of the operator's unfinished requests, and of the unsent answers to them.
pub(crate) const OPERATOR_BYTES_MAX: usize = 4 << 20;

/// Bytes of one password hash of the default cost; a stored hash of a higher cost takes more.
const HASH_BYTES: usize = 19 << 20;

/// Name of the share of the response cache.
const CACHE: &str = "response_cache";

/// The memory that requests and answers may take, by kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryBound {
    shares: Vec<(&'static str, u64)>,
}

impl Config {
    /// The memory that requests and answers may take.
    pub fn memory(&self) -> MemoryBound {
        let listeners = self.listen.addresses.len() + self.tls.iter().map(|tls| tls.addresses.len()).sum::<usize>();
        let loops = self.threads() * listeners;
        let batch = |service: &Service| service.rules.batch_bytes_max + service.rules.batch_answer_bytes_max;
        let batches = BatchRoom::bytes_max(self.services.iter().map(batch).max().unwrap_or(0));
        let writing = self.services.iter().map(|service| service.work_processes.limit as usize).sum();
        let hashes = if self.authentication.takes_basic() { self.authentication.hashes_at_once as usize } else { 0 };
        let operators_hash = usize::from(self.admin.user.is_some());
        let shares = [
            ("unfinished_requests", loops * self.limits.held_bytes_max),
            ("waiting_requests", self.requests_waiting_max() * WAITING_BYTES),
            ("unsent_answers", loops * self.limits.unsent_bytes_max),
            ("answers_in_parts", parts::bytes_max(writing)),
            ("large_answers", ROOM_BYTES),
            ("batches", batches),
            ("arrays", AHEAD_BYTES_TOTAL_MAX),
            (CACHE, bytes_of(&self.cache)),
            ("password_hashes", (hashes + operators_hash) * HASH_BYTES),
            ("kept_buffers", loops * KEPT_BYTES_MAX),
            ("operator", 2 * OPERATOR_BYTES_MAX + KEPT_BYTES_MAX),
        ];
        MemoryBound { shares: shares.into_iter().map(|(name, bytes)| (name, bytes as u64)).collect() }
    }

    /// Requests that have or wait for a work process, or wait for a turn to hash a password, at most.
    fn requests_waiting_max(&self) -> usize {
        let of_databases = self.services.iter().map(|service| &service.work_processes);
        let pools = of_databases.chain(self.built_in.iter().filter_map(|service| service.work_processes.as_ref()));
        let waiting: usize =
            pools.map(|work_processes| (work_processes.limit as usize) + work_processes.queue_max as usize).sum();
        let hashes =
            if self.authentication.takes_basic() { self.authentication.hashes_waiting_max as usize } else { 0 };
        waiting + hashes
    }
}

impl MemoryBound {
    /// Bytes of each kind.
    pub(crate) fn shares(&self) -> &[(&'static str, u64)] {
        &self.shares
    }

    /// The same with another cache, which a new configuration may bring.
    pub(crate) fn with_cache(&self, cache: &Cache) -> MemoryBound {
        let share =
            |(name, bytes): &(&'static str, u64)| (*name, if *name == CACHE { bytes_of(cache) as u64 } else { *bytes });
        MemoryBound { shares: self.shares.iter().map(share).collect() }
    }

    /// Bytes altogether.
    pub fn bytes(&self) -> u64 {
        self.shares.iter().map(|(_, bytes)| bytes).sum()
    }
}

fn bytes_of(cache: &Cache) -> usize {
    if cache.enabled { cache.bytes_max } else { 0 }
}

impl fmt::Display for MemoryBound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        write!(formatter, "requests and answers take at most {} MiB", mib(self.bytes()))?;
        let taken = self.shares.iter().filter(|(_, bytes)| *bytes > 0);
        for (index, (name, bytes)) in taken.enumerate() {
            let (mark, name) = (if index == 0 { ":" } else { "," }, name.replace('_', " "));
            write!(formatter, "{mark} {name} {}", mib(*bytes))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_default_two_loops_need_at_most_512_mib() {
        let mut config = Config::default();
        config.listen.threads = Some(2);
        let memory = config.memory();
        assert!(memory.bytes() <= 512 << 20, "{memory}");
        config.listen.threads = Some(3);
        let one_more = (config.limits.held_bytes_max + config.limits.unsent_bytes_max + KEPT_BYTES_MAX) as u64;
        assert_eq!(config.memory().bytes(), memory.bytes() + one_more);
    }

    #[test]
    fn the_bound_is_written_with_its_shares() {
        let memory =
            MemoryBound { shares: vec![("unsent_answers", 64 << 20), ("arrays", 0), ("batches", (1 << 20) + 1)] };
        assert_eq!(memory.to_string(), "requests and answers take at most 66 MiB: unsent answers 64, batches 2");
    }
}
