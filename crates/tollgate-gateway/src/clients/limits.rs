//! Clients at one moment: where a request came from, and whether its client may have more.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use tollgate_net::clock::Clock;
use tollgate_net::http1::RequestHead;

use super::config::{self, ClientIdentity, ClientLimit};
use super::forwarded::client_address;
use super::quota::{Exceeded, InFlight, Quota};
use super::refusals::{Reason, Refusals};
use crate::auth::is_within;
use crate::base::client::Client;
use crate::error::Fault;

/// Clients and their limits, of one configuration.
#[derive(Debug)]
pub(crate) struct Clients {
    trusted_proxies: Vec<IpNet>,
    exempt: Vec<IpNet>,
    limits: Vec<(ClientLimit, Arc<Quota>)>,
    /// Who was refused; it lasts as long as the process.
    pub(crate) refusals: Arc<Refusals>,
    clock: Clock,
}

/// The limits that count a request while it is in flight.
pub(crate) type Passage = Vec<InFlight>;

impl Clients {
    /// Creates the clients of `config`; limits that were there `before` go on.
    pub(crate) fn new(config: &config::Clients, before: Option<&Clients>, clock: Clock) -> Clients {
        let now = clock.now();
        let quota = |limit: &ClientLimit| {
            let same = before.and_then(|before| before.limits.iter().find(|(other, _)| other == limit));
            same.map_or_else(|| Arc::new(Quota::new(limit.amounts, now)), |(_, quota)| Arc::clone(quota))
        };
        Clients {
            trusted_proxies: config.trusted_proxies.clone(),
            exempt: config.exempt.clone(),
            limits: config.limits.iter().map(|limit| (limit.clone(), quota(limit))).collect(),
            refusals: before.map_or_else(Arc::default, |before| Arc::clone(&before.refusals)),
            clock,
        }
    }

    /// The address of the client whose request came from `peer`.
    pub(crate) fn address(&self, request: &RequestHead, peer: IpAddr) -> IpAddr {
        client_address(request, peer, &self.trusted_proxies)
    }

    /// Whether an address may have any number of connections. A proxy has those of all its clients.
    pub(crate) fn is_unlimited(&self, address: IpAddr) -> bool {
        self.exempt.iter().chain(&self.trusted_proxies).any(|network| network.contains(&address))
    }

    /// Counts a request of the client at `address` below `root`, the path of its service or route.
    ///
    /// # Errors
    /// 429 where it has all that it may have.
    pub(crate) fn enter(
        &self,
        by: ClientIdentity,
        client: &Client,
        address: IpAddr,
        root: &str,
    ) -> Result<Passage, Fault> {
        let mut passage = Passage::new();
        if self.limits.is_empty() || self.exempt.iter().any(|network| network.contains(&address)) {
            return Ok(passage);
        }
        for (limit, quota) in &self.limits {
            if limit.by != by || limit.path.as_ref().is_some_and(|path| !is_within(root, path)) {
                continue;
            }
            let now = self.clock.now();
            match quota.take(client, now) {
                Ok(in_flight) => passage.extend(in_flight),
                Err(exceeded) => {
                    let (reason, fault) = told(exceeded);
                    self.note(client, reason);
                    return Err(fault);
                }
            }
        }
        Ok(passage)
    }

    /// Notes that `client` was refused.
    pub(crate) fn note(&self, client: &Client, reason: Reason) {
        self.refusals.note(client, reason, self.clock.now());
    }

    /// Notes that it was refused who the caller at `address` is.
    pub(crate) fn note_caller(&self, address: IpAddr, fault: &Fault) {
        let reason = match fault.status() {
            401 => Reason::WrongPassword,
            429 => Reason::Guessing,
            503 => Reason::Queue,
            _ => return,
        };
        self.note(&Client::at(address), reason);
    }

    /// The limits with their use.
    pub(crate) fn limits(&self) -> impl Iterator<Item = (&ClientLimit, &Quota)> {
        self.limits.iter().map(|(limit, quota)| (limit, &**quota))
    }
}

fn told(exceeded: Exceeded) -> (Reason, Fault) {
    match exceeded {
        Exceeded::Rate(wait) => {
            (Reason::Rate, Fault::too_many(wait, "this client asks more often than it may; ask again later"))
        }
        Exceeded::InFlight(in_flight_max) => {
            let message = format!("this client has {in_flight_max} requests in flight, as many as it may have");
            (Reason::InFlight, Fault::too_many(Duration::ZERO, message))
        }
    }
}
