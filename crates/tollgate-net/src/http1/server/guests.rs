//! The connections of each client, counted by all cores of a listener together.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::listen::client_at;

/// Tables, each with a lock of its own, so that cores hardly ever meet at one.
const TABLES: usize = 16;

/// The clients of a listener.
#[derive(Debug, Default)]
pub(super) struct Guests {
    tables: [Mutex<HashMap<IpAddr, usize>>; TABLES],
    hashing: RandomState,
}

/// The clients of which any number of connections is served.
#[derive(Clone, Default)]
pub(super) struct Exempt(Option<Arc<dyn Fn(IpAddr) -> bool + Send + Sync>>);

/// A connection of a client; it counts until this is dropped.
#[derive(Debug)]
pub(super) struct Guest {
    guests: Arc<Guests>,
    client: IpAddr,
}

impl Exempt {
    pub(super) fn new(is_exempt: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Exempt {
        Exempt(Some(Arc::new(is_exempt)))
    }

    pub(super) fn has(&self, address: IpAddr) -> bool {
        self.0.as_ref().is_some_and(|is_exempt| is_exempt(address.to_canonical()))
    }
}

impl fmt::Debug for Exempt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Exempt").finish_non_exhaustive()
    }
}

impl Guests {
    /// Counts a connection from `address`; `None` if its client has `max` of them.
    pub(super) fn enter(self: &Arc<Guests>, address: IpAddr, max: usize) -> Option<Guest> {
        let client = client_at(address);
        let mut table = self.table(client);
        let count = table.entry(client).or_insert(0);
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(Guest { guests: Arc::clone(self), client })
    }

    fn table(&self, client: IpAddr) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        let table = self.hashing.hash_one(client) as usize % TABLES;
        self.tables[table].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut table = self.guests.table(self.client);
        if let Some(count) = table.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                table.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_own_number_and_none_is_kept_without_connections() {
        let guests = Arc::new(Guests::default());
        let enter = |address: &str| guests.enter(address.parse().unwrap(), 2);
        let held = [enter("192.0.2.1"), enter("::ffff:192.0.2.1"), enter("2001:db8::1"), enter("2001:db8::2")];
        assert!(held.iter().all(Option::is_some));
        assert!(enter("192.0.2.1").is_none() && enter("2001:db8::3").is_none());
        assert!(enter("192.0.2.2").is_some() && enter("2001:db8:0:1::1").is_some());
        drop(held);
        assert!(enter("192.0.2.1").is_some());
        assert!(guests.tables.iter().all(|table| table.lock().unwrap().is_empty()));
    }
}
