//! What a peer took by what tollgate took: bars for each peer and distance, and the table of all.

use super::parts::{Table, by_width, figure};
use crate::chart::tolls::{self, Bar, Certainty};
use crate::chart::{Caption, Size};
use crate::number;
use crate::peers::{self, Group};
use crate::sentence;
use crate::view::View;
use tollgate_facts::results::{Comparison, Distance, TollVerdict};

/// Rows of one picture.
const ROWS_MAX: usize = 24;
/// Comparisons of which the table shows every one.
const COMPARISONS_MAX: usize = 240;

pub(super) fn section(view: &View<'_>) -> Option<String> {
    let run = view.run;
    let groups = peers::groups(run);
    if groups.is_empty() {
        return None;
    }
    let figures: Vec<String> = groups.iter().enumerate().map(|(place, group)| bars(view, group, place)).collect();
    Some(format!("<section><h2>Peers, by tollgate</h2>{}</section>", figures.concat()))
}

/// The bars of one group at its level, and the table of all its levels.
fn bars(view: &View<'_>, group: &Group<'_>, place: usize) -> String {
    let run = view.run;
    let names: Vec<&str> = group.against.iter().copied().take(ROWS_MAX).collect();
    let key = |name: &str| run.experiment.variants.iter().position(|variant| variant.name == name).unwrap_or(0);
    let rows: Vec<tolls::Row<'_>> = names.iter().map(|name| tolls::Row { name, key: key(name) }).collect();
    let figures = peers::figures(run, group);
    let titles: Vec<String> = figures.iter().map(|figure| sentence::figure(&run.experiment, *figure)).collect();
    let panels: Vec<tolls::Panel<'_>> = figures
        .iter()
        .zip(&titles)
        .map(|(figure, title)| tolls::Panel {
            title,
            bars: names.iter().map(|name| peers::find(run, group, name, *figure).map(bar)).collect(),
        })
        .collect();
    let afar = if group.distance == Distance::Remote { ", from afar" } else { "" };
    let level = sentence::level(&run.experiment, group.level);
    let title = format!("{} by tollgate at {level}{afar}", peers::title(run, group.peer));
    let description = format!(
        "Bars from 1 to what {} took by what tollgate took, with {} intervals, for {}.",
        group.peer,
        sentence::confidence(run),
        titles.join(", ")
    );
    let draw = |id: &str, size| {
        let id = format!("peer-{place}-{id}");
        tolls::draw(&Caption { id: &id, title: &title, description: &description }, size, &rows, &panels)
    };
    let note = "Times tollgate: 1 is as much as it. Both did the same work in the same blocks, so that the machine's moods hit \
                both alike. Hollow bars are no claims: as much, unclear, or generator and subject at their limit together.";
    let mut table = Table::new(peers::HEAD);
    table.head.push("p (Holm)".to_owned());
    for found in peers::shown(run, group, COMPARISONS_MAX) {
        let mut row = peers::row(view, found);
        row.push(number::grouped(found.p_adjusted, 3));
        table.push(row);
    }
    let label = format!("{} by tollgate{afar}", group.peer);
    figure(
        &title,
        note,
        &[by_width(draw("wide", Size::Full), draw("narrow", Size::Narrow))],
        &table.folded(&label, &format!("peers-{}.csv", place + 1)),
    )
}

fn bar(found: &Comparison) -> Bar {
    Bar {
        ratio: found.ratio,
        low: found.low,
        high: found.high,
        text: match found.verdict {
            TollVerdict::Joint => peers::verdict(found.verdict).to_owned(),
            _ => peers::ratio(found, "×"),
        },
        certainty: match found.verdict {
            TollVerdict::Dearer | TollVerdict::Cheaper => Certainty::Shown,
            TollVerdict::NoToll | TollVerdict::Unclear | TollVerdict::Joint => Certainty::Hollow,
            TollVerdict::Refused => Certainty::Refused,
        },
    }
}
