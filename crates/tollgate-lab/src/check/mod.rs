//! Checks whether a machine is fit for measuring, and whether the lab finds known tolls.
//!
//! It measures no subject of the user.

pub mod doctor;
pub mod selfcheck;
