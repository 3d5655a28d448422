//! Runs side by side as pictures: tolls and figures of all runs as dots, and their lines over the levels.

use super::tables::{self, What};
use tollgate_facts::across::{Across, Beside, RunHead, offered};
use tollgate_facts::results::{Figure as Of, TollVerdict, Verdict};
use tollgate_page::blocks::{Block, Figure, Picture};
use tollgate_page::chart::dots::{self, DotRow, Dots};
use tollgate_page::chart::lines::{self, Axis, Kind, Line, Lines, Point};
use tollgate_page::chart::{Size, Standing};
use tollgate_page::number;
use tollgate_page::text::{capitalized, slug};

/// Maximum number of rows of one picture, and of dots of all runs in them: more would fill a page of their own. The
/// tables show all.
const ROWS_MAX: usize = 24;
const DOTS_MAX: usize = 80;
/// Maximum number of variants with lines over the levels, and of points of all runs in these pictures.
const VARIANTS_MAX: usize = 8;
const POINTS_MAX: usize = 120;
/// Longest name of a run in a picture.
const RUN_CHARACTERS_MAX: usize = 28;

/// The pictures of a section: a dot chart for each figure, and line charts of figures over the levels.
pub(super) fn of(across: &Across, what: What) -> Vec<Block> {
    let figures = [Of::SubjectCpu, Of::UnitTime, Of::MedianAtRate];
    let dots = figures.into_iter().filter_map(|figure| dots_of(across, what, figure)).map(Block::Figure);
    let lines = if what == What::Figures { overlaid(across) } else { Vec::new() };
    dots.chain(lines).collect()
}

/// The rows whose ratios are furthest from 1, in their original order.
fn most_different<'a>(rows: &[&'a Beside], count: usize) -> Vec<&'a Beside> {
    let distance = |row: &Beside| {
        let plain = row.ratios.iter().filter(|found| found.verdict != TollVerdict::Refused);
        plain.map(|found| found.ratio.ln().abs()).fold(-1.0, f64::max)
    };
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_by(|one, other| distance(rows[*other]).total_cmp(&distance(rows[*one])));
    places.truncate(count);
    places.sort_unstable();
    places.into_iter().map(|place| rows[place]).collect()
}

/// One figure of all runs, row by row.
fn dots_of(across: &Across, what: What, of: Of) -> Option<Figure> {
    let rows: Vec<&Beside> = what.rows(across).iter().filter(|row| row.figure == of).collect();
    let shown = most_different(&rows, ROWS_MAX.min(DOTS_MAX / across.runs.len().max(1)));
    if !shown.iter().any(|row| across.runs.iter().any(|run| point(row, run.number).is_some())) {
        return None;
    }
    let heading = capitalized(&what.of(across, of));
    let (unit, one, label) = match what {
        What::Tolls => ("×", Some(1.0), "times the baseline of the same run".to_owned()),
        What::Figures => ("", None, format!("{}, logarithmic", tables::figure_unit(across, of))),
    };
    let cut = match rows.len() - shown.len() {
        0 => String::new(),
        cut => format!(" These rows differ most; {cut} further ones stand in the tables alone."),
    };
    // A picture invites to compare what the tables refuse to.
    let apart = match shown.iter().any(|row| offered::is_apart(&row.values)) {
        true => " The runs were not offered the same rate: read each by itself.",
        false => "",
    };
    let note = format!("One colour a run, with its own interval. Hollow: marked.{apart}{cut}");
    let row = |row: &&Beside| DotRow {
        name: tables::cell(row),
        dots: across.runs.iter().map(|run| point(row, run.number)).collect(),
    };
    let rows = shown.iter().map(row).collect();
    let chart = Dots { label: &label, unit, runs: run_names(across), rows, one };
    let id = slug(&format!("{heading} {what:?}"));
    Some(Figure::new(heading, &note).picture(&id, &note, Size::Full, |size| dots::draw(size, &chart)))
}

/// Time of a unit and CPU time over the levels, a picture for each variant, with the lines of all runs.
fn overlaid(across: &Across) -> Vec<Block> {
    let experiment = &across.experiment;
    if !experiment.named_levels.is_empty() || experiment.levels.len() < 2 {
        return Vec::new();
    }
    let variants = across.variants();
    let shown = (POINTS_MAX / (across.runs.len() * experiment.levels.len())).clamp(1, VARIANTS_MAX).min(variants.len());
    let mut blocks = Vec::new();
    for of in [Of::UnitTime, Of::SubjectCpu] {
        let figures: Vec<Figure> =
            variants[..shown].iter().filter_map(|variant| lines_of(across, variant, of)).collect();
        if !figures.is_empty() {
            blocks.push(Block::Figures(figures));
        }
    }
    if !blocks.is_empty() && shown < variants.len() {
        let (shown, total) = (number::whole(shown as u64), number::whole(variants.len() as u64));
        blocks.push(Block::Legend(vec![format!("Of {total} variants the first {shown} are drawn")]));
    }
    blocks
}

/// A run's point of a row, at its level; absent where the run has no value there, or a refused one.
fn point(row: &Beside, run: u32) -> Option<Point> {
    let value = row.values.iter().find(|value| value.run == run && value.standing != Verdict::Refused)?;
    let (low, high) = value.interval.unwrap_or((value.value, value.value));
    let standing = if value.standing == Verdict::Ok { Standing::Plain } else { Standing::Hollow };
    Some(Point { x: row.level as f64, y: value.value, low, high, standing })
}

fn lines_of(across: &Across, variant: &str, of: Of) -> Option<Figure> {
    let experiment = &across.experiment;
    let rows: Vec<&Beside> = across.cells.iter().filter(|row| row.variant == variant && row.figure == of).collect();
    let line = |run: &RunHead| {
        let points = rows.iter().filter_map(|row| point(row, run.number)).collect();
        Line::new(format!("run {}", run.number), run.number as usize, Kind::Measured, points)
    };
    let lines: Vec<Line> = across.runs.iter().map(line).collect();
    if lines.iter().all(|line| line.points.len() < 2) {
        return None;
    }
    let words = tables::figure_words(across, of);
    let label = format!("{words} {}", tables::figure_unit(across, of));
    let factor = match experiment.factor_unit.as_str() {
        "" => experiment.factor.clone(),
        unit => format!("{} ({unit})", experiment.factor),
    };
    let ticks = experiment.levels.iter().map(|level| (*level as f64, number::whole(*level))).collect();
    let chart = Lines::new(Axis { ticks, ..Axis::logarithmic(factor) }, Axis::logarithmic(label), lines);
    let id = slug(&format!("{words} {variant} over levels"));
    let title = format!("{variant}: {words} over the levels");
    let description = "One line a run, both axes logarithmic.";
    let picture = Picture::drawn(&id, variant, description, Size::Half, |size| lines::draw(size, &chart));
    Some(Figure { pictures: vec![picture], ..Figure::new(title, "") })
}

/// Names of the runs in a picture, with their colours: the first one is not the baseline's grey.
fn run_names(across: &Across) -> Vec<(String, usize)> {
    let short = |name: &str| match name.char_indices().rev().nth(RUN_CHARACTERS_MAX) {
        Some((at, c)) => format!("…{}", &name[at + c.len_utf8()..]),
        None => name.to_owned(),
    };
    let name = |run: &RunHead| format!("run {}: {}", run.number, short(&run.name));
    across.runs.iter().map(|run| (name(run), run.number as usize)).collect()
}
