//! One fetch for many: the first request fetches, the others wait for its result, on any loop.
//!
//! A waiting request keeps no resources. If the first one is cancelled, the next one becomes the first.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::ResponseCache;
use super::entry::Entry;

/// State of a fetch.
#[derive(Debug, Clone)]
pub(crate) enum Landing {
    /// The fetch is still under way.
    Awaited,
    /// An answer for all equal requests.
    Shared(Arc<Entry>),
    /// An answer that is not for others: each fetches its own.
    Unshared,
}

/// The request that fetches. If dropped before it has landed, the next one may try.
#[derive(Debug)]
pub(crate) struct Leader {
    pub(super) cache: Arc<ResponseCache>,
    pub(super) hash: u64,
    /// Hash of everything that distinguishes fetches.
    pub(super) flight_hash: u64,
    pub(super) flight: Flight,
    /// Stored answer that may still be good, if the backend confirms it.
    pub(super) stale: Option<Arc<Entry>>,
}

/// Mode of a fetch: for others too, or for its own request alone.
#[derive(Debug)]
pub(super) enum Flight {
    /// Other requests may wait for it.
    Led {
        /// The number of the fetch.
        number: u64,
        /// Channel on which they wait.
        landing: watch::Sender<Landing>,
    },
    /// Nobody waits: others get its answer only once it is stored.
    Alone {
        /// Number of invalidations before it.
        thrown_away: u64,
    },
    /// The fetch has landed.
    Landed,
}

/// A waiting request.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub(super) landing: watch::Receiver<Landing>,
    pub(super) wait_max: Duration,
}

/// Result of waiting.
#[derive(Debug)]
pub(crate) enum Waited {
    /// An answer, which may be that to another request for the same target.
    Shared(Arc<Entry>),
    /// An answer, perhaps to another request for the same target.
    Alone,
    /// The fetching request was cancelled.
    LeaderGone,
}

impl Leader {
    /// Stores the answer, and gives it to all waiting requests.
    pub(crate) fn share(mut self, entry: Entry) {
        let entry = Arc::new(entry);
        let flight = std::mem::replace(&mut self.flight, Flight::Landed);
        self.cache.keep(self.hash, self.flight_hash, &flight, &entry);
        if let Flight::Led { landing, .. } = flight {
            landing.send_replace(Landing::Shared(entry));
        }
    }

    /// Lets all waiting requests fetch for themselves, and lets nobody wait for such an answer for a while.
    pub(crate) fn keep_to_itself(mut self) {
        if let Flight::Led { number, landing } = std::mem::replace(&mut self.flight, Flight::Landed) {
            self.cache.land_unshared(self.hash, self.flight_hash, number);
            landing.send_replace(Landing::Unshared);
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if let Flight::Led { number, .. } = self.flight {
            self.cache.land(self.hash, self.flight_hash, number);
        }
    }
}

impl Waiter {
    /// Waits for the result of the fetch, up to a time limit.
    pub(crate) async fn wait(mut self) -> Waited {
        let landed = self.landing.wait_for(|landing| !matches!(landing, Landing::Awaited));
        match tokio::time::timeout(self.wait_max, landed).await {
            Ok(Ok(landing)) => match &*landing {
                Landing::Shared(entry) => Waited::Shared(Arc::clone(entry)),
                Landing::Unshared | Landing::Awaited => Waited::Alone,
            },
            Ok(Err(_)) => Waited::LeaderGone,
            Err(_) => Waited::Alone,
        }
    }
}
