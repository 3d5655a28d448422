//! Collections: which format, how large a page, and how the next one is found.

use std::sync::Arc;

use tollgate_net::http1::server::Exchange;
use tollgate_wire::edm::Version;
use tollgate_wire::format::DocumentKind;
use tollgate_wire::plan::Plan;

use super::content::{Content, stencil};
use super::{negotiation, versions};
use crate::error::{Failure, Fault};
use crate::feed::{Feed, Next};
use crate::hosted::{Hosted, Mount};
use crate::operation::{Headers, Reply, values};
use crate::visit::Visit;

/// Answers a collection.
pub(super) async fn answer(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    mount: &Mount,
    exchange: &mut Exchange<'_>,
    plan: Plan,
    content: Content,
) -> Result<(), Failure> {
    let root = visit.service_root(exchange, &mount.root);
    let (request, response) = exchange.split();
    let path = request.path().get(mount.root.len()..).unwrap_or_default();
    let asked =
        Asked { content, version: mount.version, path, query: request.query(), page_size: visit.shared.page_size };
    let mut feed = prepare(service, plan, asked, request, response)?;
    feed.updated = visit.updated(feed.stencil.format());
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
    let Asked { content, version, path, query, page_size } = asked;
    let option = plan.options.format.take();
    let format = negotiation::document(version, option.as_deref(), values(headers, "accept"))?;
    let preferred = match version {
        Version::V2 => None,
        Version::V4 => preferred_page_size(values(headers, "prefer")),
    };
    let page_left = preferred.map_or(page_size, |preferred| preferred.min(page_size));
    let (name, said) = versions::answered(version);
    reply.field(name, said.as_bytes());
    negotiation::say_choice(option.as_deref(), reply);
    let kind = match content {
        Content::Entities => DocumentKind::Feed,
        Content::References => DocumentKind::References,
    };
    reply.field("content-type", format.content_type(kind).as_bytes());
    if preferred.is_some() {
        reply.field("preference-applied", format!("odata.maxpagesize={page_left}").as_bytes());
    }
    let stencil = stencil(service, &mut plan, content, format);
    let next = Next::Token { query: query.map(str::to_owned) };
    let (root, updated) = (String::new(), String::new());
    Ok(Feed { plan, stencil, root, updated, path: path.to_owned(), next, page_left, written: 0, next_page: None })
}

/// `Prefer: odata.maxpagesize=50` (Protocol 8.2.8.5), also without `odata.` as in 4.01. What is no number is ignored, as
/// preferences are.
fn preferred_page_size<'a>(prefer: impl IntoIterator<Item = &'a str>) -> Option<u64> {
    prefer.into_iter().flat_map(|line| line.split([',', ';'])).find_map(|preference| {
        let (name, value) = preference.split_once('=')?;
        let name = name.trim();
        let known = name.eq_ignore_ascii_case("odata.maxpagesize") || name.eq_ignore_ascii_case("maxpagesize");
        let size: u64 = value.trim().trim_matches('"').parse().ok()?;
        (known && size > 0).then_some(size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preferred_page_size_is_found_among_other_preferences() {
        for (prefer, expected) in [
            (vec![], None),
            (vec!["odata.maxpagesize=50"], Some(50)),
            (vec!["respond-async, Odata.MaxPageSize=7; wait=10"], Some(7)),
            (vec!["maxpagesize=\"3\""], Some(3)),
            (vec!["odata.maxpagesize=0"], None),
            (vec!["odata.maxpagesize=many"], None),
            (vec!["return=minimal"], None),
            (vec!["return=minimal", "odata.maxpagesize=7"], Some(7)),
        ] {
            assert_eq!(preferred_page_size(prefer.iter().copied()), expected, "{prefer:?}");
        }
    }
}
