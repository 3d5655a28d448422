//! Work processes: their number, the queue, the place of work, and their state for display.
//!
//! It knows no request beyond its method and path, and no protocol.

pub(crate) mod allowance;
pub(crate) mod answer_room;
pub(crate) mod attempts;
pub(crate) mod board;
pub(crate) mod dispatcher;
pub(crate) mod parts;
pub(crate) mod pool;
mod queue;
pub(crate) mod settings;
pub(crate) mod weight;
