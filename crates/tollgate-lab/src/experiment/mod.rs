//! Experiments: what is compared with what, over which levels, by which work. Read from TOML, checked once, right ever after.
//!
//! The built-in ones have the same format as a user's. What this module deliberately does not do: decide orders and
//! durations (see [`crate::plan`] and [`crate::schedule`]) or look at a network.

mod check;
mod error;
mod file;

pub use check::LEVEL_MAX;
pub use error::{ExperimentError, did_you_mean};
pub use file::{FactorName, ListFormat, WorkloadKind};

use tollgate_wire::links::Template;

/// The built-in experiments: name and text.
pub const BUILT_IN: &[(&str, &str)] = &[("protocol", include_str!("../../experiments/protocol.toml"))];

/// An experiment in which every name is known and every number is in range.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Short name.
    pub name: String,
    /// The question in one sentence.
    pub question: String,
    /// What is swept.
    pub factor: FactorName,
    /// Its levels, ascending, none twice.
    pub levels: Vec<u64>,
    /// What is asked.
    pub workload: WorkloadKind,
    /// The ways of doing it, in the order of the file.
    pub variants: Vec<Variant>,
    /// What the file says of `--quick`.
    pub quick: ExtentOverride,
    /// What the file says of a run without either flag.
    pub default: ExtentOverride,
    /// What the file says of `--full`.
    pub full: ExtentOverride,
    /// Figures that others published.
    pub published: Vec<crate::results::Published>,
}

/// What a file says about one extent; absent values have the defaults of [`crate::plan`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtentOverride {
    /// Levels to measure, each one of the experiment's.
    pub levels: Option<Vec<u64>>,
    /// Blocks for each level.
    pub blocks: Option<u32>,
    /// Least length of a trial in milliseconds.
    pub slice_ms: Option<u32>,
    /// Starts of each subject.
    pub starts: Option<u32>,
}

/// One way of doing the work.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Short name.
    pub name: String,
    /// A few words for people.
    pub title: String,
    /// Position of its baseline in [`Experiment::variants`].
    pub baseline: Option<usize>,
    /// Where the work begins.
    pub at: Location,
    /// How it is asked and understood.
    pub request: RequestShape,
}

/// Where a variant's work begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A path (and query) on tollgate's own gateway, started for the run.
    Gateway(String),
    /// A whole URL of a server that is already there.
    Url(String),
}

/// How a variant's requests look and how its answers are understood.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestShape {
    /// How a walk reads the collection's answer; `None` for other workloads.
    pub format: Option<ListFormat>,
    /// Where an entity is, with properties in braces, relative to the collection's URL; `None`: at the answer's links.
    pub detail: Option<Template>,
    /// The properties that say which entity an answer is.
    pub key: Vec<String>,
    /// The method.
    pub method: String,
    /// Header fields, `Accept` among them.
    pub headers: Vec<(String, String)>,
    /// The body; empty if none.
    pub body: Vec<u8>,
    /// What every valid answer of a `request` workload contains.
    pub contains: Option<String>,
}

impl Experiment {
    /// Reads an experiment. `file` names the text in errors.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn parse(text: &str, file: &str) -> Result<Experiment, ExperimentError> {
        check::experiment(text, file)
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
        Experiment::parse(text, &format!("{name}.toml"))
    }

    /// Position of a variant.
    ///
    /// # Errors
    /// The sentence that says which names there are.
    pub fn variant(&self, name: &str) -> Result<usize, String> {
        self.variants.iter().position(|variant| variant.name == name).ok_or_else(|| {
            let help = did_you_mean(name, self.variants.iter().map(|variant| variant.name.as_str()));
            format!("experiment `{}` has no variant `{name}`: {help}", self.name)
        })
    }
}

impl FactorName {
    /// The name as it is shown, and the unit of its levels.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            FactorName::Concurrency => ("concurrency", "users"),
        }
    }
}

/// The JSON Schema of an experiment's file.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(file::ExperimentFile)
}

#[cfg(test)]
mod tests;
