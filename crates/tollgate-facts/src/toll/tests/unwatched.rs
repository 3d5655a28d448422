//! A process that nobody watches and that works for one variant alone.

use super::*;
use crate::results::Unwatched;

#[test]
fn a_process_that_works_for_one_of_two_refuses_what_is_said_of_cpu_time_alone() {
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
        "python3 (process 8) works for layered and is not watched there: it used 2.0x the CPU time of layered in its \
         warm-up. Name all processes: --subject-pid layered=7 --subject-pid layered=8"
    );
    assert!(verdicts(&[("bare", 8)]).0.note.unwrap().contains("works for bare and is not watched there"));
    assert_eq!(verdicts(&[("bare", 8), ("layered", 9)]).0.verdict, TollVerdict::Refused);
    assert_eq!(verdicts(&[("bare", 8), ("layered", 8)]).0.verdict, TollVerdict::Cheaper, "it is left out of both");
}
