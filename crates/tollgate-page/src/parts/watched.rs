//! The charts over time: CPU, memory, work processes and the slowest answers of each variant's subject.

use super::SHOWN_MAX;
use crate::blocks::{Block, Figure, Section, Table};
use crate::chart::Size;
use crate::chart::over_time::{self, Panel};
use crate::number;
use crate::words::sentence;
use crate::words::view::View;
use tollgate_facts::results::{RunResult, Series};

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
}

/// A line of plain numbers.
const LINE: Watched =
    Watched { id: "", series: "", above: None, heading: "", note: "", label: "", unit: 1.0, average_s: None };

const WATCHED: [Watched; 4] = [
    Watched {
        id: "cpu",
        series: "subject-cpu-share",
        heading: "CPU of the subject over time",
        note: "1 is one core busy throughout. Thick: the average over the 15 s before, or all of them where there are fewer.",
        label: "cores",
        average_s: Some(15.0),
        ..LINE
    },
    Watched {
        id: "memory",
        series: "subject-resident-memory",
        heading: "Memory of the subject over time",
        note: "Resident memory of the process.",
        label: "MB",
        unit: 1e6,
        ..LINE
    },
    Watched {
        id: "occupancy",
        series: "work-processes-busy",
        above: Some("work-processes-waiting"),
        heading: "Work processes over time",
        note: "Coloured: work processes that are busy. Grey: requests that wait for one.",
        label: "work processes and waiting requests",
        ..LINE
    },
    Watched {
        id: "slowest",
        series: "response-time-max",
        heading: "Slowest answer over time",
        note: "The longest response time in each stretch: a stall of the subject shows here.",
        label: "ms",
        ..LINE
    },
];

/// CPU, memory, work processes and slowest answers of the subjects over time, at the highest level that was watched.
pub fn section(view: &View<'_>) -> Option<Section> {
    of(view, &WATCHED)
}

/// The same without work processes.
pub fn section_without_work_processes(view: &View<'_>) -> Option<Section> {
    let [cpu, memory, _, slowest] = WATCHED;
    of(view, &[cpu, memory, slowest])
}

fn of(view: &View<'_>, all: &[Watched]) -> Option<Section> {
    let figures: Vec<Block> =
        all.iter().filter_map(|watched| over_time_figure(view, watched)).map(Block::Figure).collect();
    let legend = "Seconds in which the variant itself ran: its slices are joined, the turns of the others cut out";
    let legend = Block::Legend(vec![legend.to_owned()]);
    (!figures.is_empty()).then(|| Section::background("Over time", std::iter::once(legend).chain(figures).collect()))
}

/// The points of a series in seconds of its variant's own time, in so many of a unit.
pub fn own_time(run: &RunResult, series: &Series, unit: f64) -> Vec<(f64, f64)> {
    let own = run.trials_of(&series.variant, series.level).into_iter();
    let slices: Vec<(f64, f64)> = own.map(|trial| (trial.start_ms / 1e3, trial.duration_ms / 1e3)).collect();
    let points: Vec<(f64, f64)> = series.points.iter().map(|(ms, value)| (ms / 1e3, value / unit)).collect();
    over_time::joined(&points, &slices)
}

fn over_time_figure(view: &View<'_>, watched: &Watched) -> Option<Figure> {
    let run = view.run;
    let named = |name| run.series.iter().filter(move |series| series.name == name);
    let level = named(watched.series).filter(|series| !series.points.is_empty()).map(|series| series.level).max()?;
    let found = |name, variant: &str| named(name).find(|series| series.variant == variant && series.level == level);
    let variants = run.experiment.variants.iter().enumerate();
    let shown: Vec<(usize, &Series)> = variants
        .filter_map(|(key, variant)| Some((key, found(watched.series, &variant.name)?)))
        .take(SHOWN_MAX)
        .collect();
    let own = |series: &Series| own_time(run, series, watched.unit);
    let thinned = |series: &Series| over_time::thinned(&own(series), shown.len());
    let averaged =
        |series: &Series, seconds| over_time::sampled(&over_time::averaged(&own(series), seconds), shown.len());
    let panels = shown.iter().map(|(key, series)| Panel {
        name: series.variant.clone(),
        key: *key,
        points: thinned(series),
        above: watched.above.map(|name| found(name, &series.variant).map(thinned).unwrap_or_default()),
        average: watched.average_s.map(|seconds| averaged(series, seconds)).unwrap_or_default(),
    });
    let panels: Vec<Panel> = panels.collect();
    let title = format!("{} at {}", watched.heading, sentence::level(&run.experiment, level));
    let description = format!("One panel a variant on common scales. {}", watched.note);
    let draw = |size| over_time::draw(size, watched.label, &panels);
    let row = |series: &Series| {
        let values: Vec<f64> = series.points.iter().map(|point| point.1).collect();
        let write = if series.unit == "bytes" { number::bytes } else { number::three_digits };
        let level = sentence::level(&run.experiment, series.level);
        let mut row = vec![series.variant.clone(), level, series.name.clone(), series.unit.clone()];
        row.push(write(values.iter().copied().fold(f64::INFINITY, f64::min)));
        row.push(write(tollgate_facts::stats::mean(&values).unwrap_or(f64::NAN)));
        row.push(write(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)));
        row.push(number::whole(values.len() as u64));
        row
    };
    let all = std::iter::once(watched.series).chain(watched.above).flat_map(named);
    let head = ["variant", "level", "what", "unit", "least", "mean", "most", "points"];
    let table = Table::new("", head).with(all.filter(|series| !series.points.is_empty()).map(row));
    let figure = Figure::new(title, watched.note).picture(watched.id, &description, Size::Full, draw);
    let (all, points) = (format!("{}.csv", watched.id), format!("{}-points.csv", watched.id));
    Some(figure.data(table, all).data(self::points(watched, &panels), points))
}

/// The drawn points themselves.
fn points(watched: &Watched, panels: &[Panel]) -> Table {
    let mut table = Table::new("Points of this chart as CSV", ["variant", "seconds", watched.series]);
    table.columns.extend(watched.average_s.map(|seconds| format!("average of {seconds} s").into()));
    for panel in panels {
        for (place, (seconds, value)) in panel.points.iter().enumerate() {
            let mut row = vec![panel.name.clone(), format!("{seconds:.3}"), format!("{value:.4}")];
            row.extend(panel.average.get(place).map(|(_, average)| format!("{average:.4}")));
            table.push(row);
        }
    }
    table
}
