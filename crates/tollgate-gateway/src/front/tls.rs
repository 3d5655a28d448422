//! The TLS listeners of a gateway: opened at the start, given new certificates on demand, with a limited number of log
//! lines on their failures.
//!
//! Handshakes and records are tollgate-net's; client certificates are mapped to users elsewhere.

use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tollgate_net::tls::server::{Acceptor, HandshakeFailure};

use crate::base::log::Log;
use crate::config::TlsListener;
use crate::front::start_error::StartError;

/// Interval of log lines for one cause of failed handshakes: a flood of them is one line, and a counter in `/metrics`.
const FAILURES_LOGGED_EVERY: Duration = Duration::from_secs(60);

/// Reloads the files of the TLS listeners.
#[derive(Debug, Clone)]
pub(crate) struct Certificates {
    listeners: Arc<Mutex<Vec<(TlsListener, Acceptor)>>>,
    log: Arc<Log>,
}

/// Time of the last log line for each cause of failed handshakes.
#[derive(Debug)]
pub(crate) struct FailureLog {
    began: Instant,
    /// By cause: seconds since `began` before which it is not logged again.
    not_before_seconds: [AtomicU64; HandshakeFailure::ALL.len()],
}

impl Certificates {
    /// Reads the files that the listeners name.
    pub(crate) fn load(listeners: Vec<TlsListener>, log: Arc<Log>) -> Result<Certificates, StartError> {
        let opened = listeners.into_iter().map(|listener| match Acceptor::new(&listener.settings) {
            Ok(acceptor) => Ok((listener, acceptor)),
            Err(error) => Err(StartError::Tls(listener.wrong(&error))),
        });
        Ok(Certificates { listeners: Arc::new(Mutex::new(opened.collect::<Result<_, _>>()?)), log })
    }

    /// The addresses to listen on, each with its TLS acceptor.
    pub(crate) fn listeners(&self) -> Vec<(SocketAddr, Acceptor)> {
        let listeners = self.lock();
        let each = listeners.iter().flat_map(|(listener, acceptor)| {
            listener.addresses.iter().map(move |address| (*address, acceptor.clone()))
        });
        each.collect()
    }

    /// Remarks for the operator on the certificates at `now`.
    pub(crate) fn remarks(&self, now: SystemTime) -> Vec<String> {
        let remark = |(listener, acceptor): &(TlsListener, Acceptor)| {
            let (file, certificate) = (listener.settings.certificate.display(), acceptor.certificate());
            if certificate.not_after < now {
                return Some(format!("the certificate in {file} has expired: clients will refuse it"));
            }
            (certificate.not_before > now)
                .then(|| format!("the certificate in {file} is not valid yet: clients will refuse it"))
        };
        self.lock().iter().filter_map(remark).collect()
    }

    /// Checks that all files that `listeners` name can be used.
    ///
    /// # Errors
    /// The first that cannot, with its line.
    pub(crate) fn check(&self, listeners: &[TlsListener]) -> Result<(), String> {
        listeners.iter().try_for_each(|listener| match Acceptor::new(&listener.settings) {
            Ok(_) => Ok(()),
            Err(error) => Err(listener.wrong(&error)),
        })
    }

    /// Applies the settings of `listeners`, which have the same addresses, to new connections. If a file broke since it
    /// was checked, that listener keeps its old settings, and the error is logged.
    pub(crate) fn replace(&self, listeners: &[TlsListener]) {
        let mut opened = self.lock();
        for ((listener, acceptor), new) in opened.iter_mut().zip(listeners) {
            let file = new.settings.certificate.display();
            match acceptor.replace(&new.settings) {
                Ok(()) => {
                    self.log.line(format_args!("the certificate in {file} is served from now on"));
                    *listener = new.clone();
                }
                Err(error) => {
                    self.log.line(format_args!("the certificate that was served before {file} stays: {error}"));
                }
            }
        }
        drop(opened);
        for remark in self.remarks(SystemTime::now()) {
            self.log.line(format_args!("{remark}"));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(TlsListener, Acceptor)>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FailureLog {
    pub(crate) fn new() -> FailureLog {
        FailureLog { began: Instant::now(), not_before_seconds: std::array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// Logs a failed handshake, unless the same cause was logged lately.
    pub(crate) fn note(&self, log: &Log, failure: HandshakeFailure, peer: SocketAddr, detail: Option<&dyn Display>) {
        if !self.admits(failure, self.began.elapsed()) {
            return;
        }
        let (peer, cause) = (peer.ip(), failure.name());
        match detail {
            Some(detail) => log.line(format_args!("TLS with {peer}: {failure} ({cause}): {detail}")),
            None => log.line(format_args!("TLS with {peer}: {failure} ({cause})")),
        }
    }

    /// Whether that cause may be logged now; true only for the first of concurrent callers.
    fn admits(&self, failure: HandshakeFailure, since_began: Duration) -> bool {
        let not_before = &self.not_before_seconds[failure as usize];
        let (now, before) = (since_began.as_secs(), not_before.load(Ordering::Relaxed));
        let next = now + FAILURES_LOGGED_EVERY.as_secs();
        now >= before && not_before.compare_exchange(before, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_logged_once_in_its_interval() {
        let log = FailureLog::new();
        let admits = |failure, seconds| log.admits(failure, Duration::from_secs(seconds));
        let (version, closed) = (HandshakeFailure::Version, HandshakeFailure::Closed);
        assert_eq!([admits(version, 0), admits(version, 0), admits(version, 59)], [true, false, false]);
        assert_eq!([admits(closed, 30), admits(closed, 89), admits(closed, 90)], [true, false, true]);
        assert_eq!([admits(version, 60), admits(version, 61)], [true, false]);
    }
}
