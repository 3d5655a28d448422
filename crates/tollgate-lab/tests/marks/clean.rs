//! Without a fault there is no mark.

use std::collections::BTreeMap;
use std::time::Duration;

use tollgate_lab::load::QuickLoad;

use crate::faults::{closed, load};
use crate::server::{Answering, SOUND, Server};

/// Loads without a fault.
const LOADS: usize = 100;
/// So many of them may be marked.
const MARKED_MOST: usize = 2;

#[test]
#[ignore = "what else a machine does is a fault too: run by hand on a quiet one, in release"]
fn of_100_clean_loads_at_most_2_are_marked() {
    // Not at the limit of anything: each of four users waits for a millisecond.
    let server = Server::start(Answering { takes: Duration::from_millis(1), ..SOUND });
    let clean = QuickLoad { requests: None, duration: Some(Duration::from_secs(1)), ..closed(&server, 0, 4) };
    let mut marks: BTreeMap<&str, usize> = BTreeMap::new();
    let mut marked = 0;
    for _ in 0..LOADS {
        let found = load(&clean);
        marked += usize::from(!found.validity.is_empty());
        for mark in &found.validity {
            *marks.entry(mark.rule).or_default() += 1;
            println!("{}", mark.reason);
        }
    }
    println!("{marked} of {LOADS} marked: {marks:?}");
    assert!(marked <= MARKED_MOST, "{marked} of {LOADS} marked: {marks:?}");
}
