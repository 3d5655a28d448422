//! A run about mediation as tables: the levels of largest throughput, the cost of payloads of one and of five KiB, and
//! memory. The terminal and Markdown show the same tables, the page adds pictures.

use tollgate_facts::results::{Cell, Estimate, Rank, RunResult, Scaling, Toll, Variant};
use tollgate_facts::stats::scalability::Law;
use tollgate_page::blocks::{Block, Cell as Entry, Depth, Figure, Page, Section, Table};
use tollgate_page::chart::Size;
use tollgate_page::chart::bands::{self, Band};
use tollgate_page::chart::lines::Point;
use tollgate_page::chart::over_time;
use tollgate_page::gather::by_key;
use tollgate_page::number;
use tollgate_page::parts::curves::{self, by_variant, distributions};
use tollgate_page::parts::method::Method;
use tollgate_page::parts::{self, SHOWN_MAX, cards, peers, tolls, watched};
use tollgate_page::words::sentence;
use tollgate_page::words::view::{self, Row, Timed, View};

/// The level shown beside the knee: the lowest published one.
const FEW_USERS: u64 = 20;

/// Points of a fitted curve.
const CURVE_POINTS: usize = 40;
/// The law is drawn up to this multiple of the largest measured level.
const BEYOND: f64 = 1.5;
/// Most warm-ups in one picture.
const WARM_UPS_MAX: usize = 12;

/// The method of a run about mediation.
const MEDIATION: &str = "Backends and mediator are processes of their own. A subject has the connections of the variant and the \
    level that are measured and no others: they are opened before a trial while its users are at it, uncounted, and closed \
    behind it. Its backend runs on the same cores, and its CPU time is kept beside the subject's: where both fill their cores, \
    the time is both's, and the toll is read from the subject's CPU time.";

/// The page of a run about mediation.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let run = view.run;
    let is_it = run.experiment.variants.iter().any(|variant| variant.backend.is_some());
    if !is_it || view.rows.is_empty() {
        return None;
    }
    let levels: Vec<(u64, Option<&str>)> =
        toll_levels(run).into_iter().map(|(level, why)| (level, Some(why))).collect();
    let times = vec![Block::Figure(response_times(view)), Block::Figures(distributions(view))];
    let sections = vec![
        cards::section(view),
        tolls::section_at(view, &levels),
        Some(Section::background(format!("Against {}", run.experiment.factor), vec![Block::Figure(throughput(view))])),
        Some(Section::background("Response times", times)),
        Some(own_tables(view)),
        peers::section(view),
    ];
    let method = Method { own: vec![MEDIATION], ..Method::default() };
    Some(parts::page(view, None, sections, Depth::Main, vec![watched::section(view)], &method))
}

/// Payloads, memory and the law, and the warm-up of peers.
fn own_tables(view: &View<'_>) -> Section {
    let tables = [scalings(view), payloads(view), processes(view), memory(view.run)];
    let mut blocks: Vec<Block> = parts::filed("mediation", tables).collect();
    blocks.push(Block::Legend(reasons(view.run).into_iter().chain([SHARED.to_owned()]).collect()));
    blocks.extend(warm_ups(view).map(Block::Figure));
    Section::main("Payloads, memory, scalability", blocks)
}

/// Reasons that a level represents the run.
const FEW: &str = "few users";
const KNEE: &str = "the knee";
/// The level of most answers of our own mediations; the law is not identified.
const MOST: &str = "where most was answered";
/// The last level of a run with few levels.
const LAST: &str = "the most users";

/// The levels at which tolls are shown: with few users, and at the knee of our own mediations or with most of their
/// answers; in a run of few levels with the most users.
fn toll_levels(run: &RunResult) -> Vec<(u64, &'static str)> {
    let levels = &run.experiment.levels;
    let few = levels.iter().copied().find(|level| *level >= FEW_USERS).or(levels.last().copied());
    let is_own = |variant: &Variant| variant.baseline.is_some() && variant.peer.is_none();
    let has_baseline = |scaling: &&Scaling| run.experiment.variant(&scaling.variant).is_some_and(is_own);
    let own: Vec<&Scaling> = run.scalings.iter().filter(has_baseline).collect();
    let knees: Vec<f64> = own.iter().filter_map(|scaling| Some(scaling.knee?.mean.ln())).collect();
    let knee = tollgate_facts::stats::mean(&knees).and_then(|knee| {
        let off = |level: &&u64| ((**level as f64).ln() - knee).abs();
        levels.iter().filter(|level| **level > 0).min_by(|a, b| off(a).total_cmp(&off(b))).copied()
    });
    let second = match knee {
        Some(level) => Some((level, KNEE)),
        None if run.scalings.is_empty() => levels.last().map(|level| (*level, LAST)),
        None => best_together(run, &own).map(|level| (level, MOST)),
    };
    let mut chosen: Vec<(u64, &'static str)> = few.map(|level| (level, FEW)).into_iter().collect();
    chosen.extend(second.filter(|(level, _)| Some(*level) != few));
    chosen
}

/// The level at which these variants together have most answers, each weighted alike; of levels at which all are
/// readable.
fn best_together(run: &RunResult, scalings: &[&Scaling]) -> Option<u64> {
    if scalings.is_empty() {
        return None;
    }
    let logarithms = |level: u64| -> Option<f64> {
        let of = |scaling: &&Scaling| {
            let rate = run.cell(&scaling.variant, level)?.requests_per_second.mean;
            (rate > 0.0 && scaling.levels.contains(&level)).then(|| rate.ln())
        };
        scalings.iter().map(of).sum()
    };
    let rated = run.experiment.levels.iter().filter_map(|level| Some((*level, logarithms(*level)?)));
    rated.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(level, _)| level)
}

/// The reasons that laws are not identified, each with its variants.
fn reasons(run: &RunResult) -> Vec<String> {
    let doubts = run.scalings.iter().filter_map(|scaling| Some((scaling.doubt.as_deref()?, scaling.variant.as_str())));
    let text = |(doubt, variants): (&str, Vec<&str>)| format!("{NOT_IDENTIFIED} for {}: {doubt}", variants.join(", "));
    by_key(doubts).into_iter().map(text).collect()
}

const NOT_IDENTIFIED: &str = "not identified";

/// The table of each variant's law.
fn scalings(view: &View<'_>) -> Table {
    let told = |scaling: &Scaling, estimate: Option<Estimate>, factor| {
        let shown = estimate.filter(|_| scaling.doubt.is_none());
        number::or_nothing(shown.map(|found| number::with_interval(found, factor))).into()
    };
    let marks = |scaling: &Scaling| view.marks_of(scaling.levels.iter().map(|level| (&*scaling.variant, *level)));
    let law = |scaling: &Scaling| if scaling.doubt.is_none() { "identified" } else { NOT_IDENTIFIED };
    Table::of::<_, _, Entry>(
        "Universal Scalability Law: X(N) = lambda N / (1 + alpha (N - 1) + beta N (N - 1))",
        &view.run.scalings,
        &[
            ("variant", &|scaling| Entry::marked(&scaling.variant, marks(scaling))),
            ("most at", &|scaling| number::or_nothing(scaling.best_level.map(number::whole)).into()),
            ("knee", &|scaling| told(scaling, scaling.knee, 1.0)),
            ("lambda 1/s", &|scaling| told(scaling, scaling.lambda, 1.0)),
            ("alpha %", &|scaling| told(scaling, scaling.alpha, 100.0)),
            ("beta ppm", &|scaling| told(scaling, scaling.beta, 1e6)),
            ("the law", &|scaling| law(scaling).into()),
        ],
    )
}

/// The costs of a small and a large payload, side by side, at the levels that represent the run.
fn payloads(view: &View<'_>) -> Table {
    let is_payload = |row: &&Row<'_>| row.cell.variant.ends_with("-1k") || row.cell.variant.ends_with("-5k");
    let ratio = |toll: &Toll| match toll.verdict.is_plain() {
        true => sentence::ratio(toll),
        false => toll.verdict.to_string(),
    };
    let figure = |row: &Row<'_>, value: Option<f64>| view.said(row, number::optional(value));
    let time = |row: &Row<'_>, rank| match row.is_closed_refused {
        true => view.said(row, String::new()),
        false => view.percentile(row, Timed::of_requests(row.cell), rank, number::three_digits),
    };
    let toll = |row: &Row<'_>, toll: Option<&Toll>| view.said(row, number::or_nothing(toll.map(ratio)));
    let levels = toll_levels(view.run).into_iter();
    Table::of(
        "Payloads of 1 and 5 KiB",
        levels.flat_map(|(level, _)| view.at(level)).filter(is_payload),
        &[
            ("variant", &|row| row.name()),
            ("at", &|row| sentence::level(&view.run.experiment, row.cell.level).into()),
            ("req/s", &|row| figure(row, Some(row.cell.requests_per_second.mean))),
            ("MB/s", &|row| figure(row, Some(megabytes_per_second(row.cell)))),
            ("p50 ms", &|row| time(row, Rank::P50)),
            ("p99 ms", &|row| time(row, Rank::P99)),
            ("CPU µs", &|row| figure(row, view::cpu(row.cell).map(|cpu| cpu.mean))),
            ("toll on time", &|row| toll(row, row.tolls.time)),
            ("toll on CPU", &|row| toll(row, row.tolls.cpu)),
        ],
    )
}

/// Throughput of bytes in both directions, in MB/s.
fn megabytes_per_second(cell: &Cell) -> f64 {
    let bytes = (cell.bytes_received + cell.bytes_sent) as f64 / cell.requests.max(1) as f64;
    bytes * cell.requests_per_second.mean / 1e6
}

/// The memory of each process over the whole run. Levels take turns in one process, which keeps its memory, so there is
/// no figure for each number of users.
fn memory(run: &RunResult) -> Table {
    let subject = |variant: &Variant| match (&variant.backend, &variant.peer) {
        (Some(backend), _) => format!("the backend {backend}"),
        (None, Some(peer)) => peer.clone(),
        (None, None) => "the mediator".to_owned(),
    };
    let subjects = by_key(run.experiment.variants.iter().flat_map(|variant| {
        let cells = run.cells.iter().filter(|cell| cell.variant == variant.name && cell.subject.is_some());
        cells.map(move |cell| (subject(variant), cell))
    }));
    let megabytes = |bytes: f64| number::three_digits(bytes / 1e6);
    let row = |(name, cells): &(String, Vec<&Cell>)| {
        let most = |cell: &Cell| cell.subject.map_or(0, |used| used.resident_memory_bytes_max);
        // The first that reached it.
        let peak = cells.iter().copied().reduce(|best, cell| if most(cell) > most(best) { cell } else { best })?;
        let means: Vec<f64> = cells.iter().filter_map(|cell| cell.subject?.resident_memory_bytes_mean).collect();
        Some(vec![
            name.clone(),
            number::or_nothing(tollgate_facts::stats::mean(&means).map(megabytes)),
            megabytes(most(peak) as f64),
            format!("{} at {}", peak.variant, sentence::level(&run.experiment, peak.level)),
        ])
    };
    let head = ["process", "MB on average", "MB at most", "seen with"];
    Table::new("Memory of each process, over the whole run", head).with(subjects.iter().filter_map(row))
}

/// Threads and the backend's part at the levels that represent the run and at the highest one.
fn processes(view: &View<'_>) -> Table {
    let run = view.run;
    let mut levels: Vec<u64> = toll_levels(run).into_iter().map(|(level, _)| level).collect();
    levels.extend(run.experiment.levels.last().filter(|level| !levels.contains(level)).copied().as_slice());
    let rows = levels.into_iter().flat_map(|level| view.at(level));
    let of_backend = |row: &Row<'_>| number::optional(row.cell.backend.map(|used| used.cpu_share));
    Table::of(
        "Threads and cores of the subjects, and the cores of the backends behind them",
        rows.filter_map(|row| Some((row, row.cell.subject?))),
        &[
            ("variant", &|(row, _)| row.name()),
            ("at", &|(row, _)| sentence::level(&run.experiment, row.cell.level).into()),
            ("threads", &|(row, used)| view.said(row, used.threads_max.to_string())),
            ("cores used", &|(row, used)| view.said(row, number::three_digits(used.cpu_share))),
            ("by the backend", &|(row, _)| view.said(row, of_backend(row))),
        ],
    )
}

/// Throughput with the fitted law.
fn throughput(view: &View<'_>) -> Figure {
    let run = view.run;
    let identified = run.scalings.iter().filter(|scaling| scaling.doubt.is_none());
    let law = match (identified.clone().next().is_some(), run.scalings.is_empty()) {
        (_, true) => "",
        (false, false) => " The Universal Scalability Law is not identified for any variant; the table below says why.",
        (true, false) => " Dotted: the Universal Scalability Law where it is identified.",
    };
    let last = run.experiment.levels.last().copied().unwrap_or(1) as f64;
    let curve = |scaling: &Scaling| -> Option<Vec<Point>> {
        let law = Law {
            lambda: scaling.lambda?.mean,
            alpha: scaling.alpha?.mean,
            beta: scaling.beta?.mean,
            residual_share: 0.0,
        };
        let first = scaling.levels.first().copied().filter(|level| *level > 0)? as f64;
        let step = (last * BEYOND / first).ln() / CURVE_POINTS as f64;
        let at = |index: usize| {
            let x = first * (step * index as f64).exp();
            Point::plain(x, law.at(x))
        };
        Some((0..=CURVE_POINTS).map(at).collect())
    };
    let curves: Vec<Vec<Point>> = identified.take(SHOWN_MAX).filter_map(curve).collect();
    let note = format!("Valid answers only. A hollow point has a doubt.{law}");
    curves::throughput_beside(view, Size::Full, &note, &curves)
}

fn response_times(view: &View<'_>) -> Figure {
    let levels: Vec<(f64, String)> =
        view.run.experiment.levels.iter().map(|level| (*level as f64, number::whole(*level))).collect();
    let band = |cell: &&Cell| Some((cell.level as f64, cell.response_time_ms.p50?, cell.response_time_ms.p99?));
    let variants = by_variant(view);
    let panels = variants.iter().take(SHOWN_MAX);
    let panels =
        panels.map(|(key, name, cells)| Band { name, key: *key, points: cells.iter().filter_map(band).collect() });
    let panels: Vec<Band<'_>> = panels.collect();
    let note = "The line is the median, the band ends at the 99th percentile. All users wait for their answers: who is slower is \
                asked less.";
    let draw = |size| bands::draw(size, "ms", &levels, &panels);
    let description = "One panel a variant on common scales, both axes logarithmic.";
    let row = |cell: &&Cell| {
        let [p50, p99] = [cell.response_time_ms.p50, cell.response_time_ms.p99].map(number::optional);
        vec![cell.variant.clone(), sentence::level(&view.run.experiment, cell.level), p50, p99]
    };
    let rows = variants.iter().flat_map(|(.., cells)| cells).map(row);
    let table = Table::new("", ["variant", "level", "p50 ms", "p99 ms"]).with(rows);
    Figure::new("Response times over users", note)
        .picture("bands", description, Size::Full, draw)
        .data(table, "response-times-over-users.csv")
}

/// The warm-up of peers: those that compile their code at run time show it here.
fn warm_ups(view: &View<'_>) -> Option<Figure> {
    let run = view.run;
    let is_peers = |name: &str| run.experiment.variant(name).is_some_and(|variant| variant.peer.is_some());
    let shown: Vec<_> = run.warm_ups.iter().filter(|found| found.start == 0 && is_peers(&found.variant)).collect();
    if shown.is_empty() {
        return None;
    }
    let panels = shown.iter().take(WARM_UPS_MAX).map(|found| over_time::Panel {
        name: found.variant.clone(),
        key: view::key(run, &found.variant).unwrap_or(0),
        points: over_time::sampled(&found.points, shown.len().min(WARM_UPS_MAX)),
        ..over_time::Panel::default()
    });
    let panels: Vec<over_time::Panel> = panels.collect();
    let note = "Requests per second before anything counted, by each variant in turn. What was warmed up by one variant is partly \
                warm for the next.";
    let draw = |size| over_time::draw(size, "requests/s", &panels);
    let rows = shown.iter().flat_map(|found| {
        let steady = if found.is_steady { "yes" } else { "no" };
        let row = move |(at, rate): &(f64, f64)| {
            let [at, rate] = [*at, *rate].map(number::three_digits);
            let (start, users) = (found.start.to_string(), number::whole(found.level));
            vec![found.variant.clone(), start, users, at, rate, steady.to_owned()]
        };
        found.points.iter().map(row)
    });
    let head = ["variant", "start", "users", "seconds", "requests/s", "steady in the end"];
    let table = Table::new("", head).with(rows);
    Some(
        Figure::new("Warm-up of the peers", note).picture("warm-up", note, Size::Full, draw).data(table, "warm-up.csv"),
    )
}

/// Explains that variants share one process, and so its memory.
const SHARED: &str = "All mediations of one subject share its process, and levels take turns in it: its memory is that of all of them, not of so \
     many users, and no interval holds what differs from one start to the next. Connections are those of the variant and the \
     level alone. A toll on CPU time is that of mediator and backend together over the backend by itself; \
     beside tollgate, peers are compared by their own.";

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::fixture;
    use tollgate_facts::results::Verdict;

    #[test]
    fn refused_and_marked_cells_say_so_beside_payloads_and_processes_and_in_no_headline() {
        let mut run = fixture::mediation();
        run.validity = vec![
            fixture::doubt("direct-1k", 20, "stalls", Verdict::Marked),
            fixture::doubt("pass-through-1k", 20, "content", Verdict::Refused),
        ];
        run.scalings = tollgate_facts::toll::scaling::scalings(&run, 1);
        run.tolls = tollgate_facts::toll::compute(&run);
        for (name, text) in crate::kinds::tests::shown_in_each(&run) {
            let has = |part: &str| assert!(text.contains(part), "{name}, {part}: {text}");
            has("pass-through-1k [2] 20 users refused refused refused refused refused refused refused ");
            has("pass-through-1k [2] 20 users refused refused refused pass-through-5k");
            let beside = text.split_once("Payloads of 1 and 5 KiB").unwrap().1;
            assert!(beside.contains("direct-1k [1] 20 users "), "{name}: {beside}");
            let laws = text.split_once("Universal Scalability Law: X").unwrap().1;
            assert!(laws.contains(" direct-1k [1] ") && laws.contains(" pass-through-1k "), "{name}: {laws}");
            assert!(!text.contains("pass-through-1k at 20 users: a "), "{name}: {text}");
        }
    }

    #[test]
    fn memory_is_that_of_a_process_over_the_run_with_what_it_was_largest_at() {
        let table = memory(&fixture::mediation());
        let names: Vec<&str> = table.rows.iter().map(|row| row.texts()[0]).collect();
        assert_eq!(names, ["the backend echo", "the mediator", "nginx"]);
        // 12 MB and 8 kB a user, of 5 to 640 users; the first of the two at 640.
        assert_eq!(table.rows[1].texts()[1..], ["13.3", "18.8", "pass-through-1k at 640 users"]);
    }

    #[test]
    fn a_terminal_of_any_width_says_why_a_law_is_not_identified() {
        let mut run = fixture::mediation();
        let doubt = "throughput does not fall up to 640 users, so the levels do not reach past the knee";
        run.scalings[..2].iter_mut().for_each(|scaling| scaling.doubt = Some(doubt.to_owned()));
        run.scalings[2..].iter_mut().for_each(|scaling| scaling.doubt = None);
        let names = format!("{}, {}", run.scalings[0].variant, run.scalings[1].variant);
        assert_eq!(reasons(&run), [format!("not identified for {names}: {doubt}")]);
        for width in [60, 80, 120, 200] {
            let options = tollgate_report::RenderOptions { colour: tollgate_report::Colour::Plain, width };
            let text = tollgate_report::render("terminal", &run, crate::page, &options);
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(&format!("not identified for {names}: {doubt}")), "{width}: {words}");
        }
    }

    #[test]
    fn tolls_are_shown_with_few_users_and_at_the_knee_or_where_most_was_answered() {
        let check = |change: fn(&mut RunResult), expected: &[(u64, &'static str)]| {
            let mut run = fixture::mediation();
            change(&mut run);
            assert_eq!(toll_levels(&run), expected);
        };
        check(|_| {}, &[(20, FEW), (160, KNEE)]);
        check(|run| run.scalings.iter_mut().for_each(|scaling| scaling.knee = None), &[(20, FEW), (160, MOST)]);
        check(|run| run.experiment.levels = vec![20], &[(20, FEW)]);
        check(
            |run| {
                run.scalings.clear();
                run.experiment.levels = vec![20, 320];
            },
            &[(20, FEW), (320, LAST)],
        );
        // One variant is best with 640 users, but together they are with 160.
        check(
            |run| {
                run.scalings.iter_mut().for_each(|scaling| scaling.knee = None);
                run.scalings[2].best_level = Some(640);
            },
            &[(20, FEW), (160, MOST)],
        );
        check(
            |run| {
                run.scalings.iter_mut().for_each(|scaling| scaling.knee = None);
                let own = run.cells.iter_mut().filter(|cell| cell.level == 320 && cell.variant.starts_with("pass"));
                own.for_each(|cell| cell.requests_per_second.mean *= 1.2);
            },
            &[(20, FEW), (320, MOST)],
        );
    }
}
