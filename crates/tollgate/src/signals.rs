//! SIGINT and SIGTERM: the first requests an orderly end, a later one ends at once. SIGHUP: files are read again.
//!
//! The orderly end itself is not here: the verb's closure knows it.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;

/// Exit status of a process that was interrupted twice.
const INTERRUPTED: i32 = 130;
/// A signal this soon after the first counts as the same one: `timeout` signals its child and then the child's group,
/// and a wrapper passes on the terminal's signal to all. Nobody has noticed by then that the end takes long.
const AGAIN_WITHIN: Duration = Duration::from_secs(1);

/// Calls `first` on the first of the two signals, on a thread of its own; ends the process on a later one that is not a
/// repetition of it.
pub(crate) fn on_stop(first: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    watch(first).map_err(|error| Failure::failed(format_args!("cannot watch signals: {error}")))
}

/// Calls `each` on every SIGHUP, on a thread of its own.
pub(crate) fn on_hangup(each: impl FnMut() + Send + 'static) -> Result<(), Failure> {
    watch_hangup(each).map_err(|error| Failure::failed(format_args!("cannot watch signals: {error}")))
}

fn watch_hangup(mut each: impl FnMut() + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let mut hangup = {
        let _guard = runtime.enter();
        signal(SignalKind::hangup())?
    };
    thread::Builder::new().name("hangup".to_owned()).spawn(move || {
        runtime.block_on(async {
            while hangup.recv().await.is_some() {
                each();
            }
        });
    })?;
    Ok(())
}

fn watch(first: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    // Registered before this returns: a signal that comes right afterwards is not lost.
    let (mut interrupt, mut terminate) = {
        let _guard = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            let mut next = async || {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            };
            next().await;
            let came = Instant::now();
            first();
            loop {
                next().await;
                if is_another(came.elapsed()) {
                    std::process::exit(INTERRUPTED);
                }
            }
        });
    })?;
    Ok(())
}

/// Whether a signal this long after the first one counts as a second one.
fn is_another(since_first: Duration) -> bool {
    since_first >= AGAIN_WITHIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_moments_after_the_first_is_the_first_again() {
        let check = |since_first_ms: u64, expected: bool| {
            assert_eq!(is_another(Duration::from_millis(since_first_ms)), expected, "{since_first_ms}");
        };
        check(0, false);
        check(999, false);
        check(1000, true);
        check(60_000, true);
    }
}
