//! The fixed cost of a transfer and that of each record: T(n) = a + b n, fitted to a variant's times over the levels.
//!
//! Least squares on relative errors, since times span four powers of ten and the small levels matter as much as the
//! large ones. It deliberately does not extrapolate, and does not hide that a mode follows no straight line.

use crate::results::{Cell, Fit, Piece, RunResult, Variant, Verdict};
use crate::stats::straight;
use std::collections::BTreeSet;

/// Fewest levels for a fit.
const LEVELS_MIN: usize = 4;
/// A fit that is typically further off than this share is no law.
const RESIDUAL_SHARE_MAX: f64 = 0.15;

/// The fits of all variants that insert records and have levels enough. Refused cells do not count, nor do those with
/// fewer records than the mode's batch or connections; the marks of marked ones are carried over.
pub fn fits(run: &RunResult) -> Vec<Fit> {
    if run.experiment.piece != Piece::Record {
        return Vec::new();
    }
    let of = |variant: &Variant| -> Option<Fit> {
        let rules = |cell: &Cell, verdict: Verdict| run.rules_of(&variant.name, cell.level, verdict);
        let is_whole =
            |cell: &&Cell| cell.variant == variant.name && cell.unit_time_ms.n > 0 && variant.is_whole_at(cell.level);
        let whole = run.cells.iter().filter(is_whole);
        let mut used: Vec<&Cell> = whole.filter(|cell| rules(cell, Verdict::Refused).next().is_none()).collect();
        used.sort_by_key(|cell| cell.level);
        let points: Vec<(f64, f64)> = used.iter().map(|cell| (cell.level as f64, cell.unit_time_ms.mean)).collect();
        let marks: BTreeSet<&str> = used.iter().flat_map(|cell| rules(cell, Verdict::Marked)).collect();
        Some(Fit { marks: marks.into_iter().map(str::to_owned).collect(), ..fit(&variant.name, &points)? })
    };
    run.experiment.variants.iter().filter_map(of).collect()
}

/// The fit of (n, T) with n ascending; absent for too few points or invalid times.
fn fit(variant: &str, points: &[(f64, f64)]) -> Option<Fit> {
    if points.len() < LEVELS_MIN || points.iter().any(|(_, time)| !(time.is_finite() && *time > 0.0)) {
        return None;
    }
    // Each level's relative error counts alike.
    let line = straight::line(points, |time| time.powi(-2))?;
    let residual_share = straight::residual_share(points.iter().map(|(n, time)| (line.at(*n), *time)))?;
    let (first, last) = (points.first()?, points.last()?);
    let is_nothing = line.height.low <= 0.0;
    let doubt = straight::doubt(residual_share, RESIDUAL_SHARE_MAX, "levels")
        .or_else(|| is_nothing.then(|| "the fixed part may as well be nothing: too small to be told".to_owned()));
    Some(Fit {
        variant: variant.to_owned(),
        fixed_ms: line.height,
        per_record_ms: line.slope,
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
    use crate::fixture::Noise;
    use crate::results::Validity;

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
        let fit_of = |run: &RunResult, validity: &[Validity]| {
            let run = RunResult { validity: validity.to_vec(), ..run.clone() };
            fits(&run).into_iter().find(|fit| fit.variant == "batch-100")
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
