//! What peers took by what tollgate took: which comparison stands for a mode, the rows of the table, and a sentence for
//! each peer.
//!
//! It orders and words what the result holds; the page's form stands in `html/peers.rs`.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::encryption;
use super::number::{self, NOTHING};
use super::sentence::{self, Times};
use super::terminal::{one_line, wrapped};
use super::view::{self, View};
use tollgate_facts::results::{Cell, Comparison, Distance, Figure, Piece, RunResult, TollVerdict};

/// The heads of the table.
pub(super) const HEAD: [&str; 9] =
    ["mode", "level", "figure", "peer", "tollgate", "peer / tollgate", "blocks", "verdict", "note"];

/// Variants of one peer at one distance, by the names of their like on tollgate, and the level that stands for them.
#[derive(Clone)]
pub(super) struct Group<'r> {
    pub(super) peer: &'r str,
    pub(super) distance: Distance,
    pub(super) against: Vec<&'r str>,
    pub(super) level: u64,
}

/// All groups, in the order of the variants, near before far.
pub(super) fn groups(run: &RunResult) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for variant in &run.experiment.variants {
        let Some(found) = run.comparisons.iter().find(|found| found.variant == variant.name) else { continue };
        let is_here = |group: &&mut Group<'_>| group.peer == found.peer && group.distance == variant.distance;
        match groups.iter_mut().find(is_here) {
            Some(group) => group.against.push(&found.against),
            None => groups.push(Group {
                peer: &found.peer,
                distance: variant.distance,
                against: vec![&found.against],
                level: found.level,
            }),
        }
    }
    for group in &mut groups {
        group.level = level_of(run, group).unwrap_or(group.level);
    }
    groups.sort_by_key(|group| group.distance == Distance::Remote);
    groups
}

/// The title of a peer: what its subject file says it is.
pub(super) fn title<'r>(run: &'r RunResult, peer: &'r str) -> &'r str {
    run.peers.iter().find(|known| known.name == peer).map_or(peer, |known| &known.title)
}

/// The comparison of one of tollgate's variants in a group, at the group's level.
pub(super) fn find<'r>(run: &'r RunResult, group: &Group<'_>, against: &str, figure: Figure) -> Option<&'r Comparison> {
    run.comparisons.iter().find(|found| {
        found.peer == group.peer && found.against == against && found.level == group.level && found.figure == figure
    })
}

/// A ratio with its interval, or why there is none.
pub(super) fn ratio(found: &Comparison, times: Times) -> String {
    match found.verdict {
        TollVerdict::Refused => sentence::verdict(found.verdict).to_owned(),
        _ => number::ratio(found.ratio, found.low, found.high, times),
    }
}

/// A verdict in a word or two: what is no toll between variants is no difference between servers.
pub(super) fn verdict(verdict: TollVerdict) -> &'static str {
    match verdict {
        TollVerdict::NoToll => "as much",
        other => sentence::verdict(other),
    }
}

/// One row of the table.
pub(super) fn row(view: &View<'_>, found: &Comparison) -> Vec<String> {
    let run = view.run;
    let cell = |name: &str| run.cells.iter().find(|cell| cell.variant == name && cell.level == found.level);
    let value = |name: &str| number::optional(cell(name).and_then(|cell| value(cell, found.figure)));
    vec![
        found.against.clone(),
        sentence::level(&run.experiment, found.level),
        what(run, found.figure),
        value(&found.variant),
        value(&found.against),
        ratio(found, "×"),
        found.blocks.to_string(),
        verdict(found.verdict).to_owned(),
        found.note.clone().unwrap_or_else(|| NOTHING.to_owned()),
    ]
}

/// The comparisons of a group that a table shows: all, or of too many those at the level that stands for it.
pub(super) fn shown<'r>(run: &'r RunResult, group: &Group<'r>, most: usize) -> Vec<&'r Comparison> {
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
pub(super) fn answers(run: &RunResult, times: Times) -> Vec<String> {
    groups(run).iter().filter_map(|group| answer(run, group, times)).collect()
}

fn answer(run: &RunResult, group: &Group<'_>, times: Times) -> Option<String> {
    let part = |figure: Figure, of_what: &str| {
        let mut found: Vec<&Comparison> =
            group.against.iter().filter_map(|name| find(run, group, name, figure)).collect();
        found.retain(|found| is_clear(found));
        found.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let named = |found: &Comparison| format!("{} ({})", ratio(found, times), found.against);
        Some(match (found.first()?, found.last()?) {
            (least, _) if found.len() == 1 => format!("{} {of_what}", named(least)),
            (least, most) => format!("between {} and {} {of_what}", named(least), named(most)),
        })
    };
    let cpu = format!("the CPU time per {}", sentence::piece(&run.experiment));
    let parts: Vec<String> =
        [part(Figure::UnitTime, "the time"), part(Figure::SubjectCpu, &cpu)].into_iter().flatten().collect();
    let far = match (group.distance, run.settings.round_trip_ms) {
        (Distance::Local, _) => String::new(),
        (Distance::Remote, Some(ms)) => format!(" over a round trip of {} ms", number::three_digits(ms)),
        (Distance::Remote, None) => " from afar".to_owned(),
    };
    let level = sentence::level(&run.experiment, group.level);
    let said = parts.join(", and ");
    (!parts.is_empty()).then(|| format!("At {level}{far}, {} takes {said} of tollgate.", group.peer))
}

/// Writes, for a terminal or a pipe, one line for each mode at the level that stands for its group; at every level where
/// those are no sizes, so that none stands for the others.
pub(super) fn write(view: &View<'_>, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let run = view.run;
    for group in groups(run) {
        let afar = if group.distance == Distance::Remote { ", from afar" } else { "" };
        let heading = format!("{} ({}) by tollgate, in the same blocks{afar}", title(run, group.peer), group.peer);
        wrapped(out, "", &one_line(&heading), width)?;
        let levels = match encryption::is_shown(run) {
            true => run.experiment.levels.clone(),
            false => vec![group.level],
        };
        for level in levels {
            write_level(run, &Group { level, ..group.clone() }, out, width)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_level(run: &RunResult, group: &Group<'_>, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let name_width = group.against.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let level = sentence::level(&run.experiment, group.level);
    for name in &group.against {
        let figures: Vec<String> = figures(run, group)
            .into_iter()
            .filter_map(|figure| Some((figure, find(run, group, name, figure)?)))
            .map(|(figure, found)| format!("{} {}", word(figure), text(found)))
            .collect();
        // Below its batch a mode is another one by another name.
        if figures.is_empty() {
            continue;
        }
        let figures: Vec<String> = figures.iter().map(|text| format!("{text:<36}")).collect();
        let line = format!("{:name_width$}  at {level}  {}", one_line(name), figures.join(" "));
        wrapped(out, "", line.trim_end(), width)?;
    }
    Ok(())
}

/// The figures that a picture or a terminal shows of a group, at most three: bytes only say how alike the answers are.
pub(super) fn figures(run: &RunResult, group: &Group<'_>) -> Vec<Figure> {
    let occurring: BTreeSet<Figure> =
        run.comparisons.iter().filter(|found| found.peer == group.peer).map(|found| found.figure).collect();
    let wanted = [Figure::UnitTime, Figure::SubjectCpu, Figure::P95AtRate, Figure::MedianAtRate];
    wanted.into_iter().filter(|figure| occurring.contains(figure)).take(3).collect()
}

/// What a figure is, with the unit of its values.
pub(super) fn what(run: &RunResult, figure: Figure) -> String {
    let experiment = &run.experiment;
    match (figure, experiment.piece) {
        (Figure::UnitTime, Piece::Record) => "ms per record".to_owned(),
        (Figure::UnitTime, Piece::Request | Piece::Document) => format!("ms per {}", sentence::unit_noun(experiment)),
        (Figure::SubjectCpu, _) => format!("CPU us per {}", sentence::piece(experiment)),
        (Figure::Bytes, _) => format!("bytes per {}", sentence::unit_noun(experiment)),
        (Figure::MedianAtRate | Figure::P95AtRate | Figure::P99AtRate, _) => {
            format!("{}, ms", sentence::figure(experiment, figure))
        }
    }
}

/// Whether something is claimed of it.
pub(super) fn is_clear(found: &Comparison) -> bool {
    matches!(found.verdict, TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::NoToll)
}

fn text(found: &Comparison) -> String {
    match found.verdict {
        TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::Refused => ratio(found, "x"),
        TollVerdict::Joint => verdict(found.verdict).to_owned(),
        TollVerdict::NoToll | TollVerdict::Unclear => format!("{} {}", ratio(found, "x"), verdict(found.verdict)),
    }
}

fn word(figure: Figure) -> &'static str {
    match figure {
        Figure::UnitTime => "time",
        Figure::SubjectCpu => "CPU",
        Figure::Bytes => "bytes",
        Figure::MedianAtRate => "p50",
        Figure::P95AtRate => "p95",
        Figure::P99AtRate => "p99",
    }
}

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

/// The highest level at which most of a group's times, else of its CPU times, are clear; of inserts two thirds of the
/// most do, as the more records the clearer what each costs.
fn level_of(run: &RunResult, group: &Group<'_>) -> Option<u64> {
    let clear_at = |level: u64, figure: Figure| {
        let group = Group { peer: group.peer, distance: group.distance, against: Vec::new(), level };
        move |name: &&&str| find(run, &group, name, figure).is_some_and(is_clear)
    };
    let levels = &run.experiment.levels;
    let best = |figure: Figure| {
        let count = |level: u64| group.against.iter().filter(clear_at(level, figure)).count();
        let most = levels.iter().map(|level| count(*level)).max().filter(|most| *most > 0)?;
        let enough = match run.experiment.piece {
            Piece::Request | Piece::Document => most,
            Piece::Record => (most * 2).div_ceil(3),
        };
        levels.iter().copied().rev().find(|level| count(*level) >= enough)
    };
    best(Figure::UnitTime).or_else(|| best(Figure::SubjectCpu))
}
