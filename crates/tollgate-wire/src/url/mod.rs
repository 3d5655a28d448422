//! OData URLs below the service root, V2 and V4: [`parse`] turns path and query into a [`Resource`] that is checked
//! against the model, [`write_key`] writes the key predicate of an entity.
//!
//! What it deliberately does not do: know the service root, a host or a header, or read data.

mod error;
mod function;
mod key;
mod literal;
mod path;
mod percent;

pub use error::{Fault, Place, UrlError};
pub use key::{write_address, write_key, write_literal};
pub use percent::{decode_segment, encode_beside, escape};

pub(crate) use error::{Parsed, Problem, quoted};
pub(crate) use function::{Argument, Call, shape as call_shape, value as parameter_value};
pub(crate) use literal::{Literal, convert, read as read_literal, type_name};
pub(crate) use percent::{NUL, Plus, decode, encode};

use crate::edm::{Model, Version};
use crate::plan::{Resource, Shape};
use crate::query;

/// A query option without `$`: the service's own, such as `sap-client`. Decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomOption {
    /// Its name.
    pub name: String,
    /// Its value; empty if none was given.
    pub value: String,
}

/// Reads a URL below the service root. `path` has no leading slash and is still percent-encoded, as is `query`.
///
/// # Errors
/// What is wrong with which part at which column, and with which status it is to be answered.
pub fn parse(
    model: &Model,
    version: Version,
    path: &str,
    query: Option<&str>,
) -> Result<(Resource, Vec<CustomOption>), UrlError> {
    let decoded = percent::decode_path(path).map_err(|problem| problem.located(Place::Path, path))?;
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
