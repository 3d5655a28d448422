//! A walk over entities, single requests, or users who play through steps: what each variant costs over its baseline, level by level.

use tollgate_page::blocks::{Depth, Page};
use tollgate_page::parts::method::{self, Method};
use tollgate_page::parts::{self, cards, cells, curves, peers, tolls, watched};
use tollgate_page::words::sentence::{self, Lead};
use tollgate_page::words::view::View;

/// The page; every result has one.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let mut sections = vec![cards::section(view), tolls::section(view), peers::section(view)];
    sections.extend(cells::sections(view, Depth::Main));
    if !view.rows.is_empty() {
        // Levels that only have names lie on no axis.
        match view.run.experiment.named_levels.is_empty() {
            true => sections.extend([curves::against_levels(view), curves::response_times(view, "Response times")]),
            false => sections.push(curves::response_times(view, "Slowest answers")),
        }
    }
    sections.push(watched::section(view));
    let method = method::section(view, &Method::default());
    Some(parts::page(view, sentence::answers(view.run, Lead::default()), sections, method))
}
