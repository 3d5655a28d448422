//! Experiments: what is compared with what, over which levels, by which work. Read from TOML, checked once, right ever
//! after.
//!
//! The built-in ones have the same format as a user's. What this module deliberately does not do: decide orders and
//! durations (see [`crate::plan`] and [`crate::plan::schedule`]) or look at a network.

mod batch;
mod check;
mod checker;
mod description;
mod encryption;
mod error;
mod expected;
mod file;
mod files;
mod ladder;
mod load;
mod mediation;
mod scenario;

pub use batch::Preset;
pub use checker::LEVEL_MAX;
pub use description::{Distance, Experiment, ExtentOverride, Location, TOLLGATE, Variant};
pub use encryption::{Authentication, Encrypting, EncryptionLevel, EqualRateShape, KeyKind, TlsVersion};
pub use error::ExperimentError;
pub use file::{ConnectionsName as Connections, FactorName, PublishedTable, WorkloadKind};
pub use files::Files;
pub use ladder::Ladder;
pub(crate) use ladder::{CONNECTIONS, DATABASE, WORK_PROCESSES};
pub use load::LoadShape;
pub(crate) use mediation::place;
pub use mediation::{Backend, Configuration};

use tollgate_facts::names::did_you_mean;

/// The built-in experiments: name and text.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("protocol", include_str!("../../experiments/protocol.toml")),
    ("encryption", include_str!("../../experiments/encryption.toml")),
    ("encryption-afar", include_str!("../../experiments/encryption-afar.toml")),
    ("batching", include_str!("../../experiments/batching.toml")),
    ("mediation", include_str!("../../experiments/mediation.toml")),
    ("ladder", include_str!("../../experiments/ladder.toml")),
    ("distance", include_str!("../../experiments/distance.toml")),
];

impl Experiment {
    /// Reads an experiment. `file` names the text in errors, and the files that it names stand beside it.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn parse(text: &str, file: &str) -> Result<Experiment, ExperimentError> {
        check::experiment(text, file, &Files::beside(file))
    }

    /// The built-in experiment of that name.
    ///
    /// # Errors
    /// The nearest known name.
    pub fn builtin(name: &str) -> Result<Experiment, ExperimentError> {
        let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
            return Err(ExperimentError {
                message: format!("there is no experiment `{name}`"),
                help: Some(format!(
                    "{}; a file of your own ends in `.toml`",
                    did_you_mean(name, BUILT_IN.iter().map(|(name, _)| *name))
                )),
                file: name.to_owned(),
                text: String::new(),
                span: None,
            });
        };
        check::experiment(text, &format!("{name}.toml"), &Files::BuiltIn)
    }
}

/// The JSON Schema of an experiment's file.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(file::ExperimentFile)
}

#[cfg(test)]
mod tests;
