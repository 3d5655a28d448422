//! Foundations: the log, clients, and error messages for configuration files.
//!
//! It knows nothing of requests or services.

pub(crate) mod client;
pub(crate) mod config_error;
pub(crate) mod log;
pub(crate) mod number;
pub(crate) mod origin;
