//! What a service says of itself: `$metadata` in the forms of both versions, and the service document.
//!
//! It deliberately decides nothing: everything stands in the model.

pub mod csdl_json;
pub mod metadata_v2;
pub mod metadata_v4;
pub mod service_document;

use crate::base64;
use crate::edm::{Property, Provided, Value, Version};
use crate::stencil::raw;

/// The `DefaultValue` facet of a property, as both versions write the value in XML.
fn default_value(version: Version, property: &Property, provided: Option<&Provided>) -> Option<String> {
    let (Some(Provided::Default(value)), Some(primitive)) = (provided, property.kind.primitive()) else {
        return None;
    };
    let mut text = Vec::new();
    match value {
        Value::Null => return None,
        // A collection has none in CSDL (V4.01, section 7.2.7).
        _ if primitive.item().is_some() => return None,
        Value::Binary(bytes) if version == Version::V2 => base64::encode(&mut text, bytes),
        Value::Binary(bytes) => base64::encode_url(&mut text, bytes),
        value => raw::write(&mut text, Some(version), primitive, value.cell()),
    }
    String::from_utf8(text).ok()
}
