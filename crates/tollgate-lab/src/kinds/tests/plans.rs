//! Tests of plans.

use std::time::Duration;

use crate::experiment::Experiment;
use crate::plan::{Extent, Plan, PlanOptions, WARM_UP_LEAST, blocks_within};

fn plan(options: &PlanOptions) -> Result<Plan, String> {
    Plan::new(&Experiment::builtin("protocol").unwrap(), options)
}

#[test]
fn the_quick_protocol_has_two_levels_and_eight_blocks() {
    let plan = plan(&PlanOptions { extent: Extent::Quick, ..PlanOptions::default() }).unwrap();
    assert_eq!((plan.levels.clone(), plan.blocks, plan.cells(), plan.trials()), (vec![1, 20], 8, 12, 192));
    assert!(plan.duration() <= Duration::from_secs(45), "{:?}", plan.duration());
}

#[test]
fn the_band_of_no_toll_is_the_files_unless_it_is_said_otherwise() {
    let mut experiment = Experiment::builtin("protocol").unwrap();
    experiment.equivalence_ppm = Some(15_000);
    let band = |asked: Option<u32>| {
        let options = PlanOptions { equivalence_ppm: asked, ..PlanOptions::default() };
        Plan::new(&experiment, &options).unwrap().equivalence_ppm
    };
    assert_eq!((band(None), band(Some(50_000))), (Some(15_000), Some(50_000)));
}

#[test]
fn the_quick_batching_has_eight_variants_near_and_from_afar_and_fits_into_a_minute() {
    let experiment = Experiment::builtin("batching").unwrap();
    let options = PlanOptions { extent: Extent::Quick, ..PlanOptions::default() };
    let plan = Plan::new(&experiment, &options).unwrap();
    assert_eq!((plan.variants.len(), plan.levels.len(), plan.round_trip.as_millis()), (16, 4, 20));
    assert!(plan.duration() <= Duration::from_secs(45), "{:?}", plan.duration());
    let full = Plan::new(&experiment, &PlanOptions { extent: Extent::Full, ..PlanOptions::default() }).unwrap();
    assert_eq!((full.cells(), full.round_trip.as_millis()), (48 * 30, 160));
}

#[test]
fn a_cell_gets_as_many_blocks_as_fit_and_none_if_they_are_too_few() {
    let check = |cell_ms: u64, trial_ms: u64, expected: u32| {
        let found = blocks_within(Duration::from_millis(cell_ms), Duration::from_millis(trial_ms), 8);
        assert_eq!(found, expected, "{trial_ms} ms in {cell_ms} ms");
    };
    check(1000, 1, 8);
    check(1000, 62, 8);
    check(1000, 63, 7);
    check(1000, 250, 2);
    check(1000, 251, 0);
    check(1000, 0, 8);
}

#[test]
fn each_peer_is_warmed_up_by_itself() {
    let check = |name: &str, subjects: &[&str], expected: u32| {
        let subjects: Vec<String> = subjects.iter().map(|subject| (*subject).to_owned()).collect();
        let experiment = Experiment::builtin(name).unwrap().on_subjects(&subjects).unwrap();
        let options = PlanOptions { extent: Extent::Quick, ..PlanOptions::default() };
        let plan = Plan::new(&experiment, &options).unwrap();
        assert_eq!(plan.subjects, expected, "{name} {subjects:?}");
        assert_eq!(plan.warm_up, WARM_UP_LEAST * expected);
    };
    check("batching", &["tollgate"], 1);
    check("batching", &["cap", "tollgate"], 2);
    check("protocol", &["tollgate"], 6);
    check("protocol", &["cap", "tollgate"], 12);
}

#[test]
fn what_the_link_alone_makes_too_long_is_known_before_the_run() {
    let experiment = Experiment::builtin("batching").unwrap();
    let plan = Plan::new(&experiment, &PlanOptions::default()).unwrap();
    let level = |name: &str| {
        let position = experiment.variant(name).unwrap();
        plan.too_far.iter().find(|(variant, _)| *variant == position).map(|(_, level)| *level)
    };
    assert_eq!(level("sequential-remote"), Some(100), "100 round trips of 20 ms, four times, are 8 s");
    assert_eq!((level("sequential"), level("custom-rest-remote")), (None, None));
    assert!(plan.duration() <= Duration::from_secs(240), "{:?}", plan.duration());
}

#[test]
fn the_quick_mediation_fits_into_a_minute_and_the_default_into_eight() {
    let experiment = Experiment::builtin("mediation").unwrap();
    let plan = |extent| Plan::new(&experiment, &PlanOptions { extent, ..PlanOptions::default() }).unwrap();
    let quick = plan(Extent::Quick);
    assert_eq!((quick.levels.clone(), quick.cells(), quick.subjects), (vec![20, 320], 14, 3));
    assert!(quick.duration() <= Duration::from_secs(57), "{:?}", quick.duration());
    let default = plan(Extent::Default);
    assert_eq!(default.cells(), 7 * 8);
    assert!((300..480).contains(&default.duration().as_secs()), "{:?}", default.duration());
}

#[test]
fn slices_of_single_requests_grow_until_each_of_several_users_is_answered_often() {
    let check = |name: &str, users: u64, per_second: Option<f64>, expected_ms: u64| {
        let plan = Plan::new(&Experiment::builtin(name).unwrap(), &PlanOptions::default()).unwrap();
        let slice = plan.slice_of(users, per_second);
        assert_eq!(slice.as_millis(), u128::from(expected_ms), "{name}, {users} users, {per_second:?} a second");
    };
    check("mediation", 20, Some(20_000.0), 100);
    check("mediation", 320, Some(20_000.0), 192);
    check("mediation", 2560, Some(20_000.0), 1536);
    check("mediation", 2560, Some(100.0), 10_000);
    check("mediation", 2560, Some(0.0), 10_000);
    check("mediation", 2560, None, 100);
    check("mediation", 1, Some(2.0), 100);
    check("protocol", 2560, Some(100.0), 110);
}

#[test]
fn the_quick_encryption_fits_into_a_minute_and_the_default_into_eight() {
    let experiment = Experiment::builtin("encryption").unwrap();
    let plan = |extent| Plan::new(&experiment, &PlanOptions { extent, ..PlanOptions::default() }).unwrap();
    let quick = plan(Extent::Quick);
    assert_eq!((quick.levels.clone(), quick.cells(), quick.rate_trials()), (vec![1], 7, 112));
    assert!(quick.duration() <= Duration::from_secs(62), "{:?}", quick.duration());
    let default = plan(Extent::Default);
    assert_eq!(default.cells(), 35);
    assert!((420..480).contains(&default.duration().as_secs()), "{:?}", default.duration());
    let levels = Some(vec![6]);
    let refused = Plan::new(&experiment, &PlanOptions { levels, ..PlanOptions::default() }).unwrap_err();
    assert_eq!(refused, "level 6 of `encryption` is none of 1, 2, 3, 4, 5 (--level)");
}

#[test]
fn a_ladder_takes_as_long_as_its_slowest_rungs_and_the_fast_ones_get_more_blocks() {
    let experiment = Experiment::builtin("ladder").unwrap();
    let plan = |extent| Plan::new(&experiment, &PlanOptions { extent, ..PlanOptions::default() }).unwrap();
    let quick = plan(Extent::Quick);
    assert_eq!((quick.levels.clone(), quick.cells(), quick.subjects), (vec![5, 10, 20, 30], 8, 8));
    // It took 52 s where it was measured, on a machine with more to do.
    assert!((45..60).contains(&quick.duration().as_secs()), "{:?}", quick.duration());
    let blocks = [5, 10, 20, 30].map(|level| quick.blocks_at(quick.variants[0], level));
    assert_eq!(blocks, [2, 2, 4, 4]);
    assert_eq!(quick.trials(), 2 * (2 + 2 + 4 + 4 + 4 * 2));
    let default = plan(Extent::Default);
    assert!((240..330).contains(&default.duration().as_secs()), "{:?}", default.duration());
}

#[test]
fn a_chosen_variant_brings_its_baseline_along() {
    let only = vec!["odata-v2-atom".to_owned()];
    assert_eq!(plan(&PlanOptions { only, ..PlanOptions::default() }).unwrap().variants, [0, 2]);
}

#[test]
fn unknown_names_and_levels_out_of_range_are_refused() {
    let check = |options: PlanOptions, expected: &str| assert_eq!(plan(&options).unwrap_err(), expected);
    check(
        PlanOptions { only: vec!["odata-v2-atm".to_owned()], ..PlanOptions::default() },
        "experiment `protocol` has no variant `odata-v2-atm`: did you mean `odata-v2-atom`?",
    );
    check(
        PlanOptions { levels: Some(vec![0]), ..PlanOptions::default() },
        "level 0 of `protocol` is not from 1 to 20000 (--level)",
    );
    check(PlanOptions { blocks: Some(0), ..PlanOptions::default() }, "there must be at least 1 block (--blocks)");
}

#[test]
fn a_run_that_may_stop_has_64_blocks_and_a_start_for_each_four_where_there_are_several() {
    let options = |extent| PlanOptions { extent, until_width_ppm: Some(20_000), ..PlanOptions::default() };
    let quick = plan(&options(Extent::Quick)).unwrap();
    assert_eq!((quick.blocks, quick.starts, quick.start_of(63)), (64, 1, 0));
    let full = plan(&options(Extent::Full)).unwrap();
    assert_eq!(full.starts, 16);
    assert_eq!([0, 3, 4, 7, 8, 31, 32, 63].map(|block| full.start_of(block)), [0, 0, 1, 1, 2, 7, 8, 15]);
    let check = |name: &str, expected: &str| {
        let refused = Plan::new(&Experiment::builtin(name).unwrap(), &options(Extent::Quick)).unwrap_err();
        assert!(refused.contains(expected) && refused.ends_with("(--until-width)"), "{refused}");
    };
    check("batching", "different numbers of blocks");
    check("encryption", "equal rate");
    check("ladder", "by itself");
    check("distance", "distances");
}

#[test]
fn there_are_never_more_starts_than_blocks() {
    let options = PlanOptions { extent: Extent::Full, blocks: Some(2), ..PlanOptions::default() };
    assert_eq!(plan(&options).unwrap().starts, 2);
}
