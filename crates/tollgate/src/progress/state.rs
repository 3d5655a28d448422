//! The progress of a run or a load and its latest responses: updated by the lab, read at intervals, and shown as lines
//! or as a page.
//!
//! It has no clocks, threads or terminals: every time is passed in, measured from the beginning.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;
use tollgate_lab::run::{LiveReading, Progress};

/// Time over which throughput is computed.
const RATE_OVER: Duration = Duration::from_secs(2);
/// Time over which percentiles are computed.
const TIMES_OVER: Duration = Duration::from_secs(10);
/// Minimum number of responses for a p99.
const ANSWERS_FOR_P99: u64 = 100;
/// Minimum age of the current trial before it has figures of its own.
const AT_HAND_LEAST: Duration = Duration::from_millis(500);
/// Minimum width of a point of the chart: a second, less the time by which a look may come early.
const POINT: Duration = Duration::from_millis(900);
/// Number of points that are kept: the last ten minutes.
const POINTS_MAX: usize = 600;

/// The end of the run or load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// A plan; the lab reports the remaining time.
    Plan,
    /// A load for a time, for a number of requests, or for the first bound reached; users arrive before that.
    Load { ramp_up: Duration, lasts: Option<Duration>, requests: Option<u64> },
}

/// A moment, and the counts at it.
type Look = (Duration, LiveReading);

/// The progress.
#[derive(Debug)]
pub(crate) struct State {
    title: String,
    aim: Aim,
    /// The current one of several runs; else empty.
    part: String,
    doing: String,
    is_counted: bool,
    trials: Option<Portion>,
    /// The time of the last report of the remaining time, and that time.
    told: Option<(Duration, Duration)>,
    /// The start of the current work.
    begun: Look,
    /// The last trial, in words, and its figures.
    last: Option<(String, Figures)>,
    /// The latest looks.
    looks: VecDeque<Look>,
    point_begun: Look,
    points: VecDeque<Point>,
}

/// A number done of a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Portion {
    pub(crate) done: u64,
    pub(crate) of: u64,
}

/// Figures of the latest responses.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Figures {
    /// Valid answers per second.
    pub(crate) per_second: Option<f64>,
    /// Median response time.
    pub(crate) p50_ms: Option<f64>,
    /// p99 of response times.
    pub(crate) p99_ms: Option<f64>,
}

/// A point of the chart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Point {
    /// Its end, in seconds since the beginning.
    pub(crate) at_s: f64,
    #[serde(flatten)]
    pub(crate) figures: Figures,
    /// Failed requests.
    pub(crate) failed: u64,
}

/// The progress at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct View {
    pub(crate) title: String,
    /// The current work, such as a trial; empty where the title says it.
    pub(crate) doing: String,
    pub(crate) elapsed_s: f64,
    /// Estimated remaining time; absent if unknown.
    pub(crate) left_s: Option<f64>,
    /// Trials of a run.
    pub(crate) trials: Option<Portion>,
    /// Requests of a load that ends by them.
    pub(crate) requests: Option<Portion>,
    /// Figures of the current work; absent where nothing is counted.
    pub(crate) now: Option<Figures>,
    /// Valid answers so far.
    pub(crate) answered: u64,
    /// Failed requests so far.
    pub(crate) failed: u64,
    pub(crate) points: Vec<Point>,
}

impl State {
    /// Makes the state of a run or load that begins now.
    pub(crate) fn new(title: String, aim: Aim) -> State {
        State {
            title,
            aim,
            part: String::new(),
            doing: String::new(),
            is_counted: false,
            trials: None,
            told: None,
            begun: Look::default(),
            last: None,
            looks: VecDeque::new(),
            point_begun: Look::default(),
            points: VecDeque::new(),
        }
    }

    /// Names the one of several runs that begins.
    pub(crate) fn part(&mut self, part: String) {
        self.part = part;
    }

    /// Takes a report of the lab about the current work, with the counts at this moment.
    pub(crate) fn hear(&mut self, at: Duration, progress: &Progress<'_>, counted: &LiveReading) {
        let doing = match progress {
            Progress::Planned { trials, duration } => {
                self.trials = Some(Portion { done: 0, of: *trials as u64 });
                self.told = Some((at, *duration));
                return;
            }
            Progress::Trial { done, planned, variant, at: level, left, per_second } => {
                self.trials = Some(Portion { done: *done as u64, of: *planned as u64 });
                self.told = Some((at, *left));
                if self.is_counted {
                    let (p50_ms, p99_ms) = percentiles(&counted.since(&self.begun.1));
                    self.last = Some((trial(variant, level), Figures { per_second: *per_second, p50_ms, p99_ms }));
                }
                return;
            }
            Progress::Loading { .. } => {
                self.is_counted = true;
                self.point_begun = (at, counted.clone());
                self.looks.clear();
                String::new()
            }
            Progress::Starting { variant } => format!("starting {variant}"),
            Progress::Surveying { variant } => format!("trying one transfer of each level: {variant}"),
            Progress::WarmingUp { variant } => format!("warming up {variant}"),
            Progress::Measuring { variant, at: level } => trial(variant, level),
            _ => return,
        };
        if !matches!(progress, Progress::Measuring { .. }) {
            self.last = None;
        }
        (self.doing, self.begun) = (doing, (at, counted.clone()));
    }

    /// Takes the counts of this moment.
    pub(crate) fn look(&mut self, at: Duration, counted: LiveReading) {
        if !self.is_counted {
            return;
        }
        if let Aim::Load { ramp_up, .. } = self.aim
            && self.begun.0 < ramp_up
            && at >= ramp_up
        {
            self.begun = (at, counted.clone());
        }
        let (point_begun, before) = &self.point_begun;
        let lasted = at.saturating_sub(*point_begun);
        if lasted >= POINT {
            let within = counted.since(before);
            self.points.push_back(Point {
                at_s: at.as_secs_f64(),
                figures: figures(&within, lasted),
                failed: within.failed,
            });
            self.point_begun = (at, counted.clone());
            if self.points.len() > POINTS_MAX {
                self.points.pop_front();
            }
        }
        self.looks.push_back((at, counted));
        while self.looks.get(1).is_some_and(|(next, _)| at.saturating_sub(*next) >= TIMES_OVER) {
            self.looks.pop_front();
        }
    }

    /// The progress now, as of the last look.
    pub(crate) fn view(&self, at: Duration) -> View {
        let counted = self.looks.back().map_or(&self.begun.1, |(_, counted)| counted);
        let (doing, now) = match &self.last {
            Some((doing, figures)) if at.saturating_sub(self.begun.0) < AT_HAND_LEAST => (doing.clone(), *figures),
            _ => (self.doing.clone(), self.at_hand()),
        };
        let is_coming = matches!(self.aim, Aim::Load { ramp_up, .. } if at < ramp_up);
        let doing = if is_coming { "users are coming, nothing counts yet".to_owned() } else { doing };
        let parts = [self.part.as_str(), doing.as_str()].into_iter().filter(|part| !part.is_empty());
        let doing = parts.collect::<Vec<_>>().join(": ");
        View {
            title: self.title.clone(),
            doing,
            elapsed_s: at.as_secs_f64(),
            left_s: self.left(at).map(|left| left.as_secs_f64()),
            trials: self.trials,
            requests: self.requests(),
            now: self.is_counted.then_some(now),
            answered: counted.answered(),
            failed: counted.failed,
            points: self.points.iter().copied().collect(),
        }
    }

    /// Figures of the current work, over the last seconds.
    fn at_hand(&self) -> Figures {
        let Some((at, counted)) = self.looks.back() else { return Figures::default() };
        let over = |most: Duration| {
            let begun = std::iter::once(&self.begun);
            let all = begun.chain(self.looks.iter().filter(|(looked, _)| *looked > self.begun.0));
            // The latest that is long enough ago, or else the oldest.
            let from = all.rev().find(|(looked, _)| at.saturating_sub(*looked) >= most || *looked == self.begun.0);
            let (from, before) = from.unwrap_or(&self.begun);
            (counted.since(before), at.saturating_sub(*from))
        };
        let (lately, lasted) = over(RATE_OVER);
        let (p50_ms, p99_ms) = percentiles(&over(TIMES_OVER).0);
        Figures { per_second: per_second(&lately, lasted), p50_ms, p99_ms }
    }

    /// Estimated remaining time.
    fn left(&self, at: Duration) -> Option<Duration> {
        match self.aim {
            Aim::Plan => self.told.map(|(told, left)| left.saturating_sub(at.saturating_sub(told))),
            Aim::Load { ramp_up, lasts, .. } => {
                let by_time = lasts.map(|lasts| (ramp_up + lasts).saturating_sub(at));
                let by_requests =
                    self.requests().filter(|requests| requests.done > 0).and_then(|Portion { done, of }| {
                        let took = self.looks.back()?.0.saturating_sub(self.begun.0);
                        // What came since the last look is not known yet.
                        let since = at.saturating_sub(self.looks.back()?.0);
                        Some(took.mul_f64(of.saturating_sub(done) as f64 / done as f64).saturating_sub(since))
                    });
                [by_time, by_requests].into_iter().flatten().min()
            }
        }
    }

    fn requests(&self) -> Option<Portion> {
        let Aim::Load { ramp_up, requests: Some(of), .. } = self.aim else { return None };
        let (looked, counted) = self.looks.back()?;
        let since = counted.since(&self.begun.1);
        let done = if *looked < ramp_up { 0 } else { since.answered() + since.failed };
        Some(Portion { done: done.min(of), of })
    }
}

fn trial(variant: &str, at: &str) -> String {
    format!("{variant} at {at}")
}

fn per_second(counted: &LiveReading, lasted: Duration) -> Option<f64> {
    (!lasted.is_zero()).then(|| counted.answered() as f64 / lasted.as_secs_f64())
}

/// Median and p99 in milliseconds, where there are enough answers.
fn percentiles(counted: &LiveReading) -> (Option<f64>, Option<f64>) {
    let ms = |share: f64| counted.within(share).map(|time| time.as_secs_f64() * 1e3);
    (ms(0.5), ms(0.99).filter(|_| counted.answered() >= ANSWERS_FOR_P99))
}

fn figures(counted: &LiveReading, lasted: Duration) -> Figures {
    let (p50_ms, p99_ms) = percentiles(counted);
    Figures { per_second: per_second(counted, lasted), p50_ms, p99_ms }
}
