//! A table as CSV (RFC 4180).

use tollgate_page::blocks::{Column, Table};

/// The table with its head, a line each.
pub(crate) fn text(table: &Table) -> String {
    let mut csv = String::new();
    let head = table.columns.iter().map(Column::text).collect();
    let rows = table.rows.iter().map(|row| row.cells.iter().map(|cell| cell.numbered()).collect());
    for fields in std::iter::once(head).chain(rows) {
        let fields: Vec<String> = fields;
        let fields: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
        csv.push_str(&fields.join(","));
        csv.push_str("\r\n");
    }
    csv
}

/// A text field, quoted only where it must be.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}
