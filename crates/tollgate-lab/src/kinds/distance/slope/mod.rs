//! The line through a batch's times over distances: time of a document = at rest + round trips x delay of the link; and
//! predictions from it for more processes and for distances with names.
//!
//! Each block has its own line, by least squares on relative errors since times span two powers of ten; intervals are
//! Student's t over the blocks. Pure: stored trials go in. It judges no cell.

use std::collections::BTreeSet;

use super::file::Preset;
use crate::judge::cells::by_block;
use tollgate_facts::results::{
    Bound, Cell, Estimate, Hinge, PresetFound, PresetVerdict, RunResult, Slope, Toll, Trial, Verdict,
};
use tollgate_facts::stats::{self, mean, straight};

/// Fewest links for a line: two points are always on one.
const LINKS_MIN: usize = 3;
/// Largest typical distance of times from a line, as a share; beyond it the line is doubtful.
const RESIDUAL_SHARE_MAX: f64 = 0.1;

/// The line at the lowest level over the first `blocks` blocks; absent with too few links or blocks. Refused cells and
/// distances with names do not count.
pub(crate) fn slope(run: &RunResult, presets: &[Preset], blocks: u32) -> Option<Slope> {
    let level = *run.experiment.levels.first()?;
    let is_refused = |name: &str| run.rules_of(name, level, Verdict::Refused).next().is_some();
    let names = run.experiment.variants.iter().map(|variant| variant.name.as_str());
    let is_named = |name: &str| presets.iter().any(|preset| preset.name == name);
    let names: Vec<&str> = names.filter(|name| !is_named(name) && !is_refused(name)).collect();
    let base = run.experiment.variants.iter().find(|variant| variant.baseline.is_none())?.name.as_str();
    let own: Vec<&Trial> = run.trials.iter().filter(|trial| trial.level == level && trial.block < blocks).collect();
    let mut lines = Vec::new();
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for block in by_block(&own).values() {
        let of = |name: &str| block.iter().copied().filter(|trial| trial.variant == name).collect::<Vec<&Trial>>();
        let Some(without_us) = link_us(&of(base)) else { continue };
        // What the link adds, and the time.
        let point = |name: &&str| {
            let trials = of(name);
            Some((link_us(&trials)? - without_us, time_us(&trials)?))
        };
        let Some(points) = names.iter().map(point).collect::<Option<Vec<(f64, f64)>>>() else { continue };
        let Some(line) = line(&points) else { continue };
        pairs.extend(points.iter().map(|(added_us, time_us)| (line.0 + line.1 * added_us, *time_us)));
        lines.push(line);
    }
    let of = |value: fn(&(f64, f64)) -> f64| stats::estimate(&lines.iter().map(value).collect::<Vec<f64>>());
    let at_rest_us = of(|line| line.0);
    if lines.len() < 2 || at_rest_us.mean <= 0.0 {
        return None;
    }
    let residual_share = straight::residual_share(pairs)?;
    let counted: Vec<f64> =
        own.iter().filter_map(|trial| per_document(trial, trial.batch?.round_trips as f64)).collect();
    Some(Slope {
        level,
        at_rest_us,
        round_trips: of(|line| line.1),
        share_per_us: of(|line| line.1 / line.0),
        counted: mean(&counted)?,
        residual_share,
        variants: names.iter().map(|name| (*name).to_owned()).collect(),
        doubt: straight::doubt(residual_share, RESIDUAL_SHARE_MAX, "cells"),
    })
}

/// Expected times of the cells with several processes, from one process: its CPU time shared by the cores, the
/// database's CPU time shared by its cores, or the whole shared by the processes, whichever is largest.
pub(crate) fn hinges(run: &RunResult, slope: &Slope, batch_cores: u32, database_cores: u32) -> Vec<Hinge> {
    let base = run.experiment.variants.iter().find(|variant| variant.baseline.is_none());
    let Some(alone) = base.and_then(|base| run.cell(&base.name, slope.level)) else { return Vec::new() };
    let shared =
        |used_us: Option<f64>, cores: u32| used_us.filter(|_| cores > 0).map_or(0.0, |us| us / f64::from(cores));
    let by_cores = shared(alone.subject.map(|used| used.cpu_us_per_request.mean), batch_cores);
    let by_database = shared(alone.backend.map(|used| used.cpu_us_per_request.mean), database_cores);
    let of = |cell: &Cell| {
        let added_us = cell.batch?.added_us?.mean;
        let by_processes = slope.at_us(added_us) / cell.level.max(1) as f64;
        let bounds = [(by_processes, Bound::Processes), (by_cores, Bound::Cores), (by_database, Bound::Database)];
        let (expected_us, bound) = bounds.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
        Some(Hinge { variant: cell.variant.clone(), level: cell.level, added_us, expected_us, bound })
    };
    run.cells.iter().filter_map(of).collect()
}

/// The delay that each preset needs, by the line, and whether the link can keep it: before any of them is run.
pub(crate) fn presets(presets: &[Preset], slope: Option<&Slope>, accurate_from_us: Option<f64>) -> Vec<PresetFound> {
    let of = |preset: &Preset| {
        let asked_us = slope.map(|slope| preset.share * slope.at_rest_us.mean / slope.round_trips.mean);
        let refused = match (asked_us, accurate_from_us) {
            (None, _) => Some("there is no line to compute it from".to_owned()),
            (Some(us), _) if !us.is_finite() || us < 0.0 => Some("by the line distance costs nothing".to_owned()),
            (Some(us), Some(least)) if us > 0.0 && us < least => {
                Some(format!("{us:.1} µs would be needed, and this link is accurate from {least:.0} µs on"))
            }
            (Some(us), None) if us > 0.0 => Some(format!("{us:.1} µs would be needed, and no delay is kept here")),
            (Some(_), _) => None,
        };
        PresetFound {
            name: preset.name.clone(),
            share: preset.share,
            asked_us,
            predicted: None,
            found: None,
            verdict: if refused.is_some() { PresetVerdict::Refused } else { PresetVerdict::Open },
            reason: refused.unwrap_or_else(|| "it was not run to its end".to_owned()),
        }
    };
    presets.iter().map(of).collect()
}

/// Largest deviation that both intervals may allow in a conclusive comparison: ten points, or [`ALLOWED_SHARE`] of the
/// time with the overhead.
const ALLOWED_LEAST: f64 = 0.1;
const ALLOWED_SHARE: f64 = 0.25;

/// Compares a preset's measured overhead with the line's prediction for the delay that the link really added.
pub(crate) fn confirm(preset: &mut PresetFound, slope: &Slope, toll: Option<&Toll>, cell: Option<&Cell>) {
    let Some((toll, added)) = toll.filter(|toll| toll.is_shown()).zip(cell.and_then(|cell| cell.batch?.added_us))
    else {
        return;
    };
    let per_us = slope.share_per_us;
    // The delay is measured, too: its own interval counts.
    let relative = |estimate: Estimate| half(estimate) / estimate.mean.abs().max(f64::MIN_POSITIVE);
    let middle = per_us.mean * added.mean;
    let spread = match middle == 0.0 {
        true => per_us.mean * half(added),
        false => middle.abs() * relative(per_us).hypot(relative(added)),
    };
    let predicted = Estimate { mean: middle, low: middle - spread, high: middle + spread, n: per_us.n };
    let found = Estimate { mean: toll.ratio - 1.0, low: toll.low - 1.0, high: toll.high - 1.0, n: toll.blocks };
    let apart = found.mean - predicted.mean;
    let allowed = half(found).hypot(half(predicted));
    let percent = |share: f64| format!("{:+.1} %", share * 100.0);
    let telling = ALLOWED_LEAST.max(ALLOWED_SHARE * (1.0 + predicted.mean.max(0.0)));
    let (verdict, joint, why) = match apart.abs() <= allowed {
        false => (PresetVerdict::Off, "beyond", ""),
        true if slope.doubt.is_some() => (PresetVerdict::Unclear, "within", ", but the line itself is doubtful"),
        true if allowed > telling => (PresetVerdict::Unclear, "within", ", which nearly anything would be"),
        true => (PresetVerdict::Confirmed, "within", ""),
    };
    preset.verdict = verdict;
    preset.reason = format!(
        "found {} where the line says {}: {joint} the ±{:.1} % that both intervals allow{why}",
        percent(found.mean),
        percent(predicted.mean),
        allowed * 100.0
    );
    (preset.predicted, preset.found) = (Some(predicted), Some(found));
}

/// A value of a trial per document.
pub(crate) fn per_document(trial: &Trial, value: f64) -> Option<f64> {
    let documents = trial.batch?.stored;
    (documents > 0).then(|| value / documents as f64)
}

fn half(estimate: Estimate) -> f64 {
    (estimate.high - estimate.low) / 2.0
}

fn link_us(trials: &[&Trial]) -> Option<f64> {
    let times: Option<Vec<f64>> = trials.iter().map(|trial| trial.batch?.link_us).collect();
    mean(&times?)
}

fn time_us(trials: &[&Trial]) -> Option<f64> {
    let times: Option<Vec<f64>> = trials.iter().map(|trial| per_document(trial, trial.duration_ms * 1e3)).collect();
    mean(&times?).filter(|time| *time > 0.0)
}

/// Height and slope of the line, by least squares on relative errors.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let links: BTreeSet<u64> = points.iter().map(|(added_us, _)| added_us.to_bits()).collect();
    let line = straight::line(points, |time_us| time_us.powi(-2)).filter(|_| links.len() >= LINKS_MIN)?;
    Some((line.height.mean, line.slope.mean))
}

#[cfg(test)]
mod tests;
