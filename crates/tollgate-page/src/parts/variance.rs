//! Sources of the variance of tolls: a row for each noteworthy toll, and the part of theft in it.
//!
//! Tolls whose trials explain nearly all of it are left out: more of the same narrows those.

use crate::blocks::{Block, Section, Table};
use crate::words::sentence;
use crate::words::view::View;
use tollgate_facts::results::Toll;
use tollgate_facts::toll::variance::{self, VarianceShares};

/// Smallest reported share of blocks or starts.
const SHARE_MIN: f64 = 0.25;
const TITLE: &str = "Where the variance comes from";
/// Maximum number of rows on a page with pictures.
const ROWS_MAX: usize = 12;

/// The section, where blocks or starts explain much of any toll's variance, or theft was removed from it.
pub fn section(view: &View<'_>) -> Option<Section> {
    let run = view.run;
    let found = run.tolls.iter().filter_map(|toll| Some((toll, variance::shares(run, toll)?)));
    let told: Vec<(&Toll, VarianceShares)> = found.filter(|(_, shares)| is_told(shares)).collect();
    let of_theft = theft(&run.tolls);
    if told.is_empty() {
        return of_theft.map(|words| Section::background(TITLE, vec![Block::Legend(vec![words])]));
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
    let mut legend = vec![
        "Shares of the variance of each toll's ratio, where blocks or starts have a quarter or more and are seen to differ".to_owned(),
        "Trials: requests, and the machine from one slice to the next. Blocks: their connections, and changes of the \
         machine. Starts: what a start of the servers has of its own"
            .to_owned(),
    ];
    legend.extend(of_theft);
    Some(Section::background(TITLE, vec![Block::Legend(legend), Block::Table(table)]))
}

/// The time that the host stole, and the largest part of the variance between blocks that it explains.
fn theft(tolls: &[Toll]) -> Option<String> {
    let found = tolls.iter().filter_map(|toll| toll.theft);
    let largest = found.map(|theft| (1.0 - theft.variance_after / theft.variance_before, theft.share));
    let (explained, share) = largest.max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(format!(
        "The host stole {:.0} % of the cores' time; of the variance between blocks up to {:.0} % went with it. Tolls on \
         time and CPU time are those without it, the shares here those with it",
        share * 100.0,
        explained.max(0.0) * 100.0
    ))
}

fn is_told(shares: &VarianceShares) -> bool {
    shares.is_seen && shares.blocks.max(shares.starts.unwrap_or(0.0)) >= SHARE_MIN
}

/// The measure that would narrow the interval most.
fn narrowed_by(shares: &VarianceShares) -> &'static str {
    let starts = shares.starts.unwrap_or(0.0);
    match (shares.trials, shares.blocks) {
        (trials, blocks) if starts > trials.max(blocks) => "more starts",
        (trials, blocks) if blocks > trials => "more blocks",
        _ => "longer trials",
    }
}

#[cfg(test)]
mod tests {
    use tollgate_facts::results::Theft;

    use super::*;

    #[test]
    fn theft_is_told_with_what_went_with_it_at_most() {
        let of = |variance_after: f64| {
            let theft = Theft { share: 0.152, ratio_with: 1.2, variance_before: 0.04, variance_after };
            Toll { theft: Some(theft), ..Toll::default() }
        };
        let words = theft(&[of(0.03), Toll::default(), of(0.02)]).unwrap();
        assert!(words.starts_with("The host stole 15 % of the cores' time; of the variance between blocks up to 50 %"));
        assert_eq!(theft(&[Toll::default()]), None);
    }
}
