//! Work processes: how many requests work at once, who waits, where work is done, and what is seen of it.
//!
//! It deliberately knows no request beyond its method and path, and no protocol.

pub(crate) mod attempts;
pub(crate) mod board;
pub(crate) mod dispatcher;
pub(crate) mod parts;
pub(crate) mod pool;
pub(crate) mod settings;
pub(crate) mod weight;
