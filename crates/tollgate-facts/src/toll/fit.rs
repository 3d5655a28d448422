//! The fixed cost of a transfer and that of each record: T(n) = a + b n, fitted to a variant's times over the levels.
//!
//! Least squares on relative errors, since times span four powers of ten and the small levels matter as much as the
//! large ones. What it deliberately does not do: extrapolate, or hide that a mode follows no straight line.

use crate::results::{Cell, Estimate, Experiment, Fit, Piece, Validity, Variant, Verdict};
use crate::stats::{ALPHA, interval, straight};
use std::collections::BTreeSet;

/// Fewest levels for a fit.
const LEVELS_MIN: usize = 4;
/// A fit that is typically further off than this share is no law.
const RESIDUAL_SHARE_MAX: f64 = 0.15;

/// The fits of all variants that insert records and have levels enough. Refused cells do not count, nor do those with
/// fewer records than the mode's batch or connections; what marked ones were marked for is carried.
pub fn fits(experiment: &Experiment, cells: &[Cell], validity: &[Validity]) -> Vec<Fit> {
    if experiment.piece != Piece::Record {
        return Vec::new();
    }
    let doubts = |cell: &Cell, verdict: Verdict| {
        let (name, level) = (cell.variant.clone(), cell.level);
        validity
            .iter()
            .filter(move |found| found.verdict == verdict && found.variant == name && found.level == level)
            .map(|found| found.rule.as_str())
    };
    let of = |variant: &Variant| -> Option<Fit> {
        let used: Vec<&Cell> = cells
            .iter()
            .filter(|cell| cell.variant == variant.name && cell.unit_time_ms.n > 0 && variant.is_whole_at(cell.level))
            .filter(|cell| doubts(cell, Verdict::Refused).next().is_none())
            .collect();
        let mut points: Vec<(f64, f64)> = used.iter().map(|cell| (cell.level as f64, cell.unit_time_ms.mean)).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let marks: BTreeSet<&str> = used.iter().flat_map(|cell| doubts(cell, Verdict::Marked)).collect();
        Some(Fit { marks: marks.into_iter().map(str::to_owned).collect(), ..fit(&variant.name, &points)? })
    };
    experiment.variants.iter().filter_map(of).collect()
}

/// The fit of (n, T) with n ascending; absent of too few or of what is no time.
fn fit(variant: &str, points: &[(f64, f64)]) -> Option<Fit> {
    if points.len() < LEVELS_MIN || points.iter().any(|(_, time)| !(time.is_finite() && *time > 0.0)) {
        return None;
    }
    // Divided by T: 1 = a / T + b n / T, so that each level's relative error counts alike.
    let (mut uu, mut uv, mut vv, mut u1, mut v1) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (n, time) in points {
        let (u, v) = (1.0 / time, n / time);
        uu += u * u;
        uv += u * v;
        vv += v * v;
        u1 += u;
        v1 += v;
    }
    let determinant = uu * vv - uv * uv;
    if determinant <= f64::EPSILON * uu * vv {
        return None;
    }
    let fixed = (u1 * vv - v1 * uv) / determinant;
    let per_record = (v1 * uu - u1 * uv) / determinant;
    let squares: f64 = points.iter().map(|(n, time)| ((fixed + per_record * n) / time - 1.0).powi(2)).sum();
    let freedom = (points.len() - 2) as f64;
    let spread = squares / freedom;
    let half = interval::quantile(1.0 - ALPHA / 2.0, freedom);
    let n = points.len() as u32;
    let estimate = |mean: f64, variance: f64| {
        let half = half * variance.max(0.0).sqrt();
        Estimate { mean, low: mean - half, high: mean + half, n }
    };
    let residual_share = straight::residual_share(points.iter().map(|(n, time)| (fixed + per_record * n, *time)))?;
    let (first, last) = (points.first()?, points.last()?);
    let fixed_ms = estimate(fixed, spread * vv / determinant);
    let is_nothing = fixed_ms.low <= 0.0;
    let doubt = straight::doubt(residual_share, RESIDUAL_SHARE_MAX, "levels")
        .or_else(|| is_nothing.then(|| "the fixed part may as well be nothing: too small to be told".to_owned()));
    Some(Fit {
        variant: variant.to_owned(),
        fixed_ms,
        per_record_ms: estimate(per_record, spread * uu / determinant),
        residual_share,
        level_min: first.0 as u64,
        level_max: last.0 as u64,
        marks: Vec::new(),
        doubt,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::synthetic::Noise;

    const LEVELS: [f64; 8] = [5.0, 10.0, 50.0, 100.0, 500.0, 1000.0, 5000.0, 20_000.0];

    #[test]
    fn a_straight_line_is_found_with_its_parts() {
        let points = LEVELS.map(|n| (n, 2.0 + 0.05 * n));
        let fit = fit("v", &points).unwrap();
        assert!((fit.fixed_ms.mean - 2.0).abs() < 1e-9 && (fit.per_record_ms.mean - 0.05).abs() < 1e-9);
        assert_eq!((fit.level_min, fit.level_max, fit.doubt), (5, 20_000, None));
    }

    #[test]
    fn intervals_hold_the_truth_under_relative_noise() {
        let mut noise = Noise::of(3);
        let (mut fixed, mut per_record) = (0, 0);
        for _ in 0..400 {
            let points = LEVELS.map(|n| (n, (2.0 + 0.05 * n) * (1.0 + 0.05 * noise.normal())));
            let fit = fit("v", &points).unwrap();
            fixed += u32::from((fit.fixed_ms.low..=fit.fixed_ms.high).contains(&2.0));
            per_record += u32::from((fit.per_record_ms.low..=fit.per_record_ms.high).contains(&0.05));
        }
        assert!((360..=398).contains(&fixed) && (360..=398).contains(&per_record), "{fixed} and {per_record} of 400");
    }

    #[test]
    fn what_is_no_straight_line_says_so() {
        let steps = LEVELS.map(|n: f64| (n, 20.0 * (n / 1000.0).ceil()));
        assert!(fit("v", &steps).unwrap().doubt.unwrap().contains("off a straight line"));
        assert!(
            fit("v", &LEVELS.map(|n| (n, 0.05 * n - 0.02))).unwrap().doubt.unwrap().contains("may as well be nothing")
        );
    }

    #[test]
    fn refused_cells_and_modes_that_are_not_whole_do_not_count_and_marks_are_carried() {
        let mut run = crate::fixture::batching(&[5, 10, 20, 50, 100, 200, 500, 1000]);
        let found = |level: u64, verdict: Verdict| Validity {
            variant: "batch-100".to_owned(),
            level,
            rule: "steal".to_owned(),
            verdict,
            ..crate::fixture::protocol().validity[0].clone()
        };
        let fit_of = |run: &crate::results::RunResult, validity: &[Validity]| {
            fits(&run.experiment, &run.cells, validity).into_iter().find(|fit| fit.variant == "batch-100")
        };
        let whole = fit_of(&run, &[found(200, Verdict::Marked), found(5, Verdict::Marked)]).unwrap();
        assert_eq!((whole.level_min, whole.fixed_ms.n, whole.marks), (100, 4, vec!["steal".to_owned()]));
        assert_eq!(fit_of(&run, &[found(200, Verdict::Refused)]), None, "three levels are left");
        run.cells.retain(|cell| cell.level < 100);
        assert_eq!(fit_of(&run, &[]), None);
    }

    #[test]
    fn too_few_levels_and_times_that_are_none_have_no_fit() {
        assert_eq!(fit("v", &[(5.0, 1.0), (10.0, 2.0)]), None);
        assert_eq!(fit("v", &[(5.0, 1.0), (10.0, 0.0), (20.0, 4.0)]), None);
    }
}
