//! The charts over time: throughput, response times and failures trial by trial, and CPU, memory, work processes and the
//! slowest answers of each variant's subject.

use super::SHOWN_MAX;
use crate::blocks::{Block, Figure, Section, Table};
use crate::chart::Size;
use crate::chart::lines::{self, Axis, Kind, Line, Lines, Point};
use crate::chart::over_time::{self, Panel};
use crate::number;
use crate::words::sentence;
use crate::words::view::{self, View};
use tollgate_facts::results::{RunResult, Series, Trial};

/// One watched quantity: names of its series, heading, unit and drawing style.
struct Watched {
    id: &'static str,
    series: &'static str,
    above: Option<&'static str>,
    heading: &'static str,
    note: &'static str,
    label: &'static str,
    /// Values are divided by this.
    unit: f64,
    /// Width of a moving average that is drawn, too, in seconds.
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

/// A figure of every trial, over the time of its variant.
struct Tried {
    id: &'static str,
    heading: &'static str,
    note: &'static str,
    label: &'static str,
    value: fn(&Trial) -> f64,
}

const TRIED: [Tried; 3] = [
    Tried {
        id: "throughput-over-time",
        heading: "Throughput over time",
        note: "Valid answers of each trial by its length.",
        label: "answers/s",
        value: |trial| trial.requests as f64 / (trial.duration_ms / 1e3),
    },
    Tried {
        id: "response-time-over-time",
        heading: "Response time over time",
        note: "Mean of each trial's valid answers.",
        label: "response time (ms)",
        value: |trial| trial.response_time_mean_ms,
    },
    Tried {
        id: "errors-over-time",
        heading: "Errors over time",
        note: "Failed requests of each trial.",
        label: "failed requests",
        value: |trial| trial.errors as f64,
    },
];

/// Maximum number of points of all lines of one chart.
const TRIED_POINTS_MAX: usize = 120;

/// CPU, memory, work processes and slowest responses of the subjects over time, at the highest watched level.
pub fn section(view: &View<'_>) -> Option<Section> {
    of(view, &WATCHED)
}

/// The same without work processes.
pub fn section_without_work_processes(view: &View<'_>) -> Option<Section> {
    let [cpu, memory, _, slowest] = WATCHED;
    of(view, &[cpu, memory, slowest])
}

fn of(view: &View<'_>, all: &[Watched]) -> Option<Section> {
    let tried = TRIED.iter().filter_map(|tried| of_trials(view, tried));
    let seen = all.iter().filter_map(|watched| over_time_figure(view, watched));
    let figures: Vec<Block> = tried.chain(seen).map(Block::Figure).collect();
    let legend = "Seconds in which the variant itself ran: its slices are joined, the turns of the others cut out";
    let legend = Block::Legend(vec![legend.to_owned()]);
    (!figures.is_empty()).then(|| Section::background("Over time", std::iter::once(legend).chain(figures).collect()))
}

/// The points of a series in seconds of its variant's own time, and in multiples of `unit`.
pub fn own_time(run: &RunResult, series: &Series, unit: f64) -> Vec<(f64, f64)> {
    let own = run.trials_of(&series.variant, series.level).into_iter();
    let slices: Vec<(f64, f64)> = own.map(|trial| (trial.start_ms / 1e3, trial.duration_ms / 1e3)).collect();
    let points: Vec<(f64, f64)> = series.points.iter().map(|(ms, value)| (ms / 1e3, value / unit)).collect();
    over_time::joined(&points, &slices)
}

/// A variant's key and name, and its figure over time.
type Course<'r> = (usize, &'r str, Vec<(f64, f64)>);

/// A value of each trial in the middle of it, a line for each variant, at the level that represents the run; absent
/// where all are missing.
fn of_trials(view: &View<'_>, tried: &Tried) -> Option<Figure> {
    let run = view.run;
    let level = view::answer_level(run).or_else(|| run.trials.iter().map(|trial| trial.level).max())?;
    let points = |variant: &str| -> Vec<(f64, f64)> {
        let trials = run.trials_of(variant, level);
        let slices: Vec<(f64, f64)> =
            trials.iter().map(|trial| (trial.start_ms / 1e3, trial.duration_ms / 1e3)).collect();
        let middle = |trial: &&Trial| ((trial.start_ms + trial.duration_ms / 2.0) / 1e3, (tried.value)(trial));
        let found: Vec<(f64, f64)> = trials.iter().map(middle).filter(|(_, value)| value.is_finite()).collect();
        over_time::joined(&found, &slices)
    };
    let variants = run.experiment.variants.iter().enumerate();
    let found = variants.map(|(key, variant)| (key, variant.name.as_str(), points(&variant.name)));
    let found: Vec<Course<'_>> = found.filter(|(.., points)| points.len() > 1).take(SHOWN_MAX).collect();
    if found.iter().all(|(.., points)| points.iter().all(|(_, value)| *value <= 0.0)) {
        return None;
    }
    let every = found.iter().map(|(.., points)| points.len()).sum::<usize>().div_ceil(TRIED_POINTS_MAX);
    let line = |(key, name, points): &Course<'_>| {
        let shown = points.chunks(every.max(1)).filter_map(|stretch| stretch.last());
        Line::new(*name, *key, Kind::Curve, shown.map(|(at, value)| Point::plain(*at, *value)).collect())
    };
    let lines = || found.iter().map(line).collect();
    let title = format!("{} at {}", tried.heading, sentence::level(&run.experiment, level));
    let cut = if every > 1 { format!(" Of {every} trials the last one is drawn.") } else { String::new() };
    let note = format!("{}{cut}", tried.note);
    let draw = |size| lines::draw(size, &Lines::new(Axis::linear("seconds"), Axis::linear(tried.label), lines()));
    let of = |values: &[(f64, f64)], fold: fn(f64, f64) -> f64| {
        number::optional(values.iter().map(|point| point.1).reduce(fold))
    };
    let mean = |points: &[(f64, f64)]| points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
    let row = |(_, name, points): &Course<'_>| {
        let [least, most] = [of(points, f64::min), of(points, f64::max)];
        vec![(*name).to_owned(), least, number::three_digits(mean(points)), most, number::whole(points.len() as u64)]
    };
    let table = Table::new("", ["variant", "least", "mean", "most", "trials"]).with(found.iter().map(row));
    Some(Figure::new(title, &note).picture(tried.id, &note, Size::Full, draw).data(table, format!("{}.csv", tried.id)))
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

/// The drawn points as a table.
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
