//! What the file of a batch says beyond other experiments: how far the database of each variant is, and which distances
//! have names.
//!
//! It deliberately does not know what a link can keep: that is measured.

use std::time::Duration;

use toml::Spanned;

use super::checker::Checker;
use super::description::{Location, Variant};
use super::error::ExperimentError;
use super::file::{ExperimentFile, FactorName, VariantFile, WorkloadKind};

/// Longest round trip of a link before a database in microseconds.
const ROUND_TRIP_US_MAX: u32 = 1_000_000;
/// Greatest overhead that a preset may have, as a share: 100 times as long.
const SHARE_MAX: f64 = 99.0;
/// Most presets.
const PRESETS_MAX: usize = 8;
/// Most processes of a batch: below the connections that a database of ours takes.
pub(super) const PROCESSES_MAX: u64 = 128;

/// A distance with a name, computed from what the others cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    /// Its name, that of the variant that it becomes.
    pub name: String,
    /// A few words for people.
    pub title: String,
    /// The overhead that it is to have over no distance, as a share.
    pub share: f64,
}

impl Checker<'_> {
    /// Whether factor and workload are both those of a batch, or neither is.
    pub(super) fn batch(&self, parsed: &ExperimentFile) -> Result<(), ExperimentError> {
        let is_batch = parsed.workload.as_ref().kind == WorkloadKind::Batch;
        if is_batch != (*parsed.factor.name.as_ref() == FactorName::Processes) {
            let help = "`batch` is swept over `processes`, and nothing else is";
            return Err(self.fault(parsed.workload.span(), "factor and workload do not fit", help));
        }
        for level in parsed.factor.levels.iter().filter(|_| is_batch).flat_map(|levels| levels.as_ref()) {
            if *level.as_ref() > PROCESSES_MAX {
                let message = format!("a batch of {} processes", level.as_ref());
                return Err(self.fault(level.span(), &message, &format!("it has at most {PROCESSES_MAX}")));
            }
        }
        Ok(())
    }

    /// How far the database of a variant is; absent where the workload is no batch.
    pub(super) fn link(&self, file: &VariantFile, kind: WorkloadKind) -> Result<Option<Location>, ExperimentError> {
        match (&file.round_trip_us, kind) {
            (Some(round_trip), WorkloadKind::Batch) if *round_trip.as_ref() <= ROUND_TRIP_US_MAX => {
                Ok(Some(Location::Link(Duration::from_micros((*round_trip.as_ref()).into()))))
            }
            (Some(round_trip), WorkloadKind::Batch) => {
                let message = format!("`round_trip_us` is {}", round_trip.as_ref());
                Err(self.fault(round_trip.span(), &message, &format!("it is from 0 to {ROUND_TRIP_US_MAX}")))
            }
            (None, WorkloadKind::Batch) => Err(self.fault(
                file.name.span(),
                &format!("variant `{}` does not say how far its database is", file.name.as_ref()),
                "add `round_trip_us`, such as `round_trip_us = 500`",
            )),
            (Some(round_trip), _) => {
                Err(self.fault(round_trip.span(), "only a batch has a link before its database", "leave it out"))
            }
            (None, _) => Ok(None),
        }
    }

    /// The distances with names.
    pub(super) fn presets(
        &self,
        parsed: &ExperimentFile,
        variants: &[Variant],
    ) -> Result<Vec<Preset>, ExperimentError> {
        let mut presets: Vec<Preset> = Vec::new();
        for file in &parsed.presets {
            self.name(&file.name)?;
            let name = file.name.as_ref();
            if parsed.workload.as_ref().kind != WorkloadKind::Batch {
                return Err(self.fault(file.name.span(), "only a batch has presets", "leave it out"));
            }
            let is_taken = variants.iter().map(|variant| &variant.name).chain(presets.iter().map(|known| &known.name));
            if is_taken.into_iter().any(|known| known == name) || presets.len() == PRESETS_MAX {
                let help = format!("give each its own name, and at most {PRESETS_MAX} presets");
                return Err(self.fault(
                    file.name.span(),
                    &format!("preset `{name}` stands twice or is too many"),
                    &help,
                ));
            }
            presets.push(Preset {
                name: name.clone(),
                title: file.title.clone().unwrap_or_else(|| name.clone()),
                share: self.share(&file.overhead)?,
            });
        }
        let bottoms = variants.iter().filter(|variant| variant.baseline.is_none()).count();
        if parsed.workload.as_ref().kind == WorkloadKind::Batch && bottoms != 1 {
            let help = "one variant has no `baseline`: the link without delay";
            return Err(self.fault(parsed.name.span(), &format!("{bottoms} variants have no baseline"), help));
        }
        Ok(presets)
    }

    fn share(&self, overhead: &Spanned<f64>) -> Result<f64, ExperimentError> {
        let share = *overhead.as_ref();
        if !(0.0..=SHARE_MAX).contains(&share) {
            let help = format!("write a share from 0 to {SHARE_MAX}, such as `overhead = 0.15` for 15 %");
            return Err(self.fault(overhead.span(), &format!("`overhead` is {share}"), &help));
        }
        Ok(share)
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Location};
    use std::time::Duration;

    const SOUND: &str = r#"
name = "far"
question = "How far?"
[factor]
name = "processes"
levels = [1, 2]
[workload]
kind = "batch"
[[variant]]
name = "near"
round_trip_us = 0
[[variant]]
name = "far"
baseline = "near"
round_trip_us = 500
[[preset]]
name = "half"
overhead = 0.5
"#;

    #[test]
    fn a_batch_has_links_and_presets() {
        let experiment = Experiment::parse(SOUND, "far.toml").unwrap();
        assert_eq!(experiment.variants[1].at, Location::Link(Duration::from_micros(500)));
        assert_eq!((experiment.presets.len(), experiment.presets[0].share), (1, 0.5));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_to_write() {
        let check = |from: &str, to: &str, expected: &str| {
            let error = Experiment::parse(&SOUND.replace(from, to), "far.toml").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("\"processes\"", "\"concurrency\"", "factor and workload do not fit");
        check("levels = [1, 2]", "levels = [1, 129]", "it has at most 128");
        check("round_trip_us = 500", "", "does not say how far its database is");
        check("round_trip_us = 500", "round_trip_us = 1000001", "it is from 0 to 1000000");
        check("overhead = 0.5", "overhead = -0.5", "write a share");
        check("name = \"half\"", "name = \"far\"", "stands twice");
        check("baseline = \"near\"\n", "", "2 variants have no baseline");
    }
}
