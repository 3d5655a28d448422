//! Collections: which format, how large a page, and how the next one is found.

use std::sync::Arc;

use tollgate_net::http1::server::Exchange;
use tollgate_wire::edm::Version;
use tollgate_wire::format::DocumentKind;
use tollgate_wire::plan::{Expand, Plan};

use super::content::{Content, stencil, updated};
use crate::error::{Failure, Fault};
use crate::hosted::{Hosted, Mount};
use crate::http::answer::Reply;
use crate::http::headers::Headers;
use crate::operation::head::preferences::Preferences;
use crate::operation::head::{negotiation, versions};
use crate::operation::read::feed::{Feed, Next};
use crate::visit::Visit;

/// Answers a collection.
pub(crate) async fn answer(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    mount: &Mount,
    exchange: &mut Exchange<'_>,
    plan: Plan,
    (content, preferences): (Content, &Preferences),
) -> Result<(), Failure> {
    let root = visit.memory.service_root(exchange, &mount.root);
    let (request, response) = exchange.split();
    let path = request.path().get(mount.root.len()..).unwrap_or_default();
    let (query, page_size) = (request.query(), visit.common.page_size);
    let asked = Asked { content, version: mount.version, path, query, page_size, preferences };
    let mut feed = prepare(service, plan, asked, request, response)?;
    feed.updated = updated(feed.stencil.format());
    feed.root = root;
    feed.answer(visit, service, exchange).await
}

/// What was asked for.
pub(crate) struct Asked<'a> {
    /// Entities or references to them.
    pub(crate) content: Content,
    pub(crate) version: Version,
    /// The path below the service root, percent-encoded.
    pub(crate) path: &'a str,
    /// What stands behind `?`, percent-encoded.
    pub(crate) query: Option<&'a str>,
    /// Entities that are answered at once, at most.
    pub(crate) page_size: u64,
    pub(crate) preferences: &'a Preferences,
}

/// Chooses format and page, and says them in `reply`. The service root and the time are for the caller to fill in.
///
/// # Errors
/// 406 where no format is acceptable.
pub(crate) fn prepare(
    service: &Hosted,
    mut plan: Plan,
    asked: Asked<'_>,
    headers: &dyn Headers,
    reply: &mut impl Reply,
) -> Result<Feed, Fault> {
    let Asked { content, version, path, query, page_size, preferences } = asked;
    let option = plan.options.format.take();
    let format = negotiation::document(version, option.as_deref(), headers)?;
    let page_left = preferences.page_size.as_ref().map_or(page_size, |preferred| preferred.value.min(page_size));
    Expand::cut(&mut plan.options.expand, page_left);
    let (name, said) = versions::answered(version, headers);
    reply.field(name, said.as_bytes());
    negotiation::say_choice(option.as_deref(), reply);
    let kind = match content {
        Content::Entities => DocumentKind::Feed,
        Content::References => DocumentKind::References,
    };
    reply.field("content-type", format.content_type(kind).as_bytes());
    preferences.say(Some(page_left), reply);
    let stencil = stencil(service, &mut plan, content, format);
    let next = Next::Token { query: query.map(str::to_owned) };
    let (root, updated) = (String::new(), String::new());
    Ok(Feed { plan, stencil, root, updated, path: path.to_owned(), next, page_left, written: 0, next_page: None })
}
