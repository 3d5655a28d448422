//! Whether a machine is fit for measuring, and whether the lab finds tolls that it knows.
//!
//! It measures nothing of anybody's subjects.

pub mod doctor;
pub mod selfcheck;
