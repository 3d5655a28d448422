//! For each level the closed load and the load at equal rate, both with their tolls, then first requests on a
//! connection.

use tollgate_facts::results::{
    Cell, Encryption, EqualRate, Figure, Percentiles, Rank, RateGroup, RunResult, TollVerdict,
};
use tollgate_facts::rules;
use tollgate_facts::stats::percentile;
use tollgate_facts::toll::GROUPS_MIN;
use tollgate_page::blocks::{Cell as Entry, Table};
use tollgate_page::number::{self, NOTHING};
use tollgate_page::words::sentence;
use tollgate_page::words::view::{Row, Timed, View};

/// Notes common to the tables, for below them.
pub(super) fn legend(view: &View<'_>) -> Vec<String> {
    let run = view.run;
    let mut texts = vec![
        format!(
            "times in ms; [..]: {} interval; CPU: subject's time for one request; toll on time: of a request with all users waiting for theirs, the inverse of throughput",
            sentence::confidence(run)
        ),
        "tolls on times of single answers are only given at equal rate: who waits for a slower server offers it less"
            .to_owned(),
    ];
    if run.cells.iter().any(|cell| cell.equal_rate.is_some()) {
        texts.push(
            "what stands at equal rate is of one start of the servers, the last: what starts differ by is in no interval of it"
                .to_owned(),
        );
    }
    if run.cells.iter().filter_map(|cell| cell.equal_rate.as_ref()).any(|rate| rate.subject_cores.is_some()) {
        texts.push("% of a core: what the server's process kept busy at this rate".to_owned());
    }
    texts.extend(too_few_answers(run));
    let has = |verdict| run.tolls.iter().any(|toll| toll.verdict == verdict);
    texts.extend(sentence::signs(run, has));
    if has(TollVerdict::Joint) {
        let rules = rules::joint_names().collect::<Vec<_>>().join(", ");
        texts.push(format!("joint: the cores were full ({rules}): read the CPU toll"));
    }
    if !view.any_errors() {
        texts.push("no request failed".to_owned());
    }
    texts
}

/// Explains the missing tolls on higher percentiles if answers were too few.
fn too_few_answers(run: &RunResult) -> Option<String> {
    let is_short = |quantile: f64, of_group: fn(&RateGroup) -> Option<f64>| {
        let mut rates = run.cells.iter().filter_map(|cell| cell.equal_rate.as_ref());
        rates
            .any(|rate| rate.groups.iter().filter_map(of_group).count() < GROUPS_MIN as usize)
            .then(|| (format!("p{:.0}", quantile * 100.0), number::whole(percentile::samples_needed(quantile))))
    };
    let short = [is_short(0.95, |group| group.p95_ms), is_short(0.99, |group| group.p99_ms)];
    let (names, needed): (Vec<String>, Vec<String>) = short.into_iter().flatten().unzip();
    (!names.is_empty()).then(|| {
        format!(
            "{NOTHING} for a toll on {}: too few answers. It takes {GROUPS_MIN} groups of blocks with {} answers each, so \
             that {} lie beyond the percentile; the default run has more of them than --quick, --full the most",
            names.join(" or "),
            needed.join(" or "),
            percentile::SAMPLES_BEYOND_MIN,
        )
    })
}

/// The tables of all levels in their order.
pub(super) fn of_levels(view: &View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for level in &view.run.experiment.levels {
        let rows: Vec<&Row<'_>> = view.rows.iter().filter(|row| row.cell.level == *level).collect();
        if rows.is_empty() {
            continue;
        }
        let title = view.run.experiment.level_title(*level);
        tables.push(closed(view, &title, &rows));
        tables.extend(at_rate(view, &title, &rows));
        tables.push(first_requests(&title, &rows));
    }
    tables
}

fn closed(view: &View<'_>, title: &str, rows: &[&Row<'_>]) -> Table {
    let run = view.run;
    let time = |row: &Row<'_>, rank| view.percentile(row, Timed::of_requests(row.cell), rank, number::three_digits);
    let users = run.experiment.users.map_or_else(|| "users".to_owned(), |users| format!("{users} users"));
    let share = |cell: &Cell| cell.linear.as_ref().map(|linear| percent(linear.share_over_200_ms));
    let handshakes = |cell: &Cell| cell.connected.map(|connected| connected.handshakes_per_second);
    let toll = |row: &Row<'_>, figure| run.toll(&row.cell.variant, row.cell.level, figure);
    let toll_on = |row: &Row<'_>, figure| sentence::toll_of(row, toll(row, figure)).into();
    Table::of::<_, _, Entry>(
        format!("{title}: {users} who wait for their answers"),
        rows,
        &[
            ("variant", &|row| row.name()),
            ("req/s", &|row| number::three_digits(row.cell.requests_per_second.mean).into()),
            ("p50", &|row| time(row, Rank::P50)),
            ("p95", &|row| time(row, Rank::P95)),
            ("p99", &|row| time(row, Rank::P99)),
            (">200 ms", &|row| number::or_nothing(share(row.cell)).into()),
            ("CPU µs", &|row| {
                number::optional(row.cell.subject.map(|subject| subject.cpu_us_per_request.mean)).into()
            }),
            ("handshakes/s", &|row| number::optional(handshakes(row.cell).filter(|rate| *rate > 0.0)).into()),
            ("toll on time", &|row| toll_on(row, Figure::UnitTime)),
            ("toll on CPU", &|row| toll_on(row, Figure::SubjectCpu)),
        ],
    )
}

fn at_rate(view: &View<'_>, title: &str, rows: &[&Row<'_>]) -> Option<Table> {
    let run = view.run;
    let time = |row: &Row<'_>, rate, rank| view.percentile(row, Timed::at_rate(rate), rank, number::three_digits);
    let offered = || rows.iter().filter_map(|row| Some((*row, row.cell.equal_rate.as_ref()?)));
    let (_, EqualRate { rate_per_second, rate_share, .. }) = offered().next()?;
    let toll = |row: &Row<'_>, figure| run.toll(&row.cell.variant, row.cell.level, figure);
    let toll_on = |row: &Row<'_>, figure| sentence::toll_of(row, toll(row, figure)).into();
    let cores = |rate: &EqualRate| {
        rate.subject_cores.map(|cores| number::with_half(cores, |cores| number::three_digits(cores * 100.0)))
    };
    let of_slowest = match rate_share * 100.0 {
        percent if percent < 1.0 => "less than 1".to_owned(),
        percent => format!("{percent:.0}"),
    };
    let more = |row: &Row<'_>| toll(row, Figure::MedianAtRate).filter(|toll| toll.is_shown());
    Some(Table::of::<_, _, Entry>(
        format!(
            "{title}: at {} requests/s for every variant, {of_slowest} % of what the slowest took",
            number::three_digits(*rate_per_second),
        ),
        offered(),
        &[
            ("variant", &|(row, _)| row.name()),
            ("p50", &|(row, rate)| time(row, rate, Rank::P50)),
            ("p95", &|(row, rate)| time(row, rate, Rank::P95)),
            ("p99", &|(row, rate)| time(row, rate, Rank::P99)),
            (">200 ms", &|(_, rate)| percent(rate.linear.share_over_200_ms).into()),
            ("sent late", &|(_, rate)| late(rate).into()),
            ("% of a core", &|(_, rate)| number::or_nothing(cores(rate)).into()),
            ("toll on p50", &|(row, _)| toll_on(row, Figure::MedianAtRate)),
            ("on p95", &|(row, _)| toll_on(row, Figure::P95AtRate)),
            ("on p99", &|(row, _)| toll_on(row, Figure::P99AtRate)),
            ("p50 more", &|(row, _)| number::or_nothing(more(row).map(sentence::difference)).into()),
        ],
    ))
}

/// Lateness of requests at the highest percentile with enough samples, and the number of unsent ones.
fn late(rate: &EqualRate) -> String {
    let late = rate.lateness_ms;
    let known = [(late.p99, "p99"), (late.p95, "p95"), (late.p90, "p90")];
    let text = |(value, name): (Option<f64>, &str)| Some(format!("{} {name}", number::three_digits(value?)));
    let late = number::or_nothing(known.into_iter().find_map(text));
    match rate.unsent {
        0 => late,
        unsent => format!("{late}, {} unsent", number::whole(unsent)),
    }
}

fn first_requests(title: &str, rows: &[&Row<'_>]) -> Table {
    let median = |times: Percentiles| number::optional(times.p50).into();
    let rows = rows.iter().filter_map(|row| {
        let found = row.cell.connected.filter(|found| found.opened > 0)?;
        Some((row, found.phases, found.first_request, found))
    });
    Table::of::<_, _, Entry>(
        format!("{title}: the first request on a connection, medians"),
        rows,
        &[
            ("variant", &|(row, ..)| row.name()),
            ("connect", &|(_, phases, ..)| median(phases.connect_ms)),
            ("handshake", &|(_, phases, ..)| median(phases.handshake_ms)),
            ("first byte", &|(_, phases, ..)| median(phases.first_byte_ms)),
            ("last byte", &|(_, phases, ..)| median(phases.last_byte_ms)),
            ("round trips", &|(_, _, first, _)| {
                let round_trips = first.and_then(|first| first.round_trips);
                number::or_nothing(round_trips.map(|count| format!("{count:.1}"))).into()
            }),
            ("bytes out", &|(_, _, first, _)| number::optional(first.map(|first| first.wire_bytes_sent)).into()),
            ("bytes in", &|(_, _, first, _)| number::optional(first.map(|first| first.wire_bytes_received)).into()),
            ("full", &|(.., found)| number::whole(found.handshakes_full).into()),
            ("resumed", &|(.., found)| number::whole(found.handshakes_resumed).into()),
        ],
    )
}

/// Encryption of a variant; absent if it is unknown.
pub(super) fn encryption(run: &RunResult, name: &str) -> Option<Encryption> {
    Some(run.experiment.variant(name)?.connecting?.encryption)
}

pub(super) fn percent(share: f64) -> String {
    match share {
        share if share <= 0.0 => "0 %".to_owned(),
        share if share < 0.001 => "<0.1 %".to_owned(),
        share => format!("{:.1} %", share * 100.0),
    }
}
