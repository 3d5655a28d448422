//! The rule of tolls that still change while they are measured, though a warm-up came before.
//!
//! Blocks in mirrored order cancel what changes both variants alike; a variant that keeps getting faster alone has no
//! single toll, but another one at each time.

use super::{by_ruler, ranks};
use crate::results::{Drift, Toll, Validity};
use crate::rules::{DRIFT, marked_above};
use crate::stats::holm;

/// Probability of a mark in a run without any drift.
const FALSE_MARK: f64 = 0.01;
/// A toll that changes by less from its first block to its last one is the same.
const CHANGE_MIN: f64 = 0.05;

const REMEDY: &str = "warm the subject up by hand (a peer by `warm_up_s`), or find out what fills up: the toll is a mean over the change";

/// A mark for each toll that changes, by Holm among all of the run; of instructions among their own.
pub fn drifts(tolls: &[Toll]) -> Vec<Validity> {
    let told = tolls.iter().filter_map(|toll| Some((toll, toll.drift?)));
    by_ruler(told, |(toll, _)| toll.figure).into_iter().flat_map(marks).collect()
}

fn marks(told: Vec<(&Toll, Drift)>) -> Vec<Validity> {
    let adjusted = holm::adjust(&told.iter().map(|(_, drift)| drift.p).collect::<Vec<f64>>());
    let of = |((toll, drift), p): ((&Toll, Drift), f64)| {
        let (named, change) = (ranks::named(toll.figure), drift.change);
        let reason = format!(
            "{named} over {} changed by {:+.0} % from the first block to the last one (p = {p:.4})",
            toll.baseline,
            change * 1e2
        );
        let finding = marked_above(reason, REMEDY, (change.abs(), CHANGE_MIN)).filter(|_| p < FALSE_MARK)?;
        Some(finding.of(&toll.variant, toll.level, DRIFT.name))
    };
    told.into_iter().zip(adjusted).filter_map(of).collect()
}

/// Whether this doubt is that of the toll: the doubts of a cell are distinguished by the size of the change. A number
/// that was stored and read again may differ in its last digit.
pub fn is_of(toll: &Toll, doubt: &Validity) -> bool {
    let is_there = doubt.rule == DRIFT.name && (&doubt.variant, doubt.level) == (&toll.variant, toll.level);
    is_there && toll.drift.is_some_and(|drift| (drift.change.abs() - doubt.value).abs() < 1e-9)
}
