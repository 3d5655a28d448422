//! What the kernel knows of one TCP connection: what it counted, and when bytes came.

mod info;
mod stamped;

pub use info::TcpCounts;
pub use stamped::{Stamped, begin_stamping};
