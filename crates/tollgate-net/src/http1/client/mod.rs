//! The asking half: connections that send rendered requests and read the answers, measured truthfully.
//!
//! No pool, no redirects, no retries: the caller decides the meaning of a failure.

mod answer;
mod connection;
mod connector;
mod error;
mod route;
mod sink;
mod target;
mod template;
mod timeout;

pub use super::head::{Answers, ResponseHead};
pub use connection::{ClientConnection, Exchanged};
pub use connector::{Connector, Opening};
pub use error::{ConnectError, ErrorClass, ExchangeError, Stage};
pub use route::Route;
pub use sink::{BodySink, Collect, Discard};
pub use target::{Scheme, Target, TargetError};
pub use template::{BodyFraming, Piece, RequestTemplate, TemplateBuilder, TemplateError};
