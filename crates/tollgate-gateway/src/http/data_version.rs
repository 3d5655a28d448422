//! The version field of an OData answer: `DataServiceVersion` in V2, `OData-Version` in V4.
//!
//! It reads no request: the release of an answer is decided elsewhere.

use tollgate_wire::format::{Format, Release};

/// The field and the version of a document of that format; `None` for formats other than OData.
pub(crate) fn said_with(format: Format) -> Option<(&'static str, &'static str)> {
    match format {
        Format::V2Atom | Format::V2Json => Some(V2),
        Format::V4Json { release, .. } => Some(of_release(release)),
        Format::RestJson | Format::RestXml { .. } => None,
    }
}

/// The field and the version of V2.
pub(crate) const V2: (&str, &str) = ("DataServiceVersion", "2.0");

/// The field and the version of a release of V4.
pub(crate) fn of_release(release: Release) -> (&'static str, &'static str) {
    match release {
        Release::V40 => ("OData-Version", "4.0"),
        Release::V401 => ("OData-Version", "4.01"),
    }
}
