//! Connections that wait for a request, of one event loop to one place: the last given is the first taken, so that those
//! which are not needed grow old and go.
//!
//! The number of requests that a backend takes at once is not decided here: that is for all event loops together.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::connection::UpstreamConnection;
use super::error::UpstreamError;
use super::open::Place;
use crate::meter::Tally;

/// Time for which names stay resolved: a moved backend is found within this, and at once when it is not there.
const RESOLVED_FOR: Duration = Duration::from_secs(30);

/// Time limits and number of idle connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLimits {
    /// Connections that may wait.
    pub idle_connections_max: usize,
    /// Longest idle time of each: shorter than the backend's.
    pub idle_max: Duration,
    /// Longest life of each.
    pub age_max: Duration,
}

/// Counters of a pool; any thread may read them.
#[derive(Debug, Default)]
pub struct Counts {
    opened: Tally,
    open: Tally,
    idle: Tally,
    reused: Tally,
    stale: Tally,
    retried: Tally,
}

/// Connections of one event loop to one place.
#[derive(Debug)]
pub struct Pool {
    place: Place,
    limits: PoolLimits,
    idle: RefCell<Vec<UpstreamConnection>>,
    resolved: RefCell<Resolved>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Resolved {
    addresses: Vec<SocketAddr>,
    until: Option<Instant>,
}

impl Pool {
    /// A pool without connections.
    #[must_use]
    pub fn new(place: Place, limits: PoolLimits) -> Pool {
        Pool { place, limits, idle: RefCell::default(), resolved: RefCell::default(), counts: Arc::default() }
    }

    /// The target of its connections.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Its counters.
    #[must_use]
    pub fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// The connection that was given last, of those that may still be used.
    pub fn take(&self, now: Instant) -> Option<UpstreamConnection> {
        let mut idle = self.idle.borrow_mut();
        while let Some(mut connection) = idle.pop() {
            self.counts.idle.subtract(1);
            if connection.is_usable(now, &self.limits) {
                self.counts.reused.add(1);
                return Some(connection);
            }
            self.counts.stale.add(1);
        }
        None
    }

    /// Keeps a connection for another request, unless enough of them wait.
    pub fn give(&self, mut connection: UpstreamConnection, now: Instant) {
        let mut idle = self.idle.borrow_mut();
        if idle.len() < self.limits.idle_connections_max {
            connection.rest(now);
            self.counts.idle.add(1);
            idle.push(connection);
        }
    }

    /// Closes what may not be used any more.
    pub fn clean(&self, now: Instant) {
        let mut idle = self.idle.borrow_mut();
        let before = idle.len();
        idle.retain_mut(|connection| connection.is_usable(now, &self.limits));
        let gone = (before - idle.len()) as u64;
        self.counts.idle.subtract(gone);
        self.counts.stale.add(gone);
    }

    /// Counts that a request was sent again over a fresh connection.
    pub fn count_retry(&self) {
        self.counts.retried.add(1);
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// Why there is none.
    pub(in crate::http1) async fn open(
        &self,
        now: Instant,
        timeout: Duration,
    ) -> Result<UpstreamConnection, UpstreamError> {
        let addresses = self.addresses(now).await?;
        let opened = self.place.open(&addresses, timeout).await.inspect_err(|_| self.forget_addresses());
        let (stream, address) = opened?;
        if addresses.first() != Some(&address) {
            self.prefer(address);
        }
        Ok(UpstreamConnection::new(stream, now, &self.counts))
    }

    async fn addresses(&self, now: Instant) -> Result<Vec<SocketAddr>, UpstreamError> {
        let known = {
            let resolved = self.resolved.borrow();
            resolved.until.is_some_and(|until| now < until).then(|| resolved.addresses.clone())
        };
        if let Some(addresses) = known {
            return Ok(addresses);
        }
        let addresses = self.place.resolve().await.map_err(|error: io::Error| UpstreamError::unresolved(error))?;
        *self.resolved.borrow_mut() = Resolved { addresses: addresses.clone(), until: Some(now + RESOLVED_FOR) };
        Ok(addresses)
    }

    /// The next connection is tried there first: those before it said nothing, or no.
    fn prefer(&self, address: SocketAddr) {
        let addresses = &mut self.resolved.borrow_mut().addresses;
        if let Some(at) = addresses.iter().position(|known| *known == address) {
            addresses[..=at].rotate_right(1);
        }
    }

    fn forget_addresses(&self) {
        self.resolved.borrow_mut().until = None;
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.counts.idle.subtract(self.idle.get_mut().len() as u64);
    }
}

impl Counts {
    /// Connections opened since the start.
    #[must_use]
    pub fn connections_opened(&self) -> u64 {
        self.opened.value()
    }

    /// Connections open now.
    #[must_use]
    pub fn connections_open(&self) -> u64 {
        self.open.value()
    }

    /// Connections that wait for a request now.
    #[must_use]
    pub fn connections_idle(&self) -> u64 {
        self.idle.value()
    }

    /// Requests over connections that had waited.
    #[must_use]
    pub fn reused(&self) -> u64 {
        self.reused.value()
    }

    /// Connections that were not used any more: too old, or closed by the backend while they waited.
    #[must_use]
    pub fn stale(&self) -> u64 {
        self.stale.value()
    }

    /// Requests that were sent again.
    #[must_use]
    pub fn retried(&self) -> u64 {
        self.retried.value()
    }

    pub(super) fn opened(&self) {
        self.opened.add(1);
        self.open.add(1);
    }

    pub(super) fn closed(&self) {
        self.open.subtract(1);
    }
}
