//! A page for a README or an issue: its tables and sentences, with nothing that breaks them.

use super::RenderOptions;
use std::fmt::Write;
use tollgate_page::blocks::{Block, Column, Depth, Page, Table};
use tollgate_page::text::{one_line, stopped};

/// The page.
pub(crate) fn text(page: &Page, _: &RenderOptions) -> String {
    let mut text = format!("**{}** ", escaped(&page.question));
    page.answer.texts().for_each(|said| text.push_str(&format!("{}\n\n", escaped(said))));
    for why in &page.warnings {
        let _ = write!(text, "> {}\n\n", escaped(why));
    }
    for section in page.sections.iter().filter(|section| section.depth == Depth::Main) {
        let blocks: String = section.blocks.iter().map(block).collect();
        if !blocks.is_empty() && !section.heading.is_empty() {
            let _ = write!(text, "**{}**\n\n", escaped(&section.heading));
        }
        text.push_str(&blocks);
    }
    let _ = writeln!(text, "{}", escaped(&page.origin));
    text
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => format!("{}\n\n", escaped(text)),
        Block::Legend(texts) => texts.iter().map(|text| format!("{}\n\n", escaped(&stopped(text)))).collect(),
        Block::List(texts) => list(texts.iter().map(|text| escaped(text))),
        Block::Table(found) if found.is_folded => String::new(),
        Block::Table(found) => table(found),
        Block::Figure(figure) => figure.brief.as_ref().map(table).unwrap_or_default(),
        Block::Figures(all) => all.iter().filter_map(|figure| figure.brief.as_ref()).map(table).collect(),
        Block::Cards(cards) => list(cards.iter().filter_map(|card| Some(escaped(card.sentence.as_ref()?)))),
        Block::Doubts(all) => list(all.iter().zip(1..).map(|(doubt, number)| {
            let found = escaped(&doubt.findings.join("; "));
            format!("\\[{number}\\] **{}**: {found} → {}", escaped(&doubt.label()), escaped(&doubt.remedy))
        })),
        Block::Facts(_) | Block::Command(_) => String::new(),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    let text: String = items.map(|item| format!("- {item}\n")).collect();
    if text.is_empty() { text } else { format!("{text}\n") }
}

fn table(table: &Table) -> String {
    let width = table.columns.len();
    let mut text = if table.title.is_empty() { String::new() } else { format!("{}\n\n", escaped(&table.title)) };
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&line(table.columns.iter().map(|column| escaped(&Column::text(column))).collect()));
    let sides = (0..width).map(|column| if table.is_number(column) { "--:" } else { "---" });
    let _ = writeln!(text, "|{}|", sides.collect::<Vec<_>>().join("|"));
    for row in &table.rows {
        let mut cells: Vec<String> = row.cells.iter().map(|cell| escaped(&cell.numbered())).collect();
        cells.resize(width, String::new());
        text.push_str(&line(cells));
    }
    text.push('\n');
    text
}

/// Text without characters that have a meaning in Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' => {
                safe.push('\\');
                safe.push(c);
            }
            _ => safe.push(c),
        }
    }
    safe
}
