//! Distributions of response times, and the messages on the wire before the first answer.

use tollgate_facts::results::{Cell, Flow, FlowSide, FlowStep, Linear};
use tollgate_page::blocks::{Block, Figure, Picture, Section, Table};
use tollgate_page::chart::Size;
use tollgate_page::chart::histogram::{self, Bars, Outline};
use tollgate_page::chart::sequence::{self, Arrow, Side};
use tollgate_page::number;
use tollgate_page::words::view::{self, View};

/// Least share of the answers of each variant inside the drawn bars; slower ones are drawn beyond them.
const DRAWN_SHARE: f64 = 0.995;
/// Fewest bins of the result behind the bars: fewer would only look like a whole distribution.
const BINS_MIN: usize = 10;
/// Most bins behind them.
const BINS_MAX: usize = 200;
/// Bars of a picture: over up to 200 bins from the first one on, each is at most 1.25 times as long as the one before.
const BARS: usize = 24;

/// The distributions; absent if none is known.
pub(super) fn distributions(view: &View<'_>) -> Option<Section> {
    let pictures = [
        histogram(view, "all users waiting for their answers", "closed", |cell| cell.linear.as_ref()),
        histogram(view, "at the same rate for all", "rate", |cell| Some(&cell.equal_rate.as_ref()?.linear)),
    ];
    let pictures: Vec<Figure> = pictures.into_iter().flatten().collect();
    (!pictures.is_empty()).then(|| Section::background("Response times", vec![Block::Figures(pictures)]))
}

/// One picture, at the level that represents the run, else at the lowest with any answers.
fn histogram(view: &View<'_>, load: &str, id: &str, of: fn(&Cell) -> Option<&Linear>) -> Option<Figure> {
    let run = view.run;
    let answered = |cell| of(cell).filter(|linear| answers(linear) > 0.0);
    let has = |level: &u64| view.at(*level).any(|row| answered(row.cell).is_some());
    let level = view::answer_level(run).filter(has).or_else(|| run.experiment.levels.iter().copied().find(has))?;
    let found = view.at(level).filter_map(|row| {
        let name = row.cell.variant.as_str();
        Some((view::key(run, name)?, name, answered(row.cell)?))
    });
    let found: Vec<(usize, &str, &Linear)> = found.collect();
    let bin_ms = found.iter().map(|(_, _, linear)| linear.bin_ms).find(|width| *width > 0.0)?;
    let found: Vec<_> = found.into_iter().filter(|(_, _, linear)| linear.bin_ms.total_cmp(&bin_ms).is_eq()).collect();
    let count = found.iter().map(|(_, _, linear)| holding(linear)).max().unwrap_or(0).clamp(BINS_MIN, BINS_MAX);
    // All that is in the first bin is shorter than the first bar: where it lies in there nobody knows.
    let bars = Bars { from: bin_ms, to: bin_ms * count as f64, count: BARS, unit: "ms" };
    let edges = bars.edges();
    let all: Vec<Outline<'_>> = found.iter().map(|(key, name, linear)| outline(*key, name, linear, &edges)).collect();
    let title = format!("Response times at {}, {load}", run.experiment.level_title(level));
    let [from, to] = [bars.from, bars.to].map(number::three_digits);
    let note = format!(
        "Bars are equally wide on the logarithmic axis, made of bins of {bin_ms} ms. What took less than {from} ms stands at \
         the left. What took {to} ms or longer stands at the right, with its share in the key."
    );
    let draw = |size| histogram::draw(size, bars, &all);
    let names = all.iter().map(|outline| format!("{}, %", outline.name));
    let mut table = Table::new("", ["ms from".to_owned(), "to below".to_owned()].into_iter().chain(names));
    let percent = |share: f64| number::grouped(share * 100.0, 3);
    let mut push = |[low, high]: [String; 2], share: &dyn Fn(&Outline<'_>) -> f64| {
        table
            .push([low, high].into_iter().chain(all.iter().map(|outline| percent(share(outline)))).collect::<Vec<_>>());
    };
    push(["0".to_owned(), from], &|outline| outline.below);
    for (bar, ends) in edges.windows(2).enumerate() {
        let share = |outline: &Outline<'_>| outline.shares.get(bar).copied().unwrap_or(0.0);
        push([ends[0], ends[1]].map(number::three_digits), &share);
    }
    push([to, "any".to_owned()], &|outline| outline.beyond);
    let id = format!("histogram-{id}");
    Some(Figure::new(title, &note).picture(&id, &note, Size::Half, draw).data(table, format!("{id}.csv")))
}

fn answers(linear: &Linear) -> f64 {
    linear.counts.iter().chain([&linear.overflow]).map(|count| *count as f64).sum()
}

/// The number of bins that contain nearly all answers; all bins if the overflow is too large for that.
fn holding(linear: &Linear) -> usize {
    let enough = answers(linear) * DRAWN_SHARE;
    let mut sum = 0.0;
    let is_enough = |count: &u64| {
        sum += *count as f64;
        sum >= enough
    };
    linear.counts.iter().position(is_enough).map_or(linear.counts.len(), |bin| bin + 1)
}

/// The shares between these edges; answers are assumed to be spread evenly within a bin.
fn outline<'a>(key: usize, name: &'a str, linear: &Linear, edges: &[f64]) -> Outline<'a> {
    let all = answers(linear);
    let faster: Vec<f64> = edges.iter().map(|edge| answers_below(linear, *edge) / all).collect();
    let shares = faster.windows(2).map(|ends| ends[1] - ends[0]).collect();
    let ends = faster.first().zip(faster.last());
    let (below, beyond) = ends.map_or((0.0, 1.0), |(first, last)| (*first, 1.0 - last));
    Outline { name, key, below, shares, beyond }
}

/// The number of answers faster than this.
fn answers_below(linear: &Linear, edge_ms: f64) -> f64 {
    // An edge between two bins is theirs, whatever its last digit.
    let bins = edge_ms / linear.bin_ms + 1e-9;
    let part = |(bin, count): (usize, &u64)| (bins - bin as f64).clamp(0.0, 1.0) * *count as f64;
    linear.counts.iter().enumerate().map(part).sum()
}

/// The messages of each kind of handshake; absent if none was observed.
pub(super) fn flows(view: &View<'_>) -> Option<Section> {
    let shown = view.run.flows.iter().filter(|flow| !flow.steps.is_empty()).enumerate();
    let figures: Vec<Figure> = shown.map(|(place, flow)| one_flow(flow, place)).collect();
    let legend = "One request on a fresh connection, seen by the client: when it sent a message, or had all of it, since it \
                  began to connect, and the bytes above TCP. Medians of exchanges that had the same messages. Rows are equally \
                  far apart, whatever the time between them";
    (!figures.is_empty()).then(|| {
        let blocks = vec![Block::Legend(vec![legend.to_owned()]), Block::Figures(figures)];
        Section::background("What goes over the wire", blocks)
    })
}

fn one_flow(flow: &Flow, place: usize) -> Figure {
    let time = |at_us: f64| match at_us {
        0.0 => "0".to_owned(),
        at_us if at_us < 1e3 => format!("{} µs", number::three_digits(at_us)),
        at_us => format!("{} ms", number::three_digits(at_us / 1e3)),
    };
    let mut table = Table::new("", ["message", "from", "bytes", "µs since the beginning"]);
    let arrow = |step: &FlowStep| {
        let (side, from) = match step.from {
            FlowSide::Client => (Side::Left, "client"),
            FlowSide::Server => (Side::Right, "server"),
        };
        let bytes = number::whole(step.bytes);
        let sized = if step.bytes == 0 { String::new() } else { format!(", {bytes}\u{a0}B") };
        table.push(vec![step.what.clone(), from.to_owned(), bytes, number::three_digits(step.at_us)]);
        Arrow { from: side, text: format!("{}{sized}", step.what), time: time(step.at_us) }
    };
    let arrows: Vec<Arrow> = flow.steps.iter().map(arrow).collect();
    let note = format!("Medians of {} exchanges.", number::whole(flow.n.into()));
    let id = format!("flow-{place}");
    let description = format!("{} messages between client and server from top to bottom. {note}", flow.steps.len());
    let picture = sequence::draw(("client", "server"), &arrows).finish(&id, &flow.title, &description);
    let pictures = vec![Picture { heading: None, wide: picture, narrow: None }];
    Figure { pictures, ..Figure::new(&flow.title, note) }.data(table, format!("flow-{}.csv", place + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(counts: &[u64], overflow: u64) -> Linear {
        Linear { bin_ms: 2.0, counts: counts.to_vec(), overflow, overflow_from_ms: 400.0, share_over_200_ms: 0.0 }
    }

    #[test]
    fn nearly_all_answers_lie_in_the_drawn_bars_and_the_rest_is_told() {
        let check = |counts: &[u64], overflow: u64, bins: usize, below: f64, beyond: f64| {
            let linear = linear(counts, overflow);
            assert_eq!(holding(&linear), bins, "{counts:?}");
            let bars = Bars { from: 2.0, to: 2.0 * bins.max(2) as f64, count: 7, unit: "ms" };
            let outline = outline(0, "http", &linear, &bars.edges());
            let found = [outline.below - below, outline.beyond - beyond];
            assert!(found.iter().all(|off| off.abs() < 1e-6), "{counts:?}: {} {}", outline.below, outline.beyond);
            assert!((outline.shares.iter().sum::<f64>() + below + beyond - 1.0).abs() < 1e-6);
        };
        check(&[1000, 0, 0, 1], 0, 1, 1000.0 / 1001.0, 1.0 / 1001.0);
        check(&[500, 500, 1], 4, 2, 500.0 / 1005.0, 5.0 / 1005.0);
        check(&[1, 1], 98, 2, 0.01, 0.98);
        check(&[10, 20, 30, 40], 0, 4, 0.1, 0.0);
    }

    #[test]
    fn a_bar_has_its_part_of_a_bin() {
        let outline = outline(0, "http", &linear(&[0, 8, 2], 0), &[2.0, 3.0, 4.0, 6.0]);
        assert!(outline.shares.iter().zip([0.4, 0.4, 0.2]).all(|(share, expected)| (share - expected).abs() < 1e-6));
    }
}
