//! Tolls on synthetic trials with known answers.

mod regressed;
mod unwatched;

use std::sync::LazyLock;

use super::*;
use crate::fixture::Noise;
use crate::results::{Distance, Experiment, Looks, Piece, Trial, Variant, Verdict};
use crate::rules::{DIFFERENT_BACKEND, FEW_ROUNDS, joint_names};

/// One slice of a second varies by 14 % on the machine that the method was measured on, neighbours correlate by 0.53.
const SPREAD: f64 = 0.14;
const NEIGHBOURS: f64 = 0.53;

fn experiment(variants: &[&str]) -> Experiment {
    Experiment {
        name: "synthetic".into(),
        question: "is the truth found?".into(),
        factor: "concurrency".into(),
        factor_unit: "users".into(),
        levels: vec![1],
        named_levels: Vec::new(),
        users: None,
        variants: variants
            .iter()
            .map(|name| Variant {
                name: (*name).into(),
                title: String::new(),
                baseline: (*name != variants[0]).then(|| variants[0].to_owned()),
                subject: String::new(),
                inserting: None,
                distance: Distance::Local,
                peer: None,
                connecting: None,
                backend: None,
                model: None,
                first_answers: None,
            })
            .collect(),
        unit_of_work: "pass".into(),
        piece: Piece::Request,
        published_table: None,
        answer: None,
    }
}

fn trial(variant: &str, block: u32, place: u32, unit_ms: f64, cpu_us: f64, bytes: u64) -> Trial {
    Trial {
        variant: variant.into(),
        level: 1,
        start: 0,
        block,
        place,
        start_ms: 0.0,
        duration_ms: unit_ms,
        units: 1,
        unit_times_ms: vec![unit_ms],
        requests: 1,
        records: 0,
        errors: 0,
        bytes_received: bytes,
        bytes_sent: 1,
        response_time_mean_ms: unit_ms,
        subject_cpu_us: Some(cpu_us),
        backend_cpu_us: None,
        subject_instructions: None,
        backend_instructions: None,
        batch: None,
        generator_cpu_us: 1.0,
        generator_busiest_cpu_us: 1.0,
        generator_run_queue_us: 0.0,
        stolen_share: 0.0,
    }
}

/// Mirrored blocks on a machine whose speed wanders, for variants that cost `factors` times the first.
fn synthetic(noise: &mut Noise, variants: &[&str], factors: &[f64], blocks: u32) -> Vec<Trial> {
    let mut wander = noise.normal();
    let mut trials = Vec::new();
    for block in 0..blocks {
        let forth = 0..variants.len();
        let back = (0..variants.len()).rev();
        for (place, index) in forth.chain(back).enumerate() {
            wander = NEIGHBOURS * wander + (1.0 - NEIGHBOURS * NEIGHBOURS).sqrt() * noise.normal();
            let unit_ms = 20.0 * factors[index] * (SPREAD * wander).exp();
            let cpu_us = 9.0 * factors[index] * (SPREAD * noise.normal()).exp();
            let bytes = (1000.0 * factors[index]).round() as u64;
            trials.push(trial(variants[index], block, place as u32, unit_ms, cpu_us, bytes));
        }
    }
    trials
}

/// A run of these trials.
fn run_of(experiment: Experiment, trials: &[Trial], validity: &[Validity]) -> RunResult {
    static EMPTY: LazyLock<RunResult> = LazyLock::new(crate::fixture::empty);
    let cells = experiment.variants.iter().map(|variant| crate::fixture::cell(&variant.name, 1)).collect();
    RunResult { experiment, trials: trials.to_vec(), validity: validity.to_vec(), cells, ..EMPTY.clone() }
}

fn tolls_of(variants: &[&str], trials: &[Trial], validity: &[Validity]) -> Vec<Toll> {
    compute(&run_of(experiment(variants), trials, validity))
}

fn doubt(variant: &str, rule: &str, verdict: Verdict) -> Validity {
    Validity {
        variant: variant.into(),
        level: 1,
        rule: rule.into(),
        verdict,
        reason: "seen".into(),
        remedy: "do".into(),
        value: 0.9,
        bound: 0.8,
    }
}

#[test]
fn the_interval_covers_a_known_toll_in_at_least_370_of_400_runs() {
    // Ten times 400, so that the bound is on the rate and not on one lucky seed. Neighbouring blocks share the
    // machine's mood, which costs the nominal 380 a few.
    let variants = ["base", "dearer"];
    for (blocks, seed) in [(8, 1), (16, 2), (32, 3)] {
        let mut noise = Noise::of(seed);
        let mut covering = 0;
        for _ in 0..4_000 {
            let trials = synthetic(&mut noise, &variants, &[1.0, 1.10], blocks);
            let tolls = tolls_of(&variants, &trials, &[]);
            assert_eq!(tolls[0].figure, Figure::UnitTime);
            covering += usize::from(tolls[0].low <= 1.10 && 1.10 <= tolls[0].high);
        }
        assert!((3_700..=3_900).contains(&covering), "{covering} of 4,000 at {blocks} blocks");
    }
}

#[test]
fn equals_show_a_toll_in_at_most_30_of_400_runs() {
    let variants = ["base", "same", "same-again", "and-again"];
    let mut noise = Noise::of(4);
    let claims = |toll: &Toll| matches!(toll.verdict, TollVerdict::Dearer | TollVerdict::Cheaper);
    let wrong = (0..400)
        .filter(|_| {
            let trials = synthetic(&mut noise, &variants, &[1.0; 4], 8);
            tolls_of(&variants, &trials, &[]).iter().any(claims)
        })
        .count();
    assert!(wrong <= 30, "{wrong} of 400");
}

#[test]
fn of_400_runs_of_40_tolls_among_equals_at_most_8_have_one_that_the_tests_disagree_on() {
    let names: Vec<String> = (0..=20).map(|number| format!("variant-{number}")).collect();
    let variants: Vec<&str> = names.iter().map(String::as_str).collect();
    for (blocks, seed) in [(8, 51), (16, 52)] {
        let mut noise = Noise::of(seed);
        let marked = (0..400)
            .filter(|_| {
                let tolls = tolls_of(&variants, &synthetic(&mut noise, &variants, &[1.0; 21], blocks), &[]);
                assert_eq!(tolls.iter().filter(|toll| toll.figure != Figure::Bytes).count(), 40);
                let mut validity = Vec::new();
                add_doubts(&mut validity, &tolls);
                !validity.is_empty()
            })
            .count();
        assert!(marked <= 8, "{marked} of 400 at {blocks} blocks");
    }
}

#[test]
fn a_tenth_more_is_found_with_its_size_and_sign() {
    let variants = ["base", "dearer", "cheaper"];
    let tolls = tolls_of(&variants, &synthetic(&mut Noise::of(5), &variants, &[1.0, 1.3, 0.7], 32), &[]);
    for (toll, (verdict, factor)) in tolls.iter().filter(|toll| toll.figure != Figure::Bytes).zip([
        (TollVerdict::Dearer, 1.3),
        (TollVerdict::Dearer, 1.3),
        (TollVerdict::Cheaper, 0.7),
        (TollVerdict::Cheaper, 0.7),
    ]) {
        assert_eq!(toll.verdict, verdict, "{toll:?}");
        assert!((toll.ratio / factor - 1.0).abs() < 0.1, "{toll:?}");
        assert_eq!(toll.difference > 0.0, factor > 1.0);
        assert!(toll.difference_low < toll.difference && toll.difference < toll.difference_high, "{toll:?}");
        // The interval excludes zero where that of the ratio excludes one.
        assert_eq!(toll.difference_low > 0.0 || toll.difference_high < 0.0, toll.low > 1.0 || toll.high < 1.0);
        assert!(toll.p_adjusted < 0.001);
        assert_eq!(toll.blocks, 32);
    }
}

#[test]
fn bytes_without_spread_are_exact() {
    let variants = ["base", "larger", "same"];
    let tolls = tolls_of(&variants, &synthetic(&mut Noise::of(6), &variants, &[1.0, 1.83, 1.0], 4), &[]);
    let bytes: Vec<&Toll> = tolls.iter().filter(|toll| toll.figure == Figure::Bytes).collect();
    assert!((bytes[0].ratio - 1.83).abs() < 1e-9 && (bytes[0].high - bytes[0].low).abs() < 1e-12);
    assert_eq!((bytes[0].verdict, bytes[0].p_adjusted), (TollVerdict::Dearer, 0.0));
    assert!((bytes[0].difference - 830.0).abs() < 1e-6);
    assert_eq!((bytes[1].ratio, bytes[1].p_adjusted, bytes[1].verdict), (1.0, 1.0, TollVerdict::NoToll));
}

#[test]
fn no_toll_needs_the_whole_interval_inside_the_band() {
    let variants = ["base", "same"];
    let quiet: Vec<Trial> = (0..8)
        .flat_map(|block| {
            let wobble = 1.0 + 0.002 * f64::from(block % 3);
            [trial("base", block, 0, 10.0, 5.0, 10), trial("same", block, 1, 10.0 * wobble, 5.0, 10)]
        })
        .collect();
    assert_eq!(tolls_of(&variants, &quiet, &[])[0].verdict, TollVerdict::NoToll);
    let noisy = synthetic(&mut Noise::of(8), &variants, &[1.0, 1.0], 4);
    let toll = &tolls_of(&variants, &noisy, &[])[0];
    assert_eq!(toll.verdict, TollVerdict::Unclear, "{toll:?}");
}

#[test]
fn a_saturated_generator_makes_the_time_joint_and_leaves_cpu_and_bytes() {
    let variants = ["base", "dearer"];
    let trials = synthetic(&mut Noise::of(9), &variants, &[1.0, 1.5], 16);
    for rule in joint_names() {
        let tolls = tolls_of(&variants, &trials, &[doubt("base", rule, Verdict::Marked)]);
        let verdicts: Vec<TollVerdict> = tolls.iter().map(|toll| toll.verdict).collect();
        assert_eq!(verdicts, [TollVerdict::Joint, TollVerdict::Dearer, TollVerdict::Dearer]);
        assert!(tolls[0].note.as_ref().unwrap().contains("read the CPU toll"));
    }
}

#[test]
fn a_refused_cell_refuses_its_tolls_and_no_others() {
    let variants = ["base", "bad", "good"];
    let trials = synthetic(&mut Noise::of(10), &variants, &[1.0, 1.5, 1.5], 16);
    let tolls = tolls_of(&variants, &trials, &[doubt("bad", "errors", Verdict::Refused)]);
    for toll in &tolls {
        assert_eq!(toll.verdict == TollVerdict::Refused, toll.variant == "bad", "{toll:?}");
        assert_eq!(toll.is_shown(), toll.variant != "bad");
        assert!(toll.ratio.is_finite() && toll.p_adjusted.is_finite());
    }
}

#[test]
fn what_cannot_be_compared_is_refused_or_left_out() {
    let variants = ["base", "dearer"];
    let one_block = synthetic(&mut Noise::of(11), &variants, &[1.0, 1.5], 1);
    assert!(tolls_of(&variants, &one_block, &[]).iter().all(|toll| toll.verdict == TollVerdict::Refused));

    let mut no_cpu = synthetic(&mut Noise::of(12), &variants, &[1.0, 1.5], 8);
    no_cpu.iter_mut().for_each(|trial| trial.subject_cpu_us = None);
    assert!(tolls_of(&variants, &no_cpu, &[]).iter().all(|toll| toll.figure != Figure::SubjectCpu));

    let mut zero_cpu = synthetic(&mut Noise::of(13), &variants, &[1.0, 1.5], 8);
    zero_cpu[3].subject_cpu_us = Some(0.0);
    let tolls = tolls_of(&variants, &zero_cpu, &[]);
    let cpu = tolls.iter().find(|toll| toll.figure == Figure::SubjectCpu).unwrap();
    assert_eq!(cpu.verdict, TollVerdict::Refused);
    assert!(cpu.note.as_ref().unwrap().contains("no CPU time"));
    assert!(tolls_of(&variants, &[], &[]).is_empty());
}

#[test]
fn a_block_that_was_cut_short_does_not_count() {
    let variants = ["base", "dearer"];
    let mut trials = synthetic(&mut Noise::of(14), &variants, &[1.0, 1.5], 5);
    trials.pop();
    assert_eq!(tolls_of(&variants, &trials, &[])[0].blocks, 4);
}

#[test]
fn a_lone_wild_block_is_marked_as_a_disagreement() {
    let variants = ["base", "dearer"];
    let trials: Vec<Trial> = (0..8)
        .flat_map(|block| {
            let unit_ms = if block == 7 { 200.0 } else { 10.5 + 0.01 * f64::from(block) };
            [trial("base", block, 0, 10.0, 5.0, 10), trial("dearer", block, 1, unit_ms, 5.0, 10)]
        })
        .collect();
    let tolls = tolls_of(&variants, &trials, &[]);
    assert_eq!(tolls[0].verdict, TollVerdict::Unclear);
    let said = |variant: &str, rule: &str| Validity {
        variant: variant.to_owned(),
        level: tolls[0].level,
        rule: rule.to_owned(),
        verdict: Verdict::Ok,
        reason: String::new(),
        remedy: String::new(),
        value: 0.0,
        bound: 0.0,
    };
    let mut validity = vec![said("base", "all"), said("dearer", "all")];
    add_doubts(&mut validity, &tolls);
    let found: Vec<(&str, &str)> = validity.iter().map(|doubt| (doubt.variant.as_str(), doubt.rule.as_str())).collect();
    assert_eq!(found, [("base", "all"), ("dearer", "ranks")]);
    let reason = &validity[1].reason;
    assert!(reason.starts_with("time over base: Student t (p = ") && reason.contains("disagree"), "{reason}");
    assert!(validity[1].value < validity[1].bound, "the ranks see it: {:?}", validity[1]);
}

#[test]
fn between_two_backends_no_toll_on_time_or_cpu_is_claimed() {
    let variants = ["ours", "theirs"];
    let trials = synthetic(&mut Noise::of(11), &variants, &[1.0, 2.0], 16);
    let verdicts = |marked: &str| {
        let tolls = tolls_of(&variants, &trials, &[doubt(marked, DIFFERENT_BACKEND.name, Verdict::Marked)]);
        tolls.iter().map(|toll| toll.verdict).collect::<Vec<_>>()
    };
    assert_eq!(verdicts("theirs"), [TollVerdict::Refused, TollVerdict::Refused, TollVerdict::Dearer]);
    // The mark of a baseline is about the baseline's own baseline.
    assert_eq!(verdicts("ours"), [TollVerdict::Dearer; 3]);
}

#[test]
fn trials_too_short_for_their_users_have_no_toll_on_time_whichever_of_both_they_are_of() {
    let variants = ["direct", "through"];
    let trials = synthetic(&mut Noise::of(12), &variants, &[1.0, 2.0], 16);
    for marked in variants {
        let tolls = tolls_of(&variants, &trials, &[doubt(marked, FEW_ROUNDS.name, Verdict::Marked)]);
        let verdicts: Vec<TollVerdict> = tolls.iter().map(|toll| toll.verdict).collect();
        assert_eq!(verdicts, [TollVerdict::Refused, TollVerdict::Dearer, TollVerdict::Dearer], "{marked}");
    }
}

#[test]
fn over_a_backend_by_itself_cpu_is_that_of_both_and_no_toll_where_only_the_mediator_was_watched() {
    let names = ["direct", "through"];
    let mut experiment = experiment(&names);
    experiment.variants[0].backend = Some("echo".to_owned());
    let mut trials = synthetic(&mut Noise::of(13), &names, &[1.0, 2.0], 16);
    let cpu = |trials: &[Trial]| {
        let tolls = compute(&run_of(experiment.clone(), trials, &[]));
        tolls.into_iter().find(|toll| toll.figure == Figure::SubjectCpu).unwrap()
    };
    let refused = cpu(&trials);
    assert_eq!(refused.verdict, TollVerdict::Refused);
    assert!(refused.note.unwrap().contains("--subject-pid direct"));
    // What is behind uses as much as the mediator itself.
    for trial in trials.iter_mut().filter(|trial| trial.variant == "through") {
        trial.backend_cpu_us = trial.subject_cpu_us;
    }
    let both = cpu(&trials);
    assert!(both.low < 4.0 && 4.0 < both.high, "{both:?}");
}

#[test]
fn joint_tolls_make_no_others_claim_harder() {
    let variants = ["base", "dearer"];
    let mut trials = synthetic(&mut Noise::of(16), &variants, &[1.0, 1.06], 8);
    for trial in trials.iter_mut().filter(|trial| trial.variant == "dearer") {
        trial.subject_cpu_us = trial.subject_cpu_us.map(|used_us| used_us * 1.15);
    }
    let p_of_cpu = |validity: &[Validity]| tolls_of(&variants, &trials, validity)[1].p_adjusted;
    let (alone, joint) = (p_of_cpu(&[]), p_of_cpu(&[doubt("base", "run-queue", Verdict::Marked)]));
    // Bytes are exact and no claim by chance; CPU counts double beside the less sure time.
    assert!(joint > 0.0 && joint < alone, "{joint} of one claim beside {alone} of two");
    assert!(tolls_of(&variants, &trials, &[doubt("base", "joint", Verdict::Marked)])[0].p_adjusted >= 1.0);
}

#[test]
fn exact_figures_make_no_others_claim_harder() {
    let variants = ["base", "dearer"];
    let mut trials = synthetic(&mut Noise::of(16), &variants, &[1.0, 1.06], 8);
    let mut p_with_bytes = |bytes: u64| {
        trials.iter_mut().for_each(|trial| trial.bytes_received = bytes);
        let tolls = tolls_of(&variants, &trials, &[]);
        let of = |figure: Figure| tolls.iter().find(|toll| toll.figure == figure).unwrap();
        (of(Figure::UnitTime).p_adjusted, of(Figure::SubjectCpu).p_adjusted, of(Figure::Bytes).verdict)
    };
    let ((time, cpu, same), (time_alone, cpu_alone, none)) = (p_with_bytes(1000), p_with_bytes(0));
    assert_eq!((same, none), (TollVerdict::NoToll, TollVerdict::Refused));
    assert!((time - time_alone).abs() < 1e-12 && (cpu - cpu_alone).abs() < 1e-12, "{time} {time_alone}");
    assert!(time.min(cpu) < 0.5, "{time} {cpu}");
}

#[test]
fn a_mode_below_its_batch_makes_no_others_claim_harder() {
    let variants = ["base", "batch-100", "dearer"];
    let mut trials = synthetic(&mut Noise::of(17), &variants, &[1.0, 1.0, 1.3], 8);
    trials.iter_mut().for_each(|trial| trial.bytes_received = 0);
    let p_of = |records: Option<u64>| {
        let mut experiment = experiment(&variants);
        experiment.variants[1].inserting = records.map(|records| crate::results::Inserting {
            mode: "batch-100".into(),
            connections: 1,
            records_per_request: Some(records),
        });
        let tolls = compute(&run_of(experiment, &trials, &[]));
        let dearer = |toll: &&Toll| toll.variant == "dearer" && toll.figure == Figure::UnitTime;
        (tolls.iter().filter(|toll| toll.variant == "batch-100").count(), tolls.iter().find(dearer).unwrap().p_adjusted)
    };
    let ((whole, p_with), (short, p_without)) = (p_of(Some(1)), p_of(Some(100)));
    assert_eq!((whole, short), (3, 0), "time, CPU and bytes");
    assert!(p_without < p_with, "{p_without} of two claims, {p_with} of four");
}

#[test]
fn whoever_looks_often_claims_less_and_its_intervals_are_wider() {
    let variants = ["base", "dearer"];
    let trials = synthetic(&mut Noise::of(9), &variants, &[1.0, 1.0], 16);
    let tolls = [None, Some(Looks { width: 0.1, done: 1, is_reached: true, alpha: 0.015 })].map(|looks| {
        let mut run = run_of(experiment(&variants), &trials, &[]);
        run.settings.looks = looks;
        compute(&run).remove(0)
    });
    let [once, often] = &tolls;
    assert!(often.low < once.low && once.high < often.high && (once.ratio - often.ratio).abs() < 1e-12);
    assert!(often.p_adjusted > once.p_adjusted || once.p_adjusted > 0.99, "{once:?} {often:?}");
    // The claim and the interval say the same of a single figure.
    let is_apart = often.low > 1.0 || often.high < 1.0;
    assert!(is_apart || often.p_adjusted >= 0.05, "{often:?}");
}

#[test]
fn the_band_of_no_toll_may_be_narrower_and_the_whole_interval_must_lie_in_it() {
    let variants = ["base", "same"];
    // A true 2 % more with next to no noise.
    let trials: Vec<Trial> = (0..16)
        .flat_map(|block| {
            let wobble = 1.02 + 0.001 * f64::from(block % 3);
            [trial("base", block, 0, 10.0, 5.0, 10), trial("same", block, 1, 10.0 * wobble, 5.0, 10)]
        })
        .collect();
    let verdict = |equivalence_share: f64| {
        let mut run = run_of(experiment(&variants), &trials, &[]);
        run.settings.equivalence_share = equivalence_share;
        let toll = compute(&run).remove(0);
        (toll.verdict, toll.note)
    };
    assert_eq!(verdict(0.03), (TollVerdict::NoToll, Some("a difference is there, but smaller than 3 %".to_owned())));
    assert_eq!(verdict(0.02).0, TollVerdict::Dearer, "a part of the interval lies outside");
    assert_eq!(verdict(0.01).0, TollVerdict::Dearer);
}

#[test]
fn each_toll_has_its_ratio_by_ranks_beside_it_and_one_wild_block_shows() {
    let variants = ["base", "dearer"];
    let mut trials = synthetic(&mut Noise::of(31), &variants, &[1.0, 1.3], 16);
    let toll = tolls_of(&variants, &trials, &[]).remove(0);
    let by_ranks = toll.by_ranks.unwrap();
    assert!((by_ranks.ratio / toll.ratio - 1.0).abs() < 0.05 && by_ranks.p < 0.05, "{toll:?}");
    assert!(by_ranks.low.unwrap() < by_ranks.ratio && by_ranks.ratio < by_ranks.high.unwrap());
    // One block in which the variant stood still for a while.
    for trial in trials.iter_mut().filter(|trial| trial.variant == "dearer" && trial.block == 3) {
        trial.unit_times_ms = vec![20_000.0];
    }
    let toll = tolls_of(&variants, &trials, &[]).remove(0);
    assert!(toll.ratio > 1.5 && (toll.by_ranks.unwrap().ratio / 1.3 - 1.0).abs() < 0.1, "{toll:?}");
    assert_eq!(toll.verdict, TollVerdict::Unclear, "{toll:?}");
    assert!(toll.note.as_deref().unwrap().contains("disagree"), "{toll:?}");
}

#[test]
fn starts_that_differ_are_told_and_those_that_do_not_are_not_but_by_chance() {
    let variants = ["base", "other"];
    let mut noise = Noise::of(32);
    let mut said = |between: f64| {
        let mut count = 0;
        for _ in 0..400 {
            let mut trials = synthetic(&mut noise, &variants, &[1.0, 1.1], 24);
            let moods: Vec<f64> = (0..3).map(|_| (between * noise.normal()).exp()).collect();
            for trial in &mut trials {
                trial.start = trial.block / 8;
                if trial.variant == "other" {
                    trial.unit_times_ms[0] *= moods[trial.start as usize];
                }
            }
            let found = tolls_of(&variants, &trials, &[])[0].between_starts.unwrap();
            assert_eq!(found.starts, 3);
            count += u32::from(found.p < 0.05);
        }
        count
    };
    assert!(said(0.0) <= 30);
    assert!(said(0.5) >= 350);
    let once = synthetic(&mut Noise::of(33), &variants, &[1.0, 1.1], 24);
    assert_eq!(tolls_of(&variants, &once, &[])[0].between_starts, None, "one start says nothing of others");
}

/// Trials of this many starts and blocks of a toll, with this spread between starts.
fn moody(noise: &mut Noise, toll: f64, (starts, blocks): (u32, u32), mood: f64) -> Vec<Trial> {
    let variants = ["base", "other"];
    let mut trials = synthetic(noise, &variants, &[1.0, toll], starts * blocks);
    let moods: Vec<f64> = (0..starts).map(|_| (mood * noise.normal()).exp()).collect();
    for trial in &mut trials {
        trial.start = trial.block / blocks;
        if trial.variant == "other" {
            trial.subject_cpu_us = trial.subject_cpu_us.map(|used_us| used_us * moods[trial.start as usize]);
        }
    }
    trials
}

#[test]
fn an_interval_is_over_the_starts_wherever_there_are_two_and_covers_however_much_they_differ() {
    let variants = ["base", "other"];
    for (number, extent) in [(3, 8), (6, 6)].into_iter().enumerate() {
        // A block's ratio is of two trials on either side, so its CPU time varies by as much as one trial.
        for (place, mood) in [0.0, SPREAD, 2.0 * SPREAD].into_iter().enumerate() {
            let mut noise = Noise::of(34 + 10 * number as u64 + place as u64);
            let (mut over_blocks, mut printed) = (0, 0);
            for _ in 0..400 {
                let mut trials = moody(&mut noise, 1.1, extent, mood);
                let covers = |trials: &[Trial], is_over: bool| {
                    let toll = tolls_of(&variants, trials, &[]).remove(1);
                    assert_eq!(toll.figure, Figure::SubjectCpu);
                    let is_over_starts = toll.between_starts.is_some_and(|between| between.is_interval_over_starts);
                    assert_eq!(is_over_starts, is_over, "{toll:?}");
                    assert!(!is_over_starts || !toll.do_ranks_disagree(), "{toll:?}");
                    usize::from(toll.low <= 1.1 && 1.1 <= toll.high)
                };
                printed += covers(&trials, true);
                trials.iter_mut().for_each(|trial| trial.start = 0);
                over_blocks += covers(&trials, false);
            }
            assert!(printed >= 372, "{printed} of 400, {extent:?} at {mood}");
            assert!(mood < SPREAD || over_blocks <= 320, "{over_blocks} of 400 over blocks, {extent:?} at {mood}");
        }
    }
}

#[test]
fn of_400_runs_of_equals_whose_starts_differ_at_most_30_claim_a_toll() {
    for (seed, mood) in [(61, 0.0), (62, SPREAD), (63, 2.0 * SPREAD)] {
        let mut noise = Noise::of(seed);
        let is_claimed = |trials: Vec<Trial>| {
            let tolls = tolls_of(&["base", "other"], &trials, &[]);
            tolls.iter().any(|toll| matches!(toll.verdict, TollVerdict::Dearer | TollVerdict::Cheaper))
        };
        let claimed = (0..400).filter(|_| is_claimed(moody(&mut noise, 1.0, (6, 6), mood))).count();
        assert!(claimed <= 30, "{claimed} of 400 at {mood}");
    }
}

/// A block in which each of two variants has a connection that is slower by a tenth for life, or not.
fn drawn(noise: &mut Noise, block: u32, slower: [bool; 2]) -> [Trial; 4] {
    let mut one = |place: u32| {
        let which = usize::from(place == 1 || place == 2);
        let luck = if slower[which] { 1.1 } else { 1.0 };
        let unit_ms = 10.0 * luck * (0.005 * noise.normal()).exp();
        trial(["base", "other"][which], block, place, unit_ms, 5.0, 10)
    };
    [0, 1, 2, 3].map(&mut one)
}

#[test]
fn connections_that_are_drawn_anew_with_each_block_make_no_toll_of_equals_and_those_drawn_once_do() {
    const RUNS: usize = 2_000;
    let mut noise = Noise::of(71);
    let mut runs = |blocks: u32, is_anew: bool| {
        let (mut claimed, mut covered) = (0, 0);
        for _ in 0..RUNS {
            let draw = |noise: &mut Noise| [noise.uniform() < 0.5, noise.uniform() < 0.5];
            let once = draw(&mut noise);
            let trials: Vec<Trial> = (0..blocks)
                .flat_map(|block| {
                    let slower = if is_anew { draw(&mut noise) } else { once };
                    drawn(&mut noise, block, slower)
                })
                .collect();
            let toll = tolls_of(&["base", "other"], &trials, &[]).remove(0);
            claimed += usize::from(matches!(toll.verdict, TollVerdict::Dearer | TollVerdict::Cheaper));
            covered += usize::from(toll.low <= 1.0 && 1.0 <= toll.high);
        }
        (claimed, covered)
    };
    let (claimed, covered) = runs(8, false);
    assert!(claimed > 700 && covered < 1_300, "drawn once: {claimed} claimed, {covered} covered of {RUNS}");
    for blocks in [8, 16, 36] {
        let (claimed, covered) = runs(blocks, true);
        assert!(claimed <= 150 && covered >= 1_860, "{blocks} blocks: {claimed} claimed, {covered} covered of {RUNS}");
    }
}

#[test]
fn an_interval_over_starts_has_its_ratio_and_its_probability_and_a_comparison_takes_the_same_values() {
    let variants = ["base", "other"];
    let trials: Vec<Trial> = (0..24_u32)
        .flat_map(|block| {
            let start = block / 8;
            let unit_ms = 10.0 * (0.1 * f64::from(start) + 0.001 * f64::from(block % 3)).exp();
            let of = |name: &str, place, unit_ms| Trial { start, ..trial(name, block, place, unit_ms, 5.0, 10) };
            [of("base", 0, 10.0), of("other", 1, unit_ms)]
        })
        .collect();
    let toll = tolls_of(&variants, &trials, &[]).remove(0);
    let means = [0, 1, 2].map(|start| {
        let of_start = (start * 8..start * 8 + 8).map(|block| 0.001 * f64::from(block % 3));
        0.1 * f64::from(start) + of_start.sum::<f64>() / 8.0
    });
    let expected = crate::stats::mean_interval(&means, 0.05).unwrap();
    assert!((toll.low.ln() - expected.low).abs() < 1e-9 && (toll.high.ln() - expected.high).abs() < 1e-9, "{toll:?}");
    // CPU time and bytes are the same in every block.
    assert!((toll.p_adjusted - expected.p).abs() < 1e-9 && toll.verdict == TollVerdict::Unclear, "{toll:?}");
    assert_eq!((toll.blocks, toll.note.as_deref()), (24, None), "the blocks agree, but not the starts");
    let run = run_of(experiment(&variants), &trials, &[]);
    let values = block_log_ratios(&run, &toll);
    assert!(values.len() == 3 && values.iter().zip(means).all(|(value, mean)| (value - mean).abs() < 1e-9));
}
