//! What one client may take: so many requests each second, and so many at once. Each client is counted by itself.
//!
//! The rate is kept by the generic cell rate algorithm (GCRA): one time for each client, at which its requests so far
//! would have come at that rate. It does not know what a request is for.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::base::client::Client;

/// Tables, each with a lock of its own, so that loops hardly ever meet at one.
const TABLES: usize = 16;

/// Clients of one table beyond which those with nothing in flight begin anew.
const CLIENTS_MAX: usize = 8_192;

/// Clients of a table from which on those are forgotten that have nothing in flight and all of their burst.
const FORGET_FROM: usize = 256;

/// The amounts of a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaAmounts {
    /// Requests each second; absent: any number.
    pub per_second: Option<u32>,
    /// Requests that may come at once before that counts.
    pub burst: u32,
    /// Requests in flight; absent: any number.
    pub in_flight_max: Option<u32>,
}

/// Reason for a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exceeded {
    /// The client asked too often, and may again after this time.
    Rate(Duration),
    /// The client has so many requests in flight.
    InFlight(u32),
}

/// A quota with the use that each client makes of it.
#[derive(Debug)]
pub(crate) struct Quota {
    amounts: QuotaAmounts,
    /// Nanoseconds from one request to the next, and how much earlier than that a burst may come.
    each_ns: u64,
    ahead_ns: u64,
    tables: [Mutex<Table>; TABLES],
    hashing: RandomState,
    began: Instant,
    refused_rate: AtomicU64,
    refused_in_flight: AtomicU64,
}

#[derive(Debug)]
struct Table {
    clients: HashMap<Client, Use>,
    forget_from: usize,
}

impl Default for Table {
    fn default() -> Table {
        Table { clients: HashMap::new(), forget_from: FORGET_FROM }
    }
}

/// The use of one client.
#[derive(Debug, Clone, Copy, Default)]
struct Use {
    /// Time at which the next request would come if all came at the rate.
    due_ns: u64,
    in_flight: u32,
}

/// A request in flight; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct InFlight {
    quota: Arc<Quota>,
    client: Client,
}

impl Quota {
    /// A quota of which nobody has used anything at `now`.
    pub(crate) fn new(amounts: QuotaAmounts, now: Instant) -> Quota {
        let each_ns = amounts.per_second.map_or(0, |rate| 1_000_000_000 / u64::from(rate.max(1)));
        Quota {
            amounts,
            each_ns,
            ahead_ns: each_ns * u64::from(amounts.burst.saturating_sub(1)),
            tables: Default::default(),
            hashing: RandomState::new(),
            began: now,
            refused_rate: AtomicU64::new(0),
            refused_in_flight: AtomicU64::new(0),
        }
    }

    /// Number of refusals: for the rate, and for requests in flight.
    pub(crate) fn refused(&self) -> (u64, u64) {
        (self.refused_rate.load(Ordering::Relaxed), self.refused_in_flight.load(Ordering::Relaxed))
    }

    /// Counts a request of `client` at `now`; what it returns is to be kept until the request is answered.
    ///
    /// # Errors
    /// The client has all that it may have. The request is not counted then.
    pub(crate) fn take(self: &Arc<Quota>, client: &Client, now: Instant) -> Result<Option<InFlight>, Exceeded> {
        let now_ns = u64::try_from(now.saturating_duration_since(self.began).as_nanos()).unwrap_or(u64::MAX);
        let mut table = self.table(client);
        if table.clients.len() >= table.forget_from && !table.clients.contains_key(client) {
            table.forget(now_ns);
        }
        let used = match table.clients.get_mut(client) {
            Some(used) => used,
            None => table.clients.entry(client.clone()).or_default(),
        };
        let may_from_ns = used.due_ns.saturating_sub(self.ahead_ns);
        if may_from_ns > now_ns {
            self.refused_rate.fetch_add(1, Ordering::Relaxed);
            return Err(Exceeded::Rate(Duration::from_nanos(may_from_ns - now_ns)));
        }
        if let Some(in_flight_max) = self.amounts.in_flight_max {
            if used.in_flight >= in_flight_max {
                self.refused_in_flight.fetch_add(1, Ordering::Relaxed);
                return Err(Exceeded::InFlight(in_flight_max));
            }
            used.in_flight += 1;
        }
        used.due_ns = used.due_ns.max(now_ns).saturating_add(self.each_ns);
        drop(table);
        let is_counted = self.amounts.in_flight_max.is_some();
        Ok(is_counted.then(|| InFlight { quota: Arc::clone(self), client: client.clone() }))
    }

    fn table(&self, client: &Client) -> MutexGuard<'_, Table> {
        let table = self.hashing.hash_one(client) as usize % TABLES;
        self.tables[table].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Forgets clients that would be new at `now_ns`; if they are still too many, all with nothing in flight.
    fn forget(&mut self, now_ns: u64) {
        self.clients.retain(|_, used| used.in_flight > 0 || used.due_ns > now_ns);
        if self.clients.len() >= CLIENTS_MAX {
            self.clients.retain(|_, used| used.in_flight > 0);
        }
        // So that it is looked through once for each client that comes, on average.
        self.forget_from = (self.clients.len() * 2).max(FORGET_FROM);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut table = self.quota.table(&self.client);
        if let Some(used) = table.clients.get_mut(&self.client) {
            used.in_flight -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u32) -> Client {
        Client::at(std::net::Ipv4Addr::from_bits(number).into())
    }

    fn quota(per_second: Option<u32>, burst: u32, in_flight_max: Option<u32>, now: Instant) -> Arc<Quota> {
        Arc::new(Quota::new(QuotaAmounts { per_second, burst, in_flight_max }, now))
    }

    #[test]
    fn a_burst_passes_and_then_one_at_a_time() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let quota = quota(Some(10), 3, None, start);
        let takes = |ms: u64| quota.take(&client(1), at(ms)).err();
        let wait = |ms: u64| Some(Exceeded::Rate(Duration::from_millis(ms)));
        assert_eq!([takes(0), takes(0), takes(0)], [None, None, None]);
        assert_eq!([takes(0), takes(40), takes(100), takes(100)], [wait(100), wait(60), None, wait(100)]);
        assert!(quota.take(&client(2), at(0)).is_ok(), "each client by itself");
        assert_eq!([takes(5_000), takes(5_000), takes(5_000), takes(5_000)], [None, None, None, wait(100)]);
        assert_eq!(quota.refused(), (4, 0));
    }

    #[test]
    fn as_many_are_in_flight_as_may_be() {
        let now = Instant::now();
        let quota = quota(None, 1, Some(2), now);
        let mut held: Vec<_> = (0..2).map(|_| quota.take(&client(1), now).unwrap()).collect();
        assert_eq!(quota.take(&client(1), now).err(), Some(Exceeded::InFlight(2)));
        assert!(quota.take(&client(2), now).is_ok());
        held.pop();
        assert!(quota.take(&client(1), now).is_ok());
        assert_eq!(quota.refused(), (0, 1));
    }

    #[test]
    fn whoever_asks_too_often_is_not_in_flight() {
        let now = Instant::now();
        let quota = quota(Some(1), 1, Some(1), now);
        drop(quota.take(&client(1), now).unwrap());
        assert!(matches!(quota.take(&client(1), now), Err(Exceeded::Rate(_))));
        assert!(quota.take(&client(1), now + Duration::from_secs(1)).is_ok());
    }

    #[test]
    fn clients_are_forgotten_once_they_would_be_new_and_never_those_in_flight() {
        let now = Instant::now();
        let quota = quota(Some(1), 1, Some(1), now);
        let kept: Vec<_> = (0..10).map(|number| quota.take(&client(number), now).unwrap()).collect();
        let count = || quota.tables.iter().map(|table| table.lock().unwrap().clients.len()).sum::<usize>();
        for number in 10..20_000 {
            drop(quota.take(&client(number), now + Duration::from_secs(u64::from(number))));
        }
        assert!(count() <= TABLES * FORGET_FROM, "{}", count());
        for number in 20_000..400_000 {
            drop(quota.take(&client(number), now + Duration::from_secs(20_000)));
        }
        assert!(count() <= TABLES * CLIENTS_MAX, "{}", count());
        let again = now + Duration::from_secs(1_000_000);
        assert!((0..10).all(|number| quota.take(&client(number), again).is_err()));
        drop(kept);
        assert!((0..10).all(|number| quota.take(&client(number), again).is_ok()));
    }

    proptest::proptest! {
        #[test]
        fn nobody_gets_more_than_the_burst_and_the_rate(
            per_second in 1_u32..50, burst in 1_u32..20, gaps in proptest::collection::vec(0_u64..300, 1..200)
        ) {
            let start = Instant::now();
            let quota = quota(Some(per_second), burst, None, start);
            let (mut ms, mut passed) = (0_u64, 0_u64);
            for gap in gaps {
                ms += gap;
                passed += u64::from(quota.take(&client(1), start + Duration::from_millis(ms)).is_ok());
                let most = f64::from(burst) + ms as f64 / 1e3 * f64::from(per_second) * 1.000_001 + 1e-6;
                proptest::prop_assert!(passed as f64 <= most, "{passed} of {most} after {ms} ms");
            }
        }
    }
}
