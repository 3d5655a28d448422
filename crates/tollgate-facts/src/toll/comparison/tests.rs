//! Comparisons with a peer on trials with known answers.

use super::*;
use crate::fixture;
use crate::results::{Figure, Gap, GapKind, TollVerdict, Validity, Verdict};
use crate::rules::DIFFERENT_BACKEND;
use crate::stats::ALPHA;

/// `batching` beside a peer that takes 20 times as long and 30 times the CPU time in every mode.
fn peers() -> crate::results::RunResult {
    fixture::beside_a_peer(&[20, 100, 1000])
}

#[test]
fn a_peer_is_compared_with_the_same_mode_level_and_distance_of_tollgate() {
    let run = peers();
    assert!(!run.comparisons.is_empty());
    for found in &run.comparisons {
        assert_eq!(found.variant, format!("cap-{}", found.against), "{found:?}");
        assert_eq!(found.peer, "cap");
        let expected = match found.figure {
            Figure::UnitTime => 20.0,
            Figure::SubjectCpu => 30.0,
            _ => 1.0,
        };
        let off = found.ratio / expected - 1.0;
        assert!(off.abs() < 0.1 && found.low <= found.ratio && found.ratio <= found.high, "{found:?}");
        let verdict = if found.figure == Figure::Bytes { TollVerdict::NoToll } else { TollVerdict::Dearer };
        assert_eq!((found.verdict, found.blocks), (verdict, 8), "{found:?}");
        assert!(found.figure == Figure::Bytes || found.p_adjusted < ALPHA);
    }
    let remote = run.comparisons.iter().filter(|found| found.against.ends_with("-remote"));
    assert!(remote.count() > 0, "from afar as well");
}

#[test]
fn below_its_batch_or_behind_its_onset_a_mode_is_compared_with_nothing_and_makes_no_claim_harder() {
    let run = peers();
    let at = |name: &str, level| {
        run.comparisons.iter().any(|found| found.against == name && found.level == level)
            || run.tolls.iter().any(|toll| toll.variant == name && toll.level == level)
    };
    assert!(at("batch-100", 100) && !at("batch-100", 20), "20 records are no batch of 100");
    assert!(!at("parallel-500", 1000), "its errors begin at 500");

    let mut fewer = run.clone();
    fewer.gaps.extend(["cap-sequential", "sequential"].map(|variant| Gap {
        variant: variant.to_owned(),
        level: 100,
        kind: GapKind::AfterOnset,
        reason: String::new(),
    }));
    let left = compute(&fewer);
    assert!(left.iter().all(|found| found.against != "sequential" || found.level != 100));
    assert_eq!(left.len() + 3, run.comparisons.len(), "time, CPU and bytes");
}

#[test]
fn tolls_of_a_run_are_the_same_with_a_peer_beside_it() {
    let run = peers();
    let mut alone = run.clone();
    let is_own = |name: &str| !name.starts_with("cap-");
    alone.experiment.variants.retain(|variant| variant.peer.is_none());
    alone.trials.retain(|trial| is_own(&trial.variant));
    alone.cells.retain(|cell| is_own(&cell.variant));
    assert!(compute(&alone).is_empty(), "without a peer there is nothing to compare");
    let ratios = |tolls: Vec<crate::results::Toll>| {
        tolls
            .into_iter()
            .filter(|toll| is_own(&toll.variant))
            .map(|toll| (toll.variant, toll.ratio))
            .collect::<Vec<_>>()
    };
    assert_eq!(ratios(toll::compute(&alone)), ratios(run.tolls));
}

#[test]
fn two_systems_are_what_is_compared_and_a_limit_of_the_machine_is_told() {
    let mut run = peers();
    let doubt = |rule: &str| Validity {
        variant: "cap-batch-100".into(),
        level: 1000,
        rule: rule.into(),
        verdict: Verdict::Marked,
        reason: "seen".into(),
        remedy: "none".into(),
        value: 1.0,
        bound: 0.0,
    };
    run.validity = vec![doubt(DIFFERENT_BACKEND.name), doubt("run-queue")];
    let found = compute(&run);
    let of = |figure| {
        found.iter().find(|found| found.variant == "cap-batch-100" && found.level == 1000 && found.figure == figure)
    };
    let time = of(Figure::UnitTime).unwrap();
    assert_eq!(time.verdict, TollVerdict::Joint);
    assert!(time.note.as_ref().unwrap().ends_with("read the CPU ratio"), "{time:?}");
    assert_eq!(of(Figure::SubjectCpu).unwrap().verdict, TollVerdict::Dearer);
}
