//! What others published for the same question, beside what was measured here: to compare shapes, not machines.

use crate::blocks::{Block, Section, Table};
use crate::number::{self, NOTHING};
use crate::words::sentence;
use crate::words::view::View;
use tollgate_facts::results::{Cell, Published};

/// A table for each source; absent where nothing was published.
pub fn section(view: &View<'_>) -> Option<Section> {
    let run = view.run;
    if run.published.is_empty() {
        return None;
    }
    let mut sources: Vec<&str> = Vec::new();
    for published in &run.published {
        if !sources.contains(&published.source.as_str()) {
            sources.push(&published.source);
        }
    }
    let mut blocks = vec![Block::Text(
        "Other machines, other years, other software below: compare how the figures move from level to level and from \
         variant to variant, not their size."
            .to_owned(),
    )];
    for source in sources {
        let mut table =
            Table::new(source, ["what they measured", "level", "figure", "theirs", "ours", "our variant", "to know"]);
        for published in run.published.iter().filter(|published| published.source == source) {
            let ours = published.variant.as_ref().and_then(|variant| {
                // A figure without a level, such as a size, is the same at each: the lowest stands for all.
                let is_level = |level: u64| published.level.is_none_or(|theirs| theirs == level);
                let cells = run.cells.iter().filter(|cell| cell.variant == *variant && is_level(cell.level));
                cells.min_by_key(|cell| cell.level)
            });
            table.push(vec![
                published.subject.clone(),
                published.level.map_or(NOTHING.to_owned(), |level| sentence::level(&run.experiment, level)),
                published.figure.clone(),
                format!("{} {}", number::three_digits(published.value), published.unit),
                ours.and_then(|cell| same_figure(published, cell)).unwrap_or_else(|| NOTHING.to_owned()),
                published.variant.clone().unwrap_or_else(|| NOTHING.to_owned()),
                published.note.clone().unwrap_or_default(),
            ]);
        }
        blocks.push(Block::Table(table.file("published.csv")));
    }
    Some(Section::background("Beside what others published", blocks))
}

/// Our value of a published figure, in units that fit; absent where we have none of that name.
fn same_figure(published: &Published, cell: &Cell) -> Option<String> {
    let milliseconds = |value: f64| match value {
        value if value >= 1000.0 => format!("{} s", number::three_digits(value / 1000.0)),
        value => format!("{} ms", number::three_digits(value)),
    };
    match published.figure.as_str() {
        "pass time" | "unit time" => Some(milliseconds(cell.unit_time_ms.mean)),
        "requests per second" | "requests/s" => {
            Some(format!("{} /s", number::three_digits(cell.requests_per_second.mean)))
        }
        "bytes per pass" | "bytes" => Some(number::bytes(cell.bytes_per_unit)),
        "list size" => cell.list_bytes.map(number::bytes),
        "detail size" => cell.detail_bytes.map(number::bytes),
        "median" | "p50" => cell.response_time_ms.p50.map(milliseconds),
        "p95" => cell.response_time_ms.p95.map(milliseconds),
        "p99" => cell.response_time_ms.p99.map(milliseconds),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::fixture;

    #[test]
    fn a_published_size_has_ours_beside_it_though_it_names_no_level() {
        let mut run = fixture::protocol();
        let size = |figure: &str, value| Published {
            level: None,
            figure: figure.to_owned(),
            value,
            unit: "bytes".to_owned(),
            ..run.published[0].clone()
        };
        run.published = vec![size("detail size", 2560.0), size("list size", 111_745.0)];
        let html = format!("{:?}", section(&View::of(&run)).unwrap());
        let cell = run.cells.iter().find(|cell| cell.variant == "odata-v2-atom" && cell.level == 1).unwrap();
        for ours in [cell.list_bytes.unwrap(), cell.detail_bytes.unwrap()] {
            assert!(html.contains(&number::bytes(ours)), "{ours} in {html}");
        }
    }
}
