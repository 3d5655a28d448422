//! Heads of requests and answers: parsed by httparse into a fixed array, then copied into a buffer that is used again,
//! with an offset table.
//!
//! No allocation per head once the buffers are warm. Faults that httparse lets pass are checked here.

mod authority;
mod fields;
mod request;
mod response;
mod salvage;

pub(crate) use authority::is_authority;
pub use fields::{Fields, FieldsIter, Line};
pub use request::RequestHead;
pub use response::{Answers, ResponseHead};

use std::fmt;

/// The minor version of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, PartialOrd, Ord)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    #[default]
    Http11,
}

/// A request method; what is none of these is `Other`, and [`RequestHead::method_text`] has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Method {
    /// GET.
    #[default]
    Get,
    /// HEAD.
    Head,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
    /// MERGE, OData V2's PATCH.
    Merge,
    /// OPTIONS.
    Options,
    /// TRACE.
    Trace,
    /// Any other token.
    Other,
}

impl Method {
    /// The method of that name; names are case-sensitive.
    #[must_use]
    pub fn from_text(text: &str) -> Method {
        match text {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            "PATCH" => Method::Patch,
            "DELETE" => Method::Delete,
            "MERGE" => Method::Merge,
            "OPTIONS" => Method::Options,
            "TRACE" => Method::Trace,
            _ => Method::Other,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Version::Http10 => "HTTP/1.0",
            Version::Http11 => "HTTP/1.1",
        })
    }
}
