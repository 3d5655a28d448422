//! One entity, one property, one raw value, one number: which format, and what is said when there is nothing.

use std::sync::Arc;

use tollgate_net::http1::server::Exchange;
use tollgate_wire::edm::Version;
use tollgate_wire::format::DocumentKind;
use tollgate_wire::plan::{Plan, Shape};
use tollgate_wire::stencil::raw;

use super::{negotiation, versions};
use crate::error::{Failure, Fault};
use crate::hosted::{Hosted, Mount};
use crate::server::Core;
use crate::single::{Found, Single};

/// Answers what a path to one thing leads to.
pub(super) async fn answer(
    core: &Core,
    service: &Arc<Hosted>,
    mount: &Mount,
    exchange: &mut Exchange<'_>,
    mut plan: Plan,
) -> Result<(), Failure> {
    let root = core.service_root(exchange, &mount.root);
    let (request, response) = exchange.split();
    let (name, said) = versions::answered(mount.version);
    response.header(name, said);
    let option = plan.options.format.take();
    let mut updated = String::new();
    let stencil = match plan.shape {
        // Plain text: `Accept` and `$format` choose among documents, and a client that asks for JSON throughout still
        // wants its count.
        Shape::Count => {
            response.header("content-type", "text/plain;charset=utf-8");
            None
        }
        Shape::RawValue(leaf) => {
            let primitive = service.model.type_of(plan.set()).leaves[leaf.0].primitive;
            response.header("content-type", raw::content_type(primitive));
            None
        }
        shape @ (Shape::Entity | Shape::Collection | Shape::Property(_) | Shape::Leaf(_)) => {
            let format = negotiation::document(mount.version, option.as_deref(), request.values("accept"))?;
            let kind = if shape == Shape::Entity { DocumentKind::Entry } else { DocumentKind::Property };
            negotiation::say_choice(option.as_deref(), response);
            response.header("content-type", format.content_type(kind));
            updated = core.updated(format);
            Some(service.stencils.of(&service.model, plan.set(), shape, format, &plan.options))
        }
    };
    let shape = plan.shape;
    match (
        Single { plan, stencil, version: mount.version, root, updated }.answer(core, service, exchange).await?,
        mount.version,
    ) {
        (Found::Answered, _) => Ok(()),
        (Found::Missing, _) => Err(Fault::not_found("there is no entity with this key").into()),
        // Protocol 11.2.3 and 11.2.7: a null property, and navigation to no entity, are 204.
        (Found::Nothing, Version::V4) => {
            let response = exchange.respond();
            response.clear_headers();
            response.header("OData-Version", "4.0");
            response.status = 204;
            Ok(())
        }
        (Found::Nothing, Version::V2) => Err(Fault::not_found(match shape {
            Shape::RawValue(_) => "the property is null",
            _ => "there is no related entity",
        })
        .into()),
    }
}
