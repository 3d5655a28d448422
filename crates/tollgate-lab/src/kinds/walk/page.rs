//! A walk over entities, single requests, or users who play through steps: the costs of each variant over its baseline,
//! level by level.

use tollgate_page::blocks::{Depth, Page};
use tollgate_page::parts::method::Method;
use tollgate_page::parts::{self, cards, curves, peers, tolls, watched};
use tollgate_page::words::view::View;

/// The page; it exists for every result.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let before = vec![cards::section(view), tolls::section(view), peers::section(view)];
    let mut after = curves::sections(view, "Response times");
    after.push(watched::section(view));
    Some(parts::page(view, None, before, Depth::Main, after, &Method::default()))
}
