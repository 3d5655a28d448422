//! A table for a README or an issue, with the tolls and the doubts below it.

use super::distance;
use super::encryption;
use super::inserts::{self, Whose};
use super::ladder;
use super::mediation;
use super::number;
use super::peers;
use super::scenario;
use super::sentence;
use super::staged;
use super::terminal::{findings, one_line, verdict_word};
use super::thresholds;
use super::view::{self, Row, View};
use super::{RenderOptions, Reporter};
use std::io::{self, Write};
use tollgate_facts::results::{RunResult, TollVerdict};

pub(super) const REPORTER: Reporter =
    Reporter { name: "markdown", also: &["md"], extension: "md", about: "table for a README or an issue", render };

/// Findings of one rule that are listed before the rest is counted.
const FINDINGS_MAX: usize = 3;
/// Comparisons with one peer of which every one is shown.
const COMPARISONS_MAX: usize = 60;

fn render(run: &RunResult, out: &mut dyn Write, _: &RenderOptions) -> io::Result<()> {
    let view = View::of(run);
    let experiment = &run.experiment;
    writeln!(out, "**{}** {}\n", escaped(&experiment.question), escaped(&sentence::answer(run, "×")))?;
    if let Some(why) = sentence::incompleteness(run) {
        writeln!(out, "> {}\n", escaped(&why))?;
    }
    if inserts::is_shown(run) {
        wide_tables(&view, out)?;
    } else if distance::is_shown(run) {
        for sentence in distance::sentences(run) {
            writeln!(out, "{}\n", escaped(&sentence))?;
        }
        word_tables(distance::tables(&view), out)?;
    } else if encryption::is_shown(run) {
        word_tables(encryption::tables(&view, "×"), out)?;
    } else {
        if ladder::is_shown(run) {
            word_tables(ladder::tables(&view), out)?;
        }
        cells(&view, out)?;
        if let Some((table, unit)) = staged::table(&view).zip(staged::unit_of(&view)) {
            word_tables(vec![table.numbered(&view)], out)?;
            writeln!(out, "{}.\n", staged::shared(unit))?;
        }
        if let Some(table) = scenario::table(&view) {
            word_tables(vec![table.numbered(&view)], out)?;
            writeln!(out, "{}.\n", scenario::SHARED)?;
        }
        if mediation::is_shown(run) {
            word_tables(mediation::tables(&view, "×", mediation::Reasons::Beside), out)?;
        }
    }
    peers_table(&view, out)?;
    if let Some(starts) = sentence::starts(run) {
        writeln!(out, "{}.\n", escaped(&starts))?;
    }
    if let Some(looks) = &run.settings.looks {
        writeln!(out, "{}\n", escaped(&looks.words()))?;
    }
    if let Some(table) = thresholds::table(&run.experiment, &run.thresholds) {
        word_tables(vec![table], out)?;
        for text in thresholds::reasons(&run.experiment, &run.thresholds) {
            writeln!(out, "- {}", escaped(&text))?;
        }
    }
    doubts_and_machine(&view, out)
}

/// Tables of words, one below the other.
pub(super) fn word_tables(tables: Vec<encryption::Table>, out: &mut dyn Write) -> io::Result<()> {
    for table in tables {
        let texts = |row: &[String]| row.iter().map(|text| escaped(text)).collect::<Vec<_>>().join(" | ");
        writeln!(out, "{}\n\n| {} |", escaped(&table.title), texts(&table.head))?;
        writeln!(out, "|---|{}", "--:|".repeat(table.head.len().saturating_sub(1)))?;
        for row in &table.rows {
            writeln!(out, "| {} |", texts(row))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// One row a cell, and a sentence for each variant.
fn cells(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let run = view.run;
    let experiment = &run.experiment;
    let noun = sentence::unit_noun(experiment);
    let piece = sentence::piece(experiment);
    let factor = if experiment.factor_unit.is_empty() { &experiment.factor } else { &experiment.factor_unit };
    writeln!(
        out,
        "| variant | {} | requests/s | {noun} ms | p50 ms | p95 ms | p99 ms | CPU us/{piece} | kB/{noun} | errors | toll: time | toll: CPU | toll: bytes |",
        escaped(factor)
    )?;
    writeln!(out, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|:--|:--|:--|")?;
    for row in &view.rows {
        writeln!(out, "{}", line(row))?;
    }
    writeln!(out)?;
    for variant in &experiment.variants {
        if let Some(text) = sentence::headline(run, &variant.name, "×") {
            writeln!(out, "- {}", escaped(&text))?;
        }
    }
    Ok(())
}

/// Of a run of inserts: a row for each way, a column for each number of records.
fn wide_tables(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut is_short = false;
    let kinds: [(&str, inserts::Figure, &[Whose]); 2] = [
        ("ms per record", inserts::ms_per_record, &[Whose::Ours, Whose::Theirs]),
        ("subject's CPU, us per record", inserts::cpu_us_per_record, &[Whose::Ours]),
    ];
    for (what, figure, whose) in kinds {
        for wide in inserts::tables(view, figure, whose) {
            is_short |= wide.rows.iter().any(inserts::WideRow::is_short_anywhere);
            let levels: String = wide.levels.iter().map(|level| format!(" {} |", number::whole(*level))).collect();
            writeln!(out, "{what}, {}\n", inserts::distance(view.run, wide.distance))?;
            writeln!(out, "| mode | connections | in a request |{levels}")?;
            writeln!(out, "|---|--:|--:|{}", "--:|".repeat(wide.levels.len()))?;
            for row in wide.rows.iter().filter(|row| row.whose == Whose::Ours || !row.is_empty()) {
                let (connections, records) = row.shape();
                let entries: String =
                    row.entries.iter().map(|entry| format!(" {} |", escaped(&entry.text()))).collect();
                writeln!(out, "| {} | {connections} | {records} |{entries}", escaped(&row.label()))?;
            }
            writeln!(out)?;
        }
    }
    if let Some((head, rows)) = inserts::pool::table(view.run) {
        writeln!(out, "{}\n", inserts::pool::TITLE)?;
        writeln!(out, "| {} |", head.join(" | "))?;
        writeln!(out, "|---|{}", "--:|".repeat(head.len() - 1))?;
        for row in rows {
            writeln!(out, "| {} |", row.iter().map(|text| escaped(text)).collect::<Vec<_>>().join(" | "))?;
        }
        writeln!(out)?;
    }
    if is_short {
        writeln!(out, "{}\n", inserts::SHORT)?;
    }
    if inserts::published::is_known(view.run.experiment.published_table.as_deref()) {
        writeln!(out, "published: {}\n", escaped(inserts::published::SOURCE))?;
    }
    Ok(())
}

/// What peers took by what tollgate took, a table for each peer and distance.
fn peers_table(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let run = view.run;
    for group in peers::groups(run) {
        writeln!(out, "{} by tollgate, from the same blocks\n", escaped(peers::title(run, group.peer)))?;
        writeln!(out, "| {} |", peers::HEAD.join(" | "))?;
        writeln!(out, "|---|--:|---|{}---|---|", "--:|".repeat(4))?;
        for found in peers::shown(run, &group, COMPARISONS_MAX) {
            let fields: Vec<String> = peers::row(view, found).iter().map(|text| escaped(text)).collect();
            writeln!(out, "| {} |", fields.join(" | "))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn doubts_and_machine(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let run = view.run;
    for doubt in &view.doubts {
        let found = findings(view, doubt, FINDINGS_MAX).join("; ");
        writeln!(
            out,
            "- \\[{}\\] {} **{}**: {} → {}",
            doubt.number,
            verdict_word(doubt.verdict),
            escaped(doubt.rule),
            escaped(&found),
            escaped(doubt.remedy)
        )?;
    }
    let machine = &run.machine;
    let of_tolls = run.settings.looks.map_or_else(String::new, |looks| format!(", of tolls {}", looks.confidence()));
    writeln!(
        out,
        "\n{} cores {}, {}; {}; {} blocks a level, seed {}; tollgate {}, {}. Intervals are 95 % over blocks{of_tolls}.",
        machine.cores,
        escaped(&machine.cpu),
        escaped(&machine.system),
        escaped(&run.settings.network),
        run.settings.blocks,
        run.seed,
        escaped(&run.version),
        escaped(&run.started)
    )
}

fn line(row: &Row<'_>) -> String {
    let times = view::times(row.cell);
    let marks: String = row.marks.iter().map(|number| format!(" \\[{number}\\]")).collect();
    let toll = |toll: Option<&tollgate_facts::results::Toll>| match toll {
        None if row.is_bottom => "baseline".to_owned(),
        None => number::NOTHING.to_owned(),
        Some(toll) => {
            let mut ratio = sentence::ratio(toll, "×");
            if toll.do_ranks_disagree() {
                ratio.push_str(" (ranks disagree)");
            }
            match toll.verdict {
                TollVerdict::NoToll | TollVerdict::Unclear | TollVerdict::Joint => {
                    format!("{ratio} {}", sentence::verdict(toll.verdict))
                }
                TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::Refused => ratio,
            }
        }
    };
    let fields = [
        format!("{}{marks}", escaped(&row.cell.variant)),
        row.cell.level.to_string(),
        number::three_digits(row.cell.requests_per_second.mean),
        number::three_digits(row.cell.unit_time_ms.mean),
        number::optional(times.p50),
        number::optional(times.p95),
        number::optional(times.p99),
        number::optional(view::cpu(row.cell).map(|cpu| cpu.mean)),
        number::three_digits(row.cell.bytes_per_unit / 1e3),
        number::whole(row.error_count()),
        toll(row.tolls.time),
        toll(row.tolls.cpu),
        toll(row.tolls.bytes),
    ];
    format!("| {} |", fields.join(" | "))
}

/// Text in which no character means anything to Markdown or HTML.
pub(super) fn escaped(text: &str) -> String {
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
