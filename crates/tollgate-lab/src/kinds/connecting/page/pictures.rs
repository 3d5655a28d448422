//! How response times are distributed, and what goes over the wire before the first answer.

use tollgate_facts::results::{Cell, Flow, FlowSide, FlowStep, Linear};
use tollgate_page::blocks::{Block, Figure, Picture, Section, Table};
use tollgate_page::chart::Size;
use tollgate_page::chart::histogram::{self, Bins, Outline};
use tollgate_page::chart::sequence::{self, Arrow, Side};
use tollgate_page::number;
use tollgate_page::words::view::{self, View};

/// Share of the answers of each variant that the drawn bins hold at least; what is slower stands beyond them.
const DRAWN_SHARE: f64 = 0.995;
/// Fewest bins that are drawn: fewer would look like a whole distribution and be none.
const BINS_MIN: usize = 10;
/// Most bins that are drawn and listed.
const BINS_MAX: usize = 200;

/// The distributions; absent where none is known.
pub(super) fn distributions(view: &View<'_>) -> Option<Section> {
    let pictures = [
        histogram(view, "all users waiting for their answers", "closed", |cell| cell.linear.as_ref()),
        histogram(view, "at the same rate for all", "rate", |cell| Some(&cell.equal_rate.as_ref()?.linear)),
    ];
    let pictures: Vec<Figure> = pictures.into_iter().flatten().collect();
    (!pictures.is_empty()).then(|| Section::background("Response times", vec![Block::Figures(pictures)]))
}

/// One picture at the level that stands for the run, else the least that has any answers.
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
    let all: Vec<Outline<'_>> = found.iter().map(|(key, name, linear)| outline(*key, name, linear, count)).collect();
    let title = format!("Response times at {}, {load}", run.experiment.level_title(level));
    let edge = (bin_ms * count as f64).to_string();
    let note =
        format!("Bins of {bin_ms} ms. What took {edge} ms or longer stands at the right, with its share in the key.");
    let draw = |size| histogram::draw(size, Bins { width: bin_ms, count, unit: "ms" }, &all);
    let names = all.iter().map(|outline| format!("{}, %", outline.name));
    let mut table = Table::new("", ["ms from".to_owned(), "to below".to_owned()].into_iter().chain(names));
    let percent = |share: f64| number::grouped(share * 100.0, 3);
    for bin in 0..count {
        let mut row = [bin, bin + 1].map(|edge| (bin_ms * edge as f64).to_string()).to_vec();
        row.extend(all.iter().map(|outline| percent(outline.shares.get(bin).copied().unwrap_or(0.0))));
        table.push(row);
    }
    let mut last = vec![edge, "any".to_owned()];
    last.extend(all.iter().map(|outline| percent(outline.beyond)));
    table.push(last);
    let id = format!("histogram-{id}");
    Some(Figure::new(title, &note).picture(&id, &note, Size::Half, draw).data(table, format!("{id}.csv")))
}

fn answers(linear: &Linear) -> f64 {
    linear.counts.iter().chain([&linear.overflow]).map(|count| *count as f64).sum()
}

/// How many bins hold nearly all of it; all bins where the overflow is larger than the rest.
fn holding(linear: &Linear) -> usize {
    let enough = answers(linear) * DRAWN_SHARE;
    let mut sum = 0.0;
    let is_enough = |count: &u64| {
        sum += *count as f64;
        sum >= enough
    };
    linear.counts.iter().position(is_enough).map_or(linear.counts.len(), |bin| bin + 1)
}

fn outline<'a>(key: usize, name: &'a str, linear: &Linear, count: usize) -> Outline<'a> {
    let all = answers(linear);
    let shares = linear.counts.iter().take(count).map(|bin| *bin as f64 / all).collect();
    let beyond: f64 = linear.counts.iter().skip(count).chain([&linear.overflow]).map(|bin| *bin as f64).sum();
    Outline { name, key, shares, beyond: beyond / all }
}

/// The messages of each kind of handshake; absent where none was looked at.
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
    fn nearly_all_answers_lie_in_the_drawn_bins_and_the_rest_is_told() {
        let check = |counts: &[u64], overflow: u64, expected: usize, beyond: f64| {
            let linear = linear(counts, overflow);
            assert_eq!(holding(&linear), expected, "{counts:?}");
            let outline = outline(0, "http", &linear, expected);
            assert!((outline.beyond - beyond).abs() < 1e-12, "{}", outline.beyond);
            assert!((outline.shares.iter().sum::<f64>() + outline.beyond - 1.0).abs() < 1e-12);
        };
        check(&[1000, 0, 0, 1], 0, 1, 1.0 / 1001.0);
        check(&[500, 500, 1], 4, 2, 5.0 / 1005.0);
        check(&[1, 1], 98, 2, 0.98);
    }
}
