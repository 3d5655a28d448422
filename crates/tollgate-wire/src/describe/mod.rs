//! Descriptions of a service: `$metadata` in the forms of both versions, and the service document.
//!
//! It deliberately decides nothing: everything is in the model.

pub mod csdl_json;
pub mod metadata_v2;
pub mod metadata_v4;
pub mod service_document;
mod walk;
