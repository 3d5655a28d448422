//! Costs of peers, divided by tollgate's: bars for each peer and distance, and the table of all.

use super::tolls::{bar, with_bars};
use crate::blocks::{Block, Figure, Section};
use crate::chart::tolls::{TollPanel, TollRow};
use crate::number;
use crate::words::peers::{self, PeerGroup};
use crate::words::sentence;
use crate::words::view::{self, View};
use tollgate_facts::results::{Comparison, Distance};

/// Maximum number of rows of one picture.
const ROWS_MAX: usize = 24;
/// Maximum number of comparisons that the table shows in full.
const COMPARISONS_MAX: usize = 240;
/// The same without a picture: with more comparisons, the table has one level.
const BRIEF_MAX: usize = 60;

/// A figure for each peer and distance; absent where there is no peer.
pub fn section(view: &View<'_>) -> Option<Section> {
    let groups = peers::groups(view.run);
    let figures = groups.iter().enumerate().map(|(place, group)| Block::Figure(bars(view, group, place)));
    Section::main("Peers, by tollgate", figures.collect()).some()
}

/// The bars of one group at its level, and the table of all its levels.
fn bars(view: &View<'_>, group: &PeerGroup<'_>, place: usize) -> Figure {
    let run = view.run;
    let row = |name| TollRow { name, key: view::key(run, name).unwrap_or(0) };
    let rows: Vec<TollRow<'_>> = group.against().into_iter().take(ROWS_MAX).map(row).collect();
    let own_bar = |found: &Comparison| bar(found.verdict, [found.ratio, found.low, found.high]);
    let panel = |figure| {
        let of = |row: &TollRow<'_>| group.of(figure).find(|found| found.against == row.name).map(own_bar);
        let title = sentence::figure(&run.experiment, figure);
        TollPanel { title, bars: rows.iter().map(of).collect() }
    };
    let panels: Vec<TollPanel> = peers::figures(run, group).into_iter().map(panel).collect();
    let afar = if group.distance == Distance::Remote { ", from afar" } else { "" };
    let level = sentence::level(&run.experiment, group.level);
    let title = format!("{} by tollgate at {level}{afar}", peers::title(run, group.peer));
    let of = format!("what {} took, divided by what tollgate took", group.peer);
    let note = "Ratio to tollgate; 1 means the same cost. Both did the same work in the same blocks, so that changes of the \
                machine affect both alike. Hollow bars are inconclusive, or show no difference.";
    let label = format!("{} by tollgate{afar}", group.peer);
    let mut table = peers::table(view, label, group.shown(COMPARISONS_MAX));
    table.columns.push("p (Holm)".into());
    for (row, found) in table.rows.iter_mut().zip(group.shown(COMPARISONS_MAX)) {
        row.cells.push(number::grouped(found.p_adjusted, 3).into());
    }
    let heading = format!("{} ({}) by tollgate, in the same blocks{afar}", peers::title(run, group.peer), group.peer);
    let brief = peers::table(view, heading, group.shown(BRIEF_MAX));
    let figure = Figure { brief: Some(brief), ..Figure::new(title, note) };
    let (id, file) = (format!("peer-{place}"), format!("peers-{}.csv", place + 1));
    with_bars(figure, run, &id, &of, &rows, &panels).data(table, file)
}
