//! Verbs that look at this machine: whether it can be measured on, which tolls it can show, what a process takes.
//!
//! Deliberately not here: what is checked and how (the lab).

pub(crate) mod doctor;
pub(crate) mod probe;
pub(crate) mod selfcheck;
