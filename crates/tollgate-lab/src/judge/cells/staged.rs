//! Computes the figures of a load in stages from its record.

use std::time::Duration;

use super::percentiles;
use crate::load::record::staged::{CoursePart, StagePart, StagedRecord};
use crate::traffic::stages::Stage;
use tollgate_facts::results::{StageFound, Staged, StagedPoint};

/// Fewest times at a point of the course for a printed median.
const MEDIAN_COUNT_MIN: u64 = 10;
/// Fewest times for a printed p99: one is beyond it.
const P99_COUNT_MIN: u64 = 100;
const NS_PER_S: f64 = 1e9;
const US_PER_MS: f64 = 1e3;

/// The figures of stages that were run `times` times.
pub fn staged(record: &StagedRecord, times: u32) -> Staged {
    let often = f64::from(times.max(1));
    let stages = record.stages.each().zip(&record.parts);
    Staged {
        unit: record.stages.unit(),
        times,
        stages: stages.map(|((stage, at_s), part)| found(stage, at_s, part, often)).collect(),
        course: course(record, often),
    }
}

fn found(stage: &Stage, from_s: f64, part: &StagePart, often: f64) -> StageFound {
    let counts = part.counts;
    let lasts_s = stage.lasts.as_secs_f64();
    let each_second = |count: u64| count as f64 / often / lasts_s;
    StageFound {
        name: stage.name.clone(),
        from_s,
        until_s: from_s + lasts_s,
        asked_from: stage.from,
        asked_to: stage.to,
        asked_mean: (stage.from + stage.to) / 2.0,
        users_mean: counts.users_ns as f64 / NS_PER_S / often / lasts_s,
        begun: counts.begun,
        whole: counts.whole,
        failed: counts.failed,
        unstarted: counts.due.saturating_sub(counts.begun),
        whole_per_second: each_second(counts.whole),
        requests_per_second: each_second(counts.requests),
        time_ms: (!part.times.is_empty()).then(|| percentiles(&part.times)),
    }
}

/// The points until the stages end, and later ones in which something still happened.
fn course(record: &StagedRecord, often: f64) -> Vec<StagedPoint> {
    let (width_s, lasts) = (record.width.as_secs_f64(), record.stages.lasts());
    let planned = lasts.as_nanos().div_ceil(record.width.as_nanos()) as usize;
    let nothing = CoursePart::default();
    let point = |place: usize| {
        let CoursePart { counts, times_us } = record.points.get(place).unwrap_or(&nothing);
        let (from, until) = (record.width * place as u32, record.width * (place as u32 + 1));
        // The last point may be no whole one.
        let lasts_s = match place < planned {
            true => until.min(lasts).saturating_sub(from).max(Duration::from_millis(1)).as_secs_f64(),
            false => width_s,
        };
        let each_second = |count: u64| count as f64 / often / lasts_s;
        let time = |least: u64, value_us: u64| (times_us.len() >= least).then_some(value_us as f64 / US_PER_MS);
        StagedPoint {
            until_s: until.as_secs_f64(),
            asked: (record.stages.count_until(until) - record.stages.count_until(from)) / lasts_s,
            users: counts.users_ns as f64 / NS_PER_S / often / lasts_s,
            begun_per_second: each_second(counts.begun),
            whole_per_second: each_second(counts.whole),
            requests_per_second: each_second(counts.requests),
            failed_per_second: each_second(counts.failed),
            p50_ms: time(MEDIAN_COUNT_MIN, times_us.value_at_quantile(0.5)),
            p99_ms: time(P99_COUNT_MIN, times_us.value_at_quantile(0.99)),
            max_ms: time(1, times_us.max()),
        }
    };
    (0..planned.max(record.points.len())).map(point).collect()
}
