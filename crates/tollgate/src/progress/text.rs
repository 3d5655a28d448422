//! A view as text: at most four lines for a terminal, or one line for a log.
//!
//! For drawing over lines, see [`super::terminal`].

use std::time::Duration;

use super::state::{Figures, Point, Portion, View};
use crate::readable::{readable, three_digits, whole};

/// Number of seconds in the chart.
const CHART_SECONDS: usize = 40;
/// Bars of the chart, the lowest first.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// At most four lines for a terminal of this many columns.
pub(super) fn lines(view: &View, columns: usize) -> Vec<String> {
    let mut lines = vec![how_far(view)];
    if !view.doing.is_empty() {
        lines.push(view.doing.clone());
    }
    if let Some(now) = &view.now {
        lines.push(format!("{}, {}", figures(now), errors(view)));
        lines.extend(chart(view, columns.saturating_sub(2)));
    }
    lines.iter().map(|line| format!("  {line}").chars().take(columns).collect()).collect()
}

/// The same without the chart, as one line for a log.
pub(super) fn line(view: &View) -> String {
    let mut line = how_far(view);
    if !view.doing.is_empty() {
        line = format!("{line}; {}", view.doing);
    }
    match &view.now {
        Some(now) => format!("{line}; {}, {}", figures(now), errors(view)),
        None => line,
    }
}

/// `12 s of 30 s, ETA 18 s`, with trials or requests.
pub(super) fn how_far(view: &View) -> String {
    let elapsed = Duration::from_secs(view.elapsed_s as u64);
    let mut text = match view.left_s.map(f64::ceil) {
        None => format!("{}, ETA unknown", readable(elapsed)),
        Some(left_s) if left_s < 1.0 => {
            let is_late = view.trials.is_some_and(|trials| trials.done < trials.of);
            format!("{}, {}", readable(elapsed), if is_late { "longer than planned" } else { "ending" })
        }
        Some(left_s) => {
            let left = Duration::from_secs(left_s as u64);
            format!("{} of {}, ETA {}", readable(elapsed), readable(elapsed + left), readable(left))
        }
    };
    for (portion, what) in [(view.trials, "trial"), (view.requests, "request")] {
        if let Some(Portion { done, of }) = portion {
            let plural = if of == 1 { "" } else { "s" };
            text = format!("{text}, {} of {} {what}{plural}", whole(done), whole(of));
        }
    }
    text
}

fn figures(now: &Figures) -> String {
    let ms = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{} ms", three_digits(value)));
    let per_second = now.per_second.map_or_else(|| "-".to_owned(), rate);
    format!("{per_second}/s, p50 {}, p99 {}", ms(now.p50_ms), ms(now.p99_ms))
}

/// A rate in three digits; plain 0 where nothing is answered.
fn rate(per_second: f64) -> String {
    if per_second > 0.0 { three_digits(per_second) } else { "0".to_owned() }
}

fn errors(view: &View) -> String {
    let share = view.failed as f64 / (view.answered + view.failed).max(1) as f64 * 1e2;
    match view.failed {
        0 => "no errors".to_owned(),
        1 => "1 error".to_owned(),
        failed => format!("{} errors ({} %)", whole(failed), three_digits(share)),
    }
}

/// Throughput of the last seconds as bars, a second each, with the highest; absent before the first.
fn chart(view: &View, columns: usize) -> Option<String> {
    let height = |point: &Point| point.figures.per_second.unwrap_or_default();
    let all = &view.points[view.points.len().saturating_sub(CHART_SECONDS)..];
    let most = all.iter().map(height).fold(0.0, f64::max);
    let scale = format!(" max {}/s", rate(most));
    let seconds = columns.checked_sub(scale.len()).filter(|seconds| *seconds > 0)?;
    let shown = &all[all.len().saturating_sub(seconds)..];
    let bar = |value: f64| {
        let place = (value / most.max(f64::MIN_POSITIVE) * BARS.len() as f64).ceil() as usize;
        if place == 0 { ' ' } else { BARS[place.min(BARS.len()) - 1] }
    };
    let bars: String = shown.iter().map(|point| bar(height(point))).collect();
    (!bars.is_empty()).then(|| bars + &scale)
}
