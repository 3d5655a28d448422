//! Whom the processes of a subject ask while it works: programs behind a proxy, or a database.
//!
//! It looks from time to time, so what is asked rarely and briefly may be missed. It does not see Unix sockets.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use super::listener::{Listener, asked_by};
use super::process;

/// Time between looks. A look takes some milliseconds on a machine with many processes.
const EVERY: Duration = Duration::from_millis(50);

/// Looks in a thread of its own until it is ended.
#[derive(Debug)]
pub(crate) struct Behind {
    end: Sender<()>,
    thread: JoinHandle<BTreeMap<u32, String>>,
}

impl Behind {
    /// Begins to look whom these processes ask, and all that they started. Absent without any.
    pub(crate) fn begin(watched: Vec<u32>) -> Option<Behind> {
        if watched.is_empty() {
            return None;
        }
        let (end, is_ended) = mpsc::channel();
        let look = move || {
            let mut found = BTreeMap::new();
            while is_ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let roots = watched.iter().filter_map(|process| Some((*process, process::stat(*process)?)));
                let all = process::with_descendants(roots.collect(), |_| true);
                let all: Vec<u32> = all.into_iter().map(|(process, _)| process).collect();
                found.extend(asked_by(&all).into_iter().map(|Listener { process, name }| (process, name)));
            }
            found
        };
        let thread = std::thread::Builder::new().name("behind".to_owned()).spawn(look).ok()?;
        Some(Behind { end, thread })
    }

    /// Ends it and tells whom it saw, by number, with their names.
    pub(crate) fn end(self) -> BTreeMap<u32, String> {
        drop(self.end);
        self.thread.join().unwrap_or_default()
    }
}
