//! What a run about mediation has on the page beyond other runs: throughput with the fitted law, response times as bands,
//! payloads and memory side by side, and how subjects became warm.

use super::figures::{SHOWN_MAX, by_variant, distributions, estimates, level_axis, level_label, point};
use super::parts::{Table, by_width, csv_link, escape, figure};
use crate::chart::bands;
use crate::chart::lines::{self, Axis, Kind, Line, Lines, Point, Standing};
use crate::chart::over_time::{self, Filling};
use crate::chart::{Caption, Size, Spacing};
use crate::mediation::{self, Reasons};
use crate::number;
use crate::sentence;
use crate::view::View;
use tollgate_facts::results::{Cell, Scaling};
use tollgate_facts::stats::scalability::Law;

/// Points of a fitted curve.
const CURVE_POINTS: usize = 40;
/// The law is drawn up to so many times the largest measured level.
const BEYOND: f64 = 1.5;
/// Warm-ups that one picture shows.
const WARM_UPS_MAX: usize = 12;

/// The pictures over the users.
pub(super) fn charts(view: &View<'_>) -> Option<String> {
    if !mediation::is_shown(view.run) || view.rows.is_empty() {
        return None;
    }
    Some(format!(
        "<section><h2>Against {}</h2>{}</section><section><h2>Response times</h2>{}\
         <div class=\"pair\">{}</div></section>",
        escape(&view.run.experiment.factor),
        throughput(view),
        response_times(view),
        distributions(view)
    ))
}

/// The tables, and what stands beside them.
pub(super) fn tables(view: &View<'_>) -> Option<String> {
    if !mediation::is_shown(view.run) || view.rows.is_empty() {
        return None;
    }
    let mut html = String::from("<section><h2>Payloads, memory, scalability</h2>");
    for (place, found) in mediation::tables(view, "×", Reasons::Beside).into_iter().enumerate() {
        let table = Table { head: found.head, rows: found.rows };
        html.push_str(&format!("<h3>{}</h3>{}", escape(&found.title), table.html(&found.title)));
        html.push_str(&csv_link("As CSV", &format!("mediation-{}.csv", place + 1), &table.csv()));
    }
    html.push_str(&format!("<p class=\"key\">{}</p>", escape(mediation::SHARED)));
    html.push_str(&warm_ups(view));
    html.push_str("</section>");
    Some(html)
}

fn throughput(view: &View<'_>) -> String {
    let run = view.run;
    let variants = by_variant(view);
    let title = "Requests per second";
    let identified: Vec<&Scaling> = run.scalings.iter().filter(|scaling| scaling.doubt.is_none()).collect();
    let note = match (identified.is_empty(), run.scalings.is_empty()) {
        (_, true) => "Valid answers only. A hollow point has a doubt, which stands below the table above.".to_owned(),
        (true, false) => {
            "Valid answers only. A hollow point has a doubt. The Universal Scalability Law is not identified for any \
                          variant; the table below says why."
                .to_owned()
        }
        (false, false) => {
            "Valid answers only. A hollow point has a doubt. Dotted: the Universal Scalability Law where it is \
                           identified."
                .to_owned()
        }
    };
    let last = run.experiment.levels.last().copied().unwrap_or(1) as f64;
    let curve = |scaling: &Scaling| -> Option<Vec<Point>> {
        let law = Law {
            lambda: scaling.lambda?.mean,
            alpha: scaling.alpha?.mean,
            beta: scaling.beta?.mean,
            residual_share: 0.0,
        };
        let first = scaling.levels.first().copied().filter(|level| *level > 0)? as f64;
        let step = (last * BEYOND / first).ln() / CURVE_POINTS as f64;
        let at = |index: usize| {
            let x = first * (step * index as f64).exp();
            let y = law.at(x);
            Point { x, y, low: y, high: y, standing: Standing::Plain }
        };
        Some((0..=CURVE_POINTS).map(at).collect())
    };
    let draw = |id, size| {
        let measured = variants.iter().take(SHOWN_MAX).map(|(key, name, cells)| Line {
            name,
            key: *key,
            kind: Kind::Measured,
            points: cells.iter().map(|cell| point(view, cell, cell.requests_per_second)).collect(),
        });
        let laws = identified
            .iter()
            .take(SHOWN_MAX)
            .filter_map(|scaling| Some(Line { name: "", key: 0, kind: Kind::Ideal, points: curve(scaling)? }));
        lines::draw(&Lines {
            caption: Caption {
                id,
                title,
                description: "Lines over the users, doublings equally far apart; more is better.",
            },
            size,
            x: level_axis(view, &level_label(view)),
            y: Axis { label: "requests/s", spacing: Spacing::Linear, ticks: Vec::new() },
            lines: measured.chain(laws).collect(),
            notes: Vec::new(),
        })
    };
    let table = estimates(view, &variants, "requests/s", |cell| cell.requests_per_second);
    figure(
        title,
        &note,
        &[by_width(draw("throughput-wide", Size::Full), draw("throughput-narrow", Size::Narrow))],
        &table.folded(title, "requests-per-second.csv"),
    )
}

fn response_times(view: &View<'_>) -> String {
    let levels: Vec<(f64, String)> =
        view.run.experiment.levels.iter().map(|level| (*level as f64, number::whole(*level))).collect();
    let band = |cell: &&Cell| Some((cell.level as f64, cell.response_time_ms.p50?, cell.response_time_ms.p99?));
    let variants = by_variant(view);
    let panels: Vec<bands::Panel<'_>> = variants
        .iter()
        .take(SHOWN_MAX)
        .map(|(key, name, cells)| bands::Panel { name, key: *key, points: cells.iter().filter_map(band).collect() })
        .collect();
    let title = "Response times over users";
    let note = "The line is the median, the band ends at the 99th percentile. All users wait for their answers: who is slower is \
                asked less.";
    let draw = |id: &str, size| {
        let description = "One panel a variant on common scales, both axes logarithmic.";
        bands::draw(&Caption { id, title, description }, size, "ms", &levels, &panels)
    };
    let mut table = Table::new(["variant", "level", "p50 ms", "p99 ms"]);
    for (_, name, cells) in &variants {
        for cell in cells {
            let at = cell.response_time_ms;
            let level = sentence::level(&view.run.experiment, cell.level);
            table.push(vec![(*name).to_owned(), level, number::optional(at.p50), number::optional(at.p99)]);
        }
    }
    figure(
        title,
        note,
        &[by_width(draw("bands-wide", Size::Full), draw("bands-narrow", Size::Narrow))],
        &table.folded(title, "response-times-over-users.csv"),
    )
}

/// How peers became warm: what compiles its code while it runs shows here.
fn warm_ups(view: &View<'_>) -> String {
    let run = view.run;
    let key = |name: &str| run.experiment.variants.iter().position(|variant| variant.name == name).unwrap_or(0);
    let is_peers = |name: &str| run.experiment.variants.iter().any(|known| known.name == name && known.peer.is_some());
    let shown: Vec<_> = run.warm_ups.iter().filter(|found| found.start == 0 && is_peers(&found.variant)).collect();
    if shown.is_empty() {
        return String::new();
    }
    let panels: Vec<over_time::Panel<'_>> = shown
        .iter()
        .take(WARM_UPS_MAX)
        .map(|found| over_time::Panel {
            name: &found.variant,
            key: key(&found.variant),
            points: over_time::sampled(&found.points, shown.len().min(WARM_UPS_MAX)),
            above: Vec::new(),
            average: Vec::new(),
        })
        .collect();
    let title = "Warm-up of the peers";
    let note = "Requests per second before anything counted, by each variant in turn. What was warmed up by one variant is partly \
                warm for the next.";
    let draw = |id: &str, size| {
        let caption = Caption { id, title, description: note };
        over_time::draw(&caption, size, "requests/s", Filling::Line, &panels)
    };
    let mut table = Table::new(["variant", "start", "users", "seconds", "requests/s", "steady in the end"]);
    for found in &shown {
        for (at, rate) in &found.points {
            table.push(vec![
                found.variant.clone(),
                found.start.to_string(),
                number::whole(found.level),
                number::three_digits(*at),
                number::three_digits(*rate),
                if found.is_steady { "yes" } else { "no" }.to_owned(),
            ]);
        }
    }
    figure(
        title,
        note,
        &[by_width(draw("warm-up-wide", Size::Full), draw("warm-up-narrow", Size::Narrow))],
        &table.folded(title, "warm-up.csv"),
    )
}
