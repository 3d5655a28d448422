//! What an experiment's file expects of its figures, and what a command line adds to that.
//!
//! It deliberately judges no figure: that is [`crate::threshold`], once there are some.

use super::check::Checker;
use super::error::ExperimentError;
use super::file::ThresholdFile;
use super::{Experiment, FactorName};
use crate::plan::Plan;
use crate::threshold::{Known, Runs, THRESHOLDS_MAX, Threshold, ThresholdError};

impl Checker<'_> {
    pub(super) fn thresholds(
        &self,
        files: &[ThresholdFile],
        experiment: &Experiment,
    ) -> Result<Vec<Threshold>, ExperimentError> {
        if let Some(beyond) = files.get(THRESHOLDS_MAX) {
            let message = format!("there are more than {THRESHOLDS_MAX} thresholds");
            return Err(self.fault(beyond.expect.span(), &message, "one without a variant is about all of them"));
        }
        let read = |file: &ThresholdFile| {
            let threshold = Threshold::parse(file.expect.as_ref()).and_then(|threshold| {
                // Levels of a concurrency or of records are chosen with --level.
                let level = threshold.selection.level.filter(|_| experiment.factor != FactorName::Encryption);
                let levels: Vec<u64> = experiment.levels.iter().copied().chain(level).collect();
                experiment.knows(&threshold, &levels).map(|()| threshold)
            });
            let threshold = threshold.map_err(|error| {
                // The text begins behind its quotation mark.
                let span = file.expect.span();
                let start = span.start + 1 + error.at.start;
                let help = error.help.unwrap_or_default();
                self.fault(start..(start + error.at.len()).max(start + 1).min(span.end), &error.message, &help)
            })?;
            Ok(Threshold { why: file.why.clone(), ..threshold })
        };
        files.iter().map(read).collect()
    }
}

impl Experiment {
    /// Adds what the command line expects; all that it names must be measured. What the file expects of variants and levels
    /// that this run leaves out is left out, too.
    ///
    /// # Errors
    /// What it names and is not there.
    pub fn expect(&mut self, further: Vec<Threshold>, plan: &Plan) -> Result<(), ThresholdError> {
        let planned = Experiment {
            variants: plan.variants.iter().map(|position| self.variants[*position].clone()).collect(),
            ..self.clone()
        };
        self.thresholds.retain(|threshold| planned.knows(threshold, &plan.levels).is_ok());
        for threshold in further {
            planned.knows(&threshold, &plan.levels)?;
            self.thresholds.push(threshold);
        }
        Ok(())
    }

    fn knows(&self, threshold: &Threshold, levels: &[u64]) -> Result<(), ThresholdError> {
        let variants: Vec<(&str, bool)> =
            self.variants.iter().map(|variant| (variant.name.as_str(), variant.baseline.is_some())).collect();
        threshold.check(&Known { variants: &variants, levels, runs: Runs::One })
    }
}
