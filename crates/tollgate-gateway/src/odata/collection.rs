//! Collections: which format, how large a page, and how the next one is found.

use std::sync::Arc;

use tollgate_net::http1::server::Exchange;
use tollgate_wire::edm::Version;
use tollgate_wire::format::DocumentKind;
use tollgate_wire::plan::Plan;

use super::{negotiation, versions};
use crate::error::Failure;
use crate::feed::{Feed, Next};
use crate::hosted::{Hosted, Mount};
use crate::server::Core;

/// Answers a collection.
pub(super) async fn answer(
    core: &Core,
    service: &Arc<Hosted>,
    mount: &Mount,
    exchange: &mut Exchange<'_>,
    mut plan: Plan,
) -> Result<(), Failure> {
    let shared = &core.shared;
    let root = core.service_root(exchange, &mount.root);
    let (request, response) = exchange.split();
    let option = plan.options.format.take();
    let format = negotiation::document(mount.version, option.as_deref(), request.values("accept"))?;
    let asked = match mount.version {
        Version::V2 => None,
        Version::V4 => preferred_page_size(request.values("prefer")),
    };
    let page_left = asked.map_or(shared.page_size, |asked| asked.min(shared.page_size));
    let (name, said) = versions::answered(mount.version);
    response.header(name, said);
    negotiation::say_choice(option.as_deref(), response);
    response.header("content-type", format.content_type(DocumentKind::Feed));
    if asked.is_some() {
        response.header("preference-applied", format!("odata.maxpagesize={page_left}"));
    }
    let stencil = service.stencils.of(&service.model, plan.set(), plan.shape, format, &plan.options);
    let path = request.path().get(mount.root.len()..).unwrap_or_default().to_owned();
    let next = Next::Token { query: request.query().map(str::to_owned) };
    let updated = core.updated(format);
    Feed { plan, stencil, root, updated, path, next, page_left, written: 0 }.answer(core, service, exchange).await
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
