//! The signal that ends a server: given once, seen by all of its threads.
//!
//! The caller that runs the server listens for SIGTERM.

use std::sync::Arc;

use tokio::sync::watch;

/// A handle on one server's end; clones are the same handle.
#[derive(Clone, Debug)]
pub struct Shutdown {
    begun: Arc<watch::Sender<bool>>,
}

impl Shutdown {
    /// A server that is to run on.
    #[must_use]
    pub fn new() -> Shutdown {
        Shutdown { begun: Arc::new(watch::Sender::new(false)) }
    }

    /// Lets the server drain; from any thread, any number of times.
    pub fn begin(&self) {
        self.begun.send_replace(true);
    }

    /// Whether it has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        *self.begun.borrow()
    }

    /// Waits until it begins.
    pub async fn begun(&self) {
        let mut receiver = self.begun.subscribe();
        // The sender lives in self, so this ends only with the signal.
        let _ = receiver.wait_for(|begun| *begun).await;
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Shutdown::new()
    }
}
