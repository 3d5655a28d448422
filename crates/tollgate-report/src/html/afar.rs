//! First requests over lines of several lengths on the page: the time of one against how far away the subject was, a picture
//! for each way of encrypting. Where the line ends at no distance is what round trips do not explain.

use super::parts::{Table, by_width, figure};
use crate::chart::lines::{self, Axis, Kind, Line, Lines, Point, Standing};
use crate::chart::{Caption, Size, Spacing};
use crate::marked;
use crate::number;
use crate::view::View;
use tollgate_facts::results::{Estimate, RoundTripCost};
use tollgate_facts::stats::interval;

/// The section; none where the run is about no distance.
pub(super) fn section(view: &View<'_>) -> Option<String> {
    let mut ways: Vec<&str> = view.run.round_trips.iter().map(|cost| cost.way.as_str()).collect();
    ways.dedup();
    let pictures: String = ways.iter().enumerate().map(|(place, way)| times(view, way, place)).collect();
    (!ways.is_empty()).then(|| format!("<section><h2>Against distance</h2>{pictures}</section>"))
}

fn times(view: &View<'_>, way: &str, place: usize) -> String {
    let run = view.run;
    let variants = &run.experiment.variants;
    let costs: Vec<(usize, &RoundTripCost)> = run
        .round_trips
        .iter()
        .filter(|cost| cost.way == way)
        .filter_map(|cost| Some((variants.iter().position(|variant| variant.name == cost.variant)?, cost)))
        .collect();
    let mut levels: Vec<(u64, f64)> = run
        .experiment
        .named_levels
        .iter()
        .filter(|named| named.way_title() == way)
        .filter_map(|named| Some((named.level, run.line_ms(named.level)?)))
        .collect();
    levels.sort_by(|one, other| one.1.total_cmp(&other.1));
    let farthest_ms = levels.last().map_or(0.0, |(_, length_ms)| *length_ms);
    let points = |variant: &str| -> Vec<(f64, Estimate, Standing)> {
        let readable = levels.iter().filter(|(level, _)| !marked::is_refused(run, variant, *level));
        let point = |(level, length_ms): &(u64, f64)| {
            let time = time_of(view, variant, *level)?;
            Some((*length_ms, time, standing(view, variant, *level)))
        };
        readable.filter_map(point).collect()
    };
    let ends = |cost: &RoundTripCost| {
        [0.0, farthest_ms].map(|x| {
            let y = cost.fixed_ms.mean + cost.round_trips.mean * x;
            Point { x, y, low: y, high: y, standing: Standing::Plain }
        })
    };
    let title = format!("Time of a first request against distance: {way}");
    let draw = |id: &str, size| {
        let mut all: Vec<Line<'_>> = Vec::new();
        for (key, cost) in &costs {
            let measured = points(&cost.variant);
            let drawn = measured.iter().map(|(x, Estimate { mean, low, high, .. }, standing)| Point {
                x: *x,
                y: *mean,
                low: *low,
                high: *high,
                standing: *standing,
            });
            all.push(Line { name: &cost.variant, key: *key, kind: Kind::Measured, points: drawn.collect() });
            all.push(Line { name: "", key: *key, kind: Kind::Ideal, points: ends(cost).to_vec() });
        }
        lines::draw(&Lines {
            caption: Caption { id, title: &title, description: "A line for each variant; less is better." },
            size,
            x: Axis { label: "a round trip over the line (ms)", spacing: Spacing::Linear, ticks: Vec::new() },
            y: Axis { label: "ms a request", spacing: Spacing::Linear, ticks: Vec::new() },
            lines: all,
            notes: Vec::new(),
        })
    };
    let mut table = Table::new(["variant", "round trip ms", "ms a request", "95 % low", "95 % high"]);
    for (_, cost) in &costs {
        for (level, length_ms) in &levels {
            let found = view.row(&cost.variant, *level).zip(time_of(view, &cost.variant, *level));
            let Some((row, time)) = found else { continue };
            let times = [time.mean, time.low, time.high].map(number::three_digits).to_vec();
            let length = number::three_digits(*length_ms);
            table.push([row.name(), length].into_iter().chain(view.figures(row, times)).collect());
        }
    }
    let note = "From opening the connection to the last byte, means with 95 % intervals. Dotted: the fitted line, whose slope is the \
                round trips and whose height at no distance is what they do not explain. A hollow point has a doubt; what is refused \
                is not drawn.";
    let (wide, narrow) = (format!("afar-{place}-wide"), format!("afar-{place}-narrow"));
    let pictures = by_width(draw(&wide, Size::Full), draw(&narrow, Size::Narrow));
    figure(&title, note, &[pictures], &table.folded(&title, &format!("time-against-distance-{}.csv", place + 1)))
}

/// The mean response time of the trials that the line was fitted to, with its interval.
fn time_of(view: &View<'_>, variant: &str, level: u64) -> Option<Estimate> {
    let own = view.run.trials.iter().filter(|trial| trial.variant == variant && trial.level == level);
    let times: Vec<f64> =
        own.filter(|trial| trial.errors == 0 && trial.requests > 0).map(|trial| trial.response_time_mean_ms).collect();
    (!times.is_empty()).then(|| interval::estimate(&times))
}

fn standing(view: &View<'_>, variant: &str, level: u64) -> Standing {
    let is_own = |row: &&crate::view::Row<'_>| row.cell.variant == variant && row.cell.level == level;
    match view.rows.iter().find(is_own) {
        Some(row) if row.marks.is_empty() => Standing::Plain,
        _ => Standing::Hollow,
    }
}
