//! Format of an error: that of the requested data, or a SOAP fault.
//!
//! It chooses no status. Errors of the gateway itself (401, 413, 503 …) keep their status in SOAP too, although 1.1
//! binds faults to 500: clients and intermediaries act upon it, and upon `Retry-After`. A service's fault on a message
//! has the status that its SOAP version binds it to.

use tollgate_net::http1::RequestHead;
use tollgate_wire::error::{self, ErrorBody};
use tollgate_wire::format::{DocumentKind, Format};
use tollgate_wire::soap;

use crate::http::{data_version, rest_format};

/// The format of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorFormat {
    /// Error format of that data format.
    Data(Format),
    /// SOAP fault.
    Soap(soap::Version),
}

impl ErrorFormat {
    /// Format for a SOAP client: in the version of the request, if recognised, else in 1.1.
    pub(crate) fn of_soap(request: Option<&RequestHead>) -> ErrorFormat {
        let content_type = request.and_then(|request| request.header("content-type"));
        let version = content_type.and_then(soap::Version::of_content_type);
        ErrorFormat::Soap(version.unwrap_or(soap::Version::V11))
    }

    /// Format for a path of no protocol: problems, below the root of plain REST in the format that `Accept` chooses.
    pub(crate) fn of_path(request: Option<&RequestHead>) -> ErrorFormat {
        let below = |request: &&RequestHead| {
            request.path().starts_with(rest_format::ROOT) || Some(request.path()) == rest_format::ROOT.strip_suffix('/')
        };
        ErrorFormat::Data(rest_format::of_error(request.filter(below)))
    }

    /// The value of `Content-Type`.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            ErrorFormat::Data(format) => format.content_type(DocumentKind::Error),
            ErrorFormat::Soap(version) => version.content_type(),
        }
    }

    /// Field and value of an OData answer's version.
    pub(crate) fn version(self) -> Option<(&'static str, &'static str)> {
        match self {
            ErrorFormat::Data(format) => data_version::said_with(format),
            ErrorFormat::Soap(_) => None,
        }
    }

    /// Whether it was chosen by `Accept`.
    pub(crate) fn is_negotiated(self) -> bool {
        // V4 tells errors in JSON whatever is accepted, and SOAP in the version of the request.
        !matches!(self, ErrorFormat::Data(Format::V4Json { .. }) | ErrorFormat::Soap(_))
    }

    /// Writes an error.
    pub(crate) fn write(self, out: &mut Vec<u8>, body: &ErrorBody<'_>) {
        match self {
            ErrorFormat::Data(format) => error::write(out, format, body),
            ErrorFormat::Soap(version) => error::write_soap(out, version, body),
        }
    }
}

impl From<Format> for ErrorFormat {
    fn from(format: Format) -> ErrorFormat {
        ErrorFormat::Data(format)
    }
}

impl From<soap::Version> for ErrorFormat {
    fn from(version: soap::Version) -> ErrorFormat {
        ErrorFormat::Soap(version)
    }
}
