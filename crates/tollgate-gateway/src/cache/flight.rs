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
    /// `None` for one who fetches for itself, and lets others have what it got only once it is kept.
    pub(super) flight: Option<Led>,
}

/// A fetch that others may wait for.
#[derive(Debug)]
pub(super) struct Led {
    pub(super) hash: u64,
    pub(super) number: u64,
    pub(super) landing: watch::Sender<Landing>,
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
        let flight = self.flight.take();
        self.cache.keep(self.hash, flight.as_ref().map(|flight| (flight.hash, flight.number)), &entry);
        if let Some(flight) = flight {
            flight.landing.send_replace(Landing::Shared(entry));
        }
    }

    /// Lets all who wait fetch for themselves.
    pub(crate) fn keep_to_itself(mut self) {
        if let Some(flight) = self.flight.take() {
            self.cache.land(self.hash, flight.hash, flight.number);
            flight.landing.send_replace(Landing::Unshared);
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if let Some(flight) = self.flight.take() {
            self.cache.land(self.hash, flight.hash, flight.number);
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
