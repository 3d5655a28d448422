//! Counts and bytes, of many requests: difference 0.

use std::time::Duration;

use tollgate_facts::results::load::QuickResult;
use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, quick};

use super::Table;
use crate::server::{TruthServer, truth_server};

fn load(server: &TruthServer, class: &str, requests: u64, concurrency: usize) -> QuickResult {
    let (timeout, url) = (Duration::from_secs(60), server.url(&format!("{class}/x")));
    let load = QuickLoad { requests: Some(requests), concurrency, timeout, ..QuickLoad::new(url) };
    quick(&load, &StopFlag::new()).unwrap()
}

#[test]
#[ignore = "one of the table's rows: run by hand, in release"]
fn errors_by_class() {
    let server = truth_server();
    let mut table = Table::default();
    let mut check = |name: &str, class: &str, counted: &str, of_class: fn(&str) -> bool| {
        let found = load(&server, class, 50_000, 16);
        let did = server.did(class);
        let (counts, truth) = (found.errors.clone(), did.count(counted));
        let errors: u64 = counts.iter().filter(|(class, _)| of_class(class)).map(|(_, count)| count).sum();
        let others: u64 = counts.values().sum::<u64>() - errors;
        let difference = errors.abs_diff(truth) + others + found.requests.abs_diff(did.count("answered/200"));
        table.row(
            name,
            "difference 0",
            format!("{errors} of {truth} errors, difference {difference}"),
            1,
            difference == 0,
        );
    };
    let is_status: fn(&str) -> bool = |class| class == "status-500";
    check("errors, 0 % of 50,000", "errors-0", "answered/500", is_status);
    check("errors, 0.1 % of 50,000", "errors-1", "answered/500", is_status);
    check("errors, 3.7 % of 50,000", "errors-37", "answered/500", is_status);
    check("errors, 50 % of 50,000", "errors-500", "answered/500", is_status);
    check("resets, 1 % of 50,000", "resets-10", "reset", |_| true);
    check("half answers, 3.7 % of 50,000", "halves-37,size-5000", "halved", |class| class == "closed-within-answer");
}

#[test]
#[ignore = "one of the table's rows: run by hand, in release"]
fn bytes_by_size_and_framing() {
    let server = truth_server();
    let mut table = Table::default();
    for bytes in [0_u64, 1, 1460, 65_536, 10 << 20] {
        let requests: u64 = if bytes > 1_000_000 { 20 } else { 5000 };
        let found: Vec<(u64, u64)> = ["chunked-0", "chunked-1", "close-1"]
            .iter()
            .map(|framing| {
                let class = format!("bytes-{bytes},{framing}");
                let found = load(&server, &class, requests, 8);
                (found.body_bytes_received, server.did(&class).count("body_bytes"))
            })
            .collect();
        table.row(
            format!("bodies of {bytes} bytes: by length, in chunks, until the connection closes"),
            "bytes exact",
            format!(
                "{} bytes off of {}",
                found.iter().map(|(found, did)| found.abs_diff(*did)).sum::<u64>(),
                found[0].1
            ),
            requests as u32,
            found.iter().all(|(found, did)| found == did && *did == requests * bytes),
        );
    }
}

#[test]
#[ignore = "one of the table's rows: run by hand, in release"]
fn users_at_once() {
    let server = truth_server();
    let mut table = Table::default();
    for users in [1, 4, 16, 64, 256, 1024, 2560] {
        let class = format!("gate-{users}");
        let found = load(&server, &class, 10 * users, users as usize);
        let most = server.did(&class).count("in_flight_max");
        table.row(
            format!("concurrency {users}"),
            "the server sees exactly so many at most",
            format!("{most} in {} requests", found.requests),
            10,
            most == users && found.requests == 10 * users,
        );
    }
}
