//! Parts that several sections use: tables, data links, figures with what belongs to each.

pub(super) use crate::chart::escape;
use crate::marked::Marked;
use crate::view::{Row, View};
use std::fmt::Write;
use tollgate_wire::url::encode_beside;

/// A table as text: written as HTML under a chart and as CSV behind its link.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<const N: usize>(head: [&str; N]) -> Self {
        Self { head: head.map(str::to_owned).to_vec(), rows: Vec::new() }
    }

    pub(super) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// The table; the first column heads its row, what looks like a number is set right.
    pub(super) fn html(&self, label: &str) -> String {
        self.html_of(label, None)
    }

    /// The same of cells: their marks stand behind their names, and what must not be read is struck through.
    pub(super) fn html_marked(&self, label: &str, marked: &Marked, view: &View<'_>) -> String {
        self.html_of(label, Some((marked, view)))
    }

    fn html_of(&self, label: &str, marked: Option<(&Marked, &View<'_>)>) -> String {
        let mut html = String::new();
        let is_number: Vec<bool> =
            (0..self.head.len()).map(|column| self.rows.iter().all(|row| looks_like_a_number(row, column))).collect();
        let class = |column: usize| if is_number[column] { " class=\"n\"" } else { "" };
        let of_cells = if marked.is_some() { " class=\"cells\"" } else { "" };
        let _ = write!(
            html,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table{of_cells}><thead><tr>",
            escape(label)
        );
        for (column, text) in self.head.iter().enumerate() {
            let _ = write!(html, "<th scope=\"col\"{}>{}</th>", class(column), escape(text));
        }
        html.push_str("</tr></thead><tbody>");
        for (place, row) in self.rows.iter().enumerate() {
            let is_refused = marked.is_some_and(|(marked, view)| marked.is_refused(view, place));
            html.push_str(if is_refused { "<tr class=\"refused\">" } else { "<tr>" });
            let named = marked.and_then(|(marked, view)| marked.named(view, place));
            for (column, text) in row.iter().enumerate().take(self.head.len()) {
                let (open, close) = if column == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
                let marks = named.filter(|_| column == 0).map(marks).unwrap_or_default();
                let _ = write!(html, "<{open}{}>{}{marks}</{close}>", class(column), escape(text));
            }
            html.push_str("</tr>");
        }
        html.push_str("</tbody></table></div>");
        html
    }

    /// The same as CSV.
    pub(super) fn csv(&self) -> String {
        let mut csv = String::new();
        for row in std::iter::once(&self.head).chain(&self.rows) {
            let fields: Vec<String> = row.iter().map(|field| crate::csv::quoted(field)).collect();
            csv.push_str(&fields.join(","));
            csv.push('\n');
        }
        csv
    }

    /// The table folded away, with its link.
    pub(super) fn folded(&self, label: &str, file: &str) -> String {
        self.details(label, &csv_link("Download as CSV", file, &self.csv()))
    }

    /// The table folded away without a link: one that is large stands on the page once.
    pub(super) fn folded_alone(&self, label: &str) -> String {
        self.details(label, "")
    }

    fn details(&self, label: &str, behind: &str) -> String {
        format!("<details><summary>Data: {}</summary>{}{behind}</details>", escape(label), self.html(label))
    }
}

/// A figure: its heading, a sentence that says what to see, the pictures, and its folded table.
pub(super) fn figure(heading: &str, note: &str, pictures: &[String], table: &str) -> String {
    format!(
        "<figure><figcaption><h3>{}</h3>{}</figcaption>{}{table}</figure>",
        escape(heading),
        if note.is_empty() { String::new() } else { format!("<p>{}</p>", escape(note)) },
        pictures.concat()
    )
}

/// Pictures for wide and narrow screens, of which the style sheet shows one.
pub(super) fn by_width(wide: String, narrow: String) -> String {
    format!("<div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div>")
}

/// The numbers of a cell's doubts, each a link to what it says.
pub(super) fn marks(row: &Row<'_>) -> String {
    row.marks.iter().fold(String::new(), |mut html, number| {
        let _ = write!(html, "<sup><a href=\"#doubt-{number}\">{number}</a></sup>");
        html
    })
}

/// A link that holds its file itself.
pub(super) fn csv_link(text: &str, file: &str, csv: &str) -> String {
    let mut address = String::from("data:text/csv;charset=utf-8,");
    let mut coded = Vec::with_capacity(csv.len() * 2);
    encode_beside(&mut coded, csv.as_bytes(), b"-._,:;/()");
    address.push_str(&String::from_utf8_lossy(&coded));
    format!("<p class=\"download\"><a download=\"{}\" href=\"{address}\">{}</a></p>", escape(file), escape(text))
}

/// Escaped text in which no interval is broken over two lines.
pub(super) fn unbroken(text: &str) -> String {
    let mut depth = 0_u32;
    let kept: String = text
        .replace(" [", "\u{a0}[")
        .chars()
        .map(|c| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if c == ' ' && depth > 0 { '\u{a0}' } else { c }
        })
        .collect();
    escape(&kept)
}

fn looks_like_a_number(row: &[String], column: usize) -> bool {
    column > 0
        && row.get(column).is_some_and(|text| {
            text == crate::number::NOTHING
                || text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '−' | '±' | '<'))
        })
}
