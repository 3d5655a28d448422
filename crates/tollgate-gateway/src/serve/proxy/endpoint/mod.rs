//! Endpoints: groups of places that answer the same. A group picks the place of a request and learns how it went there:
//! balance, failover, suspension and the limit of what is in flight.
//!
//! What it deliberately does not do: connect, send or wait. Nobody queues for a place: a request that finds none is
//! answered 503 at once, since a queue before a backend that is late makes it later for all.

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

/// The name that the protocol inside of TLS is registered under.
const PROTOCOL: &str = "http/1.1";

/// Places that answer the same.
#[derive(Debug)]
pub(crate) struct Group {
    endpoint: Endpoint,
    members: Box<[Member]>,
    /// How TLS is spoken there, with the authorities that were in the file.
    tls: Option<(Client, Authorities)>,
    /// What opens connections to ask whether places are well.
    checker: OnceLock<Connector>,
    /// Whose turn it is.
    turn: AtomicUsize,
    refused: Arc<Refused>,
    clock: Clock,
}

/// One place with its address.
#[derive(Debug)]
pub(crate) struct Member {
    /// Where it is.
    pub(crate) target: Target,
    /// What is known of it.
    pub(crate) place: Arc<Place>,
    /// The number that connections to it are kept under.
    pub(crate) id: PlaceId,
}

/// What was read of the file of authorities.
type Authorities = Option<(PathBuf, Vec<u8>)>;

/// Requests that found no place.
#[derive(Debug, Default)]
struct Refused {
    suspended: AtomicU64,
    full: AtomicU64,
}

/// The leave to send one request to one place. Dropped without an ending, it says nothing about the place.
#[derive(Debug)]
#[must_use = "a permit takes up one of the requests that may be in flight"]
pub(crate) struct Permit<'g> {
    group: &'g Group,
    index: usize,
    turn: Turn,
    has_ended: bool,
}

/// How a request ended at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It was answered with this status, and the answer was whole.
    Answered(u16),
    /// There was no connection.
    ConnectFailed,
    /// There was no agreement on TLS, or the certificate was not trusted.
    TlsFailed,
    /// It took longer than it may.
    TimedOut,
    /// The connection ended before the answer did, or what came was no answer.
    Broken,
}

/// Why a request has no place to go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// Every place is suspended.
    Suspended {
        /// When to come back, in seconds, at least 1.
        retry_after_seconds: u32,
    },
    /// At each place that is not suspended there is as much in flight as may be.
    Full {
        /// When to come back, in seconds.
        retry_after_seconds: u32,
    },
    /// The request was at every place that takes one.
    Tried,
}

/// The places where a request has been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tried(u64);

impl Tried {
    /// It was there too.
    pub(crate) fn note(&mut self, index: usize) {
        self.0 |= 1 << index;
    }

    /// It was nowhere yet.
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    fn has(self, index: usize) -> bool {
        self.0 & 1 << index != 0
    }
}

impl Group {
    /// The places of `endpoint`; those that were in `before` under the same name stay what they are, with all that is
    /// held against them.
    ///
    /// # Errors
    /// When its file of authorities cannot be used.
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

    /// What routes call it.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.endpoint.name
    }

    /// What it was made of.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The places with their addresses.
    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// What opens connections to ask whether places are well; it trusts whom requests trust.
    pub(super) fn checker(&self) -> &Connector {
        self.checker.get_or_init(|| Connector::new(settings(&self.endpoint)))
    }

    /// What asking the place at `index` came to.
    pub(super) fn checked(&self, index: usize, verdict: HealthVerdict) {
        self.members[index].place.checked(verdict, self.clock.now(), &self.endpoint.suspension);
    }

    /// How many requests found every place suspended, and how many found no room.
    pub(crate) fn refused(&self) -> (u64, u64) {
        (self.refused.suspended.load(Ordering::Relaxed), self.refused.full.load(Ordering::Relaxed))
    }

    /// Leave to send a request somewhere, but not where it was already.
    ///
    /// # Errors
    /// Why there is no such place.
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

    /// The place at `index`, if it takes a request; else `closed` knows why, and what is soonest.
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

/// How TLS is spoken at `endpoint`, if it is.
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
    /// Which of the group's places it is for.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The number that connections to the place are kept under.
    pub(crate) fn place(&self) -> PlaceId {
        self.member().id
    }

    /// Its address; the path stands before that of the request.
    pub(crate) fn target(&self) -> &'g Target {
        &self.member().target
    }

    /// How TLS is spoken there; `None` where it is not.
    pub(crate) fn tls(&self) -> Option<&'g Client> {
        let client = self.group.tls.as_ref().map(|(client, _)| client);
        client.filter(|_| self.target().scheme() == Scheme::Https)
    }

    /// How much of it is used, and how long anything may take there.
    pub(crate) fn limits(&self) -> &'g EndpointLimits {
        &self.group.endpoint.limits
    }

    /// Tells that an answer with this status began. A trial is over with that: how long the rest takes is up to the client,
    /// and others shall not wait for it. What breaks later counts as it does for any other request.
    pub(crate) fn answers(&mut self, status: u16) {
        if self.turn.is_trial() {
            let Group { endpoint, clock, .. } = self.group;
            let place = &self.member().place;
            self.turn = place.tried(self.turn, Ending::Answered(status), || clock.now(), &endpoint.suspension);
        }
    }

    /// Tells that the client broke the exchange off, which says nothing about the place.
    pub(crate) fn left_by_client(self, error: ExchangeError) -> ExchangeError {
        if matches!(error, ExchangeError::Broken(_)) {
            self.member().place.left();
        }
        error
    }

    /// Tells how the request went.
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
    /// Which of [`FAILURES`] it is.
    fn failure(self) -> Option<usize> {
        match self {
            Ending::Answered(_) => None,
            Ending::ConnectFailed => Some(0),
            Ending::TlsFailed => Some(1),
            Ending::TimedOut => Some(2),
            Ending::Broken => Some(3),
        }
    }

    /// Whether it is a reason to suspend the place. What a client did wrong (4xx) never is.
    fn counts_against(self, rules: &Suspension) -> bool {
        match self {
            Ending::Answered(status) => rules.statuses.contains(&status),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
