//! The rule of CPU time that was not watched: a process that works for one of two variants and not for the other.
//!
//! A proxy that passes requests on looks cheap if its backend is not watched.

use super::pair::Pair;
use crate::results::Unwatched;

/// The reason why the CPU time and the instructions of one variant are incomplete: a process works for it that is not
/// counted there, and that does not work for the other one likewise.
pub(super) fn works_for_one(pair: &Pair<'_>) -> Option<String> {
    let of = |name: &str| pair.run.unwatched.iter().filter(|found| found.variant == name).collect::<Vec<_>>();
    let [variants, baselines] = [pair.variant, pair.baseline].map(of);
    let lacks =
        |found: &Unwatched, in_other: &[&Unwatched]| in_other.iter().all(|other| other.process != found.process);
    let only = variants.iter().find(|found| lacks(found, &baselines));
    let Unwatched { variant, watched, process, name, cpu_share } =
        only.or_else(|| baselines.iter().find(|found| lacks(found, &variants)))?;
    let flag = if pair.run.command.get(1).is_some_and(|verb| verb == "versus") { "--pid" } else { "--subject-pid" };
    let all = watched.iter().chain([process]).map(|process| format!("{flag} {variant}={process}"));
    Some(format!(
        "{name} (process {process}) works for {variant} and is not watched there: it used {cpu_share:.1}x the CPU time of \
         {variant} in its warm-up. Name all processes: {}",
        all.collect::<Vec<_>>().join(" ")
    ))
}
