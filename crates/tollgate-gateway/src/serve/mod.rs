//! The protocols for any number of services: OData, plain REST, and forwarded requests.
//!
//! None of them knows another; requests are routed above.

pub(crate) mod odata;
pub(crate) mod proxy;
pub(crate) mod rest;
