//! The table of all cells, the meaning of its signs, and its doubts directly below it.

use super::{aggregate, models, raw, staged, steps};
use crate::blocks::{self, Block, Cell, Column, ColumnOf, Depth, Section, Table, TableRow, Tone};
use crate::gather::by_key;
use crate::number::{self, NOTHING};
use crate::words::view::{self, Doubt, Row, Timed, View};
use crate::words::{marked, sentence};
use tollgate_facts::results::{Estimate, Piece, Rank, SubjectUse, Toll, TollVerdict, Validity, Verdict};

/// Maximum number of findings of one rule that are listed; the rest is counted.
const FINDINGS_MAX: usize = 4;
/// Maximum number of cells that the table shows in full.
const ROWS_MAX: usize = 100;

/// The steps and stages that were played, every figure, and the doubts about them. A kind that shows the figures in
/// tables of its own has the table of all cells in the background.
pub fn sections(view: &View<'_>, depth: Depth) -> Vec<Option<Section>> {
    // A whole matrix of cells would be a page of its own: then the level that stands for the run is shown.
    let shown = (view.rows.len() > ROWS_MAX).then(|| view::answer_level(view.run)).flatten();
    let mut blocks = match view.rows.is_empty() {
        true => vec![Block::Text("No cell was measured.".to_owned())],
        false => {
            let legend = Block::Legend(legend(view));
            let own = vec![Block::Table(table(view, shown)), legend, Block::Table(resources(view, shown))];
            own.into_iter().chain(aggregate::of_run(view, shown).map(Block::Table)).collect()
        }
    };
    if shown.is_some() {
        let rest = "Of these many cells the table shows one level; `tollgate report -f csv` writes them all";
        blocks.push(Block::Legend(vec![rest.to_owned()]));
    }
    let every = Section { heading: "Every figure".to_owned(), depth, blocks };
    vec![staged::section(view), models::section(view), steps::section(view), Some(every), Some(doubts(view))]
}

fn doubts(view: &View<'_>) -> Section {
    let doubt = |doubt: &Doubt<'_>| blocks::Doubt {
        is_refusal: doubt.verdict == Verdict::Refused,
        rule: doubt.rule.to_owned(),
        findings: findings(view, doubt),
        remedy: doubt.remedy.to_owned(),
    };
    let mut blocks = vec![match (view.doubts.is_empty(), view.shared.is_empty()) {
        (true, true) => Block::Legend(vec!["All checks passed".to_owned()]),
        (true, false) => Block::Legend(vec![
            "No cell has a doubt of its own; what concerns all of them stands at the top".to_owned(),
        ]),
        (false, _) => Block::Doubts(view.doubts.iter().map(doubt).collect()),
    }];
    let failures = view.rows.iter().flat_map(|row| {
        view::failures(row.cell).map(|(class, found)| ((row.cell.variant.as_str(), class), (row.cell.level, found)))
    });
    let told = by_key(failures).into_iter().map(|((variant, class), found)| {
        let count: u64 = found.iter().map(|(_, (count, _))| count).sum();
        let (level, (_, example)) = found[0];
        let (count, level) = (number::whole(count), sentence::level(&view.run.experiment, level));
        format!("{variant}: {count} × {class}, the first at {level}: {}", example.unwrap_or("not kept"))
    });
    let failures: Vec<String> = told.collect();
    if !failures.is_empty() {
        blocks.push(Block::List(failures));
    }
    let looks = view.run.settings.looks.iter().map(|looks| looks.words());
    let said = [sentence::starts(view.run), sentence::courses(view.run)].into_iter().flatten();
    let mut notes: Vec<String> = said.chain(looks).chain(sentence::first_answers(view.run)).collect();
    let counted = view.run.instructions.iter().filter(|counted| !counted.is_whole());
    notes.extend(counted.map(|counted| format!("instructions of the servers: {}", counted.words())));
    let left_out = view.rows.iter().filter_map(|row| Some((row.cell.variant.as_str(), row.cell.left_out_per_unit?)));
    notes.extend(by_key(left_out).into_iter().map(|(variant, counts)| {
        let most = counts.into_iter().fold(0.0, f64::max);
        format!("{variant}: {} entities of a pass were left out because of their status", number::three_digits(most))
    }));
    if view.run.settings.insecure {
        notes.push("certificates of the servers were not verified (--insecure)".to_owned());
    }
    blocks.push(Block::Legend(notes));
    Section::main("Doubts about these figures", blocks)
}

/// Headings of columns that are filled only on machines with counters.
const INSTRUCTIONS: &str = "instructions";
const TOLL_ON_INSTRUCTIONS: &str = "toll on instructions";

/// Replacement of a time that grew throughout the load.
const NOT_STEADY: &str = "not steady";

fn table<'r>(view: &View<'r>, shown: Option<u64>) -> Table {
    let experiment = &view.run.experiment;
    let noun = sentence::unit_noun(experiment);
    let factor = if experiment.factor_unit.is_empty() { &experiment.factor } else { &experiment.factor_unit };
    let is_whole = experiment.piece == Piece::Unit;
    let counted = if is_whole { sentence::pieces(experiment) } else { "requests".to_owned() };
    let received = Column::of("received", format!("kB/{noun}"), 6);
    let errors = Column::of("errors", "", if view.any_errors() { 0 } else { 7 });
    let toll_on_time = Column::of(format!("toll on {noun} time"), "", 0);
    let rows: Vec<&Row<'r>> =
        view.rows.iter().filter(|row| shown.is_none_or(|level| row.cell.level == level)).collect();
    let decimals =
        |value: &dyn Fn(&Row<'_>) -> Option<f64>| number::column_decimals(rows.iter().filter_map(|row| value(row)));
    let unit_decimals = decimals(&|row| Some(row.cell.unit_time_ms.mean));
    let time_decimals = decimals(&|row| Timed::of_units(row.cell).at(Rank::P50));
    let cpu_decimals = decimals(&|row| view::cpu(row.cell).map(|cpu| cpu.mean));
    let at = |level: u64| experiment.named_level(level).map_or_else(|| level.to_string(), |named| named.title.clone());
    let unit_time = |value: f64| number::in_column(value, unit_decimals);
    let time = |row: &Row<'_>, rank: Rank| {
        view.percentile(row, Timed::of_units(row.cell), rank, |value| number::in_column(value, time_decimals))
    };
    let cpu = |cpu: Estimate| {
        let end = |value: f64| number::in_column(value, cpu_decimals);
        end(cpu.mean) + &number::spread(cpu, end, |half| number::grouped(half, cpu_decimals + 1))
    };
    let thousands = |value: f64| number::three_digits(value / 1e3);
    let instructions = |row: &Row<'_>| {
        number::or_nothing(view::instructions(row.cell).map(|count| number::with_half(count, thousands))).into()
    };
    let toll = |toll: Option<&Toll>| number::or_nothing(toll.map(sentence::signed)).into();
    let why = |row: &Row<'_>| row.tolls.time.and_then(|toll| toll.note.clone());
    let all: [ColumnOf<'_, Column, Row<'r>, Cell>; 15] = [
        (Column::of("variant", "", 0), &|row| row.name()),
        (Column::of(factor, "", 0), &|row| at(row.cell.level).into()),
        (Column::of(counted, "/s", 4), &|row| number::three_digits(row.cell.requests_per_second.mean).into()),
        (Column::of(noun, "ms", 0), &|row| match marked::is_unsteady(view.run, row.cell) {
            true => NOT_STEADY.into(),
            false => number::with_half(row.cell.unit_time_ms, unit_time).into(),
        }),
        (Column::of("p50", "ms", 1), &|row| time(row, Rank::P50)),
        (Column::of("p95", "ms", 5), &|row| time(row, Rank::P95)),
        (Column::of("p99", "ms", 3), &|row| time(row, Rank::P99)),
        (Column::of("CPU", "µs", 2), &|row| number::or_nothing(view::cpu(row.cell).map(cpu)).into()),
        (Column::of(INSTRUCTIONS, "1000s", 9), &|row| instructions(row)),
        (received, &|row| number::three_digits(row.cell.bytes_per_unit / 1e3).into()),
        (errors, &|row| number::whole(row.error_count()).into()),
        (toll_on_time, &|row| Cell { why: why(row), ..toll_text(row).into() }),
        (Column::of("toll on CPU", "", 8), &|row| toll(row.tolls.cpu)),
        (Column::of(TOLL_ON_INSTRUCTIONS, "", 8), &|row| toll(row.tolls.instructions)),
        (Column::of("toll on bytes", "", 9), &|row| toll(row.tolls.bytes)),
    ];
    let is_counted = rows.iter().any(|row| view::instructions(row.cell).is_some());
    let is_shown = |head: &str| is_counted || ![INSTRUCTIONS, TOLL_ON_INSTRUCTIONS].contains(&head);
    let columns: Vec<_> = all.iter().filter(|(column, _)| is_shown(&column.head)).collect();
    let mut level = None;
    let row = |row: &&Row<'r>| TableRow {
        cells: columns.iter().map(|(_, cell)| cell(row)).collect(),
        tone: match row.tone() {
            Tone::Plain if row.is_bottom => Tone::Base,
            tone => tone,
        },
        key: view::key(view.run, &row.cell.variant),
        is_first: level.replace(row.cell.level) != Some(row.cell.level),
    };
    let shown_rows: Vec<TableRow> = rows.iter().map(row).collect();
    let table = Table::new("", columns.iter().map(|(column, _)| column.clone())).with(shown_rows);
    match shown {
        Some(_) => table,
        None => Table { raw: Some(Box::new(raw::table(view))), ..table.file("cells.csv") },
    }
}

fn toll_text(row: &Row<'_>) -> String {
    let ranks = |toll: &Toll| if toll.do_ranks_disagree() { " r" } else { "" };
    match row.tolls.time {
        None if row.is_bottom => "baseline".to_owned(),
        None => NOTHING.to_owned(),
        Some(toll) if toll.verdict == TollVerdict::Joint => {
            match row.tolls.cpu.filter(|toll| toll.verdict.is_plain()) {
                Some(cpu) => format!("CPU {} j", sentence::signed(cpu)),
                None => "joint".to_owned(),
            }
        }
        Some(toll) => format!("{}{}{}", sentence::ratio(toll), ranks(toll), sentence::sign(toll.verdict)),
    }
}

/// The meaning of the signs that occur in the table.
fn legend(view: &View<'_>) -> Vec<String> {
    let noun = sentence::unit_noun(&view.run.experiment);
    let tolls = view.rows.iter().flat_map(|row| row.tolls.each());
    let has = |verdict| tolls.clone().any(|toll| toll.verdict == verdict);
    let of_tolls = match view.run.settings.looks {
        Some(looks) => format!("±: 95 % interval over blocks, [..]: of {}", looks.confidence()),
        None => "± and [..]: 95 % interval over blocks".to_owned(),
    };
    let counted = if view.rows.iter().any(|row| row.cell.played.is_some()) { noun } else { "request" };
    let mut signs = vec![
        format!("{of_tolls}; CPU: the subject's time for one {}", sentence::piece(&view.run.experiment)),
        format!("a percentile needs at least 30 slower {counted}s"),
    ];
    let is_open = |timed: Timed| {
        let ends = [Rank::P50, Rank::P95, Rank::P99].map(|rank| timed.interval(rank));
        ends.into_iter().flatten().any(|(_, high)| high.is_infinite())
    };
    if view.rows.iter().any(|row| is_open(Timed::of_units(row.cell))) {
        signs.push(format!("{NOTHING}]: too few slower {counted}s for an upper end"));
    }
    if !view.any_errors() && view.run.experiment.piece != Piece::Unit {
        signs.push("no request failed".to_owned());
    }
    signs.extend(sentence::signs(view.run, has));
    if view.rows.iter().filter_map(|row| row.tolls.time).any(Toll::do_ranks_disagree) {
        let ranks = "r ranks: a rank test and Student's t disagree on whether there is a toll; more blocks help";
        signs.push(ranks.to_owned());
    }
    if has(TollVerdict::Joint) {
        let joint = "j joint: shared CPU, so the time cannot be attributed to the layer";
        signs.push(joint.to_owned());
    }
    // Of cells that carry no mark which says so already.
    let unmarked = view.rows.iter().filter(|row| row.marks.is_empty());
    let refused = unmarked.filter_map(|row| row.tolls.time).filter(|toll| !toll.is_shown());
    for (why, rows) in by_key(refused.filter_map(|toll| Some((toll.note.as_deref()?, ())))) {
        signs.push(format!("refused in {} of {} rows: {why}", rows.len(), view.rows.len()));
    }
    signs
}

/// The findings of a rule, cell by cell; for many cells, their number and the worst.
fn findings(view: &View<'_>, doubt: &Doubt<'_>) -> Vec<String> {
    let text = |found: &Validity| {
        format!("{} at {}: {}", found.variant, sentence::level(&view.run.experiment, found.level), found.reason)
    };
    if doubt.findings.len() <= FINDINGS_MAX {
        return doubt.findings.iter().map(|found| text(found)).collect();
    }
    let worst = marked::worst(&doubt.findings).map(text).unwrap_or_default();
    vec![format!("in {} of {} cells, most with {worst}", doubt.findings.len(), view.rows.len())]
}

/// The resources that the processes used; the table above has only the CPU time per request.
fn resources(view: &View<'_>, shown: Option<u64>) -> Table {
    let subject =
        |row: &Row<'_>, text: fn(&SubjectUse) -> String| number::or_nothing(row.cell.subject.as_ref().map(text));
    Table::of(
        "what the subject and the load generator used",
        view.rows.iter().filter(|row| shown.is_none_or(|level| row.cell.level == level)),
        &[
            ("variant", &|row| row.cell.variant.clone()),
            ("level", &|row| sentence::level(&view.run.experiment, row.cell.level)),
            ("subject CPU, cores", &|row| subject(row, |used| number::three_digits(used.cpu_share))),
            ("memory, most", &|row| {
                subject(row, |used| number::or_nothing(used.memory_bytes().map(|bytes| number::bytes(bytes as f64))))
            }),
            ("threads, most", &|row| {
                subject(row, |used| number::or_nothing((used.threads_max > 0).then(|| used.threads_max.to_string())))
            }),
            ("connections", &|row| number::whole(row.cell.connections)),
            ("generator CPU, cores", &|row| number::three_digits(row.cell.generator.cpu_share)),
            ("generator µs/request", &|row| number::three_digits(row.cell.generator.cpu_us_per_request)),
            ("generator waited", &|row| {
                format!("{} %", number::three_digits(row.cell.generator.run_queue_share * 100.0))
            }),
            ("sent", &|row| number::bytes(row.cell.bytes_sent as f64)),
            ("received", &|row| number::bytes(row.cell.bytes_received as f64)),
        ],
    )
    .file("resources.csv")
    .folded()
}
