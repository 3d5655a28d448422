//! One property of an entity: reading and checking its new value, or clearing it, as changes of the entity.
//!
//! It does not write: its result is applied like any other change.

use tollgate_net::http1::Method;
use tollgate_wire::edm::{EntityType, LeafId, Provided};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{Plan, Shape};

use super::change::How;
use super::request::Request;
use super::{head, provide, spare};
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::accept::MediaRange;

/// Reads the change of the property that `plan` names, by this method.
///
/// # Errors
/// 400 for a property that does not change, or a value that does not fit; 415.
pub(super) fn read(service: &Hosted, request: &Request<'_>, plan: &Plan, method: Method) -> Result<Entry, Fault> {
    let set = plan.set();
    let entity_type = service.model.type_of(set);
    let leaves = || (0..entity_type.leaves.len()).map(LeafId).filter(|leaf| is_in(entity_type, plan.shape, *leaf));
    leaves().try_for_each(|leaf| check_changes(entity_type, leaf))?;
    let mut entry = spare::entry();
    if method == Method::Delete {
        if let Shape::Property(property) = plan.shape
            && let declared = &entity_type.properties[property]
            && !declared.nullable
        {
            return Err(provide::not_null(&declared.name));
        }
        entry.reset(entity_type.leaves.len());
        leaves().for_each(|leaf| entry.set_null(leaf));
        return Ok(entry);
    }
    if let Shape::RawValue(leaf) = plan.shape {
        check_raw(request)?;
        service.bodies.read_raw(request.body, Some(request.version), set, leaf, &mut entry)?;
        return Ok(entry);
    }
    let format = head::body_format(request.version, request.headers)?;
    service.bodies.read_property(request.body, format, set, plan.shape, &mut entry)?;
    if how(method) == How::Replace {
        for leaf in leaves().filter(|leaf| !entry.is_set(*leaf)).collect::<Vec<_>>() {
            match entity_type.provided(leaf) {
                Some(Provided::Default(value)) => entry.set(leaf, value.cell()),
                _ => entry.set_null(leaf),
            }
        }
    }
    Ok(entry)
}

/// Treatment of the parts of a complex property that are missing from the body, by method.
fn how(method: Method) -> How {
    match method {
        Method::Put => How::Replace,
        _ => How::Merge,
    }
}

fn is_in(entity_type: &EntityType, shape: Shape, leaf: LeafId) -> bool {
    match shape {
        Shape::Leaf(named) | Shape::RawValue(named) => named == leaf,
        Shape::Property(property) => entity_type.leaves[leaf.0].property == property,
        Shape::Collection | Shape::Entity | Shape::Count | Shape::Stream => false,
    }
}

/// Refuses changes of keys and of values that the server provides.
fn check_changes(entity_type: &EntityType, leaf: LeafId) -> Result<(), Fault> {
    let why = match entity_type.provided(leaf) {
        _ if entity_type.key.contains(&leaf) => "is part of the key, which does not change",
        Some(
            Provided::Computed
            | Provided::CreatedAt
            | Provided::CreatedBy
            | Provided::ModifiedAt
            | Provided::ModifiedBy,
        ) => "is set by the server",
        Some(Provided::Default(_) | Provided::Uuid | Provided::Database) | None => return Ok(()),
    };
    let path = &entity_type.leaves[leaf.0].path;
    Err(Fault::bad_request(path, format!("{path} {why}")))
}

/// Checks the type of a bare value: text, or bytes, as the model requires.
fn check_raw(request: &Request<'_>) -> Result<(), Fault> {
    head::check_coding(request.headers)?;
    let Some(said) = request.headers.value("content-type", 0) else { return Ok(()) };
    let plain = MediaRange::parse(said).is_some_and(|range| {
        let utf8 = range.parameter("charset").is_none_or(|charset| charset.eq_ignore_ascii_case("utf-8"));
        utf8 && (range.is("text/plain") || range.is("application/octet-stream"))
    });
    match plain {
        true => Ok(()),
        false => Err(Fault::unsupported_media_type(format!(
            "expected a value as text/plain in UTF-8 or application/octet-stream, found `{said}`"
        ))),
    }
}
