//! What peers took by what tollgate took: which comparison stands for a mode, the rows of the table, and a sentence for
//! each peer.
//!
//! It orders and words what the result holds; the section stands in `parts/peers.rs`.

use std::collections::BTreeSet;

use super::sentence;
use super::view::{self, View};
use crate::gather::by_key;
use crate::number;
use tollgate_facts::results::{Cell, Comparison, Distance, Figure, Piece, RunResult, TollVerdict};

/// The heads of the table.
pub(crate) const HEAD: [&str; 9] =
    ["mode", "level", "figure", "peer", "tollgate", "peer / tollgate", "blocks", "verdict", "note"];

/// Variants of one peer at one distance, by the names of their like on tollgate, and the level that stands for them.
#[derive(Clone)]
pub(crate) struct PeerGroup<'r> {
    pub(crate) peer: &'r str,
    pub(crate) distance: Distance,
    pub(crate) against: Vec<&'r str>,
    pub(crate) level: u64,
}

/// All groups, in the order of the variants, near before far.
pub(crate) fn groups(run: &RunResult) -> Vec<PeerGroup<'_>> {
    let compared = run.experiment.variants.iter().filter_map(|variant| {
        let found = run.comparisons.iter().find(|found| found.variant == variant.name)?;
        Some(((found.peer.as_str(), variant.distance), found))
    });
    let groups = by_key(compared).into_iter().map(|((peer, distance), found)| {
        let against = found.iter().map(|found| found.against.as_str()).collect();
        PeerGroup { peer, distance, against, level: found[0].level }
    });
    let mut groups: Vec<PeerGroup<'_>> = groups.collect();
    for group in &mut groups {
        group.level = level_of(run, group).unwrap_or(group.level);
    }
    groups.sort_by_key(|group| group.distance == Distance::Remote);
    groups
}

/// The title of a peer: what its subject file says it is.
pub(crate) fn title<'r>(run: &'r RunResult, peer: &'r str) -> &'r str {
    run.peers.iter().find(|known| known.name == peer).map_or(peer, |known| &known.title)
}

/// The comparison of one of tollgate's variants in a group, at the group's level.
pub(crate) fn find<'r>(
    run: &'r RunResult,
    group: &PeerGroup<'_>,
    against: &str,
    figure: Figure,
) -> Option<&'r Comparison> {
    run.comparisons.iter().find(|found| {
        found.peer == group.peer && found.against == against && found.level == group.level && found.figure == figure
    })
}

/// A ratio with its interval, or why there is none.
pub(crate) fn ratio(found: &Comparison) -> String {
    sentence::ratio_of(found.verdict, [found.ratio, found.low, found.high])
}

/// A verdict in a word or two: what is no toll between variants is no difference between servers.
pub(crate) fn verdict(verdict: TollVerdict) -> &'static str {
    match verdict {
        TollVerdict::NoToll => "as much",
        other => sentence::verdict(other),
    }
}

/// One row of the table.
pub(crate) fn row(view: &View<'_>, found: &Comparison) -> Vec<String> {
    let run = view.run;
    let value = |name: &str| number::optional(run.cell(name, found.level).and_then(|cell| value(cell, found.figure)));
    vec![
        found.against.clone(),
        sentence::level(&run.experiment, found.level),
        what(run, found.figure),
        value(&found.variant),
        value(&found.against),
        ratio(found),
        found.blocks.to_string(),
        verdict(found.verdict).to_owned(),
        number::or_nothing(found.note.clone()),
    ]
}

/// The comparisons of a group that a table shows: all, or of too many those at the level that stands for it.
pub(crate) fn shown<'r>(run: &'r RunResult, group: &PeerGroup<'r>, most: usize) -> Vec<&'r Comparison> {
    let own = |name: &&'r str| {
        let name = *name;
        run.comparisons.iter().filter(move |found| found.peer == group.peer && found.against == name)
    };
    let all: Vec<&Comparison> = group.against.iter().flat_map(own).collect();
    match all.len() <= most {
        true => all,
        false => all.into_iter().filter(|found| found.level == group.level).collect(),
    }
}

/// One sentence for each peer and distance, of those of which something may be said.
pub(crate) fn answers(run: &RunResult) -> Vec<String> {
    groups(run).iter().filter_map(|group| answer(run, group)).collect()
}

fn answer(run: &RunResult, group: &PeerGroup<'_>) -> Option<String> {
    let part = |figure: Figure, of_what: &str| {
        let own = group.against.iter().filter_map(|name| find(run, group, name, figure));
        let mut found: Vec<&Comparison> = own.filter(|found| found.verdict.is_clear()).collect();
        found.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let named = |found: &Comparison| format!("{} ({})", ratio(found), found.against);
        Some(match (found.first()?, found.last()?) {
            (least, _) if found.len() == 1 => format!("{} {of_what}", named(least)),
            (least, most) => format!("between {} and {} {of_what}", named(least), named(most)),
        })
    };
    let cpu = format!("the CPU time per {}", sentence::piece(&run.experiment));
    let parts: Vec<String> =
        [part(Figure::UnitTime, "the time"), part(Figure::SubjectCpu, &cpu)].into_iter().flatten().collect();
    let far = sentence::far(run, group.distance);
    let level = sentence::level(&run.experiment, group.level);
    let said = parts.join(", and ");
    (!parts.is_empty()).then(|| format!("At {level}{far}, {} takes {said} of tollgate.", group.peer))
}

/// The figures that a picture or a terminal shows of a group, at most three: bytes only say how alike the answers are.
pub(crate) fn figures(run: &RunResult, group: &PeerGroup<'_>) -> Vec<Figure> {
    let occurring: BTreeSet<Figure> =
        run.comparisons.iter().filter(|found| found.peer == group.peer).map(|found| found.figure).collect();
    let wanted = [Figure::UnitTime, Figure::SubjectCpu, Figure::P95AtRate, Figure::MedianAtRate];
    wanted.into_iter().filter(|figure| occurring.contains(figure)).take(3).collect()
}

/// What a figure is, with the unit of its values.
pub(crate) fn what(run: &RunResult, figure: Figure) -> String {
    let experiment = &run.experiment;
    match (figure, experiment.piece) {
        (Figure::UnitTime, Piece::Record) => "ms per record".to_owned(),
        (Figure::UnitTime, Piece::Request | Piece::Document | Piece::Unit) => {
            format!("ms per {}", sentence::unit_noun(experiment))
        }
        (Figure::SubjectCpu, _) => format!("CPU us per {}", sentence::piece(experiment)),
        (Figure::Bytes, _) => format!("bytes per {}", sentence::unit_noun(experiment)),
        (Figure::MedianAtRate | Figure::P95AtRate | Figure::P99AtRate, _) => {
            format!("{}, ms", sentence::figure(experiment, figure))
        }
    }
}

/// Whether something is claimed of it.
fn value(cell: &Cell, figure: Figure) -> Option<f64> {
    let rate = || cell.equal_rate.as_ref().map(|rate| rate.response_time_ms);
    match figure {
        Figure::UnitTime => Some(cell.inserted.map_or(cell.unit_time_ms, |inserted| inserted.ms_per_record).mean),
        Figure::SubjectCpu => view::cpu(cell).map(|cpu| cpu.mean),
        Figure::Bytes => Some(cell.bytes_per_unit),
        Figure::MedianAtRate => rate()?.p50,
        Figure::P95AtRate => rate()?.p95,
        Figure::P99AtRate => rate()?.p99,
    }
}

/// The level at which most of a group is clear.
fn level_of(run: &RunResult, group: &PeerGroup<'_>) -> Option<u64> {
    view::highest_of_most(run, &|level, figure| {
        let here = PeerGroup { level, ..group.clone() };
        group
            .against
            .iter()
            .filter(|name| find(run, &here, name, figure).is_some_and(|found| found.verdict.is_clear()))
            .count()
    })
}
