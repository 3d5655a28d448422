//! Reading: from a URL's request to its answer, for single requests and for those of a batch.
//!
//! [`prepare`] chooses format, page and fields; [`Read`] then runs on any connection: by itself, on the loop or outside
//! it ([`Read::answer`]), or inside the transaction of a batch ([`Read::answer_on`]).

pub(crate) mod away;
mod collection;
mod content;
mod documents;
mod entity;
pub(crate) mod feed;
mod next_link;
pub(crate) mod single;

use std::sync::Arc;

use tollgate_net::http1::Method;
use tollgate_net::http1::server::Exchange;
use tollgate_wire::edm::Version;
use tollgate_wire::format::Format;
use tollgate_wire::plan::{Resource, Shape};

use self::content::Content;
pub(crate) use self::content::updated;
use self::feed::Feed;
use self::single::Single;
use super::head::methods::allowed;
use super::head::preferences::Preferences;
use super::request::{Meant, Performed, Request, method_text};
use crate::error::{Failure, Fault};
use crate::hosted::Hosted;
use crate::http::answer::{Answer, Reply};
use crate::http::headers::Headers;
use crate::store::Connection;
use crate::visit::Visit;
use crate::work::answer_room::FREE_BYTES;

/// Parts of a read request beside the resource.
pub(crate) struct ReadRequest<'a> {
    /// The name of the method.
    pub(crate) method: &'a str,
    pub(crate) version: Version,
    /// The path below the service root, percent-encoded.
    pub(crate) path: &'a str,
    /// Query behind `?`, percent-encoded.
    pub(crate) query: Option<&'a str>,
    /// Most entities answered at once.
    pub(crate) page_size: u64,
    pub(crate) preferences: &'a Preferences,
}

/// A read with its format chosen, and its rows still to be read.
pub(crate) enum Read {
    /// A page of entities.
    Page(Feed),
    /// A single item, in the version that decides on the answer to a missing one.
    One(Single, Version),
    /// A document that describes the service: its answer is already written.
    Described,
}

/// Chooses the format of the answer for `resource` and writes its fields to `reply`. `root`, the absolute URL of the
/// service, is used where rows are read; `updated` returns the time as a format writes it.
///
/// # Errors
/// 406 if no format is acceptable, 405 for resources that cannot be read, 501 for functions that are not served.
pub(crate) fn prepare(
    service: &Hosted,
    resource: Resource,
    asked: &ReadRequest<'_>,
    (root, updated): (&mut String, impl Fn(Format) -> String),
    headers: &dyn Headers,
    reply: &mut impl Reply,
) -> Result<Read, Fault> {
    let (plan, content) = match resource {
        Resource::Read(plan) => (plan, Content::Entities),
        Resource::References(plan) => (plan, Content::References),
        resource => return describe(service, &resource, asked, root, headers, reply).map(|()| Read::Described),
    };
    if plan.shape == Shape::Collection {
        let mut feed = collection::prepare(service, *plan, content, asked, headers, reply)?;
        feed.updated = updated(feed.stencil.format());
        feed.root = std::mem::take(root);
        return Ok(Read::Page(feed));
    }
    let mut single = entity::prepare(service, *plan, content, asked, headers, reply)?;
    if let Some(stencil) = &single.stencil {
        single.updated = updated(stencil.format());
    }
    single.root = std::mem::take(root);
    Ok(Read::One(single, asked.version))
}

impl Read {
    /// Reads under a work process of its own, on the loop or outside it, and answers `exchange`.
    ///
    /// # Errors
    /// Errors of the store, no available work process, or a broken exchange.
    pub(crate) async fn answer(
        self,
        visit: &Visit<'_>,
        service: &Arc<Hosted>,
        exchange: &mut Exchange<'_>,
    ) -> Result<(), Failure> {
        match self {
            Read::Page(feed) => feed.answer(visit, service, exchange).await,
            Read::One(single, version) => {
                let shape = single.plan.shape;
                let found = single.answer(visit, service, exchange).await?;
                let (request, response) = exchange.split();
                Ok(entity::finish(found, version, shape, request, response)?)
            }
            Read::Described => Ok(()),
        }
    }

    /// Reads on this connection, and completes `answer`.
    ///
    /// # Errors
    /// Errors of the store.
    fn answer_on(
        self,
        service: &Hosted,
        connection: &mut Connection,
        headers: &dyn Headers,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        match self {
            Read::Page(mut feed) => feed.write_whole(service, connection, &mut answer.body),
            Read::One(single, version) => {
                let found = single.answer_on(service, connection, headers, answer)?;
                entity::finish(found, version, single.plan.shape, headers, answer)
            }
            Read::Described => Ok(()),
        }
    }
}

/// Answers a reading request on a connection inside a transaction: a batch sees the writes of its earlier requests.
pub(super) fn perform(
    service: &Hosted,
    connection: &mut Connection,
    request: &Request<'_>,
    meant: Meant<'_>,
    answer: &mut Answer,
) -> Result<Performed, Fault> {
    answer.clear();
    if answer.body.capacity() > FREE_BYTES {
        // A batch keeps its buffers to its end.
        answer.body = Vec::new();
    }
    let Request { version, headers, query, page_size, .. } = *request;
    let Meant { path, resource, preferences, .. } = meant;
    let method = method_text(request.method);
    let asked = ReadRequest { method, version, path: &path, query, page_size, preferences: &preferences };
    let updated = |format| match format {
        Format::V2Atom => request.author.stamp().atom(),
        _ => String::new(),
    };
    let mut root = request.root.to_owned();
    let read = prepare(service, resource, &asked, (&mut root, updated), headers, answer)?;
    read.answer_on(service, connection, headers, answer)?;
    if request.method == Method::Head {
        answer.body.clear();
    }
    Ok(Performed::Read)
}

/// Answers requests for documents instead of data.
fn describe(
    service: &Hosted,
    resource: &Resource,
    asked: &ReadRequest<'_>,
    root: &str,
    headers: &dyn Headers,
    reply: &mut impl Reply,
) -> Result<(), Fault> {
    let ReadRequest { method, version, query, .. } = *asked;
    match resource {
        Resource::ServiceDocument => documents::answer_service(service, version, query, root, headers, reply),
        Resource::Metadata => documents::answer_metadata(service, version, query, headers, reply),
        Resource::Function(index) => {
            Err(Fault::not_implemented(&format!("function {}", service.model.function_imports[*index].name)))
        }
        Resource::Batch | Resource::Read(_) | Resource::References(_) | Resource::Act(_) => {
            Err(Fault::method_not_allowed(method, allowed(&service.model, version, resource)))
        }
    }
}
