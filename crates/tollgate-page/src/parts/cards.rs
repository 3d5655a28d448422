//! Each variant's toll as a card, with its sentence.

use crate::blocks::{Block, Card, Section};
use crate::number;
use crate::words::sentence;
use crate::words::view::{self, View, headline_level};
use tollgate_facts::results::{Figure, Piece, Toll, TollVerdict, Variant};
use tollgate_facts::stats::is_exact;

/// A card for each variant; absent where no level represents the run.
pub fn section(view: &View<'_>) -> Option<Section> {
    let level = view::answer_level(view.run);
    let cards = view.run.experiment.variants.iter().enumerate().map(|(key, variant)| {
        let sentence = sentence::headline(view.run, &variant.name);
        let card = Card { key, name: variant.name.clone(), title: variant.title.clone(), sentence, ..Card::default() };
        match variant.baseline.as_deref() {
            Some(baseline) => of_toll(view, variant, baseline, card),
            None => of_bottom(view, variant, level, card),
        }
    });
    Section::main("What each variant costs", vec![Block::Cards(cards.collect())]).some()
}

/// The card of a variant without a baseline, in its own figures.
fn of_bottom(view: &View<'_>, variant: &Variant, level: Option<u64>, card: Card) -> Card {
    let experiment = &view.run.experiment;
    let noun = sentence::unit_noun(experiment);
    // Where no toll stands for the run, it has figures of its own all the same.
    let highest = || view.rows.iter().filter(|row| row.cell.variant == variant.name).map(|row| row.cell.level).max();
    let Some((level, row)) = level.or_else(highest).and_then(|level| Some((level, view.row(&variant.name, level)?)))
    else {
        return Card { verdict: "a baseline, not measured".to_owned(), ..card };
    };
    let cell = row.cell;
    // In the figure that the other cards compare.
    let is_time = |toll: &&Toll| toll.level == level && toll.figure == Figure::UnitTime;
    let by_time =
        view.run.tolls.iter().filter(is_time).any(|toll| toll.baseline == variant.name && toll.verdict.is_plain());
    let piece = sentence::piece(experiment);
    let (estimate, unit, what) = match view::cpu(cell).filter(|_| !by_time) {
        Some(cpu) => (cpu, "µs", format!("CPU time per {piece}")),
        None => (cell.unit_time_ms, "ms", sentence::one(noun)),
    };
    let decimals = number::column_decimals(std::iter::once(estimate.mean));
    let text = |value| number::in_column(value, decimals);
    let cpu = view::cpu(cell).map(|cpu| (format!("CPU per {piece}"), format!("{} µs", number::three_digits(cpu.mean))));
    let time = (sentence::one(noun), format!("{} ms", number::three_digits(cell.unit_time_ms.mean)));
    let is_whole = experiment.piece == Piece::Unit;
    let counted = if is_whole { sentence::pieces(experiment) } else { "requests".to_owned() };
    let rate = (format!("{counted}/s"), number::three_digits(cell.requests_per_second.mean));
    let bytes = (!is_whole).then(|| ("bytes".to_owned(), number::bytes(cell.bytes_per_unit)));
    let lines = [Some(time), Some(rate), cpu, bytes];
    Card {
        figure: Some((text(estimate.mean), unit.to_owned())),
        interval: format!("95 % between {} and {}", text(estimate.low.max(0.0)), text(estimate.high)),
        verdict: format!("{what}, at {}: the baseline", sentence::level(experiment, level)),
        lines: lines.into_iter().flatten().collect(),
        ..card
    }
}

fn of_toll(view: &View<'_>, variant: &Variant, baseline: &str, card: Card) -> Card {
    let run = view.run;
    let Some(level) = headline_level(run, &variant.name) else {
        return Card { verdict: format!("not measured beside {baseline}"), ..card };
    };
    let at = sentence::level(&run.experiment, level);
    let tolls = view::tolls(run, &variant.name, level);
    let noun = sentence::unit_noun(&run.experiment);
    let by_cpu = || Some((tolls.cpu?, format!("CPU time per {}", sentence::piece(&run.experiment))));
    let plain = tolls.time.filter(|toll| toll.verdict.is_plain());
    let by_time = plain.map(|time| (time, format!("time of {}", sentence::one(noun))));
    let card = match by_time.or_else(by_cpu).filter(|(toll, _)| toll.verdict.is_plain()) {
        Some((toll, of_what)) => {
            let decimals = number::ratio_decimals(toll.ratio, toll.low, toll.high);
            Card {
                figure: Some((number::grouped(toll.ratio, decimals.min(2)), "×".to_owned())),
                interval: interval(toll, &sentence::confidence(run)),
                verdict: format!("the {of_what} with {baseline}, at {at}{}", doubt(toll)),
                ..card
            }
        }
        None => {
            let why = tolls.each().find_map(|toll| toll.note.as_deref()).unwrap_or("see the doubts below");
            Card { interval: format!("refused at {at}"), verdict: why.to_owned(), ..card }
        }
    };
    let words = |toll: &Toll| format!("{} ({} blocks)", sentence::difference(toll), toll.blocks);
    let difference = plain.map(|toll| (sentence::one(noun), words(toll)));
    let joint = tolls.time.filter(|toll| toll.verdict == TollVerdict::Joint);
    let ratio = |name: &str, toll: Option<&Toll>| {
        toll.map(|toll| (name.to_owned(), format!("{}{}", sentence::ratio(toll), doubt(toll))))
    };
    let joint = joint.map(|_| ("time".to_owned(), "not attributable (shared CPU)".to_owned()));
    let lines = [difference, joint, ratio("CPU", tolls.cpu), ratio("bytes", tolls.bytes)];
    Card { lines: lines.into_iter().flatten().collect(), ..card }
}

fn interval(toll: &Toll, confidence: &str) -> String {
    let decimals = number::ratio_decimals(toll.ratio, toll.low, toll.high);
    if is_exact(toll.low, toll.high) {
        return "exact: the same in every block".to_owned();
    }
    format!("{confidence} between {} and {}", number::grouped(toll.low, decimals), number::grouped(toll.high, decimals))
}

/// The note beside a ratio that is not plainly a toll.
fn doubt(toll: &Toll) -> String {
    match toll.verdict {
        TollVerdict::NoToll | TollVerdict::Unconfirmed | TollVerdict::Unclear | TollVerdict::Joint => {
            format!(" ({})", toll.verdict)
        }
        _ if toll.do_ranks_disagree() => " (a rank test disagrees)".to_owned(),
        TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::Refused => String::new(),
    }
}
