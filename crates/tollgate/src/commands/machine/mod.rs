//! Verbs about this machine: its fitness for measuring, the tolls that it can show, the resources of a process.
//!
//! The checks are the lab's.

pub(crate) mod doctor;
pub(crate) mod probe;
pub(crate) mod selfcheck;
