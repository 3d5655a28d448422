//! Connections to backends, for a server that forwards requests: one pool per event loop and place, last given first taken.
//!
//! What is asked over them, and how answers travel on, stands in [`Exchange`](super::server::Exchange). Whether an
//! error is worth another attempt is decided by whoever forwards.

mod connection;
mod error;
mod open;
mod pool;

pub use connection::{Origin, UpstreamConnection};
pub use error::{Kind, UpstreamError};
pub use open::Place;
pub use pool::{Counts, Pool, PoolLimits};
