//! The protocols that have room for many services: OData, plain REST, and requests that are passed on.
//!
//! None of them knows another; whose a request is, is decided above.

pub(crate) mod odata;
pub(crate) mod proxy;
pub(crate) mod rest;
