//! The kernel's knowledge of one TCP connection: its counters, and when bytes came.

mod info;
mod stamped;

pub use info::TcpCounts;
pub use stamped::{Stamped, begin_stamping};
