//! The burden of a process, as the probes see it.

use std::sync::mpsc;
use std::time::Duration;

use tollgate_lab::probe::watch::Extent;

use super::{Table, repetitions};
use crate::burden::Carrier;

/// Time over which CPU time is watched.
const SPAN: Duration = Duration::from_secs(3);

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn burdens_of_a_process() {
    let mut table = Table::default();
    for (percent, children) in [(30, 0), (70, 0), (30, 1)] {
        let mut worst: f64 = 0.0;
        let mut seen = 0.0;
        for _ in 0..repetitions() {
            let carrier = Carrier::start(&format!("cpu-{percent},children-{children}"));
            let mut watch = carrier.watch(Extent::Tree);
            watch.look().unwrap();
            // Nobody sends: this is the span itself, not a wait for something.
            let (_sender, receiver) = mpsc::channel::<()>();
            let _ = receiver.recv_timeout(SPAN);
            let points = watch.look().unwrap().cpu_cores.unwrap() * 100.0;
            let off = points - f64::from(percent * (children + 1));
            if off.abs() >= worst.abs() {
                (worst, seen) = (off, points);
            }
        }
        table.row(
            format!("{} processes that each burn {percent} % of a core", children + 1),
            "within 2 points",
            format!("{seen:.2} %, {worst:+.2} points"),
            repetitions(),
            worst.abs() <= 2.0,
        );
    }
    for mebibytes in [64_u64, 256] {
        let carrier = Carrier::start(&format!("memory-{mebibytes}"));
        let seen = carrier.watch(Extent::Alone).look().unwrap().resident_bytes.unwrap();
        let touched = (mebibytes << 20) as f64;
        let off = (seen as f64 - carrier.before_bytes as f64) / touched - 1.0;
        table.row(
            format!("{mebibytes} MiB touched"),
            "resident memory within 3 %",
            format!("{:+.2} %", off * 100.0),
            1,
            off.abs() <= 0.03,
        );
    }
    for threads in [1_u64, 2, 10, 50] {
        let carrier = Carrier::start(&format!("threads-{}", threads - 1));
        let seen = carrier.watch(Extent::Alone).look().unwrap().threads.unwrap();
        table.row(format!("{threads} threads"), "exact", seen, 1, seen == threads);
    }
}
