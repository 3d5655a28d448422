//! Groups of figures whose claims are adjusted for their number together: instructions measure the same as CPU time,
//! and are a family of claims by themselves.
//!
//! So the claims about time or CPU are as strict on a machine whose processor counts instructions as on any other.

use crate::results::Figure;

impl Figure {
    /// Whether it measures the same work once more.
    pub fn is_second_ruler(self) -> bool {
        self == Self::Instructions
    }
}

/// The groups that are adjusted together: all but the second ruler, and that.
pub(crate) fn by_ruler<T>(all: impl IntoIterator<Item = T>, figure: impl Fn(&T) -> Figure) -> [Vec<T>; 2] {
    let (second, first) = all.into_iter().partition(|one| figure(one).is_second_ruler());
    [first, second]
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::results::{Figure, RunResult, Toll, TollVerdict};
    use crate::toll::{FIGURES, compute};

    fn of(tolls: &[Toll], figure: Figure) -> Vec<&Toll> {
        tolls.iter().filter(|toll| toll.figure == figure).collect()
    }

    #[test]
    fn instructions_have_tolls_and_make_no_claim_of_time_or_cpu_harder() {
        let [with, without] = [fixture::counted(), fixture::protocol()].map(|run| run.tolls);
        let counted = of(&with, Figure::Instructions);
        assert_eq!(counted.len(), of(&with, Figure::SubjectCpu).len());
        assert!(counted.iter().all(|toll| toll.is_shown() && toll.low < toll.ratio && toll.ratio < toll.high));
        assert!(of(&without, Figure::Instructions).is_empty());
        for figure in FIGURES.into_iter().filter(|figure| !figure.is_second_ruler()) {
            assert_eq!(of(&with, figure), of(&without, figure), "{figure:?}");
        }
    }

    #[test]
    fn instructions_are_adjusted_among_themselves_and_a_trial_without_a_count_leaves_its_block_out() {
        let variants = ["odata-v2-atom", "rest-json"];
        let mut run = fixture::counted();
        run.trials.retain(|trial| variants.contains(&trial.variant.as_str()) && trial.level == 1);
        run.cells.retain(|cell| variants.contains(&cell.variant.as_str()) && cell.level == 1);
        run.validity.clear();
        let toll = |run: &RunResult| compute(run).into_iter().find(|toll| toll.figure == Figure::Instructions).unwrap();
        let whole = toll(&run);
        assert_eq!((whole.verdict, whole.blocks), (TollVerdict::Dearer, 16));
        let alone = {
            let mut alone = run.clone();
            alone.trials.iter_mut().for_each(|trial| trial.subject_cpu_us = None);
            toll(&alone)
        };
        assert!((whole.p_adjusted - alone.p_adjusted).abs() < 1e-15, "CPU time beside it does not count");
        run.trials.iter_mut().find(|trial| trial.block == 3).unwrap().subject_instructions = None;
        assert_eq!(toll(&run).blocks, 15);
    }

    #[test]
    fn over_a_backend_by_itself_instructions_are_those_of_both() {
        let mut run = fixture::counted();
        let direct = run.experiment.variants.iter_mut().find(|variant| variant.name == "rest-json").unwrap();
        direct.backend = Some("echo".to_owned());
        let of = |run: &RunResult| {
            let is_it = |toll: &Toll| toll.figure == Figure::Instructions && toll.variant == "odata-v2-atom";
            compute(run).into_iter().find(is_it).unwrap()
        };
        let refused = of(&run);
        assert_eq!(refused.verdict, TollVerdict::Refused);
        assert!(refused.note.unwrap().contains("its instructions are a part: give --subject-pid rest-json"));
        let alone = fixture::counted().toll("odata-v2-atom", refused.level, Figure::Instructions).unwrap().ratio;
        for trial in run.trials.iter_mut().filter(|trial| trial.variant != "rest-json") {
            trial.backend_instructions = trial.subject_instructions;
        }
        assert!((of(&run).ratio / alone - 2.0).abs() < 1e-6);
    }
}
