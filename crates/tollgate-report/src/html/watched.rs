//! The charts over time: CPU, memory, work processes and the slowest answers of each variant's subject.

use super::figures::SHOWN_MAX;
use super::parts::{Table, by_width, csv_link, figure};
use crate::chart::over_time::{self, Filling, Panel};
use crate::chart::{Caption, Size};
use crate::ladder;
use crate::number;
use crate::sentence;
use crate::view::View;
use tollgate_facts::results::Series;

/// One thing that is watched: names of its series, heading, unit and how it is drawn.
struct Watched {
    id: &'static str,
    series: &'static str,
    above: Option<&'static str>,
    heading: &'static str,
    note: &'static str,
    label: &'static str,
    /// Values are divided by this.
    unit: f64,
    /// A moving average over so many seconds is drawn, too.
    average_s: Option<f64>,
    filling: Filling,
}

/// Work processes.
const OCCUPANCY: &str = "occupancy";

const WATCHED: [Watched; 4] = [
    Watched {
        id: "cpu",
        series: "subject-cpu-share",
        above: None,
        heading: "CPU of the subject over time",
        note: "1 is one core busy throughout. Thick: the average over the 15 s before, or all of them where there are fewer.",
        label: "cores",
        unit: 1.0,
        average_s: Some(15.0),
        filling: Filling::Line,
    },
    Watched {
        id: "memory",
        series: "subject-resident-memory",
        above: None,
        heading: "Memory of the subject over time",
        note: "Resident memory of the process.",
        label: "MB",
        unit: 1e6,
        average_s: None,
        filling: Filling::Line,
    },
    Watched {
        id: OCCUPANCY,
        series: "work-processes-busy",
        above: Some("work-processes-waiting"),
        heading: "Work processes over time",
        note: "Coloured: work processes that are busy. Grey: requests that wait for one.",
        label: "work processes and waiting requests",
        unit: 1.0,
        average_s: None,
        filling: Filling::Area,
    },
    Watched {
        id: "slowest",
        series: "response-time-max",
        above: None,
        heading: "Slowest answer over time",
        note: "The longest response time in each stretch: a stall of the subject shows here.",
        label: "ms",
        unit: 1.0,
        average_s: None,
        filling: Filling::Line,
    },
];

/// CPU, memory and occupancy of the subjects over time, at the highest level that was watched.
pub(super) fn section(view: &View<'_>) -> Option<String> {
    // A run about limits shows each cell's work processes, not those of one level.
    let is_shown = |watched: &&Watched| watched.id != OCCUPANCY || !ladder::is_shown(view.run);
    let figures: String =
        WATCHED.iter().filter(is_shown).filter_map(|watched| over_time_figure(view, watched)).collect();
    (!figures.is_empty()).then(|| {
        format!(
            "<section><h2>Over time</h2><p class=\"key\">Seconds in which the variant itself ran: its slices are joined, \
             the turns of the others cut out.</p>{figures}</section>"
        )
    })
}

fn over_time_figure(view: &View<'_>, watched: &Watched) -> Option<String> {
    let run = view.run;
    let named = |name: &str| run.series.iter().filter(move |series| series.name == name).collect::<Vec<&Series>>();
    let all = named(watched.series);
    let level = all.iter().filter(|series| !series.points.is_empty()).map(|series| series.level).max()?;
    let above = watched.above.map(named).unwrap_or_default();
    let own_time = |variant: &str, points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        let own = run.trials.iter().filter(|trial| trial.variant == variant && trial.level == level);
        let slices: Vec<(f64, f64)> = own.map(|trial| (trial.start_ms / 1000.0, trial.duration_ms / 1000.0)).collect();
        let points: Vec<(f64, f64)> = points.iter().map(|(ms, value)| (ms / 1000.0, value / watched.unit)).collect();
        over_time::joined(&points, &slices)
    };
    let scaled =
        |variant: &str, points: &[(f64, f64)], panels: usize| over_time::thinned(&own_time(variant, points), panels);
    let shown: Vec<(usize, &Series)> = run
        .experiment
        .variants
        .iter()
        .enumerate()
        .filter_map(|(key, variant)| {
            Some((key, *all.iter().find(|series| series.variant == variant.name && series.level == level)?))
        })
        .take(SHOWN_MAX)
        .collect();
    let panels: Vec<Panel<'_>> = shown
        .iter()
        .map(|(key, series)| Panel {
            name: &series.variant,
            key: *key,
            points: scaled(&series.variant, &series.points, shown.len()),
            above: above
                .iter()
                .find(|other| other.variant == series.variant && other.level == level)
                .map(|other| scaled(&other.variant, &other.points, shown.len()))
                .unwrap_or_default(),
            average: match watched.average_s {
                Some(seconds) => {
                    let average = over_time::averaged(&own_time(&series.variant, &series.points), seconds);
                    over_time::sampled(&average, shown.len())
                }
                None => Vec::new(),
            },
        })
        .collect();
    let title = format!("{} at {}", watched.heading, sentence::level(&run.experiment, level));
    let draw = |id: &str, size| {
        let description = format!("One panel a variant on common scales. {}", watched.note);
        over_time::draw(
            &Caption { id, title: &title, description: &description },
            size,
            watched.label,
            watched.filling,
            &panels,
        )
    };
    let mut table = Table::new(["variant", "level", "what", "unit", "least", "mean", "most", "points"]);
    for name in std::iter::once(watched.series).chain(watched.above) {
        for series in run.series.iter().filter(|series| series.name == name && !series.points.is_empty()) {
            let values: Vec<f64> = series.points.iter().map(|point| point.1).collect();
            let write = |value: f64| match series.unit.as_str() {
                "bytes" => number::bytes(value),
                _ => number::three_digits(value),
            };
            table.push(vec![
                series.variant.clone(),
                sentence::level(&run.experiment, series.level),
                series.name.clone(),
                series.unit.clone(),
                write(values.iter().copied().fold(f64::INFINITY, f64::min)),
                write(tollgate_facts::stats::mean(&values).unwrap_or(f64::NAN)),
                write(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
                number::whole(values.len() as u64),
            ]);
        }
    }
    let (wide, narrow) = (format!("{}-wide", watched.id), format!("{}-narrow", watched.id));
    Some(figure(
        &title,
        watched.note,
        &[by_width(draw(&wide, Size::Full), draw(&narrow, Size::Narrow))],
        &format!("{}{}", table.folded(&title, &format!("{}.csv", watched.id)), points_link(watched, &panels)),
    ))
}

/// The drawn points themselves.
fn points_link(watched: &Watched, panels: &[Panel<'_>]) -> String {
    let mut table = Table::new(["variant", "seconds", watched.series]);
    table.head.extend(watched.average_s.map(|seconds| format!("average of {seconds} s")));
    for panel in panels {
        for (place, (seconds, value)) in panel.points.iter().enumerate() {
            let mut row = vec![panel.name.to_owned(), format!("{seconds:.3}"), format!("{value:.4}")];
            row.extend(panel.average.get(place).map(|(_, average)| format!("{average:.4}")));
            table.push(row);
        }
    }
    csv_link("Points of this chart as CSV", &format!("{}-points.csv", watched.id), &table.csv())
}
