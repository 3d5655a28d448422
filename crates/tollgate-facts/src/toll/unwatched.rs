//! The rules of CPU time that was not watched: a process that one of two variants asks and the other does not, and other
//! programs that used more CPU time beside one of them.
//!
//! A proxy that passes requests on looks cheap if its backend is not watched. Independent programs of the machine use
//! about the same beside either of them, block by block.

use super::pair::{Logs, Pair};
use crate::results::{Piece, Trial, Unwatched};
use crate::stats::{by_key, mean, mean_interval};

/// Probability of a refusal where other programs use the same beside both.
const FALSE_REFUSAL: f64 = 0.001;
/// A smaller share of the watched CPU time changes no conclusion.
const SHARE_MIN: f64 = 0.1;
/// A smaller share of the difference in watched CPU time changes no conclusion.
const DIFFERENCE_SHARE_MIN: f64 = 0.5;

/// The reason why the CPU time and the instructions of one variant are only a part: its processes ask one that nobody
/// watches, and that is not asked for the other one, too.
pub(super) fn asked_by_one(pair: &Pair<'_>) -> Option<String> {
    let of = |name: &str| pair.run.unwatched.iter().filter(|found| found.variant == name).collect::<Vec<_>>();
    let [variants, baselines] = [pair.variant, pair.baseline].map(of);
    let lacks =
        |found: &Unwatched, in_other: &[&Unwatched]| in_other.iter().all(|other| other.process != found.process);
    let only = variants.iter().find(|found| lacks(found, &baselines));
    let Unwatched { variant, watched, process, name } =
        only.or_else(|| baselines.iter().find(|found| lacks(found, &variants)))?;
    let flags: Vec<String> =
        watched.iter().chain([process]).map(|process| format!("--subject-pid {variant}={process}")).collect();
    Some(format!(
        "{variant} asks {name} (process {process}) on this machine, which is not watched, so its CPU time is a part: name \
         all of its processes ({}; for `versus` --pid)",
        flags.join(" ")
    ))
}

/// The reason why a toll on CPU time is not the whole difference. Absent where nothing shows it.
pub(super) fn reason(pair: &Pair<'_>) -> Option<String> {
    let sides = |of: fn(&Trial) -> Option<f64>| pair.trials.each_ref().map(|trials| by_block(trials, of));
    let [beside_variant, beside_baseline] = sides(|trial| Some(trial.others_cpu_us? / pieces(trial)));
    let watched = sides(|trial| Some(trial.subject_cpu_us? / pieces(trial)));
    let more = beside_variant.iter().filter_map(|(block, us)| Some(us - beside_baseline.get(block)?));
    let interval = mean_interval(&more.collect::<Vec<f64>>(), FALSE_REFUSAL)?;
    let [variant_us, baseline_us] = watched.map(|blocks| mean(&blocks.into_values().collect::<Vec<f64>>()));
    let (variant_us, baseline_us) = (variant_us?, baseline_us?);
    let bound_us =
        (SHARE_MIN * variant_us.max(baseline_us)).max(DIFFERENCE_SHARE_MIN * (variant_us - baseline_us).abs());
    let is_there = interval.low > 0.0 || interval.high < 0.0;
    (is_there && interval.mean.abs() >= bound_us).then(|| {
        let (name, than) = match interval.mean > 0.0 {
            true => (pair.variant, pair.baseline),
            false => (pair.baseline, pair.variant),
        };
        let piece = match pair.run.experiment.piece {
            Piece::Record => "record",
            _ => "request",
        };
        let us = interval.mean.abs();
        format!(
            "other programs used {us:.0} µs more CPU time per {piece} beside {name} than beside {than}: a process that works \
             for it is not watched, such as a backend; name all of its processes"
        )
    })
}

/// The pieces of work that a CPU time is divided by.
fn pieces(trial: &Trial) -> f64 {
    if trial.records > 0 { trial.records as f64 } else { trial.requests.max(1) as f64 }
}

fn by_block(trials: &[&Trial], of: fn(&Trial) -> Option<f64>) -> Logs {
    let told = by_key(trials.iter().filter_map(|trial| Some((trial.block, of(trial)?))));
    told.into_iter().filter_map(|(block, values)| Some((block, mean(&values)?))).collect()
}
