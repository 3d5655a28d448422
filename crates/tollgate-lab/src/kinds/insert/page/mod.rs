//! Records that are inserted: time per record against records, the wide tables with the published rows beneath ours, the
//! fitted costs, and how the accounts were settled.

mod pool;
mod published;
mod wide;

use std::collections::BTreeSet;
use tollgate_facts::results::{Fit, Gap, GapKind, Piece, RunResult, Settlement, Toll, TollVerdict, Variant};
use tollgate_page::blocks::{Block, Depth, Figure, Page, Section, Table};
use tollgate_page::chart::lines::{self, Axis, Kind, Line, Lines, Note, Point};
use tollgate_page::chart::{Size, Standing};
use tollgate_page::number;
use tollgate_page::parts::method::Method;
use tollgate_page::parts::{self, peers, tolls, watched};
use tollgate_page::text::capitalized;
use tollgate_page::words::sentence;
use tollgate_page::words::view::{self, View};
use wide::{Wide, WideCell, WideRow, mode};

/// Most levels that a chart marks on its axis, for space.
const TICKS_MAX: usize = 12;
/// Most points of a line with a marker each.
const MARKERS_MAX: usize = 16;
/// Most lines of one chart: more cannot be distinguished or named.
const LINES_MAX: usize = 16;

/// The method of a run of inserts.
const INSERTS: &str = "A transfer puts its records into an empty table. Timed is what lies between the first byte out and \
    the last byte in: connections were open before, and counting, comparing and deleting the rows afterwards goes past any \
    link and is in no figure. The subject's CPU clock is read when it has come to rest. A survey of one transfer a cell, in \
    no figure, finds where errors begin and how many blocks fit into a cell's time. All variants of a subject share its \
    process.";

/// The page of a run of inserts.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let run = view.run;
    if run.experiment.piece != Piece::Record || view.rows.is_empty() {
        return None;
    }
    let wide = wide::tables(view, wide::ms_per_record);
    let published = |variant: &Variant| {
        let is_wanted = published::is_known(run.experiment.published_table.as_deref());
        let inserting = variant.inserting.as_ref().filter(|_| is_wanted)?;
        published::row(inserting, variant.distance, &run.experiment.levels)
    };
    let charts = wide.iter().flat_map(|wide| subjects(wide).map(|peer| chart(view, wide, peer))).collect();
    let of_time = |wide: &Wide<'_>| Block::Table(wide.table(run, "ms per record", "ms-per-record", published));
    let mut times: Vec<Block> = wide.iter().map(of_time).collect();
    times.push(Block::Legend(legend(view)));
    let cpu = wide::tables(view, wide::cpu_us_per_record);
    let has_value = |row: &WideRow<'_>| row.entries.iter().any(|entry| matches!(entry, WideCell::Value { .. }));
    let of_cpu =
        |wide: &Wide<'_>| Block::Table(wide.table(run, "subject's CPU, µs per record", "cpu-us-per-record", |_| None));
    let cpu = cpu.iter().filter(|wide| wide.rows.iter().any(has_value)).map(of_cpu).collect();
    let sections = vec![
        Some(Section::background("Time per record", vec![Block::Figures(charts)])),
        Some(Section::main("Milliseconds per record", times)),
        Section::main("The subject's CPU time per record", cpu).some(),
        fits(view),
        pool(run),
        own_tolls(view),
        tolls::section(view),
        peers::section(view),
    ];
    let settled = [settled(run, |found| found.counted), settled(run, |found| found.compared)].map(number::whole);
    let checked = format!("{} counted, {} compared record by record", settled[0], settled[1]);
    let method = Method { own: vec![INSERTS], checked: Some(("transfers settled", checked)), ..Method::default() };
    Some(parts::page(view, None, sections, Depth::Background, vec![watched::section(view)], &method))
}

/// The sum of a count in the settlements of all transfers.
fn settled(run: &RunResult, of: fn(&Settlement) -> u64) -> u64 {
    run.cells.iter().filter_map(|cell| Some(of(&cell.inserted.as_ref()?.settlement))).sum()
}

fn legend(view: &View<'_>) -> Vec<String> {
    let run = view.run;
    let whole = |of| number::whole(settled(run, of));
    let mut texts = vec![
        format!("empty behind the level at which errors begin; {}", wide::SHORT),
        format!(
            "after each transfer its rows were counted: {} transfers, of which {} were compared record by record; {} records \
             were lost, {} too many, {} wrong",
            whole(|found| found.counted),
            whole(|found| found.compared),
            whole(|found| found.lost),
            whole(|found| found.surplus),
            whole(|found| found.wrong),
        ),
        "timed is what lies between the first byte out and the last byte in; connections were open before".to_owned(),
    ];
    if view.rows.iter().any(|row| !row.marks.is_empty()) {
        texts.push("* marked: see the doubts below".to_owned());
    }
    let mut unsupported: Vec<&Gap> = run.gaps.iter().filter(|gap| gap.kind == GapKind::Unsupported).collect();
    unsupported.dedup_by_key(|gap| &gap.variant);
    texts.extend(
        unsupported.iter().map(|gap| format!("{}: left out, as the subject refuses it: {}", gap.variant, gap.reason)),
    );
    let is_skipped = run.gaps.iter().any(|gap| gap.kind == GapKind::TooLong);
    if let Some(cell_ms) = run.settings.cell_ms.filter(|_| is_skipped) {
        let cell = number::three_digits(cell_ms / 1e3);
        texts.push(format!("skip: a cell may take {cell} s here, and 4 transfers would take longer"));
    }
    if published::is_known(run.experiment.published_table.as_deref()) {
        texts.push(format!(
            "published: {}. Another machine, other software, and for remote another network: compare how the figures move \
             from level to level and from mode to mode, not their size",
            published::SOURCE
        ));
    }
    texts
}

/// Tolls at the level that represents each variant.
fn own_tolls(view: &View<'_>) -> Option<Section> {
    let run = view.run;
    let row = |variant: &Variant| {
        let level = view::headline_level(run, &variant.name)?;
        let tolls = view::tolls(run, &variant.name, level);
        tolls.each().next()?;
        let of = |toll: Option<&Toll>| number::or_nothing(toll.map(text));
        Some(vec![variant.name.clone(), sentence::level(&run.experiment, level), of(tolls.time), of(tolls.cpu)])
    };
    let table = Table::new("", ["variant", "at", "toll on time", "toll on CPU"]);
    let table = table.with(run.experiment.variants.iter().filter_map(row));
    let heading = "Tolls over the baseline of the same run, subject and distance";
    Some(Section::main(heading, vec![Block::Table(table.some()?)]))
}

fn text(toll: &Toll) -> String {
    match toll.verdict {
        TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::Refused => sentence::ratio(toll),
        // Generator and subject competed for the same cores: the time is not the mode's own.
        TollVerdict::Joint => toll.verdict.to_string(),
        TollVerdict::NoToll | TollVerdict::Unconfirmed | TollVerdict::Unclear => {
            format!("{} {}", sentence::ratio(toll), toll.verdict)
        }
    }
}

/// The subjects of a table, tollgate's own first: each has a panel, as a mode has the same colour for every subject.
fn subjects<'r>(wide: &Wide<'r>) -> impl Iterator<Item = Option<&'r str>> {
    let is_drawn = |row: &&WideRow<'_>| !points(wide, row).is_empty() || onset(row).is_some();
    wide.rows.iter().filter(is_drawn).map(|row| row.variant.peer.as_deref()).collect::<BTreeSet<_>>().into_iter()
}

/// The position in a row at which errors begin.
fn onset(row: &WideRow<'_>) -> Option<usize> {
    row.entries.iter().position(|entry| matches!(entry, WideCell::Onset(_)))
}

fn chart(view: &View<'_>, wide: &Wide<'_>, peer: Option<&str>) -> Figure {
    let own: Vec<&WideRow<'_>> = wide.rows.iter().filter(|row| row.variant.peer.as_deref() == peer).collect();
    let whose = match (peer, subjects(wide).count()) {
        (Some(peer), _) => format!("{peer}, "),
        (None, 1) => String::new(),
        (None, _) => "tollgate, ".to_owned(),
    };
    let title = format!("Milliseconds per record, {whose}{}", wide::distance(view.run, wide.distance));
    let note = "Both axes logarithmic: a line that falls is a cost shared by more records, a level one is the cost of each. A \
                hollow point has a doubt, or fewer records than the mode's batch or connections. Dotted vertical: where \
                errors begin.";
    let notes: Vec<Note> = own
        .iter()
        .filter_map(|row| Some(Note { x: wide.levels[onset(row)?] as f64, text: format!("{}: errors", row.label()) }))
        .collect();
    let every = wide.levels.len().div_ceil(TICKS_MAX).max(1);
    let ticks = wide.levels.iter().rev().step_by(every).rev();
    let ticks = ticks.map(|level| (*level as f64, number::whole(*level))).collect();
    let drawn = own.iter().filter_map(|row| {
        let points = points(wide, row);
        let kind = if points.len() > MARKERS_MAX { Kind::Curve } else { Kind::Measured };
        (!points.is_empty()).then(|| Line::new(mode(row.variant), row.key, kind, points))
    });
    let x = Axis { ticks, ..Axis::logarithmic("records") };
    let drawn = drawn.take(LINES_MAX).collect();
    let chart = Lines { notes, ..Lines::new(x, Axis::logarithmic("ms per record"), drawn) };
    // A peer's name is anyone's word: its place is enough to tell the panels apart.
    let place = subjects(wide).position(|subject| subject == peer).unwrap_or(0);
    let id = format!("per-record-{}-{place}", wide.distance);
    Figure::new(title, note).picture(&id, note, Size::Half, |size| lines::draw(size, &chart))
}

fn points(wide: &Wide<'_>, row: &WideRow<'_>) -> Vec<Point> {
    let point = |(level, entry): (&u64, &WideCell<'_>)| match entry {
        WideCell::Value { value, row, is_short } if !row.is_closed_refused => {
            let standing = if *is_short { Standing::Hollow } else { row.standing() };
            Some(Point::of(*level as f64, *value, standing))
        }
        _ => None,
    };
    wide.levels.iter().zip(&row.entries).filter_map(point).collect()
}

fn pool(run: &RunResult) -> Option<Section> {
    let waiting = pool::waiting(run).unwrap_or_else(|| "no request was seen waiting".to_owned());
    let blocks = vec![Block::Text(format!("{}.", capitalized(&waiting))), Block::Table(pool::table(run)?)];
    Some(Section::main("The pool in use", blocks))
}

fn fits(view: &View<'_>) -> Option<Section> {
    let share = |fit: &Fit| match fit.residual_share * 100.0 {
        percent if percent < 1.0 => "<1 %".to_owned(),
        percent => format!("±{percent:.0} %"),
    };
    let signed = |text: &str, sign: &str, has: bool| if has { format!("{text}{sign}") } else { text.to_owned() };
    let per_record = |fit: &Fit| number::with_interval(fit.per_record_ms, 1e3);
    let table = Table::of(
        "",
        &view.run.fits,
        &[
            ("variant", &|fit| signed(&fit.variant, " *", !fit.marks.is_empty())),
            ("fixed, ms", &|fit| number::with_interval(fit.fixed_ms, 1.0)),
            ("each record, µs", &|fit| signed(&per_record(fit), " ?", fit.doubt.is_some())),
            ("typically off by", &|fit| share(fit)),
            ("levels", &|fit| fit.fixed_ms.n.to_string()),
            ("between", &|fit| [fit.level_min, fit.level_max].map(number::whole).join(" to ")),
            ("cells marked for", &|fit| number::or_nothing((!fit.marks.is_empty()).then(|| fit.marks.join(", ")))),
            ("doubt", &|fit| number::or_nothing(fit.doubt.clone())),
        ],
    );
    let table = table.file("fits.csv").some()?;
    let legend = "T = a + b n, fitted to the times of a transfer over the levels by least squares on relative errors, 95 % over \
                  levels. Levels with fewer records than the mode's batch or connections are left out, and so are refused \
                  cells. Where the times lie typically more than 15 % off the line, or the interval of the fixed part holds \
                  nothing, the doubt says so, and ? stands: read the levels. * some of its cells are marked";
    let blocks = vec![Block::Table(table), Block::Legend(vec![legend.to_owned()])];
    Some(Section::main("Fixed cost and cost of each record", blocks))
}
