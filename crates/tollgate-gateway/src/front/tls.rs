//! The TLS listeners of a gateway: opened at the start, given new certificates on demand, and their failures told to the
//! log as often as an operator can bear.
//!
//! Handshakes and records are tollgate-net's; who a client's certificate makes its caller stands elsewhere.

use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tollgate_net::tls::server::{Acceptor, HandshakeFailure};

use crate::base::log::Log;
use crate::config::TlsListener;
use crate::front::start_error::StartError;

/// A cause of failing handshakes is logged once in so long: a flood of them is one line, and a counter in `/metrics`.
const FAILURES_LOGGED_EVERY: Duration = Duration::from_secs(60);

/// Lets the TLS listeners of a gateway read their files again.
#[derive(Debug, Clone)]
pub(crate) struct Certificates {
    listeners: Arc<Mutex<Vec<(TlsListener, Acceptor)>>>,
    log: Arc<Log>,
}

/// When each cause of failing handshakes was logged last.
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

    /// The addresses to listen on, each with what opens its connections.
    pub(crate) fn listeners(&self) -> Vec<(SocketAddr, Acceptor)> {
        let listeners = self.lock();
        let each = listeners.iter().flat_map(|(listener, acceptor)| {
            listener.addresses.iter().map(move |address| (*address, acceptor.clone()))
        });
        each.collect()
    }

    /// What the operator should know of the certificates at `now`.
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

    /// Whether everything that `listeners` name can be used.
    ///
    /// # Errors
    /// What cannot, with its line.
    pub(crate) fn check(&self, listeners: &[TlsListener]) -> Result<(), String> {
        listeners.iter().try_for_each(|listener| match Acceptor::new(&listener.settings) {
            Ok(_) => Ok(()),
            Err(error) => Err(listener.wrong(&error)),
        })
    }

    /// Serves what `listeners`, which have the same addresses, say and name, for the connections to come. Where a file was
    /// broken since it was checked, that listener goes on with what it has, and the log is told.
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

    /// Tells the log of a handshake that failed, unless the same cause was told of lately.
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

    /// Whether that cause may be logged now, for the first of those who ask at once.
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
