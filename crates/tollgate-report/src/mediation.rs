//! A run about mediation as tables: where throughput is largest, what a payload of one and of five KiB costs, and the
//! memory. The terminal and Markdown draw the same ones, the page puts pictures beside them.

use super::encryption::Table;
use super::number::{self, NOTHING};
use super::sentence::{self, Times};
use super::view::{self, Row, View};
use tollgate_facts::results::{Cell, Estimate, RunResult, Scaling, Toll, Variant};

/// The level that is shown beside the knee: the least that was published.
const FEW_USERS: u64 = 20;

/// Whether the run is about what stands between users and a backend.
pub(super) fn is_shown(run: &RunResult) -> bool {
    run.experiment.variants.iter().any(|variant| variant.backend.is_some())
}

/// Why a level stands for the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    /// Few users.
    Few,
    /// The knee of the law lies there.
    Knee,
    /// Our own mediations answered most there; the law is not identified.
    Most,
    /// The most users, in a run of too few levels for more to be said.
    Last,
}

impl Chosen {
    pub(super) fn words(self) -> &'static str {
        match self {
            Chosen::Few => "few users",
            Chosen::Knee => "the knee",
            Chosen::Most => "where most was answered",
            Chosen::Last => "the most users",
        }
    }
}

/// The levels at which tolls are shown: with few users, and at the knee of our own mediations or where they answered most
/// together; in a run of few levels with the most users.
pub(super) fn toll_levels(run: &RunResult) -> Vec<(u64, Chosen)> {
    let levels = &run.experiment.levels;
    let few = levels.iter().copied().find(|level| *level >= FEW_USERS).or(levels.last().copied());
    let has_baseline = |scaling: &&Scaling| {
        let mut variants = run.experiment.variants.iter();
        variants.any(|variant| variant.name == scaling.variant && variant.baseline.is_some() && variant.peer.is_none())
    };
    let own: Vec<&Scaling> = run.scalings.iter().filter(has_baseline).collect();
    let knees: Vec<f64> = own.iter().filter_map(|scaling| Some(scaling.knee?.mean.ln())).collect();
    let knee = tollgate_facts::stats::mean(&knees).and_then(|knee| {
        let off = |level: &&u64| ((**level as f64).ln() - knee).abs();
        levels.iter().filter(|level| **level > 0).min_by(|a, b| off(a).total_cmp(&off(b))).copied()
    });
    let second = match knee {
        Some(level) => Some((level, Chosen::Knee)),
        None if run.scalings.is_empty() => levels.last().map(|level| (*level, Chosen::Last)),
        None => best_together(run, &own).map(|level| (level, Chosen::Most)),
    };
    let mut chosen: Vec<(u64, Chosen)> = few.map(|level| (level, Chosen::Few)).into_iter().collect();
    chosen.extend(second.filter(|(level, _)| Some(*level) != few));
    chosen
}

/// The level at which these variants answered most together, each counting alike; of levels that all of them can be read at.
fn best_together(run: &RunResult, scalings: &[&Scaling]) -> Option<u64> {
    let logarithms = |level: u64| -> Option<f64> {
        let of = |scaling: &&Scaling| {
            let cell = run.cells.iter().find(|cell| cell.variant == scaling.variant && cell.level == level)?;
            let rate = cell.requests_per_second.mean;
            (rate > 0.0 && scaling.levels.contains(&level)).then(|| rate.ln())
        };
        scalings.iter().map(of).sum()
    };
    let mut rated: Vec<(u64, f64)> =
        run.experiment.levels.iter().filter_map(|level| Some((*level, logarithms(*level)?))).collect();
    rated.retain(|_| !scalings.is_empty());
    rated.into_iter().max_by(|one, other| one.1.total_cmp(&other.1)).map(|(level, _)| level)
}

/// Where it stands why a law is not identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reasons {
    /// In the table.
    Beside,
    /// Below it, by [`reasons`]: a terminal has no column for a sentence.
    Below,
}

/// All tables in their order.
pub(super) fn tables(view: &View<'_>, times: Times, place: Reasons) -> Vec<Table> {
    [scalings(view, place), payloads(view, times), processes(view), memory(view.run)].into_iter().flatten().collect()
}

/// Why laws are not identified, each reason with the variants that it holds for.
pub(super) fn reasons(run: &RunResult) -> Vec<String> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for scaling in &run.scalings {
        let Some(doubt) = &scaling.doubt else { continue };
        match found.iter_mut().find(|(known, _)| known == doubt) {
            Some((_, variants)) => variants.push(&scaling.variant),
            None => found.push((doubt, vec![&scaling.variant])),
        }
    }
    let text = |(doubt, variants): (&str, Vec<&str>)| format!("{NOT_IDENTIFIED} for {}: {doubt}", variants.join(", "));
    found.into_iter().map(text).collect()
}

const NOT_IDENTIFIED: &str = "not identified";

/// The law of each variant, or why there is none.
pub(super) fn scalings(view: &View<'_>, place: Reasons) -> Option<Table> {
    let run = view.run;
    if run.scalings.is_empty() {
        return None;
    }
    let with_interval = |estimate: Option<Estimate>, factor: f64| match estimate {
        Some(found) => {
            let text = |value: f64| number::three_digits(value * factor);
            format!("{} [{}, {}]", text(found.mean), text(found.low), text(found.high))
        }
        None => NOTHING.to_owned(),
    };
    let row = |scaling: &Scaling| {
        let is_told = scaling.doubt.is_none();
        let told = |estimate: Option<Estimate>, factor| with_interval(estimate.filter(|_| is_told), factor);
        let marks = view.marks_of(scaling.levels.iter().map(|level| (scaling.variant.as_str(), *level)));
        vec![
            format!("{}{marks}", scaling.variant),
            scaling.best_level.map_or_else(|| NOTHING.to_owned(), number::whole),
            told(scaling.knee, 1.0),
            told(scaling.lambda, 1.0),
            told(scaling.alpha, 100.0),
            told(scaling.beta, 1e6),
            match (&scaling.doubt, place) {
                (None, _) => "identified".to_owned(),
                (Some(doubt), Reasons::Beside) => format!("{NOT_IDENTIFIED}: {doubt}"),
                (Some(_), Reasons::Below) => NOT_IDENTIFIED.to_owned(),
            },
        ]
    };
    let head = ["variant", "most at", "knee", "lambda 1/s", "alpha %", "beta ppm", "the law"];
    Some(Table {
        title: "Universal Scalability Law: X(N) = lambda N / (1 + alpha (N - 1) + beta N (N - 1))".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: run.scalings.iter().map(row).collect(),
    })
}

/// What a small and a large payload cost, side by side, at the levels that stand for the run.
pub(super) fn payloads(view: &View<'_>, times: Times) -> Option<Table> {
    let run = view.run;
    let is_payload = |variant: &&Variant| variant.name.ends_with("-1k") || variant.name.ends_with("-5k");
    let variants: Vec<&Variant> = run.experiment.variants.iter().filter(is_payload).collect();
    let mut rows = Vec::new();
    for (level, _) in toll_levels(run) {
        for variant in &variants {
            let Some(row) = view.row(&variant.name, level) else { continue };
            let cell = row.cell;
            let tolls = view::tolls(run, &variant.name, level);
            let ratio = |toll: Option<&Toll>| match toll.filter(|toll| view::is_plain(toll)) {
                Some(toll) => sentence::ratio(toll, times),
                None => toll.map_or_else(|| NOTHING.to_owned(), |toll| sentence::verdict(toll.verdict).to_owned()),
            };
            let figures = vec![
                number::three_digits(cell.requests_per_second.mean),
                number::three_digits(megabytes_per_second(cell)),
                number::optional(cell.response_time_ms.p50),
                number::optional(cell.response_time_ms.p99),
                number::optional(view::cpu(cell).map(|cpu| cpu.mean)),
                ratio(tolls.time),
                ratio(tolls.cpu),
            ];
            rows.push(of_cell(view, row, figures));
        }
    }
    let head = ["variant", "at", "req/s", "MB/s", "p50 ms", "p99 ms", "CPU us", "toll on time", "toll on CPU"];
    (!rows.is_empty()).then(|| Table {
        title: "Payloads of 1 and 5 KiB".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    })
}

/// A row with the name of its cell, the level, and the cell's figures.
fn of_cell(view: &View<'_>, row: &Row<'_>, figures: Vec<String>) -> Vec<String> {
    let level = sentence::level(&view.run.experiment, row.cell.level);
    [row.name(), level].into_iter().chain(view.figures(row, figures)).collect()
}

/// Bytes in both directions.
fn megabytes_per_second(cell: &Cell) -> f64 {
    let bytes = (cell.bytes_received + cell.bytes_sent) as f64 / cell.requests.max(1) as f64;
    bytes * cell.requests_per_second.mean / 1e6
}

/// The memory of each process over the whole run. Levels take turns in one process, which keeps what it once needed:
/// there is no memory of so many users.
pub(super) fn memory(run: &RunResult) -> Option<Table> {
    let mut subjects: Vec<(String, Vec<&Cell>)> = Vec::new();
    for variant in &run.experiment.variants {
        let name = match (&variant.backend, &variant.peer) {
            (Some(backend), _) => format!("the backend {backend}"),
            (None, Some(peer)) => peer.clone(),
            (None, None) => "the mediator".to_owned(),
        };
        let cells = run.cells.iter().filter(|cell| cell.variant == variant.name && cell.subject.is_some());
        match subjects.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.extend(cells),
            None => subjects.push((name, cells.collect())),
        }
    }
    let megabytes = |bytes: f64| number::three_digits(bytes / 1e6);
    let row = |(name, cells): &(String, Vec<&Cell>)| {
        let most = |cell: &Cell| cell.subject.map_or(0, |used| used.resident_memory_bytes_max);
        // The first that reached it.
        let peak = cells.iter().copied().reduce(|best, cell| if most(cell) > most(best) { cell } else { best })?;
        let means: Vec<f64> = cells.iter().filter_map(|cell| cell.subject?.resident_memory_bytes_mean).collect();
        Some(vec![
            name.clone(),
            tollgate_facts::stats::mean(&means).map_or_else(|| NOTHING.to_owned(), megabytes),
            megabytes(most(peak) as f64),
            format!("{} at {}", peak.variant, sentence::level(&run.experiment, peak.level)),
        ])
    };
    let rows: Vec<Vec<String>> = subjects.iter().filter_map(row).collect();
    let head = ["process", "MB on average", "MB at most", "seen with"];
    (!rows.is_empty()).then(|| Table {
        title: "Memory of each process, over the whole run".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    })
}

/// Threads and the backend's part at the levels that stand for the run and at the highest one.
pub(super) fn processes(view: &View<'_>) -> Option<Table> {
    let run = view.run;
    let mut levels: Vec<u64> = toll_levels(run).into_iter().map(|(level, _)| level).collect();
    levels.extend(run.experiment.levels.last().filter(|level| !levels.contains(level)).copied().as_slice());
    let mut rows = Vec::new();
    for level in levels {
        for variant in &run.experiment.variants {
            let found = view.row(&variant.name, level);
            let Some((row, used)) = found.and_then(|row| Some((row, row.cell.subject?))) else { continue };
            let backend = row.cell.backend.map(|backend| number::three_digits(backend.cpu_share));
            let figures = vec![
                used.threads_max.to_string(),
                number::three_digits(used.cpu_share),
                backend.unwrap_or_else(|| NOTHING.to_owned()),
            ];
            rows.push(of_cell(view, row, figures));
        }
    }
    let head = ["variant", "at", "threads", "cores used", "by the backend"];
    (!rows.is_empty()).then(|| Table {
        title: "Threads and cores of the subjects, and the cores of the backends behind them".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    })
}

/// Who was measured in one process, which is then everybody's.
pub(super) const SHARED: &str = "All mediations of one subject share its process, and levels take turns in it: its memory is that of all of them, not of so \
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
        run.tolls = tollgate_facts::toll::compute(&run.experiment, &tollgate_facts::toll::Findings::of(&run));
        for (name, text) in crate::tests::shown_in_each(&run) {
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
        let table = memory(&fixture::mediation()).unwrap();
        let names: Vec<&str> = table.rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(names, ["the backend echo", "the mediator", "nginx"]);
        // 12 MB and 8 kB a user, of 5 to 640 users; the first of the two at 640.
        assert_eq!(table.rows[1][1..], ["13.3", "18.8", "pass-through-1k at 640 users"].map(str::to_owned));
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
            let (mut out, colour) = (Vec::new(), crate::Colour::Plain);
            let options = crate::RenderOptions { colour, width };
            crate::render("terminal", &run, &mut out, &options).unwrap();
            let words = String::from_utf8(out).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(&format!("not identified for {names}: {doubt}")), "{width}: {words}");
        }
    }

    #[test]
    fn tolls_are_shown_with_few_users_and_at_the_knee_or_where_most_was_answered() {
        let check = |change: fn(&mut RunResult), expected: &[(u64, Chosen)]| {
            let mut run = fixture::mediation();
            change(&mut run);
            assert_eq!(toll_levels(&run), expected);
        };
        check(|_| {}, &[(20, Chosen::Few), (160, Chosen::Knee)]);
        check(
            |run| run.scalings.iter_mut().for_each(|scaling| scaling.knee = None),
            &[(20, Chosen::Few), (160, Chosen::Most)],
        );
        check(|run| run.experiment.levels = vec![20], &[(20, Chosen::Few)]);
        check(
            |run| {
                run.scalings.clear();
                run.experiment.levels = vec![20, 320];
            },
            &[(20, Chosen::Few), (320, Chosen::Last)],
        );
        // One variant is best with 640 users, but together they are with 160.
        check(
            |run| {
                run.scalings.iter_mut().for_each(|scaling| scaling.knee = None);
                run.scalings[2].best_level = Some(640);
            },
            &[(20, Chosen::Few), (160, Chosen::Most)],
        );
        check(
            |run| {
                run.scalings.iter_mut().for_each(|scaling| scaling.knee = None);
                let own = run.cells.iter_mut().filter(|cell| cell.level == 320 && cell.variant.starts_with("pass"));
                own.for_each(|cell| cell.requests_per_second.mean *= 1.2);
            },
            &[(20, Chosen::Few), (320, Chosen::Most)],
        );
    }
}
