//! Tolls as bars, at the levels that represent the run, and the table of all levels.

use super::SHOWN_MAX;
use crate::blocks::{self, Block, Section, Table};
use crate::chart::tolls::{self, Bar, TollPanel, TollRow};
use crate::chart::{Size, Standing};
use crate::number;
use crate::words::sentence;
use crate::words::view::{self, View};
use tollgate_facts::results::{Figure, RunResult, Toll, TollVerdict};

/// Maximum number of tolls that the table shows in full.
const TOLLS_MAX: usize = 240;

/// The pictures at the level with the most valid tolls.
pub fn section(view: &View<'_>) -> Option<Section> {
    let most = view::answer_level(view.run).or_else(|| view.run.tolls.iter().map(|toll| toll.level).max());
    section_at(view, &[(most?, None)])
}

/// The pictures at these levels, each with the reason that it represents the run.
pub fn section_at(view: &View<'_>, levels: &[(u64, Option<&str>)]) -> Option<Section> {
    if view.run.tolls.is_empty() {
        return None;
    }
    let last = levels.len().saturating_sub(1);
    let figures = levels.iter().enumerate();
    let figures = figures.map(|(place, (level, why))| Block::Figure(at(view, *level, *why, place, place == last)));
    Some(Section::background("Tolls", figures.collect()))
}

/// Toll bars at one level; those of the last one have the table of all levels.
fn at(view: &View<'_>, at: u64, why: Option<&str>, place: usize, is_last: bool) -> blocks::Figure {
    let (run, experiment) = (view.run, &view.run.experiment);
    let compared = experiment.variants.iter().enumerate().filter(|(_, variant)| variant.baseline.is_some());
    let rows = compared.take(2 * SHOWN_MAX).map(|(key, variant)| TollRow { name: &variant.name, key });
    let rows: Vec<TollRow<'_>> = rows.collect();
    let noun = sentence::unit_noun(experiment);
    // At equal rate the latency is what is asked for; how many bytes came is then no question.
    let last = match run.tolls.iter().any(|toll| toll.figure == Figure::MedianAtRate) {
        true => (Figure::MedianAtRate, "median at equal rate".to_owned()),
        false => (Figure::Bytes, "bytes received".to_owned()),
    };
    let cpu = format!("CPU time per {}", sentence::piece(experiment));
    let all = [(Figure::UnitTime, format!("time of {}", sentence::one(noun))), (Figure::SubjectCpu, cpu), last];
    let panels = all.into_iter().map(|(figure, title)| TollPanel {
        title,
        bars: rows.iter().map(|row| run.toll(row.name, at, figure).map(toll_bar)).collect(),
    });
    let panels: Vec<_> = panels.filter(|panel| panel.bars.iter().any(Option::is_some)).collect();
    let level = sentence::level(experiment, at);
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    let title = format!("Tolls at {level}{why}");
    // A whole matrix of tolls would be a page of its own; the CSV of all cells has them.
    let is_whole = is_last && run.tolls.len() <= TOLLS_MAX;
    let shown = run.tolls.iter().filter(|toll| is_whole || toll.level == at);
    let table = table(view, if is_whole { "all tolls".to_owned() } else { format!("all tolls at {level}") }, shown);
    let note = "Ratio to the baseline; 1 means no extra cost. Hollow bars are inconclusive, or show no toll.";
    let id = if place == 0 { "tolls".to_owned() } else { format!("tolls-{place}") };
    let file = if is_last { "tolls.csv".to_owned() } else { format!("tolls-{at}.csv") };
    let of = "each variant's ratio over its baseline";
    with_bars(blocks::Figure::new(title, note), run, &id, of, &rows, &panels).data(table, file)
}

/// Adds to a figure bars from 1 to the value that `of` returns.
pub(super) fn with_bars(
    figure: blocks::Figure,
    run: &RunResult,
    id: &str,
    of: &str,
    rows: &[TollRow<'_>],
    panels: &[TollPanel],
) -> blocks::Figure {
    let titles: Vec<&str> = panels.iter().map(|panel| panel.title.as_str()).collect();
    let (confidence, titles) = (sentence::confidence(run), titles.join(", "));
    let description = format!("Bars from 1 to {of}, with {confidence} intervals, for {titles}.");
    figure.picture(id, &description, Size::Full, |size| tolls::draw(size, rows, panels))
}

fn toll_bar(toll: &Toll) -> Bar {
    bar(toll.verdict, [toll.ratio, toll.low, toll.high])
}

/// A bar for a ratio with its interval.
pub(super) fn bar(verdict: TollVerdict, [ratio, low, high]: [f64; 3]) -> Bar {
    let standing = match verdict {
        TollVerdict::Dearer | TollVerdict::Cheaper => Some(Standing::Plain),
        TollVerdict::NoToll | TollVerdict::Unconfirmed | TollVerdict::Unclear | TollVerdict::Joint => {
            Some(Standing::Hollow)
        }
        TollVerdict::Refused => None,
    };
    let text = match verdict {
        TollVerdict::Joint => "shared CPU".to_owned(),
        _ => sentence::ratio_of(verdict, [ratio, low, high]),
    };
    Bar { ratio, low, high, text, standing }
}

fn table<'r>(view: &View<'_>, title: String, tolls: impl Iterator<Item = &'r Toll>) -> Table {
    let experiment = &view.run.experiment;
    let figure = |toll: &&Toll| match toll.figure {
        Figure::UnitTime => format!("{} time", sentence::unit_noun(experiment)),
        Figure::SubjectCpu => format!("CPU/{}", sentence::piece(experiment)),
        Figure::Instructions => format!("instructions/{}", sentence::piece(experiment)),
        Figure::Bytes => "bytes".to_owned(),
        Figure::MedianAtRate => "p50 at equal rate".to_owned(),
        Figure::P95AtRate => "p95 at equal rate".to_owned(),
        Figure::P99AtRate => "p99 at equal rate".to_owned(),
    };
    let p = |toll: &Toll| match toll.p_adjusted {
        p if p < 0.001 => "< 0.001".to_owned(),
        p => number::grouped(p, 3),
    };
    let shown = |toll: &Toll, text: fn(&Toll) -> String| number::or_nothing(toll.is_shown().then(|| text(toll)));
    Table::of(
        title,
        tolls,
        &[
            ("variant", &|toll| toll.variant.clone()),
            ("over", &|toll| toll.baseline.clone()),
            ("level", &|toll| sentence::level(experiment, toll.level)),
            ("figure", &figure),
            ("ratio", &|toll| shown(toll, sentence::ratio)),
            ("difference", &|toll| shown(toll, sentence::difference)),
            ("p (Holm)", &|toll| shown(toll, p)),
            ("blocks", &|toll| toll.blocks.to_string()),
            ("verdict", &|toll| toll.verdict.to_string()),
            ("note", &|toll| toll.note.clone().unwrap_or_default()),
        ],
    )
}
