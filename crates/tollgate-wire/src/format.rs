//! The formats in which the same data can be answered, and their media types.
//!
//! It deliberately does not read `Accept` headers; the server negotiates and ends here.

use crate::edm::Version;

/// A format of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// OData V2 as Atom.
    V2Atom,
    /// OData V2 as verbose JSON.
    V2Json,
    /// OData V4 as JSON.
    V4Json {
        /// Amount of control information in the document.
        metadata: Metadata,
        /// Notation of Int64 and Decimal.
        ieee754: Ieee754,
        /// The release of V4.
        release: Release,
    },
    /// Plain JSON without any protocol.
    RestJson,
    /// Plain XML without any protocol.
    RestXml {
        /// Whether it is padded to the size of Atom.
        padding: Padding,
    },
}

/// `odata.metadata` of V4 JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Metadata {
    /// Data only, with count and next link.
    None,
    /// Control information that a client cannot compute from the model.
    #[default]
    Minimal,
    /// Everything.
    Full,
}

/// `IEEE754Compatible` of V4 JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ieee754 {
    /// Int64 and Decimal are JSON numbers with all their digits.
    #[default]
    Number,
    /// Int64 and Decimal are strings, for clients that read numbers into doubles.
    String,
}

/// The releases of V4, as far as documents differ: 4.01 writes the names of control information without `odata.`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Release {
    /// 4.0.
    #[default]
    V40,
    /// 4.01.
    V401,
}

/// Whether plain XML has neutral elements, so that measuring can separate payload and protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Padding {
    /// Data only.
    #[default]
    Without,
    /// `<padding>` elements bring each entity to about the size that it has as Atom.
    AtomSize,
}

/// The kinds of document that differ in their media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// A collection of entities.
    Feed,
    /// One entity.
    Entry,
    /// One property.
    Property,
    /// References to entities, or to one.
    References,
    /// The service document.
    Service,
    /// An error.
    Error,
}

impl Format {
    /// The protocol version of the URLs and literals in the documents; plain REST has none.
    pub fn version(self) -> Option<Version> {
        match self {
            Format::V2Atom | Format::V2Json => Some(Version::V2),
            Format::V4Json { .. } => Some(Version::V4),
            Format::RestJson | Format::RestXml { .. } => None,
        }
    }

    /// The value of `Content-Type` for a document of that kind.
    pub fn content_type(self, kind: DocumentKind) -> &'static str {
        use DocumentKind as Kind;
        match (self, kind) {
            (Format::V2Atom, Kind::Feed) => "application/atom+xml;type=feed;charset=utf-8",
            (Format::V2Atom, Kind::Entry) => "application/atom+xml;type=entry;charset=utf-8",
            (Format::V2Atom, Kind::Service) => "application/atomsvc+xml;charset=utf-8",
            (Format::V2Atom, Kind::Property | Kind::References | Kind::Error) => "application/xml;charset=utf-8",
            (Format::V2Json, _) => "application/json;charset=utf-8",
            // Always UTF-8; a parameter that says so stands there only where a client asked for it (Protocol 8.2.1).
            (Format::V4Json { metadata, ieee754, release }, _) => match (release, metadata, ieee754) {
                (Release::V40, Metadata::None, Ieee754::Number) => "application/json;odata.metadata=none",
                (Release::V40, Metadata::Minimal, Ieee754::Number) => "application/json;odata.metadata=minimal",
                (Release::V40, Metadata::Full, Ieee754::Number) => "application/json;odata.metadata=full",
                (Release::V40, Metadata::None, Ieee754::String) => {
                    "application/json;odata.metadata=none;IEEE754Compatible=true"
                }
                (Release::V40, Metadata::Minimal, Ieee754::String) => {
                    "application/json;odata.metadata=minimal;IEEE754Compatible=true"
                }
                (Release::V40, Metadata::Full, Ieee754::String) => {
                    "application/json;odata.metadata=full;IEEE754Compatible=true"
                }
                (Release::V401, Metadata::None, Ieee754::Number) => "application/json;metadata=none",
                (Release::V401, Metadata::Minimal, Ieee754::Number) => "application/json;metadata=minimal",
                (Release::V401, Metadata::Full, Ieee754::Number) => "application/json;metadata=full",
                (Release::V401, Metadata::None, Ieee754::String) => {
                    "application/json;metadata=none;IEEE754Compatible=true"
                }
                (Release::V401, Metadata::Minimal, Ieee754::String) => {
                    "application/json;metadata=minimal;IEEE754Compatible=true"
                }
                (Release::V401, Metadata::Full, Ieee754::String) => {
                    "application/json;metadata=full;IEEE754Compatible=true"
                }
            },
            (Format::RestJson, Kind::Error) => "application/problem+json",
            (Format::RestXml { .. }, Kind::Error) => "application/problem+xml",
            (Format::RestJson, _) => "application/json",
            (Format::RestXml { .. }, _) => "application/xml;charset=utf-8",
        }
    }
}
