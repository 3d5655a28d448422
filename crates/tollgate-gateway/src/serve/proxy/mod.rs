//! Requests that are forwarded: routing, choice of place, and forwarding.

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

/// Context of a forwarded request: its loop and active configuration, beside those of all protocols.
pub(crate) struct ProxyVisit<'c> {
    /// The request at its loop.
    pub(crate) visit: &'c Visit<'c>,
    /// All routes and endpoints.
    pub(crate) table: &'c RoutingTable,
    /// The response cache.
    pub(crate) cache: &'c ResponseCache,
    /// Connections to the places of endpoints.
    pub(crate) pools: &'c Pools,
    /// Buffers of mediators.
    pub(crate) memories: &'c Memories,
}
