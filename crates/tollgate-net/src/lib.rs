//! Everything with a socket or a clock: listening, connecting, TLS, HTTP/1.1 for both halves, byte counts and time.
//!
//! One engine serves and asks: the codec under [`http1`] does no I/O, and the server and the client both use it. The
//! crate knows nothing of OData, of experiments or of the meaning of a body.

pub mod clock;
pub mod connect;
pub mod http1;
pub mod limits;
pub mod link;
pub mod listen;
pub mod memory;
pub mod meter;
pub mod pacer;
pub mod stream;
pub mod tcp;
pub mod tls;
