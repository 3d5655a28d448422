//! Reading as one operation among others, on a connection that is inside a transaction already: a batch reads what the
//! requests before have written.
//!
//! Single requests to read take another way (`crate::serve::odata`): they may be answered in parts.

pub(crate) mod away;
pub(crate) mod collection;
pub(crate) mod content;
pub(crate) mod documents;
pub(crate) mod entity;
pub(crate) mod feed;
mod next_link;
pub(crate) mod single;

use tollgate_net::http1::Method;
use tollgate_wire::format::Format;
use tollgate_wire::plan::{Resource, Shape};

use self::content::Content;
use super::request::{Meant, Performed, Request, method_text};
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::answer::Answer;
use crate::operation::head::methods::allowed;
use crate::store::Connection;

/// Answers a request to read.
pub(super) fn perform(
    service: &Hosted,
    connection: &mut Connection,
    request: &Request<'_>,
    meant: Meant<'_>,
    answer: &mut Answer,
) -> Result<Performed, Fault> {
    answer.clear();
    let Request { version, headers, root, .. } = *request;
    let updated = |format| match format {
        Format::V2Atom => request.author.stamp().atom(),
        _ => String::new(),
    };
    let (plan, content) = match meant.resource {
        Resource::Read(plan) => (plan, Content::Entities),
        Resource::References(plan) => (plan, Content::References),
        resource => {
            describe(service, request, &resource, answer)?;
            return Ok(performed(request, answer));
        }
    };
    if plan.shape == Shape::Collection {
        let Request { query, page_size, .. } = *request;
        let preferences = &meant.preferences;
        let asked = collection::Asked { content, version, path: &meant.path, query, page_size, preferences };
        let mut feed = collection::prepare(service, *plan, asked, headers, answer)?;
        feed.updated = updated(feed.stencil.format());
        feed.root = root.to_owned();
        feed.write(service, connection, &mut answer.body)?;
    } else {
        let shape = plan.shape;
        let asked = entity::Asked { content, version, page_size: request.page_size, preferences: &meant.preferences };
        let mut single = entity::prepare(service, *plan, asked, headers, answer)?;
        if let Some(stencil) = &single.stencil {
            single.updated = updated(stencil.format());
        }
        single.root = root.to_owned();
        let found = single.answer_on(service, connection, headers, answer)?;
        entity::finish(found, version, shape, headers, answer)?;
    }
    Ok(performed(request, answer))
}

fn performed(request: &Request<'_>, answer: &mut Answer) -> Performed {
    if request.method == Method::Head {
        answer.body.clear();
    }
    Performed::Read
}

/// Answers what is no data.
fn describe(service: &Hosted, request: &Request<'_>, resource: &Resource, answer: &mut Answer) -> Result<(), Fault> {
    let Request { version, headers, root, query, .. } = *request;
    match resource {
        Resource::ServiceDocument => documents::answer_service(service, version, query, root, headers, answer),
        Resource::Metadata => documents::answer_metadata(service, version, query, headers, answer),
        Resource::Function(index) => {
            Err(Fault::not_implemented(&format!("function {}", service.model.function_imports[*index].name)))
        }
        Resource::Batch | Resource::Read(_) | Resource::References(_) | Resource::Act(_) => {
            let allow = allowed(&service.model, version, resource);
            Err(Fault::method_not_allowed(method_text(request.method), allow))
        }
    }
}
