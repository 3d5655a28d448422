//! Tables, figures and downloads as HTML.

use crate::formats::csv;
use std::fmt::Write;
use tollgate_page::blocks::{Cell, Figure, Picture, Table, TableRow, Tone};
use tollgate_page::chart::{escape, key_class};
use tollgate_page::words::terms;
use tollgate_wire::url::encode_beside;

/// Maximum number of rows of a table that is also written as CSV.
const CSV_ROWS_MAX: usize = 100;
/// Number of rows of a long table that are visible at once.
const ROWS_OPEN_MAX: usize = 12;

/// Characters of a row's name on one line.
const NAME_CHARACTERS_MAX: usize = 34;

/// A table under its title, with its file. The first column is the row heading; numeric columns are aligned right.
pub(super) fn table(table: &Table) -> String {
    let Some(most) = table.page_rows_max.filter(|_| table.rows.len() > ROWS_OPEN_MAX) else { return whole(table) };
    let (all, is_small) = (table.rows.len(), table.rows.len() <= CSV_ROWS_MAX);
    let mut shown = Table { is_folded: true, ..table.clone() };
    shown.rows.truncate(most);
    shown.file = table.file.clone().filter(|_| is_small && all <= most);
    let cut = match all > most {
        true => format!("<p class=\"key\">Of {all} rows {most} stand here; the Markdown form has them all.</p>"),
        false => String::new(),
    };
    whole(&shown) + &cut
}

fn whole(table: &Table) -> String {
    let body = format!("{}{}", bare(table), download(table, "Download as CSV"));
    match (table.is_folded, table.title.as_str()) {
        (true, title) => format!("<details><summary>Data: {}</summary>{body}</details>", escape(title)),
        (false, "") => body + &glossary(table),
        (false, title) => format!("<h3>{}</h3>{body}{}", escape(title), glossary(table)),
    }
}

/// The terms in a table's headings with their meanings, for readers without a mouse to point at a heading.
fn glossary(table: &Table) -> String {
    let known = table.columns.iter().filter_map(|column| Some((column.head.as_str(), terms::meaning(&column.head)?)));
    let entries: String = known
        .map(|(head, meaning)| format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(head), escape(meaning)))
        .collect();
    match entries.is_empty() {
        true => entries,
        false => format!("<details class=\"terms\"><summary>Terms in this table</summary><dl>{entries}</dl></details>"),
    }
}

fn bare(table: &Table) -> String {
    let class = |column: usize| if table.is_number(column) { " class=\"n\"" } else { "" };
    // Tables without a title are told apart by their first columns.
    let heads = || table.columns.iter().take(4).map(|column| column.head.as_str()).collect::<Vec<_>>().join(", ");
    let label = if table.title.is_empty() { heads() } else { table.title.clone() };
    let wordy = if table.is_wordy { " settings" } else { "" };
    let of_cells = if table.rows.iter().any(is_toned) { " class=\"cells\"" } else { "" };
    let mut html = format!(
        "<div class=\"scroll{wordy}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table{of_cells}><thead><tr>",
        escape(&label)
    );
    let has_units = table.columns.iter().any(|column| !column.unit.is_empty());
    for (place, column) in table.columns.iter().enumerate() {
        let unit = match (has_units && place > 0, column.unit.as_str()) {
            (false, _) => String::new(),
            (true, "") => "<small>\u{a0}</small>".to_owned(),
            (true, unit) => format!("<small>{}</small>", escape(unit)),
        };
        let head = match terms::meaning(&column.head) {
            Some(meaning) => format!("<abbr title=\"{}\">{}</abbr>", escape(meaning), escape(&column.head)),
            None => escape(&column.head),
        };
        let _ = write!(html, "<th scope=\"col\"{}>{head}{unit}</th>", class(place));
    }
    html.push_str("</tr></thead><tbody>");
    for (place, row) in table.rows.iter().enumerate() {
        if row.is_first && place > 0 {
            html.push_str("</tbody><tbody>");
        }
        html.push_str(open(row.tone));
        for (column, cell) in row.cells.iter().enumerate().take(table.columns.len()) {
            let rest = table.columns.len() - column;
            html.push_str(&one(cell, column, class(column), row.key.filter(|_| column == 0), rest));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

fn one(cell: &Cell, column: usize, class: &str, key: Option<usize>, rest: usize) -> String {
    let (open, close) = if column == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
    let is_long = column == 0 && cell.text.chars().count() > NAME_CHARACTERS_MAX;
    let class = match (cell.takes_rest, is_long) {
        (true, _) => format!(" class=\"onset\" colspan=\"{rest}\""),
        (false, true) => " class=\"long\"".to_owned(),
        (false, false) => class.to_owned(),
    };
    let why = cell.why.as_deref().map(|why| format!(" title=\"{}\"", escape(why))).unwrap_or_default();
    let swatch = key.map(|key| format!("<i class=\"swatch {}\" aria-hidden=\"true\"></i>", key_class(key)));
    format!("<{open}{class}{why}>{}{}{}</{close}>", swatch.unwrap_or_default(), escape(&cell.text), marks(&cell.marks))
}

/// The numbers of doubts, each linked to its text. None is a tab stop: there may be fifty of them, and the list of
/// contents leads to all doubts.
fn marks(numbers: &[usize]) -> String {
    let link = |number: &usize| format!("<a tabindex=\"-1\" href=\"#doubt-{number}\">{number}</a>");
    match numbers {
        [] => String::new(),
        numbers => format!(" <sup>[{}]</sup>", numbers.iter().map(link).collect::<Vec<_>>().join(",")),
    }
}

fn is_toned(row: &TableRow) -> bool {
    row.tone != Tone::Plain || row.key.is_some()
}

/// The opening tag of a row.
fn open(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "<tr>",
        Tone::Base => "<tr class=\"bottom\">",
        Tone::Refused => "<tr class=\"refused\">",
        Tone::Others => "<tr class=\"theirs\">",
    }
}

/// A figure: its heading, a sentence that explains it, the pictures, and its data folded away.
pub(super) fn figure(figure: &Figure) -> String {
    let note = if figure.note.is_empty() { String::new() } else { format!("<p>{}</p>", escape(&figure.note)) };
    let pictures: String = figure.pictures.iter().map(picture).collect();
    let seen = figure.data.first().map(|table| {
        let (body, link) = (bare(table), download(table, "Download as CSV"));
        format!("<details><summary>Data: {}</summary>{body}{link}</details>", escape(&table.title))
    });
    let others: String = figure.data.iter().skip(1).map(|table| download(table, &table.title)).collect();
    format!(
        "<figure><figcaption><h3>{}</h3>{note}</figcaption>{pictures}{}{others}</figure>",
        escape(&figure.title),
        seen.unwrap_or_default()
    )
}

/// Pictures for wide and narrow screens; the style sheet shows one of them.
fn picture(picture: &Picture) -> String {
    let heading = picture.heading.as_ref().map(|text| format!("<h4>{}</h4>", escape(text))).unwrap_or_default();
    match &picture.narrow {
        Some(narrow) => {
            format!("{heading}<div class=\"wide\">{}</div><div class=\"narrow\">{narrow}</div>", picture.wide)
        }
        None => format!("{heading}{}", picture.wide),
    }
}

/// A link that contains its file.
fn download(table: &Table, text: &str) -> String {
    let Some(file) = &table.file else { return String::new() };
    let csv = csv::text(table.raw.as_deref().unwrap_or(table));
    let mut coded = Vec::with_capacity(csv.len() * 2);
    encode_beside(&mut coded, csv.as_bytes(), b"-._,:;/()");
    let address = format!("data:text/csv;charset=utf-8,{}", String::from_utf8_lossy(&coded));
    format!("<p class=\"download\"><a download=\"{}\" href=\"{address}\">{}</a></p>", escape(file), escape(text))
}

/// A list of sentences.
pub(super) fn list(class: &str, texts: &[String]) -> String {
    let items: String = texts.iter().map(|text| format!("<li>{}</li>", unbroken(text))).collect();
    format!("<ul class=\"{class}\">{items}</ul>")
}

/// Escaped text that keeps each interval on one line.
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
