//! A table as CSV (RFC 4180).

use tollgate_facts::results::RunResult;
use tollgate_page::blocks::{Cell, Column, Table};
use tollgate_page::parts::raw;
use tollgate_page::words::view::View;

/// The cells of a run, unrounded.
pub(crate) fn run(run: &RunResult) -> String {
    text(&raw::table(&View::of(run)))
}

/// The table with its header, a line each.
pub(crate) fn text(table: &Table) -> String {
    let head: Vec<String> = table.columns.iter().map(Column::text).collect();
    let rows = table.rows.iter().map(|row| row.cells.iter().map(Cell::numbered).collect());
    let line = |fields: Vec<String>| fields.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",") + "\r\n";
    std::iter::once(head).chain(rows).map(line).collect()
}

/// A text field, quoted only where it must be.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}
