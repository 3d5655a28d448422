//! The self-check: the same thing under two names is compared again and again, as a run compares two variants. The
//! number of differences shows whether this machine can measure tolls; the width of the intervals shows the smallest
//! one.
//!
//! It has no rules of its own: every comparison is a whole run, and its ratios are those of [`tollgate_facts::toll`].
//! Only the verdict `joint`, which withholds a claim, is ignored here, since the question is whether the intervals are
//! true.

mod judge;

use std::path::Path;

use serde::Serialize;

use crate::conduct::conductor::Ending;
use crate::conduct::options::{Observer, RunError, RunOptions};
use crate::conduct::stop::StopFlag;
use crate::experiment::Experiment;
use crate::plan::{Extent, Plan, PlanOptions};
use crate::run;
pub use judge::significant_most;
use tollgate_facts::results::{Figure, RunResult, TollVerdict};
use tollgate_facts::toll;

/// Comparisons of a complete self-check.
pub const COMPARISONS: u32 = 20;

/// Figures that are compared.
const FIGURES: [Figure; 2] = [Figure::UnitTime, Figure::SubjectCpu];

const EXPERIMENT: &str = include_str!("../../../experiments/selfcheck.toml");

/// Result of a self-check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Selfcheck {
    /// `quick`, `default` or `full`: the result applies to runs of that extent.
    pub extent: String,
    /// Blocks of each comparison.
    pub blocks: u32,
    /// Least length of a trial in milliseconds.
    pub slice_ms: f64,
    /// Whether tolls measured on this machine can be trusted.
    pub verdict: Fitness,
    /// Comparisons requested.
    pub asked: u32,
    /// Comparisons with a significant difference, at 5 % and by Holm over the figures of a comparison.
    pub significant: usize,
    /// Most such comparisons allowed: by chance more occur in less than one self-check of fifty.
    pub significant_most: usize,
    /// The largest share of runs with a false claim (0 to 1) that is compatible with this many of the judged
    /// comparisons: the exact upper bound, 95 %.
    pub false_claims_most_share: f64,
    /// Comparisons in which a figure was refused, so that no difference could be seen.
    pub unjudged: usize,
    /// Smallest visible toll of each figure.
    pub sights: Vec<Sight>,
    /// All comparisons in their order.
    pub comparisons: Vec<Comparison>,
}

/// Whether tolls measured on a machine can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// Differences between equals are as rare as by chance.
    Fit,
    /// Differences are too frequent, or too many comparisons were refused.
    Refused,
    /// Fewer than [`COMPARISONS`] were requested: no evidence against the machine, but too little for it.
    TooFew,
    /// It was interrupted.
    Incomplete,
}

/// Visibility of tolls in one figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sight {
    /// The figure.
    pub figure: Figure,
    /// The smallest toll that four runs of five see, by itself and before Holm, as a share: 0.02 is 2 %.
    pub smallest_toll: f64,
    /// The smallest toll that four runs of five see as one of `among_tolls`, after Holm and whatever the others are, as
    /// a share.
    pub smallest_toll_among_share: f64,
    /// Tolls in a run of `protocol` of the same extent.
    pub among_tolls: usize,
    /// Half the width of the 95 % interval, as a share; the median of the comparisons.
    pub half_width: f64,
    /// Standard deviation of the comparisons' ratios, as a share: if it is larger than the intervals suggest, starts
    /// differ.
    pub spread: f64,
    /// Comparisons whose interval does not contain 1, each by itself.
    pub apart: usize,
    /// Comparisons in which a run would have withheld the toll, as generator and subject competed for the same cores.
    pub joint: usize,
    /// Comparisons with this figure.
    pub n: usize,
}

/// One comparison of a variant with itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Seed of its run.
    pub seed: u64,
    /// Whether it showed a difference in any figure.
    pub is_significant: bool,
    /// Ratio of each figure; refused ones are missing.
    pub claims: Vec<Claim>,
    /// Reasons why figures are missing.
    pub refused: Vec<String>,
}

/// The ratio of one figure in one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Claim {
    /// The figure.
    pub figure: Figure,
    /// Ratio of `again` to `once`.
    pub ratio: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// Probability of such a difference by chance, by Holm over the figures of the comparison.
    pub p_adjusted: f64,
    /// Values behind it: blocks, or starts if its interval is over those.
    pub n: usize,
    /// Whether generator and subject competed for the same cores.
    pub is_joint: bool,
    #[serde(skip)]
    error: f64,
}

/// Returns the experiment that compares a variant with itself.
pub fn experiment() -> Experiment {
    Experiment::parse(EXPERIMENT, "selfcheck.toml").expect("the built-in experiment is right, as a test shows")
}

/// Returns the number of tolls in a run of `protocol`: for each variant with a baseline, at each level, time, CPU time
/// and bytes; instructions are a separate family.
fn tolls_of_protocol(extent: Extent) -> usize {
    let protocol = Experiment::builtin("protocol").expect("the built-in experiment is right, as a test shows");
    let options = PlanOptions { extent, ..PlanOptions::default() };
    let plan =
        Plan::new(&protocol, &options).expect("an extent of a built-in experiment can be planned, as a test shows");
    let with_baseline = plan.variants_of(&protocol).filter(|variant| variant.baseline.is_some()).count();
    let is_compared = |figure: &&Figure| !figure.is_at_rate() && !figure.is_second_ruler();
    with_baseline * plan.levels.len() * toll::FIGURES.iter().filter(is_compared).count()
}

/// Compares `asked` times; runs are kept in numbered folders below `folder`. If interrupted, it returns the result so
/// far.
///
/// # Errors
/// The reason why a run failed.
pub fn check(
    options: &RunOptions,
    asked: u32,
    folder: &Path,
    observer: &dyn Observer,
    stop: &StopFlag,
) -> Result<Selfcheck, RunError> {
    let plan = run::check(options)?;
    let mut comparisons = Vec::new();
    for number in 0..asked {
        let options = RunOptions {
            out: Some(folder.join((number + 1).to_string())),
            seed: options.seed.map(|seed| seed.wrapping_add(number.into())),
            ..options.clone()
        };
        let outcome = match run::run(&options, observer, stop) {
            Err(_) if stop.is_stopped() => break,
            outcome => outcome?,
        };
        match outcome.ending {
            Ending::Complete => comparisons.push(Comparison::of(&outcome.result)),
            Ending::Interrupted => break,
            Ending::SubjectFailed | Ending::LabFailed => {
                let reason = outcome.result.reason.unwrap_or_else(|| "the run failed".to_owned());
                return Err(RunError::Failed(format!("comparison {} of {asked}: {reason}", number + 1)));
            }
        }
    }
    Ok(Selfcheck::of(&plan, asked, comparisons))
}

impl Selfcheck {
    fn of(plan: &Plan, asked: u32, comparisons: Vec<Comparison>) -> Selfcheck {
        let significant = comparisons.iter().filter(|comparison| comparison.is_significant).count();
        let unjudged = comparisons.iter().filter(|comparison| !comparison.refused.is_empty()).count();
        let is_judged = |comparison: &&Comparison| comparison.refused.is_empty() || comparison.is_significant;
        let judged = comparisons.iter().filter(is_judged).count();
        let among = tolls_of_protocol(plan.extent);
        Selfcheck {
            extent: plan.extent.to_string(),
            blocks: plan.blocks,
            slice_ms: plan.slice.as_secs_f64() * 1e3,
            verdict: judge::fitness(asked as usize, comparisons.len(), significant, unjudged),
            asked,
            significant,
            significant_most: significant_most(asked as usize),
            false_claims_most_share: judge::false_claims_most(significant, judged),
            unjudged,
            sights: FIGURES.into_iter().filter_map(|figure| judge::sight(figure, &comparisons, among)).collect(),
            comparisons,
        }
    }
}

impl Comparison {
    /// Creates a comparison from a finished run of two equals.
    fn of(run: &RunResult) -> Comparison {
        let (mut seen, mut refused) = (Vec::new(), Vec::new());
        for figure in FIGURES {
            match run.tolls.iter().find(|toll| toll.figure == figure) {
                Some(toll) if toll.verdict != TollVerdict::Refused => {
                    seen.push((figure, toll.verdict == TollVerdict::Joint, toll::block_log_ratios(run, toll)));
                }
                Some(toll) => refused.push(toll.note.clone().unwrap_or_else(|| "refused".to_owned())),
                None => refused.push("a figure was not measured".to_owned()),
            }
        }
        judge::comparison(run.seed, &seen, refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_served_twice_and_a_quick_check_takes_minutes() {
        let experiment = experiment();
        let [once, again] = &experiment.variants[..] else { panic!("two variants") };
        assert_eq!((&once.at, &once.request), (&again.at, &again.request));
        let options = PlanOptions { extent: Extent::Quick, ..PlanOptions::default() };
        let plan = Plan::new(&experiment, &options).unwrap();
        assert_eq!(plan.subjects, 2, "a process each, as of two variants");
        assert!(plan.duration() * COMPARISONS < std::time::Duration::from_secs(240), "{:?}", plan.duration());
    }

    #[test]
    fn the_tolls_of_protocol_are_counted_as_a_run_has_them() {
        let tolls = [Extent::Quick, Extent::Default, Extent::Full].map(tolls_of_protocol);
        assert_eq!(tolls, [30, 60, 60], "5 variants over a baseline, 3 figures, 2 or 4 levels");
    }

    #[test]
    fn comparisons_that_nothing_could_be_seen_in_say_nothing_of_the_share_of_false_claims() {
        let plan = Plan::new(&experiment(), &PlanOptions::default()).unwrap();
        let comparison = |refused: &[&str]| Comparison {
            seed: 1,
            is_significant: false,
            claims: Vec::new(),
            refused: refused.iter().map(|&text| text.to_owned()).collect(),
        };
        let mut comparisons = vec![comparison(&[]); 17];
        comparisons[..3].iter_mut().for_each(|comparison| comparison.is_significant = true);
        comparisons.extend(vec![comparison(&["refused"]); 3]);
        let found = Selfcheck::of(&plan, 20, comparisons);
        assert_eq!((found.significant, found.unjudged, found.verdict), (3, 3, Fitness::Fit));
        assert!((found.false_claims_most_share - judge::false_claims_most(3, 17)).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn the_ratios_are_those_of_the_run() {
        let mut run = tollgate_facts::fixture::protocol();
        let toll = run.tolls.iter().find(|toll| toll.figure == Figure::UnitTime).unwrap().clone();
        run.tolls.retain(|other| other.variant == toll.variant && other.level == toll.level);
        let found = Comparison::of(&run);
        let claim = found.claims.iter().find(|claim| claim.figure == Figure::UnitTime);
        let refused = toll.verdict == TollVerdict::Refused;
        assert_eq!(claim.is_none(), refused);
        if let Some(claim) = claim {
            assert!((claim.ratio / toll.ratio - 1.0).abs() < 1e-9, "{claim:?} {toll:?}");
        }
    }
}
