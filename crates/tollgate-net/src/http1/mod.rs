//! HTTP/1.1 (RFC 9110, RFC 9112): a codec without I/O, and the server and the client that stand on it side by side.
//!
//! Framing is strict from the first byte: whatever two parsers could read in two ways is refused. Not here: HTTP/2,
//! Upgrade, and what a body means.

pub mod body;
pub mod chunked;
pub mod client;
pub mod error;
pub mod head;
pub mod server;

pub use body::{BodyDecoder, Framing, Step};
pub use error::Fault;
pub use head::{FieldsIter, Method, RequestHead, ResponseHead, Version};
