//! A run about limits as sentences and tables: how the time of a pass falls with more work processes, beside the steps
//! that were published, and the limit that slows each cell, with the number that decided. The terminal and Markdown
//! draw the same tables, the page puts pictures beside them.

use tollgate_facts::results::{Binding, Cell, Occupancy, RunResult};
use tollgate_page::blocks::{Block, Cell as Entry, Column, Depth, Figure, Page, Section, Table};
use tollgate_page::chart::Size;
use tollgate_page::chart::over_time::{self, Panel};
use tollgate_page::number::{self, NOTHING};
use tollgate_page::parts::method::Method;
use tollgate_page::parts::{self, SHOWN_MAX, cards, curves, peers, tolls, watched};
use tollgate_page::words::headline::{Claim, Said};
use tollgate_page::words::marked;
use tollgate_page::words::sentence;
use tollgate_page::words::view::{Row, View};

/// Name of the published time of a pass.
const PASS_TIME: &str = "pass time";
/// Note of every picture of a gateway over time.
const NOTE: &str = "Filled: work processes that are busy. Thin: requests that wait for one. Thick: connections that are open. The \
                    beginning of each pass is its list, which one user gets alone.";

/// The page of a run about limits.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let run = view.run;
    if view.rows.iter().all(|row| row.cell.occupancy.is_none()) {
        return None;
    }
    let figures = Block::Figures(vec![curves::unit_time(view), curves::throughput(view)]);
    let mut blocks = vec![Block::List(answers(run)), figures];
    blocks.extend(parts::filed("ladder", [pass_times(view), bindings(view, &|_| true)]));
    blocks.push(Block::Legend(legend(run)));
    let sections = vec![
        cards::section(view),
        Some(Section::main("The ladder", blocks)),
        Some(gateways(view)),
        tolls::section(view),
        peers::section(view),
    ];
    let after = vec![curves::response_times(view, "Response times"), watched::section_without_work_processes(view)];
    Some(parts::page(view, claim(run), sections, Depth::Main, after, &Method::default()))
}

/// The claim from the first readable variant: how far the time falls, and the limit at the end.
fn claim(run: &RunResult) -> Option<Claim> {
    let variants = run.experiment.variants.iter();
    let (variant, cells) = variants.into_iter().find_map(|variant| {
        let mut cells = looked_at(run, &variant.name);
        cells.retain(|(cell, _)| !marked::is_refused(run, &variant.name, cell.level));
        (cells.len() > 1).then_some((variant, cells))
    })?;
    let ((first, _), (last, binding)) = (*cells.first()?, *cells.last()?);
    let noun = sentence::unit_noun(&run.experiment);
    let [before, after] = [first, last].map(|cell| in_milliseconds(cell.unit_time_ms.mean));
    let few = sentence::level(&run.experiment, first.level);
    let times = format!("A {noun} takes {before} ms with {few} and {after} ms with {}.", last.level);
    let from = cells
        .iter()
        .rev()
        .take_while(|(_, seen)| seen.binding == binding.binding)
        .last()
        .map_or(last, |(cell, _)| *cell);
    let level = from.level;
    let limit = match binding.binding {
        Binding::WorkProcesses if level == first.level => "Work processes are the limit throughout.".to_owned(),
        Binding::WorkProcesses => format!("From {level} on work processes are the limit."),
        Binding::Connections => format!("From {level} on the connections are the limit."),
        Binding::Users => format!("From {level} on more bring nothing unless more users ask."),
        Binding::Processor => format!("From {level} on the CPU is the limit."),
        Binding::Unclear => format!("From {level} on no limit is clear."),
    };
    let low_high = [last.unit_time_ms.low, last.unit_time_ms.high].map(in_milliseconds);
    let of = |cells: &[&Cell]| cells.iter().map(|cell| (variant.name.clone(), cell.level)).collect();
    let times = Said { text: times, cells: of(&[first, last]) };
    let limit = Said { text: limit, cells: of(&[from]) };
    Some(Claim {
        sentences: vec![times, limit],
        interval: format!(
            "the 95 % interval of the last is {} to {} ms, over {} blocks",
            low_high[0], low_high[1], last.rounds
        ),
        ..Claim::default()
    })
}

/// The pictures of work processes and connections over time, one for each variant.
fn gateways(view: &View<'_>) -> Section {
    let legend = "Seconds in which the gateway itself was walked; the turns of the others are cut out";
    let variants = view.run.experiment.variants.iter().enumerate().take(SHOWN_MAX);
    let figures = variants.filter_map(|(key, variant)| {
        let cells = looked_at(view.run, &variant.name);
        (!cells.is_empty()).then(|| Block::Figure(occupancy(view, key, &variant.name, &cells)))
    });
    let legend = Block::Legend(vec![legend.to_owned()]);
    Section::background("What the gateways did", std::iter::once(legend).chain(figures).collect())
}

/// One sentence for each variant, from readable cells: how far the time falls, and the limit at each level.
fn answers(run: &RunResult) -> Vec<String> {
    run.experiment.variants.iter().filter_map(|variant| answer(run, &variant.name)).collect()
}

/// The cells of a variant with observations of its gateway, by level.
fn looked_at<'r>(run: &'r RunResult, variant: &str) -> Vec<(&'r Cell, &'r Occupancy)> {
    let own = run.cells.iter().filter(|cell| cell.variant == variant);
    let mut cells: Vec<_> = own.filter_map(|cell| Some((cell, cell.occupancy.as_ref()?))).collect();
    cells.sort_by_key(|(cell, _)| cell.level);
    cells
}

fn answer(run: &RunResult, variant: &str) -> Option<String> {
    let mut cells = looked_at(run, variant);
    let named = |cell: &Cell| (variant, cell.level, sentence::level(&run.experiment, cell.level));
    let aside = marked::aside(run, &cells.iter().map(|(cell, _)| named(cell)).collect::<Vec<_>>());
    let noun = sentence::unit_noun(&run.experiment);
    let was_looked_at = !cells.is_empty();
    cells.retain(|(cell, _)| !marked::is_refused(run, variant, cell.level));
    let (Some((first, _)), Some((last, _))) = (cells.first(), cells.last()) else {
        return was_looked_at.then(|| format!("With {variant}, nothing can be said of the time of a {noun}.{aside}"));
    };
    let at = |cell: &Cell| {
        format!("{} ms at {}", in_milliseconds(cell.unit_time_ms.mean), sentence::level(&run.experiment, cell.level))
    };
    let times = match first.level == last.level {
        true => format!("a {noun} takes {}", at(first)),
        false => format!("a {noun} takes {} and {}", at(first), at(last)),
    };
    let stretches: Vec<&[(&Cell, &Occupancy)]> =
        cells.chunk_by(|(_, one), (_, other)| one.binding == other.binding).collect();
    let count = stretches.len();
    let told = |(place, stretch): (usize, &&[(&Cell, &Occupancy)])| {
        let (least, most) = (stretch[0].0.level, stretch[stretch.len() - 1].0.level);
        let levels = match (place, least == most) {
            _ if count == 1 => "at every level".to_owned(),
            (0, false) => format!("up to {most}"),
            (place, false) if place + 1 == count => format!("from {least} on"),
            (_, false) => format!("from {least} to {most}"),
            (_, true) => format!("at {least}"),
        };
        format!("{levels} {}", why(stretch))
    };
    let told: Vec<String> = stretches.iter().enumerate().map(told).collect();
    Some(format!("With {variant}, {times}: {}.{aside}", told.join("; ")))
}

/// Describes the limit over some levels, with the numbers that decided.
fn why(stretch: &[(&Cell, &Occupancy)]) -> String {
    let occupancy = stretch[0].1;
    let values = || stretch.iter().map(|(_, occupancy)| occupancy.value);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let (least, most) = (percent(least), percent(most));
    let share = if least == most { format!("{least} %") } else { format!("{least} to {most} %") };
    match occupancy.binding {
        Binding::WorkProcesses => {
            format!("the work processes bind (all busy while a request waits for one, {share} of the time)")
        }
        Binding::Connections => format!(
            "the connection limit binds (all {} open while another waits to be let in, {share} of the time)",
            number::grouped(occupancy.connections_max, 0)
        ),
        Binding::Users => format!(
            "the {} users bind ({share} of them in a work process at any time, and nobody waits for one)",
            number::whole(occupancy.users)
        ),
        Binding::Processor => format!("the CPU binds (all cores of the machine busy, {share} of the time)"),
        Binding::Unclear if occupancy.is_without_queue() => {
            format!("no limit binds (nobody waits, {share} of the users in a work process, and cores are idle)")
        }
        Binding::Unclear => format!("now one limit binds and now another (at most {share} of the time)"),
    }
}

/// The time of a pass by work processes, a column for each variant, beside the published one for the same steps.
fn pass_times(view: &View<'_>) -> Table {
    let run = view.run;
    let experiment = &run.experiment;
    let names = experiment.variants.iter().map(|variant| variant.name.as_str());
    let shown: Vec<&str> = names.filter(|name| !looked_at(run, name).is_empty()).collect();
    let first = shown.first().and_then(|name| looked_at(run, name).first().map(|(cell, _)| *cell));
    let theirs = |level: Option<u64>| {
        let found = run.published.iter().find(|known| known.figure == PASS_TIME && known.level == level);
        number::or_nothing(found.map(|known| format!("{} {}", number::three_digits(known.value), known.unit)))
    };
    let of_cell = |cell: &Cell, text: String| view.figure(&cell.variant, cell.level, text);
    let own = |cell: &Cell| of_cell(cell, number::with_half(cell.unit_time_ms, in_milliseconds));
    let ideal = |level: u64| {
        let first = first.filter(|first| first.level > 0 && level > 0)?;
        let time = first.unit_time_ms.mean * first.level as f64 / level as f64;
        Some(of_cell(first, in_milliseconds(time)))
    };
    // What was delivered first has no level, and nothing of ours beside it.
    let row = |level: Option<u64>| {
        let name = level.map_or_else(|| "as delivered".to_owned(), |level| level.to_string());
        let ours = shown.iter().map(|name| run.cell(name, level?).map(own)).chain([level.and_then(ideal)]);
        let ours = ours.map(|cell| cell.unwrap_or_else(|| NOTHING.into()));
        [name.into()].into_iter().chain(ours).chain([theirs(level).into()]).collect::<Vec<Entry>>()
    };
    let is_delivered = run.published.iter().any(|known| known.figure == PASS_TIME && known.level.is_none());
    let levels = experiment.levels.iter().copied().map(Some);
    let rows = is_delivered.then_some(None).into_iter().chain(levels).map(row);
    let head =
        ["work processes"].into_iter().chain(shown.iter().copied()).chain(["ideal", "published"]).map(Column::from);
    let title = format!(
        "Time of a {} in ms, ideal: that of the first row divided alike, published: the steps by which a gateway was tuned",
        sentence::unit_noun(experiment)
    );
    Table::new(title, head).with(rows)
}

/// The table of the limit in each cell of these variants, with the observations behind it.
fn bindings(view: &View<'_>, is_wanted: &dyn Fn(&str) -> bool) -> Table {
    let of = |part: f64, whole: f64| format!("{} of {}", number::three_digits(part), number::grouped(whole, 0));
    let row = |row: &Row<'_>| {
        let seen = row.cell.occupancy.as_ref()?;
        let figures = vec![
            seen.binding.to_string(),
            format!("{} %", percent(seen.value)),
            of(seen.busy_mean, seen.work_processes),
            number::three_digits(seen.waiting_mean),
            of(seen.connections_mean, seen.connections_max),
            number::three_digits(seen.connections_waiting_mean),
            number::three_digits(seen.held_ms),
            number::whole(seen.looks),
        ];
        Some(view.line(row, vec![row.cell.level.to_string()], figures))
    };
    let head =
        ["variant", "level", "binds", "decided by", "busy", "waiting", "connections", "outside", "held ms", "looks"];
    let wanted = view.rows.iter().filter(|row| is_wanted(&row.cell.variant));
    Table::new("Which limit binds", head).with(wanted.filter_map(row))
}

/// A panel for each number of work processes.
fn occupancy(view: &View<'_>, key: usize, variant: &str, cells: &[(&Cell, &Occupancy)]) -> Figure {
    let points = |name: &str, level: u64| -> Vec<(f64, f64)> {
        let mut own = view.run.series.iter().filter(|series| series.variant == variant && series.level == level);
        let Some(series) = own.find(|series| series.name == name) else { return Vec::new() };
        // The last of each stretch: the largest would always find a queue.
        over_time::sampled(&watched::own_time(view.run, series, 1.0), cells.len())
    };
    let panels = cells.iter().map(|(cell, seen)| Panel {
        name: format!("{}: {}", cell.level, bound(view, cell, seen)),
        key,
        points: points("work-processes-busy", cell.level),
        above: Some(points("work-processes-waiting", cell.level)),
        average: points("connections-open", cell.level),
    });
    let panels: Vec<Panel> = panels.collect();
    let title = format!("Work processes, queue and connections: {variant}");
    let description = format!("One panel for each number of work processes, with what binds. {NOTE}");
    let draw = |size| over_time::draw(size, "in use and waiting", &panels);
    let mut table =
        Table::new("Points of this chart as CSV", ["seconds", "work processes", "busy", "waiting", "connections"]);
    for ((cell, _), panel) in cells.iter().zip(&panels) {
        let others = panel.above.iter().flatten().zip(&panel.average);
        for ((seconds, busy), ((_, waiting), (_, open))) in panel.points.iter().zip(others) {
            let [busy, waiting, open] = [busy, waiting, open].map(f64::to_string);
            table.push(vec![format!("{seconds:.3}"), cell.level.to_string(), busy, waiting, open]);
        }
    }
    let means = Table { title: String::new(), ..bindings(view, &|name| name == variant) };
    Figure::new(title, NOTE)
        .picture(&format!("ladder-{key}"), &description, Size::Full, draw)
        .data(means, format!("occupancy-{key}-means.csv"))
        .data(table, format!("occupancy-{key}.csv"))
}

fn bound(view: &View<'_>, cell: &Cell, seen: &Occupancy) -> String {
    let text = match seen.binding {
        Binding::WorkProcesses | Binding::Users => format!("{} bind", seen.binding),
        Binding::Connections | Binding::Processor => format!("{} binds", seen.binding),
        Binding::Unclear => "unclear".to_owned(),
    };
    view.figure(&cell.variant, cell.level, text).numbered()
}

/// Notes common to the tables, for below them.
fn legend(run: &RunResult) -> Vec<String> {
    let costs = run.cells.iter().filter_map(|cell| cell.occupancy?.look_cpu_us).reduce(f64::max);
    let cost = costs.map(|cost| {
        format!(
            "each gateway was looked at, by its operator's listener, every 17 ms of its trials: a look takes at most {} µs of \
             its CPU time, {} % of a core",
            number::three_digits(cost),
            number::three_digits(cost / 17e3 * 100.0)
        )
    });
    let busy = run.cells.iter().filter_map(|cell| Some(cell.occupancy?.cores_busy_share)).reduce(f64::max);
    let busy = busy.map(|busy| {
        format!("all cores of the machine were busy at most {} % of the time, whoever used them", percent(busy))
    });
    let mut texts = vec![
        "±: 95 % interval over blocks. Decided by: for work processes and the connection limit the share of looks at which all \
         were used and somebody waited for one (at least 50 %); for users the share of them that was in a work process while \
         nobody waited (at least 60 %); for the CPU the share of the time for which all cores were busy, whoever used them (over \
         95 %)"
            .to_owned(),
        "busy, waiting, connections, outside: means over the looks; outside: connections that waited to be let in; held: how long \
         a request had its work process"
            .to_owned(),
    ];
    texts.extend(cost);
    texts.extend(busy);
    texts
}

fn in_milliseconds(value: f64) -> String {
    let decimals = if value < 100.0 { 1 } else { 0 };
    number::grouped(value, decimals)
}

fn percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::fixture;
    use tollgate_facts::results::Verdict;

    #[test]
    fn a_sentence_says_where_which_limit_binds_and_what_decided() {
        let run = fixture::ladder();
        let answers = answers(&run);
        assert_eq!(
            answers[0],
            "With connections-500, a pass takes 8,400 ms at 1 work process and 428 ms at 30 work processes: up to 10 the work \
             processes bind (all busy while a request waits for one, 96 % of the time); from 20 on the 20 users bind (94 % of \
             them in a work process at any time, and nobody waits for one)."
        );
        assert!(answers[1].contains("up to 2 the work processes bind"), "{}", answers[1]);
        assert!(answers[1].contains("from 5 on the connection limit binds (all 5 open"), "{}", answers[1]);
    }

    #[test]
    fn refused_and_marked_levels_say_so_in_the_tables_and_are_told_behind_the_answer() {
        let mut run = fixture::ladder();
        run.validity = vec![
            fixture::doubt("connections-500", 1, "littles-law", Verdict::Refused),
            fixture::doubt("connections-500", 30, "stalls", Verdict::Marked),
        ];
        for (name, text) in crate::kinds::tests::shown_in_each(&run) {
            let has = |part: &str| assert!(text.contains(part), "{name}, {part}: {text}");
            has(
                "With connections-500, a pass takes 4,200 ms at 2 work processes and 428 ms at 30 work processes: up to 10 ",
            );
            has("nobody waits for one). Marked: stalls (30 work processes). Refused: littles-law (1 work process).");
            has("1 refused [1] 8,400 ±84.0 refused [1] – 2 4,200 ±42.0 4,200 ±42.0 refused [1] –");
            has("30 428 ±4.3 [2] ");
            has("connections-500 [1] 1 refused refused ");
            has("connections-500 [2] 30 users ");
        }
        let all = run.experiment.levels.clone();
        run.validity =
            all.iter().map(|level| fixture::doubt("connections-5", *level, "content", Verdict::Refused)).collect();
        let said = answers(&run).remove(1);
        assert!(
            said.starts_with("With connections-5, nothing can be said of the time of a pass. Refused: content (1 "),
            "{said}"
        );
    }

    #[test]
    fn each_number_that_decided_says_what_it_is_a_share_of() {
        let check = |binding, value, nobody_waited_share, expected: &str| {
            let mut run = fixture::ladder();
            for cell in &mut run.cells {
                let known = cell.occupancy.unwrap();
                cell.occupancy = Some(Occupancy { binding, value, nobody_waited_share, ..known });
            }
            let answer = answers(&run).remove(0);
            assert!(answer.ends_with(expected), "{answer}");
        };
        let cpu = "at every level the CPU binds (all cores of the machine busy, 99 % of the time).";
        check(Binding::Processor, 0.99, 1.0, cpu);
        let none = "no limit binds (nobody waits, 25 % of the users in a work process, and cores are idle).";
        check(Binding::Unclear, 0.25, 1.0, none);
        check(Binding::Unclear, 0.4, 0.2, "now one limit binds and now another (at most 40 % of the time).");
    }

    #[test]
    fn the_published_steps_stand_beside_their_own_rows() {
        let run = fixture::ladder();
        let table = pass_times(&View::of(&run));
        let head: Vec<&str> = table.columns.iter().map(|column| column.head.as_str()).collect();
        assert_eq!(head, ["work processes", "connections-500", "connections-5", "ideal", "published"]);
        let beside: Vec<(&str, &str)> = table.rows.iter().map(|row| (row.texts()[0], row.texts()[4])).collect();
        let expected = [
            ("as delivered", "32.0 s"),
            ("1", "–"),
            ("2", "–"),
            ("5", "–"),
            ("10", "–"),
            ("20", "25.0 s"),
            ("30", "17.0 s"),
        ];
        assert_eq!(beside, expected);
        assert_eq!(table.rows[5].texts()[3], "420", "a twentieth of the first");
    }
}
