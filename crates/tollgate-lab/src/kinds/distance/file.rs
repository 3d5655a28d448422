//! The file of a batch: the distance of each variant's database, and the distances with names.
//!
//! It does not know the accuracy of links: that is measured.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, Experiment, ExperimentError, Location, Own, UpTo};

/// Longest round trip of a link before a database in microseconds.
const ROUND_TRIP_US_MAX: u32 = 1_000_000;
/// Greatest overhead that a preset may have, as a share: 100 times as long.
const SHARE_MAX: f64 = 99.0;
/// Most presets.
const PRESETS_MAX: usize = 8;
/// Most processes of a batch: fewer than the connections of our own database.
const PROCESSES_MAX: u64 = 128;

/// The keys.
pub(super) const KEYS: &[&[Keys]] =
    &[&[Keys::of::<PresetsFile>(TableName::Top), Keys::of::<AwayFile>(TableName::Variant)]];

/// Distances that are computed.
#[derive(Debug, Deserialize, JsonSchema)]
struct PresetsFile {
    /// For `batch`: distances that are computed from the costs of the variants, and then run.
    #[serde(default, rename = "preset")]
    presets: Vec<PresetFile>,
}

/// A distance with a name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PresetFile {
    /// Short name, unique among variants and presets.
    name: At<String>,
    /// Title for readers, a few words.
    title: Option<String>,
    /// The overhead over no distance that it should have, as a share: 0.15 is 15 %.
    overhead: At<f64>,
}

/// Distance of a variant's database.
#[derive(Debug, Deserialize, JsonSchema)]
struct AwayFile {
    /// For `batch`: by how much a round trip to the database is longer than without delay, in microseconds.
    round_trip_us: Option<UpTo<ROUND_TRIP_US_MAX, 0>>,
}

/// A distance with a name, computed from the costs of the others.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Preset {
    /// Its name, which becomes that of a variant.
    pub(super) name: String,
    /// Title for readers, a few words.
    pub(super) title: String,
    /// The overhead over no distance that it should have, as a share.
    pub(super) share: f64,
}

/// By how much a round trip to the database of a variant is longer than without delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Away(pub(super) Duration);

/// Reads the experiment.
pub(super) fn read(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    let PresetsFile { presets } = document.take(TableName::Top)?;
    let links: Vec<AwayFile> = document.each()?;
    let checker = &document.checker;
    let mut experiment = document.experiment(document.levels(PROCESSES_MAX)?)?;
    for (variant, (file, way)) in experiment.variants.iter_mut().zip(links.iter().zip(&document.ways)) {
        let help = "add `round_trip_us`, such as `round_trip_us = 500`";
        let unsaid = || checker.unsaid(way, "how far its database is", help);
        let UpTo(round_trip_us) = file.round_trip_us.ok_or_else(unsaid)?;
        variant.at = Location::Here(format!("the batch, its database {round_trip_us} µs further away"));
        variant.own = Own::new(Away(Duration::from_micros(round_trip_us.into())));
    }
    let bottoms = experiment.variants.iter().filter(|variant| variant.baseline.is_none()).count();
    if bottoms != 1 {
        let help = "one variant has no `baseline`: the link without delay";
        return Err(checker.fault(document.factor_span(), &format!("{bottoms} variants have no baseline"), help));
    }
    // They become variants, so none may have the name of one.
    let names = document.ways.iter().map(|way| &way.name).chain(presets.iter().map(|preset| &preset.name));
    checker.names("preset", names)?;
    if let Some(beyond) = presets.get(PRESETS_MAX) {
        let help = format!("at most {PRESETS_MAX} may be");
        return Err(checker.fault(beyond.name.span(), "one preset too many", &help));
    }
    let help = format!("write a share from 0 to {SHARE_MAX}, such as `overhead = 0.15` for 15 %");
    let preset = |PresetFile { name, title, overhead }| {
        let share = checker.number("overhead", &overhead, 0.0..=SHARE_MAX, &help)?;
        let name = name.into_inner();
        Ok(Preset { title: title.unwrap_or_else(|| name.clone()), name, share })
    };
    experiment.own = Own::new(presets.into_iter().map(preset).collect::<Result<Vec<Preset>, _>>()?);
    Ok(experiment)
}

#[cfg(test)]
mod tests {
    use super::{Away, Preset};
    use crate::experiment::Experiment;
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
        assert_eq!(experiment.variants[1].own(), Some(&Away(Duration::from_micros(500))));
        let presets: &Vec<Preset> = experiment.own().unwrap();
        assert_eq!((presets.len(), presets[0].share), (1, 0.5));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_to_write() {
        let check = |from: &str, to: &str, expected: &str| {
            let error = Experiment::parse(&SOUND.replace(from, to), "far.toml").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("\"processes\"", "\"concurrency\"", "factor and workload do not fit");
        check("levels = [1, 2]", "levels = [1, 129]", "it is from 1 to 128");
        check("round_trip_us = 500", "", "does not say how far its database is");
        check("round_trip_us = 500", "round_trip_us = 1000001", "1000001 is not from 0 to 1000000");
        check("overhead = 0.5", "overhead = -0.5", "write a share");
        check("name = \"half\"", "name = \"far\"", "stands twice");
        check("baseline = \"near\"\n", "", "2 variants have no baseline");
    }
}
