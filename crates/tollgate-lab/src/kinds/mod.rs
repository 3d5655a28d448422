//! Kinds of experiments: what each says in its file, plans, measures and how, as one list.
//!
//! What it deliberately does not do: order blocks, or store anything (see [`crate::conduct`]).

pub(crate) mod command;
mod connecting;
pub(crate) mod distance;
mod flags;
mod http;
mod insert;
mod ladder;
mod listed;
mod request;
mod scenario;
mod walk;

#[cfg(test)]
mod tests;

use crate::conduct::options::{RunError, RunOptions};
use crate::experiment::document::{Document, FileFormat};
use crate::experiment::{Author, Experiment, ExperimentError, Files, Heading};
use crate::plan::{Note, Plan, PlanOptions};
use listed::Listed;
use tollgate_facts::results::RunResult;
use tollgate_page::blocks::Page;
use tollgate_page::words::view::View;

/// All kinds. The first that has a page for a result has it.
const KINDS: &[Listed] = &[
    insert::KIND,
    distance::KIND,
    connecting::KIND,
    ladder::KIND,
    command::KIND,
    request::KIND,
    scenario::KIND,
    walk::KIND,
];

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

/// The kind of an experiment.
pub(crate) fn of(experiment: &Experiment) -> &'static Listed {
    KINDS.iter().find(|kind| kind.name == experiment.heading.kind).expect("an experiment is of a kind in the list")
}

/// Whether an experiment can be run as asked, as far as that can be told without touching the network; may leave out of the
/// plan what cannot be.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check(options: &RunOptions, plan: &mut Plan) -> Result<(), RunError> {
    let kind = of(&options.experiment);
    flags::check(kind.workload, options)?;
    (kind.check)(options, plan)
}

/// What files may say of each kind and factor.
fn known() -> Vec<FileFormat> {
    let known = |kind: &Listed, factor| {
        let Listed { name, workload, about, unit_of_work, piece, instead, keys, .. } = *kind;
        FileFormat { workload, about, heading: Heading { kind: name, factor, unit_of_work, piece }, instead, keys }
    };
    KINDS.iter().flat_map(|kind| kind.factors.iter().map(move |factor| known(kind, *factor))).collect()
}

/// Reads an experiment; `file` names the text in errors.
pub(crate) fn read(text: &str, file: &str, files: &Files) -> Result<Experiment, ExperimentError> {
    let mut document = Document::read(text, file, files, &known())?;
    let kind = KINDS.iter().find(|kind| kind.name == document.heading.kind).expect("it is one of those");
    let experiment = (kind.read)(&mut document)?;
    document.complete(experiment)
}

/// The JSON Schema of an experiment's file.
pub fn schema() -> schemars::Schema {
    crate::experiment::schema(&known())
}

impl Experiment {
    /// Reads an experiment. `file` names the text in errors, and the files that it names stand beside it.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn parse(text: &str, file: &str) -> Result<Experiment, ExperimentError> {
        read(text, file, &Files::beside(file))
    }

    /// The built-in experiment of that name.
    ///
    /// # Errors
    /// The nearest known name.
    pub fn builtin(name: &str) -> Result<Experiment, ExperimentError> {
        let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
            return Err(ExperimentError::unknown("experiment", name, BUILT_IN.iter().map(|(known, _)| *known)));
        };
        let experiment = read(text, &format!("{name}.toml"), &Files::BuiltIn)?;
        Ok(Experiment { author: Author::Tollgate, ..experiment })
    }

    /// The same inserts into an entity set that is there already, at this URL.
    ///
    /// # Errors
    /// That it inserts nothing, or that it is no URL of an entity set.
    pub fn into_entity_set(self, url: &str) -> Result<Experiment, String> {
        insert::of_entity_set(self, url)
    }

    /// The same with all variants of a level offered so many requests per second, after the closed load.
    ///
    /// # Errors
    /// That it offers no rate.
    pub fn at_rate(self, per_second: f64) -> Result<Experiment, String> {
        connecting::at_rate(self, per_second)
    }

    /// The same inserts into an entity set of the user's, of the records in this file.
    ///
    /// # Errors
    /// That it inserts none that could stand in a file, or what is wrong with the file.
    pub fn with_records(self, file: &str) -> Result<Experiment, String> {
        insert::with_records(self, file)
    }

    /// The same on servers that are there already, which offer what they offer.
    #[must_use]
    pub fn elsewhere(self) -> Experiment {
        (of(&self).elsewhere)(self)
    }
}

impl Plan {
    /// What `experiment` measures under `options`.
    ///
    /// # Errors
    /// A sentence that names the unknown variant or the level out of range.
    pub fn new(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
        (of(experiment).plan)(experiment, options)
    }

    /// What is to be told of it beyond its numbers.
    pub fn notes(&self, experiment: &Experiment) -> Vec<Note> {
        (of(experiment).notes)(experiment, self)
    }
}

/// The page of a result.
pub fn page(run: &RunResult) -> Page {
    let view = View::of(run);
    KINDS.iter().find_map(|kind| (kind.page)(&view)).expect("the last kind has a page for every result")
}
