//! CPU time that other programs use beside one variant alone.

use super::*;
use crate::results::Unwatched;

/// The verdict on CPU time where other programs use this much beside the variant and beside the baseline.
fn found(beside: [f64; 2], factor: f64, seed: u64) -> (TollVerdict, String) {
    let mut noise = Noise::of(seed);
    let mut trials = synthetic(&mut noise, &["bare", "layered"], &[1.0, factor], 8);
    for trial in &mut trials {
        let other = if trial.variant == "layered" { beside[0] } else { beside[1] };
        trial.others_cpu_us = Some(other + 2.0 * noise.normal());
    }
    let tolls = tolls_of(&["bare", "layered"], &trials, &[]);
    let toll = tolls.into_iter().find(|toll| toll.figure == Figure::SubjectCpu).unwrap();
    (toll.verdict, toll.note.unwrap_or_default())
}

#[test]
fn a_proxy_whose_backend_is_not_watched_is_no_cheaper_than_the_backend() {
    // The proxy alone needs half of what the backend needs; the backend works all the same.
    let (verdict, note) = found([9.0, 0.0], 0.5, 1);
    assert_eq!(verdict, TollVerdict::Refused, "{note}");
    assert!(note.contains("9 µs more CPU time per request beside layered than beside bare"), "{note}");
    let (verdict, note) = found([0.0, 9.0], 2.0, 1);
    assert!(verdict == TollVerdict::Refused && note.contains("beside bare than beside layered"), "{note}");
}

#[test]
fn other_programs_that_use_the_same_beside_both_refuse_nothing() {
    let refused = (1..=200).filter(|seed| found([30.0, 30.0], 1.0, *seed).0 == TollVerdict::Refused).count();
    assert!(refused <= 2, "{refused} of 200");
    assert_eq!(found([30.5, 30.0], 1.5, 1).0, TollVerdict::Dearer, "so little changes nothing");
}

#[test]
fn a_process_that_only_one_of_two_asks_refuses_what_is_said_of_cpu_time_alone() {
    let trials = synthetic(&mut Noise::of(1), &["bare", "layered"], &[1.0, 0.5], 8);
    let verdicts = |unwatched: &[(&str, u32)]| {
        let mut run = run_of(experiment(&["bare", "layered"]), &trials, &[]);
        run.unwatched = unwatched
            .iter()
            .map(|(variant, process)| Unwatched {
                variant: (*variant).to_owned(),
                watched: vec![7],
                process: *process,
                name: "python3".to_owned(),
            })
            .collect();
        let tolls = compute(&run);
        let of = |figure: Figure| tolls.iter().find(|toll| toll.figure == figure).unwrap().clone();
        (of(Figure::SubjectCpu), of(Figure::UnitTime).verdict)
    };
    let (cpu, time) = verdicts(&[("layered", 8)]);
    assert_eq!((cpu.verdict, time), (TollVerdict::Refused, TollVerdict::Cheaper));
    assert_eq!(
        cpu.note.unwrap(),
        "layered asks python3 (process 8) on this machine, which is not watched, so its CPU time is a part: name all of its \
         processes (--subject-pid layered=7 --subject-pid layered=8; for `versus` --pid)"
    );
    assert!(verdicts(&[("bare", 8)]).0.note.unwrap().starts_with("bare asks python3"));
    assert_eq!(verdicts(&[("bare", 8), ("layered", 9)]).0.verdict, TollVerdict::Refused);
    assert_eq!(verdicts(&[("bare", 8), ("layered", 8)]).0.verdict, TollVerdict::Cheaper, "it is left out of both");
}
