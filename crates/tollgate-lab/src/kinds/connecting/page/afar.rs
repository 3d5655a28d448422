//! First requests over lines of several lengths: their round trips, and the parts of their time.
//!
//! It arranges what the result contains; slopes are computed with the trials.

use super::tables::encryption;
use tollgate_facts::results::{Encryption, Estimate, RoundTripCost, RunResult};
use tollgate_facts::stats::interval;
use tollgate_page::blocks::{Block, Cell, Figure, Section, Table, TableRow};
use tollgate_page::chart::Size;
use tollgate_page::chart::lines::{self, Axis, Kind, Line, Lines, Point};
use tollgate_page::number::{self, NOTHING};
use tollgate_page::words::headline::{Claim, Said};
use tollgate_page::words::marked::{self, Named, REFUSED};
use tollgate_page::words::view::{self, Row, View};

/// The pictures: the time of a first request against the distance, for each way of encrypting.
pub(super) fn section(view: &View<'_>) -> Option<Section> {
    let pictures = ways(view.run).into_iter().enumerate().map(|(place, way)| Block::Figure(times(view, way, place)));
    Section::background("Against distance", pictures.collect()).some()
}

/// The answers, a sentence for each way of encrypting, with its doubts.
pub(super) fn answers(run: &RunResult) -> Vec<String> {
    let of_way = |way: &str| {
        let own = || run.round_trips.iter().filter(|cost| cost.way == way);
        let costs: Vec<String> =
            own().map(|cost| format!("{} with {}", with_interval(cost.round_trips), cost.variant)).collect();
        let doubts: Vec<String> = own()
            .filter_map(|cost| Some(format!(" Doubtful with {}: {}.", cost.variant, cost.doubt.as_ref()?)))
            .collect();
        let aside = marked::aside(run, &cells(run, way));
        let costs = costs.join(", ");
        format!("{way}: a first request waits for so many round trips: {costs}.{aside}{}", doubts.concat())
    };
    ways(run).into_iter().map(of_way).collect()
}

/// The answer in one sentence, for the first way of encrypting.
pub(super) fn claim(run: &RunResult) -> Option<Claim> {
    let way = ways(run).into_iter().next()?;
    let of = |wanted: Encryption| {
        let mut own = run.round_trips.iter().filter(|cost| cost.way == way);
        own.find(|cost| encryption(run, &cost.variant) == Some(wanted))
    };
    let full = of(Encryption::Full)?;
    let two = |value: f64| format!("{value:.1}");
    let mut text =
        format!("With {way}, the first request of a connection waits for {} round trips", two(full.round_trips.mean));
    for (wanted, words) in [(Encryption::Off, "without encryption"), (Encryption::Resumed, "with a resumed session")] {
        if let Some(cost) = of(wanted) {
            text += &format!(", {words} for {}", two(cost.round_trips.mean));
        }
    }
    let [low, high] = [full.round_trips.low, full.round_trips.high].map(two);
    let costs = run.round_trips.iter().filter(|cost| cost.way == way);
    let levels = levels(run, way);
    let cells = costs.flat_map(|cost| levels.iter().map(|(level, _)| (cost.variant.clone(), *level))).collect();
    Some(Claim {
        sentences: vec![Said { text: text + ".", cells }],
        interval: format!("the 95 % interval is {low} to {high} round trips"),
        doubt: full.doubt.clone(),
        ..Claim::default()
    })
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

/// The levels of a way of encrypting, each with the length asked.
fn levels(run: &RunResult, way: &str) -> Vec<(u64, f64)> {
    let own = run.experiment.named_levels.iter().filter(|named| named.way_title() == way);
    own.filter_map(|named| Some((named.level, named.round_trip_ms?))).collect()
}

/// Explanations of the tables, in sentences.
pub(super) fn legend(view: &View<'_>) -> Vec<String> {
    let run = view.run;
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

/// Size of ten segments on Ethernet.
const INITIAL_WINDOW_BYTES: u64 = 14_480;

/// The table of round trips that a request on a fresh connection waits for.
pub(super) fn slopes(view: &View<'_>) -> Table {
    let run = view.run;
    let marks = |cost: &RoundTripCost| {
        view.marks_of(levels(run, &cost.way).into_iter().map(|(level, _)| (cost.variant.as_str(), level)))
    };
    let row = |cost: &RoundTripCost| {
        let plain = run
            .round_trips
            .iter()
            .find(|other| other.way == cost.way && encryption(run, &other.variant) == Some(Encryption::Off));
        let more = match plain {
            Some(plain) if plain.variant != cost.variant => {
                Cell::marked(format!("{:+.2}", cost.round_trips.mean - plain.round_trips.mean), marks(plain))
            }
            Some(_) => "baseline".into(),
            None => NOTHING.into(),
        };
        let doubt = if cost.doubt.is_some() { " ?" } else { "" };
        TableRow::from(vec![
            Cell::marked(format!("{}: {}", cost.way, cost.variant), marks(cost)),
            format!("{}{doubt}", with_interval(cost.round_trips)).into(),
            more,
            number::or_nothing(cost.seen.map(|seen| format!("{seen:.1}"))).into(),
            format!("{}{doubt}", with_interval(cost.fixed_ms)).into(),
            number::optional(cost.wire_bytes_received).into(),
        ])
    };
    let mut rows = Vec::new();
    for way in ways(run) {
        rows.extend(run.round_trips.iter().filter(|cost| cost.way == way).map(row));
        rows.extend(unsaid(view, way));
    }
    let head = ["way: variant", "round trips [95 %]", "more than plain", "seen", "fixed ms [95 %]", "bytes in"];
    Table::new("round trips of a request on a fresh connection", head).with(rows)
}

/// Rows of the variants that have no line, since their cells are refused.
fn unsaid(view: &View<'_>, way: &str) -> Vec<TableRow> {
    let run = view.run;
    let has_line = |name: &str| run.round_trips.iter().any(|cost| cost.way == way && cost.variant == name);
    let is_refused = |name: &str| levels(run, way).iter().any(|(level, _)| marked::is_refused(run, name, *level));
    let names = run.experiment.variants.iter().map(|variant| variant.name.as_str());
    let row = |name: &str| {
        let rows = levels(run, way).into_iter().filter_map(|(level, _)| view.row(name, level));
        let name = Cell::marked(format!("{way}: {name}"), view.numbers(rows));
        let cells = std::iter::once(name).chain(std::iter::repeat_n(REFUSED.into(), 5));
        TableRow::from(cells.collect::<Vec<Cell>>())
    };
    names.filter(|name| !has_line(name) && is_refused(name)).map(row).collect()
}

/// The table of the parts of a first request's time.
pub(super) fn first_requests(view: &View<'_>) -> Table {
    let run = view.run;
    let row = |row: &Row<'_>| {
        let cell = row.cell;
        let length_ms = run.line_ms(&cell.variant, cell.level)?;
        let connected = cell.connected.filter(|connected| connected.opened > 0)?;
        let (phases, total_ms) = (connected.phases, cell.response_time_ms.mean);
        let mean = |mean_ms: f64| number::optional(Some(mean_ms).filter(|mean_ms| *mean_ms > 0.0));
        let [connect, handshake] = [phases.connect_ms.mean, phases.handshake_ms.mean];
        let [first, last] = [phases.first_byte_ms.mean, phases.last_byte_ms.mean];
        let mut texts = [total_ms, connect, handshake, first, last].map(mean).to_vec();
        texts.push(format!("{:.1}", total_ms / length_ms));
        texts.push(number::whole(cell.requests));
        let mut line = view.line(row, Vec::new(), texts);
        line.cells[0].text = format!("{}: {}", run.experiment.level_title(cell.level), cell.variant);
        Some(line)
    };
    let mut rows: Vec<&Row<'_>> = view.rows.iter().collect();
    rows.sort_by_key(|row| row.cell.level);
    let head = ["level: variant", "whole", "connect", "TLS", "first byte", "last byte", "in RTT", "n"];
    let table = Table::new("where the time of a first request goes, means in ms", head);
    table.with(rows.into_iter().filter_map(row))
}

fn times(view: &View<'_>, way: &str, place: usize) -> Figure {
    let run = view.run;
    let levels = levels(run, way);
    let measured = |cost: &RoundTripCost| {
        let at = |(level, _): &(u64, f64)| {
            let length_ms = run.line_ms(&cost.variant, *level)?;
            Some((view.row(&cost.variant, *level)?, length_ms, time_of(view, &cost.variant, *level)?))
        };
        let mut measured: Vec<(&Row<'_>, f64, Estimate)> = levels.iter().filter_map(at).collect();
        measured.sort_by(|(_, one, _), (_, other, _)| one.total_cmp(other));
        measured
    };
    let own = run.round_trips.iter().filter(|cost| cost.way == way);
    let costs = own.filter_map(|cost| Some((view::key(run, &cost.variant)?, cost, measured(cost))));
    let costs: Vec<_> = costs.collect();
    let lengths_ms = costs.iter().flat_map(|(.., measured)| measured).map(|(_, length_ms, _)| *length_ms);
    let farthest_ms = lengths_ms.fold(0.0, f64::max);
    let mut all: Vec<Line> = Vec::new();
    for (key, cost, measured) in &costs {
        let readable = measured.iter().filter(|(row, ..)| !row.is_closed_refused);
        let points = readable.map(|(row, length_ms, time)| Point::of(*length_ms, *time, row.standing())).collect();
        all.push(Line::new(&cost.variant, *key, Kind::Measured, points));
        let end = |x: f64| Point::plain(x, cost.fixed_ms.mean + cost.round_trips.mean * x);
        all.push(Line::new("", *key, Kind::Ideal, [0.0, farthest_ms].map(end).to_vec()));
    }
    let chart = Lines::new(Axis::linear("a round trip over the line (ms)"), Axis::linear("ms a request"), all);
    let description = "A line for each variant; less is better.";
    let rows = costs.iter().flat_map(|(.., measured)| measured).map(|(row, length_ms, time)| {
        let times = [time.mean, time.low, time.high].map(number::three_digits).to_vec();
        view.line(row, vec![number::three_digits(*length_ms)], times)
    });
    let head = ["variant", "round trip ms", "ms a request", "95 % low", "95 % high"];
    let table = Table::new("", head).with(rows);
    let note = "From opening the connection to the last byte, means with 95 % intervals. Dotted: the fitted line, whose slope is the \
                round trips and whose height at no distance is what they do not explain. A hollow point has a doubt; what is refused \
                is not drawn.";
    Figure::new(format!("Time of a first request against distance: {way}"), note)
        .picture(&format!("afar-{place}"), description, Size::Full, |size| lines::draw(size, &chart))
        .data(table, format!("time-against-distance-{}.csv", place + 1))
}

/// The mean response time of the trials that the line was fitted to, with its interval.
fn time_of(view: &View<'_>, variant: &str, level: u64) -> Option<Estimate> {
    let own = view.run.trials_of(variant, level).into_iter();
    let times: Vec<f64> =
        own.filter(|trial| trial.errors == 0 && trial.requests > 0).map(|trial| trial.response_time_mean_ms).collect();
    (!times.is_empty()).then(|| interval::estimate_above_zero(&times))
}

fn with_interval(estimate: Estimate) -> String {
    format!("{:.2} [{:.2}, {:.2}]", estimate.mean, estimate.low, estimate.high)
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
        for (name, text) in crate::kinds::tests::shown_in_each(&run) {
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
