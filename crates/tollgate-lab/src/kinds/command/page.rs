//! A run of commands as a table: time of a run, resource use, and ratio to the baseline.

use tollgate_facts::results::SubjectUse;
use tollgate_page::blocks::{Block, Cell, Column, Depth, Page, Section, Table};
use tollgate_page::number;
use tollgate_page::parts::method::Method;
use tollgate_page::parts::{self, cards, curves, tolls};
use tollgate_page::words::sentence;
use tollgate_page::words::view::{self, Row, View};

/// The unit of work, which identifies results of this kind.
pub(super) const UNIT: &str = "run of the command";

/// The load of a run of commands, as the page describes it.
const LOAD: &str = "Each trial runs the command of its variant again and again until its slice is over, at least once, on the cores \
                    of the subjects. Every run ended with the exit status that was expected: another one would have ended \
                    the measurement. What a command prints goes nowhere.";

/// The page of a run of commands.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let experiment = &view.run.experiment;
    if experiment.unit_of_work != UNIT {
        return None;
    }
    let legend = [
        "time: from the start of the process until its end was seen; to start it is a part of that",
        "CPU and memory: as the kernel counts them, of the process and of all its children that it waited for",
        "memory: the most that one of them had in any run; absent where that is hardly more than tollgate itself has, which the \
         kernel counts for what it starts",
    ];
    let blocks = vec![Block::Table(table(view)), Block::Legend(legend.map(str::to_owned).to_vec())];
    let before = vec![cards::section(view), Some(Section::main("The commands", blocks)), tolls::section(view)];
    let curve = || Section::background("Against argument", vec![Block::Figure(curves::unit_time(view))]);
    let after = vec![(experiment.levels.len() > 1).then(curve)];
    let checked = Some(("exit status", "of every run".to_owned()));
    let method = Method { load: LOAD, between: "commands and their servers", checked, ..Method::default() };
    Some(parts::page(view, None, before, Depth::Background, after, &method))
}

fn table(view: &View<'_>) -> Table {
    let argument_rank = if view.run.experiment.levels.len() > 1 { 0 } else { 5 };
    let cpu = |row: &Row<'_>| view::cpu(row.cell).map(|cpu| cpu.mean / 1e3);
    let memory = |row: &Row<'_>| {
        let bytes = row.cell.subject.as_ref().and_then(SubjectUse::memory_bytes)?;
        Some(bytes as f64 / f64::from(1 << 20))
    };
    Table::of::<_, _, Cell>(
        "",
        &view.rows,
        &[
            (Column::of("variant", "", 0), &|row| row.name()),
            (Column::of("argument", "", argument_rank), &|row| row.cell.level.to_string().into()),
            (Column::of("runs", "", 4), &|row| number::whole(row.cell.requests).into()),
            (Column::of("time", "ms", 0), &|row| number::with_half(row.cell.unit_time_ms, number::three_digits).into()),
            (Column::of("CPU", "ms", 1), &|row| number::optional(cpu(row)).into()),
            (Column::of("memory", "MiB", 2), &|row| number::optional(memory(row)).into()),
            (Column::of("toll on time", "", 0), &|row| sentence::toll_of(row, row.tolls.time).into()),
            (Column::of("toll on CPU", "", 3), &|row| sentence::toll_of(row, row.tolls.cpu).into()),
        ],
    )
    .file("commands.csv")
}
