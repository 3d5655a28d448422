//! The page of runs side by side: the runs, their differences, the tolls and figures of all runs, and every ratio with
//! its interval.
//!
//! It shows the findings of [`tollgate_facts::across`] and computes no ratio.

mod pictures;
mod tables;
#[cfg(test)]
mod tests;

use tables::What;
use tollgate_facts::across::{Across, CANCELS, UNPAIRED};
use tollgate_page::blocks::{Answer, Block, Page, Section, Table};
use tollgate_page::text::{capitalized, slug};
use tollgate_page::words::{sentence, thresholds};

/// Maximum number of rows of all tables of one section, on a page with pictures.
const TABLE_ROWS_MAX: usize = 400;
/// Maximum number of rows and values of response times there.
const TIMES_ROWS_MAX: usize = 200;
const TIMES_MAX: usize = 400;

/// The page.
pub(crate) fn page(across: &Across) -> Page {
    let mut runs = vec![Block::Table(tables::runs(across))];
    runs.push(match tables::settings(across) {
        Some(settings) => Block::Table(settings),
        None => Block::Legend(vec!["They differ in nothing that is stored".to_owned()]),
    });
    let doubts: Vec<String> = tables::lone(across).into_iter().chain(tables::doubts(across)).collect();
    let sections = [
        Some(Section::main("The runs", runs)),
        thresholds::section(&across.experiment, &across.thresholds),
        section(across, What::Tolls),
        section(across, What::Figures),
        times(across),
        (!doubts.is_empty()).then(|| Section::main("What else must be known", vec![Block::List(doubts)])),
    ];
    let marks = if tables::has_marks(across) { "; * marked: see the doubts" } else { "" };
    Page {
        name: across.experiment.name.clone(),
        question: tables::title(across),
        answer: Answer::of(tables::answer(across)),
        warnings: across.runs.iter().filter_map(sentence::incompleteness_of).collect(),
        origin: format!("{} · [..] and ±: {}{marks}", across.experiment.question, tables::reading(across)),
        version: String::new(),
        sections: sections.into_iter().flatten().collect(),
    }
}

fn section(across: &Across, what: What) -> Option<Section> {
    if what.rows(across).is_empty() {
        return None;
    }
    let (heading, label) = match what {
        What::Tolls => ("Tolls of each run", CANCELS),
        What::Figures => ("Figures of each run", UNPAIRED),
    };
    let mut blocks = vec![Block::List(tables::sentences(across, what))];
    blocks.push(Block::Legend(vec![capitalized(label)]));
    blocks.extend(pictures::of(across, what));
    let of_all = if what == What::Tolls { tables::tolls_of_all(across) } else { Vec::new() };
    let tables: Vec<Table> = of_all.into_iter().chain(tables::ratio_tables(across, what)).collect();
    let page_rows_max = Some(TABLE_ROWS_MAX / tables.len().max(1));
    let limited = |table: Table| {
        let file = format!("{}.csv", slug(&table.title));
        Block::Table(Table { page_rows_max, ..table.file(file) })
    };
    blocks.extend(tables.into_iter().map(limited));
    Some(Section::main(heading, blocks))
}

fn times(across: &Across) -> Option<Section> {
    let page_rows_max = Some(TIMES_ROWS_MAX.min(TIMES_MAX / across.runs.len().max(1)));
    let table = Table { page_rows_max, ..tables::times(across)?.file("response-times.csv") };
    Some(Section::main("Throughput and response times", vec![Block::Table(table)]))
}
