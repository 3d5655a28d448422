//! Connections to backends, for a server that forwards requests: one pool per event loop and place, last given first taken.
//!
//! Requests over them, and the way of their answers, are in [`Exchange`](super::server::Exchange). The caller that
//! forwards decides whether an error is worth another attempt.

mod connection;
mod error;
mod open;
mod pool;

pub use connection::{Origin, UpstreamConnection};
pub use error::{Kind, UpstreamError};
pub use open::Place;
pub use pool::{Counts, Pool, PoolLimits};
