//! Kinds of experiments as one list: file, plan, run and page of each.
//!
//! It does not order blocks or store anything (see [`crate::conduct`]).

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
mod setting;
mod walk;

#[cfg(test)]
mod tests;

use crate::conduct::options::{RunError, RunOptions};
use crate::experiment::document::{Document, FileFormat};
use crate::experiment::{Author, Experiment, ExperimentError, Files, Heading};
use crate::plan::{Note, Plan, PlanOptions};
use crate::traffic::scenario::Played;
use listed::Listed;
use tollgate_facts::results::RunResult;
use tollgate_page::blocks::Page;
use tollgate_page::words::view::View;

/// All kinds. The first with a page for a result renders it.
const KINDS: &[Listed] = &[
    insert::KIND,
    distance::KIND,
    connecting::KIND,
    ladder::KIND,
    setting::WALK,
    setting::REQUEST,
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

/// Checks that an experiment can be run as asked, as far as possible without the network; may remove from the plan what
/// cannot be run.
///
/// # Errors
/// A reason that it cannot be run.
pub(crate) fn check(options: &RunOptions, plan: &mut Plan) -> Result<(), RunError> {
    let kind = of(&options.experiment);
    flags::check(kind.workload, options)?;
    (kind.check)(options, plan)
}

/// The file format of each kind and factor.
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

/// Reads the scenario of a file for a load of its own: that of a file with nothing but a scenario, or of the first
/// variant of an experiment.
///
/// # Errors
/// The first fault, with its place.
pub fn scenario(text: &str, file: &str) -> Result<Played, ExperimentError> {
    let keys = toml::from_str::<toml::Table>(text).unwrap_or_default();
    let is_whole = keys.contains_key("workload");
    let further = keys.keys().find(|key| *key != "scenario").filter(|_| !is_whole);
    if let Some(further) = further {
        let message = format!(
            "`{further}` belongs to an experiment, which has a `[workload]` of `kind = \"scenario\"` too; for a load, nothing but a `[[scenario]]` is enough"
        );
        return Err(ExperimentError::whole(file, message));
    }
    let count = keys.get("scenario").and_then(toml::Value::as_array).map_or(1, Vec::len);
    if count > 1 && !is_whole {
        return Err(ExperimentError::whole(file, format!("it has {count} scenarios, and a load plays one")));
    }
    let files = Files::beside(file);
    let before = scenario::BEFORE;
    let experiment = match is_whole {
        true => read(text, file, &files)?,
        false => read(&format!("{before}{text}"), file, &files).map_err(|error| error.behind(before.len(), text))?,
    };
    let played = experiment.variants.first().and_then(|variant| variant.own::<Played>()).cloned();
    played.ok_or_else(|| ExperimentError::whole(file, "its workload is no scenario".to_owned()))
}

/// The JSON Schema of an experiment's file.
pub fn schema() -> schemars::Schema {
    crate::experiment::schema(&known())
}

impl Experiment {
    /// Reads an experiment. `file` names the text in errors; files that it names are beside it.
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

    /// Whether a command sets its servers, and may restart them: their processes are looked for behind it.
    pub fn is_set_by_a_command(&self) -> bool {
        setting::is_of(self)
    }

    /// The same inserts into an existing entity set at this URL.
    ///
    /// # Errors
    /// It inserts nothing, or the URL is not that of an entity set.
    pub fn into_entity_set(self, url: &str) -> Result<Experiment, String> {
        insert::of_entity_set(self, url)
    }

    /// The same with all variants of a level offered this many requests per second, after the closed load.
    ///
    /// # Errors
    /// It has no load at a rate.
    pub fn at_rate(self, per_second: f64) -> Result<Experiment, String> {
        connecting::at_rate(self, per_second)
    }

    /// The same inserts into an entity set of the user's, with the records in this file.
    ///
    /// # Errors
    /// It inserts no records that a file could contain, or the fault in the file.
    pub fn with_records(self, file: &str) -> Result<Experiment, String> {
        insert::with_records(self, file)
    }

    /// The same on existing servers, with their own properties.
    #[must_use]
    pub fn elsewhere(self) -> Experiment {
        (of(&self).elsewhere)(self)
    }
}

impl Plan {
    /// Plans the measurements of `experiment` under `options`.
    ///
    /// # Errors
    /// A sentence that names the unknown variant or the level out of range.
    pub fn new(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
        (of(experiment).plan)(experiment, options)
    }

    /// Notes on the plan beyond its numbers.
    pub fn notes(&self, experiment: &Experiment) -> Vec<Note> {
        (of(experiment).notes)(experiment, self)
    }
}

/// The page of a result.
pub fn page(run: &RunResult) -> Page {
    let view = View::of(run);
    KINDS.iter().find_map(|kind| (kind.page)(&view)).expect("the last kind has a page for every result")
}
