//! The metadata documents of a service, written once and kept.
//!
//! It chooses none: the caller does.

use tollgate_wire::describe::{csdl_json, metadata_v2, metadata_v4};
use tollgate_wire::edm::Model;

use crate::http::conditions;

/// The kept metadata documents.
#[derive(Debug)]
pub(crate) struct Documents {
    pub(crate) v2: Document,
    pub(crate) v4: Document,
    pub(crate) v4_json: Document,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) bytes: Vec<u8>,
    pub(crate) etag: String,
}

impl Documents {
    /// Writes the metadata of `model` in both versions.
    pub(crate) fn new(model: &Model) -> Documents {
        let document = |write: fn(&Model, &mut Vec<u8>)| {
            let mut bytes = Vec::new();
            write(model, &mut bytes);
            let etag = conditions::etag_of(&bytes);
            Document { bytes, etag }
        };
        Documents {
            v2: document(metadata_v2::write),
            v4: document(metadata_v4::write),
            v4_json: document(csdl_json::write),
        }
    }
}
