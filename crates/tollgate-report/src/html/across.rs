//! Runs side by side as a page of its own: who they are, what differs, the tolls and the figures of all runs in one
//! picture each, and every ratio with its interval.
//!
//! It needs no network, no script and no other file.

use super::STYLE;
use super::parts::{Table, by_width, escape, figure, unbroken};
use crate::RenderOptions;
use crate::across::{self as texts, What};
use crate::chart::dots::{self, Dot, Dots, One, Row};
use crate::chart::lines::{self, Axis, Kind, Line, Lines, Point, Standing};
use crate::chart::{Caption, Size, Spacing};
use crate::encryption;
use crate::number;
use crate::thresholds;
use std::io::{self, Write};
use tollgate_facts::across::{Across, Beside, CANCELS, UNPAIRED, ValueOf, offered};
use tollgate_facts::results::{Figure, TollVerdict, Verdict};

/// Rows of one picture, and dots of all runs in them: more are a page of their own. The tables have all.
const ROWS_MAX: usize = 24;
const DOTS_MAX: usize = 96;
/// Variants whose lines are drawn over the levels, and points of all runs in these pictures.
const VARIANTS_MAX: usize = 8;
const POINTS_MAX: usize = 120;
/// Rows and values of response times.
const TIMES_ROWS_MAX: usize = 200;
const TIMES_MAX: usize = 400;
/// Rows of all tables of one section that are written a second time, as CSV.
const CSV_ROWS_MAX: usize = 100;
/// Rows of all tables of one section on the page.
const TABLE_ROWS_MAX: usize = 400;
/// Rows of a table that stand on the page unfolded.
const ROWS_OPEN_MAX: usize = 12;
/// Longest name of a run in a picture.
const RUN_CHARACTERS_MAX: usize = 28;

pub(crate) fn render(across: &Across, out: &mut dyn Write, _: &RenderOptions) -> io::Result<()> {
    let title = texts::title(across);
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        escape(&title)
    )?;
    let sections = [
        Some(head(across, &title)),
        Some(who(across)),
        thresholds_section(across),
        section(across, What::Tolls),
        section(across, What::Figures),
        times(across),
        doubts(across),
    ];
    for section in sections.into_iter().flatten() {
        writeln!(out, "{section}")?;
    }
    writeln!(out, "</main>\n</body>\n</html>")
}

fn head(across: &Across, title: &str) -> String {
    let banners: String = across
        .runs
        .iter()
        .filter_map(texts::incompleteness)
        .map(|why| format!("<p class=\"banner\" role=\"note\">{}.</p>", escape(&why)))
        .collect();
    format!(
        "<header><p class=\"eyebrow\">tollgate <span>{}</span></p><h1>{}</h1><p class=\"answer\">{}</p>{banners}\
         <p class=\"meta\">{} · [..] and ±: {}; * is marked</p></header>",
        escape(&across.experiment.name),
        escape(title),
        unbroken(&texts::answer(across, "×")),
        escape(&across.experiment.question),
        escape(&texts::reading(across)),
    )
}

fn who(across: &Across) -> String {
    let settings = match texts::settings(across) {
        Some(settings) => format!(
            "<h3>{}</h3><div class=\"settings\">{}</div>",
            escape(&settings.title),
            plain(settings, "What differs")
        ),
        None => "<p class=\"key\">They differ in nothing that is stored.</p>".to_owned(),
    };
    format!("<section><h2>The runs</h2>{}{settings}</section>", plain(texts::runs(across), "The runs"))
}

fn thresholds_section(across: &Across) -> Option<String> {
    section_of_thresholds(&across.experiment, &across.thresholds)
}

/// Thresholds with what decided, on the page of a run, too.
pub(super) fn section_of_thresholds(
    experiment: &tollgate_facts::results::Experiment,
    results: &[tollgate_facts::results::ThresholdResult],
) -> Option<String> {
    let table = thresholds::table(experiment, results)?;
    let reasons: String =
        thresholds::reasons(experiment, results).iter().map(|text| format!("<li>{}</li>", escape(text))).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!("<ul class=\"failures\">{reasons}</ul>") };
    let answer = thresholds::answer(results).unwrap_or_default();
    Some(format!(
        "<section><h2>Thresholds</h2><p>{}</p>{}{reasons}<p class=\"key\">The end of the interval that is nearer to the \
         bound decides. Not shown: the bound is inside the interval, or there is no figure that may be read.</p></section>",
        escape(&answer),
        plain(table, "Thresholds")
    ))
}

fn section(across: &Across, what: What) -> Option<String> {
    if what.rows(across).is_empty() {
        return None;
    }
    let (heading, label) = match what {
        What::Tolls => ("Tolls of each run", CANCELS),
        What::Figures => ("Figures of each run", UNPAIRED),
    };
    let sentences: String =
        texts::sentences(across, what, "×").iter().map(|text| format!("<li>{}</li>", unbroken(text))).collect();
    let figures = [Figure::SubjectCpu, Figure::UnitTime, Figure::MedianAtRate];
    let pictures: String = figures.into_iter().filter_map(|figure| dots_of(across, what, figure)).collect();
    let over_levels = if what == What::Figures { overlaid(across) } else { String::new() };
    let tables = tables(across, what);
    Some(format!(
        "<section><h2>{heading}</h2><ul class=\"failures\">{sentences}</ul><p class=\"key\">{}.</p>{pictures}{over_levels}{tables}</section>",
        escape(&capital(label))
    ))
}

/// Every ratio; of very many those at one level.
fn tables(across: &Across, what: What) -> String {
    let mut all = texts::ratio_tables(across, what, "×");
    let count = |all: &[encryption::Table]| all.iter().map(|table| table.rows.len()).sum::<usize>();
    let total = count(&all);
    let last = what.rows(across).last().map(|row| row.level_title.clone());
    if let Some(last) = last.filter(|_| total > TABLE_ROWS_MAX) {
        all.iter_mut().for_each(|table| table.rows.retain(|row| row.get(1) == Some(&last)));
    }
    while count(&all) > TABLE_ROWS_MAX {
        all.pop();
    }
    let shown = count(&all);
    let html = |table: encryption::Table| {
        let (title, file) = (table.title.clone(), format!("{}.csv", slug(&table.title)));
        let is_open = table.rows.len() <= ROWS_OPEN_MAX;
        let table = Table { head: table.head, rows: table.rows };
        match is_open {
            true => format!("<h3>{}</h3>{}", escape(&title), table.html(&title)),
            false => folded(&table, &title, &file, shown),
        }
    };
    let cut = cut("ratios", shown, total);
    all.into_iter().filter(|table| !table.rows.is_empty()).map(html).collect::<String>() + &cut
}

/// A table folded away; as CSV, too, where its section has few rows.
fn folded(table: &Table, title: &str, file: &str, rows_of_section: usize) -> String {
    match rows_of_section > CSV_ROWS_MAX {
        true => table.folded_alone(title),
        false => table.folded(title, file),
    }
}

/// What stands elsewhere alone; nothing where all is shown.
fn cut(what: &str, shown: usize, total: usize) -> String {
    if shown == total {
        return String::new();
    }
    format!(
        "<p class=\"key\">Of {} {what} {} stand here; <code>tollgate compare … -f markdown</code> writes them all.</p>",
        number::whole(total as u64),
        number::whole(shown as u64)
    )
}

/// The rows whose ratios are furthest from 1, in the order in which they stand.
fn most_different<'a>(rows: &[&'a Beside], count: usize) -> Vec<&'a Beside> {
    let distance = |row: &Beside| {
        let plain = row.ratios.iter().filter(|found| found.verdict != TollVerdict::Refused);
        plain.map(|found| found.ratio.ln().abs()).fold(-1.0, f64::max)
    };
    let mut places: Vec<(usize, f64)> = rows.iter().map(|row| distance(row)).enumerate().collect();
    places.sort_by(|one, other| other.1.total_cmp(&one.1));
    places.truncate(count);
    places.sort_by_key(|(place, _)| *place);
    places.into_iter().map(|(place, _)| rows[place]).collect()
}

/// One figure of all runs, row by row.
fn dots_of(across: &Across, what: What, of: Figure) -> Option<String> {
    let rows: Vec<&Beside> = what.rows(across).iter().filter(|row| row.figure == of).collect();
    let shown = most_different(&rows, ROWS_MAX.min(DOTS_MAX / across.runs.len().max(1)));
    let standing = |value: &ValueOf| if value.standing == Verdict::Ok { Standing::Plain } else { Standing::Hollow };
    let dot = |row: &Beside, run: u32| {
        let value = row.values.iter().find(|value| value.run == run && value.standing != Verdict::Refused)?;
        let (low, high) = value.interval.unwrap_or((value.value, value.value));
        Some(Dot { value: value.value, low, high, standing: standing(value) })
    };
    if !shown.iter().any(|row| across.runs.iter().any(|run| dot(row, run.number).is_some())) {
        return None;
    }
    let words = texts::figure_words(across, of);
    let (heading, unit, one, label) = match what {
        What::Tolls => (format!("Toll on {words}"), "×", One::Shown, "times the baseline of the same run".to_owned()),
        What::Figures => {
            let unit = texts::figure_unit(across, of);
            (capital(&words), "", One::Absent, format!("{unit}, logarithmic"))
        }
    };
    let cut = rows.len() - shown.len();
    let cut = match cut {
        0 => String::new(),
        _ => format!(" These rows differ most; {cut} further ones stand in the tables alone."),
    };
    // A picture invites to compare what the tables refuse to.
    let apart = match shown.iter().any(|row| offered::is_apart(&row.values)) {
        true => " The runs were not offered the same rate: read each by itself.",
        false => "",
    };
    let note = format!("One colour a run, with its own interval. Hollow: marked.{apart}{cut}");
    let draw = |id: &str, size| {
        dots::draw(&Dots {
            caption: Caption { id, title: &heading, description: &note },
            size,
            label: &label,
            unit,
            runs: run_names(across),
            rows: shown
                .iter()
                .map(|row| Row {
                    name: texts::cell(row),
                    dots: across.runs.iter().map(|run| dot(row, run.number)).collect(),
                })
                .collect(),
            one,
        })
    };
    let id = slug(&format!("{heading} {what:?}"));
    let pictures = by_width(draw(&format!("{id}-wide"), Size::Full), draw(&format!("{id}-narrow"), Size::Narrow));
    Some(figure(&heading, &note, &[pictures], ""))
}

/// Time of a unit and CPU time over the levels, a picture for each variant, with the lines of all runs.
fn overlaid(across: &Across) -> String {
    let experiment = &across.experiment;
    if !experiment.named_levels.is_empty() || experiment.levels.len() < 2 {
        return String::new();
    }
    let mut html = String::new();
    let variants = across.variants();
    let shown = (POINTS_MAX / (across.runs.len() * experiment.levels.len())).clamp(1, VARIANTS_MAX).min(variants.len());
    for of in [Figure::UnitTime, Figure::SubjectCpu] {
        let figures: String = variants[..shown].iter().filter_map(|variant| lines_of(across, variant, of)).collect();
        if !figures.is_empty() {
            let heading = format!("{} over the levels", capital(&texts::figure_words(across, of)));
            html.push_str(&format!("<h3>{}</h3><div class=\"pair\">{figures}</div>", escape(&heading)));
        }
    }
    if !html.is_empty() && shown < variants.len() {
        let (shown, total) = (number::whole(shown as u64), number::whole(variants.len() as u64));
        html.push_str(&format!("<p class=\"key\">Of {total} variants the first {shown} are drawn.</p>"));
    }
    html
}

fn lines_of(across: &Across, variant: &str, of: Figure) -> Option<String> {
    let experiment = &across.experiment;
    let rows: Vec<&Beside> = across.cells.iter().filter(|row| row.variant == variant && row.figure == of).collect();
    let point = |row: &&Beside, run: u32| {
        let value = row.values.iter().find(|value| value.run == run && value.standing != Verdict::Refused)?;
        let (low, high) = value.interval.unwrap_or((value.value, value.value));
        let standing = if value.standing == Verdict::Ok { Standing::Plain } else { Standing::Hollow };
        Some(Point { x: row.level as f64, y: value.value, low, high, standing })
    };
    let lines: Vec<(String, usize, Vec<Point>)> = across
        .runs
        .iter()
        .map(|run| {
            let points = rows.iter().filter_map(|row| point(row, run.number)).collect();
            (format!("run {}", run.number), run.number as usize, points)
        })
        .collect();
    if lines.iter().all(|(.., points)| points.len() < 2) {
        return None;
    }
    let label = format!("{} {}", texts::figure_words(across, of), texts::figure_unit(across, of));
    let factor = match experiment.factor_unit.as_str() {
        "" => experiment.factor.clone(),
        unit => format!("{} ({unit})", experiment.factor),
    };
    let draw = |id: &str, size| {
        lines::draw(&Lines {
            caption: Caption { id, title: variant, description: "One line a run, both axes logarithmic." },
            size,
            x: Axis {
                label: &factor,
                spacing: Spacing::Logarithmic,
                ticks: experiment.levels.iter().map(|level| (*level as f64, number::whole(*level))).collect(),
            },
            y: Axis { label: &label, spacing: Spacing::Logarithmic, ticks: Vec::new() },
            lines: lines
                .iter()
                .map(|(name, key, points)| Line { name, key: *key, kind: Kind::Measured, points: points.clone() })
                .collect(),
            notes: Vec::new(),
        })
    };
    let id = slug(&format!("{} {variant} over levels", texts::figure_words(across, of)));
    let pictures = by_width(draw(&format!("{id}-wide"), Size::Half), draw(&format!("{id}-narrow"), Size::Narrow));
    Some(figure(variant, "", &[pictures], ""))
}

fn times(across: &Across) -> Option<String> {
    let times = texts::times(across)?;
    let title = times.title.clone();
    let mut table = Table { head: times.head, rows: times.rows };
    let total = table.rows.len();
    table.rows.truncate(TIMES_ROWS_MAX.min(TIMES_MAX / across.runs.len().max(1)));
    let rows = table.rows.len();
    let shown = match rows <= ROWS_OPEN_MAX {
        true => table.html(&title),
        false => folded(&table, &title, "response-times.csv", rows),
    } + &cut("cells", rows, total);
    Some(format!(
        "<section><h2>Throughput and response times</h2><p class=\"key\">{}.</p>{shown}</section>",
        escape(&title)
    ))
}

fn doubts(across: &Across) -> Option<String> {
    let texts: Vec<String> = texts::lone(across).into_iter().chain(texts::doubts(across)).collect();
    let items: String = texts.iter().map(|text| format!("<li>{}</li>", escape(text))).collect();
    (!texts.is_empty())
        .then(|| format!("<section><h2>What else must be known</h2><ul class=\"failures\">{items}</ul></section>"))
}

/// Names of the runs in a picture, with their colours: the first one is not that of a baseline's grey.
fn run_names(across: &Across) -> Vec<(String, usize)> {
    let short = |name: &str| match name.char_indices().rev().nth(RUN_CHARACTERS_MAX) {
        Some((at, c)) => format!("…{}", &name[at + c.len_utf8()..]),
        None => name.to_owned(),
    };
    let name = |run: &tollgate_facts::across::RunHead| format!("run {}: {}", run.number, short(&run.name));
    across.runs.iter().map(|run| (name(run), run.number as usize)).collect()
}

fn plain(table: encryption::Table, label: &str) -> String {
    Table { head: table.head, rows: table.rows }.html(label)
}

fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for c in text.to_lowercase().chars() {
        match c {
            c if c.is_ascii_alphanumeric() => slug.push(c),
            _ if !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    slug.trim_matches('-').to_owned()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
