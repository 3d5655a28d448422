//! A run about distance as sentences and tables: overhead by link and processes, the line and its round trips, the distances
//! with names, and where the time of a document goes. The terminal, Markdown and the page show the same ones.

use tollgate_facts::results::{Cell, Distances, Estimate, Hinge, PresetFound, RunResult, Slope, Toll, Variant};
use tollgate_page::blocks::{Block, Cell as Entry, Depth, Figure, Page, Section, Table};
use tollgate_page::chart::Size;
use tollgate_page::chart::grouped::{self, Bar, BarGroup};
use tollgate_page::chart::lines::{self, Axis, Kind, Line, Lines, Point};
use tollgate_page::chart::stacked::{self, Stack};
use tollgate_page::number::{self, NOTHING};
use tollgate_page::parts::method::Method;
use tollgate_page::parts::{self, cards, peers, tolls, watched};
use tollgate_page::words::headline::{Claim, Said};
use tollgate_page::words::marked::{self, Named, REFUSED};
use tollgate_page::words::sentence;
use tollgate_page::words::view::{self, Row, View};

/// The parts of a document's time, in the order in which they are stacked.
const PARTS: [&str; 3] = ["compute", "database", "network"];

/// The method of a run about distance.
const DISTANCE: &str = "A trial is the batch as a process of its own, with as many documents as fill a slice; it says itself how long \
    it took from the first claim to the last commit, and how often it waited for the database. Before and behind each trial an \
    echo at the far end of the link is asked how long a round trip is: what a link adds is that beyond the link without delay, in \
    the same block. Each block has a line of its own through the times of one process (least squares on relative errors); \
    intervals are Student's over the blocks. Presets are computed from the line and then run on blocks that it has not seen.";

/// The page of a run about distance.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let run = view.run;
    let distance = run.distance.as_ref().filter(|_| !view.rows.is_empty())?;
    let tables = [overheads(view), presets(view), Some(batches(view)), hinges(view)].into_iter().flatten();
    let blocks =
        sentences(run, distance).into_iter().map(Block::Text).chain(parts::filed("distance", tables)).collect();
    let pictures = [overhead_bars(view), times(view, distance), stacks(view)].map(Block::Figure).into();
    let sections = vec![
        Some(Section::main("What each microsecond costs", blocks)),
        Some(Section::background("Against distance", pictures)),
        cards::section(view),
        tolls::section(view),
        peers::section(view),
    ];
    let documents = run.cells.iter().filter_map(|cell| Some(cell.batch?.documents)).sum();
    let checked = Some(("documents stored", number::whole(documents)));
    let method = Method { load: DISTANCE, between: "batch and database", checked, ..Method::default() };
    Some(parts::page(view, claim(run), sections, Depth::Background, vec![watched::section(view)], &method))
}

/// The claim, if there is a line: a document's time, and the time that a distance adds to it.
fn claim(run: &RunResult) -> Option<Claim> {
    let slope = run.distance.as_ref()?.slope.as_ref()?;
    let own = run.experiment.variants.iter().filter(|variant| !is_preset(run, &variant.name));
    let trips = slope.round_trips;
    let [at_rest, more] = [slope.at_rest_us.mean / 1e3, trips.mean].map(number::three_digits);
    let [low, high] = [trips.low, trips.high].map(number::three_digits);
    let is_open = trips.low <= 0.0;
    let added = match is_open {
        true => "; whether network round trips between them add time is open".to_owned(),
        false => format!(", and {more} ms more for each millisecond of network round trip between them"),
    };
    let processes = match slope.level {
        1 => "1 work process".to_owned(),
        level => format!("{level} work processes"),
    };
    let text = format!("With {processes} a document takes {at_rest} ms beside its database{added}.");
    let cells = own.map(|variant| (variant.name.clone(), slope.level)).collect();
    Some(Claim {
        sentences: vec![Said { text, cells }],
        interval: format!("the 95 % interval of the increase is {low} to {high} ms for each millisecond of round trip"),
        doubt: slope
            .doubt
            .clone()
            .or_else(|| is_open.then(|| "it includes 0. More blocks (--blocks) can settle it".to_owned())),
        ..Claim::default()
    })
}

/// Sentences about the line, the presets and the link.
fn sentences(run: &RunResult, distance: &Distances) -> Vec<String> {
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
        "By {} a document takes {} µs [{}, {}] at rest, and {:.2} µs [{:.2}, {:.2}] more for each microsecond that the link \
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
    let part = |preset: &PresetFound| format!("{}: {} ({})", preset.name, preset.verdict, preset.reason);
    let parts: Vec<String> = presets.iter().map(part).collect();
    let level = run.experiment.levels.first().copied().unwrap_or_default();
    let cells: Vec<Named<'_>> =
        presets.iter().map(|preset| (preset.name.as_str(), level, preset.name.clone())).collect();
    let aside = marked::aside(run, &cells);
    (!parts.is_empty()).then(|| format!("Distances with names. {}.{aside}", parts.join("; ")))
}

fn of_link(distance: &Distances) -> String {
    let accurate = match (distance.accurate_from_us, distance.link.as_str()) {
        (_, "none") => String::new(),
        (Some(us), _) => format!(", accurate within a tenth from {us:.0} µs on"),
        (None, _) => ", which kept no delay within a tenth".to_owned(),
    };
    format!("The link ({}): {}{accurate}. The database: {}.", distance.link, distance.link_words, distance.database)
}

/// A sentence about the cells left out because the link could not keep their delay, once for each variant.
fn left_out(run: &RunResult) -> Option<String> {
    let mut names: Vec<&str> = run.gaps.iter().map(|gap| gap.variant.as_str()).collect();
    names.dedup();
    let reason = &run.gaps.first()?.reason;
    Some(format!("Refused: {}. {reason}.", names.join(", ")))
}

/// Overhead over the bottom variant: a row for each link, a column for each number of processes.
fn overheads(view: &View<'_>) -> Option<Table> {
    let run = view.run;
    let base = run.experiment.variants.iter().find(|variant| variant.baseline.is_none())?;
    let mut head = vec!["link".to_owned(), "adds µs".to_owned()];
    head.extend(level_names(run));
    let row = |variant: &Variant| {
        let name = variant.name.as_str();
        let of = |level: &u64| match name == base.name {
            true => number::or_nothing(run.cell(name, *level).map(document_ms)),
            false => overhead(view::tolls(run, name, *level).time),
        };
        let figures = run.experiment.levels.iter().map(|level| view.figure(name, *level, of(level)));
        [name.into(), added(view, name)].into_iter().chain(figures).collect::<Vec<Entry>>()
    };
    let rows = run.experiment.variants.iter().filter(|variant| !is_preset(run, &variant.name)).map(row);
    let title = format!("Overhead over {}, of which the ms a document are shown", base.name);
    Some(Table::new(title, head).with(rows))
}

/// The table of the presets' overheads, asked and measured.
fn presets(view: &View<'_>) -> Option<Table> {
    let run = view.run;
    let level = *run.experiment.levels.first()?;
    let presets = &run.distance.as_ref()?.presets;
    let with_interval = |estimate: Option<Estimate>| {
        number::or_nothing(estimate.map(|found| interval([found.mean, found.low, found.high])))
    };
    let of_cell = |preset: &PresetFound, found| view.figure(&preset.name, level, with_interval(found));
    Some(Table::of::<_, _, Entry>(
        "Distances computed from the line, run on blocks that it has not seen",
        presets,
        &[
            ("preset", &|preset| preset.name.as_str().into()),
            ("to cost", &|preset| percent(preset.share, 0.0).into()),
            ("µs by the line", &|preset| number::optional(preset.asked_us).into()),
            ("µs added", &|preset| added(view, &preset.name)),
            ("predicted", &|preset| of_cell(preset, preset.predicted)),
            ("found", &|preset| of_cell(preset, preset.found)),
            ("verdict", &|preset| preset.verdict.to_string().into()),
        ],
    ))
}

/// The table of the parts of a document's time, for each cell.
fn batches(view: &View<'_>) -> Table {
    let cells = view.rows.iter().filter_map(|row| Some((row, row.cell.batch?, parts_of(view.run, row.cell)?)));
    let digits = |row: &Row<'_>, value: f64| view.said(row, number::three_digits(value));
    Table::of(
        "Where a document's time goes, in the process that has it; all processes together make documents/s",
        cells,
        &[
            ("link", &|(row, ..)| row.name()),
            ("processes", &|(row, ..)| row.cell.level.to_string().into()),
            ("documents/s", &|(row, ..)| digits(row, row.cell.requests_per_second.mean)),
            ("document ms", &|(row, ..)| view.said(row, document_ms(row.cell))),
            ("round trips", &|(row, batch, _)| digits(row, batch.round_trips.mean)),
            ("compute µs", &|(row, _, [compute, ..])| digits(row, *compute)),
            ("database µs", &|(row, _, [_, database, _])| digits(row, *database)),
            ("network µs", &|(row, _, [.., network])| digits(row, *network)),
            ("CPU µs", &|(row, ..)| view.said(row, number::optional(view::cpu(row.cell).map(|cpu| cpu.mean)))),
            ("waiting µs", &|(row, batch, _)| digits(row, batch.waiting_us.mean)),
        ],
    )
}

/// The table of times with more processes, expected and measured.
fn hinges(view: &View<'_>) -> Option<Table> {
    let run = view.run;
    let distance = run.distance.as_ref()?;
    let first = *run.experiment.levels.first()?;
    let base = run.experiment.variants.iter().find(|variant| variant.baseline.is_none())?.name.as_str();
    let shown = distance.hinges.iter().filter(|hinge| hinge.level > first);
    let rows = shown.filter_map(|hinge| Some((hinge, view.row(&hinge.variant, hinge.level)?)));
    // What is expected comes from what one process did without delay.
    let expected = |text: String| view.figure(base, first, text);
    let off = |hinge: &Hinge, row: &Row<'_>| row.cell.unit_time_ms.mean * 1e3 / hinge.expected_us - 1.0;
    Some(Table::of(
        "More processes: the longest of CPU by cores, the database's CPU by its cores, and one process's time by the \
         processes",
        rows,
        &[
            ("link", &|(_, row)| row.name()),
            ("processes", &|(_, row)| row.cell.level.to_string().into()),
            ("expected ms", &|(hinge, _)| expected(number::three_digits(hinge.expected_us / 1e3))),
            ("bound by", &|(hinge, row)| view.said(row, hinge.bound.to_string())),
            ("found ms", &|(_, row)| view.said(row, number::three_digits(row.cell.unit_time_ms.mean))),
            ("off", &|(hinge, row)| expected(percent(off(hinge, row), 0.0))),
        ],
    ))
}

/// Microseconds of a document in compute, database and network: round trips of the line, or the counted ones, each as
/// long as the link makes it. The network is a part of the batch's wait for its database.
fn parts_of(run: &RunResult, cell: &Cell) -> Option<[f64; 3]> {
    let batch = cell.batch?;
    let slope = run.distance.as_ref().and_then(|distance| distance.slope.as_ref());
    let round_trips = slope.map_or(batch.round_trips.mean, |slope| slope.round_trips.mean);
    let added_us = batch.added_us.map_or(0.0, |added| added.mean.max(0.0));
    let network = (round_trips * added_us).min(batch.database_us.mean).max(0.0);
    Some([batch.compute_us.mean, batch.database_us.mean - network, network])
}

/// Titles of the numbers of processes.
fn level_names(run: &RunResult) -> Vec<String> {
    run.experiment.levels.iter().map(|level| sentence::level(&run.experiment, *level)).collect()
}

/// Whether a variant is a distance with a name.
fn is_preset(run: &RunResult, name: &str) -> bool {
    run.distance.as_ref().is_some_and(|distance| distance.presets.iter().any(|preset| preset.name == name))
}

/// A toll as overhead in percent with its interval, or why there is none.
fn overhead(toll: Option<&Toll>) -> String {
    match toll {
        None => NOTHING.to_owned(),
        Some(toll) if !toll.is_shown() => "refused".to_owned(),
        Some(toll) => {
            let text = interval([toll.ratio, toll.low, toll.high].map(|ratio| ratio - 1.0));
            format!("{text}{}", sentence::sign(toll.verdict))
        }
    }
}

fn document_ms(cell: &Cell) -> String {
    number::with_half(cell.unit_time_ms, number::three_digits)
}

/// The delay that a variant's link added, on average over the cells that can be read.
fn added(view: &View<'_>, variant: &str) -> Entry {
    let own = view.rows.iter().filter(|row| row.cell.variant == variant);
    let (refused, readable): (Vec<&Row<'_>>, Vec<&Row<'_>>) = own.partition(|row| row.is_closed_refused);
    let means: Vec<f64> = readable.iter().filter_map(|row| Some(row.cell.batch?.added_us?.mean)).collect();
    match tollgate_facts::stats::mean(&means) {
        Some(mean) => Entry::marked(format!("{mean:.0}"), view.numbers(readable)),
        None if refused.is_empty() => NOTHING.into(),
        None => REFUSED.into(),
    }
}

/// Overhead as grouped bars.
fn overhead_bars<'r>(view: &View<'r>) -> Figure {
    let run = view.run;
    let levels = level_names(run);
    let group = |variant: &'r Variant| {
        let bar = |(key, level): (usize, &u64)| {
            let toll = view::tolls(run, &variant.name, *level).time.filter(|toll| toll.is_shown())?;
            let text = view.figure(&variant.name, *level, overhead(Some(toll))).numbered();
            Some(Bar { key, ratio: toll.ratio, low: toll.low, high: toll.high, text })
        };
        BarGroup { name: &variant.name, bars: run.experiment.levels.iter().enumerate().filter_map(bar).collect() }
    };
    let compared = run.experiment.variants.iter().filter(|variant| variant.baseline.is_some());
    let groups: Vec<BarGroup<'_>> = compared.map(group).filter(|group| !group.bars.is_empty()).collect();
    let description = "A group of bars for each link, a bar for each number of processes, with 95 % intervals.";
    let draw = |size| grouped::draw(size, &levels, &groups);
    let bars = groups.iter().flat_map(|group| group.bars.iter().map(|bar| (group.name, bar)));
    let row = |(name, bar): (&str, &Bar)| vec![name.to_owned(), levels[bar.key].clone(), bar.text.clone()];
    let table = Table::new("", ["link", "processes", "overhead"]).with(bars.map(row));
    let note = "Time of a document over the link without delay: what was measured in the same blocks. = no toll, (?) unconfirmed, \
         ? unclear.";
    Figure::new("Overhead by link and processes", note)
        .picture("overhead", description, Size::Full, draw)
        .data(table, "overhead.csv")
}

/// The chart of times over the delay that the link adds.
fn times(view: &View<'_>, distance: &Distances) -> Figure {
    let run = view.run;
    let levels = &run.experiment.levels;
    let names = level_names(run);
    let of_level = |level: u64| {
        let mut rows: Vec<&Row<'_>> = view.at(level).collect();
        let added = |row: &&Row<'_>| row.cell.batch.and_then(|batch| Some(batch.added_us?.mean)).unwrap_or(0.0);
        rows.sort_by(|one, other| added(one).total_cmp(&added(other)));
        rows
    };
    let point = |row: &Row<'_>| {
        let added_us = row.cell.batch?.added_us.filter(|_| !row.is_closed_refused)?.mean;
        Some(Point::of(added_us / 1e3, row.cell.unit_time_ms, row.standing()))
    };
    let plain = |x_us: f64, y_us: f64| Point::plain(x_us / 1e3, y_us / 1e3);
    let mut all: Vec<Line> = Vec::new();
    for (key, (level, name)) in levels.iter().zip(&names).enumerate() {
        let points: Vec<Point> = of_level(*level).into_iter().filter_map(point).collect();
        let farthest_us = points.iter().map(|point| point.x * 1e3).fold(0.0, f64::max);
        all.push(Line::new(name, key, Kind::Measured, points));
        let fitted = match &distance.slope {
            Some(slope) if slope.level == *level => [0.0, farthest_us].map(|us| plain(us, slope.at_us(us))).to_vec(),
            _ => {
                let own = distance.hinges.iter().filter(|hinge| hinge.level == *level);
                let mut points: Vec<Point> = own.map(|hinge| plain(hinge.added_us, hinge.expected_us)).collect();
                points.sort_by(|one, other| one.x.total_cmp(&other.x));
                points
            }
        };
        all.push(Line::new("", key, Kind::Ideal, fitted));
    }
    let x = Axis::linear("what the link adds to a round trip (ms)");
    let chart = Lines::new(x, Axis::linear("ms a document"), all);
    let description = "A line for each number of processes; less is better.";
    let row = |row: &Row<'_>| {
        let (added, time) = (row.cell.batch.and_then(|batch| batch.added_us), row.cell.unit_time_ms);
        let mut figures = vec![number::optional(added.map(|added| added.mean))];
        figures.extend([time.mean, time.low, time.high].map(number::three_digits));
        view.line(row, vec![row.cell.level.to_string()], figures)
    };
    let rows = levels.iter().flat_map(|level| of_level(*level)).map(row);
    let table = Table::new("", ["link", "processes", "adds µs", "ms a document", "95 % low", "95 % high"]).with(rows);
    let note = "Dotted: the fitted line by one process, and with more of them what is to be expected, the longest of CPU by \
                cores, the database's CPU by its cores, and one process's time by the processes. A hollow point has a doubt; \
                what is refused is not drawn.";
    Figure::new("Time of a document against what the link adds", note)
        .picture("distance", description, Size::Full, |size| lines::draw(size, &chart))
        .data(table, "time-against-distance.csv")
}

/// The chart of the parts of a document's time.
fn stacks(view: &View<'_>) -> Figure {
    let run = view.run;
    let level = |row: &Row<'_>| sentence::level(&run.experiment, row.cell.level);
    let name = |row: &Row<'_>| format!("{}, {}", row.name().numbered(), level(row));
    let mut table = Table::new("", ["link and processes", "compute µs", "database µs", "network µs"]);
    let mut all: Vec<Stack> = Vec::new();
    for row in &view.rows {
        let Some(parts) = parts_of(run, row.cell) else { continue };
        let mut line = view.line(row, Vec::new(), parts.map(number::three_digits).to_vec());
        line.cells[0].text = format!("{}, {}", row.cell.variant, level(row));
        table.push(line);
        if row.is_closed_refused {
            continue;
        }
        let text = format!("{} ms", number::three_digits(parts.iter().sum::<f64>() / 1e3));
        all.push(Stack { name: name(row), values: parts.iter().map(|us| us / 1e3).collect(), text });
    }
    let description = "A bar for each link and number of processes: compute, database and network.";
    let draw = |size| stacked::draw(size, "ms in the process that has it", &PARTS, &all);
    let note = "In the process that has it. Network is round trips times what the link adds; database is the rest of what was \
                waited for there.";
    Figure::new("What a document's time is made of", note)
        .picture("stack", description, Size::Full, draw)
        .data(table, "time-parts.csv")
}

fn interval([mean, low, high]: [f64; 3]) -> String {
    let [mean, low, high] = [mean, low, high].map(|share| percent(share, high - low));
    format!("{mean} [{low}, {high}]")
}

/// A share in percent with its sign; with one decimal if it, or its interval, is small.
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
        for (name, text) in crate::kinds::tests::shown_in_each(&run) {
            let has = |part: &str| assert!(text.contains(part), "{name}, {part}: {text}");
            has("typically. Marked: link (rtt-1ms).");
            has("rtt-1ms 1000 [1] +389 % [+384 %, +394 %] [1] refused [2] ");
            has("rtt-5ms [3] 4 9.20 waiting 9.20 ");
            has("rtt-1ms [2] 4 refused refused refused refused ");
            has("rtt-1ms [1] 1 ");
        }
        // What is to be expected of more processes comes from one without delay.
        run.validity = vec![fixture::doubt("rtt-0", 1, "documents", Verdict::Refused)];
        for (name, text) in crate::kinds::tests::shown_in_each(&run) {
            let hinges = text.split_once("More processes: ").unwrap().1;
            assert!(hinges.contains("rtt-5ms 4 refused [1] "), "{name}: {hinges}");
            assert!(text.contains("rtt-0 0 refused [1] 0.450 "), "{name}: {text}");
        }
    }
}
