//! The connections of one event loop to all places of endpoints, a pool for each.
//!
//! A new configuration leaves those alone whose places it knows; the others are given up, with what waited in them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use tollgate_net::http1::upstream::{Place, Pool, PoolLimits};

use super::connections::Connections;
use super::endpoint::{Permit, PlaceId};

/// The pools of one event loop.
#[derive(Debug)]
pub(crate) struct Pools {
    /// By the number of the place.
    pools: RefCell<Vec<Option<Rc<Pool>>>>,
    connections: Connections,
}

impl Pools {
    /// Pools whose counts are told to `connections`.
    pub(crate) fn new(connections: &Connections) -> Pools {
        Pools { pools: RefCell::default(), connections: connections.clone() }
    }

    /// The pool of the place that `permit` is for.
    pub(super) fn of(&self, permit: &Permit<'_>) -> Rc<Pool> {
        let index = permit.place().index();
        if let Some(Some(pool)) = self.pools.borrow().get(index) {
            return Rc::clone(pool);
        }
        let target = permit.target();
        let place = Place::new(target.host(), target.port());
        let place = match permit.tls() {
            Some(client) => place.with_tls(client.clone()),
            None => place,
        };
        let pool = Rc::new(Pool::new(place, limits(permit)));
        self.connections.add(permit.place(), pool.counts());
        let mut pools = self.pools.borrow_mut();
        if pools.len() <= index {
            pools.resize_with(index + 1, || None);
        }
        pools[index] = Some(Rc::clone(&pool));
        pool
    }

    /// Gives up the pools of places that are not `known` any more. Requests under way there keep theirs.
    pub(crate) fn keep(&self, known: impl Fn(PlaceId) -> bool) {
        for (index, pool) in self.pools.borrow_mut().iter_mut().enumerate() {
            if let Some(gone) = pool.take_if(|_| !known(PlaceId::of(index))) {
                self.connections.remove(gone.counts());
            }
        }
    }

    /// Closes connections that may not be used any more.
    pub(crate) fn clean(&self, now: Instant) {
        for pool in self.pools.borrow().iter().flatten() {
            pool.clean(now);
        }
    }
}

/// How long connections wait and live there.
fn limits(permit: &Permit<'_>) -> PoolLimits {
    let limits = permit.limits();
    PoolLimits { idle_connections_max: limits.connections_idle_max, idle_max: limits.idle_max, age_max: limits.age_max }
}
