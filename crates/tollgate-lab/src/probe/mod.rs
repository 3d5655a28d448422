//! What is watched from outside: CPU, memory and threads of a subject, the generator's own threads, the machine, and
//! the
//! `/metrics` of a subject that has them.
//!
//! Everything here reads; nothing here judges (see [`crate::judge`]) or runs while a request is being timed on the
//! same thread.

pub mod cpu;
pub mod generator;
pub mod machine;
pub mod memory;
pub mod meter;
pub mod metrics;
pub mod network;
pub mod system;
pub mod watch;

use tollgate_facts::results::Reading;

/// Something that is sampled in the processes of a subject.
pub trait Probe: Sync {
    /// Reads; says nothing where the processes are gone or keep it secret.
    fn sample(&self, processes: &[u32]) -> Option<Reading>;
}

/// What is sampled of every subject whose processes are known, in the order of the report.
pub const PROBES: &[&dyn Probe] = &[&memory::Resident, &memory::Threads];
