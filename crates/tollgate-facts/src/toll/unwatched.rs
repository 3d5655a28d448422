//! The rule of CPU time that was not watched: a process that works for one of two variants and not for the other.
//!
//! A proxy that passes requests on looks cheap if its backend is not watched.

use super::pair::Pair;
use crate::results::Unwatched;

/// The reason why the CPU time and the instructions of one variant are only a part: its processes ask one that nobody
/// watches, and that is not asked for the other one, too.
pub(super) fn asked_by_one(pair: &Pair<'_>) -> Option<String> {
    let of = |name: &str| pair.run.unwatched.iter().filter(|found| found.variant == name).collect::<Vec<_>>();
    let [variants, baselines] = [pair.variant, pair.baseline].map(of);
    let lacks =
        |found: &Unwatched, in_other: &[&Unwatched]| in_other.iter().all(|other| other.process != found.process);
    let only = variants.iter().find(|found| lacks(found, &baselines));
    let Unwatched { variant, watched, process, name, cpu_share } =
        only.or_else(|| baselines.iter().find(|found| lacks(found, &variants)))?;
    let flags: Vec<String> =
        watched.iter().chain([process]).map(|process| format!("--subject-pid {variant}={process}")).collect();
    Some(format!(
        "{variant} asks {name} (process {process}) on this machine, which is not watched and used {cpu_share:.1}x the CPU time \
         of {variant} in its warm-up: name all of its processes ({}; for `versus` --pid)",
        flags.join(" ")
    ))
}
