//! wrk on the same server, in turns: both see the same throughput, or their CPU time explains why not.

use std::process::Command;
use std::time::Duration;

use tollgate_lab::cores::Cores;
use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, quick};

use super::{Table, runs, skipped};
use crate::server::truth_server;

const SLICE: Duration = Duration::from_secs(1);

/// Requests per second by wrk on the generator's cores.
fn by_wrk(url: &str, connections: usize) -> f64 {
    let mut command = Command::new("wrk");
    command.args(["-t1", "-d1s", &format!("-c{connections}"), url]);
    let output = Cores::divide().as_generator(|| command.output()).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
    line.and_then(|line| line.trim().parse().ok()).unwrap_or_else(|| panic!("wrk said {text}"))
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn wrk_on_the_same_server() {
    if Command::new("wrk").arg("-v").output().is_err() {
        skipped("there is no wrk");
        return;
    }
    let server = truth_server();
    let mut table = Table::default();
    let blocks = (runs() / 20).clamp(2, 20);
    for (name, class, connections) in [
        ("as fast as it goes", "burn-30", 16),
        ("constant service time of 2 ms", "constant-2000", 16),
        ("constant service time of 2 ms", "constant-2000", 64),
    ] {
        let url = server.url(&format!("{class}/x"));
        let (mut busiest, mut unmarked) = (0.0_f64, 0);
        let mut by_ours = || {
            let load = QuickLoad { duration: Some(SLICE), concurrency: connections, ..QuickLoad::new(&url) };
            let found = quick(&load, &StopFlag::new()).unwrap();
            busiest = busiest.max(found.generator_cpu_share);
            unmarked += u32::from(found.validity.is_empty());
            found.requests_per_second
        };
        let logs: Vec<f64> = (0..blocks)
            .map(|_| {
                // Mirrored, as in runs: what drifts hits both alike.
                let (ours, theirs) = (by_ours(), by_wrk(&url, connections));
                let (theirs_again, ours_again) = (by_wrk(&url, connections), by_ours());
                (ours.ln() + ours_again.ln() - theirs.ln() - theirs_again.ln()) / 2.0
            })
            .collect();
        let ratio = (logs.iter().sum::<f64>() / f64::from(blocks)).exp();
        table.row(
            format!("wrk on the same server, {name}, {connections} connections: throughput of tollgate load by wrk"),
            "0.97-1.03",
            format!("{ratio:.3}; the generator's thread at most {:.0} % busy", busiest * 100.0),
            2 * blocks,
            (0.97..=1.03).contains(&ratio),
        );
    }
}
