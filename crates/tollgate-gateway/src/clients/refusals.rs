//! Whom requests were refused, and why, for the operator: the clients of late, a bounded number of them.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::base::client::Client;

/// Tables, each with a lock of its own: a flood of refusals is no place where loops meet.
const TABLES: usize = 16;

/// Clients of one table. Beyond it, the one is forgotten whose last refusal is oldest.
const ENTRIES_MAX: usize = 32;

/// Reason for a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reason {
    /// It had as many connections as it may have.
    Connections,
    /// It asked too often.
    Rate,
    /// It had as many requests in flight as it may have.
    InFlight,
    /// There was no place for it, or no work process, turn or time.
    Queue,
    /// No user has such a name and password.
    WrongPassword,
    /// It has to wait after wrong passwords.
    Guessing,
}

/// Refusals.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    counts: [AtomicU64; Reason::ALL.len()],
    tables: [Mutex<HashMap<(Client, Reason), Tallied>>; TABLES],
    hashing: RandomState,
}

/// Refusals of one client for one reason.
#[derive(Debug, Clone, Copy)]
struct Tallied {
    count: u64,
    last: Instant,
}

/// One client with its refusals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefusedClient {
    pub(crate) client: Client,
    pub(crate) reason: Reason,
    pub(crate) count: u64,
    pub(crate) last: Instant,
}

impl Reason {
    /// Every reason, in the order of the enum.
    pub(crate) const ALL: &[Reason] =
        &[Reason::Connections, Reason::Rate, Reason::InFlight, Reason::Queue, Reason::WrongPassword, Reason::Guessing];

    /// The stable name, in kebab case.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Reason::Connections => "connections",
            Reason::Rate => "rate",
            Reason::InFlight => "in-flight",
            Reason::Queue => "queue",
            Reason::WrongPassword => "wrong-password",
            Reason::Guessing => "guessing",
        }
    }
}

impl Refusals {
    /// Notes that `client` was refused.
    pub(crate) fn note(&self, client: &Client, reason: Reason, now: Instant) {
        self.counts[reason as usize].fetch_add(1, Ordering::Relaxed);
        let table = &self.tables[self.hashing.hash_one(client) as usize % TABLES];
        let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (client.clone(), reason);
        if table.len() >= ENTRIES_MAX && !table.contains_key(&key) {
            let oldest = table.iter().min_by_key(|(_, refused)| refused.last).map(|(key, _)| key.clone());
            oldest.map(|oldest| table.remove(&oldest));
        }
        let refused = table.entry(key).or_insert(Tallied { count: 0, last: now });
        refused.count += 1;
        refused.last = now;
    }

    /// Number of refusals for this reason.
    pub(crate) fn count(&self, reason: Reason) -> u64 {
        self.counts[reason as usize].load(Ordering::Relaxed)
    }

    /// The clients that were refused most, at most this many.
    pub(crate) fn most(&self, count: usize) -> Vec<RefusedClient> {
        let mut all = Vec::new();
        for table in &self.tables {
            let table = table.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(table.iter().map(|((client, reason), refused)| RefusedClient {
                client: client.clone(),
                reason: *reason,
                count: refused.count,
                last: refused.last,
            }));
        }
        all.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.client.cmp(&other.client)));
        all.truncate(count);
        all
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn client(number: u32) -> Client {
        Client::at(std::net::Ipv4Addr::from_bits(number).into())
    }

    #[test]
    fn those_refused_most_come_first_and_the_oldest_are_forgotten() {
        let (refusals, now) = (Refusals::default(), Instant::now());
        for number in 0..10_000 {
            let at = now + Duration::from_millis(number.into());
            refusals.note(&client(number), Reason::Rate, at);
            refusals.note(&client(u32::MAX), Reason::Guessing, at);
        }
        assert_eq!((refusals.count(Reason::Rate), refusals.count(Reason::Queue)), (10_000, 0));
        let most = refusals.most(100_000);
        assert!(most.len() <= TABLES * ENTRIES_MAX, "{}", most.len());
        assert_eq!((&most[0].client, most[0].reason, most[0].count), (&client(u32::MAX), Reason::Guessing, 10_000));
        assert!(most[1..].iter().all(|one| one.count == 1 && one.reason == Reason::Rate));
        assert_eq!(refusals.most(3).len(), 3);
    }

    #[test]
    fn every_reason_stands_at_its_own_place() {
        assert!(Reason::ALL.iter().enumerate().all(|(index, reason)| *reason as usize == index));
    }
}
