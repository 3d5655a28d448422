//! A run about distance as sentences and tables: overhead by link and processes, the line and its round trips, the distances
//! with names, and where the time of a document goes. The terminal, Markdown and the page show the same ones.

use super::encryption::Table;
use super::marked::{self, Named, REFUSED};
use super::number::{self, NOTHING};
use super::sentence;
use super::view::{self, Row, View};
use tollgate_facts::results::{Cell, Distances, Estimate, Hinge, PresetFound, RunResult, Slope, Toll, TollVerdict};

/// Whether the run is about the network before a database.
pub(super) fn is_shown(run: &RunResult) -> bool {
    run.distance.is_some()
}

/// What the line says, what the presets came to, and what the link was, each in a sentence.
pub(super) fn sentences(run: &RunResult) -> Vec<String> {
    let Some(distance) = &run.distance else { return Vec::new() };
    let mut said: Vec<String> = distance.slope.iter().map(|slope| of_slope(run, slope)).collect();
    if distance.slope.is_none() && distance.link != "none" {
        said.push("There is no line through the times: it takes three links and two blocks by one process.".to_owned());
    }
    said.extend(of_presets(run, &distance.presets));
    said.push(of_link(distance));
    said.extend(left_out(run));
    said
}

fn of_slope(run: &RunResult, slope: &Slope) -> String {
    let trips = slope.round_trips;
    let agreement = match slope.agrees() {
        true if slope.is_too_wide() => "the interval is too wide to say whether that is equal".to_owned(),
        true => "equal within the interval".to_owned(),
        false => format!("not equal: {} off", percent(trips.mean / slope.counted - 1.0, 0.0)),
    };
    let doubt = slope.doubt.as_ref().map(|doubt| format!(" Doubtful: {doubt}.")).unwrap_or_default();
    // Of presets it is said behind their own sentence.
    let names =
        run.experiment.variants.iter().map(|variant| variant.name.as_str()).filter(|name| !is_preset(run, name));
    let aside = marked::aside(run, &names.map(|name| (name, slope.level, name.to_owned())).collect::<Vec<_>>());
    format!(
        "By {} a document takes {} us [{}, {}] at rest, and {:.2} us [{:.2}, {:.2}] more for each microsecond that the link \
         adds: so many round trips one after another. The batch counted {:.2}: {agreement}. Times lie {:.1} % off the line, \
         typically.{doubt}{aside}",
        sentence::level(&run.experiment, slope.level),
        number::three_digits(slope.at_rest_us.mean),
        number::three_digits(slope.at_rest_us.low),
        number::three_digits(slope.at_rest_us.high),
        trips.mean,
        trips.low,
        trips.high,
        slope.counted,
        slope.residual_share * 100.0
    )
}

fn of_presets(run: &RunResult, presets: &[PresetFound]) -> Option<String> {
    let parts: Vec<String> = presets
        .iter()
        .map(|preset| format!("{}: {} ({})", preset.name, preset.verdict.words(), preset.reason))
        .collect();
    let level = run.experiment.levels.first().copied().unwrap_or_default();
    let cells: Vec<Named<'_>> =
        presets.iter().map(|preset| (preset.name.as_str(), level, preset.name.clone())).collect();
    let aside = marked::aside(run, &cells);
    (!parts.is_empty()).then(|| format!("Distances with names. {}.{aside}", parts.join("; ")))
}

fn of_link(distance: &Distances) -> String {
    let accurate = match (distance.accurate_from_us, distance.link.as_str()) {
        (_, "none") => String::new(),
        (Some(us), _) => format!(", accurate within a tenth from {us:.0} us on"),
        (None, _) => ", which kept no delay within a tenth".to_owned(),
    };
    format!("The link ({}): {}{accurate}. The database: {}.", distance.link, distance.link_words, distance.database)
}

/// The cells that the link could not keep, told once for each variant.
fn left_out(run: &RunResult) -> Option<String> {
    let mut names: Vec<&str> = run.gaps.iter().map(|gap| gap.variant.as_str()).collect();
    names.dedup();
    let reason = &run.gaps.first()?.reason;
    Some(format!("Refused: {}. {reason}.", names.join(", ")))
}

/// All tables in their order.
pub(super) fn tables(view: &View<'_>) -> Vec<Table> {
    [overheads(view), presets(view), batches(view), hinges(view)].into_iter().flatten().collect()
}

/// Overhead over the bottom variant: a row for each link, a column for each number of processes.
pub(super) fn overheads(view: &View<'_>) -> Option<Table> {
    let run = view.run;
    let base = run.experiment.variants.iter().find(|variant| variant.baseline.is_none())?;
    let levels = &run.experiment.levels;
    let mut head = vec!["link".to_owned(), "adds us".to_owned()];
    head.extend(levels.iter().map(|level| sentence::level(&run.experiment, *level)));
    let mut rows = Vec::new();
    for variant in run.experiment.variants.iter().filter(|variant| !is_preset(run, &variant.name)) {
        let mut row = vec![variant.name.clone(), added(view, &variant.name)];
        row.extend(levels.iter().map(|level| {
            let text = match variant.name == base.name {
                true => cell(run, &base.name, *level).map_or_else(|| NOTHING.to_owned(), document_ms),
                false => overhead(view::tolls(run, &variant.name, *level).time),
            };
            view.figure(&variant.name, *level, text)
        }));
        rows.push(row);
    }
    let title = format!("Overhead over {}, of which the ms a document are shown", base.name);
    (!rows.is_empty()).then_some(Table { title, head, rows })
}

/// What the presets were to cost, and what they did.
pub(super) fn presets(view: &View<'_>) -> Option<Table> {
    let run = view.run;
    let level = *run.experiment.levels.first()?;
    let presets = &run.distance.as_ref()?.presets;
    let with_interval = |estimate: Option<Estimate>| {
        estimate.map_or_else(|| NOTHING.to_owned(), |found| interval(found.mean, found.low, found.high))
    };
    let row = |preset: &PresetFound| {
        let of_cell = |text: String| view.figure(&preset.name, level, text);
        vec![
            preset.name.clone(),
            percent(preset.share, 0.0),
            preset.asked_us.map_or_else(|| NOTHING.to_owned(), number::three_digits),
            added(view, &preset.name),
            of_cell(with_interval(preset.predicted)),
            of_cell(with_interval(preset.found)),
            preset.verdict.words().to_owned(),
        ]
    };
    let head = ["preset", "to cost", "us by the line", "us added", "predicted", "found", "verdict"];
    (!presets.is_empty()).then(|| Table {
        title: "Distances computed from the line, run on blocks that it has not seen".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: presets.iter().map(row).collect(),
    })
}

/// Where the time of a document goes, cell by cell.
pub(super) fn batches(view: &View<'_>) -> Option<Table> {
    let rows: Vec<Vec<String>> = view
        .rows
        .iter()
        .filter_map(|row| {
            let (cell, batch) = (row.cell, row.cell.batch?);
            let [compute, database, network] = parts(view.run, cell)?;
            let figures = vec![
                number::three_digits(cell.requests_per_second.mean),
                document_ms(cell),
                number::three_digits(batch.round_trips.mean),
                number::three_digits(compute),
                number::three_digits(database),
                number::three_digits(network),
                view::cpu(cell).map_or_else(|| NOTHING.to_owned(), |cpu| number::three_digits(cpu.mean)),
                number::three_digits(batch.waiting_us.mean),
            ];
            Some(of_cell(view, row, figures))
        })
        .collect();
    let head = [
        "link",
        "processes",
        "documents/s",
        "document ms",
        "round trips",
        "compute us",
        "database us",
        "network us",
        "CPU us",
        "waiting us",
    ];
    (!rows.is_empty()).then(|| Table {
        title: "Where a document's time goes, in the process that has it; all processes together make documents/s"
            .to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    })
}

/// What was to be expected of more processes, and what they took.
pub(super) fn hinges(view: &View<'_>) -> Option<Table> {
    let run = view.run;
    let distance = run.distance.as_ref()?;
    let first = *run.experiment.levels.first()?;
    let base = run.experiment.variants.iter().find(|variant| variant.baseline.is_none())?.name.as_str();
    let row = |hinge: &Hinge| {
        let row = view.row(&hinge.variant, hinge.level)?;
        let found = row.cell.unit_time_ms;
        let off = percent(found.mean * 1e3 / hinge.expected_us - 1.0, 0.0);
        // What is expected comes from what one process did without delay.
        let expected = |text: String| view.figure(base, first, text);
        let figures = vec![
            expected(number::three_digits(hinge.expected_us / 1e3)),
            hinge.bound.words().to_owned(),
            number::three_digits(found.mean),
            expected(off),
        ];
        Some(of_cell(view, row, figures))
    };
    let shown = distance.hinges.iter().filter(|hinge| hinge.level > first);
    let rows: Vec<Vec<String>> = shown.filter_map(row).collect();
    let head = ["link", "processes", "expected ms", "bound by", "found ms", "off"];
    (!rows.is_empty()).then(|| Table {
        title: "More processes: the longest of CPU by cores, the database's CPU by its cores, and one process's time by the processes"
            .to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    })
}

/// A row with the name of its cell, the processes, and the cell's figures.
fn of_cell(view: &View<'_>, row: &Row<'_>, figures: Vec<String>) -> Vec<String> {
    [row.name(), row.cell.level.to_string()].into_iter().chain(view.figures(row, figures)).collect()
}

/// Microseconds of a document that are compute, database, and network: round trips of the line, or the counted ones, each
/// as long as the link makes it. The network is a part of what the batch waits for its database.
pub(super) fn parts(run: &RunResult, cell: &Cell) -> Option<[f64; 3]> {
    let batch = cell.batch?;
    let slope = run.distance.as_ref().and_then(|distance| distance.slope.as_ref());
    let round_trips = slope.map_or(batch.round_trips.mean, |slope| slope.round_trips.mean);
    let added_us = batch.added_us.map_or(0.0, |added| added.mean.max(0.0));
    let network = (round_trips * added_us).min(batch.database_us.mean).max(0.0);
    Some([batch.compute_us.mean, batch.database_us.mean - network, network])
}

/// Whether a variant is a distance with a name.
pub(super) fn is_preset(run: &RunResult, name: &str) -> bool {
    run.distance.as_ref().is_some_and(|distance| distance.presets.iter().any(|preset| preset.name == name))
}

/// A toll as overhead in percent with its interval, or why there is none.
pub(super) fn overhead(toll: Option<&Toll>) -> String {
    match toll {
        None => NOTHING.to_owned(),
        Some(toll) if !toll.is_shown() => "refused".to_owned(),
        Some(toll) => {
            let text = interval(toll.ratio - 1.0, toll.low - 1.0, toll.high - 1.0);
            match toll.verdict {
                TollVerdict::NoToll => format!("{text} ="),
                TollVerdict::Unclear => format!("{text} ?"),
                TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::Joint | TollVerdict::Refused => text,
            }
        }
    }
}

fn document_ms(cell: &Cell) -> String {
    let time = cell.unit_time_ms;
    match time.n {
        0 => NOTHING.to_owned(),
        1 => format!("{} (n=1)", number::three_digits(time.mean)),
        _ => format!("{} ±{}", number::three_digits(time.mean), number::three_digits((time.high - time.low) / 2.0)),
    }
}

/// What the link before a variant added, on average over the cells that may be read.
fn added(view: &View<'_>, variant: &str) -> String {
    let cells = || view.rows.iter().map(|row| row.cell).filter(|cell| cell.variant == variant);
    let is_refused = |cell: &&Cell| marked::is_refused(view.run, variant, cell.level);
    let readable = cells().filter(|cell| !is_refused(cell));
    let means: Vec<f64> = readable.filter_map(|cell| Some(cell.batch?.added_us?.mean)).collect();
    let marks = view.marks_of(cells().map(|cell| (variant, cell.level)));
    match tollgate_facts::stats::mean(&means) {
        Some(mean) => format!("{mean:.0}{marks}"),
        None if cells().any(|cell| is_refused(&cell)) => REFUSED.to_owned(),
        None => NOTHING.to_owned(),
    }
}

fn cell<'r>(run: &'r RunResult, variant: &str, level: u64) -> Option<&'r Cell> {
    run.cells.iter().find(|cell| cell.variant == variant && cell.level == level)
}

fn interval(mean: f64, low: f64, high: f64) -> String {
    let spread = high - low;
    format!("{} [{}, {}]", percent(mean, spread), percent(low, spread), percent(high, spread))
}

/// A share in percent with its sign; with a decimal where it, or the interval that it stands in, is small.
fn percent(share: f64, spread: f64) -> String {
    let is_fine = share.abs() < 0.1 || (spread > 0.0 && spread < 0.02);
    let decimals = usize::from(is_fine);
    let sign = if share < 0.0 { "−" } else { "+" };
    format!("{sign}{} %", number::grouped(share.abs() * 100.0, decimals))
}

#[cfg(test)]
mod tests {
    use tollgate_facts::fixture;
    use tollgate_facts::results::{TollVerdict, Verdict};

    #[test]
    fn refused_and_marked_links_say_so_in_every_table_and_behind_the_line() {
        let mut run = fixture::distance();
        run.validity = vec![
            fixture::doubt("rtt-1ms", 1, "link", Verdict::Marked),
            fixture::doubt("rtt-1ms", 4, "documents", Verdict::Refused),
            fixture::doubt("rtt-5ms", 4, "steal", Verdict::Marked),
        ];
        let refused = run.tolls.iter_mut().filter(|toll| toll.variant == "rtt-1ms" && toll.level == 4);
        refused.for_each(|toll| toll.verdict = TollVerdict::Refused);
        for (name, text) in crate::tests::shown_in_each(&run) {
            let has = |part: &str| assert!(text.contains(part), "{name}, {part}: {text}");
            has("typically. Marked: link (rtt-1ms).");
            has("rtt-1ms 1000 [1] +389 % [+384 %, +394 %] [1] refused [2] ");
            has("rtt-5ms [3] 4 9.20 waiting 9.20 ");
            has("rtt-1ms [2] 4 refused refused refused refused ");
            has("rtt-1ms [1] 1 ");
        }
        // What is to be expected of more processes comes from one without delay.
        run.validity = vec![fixture::doubt("rtt-0", 1, "documents", Verdict::Refused)];
        for (name, text) in crate::tests::shown_in_each(&run) {
            let hinges = text.split_once("More processes: ").unwrap().1;
            assert!(hinges.contains("rtt-5ms 4 refused [1] "), "{name}: {hinges}");
            assert!(text.contains("rtt-0 0 refused [1] 0.450 "), "{name}: {text}");
        }
    }
}
