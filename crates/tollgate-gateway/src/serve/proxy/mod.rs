//! Requests that are passed on: which ones, where they may go, and passing them on.

mod address;
mod cached;
mod caching;
mod compile;
mod connections;
pub(crate) mod endpoint;
mod fields;
mod forward;
pub(crate) mod health;
mod lent;
mod mediated;
mod path;
mod pools;
mod table;
mod upstream;

use crate::cache::ResponseCache;
use crate::mediate::Memories;
use crate::visit::Visit;

pub(crate) use cached::cachable;
pub(crate) use connections::{ConnectionCounts, Connections};
pub(crate) use forward::forward;
pub(crate) use pools::Pools;
pub(crate) use table::{Configured, ProxyRoute, RouteMatch, RoutingTable, places};

/// A request that is passed on: what that needs of its loop and of what is in force, beside what all protocols do.
pub(crate) struct ProxyVisit<'c> {
    /// The request at its loop.
    pub(crate) visit: &'c Visit<'c>,
    /// All routes and endpoints.
    pub(crate) table: &'c RoutingTable,
    /// The answers that are kept for others.
    pub(crate) cache: &'c ResponseCache,
    /// Connections to the places of endpoints.
    pub(crate) pools: &'c Pools,
    /// What mediators write into.
    pub(crate) memories: &'c Memories,
}
