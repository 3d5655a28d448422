//! Where the variance of tolls comes from: a row for each of which there is something to say.
//!
//! It deliberately says nothing of tolls whose trials explain nearly all: more of the same narrows those.

use crate::blocks::{Block, Section, Table};
use crate::words::sentence;
use crate::words::view::View;
use tollgate_facts::results::Toll;
use tollgate_facts::toll::variance::{self, VarianceShares};

/// From this share on it is told what blocks or starts have.
const SHARE_MIN: f64 = 0.25;
/// Rows of a page with pictures.
const ROWS_MAX: usize = 12;

/// The section, where blocks or starts have much of any toll's variance.
pub fn section(view: &View<'_>) -> Option<Section> {
    let run = view.run;
    let found = run.tolls.iter().filter_map(|toll| Some((toll, variance::shares(run, toll)?)));
    let told: Vec<(&Toll, VarianceShares)> = found.filter(|(_, shares)| is_told(shares)).collect();
    if told.is_empty() {
        return None;
    }
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let mut table = Table::of(
        String::new(),
        told.iter(),
        &[
            ("toll", &|(toll, _)| format!("{} over {}", toll.variant, toll.baseline)),
            ("level", &|(toll, _)| sentence::level(&run.experiment, toll.level)),
            ("figure", &|(toll, _)| sentence::figure(&run.experiment, toll.figure)),
            ("trials", &|(_, shares)| percent(shares.trials)),
            ("blocks", &|(_, shares)| percent(shares.blocks)),
            ("starts", &|(_, shares)| shares.starts.map_or_else(|| "one".to_owned(), percent)),
            ("narrowed by", &|(_, shares)| narrowed_by(shares).to_owned()),
        ],
    );
    table.page_rows_max = Some(ROWS_MAX);
    let legend = vec![
        "Shares of the variance of each toll's ratio, where blocks or starts have a quarter or more and are seen to differ".to_owned(),
        "Trials: requests, and the machine from one slice to the next. Blocks: their connections, and slower moods of the \
         machine. Starts: what a start of the servers has of its own"
            .to_owned(),
    ];
    Some(Section::background("Where the variance comes from", vec![Block::Legend(legend), Block::Table(table)]))
}

fn is_told(shares: &VarianceShares) -> bool {
    shares.is_seen && shares.blocks.max(shares.starts.unwrap_or(0.0)) >= SHARE_MIN
}

/// What is to be more of.
fn narrowed_by(shares: &VarianceShares) -> &'static str {
    let starts = shares.starts.unwrap_or(0.0);
    match (shares.trials, shares.blocks) {
        (trials, blocks) if starts > trials.max(blocks) => "more starts",
        (trials, blocks) if blocks > trials => "more blocks",
        _ => "longer trials",
    }
}
