//! Thresholds: expectations of figures, such as `p99(https, 20) < 5 ms` or `toll(https).cpu < 1.3`, so that a run can
//! fail a build.
//!
//! A threshold is read once (`parse`), checked against an experiment's names (here), and judged from a stored result
//! (`judge`). It changes no figure, and passes none that is refused.

mod judge;
mod parse;

pub use judge::{judge, judge_across, judge_load, worst};
pub use parse::{TEXT_BYTES_MAX, ThresholdError};

use std::cmp::Ordering;
use std::ops::Range;

use crate::names::did_you_mean;
use crate::quantity::Quantity;
use crate::results::Figure;

/// Most thresholds of one run.
pub const THRESHOLDS_MAX: usize = 64;

/// A requirement on figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The text as written.
    pub text: String,
    /// Its purpose, in the words of the experiment's file.
    pub why: Option<String>,
    /// The quantity that is compared with the bound.
    pub asked: Asked,
    /// The selected cells; absent parts mean all.
    pub selection: Selection,
    /// The side of the bound.
    pub comparison: Comparison,
    /// The bound, in the unit of the figure.
    pub bound: f64,
}

/// The quantity that is compared with a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// A quantity of cells.
    Of(Quantity),
    /// The toll of variants over their baselines.
    Toll(Figure),
    /// Each further run by the first one, of cells.
    Ratio(Figure),
    /// Each further run by the first one, of tolls.
    TollRatio(Figure),
}

impl Asked {
    /// Unit of its values; empty for ratios and counts.
    fn unit(self) -> &'static str {
        match self {
            Asked::Of(quantity) => quantity.unit,
            Asked::Toll(_) | Asked::Ratio(_) | Asked::TollRatio(_) => "",
        }
    }
}

/// The cells that a threshold covers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// One variant; absent: all.
    pub variant: Option<String>,
    /// One level; absent: all.
    pub level: Option<u64>,
    variant_at: Range<usize>,
    level_at: Range<usize>,
}

/// The side of the bound on which a figure is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    /// The sign as written.
    pub sign: &'static str,
    /// The orderings of value and bound that are on the right side.
    right: &'static [Ordering],
}

/// Whether there is one run, or several side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// One.
    One,
    /// Two or more.
    Several,
}

impl Threshold {
    /// Reads one.
    ///
    /// # Errors
    /// The expected text, with its place.
    pub fn parse(text: &str) -> Result<Threshold, ThresholdError> {
        parse::threshold(text)
    }

    /// Checks that everything it names exists: the variants, each with whether it has a baseline, and the levels.
    ///
    /// # Errors
    /// The missing name, with the nearest one.
    pub fn check(&self, variants: &[(&str, bool)], levels: &[u64], runs: Runs) -> Result<(), ThresholdError> {
        let fault = |at: &Range<usize>, message: String, help: String| ThresholdError {
            text: self.text.clone(),
            at: at.clone(),
            message,
            help: Some(help),
        };
        let is_of_runs = matches!(self.asked, Asked::Ratio(_) | Asked::TollRatio(_));
        if is_of_runs && runs == Runs::One {
            let help =
                "`tollgate compare RUN RUN --threshold …` has them; of one run there is `toll(…).cpu`".to_owned();
            return Err(fault(&(0..self.head_bytes()), "a ratio of runs takes two runs".to_owned(), help));
        }
        if let Some(name) = &self.selection.variant {
            let Some((_, has_baseline)) = variants.iter().find(|(known, _)| known == name) else {
                let help = did_you_mean(name, variants.iter().map(|(name, _)| *name));
                return Err(fault(&self.selection.variant_at, format!("there is no variant `{name}`"), help));
            };
            if !has_baseline && matches!(self.asked, Asked::Toll(_) | Asked::TollRatio(_)) {
                let with: Vec<&str> =
                    variants.iter().filter(|(_, has_baseline)| *has_baseline).map(|(name, _)| *name).collect();
                let help = match with.is_empty() {
                    true => "no variant here has one".to_owned(),
                    false => format!("`{}` have one", with.join("`, `")),
                };
                let message = format!("`{name}` has no toll: it has no baseline");
                return Err(fault(&self.selection.variant_at, message, help));
            }
        }
        if let Some(level) = self.selection.level.filter(|level| !levels.contains(level)) {
            let levels: Vec<String> = levels.iter().map(u64::to_string).collect();
            let help = format!("levels are {}", levels.join(", "));
            return Err(fault(&self.selection.level_at, format!("there is no level {level}"), help));
        }
        Ok(())
    }

    /// Bytes of the first word.
    fn head_bytes(&self) -> usize {
        self.text.find(|c: char| !c.is_alphanumeric() && c != '-').unwrap_or(self.text.len())
    }
}

impl Comparison {
    /// Whether a value is on the right side.
    pub fn accepts(self, value: f64, bound: f64) -> bool {
        value.partial_cmp(&bound).is_some_and(|found| self.right.contains(&found))
    }

    /// Whether small values are the right ones.
    pub fn wants_little(self) -> bool {
        self.right.contains(&Ordering::Less) && !self.right.contains(&Ordering::Greater)
    }
}

#[cfg(test)]
mod tests;
