//! The rule of tolls: whether Student's t and the signed ranks agree on a toll's blocks.
//!
//! It looks at tolls, which the rules of cells precede; so it is apart from them, and refuses none.

use crate::results::{Figure, Toll, Validity};
use crate::rules::{RANKS, marked};
use crate::stats::ALPHA;

/// A mark for each toll on which the two tests disagree.
pub fn disagreements(tolls: &[Toll]) -> Vec<Validity> {
    let remedy =
        "take more blocks (--blocks, --full): of few, one wild block decides one of the tests and not the other";
    let of = |toll: &Toll| {
        let finding = marked(words(toll)?, remedy, (toll.by_ranks?.p, ALPHA));
        Some(finding.of(&toll.variant, toll.level, RANKS.name))
    };
    tolls.iter().filter_map(of).collect()
}

/// The disagreement of the two tests, with its figure and baseline; `None` if they agree.
pub fn words(toll: &Toll) -> Option<String> {
    let note = toll.note.as_deref().filter(|_| toll.do_ranks_disagree())?;
    Some(format!("{} over {}: {note}", named(toll.figure), toll.baseline))
}

/// The figure in words.
pub(super) fn named(figure: Figure) -> &'static str {
    match figure {
        Figure::UnitTime => "time",
        Figure::SubjectCpu => "CPU time",
        Figure::Instructions => "instructions",
        Figure::Bytes => "bytes",
        Figure::MedianAtRate => "the median at equal rate",
        Figure::P95AtRate => "the 95th percentile at equal rate",
        Figure::P99AtRate => "the 99th percentile at equal rate",
    }
}
