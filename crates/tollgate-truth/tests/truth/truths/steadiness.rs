//! Loads at a rate beyond a server's capacity, none of which may pass as steady, and loads below it, few of which may
//! be called not steady.

use std::time::Duration;

use tollgate_facts::results::load::QuickResult;
use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, Rate, quick};
use tollgate_lab::traffic::model::Arrivals;

use super::Table;
use crate::server::truth_server;

/// Requests of a load.
const REQUESTS: f64 = 5_000.0;
/// Service time of each request, one after another.
const SERVICE_US: f64 = 500.0;

/// Counts loads at this share of the server's capacity that are called not steady.
fn called_unsteady(share: f64, loads: u32, holds: fn(u32, u32) -> bool, bound: &str) {
    let server = truth_server();
    let mut table = Table::default();
    let per_second = share * 1e6 / SERVICE_US;
    let load = |number: usize| {
        let load = QuickLoad {
            rate: Some(Rate { per_second, arrivals: Arrivals::Poisson, seed: number as u64 }),
            duration: Some(Duration::from_secs_f64(REQUESTS / per_second)),
            concurrency: 10_000,
            ..QuickLoad::new(server.url(&format!("constant-{SERVICE_US},queue-1,seed-{number}/x")))
        };
        let QuickResult { validity, .. } = quick(&load, &StopFlag::new()).unwrap();
        validity.iter().any(|mark| mark.rule == "steady")
    };
    let called = (0..loads).filter(|_| table.calm.measure(load)).count() as u32;
    table.row(
        format!("{REQUESTS} requests at {:.0} % of what a server can do: called not steady", share * 100.0),
        bound,
        format!("{called}"),
        loads,
        holds(called, loads),
    );
}

#[test]
#[ignore = "minutes of load: run by hand, in release"]
fn no_load_beyond_what_a_server_can_do_passes_as_steady() {
    for share in [1.05, 1.2, 1.5, 2.0] {
        called_unsteady(share, 40, |called, loads| called == loads, "all");
    }
}

#[test]
#[ignore = "minutes of load: run by hand, in release"]
fn few_loads_below_what_a_server_can_do_are_called_not_steady() {
    for share in [0.5, 0.8] {
        called_unsteady(share, 100, |called, _| called <= 2, "2 at most");
    }
}
