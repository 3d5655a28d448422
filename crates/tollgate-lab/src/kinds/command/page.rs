//! A run of commands as a table: how long a run of each takes, what it uses, and what that is over its baseline.

use tollgate_facts::results::SubjectUse;
use tollgate_page::blocks::{Block, Cell, Column, Depth, Page, Section, Table};
use tollgate_page::number;
use tollgate_page::parts::method::Method;
use tollgate_page::parts::{self, cards, curves, tolls};
use tollgate_page::words::sentence::{self, Lead};
use tollgate_page::words::view::{self, Row, View};

/// The unit of work, by which a result says that it is of this kind.
pub(super) const UNIT: &str = "run of the command";

/// How a command is run.
const LOAD: &str = "Each trial runs the command of its variant again and again until its slice is over, at least once, on the cores \
                    of the subjects. Every run ended with the exit status that was expected: another one would have ended \
                    the measurement. What a command prints goes nowhere.";

/// The page, where commands were run.
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
    let after = if experiment.levels.len() > 1 {
        vec![Some(Section::background("Against argument", vec![Block::Figure(curves::unit_time(view))]))]
    } else {
        Vec::new()
    };
    let method = Method { load: LOAD, checked: Some(("exit status", "of every run".to_owned())), ..Method::default() };
    Some(parts::page(view, Lead::default(), before, Depth::Background, after, &method))
}

fn table(view: &View<'_>) -> Table {
    let columns = [
        Column::of("variant", "", 0),
        Column::of("argument", "", if view.run.experiment.levels.len() > 1 { 0 } else { 5 }),
        Column::of("runs", "", 4),
        Column::of("time", "ms", 0),
        Column::of("CPU", "ms", 1),
        Column::of("memory", "MiB", 2),
        Column::of("toll on time", "", 0),
        Column::of("toll on CPU", "", 3),
    ];
    let row = |row: &Row<'_>| {
        let cell = row.cell;
        let milliseconds = |value: f64| number::three_digits(value);
        let cpu = view::cpu(cell).map(|cpu| number::three_digits(cpu.mean / 1e3));
        let memory =
            cell.subject.as_ref().and_then(SubjectUse::memory_bytes).map(|bytes| bytes as f64 / f64::from(1 << 20));
        let texts = [
            cell.level.to_string(),
            number::whole(cell.requests),
            number::with_half(cell.unit_time_ms, milliseconds),
            number::or_nothing(cpu),
            number::or_nothing(memory.map(number::three_digits)),
            sentence::toll_of(row, row.tolls.time),
            sentence::toll_of(row, row.tolls.cpu),
        ];
        std::iter::once(row.name()).chain(texts.map(Cell::from)).collect::<Vec<Cell>>()
    };
    Table::new("", columns).with(view.rows.iter().map(row)).file("commands.csv")
}
