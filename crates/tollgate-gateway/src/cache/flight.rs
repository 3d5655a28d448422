//! One fetch for many: the first who asks fetches, the others wait for what comes of it, on whatever loop they are.
//!
//! Nobody who waits holds anything. Where the first goes away, the next who asks is the first.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::ResponseCache;
use super::entry::Entry;

/// What became of a fetch.
#[derive(Debug, Clone)]
pub(crate) enum Landing {
    /// It goes on.
    Awaited,
    /// An answer for whoever asked the same.
    Shared(Arc<Entry>),
    /// An answer that is not for others: each fetches its own.
    Unshared,
}

/// Whoever fetches. Dropped before it has landed, it lets the next one try.
#[derive(Debug)]
pub(crate) struct Leader {
    pub(super) cache: Arc<ResponseCache>,
    pub(super) hash: u64,
    /// The hash of all that makes a fetch another one.
    pub(super) flight_hash: u64,
    pub(super) flight: Flight,
    /// What is kept and may still be good, if the backend says so.
    pub(super) stale: Option<Arc<Entry>>,
}

/// How a fetch is flown: for others too, or for its asker alone.
#[derive(Debug)]
pub(super) enum Flight {
    /// Perhaps others do.
    Led {
        /// The number of the fetch.
        number: u64,
        /// Where they wait.
        landing: watch::Sender<Landing>,
    },
    /// Nobody: it lets others have what it got only once it is kept. How often answers had been thrown away before.
    Alone {
        /// See there.
        thrown_away: u64,
    },
    /// It has landed.
    Landed,
}

/// Whoever waits.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub(super) landing: watch::Receiver<Landing>,
    pub(super) wait_max: Duration,
}

/// What came of waiting.
#[derive(Debug)]
pub(crate) enum Waited {
    /// An answer, which may be that to another request for the same target.
    Shared(Arc<Entry>),
    /// None: its asker is to fetch one for itself.
    Alone,
    /// Whoever fetched went away.
    LeaderGone,
}

impl Leader {
    /// Keeps the answer, and gives it to all who wait.
    pub(crate) fn share(mut self, entry: Entry) {
        let entry = Arc::new(entry);
        let flight = std::mem::replace(&mut self.flight, Flight::Landed);
        self.cache.keep(self.hash, self.flight_hash, &flight, &entry);
        if let Flight::Led { landing, .. } = flight {
            landing.send_replace(Landing::Shared(entry));
        }
    }

    /// Lets all who wait fetch for themselves, and has nobody wait for such an answer for a while.
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
    /// Waits for what comes of the fetch, but not for ever.
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
