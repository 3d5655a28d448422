//! Observation from outside: CPU, instructions, memory and threads of a subject, the generator's own threads, the
//! machine, and the `/metrics` of a subject.
//!
//! This code reads; it does not judge (see [`crate::judge`]), and does not run while the same thread times a request.

pub(crate) mod behind;
pub mod cpu;
pub mod generator;
pub mod instructions;
pub mod interface;
pub mod listener;
pub mod machine;
pub(crate) mod memory;
pub mod meter;
pub mod metrics;
pub mod network;
pub(crate) mod process;
mod sockets;
mod started;
pub mod system;
pub mod watch;
