//! One entity, property, raw value or number: its format, and the answer if there is nothing.

use tollgate_wire::edm::Version;
use tollgate_wire::format::DocumentKind;
use tollgate_wire::plan::{Expand, Plan, Shape};
use tollgate_wire::stencil::raw;

use super::ReadRequest;
use super::content::{Content, stencil};
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::answer::Reply;
use crate::http::headers::Headers;
use crate::operation::head::{negotiation, versions};
use crate::operation::read::single::{Found, Single};

/// Chooses the format and writes its fields to `reply`. The caller fills in root and time.
///
/// # Errors
/// 406 if no format is acceptable.
pub(super) fn prepare(
    service: &Hosted,
    mut plan: Plan,
    content: Content,
    asked: &ReadRequest<'_>,
    headers: &dyn Headers,
    reply: &mut impl Reply,
) -> Result<Single, Fault> {
    let ReadRequest { version, page_size, preferences, .. } = *asked;
    let preferred = preferences.page_size.as_ref();
    let page_size = preferred.map_or(page_size, |preferred| preferred.value.min(page_size));
    Expand::cut(&mut plan.options.expand, page_size);
    preferences.say(plan.options.expand.first().map(|_| page_size), reply);
    let (name, said) = versions::answered(version, headers);
    reply.field(name, said.as_bytes());
    let option = plan.options.format.take();
    let stencil = match plan.shape {
        // Plain text: `Accept` and `$format` choose among documents, and a client that asks for JSON throughout still
        // wants its count.
        Shape::Count => {
            reply.field("content-type", b"text/plain;charset=utf-8");
            None
        }
        Shape::RawValue(leaf) => {
            let primitive = service.model.type_of(plan.set()).leaves[leaf.0].primitive;
            reply.field("content-type", raw::content_type(primitive).as_bytes());
            None
        }
        // Its media type is that of the entity.
        Shape::Stream => None,
        shape @ (Shape::Entity | Shape::Collection | Shape::Property(_) | Shape::Leaf(_)) => {
            let format = negotiation::document(version, option.as_deref(), headers)?;
            let kind = match (content, shape) {
                (Content::References, _) => DocumentKind::References,
                (Content::Entities, Shape::Entity) if !returns_value(&plan) => DocumentKind::Entry,
                (Content::Entities, _) => DocumentKind::Property,
            };
            negotiation::say_choice(option.as_deref(), reply);
            reply.field("content-type", format.content_type(kind).as_bytes());
            Some(stencil(service, &mut plan, content, format))
        }
    };
    Ok(Single { plan, stencil, version, root: String::new(), updated: String::new() })
}

/// Whether the answer is the value of a function, and no entity.
fn returns_value(plan: &Plan) -> bool {
    plan.options.called.is_some_and(|called| called.returned.is_some())
}

/// Completes the answer if nothing was found.
///
/// # Errors
/// 404 if the path leads nowhere, and in V2 if there is nothing at its end.
pub(super) fn finish(
    found: Found,
    version: Version,
    shape: Shape,
    headers: &dyn Headers,
    reply: &mut impl Reply,
) -> Result<(), Fault> {
    match (found, version) {
        (Found::Answered, _) => Ok(()),
        (Found::Missing, _) => Err(Fault::not_found("there is no entity with this key")),
        // Protocol 11.2.3 and 11.2.7: a null property, and navigation to no entity, are 204.
        (Found::Nothing, Version::V4) => {
            let (name, said) = versions::answered(version, headers);
            reply.begin(204);
            reply.field(name, said.as_bytes());
            Ok(())
        }
        (Found::Nothing, Version::V2) => Err(Fault::not_found(match shape {
            Shape::RawValue(_) => "the property is null",
            Shape::Stream => "the entity has no stream",
            _ => "there is no related entity",
        })),
    }
}
