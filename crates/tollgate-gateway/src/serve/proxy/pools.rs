//! The connections of one event loop to all places of endpoints, a pool for each.
//!
//! A new configuration keeps the pools of places it knows; the others are dropped, with their idle connections.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use tollgate_net::http1::upstream::{Place, Pool, PoolLimits};

use super::connections::Connections;
use super::endpoint::{Permit, PlaceId};

/// The pools of one event loop.
#[derive(Debug)]
pub(crate) struct Pools {
    /// By the id of the place, in ascending order: ids are never reused.
    pools: RefCell<Vec<(PlaceId, Rc<Pool>)>>,
    connections: Connections,
}

impl Pools {
    /// Pools whose counts are reported to `connections`.
    pub(crate) fn new(connections: &Connections) -> Pools {
        Pools { pools: RefCell::default(), connections: connections.clone() }
    }

    /// The pool of the place that `permit` is for.
    pub(super) fn of(&self, permit: &Permit<'_>) -> Rc<Pool> {
        let mut pools = self.pools.borrow_mut();
        let at = match pools.binary_search_by_key(&permit.place(), |(place, _)| *place) {
            Ok(at) => return Rc::clone(&pools[at].1),
            Err(at) => at,
        };
        let target = permit.target();
        let place = Place::new(target.host(), target.port());
        let place = match permit.tls() {
            Some(client) => place.with_tls(client.clone()),
            None => place,
        };
        let pool = Rc::new(Pool::new(place, limits(permit)));
        self.connections.add(permit.place(), pool.counts());
        pools.insert(at, (permit.place(), Rc::clone(&pool)));
        pool
    }

    /// Drops the pools of places that are not `known` any more. Requests under way there keep theirs.
    pub(crate) fn keep(&self, known: impl Fn(PlaceId) -> bool) {
        self.pools.borrow_mut().retain(|(place, pool)| {
            let stays = known(*place);
            if !stays {
                self.connections.remove(pool.counts());
            }
            stays
        });
    }

    /// Closes connections that must not be used any more.
    pub(crate) fn clean(&self, now: Instant) {
        for (_, pool) in self.pools.borrow().iter() {
            pool.clean(now);
        }
    }
}

/// Limits of idle connections and their times.
fn limits(permit: &Permit<'_>) -> PoolLimits {
    let limits = permit.limits();
    PoolLimits { idle_connections_max: limits.connections_idle_max, idle_max: limits.idle_max, age_max: limits.age_max }
}
