//! What a run about limits has on the page beyond other runs: the time of a pass over work processes with the ideal, which
//! limit binds, and what work processes and connections did over time in each cell.

use super::figures::{SHOWN_MAX, throughput, unit_time};
use super::parts::{Table, by_width, csv_link, escape, figure};
use crate::chart::over_time::{self, Filling, Panel};
use crate::chart::{Caption, Size};
use crate::ladder;
use crate::view::View;
use tollgate_facts::results::{Binding, Cell, Occupancy};

/// What every picture of a gateway over time shows.
const NOTE: &str = "Filled: work processes that are busy. Thin: requests that wait for one. Thick: connections that are open. The \
                    beginning of each pass is its list, which one user gets alone.";

pub(super) fn section(view: &View<'_>) -> Option<String> {
    let run = view.run;
    if !ladder::is_shown(run) || view.rows.is_empty() {
        return None;
    }
    let pictures = format!("{}{}", unit_time(view), throughput(view));
    let mut html = format!("<section><h2>The ladder</h2><div class=\"pair\">{pictures}</div>");
    for (place, found) in ladder::tables(view).into_iter().enumerate() {
        let table = Table { head: found.head, rows: found.rows };
        html.push_str(&format!("<h3>{}</h3>{}", escape(&found.title), table.html(&found.title)));
        html.push_str(&csv_link("As CSV", &format!("ladder-{}.csv", place + 1), &table.csv()));
    }
    for text in ladder::legend(run) {
        html.push_str(&format!("<p class=\"key\">{}.</p>", escape(&text)));
    }
    html.push_str("</section><section><h2>What the gateways did</h2>");
    html.push_str(
        "<p class=\"key\">Seconds in which the gateway itself was walked; the turns of the others are cut out.</p>",
    );
    let variants = run.experiment.variants.iter().enumerate().take(SHOWN_MAX);
    for (key, variant) in variants {
        let cells = ladder::looked_at(run, &variant.name);
        if !cells.is_empty() {
            html.push_str(&occupancy(view, key, &variant.name, &cells));
        }
    }
    html.push_str("</section>");
    Some(html)
}

/// A panel for each number of work processes.
fn occupancy(view: &View<'_>, key: usize, variant: &str, cells: &[(&Cell, &Occupancy)]) -> String {
    let names: Vec<String> =
        cells.iter().map(|(cell, seen)| format!("{}: {}", cell.level, bound(view, cell, seen))).collect();
    let points = |name: &str, level: u64| -> Vec<(f64, f64)> {
        let mut own = view.run.series.iter().filter(|series| series.variant == variant && series.level == level);
        let Some(series) = own.find(|series| series.name == name) else { return Vec::new() };
        let trials = view.run.trials.iter().filter(|trial| trial.variant == variant && trial.level == level);
        let slices: Vec<(f64, f64)> = trials.map(|trial| (trial.start_ms / 1e3, trial.duration_ms / 1e3)).collect();
        let seconds: Vec<(f64, f64)> = series.points.iter().map(|(ms, value)| (ms / 1e3, *value)).collect();
        // The last of each stretch: the largest would always find a queue.
        over_time::sampled(&over_time::joined(&seconds, &slices), cells.len())
    };
    let panels: Vec<Panel<'_>> = cells
        .iter()
        .zip(&names)
        .map(|((cell, _), name)| Panel {
            name,
            key,
            points: points("work-processes-busy", cell.level),
            above: points("work-processes-waiting", cell.level),
            average: points("connections-open", cell.level),
        })
        .collect();
    let title = format!("Work processes, queue and connections: {variant}");
    let draw = |id: &str, size| {
        let description = format!("One panel for each number of work processes, with what binds. {NOTE}");
        let caption = Caption { id, title: &title, description: &description };
        over_time::draw(&caption, size, "in use and waiting", Filling::Area, &panels)
    };
    let mut table = Table::new(["seconds", "work processes", "busy", "waiting", "connections"]);
    for ((cell, _), panel) in cells.iter().zip(&panels) {
        let others = panel.above.iter().zip(&panel.average);
        for ((seconds, busy), (waiting, open)) in panel.points.iter().zip(others) {
            table.push(vec![
                format!("{seconds:.3}"),
                cell.level.to_string(),
                busy.to_string(),
                waiting.1.to_string(),
                open.1.to_string(),
            ]);
        }
    }
    let data = csv_link("Points of this chart as CSV", &format!("occupancy-{key}.csv"), &table.csv());
    let means = ladder::bindings(view, &|name| name == variant);
    let means = Table { head: means.head, rows: means.rows };
    let (wide, narrow) = (format!("ladder-{key}-wide"), format!("ladder-{key}-narrow"));
    figure(
        &title,
        NOTE,
        &[by_width(draw(&wide, Size::Full), draw(&narrow, Size::Narrow))],
        &format!("{}{data}", means.folded(&title, &format!("occupancy-{key}-means.csv"))),
    )
}

fn bound(view: &View<'_>, cell: &Cell, seen: &Occupancy) -> String {
    let text = match seen.binding {
        Binding::WorkProcesses | Binding::Users => format!("{} bind", seen.binding.words()),
        Binding::Connections | Binding::Processor => format!("{} binds", seen.binding.words()),
        Binding::Unclear => "unclear".to_owned(),
    };
    view.figure(&cell.variant, cell.level, text)
}
