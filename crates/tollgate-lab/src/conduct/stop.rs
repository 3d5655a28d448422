//! The flag that asks a run to stop: set by a signal handler, checked between units of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reason for a trial not to finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The run was asked to stop.
    Stopped,
    /// The subject failed, with the failure.
    Failed(String),
}

/// A stop flag, shared by the run and its stoppers.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that is not set.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Asks the run to stop soon and to keep its measurements so far.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was requested.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
