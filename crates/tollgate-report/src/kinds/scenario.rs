//! Users who play through the steps of a scenario, and loads in stages.

use super::walk;
use crate::page::Page;
use crate::parts::{staged, steps};
use crate::words::view::View;

/// The page, where steps were played.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let is_played = view.rows.iter().any(|row| row.cell.played.is_some());
    is_played.then(|| walk::with(view, vec![staged::section(view), steps::section(view)]))
}
