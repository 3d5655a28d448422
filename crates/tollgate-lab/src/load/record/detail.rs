//! Details of a single load beside its distributions: the time to first byte of every answer, the cost of opening
//! connections, the first answer itself and, if wanted, each request.
//!
//! Runs of experiments do without, at no cost.

use std::time::Instant;

use tollgate_net::http1::client::{ClientConnection, Exchanged};
use tollgate_net::tls::Version;

use super::coarse::Stretches;
use super::portions::Portions;
use super::recorder::{Times, join, nanoseconds};
use crate::load::answer::failure::ErrorClass;
use crate::load::user::Answer;

/// Details of a single load.
#[derive(Debug, Clone, Default)]
pub struct Detail {
    /// Time to first byte of valid answers, from the send.
    pub waiting: Times,
    /// Connecting and, with TLS, the handshake, of valid answers to requests that opened their connection.
    pub opening: Times,
    /// Response times of valid answers by stretches of the load's time.
    pub(crate) stretches: Stretches,
    /// The first answer.
    pub first: Option<First>,
    /// Response times of each connection, of users who wait.
    pub connections: Vec<Portions>,
    /// Each request, up to a limit; absent if not wanted.
    pub log: Option<Log>,
}

/// The first answer that a worker got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct First {
    /// When it was complete.
    pub at: Instant,
    /// Its status.
    pub status: u16,
    /// The `Server` field; empty without.
    pub server: String,
    /// Bytes of its body.
    pub body_bytes: u64,
    /// Version of TLS and cipher suite with the bits of its key, such as `TLSv1.3,TLS_AES_128_GCM_SHA256,128`.
    pub tls: Option<String>,
    /// The request's head.
    pub request_head: String,
    /// The answer's head.
    pub head: String,
}

/// Log of single requests.
#[derive(Debug, Clone)]
pub struct Log {
    start: Instant,
    /// In order of completion.
    pub samples: Vec<Sample>,
    samples_max: usize,
    /// Requests beyond the limit.
    pub dropped: u64,
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Its intended start, in nanoseconds from the load's.
    pub start_ns: u64,
    /// Time to open its connection; 0 on an existing one.
    pub opening_ns: u64,
    /// From the intended start to the last byte.
    pub total_ns: u64,
    /// From the send to the first byte.
    pub waiting_ns: u64,
    /// Class of its failure; absent of a valid answer. Of a failure only the start and the total time are known.
    pub failed: Option<ErrorClass>,
    /// Bytes of its head and its body; 0 of a failed one.
    pub received_bytes: u64,
}

impl Detail {
    /// Creates one with a log of this many requests at most.
    pub fn with_log(samples_max: usize) -> Detail {
        let log = Log { start: Instant::now(), samples: Vec::new(), samples_max, dropped: 0 };
        Detail { log: Some(log), ..Detail::default() }
    }

    pub(crate) fn reset(&mut self, start: Instant) {
        self.waiting.reset();
        self.opening.reset();
        self.stretches.reset(start);
        self.first = None;
        self.connections.clear();
        if let Some(log) = &mut self.log {
            log.start = start;
            log.samples.clear();
            log.dropped = 0;
        }
    }

    #[inline]
    pub(crate) fn record(&mut self, intended: Instant, answer: &Answer) {
        let waiting_ns = nanoseconds(answer.first_byte, answer.sent);
        self.waiting.saturating_record(waiting_ns);
        let total_ns = nanoseconds(answer.finished, intended);
        self.stretches.record(answer.finished, total_ns);
        let opening_ns = answer.opened.map_or(0, |opened| opened.opening_ns());
        if answer.opened.is_some() {
            self.opening.saturating_record(opening_ns);
        }
        let received_bytes = answer.received_bytes;
        let sample = Sample { start_ns: 0, opening_ns, total_ns, waiting_ns, failed: None, received_bytes };
        self.note(intended, sample);
    }

    /// Adds a failed request, which is in no distribution.
    pub(crate) fn failed(&mut self, class: ErrorClass, intended: Instant, total_ns: u64) {
        let (opening_ns, waiting_ns, received_bytes) = (0, 0, 0);
        let failed = Some(class);
        self.note(intended, Sample { start_ns: 0, opening_ns, total_ns, waiting_ns, failed, received_bytes });
    }

    fn note(&mut self, intended: Instant, sample: Sample) {
        let Some(log) = &mut self.log else { return };
        if log.samples.len() == log.samples_max {
            log.dropped += 1;
            return;
        }
        log.samples.push(Sample { start_ns: nanoseconds(intended, log.start), ..sample });
    }

    pub(crate) fn add(&mut self, other: &Detail) {
        self.waiting.add(&other.waiting);
        self.opening.add(&other.opening);
        self.stretches.add(&other.stretches);
        self.first = self.first.take().into_iter().chain(other.first.clone()).min_by_key(|first| first.at);
        self.connections.extend_from_slice(&other.connections);
        join(&mut self.log, &other.log, |own, log| {
            own.samples.extend_from_slice(&log.samples);
            own.dropped += log.dropped;
        });
    }
}

impl First {
    pub(crate) fn of(connection: &ClientConnection, request: &[u8], exchanged: &Exchanged) -> First {
        let (head, opening) = (connection.head(), connection.opening());
        // As OpenSSL writes it.
        let tls = opening.agreed.map(|agreed| {
            let protocol = match agreed.version {
                Version::Tls12 => "TLSv1.2",
                Version::Tls13 => "TLSv1.3",
            };
            match agreed.suite {
                Some(suite) => format!("{protocol},{suite},{}", suite.facts().0),
                None => protocol.to_owned(),
            }
        });
        let end = request.windows(4).position(|end| end == b"\r\n\r\n").map_or(request.len(), |end| end + 2);
        let mut text = format!("HTTP/1.1 {}\r\n", head.status()).into_bytes();
        for line in head.lines() {
            text.extend_from_slice(&[line.name(), b": ", line.value(), b"\r\n"].concat());
        }
        First {
            at: exchanged.last_byte,
            status: head.status(),
            server: head.header("server").unwrap_or_default().to_owned(),
            body_bytes: exchanged.body_bytes,
            tls,
            request_head: String::from_utf8_lossy(&request[..end]).into_owned(),
            head: String::from_utf8_lossy(&text).into_owned(),
        }
    }
}
