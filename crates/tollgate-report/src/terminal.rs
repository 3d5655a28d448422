//! The table, the tolls in sentences and the footnotes, for a terminal or a pipe.
//!
//! It fits the width it is told by leaving out columns, least needed first; it never wraps a row.

use super::distance;
use super::encryption;
use super::inserts;
use super::ladder;
use super::marked::Marked;
use super::mediation::{self, Reasons};
use super::number::{self, NOTHING};
use super::peers;
use super::scenario;
use super::sentence;
use super::staged;
use super::thresholds;
use super::view::{self, Doubt, Row, View, is_plain};
use super::{Colour, RenderOptions, Reporter};
use std::io::{self, Write};
use tollgate_facts::results::{RunResult, Toll, TollVerdict, Validity, Verdict};

pub(super) const REPORTER: Reporter =
    Reporter { name: "terminal", also: &["text", "table"], extension: "txt", about: "table, tolls, footnotes", render };

/// Longest name that is shown whole.
const NAME_MAX: usize = 24;
/// Findings of one rule that are listed before the rest is counted.
const FINDINGS_MAX: usize = 3;
/// Spaces between columns.
const GAP: usize = 2;

fn render(run: &RunResult, out: &mut dyn Write, options: &RenderOptions) -> io::Result<()> {
    let view = View::of(run);
    let paint = Paint { colour: options.colour };
    writeln!(out, "{}", paint.strong(&format!("{}: {}", run.experiment.name, run.experiment.question)))?;
    if let Some(why) = sentence::incompleteness(run) {
        writeln!(out, "{}", paint.bad(&why))?;
    }
    writeln!(out)?;
    if inserts::is_shown(run) && !view.rows.is_empty() {
        inserts::terminal::write(&view, out, options.width)?;
    } else if distance::is_shown(run) && !view.rows.is_empty() {
        for table in distance::tables(&view) {
            words(&table, out, options.width, &paint)?;
        }
        let answer = sentence::answers(run, "x");
        for sentence in answer.iter().chain(&distance::sentences(run)) {
            wrapped(out, "", &one_line(sentence), options.width)?;
        }
        writeln!(out)?;
    } else if encryption::is_shown(run) && !view.rows.is_empty() {
        for sentence in sentence::answers(run, "x") {
            wrapped(out, "", &one_line(&sentence), options.width)?;
        }
        writeln!(out)?;
        for table in encryption::tables(&view, "x") {
            words(&table, out, options.width, &paint)?;
        }
        for text in encryption::legend(&view).into_iter().chain(sentence::starts(run)) {
            wrapped(out, "  ", &text, options.width)?;
        }
        writeln!(out)?;
    } else if ladder::is_shown(run) && !view.rows.is_empty() {
        for sentence in sentence::answers(run, "x") {
            wrapped(out, "", &one_line(&sentence), options.width)?;
        }
        writeln!(out)?;
        for table in ladder::tables(&view) {
            words(&table, out, options.width, &paint)?;
        }
        for text in ladder::legend(run) {
            wrapped(out, "  ", &text, options.width)?;
        }
        writeln!(out)?;
    } else {
        table(&view, out, options.width, &paint)?;
        headlines(run, out, options.width)?;
        if mediation::is_shown(run) && !view.rows.is_empty() {
            for table in mediation::tables(&view, "x", Reasons::Below) {
                words(&table, out, options.width, &paint)?;
            }
            for text in mediation::reasons(run).iter().map(String::as_str).chain([mediation::SHARED]) {
                wrapped(out, "  ", text, options.width)?;
            }
            writeln!(out)?;
        }
        if let Some((table, unit)) = staged::table(&view).zip(staged::unit_of(&view)) {
            marked(&view, &table, out, options.width, &paint)?;
            wrapped(out, "  ", staged::shared(unit), options.width)?;
            writeln!(out)?;
        }
        if let Some(table) = scenario::table(&view) {
            marked(&view, &table, out, options.width, &paint)?;
            wrapped(out, "  ", scenario::SHARED, options.width)?;
            writeln!(out)?;
        }
    }
    peers::write(&view, out, options.width)?;
    if let Some(looks) = &run.settings.looks {
        wrapped(out, "", &looks.words(), options.width)?;
        writeln!(out)?;
    }
    if run.settings.insecure {
        wrapped(out, "", "certificates of the servers were not verified (--insecure)", options.width)?;
        writeln!(out)?;
    }
    footnotes(&view, out, options.width, &paint)?;
    if let Some(table) = thresholds::table(&run.experiment, &run.thresholds) {
        writeln!(out)?;
        words(&table, out, options.width, &paint)?;
        for text in thresholds::reasons(&run.experiment, &run.thresholds) {
            wrapped(out, "  ", &text, options.width)?;
        }
    }
    Ok(())
}

struct Column {
    header: String,
    side: Side,
    /// Left out first when the width is short: the highest. 0 stays always.
    dispensable: u8,
    texts: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

impl Column {
    fn width(&self) -> usize {
        self.texts.iter().map(|text| text.chars().count()).chain([self.header.chars().count()]).max().unwrap_or(0)
    }

    fn pad(&self, text: &str, width: usize) -> String {
        let fill = " ".repeat(width.saturating_sub(text.chars().count()));
        match self.side {
            Side::Left => format!("{text}{fill}"),
            Side::Right => format!("{fill}{text}"),
        }
    }
}

fn table(view: &View<'_>, out: &mut dyn Write, width: usize, paint: &Paint) -> io::Result<()> {
    if view.rows.is_empty() {
        return writeln!(out, "no cell was measured\n");
    }
    let mut columns = columns(view);
    let total =
        |columns: &[Column]| columns.iter().map(Column::width).sum::<usize>() + GAP * columns.len().saturating_sub(1);
    while total(&columns) > width {
        let least = columns.iter().map(|column| column.dispensable).max().unwrap_or(0);
        if least == 0 {
            break;
        }
        columns.retain(|column| column.dispensable != least);
    }
    let widths: Vec<usize> = columns.iter().map(Column::width).collect();
    let gap = " ".repeat(GAP);
    let line = |text: &dyn Fn(&Column) -> String| {
        let parts: Vec<String> =
            columns.iter().zip(&widths).map(|(column, width)| column.pad(&text(column), *width)).collect();
        parts.join(&gap).trim_end().to_owned()
    };
    writeln!(out, "{}", paint.strong(&line(&|column| column.header.clone())))?;
    let mut level = None;
    for (index, row) in view.rows.iter().enumerate() {
        if level.is_some_and(|level| level != row.cell.level) {
            writeln!(out)?;
        }
        level = Some(row.cell.level);
        let text = line(&|column| column.texts[index].clone());
        let text = match (row.is_refused(&view.doubts), row.is_bottom) {
            (true, _) => paint.bad(&text),
            (false, true) => paint.faint(&text),
            (false, false) => text,
        };
        writeln!(out, "{text}")?;
    }
    writeln!(out)?;
    legend(view, out, width)
}

fn columns(view: &View<'_>) -> Vec<Column> {
    let experiment = &view.run.experiment;
    let noun = sentence::unit_noun(experiment);
    let factor = if experiment.factor_unit.is_empty() { &experiment.factor } else { &experiment.factor_unit };
    let column = |header: &str, side, dispensable, text: &dyn Fn(&Row<'_>) -> String| Column {
        header: header.to_owned(),
        side,
        dispensable,
        texts: view.rows.iter().map(text).collect(),
    };
    let times = |row: &Row<'_>| view::times(row.cell);
    let decimals_of =
        |value: &dyn Fn(&Row<'_>) -> Option<f64>| number::column_decimals(view.rows.iter().filter_map(value));
    let cpu = |row: &Row<'_>| view::cpu(row.cell).map(|cpu| cpu.mean);
    let unit_decimals = decimals_of(&|row| Some(row.cell.unit_time_ms.mean));
    let time_decimals = decimals_of(&|row| times(row).p50);
    let cpu_decimals = decimals_of(&cpu);
    let some = |value: Option<f64>, decimals| {
        value.map_or_else(|| NOTHING.to_owned(), |value| number::in_column(value, decimals))
    };
    vec![
        column("variant", Side::Left, 0, &|row| {
            let marks: Vec<String> = row.marks.iter().map(usize::to_string).collect();
            match marks.is_empty() {
                true => shortened(&row.cell.variant),
                false => format!("{} [{}]", shortened(&row.cell.variant), marks.join(",")),
            }
        }),
        column(factor, Side::Right, 0, &|row| row.cell.level.to_string()),
        column("req/s", Side::Right, 4, &|row| number::three_digits(row.cell.requests_per_second.mean)),
        column(&format!("{noun} ms"), Side::Right, 0, &|row| {
            let time = row.cell.unit_time_ms;
            let mean = number::in_column(time.mean, unit_decimals);
            match time.n {
                0 => NOTHING.to_owned(),
                1 => format!("{mean} (n=1)"),
                _ => format!("{mean} ±{}", number::in_column((time.high - time.low) / 2.0, unit_decimals)),
            }
        }),
        column("p50", Side::Right, 1, &|row| some(times(row).p50, time_decimals)),
        column("p95", Side::Right, 5, &|row| some(times(row).p95, time_decimals)),
        column("p99", Side::Right, 3, &|row| some(times(row).p99, time_decimals)),
        column("CPU us", Side::Right, 2, &|row| match view::cpu(row.cell) {
            Some(cpu) if cpu.n > 1 => {
                let half = number::grouped((cpu.high - cpu.low) / 2.0, cpu_decimals + 1);
                format!("{} ±{half}", number::in_column(cpu.mean, cpu_decimals))
            }
            _ => some(cpu(row), cpu_decimals),
        }),
        column(&format!("kB/{noun}"), Side::Right, 6, &|row| number::three_digits(row.cell.bytes_per_unit / 1e3)),
        column("errors", Side::Right, if view.any_errors() { 0 } else { 7 }, &|row| number::whole(row.error_count())),
        column(&format!("toll on {noun} time"), Side::Left, 0, &toll_text),
    ]
}

fn toll_text(row: &Row<'_>) -> String {
    match row.tolls.time {
        None if row.is_bottom => "baseline".to_owned(),
        None => NOTHING.to_owned(),
        Some(toll) => {
            let mut ratio = sentence::ratio(toll, "x");
            if toll.do_ranks_disagree() {
                ratio.push_str(" r");
            }
            match toll.verdict {
                TollVerdict::Joint => match row.tolls.cpu.filter(|toll| is_plain(toll)) {
                    Some(cpu) => format!("CPU {}{} j", sentence::ratio(cpu, "x"), sign(cpu.verdict)),
                    None => "joint".to_owned(),
                },
                verdict => format!("{ratio}{}", sign(verdict)),
            }
        }
    }
}

/// The sign of a verdict that is no plain claim; see the legend.
fn sign(verdict: TollVerdict) -> &'static str {
    match verdict {
        TollVerdict::NoToll => " =",
        TollVerdict::Unclear => " ?",
        TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::Joint | TollVerdict::Refused => "",
    }
}

/// The tolls that a row shows: the one on time, and beside a joint one that on CPU.
fn printed<'r>(row: &Row<'r>) -> impl Iterator<Item = &'r Toll> + use<'r> {
    let is_joint = row.tolls.time.is_some_and(|time| time.verdict == TollVerdict::Joint);
    row.tolls.time.into_iter().chain(row.tolls.cpu.filter(|_| is_joint))
}

/// What the signs in the table mean, of those that occur.
fn legend(view: &View<'_>, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let has = |verdict| view.rows.iter().flat_map(printed).any(|toll| toll.verdict == verdict);
    let mut signs = vec![format!(
        "times in ms, {}, CPU: subject's time for one {}",
        match view.run.settings.looks {
            Some(looks) => format!("±: 95 % interval over blocks, [..]: of {}", looks.confidence()),
            None => "± and [..]: 95 % interval over blocks".to_owned(),
        },
        sentence::piece(&view.run.experiment)
    )];
    if !view.any_errors() {
        signs.push("no request failed".to_owned());
    }
    if has(TollVerdict::NoToll) {
        signs.push(format!("= no toll: the whole interval inside {}", sentence::band(view.run)));
    }
    if has(TollVerdict::Unclear) {
        signs
            .push("? unclear: neither a toll nor its absence could be shown, after Holm for several claims".to_owned());
    }
    if view.rows.iter().filter_map(|row| row.tolls.time).any(Toll::do_ranks_disagree) {
        signs.push(
            "r ranks: a rank test disagrees with Student t on whether there is a toll; take more blocks".to_owned(),
        );
    }
    if has(TollVerdict::Joint) {
        signs.push(
            "j joint: generator and subject were at their limit together, so the time is not the layer's own"
                .to_owned(),
        );
    }
    signs.extend(sentence::starts(view.run));
    signs.extend(sentence::courses(view.run));
    for (why, count) in refusals(view) {
        signs.push(format!("refused in {count} of {} rows: {why}", view.rows.len()));
    }
    for sign in signs {
        wrapped(out, "  ", &sign, width)?;
    }
    writeln!(out)
}

/// Why tolls were refused, of cells that carry no mark which says so already.
fn refusals<'r>(view: &View<'r>) -> Vec<(&'r str, usize)> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for row in view.rows.iter().filter(|row| row.marks.is_empty()) {
        let Some(why) = row.tolls.time.filter(|toll| !toll.is_shown()).and_then(|toll| toll.note.as_deref()) else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    reasons
}

fn headlines(run: &RunResult, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let mut any = false;
    for variant in &run.experiment.variants {
        if let Some(text) = sentence::headline(run, &variant.name, "x") {
            wrapped(out, "", &text, width)?;
            any = true;
        }
    }
    if any { writeln!(out) } else { Ok(()) }
}

fn footnotes(view: &View<'_>, out: &mut dyn Write, width: usize, paint: &Paint) -> io::Result<()> {
    for doubt in &view.doubts {
        let label = format!("[{}] {} {}", doubt.number, verdict_word(doubt.verdict), doubt.rule);
        let label = if doubt.verdict == Verdict::Refused { paint.bad(&label) } else { paint.warning(&label) };
        writeln!(out, "{label}")?;
        for finding in findings(view, doubt, FINDINGS_MAX) {
            wrapped(out, "    ", &finding, width)?;
        }
        wrapped(out, "    ", &format!("→ {}", doubt.remedy), width)?;
    }
    for failure in view.failures() {
        let text = format!(
            "{}: {} x {}, the first at {}: {}",
            failure.variant,
            number::whole(failure.count),
            failure.class,
            sentence::level(&view.run.experiment, failure.level),
            failure.example
        );
        wrapped(out, "", &text, width)?;
    }
    Ok(())
}

/// A table of words; a width that does not do leaves out columns from the right.
pub(super) fn words(table: &encryption::Table, out: &mut dyn Write, width: usize, paint: &Paint) -> io::Result<()> {
    words_told_apart(table, out, width, paint, &|_| false)
}

/// The same of cells, with the numbers of their doubts; what must not be read is told apart.
fn marked(view: &View<'_>, table: &Marked, out: &mut dyn Write, width: usize, paint: &Paint) -> io::Result<()> {
    words_told_apart(&table.numbered(view), out, width, paint, &|place| table.is_refused(view, place))
}

fn words_told_apart(
    table: &encryption::Table,
    out: &mut dyn Write,
    width: usize,
    paint: &Paint,
    is_refused: &dyn Fn(usize) -> bool,
) -> io::Result<()> {
    let texts = |row: &[String]| row.iter().map(|text| one_line(text)).collect::<Vec<_>>();
    let (head, rows) = (texts(&table.head), table.rows.iter().map(|row| texts(row)).collect::<Vec<_>>());
    let count = |text: &String| text.chars().count();
    let widths: Vec<usize> = (0..head.len())
        .map(|column| rows.iter().chain([&head]).filter_map(|row| row.get(column)).map(count).max().unwrap_or(0))
        .collect();
    let mut shown = widths.len();
    while shown > 2 && widths[..shown].iter().sum::<usize>() + GAP * (shown - 1) > width {
        shown -= 1;
    }
    let gap = " ".repeat(GAP);
    let line = |row: &[String]| {
        let pad = |(column, text): (usize, &String)| {
            let fill = " ".repeat(widths[column].saturating_sub(count(text)));
            if column == 0 || is_words(text) { format!("{text}{fill}") } else { format!("{fill}{text}") }
        };
        row.iter().take(shown).enumerate().map(pad).collect::<Vec<_>>().join(&gap).trim_end().to_owned()
    };
    // Not wrapped: that would take the escape sequences for control characters of somebody else.
    writeln!(out, "{}", paint.strong(&one_line(&table.title)))?;
    writeln!(out, "{}", line(&head))?;
    for (place, row) in rows.iter().enumerate() {
        let text = line(row);
        writeln!(out, "{}", if is_refused(place) { paint.bad(&text) } else { text })?;
    }
    writeln!(out)
}

/// Whether a text begins with a letter, and so reads from the left.
fn is_words(text: &str) -> bool {
    text.starts_with(char::is_alphabetic)
}

/// What a rule found, cell by cell; of more than `max` cells their number and the worst.
pub(super) fn findings(view: &View<'_>, doubt: &Doubt<'_>, max: usize) -> Vec<String> {
    let text = |found: &Validity| {
        format!("{} at {}: {}", found.variant, sentence::level(&view.run.experiment, found.level), found.reason)
    };
    if doubt.findings.len() <= max {
        return doubt.findings.iter().map(|found| text(found)).collect();
    }
    let distance = |found: &Validity| (found.value - found.bound).abs();
    let worst = doubt.findings.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)));
    let worst = worst.map(|found| text(found)).unwrap_or_default();
    vec![format!("in {} of {} cells, most with {worst}", doubt.findings.len(), view.rows.len())]
}

/// A verdict of validity as a word.
pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Ok => "ok",
        Verdict::Marked => "marked",
        Verdict::Refused => "refused",
    }
}

/// Text from outside on one line, without control characters: nothing a subject sends may move the cursor.
pub(super) fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn shortened(name: &str) -> String {
    let name = one_line(name);
    if name.chars().count() <= NAME_MAX {
        return name;
    }
    name.chars().take(NAME_MAX - 1).chain(['…']).collect()
}

/// Words in lines of at most `width`, the following ones indented by four more.
pub(super) fn wrapped(out: &mut dyn Write, indent: &str, text: &str, width: usize) -> io::Result<()> {
    let width = width.max(40);
    let mut line = indent.to_owned();
    let mut is_fresh = true;
    for word in one_line(text).split(' ') {
        if !is_fresh && line.chars().count() + 1 + word.chars().count() > width {
            writeln!(out, "{line}")?;
            line = format!("{indent}    ");
            is_fresh = true;
        }
        if !is_fresh {
            line.push(' ');
        }
        line.push_str(word);
        is_fresh = false;
    }
    writeln!(out, "{line}")
}

pub(super) struct Paint {
    pub(super) colour: Colour,
}

impl Paint {
    fn with(&self, code: &str, text: &str) -> String {
        match self.colour {
            Colour::Plain => text.to_owned(),
            Colour::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    pub(super) fn strong(&self, text: &str) -> String {
        self.with("1", text)
    }

    fn faint(&self, text: &str) -> String {
        self.with("2", text)
    }

    fn warning(&self, text: &str) -> String {
        self.with("33", text)
    }

    pub(super) fn bad(&self, text: &str) -> String {
        self.with("31", text)
    }
}
