//! What connections cost, and encryption on them: each level with its tolls in a closed load and at equal rate, first requests,
//! messages on the wire; over lines of several lengths what a first request waits for.

mod afar;
mod beside;
mod pictures;
mod tables;

use tollgate_page::blocks::{Block, Depth, Page, Section, Table};
use tollgate_page::parts::method::{self, Method};
use tollgate_page::parts::{self, cards, curves, peers, tolls, watched};
use tollgate_page::words::sentence::Lead;
use tollgate_page::words::view::View;

/// The page, where it is part of the question how users connect.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let run = view.run;
    let is_it = run.experiment.variants.iter().any(|variant| variant.connecting.is_some());
    if !is_it || view.rows.is_empty() {
        return None;
    }
    let (tables, mut legend) = match run.round_trips.is_empty() {
        true => (of_levels(view), tables::legend(view)),
        false => (vec![afar::slopes(view), afar::first_requests(view)], afar::legend(view)),
    };
    let negotiated = method::negotiated(run);
    if !negotiated.is_empty() {
        legend.push(format!("negotiated, as the trials' connections saw it: {negotiated}"));
    }
    let blocks = parts::filed("encryption", tables).chain([Block::Legend(legend)]).collect();
    let sections = vec![
        cards::section(view),
        afar::section(view),
        pictures::distributions(view),
        pictures::flows(view),
        tolls::section(view),
        peers::section(view),
        Some(Section::main("Level by level", blocks)),
    ];
    let mut after = curves::sections(view, "Distributions");
    after.push(watched::section(view));
    let lead = Lead { instead: afar::answers(run), ..Lead::default() };
    Some(parts::page(view, lead, sections, Depth::Background, after, &Method::default()))
}

fn of_levels(view: &View<'_>) -> Vec<Table> {
    let beside = [beside::peaks(view.run), beside::crypto(view.run)];
    tables::of_levels(view).into_iter().chain(beside).chain(beside::published(view)).collect()
}
