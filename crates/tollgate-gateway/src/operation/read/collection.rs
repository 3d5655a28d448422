//! Collections: their format, page size, and next link.

use tollgate_wire::format::DocumentKind;
use tollgate_wire::plan::{Expand, Plan};

use super::ReadRequest;
use super::content::{Content, stencil};
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::answer::Reply;
use crate::http::headers::Headers;
use crate::operation::head::{negotiation, versions};
use crate::operation::read::feed::{Feed, Next};
use crate::work::allowance::Spent;

/// Chooses format and page, and writes their fields to `reply`. The caller fills in root and time.
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
) -> Result<Feed, Fault> {
    let ReadRequest { version, path, query, page_size, preferences, .. } = *asked;
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
    let spent = Spent::default();
    Ok(Feed {
        plan,
        stencil,
        root,
        updated,
        path: path.to_owned(),
        next,
        page_left,
        written: 0,
        next_page: None,
        spent,
    })
}
