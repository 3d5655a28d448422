//! The flag by which a run is told to stop: set by a signal handler, looked at between units of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a trial has no end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The run was told to stop.
    Stopped,
    /// What is measured failed, and how.
    Failed(String),
}

/// Shared by whoever may stop a run and the run itself.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that is not set.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Asks the run to stop soon and to keep what it has.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
