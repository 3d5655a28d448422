//! OData V2 and V4 below a service root: from the request to the answer.
//!
//! URLs, formats and rows are other people's work (`tollgate-wire`, [`crate::store`]); here is what lies between them:
//! methods, versions, formats, conditions, pages, and where the work is done.

mod collection;
mod documents;
mod entity;
mod negotiation;
pub(crate) mod versions;

use std::sync::Arc;

use tollgate_net::http1::server::{Exchange, ExchangeError};
use tollgate_net::http1::{Method, RequestHead};
use tollgate_wire::format::Format;
use tollgate_wire::plan::{Plan, Resource, Shape};
use tollgate_wire::url;

use crate::error::{Failure, Fault};
use crate::hosted::{Hosted, Mount};
use crate::server::Core;

pub(crate) use documents::Documents;

/// Answers one request below `mount`.
///
/// # Errors
/// Only where the exchange breaks; whatever else is wrong is answered.
pub(crate) async fn serve(
    core: &Core,
    service: &Arc<Hosted>,
    mount: &Mount,
    exchange: &mut Exchange<'_>,
) -> Result<(), ExchangeError> {
    match answer(core, service, mount, exchange).await {
        Ok(()) => Ok(()),
        Err(Failure::Broken(error)) => Err(error),
        Err(Failure::Told(fault)) => {
            let (request, response) = exchange.split();
            core.tell(&fault, error_format(mount, Some(request)), response);
            Ok(())
        }
    }
}

/// In which format a caller below `mount` is told an error.
pub(crate) fn error_format(mount: &Mount, request: Option<&RequestHead>) -> Format {
    let query = request.and_then(RequestHead::query);
    let accept = request.into_iter().flat_map(|request| request.values("accept"));
    negotiation::error(mount.version, query, accept)
}

async fn answer(core: &Core, service: &Arc<Hosted>, mount: &Mount, exchange: &mut Exchange<'_>) -> Result<(), Failure> {
    let request = exchange.request();
    versions::check(mount.version, |name| request.header(name))?;
    let method = request.method();
    if method == Method::Trace {
        return Err(Fault::method_not_allowed(request.method_text(), READING).into());
    }
    let below = request.path().get(mount.root.len()..).unwrap_or_default();
    let (resource, _) = url::parse(&service.model, mount.version, below, request.query()).map_err(Fault::from)?;
    let reading = matches!(method, Method::Get | Method::Head);
    match resource {
        _ if method == Method::Options => {
            let response = exchange.respond();
            response.status = 204;
            response.header("allow", allowed(&resource));
            Ok(())
        }
        Resource::ServiceDocument if reading => documents::answer_service(core, service, mount, exchange),
        Resource::Metadata if reading => documents::answer_metadata(service, mount, exchange),
        Resource::Read(plan) if reading => match plan.shape {
            Shape::Collection => collection::answer(core, service, mount, exchange, *plan).await,
            Shape::Entity | Shape::Count | Shape::Property(_) | Shape::Leaf(_) | Shape::RawValue(_) => {
                entity::answer(core, service, mount, exchange, *plan).await
            }
        },
        other => Err(not_read(service, method, request.method_text(), &other).into()),
    }
}

/// The methods of what can only be read.
pub(crate) const READING: &str = "GET, HEAD, OPTIONS";

/// The methods that a resource has.
fn allowed(resource: &Resource) -> &'static str {
    match resource {
        Resource::Batch => "OPTIONS, POST",
        Resource::ServiceDocument | Resource::Metadata | Resource::Function(_) | Resource::Read(_) => READING,
    }
}

/// What is answered to a method that does not read, or on a resource that is not read: 501 where the protocol has it and
/// it is not built here yet, 405 where the protocol does not have it.
fn not_read(service: &Hosted, method: Method, method_text: &str, resource: &Resource) -> Fault {
    match resource {
        Resource::Batch if method == Method::Post => Fault::not_implemented("$batch"),
        Resource::Batch => Fault::method_not_allowed(method_text, allowed(resource)),
        Resource::Function(index) => {
            Fault::not_implemented(&format!("function {}", service.model.function_imports[*index].name))
        }
        Resource::ServiceDocument | Resource::Metadata => Fault::method_not_allowed(method_text, allowed(resource)),
        Resource::Read(plan) => match (plan.shape, method) {
            (Shape::Collection, Method::Post) => {
                Fault::not_implemented(&format!("creating in {}", set_name(service, plan)))
            }
            (Shape::Entity, Method::Put | Method::Patch | Method::Merge) => {
                Fault::not_implemented(&format!("changing in {} by {method_text}", set_name(service, plan)))
            }
            (Shape::Entity, Method::Delete) => {
                Fault::not_implemented(&format!("deleting from {}", set_name(service, plan)))
            }
            (Shape::Property(_) | Shape::Leaf(_) | Shape::RawValue(_), Method::Put | Method::Patch | Method::Merge) => {
                Fault::not_implemented(&format!("changing a property in {} by {method_text}", set_name(service, plan)))
            }
            _ => Fault::method_not_allowed(method_text, allowed(resource)),
        },
    }
}

fn set_name<'s>(service: &'s Hosted, plan: &Plan) -> &'s str {
    &service.model.entity_sets[plan.set().0].name
}
