//! Endpoints: groups of places with the same answers. A group picks the place of a request and learns the result:
//! balance, failover, suspension and the limit of what is in flight.
//!
//! It does not connect, send or wait. Nobody queues for a place: a request that finds none is answered 503 at once,
//! since a queue before a slow backend makes it slower for all.

mod place;
mod state;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tollgate_net::clock::Clock;
use tollgate_net::http1::client::{Connector, Scheme, Target};
use tollgate_net::http1::server::ExchangeError;
use tollgate_net::tls::{Client, ClientSettings};

use self::place::Closed;
pub(crate) use self::place::{FAILURES, Place, PlaceId};
use self::state::Turn;
pub(crate) use self::state::{HealthVerdict, Phase};
use crate::base::config_error::ConfigError;
use crate::config::{Balance, Endpoint, EndpointLimits, Suspension};

/// Registered name of the protocol inside TLS (ALPN).
const PROTOCOL: &str = "http/1.1";

/// Places with the same answers.
#[derive(Debug)]
pub(crate) struct Group {
    endpoint: Endpoint,
    members: Box<[Member]>,
    /// TLS client for it, with the authorities from the file.
    tls: Option<(Client, Authorities)>,
    /// Connector for health checks.
    checker: OnceLock<Connector>,
    /// Position of the next turn.
    turn: AtomicUsize,
    refused: Arc<Refused>,
    clock: Clock,
}

/// One place with its address.
#[derive(Debug)]
pub(crate) struct Member {
    /// Its address.
    pub(crate) target: Target,
    /// Its state and counters.
    pub(crate) place: Arc<Place>,
    /// Id of the place for its connections.
    pub(crate) id: PlaceId,
}

/// File of authorities, with its content.
type Authorities = Option<(PathBuf, Vec<u8>)>;

/// Requests that found no place.
#[derive(Debug, Default)]
struct Refused {
    suspended: AtomicU64,
    full: AtomicU64,
}

/// Permit to send one request to one place. Dropped without an ending, it has no effect on the place's state.
#[derive(Debug)]
#[must_use = "a permit takes up one of the requests that may be in flight"]
pub(crate) struct Permit<'g> {
    group: &'g Group,
    index: usize,
    turn: Turn,
    has_ended: bool,
}

/// End of a request at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It was answered completely, with this status.
    Answered(u16),
    /// No connection could be opened.
    ConnectFailed,
    /// TLS failed, or the certificate was not trusted.
    TlsFailed,
    /// A time limit was exceeded.
    TimedOut,
    /// The connection ended before the answer did, or the data were no answer.
    Broken,
}

/// Reason why no place is available for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// Every place is suspended.
    Suspended {
        /// Time to retry, in seconds, at least 1.
        retry_after_seconds: u32,
    },
    /// Each place that is not suspended has the most requests in flight.
    Full {
        /// Time to retry, in seconds.
        retry_after_seconds: u32,
    },
    /// The request has tried every available place.
    Tried,
}

/// Places that a request has tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tried(u64);

impl Tried {
    /// Adds a place.
    pub(crate) fn note(&mut self, index: usize) {
        self.0 |= 1 << index;
    }

    /// Whether no place was tried yet.
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    fn has(self, index: usize) -> bool {
        self.0 & 1 << index != 0
    }
}

impl Group {
    /// Creates the places of `endpoint`; those already in `before` under the same name keep their state, failures
    /// included.
    ///
    /// # Errors
    /// Its file of authorities cannot be used.
    pub(super) fn new(endpoint: &Endpoint, before: Option<&Group>, clock: &Clock) -> Result<Group, ConfigError> {
        let tls = tls(endpoint)?;
        let trusts_the_same = |before: &&Group| match (&before.tls, &tls) {
            (Some((_, before)), Some((_, now))) => before == now,
            (before, now) => before.is_none() && now.is_none(),
        };
        // Who is trusted, and how long they live, is part of what connections are: others are not used again.
        let keeps_connections = before.is_some_and(|before| {
            let lives = |limits: &EndpointLimits| (limits.idle_max, limits.age_max, limits.connections_idle_max);
            trusts_the_same(&before) && lives(&before.endpoint.limits) == lives(&endpoint.limits)
        });
        let members = endpoint.urls.iter().map(|target| {
            let known = before.and_then(|before| before.members.iter().find(|member| member.target == *target));
            Member {
                target: target.clone(),
                place: known.map_or_else(|| Arc::new(Place::new(clock.now())), |known| Arc::clone(&known.place)),
                id: known.filter(|_| keeps_connections).map_or_else(PlaceId::next, |known| known.id),
            }
        });
        let members: Box<[Member]> = members.collect();
        let tls = match before.filter(trusts_the_same) {
            // Its sessions can be taken up.
            Some(before) => before.tls.clone(),
            None => tls,
        };
        Ok(Group {
            members,
            endpoint: endpoint.clone(),
            tls,
            checker: OnceLock::new(),
            turn: AtomicUsize::new(0),
            refused: before.map_or_else(Arc::default, |before| Arc::clone(&before.refused)),
            clock: clock.clone(),
        })
    }

    /// Name used by routes.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.endpoint.name
    }

    /// Its configuration.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The places with their addresses.
    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Connector for health checks; it trusts the same authorities as requests.
    pub(super) fn checker(&self) -> &Connector {
        self.checker.get_or_init(|| Connector::new(settings(&self.endpoint)))
    }

    /// Records the health check of the place at `index`.
    pub(super) fn checked(&self, index: usize, verdict: HealthVerdict) {
        self.members[index].place.checked(verdict, self.clock.now(), &self.endpoint.suspension);
    }

    /// Number of requests that found every place suspended, and number that found no room.
    pub(crate) fn refused(&self) -> (u64, u64) {
        (self.refused.suspended.load(Ordering::Relaxed), self.refused.full.load(Ordering::Relaxed))
    }

    /// Picks a place for a request, except those already tried.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn pick(&self, now: Instant, except: &Tried) -> Result<Permit<'_>, Unavailable> {
        let mut closed = Unavailable::Tried;
        let count = self.members.len();
        match self.endpoint.balance {
            _ if count == 1 => {
                if let Some(permit) = self.take(0, now, except, &mut closed) {
                    return Ok(permit);
                }
            }
            Balance::RoundRobin => {
                let first = self.turn.fetch_add(1, Ordering::Relaxed) % count;
                for index in (first..count).chain(0..first) {
                    if let Some(permit) = self.take(index, now, except, &mut closed) {
                        return Ok(permit);
                    }
                }
            }
            Balance::InOrder => {
                for index in 0..count {
                    if let Some(permit) = self.take(index, now, except, &mut closed) {
                        return Ok(permit);
                    }
                }
            }
            Balance::LeastBusy => {
                // Among equals each in turn.
                let first = self.turn.fetch_add(1, Ordering::Relaxed) % count;
                let mut left = *except;
                loop {
                    let open = (first..count).chain(0..first).filter(|index| !left.has(*index));
                    let Some(index) = open.min_by_key(|index| self.members[*index].place.in_flight()) else { break };
                    if let Some(permit) = self.take(index, now, except, &mut closed) {
                        return Ok(permit);
                    }
                    left.note(index);
                }
            }
        }
        match closed {
            Unavailable::Suspended { .. } => self.refused.suspended.fetch_add(1, Ordering::Relaxed),
            Unavailable::Full { .. } => self.refused.full.fetch_add(1, Ordering::Relaxed),
            Unavailable::Tried => 0,
        };
        Err(closed)
    }

    /// The place at `index`, if it takes a request; else `closed` collects the reason, and the earliest retry.
    fn take(&self, index: usize, now: Instant, except: &Tried, closed: &mut Unavailable) -> Option<Permit<'_>> {
        if except.has(index) {
            return None;
        }
        match self.members[index].place.take(now, self.endpoint.limits.in_flight_max) {
            Ok(turn) => return Some(Permit { group: self, index, turn, has_ended: false }),
            Err(Closed::Full) => *closed = Unavailable::Full { retry_after_seconds: 1 },
            Err(Closed::Suspended { back_in_ms }) => {
                let seconds = u32::try_from(back_in_ms.div_ceil(1_000)).unwrap_or(u32::MAX).max(1);
                match closed {
                    Unavailable::Full { .. } => {}
                    Unavailable::Suspended { retry_after_seconds } => {
                        *retry_after_seconds = seconds.min(*retry_after_seconds);
                    }
                    Unavailable::Tried => *closed = Unavailable::Suspended { retry_after_seconds: seconds },
                }
            }
        }
        None
    }
}

/// TLS client for `endpoint`, if it uses TLS.
fn tls(endpoint: &Endpoint) -> Result<Option<(Client, Authorities)>, ConfigError> {
    if !endpoint.urls.iter().any(|target| target.scheme() == Scheme::Https) {
        return Ok(None);
    }
    let wrong = |wrong: String| endpoint.ca_origin.wrong(&wrong);
    let authorities = match &endpoint.ca {
        None => None,
        Some(file) => {
            let read = std::fs::read(file).map_err(|error| wrong(format!("{}: {error}", file.display())))?;
            Some((file.clone(), read))
        }
    };
    Ok(Some((Client::new(&settings(endpoint), PROTOCOL).map_err(wrong)?, authorities)))
}

fn settings(endpoint: &Endpoint) -> ClientSettings {
    ClientSettings { authorities: endpoint.ca.clone(), ..ClientSettings::default() }
}

impl<'g> Permit<'g> {
    /// Index of its place in the group.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Id of the place for its connections.
    pub(crate) fn place(&self) -> PlaceId {
        self.member().id
    }

    /// Its address; the path is put before that of the request.
    pub(crate) fn target(&self) -> &'g Target {
        &self.member().target
    }

    /// TLS client for it; `None` without TLS.
    pub(crate) fn tls(&self) -> Option<&'g Client> {
        let client = self.group.tls.as_ref().map(|(client, _)| client);
        client.filter(|_| self.target().scheme() == Scheme::Https)
    }

    /// Limits on its use and times.
    pub(crate) fn limits(&self) -> &'g EndpointLimits {
        &self.group.endpoint.limits
    }

    /// Reports that an answer with this status began. This ends a trial: the client decides how long the rest takes,
    /// and others shall not wait for it. Later errors count as for any other request.
    pub(crate) fn answers(&mut self, status: u16) {
        if self.turn.is_trial() {
            let Group { endpoint, clock, .. } = self.group;
            let place = &self.member().place;
            self.turn = place.tried(self.turn, Ending::Answered(status), || clock.now(), &endpoint.suspension);
        }
    }

    /// Reports that the client broke off the exchange, which does not count against the place.
    pub(crate) fn left_by_client(self, error: ExchangeError) -> ExchangeError {
        if matches!(error, ExchangeError::Broken(_)) {
            self.member().place.left();
        }
        error
    }

    /// Reports the result of the request.
    pub(crate) fn ended(mut self, ending: Ending) {
        self.has_ended = true;
        let Group { endpoint, clock, .. } = self.group;
        self.member().place.ended(self.turn, ending, || clock.now(), &endpoint.suspension);
    }

    fn member(&self) -> &'g Member {
        &self.group.members[self.index]
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.member().place.given_up(self.turn);
        }
    }
}

impl Ending {
    /// Its index in [`FAILURES`].
    fn failure(self) -> Option<usize> {
        match self {
            Ending::Answered(_) => None,
            Ending::ConnectFailed => Some(0),
            Ending::TlsFailed => Some(1),
            Ending::TimedOut => Some(2),
            Ending::Broken => Some(3),
        }
    }

    /// Whether it counts towards suspending the place. Errors of a client (4xx) never do.
    fn counts_against(self, rules: &Suspension) -> bool {
        match self {
            Ending::Answered(status) => rules.statuses.contains(&status),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
