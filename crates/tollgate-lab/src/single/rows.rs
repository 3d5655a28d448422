//! Checks whether the rows of a feed ran out before the requested load was done. A load bounded by nothing but its rows
//! ends with them.

use std::time::Duration;

use super::QuickLoad;
use crate::load::record::recorder::Tally;
use tollgate_facts::rules::{Finding, marked};

/// Finding about a load that was not cut off, of so many iterations of a scenario; `None` where rows had no part in its
/// end.
pub(super) fn short(load: &QuickLoad, (tally, iterations): (&Tally, u64), took: Duration) -> Option<Finding> {
    let (ended, left) = match load.scenario {
        None => (tally.requests + tally.failures(), tally.out_of_rows),
        Some(_) => (iterations, tally.out_of_rows),
    };
    let what = if load.scenario.is_some() { "iterations" } else { "requests" };
    // Some may have been taken while users came, and count for nothing.
    let is_out = left > 0 || load.rows_bound().is_some_and(|bound| ended + tally.sends.unsent >= bound);
    if !is_out {
        return None;
    }
    let (when, decided) = match (load.requests.filter(|asked| *asked < u64::MAX), load.duration) {
        (Some(asked), _) if ended < asked => (format!("after {ended} of {asked} {what}"), (ended as f64, asked as f64)),
        (None, Some(asked)) if took < asked => {
            let (took, asked) = (took.as_secs_f64(), asked.as_secs_f64());
            (format!("after {took:.3} of {asked} s"), (took, asked))
        }
        (None, Some(_)) if left > 0 => {
            (format!("for {left} of {} users, who left", load.concurrency), (left as f64, 0.0))
        }
        _ => return None,
    };
    let remedy = match load.scenario {
        None => "give the feed more rows, or say --feed-end again",
        Some(_) => "give the feed more rows, or say `end = \"again\"`",
    };
    Some(marked(format!("rows came to an end {when}"), remedy, decided))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::traffic::feed::csv::Table;
    use crate::traffic::feed::{Feed, FeedEnd, Order};

    #[test]
    fn rows_that_end_before_what_was_asked_for_are_told_and_others_are_not() {
        let table = Arc::new(Table::parse(b"id\n1\n2\n3\n").unwrap());
        let check = |(order, end), requests, seconds: Option<u64>, seen: (u64, u64, u64), expected: Option<&str>| {
            let feed = Some(Feed { table: Arc::clone(&table), order, end, seed: 0 });
            let duration = seconds.map(Duration::from_secs);
            let load = QuickLoad { feed, requests, duration, concurrency: 2, ..QuickLoad::new("http://127.0.0.1/") };
            let (requests, out_of_rows, took) = seen;
            let tally = Tally { requests, out_of_rows, ..Tally::default() };
            let found = short(&load, (&tally, 0), Duration::from_secs(took)).map(|finding| finding.reason);
            assert_eq!(found.as_deref(), expected, "{order:?} {end:?} {seen:?}");
        };
        let (unique, in_order) = ((Order::Unique, FeedEnd::Stop), (Order::InOrder, FeedEnd::Stop));
        check(unique, Some(10), None, (3, 0, 1), Some("rows came to an end after 3 of 10 requests"));
        check(unique, Some(3), None, (3, 0, 1), None);
        check(unique, Some(10), Some(1), (2, 0, 1), None);
        check(unique, None, Some(9), (3, 0, 1), Some("rows came to an end after 1.000 of 9 s"));
        check(unique, None, Some(9), (2, 0, 9), None);
        check(unique, Some(10), None, (2, 1, 1), Some("rows came to an end after 2 of 10 requests"));
        check(unique, None, Some(9), (2, 2, 1), Some("rows came to an end after 1.000 of 9 s"));
        // Nothing else was to end it.
        check(unique, Some(u64::MAX), None, (3, 0, 1), None);
        check(in_order, Some(10), None, (6, 2, 1), Some("rows came to an end after 6 of 10 requests"));
        check(in_order, Some(6), None, (6, 1, 1), None);
        check(in_order, None, Some(9), (6, 2, 1), Some("rows came to an end after 1.000 of 9 s"));
        check(in_order, None, Some(9), (5, 1, 9), Some("rows came to an end for 1 of 2 users, who left"));
        check((Order::InOrder, FeedEnd::Again), Some(10), None, (10, 0, 1), None);
        check((Order::Random, FeedEnd::Again), None, Some(9), (900, 0, 9), None);
    }
}
