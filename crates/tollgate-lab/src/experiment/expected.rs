//! The thresholds of an experiment's file, and those that a command line adds.
//!
//! It judges no figure: that is [`tollgate_facts::threshold`], once there are some.

use super::checker::Checker;
use super::description::{Experiment, Variant};
use super::error::ExperimentError;
use super::file::ThresholdFile;
use tollgate_facts::threshold::{Runs, THRESHOLDS_MAX, Threshold, ThresholdError};

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
                // Levels that are numbers are chosen with --level.
                let level = threshold.selection.level.filter(|_| experiment.named_levels.is_empty());
                let levels: Vec<u64> = experiment.levels.iter().copied().chain(level).collect();
                knows(experiment.variants.iter(), &threshold, &levels).map(|()| threshold)
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
    /// Adds the thresholds of the command line; all that they name must be measured. The file's thresholds for variants
    /// and levels that this run leaves out are left out, too.
    ///
    /// # Errors
    /// The first name that does not exist.
    pub fn expect(
        &mut self,
        further: Vec<Threshold>,
        variants: &[usize],
        levels: &[u64],
    ) -> Result<(), ThresholdError> {
        let planned = variants.iter().map(|position| &self.variants[*position]);
        let known = |threshold: &Threshold| knows(planned.clone(), threshold, levels);
        self.thresholds.retain(|threshold| known(threshold).is_ok());
        further.iter().try_for_each(known)?;
        self.thresholds.extend(further);
        Ok(())
    }
}

/// Whether a threshold is about some of these variants and levels.
fn knows<'v>(
    variants: impl Iterator<Item = &'v Variant>,
    threshold: &Threshold,
    levels: &[u64],
) -> Result<(), ThresholdError> {
    let variants: Vec<(&str, bool)> =
        variants.map(|variant| (variant.name.as_str(), variant.baseline.is_some())).collect();
    threshold.check(&variants, levels, Runs::One)
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;
    use crate::plan::{Extent, Plan, PlanOptions};
    use tollgate_facts::threshold::Threshold;

    const FILE: &str = r#"name = "mine"
question = "What does it cost?"

[factor]
name = "concurrency"
levels = [1, 20]

[workload]
kind = "request"

[[threshold]]
expect = "toll(atom, 20).cpu < 1.3"
why = "the contract says so"

[[variant]]
name = "plain"
url = "/rest/flights"

[[variant]]
name = "atom"
baseline = "plain"
url = "/rest/flights"
"#;

    fn with(expect: &str) -> Result<Experiment, String> {
        let text = FILE.replacen("toll(atom, 20).cpu < 1.3", expect, 1);
        Experiment::parse(&text, "mine.toml").map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_expects_what_it_names_and_says_why() {
        let experiment = with("toll(atom, 20).cpu < 1.3").unwrap();
        assert_eq!(experiment.thresholds[0].text, "toll(atom, 20).cpu < 1.3");
        assert_eq!(experiment.thresholds[0].why.as_deref(), Some("the contract says so"));
    }

    #[test]
    fn a_fault_is_shown_in_its_line_and_place() {
        let check = |expect: &str, expected: &[&str]| {
            let error = with(expect).unwrap_err();
            assert!(expected.iter().all(|part| error.contains(part)), "{error}");
        };
        check("tol(atom).cpu < 1.3", &["mine.toml:12:11", "there is no figure `tol`", "did you mean `toll`?"]);
        check("toll(atm).cpu < 1.3", &["mine.toml:12:16", "there is no variant `atm`", "did you mean `atom`?"]);
        check("toll(plain).cpu < 1.3", &["`plain` has no toll", "`atom` have one"]);
        check("p99 < 5", &["mine.toml:12:", "a unit is missing"]);
        check("ratio.cpu < 1", &["takes two runs"]);
        let one = "[[threshold]]\nexpect = 'errors == 0'\n";
        let beyond = |more: usize| Experiment::parse(&format!("{FILE}{}", one.repeat(more)), "mine.toml");
        assert!(beyond(63).is_ok() && beyond(64).unwrap_err().to_string().contains("more than 64 thresholds"));
        let unknown = FILE.replacen("why =", "because =", 1);
        assert!(Experiment::parse(&unknown, "mine.toml").unwrap_err().to_string().contains("because"));
    }

    #[test]
    fn what_a_run_leaves_out_is_not_expected_of_it_but_what_the_command_line_names_must_be_there() {
        let plan = |experiment: &Experiment, levels: &[u64]| {
            let options =
                PlanOptions { extent: Extent::Quick, levels: Some(levels.to_vec()), ..PlanOptions::default() };
            Plan::new(experiment, &options).unwrap()
        };
        let check = |levels: &[u64], further: &[&str], expected: Result<usize, &str>| {
            let mut experiment = with("toll(atom, 20).cpu < 1.3").unwrap();
            let plan = plan(&experiment, levels);
            let further = further.iter().map(|text| Threshold::parse(text).unwrap()).collect();
            let found = experiment.expect(further, &plan.variants, &plan.levels).map(|()| experiment.thresholds.len());
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
                (found, expected) => panic!("{found:?} instead of {expected:?}"),
            }
        };
        check(&[1, 20], &[], Ok(1));
        check(&[1, 20], &["errors == 0", "toll.cpu < 2"], Ok(3));
        check(&[1], &[], Ok(0));
        check(&[1], &["p99(plain, 20) < 5 ms"], Err("there is no level 20"));
        check(&[1], &["p99(plai) < 5 ms"], Err("did you mean `plain`?"));
    }
}
