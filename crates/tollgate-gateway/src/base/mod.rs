//! The ground: the log, and how a file's mistakes are told to the operator.
//!
//! It deliberately knows nothing of requests or services.

pub(crate) mod config_error;
pub(crate) mod log;
pub(crate) mod number;
pub(crate) mod origin;
