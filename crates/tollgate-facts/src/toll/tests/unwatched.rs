//! A process that nobody watches and that works for one variant alone.

use super::*;
use crate::results::Unwatched;

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
                cpu_share: 2.0,
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
        "layered asks python3 (process 8) on this machine, which is not watched and used 2.0x the CPU time of layered in \
         its warm-up: name all of its processes (--subject-pid layered=7 --subject-pid layered=8; for `versus` --pid)"
    );
    assert!(verdicts(&[("bare", 8)]).0.note.unwrap().starts_with("bare asks python3"));
    assert_eq!(verdicts(&[("bare", 8), ("layered", 9)]).0.verdict, TollVerdict::Refused);
    assert_eq!(verdicts(&[("bare", 8), ("layered", 8)]).0.verdict, TollVerdict::Cheaper, "it is left out of both");
}
