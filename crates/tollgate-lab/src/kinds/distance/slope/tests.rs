//! Lines through made-up trials whose truth is known.

use super::*;
use tollgate_facts::fixture;
use tollgate_facts::fixture::Noise;
use tollgate_facts::results::{BatchFound, Batched, TollVerdict, Validity};

const LINKS: [(&str, f64); 4] = [("rtt-0", 0.0), ("rtt-250us", 250.0), ("rtt-1ms", 1000.0), ("rtt-5ms", 5000.0)];
const AT_REST_US: f64 = 1800.0;
const ROUND_TRIPS: f64 = 7.0;

/// Trials of one process whose times are typically off by this share.
fn run(noise: &mut Noise, blocks: u32, off: f64) -> RunResult {
    let mut run = fixture::protocol();
    let like = run.experiment.variants[0].clone();
    run.experiment.levels = vec![1];
    let variant = |(name, _): &(&str, f64)| tollgate_facts::results::Variant {
        name: (*name).to_owned(),
        baseline: (*name != "rtt-0").then(|| "rtt-0".to_owned()),
        ..like.clone()
    };
    run.experiment.variants = LINKS.iter().map(variant).collect();
    (run.validity, run.cells, run.tolls) = (Vec::new(), Vec::new(), Vec::new());
    let like = run.trials[0].clone();
    run.trials.clear();
    for block in 0..blocks {
        for (place, (name, added_us)) in LINKS.iter().chain(LINKS.iter().rev()).enumerate() {
            let document_us = (AT_REST_US + ROUND_TRIPS * added_us) * (1.0 + off * noise.normal());
            run.trials.push(Trial {
                variant: (*name).to_owned(),
                level: 1,
                block,
                place: place as u32,
                duration_ms: document_us / 10.0,
                batch: Some(Batched {
                    documents: 100,
                    stored: 100,
                    round_trips: 700,
                    link_us: Some(80.0 + added_us),
                    ..Batched::default()
                }),
                ..like.clone()
            });
        }
    }
    run
}

fn preset(name: &str, share: f64) -> Preset {
    Preset { name: name.to_owned(), title: String::new(), share }
}

#[test]
fn a_line_is_found_with_its_round_trips_and_agrees_with_the_counted_ones() {
    let slope = slope(&run(&mut Noise::of(1), 8, 0.0), &[], 8).unwrap();
    assert!((slope.at_rest_us.mean - AT_REST_US).abs() < 1e-6 && (slope.round_trips.mean - ROUND_TRIPS).abs() < 1e-9);
    assert!(slope.doubt.is_none() && slope.residual_share < 1e-9);
    assert!((slope.counted - 7.0).abs() < 1e-12 && slope.variants.len() == 4);
    assert!((slope.at_us(100.0) - 2500.0).abs() < 1e-6);
}

#[test]
fn intervals_hold_the_truth_in_at_least_370_of_400_runs() {
    let mut noise = Noise::of(2);
    let (mut at_rest, mut round_trips) = (0, 0);
    for _ in 0..400 {
        let slope = slope(&run(&mut noise, 8, 0.05), &[], 8).unwrap();
        at_rest += u32::from((slope.at_rest_us.low..=slope.at_rest_us.high).contains(&AT_REST_US));
        round_trips += u32::from(slope.agrees());
    }
    assert!((365..=396).contains(&at_rest) && (365..=396).contains(&round_trips), "{at_rest} {round_trips} of 400");
}

#[test]
fn blocks_of_presets_and_refused_cells_are_not_in_the_line() {
    let mut run = run(&mut Noise::of(3), 8, 0.0);
    run.trials.iter_mut().filter(|trial| trial.block == 7).for_each(|trial| trial.duration_ms *= 3.0);
    assert!((slope(&run, &[], 7).unwrap().round_trips.mean - ROUND_TRIPS).abs() < 1e-9);
    let far = run.trials.iter_mut().filter(|trial| trial.variant == "rtt-5ms");
    far.for_each(|trial| trial.duration_ms *= 2.0);
    run.validity.push(Validity {
        variant: "rtt-5ms".to_owned(),
        level: 1,
        verdict: Verdict::Refused,
        ..fixture::protocol().validity[0].clone()
    });
    let slope = slope(&run, &[preset("rtt-250us", 1.0)], 7);
    assert_eq!(slope, None, "two links are left");
}

#[test]
fn a_preset_is_as_far_as_its_overhead_says_and_refused_where_the_link_cannot_keep_it() {
    let slope = slope(&run(&mut Noise::of(4), 8, 0.0), &[], 8).unwrap();
    let check = |share: f64, accurate: Option<f64>, expected: PresetVerdict, said: &str| {
        let found = presets(&[preset("p", share)], Some(&slope), accurate).remove(0);
        assert_eq!(found.verdict, expected, "{found:?}");
        assert!(found.reason.contains(said), "{}", found.reason);
        assert!((found.asked_us.unwrap() - share * AT_REST_US / ROUND_TRIPS).abs() < 1e-6);
    };
    check(0.0, None, PresetVerdict::Open, "not run");
    check(1.0, Some(200.0), PresetVerdict::Open, "not run");
    check(
        0.15,
        Some(100.0),
        PresetVerdict::Refused,
        "38.6 µs would be needed, and this link is accurate from 100 µs on",
    );
    check(0.15, None, PresetVerdict::Refused, "no delay is kept here");
    assert_eq!(presets(&[preset("p", 1.0)], None, Some(1.0))[0].verdict, PresetVerdict::Refused);
}

#[test]
fn a_preset_is_confirmed_where_both_intervals_allow_the_difference() {
    let slope = slope(&run(&mut Noise::of(5), 8, 0.02), &[], 8).unwrap();
    let check = |ratio: f64, half: f64, expected: PresetVerdict| {
        let mut found = presets(&[preset("standard", 1.0)], Some(&slope), Some(50.0)).remove(0);
        let toll = Toll {
            ratio,
            low: ratio - half,
            high: ratio + half,
            verdict: TollVerdict::Dearer,
            ..fixture::protocol().tolls[0].clone()
        };
        let added = found.asked_us.unwrap();
        let mut cell = fixture::cell("standard", 1);
        let added_us = Some(Estimate { mean: added, low: added - 5.0, high: added + 5.0, n: 8 });
        cell.batch = Some(BatchFound { added_us, ..BatchFound::default() });
        confirm(&mut found, &slope, Some(&toll), Some(&cell));
        assert_eq!(found.verdict, expected, "{found:?}");
        confirm(&mut found, &slope, None, Some(&cell));
        assert_eq!(found.verdict, expected, "what was not measured says nothing");
    };
    check(2.0, 0.05, PresetVerdict::Confirmed);
    check(2.3, 0.05, PresetVerdict::Off);
    check(2.0, 0.7, PresetVerdict::Unclear);
    check(2.3, 0.7, PresetVerdict::Unclear);
}

#[test]
fn an_interval_that_would_hold_anything_agrees_with_nothing() {
    let slope = |off: f64| slope(&run(&mut Noise::of(7), 4, off), &[], 4).unwrap();
    assert!(!slope(0.001).is_too_wide() && slope(1.5).is_too_wide());
}

#[test]
fn more_processes_share_the_waiting_until_the_cores_bind() {
    let mut run = run(&mut Noise::of(6), 8, 0.0);
    let slope = slope(&run, &[], 8).unwrap();
    let cell = |variant: &str, level: u64, added: f64| {
        let mut cell = fixture::cell(variant, level);
        let added_us = Some(Estimate { mean: added, low: added, high: added, n: 8 });
        cell.batch = Some(BatchFound { added_us, ..BatchFound::default() });
        let cpu_us_per_request = Estimate { mean: 600.0, low: 590.0, high: 610.0, n: 8 };
        cell.subject = Some(tollgate_facts::results::SubjectUse { cpu_us_per_request, ..Default::default() });
        cell
    };
    run.cells = vec![cell("rtt-0", 1, 0.0), cell("rtt-0", 6, 0.0), cell("rtt-5ms", 6, 5000.0)];
    let found: Vec<(f64, Bound)> =
        hinges(&run, &slope, 1, 0).into_iter().map(|hinge| (hinge.expected_us.round(), hinge.bound)).collect();
    let expected = [(1800.0, Bound::Processes), (600.0, Bound::Cores), (6133.0, Bound::Processes)];
    assert_eq!(found, expected);
}
