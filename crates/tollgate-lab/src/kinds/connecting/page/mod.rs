//! What connections cost, and encryption on them: each level with its tolls in a closed load and at equal rate, first requests,
//! messages on the wire; over lines of several lengths what a first request waits for.

mod afar;
mod beside;
mod pictures;
mod tables;

use tollgate_page::blocks::{Block, Depth, Page, Section, Table};
use tollgate_page::parts::method::{self, Method};
use tollgate_page::parts::{self, cards, cells, curves, peers, tolls, watched};
use tollgate_page::words::sentence::{self, Lead};
use tollgate_page::words::view::View;

/// The page, where it is part of the question how users connect.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let run = view.run;
    let is_it = run.experiment.variants.iter().any(|variant| variant.connecting.is_some());
    if !is_it || view.rows.is_empty() {
        return None;
    }
    let (tables, legend) = match run.round_trips.is_empty() {
        true => (of_levels(view), tables::legend(view)),
        false => (afar::tables(view), afar::legend(view)),
    };
    let named = |(place, table): (usize, Table)| Block::Table(table.file(format!("encryption-{}.csv", place + 1)));
    let blocks = tables.into_iter().enumerate().map(named).chain([Block::Legend(legend)]).collect();
    let sections = vec![
        cards::section(view),
        afar::section(view),
        pictures::distributions(view),
        pictures::flows(view),
        tolls::section(view),
        peers::section(view),
        Some(Section::main("Level by level", blocks)),
    ];
    let curves = match run.experiment.named_levels.is_empty() {
        true => [curves::against_levels(view), curves::response_times(view, "Distributions")],
        false => [None, curves::response_times(view, "Slowest answers")],
    };
    let after = curves.into_iter().chain([watched::section(view)]);
    let all = sections.into_iter().chain(cells::sections(view, Depth::Background)).chain(after).collect();
    let lead = Lead { instead: afar::answers(run), ..Lead::default() };
    Some(parts::page(view, sentence::answers(run, lead), all, method::section(view, &Method::default())))
}

fn of_levels(view: &View<'_>) -> Vec<Table> {
    let beside = [beside::peaks(view.run), beside::crypto(view.run), beside::published(view)];
    tables::of_levels(view).into_iter().chain(beside.into_iter().flatten()).collect()
}
