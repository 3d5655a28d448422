//! Without a fault there is no mark: loads of a well-behaved server, by users who wait, at a rate and in stages.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tollgate_lab::run::StopFlag;
use tollgate_lab::single::{QuickLoad, Rate, quick};
use tollgate_lab::traffic::model::Arrivals;
use tollgate_lab::traffic::stages::Stages;

use super::{Table, runs};
use crate::server::{TruthServer, truth_server};

/// Most marked loads in a hundred.
const MARKED_OF_100_MOST: u32 = 2;
/// Most loads, for each clean one, that may be marked because the host took the cores away: that is no fault of ours.
const STOLEN_BY_CLEAN_MOST: u32 = 2;
const LOAD: Duration = Duration::from_millis(500);
/// As many users as the command line has at a rate.
const USERS_AT_A_RATE: usize = 1000;

/// Loads without a fault, one after another, and the row of what was marked.
fn row(table: &mut Table, name: &str, server: &TruthServer, of: impl Fn(QuickLoad) -> QuickLoad) {
    // Not at the limit of anything: each request waits for a millisecond.
    let url = server.url("constant-1000/x");
    let load = of(QuickLoad { duration: Some(LOAD), contains: Some("x".to_owned()), ..QuickLoad::new(url) });
    let mut marks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (mut clean, mut stolen, mut stolen_and_more, mut marked) = (0, 0, 0, 0);
    while clean < runs() && stolen <= STOLEN_BY_CLEAN_MOST * runs() {
        let found = quick(&load, &StopFlag::new()).unwrap();
        assert!(found.errors.is_empty(), "{:?}", found.error_examples);
        if found.validity.iter().any(|mark| mark.rule == "steal") {
            stolen += 1;
            stolen_and_more += u32::from(found.validity.iter().any(|mark| mark.rule != "steal"));
            continue;
        }
        clean += 1;
        marked += u32::from(!found.validity.is_empty());
        for mark in found.validity {
            marks.entry(mark.rule).or_default().push(mark.reason);
        }
    }
    let told = marks.iter().map(|(rule, reasons)| format!("{rule} {} (such as: {})", reasons.len(), reasons[0]));
    let most = (MARKED_OF_100_MOST * runs()).div_ceil(100);
    table.row(
        format!("clean loads of half a second, {name}"),
        format!("at most {most} marked"),
        format!(
            "{marked} marked{}; beside them {stolen} while the host took a core away, which were marked for it (steal), \
             {stolen_and_more} of them for something else too",
            told.map(|told| format!("; {told}")).collect::<String>()
        ),
        clean,
        marked <= most && clean == runs(),
    );
}

#[test]
#[ignore = "what else a machine does is a fault too: run by hand on a quiet one, in release"]
fn of_100_clean_loads_at_most_2_are_marked() {
    let server = truth_server();
    let mut table = Table::default();
    row(&mut table, "4 users who wait", &server, |load| QuickLoad { concurrency: 4, ..load });
    let rate = |per_second: f64| Some(Rate { per_second, arrivals: Arrivals::Poisson, seed: 1 });
    row(&mut table, "1,000/s at random", &server, |load| {
        let (rate, concurrency) = (rate(1000.0), USERS_AT_A_RATE);
        QuickLoad { rate, concurrency, ..load }
    });
    row(&mut table, "1,000/s, then 2,000/s", &server, |load| {
        let stages: Stages = "250ms:1000..1000/s,250ms:2000..2000/s".parse().unwrap();
        let (rate, concurrency) = (rate(stages.most()), USERS_AT_A_RATE);
        QuickLoad { rate, concurrency, stages: Some(Arc::new(stages)), ..load }
    });
}
