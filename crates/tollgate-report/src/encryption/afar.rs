//! First requests over lines of several lengths: how many round trips each waits for, and where its time goes.
//!
//! It orders what the result holds; the slopes are computed where trials are.

use super::{Table, heads};
use crate::marked::{self, Named, REFUSED};
use crate::number::{self, NOTHING};
use crate::view::{Row, View};
use tollgate_facts::results::{Encryption, Estimate, RoundTripCost, RunResult};

/// The tables; none where the run is about no distance.
pub(super) fn tables(view: &View<'_>) -> Option<Vec<Table>> {
    (!view.run.round_trips.is_empty())
        .then(|| [Some(slopes(view)), first_requests(view)].into_iter().flatten().collect())
}

/// The answer, a sentence for each way of encrypting, with what is in doubt of it.
pub(crate) fn answers(run: &RunResult) -> Vec<String> {
    let of_way = |way: &str| {
        let own = || run.round_trips.iter().filter(|cost| cost.way == way);
        let costs: Vec<String> = own()
            .map(|cost| {
                let Estimate { mean, low, high, .. } = cost.round_trips;
                format!("{mean:.2} [{low:.2}, {high:.2}] with {}", cost.variant)
            })
            .collect();
        let doubts: Vec<String> = own()
            .filter_map(|cost| Some(format!(" Doubtful with {}: {}.", cost.variant, cost.doubt.as_ref()?)))
            .collect();
        let aside = marked::aside(run, &cells(run, way));
        let costs = costs.join(", ");
        format!("{way}: a first request waits for so many round trips: {costs}.{aside}{}", doubts.concat())
    };
    ways(run).into_iter().map(of_way).collect()
}

fn ways(run: &RunResult) -> Vec<&str> {
    let mut ways: Vec<&str> = run.round_trips.iter().map(|cost| cost.way.as_str()).collect();
    ways.dedup();
    ways
}

/// The cells of a way of encrypting, by variant and distance.
fn cells<'r>(run: &'r RunResult, way: &str) -> Vec<Named<'r>> {
    let levels = levels(run, way);
    let of_variant = |variant: &'r str| {
        let name = move |(level, asked_ms): &(u64, f64)| (variant, *level, format!("{variant} {asked_ms} ms away"));
        levels.iter().map(name).collect::<Vec<Named<'r>>>()
    };
    run.experiment.variants.iter().flat_map(|variant| of_variant(&variant.name)).collect()
}

/// The levels of a way of encrypting, each with the length that was asked.
fn levels(run: &RunResult, way: &str) -> Vec<(u64, f64)> {
    let own = run.experiment.named_levels.iter().filter(|named| named.way_title() == way);
    own.filter_map(|named| Some((named.level, named.round_trip_ms?))).collect()
}

/// What the tables say, in sentences.
pub(super) fn legend(view: &View<'_>) -> Vec<String> {
    let run = view.run;
    if run.round_trips.is_empty() {
        return Vec::new();
    }
    let mut texts = vec![
        "round trips: the slope of the time over the length of the line, from opening the connection to the last byte; fixed: what is left of it at no distance, CPU time of both ends among it".to_owned(),
        "seen: how often the client waited for the server on the wire, that for the connection itself counted".to_owned(),
        format!(
            "a server may send about {} bytes before it hears from its client (ten segments, RFC 6928): a chain of certificates beyond that costs a round trip more",
            number::whole(INITIAL_WINDOW_BYTES)
        ),
    ];
    if run.round_trips.iter().any(|cost| cost.doubt.is_some()) {
        texts.push("? the line is doubtful; the sentences above say why".to_owned());
    }
    texts
}

/// Ten segments on Ethernet.
const INITIAL_WINDOW_BYTES: u64 = 14_480;

fn slopes(view: &View<'_>) -> Table {
    let run = view.run;
    let marks = |cost: &RoundTripCost| {
        view.marks_of(levels(run, &cost.way).into_iter().map(|(level, _)| (cost.variant.as_str(), level)))
    };
    let row = |cost: &RoundTripCost| {
        let plain = run.round_trips.iter().find(|other| other.way == cost.way && is_plain(run, &other.variant));
        let more = match plain {
            Some(plain) if plain.variant != cost.variant => {
                format!("{:+.2}{}", cost.round_trips.mean - plain.round_trips.mean, marks(plain))
            }
            Some(_) => "baseline".to_owned(),
            None => NOTHING.to_owned(),
        };
        let doubt = if cost.doubt.is_some() { " ?" } else { "" };
        vec![
            format!("{}: {}{}", cost.way, cost.variant, marks(cost)),
            format!("{}{doubt}", interval(cost.round_trips)),
            more,
            cost.seen.map_or_else(|| NOTHING.to_owned(), |seen| format!("{seen:.1}")),
            format!("{}{doubt}", interval(cost.fixed_ms)),
            number::optional(cost.wire_bytes_received),
        ]
    };
    let mut rows = Vec::new();
    for way in ways(run) {
        rows.extend(run.round_trips.iter().filter(|cost| cost.way == way).map(row));
        rows.extend(unsaid(view, way));
    }
    Table {
        title: "round trips of a request on a fresh connection".to_owned(),
        head: heads(&["way: variant", "round trips [95 %]", "more than plain", "seen", "fixed ms [95 %]", "bytes in"]),
        rows,
    }
}

/// Rows of the variants that have no line, since their cells are refused.
fn unsaid(view: &View<'_>, way: &str) -> Vec<Vec<String>> {
    let run = view.run;
    let has_line = |name: &str| run.round_trips.iter().any(|cost| cost.way == way && cost.variant == name);
    let is_refused = |name: &str| levels(run, way).iter().any(|(level, _)| marked::is_refused(run, name, *level));
    let names = run.experiment.variants.iter().map(|variant| variant.name.as_str());
    let row = |name: &str| {
        let rows = levels(run, way).into_iter().filter_map(|(level, _)| view.row(name, level));
        let figures = std::iter::repeat_n(REFUSED.to_owned(), 5);
        std::iter::once(format!("{way}: {name}{}", view.numbers(rows))).chain(figures).collect()
    };
    names.filter(|name| !has_line(name) && is_refused(name)).map(row).collect()
}

fn first_requests(view: &View<'_>) -> Option<Table> {
    let run = view.run;
    let row = |row: &Row<'_>| {
        let cell = row.cell;
        let length_ms = run.line_ms(cell.level)?;
        let connected = cell.connected.filter(|connected| connected.opened > 0)?;
        let (phases, total_ms) = (connected.phases, cell.response_time_ms.mean);
        let mean = |mean_ms: f64| if mean_ms > 0.0 { number::three_digits(mean_ms) } else { NOTHING.to_owned() };
        let mut texts = [total_ms, phases.connect_ms.mean, phases.handshake_ms.mean].map(mean).to_vec();
        texts.extend([phases.first_byte_ms.mean, phases.last_byte_ms.mean].map(mean));
        texts.push(format!("{:.1}", total_ms / length_ms));
        texts.push(number::whole(cell.requests));
        let name = format!("{}: {}", run.experiment.level_title(cell.level), row.name());
        Some(std::iter::once(name).chain(view.figures(row, texts)).collect())
    };
    let mut rows: Vec<&Row<'_>> = view.rows.iter().collect();
    rows.sort_by_key(|row| row.cell.level);
    let rows: Vec<Vec<String>> = rows.into_iter().filter_map(row).collect();
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

#[cfg(test)]
mod tests {
    use tollgate_facts::fixture;
    use tollgate_facts::results::Verdict;

    #[test]
    fn refused_and_marked_first_requests_say_so_in_the_tables_and_in_the_answer() {
        let mut run = fixture::encryption_afar();
        run.validity = vec![
            fixture::doubt("http-new", 11, "link", Verdict::Marked),
            fixture::doubt("https-new", 12, "content", Verdict::Refused),
            fixture::doubt("https-new", 20, "content", Verdict::Refused),
            fixture::doubt("https-new", 21, "content", Verdict::Refused),
        ];
        run.round_trips = tollgate_facts::toll::round_trips::costs(&run);
        for (name, text) in crate::tests::shown_in_each(&run) {
            let has = |part: &str| assert!(text.contains(part), "{name}, {part}: {text}");
            has("Marked: link (http-new 10 ms away). Refused: content (https-new 50 ms away).");
            has("Doubtful with https-new: 2 lengths are always on a straight line");
            has("TLS 1.3, P-256: http-new [1] ");
            has("TLS 1.3, P-256, 10 ms away: http-new [1] ");
            has("TLS 1.3, P-256, 50 ms away: https-new [2] refused refused");
            has("TLS 1.2, P-256: https-new [2] refused refused");
            has("TLS 1.2, P-256: http-new ");
        }
    }
}
