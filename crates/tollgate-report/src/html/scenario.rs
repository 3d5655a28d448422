//! What a run of scenarios has on the page beyond other runs: each step's figures.

use super::parts::{Table, csv_link, escape};
use crate::scenario;
use crate::view::View;

pub(super) fn section(view: &View<'_>) -> Option<String> {
    let found = scenario::table(view)?;
    let table = Table { head: found.table.head.clone(), rows: found.table.rows.clone() };
    let csv = csv_link("As CSV", "steps.csv", &table.csv());
    let shared = escape(scenario::SHARED);
    Some(format!(
        "<section><h2>The steps</h2>{}{csv}<p class=\"key\">{shared}.</p></section>",
        table.html_marked(&found.table.title, &found, view)
    ))
}
