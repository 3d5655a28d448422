//! A page on a terminal or in a pipe: sentences, tables and footnotes.
//!
//! It fits the width it is given by leaving out columns, least needed first; it never wraps a row.

use super::options::{Colour, RenderOptions};
use tollgate_page::blocks::{Block, Cell, Column, Depth, Light, Page, Table, TableRow, Tone, Trust};
use tollgate_page::text::{broken, cut, one_line};

/// Spaces between columns.
const GAP: usize = 2;
/// Minimum width of a text that takes the rest of its row.
const REST_WIDTH_MIN: usize = 12;
/// Minimum width of a shortened name.
const NAME_WIDTH_MIN: usize = 24;
/// Values of up to this many characters fit into a table of words on any terminal.
const VALUE_WIDTH_MIN: usize = 16;

/// The page.
pub(crate) fn text(page: &Page, options: &RenderOptions) -> String {
    let mut to = Terminal { options, text: String::new() };
    to.line(BOLD, &format!("{}: {}", page.name, page.question));
    page.warnings.iter().for_each(|why| to.line(RED, why));
    to.gap();
    to.wrapped("", &page.answer.text);
    if let Some(Trust { light, text }) = &page.answer.trust {
        let colour = match light {
            Light::Trusted => GREEN,
            Light::Care => YELLOW,
            Light::Not => RED,
        };
        to.line(colour, text);
    }
    to.gap();
    to.paragraphs("", &page.answer.besides);
    for section in page.sections.iter().filter(|section| section.depth == Depth::Main) {
        let mut inner = Terminal { options, text: String::new() };
        section.blocks.iter().for_each(|block| inner.block(block));
        if !inner.text.is_empty() && !section.heading.is_empty() {
            to.line(BOLD, &section.heading);
        }
        to.text.push_str(&inner.text);
    }
    to.wrapped("", &page.origin);
    to.text
}

const BOLD: &str = "1";
const FAINT: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";

struct Terminal<'o> {
    options: &'o RenderOptions,
    text: String,
}

impl Terminal<'_> {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Text(text) => self.paragraphs("", [text]),
            Block::Legend(texts) => self.paragraphs("  ", texts),
            Block::List(texts) => self.paragraphs("", texts),
            Block::Table(table) if table.is_folded => {}
            Block::Table(table) => self.table(table),
            Block::Figure(figure) => figure.brief.iter().for_each(|table| self.table(table)),
            Block::Figures(all) => all.iter().flat_map(|figure| &figure.brief).for_each(|table| self.table(table)),
            Block::Cards(cards) => self.paragraphs("", cards.iter().filter_map(|card| card.sentence.as_ref())),
            Block::Doubts(all) => {
                for (doubt, number) in all.iter().zip(1..) {
                    let colour = if doubt.is_refusal { RED } else { YELLOW };
                    self.line(colour, &format!("[{number}] {}", doubt.label()));
                    doubt.findings.iter().for_each(|finding| self.wrapped("    ", finding));
                    self.wrapped("    ", &format!("→ {}", doubt.remedy));
                }
                if !all.is_empty() {
                    self.gap();
                }
            }
            Block::Facts(_) | Block::Command(_) => {}
        }
    }

    fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Words in a colour, set on each line separately, so that escape sequences are not wrapped as words.
    fn line(&mut self, code: &str, text: &str) {
        self.lines("", text).iter().for_each(|line| self.painted(code, line));
    }

    fn painted(&mut self, code: &str, text: &str) {
        match self.options.colour {
            Colour::Ansi if !code.is_empty() => self.text.extend(["\x1b[", code, "m", text, "\x1b[0m\n"]),
            _ => self.text.extend([text, "\n"]),
        }
    }

    /// Texts one below the other, and a blank line after the last.
    fn paragraphs<'t>(&mut self, indent: &str, texts: impl IntoIterator<Item = &'t String>) {
        let before = self.text.len();
        texts.into_iter().for_each(|text| self.wrapped(indent, text));
        if self.text.len() > before {
            self.gap();
        }
    }

    fn wrapped(&mut self, indent: &str, text: &str) {
        self.lines(indent, text).iter().for_each(|line| self.text.extend([line.as_str(), "\n"]));
    }

    /// Text in lines that fit, the following ones indented by four more.
    fn lines(&self, indent: &str, text: &str) -> Vec<String> {
        broken(&plain(text), self.options.width.max(40), indent, &format!("{indent}    "))
    }

    fn table(&mut self, table: &Table) {
        let (table, long) = self.without_long_rows(table);
        let fit = Fit::of(&table, self.options.width);
        let hidden = match table.columns.len() - fit.shown.len() {
            hidden if hidden == 0 || table.axis_from.is_none() => String::new(),
            1 => " (1 more column in the report and as CSV)".to_owned(),
            hidden => format!(" ({hidden} more columns in the report and as CSV)"),
        };
        if !table.title.is_empty() {
            self.line(BOLD, &format!("{}{hidden}", table.title));
        }
        let head: Vec<String> = table.columns.iter().map(|column| plain(&column.text())).collect();
        self.painted(BOLD, &fit.line(&table, &head, None));
        for (place, row) in table.rows.iter().enumerate() {
            if row.is_first && place > 0 {
                self.gap();
            }
            let cells: Vec<String> = row.cells.iter().map(|cell| plain(&cell.numbered())).collect();
            let rest = row.cells.iter().position(|cell| cell.takes_rest);
            let text = fit.line(&table, &cells, rest.map(|at| (at, self.options.width)));
            self.painted(tint(row.tone), &text);
        }
        long.iter().for_each(|text| self.wrapped("", text));
        self.gap();
    }

    /// The table, and its rows of words that are too long, as separate lines.
    fn without_long_rows(&self, table: &Table) -> (Table, Vec<String>) {
        let mut table = table.clone();
        if !table.is_wordy {
            return (table, Vec::new());
        }
        let name = |row: &TableRow| row.cells.first().map_or(0, |cell| count(&cell.text));
        let names = table.rows.iter().map(name).max().unwrap_or(0);
        let columns = table.columns.len().saturating_sub(1).max(1);
        let fits = (self.options.width.saturating_sub(names) / columns).saturating_sub(GAP).max(VALUE_WIDTH_MIN);
        let is_long = |row: &TableRow| row.cells.iter().skip(1).any(|cell| count(&cell.text) > fits);
        let (long, short): (Vec<TableRow>, Vec<TableRow>) = table.rows.into_iter().partition(is_long);
        table.rows = short;
        let told = |row: &TableRow| -> Vec<String> {
            let values = table.columns.iter().zip(&row.cells).skip(1);
            values.map(|(column, value)| format!("{}, {}: {}", row.cells[0].text, column.head, value.text)).collect()
        };
        let long = long.iter().flat_map(told).collect();
        (table, long)
    }
}

/// The visible columns of a table and their widths.
struct Fit {
    /// Each with the spaces before it.
    shown: Vec<(usize, usize)>,
    widths: Vec<usize>,
}

impl Fit {
    fn of(table: &Table, width: usize) -> Fit {
        let text = |cell: &Cell| if cell.takes_rest { 0 } else { count(&plain(&cell.numbered())) };
        let wide = |(place, column): (usize, &Column)| {
            let texts = table.rows.iter().filter_map(|row| row.cells.get(place)).map(text);
            texts.chain([count(&plain(&column.text()))]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = table.columns.iter().enumerate().map(wide).collect();
        if let Some(from) = table.axis_from.filter(|from| *from < widths.len()) {
            let column = widths[from..].iter().copied().max().unwrap_or(0);
            widths[from..].fill(column);
            let room = width.saturating_sub(widths[..from].iter().map(|width| width + GAP).sum());
            let count = widths.len() - from;
            let gap = if count * (column + GAP) <= room { GAP } else { 1 };
            let on_axis = evenly(count, room / (column + gap)).into_iter().map(|at| (from + at, gap));
            return Fit { shown: (0..from).map(|at| (at, GAP)).chain(on_axis).collect(), widths };
        }
        let mut shown: Vec<usize> = (0..widths.len()).collect();
        let total = |shown: &[usize], widths: &[usize]| {
            shown.iter().map(|at| widths[*at]).sum::<usize>() + GAP * shown.len().saturating_sub(1)
        };
        while total(&shown, &widths) > width {
            let rank = |at: &usize| if *at < 2 { 0 } else { table.columns[*at].rank };
            let Some(highest) = shown.iter().map(rank).max().filter(|rank| *rank > 0) else { break };
            let last = shown.iter().rposition(|at| rank(at) == highest);
            last.map(|at| shown.remove(at));
        }
        if let Some(over) = total(&shown, &widths).checked_sub(width + 1).filter(|_| !widths.is_empty()) {
            widths[0] = widths[0].saturating_sub(over + 1).max(NAME_WIDTH_MIN.min(widths[0]));
        }
        Fit { shown: shown.into_iter().map(|at| (at, GAP)).collect(), widths }
    }

    /// One line: words aligned left, the rest right. A cell that takes the rest of its row gets the remainder of this
    /// many characters.
    fn line(&self, table: &Table, texts: &[String], rest: Option<(usize, usize)>) -> String {
        let mut line = String::new();
        for (place, (at, gap)) in self.shown.iter().enumerate() {
            if let Some((from, width)) = rest.filter(|(from, _)| from <= at) {
                // It may begin between two columns that are shown.
                let text = match from == *at {
                    true => texts[from].clone(),
                    false => format!("from {} on: {}", table.columns[from].head, texts[from]),
                };
                let room = width.saturating_sub(count(&line) + GAP).max(REST_WIDTH_MIN);
                line.push_str(&format!("{}{}", " ".repeat(GAP), cut(&text, room)));
                break;
            }
            let width = self.widths[*at];
            let text = cut(texts.get(*at).map_or("", String::as_str), width);
            let fill = " ".repeat(width.saturating_sub(count(&text)));
            let is_left = *at == 0 || !table.is_number(*at);
            line.push_str(&" ".repeat(if place == 0 { 0 } else { *gap }));
            line.push_str(&if is_left { format!("{text}{fill}") } else { format!("{fill}{text}") });
        }
        line.trim_end().to_owned()
    }
}

/// At most `most` places out of `count`, including the first and the last.
fn evenly(count: usize, most: usize) -> Vec<usize> {
    match most.max(1) {
        most if count <= most => (0..count).collect(),
        1 => vec![count - 1],
        most => (0..most).map(|index| index * (count - 1) / (most - 1)).collect(),
    }
}

fn tint(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Base | Tone::Others => FAINT,
        Tone::Refused => RED,
    }
}

/// On one line; `×` is written as `x`, as on every keyboard.
fn plain(text: &str) -> String {
    one_line(text).replace('×', "x")
}

fn count(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::evenly;

    #[test]
    fn columns_that_are_left_out_are_neither_the_first_nor_the_last() {
        assert_eq!(evenly(48, 100).len(), 48);
        let few = evenly(48, 11);
        assert_eq!((few.len(), few[0], few[10]), (11, 0, 47));
        assert!(few.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!((evenly(48, 1), evenly(0, 3)), (vec![47], vec![]));
    }
}
