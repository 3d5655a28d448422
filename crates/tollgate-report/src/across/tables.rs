//! Runs side by side as tables and sentences of words, which the terminal, Markdown and the page draw alike.

use tollgate_facts::across::{Across, Beside, RatioOf, RunHead, ValueOf};
use tollgate_facts::results::{Figure, Piece, TollVerdict, Verdict};
use tollgate_facts::stats::{self, ALPHA, Estimate};
use tollgate_facts::toll::FIGURES;
use tollgate_page::blocks::Table;
use tollgate_page::gather::{by_key, first_of};
use tollgate_page::number::{self, NOTHING};
use tollgate_page::text::capitalized;
use tollgate_page::words::sentence;

/// Maximum number of doubts of one kind that are listed; the rest is counted.
const DOUBTS_MAX: usize = 12;
/// Maximum number of cells of only one run that are named; the rest is counted.
const LONE_MAX: usize = 12;

/// The subject of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Figures of cells.
    Figures,
    /// Tolls.
    Tolls,
}

impl What {
    pub(crate) fn rows(self, across: &Across) -> &[Beside] {
        match self {
            What::Figures => &across.cells,
            What::Tolls => &across.tolls,
        }
    }

    /// The compared quantity of a figure, in words.
    pub(crate) fn of(self, across: &Across, figure: Figure) -> String {
        let words = figure_words(across, figure);
        if self == What::Tolls { format!("toll on {words}") } else { words }
    }
}

/// The title of the page.
pub(crate) fn title(across: &Across) -> String {
    format!("{} runs of {} side by side", across.runs.len(), across.experiment.name)
}

/// The runs themselves.
pub(crate) fn runs(across: &Across) -> Table {
    let row = |run: &RunHead| {
        let (name, started, machine) = (run.name.clone(), run.started.clone(), run.machine.clone());
        vec![format!("run {}", run.number), name, run.state.to_string(), started, machine]
    };
    Table::new("", ["run", "name", "state", "started", "machine"]).with(across.runs.iter().map(row))
}

/// The settings in which runs differ; absent where they do not.
pub(crate) fn settings(across: &Across) -> Option<Table> {
    let head = std::iter::once("setting".to_owned()).chain(across.runs.iter().map(|run| format!("run {}", run.number)));
    let rows = across.settings.iter().map(|setting| {
        let values = setting.values.iter().map(|value| number::or_nothing(value.clone()));
        std::iter::once(setting.name.clone()).chain(values).collect::<Vec<_>>()
    });
    Table { is_wordy: true, ..Table::new("What differs", head).with(rows) }.some()
}

/// The ratios of each further run to the first one, in a sentence for each figure.
pub(crate) fn sentences(across: &Across, what: What) -> Vec<String> {
    let mut texts = Vec::new();
    for run in &across.runs[1..] {
        for figure in FIGURES {
            let found: Vec<(&Beside, &RatioOf)> = of_run(across, what, figure, run.number).collect();
            texts.extend(sentence_of(across, what, figure, run.number, &found));
        }
    }
    texts
}

/// The headline: from tolls before figures, and from CPU time before time where the time is joint.
pub(crate) fn answer(across: &Across) -> String {
    let figures = [Figure::MedianAtRate, Figure::UnitTime, Figure::SubjectCpu];
    let all = [What::Tolls, What::Figures].into_iter().flat_map(|what| figures.map(|figure| (what, figure)));
    let said = all.into_iter().find_map(|(what, figure)| {
        let found: Vec<(&Beside, &RatioOf)> = of_run(across, what, figure, 2).collect();
        let plain = found.iter().filter(|(_, ratio)| ratio.verdict.is_plain()).count();
        sentence_of(across, what, figure, 2, &found).filter(|_| plain * 2 > found.len())
    });
    said.unwrap_or_else(|| "Nothing may be said of the runs' ratios: see the doubts.".to_owned())
}

fn sentence_of(across: &Across, what: What, figure: Figure, run: u32, found: &[(&Beside, &RatioOf)]) -> Option<String> {
    let by_verdict = stats::by_key(found.iter().map(|(_, ratio)| (ratio.verdict, ())));
    let count = |(verdict, all): (TollVerdict, Vec<()>)| format!("{} {}", all.len(), verdict_word(verdict));
    let counts: Vec<String> = by_verdict.into_iter().map(count).collect();
    let plain = || found.iter().filter(|(_, ratio)| ratio.verdict.is_plain());
    let named = |(row, found): &(&Beside, &RatioOf)| {
        format!("{} ({})", number::ratio(found.ratio, found.low, found.high), cell(row))
    };
    let least = plain().min_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio));
    let most = plain().max_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio));
    let is_same = |least: &RatioOf, most: &RatioOf| (least.low, least.high) == (most.low, most.high);
    let range = match least.zip(most) {
        Some((least, most)) if found.len() > 1 && is_same(least.1, most.1) => {
            format!("; {}", number::ratio(least.1.ratio, least.1.low, least.1.high))
        }
        Some((least, most)) if std::ptr::eq(least.1, most.1) => format!("; {}", named(least)),
        Some((least, most)) => format!("; from {} to {}", named(least), named(most)),
        None => String::new(),
    };
    let about = what.of(across, figure);
    (!found.is_empty()).then(|| format!("Run {run} by run 1, {about}: {}{range}.", counts.join(", ")))
}

/// The tolls of more than two runs, a table for each figure with a column for each run.
pub(crate) fn tolls_of_all(across: &Across) -> Vec<Table> {
    let of_figure = |figure: &Figure| {
        let row = |row: &Beside| {
            let value = |run: &RunHead| row.values.iter().find(|value| value.run == run.number);
            let values = across.runs.iter().map(|run| value(run).map(|value| value_text(value, What::Tolls)));
            let head = [row.variant.clone(), row.level_title.clone()];
            head.into_iter().chain(values.map(number::or_nothing)).collect::<Vec<String>>()
        };
        let rows: Vec<Vec<String>> = across.tolls.iter().filter(|row| row.figure == *figure).map(row).collect();
        let title = capitalized(&format!("{}: each run by itself", What::Tolls.of(across, *figure)));
        let head = ["variant", "level"].map(str::to_owned).into_iter();
        Table::new(title, head.chain(across.runs.iter().map(|run| run.name.clone()))).with(rows).some()
    };
    if across.runs.len() > 2 { FIGURES.iter().filter_map(of_figure).collect() } else { Vec::new() }
}

/// A table for each figure and each further run.
pub(crate) fn ratio_tables(across: &Across, what: What) -> Vec<Table> {
    let mut tables = Vec::new();
    for figure in FIGURES {
        for run in &across.runs[1..] {
            let row = |(row, ratio): (&Beside, &RatioOf)| {
                let value = |number: u32| row.values.iter().find(|value| value.run == number);
                let text = |number| number::or_nothing(value(number).map(|value| value_text(value, what)));
                let is_shown = ratio.verdict != TollVerdict::Refused;
                let shown = is_shown.then(|| number::ratio(ratio.ratio, ratio.low, ratio.high));
                let (variant, level) = (row.variant.clone(), row.level_title.clone());
                let (shown, verdict) = (number::or_nothing(shown), verdict_word(ratio.verdict));
                vec![variant, level, text(1), text(run.number), shown, verdict]
            };
            let rows: Vec<Vec<String>> = of_run(across, what, figure, run.number).map(row).collect();
            // Bytes are exact: where they are the same, a sentence says it.
            let differs =
                |(_, ratio): (&Beside, &RatioOf)| !matches!(ratio.verdict, TollVerdict::NoToll | TollVerdict::Refused);
            if rows.is_empty() || (figure == Figure::Bytes && !of_run(across, what, figure, run.number).any(differs)) {
                continue;
            }
            let (about, unit) = (what.of(across, figure), figure_unit(across, figure));
            let title = match what {
                What::Figures => format!("{about}, {unit}: run {} by run 1", run.number),
                What::Tolls => format!("{about}: that of run {} by that of run 1", run.number),
            };
            let by = format!("run {} / run 1", run.number);
            let head = ["variant", "level", "run 1", &format!("run {}", run.number), &by, "verdict"];
            tables.push(Table::new(capitalized(&title), head).with(rows));
        }
    }
    tables
}

/// Throughput and response times, which have no interval here.
pub(crate) fn times(across: &Across) -> Option<Table> {
    let numbers: Vec<String> = across.runs.iter().map(|run| run.number.to_string()).collect();
    let order = format!("run {}", numbers.join(" / "));
    let rows = across.times.iter().map(|row| {
        let each = |of: &dyn Fn(&tollgate_facts::across::TimesOf) -> Option<f64>| {
            let texts = across.runs.iter().map(|run| match row.values.iter().find(|value| value.run == run.number) {
                None => NOTHING.to_owned(),
                Some(value) if value.standing == Verdict::Refused => "refused".to_owned(),
                Some(value) => format!("{}{}", number::optional(of(value)), mark(value.standing)),
            });
            texts.collect::<Vec<_>>().join(" / ")
        };
        vec![
            row.variant.clone(),
            row.level_title.clone(),
            each(&|value| Some(value.requests_per_second)),
            each(&|value| value.p50_ms),
            each(&|value| value.p95_ms),
            each(&|value| value.p99_ms),
        ]
    });
    let pieces = sentence::pieces(&across.experiment);
    let shown = match across.experiment.piece {
        Piece::Document | Piece::Unit => format!("times of a {}", sentence::piece(&across.experiment)),
        Piece::Request | Piece::Record => "response times".to_owned(),
    };
    let title = format!("{pieces} per second and {shown} in ms, {order}; without intervals, so no ratio is made");
    let head = ["variant", "level", &format!("{pieces}/s"), "p50", "p95", "p99"];
    Table::new(capitalized(&title), head).with(rows).some()
}

/// Cells that only one run has, in a sentence for each run.
pub(crate) fn lone(across: &Across) -> Vec<String> {
    let of = |run: &RunHead| {
        let own = across.lone.iter().filter(|lone| lone.run == run.number);
        let own: Vec<String> = own.map(|lone| format!("{} at {}", lone.variant, lone.level_title)).collect();
        (!own.is_empty()).then(|| format!("Only run {} has {}.", run.number, first_of(&own, LONE_MAX)))
    };
    across.runs.iter().filter_map(of).collect()
}

/// Doubts about the runs: for each run and rule the number of cells and the first of them; then why a ratio is missing
/// although its figures exist.
pub(crate) fn doubts(across: &Across) -> Vec<String> {
    let mut doubts: Vec<(About, Told<'_>)> = of_values(&across.cells).collect();
    // What a toll has of its cells was told of them.
    let is_new = |(about, _): &(About, Told<'_>)| !doubts.iter().any(|(known, _)| known == about);
    let of_tolls: Vec<_> = of_values(&across.tolls).filter(is_new).collect();
    doubts.extend(of_tolls);
    doubts.sort_by_key(|((runs, _), _)| *runs);
    doubts.extend(across.cells.iter().chain(&across.tolls).flat_map(of_ratios));
    let text = |(((run, by), _), told): (About, Vec<Told<'_>>)| {
        let runs = if run == by { format!("Run {run}") } else { format!("Run {run} by run {by}") };
        let cells = by_key(told.iter().map(|(_, row)| (cell(row), ())));
        let (text, first) = (&told[0].0, &cells[0].0);
        match cells.len() {
            1 => format!("{runs}, {first}: {text}"),
            count => format!("{runs}, {first} and {} more: {text}", count - 1),
        }
    };
    let mut texts: Vec<String> = by_key(doubts).into_iter().map(text).collect();
    let more = texts.len().saturating_sub(DOUBTS_MAX);
    texts.truncate(DOUBTS_MAX);
    if more > 0 {
        texts.push(format!("and {more} more: `tollgate compare … -f json` has them all"));
    }
    texts
}

/// The subject of a doubt reported once for several cells: the run whose figure it concerns (twice), or that run and
/// its divisor; and the rule, or why there is no ratio.
type About = ((u32, u32), String);
/// A doubt with the row that has it.
type Told<'a> = (String, &'a Beside);

/// The doubts about the figures of runs.
fn of_values(rows: &[Beside]) -> impl Iterator<Item = (About, Told<'_>)> {
    let of_value = |(row, value): (_, &'_ ValueOf)| {
        let doubt = |doubt: &String| {
            let rule = doubt.split_once(": ").map_or(doubt.as_str(), |(rule, _)| rule);
            (((value.run, value.run), rule.to_owned()), (doubt.clone(), row))
        };
        value.doubts.iter().map(doubt).collect::<Vec<_>>()
    };
    let values = rows.iter().flat_map(|row| row.values.iter().map(move |value| (row, value)));
    values.filter(|(_, value)| value.standing != Verdict::Ok).flat_map(of_value)
}

/// Reasons for missing ratios of a row whose figures exist.
fn of_ratios(row: &Beside) -> impl Iterator<Item = (About, Told<'_>)> {
    let is_told = |value: &ValueOf| value.standing == Verdict::Refused && !value.doubts.is_empty();
    let of = if row.figure.is_at_rate() { " at equal rate" } else { "" };
    let refused = row.ratios.iter().filter(|ratio| ratio.verdict == TollVerdict::Refused);
    refused.filter_map(move |ratio| {
        let mut both = row.values.iter().filter(|value| value.run == 1 || value.run == ratio.run);
        let note = ratio.note.as_deref().filter(|_| !both.any(is_told))?;
        let text = format!("no ratio{of}: {note}");
        Some((((ratio.run, 1), text.clone()), (text, row)))
    })
}

/// The ratios of one run in one figure, with their rows.
fn of_run(across: &Across, what: What, figure: Figure, run: u32) -> impl Iterator<Item = (&Beside, &RatioOf)> {
    let rows = what.rows(across).iter().filter(move |row| row.figure == figure);
    rows.filter_map(move |row| Some((row, row.ratios.iter().find(|ratio| ratio.run == run)?)))
}

/// A cell in words.
pub(crate) fn cell(row: &Beside) -> String {
    format!("{} at {}", row.variant, row.level_title)
}

pub(crate) fn figure_words(across: &Across, figure: Figure) -> String {
    match figure {
        Figure::UnitTime => format!("time of a {}", sentence::unit_noun(&across.experiment)),
        _ => sentence::figure(&across.experiment, figure),
    }
}

pub(crate) fn figure_unit(across: &Across, figure: Figure) -> String {
    match figure {
        Figure::Bytes => format!("per {}", sentence::unit_noun(&across.experiment)),
        _ => figure.unit().to_owned(),
    }
}

/// A verdict in words that apply to two runs.
pub(crate) fn verdict_word(verdict: TollVerdict) -> String {
    match verdict {
        TollVerdict::NoToll => "no difference".to_owned(),
        _ => verdict.to_string(),
    }
}

/// How to read intervals, ratios and verdicts.
pub(crate) fn reading(across: &Across) -> String {
    let ratios = || across.cells.iter().chain(&across.tolls).flat_map(|row| &row.ratios);
    let percent = |share: f64| (share * 1e4).round() / 1e2;
    let bands = ratios().map(|ratio| percent(ratio.equivalence_share));
    let (least, most) = bands.fold((f64::INFINITY, 0.0_f64), |(least, most), band| (least.min(band), most.max(band)));
    let band = match (least.is_finite(), most > least) {
        (false, _) => String::new(),
        (true, false) => format!("; no difference: all of the interval inside ± {least} %"),
        (true, true) => {
            format!("; no difference: all of the interval inside ± {least} to {most} %, the narrower band of both runs")
        }
    };
    let looked = ratios().map(|ratio| ratio.confidence_share).find(|share| *share > 1.0 - ALPHA);
    let looked = looked.map_or_else(String::new, |share| {
        format!("; where a run looked several times, its tolls and all ratios with it have {:.1} %", share * 100.0)
    });
    let unconfirmed = match ratios().any(|ratio| ratio.verdict == TollVerdict::Unconfirmed) {
        true => format!("; {}", sentence::UNCONFIRMED),
        false => String::new(),
    };
    format!(
        "95 % interval; ratios by Welch on logarithms of block means, verdicts after Holm{band}{unconfirmed}{looked}"
    )
}

/// Whether a mark is shown anywhere.
pub(crate) fn has_marks(across: &Across) -> bool {
    let values = across.cells.iter().chain(&across.tolls).flat_map(|row| &row.values).map(|value| value.standing);
    let times = across.times.iter().flat_map(|row| &row.values).map(|value| value.standing);
    values.chain(times).any(|standing| standing == Verdict::Marked)
}

fn mark(standing: Verdict) -> &'static str {
    if standing == Verdict::Marked { " *" } else { "" }
}

fn value_text(value: &ValueOf, what: What) -> String {
    let mark = mark(value.standing);
    if value.standing == Verdict::Refused {
        return "refused".to_owned();
    }
    match (what, value.interval) {
        (What::Tolls, Some((low, high))) => format!("{}{mark}", number::ratio(value.value, low, high)),
        (What::Figures, Some((low, high))) => {
            let found = Estimate { mean: value.value, low, high, n: 2 };
            format!("{}{mark}", number::with_half(found, number::three_digits))
        }
        (_, None) => format!("{}{mark}", number::three_digits(value.value)),
    }
}
