//! What an experiment's file says of a walk: how a list is read, and where the entities are that it names.
//!
//! What it deliberately does not do: walk (see [`crate::load::walk`]).

use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_wire::links::Template;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, Checker, Experiment, ExperimentError, UpTo};
use crate::traffic::request::ListFormat;

/// The keys.
pub(crate) const KEYS: &[Keys] = &[Keys::of::<ListFile>(TableName::Variant)];

/// How a list is read.
#[derive(Debug, Deserialize, JsonSchema)]
struct ListFile {
    /// How a walk reads the collection's answer.
    format: Option<At<ListFormat>>,
    /// Where an entity is, relative to `url`, with its properties in braces: `flights/{carrid}/{connid}`. Absent: at
    /// the links of the collection's answer.
    detail: Option<At<String>>,
    /// The properties that say which entity an answer is.
    #[serde(default)]
    key: Vec<String>,
    /// Statuses by which an entity that the list names is left out of the pass instead of failing, such as `[404, 410]`. The
    /// report says how many were.
    #[serde(default)]
    leave_out: Vec<UpTo<599, 400>>,
}

/// Takes the keys, and puts what they say into an experiment.
pub(crate) fn fill(document: &mut Document<'_>, experiment: &mut Experiment) -> Result<(), ExperimentError> {
    let files: Vec<ListFile> = document.each()?;
    let checker = &document.checker;
    for (variant, (file, way)) in experiment.variants.iter_mut().zip(files.into_iter().zip(&document.ways)) {
        let Some(format) = &file.format else {
            let help = "add `format`, such as `format = \"odata-v2-atom\"`";
            return Err(checker.unsaid(way, "how its list is read", help));
        };
        if matches!(format.as_ref(), ListFormat::Json | ListFormat::Xml) && file.detail.is_none() {
            let help =
                "plain JSON and XML have no links: add `detail`, such as `detail = \"flights/{carrid}/{connid}\"`";
            return Err(checker.unsaid(way, "where an entity is", help));
        }
        variant.request.format = Some(*format.as_ref());
        variant.request.detail = file.detail.as_ref().map(|detail| checker.template(detail)).transpose()?;
        variant.request.key = file.key;
        variant.request.leave_out = file.leave_out.iter().map(|UpTo(status)| *status as u16).collect();
    }
    Ok(())
}

impl Checker<'_> {
    fn template(&self, detail: &At<String>) -> Result<Template, ExperimentError> {
        let template = Template::parse(detail.as_ref())
            .map_err(|error| self.fault(detail.span(), &error.to_string(), "write `{property}`"))?;
        if template.names().next().is_none() {
            return Err(self.fault(detail.span(), "no property stands in braces", "write `{property}`"));
        }
        Ok(template)
    }
}
