//! The effect of a doubt about a cell on its figures, and on the tolls that are made of them: decided here for the
//! tolls of a run and for runs side by side.

use super::{drifting, ranks};
use crate::results::{Figure, Toll, Validity, Verdict};
use crate::rules::{self, DIFFERENT_BACKEND, DIFFERENT_HOST, DRIFT, FEW_ROUNDS, RANKS};

/// Rules that compare a variant with its own baseline: a finding on a baseline is about another toll.
const PAIR_RULES: [&str; 2] = [DIFFERENT_BACKEND.name, DIFFERENT_HOST.name];
/// Rules about single tolls, each with findings of its own.
const TOLL_RULES: [&str; 2] = [RANKS.name, DRIFT.name];

/// The remaining use of a figure, from the worst to the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// None: it is refused.
    Refused,
    /// It is the generator's and the subject's together.
    Joint,
    /// It can be used with the doubt beside it.
    Marked,
    /// The doubt is about something else.
    Whole,
}

impl Figure {
    /// The remaining use of the figure under this doubt.
    pub(crate) fn left_by(self, doubt: &Validity) -> Left {
        let rule = doubt.rule.as_str();
        let is_of_other_load = rules::is_at_rate(rule) && !self.is_at_rate();
        // A time is shared by generator and subject when both are at their limit.
        let is_time = self == Figure::UnitTime;
        match doubt.verdict {
            Verdict::Ok => Left::Whole,
            _ if is_of_other_load || TOLL_RULES.contains(&rule) => Left::Whole,
            Verdict::Refused => Left::Refused,
            Verdict::Marked if is_time && rule == FEW_ROUNDS.name => Left::Refused,
            Verdict::Marked if is_time && rules::is_joint(rule) => Left::Joint,
            Verdict::Marked => Left::Marked,
        }
    }
}

impl Toll {
    /// The doubts about it, each rule with its finding: those of variant and baseline that concern the figure, whether
    /// the ranks disagree, and whether it changed while it was measured.
    pub(crate) fn doubts(&self, validity: &[Validity]) -> Vec<String> {
        let told = |doubt: &Validity| {
            let (rule, reason) = (doubt.rule.as_str(), &doubt.reason);
            let of_baseline = doubt.variant == self.baseline && !PAIR_RULES.contains(&rule);
            match doubt.level == self.level && self.figure.left_by(doubt) != Left::Whole {
                true if doubt.variant == self.variant => Some(format!("{rule}: {reason}")),
                true if of_baseline => Some(format!("{rule}: {} at {}: {reason}", doubt.variant, doubt.level)),
                _ => None,
            }
        };
        let ranks = ranks::words(self).map(|words| format!("{}: {words}", RANKS.name));
        let drifts = validity.iter().filter(|doubt| drifting::is_of(self, doubt));
        let drift = drifts.map(|doubt| format!("{}: {}", doubt.rule, doubt.reason));
        validity.iter().filter_map(told).chain(ranks).chain(drift).collect()
    }
}
