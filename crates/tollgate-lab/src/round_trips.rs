//! How many round trips a request on a fresh connection waits for: the slope of its time over the length of the line, and
//! what is left of it at no distance.
//!
//! Plain least squares over trials, since the noise of a wait hardly grows with its length. What it deliberately does not
//! do: count messages; what the connections themselves saw stands beside it.

use crate::results::{Cell, Estimate, NamedLevel, RoundTripCost, RunResult, Trial};
use crate::stats::{ALPHA, interval};

/// Fewest lengths of the line for a slope.
const LENGTHS_MIN: usize = 2;

/// The costs of each variant in each way of encrypting; none where the levels do not say how far.
pub fn costs(run: &RunResult) -> Vec<RoundTripCost> {
    let mut ways: Vec<&NamedLevel> = Vec::new();
    for named in run.experiment.named_levels.iter().filter(|named| named.round_trip_ms.is_some()) {
        if !ways.iter().any(|known| known.way() == named.way()) {
            ways.push(named);
        }
    }
    let of_variant = |way: &NamedLevel, variant: &str| {
        let levels: Vec<(u64, f64)> = run
            .experiment
            .named_levels
            .iter()
            .filter(|named| named.way() == way.way())
            .filter_map(|named| Some((named.level, named.round_trip_ms?)))
            .collect();
        let length = |level: u64| levels.iter().find(|(known, _)| *known == level).map(|(_, length)| *length);
        let is_own = |trial: &&Trial| trial.variant == variant && trial.errors == 0 && trial.requests > 0;
        let points: Vec<(f64, f64)> = run
            .trials
            .iter()
            .filter(is_own)
            .filter_map(|trial| Some((length(trial.level)?, trial.response_time_mean_ms)))
            .collect();
        let (round_trips, fixed_ms) = line(&points)?;
        let firsts = |of: fn(&Cell) -> Option<f64>| {
            let own = run.cells.iter().filter(|cell| cell.variant == variant && length(cell.level).is_some());
            let found: Vec<f64> = own.filter_map(of).collect();
            (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
        };
        Some(RoundTripCost {
            variant: variant.to_owned(),
            way: way.way_title(),
            round_trips,
            fixed_ms,
            seen: firsts(|cell| cell.connected?.first_request?.round_trips),
            wire_bytes_received: firsts(|cell| Some(cell.connected?.first_request?.wire_bytes_received)),
        })
    };
    let variants = &run.experiment.variants;
    ways.iter().flat_map(|way| variants.iter().filter_map(|variant| of_variant(way, &variant.name))).collect()
}

/// Slope and height at zero of the straight line through these points, with their 95 % intervals.
fn line(points: &[(f64, f64)]) -> Option<(Estimate, Estimate)> {
    let mut lengths: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
    lengths.sort_by(f64::total_cmp);
    lengths.dedup_by(|one, other| one.total_cmp(other).is_eq());
    let n = points.len() as f64;
    if lengths.len() < LENGTHS_MIN || points.len() < 3 {
        return None;
    }
    let (mean_x, mean_y) =
        (points.iter().map(|(x, _)| x).sum::<f64>() / n, points.iter().map(|(_, y)| y).sum::<f64>() / n);
    let sxx: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let sxy: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = sxy / sxx;
    let height = mean_y - slope * mean_x;
    let freedom = n - 2.0;
    let spread = points.iter().map(|(x, y)| (y - height - slope * x).powi(2)).sum::<f64>() / freedom;
    let t = interval::quantile(1.0 - ALPHA / 2.0, freedom);
    let estimate = |mean: f64, variance: f64| {
        let half = t * variance.sqrt();
        Estimate { mean, low: mean - half, high: mean + half, n: points.len() as u32 }
    };
    Some((estimate(slope, spread / sxx), estimate(height, spread * (1.0 / n + mean_x.powi(2) / sxx))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::synthetic::Noise;

    #[test]
    fn the_slope_is_the_round_trips_and_the_height_what_is_left_without_any() {
        let points: Vec<(f64, f64)> =
            [1.0, 10.0, 50.0].into_iter().map(|length| (length, 3.0 * length + 0.7)).collect();
        let (slope, height) = line(&points).unwrap();
        assert!((slope.mean - 3.0).abs() < 1e-9 && (height.mean - 0.7).abs() < 1e-9, "{slope:?} {height:?}");
        assert_eq!(line(&points[..2]), None);
        assert_eq!(line(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }

    #[test]
    fn intervals_hold_the_truth() {
        let mut noise = Noise::of(5);
        let mut held = 0;
        for _ in 0..400 {
            let points: Vec<(f64, f64)> = [1.0, 10.0, 50.0]
                .into_iter()
                .flat_map(|length| [length; 4])
                .map(|length| (length, 4.0 * length + 1.0 + 0.3 * noise.normal()))
                .collect();
            let (slope, _) = line(&points).unwrap();
            held += u32::from((slope.low..=slope.high).contains(&4.0));
        }
        assert!((360..=398).contains(&held), "{held} of 400");
    }
}
