//! First requests over lines of several lengths: how many round trips each waits for, and where its time goes.
//!
//! It orders what the result holds; the slopes are computed where trials are.

use super::{Table, heads};
use crate::report::number::{self, NOTHING};
use crate::results::{Cell, Encryption, Estimate, RoundTripCost, RunResult};

/// The tables; none where the run is about no distance.
pub(super) fn tables(run: &RunResult) -> Option<Vec<Table>> {
    (!run.round_trips.is_empty()).then(|| [Some(slopes(run)), first_requests(run)].into_iter().flatten().collect())
}

/// The answer, a sentence for each way of encrypting.
pub(in crate::report) fn answers(run: &RunResult) -> Vec<String> {
    let mut ways: Vec<&str> = run.round_trips.iter().map(|cost| cost.way.as_str()).collect();
    ways.dedup();
    let of_way = |way: &str| {
        let own = run.round_trips.iter().filter(|cost| cost.way == way);
        let costs: Vec<String> = own
            .map(|cost| {
                let Estimate { mean, low, high, .. } = cost.round_trips;
                format!("{mean:.2} [{low:.2}, {high:.2}] with {}", cost.variant)
            })
            .collect();
        format!("{way}: a first request waits for so many round trips: {}.", costs.join(", "))
    };
    ways.into_iter().map(of_way).collect()
}

/// What the tables say, in sentences.
pub(super) fn legend(run: &RunResult) -> Vec<String> {
    if run.round_trips.is_empty() {
        return Vec::new();
    }
    vec![
        "round trips: the slope of the time over the length of the line, from opening the connection to the last byte; fixed: what is left of it at no distance, CPU time of both ends among it".to_owned(),
        "seen: how often the client waited for the server on the wire, that for the connection itself counted".to_owned(),
        format!(
            "a server may send about {} bytes before it hears from its client (ten segments, RFC 6928): a chain of certificates beyond that costs a round trip more",
            number::whole(INITIAL_WINDOW_BYTES)
        ),
    ]
}

/// Ten segments on Ethernet.
const INITIAL_WINDOW_BYTES: u64 = 14_480;

fn slopes(run: &RunResult) -> Table {
    let row = |cost: &RoundTripCost| {
        let plain = run.round_trips.iter().find(|other| other.way == cost.way && is_plain(run, &other.variant));
        let more = match plain {
            Some(plain) if plain.variant != cost.variant => {
                format!("{:+.2}", cost.round_trips.mean - plain.round_trips.mean)
            }
            Some(_) => "baseline".to_owned(),
            None => NOTHING.to_owned(),
        };
        vec![
            format!("{}: {}", cost.way, cost.variant),
            interval(cost.round_trips),
            more,
            cost.seen.map_or_else(|| NOTHING.to_owned(), |seen| format!("{seen:.1}")),
            interval(cost.fixed_ms),
            number::optional(cost.wire_bytes_received),
        ]
    };
    Table {
        title: "round trips of a request on a fresh connection".to_owned(),
        head: heads(&["way: variant", "round trips [95 %]", "more than plain", "seen", "fixed ms [95 %]", "bytes in"]),
        rows: run.round_trips.iter().map(row).collect(),
    }
}

fn first_requests(run: &RunResult) -> Option<Table> {
    let row = |cell: &Cell| {
        let length_ms = run.experiment.named_levels.iter().find(|named| named.level == cell.level)?.round_trip_ms?;
        let connected = cell.connected.filter(|connected| connected.opened > 0)?;
        let (phases, total_ms) = (connected.phases, cell.response_time_ms.mean);
        let mean = |mean_ms: f64| if mean_ms > 0.0 { number::three_digits(mean_ms) } else { NOTHING.to_owned() };
        let mut texts = vec![format!("{}: {}", run.experiment.level_title(cell.level), cell.variant)];
        texts.extend([total_ms, phases.connect_ms.mean, phases.handshake_ms.mean].map(mean));
        texts.extend([phases.first_byte_ms.mean, phases.last_byte_ms.mean].map(mean));
        texts.push(format!("{:.1}", total_ms / length_ms));
        texts.push(number::whole(cell.requests));
        Some(texts)
    };
    let mut cells: Vec<&Cell> = run.cells.iter().collect();
    cells.sort_by_key(|cell| cell.level);
    let rows: Vec<Vec<String>> = cells.into_iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| Table {
        title: "where the time of a first request goes, means in ms".to_owned(),
        head: heads(&["level: variant", "whole", "connect", "TLS", "first byte", "last byte", "in RTT", "n"]),
        rows,
    })
}

fn interval(estimate: Estimate) -> String {
    format!("{:.2} [{:.2}, {:.2}]", estimate.mean, estimate.low, estimate.high)
}

fn is_plain(run: &RunResult, name: &str) -> bool {
    let own = run.experiment.variants.iter().find(|variant| variant.name == name);
    own.and_then(|variant| variant.connecting).is_some_and(|connecting| connecting.encryption == Encryption::Off)
}
