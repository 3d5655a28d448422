//! HTTP/1.1 (RFC 9110, RFC 9112): a codec without I/O, and on it the server, the client that measures, and the
//! connections to backends.
//!
//! Framing is strict from the first byte: text that two parsers could read in two ways is refused. Not here: HTTP/2,
//! Upgrade, and the meaning of a body.

pub mod body;
pub mod chunked;
pub mod client;
mod decimal;
pub mod error;
pub mod head;
mod scratch;
pub mod server;
pub mod upstream;

pub use body::{BodyDecoder, Framing, Step};
pub use error::Fault;
pub use head::{FieldsIter, Line, Method, RequestHead, ResponseHead, Version};
