//! What a run of inserts has on the page beyond other runs: time per record against records, the wide tables with the
//! published rows beneath ours, the fitted costs, and how the accounts were settled.

use super::parts::{Table, by_width, csv_link, escape, figure};
use crate::chart::lines::{self, Axis, Kind, Line, Lines, Note, Point, Standing as Drawn};
use crate::chart::{Caption, Size, Spacing, key_class};
use crate::inserts::{self, Entry, Filling, Standing, Whose, Wide, WideRow, terminal};
use crate::number::{self, NOTHING};
use crate::terminal::one_line;
use crate::view::View;
use std::collections::BTreeSet;
use std::fmt::Write;
use tollgate_facts::results::{Distance, Estimate};

/// Levels that a chart marks on its axis; more would not fit.
const TICKS_MAX: usize = 12;
/// Points of a line of which each has its marker.
const MARKERS_MAX: usize = 16;
/// Lines of one chart: more can neither be told apart nor named.
const LINES_MAX: usize = 16;

pub(super) fn section(view: &View<'_>) -> Option<String> {
    if !inserts::is_shown(view.run) || view.rows.is_empty() {
        return None;
    }
    let wide = inserts::tables(view, inserts::ms_per_record, &[Whose::Ours, Whose::Theirs]);
    let charts: String = wide.iter().flat_map(|wide| subjects(wide).map(|peer| chart(view, wide, peer))).collect();
    let mut html = format!("<section><h2>Time per record</h2><div class=\"pair\">{charts}</div></section>");
    let beside = match wide.iter().any(|wide| wide.rows.iter().any(|row| row.whose == Whose::Theirs)) {
        true => ", beside the published ones",
        false => "",
    };
    let _ = write!(html, "<section><h2>Milliseconds per record{beside}</h2>");
    html.push_str(&words(view));
    for wide in &wide {
        html.push_str(&table(view, wide, "ms per record", "ms-per-record"));
    }
    html.push_str("</section>");
    let cpu = inserts::tables(view, inserts::cpu_us_per_record, &[Whose::Ours]);
    if cpu
        .iter()
        .flat_map(|wide| &wide.rows)
        .flat_map(|row| &row.entries)
        .any(|entry| matches!(entry, Entry::Value { .. }))
    {
        html.push_str("<section><h2>The subject's CPU time per record</h2>");
        for wide in &cpu {
            html.push_str(&table(view, wide, "us per record", "cpu-us-per-record"));
        }
        html.push_str("</section>");
    }
    html.push_str(&fits(view));
    html.push_str(&pool(view));
    Some(html)
}

fn words(view: &View<'_>) -> String {
    let run = view.run;
    let sum = |of: fn(&tollgate_facts::results::Settlement) -> u64| -> u64 {
        run.cells.iter().filter_map(|cell| Some(of(&cell.inserted.as_ref()?.settlement))).sum()
    };
    let mut html = format!(
        "<p>Empty behind the level at which errors begin. {}. After each transfer its rows were counted: {} \
         transfers, of which {} were read back and compared record by record; {} records were lost, {} too many, {} wrong. \
         Timed is what lies between the first byte out and the last byte in; connections were open before.</p>",
        capitalized(inserts::SHORT),
        number::whole(sum(|settlement| settlement.counted)),
        number::whole(sum(|settlement| settlement.compared)),
        number::whole(sum(|settlement| settlement.lost)),
        number::whole(sum(|settlement| settlement.surplus)),
        number::whole(sum(|settlement| settlement.wrong)),
    );
    if inserts::published::is_known(run.experiment.published_table.as_deref()) {
        let _ = write!(
            html,
            "<p>Indented and grey: {}. Another machine, other software, and for remote another network: compare how the \
             figures move from level to level and from mode to mode, not their size.</p>",
            escape(inserts::published::SOURCE)
        );
    }
    html
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// The subjects of a table, tollgate's own first: each has a panel, as a mode has one colour whoever does the work.
fn subjects<'r>(wide: &Wide<'r>) -> impl Iterator<Item = Option<&'r str>> {
    let is_drawn = |row: &&WideRow<'_>| !points(wide, row).is_empty() || onset(row).is_some();
    let drawn = wide.rows.iter().filter(|row| row.whose == Whose::Ours).filter(is_drawn);
    drawn.map(|row| row.variant.peer.as_deref()).collect::<BTreeSet<_>>().into_iter()
}

/// Where errors begin in a row, by its place.
fn onset(row: &WideRow<'_>) -> Option<usize> {
    row.entries.iter().position(|entry| matches!(entry, Entry::Onset(_)))
}

fn chart(view: &View<'_>, wide: &Wide<'_>, peer: Option<&str>) -> String {
    let own: Vec<&WideRow<'_>> =
        wide.rows.iter().filter(|row| row.whose == Whose::Ours && row.variant.peer.as_deref() == peer).collect();
    let ours: Vec<&WideRow<'_>> = own.iter().copied().filter(|row| !points(wide, row).is_empty()).collect();
    let whose = match (peer, subjects(wide).count()) {
        (Some(peer), _) => format!("{peer}, "),
        (None, 1) => String::new(),
        (None, _) => "tollgate, ".to_owned(),
    };
    let title = format!("Milliseconds per record, {whose}{}", inserts::distance(view.run, wide.distance));
    let note = "Both axes logarithmic: a line that falls is a cost shared by more records, a level one is the cost of each. A \
                hollow point has a doubt, or fewer records than the mode's batch or connections. Dotted vertical: where \
                errors begin.";
    let notes: Vec<Note> = own
        .iter()
        .filter_map(|row| Some(Note { x: wide.levels[onset(row)?] as f64, text: format!("{}: errors", row.label()) }))
        .collect();
    let ticks = inserts::chosen(&wide.levels, TICKS_MAX);
    let draw = |id: &str, size| {
        lines::draw(&Lines {
            caption: Caption { id, title: &title, description: note },
            size,
            x: Axis {
                label: "records",
                spacing: Spacing::Logarithmic,
                ticks: ticks
                    .iter()
                    .map(|index| (wide.levels[*index] as f64, number::whole(wide.levels[*index])))
                    .collect(),
            },
            y: Axis { label: "ms per record", spacing: Spacing::Logarithmic, ticks: Vec::new() },
            lines: ours
                .iter()
                .take(LINES_MAX)
                .map(|row| {
                    let points = points(wide, row);
                    let kind = if points.len() > MARKERS_MAX { Kind::Curve } else { Kind::Measured };
                    Line { name: name(row), key: row.key, kind, points }
                })
                .collect(),
            notes: notes.clone(),
        })
    };
    let id = match wide.distance {
        Distance::Local => "per-record-local",
        Distance::Remote => "per-record-remote",
    };
    // A peer's name is anyone's word: its place is enough to tell the panels apart.
    let id = format!("{id}-{}", subjects(wide).position(|subject| subject == peer).unwrap_or(0));
    let (large, narrow) = (format!("{id}-wide"), format!("{id}-narrow"));
    figure(&title, note, &[by_width(draw(&large, Size::Half), draw(&narrow, Size::Narrow))], "")
}

/// The name beside a line: subject and distance stand in the heading.
fn name<'r>(row: &WideRow<'r>) -> &'r str {
    row.variant.inserting.as_ref().map_or(&row.variant.name, |inserting| &inserting.mode)
}

fn points(wide: &Wide<'_>, row: &WideRow<'_>) -> Vec<Point> {
    let point = |(level, entry): (&u64, &Entry<'_>)| match entry {
        Entry::Value { value, standing, filling } if *standing != Standing::Refused => Some(Point {
            x: *level as f64,
            y: value.mean,
            low: value.low,
            high: value.high,
            standing: match (standing, filling) {
                (Standing::Plain, Filling::Whole) => Drawn::Plain,
                _ => Drawn::Hollow,
            },
        }),
        _ => None,
    };
    wide.levels.iter().zip(&row.entries).filter_map(point).collect()
}

fn table(view: &View<'_>, wide: &Wide<'_>, what: &str, file: &str) -> String {
    let distance = inserts::distance(view.run, wide.distance);
    let label = format!("{what}, {distance}");
    let mut html = format!(
        "<h3>{}</h3><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table class=\"cells\"><thead><tr>\
         <th scope=\"col\">mode</th><th scope=\"col\" class=\"n\">connections</th><th scope=\"col\" class=\"n\">in a request</th>",
        escape(&label),
        escape(&label)
    );
    let mut csv = Table::new(["mode", "connections", "records in a request"]);
    for level in &wide.levels {
        let _ = write!(html, "<th scope=\"col\" class=\"n\">{}</th>", number::whole(*level));
        csv.head.push(level.to_string());
    }
    html.push_str("</tr></thead><tbody>");
    for row in wide.rows.iter().filter(|row| row.whose == Whose::Ours || !row.is_empty()) {
        html.push_str(&line(row));
        let (connections, records) = row.shape();
        let mut fields = vec![row.label(), connections, records];
        fields.extend(row.entries.iter().map(|entry| match entry {
            Entry::Value { value, .. } => value.mean.to_string(),
            Entry::Onset(wording) => one_line(wording),
            Entry::Skipped(_) | Entry::Empty => String::new(),
        }));
        csv.push(fields);
    }
    html.push_str("</tbody></table></div>");
    let file = match wide.distance {
        Distance::Local => format!("{file}-local.csv"),
        Distance::Remote => format!("{file}-remote.csv"),
    };
    html.push_str(&csv_link("As CSV", &file, &csv.csv()));
    html
}

fn line(row: &WideRow<'_>) -> String {
    let (connections, records) = row.shape();
    let (class, head) = match row.whose {
        Whose::Ours => (
            "",
            format!("<i class=\"swatch {}\" aria-hidden=\"true\"></i>{}", key_class(row.key), escape(&row.label())),
        ),
        Whose::Theirs => (" class=\"theirs\"", escape(&row.label())),
    };
    let mut html = format!(
        "<tr{class}><th scope=\"row\">{head}</th><td class=\"n\">{connections}</td><td class=\"n\">{records}</td>"
    );
    for (index, entry) in row.entries.iter().enumerate() {
        match entry {
            Entry::Value { standing: Standing::Refused, .. } => html.push_str("<td class=\"n bad\">refused</td>"),
            Entry::Value { value, standing, filling } => {
                let mark = if *standing == Standing::Marked { "<sup>*</sup>" } else { "" };
                let figure = format!("{}{mark}", number::three_digits(value.mean));
                let _ = match filling {
                    Filling::Whole => write!(html, "<td class=\"n\">{figure}</td>"),
                    Filling::Short => write!(html, "<td class=\"n quiet\">({figure})</td>"),
                };
            }
            Entry::Skipped(why) => {
                let _ = write!(html, "<td class=\"n quiet\" title=\"{}\">skipped</td>", escape(why));
            }
            Entry::Empty => html.push_str("<td></td>"),
            Entry::Onset(wording) => {
                let rest = row.entries.len() - index;
                let _ = write!(html, "<td class=\"onset\" colspan=\"{rest}\">{}</td>", escape(&one_line(wording)));
                break;
            }
        }
    }
    html.push_str("</tr>");
    html
}

fn pool(view: &View<'_>) -> String {
    let Some((head, rows)) = inserts::pool::table(view.run) else { return String::new() };
    let table = Table { head, rows };
    let waiting = match inserts::pool::waiting(view.run) {
        Some(text) => format!("<p>{}.</p>", escape(&capitalized(&text))),
        None => "<p>No request was seen waiting.</p>".to_owned(),
    };
    format!(
        "<section><h2>The pool in use</h2>{waiting}{}</section>",
        table.folded(inserts::pool::TITLE, "work-processes.csv")
    )
}

fn fits(view: &View<'_>) -> String {
    let fits = &view.run.fits;
    if fits.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        "variant",
        "fixed, ms",
        "95 %",
        "each record, us",
        "95 %",
        "typically off by",
        "levels",
        "between",
        "cells marked for",
        "doubt",
    ]);
    let ends = |estimate: Estimate, factor: f64| {
        format!("{} to {}", number::three_digits(estimate.low * factor), number::three_digits(estimate.high * factor))
    };
    for fit in fits {
        table.push(vec![
            fit.variant.clone(),
            number::three_digits(fit.fixed_ms.mean),
            ends(fit.fixed_ms, 1.0),
            number::three_digits(fit.per_record_ms.mean * 1e3),
            ends(fit.per_record_ms, 1e3),
            terminal::share(fit.residual_share),
            fit.fixed_ms.n.to_string(),
            format!("{} to {}", number::whole(fit.level_min), number::whole(fit.level_max)),
            if fit.marks.is_empty() { NOTHING.to_owned() } else { fit.marks.join(", ") },
            fit.doubt.clone().unwrap_or_else(|| NOTHING.to_owned()),
        ]);
    }
    format!(
        "<section><h2>Fixed cost and cost of each record</h2><p>T = a + b n, fitted to the times of a transfer over the \
         levels by least squares on relative errors. Levels with fewer records than the mode's batch or connections are left \
         out, and so are refused cells. Where the times lie typically more than 15 % off the line, or the interval of the \
         fixed part holds nothing, the doubt says so.</p>{}</section>",
        table.html("Fixed cost and cost of each record")
    )
}
