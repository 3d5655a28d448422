//! Figures that others published for the same question, beside those measured here: to compare shapes, not machines.

use crate::blocks::{Block, Section, Table};
use crate::gather::by_key;
use crate::number;
use crate::words::sentence;
use crate::words::view::View;
use tollgate_facts::results::{Cell, Published, SubjectUse};
use tollgate_facts::stats::mean;

/// A table for each source; absent where nothing was published.
pub fn section(view: &View<'_>) -> Option<Section> {
    let run = view.run;
    if run.published.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Text(
        "Other machines, other years, other software below: compare how the figures move from level to level and from \
         variant to variant, not their size."
            .to_owned(),
    )];
    let ours = |published: &&Published| {
        // A figure without a level, such as a size, is the same at each: the lowest stands for all.
        let is_level = |level: u64| published.level.is_none_or(|theirs| theirs == level);
        let variant = published.variant.as_ref()?;
        let cells = || run.cells.iter().filter(|cell| cell.variant == *variant && is_level(cell.level));
        same_use(published, cells()).or_else(|| same_figure(published, cells().min_by_key(|cell| cell.level)?))
    };
    let level = |published: &Published| Some(sentence::level(&run.experiment, published.level?));
    for (source, figures) in by_key(run.published.iter().map(|published| (&published.source, published))) {
        let table = Table::of(
            source,
            figures,
            &[
                ("what they measured", &|published| published.subject.clone()),
                ("level", &|published| number::or_nothing(level(published))),
                ("figure", &|published| published.figure.clone()),
                ("theirs", &|published| format!("{} {}", number::three_digits(published.value), published.unit)),
                ("ours", &|published| number::or_nothing(ours(published))),
                ("our variant", &|published| number::or_nothing(published.variant.clone())),
                ("to know", &|published| published.note.clone().unwrap_or_default()),
            ],
        );
        blocks.push(Block::Table(table.file("published.csv")));
    }
    Some(Section::background("Beside what others published", blocks))
}

/// Our use of memory or CPU time, the mean of these cells; absent for other figures.
fn same_use<'r>(published: &Published, cells: impl Iterator<Item = &'r Cell>) -> Option<String> {
    let of_any = |value: fn(SubjectUse) -> Option<f64>| {
        let values: Vec<f64> = cells.filter_map(|cell| value(cell.subject?)).collect();
        mean(&values)
    };
    match published.figure.as_str() {
        "memory" => of_any(|subject| subject.resident_memory_bytes_mean).map(number::bytes),
        "CPU" => {
            of_any(|subject| Some(subject.cpu_share * 100.0)).map(|share| format!("{} %", number::three_digits(share)))
        }
        _ => None,
    }
}

/// Our value of a published figure, in matching units; absent where we have none of that name.
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
