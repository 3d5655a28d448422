//! OData URLs below the service root, V2 and V4: [`parse`] turns path and query into a [`Resource`] that is checked
//! against the model, [`write_key`] writes the key predicate of an entity.
//!
//! It deliberately knows no service root, host or header, and reads no data.

mod path;

pub use crate::address::{
    Fault, Place, UrlError, decode_segment, encode_beside, escape, write_address, write_key, write_literal,
};
pub use crate::query::CustomOption;

use crate::address::decode_path;
use crate::edm::{Model, Version};
use crate::plan::{Resource, Shape};
use crate::query;

/// Reads a URL below the service root. `path` has no leading slash and is still percent-encoded, as is `query`.
///
/// # Errors
/// The error with its part and column, and the status that answers it.
pub fn parse(
    model: &Model,
    version: Version,
    path: &str,
    query: Option<&str>,
) -> Result<(Resource, Vec<CustomOption>), UrlError> {
    let decoded = decode_path(path).map_err(|problem| problem.located(Place::Path, path))?;
    // Few keys have an alias, and only for them the query is looked into first.
    let aliases = match (version, query) {
        (Version::V4, Some(query)) if decoded.contains('@') => query::aliases_of(query),
        _ => Vec::new(),
    };
    let (mut resource, call) =
        path::parse(model, version, &decoded, &aliases).map_err(|problem| problem.located(Place::Path, &decoded))?;
    let custom = match (query, &call) {
        (None | Some(""), None) => Vec::new(),
        (query, call) => query::read(model, version, query.unwrap_or_default(), &mut resource, call.as_ref())?,
    };
    if let Resource::Read(plan) = &mut resource
        && plan.shape == Shape::Stream
    {
        query::resolve_stream(model, plan)?;
    }
    Ok((resource, custom))
}
