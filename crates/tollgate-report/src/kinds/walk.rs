//! A walk over entities, or single requests: what each variant costs over its baseline, level by level.

use crate::page::{Depth, Page, Section};
use crate::parts::method::{self, Method};
use crate::parts::{self, cards, cells, curves, peers, tolls, watched};
use crate::words::sentence::{self, Lead};
use crate::words::view::View;

/// The page; every result has one.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    Some(with(view, Vec::new()))
}

/// The page with these sections before the table of all cells.
pub(super) fn with(view: &View<'_>, own: Vec<Option<Section>>) -> Page {
    let mut sections = vec![cards::section(view), tolls::section(view), peers::section(view)];
    sections.extend(own);
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
    parts::page(view, sentence::answers(view.run, Lead::default()), sections, method)
}
