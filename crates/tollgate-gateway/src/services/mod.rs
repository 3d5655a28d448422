//! The services that the gateway brings along with a model and data of their own: flights and records.
//!
//! A service reads no request and writes no answer; the protocols do.

pub mod flights;
pub mod records;
