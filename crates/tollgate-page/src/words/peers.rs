//! Costs of peers, divided by tollgate's: the comparison that represents a mode, the table, and a sentence for each
//! peer.
//!
//! It orders and words the stored result; the section is in `parts/peers.rs`.

use super::sentence;
use super::view::{self, View};
use crate::blocks::Table;
use crate::gather::by_key;
use crate::number;
use tollgate_facts::results::{Cell, Comparison, Distance, Figure, Piece, RunResult, TollVerdict};

/// The comparisons of one peer at one distance, in the order of its variants, and the level that represents it.
pub(crate) struct PeerGroup<'r> {
    pub(crate) peer: &'r str,
    pub(crate) distance: Distance,
    pub(crate) level: u64,
    found: Vec<&'r Comparison>,
}

/// All groups, in the order of the variants, local before remote.
pub(crate) fn groups<'r>(run: &'r RunResult) -> Vec<PeerGroup<'r>> {
    let compared = run.experiment.variants.iter().flat_map(|variant| {
        let own = run.comparisons.iter().filter(|found| found.variant == variant.name);
        own.map(|found| ((found.peer.as_str(), variant.distance), found))
    });
    let group = |((peer, distance), found): ((&'r str, Distance), Vec<&'r Comparison>)| {
        // The level at which most of it is clear.
        let count = |level, figure| at(&found, level, figure).filter(|found| found.verdict.is_clear()).count();
        let level = view::highest_of_most(run, &count).unwrap_or(found[0].level);
        PeerGroup { peer, distance, level, found }
    };
    let mut groups: Vec<PeerGroup<'_>> = by_key(compared).into_iter().map(group).collect();
    groups.sort_by_key(|group| group.distance == Distance::Remote);
    groups
}

fn at<'a, 'r>(found: &'a [&'r Comparison], level: u64, figure: Figure) -> impl Iterator<Item = &'r Comparison> + 'a {
    found.iter().copied().filter(move |found| found.level == level && found.figure == figure)
}

impl<'r> PeerGroup<'r> {
    /// Names of tollgate's variants that correspond to the peer's.
    pub(crate) fn against(&self) -> Vec<&'r str> {
        let mut names: Vec<&str> = self.found.iter().map(|found| found.against.as_str()).collect();
        names.dedup();
        names
    }

    /// Its comparisons of a figure at the level that represents it.
    pub(crate) fn of(&self, figure: Figure) -> impl Iterator<Item = &'r Comparison> {
        at(&self.found, self.level, figure)
    }

    /// The comparisons in a table: all, or, if these are too many, those at the level that represents it.
    pub(crate) fn shown(&self, most: usize) -> impl Iterator<Item = &'r Comparison> {
        let is_all = self.found.len() <= most;
        self.found.iter().copied().filter(move |found| is_all || found.level == self.level)
    }
}

/// The title of a peer, from its subject file.
pub(crate) fn title<'r>(run: &'r RunResult, peer: &'r str) -> &'r str {
    run.peers.iter().find(|known| known.name == peer).map_or(peer, |known| &known.title)
}

/// A ratio with its interval, or the reason that there is none.
fn ratio(found: &Comparison) -> String {
    sentence::ratio_of(found.verdict, [found.ratio, found.low, found.high])
}

/// A verdict in a word or two: "no toll" between variants means no difference between servers.
fn verdict(verdict: TollVerdict) -> String {
    match verdict {
        TollVerdict::NoToll => "as much".to_owned(),
        other => other.to_string(),
    }
}

/// Comparisons as a table.
pub(crate) fn table<'r>(view: &View<'r>, title: String, found: impl Iterator<Item = &'r Comparison>) -> Table {
    let run = view.run;
    let value = |found: &Comparison, name: &str| {
        number::optional(run.cell(name, found.level).and_then(|cell| value(cell, found.figure)))
    };
    Table::of(
        title,
        found,
        &[
            ("mode", &|found| found.against.clone()),
            ("level", &|found| sentence::level(&run.experiment, found.level)),
            ("figure", &|found| what(run, found.figure)),
            ("peer", &|found| value(found, &found.variant)),
            ("tollgate", &|found| value(found, &found.against)),
            ("peer / tollgate", &|found| ratio(found)),
            ("blocks", &|found| found.blocks.to_string()),
            ("verdict", &|found| verdict(found.verdict)),
            ("note", &|found| number::or_nothing(found.note.clone())),
        ],
    )
}

/// One sentence for each peer and distance with comparisons free of doubt.
pub(crate) fn answers(run: &RunResult) -> Vec<String> {
    groups(run).iter().filter_map(|group| answer(run, group)).collect()
}

fn answer(run: &RunResult, group: &PeerGroup<'_>) -> Option<String> {
    let part = |figure: Figure, of_what: &str| {
        let mut found: Vec<&Comparison> = group.of(figure).filter(|found| found.verdict.is_clear()).collect();
        found.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let named = |found: &&Comparison| format!("{} ({})", ratio(found), found.against);
        Some(format!("{} {of_what}", sentence::between(&found, named)?))
    };
    let cpu = format!("the CPU time per {}", sentence::piece(&run.experiment));
    let parts: Vec<String> =
        [part(Figure::UnitTime, "the time"), part(Figure::SubjectCpu, &cpu)].into_iter().flatten().collect();
    let far = sentence::far(run, group.distance);
    let level = sentence::level(&run.experiment, group.level);
    let said = parts.join(", and ");
    (!parts.is_empty()).then(|| format!("At {level}{far}, {} takes {said} of tollgate.", group.peer))
}

/// The figures that a picture or a terminal shows of a group, at most three: bytes only show how similar the responses
/// are.
pub(crate) fn figures(run: &RunResult, group: &PeerGroup<'_>) -> Vec<Figure> {
    let mut wanted = vec![Figure::UnitTime, Figure::SubjectCpu, Figure::P95AtRate, Figure::MedianAtRate];
    wanted.retain(|figure| run.comparisons.iter().any(|found| found.peer == group.peer && found.figure == *figure));
    wanted.truncate(3);
    wanted
}

/// The name of a figure, with the unit of its values.
fn what(run: &RunResult, figure: Figure) -> String {
    let experiment = &run.experiment;
    match (figure, experiment.piece) {
        (Figure::UnitTime, Piece::Record) => "ms per record".to_owned(),
        (Figure::UnitTime, Piece::Request | Piece::Document | Piece::Unit) => {
            format!("ms per {}", sentence::unit_noun(experiment))
        }
        (Figure::SubjectCpu, _) => format!("CPU µs per {}", sentence::piece(experiment)),
        (Figure::Instructions, _) => sentence::figure(experiment, figure),
        (Figure::Bytes, _) => format!("bytes per {}", sentence::unit_noun(experiment)),
        (Figure::MedianAtRate | Figure::P95AtRate | Figure::P99AtRate, _) => {
            format!("{}, ms", sentence::figure(experiment, figure))
        }
    }
}

/// A cell's value of a figure; for records, their own time.
fn value(cell: &Cell, figure: Figure) -> Option<f64> {
    let rate = || cell.equal_rate.as_ref().map(|rate| rate.response_time_ms);
    match figure {
        Figure::UnitTime => Some(cell.inserted.map_or(cell.unit_time_ms, |inserted| inserted.ms_per_record).mean),
        Figure::SubjectCpu => view::cpu(cell).map(|cpu| cpu.mean),
        Figure::Instructions => view::instructions(cell).map(|counted| counted.mean),
        Figure::Bytes => Some(cell.bytes_per_unit),
        Figure::MedianAtRate => rate()?.p50,
        Figure::P95AtRate => rate()?.p95,
        Figure::P99AtRate => rate()?.p99,
    }
}
